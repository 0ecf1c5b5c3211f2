//! Keeps the state that all components of the page share: the open source (`opening.rs`), the route (`address.rs`), and the
//! client that sends requests.

mod address;
mod opening;
mod sheet;

use std::collections::BTreeMap;
use std::rc::Rc;

use leptos::prelude::*;
use serde::de::DeserializeOwned;

use crate::client::{Client, ProgressCallback};
use crate::protocol::{Folded, Folds, LookedThrough, Request, SharedRemarks, Trouble, WorkflowsIn};
use crate::route::{Page, Route};

use super::choice::Choice;
use super::follow::Follow;
use super::trace_shown::TraceShown;

pub(crate) use address::{ShownRun, find, key};
pub(crate) use opening::{Desk, OpeningSource};
pub(crate) use sheet::{Decision, Sheet};

use address::hash;
use opening::Behind;

/// The state that all components share. It consists of signals and is cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct App {
    /// The open source, or the progress of an opening.
    pub(crate) desk: RwSignal<Desk>,
    /// The databases of workflows in the source.
    pub(crate) workflows: RwSignal<Vec<WorkflowsIn>>,
    /// The remarks about shared files in the source.
    pub(crate) shared: RwSignal<Option<SharedRemarks>>,
    /// The route in the address.
    pub(crate) route: RwSignal<Route>,
    /// The present time in milliseconds since 1970; see [`super::clock`].
    pub(crate) clock: RwSignal<i64>,
    /// The pages of the shown run that have tabs.
    pub(crate) offered: RwSignal<Vec<Page>>,
    /// The width of the item beside a list, in pixels; `None` for the default width.
    pub(crate) beside: RwSignal<Option<f64>>,
    /// Whether the page shows the help.
    pub(crate) help: RwSignal<bool>,
    /// The paths of the runs or databases of workflows to share, while the sheet for sharing is open.
    pub(crate) sharing: RwSignal<Option<Vec<String>>>,
    /// The sheet that is open over the pages of a run, if any.
    pub(crate) sheet: RwSignal<Option<Sheet>>,
    /// The paths of the runs marked for comparison: at most two.
    pub(crate) paired: RwSignal<Vec<String>>,
    /// The path of the run that was shown last: the list of runs comes back to its row.
    pub(crate) shown_last: StoredValue<Option<String>>,
    /// Whether the finder is shown.
    pub(crate) finder: RwSignal<bool>,
    /// The last search text.
    pub(crate) sought: RwSignal<String>,
    /// The text marked on the page.
    pub(crate) marked: RwSignal<Option<Marked>>,
    /// The filter and the order of the list of runs.
    pub(crate) choice: Choice,
    /// Whether the page is to be printed as soon as all its rows have arrived.
    pub(crate) printing: RwSignal<bool>,
    /// The number of runs that are not read yet, and whether the user stopped the reading.
    pub(crate) unread: RwSignal<(u32, bool)>,
    /// The progress of listing files, in words, and whether the user stopped the listing. Only set if the first files
    /// were opened before all files were listed.
    pub(crate) gathering: RwSignal<Option<(String, bool)>>,
    /// The filter and the view of the trace.
    pub(crate) trace: TraceShown,
    /// The error of the last opening, if it failed and the previous source stayed open.
    pub(crate) notice: RwSignal<Option<Trouble>>,
    /// A short message, such as that a key had no effect.
    pub(crate) said: RwSignal<String>,
    /// The state of following changes.
    pub(crate) follow: Follow,
    /// Whether nobody sees the page ([`super::rehearsal`]). It then changes neither the address nor the title.
    is_unseen: bool,
    client: StoredValue<Client, LocalStorage>,
    /// Whether the opening in progress adds a run to compare.
    adding: StoredValue<bool>,
    /// The folded nodes of each run, by the run's path.
    folds: StoredValue<BTreeMap<String, Folds>>,
    /// Counts the changes of folded nodes, for parts of the page that track them.
    fold_bell: RwSignal<u32>,
    /// The most recently opened source, to open it again.
    last: StoredValue<Option<OpeningSource>, LocalStorage>,
    /// The states that were replaced by newer openings, the oldest first. If an opening fails, the last of these states
    /// is restored.
    behind: StoredValue<Vec<Behind>, LocalStorage>,
    /// The number of the opening that is shown or in progress.
    opening: StoredValue<u32>,
    /// The number of openings so far, from which each opening gets its number.
    begun: StoredValue<u32>,
    /// The list in which keys such as `j` and `k` move.
    list: StoredValue<Option<ListKeys>, LocalStorage>,
    list_number: StoredValue<u32>,
}

/// The list that keys such as `j` control: its number, and the function that executes a step.
type ListKeys = (u32, Rc<dyn Fn(Move)>);

/// A text that the user searched for, and that is marked everywhere on the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Marked {
    /// The text to mark.
    pub(crate) text: String,
    /// The line of the opened value that contains the match, from 1.
    pub(crate) line: u64,
}

/// A command for the list that keys control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    /// Moves to the next row.
    Down,
    /// Moves to the previous row.
    Up,
    /// Moves to the next failure.
    NextFailure,
    /// Moves to the previous failure.
    PreviousFailure,
    /// Folds or unfolds nodes that succeeded.
    FoldWell,
    /// Marks a row for a command on several rows.
    Mark,
    /// Zooms the axis to a row.
    Fill,
}

impl App {
    /// Creates an empty state.
    pub(crate) fn new() -> App {
        App {
            desk: RwSignal::new(Desk::Empty),
            workflows: RwSignal::new(Vec::new()),
            shared: RwSignal::default(),
            route: RwSignal::new(Route::parse(&hash())),
            clock: RwSignal::new(super::clock::now()),
            offered: RwSignal::default(),
            beside: RwSignal::new(None),
            help: RwSignal::new(false),
            sharing: RwSignal::new(None),
            sheet: RwSignal::new(None),
            paired: RwSignal::new(Vec::new()),
            shown_last: StoredValue::default(),
            finder: RwSignal::new(false),
            sought: RwSignal::default(),
            marked: RwSignal::new(None),
            choice: Choice::default(),
            printing: RwSignal::new(false),
            unread: RwSignal::new((0, false)),
            gathering: RwSignal::new(None),
            trace: TraceShown::new(),
            notice: RwSignal::new(None),
            said: RwSignal::default(),
            follow: Follow::new(),
            is_unseen: false,
            client: StoredValue::new_local(Client::default()),
            adding: StoredValue::new(false),
            folds: StoredValue::default(),
            fold_bell: RwSignal::new(0),
            last: StoredValue::new_local(None),
            behind: StoredValue::new_local(Vec::new()),
            opening: StoredValue::new(0),
            begun: StoredValue::new(0),
            list: StoredValue::new_local(None),
            list_number: StoredValue::new(0),
        }
    }

    /// Returns the state from the context of the component.
    pub(crate) fn get() -> App {
        expect_context()
    }

    /// Creates the state of a page that nobody sees and that shows a run.
    pub(crate) fn rehearsing(client: Client, run: &str) -> App {
        App {
            is_unseen: true,
            route: RwSignal::new(Route::page(run, Page::Trace)),
            client: StoredValue::new_local(client),
            ..App::new()
        }
    }

    /// Starts the worker before a source is opened, and rehearses, so that the first opening is fast.
    pub(crate) fn warm(self) {
        let client = self.client.get_value();
        client.start();
        super::rehearsal::begin(client);
    }

    /// Sets the title of the window.
    pub(crate) fn entitle(self, title: &str) {
        if !self.is_unseen {
            document().set_title(title);
        }
    }

    /// Sends a request to the desk of the open source.
    pub(crate) async fn ask<T: DeserializeOwned>(self, request: Request) -> Result<T, Trouble> {
        let client = self.client.get_value();
        client.ask(&request).await
    }

    /// Returns the answer to a request if it arrived together with an earlier answer.
    pub(crate) fn known<T: DeserializeOwned>(self, request: &Request) -> Option<T> {
        self.client.with_value(|client| client.known(request))
    }

    /// Forgets the answers that arrived together, which time made untrue.
    pub(crate) fn forget(self) {
        self.client.with_value(Client::forget);
    }

    /// Requests all that the screen of a run shows first, so that it is known.
    pub(crate) async fn learn(self, place: String) -> Result<(), Trouble> {
        let client = self.client.get_value();
        client.learn(place).await
    }

    /// Sends a request whose answer is a file, such as a whole value.
    pub(crate) async fn blob(self, request: Request) -> Result<web_sys::Blob, Trouble> {
        let client = self.client.get_value();
        client.blob(&request).await
    }

    /// Runs an SQL query.
    pub(crate) async fn query<T: DeserializeOwned>(self, request: &Request) -> Result<T, Trouble> {
        let client = self.client.get_value();
        client.query(self.opening(), request).await
    }

    /// Stops the SQL query and its worker, with everything that the worker has read.
    pub(crate) fn stop_query(self) {
        self.client.get_value().stop_query();
    }

    /// Scans runs for sharing.
    pub(crate) async fn look_to_share(
        self,
        request: &Request,
        watch: ProgressCallback,
    ) -> Result<LookedThrough, Trouble> {
        let client = self.client.get_value();
        client.look_to_share(self.opening(), request, watch).await
    }

    /// Returns the shared file.
    pub(crate) async fn share(
        self,
        request: &Request,
        watch: ProgressCallback,
    ) -> Result<web_sys::Blob, Trouble> {
        let client = self.client.get_value();
        client.share(self.opening(), request, watch).await
    }

    /// Stops sharing.
    pub(crate) fn stop_sharing(self) {
        self.client.get_value().stop_sharing();
    }

    /// Returns the folded nodes of a run.
    pub(crate) fn folds(self, place: &str) -> Folds {
        let folds = self.folds.read_value();
        folds.get(place).cloned().unwrap_or_default()
    }

    /// Changes which nodes of a run are folded, and notifies the trace.
    pub(crate) fn fold(self, place: &str, change: impl FnOnce(&mut Folds)) {
        self.folds.update_value(|folds| {
            change(folds.entry(place.to_owned()).or_default());
        });
        self.fold_bell.update(|bell| *bell += 1);
    }

    /// Applies a rule for folding, unless nodes of this run were folded or unfolded before. Returns whether the rule
    /// was applied.
    pub(crate) fn fold_at_first(self, place: &str, kind: Folded) -> bool {
        let is_first = !self.folds.read_value().contains_key(place);
        if is_first {
            self.fold(place, |folds| *folds = Folds::of(kind));
        }
        is_first
    }

    /// Tracks changes of folded nodes.
    pub(crate) fn track_folds(self) {
        self.fold_bell.track();
    }

    /// Returns the folded nodes of all runs.
    pub(crate) fn all_folds(self) -> StoredValue<BTreeMap<String, Folds>> {
        self.folds
    }

    /// Shows a message for a short time.
    pub(crate) fn say(self, words: &str) {
        self.said.set(words.to_owned());
        let words = words.to_owned();
        let hush = move || {
            if *self.said.read_untracked() == words {
                self.said.set(String::new());
            }
        };
        set_timeout(hush, std::time::Duration::from_secs(3));
    }

    /// Marks a run for comparison, or removes its mark. A third mark replaces the first.
    pub(crate) fn pair(self, place: &str) {
        self.paired.update(|paired| {
            let before = paired.len();
            paired.retain(|marked| marked != place);
            if paired.len() == before {
                paired.push(place.to_owned());
            }
            if paired.len() > 2 {
                paired.remove(0);
            }
        });
    }

    /// Opens the comparison of the two marked runs. Returns false, and shows a message, unless two runs are marked.
    pub(crate) fn compare(self) -> bool {
        let paired = self.paired.get_untracked();
        let desk = self.desk.read_untracked();
        let ([first, second], Desk::Open(list)) = (paired.as_slice(), &*desk) else {
            self.say("Mark two runs of one program first (x)");
            return false;
        };
        let known = |place: &String| {
            let run = desk.run(place);
            run.map_or_else(|| place.clone(), |run| key(list, run))
        };
        // The run that began earlier is run A, whichever was marked first.
        let begun = |place: &String| {
            desk.run(place)
                .and_then(prosescope_core::pages::session::began)
        };
        let (a, b) = match begun(first) > begun(second) {
            true => (second, first),
            false => (first, second),
        };
        self.go(Route::Compare {
            a: known(a),
            b: known(b),
            item: None,
        });
        true
    }

    /// Prints the page with all rows of its list.
    pub(crate) fn print(self) {
        if self.list.with_value(Option::is_some) {
            // The list requests all its rows, and prints the page when they have arrived.
            self.printing.set(true);
        } else {
            print_now();
        }
    }

    /// Makes a list the list that keys control. Returns a function that ends the control.
    pub(crate) fn list_keys(self, on_move: impl Fn(Move) + 'static) -> impl Fn() {
        let number = self.list_number.get_value() + 1;
        self.list_number.set_value(number);
        self.list.set_value(Some((number, Rc::new(on_move))));
        move || {
            self.list.update_value(|list| {
                if list.as_ref().is_some_and(|(n, _)| *n == number) {
                    *list = None;
                }
            });
        }
    }

    /// Executes a step in the list that keys control. Returns false if there is no such list.
    pub(crate) fn move_in_list(self, step: Move) -> bool {
        match self.list.get_value() {
            Some((_, on_move)) => {
                on_move(step);
                true
            }
            None => false,
        }
    }
}

/// Opens the browser's print dialog after the next rendering.
pub(crate) fn print_now() {
    request_animation_frame(|| {
        // If printing is forbidden, the browser reports that itself.
        let _ = window().print();
    });
}
