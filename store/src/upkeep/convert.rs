//! Converts a run between database and folder: a new folder in the other form is filled with the decoded run. The
//! original run is only read.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use prosescope_core::model::source::Source;
use prosescope_core::model::time::Stamp;
use prosescope_core::pages::session::{CopyLoss, Session, weight};
use prosescope_core::record::render::state_md::with_head;
use prosescope_core::record::{Change, Fault, FaultKind, RunStore, Style, WriteError, at_text};

use super::repair::{copy, new_folder, session};
use crate::Disk;
use crate::dir::{Dir, is_absent, write_new};
use crate::record::{
    FolderStore, LOCK, SqliteStore, add_frames, begin_events, fault, put, write_database,
    write_first,
};

/// The input of [`convert`].
pub struct Conversion<'a> {
    /// The place of the original run.
    pub origin: OriginalRun<'a>,
    /// The run, opened without the agents of its project or user.
    pub session: &'a Session,
    /// Whether the new run is a folder; otherwise a database.
    pub to_folder: bool,
    /// A callback for progress, called after each copied piece with the piece's number of bytes.
    pub moved: &'a dyn Fn(u64),
}

/// The place of the original run.
pub enum OriginalRun<'a> {
    /// On disk.
    Disk {
        /// The disk with the run's files.
        disk: &'a Disk,
        /// The run's database, if it has one.
        database: Option<&'a str>,
        /// Whether the other files of the folder belong to the run and are copied.
        with_files: bool,
    },
    /// On a server. The function returns a text that differs after each write to the run.
    Server(&'a dyn Fn() -> Result<String, Fault>),
}

/// Writes the run as a new folder, completely or not at all. Returns the data that could not be carried over, and a
/// failure that happened after the folder was created.
///
/// # Errors
/// A [`Fault`] if the folder was not created, also because the original changed meanwhile; no part of the folder is
/// left.
pub fn convert(
    conversion: &Conversion<'_>,
    to: &Path,
) -> Result<(Vec<CopyLoss>, Option<Fault>), Fault> {
    made(conversion, to).map_err(|fault| match fault.kind {
        FaultKind::Full => {
            fault.hint("make room, and convert the run again: the original is unchanged")
        }
        _ if fault.hint.is_empty() && matches!(conversion.origin, OriginalRun::Server(_)) => {
            fault.hint("check that the server runs, and copy the run again: no copy was made")
        }
        _ => fault,
    })
}

/// Writes the converted run to `to`; [`convert`] adds advice to faults that lack it.
fn made(conversion: &Conversion<'_>, to: &Path) -> Result<(Vec<CopyLoss>, Option<Fault>), Fault> {
    let mut left = Vec::new();
    let before = conversion.look()?;
    let late_fault = new_folder(to, |dir| {
        conversion.first(dir)?;
        let session = conversion.session;
        let files = session.carry_files(conversion.to_folder, conversion.with_files());
        conversion.copy(dir, &files.copied)?;
        left.extend(files.left);
        left.extend(conversion.carry(dir)?);
        conversion.without_status(dir)?;
        let again: Vec<_> = files
            .again
            .into_iter()
            .map(|path| (path.clone(), path))
            .collect();
        conversion.copy(dir, &again)?;
        // Removes the lock and the checkpoint from the new run, because only a writer needs them.
        for gone in [LOCK, "x_checkpoint.jsonl"] {
            let _ = dir.remove(gone);
        }
        let other = conversion.compare(dir, &left)?;
        left.extend(other);
        if conversion.again()? == before {
            Ok(())
        } else {
            Err(written_to())
        }
    })?;
    Ok((left, late_fault))
}

fn written_to() -> Fault {
    Fault::new(
        FaultKind::Busy,
        "the run was written to while it was converted, so no copy was made",
    )
    .hint("convert the run again while no process writes to it")
}

/// A snapshot for detecting writes to the run.
#[derive(PartialEq)]
enum WriteSnapshot {
    Files(FileStates),
    Server(String),
}

/// Files with their lengths and times.
type FileStates = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

impl Conversion<'_> {
    fn root(&self) -> &str {
        &self.session.run().root
    }

    fn with_files(&self) -> bool {
        match self.origin {
            OriginalRun::Disk { with_files, .. } => with_files,
            OriginalRun::Server(_) => true,
        }
    }

    /// Takes a new snapshot of the same run, for comparison.
    fn again(&self) -> Result<WriteSnapshot, Fault> {
        match self.origin {
            OriginalRun::Disk {
                disk,
                database,
                with_files,
            } => Ok(WriteSnapshot::Files(
                self.files(disk, database, with_files)?,
            )),
            OriginalRun::Server(written) => Ok(WriteSnapshot::Server(written()?)),
        }
    }

    /// Takes the first snapshot, and checks that the run can be converted.
    fn look(&self) -> Result<WriteSnapshot, Fault> {
        let look = self.again()?;
        if let (WriteSnapshot::Files(now), OriginalRun::Disk { disk, database, .. }) =
            (&look, &self.origin)
        {
            self.unchanged(disk, now)?;
            self.finished(disk, *database)?;
        }
        Ok(look)
    }

    /// Returns the run's files with their present lengths and times.
    fn files(
        &self,
        disk: &Disk,
        database: Option<&str>,
        with_files: bool,
    ) -> Result<FileStates, Fault> {
        let listed: Vec<PathBuf> = match (with_files, database) {
            (false, Some(database)) => ["", "-wal", "-journal"]
                .iter()
                .map(|end| disk.path_of(&format!("{database}{end}")))
                .collect(),
            _ => {
                let root = disk.path_of(self.root());
                let disk = Disk::open(&root)
                    .map_err(|error| Fault::new(FaultKind::Io, error.to_string()))?;
                if let Some(message) = disk.unread(|_| true) {
                    return Err(Fault::new(FaultKind::Io, message));
                }
                let files = disk.files().iter();
                files.map(|file| disk.path_of(&file.path)).collect()
            }
        };
        let look = |path: PathBuf| match fs::metadata(&path) {
            Ok(meta) => Some(Ok((path, (meta.len(), meta.modified().ok())))),
            Err(cause) if is_absent(&cause) => None,
            Err(cause) => Some(Err(fault::io(&path, "cannot be looked at", &cause))),
        };
        // Excludes the lock file, which writers change, and `-shm`, which readers change too.
        let of_run = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name != LOCK && !name.ends_with("-shm")
        };
        listed.into_iter().filter(of_run).filter_map(look).collect()
    }

    /// Checks that the files have the same length as when the run was opened.
    fn unchanged(&self, disk: &Disk, now: &FileStates) -> Result<(), Fault> {
        let listed = disk.below(self.root()).iter();
        let same = listed
            .filter_map(|file| Some((now.get(&disk.path_of(&file.path))?, file)))
            .all(|((len, _), file)| *len == file.len);
        if same { Ok(()) } else { Err(written_to()) }
    }

    /// Checks that no change of a killed writer is unfinished.
    fn finished(&self, disk: &Disk, database: Option<&str>) -> Result<(), Fault> {
        let journal = format!("{}x_journal.json", self.root());
        if database.is_some() || disk.file(&journal).is_none() {
            return Ok(());
        }
        let message = format!(
            "{} contains a change that its writer did not complete",
            disk.path_of(&journal).display()
        );
        Err(Fault::new(FaultKind::Damaged, message)
            .hint("the next command that records in the run completes it; then convert the run"))
    }

    /// Writes the run itself, before its rows: the first state.md of a folder, or the new database.
    fn first(&self, dir: &Dir) -> Result<(), Fault> {
        let run = self.session.run();
        let name = run.program.path.as_deref().unwrap_or_default();
        let source = run.program.source.as_deref();
        let unfilled = |cause: std::io::Error| fault::io(dir.path(), "cannot be filled", &cause);
        if let Some(source) = source {
            put(dir, "program.prose", source.as_bytes()).map_err(unfilled)?;
        }
        let source = source.unwrap_or_default();
        let began = run.started.as_ref().map(ToString::to_string);
        let began = began.unwrap_or_default();
        if self.to_folder {
            let index = self.session.index_of_folder();
            let made = write_first(dir, &run.id, name, source, &began, index);
            // If the original records its executions only in a state file, the state file is copied and remains the
            // record.
            let without_events = run.executions.is_empty() && run.state_file.is_some();
            let made = made.and_then(|()| {
                if without_events {
                    Ok(())
                } else {
                    begin_events(dir)
                }
            });
            return made.map_err(unfilled);
        }
        // Uses the format of `datetime('now')`, if that loses no precision.
        let began = match run.started.as_ref().and_then(Stamp::millis) {
            Some(at) if began.len() == 20 => at_text(at, Style::AppendOnly),
            _ => began,
        };
        write_database(
            dir,
            &dir.shown("state.db"),
            &run.id,
            name,
            source,
            &began,
            None,
        )?;
        // Adds the column only for a run that needs it, because OpenProse's databases do not have it.
        if self.session.has_unrecorded_frames() {
            add_frames(dir, &dir.shown("state.db"))
        } else {
            Ok(())
        }
    }

    fn carry(&self, dir: &Dir) -> Result<Vec<CopyLoss>, Fault> {
        let mut store: Box<dyn RunStore> = if self.to_folder {
            Box::new(FolderStore::of(dir.clone())?)
        } else {
            let id = &self.session.run().id;
            let mut store = SqliteStore::open_in(dir.clone(), "state.db".to_owned(), Some(id))?;
            store.takes_any()?;
            Box::new(store)
        };
        let mut each = |changes: Vec<Change>| {
            let bytes = changes.iter().map(weight).sum();
            let mut changes = Some(changes);
            store.transact(&mut |_| Ok(changes.take().unwrap_or_default()))?;
            (self.moved)(bytes);
            Ok(())
        };
        let carried = self.session.carry(self.to_folder, &mut each);
        carried.map_err(|error| match error {
            WriteError::Fault(fault) => fault,
            other => Fault::new(FaultKind::Damaged, other.to_string()),
        })
    }

    /// Removes the status from a new state.md if the original records no status. Readers then derive the status from
    /// the executions.
    fn without_status(&self, dir: &Dir) -> Result<(), Fault> {
        if !self.to_folder || self.session.run().status.is_some() {
            return Ok(());
        }
        let path = "state.md";
        let wrong =
            |cause: std::io::Error| fault::io(&dir.shown(path), "cannot be written", &cause);
        let text = dir.read(path).map_err(wrong)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let text = with_head(&text, Some(""), None);
        put(dir, path, text.as_bytes()).map_err(wrong)
    }

    fn copy(&self, dir: &Dir, files: &[(String, String)]) -> Result<(), Fault> {
        for (path, to) in files {
            let from = format!("{}{path}", self.root());
            let uncopied = |cause: std::io::Error| match self.origin {
                OriginalRun::Disk { disk, .. } => {
                    fault::io(&disk.path_of(&from), "cannot be copied", &cause)
                }
                OriginalRun::Server(_) => {
                    Fault::new(FaultKind::Io, format!("{from} cannot be copied: {cause}"))
                }
            };
            match self.origin {
                OriginalRun::Disk { disk, .. } => {
                    let copied = disk.open_file(&from).and_then(|file| copy(file, dir, to));
                    copied.map_err(uncopied)?;
                    (self.moved)(disk.file(&from).map_or(0, |file| file.len));
                }
                OriginalRun::Server(_) => {
                    let file = OfSource::of(self.session.source().as_ref(), &from, self.moved);
                    let mut file = BufReader::with_capacity(PIECE, file);
                    let (folder, _) = to.rsplit_once('/').unwrap_or_default();
                    dir.make_dir(folder)
                        .and_then(|_| dir.remove(to))
                        .and_then(|()| write_new(dir, to, &mut file))
                        .map_err(uncopied)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the new run, and returns the differences from the original.
    fn compare(&self, dir: &Dir, said: &[CopyLoss]) -> Result<Vec<CopyLoss>, Fault> {
        Ok(self.session.other_than(&session(dir)?, said))
    }
}

/// Number of bytes requested from a server at once, which is the size of its pieces.
const PIECE: usize = 1 << 20;

/// A file of a source, read sequentially.
struct OfSource<'a> {
    source: &'a dyn Source,
    path: &'a str,
    at: u64,
    moved: &'a dyn Fn(u64),
}

impl<'a> OfSource<'a> {
    fn of(source: &'a dyn Source, path: &'a str, moved: &'a dyn Fn(u64)) -> OfSource<'a> {
        OfSource {
            source,
            path,
            at: 0,
            moved,
        }
    }
}

impl std::io::Read for OfSource<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let piece = self.source.read(self.path, self.at, into.len());
        let piece = piece.map_err(|error| std::io::Error::other(error.to_string()))?;
        let len = piece.len().min(into.len());
        let (from, to) = (piece.get(..len), into.get_mut(..len));
        if let (Some(from), Some(to)) = (from, to) {
            to.copy_from_slice(from);
        }
        self.at += len as u64;
        (self.moved)(len as u64);
        Ok(len)
    }
}
