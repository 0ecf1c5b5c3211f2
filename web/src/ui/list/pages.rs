//! Stretches of a long list, asked for as they come into sight, forgotten when they are far away.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::pin::Pin;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::protocol::Trouble;
use crate::ui::follow::Follow;
use crate::ui::state::App;

/// Rows that are asked for at once.
const CHUNK: u64 = 100;

/// Stretches that are kept.
const KEPT: usize = 16;

/// A stretch of a list, and how long the list is.
pub(crate) struct Stretch<T> {
    /// The rows.
    pub(crate) rows: Vec<T>,
    /// Rows in all.
    pub(crate) total: u64,
}

type Future<T> = Pin<Box<dyn std::future::Future<Output = Result<Stretch<T>, Trouble>>>>;
type Fetch<T> = Rc<dyn Fn(u64, u32) -> Future<T>>;

/// A long list; cheap to copy.
pub(crate) struct Pages<T: 'static> {
    inner: StoredValue<Inner<T>, LocalStorage>,
    /// Rings when rows arrived.
    arrived: RwSignal<u32>,
    /// Rows in all; `None` until the first answer.
    pub(crate) total: RwSignal<Option<u64>>,
    /// Why it cannot be shown.
    pub(crate) trouble: RwSignal<Option<Trouble>>,
    /// Rings when the first rows of a list that changed are there.
    renewed: RwSignal<u32>,
    follow: Follow,
}

impl<T> Clone for Pages<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Pages<T> {}

struct Inner<T> {
    chunks: BTreeMap<u64, Vec<T>>,
    asked: BTreeSet<u64>,
    /// The range that was asked for last.
    wanted: Option<Range<u64>>,
    /// Grows when the list itself changed; what was asked before is not heard any more.
    generation: u32,
    /// What is held is of the list before, shown until the new one arrives.
    stale: bool,
    fetch: Fetch<T>,
}

impl<T: Clone + 'static> Pages<T> {
    /// A list whose stretches `fetch` gives: so many rows from a place.
    pub(crate) fn new<F>(fetch: impl Fn(u64, u32) -> F + 'static) -> Pages<T>
    where
        F: std::future::Future<Output = Result<Stretch<T>, Trouble>> + 'static,
    {
        let follow = App::get().follow;
        let pages = Pages {
            inner: StoredValue::new_local(Inner {
                chunks: BTreeMap::new(),
                asked: BTreeSet::new(),
                wanted: None,
                generation: 0,
                stale: false,
                fetch: Rc::new(move |from, len| Box::pin(fetch(from, len))),
            }),
            arrived: RwSignal::new(0),
            total: RwSignal::new(None),
            trouble: RwSignal::new(None),
            renewed: RwSignal::new(0),
            follow,
        };
        Effect::new(move |before: Option<()>| {
            follow.edition.track();
            if before.is_some() {
                pages.renew();
                // An empty list is not drawn, and asks for nothing.
                let wanted = pages.inner.with_value(|inner| inner.wanted.clone());
                if let Some(wanted) = wanted {
                    pages.want(wanted);
                }
            }
        });
        pages
    }

    /// A list that is all there.
    pub(crate) fn of(rows: Vec<T>) -> Pages<T> {
        let rows = Rc::new(rows);
        let total = rows.len() as u64;
        let pages = Pages::new(move |from, len| {
            let stretch = rows.iter().skip(from as usize).take(len as usize);
            let stretch = Stretch {
                rows: stretch.cloned().collect(),
                total,
            };
            std::future::ready(Ok(stretch))
        });
        pages.total.set(Some(total));
        pages
    }

    /// A row, when it is there. Rings when it arrives.
    pub(crate) fn get(self, index: u64) -> Option<T> {
        self.arrived.track();
        self.peek(index)
    }

    /// A row, when it is there.
    pub(crate) fn peek(self, index: u64) -> Option<T> {
        self.inner.with_value(|inner| {
            let chunk = inner.chunks.get(&(index / CHUNK))?;
            chunk.get((index % CHUNK) as usize).cloned()
        })
    }

    /// Asks for what of a range is not there.
    pub(crate) fn want(self, range: Range<u64>) {
        let first = range.start / CHUNK;
        let last = range.end.max(range.start + 1).div_ceil(CHUNK);
        for chunk in first..last {
            self.ask(chunk);
        }
        self.inner.update_value(|inner| {
            inner.wanted = Some(range);
            let kept = KEPT.max((last - first) as usize);
            while inner.chunks.len() > kept {
                let middle = (first + last) / 2;
                let far = inner
                    .chunks
                    .keys()
                    .max_by_key(|chunk| chunk.abs_diff(middle));
                let Some(far) = far.copied() else { return };
                inner.chunks.remove(&far);
                inner.asked.remove(&far);
            }
        });
    }

    /// Whether all rows of a range are there.
    pub(crate) fn has(self, range: Range<u64>) -> bool {
        let chunks = range.start / CHUNK..range.end.div_ceil(CHUNK);
        self.inner.with_value(|inner| {
            !inner.stale
                && chunks
                    .clone()
                    .all(|chunk| inner.chunks.contains_key(&chunk))
        })
    }

    /// The list changed: what is held is shown until the new one arrives.
    pub(crate) fn renew(self) {
        self.inner.update_value(|inner| {
            inner.generation += 1;
            inner.stale = true;
            inner.asked.clear();
        });
        self.arrived.update(|n| *n += 1);
    }

    /// Rings when the first rows of a list that changed are there.
    pub(crate) fn track_renewed(self) {
        self.renewed.track();
    }

    /// Rings when what is held changes.
    pub(crate) fn track(self) {
        self.arrived.track();
    }

    fn ask(self, chunk: u64) {
        let new = self
            .inner
            .try_update_value(|inner| inner.asked.insert(chunk));
        if new != Some(true) {
            return;
        }
        let follow = self.follow;
        let (fetch, generation) = self
            .inner
            .with_value(|inner| (inner.fetch.clone(), inner.generation));
        spawn_local(async move {
            let answer = fetch(chunk * CHUNK, CHUNK as u32).await;
            let current = self.inner.try_with_value(|inner| inner.generation);
            if current != Some(generation) {
                return;
            }
            if answer.as_ref().is_err_and(|trouble| follow.holds(trouble)) {
                follow.look_now();
                follow.patience().await;
                let current = self.inner.try_with_value(|inner| inner.generation);
                if current != Some(generation) {
                    return;
                }
            }
            match answer {
                Ok(stretch) => {
                    let mut renewed = false;
                    self.inner.update_value(|inner| {
                        renewed = std::mem::take(&mut inner.stale);
                        if renewed {
                            // What is on its way too is shown as it was until then.
                            inner.chunks.retain(|chunk, _| inner.asked.contains(chunk));
                        }
                        inner.chunks.insert(chunk, stretch.rows);
                    });
                    if self.total.get_untracked() != Some(stretch.total) {
                        self.total.set(Some(stretch.total));
                    }
                    if self.trouble.read_untracked().is_some() {
                        self.trouble.set(None);
                    }
                    self.arrived.update(|n| *n += 1);
                    if renewed {
                        self.renewed.update(|n| *n += 1);
                    }
                }
                Err(trouble) => self.trouble.set(Some(trouble)),
            }
        });
    }
}
