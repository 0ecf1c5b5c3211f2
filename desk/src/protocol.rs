//! Defines the protocol between the viewer's page and a desk: requests, answers and errors.
//!
//! A [`Request`] is sent as JSON. The answer is the JSON of the struct that the request's documentation names, or of a
//! [`Trouble`]. Page and worker exchange messages (`web/src/worker.rs`); page and `prosescope view` use HTTP
//! (`cli/src/serve`).

use std::collections::{BTreeMap, BTreeSet};

use prosescope_core::pages::session::pages::{self, Page, TraceChoice};
use prosescope_core::pages::session::{Session, ValueOf};
use prosescope_core::pages::view::{Bar, ModelSize, RunList, RunShared, TracePage, ValueView};
use prosescope_core::trace::NodeId;
use prosescope_share::file::SharedForm;
use prosescope_share::wishes::Wishes;
use prosescope_workflow::WorkflowSummary;
use prosescope_workflow::page::EventLine;
use serde::{Deserialize, Serialize};

use crate::first::AnsweredRequest;
use crate::text::LineOf;

/// A request of the page. `place` is the path of a run or of a database of workflows in the open source (see
/// [`prosescope_core::pages::view::RunSummary::place`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Opens the files that are sent with the request. Answer: an [`OpenedSource`].
    OpenFiles {
        /// The name under which the page shows the files.
        label: String,
        /// The files that could not be sent.
        #[serde(default)]
        missing: Missing,
    },
    /// Opens the files of the local server. Answer: an [`OpenedSource`].
    OpenServed,
    /// Rereads the files of the local server that changed. Answer: an `Option` of [`FollowAnswer`], null if nothing
    /// changed. After an error, the earlier state stays open.
    Follow {
        /// The path of the shown run in the open source; `None` if the page shows no run.
        place: Option<String>,
        /// The run's nodes whose new numbers are requested.
        nodes: Vec<u32>,
        /// The run's bindings whose new numbers are requested.
        bindings: Vec<u32>,
        /// The folded nodes, by the run's path.
        folded: BTreeMap<String, Folds>,
    },
    /// Opens the example run contained in the viewer. Answer: an [`OpenedSource`].
    OpenExample,
    /// Returns the answers to what the page asks first about a run, as a list of [`AnsweredRequest`].
    First {
        /// The path of the run.
        place: String,
    },
    /// Returns a page of a run, as a struct of [`prosescope_core::pages::view`].
    Page {
        /// The path of the run whose page is requested.
        place: String,
        /// The page to return.
        page: Page,
    },
    /// Returns a window of the program, as a `ProgramView`.
    Program {
        /// The path of the run whose program is shown.
        place: String,
        /// The index of the first line, from 0.
        from: u32,
        /// The number of lines to return.
        len: u32,
    },
    /// Returns references to nodes, as `NodeRef`s.
    Nodes {
        /// The path of the run that has the nodes.
        place: String,
        /// The nodes' numbers.
        nodes: Vec<u32>,
    },
    /// Returns a window of the trace, without the children of folded nodes. Answer: a [`TraceWindow`].
    Trace {
        /// The path of the run whose trace is shown.
        place: String,
        /// The folded nodes.
        folded: Folds,
        /// The choice of rows, and their order. Folding applies only if all rows are chosen.
        #[serde(default)]
        choice: TraceChoice,
        /// Whether to return the bars of these rows on the timeline, too.
        #[serde(default)]
        timed: bool,
        /// The index of the window's first row among the visible rows, from 0.
        from: u32,
        /// The number of rows to return.
        len: u32,
    },
    /// Returns the axis of the timeline, as a `Timeline` without bars.
    Timeline {
        /// The path of the run whose timeline is drawn.
        place: String,
    },
    /// Returns the position of a node among the visible rows, after unfolding its ancestors. Answer: a
    /// [`RevealedNode`].
    Reveal {
        /// The path of the run whose trace contains the node.
        place: String,
        /// The folded nodes.
        folded: Folds,
        /// The choice of rows, and their order.
        #[serde(default)]
        choice: TraceChoice,
        /// The node's number.
        node: u32,
    },
    /// Returns the parent of a node, as an `Option<u32>`.
    Parent {
        /// The path of the run that contains the node and its parent.
        place: String,
        /// The node's number.
        node: u32,
    },
    /// Returns the next or previous cause of a failure, as an `Option<NodeRef>`.
    NextFailure {
        /// The path of the run whose failures are searched.
        place: String,
        /// The node from which to search. `None` searches downward from the start of the trace, or upward from its end.
        node: Option<u32>,
        /// Whether to search downward.
        forward: bool,
    },
    /// Returns the node that belongs to an execution's row in the database, as an `Option<u32>`.
    NodeOfRow {
        /// The path of the run whose database has the row.
        place: String,
        /// The row's id.
        row: i64,
    },
    /// Returns all details of a node, as an `Option<NodeDetail>`.
    Node {
        /// The path of the run that the node belongs to.
        place: String,
        /// The node's number.
        node: u32,
    },
    /// Returns a window of the bindings, as a `BindingsPage`.
    Bindings {
        /// The path of the run whose bindings are listed.
        place: String,
        /// The index of the first binding in the window, from 0.
        from: u32,
        /// The number of bindings to return.
        len: u32,
    },
    /// Returns one binding, as an `Option<BindingRow>`.
    Binding {
        /// The path of the run that has the binding.
        place: String,
        /// The binding's index.
        binding: u32,
    },
    /// Returns the position of a binding in the list, as an `Option<u32>`.
    BindingPlace {
        /// The path of the run whose list contains the binding.
        place: String,
        /// The binding's index.
        binding: u32,
    },
    /// Resolves a name in a frame, and explains the choice. Answer: a `ResolutionView`.
    Resolve {
        /// The path of the run in which the name is resolved.
        place: String,
        /// The name to resolve.
        name: String,
        /// The number of the frame; `None` for the root.
        from: Option<i64>,
    },
    /// Returns a value, as an [`OpenedValue`].
    Value {
        /// The path of the run that contains the value.
        place: String,
        /// The value to return.
        of: ValueOf,
        /// The most bytes to return.
        most: u64,
    },
    /// Returns a range of lines of a long value, as [`ShownLines`].
    Lines {
        /// The value that contains the lines.
        of: LinesOf,
        /// The index of the first line to return, from 0.
        from: u64,
        /// The number of lines to return.
        len: u32,
    },
    /// Returns the index of the first line that contains a text, or null.
    FindLine {
        /// The value that contains the lines.
        of: LinesOf,
        /// The text to find.
        text: String,
        /// The number of a line to search before the others, from 1.
        number: u64,
    },
    /// Returns a whole value. The worker sends its bytes beside the JSON answer, the server instead of the JSON.
    Download {
        /// The path of the run whose value is saved.
        place: String,
        /// The value to save.
        of: ValueOf,
    },
    /// Returns the run's `state.md`, as a `StateMdView`.
    State {
        /// The path of the run that `state.md` describes.
        place: String,
        /// Whether to show the whole program. If not, only the part that ran and a few lines ahead are shown.
        whole: bool,
    },
    /// Returns a window of a table, as `TableRows`.
    Table {
        /// The path of the run whose table is read.
        place: String,
        /// The name of the table to read.
        table: String,
        /// The index of the first row, from 0.
        from: u64,
        /// The number of rows to return.
        len: u32,
    },
    /// Runs one SQL statement. Answer: a `QueryView`.
    Query {
        /// The path of the run that the statement reads.
        place: String,
        /// The SQL statement.
        sql: String,
        /// The most rows to return.
        limit: u32,
    },
    /// Returns the tables and columns available to SQL, as a `QueryTables`.
    QueryTables {
        /// The path of the run whose tables are listed.
        place: String,
    },
    /// Returns a window of a database's workflows, the newest first. Answer: a [`Window`].
    Workflows {
        /// The path of the database whose workflows are listed.
        place: String,
        /// Only workflows with this status; empty for any.
        status: String,
        /// Whether to return only workflows with a run that waits for input.
        waiting: bool,
        /// The index of the first workflow in the window, from 0.
        from: u64,
        /// The number of workflows to return.
        len: u32,
    },
    /// Returns a workflow, as an `Option<WorkflowPage>`.
    Workflow {
        /// The path of the database that contains the workflow.
        place: String,
        /// The id of the workflow to return.
        id: String,
    },
    /// Returns the number of a workflow's events, as [`EventCounts`].
    EventCounts {
        /// The path of the database in which the events are counted.
        place: String,
        /// The id of the workflow whose events are counted.
        id: String,
    },
    /// Returns a window of a workflow's events, in order. Answer: a [`Window`].
    Events {
        /// The path of the database that the events are read from.
        place: String,
        /// The id of the workflow whose events are listed.
        id: String,
        /// Only events of this run; `None` for all.
        run: Option<String>,
        /// The index of the first event in the window, from 0.
        from: u64,
        /// The number of events to return.
        len: u32,
    },
    /// Returns one event, as an `Option<EventShown>`.
    Event {
        /// The path of the database that contains the event.
        place: String,
        /// The id of the workflow that the event belongs to.
        id: String,
        /// The event's id.
        event: i64,
    },
    /// Searches a run for a text for a short time. The same request, sent again, continues the search. Answer: a
    /// `SearchedRun`.
    Search {
        /// The path of the run to search.
        place: String,
        /// The text to search for.
        text: String,
    },
    /// Compares two runs of the open source. Answer: a `CompareView`.
    Compare {
        /// The path of the first run in the open source.
        a: String,
        /// The path of the second run in the open source.
        b: String,
        /// Whether to list every row, not only differing rows and those around them.
        #[serde(default)]
        all: bool,
        /// Whether to compare runs of different programs too.
        #[serde(default)]
        anyway: bool,
    },
    /// Scans runs for texts to replace before sharing. Writes nothing. Answer: a [`LookedThrough`].
    LookToShare {
        /// The paths of the runs or databases of workflows in the open source.
        places: Vec<String>,
        /// The choice of contents, and the texts to replace.
        wishes: Wishes,
    },
    /// Returns the shared file. The worker sends its bytes beside the JSON answer, the server instead of the JSON.
    Share {
        /// The paths of the runs or databases of workflows in the open source.
        places: Vec<String>,
        /// The choice of contents, and the texts to replace.
        wishes: Wishes,
        /// The form of the file: an HTML page, a zip or a database.
        form: SharedForm,
    },
    /// Returns a run, its failure or a row of its trace as text for a language model, redacted as for sharing: a
    /// [`ForModel`](prosescope_core::pages::view::ForModel).
    ForModel {
        /// The path of the run to describe.
        place: String,
        /// The row to describe; `None` for the row that needs attention first.
        node: Option<u32>,
        /// The limit for the length of the text.
        #[serde(default)]
        size: ModelSize,
        /// The choice of contents, and the texts to replace.
        #[serde(default)]
        wishes: Wishes,
    },
    /// Returns the open shared run as a file to save ([`SharedRemarks::save`]). The worker sends the file's bytes
    /// beside the answer.
    SaveShared,
    /// Lists further runs if the previous answer left some unread. Answer: an [`OpenedSource`] whose list has only the
    /// further runs.
    MoreRuns,
    /// Returns the number of reads and bytes so far. Answer: [`Stats`].
    Stats,
}

/// The nodes of a trace whose children are hidden: a rule for all nodes, and the nodes that the user folded or
/// unfolded.
///
/// The rule replaces a list of all folded nodes, so a request about a long trace stays short.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folds {
    kind: Folded,
    folded: BTreeSet<u32>,
    unfolded: BTreeSet<u32>,
}

/// The rule that decides which nodes are folded. The nodes that the user folded or unfolded are exceptions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Folded {
    /// Folds no nodes.
    #[default]
    Nothing,
    /// Folds nodes that succeeded ([`pages::went_well`]).
    Well,
    /// Folds all nodes.
    All,
}

impl Folds {
    /// Creates folds with a rule and without exceptions.
    pub fn of(kind: Folded) -> Folds {
        Folds {
            kind,
            ..Folds::default()
        }
    }

    /// Returns the rule for nodes that the user neither folded nor unfolded.
    pub fn kind(&self) -> Folded {
        self.kind
    }

    /// Returns whether the user folded or unfolded no node.
    pub(crate) fn names_none(&self) -> bool {
        self.folded.is_empty() && self.unfolded.is_empty()
    }

    /// Folds or unfolds a node.
    pub fn set(&mut self, node: u32, folded: bool) {
        let (into, from) = if folded {
            (&mut self.folded, &mut self.unfolded)
        } else {
            (&mut self.unfolded, &mut self.folded)
        };
        into.insert(node);
        from.remove(&node);
    }

    /// Returns the same folds with new node numbers; nodes without a new number are dropped.
    pub(crate) fn renumbered(&self, now: impl Fn(u32) -> Option<u32>) -> Folds {
        let all = |nodes: &BTreeSet<u32>| nodes.iter().filter_map(|node| now(*node)).collect();
        Folds {
            kind: self.kind,
            folded: all(&self.folded),
            unfolded: all(&self.unfolded),
        }
    }

    /// Returns the folded nodes of a run.
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

/// The text whose lines are requested: a value of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinesOf {
    /// The path, in the open source, of the run that contains the value.
    pub place: String,
    /// The value whose lines are requested.
    pub of: ValueOf,
    /// The most bytes to read.
    pub most: u64,
    /// Whether the value is formatted as JSON first.
    pub laid_out: bool,
}

/// The answer to [`Request::Value`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenedValue {
    /// The value; only the beginning of a long value.
    pub view: ValueView,
    /// Whether the value is long. The page then shows it line by line, with [`Request::Lines`].
    pub is_long: bool,
}

/// Some lines of a long text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ShownLines<T = String> {
    /// The lines' numbers and texts.
    pub rows: Vec<LineOf<T>>,
    /// The number of all lines.
    pub total: u64,
}

/// A window of the trace.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceWindow {
    /// The rows of the window.
    pub page: TracePage,
    /// The bars that were requested, in no particular order. A row without times has no bar.
    pub bars: Vec<Bar>,
}

/// The position of a node after unfolding its ancestors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevealedNode {
    /// The node's position among the visible rows; `None` if the node is not among the chosen rows.
    pub row: Option<u32>,
    /// The ancestors that were unfolded.
    pub unfolded: Vec<u32>,
}

/// An opened source.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenedSource {
    /// The source's runs.
    pub list: RunList,
    /// The source's databases of workflows.
    pub workflows: Vec<WorkflowsIn>,
    /// The number of runs not yet read ([`Request::MoreRuns`]).
    #[serde(default)]
    pub left: u32,
    /// The answer to [`Request::First`] about a source that is a single run; empty for other sources and for a large run,
    /// which is listed before it is read.
    pub first: Vec<AnsweredRequest>,
    /// The remarks about shared files, if the source contains some.
    #[serde(default)]
    pub shared: Option<SharedRemarks>,
}

/// Remarks about the open shared files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedRemarks {
    /// A sentence for the user: when the files were shared, and whether they are unchanged. Empty if no file has a
    /// manifest.
    pub words: String,
    /// Whether at least one of the files was changed after sharing.
    pub changed: bool,
    /// The name under which to save the run ([`Request::SaveShared`]); `None` if it cannot be saved.
    pub save: Option<String>,
    /// The row of the trace to show first, if a single run was shared
    /// ([`Manifest::opens`](prosescope_share::manifest::Manifest::opens)).
    #[serde(default)]
    pub opens: Option<String>,
    /// The shared files that were not opened because they are damaged or refused, each with the reason.
    pub unopened: Vec<Trouble>,
}

/// The decision on a gate that the page sends to a server that records decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GateDecision {
    /// The gate is approved.
    Approved,
    /// The gate is rejected.
    Rejected,
}

/// The replacements and omissions that sharing would make: the preview before the file is written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LookedThrough {
    /// The same report as that of `prosescope share --report`.
    pub report: RunShared,
    /// The texts that would be replaced. The page marks them; they do not become part of the shared file.
    pub texts: Vec<String>,
}

/// A database of workflows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowsIn {
    /// The path of the database in the open source. Requests about its workflows contain this path.
    pub place: String,
    /// Remarks about the database, such as that its newest rows may be missing.
    pub notes: Vec<String>,
}

/// The number of a workflow's events. At most the newest [`MOST_EVENTS`](prosescope_workflow::MOST_EVENTS) are counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCounts {
    /// The number of all events of the workflow.
    pub all: u64,
    /// The number of events of each run.
    pub by_run: BTreeMap<String, u64>,
}

/// A window of a list of workflows or of events. Both lists share one type, because each type adds code to the page's
/// wasm file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// The rows of the window.
    pub rows: Vec<WindowRow>,
    /// The number of all rows.
    pub total: u64,
}

/// A row of a [`Window`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum WindowRow {
    /// A row of a list of workflows.
    Workflow(WorkflowSummary),
    /// A row of a list of events.
    Event(EventLine),
}

/// The files and folders that are missing from those that the user dropped or chose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Missing {
    /// The folders that were skipped.
    pub skipped: Vec<String>,
    /// The files that the browser listed but could not read.
    pub not_given: Vec<String>,
    /// The dropped folders in which the browser may hide files.
    pub hidden: Vec<String>,
    /// Whether the user gave single files instead of a folder.
    pub loose: bool,
}

/// The number of reads so far, and the worker's memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// The number of reads and fetches, and of their bytes.
    #[serde(flatten)]
    pub counters: Counters,
    /// The size of the worker's wasm memory, in bytes.
    pub memory: u64,
}

/// The number of reads of a source and their bytes, for tests and diagnosis.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// The number of reads that the core requested. Each read of a database is one page.
    pub reads: u64,
    /// The number of bytes that the core requested.
    pub bytes: u64,
    /// The number of reads of the file itself: requests that a cache did not answer.
    pub fetches: u64,
    /// The number of bytes that were read from the file itself.
    pub fetched: u64,
}

/// The answer to [`Request::Follow`]: the changes since the previous listing of the source.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FollowAnswer {
    /// The source's runs and workflows after the change.
    pub opened: OpenedSource,
    /// Whether the page must request everything that it shows again.
    pub reread: bool,
    /// For each requested node, its new number and its position among the visible rows.
    pub nodes: Vec<Option<(u32, u32)>>,
    /// For each requested binding, its new number and its position in the list.
    pub bindings: Vec<Option<(u32, u32)>>,
    /// The folded nodes with their new numbers, by the run's path. Runs whose new numbers are not known are omitted.
    pub folded: BTreeMap<String, Folds>,
    /// The new nodes; only the first ones if there are many.
    pub new_nodes: Vec<u32>,
    /// The new bindings; only the first ones if there are many.
    pub new_bindings: Vec<u32>,
}

/// An error for the user: what was found, why it cannot be shown, and what to do next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// The file with the problem; `None` if the error does not concern a file.
    pub file: Option<String>,
    /// What was found, in at most a sentence: `report.pdf, 12 KB, begins with %PDF`.
    pub found: String,
    /// The reason why the finding cannot be shown.
    pub cause: String,
    /// What the user can do next, in a sentence.
    pub next: String,
    /// Whether the error may be temporary, because the file is being written.
    #[serde(default)]
    pub passing: bool,
}

impl Trouble {
    /// Creates an error that does not concern a file.
    pub fn new(cause: impl Into<String>, next: impl Into<String>) -> Trouble {
        Trouble {
            cause: cause.into(),
            next: next.into(),
            ..Trouble::default()
        }
    }
}

impl Trouble {
    /// Creates an error for a defect of the program.
    pub fn defect(what: &str) -> Trouble {
        Trouble::new(
            format!("This is a defect of the viewer: {what}."),
            "Please report this defect, and describe the run that you opened.",
        )
    }
}

impl From<prosescope_core::pages::session::OpenError> for Trouble {
    fn from(error: prosescope_core::pages::session::OpenError) -> Trouble {
        use prosescope_core::pages::session::OpenError;

        match error {
            OpenError::Source(error) => error.into(),
            OpenError::Run(error) => Trouble::new(format!("{error}."), "Give the run's id."),
            OpenError::NoRun { place, found, next } => Trouble {
                file: Some(place),
                found,
                cause: "The file or folder contains no run.".to_owned(),
                next,
                ..Trouble::default()
            },
        }
    }
}

impl From<prosescope_core::pages::session::pages::NotComparable> for Trouble {
    fn from(why: prosescope_core::pages::session::pages::NotComparable) -> Trouble {
        use prosescope_core::pages::session::pages::NotComparable;

        let next = match &why {
            NotComparable::NoRun(_) => "Choose a run.",
            NotComparable::Programs(_) => "Choose two runs of one program.",
        };
        Trouble::new(why.to_string(), next)
    }
}

impl From<prosescope_core::pages::query::UnansweredQuery> for Trouble {
    fn from(error: prosescope_core::pages::query::UnansweredQuery) -> Trouble {
        use prosescope_core::pages::query::UnansweredQuery;

        match error {
            UnansweredQuery::Query(error) => Trouble::new(format!("{error}."), error.next()),
            UnansweredQuery::Source(error) => error.into(),
        }
    }
}

impl From<prosescope_core::model::source::SourceError> for Trouble {
    fn from(error: prosescope_core::model::source::SourceError) -> Trouble {
        use prosescope_core::model::source::SourceError;

        let passing = matches!(error, SourceError::Changed(_));
        let (file, cause, next) = match error {
            SourceError::NotFound(path) => (
                path,
                "The file is not among the files that were opened.".to_owned(),
                "Open the whole folder that contains this file.".to_owned(),
            ),
            SourceError::Changed(path) => (
                path,
                "The file changed on disk after it was opened.".to_owned(),
                "Open the file again to see its new content.".to_owned(),
            ),
            SourceError::Unreadable { path, cause } => (
                path,
                format!("The file cannot be read: {cause}."),
                "Check that the file still exists and that you may read it, then open the file again."
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
    use prosescope_core::model::source::SourceError;

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
