//! From records to what happened (errata T1 to T11, E1 to E9; cases: golden/trace.json and real.json).
//!
//! ```text
//! execution rows   ──► sweep, emit  ┐
//! a compact log    ──► lower/log    ├─► a story: what happened, in order, and what each lies in ──► nodes ──► meaning
//! a state.md, disk ──► lower/state  ┘
//! ```
//!
//! Order is always by row id; times never order. No recursion on the stack: 100,000 levels are legal.
//!
//! | step | module | rules (docs/contribute/errata.md) |
//! |---|---|---|
//! | files to a story | `lower`, `align` | errata E1, E2, E6 |
//! | what a missing end means | `silence` | 7, 10 |
//! | rows to instances | `sweep`, `words`, `ties` | 1–4, and what lies in a loop's body (5) |
//! | parents, rounds, gates | `emit`, `parents`, `rounds`, `gates` | 4, 5, 11 |
//! | a story to nodes in preorder | `story`, `preorder` | 6, 7 |
//! | what it means | `finish`, `caught`, `ways`, `claims`, `verdict` | 7–10 |
//!
//! Where the rules are silent, this reads as follows:
//!
//! - A row that lost a part of what names it is still its construct's: an `exited` without metadata by its
//!   statement index, an `iteration` without its parent by its loop_id, a gate by `approve x:`.
//! - A row may carry a `loop_id` or `parallel_id` only to say where it runs: it is a statement in there.
//! - In place nothing says where a round ended: a statement that comes again begins the next pass, the last pass
//!   is the last round, and that is marked as inferred.
//! - A branch that its parallel went on without (`first`, `any`) is abandoned, also while the run goes on.
//! - An open row whose construct was closed by a later row is no position while there is any other; nor is a
//!   statement that is announced behind one that runs.
//! - A completed run has no first cause, whatever was tolerated in it. A failed one without a failed row was
//!   ended by the gate that was turned down last.
//! - A status word unknown to OpenProse stands open while the run does, and is kept when it is over.

mod align;
mod arena;
mod caught;
mod claims;
mod emit;
mod finish;
mod gates;
mod lower;
mod parents;
mod preorder;
mod rounds;
mod rows;
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

use crate::issue::Issue;
use crate::model::{CompactLog, Form, LogEvent, LogLine, Run, RunStatus, Text};
use crate::program::{Listing, Statement, StatementKind, TiedBy, scan};
use crate::time::Stamp;
use lower::disk::Stale;
use lower::facts::Facts;
use lower::state::Told;
use rows::Ledger;
use silence::Silence;

pub use arena::{NodeId, NodeSlice, Nodes};
pub(crate) use lower::disk::{named_round, round_of};
pub use shape::{Shape, frame_block, shape};
pub(crate) use shape::{branch_text, is_branch_text, may_hold_branches};
pub(crate) use verdict::{NOT_UNDERSTOOD, STATE_FILE, recorded};

/// Folds a run into what happened.
///
/// `program` is its scanned source, where it has one: it ties nodes to lines and decides what lies in a loop's
/// body and in a `try`. `now` is milliseconds since 1970: with it, a run without a sign of life for a day says so.
/// A run that keeps no execution rows is folded from its state file or its log, a folder without one from its bindings.
pub fn fold(run: &Run, program: Option<&Listing>, now: Option<i64>) -> Trace {
    let mut trace = folded(run, program, now);
    let before = run.remarks.iter().map(|line| (None, line.clone()));
    // Sections unknown to OpenProse stand behind the trace.
    let end = trace.nodes.next_key();
    let sections = run.state_file.iter().flat_map(|file| file.remarks());
    let behind = sections.map(|line| (Some(end), line));
    trace.remarks = before.chain(trace.remarks).chain(behind).collect();
    trace
}

fn folded(run: &Run, program: Option<&Listing>, now: Option<i64>) -> Trace {
    let folder = matches!(run.form, Form::Folder { .. });
    match (&run.log, &run.state_file) {
        _ if run.told_by_rows() => {}
        (Some(log), None) => return of_log(run, log, program, now),
        (_, Some(_)) => return of_state_file(run, program, now),
        _ if folder => return of_state_file(run, program, now),
        _ => {}
    }
    let mut ledger = Ledger::default();
    let rows = rows::Rows::new(&run.executions);
    let instances = sweep::sweep(
        &rows,
        &mut ties::Ties::new(program, &run.executions),
        gates::by_row(run),
    );
    let nodes = emit::nodes(run, program, &rows, instances, &mut ledger);
    let mut trace = finish::finish(run, program, nodes, verdict::recorded(run), now, ledger);
    trace
        .issues
        .extend(lower::state::beside::compare(run, program, &trace));
    trace.remarks = taken_up(run, &trace);
    trace
}

/// Where a run that had ended was taken up again: a remark after the row before.
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

/// Folds a compact log.
fn of_log(run: &Run, log: &CompactLog, program: Option<&Listing>, now: Option<i64>) -> Trace {
    let none = Listing::default();
    let listing = program.unwrap_or(&none);
    let mut ledger = Ledger::default();
    let facts = Facts::of(run, listing, &none, false, &mut ledger);
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

/// A remark that follows the marker of a round stands in that round.
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

/// What failed first without a message of its own has that of the log's end: `---error 2026-02-13T11:48:13Z Fix the tests.`
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

/// Folds a state file, or the bindings of a folder that has none. Without a program the lines of the file's trace are read
/// as one; then [`Node::line`] counts them. Where there is no trace either, the statements that bindings quote are all that
/// is known of what ran.
fn of_state_file(run: &Run, program: Option<&Listing>, now: Option<i64>) -> Trace {
    let told = source_of_trace(run);
    let unordered = program.is_none() && told.is_empty();
    let scanned = scan(&if unordered { quoted(run) } else { told });
    let listing = program.unwrap_or(&scanned);
    let mut ledger = Ledger::default();
    let mut told = Told::of(run, listing, &scanned, program.is_none(), &mut ledger);
    told.believe_gates(run);
    let stale = lower::disk::compare(run, &mut told, &mut ledger);
    let story = lower::state::lower(run, &told);
    let (mut nodes, _) = story.finish(run, Some(listing), &mut ledger);
    let claims = match unordered {
        // What else the program has is not known.
        true => verdict::recorded(run),
        false => claims::of(run, &told.facts, &nodes, &stale),
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

/// The statements that bindings quote and that did something, each once.
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

/// What is believed of how the run ended, or where it is.
fn ending(claims: &[verdict::Claim]) -> Option<RunStatus> {
    let claim = claims.get(verdict::believed(claims)?)?;
    Some(claim.status.clone())
}

/// The lines of the state file's trace as one text: what is read where there is no program.
pub(crate) fn source_of_trace(run: &Run) -> String {
    let mut text = String::new();
    for line in run.state_file.iter().flat_map(|file| &file.trace) {
        text.push_str(&line.text);
        text.push('\n');
    }
    text
}

/// The folded trace of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// All instances and rounds, in preorder: a node comes before its children, children in order.
    pub nodes: Nodes,
    /// The places where the run stands (errata T8), ascending. A set (errata X8).
    pub positions: Vec<NodeId>,
    /// The first cause of a failure (errata T9).
    pub first_cause: Option<NodeId>,
    /// What failed or was stopped because of it: failed ancestors from the inside out, then siblings in order.
    pub because_of: Vec<NodeId>,
    /// The status of the run, and who says so (errata T10).
    pub verdict: Verdict,
    /// Row id and node for the first row and all aliases, ascending by row id.
    pub by_row: Vec<(i64, NodeId)>,
    /// Node and index into the log's lines, ascending: which lines of a compact log tell of which node.
    pub told: Vec<(NodeId, u32)>,
    /// In which order it happened is not recorded: what ran is known from the bindings alone.
    pub unordered: bool,
    /// Lines of a log or a state file that record no statement, by the node that the line before speaks of: as the file
    /// has them. What stands behind all is of the node that would come next.
    pub remarks: Vec<(Option<NodeId>, Text)>,
    /// Orphans, cycles, contradicting parents, abandoned instances, rows and gates that disagree.
    pub issues: Vec<Issue>,
}

/// An instance (or a round, or an announced branch): one thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The id of its first row; `None` for a round and for a derived branch.
    pub id: Option<i64>,
    /// Its later rows (errata X7).
    pub aliases: Vec<i64>,
    /// What it is.
    pub kind: NodeKind,
    /// Its statement as the row has it, or the branch's, loop's or round's name.
    pub text: Text,
    /// Where it stands.
    pub status: NodeStatus,
    /// What it lies in.
    pub parent: Option<NodeId>,
    /// Levels below the root, 0 at the root.
    pub level: u32,
    /// Nodes below it, itself not counted: its subtree is what follows it, so many nodes.
    pub descendants: u32,
    /// Line in the program's source, from 1, where it is tied to one.
    pub line: Option<u32>,
    /// The tie to the line is a guess.
    pub line_guessed: bool,
    /// By what it is tied to the line, where that is known.
    pub line_by: Option<TiedBy>,
    /// Attempts, 1 without a retry.
    pub attempts: u32,
    /// The most attempts or rounds, where recorded.
    pub max: Option<u32>,
    /// Failed, but retried to success or caught (errata T9).
    pub recovered: bool,
    /// Its place in the tree was inferred, not recorded (errata T5).
    pub inferred: bool,
    /// No row says so: it follows from others (announced branches, abandoned status).
    pub derived: bool,
    /// Index into [`crate::model::Run::executions`] of its first row.
    pub first_row: Option<u32>,
    /// Index into [`crate::model::Run::executions`] of its last row.
    pub last_row: Option<u32>,
    /// Index into [`crate::model::StateFile::trace`] of the annotated line that tells of it, in a run that has a
    /// state file and no rows; of a run that a compact log tells of, into [`crate::model::CompactLog::lines`], the
    /// last that tells of it.
    pub state_line: Option<u32>,
}

impl Node {
    /// The statement of the program that it is tied to.
    pub(crate) fn statement<'l>(&self, program: Option<&'l Listing>) -> Option<&'l Statement> {
        program?.get(program?.begun_at(self.line?)?)
    }

    /// When it began and ended, as far as its first and last row record that.
    pub fn times<'r>(&self, run: &'r Run) -> (Option<&'r Stamp>, Option<&'r Stamp>) {
        let row = |row: Option<u32>| run.executions.get(row? as usize);
        let (first, last) = (row(self.first_row), row(self.last_row));
        let ended = last.and_then(|row| row.completed.as_ref());
        (
            first.and_then(|row| row.started.as_ref()),
            ended.or_else(|| first?.completed.as_ref()),
        )
    }

    /// The same in milliseconds since 1970 UTC, as far as the times are in UTC.
    pub(crate) fn worked(&self, run: &Run) -> (Option<i64>, Option<i64>) {
        let (from, to) = self.times(run);
        (from.and_then(Stamp::millis), to.and_then(Stamp::millis))
    }

    /// Its error message: that of its last row, else that of the state file's annotation.
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

    /// The block that it calls: its id is then the scope of what is bound in it. A branch may be such a call.
    pub fn block<'a>(&'a self, run: &'a Run) -> Option<&'a str> {
        match &self.kind {
            NodeKind::Frame { block, .. } => Some(block),
            NodeKind::Branch { .. } => frame_block(run.executions.get(self.first_row? as usize)?),
            _ => None,
        }
    }

    /// What a compact log says of it behind the marker, unless that is an error: a condition, a reason, a remark.
    pub fn remark<'a>(&self, run: &'a Run) -> Option<&'a Text> {
        self.last_note(run).filter(|_| !self.is_error(run))
    }

    /// Whether the note of its line says what went wrong; a gate's rejection may be explained by the end of the log.
    fn is_error(&self, run: &Run) -> bool {
        let end = run.log.as_ref().and_then(|log| log.trailer);
        self.status == NodeStatus::Failed || (end.is_some() && end == self.state_line)
    }

    /// What a compact log has in brackets before its name: `input`, `preflight`.
    pub fn tag<'a>(&self, run: &'a Run) -> Option<&'a str> {
        self.log_line(run)?.tag()
    }

    /// Whether it was there before the first statement ran, and is none itself: an input, a check of the surroundings.
    pub fn is_given(&self, run: &Run, program: Option<&Listing>) -> bool {
        let own = self.statement(program).filter(|_| !self.line_guessed);
        self.log_line(run).is_some_and(LogLine::is_given)
            || own.is_some_and(|own| own.kind == StatementKind::Input)
    }

    /// Whether its condition held, as a compact log says it.
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

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum NodeKind {
    /// A session, a resume, an exec: anything without a structure of its own.
    Statement,
    /// A parallel block.
    Parallel,
    /// A branch of a parallel.
    Branch {
        /// Its name.
        branch: Text,
    },
    /// A loop, repeat or for.
    Loop,
    /// A round of a loop.
    Round {
        /// Its number, from 1.
        n: u32,
    },
    /// An invocation of a block; its id is the scope of its bindings (errata T6).
    Frame {
        /// The block.
        block: Text,
        /// Depth, counted: frames above it, plus one.
        depth: u32,
    },
    /// An approval gate.
    Gate {
        /// Its id.
        gate: Text,
    },
}

impl Node {
    /// Whether it failed and nothing recovered that.
    pub fn has_failed(&self) -> bool {
        self.status == NodeStatus::Failed && !self.recovered
    }
}

impl NodeKind {
    /// `statement`, `parallel`, `branch`, `loop`, `round`, `frame`, `gate`.
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

/// Where a node stands (errata T7): the words of the rows, a gate's words, and two that are derived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeStatus {
    /// Announced, not begun.
    Pending,
    /// Under way.
    Executing,
    /// Entered, not left.
    Started,
    /// Waits for another (a gate, a frame it called).
    Waiting,
    /// A loop between rounds.
    Iteration,
    /// Another attempt is under way.
    Retry,
    /// Done; `joined` and `exited` read so too.
    Completed,
    /// Ended with an error.
    Failed,
    /// Passed over.
    Skipped,
    /// A gate that was approved.
    Approved,
    /// A gate that was rejected.
    Rejected,
    /// A gate whose deadline passed.
    Timeout,
    /// Never closed under a finished run (derived).
    Abandoned,
    /// A round that was under way when its loop was left, and in which nothing failed (derived). In words: `cut off`.
    CutOff,
    /// It began, and nothing says whether it ended (derived).
    Unknown,
    /// Another word, as written.
    Other(Text),
}

impl NodeStatus {
    /// Those with a word of their own.
    pub const KNOWN: [NodeStatus; 15] = [
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
        NodeStatus::Unknown,
    ];

    /// The word that a person reads.
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
            NodeStatus::Unknown => "unknown",
            NodeStatus::Other(word) => word,
        }
    }

    /// Whether it still stands open: it may be a position.
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

/// What is believed of the run's status, and why (errata T10).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// `completed`, `failed`, `interrupted`, `waiting`, `running`, or a recorded word unknown to OpenProse.
    pub status: String,
    /// Who says so: `run row`, `state file`, `pending gate at every position`, `open rows`, ….
    pub source: String,
    /// One sentence: `running, no sign of life for 3 d`, or why one source was believed over another.
    pub reason: String,
    /// The latest time in any row, else the file's.
    pub last_sign: Option<Stamp>,
    /// What `last_sign` was read from: `execution 31`, `bindings/a.md`, `the file's date`.
    pub last_sign_from: Option<String>,
    /// A day without a sign of life while running (derived, never written).
    pub stale: bool,
    /// What each source says, when they disagree: source and status.
    pub claims: Vec<(String, String)>,
}
