//! Records a run in a `state.db`: one immediate transaction per command.
//!
//! The journal mode is left as found: WAL is never switched on or off while another writer uses it, and a new database
//! has a rollback journal (errata R2). `synchronous` is FULL, so that an acknowledged command is on disk.

mod apply;
mod columns;
mod commit;
mod guard;
mod readback;
mod rows;
mod shelf;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use prosescope_core::model::Run;
use prosescope_core::model::schema;
use prosescope_core::read::sqlite::unfit_for_vacuum;
use prosescope_core::record::{Change, Facts, Fault, FaultKind, RunStore, Style, Work, WriteError};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, params};

use super::files::{Attachments, sweep};
use super::lock::{RunLock, lock};
use super::reading::Reading;
use super::{fault, fresh, held};
use crate::dir::Dir;
use commit::CommitResult;
pub(crate) use guard::TIME;
pub(crate) use guard::TransactionClock;
use readback::UnwrittenReason;
use shelf::SqliteShelf;

/// How long SQLite waits for writers that do not use the lock file (`sqlite3`).
pub(super) const BUSY: Duration = Duration::from_secs(30);

/// How often a run is read again because another program wrote meanwhile, before it is read under the lock.
const TRIES: u32 = 5;

/// A `state.db` open for recording.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    /// The name of the database's file in `dir`.
    name: String,
    conn: Connection,
    /// The same file, for reading its first bytes. It stays open as long as the connection, whose locks are lost when
    /// any descriptor of the file is closed.
    file: Option<Arc<File>>,
    /// The database's folder, which also contains attachments and the lock file. Rust drops fields in order: the folder
    /// is closed after the connection, which needs it.
    dir: Dir,
    run: String,
    clock: TransactionClock,
    /// Time limit for a transaction, from the moment it holds the database.
    time: Duration,
    /// Whether commands depend on the run, so that it is read for them.
    reads: bool,
    /// The failure that happened after the last command was recorded, until [`RunStore::late_fault`] returns it.
    late_fault: Option<Fault>,
    /// The file with a value that is too long for memory.
    staged: Option<File>,
    /// The tables found in the last check of the schema, with the schema's version.
    seen: Option<(i64, Vec<String>)>,
}

impl SqliteStore {
    /// Opens a database for writing. `run_id` selects one of several runs; by default the run that readers show
    /// ([`which_run`](prosescope_core::read::decode::rows::which_run)) or, if the `run` table is empty, the run named
    /// like the folder. Does not follow a link.
    ///
    /// # Errors
    /// A [`Fault`] if the file is not a database or not writable.
    pub fn open(path: &Path, run_id: Option<&str>) -> Result<SqliteStore, Fault> {
        let (dir, name) = dir_and_name(path);
        let opened = Dir::open_own(dir).map_err(|cause| fault::unopened(dir, &cause))?;
        SqliteStore::open_in(opened, name, run_id)
    }

    /// Opens a database in a folder that is held open.
    pub(crate) fn open_in(
        dir: Dir,
        name: String,
        run_id: Option<&str>,
    ) -> Result<SqliteStore, Fault> {
        let path = dir.shown(&name);
        let clock = TransactionClock::default();
        clock.start(guard::TIME);
        let conn = connect(&dir, &name, OpenFlags::SQLITE_OPEN_READ_WRITE, &clock)?;
        let wrong = |error| fault::sqlite(&path, &error);
        // All checks run in one transaction, so that they see one state and lock the database only once.
        conn.execute_batch("BEGIN").map_err(wrong)?;
        let version = guard::version(&conn).map_err(wrong)?;
        let there = guard::tables(&conn, &path, false)?;
        if there.is_empty() {
            let message = format!("there is no run in {}", path.display());
            return Err(Fault::new(FaultKind::Damaged, message)
                .hint("`prosescope init PROGRAM --state sqlite` makes a run in a database"));
        }
        let real = dir.path().canonicalize();
        let real = real.as_deref().unwrap_or(dir.path());
        let folder = real.file_name().unwrap_or_default().to_string_lossy();
        let run = match run_id {
            Some(id) => Some(id.to_owned()),
            None if there.iter().any(|table| table == schema::RUN) => {
                rows::run_of(&conn, &folder).map_err(wrong)?
            }
            None => None,
        };
        conn.execute_batch("COMMIT").map_err(wrong)?;
        let run = run.unwrap_or_else(|| folder.into_owned());
        let mut store = SqliteStore::of(dir, name, conn, clock);
        let file = store.dir.file(&store.name);
        let unread = |cause| fault::io(&store.path, "cannot be read", &cause);
        store.file = file.map_err(unread)?.map(Arc::new);
        store.run = run;
        store.seen = Some((version, there));
        Ok(store)
    }

    /// Returns a store without a run, for a guarded connection in `dir`.
    fn of(dir: Dir, name: String, conn: Connection, clock: TransactionClock) -> SqliteStore {
        clock.stop();
        SqliteStore {
            path: dir.shown(&name),
            name,
            conn,
            file: None,
            dir,
            run: String::new(),
            clock,
            time: guard::TIME,
            reads: true,
            late_fault: None,
            staged: None,
            seen: None,
        }
    }

    /// Opens a database of agents (`.prose/agents.db`, `~/.prose/agents.db`, or one that the user named), and creates
    /// it on first use (sqlite.md, "Project-Scoped and User-Scoped Agents"). Such a database contains no run, only
    /// memories and segments.
    ///
    /// # Errors
    /// A [`Fault`] if the file is not a database or not writable.
    pub fn open_agents(path: &Path) -> Result<SqliteStore, Fault> {
        let (dir, name) = dir_and_name(path);
        let unmade = |cause: std::io::Error| fault::io(dir, "cannot be made", &cause);
        let dir = Dir::make(dir).map_err(unmade)?;
        let path = dir.shown(&name);
        // Creation is idempotent and runs under the lock, because several processes may use the file for the first time
        // at once.
        let _lock = lock(&dir)?;
        let clock = TransactionClock::default();
        clock.start(guard::TIME);
        let conn = connect(
            &dir,
            &name,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
            &clock,
        )?;
        let wrong = |error| fault::sqlite(&path, &error);
        // Checks and writes in one transaction, so that a trigger cannot be added in between.
        conn.execute_batch("BEGIN IMMEDIATE").map_err(wrong)?;
        guard::tables(&conn, &path, false)?;
        conn.execute_batch(schema::AGENTS_SQL)
            .and_then(|()| conn.execute_batch("COMMIT"))
            .map_err(wrong)?;
        Ok(SqliteStore::of(dir, name, conn, clock))
    }

    /// Sets the file with the bytes of a value that is too long for memory; the next commands copy these bytes for each
    /// `ValueBytes::Staged`.
    pub fn stage(&mut self, file: File) {
        self.staged = Some(file);
    }

    /// Returns the id of the run that commands are recorded in; empty for a database of agents.
    pub fn run_id(&self) -> &str {
        &self.run
    }

    /// Shrinks the file (`finish --vacuum`), and writes a `-wal` back into it.
    ///
    /// # Errors
    /// A [`Fault`]; the data is unchanged.
    pub fn vacuum(&mut self) -> Result<(), Fault> {
        let _lock = lock(&self.dir)?;
        let unfit = unfit_for_vacuum(&self.conn);
        if let Some(unfit) = unfit.map_err(|error| fault::decode(&self.path, &error))? {
            let name = self.path.display();
            let message = format!(
                "{name} was not made smaller, because that runs code of its schema: {unfit}"
            );
            return Err(Fault::new(FaultKind::Damaged, message)
                .hint("the records are unchanged; leave out --vacuum"));
        }
        let conn = &mut self.conn;
        let done = || -> rusqlite::Result<()> {
            // VACUUM attaches a temporary database and fills it, so attaching must be allowed. The number of its steps
            // grows with the rows, so the step limit is lifted.
            conn.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 1)?;
            conn.progress_handler(0, None::<fn() -> bool>)?;
            conn.execute_batch("VACUUM")
        }();
        done.map_err(|error| fault::sqlite(&self.path, &error))?;
        self.checkpoint()
    }

    /// Writes a `-wal` back into the database, so that a copy of the single file is complete (errata R2).
    ///
    /// # Errors
    /// A [`Fault`]; the data is unchanged.
    pub fn checkpoint(&mut self) -> Result<(), Fault> {
        self.conn
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .map_err(|error| fault::sqlite(&self.path, &error))
    }

    /// Lifts the time limit and the check of foreign keys, so that a conversion can write any number of rows, also with
    /// dangling keys (errata B10: carried over and reported). Does not read the run, which a conversion does not ask
    /// about. Only for new databases that Prosescope created.
    pub(crate) fn takes_any(&mut self) -> Result<(), Fault> {
        self.time = Duration::MAX;
        self.reads = false;
        self.conn
            .progress_handler(0, None::<fn() -> bool>)
            .and_then(|()| self.conn.execute_batch("PRAGMA foreign_keys = OFF"))
            .map_err(|error| fault::sqlite(&self.path, &error))
    }

    /// Reads the run; `None` in a database of agents, or if no command depends on it.
    fn read(&self) -> Result<Option<Reading>, Fault> {
        match self.run.as_str() {
            "" => Ok(None),
            _ if !self.reads => Ok(None),
            run => Reading::of(&self.dir, &self.name, Some(run), self.file.as_ref()).map(Some),
        }
    }

    /// Ends a transaction without changes. A failing ROLLBACK is ignored: the journal undoes the transaction on the
    /// next opening.
    fn back(&self) {
        let _ = self.conn.execute_batch("ROLLBACK");
    }

    fn in_transaction(
        &mut self,
        work: Work<'_>,
        lock: &RunLock,
        reading: Option<&Reading>,
    ) -> Result<Option<Fault>, WriteError> {
        let wrong = |error: rusqlite::Error| WriteError::Fault(fault::sqlite(&self.path, &error));
        // The last check is still valid if the version of the schema is unchanged, because this connection rereads the
        // schema when the version changes.
        let there = match self.seen.take() {
            Some((version, there)) if guard::version(&self.conn).map_err(wrong)? == version => {
                there
            }
            _ => guard::tables(&self.conn, &self.path, false)?,
        };
        if !self.run.is_empty() {
            // If the command writes nothing, the new tables are rolled back with the transaction.
            guard::complete(&self.conn, &there).map_err(wrong)?;
        }
        let shelf = SqliteShelf {
            conn: &self.conn,
            path: &self.path,
            run: &self.run,
            reading,
        };
        let none = Run::default();
        let session = reading.map(Reading::session);
        let run = session.map_or(&none, |session| session.run());
        let listing = session.and_then(|session| session.listing());
        let trace = session.map(|session| session.trace());
        let facts = Facts::of(&shelf, Style::of(run), Cow::Borrowed(run), listing, trace);
        let facts = facts.map_err(|fault| fault.in_place(self.path.display()))?;
        let changes = work(&facts)?;
        if changes.is_empty() {
            self.conn.execute_batch("ROLLBACK").map_err(wrong)?;
            return Ok(None);
        }
        let mut files = Attachments::new(&self.dir, self.staged.as_ref(), lock);
        for change in &changes {
            if let Change::Attachment(file) = change {
                files.add(file)?;
            }
        }
        // Writes the run's row first: gates refer to it, and it may be missing in a hand-made database.
        let (run, rest): (Vec<&Change>, Vec<&Change>) = changes
            .iter()
            .partition(|change| matches!(change, Change::Run(_)));
        let unwritten = |error: UnwrittenReason| error.into_command_error(&self.path);
        for change in run.into_iter().chain(rest) {
            apply::row(&self.conn, &self.run, change).map_err(|error| unwritten(error.into()))?;
            readback::row(&self.conn, &self.run, change).map_err(unwritten)?;
        }
        held::stays(&self.dir, &self.name)?;
        let Err(error) = self.conn.execute_batch("COMMIT") else {
            files.keep();
            return Ok(None);
        };
        let place = (&self.dir, self.name.as_str());
        match commit::ended(&self.conn, place, &self.run, &changes, &error) {
            CommitResult::There => {
                files.keep();
                Ok(Some(commit::unsure(&error)))
            }
            CommitResult::Undone => {
                // Rows that were rolled back may reappear from a `-wal`, so the attachments that they refer to are
                // kept.
                let wal = self.dir.look(&format!("{}-wal", self.name));
                if !matches!(wal, Ok(None)) {
                    files.keep();
                }
                Err(wrong(error))
            }
            CommitResult::Unknown => {
                files.keep();
                Err(commit::unknown(&self.path, &error).into())
            }
        }
    }
}

impl RunStore for SqliteStore {
    fn transact(&mut self, work: Work<'_>) -> Result<(), WriteError> {
        let lock = lock(&self.dir)?;
        sweep(&self.dir, &lock);
        let wrong = |error| fault::sqlite(&self.path, &error);
        let mut reading = None;
        for attempt in 0..=TRIES {
            // Reading a long run takes a moment, in which `sqlite3`, which does not wait, must be able to write. So the
            // run is read before the lock is taken, and again if another program wrote meanwhile.
            let before = version_of_data(&self.conn).map_err(wrong)?;
            if attempt < TRIES {
                reading = self.read()?;
            }
            self.conn.execute_batch("BEGIN IMMEDIATE").map_err(wrong)?;
            if attempt == TRIES {
                reading = self.read().inspect_err(|_| self.back())?;
            } else if version_of_data(&self.conn).map_err(wrong)? != before {
                self.back();
                continue;
            }
            break;
        }
        self.clock.start(self.time);
        let done = self.in_transaction(work, &lock, reading.as_ref());
        self.clock.stop();
        if done.is_err() && !self.conn.is_autocommit() {
            self.back();
        }
        self.late_fault = done?;
        Ok(())
    }

    fn late_fault(&mut self) -> Option<Fault> {
        self.late_fault.take()
    }
}

/// Creates a run folder with its program and a database, atomically by renaming. Returns a failure that happened after
/// the folder was created.
///
/// # Errors
/// A refusal if the path exists, or a [`Fault`] if it cannot be written; in both cases no part of the folder is left.
pub fn init_sqlite(
    dir: &Path,
    run_id: &str,
    program_path: &str,
    program_source: &str,
    now: &str,
) -> Result<Option<Fault>, WriteError> {
    let (above, name) = fresh::place(dir)?;
    fresh::run_folder(&above, &name, program_source, |aside| {
        Ok(write_database(
            aside,
            &dir.join("state.db"),
            run_id,
            program_path,
            program_source,
            now,
            Some("running"),
        )?)
    })
}

/// Writes a new `state.db` with one run. `named` is the database's path for messages. An empty `now` and a missing
/// status become NULL.
pub(crate) fn write_database(
    dir: &Dir,
    named: &Path,
    run_id: &str,
    program_path: &str,
    program_source: &str,
    now: &str,
    status: Option<&str>,
) -> Result<(), Fault> {
    let conn = create(dir, "state.db")?;
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

/// Opens a database for writing, even one of another program; see [`guard::settings`]. `dir` must stay open until the
/// connection is closed.
fn connect(
    dir: &Dir,
    name: &str,
    flags: OpenFlags,
    clock: &TransactionClock,
) -> Result<Connection, Fault> {
    let mut conn = open(dir, name, flags)?;
    guard::settings(&mut conn, &dir.shown(name), clock.clone())?;
    Ok(conn)
}

/// Opens a database of agents, to count or delete its rows. `dir` must stay open as long as the connection.
///
/// # Errors
/// A [`Fault`] if the database is not writable.
pub(crate) fn connect_agents(dir: &Dir, name: &str) -> Result<Connection, Fault> {
    let clock = TransactionClock::default();
    clock.start(guard::TIME);
    let conn = connect(dir, name, OpenFlags::SQLITE_OPEN_READ_WRITE, &clock)?;
    guard::tables(&conn, &dir.shown(name), true)?;
    Ok(conn)
}

/// Opens a database of workflows for writing. If `make` is true, creates the database if it is missing. `dir` must stay
/// open as long as the database.
///
/// # Errors
/// A [`Fault`] if the database is not writable.
pub(crate) fn connect_workflows(
    dir: &Dir,
    name: &str,
    make: bool,
    clock: &TransactionClock,
) -> Result<Connection, Fault> {
    let flags = if make {
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
    } else {
        OpenFlags::SQLITE_OPEN_READ_WRITE
    };
    connect(dir, name, flags, clock)
}

/// Adds to a new `state.db` the column for frames without a row in `execution`. `named` is the database's path for
/// messages.
pub(crate) fn add_frames(dir: &Dir, named: &Path) -> Result<(), Fault> {
    let conn = create(dir, "state.db")?;
    let column = schema::FRAME_AROUND;
    conn.execute_batch(&format!("ALTER TABLE bindings ADD COLUMN {column} INTEGER"))
        .and_then(|()| conn.close().map_err(|(_, error)| error))
        .map_err(|error| fault::sqlite(named, &error))
}

/// Creates a database, or opens one that Prosescope created, without limits on the amount of data. `dir` must stay open
/// as long as the connection.
pub(crate) fn create(dir: &Dir, name: &str) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let conn = open(dir, name, flags)?;
    guard::own(&conn).map_err(|error| fault::sqlite(&dir.shown(name), &error))?;
    Ok(conn)
}

fn open(dir: &Dir, name: &str, flags: OpenFlags) -> Result<Connection, Fault> {
    let conn = held::open(dir, name, flags)?;
    conn.busy_timeout(BUSY)
        .map_err(|error| fault::sqlite(&dir.shown(name), &error))?;
    Ok(conn)
}

/// Returns a number that changes whenever another connection has written to the database.
fn version_of_data(conn: &Connection) -> rusqlite::Result<i64> {
    conn.query_row("PRAGMA data_version", [], |row| row.get(0))
}

fn dir_and_name(path: &Path) -> (&Path, String) {
    let name = path.file_name().unwrap_or_default();
    let dir = path.parent().unwrap_or(Path::new("."));
    (dir, name.to_string_lossy().into_owned())
}
