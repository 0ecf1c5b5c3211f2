//! What the page asks, and how a desk refuses.
//!
//! A question is a [`Request`] as JSON. The answer is JSON of the view struct that the request names, or of a
//! [`Trouble`]. Between page and worker both travel in messages (`web/src/worker.rs`), between page and `prosescope view`
//! over HTTP (`cli/src/serve`).

use std::collections::{BTreeMap, BTreeSet};

use prosescope_core::gate::decision::Verdict;
use prosescope_core::session::pages::{self, Page, TraceChoice};
use prosescope_core::session::{Session, ValueOf};
use prosescope_core::trace::NodeId;
use prosescope_core::view::{
    Bar, LogSealedAnew, ModelSize, RunList, RunShared, TracePage, ValueView,
};
use prosescope_share::file::Form;
use prosescope_share::wishes::Wishes;
use prosescope_workflow::WorkflowSummary;
use prosescope_workflow::page::EventLine;
use serde::{Deserialize, Serialize};

use crate::text::LineOf;

/// A question. `place` is where a run lies inside what is open (see
/// [`prosescope_core::view::RunSummary::place`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Opens the files that come with it: an [`Opened`].
    OpenFiles {
        /// What to call them to a person.
        label: String,
        /// What is not among them.
        #[serde(default)]
        missing: Missing,
    },
    /// Opens what the local server offers: an [`Opened`].
    OpenServed,
    /// Reads what the local server offers anew, where something of it changed: an `Option` of [`Followed`]. On an
    /// error all stays open as it was.
    Follow {
        /// The run that is shown.
        place: Option<String>,
        /// Nodes of it whose new numbers are asked for.
        nodes: Vec<u32>,
        /// Bindings of it whose new numbers are asked for.
        bindings: Vec<u32>,
        /// What the page folded, by the run's place.
        folded: BTreeMap<String, Folds>,
    },
    /// Opens the run that the viewer carries: an [`Opened`].
    OpenExample,
    /// A page of a run: its struct of [`prosescope_core::view`].
    Page {
        /// Where the run lies.
        place: String,
        /// The page.
        page: Page,
    },
    /// A window of a `ProgramView`.
    Program {
        /// Where the run lies.
        place: String,
        /// The first line, from 0.
        from: u32,
        /// How many.
        len: u32,
    },
    /// `NodeRef`s of these nodes.
    Nodes {
        /// Where the run lies.
        place: String,
        /// The nodes.
        nodes: Vec<u32>,
    },
    /// A window of the trace, with what is folded left out: [`Traced`].
    Trace {
        /// Where the run lies.
        place: String,
        /// What is folded.
        folded: Folds,
        /// Which rows, in which order. Unless it is all of them, nothing is folded.
        #[serde(default)]
        choice: TraceChoice,
        /// Whether the rows' bars on the axis of the timeline are asked for too.
        #[serde(default)]
        timed: bool,
        /// The first visible row, from 0.
        from: u32,
        /// How many.
        len: u32,
    },
    /// The axis of the timeline: a `Timeline` without its bars.
    Timeline {
        /// Where the run lies.
        place: String,
    },
    /// The place of a node among the visible rows, after unfolding what hides it: [`Revealed`].
    Reveal {
        /// Where the run lies.
        place: String,
        /// What is folded.
        folded: Folds,
        /// Which rows are shown.
        #[serde(default)]
        choice: TraceChoice,
        /// The node.
        node: u32,
    },
    /// The node that one lies in: `Option<u32>`.
    Parent {
        /// Where the run lies.
        place: String,
        /// The node.
        node: u32,
    },
    /// The next or previous cause of a failure: `Option<NodeRef>`.
    NextFailure {
        /// Where the run lies.
        place: String,
        /// Where to begin.
        node: Option<u32>,
        /// Whether downward.
        forward: bool,
    },
    /// The node that an execution row belongs to: `Option<u32>`.
    NodeOfRow {
        /// Where the run lies.
        place: String,
        /// The row's id.
        row: i64,
    },
    /// Everything known of a node: `Option<NodeDetail>`.
    Node {
        /// Where the run lies.
        place: String,
        /// The node.
        node: u32,
    },
    /// A window of a `BindingsPage`.
    Bindings {
        /// Where the run lies.
        place: String,
        /// The first one, from 0.
        from: u32,
        /// How many.
        len: u32,
    },
    /// One binding: `Option<BindingRow>`.
    Binding {
        /// Where the run lies.
        place: String,
        /// Its index.
        binding: u32,
    },
    /// The place of a binding in the list: `Option<u32>`.
    BindingPlace {
        /// Where the run lies.
        place: String,
        /// Its index.
        binding: u32,
    },
    /// What a name means in a frame, and why: a `ResolutionView`.
    Resolve {
        /// Where the run lies.
        place: String,
        /// The name.
        name: String,
        /// The frame; `None` is the root.
        from: Option<i64>,
    },
    /// A value: an [`OpenedValue`].
    Value {
        /// Where the run lies.
        place: String,
        /// Whose.
        of: ValueOf,
        /// At most so many bytes of it.
        most: u64,
    },
    /// A stretch of the lines of a long value: [`ShownLines`].
    Lines {
        /// Whose.
        of: LinesOf,
        /// The first one, from 0.
        from: u64,
        /// How many.
        len: u32,
    },
    /// The first of these lines that has a text: its place among them, or nothing.
    FindLine {
        /// Whose.
        of: LinesOf,
        /// The text, as the finder looks for it.
        text: String,
        /// The number of a line that is tried before the others, from 1.
        number: u64,
    },
    /// A whole value: its bytes, which come beside the answer or in place of it.
    Download {
        /// Where the run lies.
        place: String,
        /// Whose.
        of: ValueOf,
    },
    /// A `StateMdView`.
    State {
        /// Where the run lies.
        place: String,
        /// All of the program rather than what ran and a few lines ahead.
        whole: bool,
    },
    /// A window of a table: `TableRows`.
    Table {
        /// Where the run lies.
        place: String,
        /// The table.
        table: String,
        /// The first row, from 0.
        from: u64,
        /// How many.
        len: u32,
    },
    /// The answer to one statement of SQL: a `QueryView`.
    Query {
        /// Where the run lies.
        place: String,
        /// The statement.
        sql: String,
        /// The most rows.
        limit: u32,
    },
    /// What a run can be asked in SQL: a `QueryTables`.
    QueryTables {
        /// Where the run lies.
        place: String,
    },
    /// A stretch of the workflows of a database, the newest first: a [`Window`].
    Workflows {
        /// The database.
        place: String,
        /// Only those of this status; empty for any.
        status: String,
        /// Only those of which a run waits for input.
        waiting: bool,
        /// The first one, from 0.
        from: u64,
        /// How many.
        len: u32,
    },
    /// A workflow: `Option<WorkflowPage>`.
    Workflow {
        /// The database.
        place: String,
        /// Its id.
        id: String,
    },
    /// How many events a workflow has: [`EventCounts`].
    EventCounts {
        /// The database.
        place: String,
        /// The workflow.
        id: String,
    },
    /// Looks for a text in a workflow, for a moment; asked again, it goes on: a [`Found`](prosescope_workflow::search::Found).
    SearchWorkflow {
        /// The database.
        place: String,
        /// The workflow.
        id: String,
        /// The text.
        text: String,
    },
    /// A stretch of a workflow's events, in order: a [`Window`].
    Events {
        /// The database.
        place: String,
        /// The workflow.
        id: String,
        /// Those of this run; `None` for all.
        run: Option<String>,
        /// The first one, from 0.
        from: u64,
        /// How many.
        len: u32,
    },
    /// One event: `Option<EventShown>`.
    Event {
        /// The database.
        place: String,
        /// The workflow.
        id: String,
        /// The event's id.
        event: i64,
    },
    /// Looks for a text in a run, for a moment; asked again, it goes on: a `SearchedRun`.
    Search {
        /// Where the run lies.
        place: String,
        /// The text.
        text: String,
    },
    /// Compares two runs of what is open: a `CompareView`.
    Compare {
        /// Where the first one lies.
        a: String,
        /// Where the second one lies.
        b: String,
        /// Lists every row, not only those that differ with the rows around them.
        #[serde(default)]
        all: bool,
        /// Compares runs of different programs, too.
        #[serde(default)]
        anyway: bool,
    },
    /// Looks through runs, and writes nothing: a [`LookedThrough`].
    LookToShare {
        /// Where they lie: runs, or databases of workflows.
        places: Vec<String>,
        /// What is to leave.
        wishes: Wishes,
    },
    /// The file that is shared: its bytes, which come beside the answer or in place of it.
    Share {
        /// Where they lie: runs, or databases of workflows.
        places: Vec<String>,
        /// What is to leave.
        wishes: Wishes,
        /// What is written.
        form: Form,
    },
    /// A run, its failure or a row of its trace as text for a language model, redacted as a shared run is: a
    /// [`ForModel`](prosescope_core::view::ForModel).
    ForModel {
        /// Where the run lies.
        place: String,
        /// The row; without one, what asks for somebody first.
        node: Option<u32>,
        /// The most that the text has.
        #[serde(default)]
        size: ModelSize,
        /// What is to leave.
        #[serde(default)]
        wishes: Wishes,
    },
    /// A decision on a gate that waits, as a file and as commands: a [`DecisionMade`]. Nothing is recorded.
    Decide {
        /// Where the run lies.
        place: String,
        /// The gate's id.
        gate: String,
        /// Yes or no.
        decision: Verdict,
        /// The comment; of a rejection its reason.
        #[serde(default)]
        comment: Option<String>,
        /// Who decides: a claim.
        by: String,
        /// For whom they act: a claim.
        #[serde(default)]
        on_behalf_of: Option<String>,
    },
    /// The shared run that is open, as a file of its own ([`Shared::save`]): its bytes, which come beside the answer.
    SaveShared,
    /// Goes on with the list of runs, where the answer before left some of them unread: an [`Opened`] that holds those
    /// that were read now.
    MoreRuns,
    /// What was read so far: [`Stats`].
    Stats,
}

/// Which nodes of a trace hide what is below them: those of a kind, and others that somebody folded or unfolded.
///
/// The kind names no node, so that a question about a long trace stays short.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folds {
    kind: Folded,
    folded: BTreeSet<u32>,
    unfolded: BTreeSet<u32>,
}

/// Which nodes are folded, unless somebody did otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Folded {
    /// None.
    #[default]
    Nothing,
    /// What went well ([`pages::went_well`]).
    Well,
    /// All.
    All,
}

impl Folds {
    /// What is of a kind is folded.
    pub fn of(kind: Folded) -> Folds {
        Folds {
            kind,
            ..Folds::default()
        }
    }

    /// What is folded, unless somebody did otherwise.
    pub fn kind(&self) -> Folded {
        self.kind
    }

    /// Whether it names no node.
    pub(crate) fn names_none(&self) -> bool {
        self.folded.is_empty() && self.unfolded.is_empty()
    }

    /// Folds or unfolds a node.
    pub fn set(&mut self, node: u32, folded: bool) {
        let (into, from) = match folded {
            true => (&mut self.folded, &mut self.unfolded),
            false => (&mut self.unfolded, &mut self.folded),
        };
        into.insert(node);
        from.remove(&node);
    }

    /// The same with other numbers for the nodes; a node without one is forgotten.
    pub(crate) fn renumbered(&self, now: impl Fn(u32) -> Option<u32>) -> Folds {
        let all = |nodes: &BTreeSet<u32>| nodes.iter().filter_map(|node| now(*node)).collect();
        Folds {
            kind: self.kind,
            folded: all(&self.folded),
            unfolded: all(&self.unfolded),
        }
    }

    /// The nodes that are folded, among those of a run.
    pub(crate) fn nodes(&self, session: &Session) -> BTreeSet<NodeId> {
        let mut nodes = match self.kind {
            Folded::Nothing => BTreeSet::new(),
            Folded::Well => pages::went_well(session).clone(),
            Folded::All => {
                let all = session.trace().nodes.iter_enumerated();
                all.filter(|(_, node)| node.descendants > 0)
                    .map(|(at, _)| at)
                    .collect()
            }
        };
        nodes.extend(self.folded.iter().map(|node| NodeId::new(*node)));
        for node in &self.unfolded {
            nodes.remove(&NodeId::new(*node));
        }
        nodes
    }
}

/// The lines of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinesOf {
    /// Where the run lies.
    pub place: String,
    /// Whose.
    pub of: ValueOf,
    /// At most so many bytes of it.
    pub most: u64,
    /// Of the value laid out as JSON.
    pub laid_out: bool,
}

/// A value that was opened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenedValue {
    /// The value; where it is long, with the beginning of what can be looked at.
    pub view: ValueView,
    /// Whether it is long: it is looked at line by line.
    pub is_long: bool,
}

/// Some lines of a long text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ShownLines<T = String> {
    /// Their numbers, and their texts.
    pub rows: Vec<LineOf<T>>,
    /// Shown lines in all.
    pub total: u64,
}

/// A window of the trace.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Traced {
    /// The rows.
    pub page: TracePage,
    /// Those of their bars that were asked for, in no order. A row without times has none.
    pub bars: Vec<Bar>,
}

/// Where a node is after what hid it was unfolded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revealed {
    /// Its place among the visible rows; `None`: it is not among those that were chosen.
    pub row: Option<u32>,
    /// The nodes that were folded around it.
    pub unfolded: Vec<u32>,
}

/// What was opened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// Its runs.
    pub list: RunList,
    /// Its databases of workflows.
    pub workflows: Vec<WorkflowsIn>,
    /// Runs that were not read yet ([`Request::MoreRuns`]).
    #[serde(default)]
    pub left: u32,
    /// Of a single run that was read already, the answer to [`Page::Overview`], which is asked next.
    pub overview: Option<String>,
    /// What is to be said where it comes of shared files.
    #[serde(default)]
    pub shared: Option<Shared>,
}

/// What is to be said of shared files that are open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    /// When they were shared, and whether they are still the same; empty where nothing says so.
    pub words: String,
    /// Whether one of them is not what was shared.
    pub changed: bool,
    /// What the run is called when it is saved ([`Request::SaveShared`]); `None` where it cannot be.
    pub save: Option<String>,
    /// The row of the trace that the one shared run opens on ([`Manifest::opens`](prosescope_share::manifest::Manifest::opens)).
    #[serde(default)]
    pub opens: Option<String>,
    /// The heads of audit logs that were sealed anew because something in them was replaced, as the runs have them.
    #[serde(default)]
    pub heads: Vec<LogSealedAnew>,
    /// Shared files that were given as well and are damaged or refused: each with the reason.
    pub unopened: Vec<Trouble>,
}

/// A decision that was made where the run cannot be written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionMade {
    /// What the decision file is called: `deploy.decision.json`.
    pub name: String,
    /// Its text, to be saved.
    pub text: String,
    /// The command that records it, given the file.
    pub import_command: String,
    /// The command that decides the same in the run itself, without the file.
    pub command: String,
}

/// What would be replaced and left out of runs that are shared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LookedThrough {
    /// What `prosescope share --report` says.
    pub report: RunShared,
    /// The texts that would be replaced, for the page to mark: whoever shares has the run.
    pub texts: Vec<String>,
}

/// A database of workflows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowsIn {
    /// Where it lies inside of what is open.
    pub place: String,
    /// What is to be known of it, such as that its newest rows may be absent.
    pub notes: Vec<String>,
}

/// How many events a workflow has; of more than [`MOST_EVENTS`](prosescope_workflow::MOST_EVENTS) the newest are counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCounts {
    /// All of them.
    pub all: u64,
    /// Those that name a run, by the run.
    pub by_run: BTreeMap<String, u64>,
}

/// A stretch of a list of workflows, or of events. One type for both: each costs the page its own code of a long list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// The rows.
    pub rows: Vec<Line>,
    /// Rows in all.
    pub total: u64,
}

/// A row of such a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Line {
    /// A workflow.
    Workflow(WorkflowSummary),
    /// An event.
    Event(EventLine),
}

/// What is not among the files that a person gave.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Missing {
    /// Folders that were not looked into.
    pub skipped: Vec<String>,
    /// Files that the browser names but does not give.
    pub not_given: Vec<String>,
    /// Dropped folders of which the browser may hide files.
    pub hidden: Vec<String>,
    /// Single files were given, and no folder.
    pub loose: bool,
}

/// What was read so far, and at what cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Reads, fetches and their bytes.
    #[serde(flatten)]
    pub counters: Counters,
    /// Bytes of the worker's wasm memory.
    pub memory: u64,
}

/// What a source read, for tests and for the curious.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Reads that were asked for: a page of a database each.
    pub reads: u64,
    /// Bytes that were asked for.
    pub bytes: u64,
    /// Fetches from the file.
    pub fetches: u64,
    /// Bytes that were fetched.
    pub fetched: u64,
}

/// What changed while it was open.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Followed {
    /// The runs and the workflows, as they are now.
    pub opened: Opened,
    /// What is shown was read anew.
    pub reread: bool,
    /// For each node that was asked about: its number now, and its place among the visible rows.
    pub nodes: Vec<Option<(u32, u32)>>,
    /// For each binding that was asked about: its number now, and its place in the list.
    pub bindings: Vec<Option<(u32, u32)>>,
    /// What is folded, by the run's place, with the numbers of now. A run is left out whose numbers are not known.
    pub folded: BTreeMap<String, Folds>,
    /// Nodes that were not there before; the first of them, where they are many.
    pub new_nodes: Vec<u32>,
    /// Bindings that were not there before; the first of them, where they are many.
    pub new_bindings: Vec<u32>,
}

/// Why something could not be done, for a person: what was found, why it is refused, what to do next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// The file that it is about.
    pub file: Option<String>,
    /// What was found, in a sentence or less: `report.pdf, 12 KB, begins with %PDF`.
    pub found: String,
    /// Why that cannot be shown.
    pub cause: String,
    /// What to do next.
    pub next: String,
    /// It comes of a file that is being written: a moment later it may be gone.
    #[serde(default)]
    pub passing: bool,
}

impl Trouble {
    /// A trouble that is no file's.
    pub fn new(cause: impl Into<String>, next: impl Into<String>) -> Trouble {
        Trouble {
            cause: cause.into(),
            next: next.into(),
            ..Trouble::default()
        }
    }
}

impl Trouble {
    /// Something that should not happen.
    pub fn defect(what: &str) -> Trouble {
        Trouble::new(
            format!("This is a defect of the viewer: {what}."),
            "Please report it, with the kind of run that you opened.",
        )
    }
}

impl From<prosescope_core::session::OpenError> for Trouble {
    fn from(error: prosescope_core::session::OpenError) -> Trouble {
        use prosescope_core::session::OpenError;

        match error {
            OpenError::Source(error) => error.into(),
            OpenError::Run(error) => Trouble::new(format!("{error}."), "Give the run's id."),
            OpenError::NoRun { place, found, next } => Trouble {
                file: Some(place),
                found,
                cause: "There is no run in it.".to_owned(),
                next,
                ..Trouble::default()
            },
        }
    }
}

impl From<prosescope_core::session::pages::NotComparable> for Trouble {
    fn from(why: prosescope_core::session::pages::NotComparable) -> Trouble {
        use prosescope_core::session::pages::NotComparable;

        let next = match &why {
            NotComparable::NoRun(_) => "Choose a run.",
            NotComparable::Programs(_) => "Choose two runs of one program.",
        };
        Trouble::new(why.to_string(), next)
    }
}

impl From<prosescope_core::query::Unanswered> for Trouble {
    fn from(error: prosescope_core::query::Unanswered) -> Trouble {
        use prosescope_core::query::Unanswered;

        match error {
            Unanswered::Query(error) => Trouble::new(format!("{error}."), error.next()),
            Unanswered::Source(error) => error.into(),
        }
    }
}

impl From<prosescope_core::source::SourceError> for Trouble {
    fn from(error: prosescope_core::source::SourceError) -> Trouble {
        use prosescope_core::source::SourceError;

        let passing = matches!(error, SourceError::Changed(_));
        let (file, cause, next) = match error {
            SourceError::NotFound(path) => (
                path,
                "It is not among the files that were opened.".to_owned(),
                "Open the whole folder, so that everything it names is there.".to_owned(),
            ),
            SourceError::Changed(path) => (
                path,
                "It changed on disk since it was opened.".to_owned(),
                "Open it again to see its present state.".to_owned(),
            ),
            SourceError::Unreadable { path, cause } => (
                path,
                format!("It cannot be read: {cause}."),
                "Check that it is still there and that you may read it, then open it again."
                    .to_owned(),
            ),
            SourceError::Database {
                path, cause, next, ..
            } => (path, cause, next),
        };
        Trouble {
            file: Some(file),
            cause,
            next,
            passing,
            ..Trouble::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prosescope_core::source::SourceError;

    #[test]
    fn a_request_survives_the_way_to_the_worker() {
        let request = Request::OpenFiles {
            label: "a \"b\"\n".into(),
            missing: Missing::default(),
        };
        let body = serde_json::to_string(&request).unwrap();
        assert!(
            body.starts_with(r#"{"open_files":{"label":"a \"b\"\n","#),
            "{body}"
        );
        assert_eq!(serde_json::from_str::<Request>(&body).unwrap(), request);
    }

    #[test]
    fn what_somebody_folds_or_unfolds_is_kept_and_moves_with_its_nodes() {
        let mut folds = Folds::of(Folded::Well);
        assert!(folds.names_none() && folds.kind() == Folded::Well);
        folds.set(3, true);
        folds.set(4, true);
        folds.set(4, false);
        let (folded, unfolded) = (BTreeSet::from([3]), BTreeSet::from([4]));
        assert_eq!((&folds.folded, &folds.unfolded), (&folded, &unfolded));
        let moved = folds.renumbered(|node| (node != 3).then_some(node + 1));
        assert_eq!(moved.unfolded, BTreeSet::from([5]));
        assert!(moved.folded.is_empty() && moved.kind() == Folded::Well);
    }

    #[test]
    fn every_trouble_names_the_file_and_the_next_step() {
        for error in [
            SourceError::NotFound("a.md".into()),
            SourceError::Changed("a.md".into()),
            SourceError::Unreadable {
                path: "a.md".into(),
                cause: "not allowed".into(),
            },
        ] {
            let trouble = Trouble::from(error);
            assert_eq!(trouble.file.as_deref(), Some("a.md"));
            assert!(trouble.cause.ends_with('.') && trouble.next.ends_with('.'));
        }
    }
}
