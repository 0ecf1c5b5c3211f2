//! Workflows: conversations that pause, resume and stream (OpenProse's memoria.md). A workflow is one conversation;
//! each run is one turn of it, and events report its progress.
//!
//! ```text
//! command ──► TableCommand::plan(facts, now) ──► changes ──► Tables: all of them in one transaction, or none
//!                         │                                      │  SQLite, PostgreSQL (prosescope-postgres)
//!                         └── lifecycle: do both statuses allow the action?
//! rows ◄── Tables::select ──► list, show, events: plain structs for every shell
//! ```
//!
//! | file | contains |
//! |---|---|
//! | `model.rs`, `json.rs` | the rows: a workflow, a run, an event |
//! | `lifecycle.rs` | which action is allowed in which status, as tables |
//! | `turns.rs`, `claim.rs`, `state.rs`, `status.rs`, `data.rs` | the commands |
//! | `announce.rs` | the events that the commands record |
//! | `context.rs` | the conversation's messages |
//! | `tables.rs`, `shape.rs` | the interface of a store (rows out, changes in), and the tables found in it |
//! | `read.rs`, `follow.rs` | list and show; events after a cursor, pruning |
//! | `window.rs`, `page.rs` | the visible parts of long lists; the contents of a workflow's page |
//! | `thread.rs` | messages, runs and questions as one thread |
//!
//! Stores apply changes and contain no rules. Tables of other programs (SQLAlchemy models, as OpenProse describes them)
//! are discovered and used unchanged (errata M1): a missing column is not written, an unknown column is kept and shown.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::print_stdout,
        clippy::print_stderr
    )
)]

mod announce;
mod claim;
mod context;
mod data;
mod follow;
mod json;
mod lifecycle;
mod model;
pub mod page;
mod read;
mod rules;
mod shape;
mod sqlite;
mod start;
mod state;
mod status;
mod tables;
pub mod thread;
mod turns;
mod window;

pub use claim::{Claim, ClaimNext, ClaimedRun, LEASE};
pub use data::{Append, AppendResult, DataSet, ImportantStep, NewEvent, Prefer};
pub use follow::{
    Barrier, Events, Horizon, Prune, PruneResult, UnknownOrder, Waiting, events, events_until,
    prune,
};
pub use json::Json;
pub use lifecycle::{Action, ActionEffect, allowed_by_run, allowed_by_workflow};
pub use model::{Kind, Turn, TurnStatus, Workflow, WorkflowEvent, WorkflowStatus};
pub use read::{
    StuckRun, WorkflowFilter, WorkflowList, WorkflowSummary, WorkflowView, find_run, find_workflow,
    list, run, show, stuck,
};
pub use shape::{
    SqlDialect, Statement, TableShape, Unfit, WorkflowColumn, WorkflowShape, label, quoted,
    time_text,
};
pub use sqlite::SqliteTables;
pub use start::{Start, StartResult};
pub use state::SetState;
pub use status::{Cancel, Fail, Move, StatusChange};
pub use tables::{
    LockTarget, Op, RowChange, RowCondition, Select, SqlValue, TableCommand, Tables, Work,
    WorkflowFacts, WorkflowPlan, WorkflowRow, WorkflowRows, WorkflowTable, record,
};
pub use turns::{Ask, Finish, Heartbeat, Input, TurnResult};
pub use window::{EventIds, MOST_EVENTS, event_ids, events_from, summaries, workflow_ids};
