//! Restricts a connection to a foreign database: it may only read tables, within limits.
//!
//! Source: errata R4, R5. A 170 KB file whose `run` is a view made an unguarded reader allocate 3.4 GB; triggers,
//! virtual tables and generated columns are other means of attack.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use prosescope_authorizer::{Action, authorize};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

use super::value::file_len;
use crate::database::{DecodeError, Limits, Stop};

/// The limits on reading.
pub struct Guard {
    /// Maximum number of steps of SQLite's virtual machine for one statement, or for all statements of one snapshot.
    /// The core has no clock; 50 million steps take about a second natively, and the largest legitimate list (a
    /// million rows) takes some 40 million. A small file gets fewer steps, in proportion to its size.
    pub steps: u64,
    /// The callback that is polled every hundred steps; `true` stops the statement. A shell answers from its clock or
    /// its cancel button.
    pub stop: Option<Stop>,
    /// How many bytes SQLite may allocate in the whole process, for all connections together. The limit can be lowered,
    /// never raised.
    pub heap: Option<u64>,
    /// Whether statements may write. The same limits apply, and triggers and views of the file still do not run.
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

/// Bytes that SQLite may allocate: together with Rust's copy of the same file, less than 256 MB.
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

/// Sets SQLite's `locking_mode=exclusive`. With a VFS without shared memory, a database in WAL mode can only be read
/// in this mode (errata R2). Must be the first statement on the connection; does not read a page.
///
/// # Errors
/// If SQLite refuses.
pub fn exclusive(conn: &Connection) -> Result<(), DecodeError> {
    // `pragma_update` would work too, but the explicit statement shows what runs first.
    Ok(conn.query_row("PRAGMA locking_mode=exclusive", [], |_| Ok(()))?)
}

/// Checks that a connection works: reads the first page and the schema's version.
///
/// # Errors
/// Any error of SQLite about the file: locked, damaged, encrypted, a hot journal that cannot be rolled back.
pub fn probe(conn: &Connection) -> Result<(), DecodeError> {
    Ok(conn.query_row("PRAGMA schema_version", [], |_| Ok(()))?)
}

/// Limits SQLite's compiler and memory. Call this before the first statement if that statement comes before
/// [`guard()`], because the first statement reads the schema.
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
    // The number of schema objects. The SQLite library in wasm is older and lacks this limit, so `guard` counts them
    // itself.
    let _ = conn.set_limit(Limit::SQLITE_LIMIT_SCHEMA, MOST_OBJECTS);
    Ok(())
}

/// Guards a connection before anything is read through it; the module documentation lists the restrictions.
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
    /// Restarts the count, with a new maximum. Needed while another authorizer is set: then a new statement does not
    /// restart the count.
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
    // This pragma returns its new value as a row, which is ignored.
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
        // The message is the same as SQLite's own message for this limit.
        return Err(DecodeError::Sqlite("too many schema objects".to_owned()));
    }
    let by_len = SOME_STEPS + STEPS_A_BYTE * file_len(conn)?;
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
        // `inside` names a view or a trigger, which Prosescope's own statements never use.
        inside.is_none() && (allow(action) || (guard.writes && may_write(action)))
    })?;
    Ok(steps)
}

/// Maximum bytes of a statement, and of an object's definition in a schema. The longest one in OpenProse has 1 KB,
/// and SQLite's compile time grows with the square of some parts' length.
pub(super) const LONGEST_SQL: i32 = 128 << 10;

/// Maximum bytes of a value that is read in one piece. Longer values are listed and read in parts.
pub(super) const LONGEST_VALUE: i32 = 64 << 20;

/// Maximum number of tables, indexes, views and triggers in a schema; a run's has a dozen.
const MOST_OBJECTS: i32 = 10_000;

/// Steps between two calls of the progress handler: about one or two rows, each of which may hold long values.
const STEPS: i32 = 100;

/// Steps that any file may take, and additional steps per byte of the file: a row of a few bytes takes some sixty.
const SOME_STEPS: u64 = 2_000_000;
const STEPS_A_BYTE: u64 = 16;

/// Functions that reach outside the database. All others only compute, within the limits. They must be allowed
/// because newer SQLite versions authorize the functions in a column's DEFAULT too: the file chooses them, but
/// reading never calls them.
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
const TABLE_PRAGMAS: &[&str] = &["quick_check", "table_list", "table_xinfo"];

/// Whether a writer's own statement may do an action that reading never needs. `VACUUM` reads a database that it
/// attaches.
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
