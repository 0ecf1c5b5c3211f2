//! What became of a commit that SQLite reports as failed: an error can come after the last byte was written, when a lock is
//! given back.

use prosescope_core::write::{Change, Fault, FaultKind};
use rusqlite::{Connection, ErrorCode};

use super::readback;
use super::statements::Unwritten;
use crate::dir::Dir;
use crate::record::{fault, held};

/// How a failed commit ended.
pub(super) enum Ended {
    /// Nothing was written.
    Undone,
    /// All of it is there.
    There,
    /// It could not be read again.
    Unknown,
}

/// Reads the rows of the changes again. To be asked under the lock of the run.
pub(super) fn ended(
    conn: &Connection,
    (dir, name): (&Dir, &str),
    run: &str,
    changes: &[Change],
    error: &rusqlite::Error,
) -> Ended {
    // Refused at once, or still open: it is rolled back.
    let refused = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DiskFull)
    );
    if refused || !conn.is_autocommit() {
        return Ended::Undone;
    }
    let read = |conn: &Connection| {
        let mut last = readback::last(run, changes).into_iter();
        match last.try_for_each(|change| readback::row(conn, run, change)) {
            Ok(()) => Ended::There,
            Err(Unwritten::Sqlite(_)) => Ended::Unknown,
            Err(_) => Ended::Undone,
        }
    };
    match read(conn) {
        Ended::Unknown => {}
        ended => return ended,
    }
    // Without locks, where it is locks that fail. A journal that is left undoes the change at the next opening.
    match dir.look(&format!("{name}-journal")) {
        Ok(Some(journal)) if journal.len() > 0 => return Ended::Undone,
        Ok(_) => {}
        Err(_) => return Ended::Unknown,
    }
    match held::open_unlocked(dir, name) {
        Ok(conn) => read(&conn),
        Err(_) => Ended::Unknown,
    }
}

/// What a command says whose rows are there although the commit failed.
pub(super) fn unsure(error: &rusqlite::Error) -> Fault {
    let message = format!("the system did not confirm that it is on disk: {error}");
    Fault::new(FaultKind::Io, message).hint("check the disk: a power failure may take it back")
}

/// What a command says that cannot tell whether its rows are there.
pub(super) fn unknown(path: &std::path::Path, error: &rusqlite::Error) -> Fault {
    let fault = fault::sqlite(path, error);
    let message = format!(
        "{}, and could not be read again: whether it was recorded is not known",
        fault.message
    );
    Fault::new(FaultKind::Io, message).hint(
        "check the disk; `prosescope show RUN` says whether it is there, before you repeat it",
    )
}
