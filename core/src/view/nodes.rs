use serde::{Deserialize, Serialize};

use super::{Cell, NodeWork};
use crate::time::Stamp;

/// A node of the trace as a link.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NodeRef {
    /// Index into the trace: what a shell passes back.
    pub node: u32,
    /// The id of its first row, where it has one.
    pub id: Option<i64>,
    /// `statement`, `parallel`, `branch`, `loop`, `round`, `frame`, `gate`.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::NodeKind"))]
    pub kind: String,
    /// Its statement.
    pub text: String,
    /// Its status in words.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::StatementStatus"))]
    pub status: String,
    /// What it lies in, from the outside in: `loop › round 2 › do process(half)`; empty at the root.
    pub path: String,
    /// Line in the program.
    pub line: Option<u32>,
    /// The tie to the line is a guess.
    #[serde(default)]
    pub line_guessed: bool,
    /// Its last error, cut at 400 characters; also that of an attempt that is being retried.
    #[serde(default)]
    pub error: Option<String>,
}

/// The number that commands take for a row: `#31`, its execution's id; `~12`, its place, where it has none.
pub(crate) fn number(node: u32, id: Option<i64>) -> String {
    id.map_or_else(|| format!("~{node}"), |id| format!("#{id}"))
}

impl NodeRef {
    /// The number that commands take for it.
    pub fn number(&self) -> String {
        number(self.node, self.id)
    }
}

impl TreeRow {
    /// The number that commands take for it.
    pub fn number(&self) -> String {
        number(self.node, self.id)
    }
}

/// A binding as a link.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BindingRef {
    /// Index into the bindings.
    pub binding: u32,
    /// Its name.
    pub name: String,
    /// Its frame.
    pub execution_id: Option<i64>,
    /// Of a node's bindings: the node wrote it, and another write replaced the value since.
    #[serde(default)]
    pub overwritten: bool,
    /// Of a node's bindings: that the node wrote it follows from names and order, as times are not recorded.
    #[serde(default)]
    pub inferred: bool,
}

/// A window of the trace's visible rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TracePage {
    /// How many rows are visible with these folds.
    pub total: u32,
    /// The first row's place among them.
    pub from: u32,
    /// The rows.
    pub rows: Vec<TreeRow>,
    /// Why rows are missing, where what was executed is not readable, or what the rows do not say: `state.md is not
    /// readable: it is encrypted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Lines of the log before the first statement that record none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Lines behind all statements that record none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks_behind: Vec<String>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// A row of the trace.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TreeRow {
    /// Index into the trace.
    pub node: u32,
    /// The id of its first row; `None` for a round and for what is derived.
    pub id: Option<i64>,
    /// Its later rows.
    pub aliases: Vec<i64>,
    /// Levels below the root.
    pub level: u32,
    /// Nodes below it.
    pub descendants: u32,
    /// Direct children.
    pub children: u32,
    /// Its place among its siblings, from 1, and how many there are (for `aria-posinset`).
    pub place: (u32, u32),
    /// Whether its children are hidden by a fold.
    pub folded: bool,
    /// `statement`, `parallel`, `branch`, `loop`, `round`, `frame`, `gate`.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::NodeKind"))]
    pub kind: String,
    /// Its statement, cut at 400 characters.
    pub text: String,
    /// What is worth saying beside it: `all · 3 branches`, `round 2 of 5`, `frame 43 · depth 3`, `attempt 2 of 3`.
    pub detail: String,
    /// Lines of the log after it that record no statement, as they stand there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Its status in words: as its rows have it, `recovered` of a failure that was made good, `was executing` and `was
    /// waiting` of what was under way when the run was interrupted or went silent.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::StatementStatus"))]
    pub status: String,
    /// Attempts, 1 without a retry.
    pub attempts: u32,
    /// The most attempts or rounds.
    pub max: Option<u32>,
    /// The branch's name.
    pub branch: Option<String>,
    /// The round's number.
    pub round: Option<u32>,
    /// The frame's depth.
    pub depth: Option<u32>,
    /// The gate's id.
    pub gate: Option<String>,
    /// Of a call, the beginning of the first value that it was given; `None` where that is not recorded, or not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    /// On a screen: how many of the blocks around it, from the outside in, hold the first cause of the failure, where that
    /// comes behind this row.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub around_cause: u32,
    /// When it began; `None`: not recorded.
    pub started: Option<Stamp>,
    /// When it ended; `None`: not recorded.
    pub ended: Option<Stamp>,
    /// From its begin to its end, where both are recorded; milliseconds.
    pub duration_ms: Option<i64>,
    /// The same in words.
    pub duration: Option<String>,
    /// Its error, cut at 400 characters.
    pub error: Option<String>,
    /// Bindings that it wrote, as far as that can be told; also those whose value was overwritten later.
    pub bindings: Vec<BindingRef>,
    /// Line in the program.
    pub line: Option<u32>,
    /// The tie to the line is a guess.
    pub line_guessed: bool,
    /// Failed, but recovered.
    pub recovered: bool,
    /// Its place in the tree was inferred, wholly or in part.
    pub inferred: bool,
    /// It follows from others; no row says so.
    pub derived: bool,
    /// The run stands here.
    pub position: bool,
    /// The first cause of the failure; in a completed run, what failed first and nothing recovered.
    pub first_cause: bool,
    /// Failed because of the first cause.
    pub because_of: bool,
}

/// Everything that is known of one node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NodeDetail {
    /// The row of the trace.
    pub row: TreeRow,
    /// What it lies in, from the outside in; the nearest hundred.
    pub path: Vec<NodeRef>,
    /// Its whole statement.
    pub text: String,
    /// Its whole error.
    pub error: Option<String>,
    /// Its rows in the store, in order, with every column.
    pub rows: Vec<RowView>,
    /// Which frame's bindings it sees first; `None` is the root.
    pub frame: Option<i64>,
    /// Why the tie to its line is a guess, as a clause; `None` when it is none.
    pub line_why: Option<String>,
    /// What of its place in the tree was inferred, in a sentence; `None` when its rows record it.
    pub inferred_why: Option<String>,
    /// What the program says of its statement: retries, conditions, prompts.
    pub properties: Vec<PropertyView>,
    /// What it was asked, what it was given, and what it answered.
    #[serde(default)]
    pub work: NodeWork,
    /// Issues that speak of its rows.
    pub issues: Vec<crate::issue::Issue>,
}

/// A row of the store, every column of it; of a run that a log tells of, a line of that log by its number.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RowView {
    /// The row's id.
    pub id: i64,
    /// Column names and values, in the table's order.
    pub columns: Vec<(String, Cell)>,
}

/// The program with what is known of each line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProgramView {
    /// Its name or path.
    pub path: Option<String>,
    /// Where the source came from; `None`: there is no source, and the lines are those of the state file's trace.
    pub source_from: Option<String>,
    /// What to know about it: `no program in this run`, `the run holds no program; this is its state file's trace`.
    pub note: Option<String>,
    /// How many lines there are in all.
    pub total: u32,
    /// The first line's place among them.
    pub from: u32,
    /// The lines.
    pub lines: Vec<ProgramLine>,
}

/// A line of the program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProgramLine {
    /// Its number, from 1.
    pub line: u32,
    /// Its text.
    pub text: String,
    /// The kind of the statement that begins here, kebab-case; empty elsewhere.
    pub kind: String,
    /// `statement`, `property`, `continuation`, `comment`, `blank`.
    #[cfg_attr(
        feature = "typescript",
        ts(
            type = "\"statement\" | \"property\" | \"continuation\" | \"comment\" | \"blank\" | \"text\""
        )
    )]
    pub role: String,
    /// What happened here, in words: `completed`, `failed`, `3 × completed, 1 × failed`. Where no record names the line:
    /// `not run` (its condition did not hold), `not recorded` (before the farthest record, or in a completed run),
    /// `not reached`, or the word of a branch that its parallel announced; empty where nothing is known, and for what does not run.
    pub annotation: String,
    /// The status to colour it by, in words; empty where `annotation` is.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::StatementStatus"))]
    pub status: String,
    /// Nodes of the trace that are tied to this line (the first 50).
    pub nodes: Vec<u32>,
    /// How many there are in all.
    pub node_count: u32,
    /// Whether some tie is a guess.
    pub guessed: bool,
    /// What the statement that begins here says of itself (the first 50).
    pub properties: Vec<PropertyView>,
    /// Bindings written here (the first 50).
    pub bindings: Vec<BindingRef>,
    /// The run stands here.
    pub position: bool,
}

/// A property of a statement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PropertyView {
    /// Its name; those inside of another are joined to it by a dot (`permissions.bash`).
    pub name: String,
    /// What it says, without quotes and asterisks, cut at 400 characters: `4h`, `the draft is good`, `a, b`.
    pub text: String,
    /// `text`, `condition`, `number`, `flag`, `duration`, `list`, `word`, `raw`; empty when nothing stands after the
    /// name.
    #[cfg_attr(
        feature = "typescript",
        ts(
            type = "\"text\" | \"condition\" | \"number\" | \"flag\" | \"duration\" | \"list\" | \"word\" | \"raw\" | \"\""
        )
    )]
    pub kind: String,
    /// Its line in the program.
    pub line: u32,
}
