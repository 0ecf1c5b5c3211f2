//! Reads the run in which a command records, as every reader does.

use std::fs::File;
use std::rc::Rc;
use std::sync::Arc;

use prosescope_core::model::Binding;
use prosescope_core::model::database::{Database, Limits};
use prosescope_core::model::issue::Issue;
use prosescope_core::model::source::{FileEntry, Source, SourceError};
use prosescope_core::pages::session::{OpenError, Options, Session};
use prosescope_core::read::sqlite::Sqlite;
use prosescope_core::record::{Fault, FaultKind};
use rusqlite::OpenFlags;

use super::held;
use crate::Disk;
use crate::dir::{Dir, part_of};

/// A run that was read for a command.
pub(super) struct Reading {
    session: Session,
    dir: Dir,
}

impl Reading {
    /// Reads the run at `place` in a folder that is held open: an empty place for the folder's own run, or the name of
    /// a database. `written` is the file of the database in which the command records.
    ///
    /// # Errors
    /// A [`Fault`] if no run can be read there.
    pub(super) fn of(
        dir: &Dir,
        place: &str,
        run_id: Option<&str>,
        written: Option<&Arc<File>>,
    ) -> Result<Reading, Fault> {
        let held = HeldFolder {
            disk: Disk::held(dir),
            dir: dir.clone(),
            written: written.map(|file| (place.to_owned(), Arc::clone(file))),
        };
        let held: Rc<dyn Source> = Rc::new(held);
        let open = |run_id: Option<&str>| {
            let options = Options {
                run_id: run_id.map(str::to_owned),
                ..Options::default()
            };
            Session::open(Rc::clone(&held), place, &options)
        };
        let session = match open(run_id) {
            // A table made by hand may have no row for the run; the run is then named like its folder.
            Err(OpenError::Run(_)) => open(None),
            session => session,
        };
        Ok(Reading {
            session: session.map_err(|error| unread(dir, place, &error))?,
            dir: dir.clone(),
        })
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// See [`prosescope_core::record::Shelf::short_text`].
    pub(super) fn short_text(
        &self,
        binding: &Binding,
        most: usize,
    ) -> Result<Option<String>, Fault> {
        let found = self.session.short_text(binding, most);
        found.map_err(|error| unread(&self.dir, "", &OpenError::Source(error)))
    }

    /// See [`prosescope_core::record::Shelf::attachment`].
    pub(super) fn attachment(&self, path: &str) -> Result<bool, Fault> {
        let there = self.dir.look(path);
        there
            .map(|meta| meta.is_some())
            .map_err(|cause| super::fault::io(&self.dir.shown(path), "cannot be read", &cause))
    }
}

fn unread(dir: &Dir, place: &str, error: &OpenError) -> Fault {
    let kind = if error.is_failed() {
        FaultKind::Io
    } else {
        FaultKind::Damaged
    };
    let message = format!(
        "{}: nothing was recorded: {error}",
        dir.shown(place).display()
    );
    Fault::new(kind, message).hint(error.next())
}

/// A folder that is held open. Its database is opened beneath the folder's descriptor, so that a command reads the file
/// that it writes, even if the folder is renamed meanwhile.
struct HeldFolder {
    disk: Disk,
    dir: Dir,
    /// The database in which the command records, by name. Closing any descriptor of a file drops all locks that the
    /// process has on it (POSIX), also those of SQLite, so the file must not be opened and closed once more.
    written: Option<(String, Arc<File>)>,
}

impl Source for HeldFolder {
    fn label(&self) -> String {
        self.disk.label()
    }

    fn folder(&self) -> String {
        self.disk.folder()
    }

    fn files(&self) -> &[FileEntry] {
        self.disk.files()
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        match &self.written {
            Some((name, file)) if name == path => {
                part_of(&**file, offset, len as u64).map_err(|cause| SourceError::Unreadable {
                    path: path.to_owned(),
                    cause: cause.to_string(),
                })
            }
            _ => self.disk.read(path, offset, len),
        }
    }

    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        let opened = held::open(&self.dir, path, OpenFlags::SQLITE_OPEN_READ_WRITE);
        let conn = opened.and_then(|conn| {
            let waits = conn.busy_timeout(super::sqlite::BUSY);
            waits.map_err(|error| super::fault::sqlite(&self.dir.shown(path), &error))?;
            Ok(conn)
        });
        let conn = conn.map_err(|fault| SourceError::Database {
            path: path.to_owned(),
            cause: fault.message.clone(),
            next: fault.hint.clone(),
            failed: fault.kind != FaultKind::Damaged,
        })?;
        Sqlite::of_source(conn, path, limits)
    }

    fn listed(&self) -> Vec<Issue> {
        self.disk.listed()
    }
}
