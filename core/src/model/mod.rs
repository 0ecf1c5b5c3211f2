//! The data model of a run: plain data without logic.
//!
//! Every store is decoded into a [`Run`]: a SQLite `state.db` of either dialect, or a run folder. Rows keep the ids of
//! their store and the order in which they were written; [`crate::trace`] combines the rows into a history. Values
//! (bindings, memories) are **not** part of the model: a [`ValueAt`] holds only the length and location of a value, and
//! [`crate::pages::session::Session`] reads the value when the user opens it.

mod agent;
mod binding;
pub mod change;
mod compact_log;
mod cost;
pub mod database;
mod execution;
mod gate;
pub mod host;
pub mod issue;
mod run;
pub mod run_id;
pub mod schema;
pub mod shell;
pub mod source;
mod state_file;
mod status;
mod table;
pub mod text;
pub mod time;
pub mod timeout;
mod tokens;
pub(crate) mod words;

pub use agent::{Agent, AgentScope, Segment};
pub use binding::{Binding, BindingKind, StoredType, ValueAt};
pub use compact_log::{CompactLog, LogEvent, LogLine, RunHead};
pub use cost::ReportedCost;
pub use execution::{Execution, ExecutionState, Meta};
pub use gate::{AuditEvent, AuditKind, Gate, GateRecord, GateStatus, visit};
pub use run::{Dialect, FolderForm, Form, Import, Program, RecordedStatus, Run};
pub use state_file::{
    Annotation, CallFrame, IndexedAgent, IndexedBinding, LoopState, ParallelState, StateFile,
    TraceLine,
};
pub use status::{RunStatus, Status};
pub use table::{ColumnInfo, FileInfo, ShownCell, TableInfo, TableRows};
pub use tokens::TokenUse;

pub use crate::model::text::Text;
