//! Updates the page when the open files change.
//!
//! [`watch`] receives changes from the server and has its desk reread the files; for files that a person gave, it
//! only detects that they changed. The page keeps its content until the new answer arrives ([`super::load`],
//! [`super::list`]); [`carry`] keeps what is folded, opened and scrolled in place.

mod carry;
mod note;
mod watch;

use std::collections::BTreeSet;

use futures_channel::oneshot;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use crate::protocol::{Followed, Trouble};

pub(crate) use carry::{Carry, Keeper, Kept, Stand, on_cleanup_local};
pub(crate) use note::Following;
pub(crate) use watch::watch;

/// The time for which a file being written may fail to be read before the page reports it, in milliseconds.
const PATIENCE: u32 = 10_000;

/// The time for which new rows are marked, in milliseconds; equals the duration of the CSS animation.
const MARKED: i64 = 4000;

/// The state of following the open files; cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct Follow {
    /// Whether a server has the files open, so that it can reread them.
    pub(crate) served: RwSignal<bool>,
    /// Whether the page shows changes as they happen.
    pub(crate) on: RwSignal<bool>,
    /// The number of times the shown run was reread; answers of the worker depend on it.
    pub(crate) edition: RwSignal<u32>,
    /// The time of the last change, in milliseconds since 1970.
    pub(crate) changed: RwSignal<Option<i64>>,
    /// The reason why the page is out of date.
    pub(crate) trouble: RwSignal<Option<Trouble>>,
    /// The given file that has changed on disk.
    pub(crate) outdated: RwSignal<Option<String>>,
    /// The rows that the last reading added.
    news: RwSignal<News>,
    /// The new address of the selected item, if only the item's number changed.
    renamed: StoredValue<Option<String>>,
    keeper: StoredValue<Option<(u32, Keeper)>, LocalStorage>,
    wake: StoredValue<Option<oneshot::Sender<()>>, LocalStorage>,
    /// Counts keepers and changes of news.
    number: StoredValue<u32>,
}

/// Rows that were added.
#[derive(Debug, Clone, Default, PartialEq)]
struct News {
    /// The run of the nodes and bindings.
    place: String,
    nodes: BTreeSet<u32>,
    bindings: BTreeSet<u32>,
    /// The places of added runs.
    runs: BTreeSet<String>,
}

impl Follow {
    /// Starts in the state “on”, with nothing to follow.
    pub(crate) fn new() -> Follow {
        Follow {
            served: RwSignal::new(false),
            on: RwSignal::new(true),
            edition: RwSignal::new(0),
            changed: RwSignal::new(None),
            trouble: RwSignal::new(None),
            outdated: RwSignal::new(None),
            news: RwSignal::new(News::default()),
            renamed: StoredValue::new(None),
            keeper: StoredValue::new_local(None),
            wake: StoredValue::new_local(None),
            number: StoredValue::new(0),
        }
    }

    /// Resets the state after something else was opened.
    pub(crate) fn begin(self, served: bool) {
        self.served.set(served);
        self.changed.set(None);
        self.trouble.set(None);
        self.outdated.set(None);
        self.news.set(News::default());
    }

    /// Pauses or continues the following; returns false if there is nothing to follow.
    pub(crate) fn toggle(self) -> bool {
        if !self.served.get_untracked() {
            return false;
        }
        self.on.update(|on| *on = !*on);
        self.trouble.set(None);
        self.look_now();
        true
    }

    /// Returns whether an error must not be shown yet, because it comes from a write in progress and the page will
    /// retry.
    pub(crate) fn holds(self, trouble: &Trouble) -> bool {
        if trouble.passing && !self.served.get_untracked() {
            self.outdated.set(trouble.file.clone());
        }
        trouble.passing && self.served.get_untracked() && self.on.get_untracked()
    }

    /// Checks for changes at once.
    pub(crate) fn look_now(self) {
        let waiting = self.wake.try_update_value(Option::take).flatten();
        if let Some(waiting) = waiting {
            // The waiting task may have ended, so the error is ignored.
            let _ = waiting.send(());
        }
    }

    /// Waits as long as a write to a file may take.
    pub(crate) async fn patience(self) {
        TimeoutFuture::new(PATIENCE).await;
    }

    /// Returns whether the new address names the same item by its new number; true only once for each renaming.
    pub(crate) fn is_renamed(self, item: &str) -> bool {
        let taken = self
            .renamed
            .try_update_value(|renamed| renamed.take_if(|renamed| renamed == item));
        taken.flatten().is_some()
    }

    /// Returns whether a node is new; `place` is its run's.
    pub(crate) fn is_new_node(self, place: &str, node: u32) -> bool {
        self.news
            .with(|news| news.nodes.contains(&node) && news.place == place)
    }

    /// Returns whether a binding is new.
    pub(crate) fn is_new_binding(self, place: &str, binding: u32) -> bool {
        self.news
            .with(|news| news.bindings.contains(&binding) && news.place == place)
    }

    /// Returns whether a run is new.
    pub(crate) fn is_new_run(self, place: &str) -> bool {
        self.news.with(|news| news.runs.contains(place))
    }

    /// Marks new rows for a short time.
    fn mark(self, place: Option<&str>, followed: &Followed, runs: BTreeSet<String>) {
        self.news.set(News {
            place: place.unwrap_or_default().to_owned(),
            nodes: followed.new_nodes.iter().copied().collect(),
            bindings: followed.new_bindings.iter().copied().collect(),
            runs,
        });
        let number = self.next();
        let forget = move || {
            if self.number.get_value() == number {
                self.news.set(News::default());
            }
        };
        set_timeout(forget, duration(MARKED));
    }

    fn next(self) -> u32 {
        self.number.update_value(|number| *number += 1);
        self.number.get_value()
    }
}

fn duration(milliseconds: i64) -> std::time::Duration {
    std::time::Duration::from_millis(milliseconds.unsigned_abs())
}

/// Returns the current time in milliseconds since 1970.
fn now() -> i64 {
    js_sys::Date::now() as i64
}
