//! The address of the page: the route, and the filters that it contains.

use leptos::prelude::*;
use prosescope_core::pages::view::{Overview, RunList, RunSummary};
use wasm_bindgen::JsValue;

use crate::protocol::Trouble;
use crate::route::{Page, Route, query, with_query};

use super::{App, Desk};

impl App {
    /// Goes to another route. The browser's Back returns to the present route.
    pub(crate) fn go(self, route: Route) {
        if self.route.get_untracked() != route {
            self.write_hash(&route.to_string(), true);
            self.route.set(route);
        }
    }

    /// Goes to another route without a step in the browser's history, as for a selected row.
    pub(crate) fn put(self, route: Route) {
        if self.route.get_untracked() != route {
            self.write_hash(&route.to_string(), false);
            self.route.set(route);
        }
    }

    /// Handles a change of the address by Back, Forward, a link or typing.
    pub(crate) fn hash_changed(self) {
        let hash = hash();
        let route = Route::parse(&hash);
        self.take_choice(&hash);
        if self.route.get_untracked() != route {
            self.route.set(route);
        }
    }

    /// Restores the filter of the list, or the filter and view of the trace, from an address.
    fn take_choice(self, hash: &str) {
        match Route::parse(hash) {
            Route::Home => self.choice.take(&query(hash)),
            // A link to a trace without keys and values leaves the filter and the view unchanged.
            route if route.is_trace() && !query(hash).is_empty() => self.trace.take(&query(hash)),
            _ => {}
        }
    }

    fn write_hash(self, hash: &str, push: bool) {
        let Some(history) = window().history().ok().filter(|_| !self.is_unseen) else {
            return;
        };
        // An error is ignored: the browser may refuse too many changes per second, and then only the address is out of
        // date.
        let _ = if push {
            history.push_state_with_url(&JsValue::NULL, "", Some(hash))
        } else {
            history.replace_state_with_url(&JsValue::NULL, "", Some(hash))
        };
    }

    /// Writes the filter of the list, and the filter of the trace, into the address whenever they change.
    pub(crate) fn keep_choice(self) {
        self.take_choice(&hash());
        Effect::new(move || {
            let route = self.route.get();
            if route.is_trace() {
                let address = with_query(&route.without_query(), &self.trace.pairs());
                if address != hash() {
                    self.write_hash(&address, false);
                }
            }
        });
        Effect::new(move || {
            let pairs = self.choice.pairs();
            let is_list = *self.route.read() == Route::Home;
            if is_list && matches!(*self.desk.read(), Desk::Open(_)) {
                let address = with_query(&Route::Home, &pairs);
                if address != hash() {
                    self.write_hash(&address, false);
                }
            }
        });
    }
}

/// The run that the page shows. It is cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct ShownRun {
    /// The run's id or path in the address.
    pub(crate) key: Memo<String>,
    /// The run's path in the open source, which the page's requests contain.
    pub(crate) place: Memo<String>,
    /// The run's overview; `None` while it is being read.
    pub(crate) overview: Signal<Option<Result<Overview, Trouble>>>,
    /// How many gates wait although their deadline has passed; `None` while the overview is being read.
    pub(crate) late_gates: Memo<Option<usize>>,
}

impl ShownRun {
    /// Returns the shown run from the context of the component.
    pub(crate) fn get() -> ShownRun {
        expect_context()
    }

    /// Returns the run's summary in the list, which is known before the run is read.
    pub(crate) fn line(self) -> Option<RunSummary> {
        let place = self.place.get();
        App::get().desk.with(|desk| desk.run(&place).cloned())
    }

    /// Returns the run's path, untracked, because the pages are created again for another run. A task that outlives
    /// its page gets an empty path, and its answer is ignored.
    pub(crate) fn place(self) -> String {
        self.place.try_get_untracked().unwrap_or_default()
    }

    /// Returns whether the band above the pages shows the error that the run failed with. The trace then does not repeat
    /// it.
    pub(crate) fn shows_error(self) -> bool {
        let is_failed = |overview: &Overview| overview.status == "failed";
        self.overview
            .with_untracked(|answer| matches!(answer, Some(Ok(overview)) if is_failed(overview)))
    }

    /// Returns a route to a page.
    pub(crate) fn page(self, page: Page) -> Route {
        Route::page(&self.key.get_untracked(), page)
    }

    /// Returns a route to an item on a page.
    pub(crate) fn item(self, page: Page, item: impl std::fmt::Display) -> Route {
        Route::item(&self.key.get_untracked(), page, item)
    }
}

/// Returns the path of the run that `key` identifies: an id that only one run has, or a path in the open source. The
/// key of a nested run, which is not in the list, is always a path.
pub(crate) fn find(list: &RunList, key: &str) -> Option<String> {
    let mut of_id = list.runs.iter().filter(|run| run.id == key);
    match (of_id.next(), of_id.next()) {
        (Some(run), None) => Some(run.place.clone()),
        _ => {
            let listed = list.runs.iter().any(|run| run.place == key);
            let nested = list.runs.iter().any(|run| {
                let below = key.strip_prefix(run.place.as_str());
                below.is_some_and(|rest| rest.trim_start_matches('/').starts_with("imports/"))
            });
            (listed || nested).then(|| key.to_owned())
        }
    }
}

/// Returns the key of a run for the address: its id, or its path if the id is missing or not unique.
pub(crate) fn key(list: &RunList, run: &RunSummary) -> String {
    let same = list.runs.iter().filter(|other| other.id == run.id).count();
    if run.id.is_empty() || same > 1 {
        run.place.clone()
    } else {
        run.id.clone()
    }
}

pub(super) fn hash() -> String {
    window().location().hash().unwrap_or_default()
}
