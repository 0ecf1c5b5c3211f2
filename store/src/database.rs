//! Opening a database without a trace (a first step: plain read-only; the table of build.md follows).

use std::path::Path;

use prosescope_core::issue::Issue;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use crate::error::StoreError;

/// An opened database.
pub(crate) struct Opened {
    /// The connection, not yet guarded.
    pub(crate) conn: Connection,
    /// What a person should know of how it was opened.
    pub(crate) notes: Vec<Issue>,
    /// The copy that it was opened from, where one was needed.
    pub(crate) aside: Option<TempDir>,
}

/// Opens a database read-only.
pub(crate) fn open(path: &Path) -> Result<Opened, StoreError> {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .map_err(|e| StoreError::io(path, std::io::Error::other(e.to_string())))?;
    Ok(Opened {
        conn,
        notes: Vec::new(),
        aside: None,
    })
}
