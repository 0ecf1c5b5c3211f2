//! Reads and records runs of OpenProse programs in PostgreSQL (postgres.md). One database contains many runs, in the
//! schema `openprose`, and many machines may write at the same time.
//!
//! ```text
//! Address ──► Server: one connection, one query at a time ─┬─► PostgresStore: RunStore, one transaction per command
//!                                                          └─► PostgresRun: Database, one snapshot, rows of one run
//! ```
//!
//! The folder `workflow/` of this crate stores workflows in the same way, but in tables that may belong to another
//! program.
//!
//! [`prosescope_core::record`] computes the changes and [`prosescope_core::read::decode`] interprets rows; this crate
//! contains only SQL, locks and connections. Statements are sent with their values and types and are never prepared, so
//! a pooler in transaction mode works.

mod address;
mod agents;
mod apply;
mod beside;
mod cell;
mod dial;
mod fault;
mod find;
mod foreign;
mod hidden;
mod hosts;
mod import;
mod meter;
mod owner;
mod passfile;
mod read;
mod readback;
mod schema;
mod server;
mod settle;
mod shape;
mod shelf;
mod source;
mod status;
mod store;
mod tls;
mod workflow;
mod written_row;

pub use address::Address;
pub use agents::{KeptRows, delete_agent, kept_rows};
pub use find::{Which, all_runs, find_run, waiting_runs};
pub use import::import_run;
pub use owner::Keeper;
pub use read::PostgresRun;
pub use schema::init_postgres;
pub use source::PostgresSource;
pub use status::{remove_run, run_sizes, server_facts, set_up, setup_sql};
pub use store::PostgresStore;
pub use workflow::{Listener, PostgresTables};
