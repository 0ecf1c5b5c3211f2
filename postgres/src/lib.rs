//! Runs of OpenProse programs in PostgreSQL (postgres.md): many runs in the schema `openprose` of one database, written by
//! many machines at once.
//!
//! ```text
//! Address ──► Server: one connection, asked and waited for ─┬─► PostgresStore: RunStore, one transaction a command
//!                                                           └─► PostgresRun: Database, one snapshot, rows of one run
//! ```
//!
//! Workflows are in `workflow/`: the same, over tables that may be another program's.
//!
//! What is written is computed by [`prosescope_core::write`]; what rows mean is decided by
//! [`prosescope_core::decode`]. Here are SQL, locks and connections alone. Statements carry their values and types with them
//! and nothing is prepared, so that a pooler in transaction mode may stand between.

mod address;
mod agents;
mod apply;
mod beside;
mod dial;
mod facts;
mod fault;
mod find;
mod foreign;
mod hidden;
mod hosts;
mod import;
mod meter;
mod of;
mod passfile;
mod read;
mod readback;
mod rows;
mod schema;
mod server;
mod settle;
mod shape;
mod source;
mod status;
mod store;
mod tls;
mod workflow;

pub use address::Address;
pub use agents::{KeptRows, delete_agent, kept_rows};
pub use find::{Which, all_runs, find_run, waiting_runs};
pub use import::import_run;
pub use of::Keeper;
pub use read::PostgresRun;
pub use schema::init_postgres;
pub use source::PostgresSource;
pub use status::{remove_run, run_sizes, server_facts, set_up, setup_sql};
pub use store::PostgresStore;
pub use workflow::{Listener, PostgresTables};
