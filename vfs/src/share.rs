//! Rebuilds databases in memory for sharing, for hosts without a disk.

use std::io::{Cursor, Read};

use prosescope_core::read::sqlite::{Rebuild, rebuild, unbounded};
use prosescope_share::pack::{Databases, ShareError};
use rusqlite::{Connection, MAIN_DB};

use crate::Mount;

/// The range of the write and read version bytes in a database's header: 2 for WAL mode, 1 otherwise.
const VERSIONS: std::ops::Range<usize> = 18..20;

impl Databases for &Mount {
    fn look(&mut self, path: &str, rows: &mut dyn Rebuild) -> Result<(), ShareError> {
        let from = whole_rows(self, path)?;
        rebuild(&from, None, rows).map_err(|error| ShareError::not_rebuilt(path, error))
    }

    fn rebuilt(&mut self, path: &str, rows: &mut dyn Rebuild) -> Result<Box<dyn Read>, ShareError> {
        let from = whole_rows(self, path)?;
        let written = |error: rusqlite::Error| ShareError::Write(error.to_string());
        let mut to = Connection::open_in_memory().map_err(written)?;
        rebuild(&from, Some(&to), rows).map_err(|error| ShareError::not_rebuilt(path, error))?;
        let bytes = to.serialize(MAIN_DB).map_err(written)?.to_vec();
        Ok(Box::new(Cursor::new(bytes)))
    }

    fn whole(&mut self, path: &str) -> Result<Box<dyn Read>, ShareError> {
        let mut from = self
            .open(path)
            .map_err(|error| ShareError::not_opened(path, &error))?;
        let bytes = from
            .serialize(MAIN_DB)
            .map_err(|e| ShareError::unread(path, &e))?;
        let mut bytes = bytes.to_vec();
        // The WAL is merged into the copied bytes, so the copy no longer needs WAL mode.
        if let Some(versions) = bytes.get_mut(VERSIONS) {
            versions.fill(1);
        }
        Ok(Box::new(Cursor::new(bytes)))
    }
}

fn whole_rows(mount: &Mount, path: &str) -> Result<Connection, ShareError> {
    let opened = mount.open(path);
    let mut from = opened.map_err(|error| ShareError::not_opened(path, &error))?;
    unbounded(&mut from).map_err(|error| ShareError::unread(path, &error))?;
    Ok(from)
}
