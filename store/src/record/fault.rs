//! Converts errors of the system into messages for a user whose recording failed.

use std::io::{self, ErrorKind};
use std::path::Path;

use prosescope_core::model::database::DecodeError;
use prosescope_core::record::{Fault, FaultKind};

/// Returns a fault of a file or a folder. `what` describes the failed action, such as `cannot be opened`.
pub(crate) fn io(path: &Path, what: &str, cause: &io::Error) -> Fault {
    let message = format!("{} {what}: {cause}", path.display());
    match cause.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            Fault::new(FaultKind::Full, message).hint(ROOM)
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Fault::new(FaultKind::ReadOnly, message)
                .hint("check that you have permission to write to that path and to its folder")
        }
        _ => Fault::new(FaultKind::Io, message),
    }
}

/// Returns the fault for an unreadable file of a run's folder. If a folder of the path is a link, the linked contents
/// do not belong to the run.
pub(super) fn unread(path: &Path, cause: &io::Error) -> Fault {
    match cause.kind() {
        ErrorKind::NotADirectory => io(path, "is not read", cause)
            .hint("move away the link or file that is in the folder's place: files outside of the run's folder are not part of the run"),
        _ => io(path, "cannot be read", cause),
    }
}

/// Advice when the disk has no free space or no free inodes.
const ROOM: &str = "make room (`df` and `df -i` show what is used up), and repeat the command";

/// Returns whether a new file beside this one cannot be created for lack of space.
fn no_room(path: &Path) -> bool {
    let folder = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let made = tempfile::tempfile_in(folder.unwrap_or(Path::new(".")));
    made.is_err_and(|cause| {
        matches!(
            cause.kind(),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded
        )
    })
}

/// Returns a fault of a folder that could not be opened for writing.
pub(crate) fn unopened(dir: &Path, cause: &io::Error) -> Fault {
    let fault = io(dir, "cannot be opened", cause);
    match cause.kind() {
        ErrorKind::NotADirectory => {
            fault.hint("links are not followed for writing: name the folder itself")
        }
        _ => fault,
    }
}

/// Returns the fault of a database that SQLite could not write.
pub(crate) fn sqlite(path: &Path, error: &rusqlite::Error) -> Fault {
    use rusqlite::ErrorCode;
    let name = path.display();
    let code = error.sqlite_error_code();
    let message = format!("{name} was not written: {}", words(error));
    match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Fault::new(
            FaultKind::Busy,
            format!("{name} was not written: other writers locked the database for too long"),
        )
        .hint("try again; look for a `sqlite3` that holds a transaction open"),
        Some(ErrorCode::DiskFull) => {
            Fault::new(FaultKind::Full, message).hint(ROOM)
        }
        // SQLite does not report why it cannot create a journal, so `no_room` tries to create a file in the same
        // folder.
        Some(ErrorCode::CannotOpen) if no_room(path) => {
            Fault::new(FaultKind::Full, message).hint(ROOM)
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            Fault::new(FaultKind::ReadOnly, message)
                .hint("check that you have permission to write to that path and to its folder")
        }
        Some(
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::ConstraintViolation
            | ErrorCode::Unknown
            | ErrorCode::TypeMismatch,
        )
        | None => Fault::new(FaultKind::Damaged, message).hint(
            "`prosescope check RUN` shows the fault, `prosescope check RUN --fix` writes a repaired copy",
        ),
        Some(_) => Fault::new(FaultKind::Io, message),
    }
}

/// Returns the fault of a database that failed the check before writing.
pub(crate) fn decode(path: &Path, error: &DecodeError) -> Fault {
    let kind = match error {
        DecodeError::Locked => FaultKind::Busy,
        DecodeError::Io(_) | DecodeError::Stopped => FaultKind::Io,
        _ => FaultKind::Damaged,
    };
    let message = format!("{} was not written: {error}", path.display());
    Fault::new(kind, message).hint(error.next_step())
}

/// Returns an error's message, with the name of the table instead of Prosescope's SQL.
fn words(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, sql, .. } => match table(sql) {
            Some(table) if !msg.contains(table) => format!("{msg} (table {table})"),
            _ => msg.clone(),
        },
        rusqlite::Error::FromSqlConversionFailure(_, _, why) => why.to_string(),
        rusqlite::Error::StatementChangedRows(rows) => {
            format!("a change of one row affected {rows} rows")
        }
        other if other.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) => {
            "the write took more steps or more time than any command needs".to_owned()
        }
        other => other.to_string(),
    }
}

/// Returns the name of the table that an SQL statement reads, or else of the one that it changes.
fn table(sql: &str) -> Option<&str> {
    let after = |verb: &str| {
        let mut words = sql.split_whitespace();
        words.find(|word| *word == verb)?;
        words.find(|word| !matches!(*word, "OR" | "ABORT"))
    };
    ["FROM", "INTO", "UPDATE"].into_iter().find_map(after)
}
