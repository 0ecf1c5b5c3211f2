//! Opens and closes sources, and goes back to the earlier source when an opening fails.

use std::collections::BTreeMap;

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::model::text::counted;
use prosescope_core::pages::view::{RunList, RunSummary};
use wasm_bindgen::JsValue;

use crate::client::{Client, Opening};
use crate::protocol::{Missing, OpenedSource, Request, Trouble};
use crate::route::{Page, Route};
use crate::ui::opening::{open_handles, pick_files};

use super::{App, find, key};

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

    /// Returns the files of this source with those of another one, under a name of its own each. `None` if a file is in
    /// both, and if one of them has no files.
    fn with(&self, other: &OpeningSource) -> Option<OpeningSource> {
        let (before, mut all_missing) = match self {
            OpeningSource::Files { files, missing, .. } => (files.clone(), missing.clone()),
            OpeningSource::Own(name, file) => {
                (vec![(name.clone(), file.clone())], Missing::default())
            }
            OpeningSource::Served | OpeningSource::Example => return None,
        };
        let OpeningSource::Files {
            label,
            files,
            missing,
            ..
        } = other
        else {
            return None;
        };
        let mark = |(_, file): &(String, web_sys::File)| {
            let changed = file.last_modified() as i64;
            (file.name(), file.size() as u64, changed)
        };
        let known: Vec<_> = before.iter().map(mark).collect();
        if files.iter().any(|of| known.contains(&mark(of))) {
            return None;
        }
        // Two files that came by mail often have the same name.
        let is_taken = |folder: &str| {
            let is_in = |path: String| before.iter().any(|(known, _)| *known == path);
            files
                .iter()
                .any(|(path, _)| is_in(format!("{folder}{path}")))
        };
        let folders = (2..).map(|n| format!("file {n}/"));
        let folder = std::iter::once(String::new())
            .chain(folders)
            .find(|folder| !is_taken(folder))?;
        let beside = files
            .iter()
            .map(|(path, file)| (format!("{folder}{path}"), file.clone()));
        all_missing.skipped.extend(missing.skipped.iter().cloned());
        all_missing
            .not_given
            .extend(missing.not_given.iter().cloned());
        all_missing.hidden.extend(missing.hidden.iter().cloned());
        all_missing.loose |= missing.loose;
        Some(OpeningSource::Files {
            label: format!("{} and {label}", self.label()),
            files: before.iter().cloned().chain(beside).collect(),
            missing: all_missing,
            handles: Vec::new(),
        })
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

/// The state of the page before a newer opening replaced it.
pub(super) struct Behind {
    number: u32,
    desk: Desk,
    what: Option<OpeningSource>,
    gathering: Option<(String, bool)>,
    unread: (u32, bool),
    /// The actions to run if this state is restored, such as showing an answer that arrived meanwhile.
    later: Vec<Box<dyn FnOnce(App)>>,
}

impl App {
    /// Returns the request that opens the present source in another worker, and the files that it needs.
    pub(super) fn opening(self) -> Opening {
        let what = self.what();
        what.map_or_else(|| (Request::OpenExample, Vec::new()), |what| what.opening())
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

    /// Opens files together with those that are open, and compares the two runs.
    pub(crate) fn open_beside(self, what: OpeningSource) {
        let both = self.what().and_then(|open| open.with(&what));
        self.adding.set_value(true);
        self.open(both.unwrap_or(what));
    }

    /// Opens dropped files: if files are open, together with these.
    pub(crate) fn open_dropped(self, number: u32, what: OpeningSource) {
        // If a part of a large folder is open already, that folder replaces what was open before.
        let is_part_open = self.gathering.read_untracked().is_some();
        let both = self.behind.with_value(|all| {
            let behind = all
                .last()
                .filter(|behind| matches!(behind.desk, Desk::Open(_)));
            behind?.what.as_ref()?.with(&what)
        });
        let Some(both) = both.filter(|_| !is_part_open) else {
            return self.open_as(number, what);
        };
        self.act_for(number, move |app| {
            app.doing(number, "Reading".to_owned());
            spawn_local(async move {
                // The dropped files are opened alone first: if they are no run, what is open stays open.
                let alone = match app.ask_open(&what).await {
                    Ok(alone) => alone,
                    Err(trouble) => return app.fail_as(number, trouble),
                };
                let (what, opened) = match app.ask_open(&both).await {
                    Ok(opened) => (both, opened),
                    Err(_) => (what, alone),
                };
                app.act_for(number, move |app| {
                    app.last.set_value(Some(what));
                    app.follow.begin(false);
                    let runs = opened.list.runs.len() as u64;
                    app.opened(opened, false);
                    app.go(Route::Home);
                    app.say(&format!("{} open", counted(runs, "run", "runs")));
                });
            });
        });
    }

    /// Shows an opened source. If `so_far` is true, some of its files are not listed yet.
    fn opened(self, opened: OpenedSource, so_far: bool) {
        let OpenedSource {
            list,
            workflows,
            left,
            first,
            shared,
        } = opened;
        self.client.with_value(|client| client.know(first));
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
            (Route::Compare { a, b, .. }, _)
                if some || [&a, &b].iter().all(|run| find(&list, run).is_some()) =>
            {
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
        // The page was opened by a link.
        if let (Route::Run { run, .. }, Some(Route::Home)) = (self.route.get_untracked(), &route)
            && self.number() == 1
        {
            self.say(&format!(
                "No run {run} is here; the list has the runs that are"
            ));
        }
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
        if self.adding.try_update_value(std::mem::take) == Some(true) {
            let places = self.desk.with_untracked(|desk| match desk {
                Desk::Open(list) => list.runs.iter().map(|run| run.place.clone()).collect(),
                _ => Vec::new(),
            });
            self.paired.set(places.into_iter().take(2).collect());
            if !self.compare() {
                self.go(Route::Home);
            }
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
                open_handles(self, handles);
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
        self.adding.set_value(false);
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
}
