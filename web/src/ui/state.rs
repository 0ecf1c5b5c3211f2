//! What all parts of the page share: what is open, where one is, and the way to the worker.

use std::collections::BTreeMap;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::session::pages;
use prosescope_core::view::{Overview, RunList, RunSummary};
use serde::de::DeserializeOwned;
use wasm_bindgen::JsValue;

use crate::client::{Client, Opening, Watch};
use crate::protocol::{
    Folded, Folds, LookedThrough, Missing, Opened, Request, Shared, Trouble, WorkflowsIn,
};
use crate::route::{Page, Route, query, with_query};

use super::band::Sheet;
use super::choice::Choice;
use super::follow::Follow;
use super::opening::{open_handles, pick_files, recent};
use super::trace_shown::TraceShown;

/// What to open.
#[derive(Clone)]
pub(crate) enum What {
    /// Files that a person gave.
    Files {
        /// What to call them.
        label: String,
        /// Their paths and themselves.
        files: Vec<(String, web_sys::File)>,
        /// What is not among them.
        missing: Missing,
        /// What a browser gives the same files by once more, as they are then (`FileSystemHandle`s); empty where it
        /// has no such thing.
        handles: Vec<JsValue>,
    },
    /// The run in the page, as a file, and its name.
    Own(String, web_sys::File),
    /// What the local server offers.
    Served,
    /// The run that the viewer carries.
    Example,
}

impl What {
    fn label(&self) -> String {
        match self {
            What::Files { label, .. } | What::Own(label, _) => label.clone(),
            What::Served => "the local server".to_owned(),
            What::Example => "the examples".to_owned(),
        }
    }

    /// The question that opens it, and its files.
    fn opening(&self) -> Opening {
        match self {
            What::Files {
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
            What::Own(label, file) => {
                let request = Request::OpenFiles {
                    label: label.clone(),
                    missing: Missing {
                        loose: true,
                        ..Missing::default()
                    },
                };
                (request, vec![(label.clone(), file.clone())])
            }
            What::Served => (Request::OpenServed, Vec::new()),
            What::Example => (Request::OpenExample, Vec::new()),
        }
    }
}

/// What is open, or on its way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Desk {
    /// Nothing yet.
    Empty,
    /// Files are being listed or read.
    Opening {
        /// What they are called.
        label: String,
        /// What is being done, in words.
        doing: String,
    },
    /// Runs.
    Open(RunList),
    /// It could not be opened.
    Failed(Trouble),
}

impl Desk {
    /// The run of a place, where it is in the list that is open.
    pub(crate) fn run(&self, place: &str) -> Option<&RunSummary> {
        match self {
            Desk::Open(list) => list.runs.iter().find(|run| run.place == place),
            _ => None,
        }
    }

    /// Whether something is open; `None` while that is on its way, or nobody wants it.
    pub(crate) fn is_open(&self) -> Option<bool> {
        match self {
            Desk::Open(_) => Some(true),
            Desk::Failed(_) => Some(false),
            Desk::Empty | Desk::Opening { .. } => None,
        }
    }
}

/// Shared by all parts; cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct App {
    /// What is open.
    pub(crate) desk: RwSignal<Desk>,
    /// Databases of workflows among what is open.
    pub(crate) workflows: RwSignal<Vec<WorkflowsIn>>,
    /// What is to be said where what is open comes of shared files.
    pub(crate) shared: RwSignal<Option<Shared>>,
    /// Where one is.
    pub(crate) route: RwSignal<Route>,
    /// How wide what is open beside a list was made, in pixels.
    pub(crate) beside: RwSignal<Option<f64>>,
    /// Whether the help is shown.
    pub(crate) help: RwSignal<bool>,
    /// Where it lies what is being shared, while the sheet for that is shown.
    pub(crate) sharing: RwSignal<Option<Vec<String>>>,
    /// What is opened over the pages of a run.
    pub(crate) sheet: RwSignal<Option<Sheet>>,
    /// Runs that are marked to be compared, by their places: two at most.
    pub(crate) paired: RwSignal<Vec<String>>,
    /// Whether the finder is shown.
    pub(crate) finder: RwSignal<bool>,
    /// What was looked for last.
    pub(crate) sought: RwSignal<String>,
    /// What is marked in what is shown.
    pub(crate) marked: RwSignal<Option<Marked>>,
    /// What the list of runs is narrowed to, and its order.
    pub(crate) choice: Choice,
    /// Whether the page is to be printed, once all of its rows are there.
    pub(crate) printing: RwSignal<bool>,
    /// Runs of the list that are not read yet, and whether somebody stopped that.
    pub(crate) unread: RwSignal<(u32, bool)>,
    /// While what is open is a part of what is still being gathered: how that goes on, and whether somebody stopped it.
    pub(crate) gathering: RwSignal<Option<(String, bool)>>,
    /// What of the trace is shown, and how.
    pub(crate) trace: TraceShown,
    /// What could not be opened while something else was open, and still is.
    pub(crate) notice: RwSignal<Option<Trouble>>,
    /// What is said for a moment: that a key found nothing to do.
    pub(crate) said: RwSignal<String>,
    /// Following what is written.
    pub(crate) follow: Follow,
    client: StoredValue<Client, LocalStorage>,
    /// What is folded in the traces of what is open, by the run's place.
    folds: StoredValue<BTreeMap<String, Folds>>,
    /// Rings when something is folded or unfolded.
    fold_bell: RwSignal<u32>,
    /// What was opened last, to open it again.
    last: StoredValue<Option<What>, LocalStorage>,
    /// What was open or on its way when newer openings began, the oldest first: it comes back when they lead to nothing.
    behind: StoredValue<Vec<Behind>, LocalStorage>,
    /// The opening that is shown or on its way, by its number.
    opening: StoredValue<u32>,
    /// Counts openings.
    begun: StoredValue<u32>,
    /// The list that `j`, `k` and their kin move in.
    list: StoredValue<Option<ListKeys>, LocalStorage>,
    list_number: StoredValue<u32>,
}

/// What a newer opening was begun over.
struct Behind {
    number: u32,
    desk: Desk,
    what: Option<What>,
    gathering: Option<(String, bool)>,
    unread: (u32, bool),
    /// What came of it meanwhile.
    later: Vec<Box<dyn FnOnce(App)>>,
}

/// A list that keys move in: its number, and what moves in it.
type ListKeys = (u32, Rc<dyn Fn(Move)>);

/// A text that was found, and is marked wherever it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Marked {
    /// The text.
    pub(crate) text: String,
    /// The line of what was opened that it was found in, from 1.
    pub(crate) line: u64,
}

/// A step in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    /// To the next row.
    Down,
    /// To the previous row.
    Up,
    /// To the next failure.
    NextFailure,
    /// To the previous failure.
    PreviousFailure,
    /// Folds what went well, or unfolds it.
    FoldWell,
    /// Marks a row for what takes several.
    Mark,
    /// Lets a row fill what is seen of the axis.
    Fill,
}

impl App {
    /// A new one, empty.
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

    /// The one of this page.
    pub(crate) fn get() -> App {
        expect_context()
    }

    /// Makes the worker ready before anything is opened.
    pub(crate) fn warm(self) {
        self.client.get_value().warm();
    }

    /// Asks the desk of what is open.
    pub(crate) async fn ask<T: DeserializeOwned>(self, request: Request) -> Result<T, Trouble> {
        let client = self.client.get_value();
        client.ask(&request).await
    }

    /// Asks for a whole value.
    pub(crate) async fn blob(self, request: Request) -> Result<web_sys::Blob, Trouble> {
        let client = self.client.get_value();
        client.blob(&request).await
    }

    /// Asks a question in SQL.
    pub(crate) async fn query<T: DeserializeOwned>(self, request: &Request) -> Result<T, Trouble> {
        let client = self.client.get_value();
        client.query(self.opening(), request).await
    }

    /// Leaves off the question in SQL, and forgets what was read for it.
    pub(crate) fn stop_query(self) {
        self.client.get_value().stop_query();
    }

    /// Looks through what would be shared.
    pub(crate) async fn look_to_share(
        self,
        request: &Request,
        watch: Watch,
    ) -> Result<LookedThrough, Trouble> {
        let client = self.client.get_value();
        client.look_to_share(self.opening(), request, watch).await
    }

    /// Makes the file that is shared.
    pub(crate) async fn share(
        self,
        request: &Request,
        watch: Watch,
    ) -> Result<web_sys::Blob, Trouble> {
        let client = self.client.get_value();
        client.share(self.opening(), request, watch).await
    }

    /// Leaves off what is being shared.
    pub(crate) fn stop_sharing(self) {
        self.client.get_value().stop_sharing();
    }

    /// The question that opens what is open, and its files.
    fn opening(self) -> Opening {
        let what = self.what();
        what.map_or_else(|| (Request::OpenExample, Vec::new()), |what| what.opening())
    }

    /// What is folded in the trace of a run.
    pub(crate) fn folds(self, place: &str) -> Folds {
        let folds = self.folds.read_value();
        folds.get(place).cloned().unwrap_or_default()
    }

    /// Folds or unfolds something of it.
    pub(crate) fn fold(self, place: &str, change: impl FnOnce(&mut Folds)) {
        self.folds.update_value(|folds| {
            change(folds.entry(place.to_owned()).or_default());
        });
        self.fold_bell.update(|bell| *bell += 1);
    }

    /// Folds what is of a kind, unless something of the run was folded before; whether that is so.
    pub(crate) fn fold_at_first(self, place: &str, kind: Folded) -> bool {
        let is_first = !self.folds.read_value().contains_key(place);
        if is_first {
            self.fold(place, |folds| *folds = Folds::of(kind));
        }
        is_first
    }

    /// Reads again what is folded when that changes.
    pub(crate) fn track_folds(self) {
        self.fold_bell.track();
    }

    /// What is folded in all runs.
    pub(crate) fn all_folds(self) -> StoredValue<BTreeMap<String, Folds>> {
        self.folds
    }

    /// Says that files are being gathered; returns the number to hand to [`App::open_as`]. What is open or on its way
    /// stays behind it until it led to something.
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

    /// Leaves the opening before; what is answered to it is not heard.
    fn next_number(self) -> u32 {
        let number = self.begun.get_value() + 1;
        self.begun.set_value(number);
        self.opening.set_value(number);
        number
    }

    /// Does something for an opening: at once where it is the last one; where another was begun over it, when that led to
    /// nothing; else never.
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

    /// Says how the gathering of files goes on; `false` when it was cancelled.
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

    /// Shows a part of what is gathered under a number, while the rest is.
    pub(crate) fn open_so_far(self, number: u32, what: What) {
        // Only the last opening asks the desk, which then has one thing open.
        if self.number() != number {
            return;
        }
        self.last.set_value(Some(what.clone()));
        self.follow.begin(false);
        spawn_local(async move {
            let opened = self.ask_open(&what).await;
            // What cannot be opened now is said when all of it is there.
            if let Ok(opened) = opened
                && !opened.list.runs.is_empty()
            {
                self.act_for(number, move |app| app.opened(&what, opened, true));
            }
        });
    }

    /// Leaves what is open as it is, and gathers no more of it.
    pub(crate) fn stop_gathering(self) {
        self.next_number();
        self.gathering.set(Some((String::new(), true)));
    }

    /// Opens something in place of what is open.
    pub(crate) fn open(self, what: What) {
        let number = self.begin(&what.label(), "Reading");
        self.open_as(number, what);
    }

    /// Opens what was gathered under a number, unless that was cancelled.
    pub(crate) fn open_as(self, number: u32, what: What) {
        self.act_for(number, move |app| {
            app.doing(number, "Reading".to_owned());
            app.last.set_value(Some(what.clone()));
            app.follow.begin(matches!(what, What::Served));
            spawn_local(async move {
                let opened = app.ask_open(&what).await;
                app.act_for(number, move |app| match opened {
                    Ok(opened) => app.opened(&what, opened, false),
                    Err(trouble) => app.failed(trouble),
                });
            });
        });
    }

    async fn ask_open(self, what: &What) -> Result<Opened, Trouble> {
        let client = self.client.get_value();
        let (request, files) = what.opening();
        client.ask_with(&request, files).await
    }

    /// Opens what could not be opened, without a word while it still cannot.
    pub(crate) async fn try_again(self) {
        let (number, what) = (self.number(), self.what());
        let Some(what) = what else { return };
        let opened = self.ask_open(&what).await;
        match opened {
            Ok(opened) if self.number() == number => self.opened(&what, opened, false),
            _ => {}
        }
    }

    /// Which opening this is.
    pub(crate) fn number(self) -> u32 {
        self.opening.get_value()
    }

    /// What is open, or was tried to open.
    pub(crate) fn what(self) -> Option<What> {
        self.last.get_value()
    }

    /// Shows what was opened: all of it, or a part `so_far`.
    fn opened(self, what: &What, opened: Opened, so_far: bool) {
        let Opened {
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
        if let What::Files { label, .. } = what
            && !so_far
        {
            recent::add(label);
        }
        let is_first = self.gathering.get_untracked().is_none();
        let some = left > 0 || so_far;
        // A link names a run: it is kept when that run is in what was opened. A single run opens by itself.
        let is_in = |place: &str| workflows.iter().any(|one| one.place == place);
        let all = (list.runs.as_slice(), workflows.as_slice());
        let route = match (self.route.get_untracked(), all) {
            // What is not read yet may be what the link names.
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
        // A link to a list comes with what it is narrowed to.
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
            // What opens by itself is a step of its own: Back comes to what is open, not to the page before.
            Some(route) => self.go(route),
            None => {}
        }
        self.list_rest(left);
    }

    /// Says something for a moment.
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

    /// Marks a run to be compared, or takes the mark away. Of three the first mark goes.
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

    /// Compares the two runs that are marked; whether there are two.
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
        // The earlier one is A, whichever was marked first.
        let begun = |place: &String| desk.run(place).and_then(prosescope_core::session::began);
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
            // The list asks for its rows, and prints when they are there.
            self.printing.set(true);
        } else {
            print_now();
        }
    }

    /// Goes on with the list of runs where some are left, and shows them as they come.
    pub(crate) fn list_rest(self, left: u32) {
        self.unread.set((left, false));
        let number = self.number();
        spawn_local(async move {
            let is_wanted = || {
                let (left, stopped) = self.unread.get_untracked();
                left > 0 && !stopped && self.number() == number
            };
            while is_wanted() {
                let more: Opened = match self.ask(Request::MoreRuns).await {
                    Ok(more) => more,
                    Err(trouble) => {
                        self.unread.update(|(_, stopped)| *stopped = true);
                        self.notice.set(Some(trouble));
                        return;
                    }
                };
                if self.number() != number {
                    // The desk gives each of them once.
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

    /// Shows more of the list.
    fn add(self, more: Opened) {
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

    /// Opens once more what was opened last: as it is now, where the browser gives that.
    pub(crate) fn open_again(self) {
        let outdated = self.follow.outdated.read_untracked().is_some();
        match self.what() {
            Some(What::Files { handles, .. }) if !handles.is_empty() => open_handles(self, handles),
            Some(What::Files { .. }) if outdated => pick_files(),
            Some(what) => self.open(what),
            None => self.desk.set(Desk::Empty),
        }
    }

    /// Whether there is something to open again.
    pub(crate) fn can_open_again(self) -> bool {
        self.last.with_value(Option::is_some)
    }

    /// Stops whatever the worker does, and goes back to the empty page.
    pub(crate) fn cancel(self) {
        self.gathering.set(None);
        self.next_number();
        self.behind.set_value(Vec::new());
        self.client.with_value(Client::stop);
        self.desk.set(Desk::Empty);
    }

    /// Closes what is open.
    pub(crate) fn close(self) {
        self.cancel();
        self.last.set_value(None);
        self.follow.begin(false);
        self.go(Route::Home);
    }

    /// Reports that something could not be opened: beside what is open or on its way, else in place of everything.
    pub(crate) fn fail(self, trouble: Trouble) {
        match *self.desk.read_untracked() {
            Desk::Open(_) | Desk::Opening { .. } => self.notice.set(Some(trouble)),
            Desk::Empty | Desk::Failed(_) => self.desk.set(Desk::Failed(trouble)),
        }
    }

    /// The same of what was gathered under a number.
    pub(crate) fn fail_as(self, number: u32, trouble: Trouble) {
        self.act_for(number, move |app| app.failed(trouble));
    }

    /// An opening led to nothing: what was open or on its way before comes back.
    fn failed(self, trouble: Trouble) {
        self.gathering.set(None);
        if matches!(*self.desk.read_untracked(), Desk::Open(_)) {
            // A part of it is open.
            self.notice.set(Some(trouble));
            return;
        }
        let Some(behind) = self.behind.try_update_value(Vec::pop).flatten() else {
            self.desk.set(Desk::Failed(trouble));
            return;
        };
        self.opening.set_value(behind.number);
        self.follow.begin(matches!(behind.what, Some(What::Served)));
        self.last.set_value(behind.what);
        self.gathering.set(behind.gathering);
        self.unread.set(behind.unread);
        self.desk.set(behind.desk);
        self.notice.set(Some(trouble));
        for act in behind.later {
            act(self);
        }
    }

    /// Goes to another place; Back comes back here.
    pub(crate) fn go(self, route: Route) {
        if self.route.get_untracked() != route {
            write_hash(&route.to_string(), true);
            self.route.set(route);
        }
    }

    /// Notes a smaller step (a selected row) in the address; Back leaves the page.
    pub(crate) fn put(self, route: Route) {
        if self.route.get_untracked() != route {
            write_hash(&route.to_string(), false);
            self.route.set(route);
        }
    }

    /// The address changed: Back, Forward, or typed.
    pub(crate) fn hash_changed(self) {
        let hash = hash();
        let route = Route::parse(&hash);
        self.take_choice(&hash);
        if self.route.get_untracked() != route {
            self.route.set(route);
        }
    }

    /// Takes from an address what it says of a list or a trace.
    fn take_choice(self, hash: &str) {
        match Route::parse(hash) {
            Route::Home => self.choice.take(&query(hash)),
            // A link that says nothing of it leaves it as it is.
            route if route.is_trace() && !query(hash).is_empty() => self.trace.take(&query(hash)),
            _ => {}
        }
    }

    /// Keeps in the address what the list of runs is narrowed to, and what of a trace is shown.
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

    /// The list that keys move in, from now on. Returns what takes it away again.
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

    /// Moves in the list; `false` when there is none.
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

/// The run that is shown: its key in the address, its place, and its overview.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// Its key in the address.
    pub(crate) key: Memo<String>,
    /// Its place.
    pub(crate) place: Memo<String>,
    /// What is known of it; `None` while it is being read.
    pub(crate) overview: Signal<Option<Result<Overview, Trouble>>>,
}

impl Run {
    /// The one of this page.
    pub(crate) fn get() -> Run {
        expect_context()
    }

    /// What the list of runs says of it: known before the run is read.
    pub(crate) fn line(self) -> Option<RunSummary> {
        let place = self.place.get();
        App::get().desk.with(|desk| desk.run(&place).cloned())
    }

    /// The place, untracked: a run's pages are made anew when it changes. What still runs when its page was left asks for no
    /// place, and nobody hears the answer.
    pub(crate) fn place(self) -> String {
        self.place.try_get_untracked().unwrap_or_default()
    }

    /// A link to a page.
    pub(crate) fn page(self, page: Page) -> Route {
        Route::page(&self.key.get_untracked(), page)
    }

    /// A link to something on a page.
    pub(crate) fn item(self, page: Page, item: impl std::fmt::Display) -> Route {
        Route::item(&self.key.get_untracked(), page, item)
    }
}

/// The run of a key: an id that one run has, or a place. Nested runs are not in the list; their key is a place.
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

/// The key of a run: its id, unless another has the same or it has none.
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
    // A browser that refuses (too many changes a second) only loses the address.
    let _ = if push {
        history.push_state_with_url(&JsValue::NULL, "", Some(hash))
    } else {
        history.replace_state_with_url(&JsValue::NULL, "", Some(hash))
    };
}

/// Opens the browser's dialog for printing, once what is drawn now is seen.
pub(crate) fn print_now() {
    request_animation_frame(|| {
        // Where printing is forbidden there is nothing to say that the browser does not.
        let _ = window().print();
    });
}
