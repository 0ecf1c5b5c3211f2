//! Keeps the state of one page of the viewer: the opened source, and its most recently used runs.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use prosescope_core::model::database::{DEADLINE, Limits};
use prosescope_core::model::source::{Source, SourceError};
use prosescope_core::pages::session::pages;
use prosescope_core::pages::session::{
    OpenError, Options, RunListing, Session, SurveyPlace, list_more, list_while,
};
use prosescope_core::pages::view::{RunList, Timeline};

use crate::DeskSource;
use crate::protocol::{Counters, OpenedSource, Trouble, WorkflowsIn};
use crate::search::OpenSearch;
use crate::value::OpenValue;
use crate::workflows::{self, OpenWorkflows};

/// The time for listing runs before the first answer, in milliseconds. It is short, so that the page shows the first
/// rows early and gets answers to other requests in between.
const SLICE: i64 = 100;

/// The time for listing further runs before each later answer, in milliseconds. It is longer than [`SLICE`], because
/// the page redraws its list after each answer.
const NEXT_SLICE: i64 = 300;

/// The maximum number of open runs. Several are kept, so that a user who opens a nested run and goes back does not wait
/// for a second reading.
const KEPT: usize = 3;

/// The state of one page of the viewer. [`Desk::answer`] answers one request after the other.
pub struct Desk {
    clock: Clock,
    source: Option<Rc<dyn DeskSource>>,
    /// The list of the source's runs that were read so far.
    list: RunList,
    /// The runs that were found but not read yet.
    left: Vec<SurveyPlace>,
    /// The source's databases of workflows.
    workflows: Vec<WorkflowsIn>,
    /// The open runs, the most recently used last.
    runs: Vec<OpenRun>,
    /// The most recently used database of workflows.
    pub(crate) open_workflows: Option<OpenWorkflows>,
    /// The most recent search.
    pub(crate) open_search: Option<OpenSearch>,
    /// The lines of the most recently requested long value.
    pub(crate) open_value: Option<OpenValue>,
    /// The number of readings of runs so far. Each open run gets the current number.
    readings: u64,
}

/// An open run.
pub(crate) struct OpenRun {
    place: String,
    /// The source from which the run was read. This is an earlier source than the desk's if the run's files have not
    /// changed since.
    source: Rc<dyn DeskSource>,
    /// The number of this reading of the run, counted over all runs of the desk. Cached results of an earlier reading
    /// have another number.
    number: u64,
    /// The run as read from its files.
    pub(crate) session: Session,
    /// The times of the run's rows. They are computed once, at the first request, so that every window of the timeline
    /// has the same axis.
    timeline: OnceCell<Timeline>,
}

/// The clock given to [`Desk::new`], and the time at which the current request began.
#[derive(Clone)]
pub(crate) struct Clock {
    now: fn() -> i64,
    asked: Arc<AtomicI64>,
}

impl Desk {
    /// Creates a desk without a source; `now` returns milliseconds since 1970 UTC.
    pub fn new(now: fn() -> i64) -> Desk {
        Desk {
            clock: Clock {
                now,
                asked: Arc::new(AtomicI64::new(now())),
            },
            source: None,
            list: RunList::default(),
            left: Vec::new(),
            workflows: Vec::new(),
            runs: Vec::new(),
            open_workflows: None,
            open_search: None,
            open_value: None,
            readings: 0,
        }
    }

    /// Returns whether a source is open.
    pub fn is_open(&self) -> bool {
        self.source.is_some()
    }

    /// Returns the number of reads from the open source and the bytes that they returned; zeros if no source is open.
    pub fn counters(&self) -> Counters {
        self.source
            .as_ref()
            .map_or_else(Counters::default, |source| source.counters())
    }

    /// Opens a source instead of the previous one, and lists its runs.
    ///
    /// # Errors
    /// If the source contains neither a run nor workflows, or changes while it is read. The previous source then
    /// stays open.
    pub fn open(&mut self, source: Rc<dyn DeskSource>) -> Result<OpenedSource, Trouble> {
        let options = self.clock.options();
        let dynamic: Rc<dyn Source> = source.clone();
        let RunListing {
            mut list,
            session: last,
            left,
        } = list_while(&dynamic, &options, &self.clock.in_slice(SLICE));
        let workflows = workflows::taken_from(&mut list, source.as_ref(), &options.limits);
        if let Some(SourceError::Changed(path)) = source.take_fault() {
            return Err(SourceError::Changed(path).into());
        }
        match list.runs.as_slice() {
            [] if workflows.is_empty() => {
                // If a shared file is damaged, its error explains better why no run was found.
                let unopened = source
                    .shared()
                    .and_then(|shared| shared.unopened.into_iter().next());
                return Err(unopened.unwrap_or_else(|| nothing_found(&dynamic, &options)));
            }
            [only] if only.error.is_some() && workflows.is_empty() && left.is_empty() => {
                if let Some(trouble) =
                    workflows::unfit(source.as_ref(), &only.place, &options.limits)
                {
                    return Err(trouble);
                }
                // For a single file that is not a run, return the reason as an error, not a list with one broken run.
                Session::open(dynamic.clone(), &only.place, &options)?;
            }
            _ => {}
        }
        self.runs.clear();
        if let ([only], Some(session), []) = (list.runs.as_slice(), last, left.as_slice()) {
            self.readings += 1;
            self.runs.push(OpenRun {
                place: only.place.clone(),
                source: Rc::clone(&source),
                number: self.readings,
                session,
                timeline: OnceCell::new(),
            });
        }
        self.source = Some(Rc::clone(&source));
        self.open_workflows = None;
        self.list = list.clone();
        self.workflows = workflows.clone();
        self.left = left;
        Ok(OpenedSource {
            list,
            workflows,
            left: self.left.len() as u32,
            first: Vec::new(),
            shared: source.shared(),
        })
    }

    /// Lists further runs of the open source, for about [`NEXT_SLICE`] milliseconds.
    ///
    /// # Errors
    /// If nothing is open, or the source changes while it is read.
    pub(crate) fn more_runs(&mut self) -> Result<OpenedSource, Trouble> {
        let source = Rc::clone(self.source.as_ref().ok_or_else(nothing_open)?);
        let dynamic: Rc<dyn Source> = source.clone();
        let options = self.clock.options();
        let left = std::mem::take(&mut self.left);
        let listing = list_more(&dynamic, &options, left, &self.clock.in_slice(NEXT_SLICE));
        let RunListing { mut list, left, .. } = listing;
        self.left = left;
        if let Some(SourceError::Changed(path)) = source.take_fault() {
            return Err(SourceError::Changed(path).into());
        }
        let workflows = workflows::taken_from(&mut list, source.as_ref(), &options.limits);
        self.workflows.extend(workflows);
        self.list.runs.extend(list.runs.iter().cloned());
        Ok(OpenedSource {
            list,
            workflows: self.workflows.clone(),
            left: self.left.len() as u32,
            first: Vec::new(),
            shared: source.shared(),
        })
    }

    /// Closes open databases whose locks could block another program's write.
    pub(crate) fn let_go(&mut self) {
        let runs = self.runs.iter().map(|run| &run.source);
        for source in self.source.iter().chain(runs) {
            if source.let_go()
                && let Some(open) = &mut self.open_workflows
            {
                open.let_go();
            }
        }
    }

    /// Returns the error of the last failed read of an open source, and clears the error.
    pub(crate) fn take_fault(&self) -> Option<SourceError> {
        let runs = self.runs.iter().map(|run| &run.source);
        let faults: Vec<SourceError> = self
            .source
            .iter()
            .chain(runs)
            .filter_map(|source| source.take_fault())
            .collect();
        faults.into_iter().next()
    }

    /// Returns the open runs, the most recently used last.
    pub(crate) fn runs(&self) -> &[OpenRun] {
        &self.runs
    }

    /// Returns the list of the source's runs that were read so far.
    pub(crate) fn list(&self) -> &RunList {
        &self.list
    }

    /// Returns the source's databases of workflows.
    pub(crate) fn workflows(&self) -> &[WorkflowsIn] {
        &self.workflows
    }

    /// Replaces the open source by a later listing of the same files. `runs` lists the open runs to keep, by their
    /// index in [`Desk::runs`]: `None` keeps a run unchanged, a session replaces it.
    pub(crate) fn replace(
        &mut self,
        source: Rc<dyn DeskSource>,
        opened: OpenedSource,
        runs: Vec<(usize, Option<Session>)>,
    ) {
        let mut before: Vec<Option<OpenRun>> = std::mem::take(&mut self.runs)
            .into_iter()
            .map(Some)
            .collect();
        for (at, new) in runs {
            let Some(mut run) = before.get_mut(at).and_then(Option::take) else {
                continue;
            };
            if let Some(session) = new {
                self.readings += 1;
                run.source = Rc::clone(&source);
                run.number = self.readings;
                run.session = session;
                run.timeline = OnceCell::new();
            }
            self.runs.push(run);
        }
        self.source = Some(source);
        self.open_workflows = None;
        self.list = opened.list;
        self.left = Vec::new();
        self.workflows = opened.workflows;
    }

    /// Returns the clock.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns the source, if one is open.
    pub(crate) fn source(&self) -> Option<&Rc<dyn DeskSource>> {
        self.source.as_ref()
    }

    /// Returns the run at a path in the source; opens the run if it is not open.
    pub(crate) fn run(&mut self, place: &str) -> Result<&Session, Trouble> {
        self.reading(place).map(|(session, _)| session)
    }

    /// Returns the runs at two paths in the source, which may be the same.
    pub(crate) fn both(&mut self, a: &str, b: &str) -> Result<(&Session, &Session), Trouble> {
        self.opened(a)?;
        self.opened(b)?;
        // Opening the second run does not close the first, because [`KEPT`] is at least two.
        let of = |place: &str| {
            let run = self.runs.iter().find(|run| run.place == place);
            let run = run.ok_or_else(|| Trouble::defect("an opened run got lost"))?;
            Ok::<_, Trouble>(&run.session)
        };
        Ok((of(a)?, of(b)?))
    }

    /// Returns the run at a path in the source, with the number of its reading ([`OpenRun::number`]).
    pub(crate) fn reading(&mut self, place: &str) -> Result<(&Session, u64), Trouble> {
        self.opened(place).map(|run| (&run.session, run.number))
    }

    /// Returns the run at a path in the source, with its cached results; opens the run if it is not open.
    pub(crate) fn opened(&mut self, place: &str) -> Result<&OpenRun, Trouble> {
        let source = self.source.as_ref().ok_or_else(nothing_open)?;
        let open = match self.runs.iter().position(|run| run.place == place) {
            Some(at) => self.runs.remove(at),
            None => {
                self.readings += 1;
                OpenRun {
                    place: place.to_owned(),
                    source: Rc::clone(source),
                    number: self.readings,
                    session: Session::open(source.clone(), place, &self.clock.options())?,
                    timeline: OnceCell::new(),
                }
            }
        };
        if self.runs.len() >= KEPT {
            self.runs.remove(0);
        }
        self.runs.push(open);
        let open = self.runs.last();
        open.ok_or_else(|| Trouble::defect("an opened run got lost"))
    }
}

impl OpenRun {
    /// Returns the run's path in the source.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Returns the times of the run's rows.
    pub(crate) fn timeline(&self) -> &Timeline {
        self.timeline.get_or_init(|| pages::timeline(&self.session))
    }
}

/// Returns the error for a request without an open source.
pub(crate) fn nothing_open() -> Trouble {
    Trouble::new("Nothing is open.", "Open the file or folder again.")
}

impl Clock {
    /// Returns the current time in milliseconds since 1970 UTC.
    pub(crate) fn now(&self) -> i64 {
        (self.now)()
    }

    /// Records the beginning of a request. Reading databases for this request stops after [`DEADLINE`].
    pub(crate) fn begin(&self) {
        self.asked.store(self.now(), Ordering::Relaxed);
    }

    /// Returns a function that tests whether the current request began less than `millis` milliseconds ago.
    fn in_slice(&self, millis: i64) -> impl Fn() -> bool + use<> {
        let clock = self.clone();
        move || {
            clock
                .now()
                .saturating_sub(clock.asked.load(Ordering::Relaxed))
                < millis
        }
    }

    /// Returns the options for reading with the core: the current time, and limits with a deadline.
    pub(crate) fn options(&self) -> Options {
        Options {
            now: Some(self.now()),
            limits: self.limits(DEADLINE),
            ..Options::default()
        }
    }

    /// Returns limits that stop reading when `within` has passed since the request began.
    pub(crate) fn limits(&self, within: Duration) -> Limits {
        let is_early = self.in_slice(within.as_millis() as i64 + 1);
        Limits {
            stop: Some(Arc::new(move || !is_early())),
            ..Limits::default()
        }
    }
}

/// Returns the error for opened files that contain no run. It describes what was found: the size and first bytes of one
/// file, or the number of files.
pub(crate) fn nothing_found(source: &Rc<dyn Source>, options: &Options) -> Trouble {
    if let [file] = source.files() {
        return match Session::open(source.clone(), &file.path, options) {
            Err(error) => error.into(),
            Ok(_) => {
                Trouble::defect("the opened file holds a run, but the list of runs lacks the run")
            }
        };
    }
    match Session::open(source.clone(), "", options) {
        Err(OpenError::Source(SourceError::NotFound(_))) | Ok(_) => Trouble {
            file: Some(source.label()),
            found: "An empty folder.".to_owned(),
            cause: "The folder contains no run.".to_owned(),
            next: "Open a state.db, a run folder, or the .prose folder that holds the runs."
                .to_owned(),
            ..Trouble::default()
        },
        Err(error) => error.into(),
    }
}
