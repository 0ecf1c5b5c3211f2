//! Prepares a connection for writing into a database that another program may have made (errata R4, R5).
//!
//! | item | purpose |
//! |---|---|
//! | `TransactionClock` | stops a transaction at its limits of elapsed time and processor time |
//! | `settings`, `own` | apply the limits of reading, disable the file's triggers, and set foreign keys and syncing |
//! | `tables` | refuses a database with anything on our tables that is not on the list of `prosescope_core::model::schema` |
//! | `complete` | creates missing tables with their indexes and triggers |
//! | `version`, `by_coming` | read the schema's version, and how rows are ordered by insertion |

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use prosescope_core::model::schema;
use prosescope_core::read::sqlite::{Guard, fit_for_writing, guard};
use prosescope_core::record::{Fault, FaultKind};
use rusqlite::Connection;

use crate::record::fault;

/// Time limit for one transaction, from the moment it holds the database.
pub(crate) const TIME: Duration = Duration::from_secs(60);

/// Limit for the processor time that one transaction spends on this thread.
const WORK: Duration = Duration::from_secs(10);

/// A clock that stops the transactions of a connection at their time limits. Each transaction runs on the thread that
/// starts it.
#[derive(Debug, Clone, Default)]
pub(crate) struct TransactionClock(Arc<Ends>);

/// The end of a transaction, in milliseconds of elapsed time and of this thread's processor time; 0 means no limit.
#[derive(Debug, Default)]
struct Ends {
    time: AtomicU64,
    work: AtomicU64,
    /// The moment before which the processor time is not read. Until then the processor time cannot reach its limit,
    /// because it cannot exceed the elapsed time, and reading it is slower.
    ask: AtomicU64,
}

impl TransactionClock {
    /// Starts the time limits of a transaction.
    pub(crate) fn start(&self, time: Duration) {
        let end = |now: Duration, most: Duration| millis(now.saturating_add(most)).max(1);
        self.0.time.store(end(now(), time), Ordering::Relaxed);
        let work = if time == Duration::MAX { time } else { WORK };
        self.0.work.store(end(worked(), work), Ordering::Relaxed);
        self.0.ask.store(end(now(), work), Ordering::Relaxed);
    }

    /// Ends the time limits of a transaction.
    pub(crate) fn stop(&self) {
        self.0.time.store(0, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        let end = |end: &AtomicU64| end.load(Ordering::Relaxed);
        let (time, now) = (end(&self.0.time), millis(now()));
        let worked_enough = || now >= end(&self.0.ask) && millis(worked()) >= end(&self.0.work);
        time != 0 && (now >= time || worked_enough())
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the time since the first call in this process.
fn now() -> Duration {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    BEGUN.get_or_init(Instant::now).elapsed()
}

/// Returns the processor time of this thread so far.
#[cfg(unix)]
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
}

/// Returns elapsed time, on systems that do not measure the processor time of a thread.
#[cfg(not(unix))]
fn worked() -> Duration {
    now()
}

/// Guards a connection for writing into a foreign database: applies the limits of reading, and disables triggers of the
/// file.
pub(super) fn settings(
    conn: &mut Connection,
    path: &Path,
    clock: TransactionClock,
) -> Result<(), Fault> {
    let writing = Guard {
        stop: Some(Arc::new(move || clock.is_over())),
        writes: true,
        ..Guard::default()
    };
    guard(conn, writing).map_err(|error| fault::decode(path, &error))?;
    own(conn).map_err(|error| fault::sqlite(path, &error))
}

/// Applies the settings that every database gets, whoever created it. Setting them here makes them independent of how
/// the SQLite library was built (errata F8).
pub(super) fn own(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;")
}

/// Returns the version of the schema. SQLite increases it with each change of the schema, and rereads the schema only
/// if the version differs.
pub(super) fn version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.query_row("PRAGMA schema_version", [], |row| row.get(0))
}

/// Returns the existing tables with OpenProse's names, in lower case. `deletes` is whether rows are also deleted.
///
/// # Errors
/// A fault if something is on one of the tables that may not be there.
pub(super) fn tables(conn: &Connection, path: &Path, deletes: bool) -> Result<Vec<String>, Fault> {
    match fit_for_writing(conn, &schema::OF_RUNS, deletes) {
        Ok(Ok(there)) => Ok(there),
        Ok(Err(unfit)) => {
            let message = format!("{} is not recorded into: {unfit}", path.display());
            Err(Fault::new(FaultKind::Damaged, message).hint(
                "nothing was recorded; make a copy in Prosescope's own form: `prosescope convert RUN --to filesystem`; or remove from the table what is named",
            ))
        }
        Err(error) => Err(fault::decode(path, &error)),
    }
}

/// Creates missing tables with their indexes and triggers: those that OpenProse's SQL omits or fails to create (errata
/// S1). Existing tables stay unchanged.
pub(super) fn complete(conn: &Connection, there: &[String]) -> rusqlite::Result<()> {
    let missing = |table: &str| !there.iter().any(|name| name == table);
    if !schema::OF_RUNS.into_iter().any(missing) {
        return Ok(());
    }
    let whole = Connection::open_in_memory()?;
    whole.execute_batch(schema::STATE_SQL)?;
    let mut objects = whole.prepare(
        "SELECT name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
         ORDER BY rowid",
    )?;
    let mut objects = objects.query([])?;
    while let Some(object) = objects.next()? {
        let (name, table, sql): (String, String, String) =
            (object.get(0)?, object.get(1)?, object.get(2)?);
        if !missing(&table) {
            continue;
        }
        let taken: bool = conn.query_row(
            "SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE)",
            [&name],
            |row| row.get(0),
        )?;
        // If the name is taken, for example by an index on another table, the object is left out. A missing index only
        // makes reading slower. If the index would also enforce a rule, the plan enforces that rule too.
        if !taken {
            // References to existing tables are removed: a table made by another program may lack the key that a
            // foreign key needs.
            let keys = [
                (schema::AGENTS, "name"),
                (schema::RUN, "id"),
                (schema::EXECUTION, "id"),
            ];
            let kept = keys.iter().filter(|(table, _)| !missing(table));
            let sql = kept.fold(sql, |sql, (table, key)| {
                sql.replace(&format!(" REFERENCES {table}({key})"), "")
            });
            conn.execute_batch(&sql)?;
        }
    }
    Ok(())
}

/// Returns the `ORDER BY` clause for the insertion order of a table, with `down` the newest row first. Returns an empty
/// text for a `WITHOUT ROWID` table, which has no such order.
pub(super) fn by_coming(conn: &Connection, table: &str, down: bool) -> &'static str {
    match (
        conn.prepare_cached(&format!("SELECT rowid FROM {table} LIMIT 0")),
        down,
    ) {
        (Err(_), _) => "",
        (Ok(_), true) => "ORDER BY rowid DESC",
        (Ok(_), false) => "ORDER BY rowid",
    }
}
