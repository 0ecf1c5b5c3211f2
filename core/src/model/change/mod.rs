//! Defines the changes that a command makes to a run, as data. [`crate::record`] computes the changes. A store writes
//! the changes as rows of a database or as files of a folder.

mod columns;
mod content;
mod journal;

use serde_json::{Map, Value};

pub use columns::{ChangeRow, Columns};
pub use content::{StagedBytes, ValueBytes};
pub use journal::{FileChange, JOURNAL};

/// One change to write. Each row already contains its id, which the plan allocates inside the transaction. Times are
/// texts in the format of the store's [`crate::record::Style`]; `None` becomes NULL, or is left out of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Changes the run's own row, or the head of its state file.
    Run(RunChange),
    /// Adds a row to `execution`, or in a folder a line to `x_events.jsonl`.
    Execution(ExecutionRow),
    /// Updates an execution row in place, in the earlier SQLite format, which has one row for each execution.
    UpdateExecution(ExecutionUpdate),
    /// Writes a file in `attachments/`, before the row that contains the file's path. An existing file is never
    /// replaced.
    Attachment(AttachmentFile),
    /// Writes a binding; an earlier value of the same name and frame is kept as history (errata B6).
    Binding(BindingRow),
    /// Registers an agent that is copied from another store, before the agent's memories and segments. A folder does
    /// not store this row.
    Agent(AgentRow),
    /// Writes an agent's memory; the earlier memory is kept as history (errata A1).
    Memory(MemoryRow),
    /// Adds an agent's segment; the first segment also registers the agent (errata A1).
    Segment(SegmentRow),
    /// Registers an import, or updates the registration of a known import.
    Import(ImportRow),
    /// Adds a pending gate.
    Gate(GateRow),
    /// Decides a pending gate.
    ResolveGate(GateResolution),
    /// Adds a row to the audit log, before the change that it records (errata G7).
    Audit(AuditRow),
}

/// A change of the run itself; every such change sets `updated_at` (errata X15).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunChange {
    /// The new status word; `None` leaves the status unchanged.
    pub status: Option<String>,
    /// The new value of the column `updated_at`.
    pub updated: String,
}

/// A row of `execution`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExecutionRow {
    /// The execution's id.
    pub id: i64,
    /// The column `statement_index`: the line of the statement in the program; `None` is NULL.
    pub index: Option<i64>,
    /// The column `statement_text`: the text of the statement.
    pub text: String,
    /// The status word, such as `completed`.
    pub status: String,
    /// The column `started_at`; `None` is NULL.
    pub started: Option<String>,
    /// The column `completed_at`; `None` is NULL.
    pub completed: Option<String>,
    /// The column `error_message`; `None` is NULL.
    pub error: Option<String>,
    /// The column `parent_id`: the row id of the enclosing execution (errata X2); `None` is NULL.
    pub parent: Option<i64>,
    /// The column `metadata`; an empty map is stored as NULL.
    pub metadata: Map<String, Value>,
}

/// An update of an existing execution row, as the earlier format does it (sqlite-earlier.md).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExecutionUpdate {
    /// The id of the row.
    pub id: i64,
    /// The new status word; `None` leaves the status unchanged.
    pub status: Option<String>,
    /// The new `completed_at`; `Some(None)` makes it NULL (a retry), and `None` leaves it unchanged.
    pub completed: Option<Option<String>>,
    /// The new `error_message`; `Some(None)` makes it NULL, and `None` leaves it unchanged.
    pub error: Option<Option<String>>,
    /// The keys of `metadata` to set; other keys stay. A NULL column counts as empty (errata X12).
    pub metadata: Map<String, Value>,
}

impl ExecutionUpdate {
    /// Returns the status word that the append-only form records for the update, such as `retry`.
    pub fn word(&self) -> &str {
        let has = |key| self.metadata.contains_key(key);
        match self.status.as_deref() {
            Some("executing") if has("retry_attempt") => "retry",
            Some("completed") if has("current_iteration") => "exited",
            Some(word) => word,
            None if has("current_iteration") => "iteration",
            None => "update",
        }
    }
}

/// A file of `attachments/`, or the program of an import in `imports/{handle}--{slug}/`.
#[derive(Debug, Clone, PartialEq)]
pub struct AttachmentFile {
    /// The path inside the run's folder, made of plain components.
    pub path: String,
    /// The file's content.
    pub content: ValueBytes,
}

/// A row of `bindings`, or a file of `bindings/`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BindingRow {
    /// The name under which the value is stored.
    pub name: String,
    /// The binding's frame, as the id of the execution that called the block; `None` is the root.
    pub execution_id: Option<i64>,
    /// The frame around the binding's frame. In a folder, the header of the binding's file records this frame (errata
    /// F2). In a database, the binding's row records it if no row of `execution` does.
    pub parent_execution_id: Option<i64>,
    /// The word for the binding's kind: `input`, `output`, `let` or `const`.
    pub kind: String,
    /// The value, or a summary of the value if an attachment contains it.
    pub value: String,
    /// The text of the statement that wrote the binding, if known.
    pub source: Option<String>,
    /// The path of the attachment that contains the value; `None` if `value` contains it.
    pub attachment: Option<String>,
    /// The time of writing; empty if unknown.
    pub at: String,
    /// The time of the first writing, if it may differ from `at` and no earlier value is kept; empty if unknown.
    pub created: Option<String>,
}

/// A row of `agents` without its memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentRow {
    /// The name of the agent to register.
    pub agent: String,
    /// The word for the scope of the agent's memory.
    pub scope: String,
    /// The time of registration; empty if unknown.
    pub created: String,
    /// The time of the last change of the memory; empty if unknown.
    pub updated: String,
}

/// An agent's memory: columns of `agents`, or a file `memory.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRow {
    /// The name of the agent whose memory is written.
    pub agent: String,
    /// The word for the memory's scope.
    pub scope: String,
    /// The text of the memory.
    pub memory: String,
    /// Time of writing.
    pub at: String,
}

/// A segment of an agent: a row of `agent_segments`, or a file `{agent}-{number}.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentRow {
    /// The name of the agent that the segment belongs to.
    pub agent: String,
    /// The word for the scope of the agent's memory.
    pub scope: String,
    /// The segment's number, from 1.
    pub number: i64,
    /// Time of recording.
    pub at: String,
    /// The prompt of the session.
    pub prompt: String,
    /// A summary of the agent's work.
    pub summary: String,
}

/// A row of `imports`, or in a folder a line of `x_imports.jsonl` beside the import's nested run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportRow {
    /// The handle under which the program uses the import.
    pub alias: String,
    /// The address of the imported program.
    pub source_url: String,
    /// The time at which the program was fetched.
    pub fetched: String,
    /// The schema of the inputs, as JSON.
    pub inputs_schema: Option<String>,
    /// The schema of the outputs, as JSON.
    pub outputs_schema: Option<String>,
    /// The nested run to create with the import; only in a folder, and only if the run does not exist yet.
    pub nested: Option<NestedRun>,
}

/// The nested run of an import, as created before anything is recorded in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NestedRun {
    /// The nested run's folder, relative to the importing run's folder: `imports/{handle}--{slug}`.
    pub place: String,
    /// The name of the imported program.
    pub name: String,
    /// The source text of the imported program.
    pub program: String,
}

/// An opened gate: a row of `gates`, or a file `gates/{id}.pending.json`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GateRow {
    /// The gate's id; `id#2` if the program reaches the same gate a second time (errata G1).
    pub id: String,
    /// The id of the run that reached the gate.
    pub run_id: String,
    /// The execution row that waits at the gate; it is written before the gate (errata G2).
    pub execution_id: Option<i64>,
    /// The question to the approver.
    pub prompt: Option<String>,
    /// A JSON list of principals.
    pub allow: String,
    /// The duration until the deadline, as the program or the caller wrote it, such as `4h`.
    pub timeout: Option<String>,
    /// The deadline, in the store's time format; `None` without a deadline (errata G5).
    pub timeout_at: Option<String>,
    /// The `on_reject` action of the program, for a rejection of this gate.
    pub on_reject: Option<String>,
    /// Time of creation.
    pub created: String,
    /// Further keys for the column `metadata`; an empty map is stored as NULL.
    pub metadata: Map<String, Value>,
}

/// The decision of a gate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GateResolution {
    /// The id of the gate that is decided.
    pub id: String,
    /// The id of the run that the decided gate belongs to.
    pub run_id: String,
    /// The new status of the gate: `approved`, `rejected` or `timeout`.
    pub status: String,
    /// Time of the decision.
    pub at: String,
    /// The principal who decided, as claimed by the caller.
    pub by: String,
    /// The comment, or the reason of a rejection, if the principal gave one.
    pub comment: Option<String>,
    /// The keys of `metadata` to set; other keys stay unchanged.
    pub metadata: Map<String, Value>,
}

/// A sealed row of the audit log.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditRow {
    /// The id of the audit row.
    pub id: i64,
    /// The id of the gate at which the event happened.
    pub gate_id: String,
    /// The id of the run whose audit log gets the row.
    pub run_id: String,
    /// The word for the event, such as `approved`.
    pub event: String,
    /// The principal who acted at the gate, as claimed by the caller.
    pub principal: String,
    /// The comment, or the reason of a rejection, if the principal gave one.
    pub comment: Option<String>,
    /// Time of the event.
    pub at: String,
    /// The metadata as canonical JSON, including the row's link in the hash chain.
    pub metadata: String,
}
