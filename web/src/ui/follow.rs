//! Following what is written while it is open.
//!
//! [`watch`] hears from the server that something changed, and has its desk read it anew; of files that a person gave
//! it only finds out that they changed. What a page shows stays until the new answer is there
//! ([`super::load`], [`super::list`]); [`carry`] keeps what is folded, opened and scrolled to where it is.

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

/// For how long something that is being written may refuse to be read before that is said, in milliseconds.
const PATIENCE: u32 = 10_000;

/// For how long new rows are marked, in milliseconds. The style's animation takes as long.
const MARKED: i64 = 4000;

/// Whether and how far the page follows; cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct Follow {
    /// What is open comes from a server that can be asked again.
    pub(crate) served: RwSignal<bool>,
    /// Changes are shown as they come.
    pub(crate) on: RwSignal<bool>,
    /// Counts readings of the run that is shown: whoever shows an answer of the worker asks again.
    pub(crate) edition: RwSignal<u32>,
    /// When something changed last, in milliseconds since 1970.
    pub(crate) changed: RwSignal<Option<i64>>,
    /// Why what is shown is not up to date.
    pub(crate) trouble: RwSignal<Option<Trouble>>,
    /// The file, of those that a person gave, that is no longer what was given.
    pub(crate) outdated: RwSignal<Option<String>>,
    /// What was not there before the last reading.
    news: RwSignal<News>,
    /// What the address names now, where only its number changed.
    renamed: StoredValue<Option<String>>,
    keeper: StoredValue<Option<(u32, Keeper)>, LocalStorage>,
    wake: StoredValue<Option<oneshot::Sender<()>>, LocalStorage>,
    /// Counts keepers and news.
    number: StoredValue<u32>,
}

/// What was not there before.
#[derive(Debug, Clone, Default, PartialEq)]
struct News {
    /// The run that nodes and bindings are of.
    place: String,
    nodes: BTreeSet<u32>,
    bindings: BTreeSet<u32>,
    /// Places of runs.
    runs: BTreeSet<String>,
}

impl Follow {
    /// On, with nothing to follow yet.
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

    /// Something else is open from now on.
    pub(crate) fn begin(self, served: bool) {
        self.served.set(served);
        self.changed.set(None);
        self.trouble.set(None);
        self.outdated.set(None);
        self.news.set(News::default());
    }

    /// Pauses, or goes on; `false` where there is nothing to follow.
    pub(crate) fn toggle(self) -> bool {
        if !self.served.get_untracked() {
            return false;
        }
        self.on.update(|on| *on = !*on);
        self.trouble.set(None);
        self.look_now();
        true
    }

    /// Whether a trouble is not to be shown yet: it comes of a write that is under way, and the page will ask again.
    pub(crate) fn holds(self, trouble: &Trouble) -> bool {
        if trouble.passing && !self.served.get_untracked() {
            self.outdated.set(trouble.file.clone());
        }
        trouble.passing && self.served.get_untracked() && self.on.get_untracked()
    }

    /// Looks at once whether anything changed.
    pub(crate) fn look_now(self) {
        let waiting = self.wake.try_update_value(Option::take).flatten();
        if let Some(waiting) = waiting {
            // Whoever waited may have stopped.
            let _ = waiting.send(());
        }
    }

    /// Waits for as long as a write may take.
    pub(crate) async fn patience(self) {
        TimeoutFuture::new(PATIENCE).await;
    }

    /// Whether the address names what it named before, by another number, and nobody went anywhere; says so once.
    pub(crate) fn is_renamed(self, item: &str) -> bool {
        let taken = self
            .renamed
            .try_update_value(|renamed| renamed.take_if(|renamed| renamed == item));
        taken.flatten().is_some()
    }

    /// Whether a node was not there before; `place` is its run's.
    pub(crate) fn is_new_node(self, place: &str, node: u32) -> bool {
        self.news
            .with(|news| news.nodes.contains(&node) && news.place == place)
    }

    /// The same of a binding.
    pub(crate) fn is_new_binding(self, place: &str, binding: u32) -> bool {
        self.news
            .with(|news| news.bindings.contains(&binding) && news.place == place)
    }

    /// The same of a run.
    pub(crate) fn is_new_run(self, place: &str) -> bool {
        self.news.with(|news| news.runs.contains(place))
    }

    /// Marks what is new, for a moment.
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

/// Milliseconds since 1970.
fn now() -> i64 {
    js_sys::Date::now() as i64
}
