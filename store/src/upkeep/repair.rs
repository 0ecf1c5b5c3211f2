//! Writes a repaired copy of a run: a new database of the corrected schema, filled row by row with the rows that the
//! core returns. The original run is only read.

use std::fs::File;
use std::io;
use std::path::Path;
use std::rc::Rc;

use prosescope_core::model::TableInfo;
use prosescope_core::model::source::{Source, SourceError};
use prosescope_core::pages::repair::copy_repaired;
use prosescope_core::pages::repair::{MadeRepair, Repair, stale_state_file, superseded_files};
use prosescope_core::pages::session::{Options, Session};
use prosescope_core::read::sqlite::{Guard, guard};
use prosescope_core::record::{Fault, FaultKind};
use rusqlite::Connection;
use rusqlite::limits::Limit;

use crate::Disk;
use crate::dir::{Dir, write_new};
use crate::record::{Failure, create, fault, place, unsure};

/// The source of a repaired copy.
pub struct DamagedRun<'a> {
    /// The disk with the run's files.
    pub disk: &'a Disk,
    /// The run's folder on the disk, ending in `/`, or empty.
    pub root: &'a str,
    /// The run's database; `None` if the run is kept in files.
    pub database: Option<&'a str>,
    /// Whether the other files of the folder belong to the run, and are copied.
    pub with_files: bool,
    /// The tables of the database, with their columns.
    pub tables: &'a [TableInfo],
    /// Decides how each row is repaired.
    pub repair: &'a Repair,
}

/// Writes a repaired copy as a new folder, completely or not at all. A failure after the folder was created is returned
/// beside the list of repairs.
///
/// # Errors
/// A [`Fault`] if the folder was not created; no part of it is left.
pub fn write_repaired(
    damaged: &DamagedRun<'_>,
    to: &Path,
) -> Result<(Vec<MadeRepair>, Option<Fault>), Fault> {
    let mut done = Vec::new();
    let late_fault = new_folder(to, |dir| {
        if damaged.with_files {
            copy_files(damaged.disk, damaged.root, damaged.database, dir)?;
        }
        done = match damaged.database {
            Some(path) => database(damaged, path, dir)?,
            None => files(dir)?,
        };
        done.extend(state_file(dir)?);
        Ok(())
    })?;
    Ok((done, late_fault))
}

/// Writes a shared run as a new folder, unchanged, completely or not at all. Returns a failure that happened after the
/// folder was created.
///
/// # Errors
/// A [`Fault`] if the folder was not created; no part of it is left.
pub fn unpack(disk: &Disk, root: &str, to: &Path) -> Result<Option<Fault>, Fault> {
    new_folder(to, |dir| copy_files(disk, root, None, dir))
}

pub(super) fn session(dir: &Dir) -> Result<Session, Fault> {
    let disk = Disk::held(dir);
    Session::open(Rc::new(disk), "", &Options::default())
        .map_err(|error| Fault::new(FaultKind::Damaged, error.to_string()))
}

/// Moves the replaced files of bindings to `x_history/`.
fn files(dir: &Dir) -> Result<Vec<MadeRepair>, Fault> {
    let mut done = Vec::new();
    for path in superseded_files(session(dir)?.run()) {
        aside(dir, &path)?;
        done.push(MadeRepair {
            rule: "duplicate-binding".to_owned(),
            did: format!("moved {path}, which another file replaced, to x_history"),
            count: 1,
        });
    }
    Ok(done)
}

/// Moves a file of the copy to a free name in `x_history/`, so that its content is kept.
fn aside(dir: &Dir, path: &str) -> Result<(), Fault> {
    let stem = path.strip_suffix(".md").unwrap_or(path);
    let moved = || -> io::Result<()> {
        let mut free = format!("x_history/{path}");
        let mut n = 1;
        while dir.look(&free)?.is_some() {
            n += 1;
            free = format!("x_history/{stem}.{n}.md");
        }
        let (folder, _) = free.rsplit_once('/').unwrap_or_default();
        dir.make_dir(folder)?;
        dir.rename(path, &free)
    };
    moved().map_err(|cause| fault::io(&dir.shown(path), "cannot be moved", &cause))
}

/// Renders the state file again, if the rows or the files contradict it.
fn state_file(dir: &Dir) -> Result<Option<MadeRepair>, Fault> {
    let Some(stale) = stale_state_file(&session(dir)?) else {
        return Ok(None);
    };
    let path = stale.path;
    aside(dir, &path)?;
    write_new(dir, &path, &mut stale.text.as_bytes())
        .map_err(|cause| fault::io(&dir.shown(&path), "cannot be written", &cause))?;
    let rules = stale.rules.join(", ");
    Ok(Some(MadeRepair {
        rule: rules,
        did: format!(
            "wrote {path} again from the run's other records; the old file is in x_history"
        ),
        count: 1,
    }))
}

/// Creates a folder completely or not at all: fills a temporary folder, then renames it.
pub(crate) fn new_folder(
    to: &Path,
    fill: impl FnOnce(&Dir) -> Result<(), Fault>,
) -> Result<Option<Fault>, Fault> {
    let wrong = |cause: &io::Error| fault::io(to, "cannot be made", cause);
    let (above, name) = place(to)?;
    if above.look(&name).map_err(|cause| wrong(&cause))?.is_some() {
        let message = format!("{} is there already", to.display());
        return Err(Fault::new(FaultKind::Io, message).hint("take another --out"));
    }
    let made = crate::record::new_folder(&above, &name, |dir| {
        // Replaces the temporary folder's path in the error by the final path, which is the only one the user knows.
        fill(dir).map_err(|fault| Fault {
            message: fault
                .message
                .replace(&*dir.path().to_string_lossy(), &to.to_string_lossy()),
            ..fault
        })
    });
    made.map(unsure).map_err(|failure| match failure {
        Failure::Filling(fault) => fault,
        Failure::Making(cause) => wrong(&cause),
    })
}

/// Copies a file durably into a folder, and replaces an existing file.
pub(super) fn copy(mut from: File, dir: &Dir, to: &str) -> io::Result<()> {
    let (folder, _) = to.rsplit_once('/').unwrap_or_default();
    dir.make_dir(folder)?;
    dir.remove(to)?;
    let mut copy = dir.create(to)?;
    io::copy(&mut from, &mut copy)?;
    copy.set_permissions(from.metadata()?.permissions())?;
    copy.sync_all()
}

/// Copies the run's plain files, except its database and its lock file. Links, pipes and devices are skipped.
fn copy_files(disk: &Disk, root: &str, database: Option<&str>, dir: &Dir) -> Result<(), Fault> {
    for file in disk.below(root) {
        let inside = file.path.strip_prefix(root).unwrap_or(&file.path);
        let of_database = database
            .and_then(|database| file.path.strip_prefix(database))
            .is_some_and(|end| matches!(end, "" | "-wal" | "-shm" | "-journal"));
        if of_database || inside == crate::record::LOCK {
            continue;
        }
        let copied = disk
            .open_file(&file.path)
            .and_then(|from| copy(from, dir, inside));
        copied.map_err(|cause| fault::io(&disk.path_of(&file.path), "cannot be copied", &cause))?;
    }
    Ok(())
}

fn database(damaged: &DamagedRun<'_>, path: &str, to: &Dir) -> Result<Vec<MadeRepair>, Fault> {
    let from = open(damaged, path)?;
    let conn = create(to, "state.db")?;
    copy_repaired(&from, &conn, damaged.tables, damaged.repair)
        .map_err(|error| fault::sqlite(&to.shown("state.db"), &error))
}

fn open(damaged: &DamagedRun<'_>, path: &str) -> Result<Connection, Fault> {
    let unreadable = |message: String| Fault::new(FaultKind::Damaged, message);
    let mut from = damaged.disk.connection(path).map_err(|error| match error {
        SourceError::Database {
            path,
            cause,
            next,
            failed,
        } => {
            let kind = if failed {
                FaultKind::Io
            } else {
                FaultKind::Damaged
            };
            Fault::new(kind, format!("{path}: {cause}")).hint(next)
        }
        other => unreadable(other.to_string()),
    })?;
    // Copies every row completely; the limits of reading would truncate the copy.
    let whole = Guard {
        steps: u64::MAX,
        heap: None,
        ..Guard::default()
    };
    guard(&mut from, whole).map_err(|error| unreadable(error.to_string()))?;
    // The length limit is lifted, so that values of any length are copied.
    from.set_limit(Limit::SQLITE_LIMIT_LENGTH, i32::MAX)
        .map_err(|error| unreadable(error.to_string()))?;
    Ok(from)
}
