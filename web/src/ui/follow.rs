//! Updates the page when the open files change.
//!
//! [`watch`] receives messages about changes from the server, and requests that the server's desk reread the files.
//! For dropped files, [`watch`] only detects a change. The page keeps its content until the new answers arrive
//! ([`super::load`], [`super::list`]). [`carry`] keeps folded nodes, the open item and the scroll position.

mod carry;
mod note;
mod watch;

use std::collections::BTreeSet;

use futures_channel::oneshot;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use crate::protocol::{FollowAnswer, Trouble};

pub(crate) use carry::{Carry, KeptItems, ListKeeper, Stand, on_cleanup_local};
pub(crate) use note::Following;
pub(crate) use watch::watch;

/// The time in milliseconds for which reading may fail before the page reports the error. Reading may fail as long as
/// another program writes the file.
const PATIENCE: u32 = 10_000;

/// The time for which new rows are marked, in milliseconds; equals the duration of the CSS animation.
const MARKED: i64 = 4000;

/// The state of following changes of the open files. It is cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct Follow {
    /// Whether a server has the files open. Only a server can reread files; a browser cannot.
    pub(crate) served: RwSignal<bool>,
    /// Whether the page shows changes as they happen.
    pub(crate) on: RwSignal<bool>,
    /// The number of times that the shown run was reread. Parts of the page track this signal and then repeat their
    /// requests.
    pub(crate) edition: RwSignal<u32>,
    /// The time of the last change, in milliseconds since 1970.
    pub(crate) changed: RwSignal<Option<i64>>,
    /// The reason why the page is out of date; `None` if the page is up to date.
    pub(crate) trouble: RwSignal<Option<Trouble>>,
    /// The path of a dropped file that has changed on disk; `None` if no dropped file has changed.
    pub(crate) outdated: RwSignal<Option<String>>,
    /// The rows that the last rereading added, which are marked for a short time.
    news: RwSignal<News>,
    /// The new name of the selected item in the address, if rereading changed only the item's number.
    renamed: StoredValue<Option<String>>,
    keeper: StoredValue<Option<(u32, ListKeeper)>, LocalStorage>,
    wake: StoredValue<Option<oneshot::Sender<()>>, LocalStorage>,
    /// A counter that gives each keeper and each set of new rows a number. A late removal can thereby skip a newer
    /// keeper or set.
    number: StoredValue<u32>,
}

/// The rows that a rereading added.
#[derive(Debug, Clone, Default, PartialEq)]
struct News {
    /// The path of the run to which the nodes and bindings belong.
    place: String,
    nodes: BTreeSet<u32>,
    bindings: BTreeSet<u32>,
    /// The paths of added runs.
    runs: BTreeSet<String>,
}

impl Follow {
    /// Creates the state at the start of the page: following is on, but no files are open.
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

    /// Pauses or continues following. Returns false if no server has the files open.
    pub(crate) fn toggle(self) -> bool {
        if !self.served.get_untracked() {
            return false;
        }
        self.on.update(|on| *on = !*on);
        self.trouble.set(None);
        self.look_now();
        true
    }

    /// Returns whether an error must not be shown yet, because it may be due to a write in progress and the page will
    /// retry. For dropped files, such an error marks the file as changed.
    pub(crate) fn holds(self, trouble: &Trouble) -> bool {
        if trouble.passing && !self.served.get_untracked() {
            self.outdated.set(trouble.file.clone());
        }
        trouble.passing && self.served.get_untracked() && self.on.get_untracked()
    }

    /// Wakes the task that watches the files, so that it checks for changes at once.
    pub(crate) fn look_now(self) {
        let waiting = self.wake.try_update_value(Option::take).flatten();
        if let Some(waiting) = waiting {
            // The waiting task may have ended, so the error is ignored.
            let _ = waiting.send(());
        }
    }

    /// Waits for [`PATIENCE`], the time that a write to a file may take.
    pub(crate) async fn patience(self) {
        TimeoutFuture::new(PATIENCE).await;
    }

    /// Returns whether an item in the address is the previous item with its new number. Returns true only once for each
    /// renumbering.
    pub(crate) fn is_renamed(self, item: &str) -> bool {
        let taken = self
            .renamed
            .try_update_value(|renamed| renamed.take_if(|renamed| renamed == item));
        taken.flatten().is_some()
    }

    /// Returns whether a node was added by the last rereading. `place` is the path of the node's run.
    pub(crate) fn is_new_node(self, place: &str, node: u32) -> bool {
        self.news
            .with(|news| news.nodes.contains(&node) && news.place == place)
    }

    /// Returns whether a binding was added by the last rereading.
    pub(crate) fn is_new_binding(self, place: &str, binding: u32) -> bool {
        self.news
            .with(|news| news.bindings.contains(&binding) && news.place == place)
    }

    /// Returns whether a run was added by the last rereading.
    pub(crate) fn is_new_run(self, place: &str) -> bool {
        self.news.with(|news| news.runs.contains(place))
    }

    /// Marks the new rows for [`MARKED`] milliseconds.
    fn mark(self, place: Option<&str>, followed: &FollowAnswer, runs: BTreeSet<String>) {
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
