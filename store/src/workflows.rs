//! Opens workflows in a SQLite file: `.prose/workflows.db`, or a database of another program.

use std::path::{Path, PathBuf};

use prosescope_core::read::sqlite::{Guard, guard};
use prosescope_core::record::{Fault, FaultKind, WriteError};
use prosescope_workflow::{
    Barrier, LockTarget, RowCondition, Select, SqliteTables, Tables, Waiting, Work, WorkflowRow,
    WorkflowRows, WorkflowShape,
};

use crate::Aside;
use crate::dir::Dir;
use crate::packed;
use crate::record::{TIME, TransactionClock, connect_workflows, fault, lock};

/// A database of workflows open for reading. Reading leaves no trace: a program that follows a workflow opens the
/// database again each time it checks for new events.
#[derive(Debug)]
pub struct WorkflowReader {
    path: PathBuf,
    tables: SqliteTables,
    /// Temporary copies: of an unpacked shared file, or of a database whose writer was killed in the middle of a
    /// change.
    _aside: Vec<Aside>,
}

impl WorkflowReader {
    /// Opens a database for reading.
    ///
    /// # Errors
    /// A [`Fault`] if the file cannot be read, or has no workflow tables.
    pub fn open(path: &Path) -> Result<WorkflowReader, Fault> {
        let unread = |kind: FaultKind, why: String, next: &str| {
            let message = format!("{} cannot be read: {why}", path.display());
            Fault::new(kind, message).hint(next)
        };
        if path.is_file()
            && let Some(reader) = WorkflowReader::unpacked(path)?
        {
            return Ok(reader);
        }
        let opened = crate::database::open(path).map_err(|error| {
            let kind = if error.is_failed() {
                FaultKind::Io
            } else {
                FaultKind::Damaged
            };
            unread(kind, error.to_string(), error.next())
        })?;
        let mut conn = opened.conn;
        guard(&mut conn, Guard::default()).map_err(|error| {
            let next = error.next_step();
            unread(FaultKind::Damaged, error.to_string(), next)
        })?;
        let tables = SqliteTables::new(conn).map_err(|fault| at(path, "cannot be read", fault))?;
        fits(path, tables.shape())?;
        Ok(WorkflowReader {
            path: path.to_owned(),
            tables,
            _aside: opened.aside.into_iter().collect(),
        })
    }

    /// Opens the only database of a shared file; `None` if the file is not a shared one.
    fn unpacked(path: &Path) -> Result<Option<WorkflowReader>, Fault> {
        let unread = |why: &dyn std::fmt::Display, next: &str| {
            Fault::new(FaultKind::Damaged, why.to_string()).hint(next)
        };
        let packed = packed::database(path).map_err(|error| unread(&error, error.next()))?;
        let Some(found) = packed else {
            return Ok(None);
        };
        let Some((folder, found)) = found else {
            let why = format!("{} holds no database of workflows", path.display());
            return Err(unread(
                &why,
                "if the file contains a run, use `prosescope show FILE`",
            ));
        };
        let mut reader = WorkflowReader::open(&found)?;
        path.clone_into(&mut reader.path);
        reader._aside.push(folder);
        Ok(Some(reader))
    }
}

impl WorkflowRows for WorkflowReader {
    fn shape(&self) -> &WorkflowShape {
        self.tables.shape()
    }

    fn select(&self, wanted: &Select<'_>) -> Result<Vec<WorkflowRow>, Fault> {
        let rows = self.tables.select(wanted);
        rows.map_err(|fault| at(&self.path, "cannot be read", fault))
    }

    fn barrier(&self) -> Result<Barrier, Fault> {
        let barrier = self.tables.barrier();
        barrier.map_err(|fault| at(&self.path, "cannot be read", fault))
    }

    fn still_open(&self, waits: &[Waiting]) -> Result<Vec<Waiting>, Fault> {
        self.tables.still_open(waits)
    }
}

/// A database of workflows open for writing: one immediate transaction per command.
#[derive(Debug)]
pub struct WorkflowStore {
    path: PathBuf,
    clock: TransactionClock,
    tables: SqliteTables,
    /// The database's folder. Rust drops fields in order: the folder is closed after the connection, which needs it.
    dir: Dir,
}

impl WorkflowStore {
    /// Opens an existing database for writing, without changing its tables.
    ///
    /// # Errors
    /// A [`Fault`] if the file is missing, is not a database, has no workflow tables, or is not writable.
    pub fn open(path: &Path) -> Result<WorkflowStore, Fault> {
        let (dir, name) = place(path);
        let dir = Dir::open_own(&dir).map_err(|cause| fault::unopened(&dir, &cause))?;
        let store = WorkflowStore::of(dir, path, &name, false)?;
        fits(path, store.tables.shape())?;
        Ok(store)
    }

    /// Opens a database for writing; creates it with its folder if missing, creates missing tables, and adds
    /// Prosescope's own columns.
    ///
    /// # Errors
    /// A [`Fault`] if the file is not a database or not writable.
    pub fn set_up(path: &Path) -> Result<WorkflowStore, Fault> {
        let (dir, name) = place(path);
        let unmade = |cause: std::io::Error| fault::io(&dir, "cannot be made", &cause);
        let dir = Dir::make(&dir).map_err(unmade)?;
        // Creation is idempotent and runs under the lock, because several processes may use the file for the first time
        // at once.
        let held = lock(&dir)?;
        let mut store = WorkflowStore::of(dir, path, &name, true)?;
        let made = store.tables.immediate(SqliteTables::set_up);
        made.map_err(|fault| at(path, "was not written", fault))?;
        drop(held);
        fits(path, store.tables.shape())?;
        Ok(store)
    }

    fn of(dir: Dir, path: &Path, name: &str, make: bool) -> Result<WorkflowStore, Fault> {
        let clock = TransactionClock::default();
        clock.start(TIME);
        let conn = connect_workflows(&dir, name, make, &clock)?;
        let tables = SqliteTables::new(conn).map_err(|fault| at(path, "cannot be read", fault))?;
        clock.stop();
        Ok(WorkflowStore {
            path: path.to_owned(),
            clock,
            tables,
            dir,
        })
    }

    /// Calls `work` in one immediate transaction, and holds the folder's lock, which admits one writer at a time.
    fn immediate<T>(
        &mut self,
        work: impl FnOnce(&mut SqliteTables) -> Result<T, WriteError>,
    ) -> Result<T, WriteError> {
        let _lock = lock(&self.dir)?;
        self.clock.start(TIME);
        let done = self.tables.immediate(work);
        self.clock.stop();
        done.map_err(|error| match error {
            WriteError::Fault(fault) => at(&self.path, "was not written", fault).into(),
            refused => refused,
        })
    }
}

impl WorkflowRows for WorkflowStore {
    fn shape(&self) -> &WorkflowShape {
        self.tables.shape()
    }

    fn select(&self, wanted: &Select<'_>) -> Result<Vec<WorkflowRow>, Fault> {
        let rows = self.tables.select(wanted);
        rows.map_err(|fault| at(&self.path, "cannot be read", fault))
    }

    fn barrier(&self) -> Result<Barrier, Fault> {
        let barrier = self.tables.barrier();
        barrier.map_err(|fault| at(&self.path, "cannot be read", fault))
    }

    fn still_open(&self, waits: &[Waiting]) -> Result<Vec<Waiting>, Fault> {
        self.tables.still_open(waits)
    }
}

impl Tables for WorkflowStore {
    fn transact(&mut self, target: LockTarget<'_>, work: Work<'_>) -> Result<Vec<i64>, WriteError> {
        self.immediate(|tables| tables.apply(target, work))
    }

    fn remove_events(&mut self, filters: &[RowCondition]) -> Result<u64, Fault> {
        let removed = self.immediate(|tables| Ok(tables.remove(filters)?));
        removed.map_err(only_fault)
    }
}

/// Returns the fault of an operation whose error is never a refusal.
fn only_fault(error: WriteError) -> Fault {
    match error {
        WriteError::Fault(fault) => fault,
        refused => Fault::new(FaultKind::Damaged, refused.to_string()),
    }
}

/// Adds the file's path to a fault.
fn at(path: &Path, what: &str, fault: Fault) -> Fault {
    let message = format!("{} {what}: {}", path.display(), fault.message);
    Fault { message, ..fault }
}

/// Refuses a database without workflow tables.
fn fits(path: &Path, shape: &WorkflowShape) -> Result<(), Fault> {
    shape.fits().map_err(|unfit| {
        let message = format!("{} is not a database of workflows: {unfit}", path.display());
        Fault::new(FaultKind::Damaged, message)
            .hint("`prosescope workflow setup --apply` makes the tables that are missing")
    })
}

fn place(path: &Path) -> (PathBuf, String) {
    let name = path.file_name().unwrap_or_default();
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let dir = dir.unwrap_or(Path::new("."));
    (dir.to_owned(), name.to_string_lossy().into_owned())
}
