use std::sync::Arc;

use super::{Status, Text, words};
use crate::model::time::Stamp;

/// A row of the table `execution`, or an event in a folder's log.
///
/// Source: sqlite.md and sqlite-earlier.md, "Core Schema". Rows of both dialects have this type; [`crate::trace`]
/// groups the rows of one execution. Columns that OpenProse does not define are not read;
/// [`crate::pages::session::pages::node_detail`] shows those.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// The row's id in its own store (errata B4).
    pub id: i64,
    /// The column `statement_index`. It is only a hint: OpenProse's texts sometimes count statements, sometimes lines.
    pub index: Option<i64>,
    /// The column `statement_text`, which writers often shorten.
    pub text: Text,
    /// The column `status` as written.
    pub status: Status,
    /// The column `parent_id` as written: it may be a statement index, an orphan, or part of a cycle (errata X2).
    pub parent: Option<i64>,
    /// When the execution began; rows of the append-only dialect have no start time (errata X14).
    pub started: Option<Stamp>,
    /// When the execution ended; `None` if it has not ended or if no end is recorded.
    pub completed: Option<Stamp>,
    /// The column `error_message`.
    pub error: Option<Text>,
    /// The known keys of `metadata`; `None` if it is empty, absent or malformed (errata X13).
    pub meta: Option<Arc<Meta>>,
}

/// A state that an execution had. Only a store that updates rows in place keeps states apart from the rows: the table
/// `x_events` in PostgreSQL (errata P3).
#[derive(Debug, Clone, PartialEq)]
pub struct ExecutionState {
    /// The event's place in the order of all events of the run.
    pub order: i64,
    /// The row that the append-only dialect has for the event. Its id is the execution's; it has no text.
    pub row: Execution,
}

/// The keys of `execution.metadata` that OpenProse or Prosescope defines. If a key has two spellings, both are read
/// (errata F7). Rows with identical metadata share one instance.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Meta {
    /// The id of the parallel block to which the row belongs.
    pub parallel_id: Option<Text>,
    /// The branch's name.
    pub branch: Option<Text>,
    /// The branches that a parallel block announced.
    pub branches: Vec<Text>,
    /// The strategy of a parallel block: `all`, `first` or `any`.
    pub strategy: Option<Text>,
    /// The number of branches that a parallel block with the strategy `any` waits for.
    pub count: Option<i64>,
    /// The id of the loop to which the row belongs.
    pub loop_id: Option<Text>,
    /// The key `iteration`, or `current_iteration` in the in-place dialect: the round of a loop.
    pub iteration: Option<i64>,
    /// The maximum number of rounds of a loop (key `max` or `max_iterations`), or of attempts (`max` or `max_retries`).
    pub max: Option<i64>,
    /// The condition of a loop, `**…**` as written.
    pub condition: Option<Text>,
    /// The key `attempt` or `retry_attempt`; the first try is attempt 1.
    pub attempt: Option<i64>,
    /// The id of the gate at which the row waits.
    pub gate_id: Option<Text>,
    /// The name of the block that the statement calls. The call is a frame.
    pub block: Option<Text>,
    /// The depth of nested frames, as the writer counted it. It is only compared with the depth that Prosescope
    /// computes (errata T6).
    pub depth: Option<i64>,
    /// The reason why a loop was left or a statement skipped.
    pub reason: Option<Text>,
    /// The rules that the user overrode with `prosescope … --force`.
    pub forced: Vec<Text>,
    /// Whether the record deliberately differs from the program (`prosescope … --override`).
    pub overridden: bool,
    /// The run's earlier final status, in the row that reopens the run. Such a row does not record a statement.
    pub reopened: Option<Text>,
    /// The statement's line in the program. Prosescope records it if several statements have the row's text. Each row
    /// carries its line, because other programs may write to the same run.
    pub program_line: Option<i64>,
    /// The position of the gate's creation in the chain of the audit log, in rows of Prosescope's recorder. If that
    /// audit row is missing, this position proves the loss.
    pub audit_seq: Option<i64>,
    /// The binding that the statement wrote as its result (`prosescope put`, `prosescope end`).
    pub binding: Option<Text>,
    /// The frame of the binding whose name is in `binding`; `None` is the root.
    pub binding_scope: Option<i64>,
    /// For a loop in the in-place dialect: the id of the first execution in the loop's current round.
    pub round_from: Option<i64>,
    /// What a receipt says besides its status: why the node ran, what it reads and changed, its tokens.
    pub said: Option<Text>,
    /// Whether the row is of the in-place dialect, in which each round updates `current_iteration` in the same row.
    pub in_place: bool,
}

impl ExecutionState {
    /// Returns an event of an execution, with the time as the append-only dialect records it: of a beginning or an end.
    pub(crate) fn new(
        order: i64,
        execution: i64,
        status: Status,
        at: Option<Stamp>,
        error: Option<Text>,
        meta: Option<Arc<Meta>>,
    ) -> ExecutionState {
        let ends = status.is_terminal() || status == Status::Iteration;
        let (started, completed) = if ends { (None, at) } else { (at, None) };
        let row = Execution {
            started,
            completed,
            error,
            meta,
            ..Execution::new(execution, status)
        };
        ExecutionState { order, row }
    }
}

impl Meta {
    /// Returns the metadata after an update that sets the keys of `new`; the other keys stay.
    pub(crate) fn with(self, new: &Meta) -> Meta {
        Meta {
            parallel_id: new.parallel_id.clone().or(self.parallel_id),
            branch: new.branch.clone().or(self.branch),
            branches: if new.branches.is_empty() {
                self.branches
            } else {
                new.branches.clone()
            },
            strategy: new.strategy.clone().or(self.strategy),
            count: new.count.or(self.count),
            loop_id: new.loop_id.clone().or(self.loop_id),
            iteration: new.iteration.or(self.iteration),
            max: new.max.or(self.max),
            condition: new.condition.clone().or(self.condition),
            attempt: new.attempt.or(self.attempt),
            gate_id: new.gate_id.clone().or(self.gate_id),
            block: new.block.clone().or(self.block),
            depth: new.depth.or(self.depth),
            reason: new.reason.clone().or(self.reason),
            forced: if new.forced.is_empty() {
                self.forced
            } else {
                new.forced.clone()
            },
            overridden: new.overridden || self.overridden,
            reopened: new.reopened.clone().or(self.reopened),
            program_line: new.program_line.or(self.program_line),
            audit_seq: new.audit_seq.or(self.audit_seq),
            binding: new.binding.clone().or(self.binding),
            binding_scope: new.binding_scope.or(self.binding_scope),
            round_from: new.round_from.or(self.round_from),
            said: new.said.clone().or(self.said),
            in_place: new.in_place || self.in_place,
        }
    }
}

impl Execution {
    /// Returns a row that records only a status.
    pub fn new(id: i64, status: Status) -> Execution {
        Execution {
            id,
            index: None,
            text: Text::default(),
            status,
            parent: None,
            started: None,
            completed: None,
            error: None,
            meta: None,
        }
    }

    /// Returns whether the execution is over. A *deferred* statement is not over: its status is skipped, but it
    /// continues later (errata T2).
    pub fn is_over(&self) -> bool {
        self.status.is_terminal() && !(self.status == Status::Skipped && self.is_deferred())
    }

    fn is_deferred(&self) -> bool {
        let reason = self.meta.as_deref().and_then(|meta| meta.reason.as_deref());
        [self.error.as_deref(), reason]
            .into_iter()
            .flatten()
            .any(words::says_deferred)
    }

    /// Returns whether the row starts an instance (one run of a statement) that may still be open: its status is an
    /// opening word (errata T0), and it records no end.
    pub fn opens(&self) -> bool {
        self.status.opens() && self.completed.is_none()
    }
}
