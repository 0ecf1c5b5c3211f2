//! What is open: one source, and the runs of it that were looked at last.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use prosescope_core::database::{DEADLINE, Limits};
use prosescope_core::session::{OpenError, Options, Session, list_again};
use prosescope_core::source::{Source, SourceError};
use prosescope_core::trace::NodeId;
use prosescope_core::view::RunList;

use super::workflows::{self, OpenWorkflows};
use crate::bytes::WebSource;
use crate::protocol::{Opened, Trouble, WorkflowsIn};

/// Opened runs that are kept: going to a nested run and back does not read twice.
const KEPT: usize = 3;

/// What is open.
#[derive(Default)]
pub(super) struct Desk {
    source: Option<Rc<WebSource>>,
    /// Its runs, as they were listed.
    list: RunList,
    /// Its databases of workflows.
    workflows: Vec<WorkflowsIn>,
    /// The one that was asked last comes last.
    runs: Vec<OpenRun>,
    /// The database of workflows that was asked last.
    pub(super) open_workflows: Option<OpenWorkflows>,
}

/// A run and which of its nodes are folded.
pub(super) struct OpenRun {
    place: String,
    /// What it is read from: the desk's, or an earlier one of which this run's files did not change.
    source: Rc<WebSource>,
    /// The run.
    pub(super) session: Session,
    /// Nodes whose children are hidden.
    pub(super) folded: BTreeSet<NodeId>,
}

/// A run that was opened anew, and which of its nodes are folded.
pub(super) type Reopened = (Session, BTreeSet<NodeId>);

impl Desk {
    /// Opens a source in place of the one before, and lists its runs. What was open stays open when there is no run in it.
    pub(super) fn open(&mut self, source: WebSource) -> Result<Opened, Trouble> {
        let source = Rc::new(source);
        let dynamic: Rc<dyn Source> = source.clone();
        let (mut list, last) = list_again(&dynamic, &options(), &|_| None);
        let workflows = workflows::taken_from(&mut list, &source);
        if let Some(SourceError::Changed(path)) = source.take_fault() {
            return Err(SourceError::Changed(path).into());
        }
        match list.runs.as_slice() {
            [] if workflows.is_empty() => return Err(nothing_found(&dynamic)),
            [only] if only.error.is_some() && workflows.is_empty() => {
                if let Some(trouble) = workflows::unfit(&source, &only.place) {
                    return Err(trouble);
                }
                // One thing was opened and it is no run: the reason, not a list of one broken run.
                Session::open(dynamic.clone(), &only.place, &options())?;
            }
            _ => {}
        }
        self.runs.clear();
        if let ([only], Some(session)) = (list.runs.as_slice(), last) {
            self.runs.push(OpenRun {
                place: only.place.clone(),
                source: Rc::clone(&source),
                session,
                folded: BTreeSet::new(),
            });
        }
        self.source = Some(source);
        self.open_workflows = None;
        self.list = list.clone();
        self.workflows = workflows.clone();
        Ok(Opened { list, workflows })
    }

    /// Why the last read of something that is open failed, once.
    pub(super) fn take_fault(&self) -> Option<SourceError> {
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
    pub(super) fn runs(&self) -> &[OpenRun] {
        &self.runs
    }

    /// The runs that are open, as they were listed.
    pub(super) fn list(&self) -> &RunList {
        &self.list
    }

    /// The databases of workflows that are open.
    pub(super) fn workflows(&self) -> &[WorkflowsIn] {
        &self.workflows
    }

    /// Puts another reading in place of what is open: of the runs that were looked at those that are named, by their
    /// place in [`Desk::runs`], as they are or opened anew.
    pub(super) fn replace(
        &mut self,
        source: Rc<WebSource>,
        opened: Opened,
        runs: Vec<(usize, Option<Reopened>)>,
    ) {
        let mut before: Vec<Option<OpenRun>> = std::mem::take(&mut self.runs)
            .into_iter()
            .map(Some)
            .collect();
        for (at, new) in runs {
            let Some(mut run) = before.get_mut(at).and_then(Option::take) else {
                continue;
            };
            if let Some((session, folded)) = new {
                run = OpenRun {
                    source: Rc::clone(&source),
                    session,
                    folded,
                    ..run
                };
            }
            self.runs.push(run);
        }
        self.source = Some(source);
        self.open_workflows = None;
        self.list = opened.list;
        self.workflows = opened.workflows;
    }

    /// The source, if one is open.
    pub(super) fn source(&self) -> Option<&Rc<WebSource>> {
        self.source.as_ref()
    }

    /// The run in a place, opened when it is not.
    pub(super) fn run(&mut self, place: &str) -> Result<&mut OpenRun, Trouble> {
        let source = self
            .source
            .as_ref()
            .ok_or_else(|| Trouble::new("Nothing is open.", "Open the file or folder again."))?;
        let open = match self.runs.iter().position(|run| run.place == place) {
            Some(at) => self.runs.remove(at),
            None => OpenRun {
                place: place.to_owned(),
                source: Rc::clone(source),
                session: Session::open(source.clone(), place, &options())?,
                folded: BTreeSet::new(),
            },
        };
        if self.runs.len() >= KEPT {
            self.runs.remove(0);
        }
        self.runs.push(open);
        self.runs
            .last_mut()
            .ok_or_else(|| Trouble::defect("an opened run got lost"))
    }
}

impl OpenRun {
    /// Where it lies.
    pub(super) fn place(&self) -> &str {
        &self.place
    }
}

/// Milliseconds since 1970 UTC.
pub(super) fn now() -> i64 {
    js_sys::Date::now() as i64
}

thread_local! {
    /// When the question came that is being answered.
    static ASKED: Cell<i64> = const { Cell::new(0) };
}

/// A question came: reading databases for it ends by itself after [`DEADLINE`].
pub(super) fn begin() {
    ASKED.set(now());
}

pub(super) fn options() -> Options {
    let late = || now().saturating_sub(ASKED.get()) > DEADLINE.as_millis() as i64;
    Options {
        now: Some(now()),
        limits: Limits {
            stop: Some(Arc::new(late)),
            ..Limits::default()
        },
        ..Options::default()
    }
}

/// Says what was opened instead of a run: of one file its size and first bytes, of many how many.
pub(super) fn nothing_found(source: &Rc<dyn Source>) -> Trouble {
    if let [file] = source.files() {
        return match Session::open(source.clone(), &file.path, &options()) {
            Err(error) => error.into(),
            Ok(_) => Trouble::defect("a file that can be opened was not found"),
        };
    }
    match Session::open(source.clone(), "", &options()) {
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
