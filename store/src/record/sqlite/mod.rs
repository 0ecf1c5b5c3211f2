//! A run in a `state.db`: one immediate transaction a command.
//!
//! The journal mode stays as it is found: WAL is never switched on or off behind its writer's back, and a new
//! database has a rollback journal (reliability.md). `synchronous` is FULL: what was acknowledged is on disk.

mod apply;
mod facts;
mod guard;
mod readback;
mod rows;
mod statements;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use prosescope_core::decode::sqlite::{dialect_of, runs_foreign};
use prosescope_core::model::Dialect;
use prosescope_core::schema;
use prosescope_core::write::{Change, Fault, FaultKind, RunStore, Style, Work, WriteError};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use super::files::Attachments;
use super::lock::{RunLock, lock};
use super::{fault, fresh};
use facts::SqliteFacts;
use guard::Clock;
use statements::{Statements, Unwritten};

/// How long SQLite waits for writers that do not know the lock file (`sqlite3`).
const BUSY: Duration = Duration::from_secs(30);

/// A `state.db` that is written to.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    /// Where the database lies: attachments and the lock file lie there too.
    dir: PathBuf,
    conn: Connection,
    run: String,
    clock: Clock,
    /// How long a transaction may take once it holds the database.
    time: Duration,
}

impl SqliteStore {
    /// Opens a database for writing. `run_id` says which of several runs; else the one that it holds, or, where its
    /// `run` table is empty, the one that is named as its folder. A link is not followed.
    ///
    /// # Errors
    /// A [`Fault`] when it is no database, or may not be written to.
    pub fn open(path: &Path, run_id: Option<&str>) -> Result<SqliteStore, Fault> {
        if path.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
            let message = format!("{} is a link: nothing is written behind it", path.display());
            return Err(Fault::new(FaultKind::Io, message)
                .hint("name the file itself, if it is the one that is meant"));
        }
        let path = path
            .canonicalize()
            .map_err(|cause| fault::io(path, "cannot be opened", &cause))?;
        let dir = path.parent().map(Path::to_owned).unwrap_or_default();
        let clock = Clock::default();
        clock.start(guard::TIME);
        let conn = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE, &clock)?;
        let wrong = |error| fault::sqlite(&path, &error);
        let there = guard::tables(&conn, &path)?;
        if there.is_empty() {
            let message = format!("there is no run in {}", path.display());
            return Err(Fault::new(FaultKind::Damaged, message)
                .hint("`prose init PROGRAM --state sqlite` makes a run in a database"));
        }
        let newest = || {
            let order = guard::by_coming(&conn, schema::RUN, true);
            conn.query_row(&format!("SELECT id FROM run {order} LIMIT 1"), [], |row| {
                row.get::<_, Option<String>>(0)
            })
            .optional()
        };
        let run = match run_id {
            Some(id) => Some(id.to_owned()),
            None if there.iter().any(|table| table == schema::RUN) => {
                newest().map_err(wrong)?.flatten()
            }
            None => None,
        };
        clock.stop();
        let run = run.unwrap_or_else(|| {
            let name = dir.file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        });
        Ok(SqliteStore {
            path,
            dir,
            conn,
            run,
            clock,
            time: guard::TIME,
        })
    }

    /// Opens a database of agents (`.prose/agents.db`, `~/.prose/agents.db`, or one that the user named), made on
    /// first use (sqlite.md, "Project-Scoped and User-Scoped Agents"). It holds no run: memories and segments only.
    ///
    /// # Errors
    /// A [`Fault`] when it is no database, or may not be written to.
    pub fn open_agents(path: &Path) -> Result<SqliteStore, Fault> {
        let dir = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(dir).map_err(|cause| fault::io(dir, "cannot be made", &cause))?;
        let dir = dir
            .canonicalize()
            .map_err(|cause| fault::io(dir, "cannot be opened", &cause))?;
        let path = dir.join(path.file_name().unwrap_or_default());
        // Racing first uses: made under the lock, and over itself.
        let _lock = lock(&dir)?;
        let clock = Clock::default();
        clock.start(guard::TIME);
        let conn = connect(
            &path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
            &clock,
        )?;
        let wrong = |error| fault::sqlite(&path, &error);
        // What is looked at is what is written to: nobody brings in a trigger between the two.
        conn.execute_batch("BEGIN IMMEDIATE").map_err(wrong)?;
        guard::tables(&conn, &path)?;
        conn.execute_batch(schema::AGENTS_SQL)
            .and_then(|()| conn.execute_batch("COMMIT"))
            .map_err(wrong)?;
        clock.stop();
        Ok(SqliteStore {
            path,
            dir,
            conn,
            run: String::new(),
            clock,
            time: guard::TIME,
        })
    }

    /// The id of the run that is written to.
    pub fn run_id(&self) -> &str {
        &self.run
    }

    /// Makes the file small again (`finish --vacuum`), and empties a `-wal` into it.
    ///
    /// # Errors
    /// A [`Fault`]; the data is as it was.
    pub fn vacuum(&mut self) -> Result<(), Fault> {
        let _lock = lock(&self.dir)?;
        // Every index is made anew, and with it what the schema computes.
        let foreign = runs_foreign(&self.conn, "REINDEX", None);
        if let Some(foreign) = foreign.map_err(|error| fault::sqlite(&self.path, &error))? {
            let name = self.path.display();
            let message =
                format!("{name} was not made smaller: that would run {foreign} of its schema");
            return Err(Fault::new(FaultKind::Damaged, message)
                .hint("what was recorded is there; leave out --vacuum"));
        }
        let conn = &mut self.conn;
        let done = || -> rusqlite::Result<()> {
            // SQLite fills another database, which it attaches, in as many steps as there are rows.
            conn.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 1)?;
            conn.progress_handler(0, None::<fn() -> bool>)?;
            conn.execute_batch("VACUUM")
        }();
        done.map_err(|error| fault::sqlite(&self.path, &error))?;
        self.checkpoint()
    }

    /// Empties a `-wal` into the database, so that a copy of the one file is whole (reliability.md).
    ///
    /// # Errors
    /// A [`Fault`]; the data is as it was.
    pub fn checkpoint(&mut self) -> Result<(), Fault> {
        self.conn
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .map_err(|error| fault::sqlite(&self.path, &error))
    }

    /// Takes rows as another store had them, however many, keys that lead nowhere included (errata B10: carried, and
    /// reported): for a database that we made.
    pub(crate) fn takes_any(&mut self) -> Result<(), Fault> {
        self.time = Duration::MAX;
        self.conn
            .progress_handler(0, None::<fn() -> bool>)
            .and_then(|()| self.conn.execute_batch("PRAGMA foreign_keys = OFF"))
            .map_err(|error| fault::sqlite(&self.path, &error))
    }

    fn style(&self) -> rusqlite::Result<Style> {
        if self.run.is_empty() {
            return Ok(Style::AppendOnly);
        }
        // The newest rows say how the file is written now.
        let mut newest = rows::newest(&self.conn, 200)?;
        newest.reverse();
        Ok(match dialect_of(&newest) {
            Dialect::InPlace => Style::InPlace,
            Dialect::AppendOnly | Dialect::Mixed | Dialect::Undecided => Style::AppendOnly,
        })
    }

    fn in_transaction(&self, work: Work<'_>, lock: &RunLock) -> Result<(), WriteError> {
        let wrong = |error: rusqlite::Error| WriteError::Fault(fault::sqlite(&self.path, &error));
        let there = guard::tables(&self.conn, &self.path)?;
        if !self.run.is_empty() {
            // Undone with all else, when nothing is to be written.
            guard::complete(&self.conn, &there).map_err(wrong)?;
        }
        let style = self.style().map_err(wrong)?;
        let facts = SqliteFacts {
            conn: &self.conn,
            path: &self.path,
            dir: &self.dir,
            run: &self.run,
            style,
        };
        let changes = work(&facts)?;
        if changes.is_empty() {
            return self.conn.execute_batch("ROLLBACK").map_err(wrong);
        }
        let mut files = Attachments::new(&self.dir, lock);
        for change in &changes {
            if let Change::Attachment(file) = change {
                files.add(file)?;
            }
        }
        // The run's row first: gates refer to it, and in a database made by hand it may be missing.
        let (run, rest): (Vec<&Change>, Vec<&Change>) = changes
            .iter()
            .partition(|change| matches!(change, Change::Run(_)));
        let unwritten = |error: Unwritten| error.told(&self.path);
        let statements = Statements::new(&self.conn);
        for change in run.into_iter().chain(rest) {
            apply::row(&statements, &self.run, change).map_err(unwritten)?;
            readback::row(&self.conn, &self.run, change).map_err(unwritten)?;
        }
        self.conn.execute_batch("COMMIT").map_err(wrong)?;
        files.keep();
        Ok(())
    }
}

impl RunStore for SqliteStore {
    fn transact(&mut self, work: Work<'_>) -> Result<(), WriteError> {
        let lock = lock(&self.dir)?;
        let wrong = |error| fault::sqlite(&self.path, &error);
        self.conn.execute_batch("BEGIN IMMEDIATE").map_err(wrong)?;
        self.clock.start(self.time);
        let done = self.in_transaction(work, &lock);
        self.clock.stop();
        if done.is_err() && !self.conn.is_autocommit() {
            // Nothing is left to be done when undoing fails as well: the journal undoes it on the next opening.
            let _ = self.conn.execute_batch("ROLLBACK");
        }
        done
    }
}

/// Makes a run folder with its program and a database, atomically: under another name first.
///
/// # Errors
/// A refusal when something is there already, or a [`Fault`] when it cannot be written; then nothing is there.
pub fn init_sqlite(
    dir: &Path,
    run_id: &str,
    program_path: &str,
    program_source: &str,
    now: &str,
) -> Result<(), WriteError> {
    fresh::run_folder(dir, program_source, |aside| {
        let path = aside.join("state.db");
        let named = dir.join("state.db");
        Ok(write_database(
            &path,
            &named,
            run_id,
            program_path,
            program_source,
            now,
            Some("running"),
        )?)
    })
}

/// A new database with one run in it, which is to be `named`; no time is NULL, and so is no status.
pub(crate) fn write_database(
    path: &Path,
    named: &Path,
    run_id: &str,
    program_path: &str,
    program_source: &str,
    now: &str,
    status: Option<&str>,
) -> Result<(), Fault> {
    let conn = create(path)?;
    let fill = |conn: Connection| {
        conn.execute_batch(&format!("BEGIN;\n{}", schema::STATE_SQL))?;
        conn.execute(
            "INSERT INTO run (id, program_path, program_source, started_at, updated_at, status, state_mode)
             VALUES (?1, ?2, ?3, nullif(?4, ''), nullif(?4, ''), ?5, 'sqlite')",
            params![run_id, program_path, program_source, now, status],
        )?;
        conn.execute_batch("COMMIT")?;
        conn.close().map_err(|(_, error)| error)
    };
    fill(conn).map_err(|error| fault::sqlite(named, &error))
}

/// Opens a database that may be somebody else's, to write into it; see [`guard::settings`].
pub(crate) fn connect(path: &Path, flags: OpenFlags, clock: &Clock) -> Result<Connection, Fault> {
    let mut conn = open(path, flags)?;
    guard::settings(&mut conn, clock.clone())?;
    Ok(conn)
}

/// Opens a database of agents, to count or delete in it.
///
/// # Errors
/// A [`Fault`] when nothing may be written into it.
pub(crate) fn connect_agents(path: &Path) -> Result<Connection, Fault> {
    let clock = Clock::default();
    clock.start(guard::TIME);
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, &clock)?;
    guard::tables(&conn, path)?;
    Ok(conn)
}

/// Makes a database, or opens one that we made, which any amount is written into.
pub(crate) fn create(path: &Path) -> Result<Connection, Fault> {
    let conn = open(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
    )?;
    guard::own(&conn).map_err(|error| fault::sqlite(path, &error))?;
    Ok(conn)
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, Fault> {
    Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .and_then(|conn| conn.busy_timeout(BUSY).map(|()| conn))
        .map_err(|error| fault::sqlite(path, &error))
}
