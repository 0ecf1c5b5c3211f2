//! What a command changes, as data: computed by [`crate::write`], applied by a store, kept in a folder's journal, rendered into
//! files.

mod columns;
mod content;
mod journal;

use serde_json::{Map, Value};

pub use columns::{Columns, Stored};
pub use content::{Content, Staged};
pub use journal::{FileChange, JOURNAL};

/// One thing to write. Rows carry their ids: a plan allocates them inside of the transaction. Times are texts as the
/// store's [`crate::write::Style`] writes them; what is `None` is NULL, or left out of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The run's own row, or the head of its state file.
    Run(RunChange),
    /// A new execution row, or line of `x_events.jsonl`.
    Execution(ExecutionRow),
    /// An execution row is updated, in the in-place style.
    UpdateExecution(ExecutionUpdate),
    /// A file beside the state; it stands before the row that names it, and never replaces another.
    Attachment(AttachmentFile),
    /// A binding is written; an earlier value of the same name and frame is kept as history (errata B6).
    Binding(BindingRow),
    /// An agent that comes from another store is registered, before its memories and segments; a folder has no place for it.
    Agent(AgentRow),
    /// An agent's memory is written; the earlier one is kept as history (errata A1).
    Memory(MemoryRow),
    /// An agent's segment; the agent is registered with its first (errata A1).
    Segment(SegmentRow),
    /// An import is registered, or registered anew.
    Import(ImportRow),
    /// A new gate.
    Gate(GateRow),
    /// A pending gate is decided.
    ResolveGate(GateResolution),
    /// A row of the audit log; it stands before the change that it speaks of (errata G7).
    Audit(AuditRow),
}

/// What changes about the run itself; its `updated_at` always does (errata X15).
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

/// What is updated of an execution row (sqlite-earlier.md).
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
    /// The frame around its frame: a folder's header says so (errata F2), and a database's row where no row of
    /// `execution` does.
    pub parent_execution_id: Option<i64>,
    /// Its kind, in a word.
    pub kind: String,
    /// The value, or the summary of an attachment.
    pub value: String,
    /// The statement that wrote it.
    pub source: Option<String>,
    /// The attachment that holds the value.
    pub attachment: Option<String>,
    /// When; empty where that is not known.
    pub at: String,
    /// When it was first written, where that may be another time and no earlier value is kept: empty where that is not known.
    pub created: Option<String>,
}

/// A row of `agents` without its memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentRow {
    /// The agent.
    pub agent: String,
    /// Its scope, in a word.
    pub scope: String,
    /// When it was registered; empty where that is not known.
    pub created: String,
    /// When its memory was last written; empty where that is not known.
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
    /// When.
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
    /// When.
    pub at: String,
    /// What the agent was asked.
    pub prompt: String,
    /// What it did.
    pub summary: String,
}

/// A row of `imports`; in a folder the nested run says it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportRow {
    /// The handle.
    pub alias: String,
    /// Where it came from.
    pub source_url: String,
    /// When it was fetched.
    pub fetched: String,
    /// JSON.
    pub inputs_schema: Option<String>,
    /// JSON.
    pub outputs_schema: Option<String>,
    /// The run that is made with it, unless it is there: in a folder.
    pub nested: Option<NestedRun>,
}

/// The run of an import, with nothing recorded yet.
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
    /// Its id, `id#2` when it is met again (errata G1).
    pub id: String,
    /// The run.
    pub run_id: String,
    /// The execution row that waits at it; it stands before the gate (errata G2).
    pub execution_id: Option<i64>,
    /// What the approver is asked.
    pub prompt: Option<String>,
    /// A JSON list of principals.
    pub allow: String,
    /// The duration as it was given.
    pub timeout: Option<String>,
    /// The deadline (errata G5).
    pub timeout_at: Option<String>,
    /// What the program does on a rejection.
    pub on_reject: Option<String>,
    /// When.
    pub created: String,
    /// More; empty is NULL.
    pub metadata: Map<String, Value>,
}

/// How a gate was decided.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GateResolution {
    /// The gate.
    pub id: String,
    /// The run.
    pub run_id: String,
    /// `approved`, `rejected` or `timeout`.
    pub status: String,
    /// When.
    pub at: String,
    /// Who, as claimed.
    pub by: String,
    /// Why.
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
    /// Who, as claimed.
    pub principal: String,
    /// Why.
    pub comment: Option<String>,
    /// When.
    pub at: String,
    /// The metadata with the chain in it, canonical JSON.
    pub metadata: String,
}
