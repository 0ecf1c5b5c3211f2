//! Folds a run's records into a [`Trace`] of what happened (errata T1 to T11, E1 to E9; cases: golden/trace.json and
//! real.json).
//!
//! ```text
//! execution rows   ──► sweep, emit  ┐
//! a compact log    ──► lower/log    ├─► a story: happenings in order, each with its parent ──► nodes ──► meaning
//! a state.md, disk ──► lower/state  ┘
//! ```
//!
//! Terms: an *instance* is one execution of a statement or construct, recorded by one or more rows. A *happening* is
//! one execution in a story, from any source. A *tie* assigns an execution to a statement of the program, and may be a
//! guess. A *position* is a place where the run currently is: an open node without open descendants.
//!
//! Order always follows row ids, never times. Recursion is avoided, because 100,000 levels are legal.
//!
//! | step | module | rules (docs/contribute/errata.md) |
//! |---|---|---|
//! | files to a story | `lower`, `align` | errata E1, E2, E6 |
//! | meaning of a missing end | `silence` | 7, 10 |
//! | rows to instances | `sweep`, `words`, `ties` | 1–4, and which rows are in a loop's body (5) |
//! | parents, rounds, gates | `emit`, `parents`, `rounds`, `gates` | 4, 5, 11 |
//! | a story to nodes in preorder | `story`, `preorder` | 6, 7 |
//! | meaning of the nodes | `finish`, `caught`, `ways`, `claims`, `verdict` | 7–10 |
//!
//! Cases that the rules do not cover are handled as follows:
//!
//! - A row without some of its identifying data still belongs to its construct: an `exited` without metadata by its
//!   statement index, an `iteration` without its parent by its loop_id, a gate by `approve x:`.
//! - A row may have a `loop_id` or `parallel_id` only to state where it runs: then it is a statement inside that
//!   construct.
//! - The in-place dialect does not record where a round ended, unless the store keeps the events: a repeated statement
//!   begins the next pass, the last pass is the last round, and this is marked as inferred.
//! - A branch that its parallel block did not wait for (`first`, `any`) is abandoned, also while the run continues.
//! - An open row whose construct was closed by a later row is a position only if there is no other position.
//! - A statement that is announced after a running statement is not a position.
//! - A completed run has no first cause, whatever failures it tolerated. A failed run without a failed row was ended
//!   by the last rejected gate.
//! - A status word unknown to OpenProse counts as open while the run is open, and is kept after the run's end.

mod align;
mod arena;
mod caught;
mod claims;
mod emit;
mod finish;
mod gates;
pub mod judgement;
mod lower;
mod parents;
mod preorder;
mod rounds;
mod rows;
pub mod scope;
mod shape;
mod silence;
mod story;
mod sweep;
mod ties;
mod verdict;
mod ways;
mod words;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::issue::Issue;
use crate::model::time::Stamp;
use crate::model::{CompactLog, Form, LogEvent, LogLine, Run, RunStatus, Text};
use crate::program::{Listing, Statement, StatementKind, TiedBy, allows_failure, needs_some, scan};
use lower::disk::Stale;
use lower::facts::LineEvidence;
use lower::state::Evidence;
use rows::Ledger;
use silence::Silence;

pub use arena::{NodeId, NodeSlice, Nodes};
pub(crate) use lower::disk::{named_round, round_of};
pub use shape::{RowShape, frame_block, shape};
pub(crate) use shape::{branch_text, is_branch_text, may_hold_branches};
pub(crate) use verdict::{STATE_FILE, recorded};

/// Folds a run into its trace.
///
/// `program` is the run's scanned source, if available: it ties nodes to lines and determines what is inside a loop's
/// body or a `try`. `now` is in milliseconds since 1970: with it, a run without a sign of life for a day is reported
/// as stale. A run without execution rows is folded from its state file or log. A folder with neither is folded from
/// its bindings.
pub fn fold(run: &Run, program: Option<&Listing>, now: Option<i64>) -> Trace {
    let mut trace = folded(run, program, now);
    let before = run.remarks.iter().map(|line| (None, line.clone()));
    // The lines of sections unknown to OpenProse are added after the trace.
    let end = trace.nodes.next_key();
    let sections = run.state_file.iter().flat_map(|file| file.remarks());
    let behind = sections.map(|line| (Some(end), line));
    trace.remarks = before.chain(trace.remarks).chain(behind).collect();
    trace
}

fn folded(run: &Run, program: Option<&Listing>, now: Option<i64>) -> Trace {
    let folder = matches!(run.form, Form::Folder { .. });
    match (&run.log, &run.state_file) {
        _ if run.recorded_in_rows() => {}
        (Some(log), None) => return of_log(run, log, program, now),
        (_, Some(_)) => return of_state_file(run, program, now),
        _ if folder => return of_state_file(run, program, now),
        _ => {}
    }
    let mut ledger = Ledger::default();
    let rows = rows::OrderedRows::new(&run.executions);
    let instances = sweep::sweep(
        &rows,
        &mut ties::RowTies::new(program, &run.executions),
        rows::by_row(run),
    );
    let nodes = emit::nodes(run, program, &rows, instances, &mut ledger);
    let mut trace = finish::finish(run, program, nodes, verdict::recorded(run), now, ledger);
    trace
        .issues
        .extend(lower::state::beside::compare(run, program, &trace));
    trace.remarks = taken_up(run, &trace);
    trace
}

/// Returns a remark for each row that reopened the run after its end, placed after the node of the previous row.
fn taken_up(run: &Run, trace: &Trace) -> Vec<(Option<NodeId>, Text)> {
    let mut remarks = Vec::new();
    if !run
        .executions
        .iter()
        .any(|row| rows::reopened(row).is_some())
    {
        return remarks;
    }
    let mut before = None;
    for row in &run.executions {
        let Some(ended) = rows::reopened(row) else {
            before = trace.of_row(row.id).max(before);
            continue;
        };
        let at = |stamp: &Option<Stamp>| {
            stamp
                .as_ref()
                .map_or(String::new(), |at| format!(" at {at}"))
        };
        let text = format!(
            "the run had ended as {ended}{}, and was taken up again{}",
            at(&row.started),
            at(&row.completed)
        );
        remarks.push((before, text.into()));
    }
    remarks.sort_by_key(|(after, _)| *after);
    remarks
}

/// Folds a run from its compact log.
fn of_log(run: &Run, log: &CompactLog, program: Option<&Listing>, now: Option<i64>) -> Trace {
    let none = Listing::default();
    let listing = program.unwrap_or(&none);
    let mut ledger = Ledger::default();
    let facts = LineEvidence::of(run, listing, &none, false, &mut ledger);
    let lowered = lower::log::lower(run, log, &facts, &mut ledger);
    let stale = Stale {
        unmarked: lowered.unmarked,
        ..Stale::default()
    };
    let (mut nodes, node_of) = lowered.story.finish(run, program, &mut ledger);
    let claims = claims::of(run, &facts, &nodes, &stale);
    let silence = match ending(&claims) {
        Some(status) if status.is_finished() => Silence::Over(status),
        Some(status) if status != RunStatus::Running => Silence::Open,
        _ => Silence::Unknown,
    };
    silence::settle(&mut nodes, &silence);
    let mut trace = finish::finish(run, program, nodes, claims, now, ledger);
    explain_cause(run, log, &mut trace);
    let told = lowered.told.iter();
    trace.told = told
        .filter_map(|(at, line)| Some((at.node(&node_of)?, *line)))
        .collect();
    trace.told.sort_unstable();
    trace.told.dedup();
    let remarks = lowered.remarks.iter().map(|(after, line)| {
        let after = after.and_then(|after| after.node(&node_of));
        (
            after.map(|node| round_before(log, *line, &trace.nodes, node)),
            *line,
        )
    });
    let mut remarks: Vec<_> = remarks.collect();
    remarks.sort_unstable();
    let raw = |(after, line)| Some((after, log.lines.get(line as usize)?.raw.clone()));
    trace.remarks = remarks.into_iter().filter_map(raw).collect();
    claims::explain(run, &stale, &mut trace);
    trace
}

/// Returns the node after which a remark is placed: the round inside `node` if the line before the remark marks a
/// round, otherwise `node` itself.
fn round_before(log: &CompactLog, line: u32, nodes: &NodeSlice, node: NodeId) -> NodeId {
    let before = (line as usize)
        .checked_sub(1)
        .and_then(|at| log.lines.get(at));
    let Some(LogEvent::Round {
        n: Some(marked), ..
    }) = before.map(|line| &line.event)
    else {
        return node;
    };
    let is_it = |at: &NodeId| {
        let round = NodeKind::Round { n: *marked };
        nodes.get(*at).is_some_and(|inner| inner.kind == round)
    };
    let found = arena::children(nodes, Some(node)).find(is_it);
    found.unwrap_or(node)
}

/// Uses the message of the log's end (`---error 2026-02-13T11:48:13Z Fix the tests.`) as the message of the first
/// cause, if the first cause has no message.
fn explain_cause(run: &Run, log: &CompactLog, trace: &mut Trace) {
    let cause = trace.first_cause.and_then(|at| trace.nodes.get_mut(at));
    let Some(cause) = cause.filter(|node| node.error(run).is_none() && node.remark(run).is_none())
    else {
        return;
    };
    let says_why = |at: &u32| {
        log.lines
            .get(*at as usize)
            .is_some_and(|line| line.note.is_some())
    };
    if let Some(end) = log.trailer.filter(says_why) {
        cause.state_line = Some(end);
    }
}

/// Folds a run from its state file, or from the bindings of a folder without one. Without a program, the lines of the
/// file's trace replace the program, and [`Node::line`] counts these lines. If there is no trace either, only the
/// statements that bindings quote are known.
fn of_state_file(run: &Run, program: Option<&Listing>, now: Option<i64>) -> Trace {
    let trace_text = source_of_trace(run);
    let unordered = program.is_none() && trace_text.is_empty();
    let scanned = scan(&if unordered { quoted(run) } else { trace_text });
    let listing = program.unwrap_or(&scanned);
    let mut ledger = Ledger::default();
    let mut evidence = Evidence::of(run, listing, &scanned, program.is_none(), &mut ledger);
    evidence.prefer_gate_records(run);
    let stale = lower::disk::compare(run, &mut evidence, &mut ledger);
    let story = lower::state::lower(run, &evidence);
    let (mut nodes, _) = story.finish(run, Some(listing), &mut ledger);
    let claims = match unordered {
        // Statements that no binding quotes are unknown, so the run may continue after all known statements.
        true => verdict::recorded(run),
        false => claims::of(run, &evidence.facts, &nodes, &stale),
    };
    if let Some(status) = ending(&claims).filter(RunStatus::is_finished) {
        finish::note_marks(&nodes, &status, &mut ledger);
        silence::settle(&mut nodes, &Silence::Over(status));
    }
    let mut trace = finish::finish(run, Some(listing), nodes, claims, now, ledger);
    claims::explain(run, &stale, &mut trace);
    trace.unordered = unordered && !trace.nodes.is_empty();
    for node in trace.nodes.iter_mut().filter(|_| unordered) {
        (node.line, node.line_guessed, node.line_by) = (None, false, None);
    }
    trace
}

/// Returns the statements that bindings quote as one text, each statement once. Definitions, which do not run, are
/// left out.
fn quoted(run: &Run) -> String {
    let is_statement = |source: &&str| {
        let first = scan(source).statements.into_iter().next();
        first.is_some_and(|first| first.kind.is_work() && first.kind.runs())
    };
    let sources = run.bindings.iter().filter_map(|b| b.source.as_deref());
    let sources = sources.map(str::trim_end).filter(is_statement);
    let sources: BTreeSet<&str> = sources.collect();
    sources
        .into_iter()
        .fold(String::new(), |all, source| all + source + "\n")
}

/// Returns the status of the claim that counts; `None` without a claim.
fn ending(claims: &[verdict::Claim]) -> Option<RunStatus> {
    let claim = claims.get(verdict::believed(claims)?)?;
    Some(claim.status.clone())
}

/// Returns the lines of the state file's trace as one text, which replaces a missing program.
pub(crate) fn source_of_trace(run: &Run) -> String {
    let mut text = String::new();
    for line in run.state_file.iter().flat_map(|file| &file.trace) {
        text.push_str(&line.text);
        text.push('\n');
    }
    text
}

/// The trace of a run: one node for each execution, in which all rows about that execution are combined.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// All instances and rounds, in preorder: a node comes before its children, children in order.
    pub nodes: Nodes,
    /// The run's positions (errata T8), ascending. There may be several (errata X8).
    pub positions: Vec<NodeId>,
    /// The node that is the first cause of the run's failure (errata T9).
    pub first_cause: Option<NodeId>,
    /// The nodes that failed or were stopped as a consequence of the first cause: failed ancestors from the inside out,
    /// then siblings in order.
    pub because_of: Vec<NodeId>,
    /// The status of the run, and its source (errata T10).
    pub verdict: Verdict,
    /// The node of each execution row, as pairs of row id and node, ascending by row id.
    pub by_row: Vec<(i64, NodeId)>,
    /// The lines of a compact log that record each node, as pairs of a node and an index into the log's lines,
    /// ascending.
    pub told: Vec<(NodeId, u32)>,
    /// Whether the order of events is unknown, because only bindings show what ran.
    pub unordered: bool,
    /// The lines of a log or state file that do not record a statement, as written, each with the node of the line
    /// before. Lines at the very end have the id that the next node would have.
    pub remarks: Vec<(Option<NodeId>, Text)>,
    /// The issues found while folding, such as orphans, cycles, abandoned instances, and contradictions between rows
    /// and gates.
    pub issues: Vec<Issue>,
}

/// One thing that happened: an instance, a round, or an announced branch.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The id of the node's first row; `None` without a row, as for a round, a derived branch, or a run in a log.
    pub id: Option<i64>,
    /// The ids of the node's later rows (errata X7).
    pub aliases: Vec<i64>,
    /// The kind of node.
    pub kind: NodeKind,
    /// Whether the node calls a block: it is a frame, or a branch whose statement is a call. The node's id is then the
    /// scope of the block's bindings (errata T6).
    pub is_frame: bool,
    /// The node's statement as recorded in the row, or the name of its branch, loop or round.
    pub text: Text,
    /// The status of the node.
    pub status: NodeStatus,
    /// The node that contains this node; `None` at the root.
    pub parent: Option<NodeId>,
    /// The number of levels above the node; 0 for a root.
    pub level: u32,
    /// The number of descendants, which directly follow the node in preorder.
    pub descendants: u32,
    /// The line in the program's source, from 1, if the node is tied to a statement.
    pub line: Option<u32>,
    /// Whether the tie between the node and the line is a guess.
    pub line_guessed: bool,
    /// The evidence for the tie between the node and the line, if known.
    pub line_by: Option<TiedBy>,
    /// The number of attempts; 1 without a retry.
    pub attempts: u32,
    /// The maximum number of attempts or rounds, if recorded.
    pub max: Option<u32>,
    /// Whether the node failed but succeeded on a retry or was caught (errata T9).
    pub recovered: bool,
    /// Whether the node's place in the tree was inferred, not recorded (errata T5).
    pub inferred: bool,
    /// Whether the node is derived from other records (announced branches, abandoned status).
    pub derived: bool,
    /// The index in [`crate::model::Run::executions`] of the node's first row.
    pub first_row: Option<u32>,
    /// The index in [`crate::model::Run::executions`] of the node's last row.
    pub last_row: Option<u32>,
    /// The node's annotated line in a state file, for a run without rows: an index into
    /// [`crate::model::StateFile::trace`]. For a run with a compact log, the last line that records the node: an index
    /// into [`crate::model::CompactLog::lines`].
    pub state_line: Option<u32>,
}

impl Node {
    /// Returns a node that is not recorded by a row.
    pub(crate) fn without_row(kind: NodeKind, text: Text, status: NodeStatus) -> Node {
        Node {
            id: None,
            aliases: Vec::new(),
            is_frame: matches!(kind, NodeKind::Frame { .. }),
            kind,
            text,
            status,
            parent: None,
            level: 0,
            descendants: 0,
            line: None,
            line_guessed: false,
            line_by: None,
            attempts: 1,
            max: None,
            recovered: false,
            inferred: false,
            derived: true,
            first_row: None,
            last_row: None,
            state_line: None,
        }
    }

    /// Returns the statement of the program to which the node is tied.
    pub(crate) fn statement<'l>(&self, program: Option<&'l Listing>) -> Option<&'l Statement> {
        program?.get(program?.begun_at(self.line?)?)
    }

    /// Returns the statement of the program to which the node is tied, unless the node's line is a guess.
    pub(crate) fn sure_statement<'l>(&self, program: Option<&'l Listing>) -> Option<&'l Statement> {
        self.statement(program).filter(|_| !self.line_guessed)
    }

    /// Returns the index of the statement of the program to which the node is tied, unless the node's line is a guess.
    pub(crate) fn sure_index(&self, program: Option<&Listing>) -> Option<u32> {
        let line = self.line.filter(|_| !self.line_guessed)?;
        program?.begun_at(line)
    }

    /// Returns the setting by which a parallel continues after a failed branch: `on-fail: ignore`, `strategy: first`.
    /// `None` if a failed branch fails the parallel, and for nodes of other kinds.
    pub(crate) fn allows_failure(&self, run: &Run, program: Option<&Listing>) -> Option<String> {
        if self.kind != NodeKind::Parallel {
            return None;
        }
        allows_failure(self.strategy(run), self.sure_statement(program))
    }

    /// Returns whether a parallel ends before all of its branches have: its strategy is `first` or `any`.
    pub(crate) fn needs_some(&self, run: &Run, program: Option<&Listing>) -> bool {
        let says = || self.sure_statement(program)?.strategy();
        self.kind == NodeKind::Parallel && self.strategy(run).or_else(says).is_some_and(needs_some)
    }

    fn strategy<'r>(&self, run: &'r Run) -> Option<&'r str> {
        let row = run.executions.get(self.first_row? as usize)?;
        row.meta.as_deref()?.strategy.as_deref()
    }

    /// Returns when the node began and ended, as far as its first and last row record that.
    pub fn times<'r>(&self, run: &'r Run) -> (Option<&'r Stamp>, Option<&'r Stamp>) {
        let row = |row: Option<u32>| run.executions.get(row? as usize);
        let (first, last) = (row(self.first_row), row(self.last_row));
        let ended = last.and_then(|row| row.completed.as_ref());
        (
            first.and_then(|row| row.started.as_ref()),
            ended.or_else(|| first?.completed.as_ref()),
        )
    }

    /// Returns when the node began and ended, in milliseconds since 1970 UTC, as far as the times are readable.
    pub(crate) fn worked(&self, run: &Run) -> (Option<i64>, Option<i64>) {
        let (from, to) = self.times(run);
        (from.and_then(Stamp::millis), to.and_then(Stamp::millis))
    }

    /// Returns the node's error message: from its last row, or from the state file's annotation.
    pub fn error<'a>(&self, run: &'a Run) -> Option<&'a Text> {
        if let Some(row) = self.last_row {
            return run.executions.get(row as usize)?.error.as_ref();
        }
        let at = self.state_line? as usize;
        if let Some(file) = &run.state_file {
            return file.trace.get(at)?.annotation.as_ref()?.error.as_ref();
        }
        self.last_note(run).filter(|_| self.is_error(run))
    }

    /// Returns the block that the node calls, if it is a frame, or a branch that calls a block. The node's id is then
    /// the scope of the block's bindings.
    pub fn block<'a>(&'a self, run: &'a Run) -> Option<&'a str> {
        match &self.kind {
            NodeKind::Frame { block, .. } => Some(block),
            NodeKind::Branch { .. } => frame_block(run.executions.get(self.first_row? as usize)?),
            _ => None,
        }
    }

    /// Returns the note of the node's line in a compact log or a state file (a condition, a reason, a remark), unless
    /// the note is an error.
    pub fn remark<'a>(&self, run: &'a Run) -> Option<&'a Text> {
        if let Some(row) = self.last_row {
            let row = run.executions.get(row as usize)?;
            return row.meta.as_deref()?.said.as_ref();
        }
        if let Some(file) = &run.state_file {
            let line = file.trace.get(self.state_line? as usize)?;
            return line.annotation.as_ref()?.note.as_ref();
        }
        self.last_note(run).filter(|_| !self.is_error(run))
    }

    /// Whether the note of the node's line is an error. This is so if the node failed, or if the line is the log's end,
    /// whose note may explain the rejection of a gate.
    fn is_error(&self, run: &Run) -> bool {
        let end = run.log.as_ref().and_then(|log| log.trailer);
        self.status == NodeStatus::Failed || (end.is_some() && end == self.state_line)
    }

    /// Returns the word in brackets before the node's name in a compact log: `input`, `preflight`.
    pub fn tag<'a>(&self, run: &'a Run) -> Option<&'a str> {
        self.log_line(run)?.tag()
    }

    /// Whether the node is an input or a check of the environment, recorded before the first statement ran.
    pub fn is_given(&self, run: &Run, program: Option<&Listing>) -> bool {
        let own = self.sure_statement(program);
        self.log_line(run).is_some_and(LogLine::is_given)
            || own.is_some_and(|own| own.kind == StatementKind::Input)
    }

    /// Returns whether the node's condition held, if a compact log records that.
    pub fn held(&self, run: &Run) -> Option<bool> {
        self.log_line(run)?.held
    }

    fn last_note<'a>(&self, run: &'a Run) -> Option<&'a Text> {
        self.log_line(run)?.note.as_ref()
    }

    fn log_line<'a>(&self, run: &'a Run) -> Option<&'a LogLine> {
        let log = run.log.as_ref().filter(|_| run.state_file.is_none())?;
        log.lines.get(self.state_line? as usize)
    }
}

/// The kind of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum NodeKind {
    /// A session, a resume, an exec, or any other statement that is none of the constructs below.
    Statement,
    /// A parallel block.
    Parallel,
    /// A branch of a parallel block.
    Branch {
        /// The name of the branch.
        branch: Text,
    },
    /// A loop, repeat or for.
    Loop,
    /// A round of a loop.
    Round {
        /// The number of the round, from 1.
        n: u32,
    },
    /// A call of a block. The node's id is the scope of the frame's bindings (errata T6).
    Frame {
        /// The name of the block.
        block: Text,
        /// The number of frames above this frame, plus one.
        depth: u32,
    },
    /// An approval gate.
    Gate {
        /// The id of the gate.
        gate: Text,
    },
}

impl Node {
    /// Whether the node failed and was not recovered.
    pub fn has_failed(&self) -> bool {
        self.status == NodeStatus::Failed && !self.recovered
    }
}

impl NodeKind {
    /// Returns the kind's word: `statement`, `parallel`, `branch`, `loop`, `round`, `frame`, `gate`.
    pub fn word(&self) -> &'static str {
        match self {
            NodeKind::Statement => "statement",
            NodeKind::Parallel => "parallel",
            NodeKind::Branch { .. } => "branch",
            NodeKind::Loop => "loop",
            NodeKind::Round { .. } => "round",
            NodeKind::Frame { .. } => "frame",
            NodeKind::Gate { .. } => "gate",
        }
    }
}

/// The status of a node (errata T7): the words of rows and gates, and derived words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeStatus {
    /// Announced, not started.
    Pending,
    /// Under way.
    Executing,
    /// The node was entered, and its end is not recorded.
    Started,
    /// The node waits for another node (a gate, a called frame).
    Waiting,
    /// A loop between rounds.
    Iteration,
    /// Another attempt is under way.
    Retry,
    /// The node is done; `joined` and `exited` count as completed too.
    Completed,
    /// Ended with an error.
    Failed,
    /// Not executed.
    Skipped,
    /// A gate that was approved.
    Approved,
    /// A gate that was rejected.
    Rejected,
    /// A gate whose deadline passed.
    Timeout,
    /// The node was never closed, although the run finished (derived).
    Abandoned,
    /// The round was running when its loop was left, and nothing failed in it (derived). Shown as `cut off`.
    CutOff,
    /// Nothing that the node reads had changed, so nothing ran, and its values stand.
    Unchanged,
    /// The node started, but its end is not recorded, and the run may be over (derived).
    Unknown,
    /// A status word unknown to OpenProse, as written.
    Other(Text),
}

impl NodeStatus {
    /// The statuses that have a word of their own.
    pub const KNOWN: [NodeStatus; 16] = [
        NodeStatus::Pending,
        NodeStatus::Executing,
        NodeStatus::Started,
        NodeStatus::Waiting,
        NodeStatus::Iteration,
        NodeStatus::Retry,
        NodeStatus::Completed,
        NodeStatus::Failed,
        NodeStatus::Skipped,
        NodeStatus::Approved,
        NodeStatus::Rejected,
        NodeStatus::Timeout,
        NodeStatus::Abandoned,
        NodeStatus::CutOff,
        NodeStatus::Unchanged,
        NodeStatus::Unknown,
    ];

    /// Returns the word that users see, such as `cut off`.
    pub fn word(&self) -> &str {
        match self {
            NodeStatus::Pending => "pending",
            NodeStatus::Executing => "executing",
            NodeStatus::Started => "started",
            NodeStatus::Waiting => "waiting",
            NodeStatus::Iteration => "iteration",
            NodeStatus::Retry => "retry",
            NodeStatus::Completed => "completed",
            NodeStatus::Failed => "failed",
            NodeStatus::Skipped => "skipped",
            NodeStatus::Approved => "approved",
            NodeStatus::Rejected => "rejected",
            NodeStatus::Timeout => "timeout",
            NodeStatus::Abandoned => "abandoned",
            NodeStatus::CutOff => "cut off",
            NodeStatus::Unchanged => "unchanged",
            NodeStatus::Unknown => "unknown",
            NodeStatus::Other(word) => word,
        }
    }

    /// Whether a node with this status is open, so that it may be a position.
    pub fn is_open(&self) -> bool {
        matches!(
            self,
            NodeStatus::Pending
                | NodeStatus::Executing
                | NodeStatus::Started
                | NodeStatus::Waiting
                | NodeStatus::Iteration
                | NodeStatus::Retry
                | NodeStatus::Other(_)
        )
    }
}

/// The status of the run that Prosescope believes, and why (errata T10).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The status as a word: `completed`, `failed`, `interrupted`, `waiting`, `running`, or a recorded word unknown to
    /// OpenProse.
    pub status: String,
    /// The source that gave the status: `run row`, `state file`, `pending gate at every position`, `open rows`, ….
    pub source: String,
    /// Why the run has this status, in one sentence, such as `running, no sign of life for 3 d`. If the sources
    /// disagree, the sentence explains why `source` was preferred.
    pub reason: String,
    /// The latest time that any row or file of the run records.
    pub last_sign: Option<Stamp>,
    /// The record that contains the time of the last sign: `execution 31`, `binding a`, `state file`.
    pub last_sign_from: Option<String>,
    /// Whether a running run has had no sign of life for a day (derived, never written).
    pub stale: bool,
    /// If the sources disagree: each source, and the status that it records. Otherwise empty.
    pub claims: Vec<(String, String)>,
}

impl Verdict {
    /// Returns the run's most likely status, `unknown` without any record.
    pub fn word(&self) -> &str {
        match self.status.as_str() {
            "" => "unknown",
            word => word,
        }
    }
}
