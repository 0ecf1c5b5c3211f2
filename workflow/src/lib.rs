//! Workflows: conversations that pause, resume and stream (memoria.md). One workflow is one conversation, one turn of it is a
//! run, and events are its progress.
//!
//! ```text
//! command ──► Command::plan(facts, now) ──► changes ──► Tables: all of them in one transaction, or none
//!                    │                                      │  SQLite ([`SqliteTables`]), PostgreSQL (prosescope-postgres)
//!                    └── lifecycle: may it, by both statuses?
//! rows ◄── Tables::select ──► list, show, events: plain structs for every shell
//! ```
//!
//! | file | says |
//! |---|---|
//! | `model.rs`, `json.rs` | what a workflow, a run and an event are |
//! | `lifecycle.rs` | which action is allowed in which status: data, no code |
//! | `turns.rs`, `status.rs`, `data.rs` | the commands |
//! | `context.rs` | the conversation's messages |
//! | `tables.rs`, `shape.rs` | what a store does: rows out, changes in; which tables it found |
//! | `read.rs`, `follow.rs` | list and show; events after a cursor, pruning |
//! | `window.rs`, `page.rs` | stretches of long lists; a workflow as a page shows it |
//! | `thread.rs`, `search.rs` | messages, runs and questions as one thread; a text in all of a workflow |
//!
//! A store knows no rule. Tables that others made (SQLAlchemy models, as the document describes) are discovered and used as they
//! are (errata M1): a column that they lack is not written, a column that we do not know is kept and shown.

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

mod context;
mod data;
mod follow;
mod json;
mod lifecycle;
mod model;
pub mod page;
mod read;
mod rules;
pub mod search;
mod shape;
mod sqlite;
mod start;
mod status;
mod tables;
pub mod thread;
mod turns;
mod window;

pub use data::{Append, Appended, DataSet, Note, Prefer, Step};
pub use follow::{
    Barrier, Events, Follower, Horizon, Prune, Pruned, UnknownOrder, Waiting, events, events_until,
    followers, note_cursor, prune,
};
pub use json::Json;
pub use lifecycle::{Action, Allowed, allowed_by_run, allowed_by_workflow};
pub use model::{Event, Kind, Turn, TurnStatus, Workflow, WorkflowStatus};
pub use read::{
    StuckRun, Wanted, WorkflowList, WorkflowSummary, WorkflowView, find_run, find_workflow, list,
    run, show, stuck,
};
pub use shape::{Column, Dialect, Shape, Statement, TableShape, Unfit, label, quoted, time_text};
pub use sqlite::SqliteTables;
pub use start::{Start, Started};
pub use status::{Cancel, Fail, Move, Moved};
pub use tables::{
    Change, Command, Facts, Filter, Op, Plan, Row, Rows, Select, Table, Tables, Target, Value,
    Work, record,
};
pub use turns::{Ask, Finish, Heartbeat, Input, Turned};
pub use window::{EventIds, MOST_EVENTS, event_ids, events_from, summaries, workflow_ids};
