//! Prepares databases for sharing: builds each one anew in a private folder, so that no deleted rows are shared.

use std::fs::File;
use std::io::Read;
use std::rc::Rc;

use prosescope_core::read::sqlite::{Rebuild, end_probe, rebuild, unbounded};
use prosescope_share::file::Shareable;
use prosescope_share::pack::{Databases, ShareError};
use rusqlite::Connection;

use crate::{Aside, Disk};

/// Creates the shared copies of a disk's databases.
pub struct DiskDatabases<'a> {
    disk: &'a Disk,
    folder: Aside,
    made: u32,
}

impl<'a> DiskDatabases<'a> {
    /// Prepares the databases of this disk.
    ///
    /// # Errors
    /// If a temporary folder cannot be created.
    pub fn new(disk: &'a Disk) -> std::io::Result<DiskDatabases<'a>> {
        Ok(DiskDatabases {
            disk,
            folder: Aside::new()?,
            made: 0,
        })
    }

    fn open(&self, path: &str) -> Result<Connection, ShareError> {
        let opened = self.disk.connection(path);
        opened.map_err(|error| ShareError::not_opened(path, &error))
    }

    fn whole_rows(&self, path: &str) -> Result<Connection, ShareError> {
        let mut from = self.open(path)?;
        unbounded(&mut from).map_err(|error| ShareError::unread(path, &error))?;
        Ok(from)
    }

    /// Creates a database with `fill`, and returns its bytes.
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
        rebuild(&from, None, rows).map_err(|error| ShareError::not_rebuilt(path, error))
    }

    fn rebuilt(&mut self, path: &str, rows: &mut dyn Rebuild) -> Result<Box<dyn Read>, ShareError> {
        let from = self.whole_rows(path)?;
        self.made(|to| {
            rebuild(&from, Some(to), rows).map_err(|error| ShareError::not_rebuilt(path, error))
        })
    }

    fn whole(&mut self, path: &str) -> Result<Box<dyn Read>, ShareError> {
        let from = self.open(path)?;
        // A writer can write between two pieces of the copy.
        end_probe(&from).map_err(|error| ShareError::unread(path, &error))?;
        self.made(|to| {
            let copied = rusqlite::backup::Backup::new(&from, to)
                .and_then(|backup| backup.run_to_completion(1000, std::time::Duration::ZERO, None));
            copied.map_err(|error| ShareError::unread(path, &error))
        })
    }
}

impl Shareable for Disk {
    fn databases(&self) -> Result<Box<dyn Databases + '_>, ShareError> {
        let databases = DiskDatabases::new(self);
        let databases = databases.map_err(|error| ShareError::Write(error.to_string()))?;
        Ok(Box::new(databases))
    }

    fn unpacked(&self, zip: &[u8]) -> Result<Rc<dyn Shareable>, ShareError> {
        unpacked(zip)
    }
}

/// Opens a packed zip in the way its recipient does.
///
/// # Errors
/// If a temporary file cannot be created, or the zip cannot be read.
pub fn unpacked(zip: &[u8]) -> Result<Rc<dyn Shareable>, ShareError> {
    let failed = |error: &dyn std::fmt::Display| ShareError::Write(error.to_string());
    let aside = Aside::new().map_err(|e| failed(&e))?;
    let file = aside.path().join("run.zip");
    std::fs::write(&file, zip).map_err(|e| failed(&e))?;
    // The contents are unpacked to another place, so the temporary file is no longer needed.
    let mut disk = Disk::open(&file).map_err(|e| failed(&e))?;
    // The copy stands for its run, so that pages of the copy propose the commands of the run.
    disk.verified = None;
    Ok(Rc::new(disk))
}
