//! Finds out whether a commit that SQLite reported as failed was written: an error may follow the last written byte,
//! when a lock is released.

use prosescope_core::record::{Change, Fault, FaultKind};
use rusqlite::{Connection, ErrorCode};

use super::readback;
use super::readback::UnwrittenReason;
use crate::dir::Dir;
use crate::record::{fault, held};

/// The result of a failed commit.
pub(super) enum CommitResult {
    /// The transaction was rolled back.
    Undone,
    /// Every row of the changes was written.
    There,
    /// The result is unknown because reading again failed.
    Unknown,
}

/// Returns whether the rows of the changes were written, by reading them again. The caller must hold the lock of the
/// run.
pub(super) fn ended(
    conn: &Connection,
    (dir, name): (&Dir, &str),
    run: &str,
    changes: &[Change],
    error: &rusqlite::Error,
) -> CommitResult {
    // SQLite rolls back a transaction that it refused to commit or that is still open.
    let refused = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DiskFull)
    );
    if refused || !conn.is_autocommit() {
        return CommitResult::Undone;
    }
    let read = |conn: &Connection| {
        let mut last = readback::last(run, changes).into_iter();
        match last.try_for_each(|change| readback::row(conn, run, change)) {
            Ok(()) => CommitResult::There,
            Err(UnwrittenReason::Sqlite(_)) => CommitResult::Unknown,
            Err(_) => CommitResult::Undone,
        }
    };
    match read(conn) {
        CommitResult::Unknown => {}
        ended => return ended,
    }
    // Reads without locks, since locks may be what failed. A remaining journal means that the next opening undoes the
    // change.
    match dir.look(&format!("{name}-journal")) {
        Ok(Some(journal)) if journal.len() > 0 => return CommitResult::Undone,
        Ok(_) => {}
        Err(_) => return CommitResult::Unknown,
    }
    match held::open_unlocked(dir, name) {
        Ok(conn) => read(&conn),
        Err(_) => CommitResult::Unknown,
    }
}

/// Returns the fault for rows that were written although the commit failed.
pub(super) fn unsure(error: &rusqlite::Error) -> Fault {
    let message = format!("the system did not confirm that the change is on disk: {error}");
    Fault::new(FaultKind::Io, message).hint("check the disk: a power failure may undo the change")
}

/// Returns the fault if it is unknown whether the rows were written.
pub(super) fn unknown(path: &std::path::Path, error: &rusqlite::Error) -> Fault {
    let fault = fault::sqlite(path, error);
    let message = format!(
        "{}; the database could not be read again, so it is not known whether the command was recorded",
        fault.message
    );
    Fault::new(FaultKind::Io, message).hint(
        "check the disk; before you repeat the command, check with `prosescope show RUN` whether it was recorded",
    )
}
