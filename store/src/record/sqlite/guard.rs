//! What a database must be like before anything is written into it (errata R4, R5): a trigger
//! could approve a gate, a view never end, a table swallow rows.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use prosescope_core::schema;
use prosescope_core::sqlite::{Guard, fit_for_writing, guard};
use prosescope_core::write::{Fault, FaultKind};
use rusqlite::Connection;

use crate::record::fault;

/// How long one transaction may take once it holds the database.
pub(crate) const TIME: Duration = Duration::from_secs(60);

/// How much processor time it may take meanwhile.
const WORK: Duration = Duration::from_secs(10);

/// Our own tables beside the documents'.
const HISTORY: [&str; 2] = [schema::BINDING_HISTORY, schema::AGENT_MEMORY_HISTORY];

/// Ends the transactions of a connection in time. Each runs on the thread that starts it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock(Arc<Ends>);

/// When a transaction ends: milliseconds of the time that passes, and of this thread's work. 0 is never.
#[derive(Debug, Default)]
struct Ends {
    time: AtomicU64,
    work: AtomicU64,
    /// Before this time no work is asked for, which the system takes longer to tell: there is none without time.
    ask: AtomicU64,
}

impl Clock {
    /// A transaction begins, and may take so long.
    pub(crate) fn start(&self, time: Duration) {
        let end = |now: Duration, most: Duration| millis(now.saturating_add(most)).max(1);
        self.0.time.store(end(now(), time), Ordering::Relaxed);
        let work = if time == Duration::MAX { time } else { WORK };
        self.0.work.store(end(worked(), work), Ordering::Relaxed);
        self.0.ask.store(end(now(), work), Ordering::Relaxed);
    }

    /// The transaction has ended.
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

/// Time since the process first asked.
fn now() -> Duration {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    BEGUN.get_or_init(Instant::now).elapsed()
}

/// Processor time of this thread so far.
#[cfg(unix)]
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
}

/// Where the system does not count it for a thread, time that passes.
#[cfg(not(unix))]
fn worked() -> Duration {
    now()
}

/// Guards a connection that writes into somebody's database: the limits of reading, and no trigger of the file runs.
pub(super) fn settings(conn: &mut Connection, path: &Path, clock: Clock) -> Result<(), Fault> {
    let writing = Guard {
        stop: Some(Arc::new(move || clock.is_over())),
        writes: true,
        ..Guard::default()
    };
    guard(conn, writing).map_err(|error| fault::decode(path, &error))?;
    own(conn).map_err(|error| fault::sqlite(path, &error))
}

/// What is set whether the database is somebody's or our own: never what the library happens to be built with (errata F8).
pub(super) fn own(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;")
}

/// The schema's version, which SQLite changes with the schema. It reads the schema anew when it finds another version, and
/// only then.
pub(super) fn version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.query_row("PRAGMA schema_version", [], |row| row.get(0))
}

/// The documents' tables that are there, in small letters.
///
/// # Errors
/// A fault when something else has the name of one, or a trigger that is none of ours works on one.
pub(super) fn tables(conn: &Connection, path: &Path) -> Result<Vec<String>, Fault> {
    let damaged = |message: String| {
        Fault::new(
            FaultKind::Damaged,
            format!("{} {message}: nothing was written", path.display()),
        )
    };
    match fit_for_writing(conn) {
        Ok(Ok(there)) => Ok(there),
        Ok(Err(unfit)) => Err(damaged(format!("has {unfit}"))
            .hint("`prosescope check RUN --fix` writes a copy with OpenProse's tables alone")),
        Err(error) => Err(fault::decode(path, &error)),
    }
}

/// Makes the tables that are missing, with their indexes and triggers: what the documents' SQL leaves out, or does not
/// load (errata S1). What is there stays as it is.
pub(super) fn complete(conn: &Connection, there: &[String]) -> rusqlite::Result<()> {
    let missing = |table: &str| !there.iter().any(|name| name == table);
    let known = schema::TABLES.iter().map(|table| table.name);
    if !known.chain(HISTORY).any(missing) {
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
        // An index of that name on another table: ours only makes reading quicker, or keeps a rule that the plan keeps.
        if !taken {
            // A table that others made need not have the key that a reference asks for.
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

/// `ORDER BY` for a table: the order in which its rows came, where it has one (a `WITHOUT ROWID` table has none).
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
