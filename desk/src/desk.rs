//! What is open: one source, and the runs of it that were looked at last.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use prosescope_core::database::{DEADLINE, Limits};
use prosescope_core::session::pages::{self, Page};
use prosescope_core::session::{
    Found, Listing, OpenError, Options, Session, list_more, list_while,
};
use prosescope_core::source::{Source, SourceError};
use prosescope_core::view::{RunList, Timeline};

use crate::DeskSource;
use crate::protocol::{Counters, Opened, Trouble, WorkflowsIn};
use crate::search::OpenSearch;
use crate::value::OpenValue;
use crate::workflows::{self, OpenWorkflows};

/// For how long runs are listed before what was listed is answered, in milliseconds: the first rows are seen early, and
/// questions of the page come between.
const SLICE: i64 = 100;

/// The same of those that follow: the page draws its list anew after each.
const NEXT_SLICE: i64 = 300;

/// Opened runs that are kept: going to a nested run and back does not read twice.
const KEPT: usize = 3;

/// What one page has open. It answers one question after the other (`answers.rs`).
pub struct Desk {
    clock: Clock,
    source: Option<Rc<dyn DeskSource>>,
    /// Its runs, as they were listed.
    list: RunList,
    /// Those that were not read yet.
    left: Vec<Found>,
    /// Its databases of workflows.
    workflows: Vec<WorkflowsIn>,
    /// The one that was asked last comes last.
    runs: Vec<OpenRun>,
    /// The database of workflows that was asked last.
    pub(crate) open_workflows: Option<OpenWorkflows>,
    /// The search that was asked last.
    pub(crate) open_search: Option<OpenSearch>,
    /// The long value that was asked for last.
    pub(crate) open_value: Option<OpenValue>,
    /// How many readings of runs there were.
    readings: u64,
}

/// A run that was opened.
pub(crate) struct OpenRun {
    place: String,
    /// What it is read from: the desk's, or an earlier one of which this run's files did not change.
    source: Rc<dyn DeskSource>,
    /// Tells this reading from an earlier one of the same run.
    number: u64,
    /// The run.
    pub(crate) session: Session,
    /// When its rows were worked on, once that was asked: every window of the timeline has the same axis.
    timeline: OnceCell<Timeline>,
}

/// The shell's clock, and when the question came that is being answered.
#[derive(Clone)]
pub(crate) struct Clock {
    now: fn() -> i64,
    asked: Arc<AtomicI64>,
}

impl Desk {
    /// A desk with nothing open; `now` gives milliseconds since 1970 UTC.
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

    /// Whether something is open.
    pub fn is_open(&self) -> bool {
        self.source.is_some()
    }

    /// Returns how much was read of what is open.
    pub fn counters(&self) -> Counters {
        self.source
            .as_ref()
            .map_or_else(Counters::default, |source| source.counters())
    }

    /// Opens a source in place of the one before, and lists its runs.
    ///
    /// # Errors
    /// When it contains no run and no workflows, or changes while it is read. What was open then stays open.
    pub fn open(&mut self, source: Rc<dyn DeskSource>) -> Result<Opened, Trouble> {
        let options = self.clock.options();
        let dynamic: Rc<dyn Source> = source.clone();
        let Listing {
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
                // A shared file that is damaged is the reason, before what lies beside it.
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
                // One thing was opened and it is no run: the reason, not a list of one broken run.
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
        let now = self.clock.now();
        let overview = self
            .runs
            .last()
            .map(|run| Page::Overview.json(&run.session, Some(now)));
        Ok(Opened {
            list,
            workflows,
            left: self.left.len() as u32,
            overview: overview.transpose().unwrap_or_default(),
            shared: source.shared(),
        })
    }

    /// Lists more of the runs of what is open: those that were not listed yet, for a moment.
    ///
    /// # Errors
    /// When nothing is open, or it changes while it is read.
    pub(crate) fn more_runs(&mut self) -> Result<Opened, Trouble> {
        let source = Rc::clone(self.source.as_ref().ok_or_else(nothing_open)?);
        let dynamic: Rc<dyn Source> = source.clone();
        let options = self.clock.options();
        let left = std::mem::take(&mut self.left);
        let listing = list_more(&dynamic, &options, left, &self.clock.in_slice(NEXT_SLICE));
        let Listing { mut list, left, .. } = listing;
        self.left = left;
        if let Some(SourceError::Changed(path)) = source.take_fault() {
            return Err(SourceError::Changed(path).into());
        }
        let workflows = workflows::taken_from(&mut list, source.as_ref(), &options.limits);
        self.workflows.extend(workflows);
        self.list.runs.extend(list.runs.iter().cloned());
        Ok(Opened {
            list,
            workflows: self.workflows.clone(),
            left: self.left.len() as u32,
            overview: None,
            shared: source.shared(),
        })
    }

    /// Keeps no database open between questions, where it may be in a writer's way.
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

    /// Why the last read of something that is open failed, once.
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

    /// The runs that were looked at last, the last one last.
    pub(crate) fn runs(&self) -> &[OpenRun] {
        &self.runs
    }

    /// The runs that are open, as they were listed.
    pub(crate) fn list(&self) -> &RunList {
        &self.list
    }

    /// The databases of workflows that are open.
    pub(crate) fn workflows(&self) -> &[WorkflowsIn] {
        &self.workflows
    }

    /// Puts another reading in place of what is open: of the runs that were looked at those that are named, by their
    /// place in [`Desk::runs`], as they are or opened anew.
    pub(crate) fn replace(
        &mut self,
        source: Rc<dyn DeskSource>,
        opened: Opened,
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

    /// The clock.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The source, if one is open.
    pub(crate) fn source(&self) -> Option<&Rc<dyn DeskSource>> {
        self.source.as_ref()
    }

    /// The run in a place, opened when it is not.
    pub(crate) fn run(&mut self, place: &str) -> Result<&Session, Trouble> {
        self.reading(place).map(|(session, _)| session)
    }

    /// The runs in two places, which may be one.
    pub(crate) fn both(&mut self, a: &str, b: &str) -> Result<(&Session, &Session), Trouble> {
        self.opened(a)?;
        self.opened(b)?;
        // More runs than two are kept open.
        let of = |place: &str| {
            let run = self.runs.iter().find(|run| run.place == place);
            let run = run.ok_or_else(|| Trouble::defect("an opened run got lost"))?;
            Ok::<_, Trouble>(&run.session)
        };
        Ok((of(a)?, of(b)?))
    }

    /// The run in a place, with the number of its reading.
    pub(crate) fn reading(&mut self, place: &str) -> Result<(&Session, u64), Trouble> {
        self.opened(place).map(|run| (&run.session, run.number))
    }

    /// The run in a place, with what was found out about it.
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
    /// Where it lies.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// When its rows were worked on.
    pub(crate) fn timeline(&self) -> &Timeline {
        self.timeline.get_or_init(|| pages::timeline(&self.session))
    }
}

/// A question came, and nothing is open.
pub(crate) fn nothing_open() -> Trouble {
    Trouble::new("Nothing is open.", "Open the file or folder again.")
}

impl Clock {
    /// Milliseconds since 1970 UTC.
    pub(crate) fn now(&self) -> i64 {
        (self.now)()
    }

    /// A question came: reading databases for it stops after [`DEADLINE`].
    pub(crate) fn begin(&self) {
        self.asked.store(self.now(), Ordering::Relaxed);
    }

    /// Whether the question that is being answered came less than so many milliseconds ago.
    fn in_slice(&self, millis: i64) -> impl Fn() -> bool + use<> {
        let clock = self.clone();
        move || {
            clock
                .now()
                .saturating_sub(clock.asked.load(Ordering::Relaxed))
                < millis
        }
    }

    /// How the core is to read now.
    pub(crate) fn options(&self) -> Options {
        Options {
            now: Some(self.now()),
            limits: self.limits(DEADLINE),
            ..Options::default()
        }
    }

    /// Limits that end a question so long after it came.
    pub(crate) fn limits(&self, within: Duration) -> Limits {
        let is_early = self.in_slice(within.as_millis() as i64 + 1);
        Limits {
            stop: Some(Arc::new(move || !is_early())),
            ..Limits::default()
        }
    }
}

/// Says what was opened instead of a run: of one file its size and first bytes, of many how many.
pub(crate) fn nothing_found(source: &Rc<dyn Source>, options: &Options) -> Trouble {
    if let [file] = source.files() {
        return match Session::open(source.clone(), &file.path, options) {
            Err(error) => error.into(),
            Ok(_) => Trouble::defect("a file that can be opened was not found"),
        };
    }
    match Session::open(source.clone(), "", options) {
        Err(OpenError::Source(SourceError::NotFound(_))) | Ok(_) => Trouble {
            file: Some(source.label()),
            found: "An empty folder.".to_owned(),
            cause: "There is no run in it.".to_owned(),
            next: "Open a state.db, a run folder, or the .prose folder that holds the runs."
                .to_owned(),
            ..Trouble::default()
        },
        Err(error) => error.into(),
    }
}
