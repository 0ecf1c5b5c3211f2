//! A run in the other form: a new folder with a database, or with files, filled with what the core says the run is.
//! The run itself is only read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use prosescope_core::decode::state_md;
use prosescope_core::model::StateFile;
use prosescope_core::render::state_md::from_state_file;
use prosescope_core::session::{Left, Session};
use prosescope_core::source::Source as _;
use prosescope_core::time::Stamp;
use prosescope_core::write::{Change, Fault, FaultKind, RunStore, Style, WriteError, at_text};

use super::repair::{copy, new_folder, session};
use crate::Disk;
use crate::dir::{Dir, is_absent};
use crate::record::{
    FolderStore, LOCK, SqliteStore, begin_events, fault, put, write_database, write_first,
};

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

/// Writes the run as a new folder, whole or not at all. What could not be carried is said.
///
/// # Errors
/// A [`Fault`], also when somebody wrote to the run meanwhile; then nothing is there. What went wrong after it was made is
/// returned.
pub fn convert(
    conversion: &Conversion<'_>,
    to: &Path,
) -> Result<(Vec<Left>, Option<Fault>), Fault> {
    let mut left = Vec::new();
    let before = conversion.files()?;
    conversion.unchanged(&before)?;
    conversion.finished()?;
    let made = new_folder(to, |dir| {
        conversion.first(dir)?;
        let session = conversion.session;
        let files = session.carry_files(conversion.to_folder, conversion.with_files);
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
        // What only writers need, and what says where they were.
        for gone in [LOCK, "x_checkpoint.jsonl"] {
            let _ = dir.remove(gone);
        }
        let other = conversion.compare(dir, &left)?;
        left.extend(other);
        match conversion.files()? == before {
            true => Ok(()),
            false => Err(written_to()),
        }
    });
    let told = made.map_err(|fault| match fault.kind {
        FaultKind::Full => fault.hint("make room, and convert it again: the run is as it was"),
        _ => fault,
    })?;
    Ok((left, told))
}

fn written_to() -> Fault {
    Fault::new(
        FaultKind::Busy,
        "the run was written to while it was converted: nothing was made",
    )
    .hint("convert it again, when nobody writes to it")
}

/// Files with what would be another if they were written to.
type Look = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

impl Conversion<'_> {
    fn root(&self) -> &str {
        &self.session.run().root
    }

    /// The run's files as they are now.
    fn files(&self) -> Result<Look, Fault> {
        let listed: Vec<PathBuf> = match (self.with_files, self.database) {
            (false, Some(database)) => ["", "-wal", "-journal"]
                .iter()
                .map(|end| self.disk.path_of(&format!("{database}{end}")))
                .collect(),
            _ => {
                let root = self.disk.path_of(self.root());
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
        // The lock file is for writers, and `-shm` for readers too.
        let of_run = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name != LOCK && !name.ends_with("-shm")
        };
        listed.into_iter().filter(of_run).filter_map(look).collect()
    }

    /// Whether the files are as long as they were when the run was opened.
    fn unchanged(&self, now: &Look) -> Result<(), Fault> {
        let listed = self.disk.below(self.root()).iter();
        let same = listed
            .filter_map(|file| Some((now.get(&self.disk.path_of(&file.path))?, file)))
            .all(|((len, _), file)| *len == file.len);
        match same {
            true => Ok(()),
            false => Err(written_to()),
        }
    }

    /// Whether no change of a writer that died is half done.
    fn finished(&self) -> Result<(), Fault> {
        let journal = format!("{}x_journal.json", self.root());
        if self.database.is_some() || self.disk.file(&journal).is_none() {
            return Ok(());
        }
        let message = format!(
            "{} speaks of a change that its writer did not bring to its end",
            self.disk.path_of(&journal).display()
        );
        Err(Fault::new(FaultKind::Damaged, message)
            .hint("the next command that records in the run does it; convert the run then"))
    }

    /// The run as it began.
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
            // Where a state file alone tells what ran, it is copied, and goes on telling it.
            let told = run.executions.is_empty() && run.state_file.is_some();
            let made = made.and_then(|()| if told { Ok(()) } else { begin_events(dir) });
            return made.map_err(unfilled);
        }
        // As `datetime('now')` writes it, where nothing is lost by that.
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
        )
    }

    fn carry(&self, dir: &Dir) -> Result<Vec<Left>, Fault> {
        let mut store: Box<dyn RunStore> = if self.to_folder {
            Box::new(FolderStore::of(dir.clone())?)
        } else {
            let id = &self.session.run().id;
            let mut store = SqliteStore::open_in(dir.clone(), "state.db".to_owned(), Some(id))?;
            store.takes_any()?;
            Box::new(store)
        };
        let mut each = |changes: Vec<Change>| {
            let mut changes = Some(changes);
            store.transact(&mut |_| Ok(changes.take().unwrap_or_default()))
        };
        let carried = self.session.carry(self.to_folder, &mut each);
        carried.map_err(|error| match error {
            WriteError::Fault(fault) => fault,
            other => Fault::new(FaultKind::Damaged, other.to_string()),
        })
    }

    /// Takes the status out of a new state.md, where none is recorded: what ran tells it.
    fn without_status(&self, dir: &Dir) -> Result<(), Fault> {
        if !self.to_folder || self.session.run().status.is_some() {
            return Ok(());
        }
        let path = "state.md";
        let wrong =
            |cause: std::io::Error| fault::io(&dir.shown(path), "cannot be written", &cause);
        let text = dir.read(path).map_err(wrong)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let file = StateFile {
            status: None,
            ..state_md::parse(&text).0
        };
        let text = from_state_file(&file);
        put(dir, path, text.as_bytes()).map_err(wrong)
    }

    fn copy(&self, dir: &Dir, files: &[(String, String)]) -> Result<(), Fault> {
        for (path, to) in files {
            let from = format!("{}{path}", self.root());
            let copied = self
                .disk
                .open_file(&from)
                .and_then(|file| copy(file, dir, to));
            copied.map_err(|cause| {
                fault::io(&self.disk.path_of(&from), "cannot be copied", &cause)
            })?;
        }
        Ok(())
    }

    /// Reads the new run, and says what is not as it was.
    fn compare(&self, dir: &Dir, said: &[Left]) -> Result<Vec<Left>, Fault> {
        Ok(self.session.other_than(&session(dir)?, said))
    }
}
