//! Defines the JSON of the trace's rows, of their details, and of the program's lines.

use serde::{Deserialize, Serialize};

use super::{NodeWork, ShownCell};
use crate::model::time::Stamp;

/// A link to a node of the trace, with the facts that lists show beside the link.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NodeRef {
    /// The node's index in the trace. Callers open the node by this index.
    pub node: u32,
    /// The execution id of the node's first row; `None` for derived nodes such as rounds.
    pub id: Option<i64>,
    /// The kind: `statement`, `parallel`, `branch`, `loop`, `round`, `frame` or `gate`.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::NodeKind"))]
    pub kind: String,
    /// The text of the node's statement.
    pub text: String,
    /// The node's status in words.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::StatementStatus"))]
    pub status: String,
    /// The nodes around this node, outermost first: `loop › round 2 › do process(half)`; empty at the root.
    pub path: String,
    /// The statement's line in the program; `None` if the line is not known.
    pub line: Option<u32>,
    /// Whether `line` is a guess, because the row does not record its line.
    #[serde(default)]
    pub line_guessed: bool,
    /// The node's last error, cut at 400 characters, also if another attempt is running.
    #[serde(default)]
    pub error: Option<String>,
}

/// Returns the number that commands take for a row: `#31` from its execution id, or else `~12` from its index.
pub(crate) fn number(node: u32, id: Option<i64>) -> String {
    id.map_or_else(|| format!("~{node}"), |id| format!("#{id}"))
}

impl NodeRef {
    /// Returns the number that commands take for the node.
    pub fn number(&self) -> String {
        number(self.node, self.id)
    }
}

impl TreeRow {
    /// Returns the number that commands take for the row.
    pub fn number(&self) -> String {
        number(self.node, self.id)
    }
}

/// A link to a binding, with the facts that lists show beside the link.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BindingRef {
    /// Index into the run's bindings.
    pub binding: u32,
    /// The name of the binding that the link leads to.
    pub name: String,
    /// The execution id of the binding's frame; `None` is the root.
    pub execution_id: Option<i64>,
    /// Among a node's bindings: whether a later write replaced the value that the node wrote.
    #[serde(default)]
    pub overwritten: bool,
    /// Among a node's bindings: whether the writer was inferred from names and order, because times are not recorded.
    #[serde(default)]
    pub inferred: bool,
}

/// Some consecutive rows of the trace, counting only rows that are not hidden by a fold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TracePage {
    /// How many rows are visible, which means not hidden by a fold.
    pub total: u32,
    /// The position of the first row among the visible rows, from 0.
    pub from: u32,
    /// The rows of this page of the trace.
    pub rows: Vec<TreeRow>,
    /// Why rows are missing, or which facts the rows lack: `state.md is not readable: it is encrypted`; `None` without
    /// a note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Lines of the log before the first statement that are not records of statements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Lines of the log after the last statement that are not records of statements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks_behind: Vec<String>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// The status of a failure that was recovered.
pub(crate) const RECOVERED: &str = "recovered";

/// The status of a node that was running when the run was interrupted or became silent.
pub(crate) const WAS_EXECUTING: &str = "was executing";

/// The status of a node that waited for another part of the run when the run was interrupted or became silent. A gate
/// does not get this status, because a person can still decide the gate.
pub(crate) const WAS_WAITING: &str = "was waiting";

/// The statuses that no row records, because they are derived.
pub(crate) const DERIVED: [&str; 3] = [RECOVERED, WAS_EXECUTING, WAS_WAITING];

/// A row of the trace.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TreeRow {
    /// The index of the row's node in the trace.
    pub node: u32,
    /// The execution id of the row's first record; `None` for rounds and other derived rows.
    pub id: Option<i64>,
    /// The ids of the row's later records.
    pub aliases: Vec<i64>,
    /// The depth in the tree; 0 for outermost rows.
    pub level: u32,
    /// How many nodes are below this row's node, at any depth.
    pub descendants: u32,
    /// How many nodes are directly below this row's node.
    pub children: u32,
    /// The row's position among its siblings, from 1, and the number of siblings (for `aria-posinset`).
    pub place: (u32, u32),
    /// Whether the row is folded, so that its children are hidden.
    pub folded: bool,
    /// The kind: `statement`, `parallel`, `branch`, `loop`, `round`, `frame` or `gate`.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::NodeKind"))]
    pub kind: String,
    /// The text of the row's statement, cut at 400 characters.
    pub text: String,
    /// Short facts to show beside the text: `all · 3 branches`, `round 2 of 5`, `frame 43 · depth 3`, `attempt 2 of 3`.
    pub detail: String,
    /// Lines of the log after this row that are not records of statements, word for word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The status in words, usually as recorded. `recovered` is a failure that a later attempt or a `catch` handled.
    /// `was executing` and `was waiting` are open rows of a run that was interrupted or became silent.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::StatementStatus"))]
    pub status: String,
    /// How many attempts there were; 1 without a retry.
    pub attempts: u32,
    /// The limit on attempts of a statement, or on rounds of a loop; `None` if not recorded.
    pub max: Option<u32>,
    /// The branch's name, if the row is a branch.
    pub branch: Option<String>,
    /// The round's number, if the row is a round.
    pub round: Option<u32>,
    /// The frame's depth, if the row is a call.
    pub depth: Option<u32>,
    /// The gate's id, if the row is a gate.
    pub gate: Option<String>,
    /// The beginning of the first value that was passed to a call; `None` if the value is not recorded or was not
    /// requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    /// For the trace on a screen: how many of the blocks around this row, from the outside in, also contain the first
    /// cause of the failure. 0 unless the cause comes after this row.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub around_cause: u32,
    /// When the row began; `None` if that is not recorded.
    pub started: Option<Stamp>,
    /// When the row ended; `None` if that is not recorded.
    pub ended: Option<Stamp>,
    /// Time from begin to end, in milliseconds; `None` unless both are recorded.
    pub duration_ms: Option<i64>,
    /// The time from begin to end in words: `5m 3s`; `None` if `duration_ms` is `None`.
    pub duration: Option<String>,
    /// The row's error, cut at 400 characters; `None` if not recorded.
    pub error: Option<String>,
    /// Bindings that the row wrote, as far as the records show, including bindings that were overwritten later.
    pub bindings: Vec<BindingRef>,
    /// The statement's line in the program; `None` if the line is not known.
    pub line: Option<u32>,
    /// Whether `line` is a guess, because the row does not record its line.
    pub line_guessed: bool,
    /// Whether the row failed and was recovered.
    pub recovered: bool,
    /// Whether the position in the tree was inferred, at least in part.
    pub inferred: bool,
    /// Whether the row was derived from other rows, without a record of its own.
    pub derived: bool,
    /// Whether this row is a current position of the run, at which the program continues.
    pub position: bool,
    /// Whether this row is the first cause of the failure. In a completed run: the first failure that was not
    /// recovered.
    pub first_cause: bool,
    /// Whether the row failed because of the first cause.
    pub because_of: bool,
}

/// All facts about one node of the trace.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NodeDetail {
    /// The node's row in the trace.
    pub row: TreeRow,
    /// The nodes around this node, outermost first; at most the hundred nearest.
    pub path: Vec<NodeRef>,
    /// The text of the node's statement, in full.
    pub text: String,
    /// The node's error, in full; `None` if not recorded.
    pub error: Option<String>,
    /// The node's rows in the store, in order, with every column.
    pub rows: Vec<RowView>,
    /// The execution id of the frame whose bindings the node sees first; `None` is the root.
    pub frame: Option<i64>,
    /// Why the line is a guess, as a clause; `None` if the line is recorded.
    pub line_why: Option<String>,
    /// Which part of the position in the tree was inferred, in a sentence; `None` if the position is recorded.
    pub inferred_why: Option<String>,
    /// Properties of the statement in the program: retries, conditions, prompts.
    pub properties: Vec<PropertyView>,
    /// The statement's prompt, inputs and answers.
    #[serde(default)]
    pub work: NodeWork,
    /// Issues about the node's rows.
    pub issues: Vec<crate::model::issue::Issue>,
}

/// A row of the store with every column. In a run that is read from a log: a line of the log, by its number.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RowView {
    /// The row's id.
    pub id: i64,
    /// Column names and values, in the table's order.
    pub columns: Vec<(String, ShownCell)>,
}

/// The program, with the facts about each line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProgramView {
    /// The name or path of the program whose lines are shown; `None` if not recorded.
    pub path: Option<String>,
    /// The origin of the source. `None` if the run has no source; the lines are then the trace in the state file.
    pub source_from: Option<String>,
    /// A note about the source: `no program in this run`, `the program was not saved with the run; the lines are the trace …`; `None`
    /// without a note.
    pub note: Option<String>,
    /// How many lines the program has in all.
    pub total: u32,
    /// The position of the first line in `lines`, from 0.
    pub from: u32,
    /// The lines, from `from` on.
    pub lines: Vec<ProgramLine>,
}

/// A line of the program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProgramLine {
    /// The line number, from 1.
    pub line: u32,
    /// The text of the line.
    pub text: String,
    /// The kind of the statement that begins on this line, kebab-case; empty if none begins.
    pub kind: String,
    /// The role of the line: `statement`, `property`, `continuation`, `comment`, `blank`, or `text` (Markdown around a
    /// program).
    #[cfg_attr(
        feature = "typescript",
        ts(
            type = "\"statement\" | \"property\" | \"continuation\" | \"comment\" | \"blank\" | \"text\""
        )
    )]
    pub role: String,
    /// The result of the line in words: `completed`, `failed`, `3 × completed, 1 × failed`. A line without a record has
    /// `not run` (its condition was false), `not recorded` (before the last recorded line, or in a completed run),
    /// `not reached`, or the word that a parallel recorded for the branch. Empty if nothing is known, or if the line
    /// is not executable.
    pub annotation: String,
    /// The status word that decides the line's colour; empty if `annotation` is empty.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::StatementStatus"))]
    pub status: String,
    /// The indices in the trace of the nodes that belong to this line (the first 50).
    pub nodes: Vec<u32>,
    /// How many nodes belong to this line in all.
    pub node_count: u32,
    /// Whether the line of at least one node is a guess.
    pub guessed: bool,
    /// Properties of the statement that begins on this line (the first 50).
    pub properties: Vec<PropertyView>,
    /// Bindings that this line wrote (the first 50).
    pub bindings: Vec<BindingRef>,
    /// Whether this line is a current position of the run, at which the program continues.
    pub position: bool,
}

/// A property of a statement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PropertyView {
    /// The property's name. A nested property has a dotted name (`permissions.bash`).
    pub name: String,
    /// The value without quotes and asterisks, cut at 400 characters: `4h`, `the draft is good`, `a, b`.
    pub text: String,
    /// The kind of value: `text`, `condition`, `number`, `flag`, `duration`, `list`, `word`, `raw`; empty for a
    /// property without a value.
    #[cfg_attr(
        feature = "typescript",
        ts(
            type = "\"text\" | \"condition\" | \"number\" | \"flag\" | \"duration\" | \"list\" | \"word\" | \"raw\" | \"\""
        )
    )]
    pub kind: String,
    /// The property's line in the program.
    pub line: u32,
}
