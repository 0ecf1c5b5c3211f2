use std::sync::Arc;

use super::{Status, Text, words};
use crate::time::Stamp;

/// One row of the `execution` table, or one event of a folder, in the order written.
///
/// Source: sqlite.md and sqlite-earlier.md, "Core Schema". Either dialect; which rows speak of the same thing
/// is decided by [`crate::trace`]. Columns unknown to OpenProse stay in the store and are shown by
/// [`crate::session::pages::node_detail`].
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// The row's id in its own store (errata B4).
    pub id: i64,
    /// `statement_index`: the documents count statements or lines, so it is a hint, not a line number.
    pub index: Option<i64>,
    /// `statement_text`, often shortened by its writer.
    pub text: Text,
    /// `status` as written.
    pub status: Status,
    /// `parent_id` as written: may be a statement index, an orphan, or part of a cycle (errata X2).
    pub parent: Option<i64>,
    /// When it began; rows of the append-only dialect carry none (errata X14).
    pub started: Option<Stamp>,
    /// When it ended.
    pub completed: Option<Stamp>,
    /// `error_message`.
    pub error: Option<Text>,
    /// The keys of `metadata` that the documents know. `None`: empty, absent or malformed (errata X13).
    pub meta: Option<Arc<Meta>>,
}

/// The keys of `execution.metadata` that the documents and [`crate::trace`] know, both spellings read
/// (errata F7). Identical metadata of many rows is held once.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Meta {
    /// Names the parallel block that a row speaks of.
    pub parallel_id: Option<Text>,
    /// The branch's name.
    pub branch: Option<Text>,
    /// Branches that a parallel announced.
    pub branches: Vec<Text>,
    /// `all`, `first`, `any`.
    pub strategy: Option<Text>,
    /// How many branches `any` waits for.
    pub count: Option<i64>,
    /// Names the loop that a row speaks of.
    pub loop_id: Option<Text>,
    /// `iteration`, or `current_iteration` of the in-place dialect.
    pub iteration: Option<i64>,
    /// `max` or `max_iterations` of a loop; `max` or `max_retries` of a retry.
    pub max: Option<i64>,
    /// A loop's condition, `**…**` as written.
    pub condition: Option<Text>,
    /// `attempt` or `retry_attempt`; the first try is attempt 1.
    pub attempt: Option<i64>,
    /// The gate that a row waits at.
    pub gate_id: Option<Text>,
    /// The block that the statement invokes: its instance is a frame.
    pub block: Option<Text>,
    /// Depth as the writer counted it; only compared (errata T6).
    pub depth: Option<i64>,
    /// Why a loop was left, or a statement skipped.
    pub reason: Option<Text>,
    /// Rules that the writer was forced past (`prosescope … --force`).
    pub forced: Vec<Text>,
    /// Whether something was recorded otherwise than the program says (`prosescope … --override`).
    pub overridden: bool,
    /// How the run had ended when it was taken up again: the row records nothing that the program runs.
    pub reopened: Option<Text>,
    /// The line in the program where its text alone does not tell it: written by our recorder, of each row by itself, as
    /// others may write to the same run.
    pub program_line: Option<i64>,
    /// The place in the chain of the audit log that the creation of its gate has: written by our recorder, so that a log that
    /// lost that row shows.
    pub audit_seq: Option<i64>,
    /// The binding that it wrote as its result (`prosescope put --done`, `prosescope exec complete`).
    pub binding: Option<Text>,
    /// The frame of that binding; `None` is the root.
    pub binding_scope: Option<i64>,
    /// Of a loop in place: its present round began with this id or a later one.
    pub round_from: Option<i64>,
    /// The in-place dialect's marker: `current_iteration` stands in the row that is updated.
    pub in_place: bool,
}

impl Execution {
    /// Whether nothing follows it. What was skipped because it is *deferred* goes on later (errata T2).
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

    /// Whether the row opens an instance that may not be over: its status is an opening word (errata T0), and no
    /// end was written into it.
    pub fn opens(&self) -> bool {
        self.status.opens() && self.completed.is_none()
    }
}
