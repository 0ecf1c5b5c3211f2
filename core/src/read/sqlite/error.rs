//! Converts errors of SQLite into [`DecodeError`].

use rusqlite::ErrorCode;

use crate::model::database::DecodeError;

impl From<rusqlite::Error> for DecodeError {
    fn from(error: rusqlite::Error) -> DecodeError {
        let message = plain(&error);
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => DecodeError::Stopped,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => DecodeError::Locked,
            Some(ErrorCode::NotADatabase) => DecodeError::NotSqlite {
                what: "a file without a database header".into(),
            },
            Some(ErrorCode::DatabaseCorrupt) => DecodeError::Damaged(message),
            // In a browser, a file that changed after it was opened shows as a failed read of SQLite's file layer (VFS;
            // errata R7).
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => DecodeError::Io(message),
            Some(ErrorCode::TooBig | ErrorCode::OutOfMemory) => DecodeError::TooBig(message),
            Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => {
                DecodeError::Refused(message)
            }
            _ if message.contains("malformed database schema") => DecodeError::Damaged(message),
            _ if message.contains("prohibited") || message.contains("not authorized") => {
                DecodeError::Refused(message)
            }
            _ => DecodeError::Sqlite(message),
        }
    }
}

/// Returns SQLite's own message. The text that rusqlite adds, such as the SQL statement, is left out.
fn plain(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(code, None) => code.to_string(),
        rusqlite::Error::SqliteFailure(_, Some(said)) => said.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        rusqlite::Error::QueryReturnedNoRows => "an expected row is missing".into(),
        other => other.to_string(),
    }
}
