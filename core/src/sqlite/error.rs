//! Converts errors of SQLite into [`DecodeError`].

use rusqlite::ErrorCode;

use crate::database::DecodeError;

impl From<rusqlite::Error> for DecodeError {
    fn from(error: rusqlite::Error) -> DecodeError {
        let said = plain(&error);
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => DecodeError::Stopped,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => DecodeError::Locked,
            Some(ErrorCode::NotADatabase) => DecodeError::NotSqlite {
                what: "a file that begins with no header of a database".into(),
            },
            Some(ErrorCode::DatabaseCorrupt) => DecodeError::Damaged(said),
            // In a browser, the VFS reports a changed file as a failed read (errata R7).
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => DecodeError::Io(said),
            Some(ErrorCode::TooBig | ErrorCode::OutOfMemory) => DecodeError::TooBig(said),
            Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => {
                DecodeError::Refused(said)
            }
            _ if said.contains("malformed database schema") => DecodeError::Damaged(said),
            _ if said.contains("prohibited") || said.contains("not authorized") => {
                DecodeError::Refused(said)
            }
            _ => DecodeError::Sqlite(said),
        }
    }
}

/// Returns SQLite's own message, without the SQL statement.
fn plain(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(code, None) => code.to_string(),
        rusqlite::Error::SqliteFailure(_, Some(said)) => said.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        rusqlite::Error::QueryReturnedNoRows => "such row".into(),
        other => other.to_string(),
    }
}
