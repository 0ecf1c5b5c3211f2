//! Restricts a connection to an untrusted database: statements may only read tables, within limits of time and memory.
//!
//! Source: errata R4, R5. A file of 170 KB, in which `run` was a view, made an unguarded reader allocate 3.4 GB.
//! Triggers, virtual tables and generated columns are other means of attack.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use prosescope_authorizer::{Action, authorize};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

use super::value::file_len;
use crate::model::database::{DecodeError, Limits, Stop};

/// The limits and permissions of a guarded connection.
pub struct Guard {
    /// Maximum number of steps of SQLite's virtual machine for one statement, or for all statements of one snapshot.
    /// Steps replace a deadline, because the core has no clock. 50 million steps take about a second natively. The
    /// largest expected list, of a million rows, takes some 40 million. A small file gets fewer steps, in proportion to
    /// its size.
    pub steps: u64,
    /// The callback that SQLite polls every hundred steps; `true` stops the statement. A shell returns `true` after its
    /// deadline or when the user cancels.
    pub stop: Option<Stop>,
    /// The maximum number of bytes that SQLite may allocate in the whole process, for all connections together. Within
    /// a process, the limit can only be lowered. `None` leaves the limit unchanged.
    pub heap: Option<u64>,
    /// Whether statements may write. The limits apply to writing statements, too, and triggers and views of the file
    /// still do not run.
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

/// The default limit of bytes that SQLite may allocate. With Rust's copy of the same file, the total is below 256 MB.
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

/// Sets SQLite's `locking_mode=exclusive`. With a VFS without shared memory, a database in WAL mode can only be read in
/// this mode (errata R2). Call this before any other statement on the connection. The statement itself reads no page.
///
/// # Errors
/// If SQLite refuses.
pub fn exclusive(conn: &Connection) -> Result<(), DecodeError> {
    // The SQL is written out, not passed to `pragma_update`, to show exactly which statement runs first.
    Ok(conn.query_row("PRAGMA locking_mode=exclusive", [], |_| Ok(()))?)
}

/// Checks that a connection works: reads the first page and the schema's version. Leaves a transaction open until
/// [`guard()`] ends it, so that both lock the file once, and not for each of their statements.
///
/// # Errors
/// Any error of SQLite about the file: locked, damaged, encrypted, a hot journal that cannot be rolled back.
pub fn probe(conn: &Connection) -> Result<(), DecodeError> {
    conn.execute_batch("BEGIN")?;
    Ok(conn.query_row("PRAGMA schema_version", [], |_| Ok(()))?)
}

/// Ends the transaction of [`probe`], if it is open: without it, another program can write between two reads.
///
/// # Errors
/// If SQLite cannot end the transaction.
pub fn end_probe(conn: &Connection) -> Result<(), DecodeError> {
    match conn.is_autocommit() {
        true => Ok(()),
        false => Ok(conn.execute_batch("ROLLBACK")?),
    }
}

/// Limits SQLite's compiler and memory. [`guard()`] calls this function. Call it explicitly if a statement runs before
/// [`guard()`], because the first statement reads the untrusted schema.
///
/// # Errors
/// If SQLite refuses a limit.
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
    // This limits the number of schema objects. The error is ignored: the older SQLite library in wasm lacks this
    // limit, so `guard` counts the objects itself.
    let _ = conn.set_limit(Limit::SQLITE_LIMIT_SCHEMA, MOST_OBJECTS);
    Ok(())
}

/// Applies the settings and limits of [`Guard`] to a connection. Call this before anything is read through it.
///
/// # Errors
/// If the file is not a database, or SQLite refuses a setting.
pub fn guard(conn: &mut Connection, guard: Guard) -> Result<(), DecodeError> {
    counted(conn, guard).map(|_| ())
}

/// The step counter of a guarded connection.
pub(super) struct Steps {
    taken: Arc<AtomicU64>,
    most: Arc<AtomicU64>,
}

impl Steps {
    /// Restarts the count of steps, with a new maximum. Normally the guard's authorizer restarts the count for each
    /// statement. A user's query replaces that authorizer, so the query calls this method.
    pub(super) fn begin(&self, most: u64) {
        self.most.store(most, Ordering::Relaxed);
        self.taken.store(0, Ordering::Relaxed);
    }
}

/// Does the same as [`guard()`], and also returns the connection's step counter.
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

    // The progress handler is set before the first statement, because that statement reads the schema.
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
    // `PRAGMA mmap_size` returns its new value as a row, which is ignored.
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
        // SQLite's own message for this limit has the same words.
        return Err(DecodeError::Sqlite("too many schema objects".to_owned()));
    }
    let by_len = SOME_STEPS + STEPS_A_BYTE * file_len(conn)?;
    end_probe(conn)?;
    most.store(guard.steps.min(by_len), Ordering::Relaxed);
    let renewed = Arc::clone(&taken);
    let steps = Steps { taken, most };
    let snapshot = AtomicBool::new(false);
    authorize(conn, move |action, inside| {
        // SQLite calls the authorizer while it prepares a statement. The step count restarts here, unless the
        // statement is part of a snapshot.
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
        // `inside` is the name of the view or trigger whose code contains the action. Prosescope's own statements use
        // neither.
        inside.is_none() && (allow(action) || (guard.writes && may_write(action)))
    })?;
    Ok(steps)
}

/// Maximum bytes of a statement, and of an object's definition in a schema. OpenProse's longest definition has 1 KB.
/// Longer texts are refused, because SQLite's compile time can grow with the square of the length.
const LONGEST_SQL: i32 = 128 << 10;

/// Maximum bytes of a value that is read in one piece. A longer value is listed with its length, and read in parts.
pub(super) const LONGEST_VALUE: i32 = 64 << 20;

/// Maximum number of tables, indexes, views and triggers in a schema. A run's schema has a dozen.
const MOST_OBJECTS: i32 = 10_000;

/// The number of steps between two calls of the progress handler. The number is small, about one or two rows, because
/// each row may contain long values.
const STEPS: i32 = 100;

/// The number of steps that a statement on any file may take. [`STEPS_A_BYTE`] is added for each byte of the file,
/// because a row of a few bytes takes some sixty steps.
const SOME_STEPS: u64 = 2_000_000;
const STEPS_A_BYTE: u64 = 16;

/// Functions that reach outside the database. All other functions are allowed, because they only compute, within the
/// limits. Newer SQLite versions ask the authorizer even for functions in a column's DEFAULT, which reading never
/// calls.
pub(super) const NOT_FUNCTIONS: &[&str] = &[
    "load_extension",
    "fts3_tokenizer",
    "readfile",
    "writefile",
    "edit",
];

/// Pragmas that only report properties of the file.
const PRAGMAS: &[&str] = &["encoding", "page_count", "page_size", "schema_version"];

/// Pragmas whose argument is a table's name.
const TABLE_PRAGMAS: &[&str] = &[
    "foreign_key_list",
    "quick_check",
    "table_list",
    "table_xinfo",
];

/// Returns whether a writer's own statement may do an action that readers are refused. For example, `VACUUM` reads from
/// a database that it attaches.
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
