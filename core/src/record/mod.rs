//! Computes the changes of each recording command, without I/O (docs/contribute/errata.md).
//!
//! ```text
//! RunStore: reads the run ──► Facts ──► Record::plan(facts, at) ──► changes ──► RunStore: all of them, or none
//! ```
//!
//! A command is a struct that implements [`Record`]. The store reads the run as every reader does, and the command
//! decides on these [`Facts`]: it either refuses, or returns [`Change`]s and a result for the caller. A store reads
//! rows and applies changes; it never decides. [`record`] connects the two.
//!
//! | file | commands |
//! |---|---|
//! | `begin.rs`, `close.rs`, `rounds.rs`, `retry.rs`, `skip.rs` | `begin`; `end`, `fail`; `round`; `retry`; `skip` |
//! | `put.rs` | `put` |
//! | `agent.rs`, `import.rs` | `agent memory set`, `agent segment add`, `begin` of a `use` |
//! | `next/` | `next`, which does not write |
//! | `run.rs` | `finish`, `resume --begin` |
//! | `gate/` | `gate …`, `approve`, `reject`, `gates expire` |
//!
//! Shared parts:
//!
//! | file | answers |
//! |---|---|
//! | `source.rs`, `task.rs`, `inputs/` | what does the program state about a statement; what is a session's task, and which values does it get? |
//! | `recorded.rs` | what does a command return to its caller? |
//! | `entry.rs`, `parallel.rs` | may a statement begin; which branches does a parallel have, and may it be joined? |
//! | `open_executions.rs`, `place.rs`, `item.rs` | what is open, what does it block, and where does a statement run? |
//! | `order.rs` | which statements begin out of the program's order? |
//! | `insist.rs` | how are `--force` and `--override` recorded? |
//! | `steps.rs` | how are several commands planned as one? |
//! | `instance.rs`, `meta.rs`, `names.rs` | which rows are one instance; which metadata keys and which names are valid? |
//!
//! `adopt.rs` converts a hand-written state.md into events. `state.rs` renders the state.md of a folder that is being
//! recorded.

mod adopt;
mod agent;
mod apply;
mod at;
mod begin;
mod end;
mod entry;
mod error;
mod facts;
mod gate;
mod import;
pub(crate) mod inputs;
mod insist;
mod instance;
mod item;
mod meta;
pub mod names;
mod next;
mod open_executions;
mod order;
mod parallel;
mod place;
mod put;
mod recorded;
pub mod render;
mod retry;
mod rounds;
mod run;
mod skip;
mod source;
mod state;
mod steps;
mod task;
#[cfg(test)]
pub(crate) mod tests;

pub use crate::model::change::{
    AgentRow, AttachmentFile, AuditRow, BindingRow, Change, ExecutionRow, ExecutionUpdate,
    GateResolution, GateRow, ImportRow, MemoryRow, NestedRun, RunChange, SegmentRow,
};
pub use crate::model::change::{FileChange, JOURNAL, StagedBytes, ValueBytes};
pub use adopt::{StateFileRows, first_events};
pub(crate) use adopt::{node_numbered, rows_of_state_file};
pub use agent::{AddSegment, Remember};
pub use at::{At, at_text};
pub use begin::{Begin, Begun};
pub use end::{End, EndedPart, Fail};
pub use error::{Fault, FaultKind, WriteError};
pub(crate) use facts::StatementPlace;
pub use facts::{AgentFact, Facts, Shelf, Style};
use facts::{ImportFact, RunFact};
pub use gate::{
    CreateGate, DecideAsSeen, Decision, ExpireGates, ResolveGate, ResolveResult, ViewGate,
    principal,
};
pub use import::AddImport;
pub use insist::Insist;
pub use next::{NextChoice, NextPlace, NextView};
pub(crate) use next::{next, stands};
pub use put::{LARGE, Put};
pub use recorded::{
    AgentWritten, AttemptBegun, BindingWritten, BranchStatus, ExecutionBegun, ExecutionEnded,
    GateDecided, GateOpened, GateTimedOut, ImportRegistered, LoopRounds, ParallelJoined,
    ParallelRunning, RunFinished, RunOpened,
};
pub use retry::Retry;
pub use rounds::Round;
pub use run::{Finish, Reopen};
pub use skip::Skip;
pub use source::StatementRef;
pub use state::folder_state;

/// A command that records an event.
pub trait Record {
    /// The result that the command returns to its caller.
    type Done;

    /// Returns the changes, based on the current content of the store. Called inside the store's transaction: until the
    /// changes are applied, other writers have to wait.
    ///
    /// # Errors
    /// [`WriteError::Refused`] if a rule refuses, [`WriteError::NotFound`] if a named thing does not exist,
    /// [`WriteError::Fault`] if the store could not answer. In all cases the store stays unchanged.
    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<Self::Done>, WriteError>;
}

/// The changes that a command writes, and the result that the command returns to its caller.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandPlan<D> {
    /// The changes to apply, in this order.
    pub changes: Vec<Change>,
    /// The result for the caller, valid once the changes are written.
    pub done: D,
}

impl<D> CommandPlan<D> {
    /// Returns the same plan with another result.
    fn map<E>(self, into: impl FnOnce(D) -> E) -> CommandPlan<E> {
        CommandPlan {
            changes: self.changes,
            done: into(self.done),
        }
    }
}

/// Plans several commands as one: either all of them are recorded, or none.
impl<R: Record> Record for Vec<R> {
    type Done = Vec<R::Done>;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<Self::Done>, WriteError> {
        let mut all = steps::Steps::new(facts);
        let done: Result<Vec<_>, _> = self.iter().map(|one| all.plan(one, at)).collect();
        Ok(all.done(done?))
    }
}

/// A function that computes changes from facts; see [`RunStore::transact`].
pub type Work<'a> = &'a mut dyn FnMut(&Facts<'_>) -> Result<Vec<Change>, WriteError>;

/// A store of one run: it applies changes and never decides.
///
/// The guarantees of every store, tested by `store/tests/conformance`:
///
/// - **All or nothing.** Once [`RunStore::transact`] is `Ok`, every change is durable, even if the process or the
///   machine then crashes. Otherwise no change is applied, and the store is unchanged, byte for byte.
/// - **One writer at a time**, across processes: the answers of [`Facts`] to `work` are still true when its changes are
///   applied. Of two commands that decide a gate at once, the second one sees the first one's decision.
/// - **Reading returns exactly what was written**, through the next writer's [`Facts`] and through a
///   [`crate::pages::session::Session`]. A session has the same trace, bindings, agents, gates, audit log and imports
///   for every store that got the same commands. A value comes back byte for byte.
/// - **In order.** A reader never sees a change without the earlier changes of the list: an attachment is visible
///   before the binding that names it, an execution before its gate, an audit row before the gate that it is about.
/// - **No data is lost.** Replaced values and memories are kept as earlier versions; rows of the audit log and
///   attachments are never overwritten; unknown files and tables stay in place.
/// - **The cost of a command** is that of reading the run, which `show` does too, and of one durable write.
/// - **No path leads out of the run**, whatever names and paths the run contains.
pub trait RunStore {
    /// Calls `work` for the changes and applies them: all or none, durably, and one writer at a time. A store that has
    /// to start over calls `work` again. An error leaves everything unchanged.
    ///
    /// # Errors
    /// The error of `work`, or the [`Fault`] of the store.
    fn transact(&mut self, work: Work<'_>) -> Result<(), WriteError>;

    /// Returns the fault that occurred after the last transaction was recorded; a second call returns `None`. After
    /// such a fault, the transaction may not survive a power failure, or the next writer has to finish the transaction.
    fn late_fault(&mut self) -> Option<Fault> {
        None
    }
}

/// Records a command in a store. Refuses a run whose audit log is missing, and a folder of another form.
///
/// # Errors
/// See [`Record::plan`] and [`RunStore::transact`]; a [`Fault`] if the audit log is missing.
pub fn record<R: Record + ?Sized>(
    store: &mut dyn RunStore,
    command: &R,
    at: &At,
) -> Result<R::Done, WriteError> {
    let mut done = None;
    store.transact(&mut |facts| {
        facts.takes_records()?;
        gate::log_is_there(facts)?;
        let plan = command.plan(facts, at)?;
        done = Some(plan.done);
        Ok(plan.changes)
    })?;
    done.ok_or_else(|| Fault::new(FaultKind::Damaged, "the store asked for no plan").into())
}
