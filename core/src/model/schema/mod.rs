//! The database schema of OpenProse: table and column names, the corrected DDL, and a check for deviations.
//!
//! Prosescope's writer creates [`STATE_SQL`] and [`AGENTS_SQL`]; [`check`] reports where an existing database differs
//! from OpenProse. Reading does not depend on the schema, because columns are discovered ([`crate::read::sqlite`]).

mod allowed;
mod check;
mod names;
mod sql;
mod triggers;

pub use allowed::{CHECKS, OF_RUNS, OF_WORKFLOWS, SchemaName, allows_default, judge};
pub use check::{check, check_agents};
pub(crate) use names::RECEIPT_COLUMNS;
pub use names::{
    AGENT_MEMORY_HISTORY, AGENT_SEGMENTS, AGENTS, BINDING_HISTORY, BINDINGS, EVENTS, EXECUTION,
    FRAME_AROUND, GATE_AUDIT_LOG, GATES, IMPORTS, RECEIPT, ROOT_PATH, RUN, SOURCE_EXECUTION,
    TABLES, TableSpec, known_column, known_table, table_spec,
};
pub use triggers::{audit_triggers, is_own_trigger};

/// SQL with the corrected schema of a `state.db` (errata S1, G1, G7), and with history tables for earlier values and
/// memories (errata B6, A1). Executing this SQL again changes nothing.
pub const STATE_SQL: &str = include_str!("state.sql");

/// SQL with the schema of an `agents.db`. Executing this SQL again changes nothing.
pub const AGENTS_SQL: &str = include_str!("agents.sql");

/// SQL with the corrected schema `openprose` of a PostgreSQL database (errata P1–P13), in its own transaction.
/// Executing this SQL again changes nothing.
pub const POSTGRES_SQL: &str = include_str!("postgres.sql");

/// SQL with the tables of workflows in SQLite (errata M1 to M4). Executing this SQL again changes nothing.
pub const WORKFLOWS_SQL: &str = include_str!("workflows.sql");

/// SQL with the tables of workflows in PostgreSQL (errata M1 to M4), in their own transaction. Executing this SQL again
/// changes nothing.
pub const WORKFLOWS_POSTGRES_SQL: &str = include_str!("workflows_postgres.sql");

/// The version that [`POSTGRES_SQL`] records in `openprose.x_schema`.
pub const POSTGRES_VERSION: i32 = 2;

/// The prefix of a run's id in commands that name a run in PostgreSQL: `postgres:20260125-…`.
pub const POSTGRES_PREFIX: &str = "postgres:";

/// Returns the name that commands use for a run in PostgreSQL.
pub fn postgres_name(run: &str) -> String {
    format!("{POSTGRES_PREFIX}{run}")
}

/// Returns the place of a binding in PostgreSQL, in the wording of postgres.md.
pub fn postgres_location(run: &str, name: &str, frame: Option<i64>) -> String {
    let name = name.replace('\'', "''");
    let frame = frame.map_or("IS NULL".to_owned(), |id| format!("= {id}"));
    format!("openprose.bindings WHERE name='{name}' AND run_id='{run}' AND execution_id {frame}")
}
