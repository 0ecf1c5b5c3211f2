//! Recording a run: what a command writes, computed without I/O (docs/contribute/errata.md).
//!
//! ```text
//! command ──► Record::plan(facts, at) ──► changes ──► RunStore: all of them in one transaction, or none
//!                      │ asks for rows by key                     SQLite, folder, later PostgreSQL
//!                      └─────────── Facts ◄───────────────────────┘
//! ```
//!
//! A command is a struct that implements [`Record`]: it asks [`Facts`] for the few rows that it must know, refuses
//! or says which [`Change`]s to make, and what to tell the caller. The n-th write costs what the first one does: no
//! plan reads a history. A store applies changes; it never decides. [`record`] ties the two together.
//!
//! | file | commands |
//! |---|---|
//! | `begin.rs`, `close.rs`, `retry.rs`, `skip.rs` | `exec begin/run`, `exec complete/fail/skip`, `exec retry`, `exec skip --line` |
//! | `parallel.rs`, `rounds.rs` | `parallel …`, `loop …` |
//! | `put.rs` | `put` |
//! | `agent.rs`, `import.rs` | `agent memory set`, `agent segment add`, `import add` |
//! | `next/` | `next`, which asks and writes nothing |
//! | `run.rs` | `finish`, `resume --begin` |
//! | `gate/` | `gate …`, `approve`, `reject`, `gates expire` |
//!
//! What they share:
//!
//! | file | says |
//! |---|---|
//! | `source.rs`, `task.rs`, `given/` | what the program says of a statement, what a session is to do, and which values it is given |
//! | `recorded.rs` | what a command tells its caller |
//! | `standing.rs`, `place.rs`, `item.rs` | what stands open, what that holds back, and where a statement runs |
//! | `order.rs` | what begins against the order of the program |
//! | `insist.rs` | `--force` and `--override`, and how they are recorded |
//! | `overlay.rs` | several commands planned as one |
//! | `instance.rs`, `meta.rs`, `names.rs` | rows of one thing, keys of metadata, what a name may be |
//!
//! `adopt.rs` makes events of a state.md that was written by hand. `state.rs` renders the state.md of a folder that is written to.

mod adopt;
mod agent;
mod at;
mod begin;
mod close;
mod error;
mod facts;
mod gate;
pub(crate) mod given;
mod import;
mod insist;
mod instance;
mod item;
mod meta;
pub mod names;
mod next;
mod order;
mod overlay;
mod parallel;
mod place;
mod put;
mod recorded;
mod retry;
mod rounds;
mod run;
mod skip;
mod source;
mod standing;
mod state;
mod task;
#[cfg(test)]
mod tests;

pub use crate::change::{
    AgentRow, AttachmentFile, AuditRow, BindingRow, Change, ExecutionRow, ExecutionUpdate,
    GateResolution, GateRow, ImportRow, MemoryRow, NestedRun, RunChange, SegmentRow,
};
pub use crate::change::{Content, FileChange, JOURNAL, Staged};
pub use adopt::first_events;
pub use agent::{AddSegment, Remember};
pub use at::{At, at_text};
pub use begin::{Begin, Run};
pub use close::{Close, How};
pub use error::{Fault, FaultKind, WriteError};
pub use facts::{AgentFact, AuditTail, BindingFact, Facts, ImportFact, Place, RunFact, Style};
pub use gate::{
    CreateGate, DecideAsSeen, Decision, ExpireGates, ResolveGate, Resolved, ViewGate, principal,
};
pub use import::AddImport;
pub use insist::Insist;
pub use next::{NextChoice, NextView, next};
pub use parallel::{BeginParallel, Branch, Join, RunParallel};
pub use put::{LARGE, Put};
pub use recorded::{
    AgentWritten, AttemptBegun, BindingWritten, BranchStatus, DecidedOnCopy, ExecutionBegun,
    ExecutionEnded, GateDecided, GateOpened, GateTimedOut, ImportRegistered, LoopRounds,
    ParallelJoined, ParallelRunning, RunFinished, RunOpened,
};
pub use retry::Retry;
pub use rounds::{BeginLoop, ExitLoop, Iterate};
pub use run::{Finish, Reopen};
pub use skip::Skip;
pub use source::Named;
pub use state::{FolderState, folder_state};

/// A command that records something.
pub trait Record {
    /// What the caller is told.
    type Done;

    /// What to change, by what the store holds now. Asked inside of the store's transaction: between this and the
    /// changes nobody else writes.
    ///
    /// # Errors
    /// [`WriteError::Refused`] when a rule says no, [`WriteError::NotFound`] for what is not there: nothing is
    /// changed then. [`WriteError::Fault`] when the store could not answer.
    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Self::Done>, WriteError>;
}

/// What a command comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan<D> {
    /// What to write, in this order.
    pub changes: Vec<Change>,
    /// What to tell the caller once it is written.
    pub done: D,
}

/// Several commands as one: all of them are recorded, or none.
impl<R: Record> Record for Vec<R> {
    type Done = Vec<R::Done>;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Self::Done>, WriteError> {
        let mut all = overlay::Overlay::new(facts);
        let done: Result<Vec<_>, _> = self.iter().map(|one| all.plan(one, at)).collect();
        Ok(all.done(done?))
    }
}

/// What computes changes from facts: see [`RunStore::transact`].
pub type Work<'a> = &'a mut dyn FnMut(&dyn Facts) -> Result<Vec<Change>, WriteError>;

/// A place that keeps one run: it applies changes, and decides nothing.
///
/// What every store promises, and `store/tests/conformance` asks of it:
///
/// - **All or nothing.** Once [`RunStore::transact`] is `Ok`, every change is durable, whatever happens to the process or
///   the machine; else none of them is, and what was there is as it was, byte for byte.
/// - **One writer at a time**, other processes included: what `work` was told by [`Facts`] is still so when
///   its changes are applied. Of two that decide a gate at once, the second is asked after the first one's decision.
/// - **What was written is what is told**: by the next writer's [`Facts`], and by a [`crate::session::Session`], which
///   tells the same trace, bindings, agents, gates, audit log and imports of every store that got the same commands. A
///   value comes back byte for byte.
/// - **In order.** A reader never sees a change without those before it in the list: an attachment before the binding that
///   names it, an execution before its gate, an audit row before the gate that it speaks of.
/// - **Nothing is lost.** What a change replaces (a value, a memory) is kept as an earlier version; rows of the audit log
///   and attachments are never written over; what the store does not know of stays where it is.
/// - **The cost of a command** does not grow with what was recorded before.
/// - **Nothing leads out of the run**, whatever names and paths were put into it.
pub trait RunStore {
    /// Asks `work` what to change and applies it: all or nothing, durably, and one writer at a time. `work` may be
    /// asked again when the store had to start over. An error leaves everything as it was.
    ///
    /// # Errors
    /// What `work` said, or the [`Fault`] of the store.
    fn transact(&mut self, work: Work<'_>) -> Result<(), WriteError>;

    /// Returns, once, what went wrong after the last transaction was recorded: what is there may not survive a power
    /// failure, or is finished by the next writer.
    fn told(&mut self) -> Option<Fault> {
        None
    }
}

/// Records a command in a store. In a run whose audit log is gone nothing is recorded.
///
/// # Errors
/// See [`Record::plan`] and [`RunStore::transact`]; a [`Fault`] when the audit log is gone.
pub fn record<R: Record + ?Sized>(
    store: &mut dyn RunStore,
    command: &R,
    at: &At,
) -> Result<R::Done, WriteError> {
    let mut done = None;
    store.transact(&mut |facts| {
        gate::log_is_there(facts)?;
        let plan = command.plan(facts, at)?;
        done = Some(plan.done);
        Ok(plan.changes)
    })?;
    done.ok_or_else(|| Fault::new(FaultKind::Damaged, "the store asked for no plan").into())
}
