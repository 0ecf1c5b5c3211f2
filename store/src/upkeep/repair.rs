//! A repaired copy of a run that is a database: a new file of the corrected schema, filled row by row with what the
//! core says each row is to be. The run itself is only read.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

use prosescope_core::decode::sqlite::{Guard, guard};
use prosescope_core::model::TableInfo;
use prosescope_core::repair::{Done, Repair, copy_repaired, stale_state_file, superseded_files};
use prosescope_core::session::{Options, Session};
use prosescope_core::source::{Source, SourceError};
use prosescope_core::upkeep::clean::UNFINISHED;
use prosescope_core::write::{Fault, FaultKind};
use rusqlite::Connection;
use rusqlite::limits::Limit;

use crate::Disk;
use crate::record::{create, fault, shared, sync_dir};

/// What a copy is made of.
pub struct Damaged<'a> {
    /// The files that the run lies in.
    pub disk: &'a Disk,
    /// The run's folder in it, ending in `/`, or empty.
    pub root: &'a str,
    /// The database in it; none, where the run is kept in files.
    pub database: Option<&'a str>,
    /// Whether the other files of the folder belong to the run, and are copied.
    pub with_files: bool,
    /// Its tables.
    pub tables: &'a [TableInfo],
    /// What the rows are to be.
    pub repair: &'a Repair,
}

/// Writes a repaired copy as a new folder, whole or not at all.
///
/// # Errors
/// A [`Fault`]; then nothing is there.
pub fn write_repaired(damaged: &Damaged<'_>, to: &Path) -> Result<Vec<Done>, Fault> {
    let mut done = Vec::new();
    new_folder(to, |dir| {
        if damaged.with_files {
            copy_files(damaged.disk, damaged.root, damaged.database, dir)?;
        }
        done = match damaged.database {
            Some(path) => database(damaged, path, &dir.join("state.db"))?,
            None => files(dir)?,
        };
        done.extend(state_file(dir)?);
        Ok(())
    })?;
    Ok(done)
}

fn session(dir: &Path) -> Result<Session, Fault> {
    let damaged = |error: String| Fault::new(FaultKind::Damaged, error);
    let disk = Disk::open(dir).map_err(|error| damaged(error.to_string()))?;
    Session::open(Rc::new(disk), "", &Options::default())
        .map_err(|error| damaged(error.to_string()))
}

/// Moves the files of bindings aside that others took the place of.
fn files(dir: &Path) -> Result<Vec<Done>, Fault> {
    let mut done = Vec::new();
    for path in superseded_files(session(dir)?.run()) {
        aside(dir, &path)?;
        done.push(Done {
            rule: "duplicate-binding".to_owned(),
            did: format!("moved {path}, which another file took the place of, to x_history"),
            count: 1,
        });
    }
    Ok(done)
}

/// Moves a file of the copy to `x_history/`.
fn aside(dir: &Path, path: &str) -> Result<(), Fault> {
    let to = dir.join("x_history").join(path);
    let mut free = to.clone();
    let mut n = 1;
    while fs::symlink_metadata(&free).is_ok() {
        n += 1;
        free = to.with_extension(format!("{n}.md"));
    }
    fs::create_dir_all(free.parent().unwrap_or(dir))
        .and_then(|()| fs::rename(dir.join(path), &free))
        .map_err(|cause| fault::io(&dir.join(path), "cannot be moved", &cause))
}

/// Writes the state file anew, where the rows or the files contradict it.
fn state_file(dir: &Path) -> Result<Option<Done>, Fault> {
    let Some(stale) = stale_state_file(&session(dir)?) else {
        return Ok(None);
    };
    let path = stale.path;
    aside(dir, &path)?;
    let write = || {
        let mut file = fs::File::create_new(dir.join(&path))?;
        file.write_all(stale.text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|cause| fault::io(&dir.join(&path), "cannot be written", &cause))?;
    let rules = stale.rules.join(", ");
    Ok(Some(Done {
        rule: rules,
        did: format!("rendered {path} from what is believed; what it was lies in x_history"),
        count: 1,
    }))
}

/// Makes a folder, whole or not at all: under another name first.
pub(crate) fn new_folder(
    to: &Path,
    fill: impl FnOnce(&Path) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if fs::symlink_metadata(to).is_ok() {
        let message = format!("{} is there already", to.display());
        return Err(Fault::new(FaultKind::Io, message).hint("take another --out"));
    }
    let parent = match to.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let wrong = |cause: &std::io::Error| fault::io(to, "cannot be made", cause);
    fs::create_dir_all(parent).map_err(|cause| wrong(&cause))?;
    // A name that no list of runs shows; it goes again when anything fails.
    let aside = shared(0o777)
        .prefix(UNFINISHED)
        .tempdir_in(parent)
        // Without that name.
        .map_err(|cause| wrong(&cause.kind().into()))?;
    // What it is made under is nobody's business.
    fill(aside.path()).map_err(|fault| Fault {
        message: fault
            .message
            .replace(&*aside.path().to_string_lossy(), &to.to_string_lossy()),
        ..fault
    })?;
    sync_dir(aside.path()).map_err(|cause| wrong(&cause))?;
    let kept = aside.keep();
    if let Err(cause) = fs::rename(&kept, to) {
        let _ = fs::remove_dir_all(&kept);
        return Err(wrong(&cause));
    }
    sync_dir(parent).map_err(|cause| wrong(&cause))
}

/// The run's other files, as they are; links, pipes and devices are none.
fn copy_files(disk: &Disk, root: &str, database: Option<&str>, dir: &Path) -> Result<(), Fault> {
    for file in disk.below(root) {
        let inside = file.path.strip_prefix(root).unwrap_or(&file.path);
        let of_database = database
            .and_then(|database| file.path.strip_prefix(database))
            .is_some_and(|end| matches!(end, "" | "-wal" | "-shm" | "-journal"));
        if of_database || inside == crate::record::LOCK {
            continue;
        }
        let from = disk.path_of(&file.path);
        let to = dir.join(inside);
        let copy = || {
            fs::create_dir_all(to.parent().unwrap_or(dir))?;
            fs::copy(&from, &to)?;
            fs::File::open(&to)?.sync_all()
        };
        copy().map_err(|cause| fault::io(&from, "cannot be copied", &cause))?;
    }
    Ok(())
}

fn database(damaged: &Damaged<'_>, path: &str, to: &Path) -> Result<Vec<Done>, Fault> {
    let from = open(damaged, path)?;
    let conn = create(to)?;
    copy_repaired(&from, &conn, damaged.tables, damaged.repair)
        .map_err(|error| fault::sqlite(to, &error))
}

fn open(damaged: &Damaged<'_>, path: &str) -> Result<Connection, Fault> {
    let unreadable = |message: String| Fault::new(FaultKind::Damaged, message);
    let mut from = damaged.disk.database(path).map_err(|error| match error {
        SourceError::Database { path, cause, next } => {
            unreadable(format!("{path}: {cause}")).hint(next)
        }
        other => unreadable(other.to_string()),
    })?;
    // Every row is copied, and whole: what bounds a list would cut the copy off.
    let whole = Guard {
        steps: u64::MAX,
        heap: None,
        ..Guard::default()
    };
    guard(&mut from, whole).map_err(|error| unreadable(error.to_string()))?;
    // A value is copied whole, however long.
    from.set_limit(Limit::SQLITE_LIMIT_LENGTH, i32::MAX)
        .map_err(|error| unreadable(error.to_string()))?;
    Ok(from)
}
