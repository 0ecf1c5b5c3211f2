//! Tests which databases are recorded into: those whose tables have nothing but what the list in
//! `core/src/model/schema/allowed.rs` allows.

use prosescope_core::model::schema::{AGENTS_SQL, OF_RUNS, OF_WORKFLOWS, STATE_SQL, WORKFLOWS_SQL};
use prosescope_core::read::sqlite::{Guard, fit_for_writing, guard, unfit_for_vacuum};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::support::{BINDINGS_PLAIN_KEY, EXTENSIONS, SCHEMA, SCHEMA_GATES};

/// Returns a guarded database that this SQL made, with `writable_schema` on.
fn made(sql: &[&str]) -> Connection {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let conn = Connection::open(&path).unwrap();
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)
        .unwrap();
    conn.execute_batch(
        "PRAGMA synchronous = OFF; PRAGMA writable_schema = ON; PRAGMA foreign_keys = OFF",
    )
    .unwrap();
    for sql in sql {
        conn.execute_batch(sql).expect(sql);
    }
    drop(conn);
    let mut conn = Connection::open(&path).unwrap();
    guard(&mut conn, Guard::default()).unwrap();
    conn
}

/// Returns what is found, or an empty text.
fn unfit(sql: &[&str], names: &[&str], deletes: bool) -> String {
    let fit = fit_for_writing(&made(sql), names, deletes).unwrap();
    fit.err().unwrap_or_default()
}

/// Changes of the schema of a run, as a model or a user makes them: each is recorded into.
const FIT: &[&str] = &[
    // The examples of sqlite.md: an added column, an index, a table with a foreign key.
    "ALTER TABLE bindings ADD COLUMN token_count INTEGER;
     CREATE INDEX idx_execution_status ON execution(status);
     CREATE TABLE x_metrics (execution_id INTEGER REFERENCES execution(id), metric_name TEXT, metric_value REAL,
       recorded_at TEXT DEFAULT (datetime('now')))",
    // What others have in the same database is theirs.
    "CREATE VIEW seen AS SELECT hex(zeroblob(9)) FROM bindings",
    "CREATE TABLE x_t (a CHECK (length(a) > 0), b AS (hex(a)), c DEFAULT (random()), d COLLATE NOCASE);
     CREATE INDEX x_i ON x_t(hex(a)); CREATE TRIGGER x_g AFTER INSERT ON x_t BEGIN DELETE FROM gates; END",
    "CREATE TABLE child(s TEXT REFERENCES execution(status) ON DELETE CASCADE CHECK (length(s) > 0))",
    "CREATE VIRTUAL TABLE agent USING fts5(a)",
    // Plain columns, defaults that are constants, and CHECKs with the words of the documents.
    "ALTER TABLE gates ADD COLUMN a TEXT NOT NULL DEFAULT 'it''s CHECK (x)'; ALTER TABLE gates ADD COLUMN b DEFAULT -1.5;
     ALTER TABLE gates ADD COLUMN c DEFAULT CURRENT_TIMESTAMP; ALTER TABLE gates ADD COLUMN d DEFAULT (NULL);
     ALTER TABLE gates ADD COLUMN \"check\" BLOB DEFAULT x'00'",
    "DROP TABLE bindings; CREATE TABLE bindings (name TEXT, kind TEXT NOT NULL CHECK (kind IN ('input', 'output', 'let', 'const')),
       execution_id INTEGER REFERENCES execution(id) ON DELETE CASCADE, value TEXT) STRICT",
    "DROP TABLE run; CREATE TABLE run (id TEXT PRIMARY KEY, status TEXT, /* CHECK (1) */ CONSTRAINT a check
       ( ( \"Status\" in ( 'failed','running' , 'completed', 'interrupted') ) )) WITHOUT ROWID",
    // Indexes over plain columns, or with the calls of the documents.
    "CREATE UNIQUE INDEX i ON bindings (\"name\", coalesce(execution_id, -1));
     CREATE UNIQUE INDEX j ON bindings (name) WHERE execution_id IS NULL;
     CREATE INDEX k ON gates (timeout_at DESC, [id] ASC) WHERE (status = 'pending' AND timeout_at IS NOT NULL)",
];

/// Changes of the schema of a run, each with what is found.
const UNFIT: &[(&str, &str)] = &[
    (
        "CREATE TRIGGER evil AFTER UPDATE ON gates BEGIN SELECT 1; END",
        "table gates has the trigger evil",
    ),
    (
        "CREATE TRIGGER evil AFTER UPDATE OF status ON gates BEGIN SELECT 1; END",
        "table gates has the trigger evil",
    ),
    (
        "CREATE/**/TRIGGER--\n[evil] AFTER UPDATE ON\"gates\"BEGIN SELECT 1; END",
        "table gates has the trigger evil",
    ),
    (
        "DROP TRIGGER gate_audit_log_no_update; CREATE TRIGGER gate_audit_log_no_update AFTER INSERT ON gate_audit_log BEGIN SELECT 1; END",
        "table gate_audit_log has the trigger gate_audit_log_no_update",
    ),
    (
        "UPDATE sqlite_schema SET sql = CAST(sql AS BLOB) WHERE name = 'imports'",
        "it has a disguised schema",
    ),
    (
        "DROP TABLE imports; CREATE VIEW imports AS SELECT 1 AS alias",
        "imports is a view, where a table is expected",
    ),
    (
        "DROP TABLE imports; CREATE VIRTUAL TABLE imports USING fts5(alias)",
        "imports is a virtual, where a table is expected",
    ),
    (
        "ALTER TABLE bindings ADD COLUMN size AS (length(value))",
        "table bindings has a computed column, size",
    ),
    (
        "ALTER TABLE bindings ADD COLUMN a CHECK (length(a) > 0)",
        "table bindings has a CHECK of its own",
    ),
    (
        "ALTER TABLE bindings ADD COLUMN a CHECK/* */(\"kind\" IN ('input', 'output', 'let'))",
        "table bindings has a CHECK of its own",
    ),
    (
        "ALTER TABLE run ADD COLUMN a CHECK (hex(status) IN ('running', 'completed', 'failed', 'interrupted'))",
        "table run has a CHECK of its own",
    ),
    (
        "DROP TABLE run; CREATE TABLE run (id, d DEFAULT (hex(zeroblob(9))))",
        "table run has a default that is computed, of column d",
    ),
    (
        "DROP TABLE run; CREATE TABLE run (id COLLATE NOCASE)",
        "table run has a COLLATE",
    ),
    (
        "DROP TABLE run; CREATE TABLE run (id UNIQUE ON\n/**/CONFLICT REPLACE)",
        "table run has an ON CONFLICT",
    ),
    (
        "CREATE INDEX i ON bindings (length(value))",
        "table bindings has the index i, which is not over plain columns",
    ),
    (
        "CREATE INDEX i ON bindings (name) WHERE length(value) > 0",
        "table bindings has the index i, which is not over plain columns",
    ),
    (
        "CREATE INDEX i ON bindings (name, (ifnull(value, hex(name))))",
        "table bindings has the index i, which is not over plain columns",
    ),
    (
        "CREATE INDEX i ON bindings (name COLLATE NOCASE)",
        "table bindings has the index i, which is not over plain columns",
    ),
    (
        "ALTER TABLE gates ADD COLUMN a REFERENCES x_t(a)",
        "table gates has a foreign key to x_t of its own",
    ),
    (
        "ALTER TABLE gates ADD COLUMN a REFERENCES execution(status) ON UPDATE CASCADE",
        "table gates has a foreign key to execution of its own",
    ),
    // Recording into `execution` would also change the rows of this table.
    (
        "CREATE TABLE child(s TEXT CHECK (length(s) > 0) REFERENCES execution(status) ON UPDATE CASCADE)",
        "table child has a CHECK of its own",
    ),
];

#[test]
fn only_what_is_on_the_list_is_recorded_into() {
    for sql in FIT {
        assert_eq!(unfit(&[STATE_SQL, sql], &OF_RUNS, false), "", "{sql}");
    }
    for (sql, found) in UNFIT {
        let unfit = unfit(&[STATE_SQL, sql], &OF_RUNS, false);
        assert!(unfit.starts_with(found), "{sql}: {unfit:?}");
    }
}

/// The schemas of OpenProse's documents, in the forms in which SQLite takes them.
#[test]
fn the_schemas_of_the_documents_are_recorded_into() {
    // SQLite refuses the document's own table of bindings (errata S1).
    let (before, after) = SCHEMA
        .split_once("CREATE TABLE IF NOT EXISTS bindings")
        .unwrap();
    let (_, after) = after.split_once(";\n").unwrap();
    assert_eq!(
        unfit(
            &[before, BINDINGS_PLAIN_KEY, after, SCHEMA_GATES, EXTENSIONS],
            &OF_RUNS,
            false
        ),
        ""
    );
    assert_eq!(unfit(&[AGENTS_SQL], &OF_RUNS, true), "");
    assert_eq!(unfit(&[WORKFLOWS_SQL], &OF_WORKFLOWS, true), "");
    // Tables of workflows as SQLAlchemy makes them.
    let of_sqlalchemy = "CREATE TABLE workflows (id CHAR(32) NOT NULL, status VARCHAR(9) NOT NULL, context JSON,
        created_at DATETIME DEFAULT (CURRENT_TIMESTAMP) NOT NULL, PRIMARY KEY (id),
        CONSTRAINT workflowstatus CHECK (status IN ('ACTIVE', 'PAUSED', 'CANCELLED', 'ERROR')));
      CREATE TABLE workflow_runs (id CHAR(32) NOT NULL, workflow_id CHAR(32), ask_clarifications BOOLEAN,
        FOREIGN KEY(workflow_id) REFERENCES workflows (id) ON DELETE CASCADE, CHECK (ask_clarifications IN (0, 1)))";
    assert_eq!(unfit(&[of_sqlalchemy], &OF_WORKFLOWS, true), "");
}

#[test]
fn a_deletion_also_judges_the_tables_that_it_reaches() {
    let notes = "CREATE TABLE x_notes (agent TEXT REFERENCES agents(name) ON DELETE CASCADE, a CHECK (length(a) > 0))";
    assert_eq!(unfit(&[AGENTS_SQL, notes], &OF_RUNS, false), "");
    assert_eq!(
        unfit(&[AGENTS_SQL, notes], &OF_RUNS, true),
        "table x_notes has a CHECK of its own"
    );
}

#[test]
fn a_database_with_expressions_is_not_shrunk() {
    for (sql, found) in [
        (
            "CREATE TABLE x_t (a); CREATE INDEX i ON x_t(a) WHERE a IS NULL",
            None,
        ),
        (
            "CREATE TABLE x_t (a); CREATE INDEX i ON x_t(hex(a))",
            Some("table x_t has the index i, which is not over plain columns"),
        ),
        (
            "CREATE TABLE x_t (a, b AS (hex(a)))",
            Some("table x_t has a computed column"),
        ),
    ] {
        let unfit = unfit_for_vacuum(&made(&[STATE_SQL, sql])).unwrap();
        assert_eq!(unfit.as_deref(), found, "{sql}");
    }
}
