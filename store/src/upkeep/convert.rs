//! A run in the other form: a new folder with a database, or with files, filled with what the core says the run is.
//! The run itself is only read.

use std::fs;
use std::path::Path;

use prosescope_core::session::Session;
use prosescope_core::source::Source as _;
use prosescope_core::time::Stamp;
use prosescope_core::write::{Change, Fault, FaultKind, RunStore, Style, WriteError, at_text};

use super::repair::new_folder;
use crate::Disk;
use crate::record::{FolderStore, LOCK, SqliteStore, fault, replace, write_database, write_first};

/// What is converted.
pub struct Conversion<'a> {
    /// The files that the run lies in.
    pub disk: &'a Disk,
    /// The run, opened without what lies around it.
    pub session: &'a Session,
    /// The database of the run, where it has one.
    pub database: Option<&'a str>,
    /// Whether the other files of the folder belong to the run, and are copied.
    pub with_files: bool,
    /// Whether a folder is wanted; else a database.
    pub to_folder: bool,
}

/// Writes the run as a new folder, whole or not at all. What could not be carried is said, in sentences.
///
/// # Errors
/// A [`Fault`]; then nothing is there.
pub fn convert(conversion: &Conversion<'_>, to: &Path) -> Result<Vec<String>, Fault> {
    let mut left = Vec::new();
    new_folder(to, |dir| {
        first(conversion, dir)?;
        if conversion.with_files {
            left.extend(copy_rest(conversion, dir)?);
        }
        left.extend(carry(conversion, dir).map_err(faulty)?);
        // What only writers need, and what says where they were.
        for gone in [LOCK, "x_checkpoint.jsonl"] {
            let _ = fs::remove_file(dir.join(gone));
        }
        Ok(())
    })?;
    Ok(left)
}

fn faulty(error: WriteError) -> Fault {
    match error {
        WriteError::Fault(fault) => fault,
        other => Fault::new(FaultKind::Damaged, other.to_string()),
    }
}

/// The run as it began.
fn first(conversion: &Conversion<'_>, dir: &Path) -> Result<(), Fault> {
    let run = conversion.session.run();
    let name = run.program.path.as_deref().unwrap_or_default();
    let source = run.program.source.as_deref();
    let unfilled = |cause: std::io::Error| fault::io(dir, "cannot be filled", &cause);
    if let Some(source) = source {
        replace(dir, &dir.join("program.prose"), source.as_bytes()).map_err(unfilled)?;
    }
    let source = source.unwrap_or_default();
    let began = run.started.as_ref().map(ToString::to_string);
    let began = began.unwrap_or_default();
    if conversion.to_folder {
        return write_first(dir, &run.id, name, source, &began).map_err(unfilled);
    }
    // As `datetime('now')` writes it, where nothing is lost by that.
    let began = match run.started.as_ref().and_then(Stamp::millis) {
        Some(at) if began.len() == 20 => at_text(at, Style::AppendOnly),
        _ => began,
    };
    let path = dir.join("state.db");
    write_database(&path, &path, &run.id, name, source, &began)
}

fn carry(conversion: &Conversion<'_>, dir: &Path) -> Result<Vec<String>, WriteError> {
    let mut store: Box<dyn RunStore> = if conversion.to_folder {
        Box::new(FolderStore::open(dir)?)
    } else {
        let id = &conversion.session.run().id;
        let mut store = SqliteStore::open(&dir.join("state.db"), Some(id))?;
        store.takes_any()?;
        Box::new(store)
    };
    conversion
        .session
        .carry(conversion.to_folder, &mut |changes: Vec<Change>| {
            store.transact(&mut |_| Ok(changes.clone()))
        })
}

/// The run's other files, as they are: attachments, nested runs, and what no form knows.
fn copy_rest(conversion: &Conversion<'_>, dir: &Path) -> Result<Vec<String>, Fault> {
    let run = conversion.session.run();
    let (root, mut left) = (&*run.root, Vec::new());
    for file in conversion.disk.below(root) {
        let inside = file.path.strip_prefix(root).unwrap_or(&file.path);
        let of_database = conversion
            .database
            .and_then(|database| file.path.strip_prefix(database))
            .is_some_and(|end| matches!(end, "" | "-wal" | "-shm" | "-journal"));
        if of_database || inside == LOCK {
            continue;
        }
        let written = inside.starts_with("bindings/")
            || inside.starts_with("agents/")
            || inside.starts_with("gates/")
            || inside.starts_with("x_history/")
            || matches!(
                inside,
                "state.md" | "x_events.jsonl" | "x_journal.json" | "x_checkpoint.jsonl"
            );
        // A state file alone tells of what ran: without rows it is all there is.
        let alone = inside == "state.md" && run.executions.is_empty() && run.state_file.is_some();
        if written && !alone {
            // What a folder says with files, a database says with rows; beside a database they were none of the run.
            if conversion.to_folder {
                left.push(format!(
                    "{inside} lay beside the database, which says it itself: not carried"
                ));
            }
            continue;
        }
        let (from, to) = (conversion.disk.path_of(&file.path), dir.join(inside));
        // The program as it is, to the last line break.
        let ours = alone || inside == "program.prose";
        if !ours && fs::symlink_metadata(&to).is_ok() {
            continue;
        }
        let copy = || {
            fs::create_dir_all(to.parent().unwrap_or(dir))?;
            fs::copy(&from, &to)?;
            fs::File::open(&to)?.sync_all()
        };
        copy().map_err(|cause| fault::io(&from, "cannot be copied", &cause))?;
    }
    Ok(left)
}
