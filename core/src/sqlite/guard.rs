//! What a connection to somebody else's database may do: read tables, slowly bounded, and nothing else.
//!
//! Source: errata R4, R5. A 170 KB file whose `run` is a view took a naive reader to
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
/// be read only so (errata R2). It must be the first statement on the connection; reads no page.
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
    counted(conn, guard).map(|_| ())
}

/// Counts the steps of a guarded connection.
pub(super) struct Steps {
    taken: Arc<AtomicU64>,
    most: Arc<AtomicU64>,
}

impl Steps {
    /// Counts from here, up to another number. Where another authorizer is asked, statements do not begin to count anew.
    pub(super) fn begin(&self, most: u64) {
        self.most.store(most, Ordering::Relaxed);
        self.taken.store(0, Ordering::Relaxed);
    }
}

/// The same as [`guard()`], and what counts the connection's steps.
pub(super) fn counted(conn: &mut Connection, guard: Guard) -> Result<Steps, DecodeError> {
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
    let steps = Steps { taken, most };
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
    Ok(steps)
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
pub(super) const NOT_FUNCTIONS: &[&str] = &[
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
        Action::Read { database, .. } => database.as_deref().is_none_or(|db| db == "main"),
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
mod tests;
