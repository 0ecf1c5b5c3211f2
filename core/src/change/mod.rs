//! The changes of a command, as data: computed by [`crate::write`], applied by a store, kept in a folder's journal, or
//! written into files.

mod columns;
mod content;
mod journal;

use serde_json::{Map, Value};

pub use columns::{Columns, Stored};
pub use content::{Content, Staged};
pub use journal::{FileChange, JOURNAL};

/// One change to write. Rows contain their ids, because a plan allocates them inside the transaction. Times are texts
/// in the format of the store's [`crate::write::Style`]; `None` becomes NULL, or is left out of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The run's own row, or the head of its state file.
    Run(RunChange),
    /// A new execution row, or line of `x_events.jsonl`.
    Execution(ExecutionRow),
    /// Updates an execution row, in the in-place style.
    UpdateExecution(ExecutionUpdate),
    /// A file in `attachments/`. It is written before the row that names it, and never replaces another file.
    Attachment(AttachmentFile),
    /// Writes a binding; an earlier value of the same name and frame is kept as history (errata B6).
    Binding(BindingRow),
    /// Registers an agent copied from another store, before its memories and segments; a folder has no place for this
    /// row.
    Agent(AgentRow),
    /// Writes an agent's memory; the earlier memory is kept as history (errata A1).
    Memory(MemoryRow),
    /// An agent's segment; the first segment also registers the agent (errata A1).
    Segment(SegmentRow),
    /// Registers an import, or updates its registration.
    Import(ImportRow),
    /// A new gate.
    Gate(GateRow),
    /// Decides a pending gate.
    ResolveGate(GateResolution),
    /// A row of the audit log; it is written before the change that it records (errata G7).
    Audit(AuditRow),
}

/// A change of the run itself; always sets `updated_at` (errata X15).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunChange {
    /// The new status word; `None` leaves it.
    pub status: Option<String>,
    /// `updated_at`.
    pub updated: String,
}

/// A row of `execution`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExecutionRow {
    /// Its id.
    pub id: i64,
    /// `statement_index`: the statement's line in the program.
    pub index: Option<i64>,
    /// `statement_text`.
    pub text: String,
    /// The status word.
    pub status: String,
    /// `started_at`.
    pub started: Option<String>,
    /// `completed_at`.
    pub completed: Option<String>,
    /// `error_message`.
    pub error: Option<String>,
    /// `parent_id`: a row id (errata X2).
    pub parent: Option<i64>,
    /// `metadata`; empty is NULL.
    pub metadata: Map<String, Value>,
}

/// An update of an execution row (sqlite-earlier.md).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExecutionUpdate {
    /// The row.
    pub id: i64,
    /// The status word; `None` leaves it.
    pub status: Option<String>,
    /// `completed_at`; `Some(None)` makes it NULL (a retry).
    pub completed: Option<Option<String>>,
    /// `error_message`; `Some(None)` makes it NULL.
    pub error: Option<Option<String>>,
    /// Keys of `metadata` to set; the others stay (errata X12: also where it is NULL).
    pub metadata: Map<String, Value>,
}

/// A file of `attachments/`, or the program of an import in `imports/{handle}--{slug}/`.
#[derive(Debug, Clone, PartialEq)]
pub struct AttachmentFile {
    /// Inside the run's folder, plain components.
    pub path: String,
    /// Its content.
    pub content: Content,
}

/// A row of `bindings`, or a file of `bindings/`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BindingRow {
    /// Its name.
    pub name: String,
    /// Its frame, `None` for the root.
    pub execution_id: Option<i64>,
    /// The frame around its frame. In a folder, the header of the binding records it (errata F2); in a database, its
    /// row does if no row of `execution` does.
    pub parent_execution_id: Option<i64>,
    /// Its kind, in a word.
    pub kind: String,
    /// The value, or the summary of an attachment.
    pub value: String,
    /// The statement that wrote it.
    pub source: Option<String>,
    /// The attachment that holds the value.
    pub attachment: Option<String>,
    /// Time of writing; empty if unknown.
    pub at: String,
    /// Time of the first writing, if it may differ from `at` and no earlier value is kept; empty if unknown.
    pub created: Option<String>,
}

/// A row of `agents` without its memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentRow {
    /// The agent.
    pub agent: String,
    /// Its scope, in a word.
    pub scope: String,
    /// Time of registration; empty if unknown.
    pub created: String,
    /// Time of the last change of the memory; empty if unknown.
    pub updated: String,
}

/// A memory, in `agents` or `memory.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRow {
    /// The agent.
    pub agent: String,
    /// Its scope, in a word.
    pub scope: String,
    /// The memory.
    pub memory: String,
    /// Time of writing.
    pub at: String,
}

/// A row of `agent_segments`, or a file `{agent}-{number}.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentRow {
    /// The agent.
    pub agent: String,
    /// Its scope, in a word.
    pub scope: String,
    /// Its number, from 1.
    pub number: i64,
    /// Time of recording.
    pub at: String,
    /// The prompt.
    pub prompt: String,
    /// A summary of the agent's work.
    pub summary: String,
}

/// A row of `imports`; a folder records an import by its nested run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportRow {
    /// The handle.
    pub alias: String,
    /// The address of the imported program.
    pub source_url: String,
    /// When it was fetched.
    pub fetched: String,
    /// JSON.
    pub inputs_schema: Option<String>,
    /// JSON.
    pub outputs_schema: Option<String>,
    /// The nested run to create with the import; only in a folder, and only if the run does not exist yet.
    pub nested: Option<NestedRun>,
}

/// The run of an import, before anything is recorded in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NestedRun {
    /// Its folder inside the run's, `imports/{handle}--{slug}`.
    pub place: String,
    /// Its program's name.
    pub name: String,
    /// Its program's text.
    pub program: String,
}

/// A row of `gates`, or `gates/{id}.pending.json`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GateRow {
    /// Its id; `id#2` if the program reaches the same gate a second time (errata G1).
    pub id: String,
    /// The run.
    pub run_id: String,
    /// The execution row that waits at the gate; it is written before the gate (errata G2).
    pub execution_id: Option<i64>,
    /// The question to the approver.
    pub prompt: Option<String>,
    /// A JSON list of principals.
    pub allow: String,
    /// The duration as it was given.
    pub timeout: Option<String>,
    /// The deadline (errata G5).
    pub timeout_at: Option<String>,
    /// The program's action on a rejection.
    pub on_reject: Option<String>,
    /// Time of creation.
    pub created: String,
    /// Further keys; empty becomes NULL.
    pub metadata: Map<String, Value>,
}

/// The decision of a gate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GateResolution {
    /// The gate.
    pub id: String,
    /// The run.
    pub run_id: String,
    /// `approved`, `rejected` or `timeout`.
    pub status: String,
    /// Time of the decision.
    pub at: String,
    /// The principal, as claimed by the caller.
    pub by: String,
    /// The reason given.
    pub comment: Option<String>,
    /// Keys of `metadata` to set.
    pub metadata: Map<String, Value>,
}

/// A sealed row of the audit log.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditRow {
    /// Its id.
    pub id: i64,
    /// The gate.
    pub gate_id: String,
    /// The run.
    pub run_id: String,
    /// The event.
    pub event: String,
    /// The principal, as claimed by the caller.
    pub principal: String,
    /// The reason given.
    pub comment: Option<String>,
    /// Time of the event.
    pub at: String,
    /// The metadata with the hash chain in it, as canonical JSON.
    pub metadata: String,
}
