//! Tests of databases of other programs: a database with foreign code on our tables is refused, a database whose tables
//! only differ is written.

use std::path::Path;

use prosescope_core::record::{At, FaultKind, RunStore};
use prosescope_store::SqliteStore;
use rusqlite::Connection;

use super::{BEGUN, Form, PROGRAM, RUN, Recorded, make, open, script, told};

fn step(dir: &Path, line: &str) -> Result<String, String> {
    let mut store = SqliteStore::open(&dir.join("state.db"), None).map_err(|f| {
        assert_eq!(f.kind, FaultKind::Damaged, "{f}");
        assert!(!f.hint.is_empty(), "{f}");
        format!("open: {f}")
    })?;
    said(&mut store, line)
}

fn said(store: &mut dyn RunStore, line: &str) -> Result<String, String> {
    let at = At {
        now: BEGUN + 5000,
        os_user: None,
        client: "test".to_owned(),
    };
    script::run(store, line, &at)
}

fn sql(dir: &Path, text: &str) {
    let conn = Connection::open(dir.join("state.db")).unwrap();
    conn.execute_batch(text).unwrap();
}

fn count(dir: &Path, query: &str) -> i64 {
    let conn = Connection::open(dir.join("state.db")).unwrap();
    conn.query_row(query, [], |row| row.get(0)).unwrap()
}

/// Creates a database with the tables of the SQL in `text`, in a folder with a run's name.
fn database(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let aside = tempfile::tempdir().unwrap();
    let dir = aside.path().join(RUN);
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("program.prose"), PROGRAM).unwrap();
    sql(&dir, text);
    (aside, dir)
}

/// Each of these objects would write, discard rows or never end. The refusal names it, and nothing is written.
#[test]
fn what_would_write_or_swallow_is_refused_by_name() {
    for (odd, named) in [
        (
            "CREATE TRIGGER sly AFTER UPDATE ON run BEGIN UPDATE gates SET status = 'approved'; END",
            "sly",
        ),
        (
            "CREATE TRIGGER swallow BEFORE INSERT ON Bindings BEGIN SELECT RAISE(IGNORE); END",
            "swallow",
        ),
        (
            "CREATE TRIGGER gate_audit_log_no_x AFTER INSERT ON gate_audit_log BEGIN DELETE FROM run; END",
            "gate_audit_log_no_x",
        ),
        (
            "DROP TABLE execution;
             CREATE VIEW execution AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
                SELECT id, id AS statement_index, '' AS statement_text, 'x' AS status, NULL AS parent_id,
                       NULL AS started_at, NULL AS completed_at, NULL AS error_message, NULL AS metadata FROM n",
            "execution is a view",
        ),
    ] {
        let aside = tempfile::tempdir().unwrap();
        let dir = aside.path().join(RUN);
        make(Form::Sqlite, &dir, PROGRAM);
        // A store that was opened before the table was changed detects the change too.
        let mut store = open(Form::Sqlite, &dir);
        sql(&dir, odd);
        let before = told::bytes(&dir);
        for refused in [step(&dir, "put x: one"), said(store.as_mut(), "put x: one")] {
            assert!(refused.as_ref().is_err_and(|m| m.contains(named)), "{refused:?}");
        }
        assert!(told::bytes(&dir) == before, "{odd}");
    }
}

/// A foreign table's own conflict clause would delete a row; the database is refused instead.
#[test]
fn a_conflict_deletes_nothing() {
    let (_aside, dir) = database(
        "CREATE TABLE run (id TEXT PRIMARY KEY, started_at TEXT, updated_at TEXT, status TEXT, state_mode TEXT, program_source TEXT);
         INSERT INTO run (id, status) VALUES ('r', 'running');
         CREATE TABLE bindings (name TEXT, execution_id INTEGER, kind TEXT UNIQUE ON CONFLICT REPLACE, value TEXT,
            source_statement TEXT, created_at TEXT, updated_at TEXT, attachment_path TEXT);
         INSERT INTO bindings (name, kind, value) VALUES ('first', 'let', '1')",
    );
    let refused = step(&dir, "put second: 2").unwrap_err();
    assert!(
        refused.contains("table bindings has an ON CONFLICT"),
        "{refused}"
    );
    assert_eq!(
        count(&dir, "SELECT count(*) FROM bindings WHERE name = 'first'"),
        1
    );
}

/// The first change creates missing tables, and only those.
#[test]
fn a_refused_command_leaves_no_tables() {
    let (_aside, dir) = database(
        "CREATE TABLE run (id TEXT PRIMARY KEY, started_at TEXT, updated_at TEXT, status TEXT, state_mode TEXT, program_source TEXT)
            WITHOUT ROWID;
         INSERT INTO run (id, status) VALUES ('r', 'running');
         CREATE TABLE bindings (name TEXT, execution_id INTEGER, kind TEXT, value TEXT, source_statement TEXT,
            created_at TEXT, updated_at TEXT, attachment_path TEXT, PRIMARY KEY (name, execution_id));
         INSERT INTO bindings (name, value) VALUES ('x', 'one'), ('x', 'two');
         CREATE TABLE agents (name TEXT, scope TEXT, memory TEXT, created_at TEXT, updated_at TEXT)",
    );
    let before = told::bytes(&dir);
    assert_eq!(step(&dir, "end 99"), Err("not-found".to_owned()));
    assert!(told::bytes(&dir) == before);
    // S2: two root rows with one name, which the unique index does not allow; agents without a key.
    for line in [
        "put x: three",
        "memory captain: a",
        "memory captain: b",
        "segment captain: c",
    ] {
        step(&dir, line).unwrap();
    }
    let mine = "SELECT count(*) FROM sqlite_schema WHERE name = 'idx_bindings_scope'";
    assert_eq!(count(&dir, mine), 0);
    assert_eq!(
        count(&dir, "SELECT count(*) FROM agents WHERE memory = 'b'"),
        1
    );
    assert_eq!(
        count(&dir, "SELECT count(*) FROM bindings WHERE value <> 'three'"),
        0
    );
}

#[test]
fn a_database_of_other_things_holds_no_run() {
    for text in ["CREATE TABLE songs (id)", ""] {
        let (_aside, dir) = database(text);
        let before = told::bytes(&dir);
        let refused = step(&dir, "put x: one").unwrap_err();
        assert!(refused.contains("no run"), "{refused}");
        assert!(told::bytes(&dir) == before);
    }
}

/// The error for a missing column names the column and its table, without Prosescope's SQL.
#[test]
fn a_missing_column_is_named() {
    let (_aside, dir) = database(
        "CREATE TABLE run (id TEXT, program_source TEXT, updated_at TEXT, status TEXT);
         INSERT INTO run VALUES ('r', NULL, NULL, 'running');
         CREATE TABLE bindings (name TEXT, execution_id INTEGER, kind TEXT, value TEXT)",
    );
    let refused = step(&dir, "put x: one").unwrap_err();
    assert!(
        refused.contains("bindings") && refused.contains("source_statement"),
        "{refused}"
    );
    assert!(!refused.contains("SELECT"), "{refused}");
}

#[cfg(unix)]
#[test]
fn a_program_that_is_a_pipe_is_named() {
    let mut run = Recorded::new(Form::Sqlite, PROGRAM);
    sql(&run.dir, "UPDATE run SET program_source = NULL");
    let program = run.dir.join("program.prose");
    std::fs::remove_file(&program).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&program).status();
    assert!(made.is_ok_and(|status| status.success()));
    // What the program allows is then unknown. The commands say so, and do not wait for a writer of the pipe.
    for command in ["begin 7", "put x: one"] {
        let said = run.step(command).unwrap_err();
        assert!(said.contains("program.prose is a pipe"), "{said}");
    }
}
