//! What a connection to somebody else's database may do: read tables, slowly bounded, and nothing else.
//!
//! Source: reliability.md, "Untrusted files". A 170 KB file whose `run` is a view took a naive reader to
//! 3.4 GB; triggers, virtual tables and generated columns are other ways in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use prosescope_authorizer::{Action, authorize};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

use super::value::file_len;
use crate::database::{DecodeError, Limits, Stop};

/// How far reading may go.
pub struct Guard {
    /// Steps of SQLite's virtual machine that one statement may take at most, or all statements of one snapshot.
    /// The core has no clock; 50 million take about a second natively, and the largest honest list (a million
    /// rows) takes some 40. A small file gets fewer: what its rows can need, and some.
    pub steps: u64,
    /// Asked every hundred steps; `true` stops the statement. A shell's clock, or its cancel button.
    pub stop: Option<Stop>,
    /// Bytes that SQLite may hold in the whole process, all connections together; it can be lowered, never
    /// raised.
    pub heap: Option<u64>,
    /// Whether statements may write. The same limits hold, and still no trigger and no view of the file runs.
    pub writes: bool,
}

impl Default for Guard {
    fn default() -> Guard {
        Guard {
            steps: 50_000_000,
            stop: None,
            heap: Some(HEAP),
            writes: false,
        }
    }
}

impl From<&Limits> for Guard {
    fn from(limits: &Limits) -> Guard {
        let default = Guard::default();
        Guard {
            stop: limits.stop.clone(),
            heap: limits.heap.or(default.heap),
            ..default
        }
    }
}

/// Bytes that SQLite may hold: with what Rust holds of the same file, less than 256 MB.
const HEAP: u64 = 160 << 20;

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard")
            .field("steps", &self.steps)
            .field("stop", &self.stop.is_some())
            .field("heap", &self.heap)
            .field("writes", &self.writes)
            .finish()
    }
}

/// Asks SQLite for `locking_mode=exclusive`: with a VFS that has no shared memory, a database in WAL mode can
/// be read only so (build.md, "WAL"). It must be the first statement on the connection; reads no page.
///
/// # Errors
/// When SQLite refuses.
pub fn exclusive(conn: &Connection) -> Result<(), DecodeError> {
    // rusqlite's `pragma_update` would do as well, but this states what runs first.
    Ok(conn.query_row("PRAGMA locking_mode=exclusive", [], |_| Ok(()))?)
}

/// Makes sure that a connection opens: reads the first page and the schema's version.
///
/// # Errors
/// What SQLite says of the file: locked, damaged, encrypted, a hot journal that cannot be rolled back.
pub fn probe(conn: &Connection) -> Result<(), DecodeError> {
    Ok(conn.query_row("PRAGMA schema_version", [], |_| Ok(()))?)
}

/// Bounds what SQLite compiles and holds. A connection that asks anything before [`guard()`] calls this first: the first
/// statement reads the schema.
///
/// # Errors
/// When SQLite refuses a limit.
pub fn limit(conn: &Connection) -> Result<(), DecodeError> {
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, LONGEST_SQL),
        (Limit::SQLITE_LIMIT_VDBE_OP, 1 << 20),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 8),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 64),
    ] {
        conn.set_limit(limit, most)?;
    }
    // Objects in the schema: a limit of newer libraries than wasm's, which `guard` asks for.
    let _ = conn.set_limit(Limit::SQLITE_LIMIT_SCHEMA, MOST_OBJECTS);
    Ok(())
}

/// Guards a connection before anything is read through it; see the module for what it forbids.
///
/// # Errors
/// When the file is no database, or SQLite refuses a setting.
pub fn guard(conn: &mut Connection, guard: Guard) -> Result<(), DecodeError> {
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !guard.writes),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
    ] {
        conn.set_db_config(setting, on)?;
    }
    limit(conn)?;

    // Before the first statement, which reads the schema.
    let taken = Arc::new(AtomicU64::new(0));
    let most = Arc::new(AtomicU64::new(guard.steps));
    let stop = guard.stop;
    let (so_far, at_most) = (Arc::clone(&taken), Arc::clone(&most));
    conn.progress_handler(
        STEPS,
        Some(move || {
            let so_far = so_far.fetch_add(STEPS as u64, Ordering::Relaxed);
            so_far >= at_most.load(Ordering::Relaxed) || stop.as_ref().is_some_and(|stop| stop())
        }),
    )?;

    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "query_only", !guard.writes)?;
    // Answers with its value: a row that nobody needs.
    conn.pragma_update_and_check(None, "mmap_size", 0, |_| Ok(()))
        .or_else(no_row_is_fine)?;
    conn.pragma_update(None, "temp_store", "memory")?;
    if let Some(heap) = guard.heap {
        let heap = i64::try_from(heap).unwrap_or(i64::MAX);
        conn.pragma_update_and_check(None, "hard_heap_limit", heap, |_| Ok(()))
            .or_else(no_row_is_fine)?;
    }

    let objects: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
    if objects > i64::from(MOST_OBJECTS) {
        // SQLite's own words, where it knows the limit.
        return Err(DecodeError::Sqlite("too many schema objects".to_owned()));
    }
    let by_len = SOME_STEPS + STEPS_A_BYTE * file_len(conn)?;
    most.store(guard.steps.min(by_len), Ordering::Relaxed);
    let renewed = Arc::clone(&taken);
    let snapshot = AtomicBool::new(false);
    authorize(conn, move |action, inside| {
        // A statement is being prepared: its steps are counted from here, unless it is one of a snapshot.
        let begins = match action {
            Action::Transaction(operation) => Some(operation == "BEGIN"),
            _ => None,
        };
        if begins.is_some() || !snapshot.load(Ordering::Relaxed) {
            renewed.store(0, Ordering::Relaxed);
        }
        if let Some(begins) = begins {
            snapshot.store(begins, Ordering::Relaxed);
        }
        // Inside a view or a trigger: never ours.
        inside.is_none() && (allow(action) || (guard.writes && may_write(action)))
    })?;
    Ok(())
}

/// Bytes of the longest statement, and of an object's text in a schema: the documents' longest takes 1 KB, and how long SQLite
/// takes to compile one grows with the square of some of its parts.
pub(super) const LONGEST_SQL: i32 = 128 << 10;

/// The longest value that is read in one piece. Longer ones are listed and read in parts.
pub(super) const LONGEST_VALUE: i32 = 64 << 20;

/// Tables, indexes, views and triggers that a schema may name; a run's has a dozen.
const MOST_OBJECTS: i32 = 10_000;

/// Steps between two questions of the progress handler: one row or two, each of which may hold long values.
const STEPS: i32 = 100;

/// Steps that any file may take, and those that each of its bytes may: a row of a few bytes takes some sixty.
const SOME_STEPS: u64 = 2_000_000;
const STEPS_A_BYTE: u64 = 16;

/// Functions that reach out of the database. All others only compute, within the limits; newer SQLite asks for
/// those in a column's DEFAULT as well, which a file may choose freely and no reading evaluates.
const NOT_FUNCTIONS: &[&str] = &[
    "load_extension",
    "fts3_tokenizer",
    "readfile",
    "writefile",
    "edit",
];

/// Pragmas that tell something of the file and change nothing.
const PRAGMAS: &[&str] = &["encoding", "page_count", "page_size", "schema_version"];

/// Pragmas that take a table's name.
const TABLE_PRAGMAS: &[&str] = &["quick_check", "table_list", "table_xinfo"];

/// Whether a writer's own statements may do what reading never does. `VACUUM` reads a database that it attaches.
fn may_write(action: &Action<'_>) -> bool {
    matches!(
        action,
        Action::Pragma(..) | Action::Read { .. } | Action::Other
    )
}

fn allow(action: &Action<'_>) -> bool {
    match action {
        Action::Select | Action::Transaction(_) => true,
        Action::Read { database } => database.as_deref().is_none_or(|db| db == "main"),
        Action::Function(name) => !NOT_FUNCTIONS.iter().any(|f| f.eq_ignore_ascii_case(name)),
        Action::Pragma(name, value) => {
            let one_of = |names: &[&str]| names.iter().any(|n| n.eq_ignore_ascii_case(name));
            one_of(TABLE_PRAGMAS) || (value.is_none() && one_of(PRAGMAS))
        }
        _ => false,
    }
}

fn no_row_is_fine(error: rusqlite::Error) -> rusqlite::Result<()> {
    match error {
        rusqlite::Error::QueryReturnedNoRows => Ok(()),
        other => Err(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(sql: &str, options: Guard) -> Connection {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(sql).unwrap();
        guard(&mut conn, options).unwrap();
        conn
    }

    fn ask(conn: &Connection, sql: &str) -> Result<(), DecodeError> {
        let mut statement = conn.prepare(sql)?;
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
        Ok(())
    }

    #[test]
    fn only_reads_pass() {
        let conn = guarded(
            // A default that calls a function: allowed, never evaluated.
            "CREATE TABLE t(a, b, c DEFAULT (hex(randomblob(8)))); INSERT INTO t(a, b) VALUES (1, 'x');
             CREATE TEMP TABLE w(a); CREATE VIEW v AS SELECT a FROM t;
             CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END;",
            Guard::default(),
        );
        for sql in [
            "SELECT a, octet_length(b), typeof(b), c FROM t",
            "SELECT count(*) FROM t",
            "SELECT name FROM sqlite_schema",
            "PRAGMA table_xinfo(\"t\")",
            "PRAGMA table_list",
            "PRAGMA encoding",
            "PRAGMA quick_check(\"t\")",
            "BEGIN",
            "ROLLBACK",
        ] {
            assert_eq!(ask(&conn, sql), Ok(()), "{sql}");
        }
        for sql in [
            "INSERT INTO t VALUES (2, 'y')",
            "DELETE FROM t",
            "UPDATE t SET a = 3",
            "CREATE TABLE u(a)",
            "CREATE TEMP TABLE u(a)",
            "DROP TABLE t",
            "ATTACH ':memory:' AS other",
            "VACUUM",
            "VACUUM INTO '/tmp/x'",
            "PRAGMA journal_mode=WAL",
            "PRAGMA user_version=3",
            "PRAGMA encoding='UTF-16'",
            "PRAGMA query_only=0",
            "SELECT load_extension('x')",
            "SELECT randomblob(1000000000)",
            "SELECT a FROM v",
            "SELECT a FROM temp.w",
            "SAVEPOINT s",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
        ] {
            let answer = ask(&conn, sql);
            assert!(
                matches!(
                    answer,
                    Err(DecodeError::Refused(_) | DecodeError::Sqlite(_) | DecodeError::TooBig(_))
                ),
                "{sql}: {answer:?}"
            );
        }
    }

    /// What more than one rule forbids: here by the authorizer, whatever the settings are.
    #[test]
    fn functions_that_reach_out_and_views_are_refused_before_they_are_asked() {
        let conn = guarded(
            "CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t",
            Guard::default(),
        );
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, true)
            .unwrap();
        for sql in [
            "SELECT a FROM v",
            "SELECT fts3_tokenizer('simple')",
            "SELECT load_extension('x')",
        ] {
            let answer = ask(&conn, sql);
            assert!(
                matches!(answer, Err(DecodeError::Refused(_))),
                "{sql}: {answer:?}"
            );
        }
    }

    #[test]
    fn a_statement_that_takes_too_many_steps_is_stopped_and_the_next_starts_anew() {
        let options = Guard {
            steps: 20_000,
            ..Guard::default()
        };
        let mut rows = String::from("CREATE TABLE t(a); BEGIN;");
        for n in 0..1_000 {
            rows.push_str(&format!("INSERT INTO t VALUES ({n});"));
        }
        rows.push_str("COMMIT;");
        let conn = guarded(&rows, options);
        let error = ask(&conn, "SELECT count(*) FROM t a, t b WHERE a.a + b.a < 0").unwrap_err();
        assert_eq!(error, DecodeError::Stopped);
        assert_eq!(
            error.to_string(),
            "reading was stopped because it took too long"
        );
        for _ in 0..10 {
            assert_eq!(ask(&conn, "SELECT a FROM t WHERE a < 0"), Ok(()));
        }
    }

    #[test]
    fn statements_of_a_snapshot_share_their_steps() {
        let rows = "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10);";
        let cross = "SELECT count(*) FROM t a, t b, t c WHERE a.a + b.a + c.a < 0";
        let options = || Guard {
            steps: 30_000,
            ..Guard::default()
        };
        let many = |conn: &Connection| (0..20).all(|_| ask(conn, cross).is_ok());
        let conn = guarded(rows, options());
        assert!(many(&conn), "each has its own");
        ask(&conn, "BEGIN").unwrap();
        assert!(!many(&conn), "all have one");
        ask(&conn, "ROLLBACK").unwrap();
        assert!(many(&conn), "each has its own again");
    }

    #[test]
    fn a_small_file_gets_few_steps() {
        let conn = guarded(
            "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10);",
            Guard::default(),
        );
        let cross = "SELECT count(*) FROM t a, t b, t c, t d, t e, t f WHERE a.a + f.a < 0";
        assert_eq!(ask(&conn, cross), Err(DecodeError::Stopped));
    }

    /// Each setting is one of several that keep the same thing out: taken alone most show only here.
    #[test]
    fn every_setting_is_as_reliability_md_demands() {
        let dir = tempfile::tempdir().unwrap();
        #[allow(clippy::disallowed_methods)]
        let mut conn = Connection::open(dir.path().join("a.db")).unwrap();
        conn.execute_batch(
            "CREATE TABLE t(a); PRAGMA mmap_size = 1000000; PRAGMA trusted_schema = 1",
        )
        .unwrap();
        // The library's own defaults are no guard of ours.
        let off = [
            DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA,
            DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER,
        ];
        for setting in off {
            conn.set_db_config(setting, true).unwrap();
        }
        guard(&mut conn, Guard::default()).unwrap();
        for (setting, on) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
            (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        ] {
            assert_eq!(conn.db_config(setting).unwrap(), on, "{setting:?}");
        }
        for (limit, most) in [
            (Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE),
            (Limit::SQLITE_LIMIT_SQL_LENGTH, LONGEST_SQL),
            (Limit::SQLITE_LIMIT_VDBE_OP, 1 << 20),
            (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 8),
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
            (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
            (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
            (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 64),
            (Limit::SQLITE_LIMIT_SCHEMA, MOST_OBJECTS),
        ] {
            assert_eq!(conn.limit(limit).unwrap(), most, "{limit:?}");
        }
        // These are not for the file's readers to ask.
        authorize(&conn, |_, _: Option<&str>| true).unwrap();
        for (pragma, value) in [
            ("cell_size_check", 1),
            ("query_only", 1),
            ("mmap_size", 0),
            ("temp_store", 2),
            ("hard_heap_limit", HEAP as i64),
        ] {
            let set: i64 = conn
                .pragma_query_value(None, pragma, |row| row.get(0))
                .unwrap();
            assert_eq!(set, value, "{pragma}");
        }
    }

    #[test]
    fn a_shell_can_stop() {
        let asked = AtomicU64::new(0);
        let conn = guarded(
            "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10);",
            Guard {
                stop: Some(Arc::new(move || asked.fetch_add(1, Ordering::Relaxed) > 3)),
                ..Guard::default()
            },
        );
        let cross =
            "SELECT count(*) FROM t a, t b, t c, t d, t e WHERE a.a + b.a + c.a + d.a + e.a < 0";
        assert_eq!(ask(&conn, cross), Err(DecodeError::Stopped));
    }
}
