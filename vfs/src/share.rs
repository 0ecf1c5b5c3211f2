//! Databases that are shared where there is no disk: built anew in memory.

use std::io::{Cursor, Read};

use prosescope_core::source::SourceError;
use prosescope_core::sqlite::{Guard, Rebuild, RebuildError, guard, rebuild};
use prosescope_share::pack::{Databases, ShareError};
use rusqlite::limits::Limit;
use rusqlite::{Connection, MAIN_DB};

use crate::Mount;

/// The bytes of a database's head that say whether it is written by a log; 1 where it is not.
const VERSIONS: std::ops::Range<usize> = 18..20;

impl Databases for &Mount {
    fn look(&mut self, path: &str, rows: &mut dyn Rebuild) -> Result<(), ShareError> {
        let from = whole_rows(self, path)?;
        rebuild(&from, None, rows).map_err(|error| failed(path, error))
    }

    fn rebuilt(&mut self, path: &str, rows: &mut dyn Rebuild) -> Result<Box<dyn Read>, ShareError> {
        let from = whole_rows(self, path)?;
        let written = |error: rusqlite::Error| ShareError::Write(error.to_string());
        let mut to = Connection::open_in_memory().map_err(written)?;
        rebuild(&from, Some(&to), rows).map_err(|error| failed(path, error))?;
        let bytes = to.serialize(MAIN_DB).map_err(written)?.to_vec();
        Ok(Box::new(Cursor::new(bytes)))
    }

    fn whole(&mut self, path: &str) -> Result<Box<dyn Read>, ShareError> {
        let mut from = self.open(path).map_err(|error| not_opened(path, &error))?;
        let bytes = from.serialize(MAIN_DB).map_err(|e| unread(path, &e))?;
        let mut bytes = bytes.to_vec();
        // What its log held is in it now.
        if let Some(versions) = bytes.get_mut(VERSIONS) {
            versions.fill(1);
        }
        Ok(Box::new(Cursor::new(bytes)))
    }
}

/// Opens a database of which every row is copied, and whole: what bounds a list would cut the copy off.
fn whole_rows(mount: &Mount, path: &str) -> Result<Connection, ShareError> {
    let mut from = mount.open(path).map_err(|error| not_opened(path, &error))?;
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

fn not_opened(path: &str, error: &SourceError) -> ShareError {
    match error {
        SourceError::Database { cause, .. } => unread(path, cause),
        other => unread(path, other),
    }
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
