//! Databases that are shared: built anew in a folder that only this user can look into.

use std::fs::File;
use std::io::{Read, Write as _};
use std::rc::Rc;

use prosescope_core::source::SourceError;
use prosescope_core::sqlite::{Guard, Rebuild, RebuildError, guard, rebuild};
use prosescope_share::file::Shareable;
use prosescope_share::pack::{Databases, ShareError};
use rusqlite::Connection;
use rusqlite::limits::Limit;
use tempfile::{NamedTempFile, TempDir};

use crate::Disk;

/// The databases of a disk.
pub struct DiskDatabases<'a> {
    disk: &'a Disk,
    folder: TempDir,
    made: u32,
}

impl<'a> DiskDatabases<'a> {
    /// Opens databases of this disk.
    ///
    /// # Errors
    /// When there is no place for a temporary folder.
    pub fn new(disk: &'a Disk) -> std::io::Result<DiskDatabases<'a>> {
        Ok(DiskDatabases {
            disk,
            folder: tempfile::Builder::new().prefix("prosescope-").tempdir()?,
            made: 0,
        })
    }

    fn open(&self, path: &str) -> Result<Connection, ShareError> {
        self.disk.connection(path).map_err(|error| match error {
            SourceError::Database { cause, .. } => unread(path, &cause),
            other => unread(path, &other),
        })
    }

    /// Opens a database of which every row is copied, and whole: what bounds a list would cut the copy off.
    fn whole_rows(&self, path: &str) -> Result<Connection, ShareError> {
        let mut from = self.open(path)?;
        let whole = Guard {
            steps: u64::MAX,
            heap: None,
            ..Guard::default()
        };
        guard(&mut from, whole).map_err(|error| unread(path, &error))?;
        from.set_limit(Limit::SQLITE_LIMIT_LENGTH, i32::MAX)
            .map_err(|error| unread(path, &error))?;
        Ok(from)
    }

    /// Fills a new database by `fill`, and hands out its bytes.
    fn made(
        &mut self,
        fill: impl FnOnce(&mut Connection) -> Result<(), ShareError>,
    ) -> Result<Box<dyn Read>, ShareError> {
        let failed = |error: &dyn std::fmt::Display| ShareError::Write(error.to_string());
        self.made += 1;
        let path = self.folder.path().join(format!("{}.db", self.made));
        let mut to = Connection::open(&path).map_err(|e| failed(&e))?;
        fill(&mut to)?;
        to.close().map_err(|(_, e)| failed(&e))?;
        let file = File::open(&path).map_err(|e| failed(&e))?;
        #[cfg(unix)]
        std::fs::remove_file(&path).map_err(|e| failed(&e))?;
        Ok(Box::new(file))
    }
}

impl Databases for DiskDatabases<'_> {
    fn look(&mut self, path: &str, rows: &mut dyn Rebuild) -> Result<(), ShareError> {
        let from = self.whole_rows(path)?;
        rebuild(&from, None, rows).map_err(|error| failed(path, error))
    }

    fn rebuilt(&mut self, path: &str, rows: &mut dyn Rebuild) -> Result<Box<dyn Read>, ShareError> {
        let from = self.whole_rows(path)?;
        self.made(|to| rebuild(&from, Some(to), rows).map_err(|error| failed(path, error)))
    }

    fn whole(&mut self, path: &str) -> Result<Box<dyn Read>, ShareError> {
        let from = self.open(path)?;
        self.made(|to| {
            let copied = rusqlite::backup::Backup::new(&from, to)
                .and_then(|backup| backup.run_to_completion(1000, std::time::Duration::ZERO, None));
            copied.map_err(|error| unread(path, &error))
        })
    }
}

impl Shareable for Disk {
    fn databases(&self) -> Result<Box<dyn Databases + '_>, ShareError> {
        let databases = DiskDatabases::new(self);
        databases.map_or_else(
            |error| Err(ShareError::Write(error.to_string())),
            |databases| Ok(Box::new(databases) as Box<dyn Databases>),
        )
    }

    fn unpacked(&self, zip: &[u8]) -> Result<Rc<dyn Shareable>, ShareError> {
        unpacked(zip)
    }
}

/// Opens a zip that was packed, as whoever gets it does.
///
/// # Errors
/// When there is no place for it, or it cannot be read.
pub fn unpacked(zip: &[u8]) -> Result<Rc<dyn Shareable>, ShareError> {
    let failed = |error: &dyn std::fmt::Display| ShareError::Write(error.to_string());
    let mut file = NamedTempFile::new().map_err(|e| failed(&e))?;
    file.write_all(zip).map_err(|e| failed(&e))?;
    // What it holds is unpacked elsewhere: the file is no longer needed then.
    let disk = Disk::open(file.path()).map_err(|e| failed(&e))?;
    Ok(Rc::new(disk))
}

fn failed(path: &str, error: RebuildError) -> ShareError {
    match error {
        RebuildError::Read { .. } => unread(path, &error),
        RebuildError::Write(error) => ShareError::Write(error.to_string()),
    }
}

fn unread(path: &str, cause: &dyn std::fmt::Display) -> ShareError {
    ShareError::Read {
        path: path.to_owned(),
        cause: cause.to_string(),
    }
}
