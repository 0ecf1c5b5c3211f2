//! Loads the rows of a long list in chunks when they become visible, and drops chunks that are far from the visible
//! rows.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::pin::Pin;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_desk::first::ROWS;

use crate::protocol::Trouble;
use crate::ui::follow::Follow;
use crate::ui::state::App;

/// The number of rows per request.
const CHUNK: u64 = ROWS as u64;

/// The most chunks that are kept.
const KEPT: usize = 16;

/// The answer to a request for rows of a long list.
pub(crate) struct Stretch<T> {
    /// The requested rows, in order.
    pub(crate) rows: Vec<T>,
    /// The number of all rows of the list.
    pub(crate) total: u64,
}

/// The answer to a request: a `Vec` of rows, and the number of all rows.
type Fetched = Result<(Box<dyn Any>, u64), Trouble>;
type Fetch = Rc<dyn Fn(u64, u32) -> Pin<Box<dyn Future<Output = Fetched>>>>;

/// The loaded rows of a long list. A copy shares the rows.
pub(crate) struct Pages<T> {
    list: PagedList,
    rows: PhantomData<fn() -> T>,
}

/// A long list without the type of its rows, so that its code is in the wasm once and not for each type.
#[derive(Clone, Copy)]
pub(crate) struct PagedList {
    inner: StoredValue<PagesInner, LocalStorage>,
    /// Counts the arrivals of rows. Parts of the page track this signal to draw new rows.
    arrived: RwSignal<u32>,
    /// The number of all rows; `None` until the first answer.
    pub(crate) total: RwSignal<Option<u64>>,
    /// The error of the last failed request; `None` after a successful request.
    pub(crate) trouble: RwSignal<Option<Trouble>>,
    /// Counts the times that the first rows of a renewed list arrived ([`Pages::renew`]).
    renewed: RwSignal<u32>,
    follow: Follow,
}

impl<T> Clone for Pages<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Pages<T> {}

impl<T> Deref for Pages<T> {
    type Target = PagedList;

    fn deref(&self) -> &PagedList {
        &self.list
    }
}

struct PagesInner {
    chunks: BTreeMap<u64, Box<dyn Any>>,
    asked: BTreeSet<u64>,
    /// The most recently requested range.
    wanted: Option<Range<u64>>,
    /// The number of times that the list was renewed. Answers to requests from before the last renewal are ignored.
    generation: u32,
    /// Whether the stored rows are from before the last renewal. They are shown until the new rows arrive.
    stale: bool,
    fetch: Fetch,
}

impl<T: Clone + 'static> Pages<T> {
    /// Creates a list that loads its rows with `fetch`. The arguments of `fetch` are the index of the first row and the
    /// number of rows.
    pub(crate) fn new<F>(fetch: impl Fn(u64, u32) -> F + 'static) -> Pages<T>
    where
        F: Future<Output = Result<Stretch<T>, Trouble>> + 'static,
    {
        let list = PagedList::new(Rc::new(move |from, len| {
            let fetched = fetch(from, len);
            Box::pin(async move {
                let Stretch { rows, total } = fetched.await?;
                Ok((Box::new(rows) as Box<dyn Any>, total))
            })
        }));
        Pages {
            list,
            rows: PhantomData,
        }
    }

    /// Creates a list from rows that are all loaded already.
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

    /// Returns a row if it has arrived. Tracks the arrival of rows.
    pub(crate) fn get(self, index: u64) -> Option<T> {
        self.arrived.track();
        self.peek(index)
    }

    /// Returns a row if it has arrived, without tracking.
    pub(crate) fn peek(self, index: u64) -> Option<T> {
        self.inner.with_value(|inner| {
            let chunk = inner.chunks.get(&(index / CHUNK))?;
            let rows = chunk.downcast_ref::<Vec<T>>()?;
            rows.get((index % CHUNK) as usize).cloned()
        })
    }
}

impl PagedList {
    fn new(fetch: Fetch) -> PagedList {
        let follow = App::get().follow;
        let pages = PagedList {
            inner: StoredValue::new_local(PagesInner {
                chunks: BTreeMap::new(),
                asked: BTreeSet::new(),
                wanted: None,
                generation: 0,
                stale: false,
                fetch,
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
                // The last range is requested explicitly, because an empty list is not drawn and thus requests no rows
                // itself.
                let wanted = pages.inner.with_value(|inner| inner.wanted.clone());
                if let Some(wanted) = wanted {
                    pages.want(wanted);
                }
            }
        });
        pages
    }

    /// Requests the missing rows of a range.
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

    /// Returns whether all rows of a range have arrived.
    pub(crate) fn has(self, range: Range<u64>) -> bool {
        let chunks = range.start / CHUNK..range.end.div_ceil(CHUNK);
        self.inner.with_value(|inner| {
            !inner.stale
                && chunks
                    .clone()
                    .all(|chunk| inner.chunks.contains_key(&chunk))
        })
    }

    /// Marks the list as changed, so that its rows are requested again. The old rows are shown until the new rows
    /// arrive.
    pub(crate) fn renew(self) {
        self.inner.update_value(|inner| {
            inner.generation += 1;
            inner.stale = true;
            inner.asked.clear();
        });
        self.arrived.update(|n| *n += 1);
    }

    /// Tracks the arrival of the first rows after a renewal of the list.
    pub(crate) fn track_renewed(self) {
        self.renewed.track();
    }

    /// Tracks changes of the stored rows.
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
                Ok((rows, total)) => {
                    let mut renewed = false;
                    self.inner.update_value(|inner| {
                        renewed = std::mem::take(&mut inner.stale);
                        if renewed {
                            // An old chunk stays only if its new rows are requested, too. The old rows are shown until
                            // the answer arrives.
                            inner.chunks.retain(|chunk, _| inner.asked.contains(chunk));
                        }
                        inner.chunks.insert(chunk, rows);
                    });
                    if self.total.get_untracked() != Some(total) {
                        self.total.set(Some(total));
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
