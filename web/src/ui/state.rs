//! Keeps the state that all components of the page share: the open source, the route, and the client that sends
//! requests. Opens and closes sources.

use std::collections::BTreeMap;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::{Overview, RunList, RunSummary};
use serde::de::DeserializeOwned;
use wasm_bindgen::JsValue;

use crate::client::{Client, Opening, ProgressCallback};
use crate::protocol::{
    Folded, Folds, LookedThrough, Missing, OpenedSource, Request, SharedRemarks, Trouble,
    WorkflowsIn,
};
use crate::route::{Page, Route, query, with_query};

use super::band::Sheet;
use super::choice::Choice;
use super::follow::Follow;
use super::opening::{open_handles, pick_files};
use super::trace_shown::TraceShown;

/// A source to open.
#[derive(Clone)]
pub(crate) enum OpeningSource {
    /// Files that the user dropped, picked or pasted.
    Files {
        /// The name to show for the files.
        label: String,
        /// The files and their paths.
        files: Vec<(String, web_sys::File)>,
        /// The files and folders that the browser did not pass on.
        missing: Missing,
        /// The handles (`FileSystemHandle`s) from which the browser returns the present content of the files; empty in
        /// a browser without such handles.
        handles: Vec<JsValue>,
    },
    /// The run contained in the page itself: its name, and the run as a file.
    Own(String, web_sys::File),
    /// The files of the local server.
    Served,
    /// The example runs contained in the viewer.
    Example,
}

impl OpeningSource {
    fn label(&self) -> String {
        match self {
            OpeningSource::Files { label, .. } | OpeningSource::Own(label, _) => label.clone(),
            OpeningSource::Served => "the local server".to_owned(),
            OpeningSource::Example => "the examples".to_owned(),
        }
    }

    /// Returns the request that opens the source, and the files that it needs.
    fn opening(&self) -> Opening {
        match self {
            OpeningSource::Files {
                label,
                files,
                missing,
                ..
            } => {
                let request = Request::OpenFiles {
                    label: label.clone(),
                    missing: missing.clone(),
                };
                (request, files.clone())
            }
            OpeningSource::Own(label, file) => {
                let request = Request::OpenFiles {
                    label: label.clone(),
                    missing: Missing {
                        loose: true,
                        ..Missing::default()
                    },
                };
                (request, vec![(label.clone(), file.clone())])
            }
            OpeningSource::Served => (Request::OpenServed, Vec::new()),
            OpeningSource::Example => (Request::OpenExample, Vec::new()),
        }
    }
}

/// The open source, or the progress of an opening.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Desk {
    /// Nothing is open.
    Empty,
    /// Files are being listed or read.
    Opening {
        /// The name of the files that are being opened.
        label: String,
        /// The present step of the opening, in words.
        doing: String,
    },
    /// A source with these runs is open.
    Open(RunList),
    /// The opening failed.
    Failed(Trouble),
}

impl Desk {
    /// Returns the run with this path in the open source, if the list contains the run.
    pub(crate) fn run(&self, place: &str) -> Option<&RunSummary> {
        match self {
            Desk::Open(list) => list.runs.iter().find(|run| run.place == place),
            _ => None,
        }
    }

    /// Returns true if a source is open, and false if the opening failed. Returns `None` during an opening, and while
    /// nothing is open.
    pub(crate) fn is_open(&self) -> Option<bool> {
        match self {
            Desk::Open(_) => Some(true),
            Desk::Failed(_) => Some(false),
            Desk::Empty | Desk::Opening { .. } => None,
        }
    }
}

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
    client: StoredValue<Client, LocalStorage>,
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

/// The state of the page before a newer opening replaced it.
struct Behind {
    number: u32,
    desk: Desk,
    what: Option<OpeningSource>,
    gathering: Option<(String, bool)>,
    unread: (u32, bool),
    /// The actions to run if this state is restored, such as showing an answer that arrived meanwhile.
    later: Vec<Box<dyn FnOnce(App)>>,
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
            beside: RwSignal::new(None),
            help: RwSignal::new(false),
            sharing: RwSignal::new(None),
            sheet: RwSignal::new(None),
            paired: RwSignal::new(Vec::new()),
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
            client: StoredValue::new_local(Client::default()),
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

    /// Starts the worker before a source is opened, so that the first opening is fast.
    pub(crate) fn warm(self) {
        self.client.get_value().warm();
    }

    /// Sends a request to the desk of the open source.
    pub(crate) async fn ask<T: DeserializeOwned>(self, request: Request) -> Result<T, Trouble> {
        let client = self.client.get_value();
        client.ask(&request).await
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

    /// Returns the request that opens the present source in another worker, and the files that it needs.
    fn opening(self) -> Opening {
        let what = self.what();
        what.map_or_else(|| (Request::OpenExample, Vec::new()), |what| what.opening())
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

    /// Begins an opening: shows that files are being listed. Returns the number of the opening, for [`App::open_as`].
    /// The present state is kept in case the opening fails.
    pub(crate) fn begin(self, label: &str, doing: &str) -> u32 {
        let desk = self.desk.get_untracked();
        if matches!(desk, Desk::Open(_) | Desk::Opening { .. }) {
            let behind = Behind {
                number: self.number(),
                desk,
                what: self.what(),
                gathering: self.gathering.get_untracked(),
                unread: self.unread.get_untracked(),
                later: Vec::new(),
            };
            self.behind.update_value(|all| all.push(behind));
        }
        let number = self.next_number();
        self.notice.set(None);
        self.gathering.set(None);
        self.desk.set(Desk::Opening {
            label: label.to_owned(),
            doing: doing.to_owned(),
        });
        number
    }

    /// Returns the number for a new opening, and makes the new opening the present one. Answers to earlier openings
    /// are ignored from then on.
    fn next_number(self) -> u32 {
        let number = self.begun.get_value() + 1;
        self.begun.set_value(number);
        self.opening.set_value(number);
        number
    }

    /// Executes an action for an opening. If a newer opening is in progress, the action waits until that opening fails.
    /// If the opening itself was cancelled, the action is dropped.
    fn act_for(self, number: u32, act: impl FnOnce(App) + 'static) {
        if self.number() == number {
            return act(self);
        }
        self.behind.update_value(|all| {
            if let Some(behind) = all.iter_mut().find(|behind| behind.number == number) {
                behind.later.push(Box::new(act));
            }
        });
    }

    /// Updates the progress of listing files. Returns false if the user cancelled this opening.
    pub(crate) fn doing(self, number: u32, doing: String) -> bool {
        if self.is_behind(number) {
            return true;
        }
        let current = self.number() == number;
        if current && self.gathering.read_untracked().is_some() {
            self.gathering.set(Some((doing, false)));
        } else if current {
            self.desk.update(|desk| {
                if let Desk::Opening { doing: old, .. } = desk {
                    *old = doing;
                }
            });
        }
        current
    }

    fn is_behind(self, number: u32) -> bool {
        self.behind
            .with_value(|all| all.iter().any(|behind| behind.number == number))
    }

    /// Opens the files of an opening that are listed so far, while the other files are being listed.
    pub(crate) fn open_so_far(self, number: u32, what: OpeningSource) {
        // Only the newest opening may open files, because a desk has only one source.
        if self.number() != number {
            return;
        }
        self.last.set_value(Some(what.clone()));
        self.follow.begin(false);
        spawn_local(async move {
            let opened = self.ask_open(&what).await;
            // Errors are reported only after all files are listed.
            if let Ok(opened) = opened
                && !opened.list.runs.is_empty()
            {
                self.act_for(number, move |app| app.opened(opened, true));
            }
        });
    }

    /// Stops listing files, and keeps the open files.
    pub(crate) fn stop_gathering(self) {
        self.next_number();
        self.gathering.set(Some((String::new(), true)));
    }

    /// Opens a source instead of the present one.
    pub(crate) fn open(self, what: OpeningSource) {
        let number = self.begin(&what.label(), "Reading");
        self.open_as(number, what);
    }

    /// Opens the files of an opening after all are listed, unless the user cancelled the opening.
    pub(crate) fn open_as(self, number: u32, what: OpeningSource) {
        self.act_for(number, move |app| {
            app.doing(number, "Reading".to_owned());
            app.last.set_value(Some(what.clone()));
            app.follow.begin(matches!(what, OpeningSource::Served));
            spawn_local(async move {
                let opened = app.ask_open(&what).await;
                app.act_for(number, move |app| match opened {
                    Ok(opened) => app.opened(opened, false),
                    Err(trouble) => app.failed(trouble),
                });
            });
        });
    }

    async fn ask_open(self, what: &OpeningSource) -> Result<OpenedSource, Trouble> {
        let client = self.client.get_value();
        let (request, files) = what.opening();
        client.ask_with(&request, files).await
    }

    /// Tries a failed opening again. If it fails again, the earlier error stays.
    pub(crate) async fn try_again(self) {
        let (number, what) = (self.number(), self.what());
        let Some(what) = what else { return };
        let opened = self.ask_open(&what).await;
        match opened {
            Ok(opened) if self.number() == number => self.opened(opened, false),
            _ => {}
        }
    }

    /// Returns the number of the present opening.
    pub(crate) fn number(self) -> u32 {
        self.opening.get_value()
    }

    /// Returns the source that is open or that failed to open.
    pub(crate) fn what(self) -> Option<OpeningSource> {
        self.last.get_value()
    }

    /// Shows an opened source. If `so_far` is true, some of its files are not listed yet.
    fn opened(self, opened: OpenedSource, so_far: bool) {
        let OpenedSource {
            list,
            workflows,
            left,
            overview,
            shared,
        } = opened;
        if let ([only], Some(overview)) = (list.runs.as_slice(), overview) {
            let asked = Request::Page {
                place: only.place.clone(),
                page: pages::Page::Overview,
            };
            self.client
                .with_value(|client| client.know(asked, overview));
        }
        let is_first = self.gathering.get_untracked().is_none();
        let some = left > 0 || so_far;
        // Keeps the route if its run is in the source. A single run is opened automatically.
        let is_in = |place: &str| workflows.iter().any(|one| one.place == place);
        let all = (list.runs.as_slice(), workflows.as_slice());
        let route = match (self.route.get_untracked(), all) {
            // The route to a run is kept even if the list lacks the run, as long as some runs are not read yet.
            (Route::Run { run, .. }, _) if some || find(&list, &run).is_some() => None,
            (Route::Workflows { place } | Route::Workflow { place, .. }, _) if is_in(&place) => {
                None
            }
            (_, ([only], [])) if !some => {
                let run = key(&list, only);
                Some(
                    match shared.as_ref().and_then(|shared| shared.opens.as_ref()) {
                        Some(row) => Route::item(&run, Page::Trace, row),
                        None => Route::page(&run, Page::Trace),
                    },
                )
            }
            (_, ([], [only])) if !some => Some(Route::Workflows {
                place: only.place.clone(),
            }),
            _ => Some(Route::Home),
        };
        self.behind.set_value(Vec::new());
        if is_first {
            self.folds.set_value(BTreeMap::new());
        }
        // The filter is cleared for a new source, but not for the first source: the page may have been opened by a link
        // with a filter.
        if is_first && self.number() > 1 {
            self.choice.clear();
        }
        self.gathering
            .set(so_far.then(|| ("Listing files".to_owned(), false)));
        self.workflows.set(workflows);
        self.shared.set(shared);
        self.desk.set(Desk::Open(list));
        match route {
            Some(Route::Home) => self.put(Route::Home),
            // An automatically opened run adds a step to the history, so that Back returns to the list.
            Some(route) => self.go(route),
            None => {}
        }
        self.list_rest(left);
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

    /// Requests the `left` runs that are not read yet, and adds them to the list as they arrive.
    pub(crate) fn list_rest(self, left: u32) {
        self.unread.set((left, false));
        let number = self.number();
        spawn_local(async move {
            let is_wanted = || {
                let (left, stopped) = self.unread.get_untracked();
                left > 0 && !stopped && self.number() == number
            };
            while is_wanted() {
                let more: OpenedSource = match self.ask(Request::MoreRuns).await {
                    Ok(more) => more,
                    Err(trouble) => {
                        self.unread.update(|(_, stopped)| *stopped = true);
                        self.notice.set(Some(trouble));
                        return;
                    }
                };
                if self.number() != number {
                    // A newer opening has begun. This answer is stored in case that opening fails, because the desk
                    // returns each run only once.
                    self.act_for(number, move |app| {
                        app.add(more);
                        let (left, stopped) = app.unread.get_untracked();
                        if !stopped {
                            app.list_rest(left);
                        }
                    });
                    return;
                }
                self.add(more);
            }
        });
    }

    /// Adds further runs to the list.
    fn add(self, more: OpenedSource) {
        self.desk.update(|desk| {
            if let Desk::Open(list) = desk {
                list.runs.extend(more.list.runs);
            }
        });
        if *self.workflows.read_untracked() != more.workflows {
            self.workflows.set(more.workflows);
        }
        self.unread.update(|(left, _)| *left = more.left);
    }

    /// Opens the last source again. Dropped files are read anew if the browser supports handles; otherwise the dialog
    /// for files opens.
    pub(crate) fn open_again(self) {
        let outdated = self.follow.outdated.read_untracked().is_some();
        match self.what() {
            Some(OpeningSource::Files { handles, .. }) if !handles.is_empty() => {
                open_handles(self, handles)
            }
            Some(OpeningSource::Files { .. }) if outdated => pick_files(),
            Some(what) => self.open(what),
            None => self.desk.set(Desk::Empty),
        }
    }

    /// Returns whether there is a source to open again.
    pub(crate) fn can_open_again(self) -> bool {
        self.last.with_value(Option::is_some)
    }

    /// Stops all reading, and returns to the empty page.
    pub(crate) fn cancel(self) {
        self.gathering.set(None);
        self.next_number();
        self.behind.set_value(Vec::new());
        self.client.with_value(Client::stop);
        self.desk.set(Desk::Empty);
    }

    /// Closes the open source.
    pub(crate) fn close(self) {
        self.cancel();
        self.last.set_value(None);
        self.follow.begin(false);
        self.go(Route::Home);
    }

    /// Shows the error of a failed opening: as a notice if a source is open, otherwise as the page's content.
    pub(crate) fn fail(self, trouble: Trouble) {
        match *self.desk.read_untracked() {
            Desk::Open(_) | Desk::Opening { .. } => self.notice.set(Some(trouble)),
            Desk::Empty | Desk::Failed(_) => self.desk.set(Desk::Failed(trouble)),
        }
    }

    /// Shows an error for an opening, by its number.
    pub(crate) fn fail_as(self, number: u32, trouble: Trouble) {
        self.act_for(number, move |app| app.failed(trouble));
    }

    /// Handles a failed opening: restores the previous state, and shows the error.
    fn failed(self, trouble: Trouble) {
        self.gathering.set(None);
        if matches!(*self.desk.read_untracked(), Desk::Open(_)) {
            // The first files are already open and stay open. The error is shown as a notice.
            self.notice.set(Some(trouble));
            return;
        }
        let Some(behind) = self.behind.try_update_value(Vec::pop).flatten() else {
            self.desk.set(Desk::Failed(trouble));
            return;
        };
        self.opening.set_value(behind.number);
        self.follow
            .begin(matches!(behind.what, Some(OpeningSource::Served)));
        self.last.set_value(behind.what);
        self.gathering.set(behind.gathering);
        self.unread.set(behind.unread);
        self.desk.set(behind.desk);
        self.notice.set(Some(trouble));
        for act in behind.later {
            act(self);
        }
    }

    /// Goes to another route. The browser's Back returns to the present route.
    pub(crate) fn go(self, route: Route) {
        if self.route.get_untracked() != route {
            write_hash(&route.to_string(), true);
            self.route.set(route);
        }
    }

    /// Goes to another route without a step in the browser's history, as for a selected row.
    pub(crate) fn put(self, route: Route) {
        if self.route.get_untracked() != route {
            write_hash(&route.to_string(), false);
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

    /// Writes the filter of the list, and the filter of the trace, into the address whenever they change.
    pub(crate) fn keep_choice(self) {
        self.take_choice(&hash());
        Effect::new(move || {
            let route = self.route.get();
            if route.is_trace() {
                let address = with_query(&route.without_query(), &self.trace.pairs());
                if address != hash() {
                    write_hash(&address, false);
                }
            }
        });
        Effect::new(move || {
            let pairs = self.choice.pairs();
            let is_list = *self.route.read() == Route::Home;
            if is_list && matches!(*self.desk.read(), Desk::Open(_)) {
                let address = with_query(&Route::Home, &pairs);
                if address != hash() {
                    write_hash(&address, false);
                }
            }
        });
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

/// The run that the page shows. It is cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct ShownRun {
    /// The run's id or path in the address.
    pub(crate) key: Memo<String>,
    /// The run's path in the open source.
    pub(crate) place: Memo<String>,
    /// The run's overview; `None` while it is being read.
    pub(crate) overview: Signal<Option<Result<Overview, Trouble>>>,
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

fn hash() -> String {
    window().location().hash().unwrap_or_default()
}

fn write_hash(hash: &str, push: bool) {
    let Ok(history) = window().history() else {
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

/// Opens the browser's print dialog after the next rendering.
pub(crate) fn print_now() {
    request_animation_frame(|| {
        // If printing is forbidden, the browser reports that itself.
        let _ = window().print();
    });
}
