//! What a server's error means to somebody who reads or records.

use prosescope_core::database::DecodeError;
use prosescope_core::write::{Fault, FaultKind};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::address::Address;
use crate::server::Lost;

/// A connection that did not come about.
pub(crate) fn unconnected(address: &Address, why: &str) -> Fault {
    Fault::new(FaultKind::Io, format!("cannot connect to {address}: {why}"))
        .hint("check that the server runs and that the address is right (OPENPROSE_POSTGRES_URL)")
}

/// The same, with what the library says.
pub(crate) fn refused(address: &Address, error: &Error) -> Fault {
    let fault = unconnected(address, &words(error));
    let hint = match error.code() {
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
            "check the user and the password in the address"
        }
        Some(&SqlState::INVALID_CATALOG_NAME) => {
            "create the database with `createdb`, or name another"
        }
        Some(&SqlState::TOO_MANY_CONNECTIONS) => "try again; the server takes no more connections",
        _ if words(error).contains("certificate") => {
            "name the server's authority with `?sslrootcert=FILE`; `?sslmode=require` encrypts without checking"
        }
        _ => return fault,
    };
    fault.hint(hint)
}

/// A command that failed: nothing of it is recorded.
pub(crate) fn unwritten(address: &Address, lost: &Lost) -> Fault {
    let Lost::Error(error) = lost else {
        let message = format!("{address} was not written: the server does not answer");
        return Fault::new(FaultKind::Io, message).hint("check the server, and try again");
    };
    let (kind, hint) = match error.code() {
        None => (FaultKind::Io, "check that the server runs, and try again"),
        Some(&SqlState::LOCK_NOT_AVAILABLE) => (
            FaultKind::Busy,
            "try again; look in pg_stat_activity for who holds a transaction open",
        ),
        Some(&SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED) => (
            FaultKind::Busy,
            "try again; other writers were always faster",
        ),
        Some(&SqlState::QUERY_CANCELED) => (
            FaultKind::Busy,
            "try again; the server's statement_timeout may be too short",
        ),
        Some(&SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT) => (
            FaultKind::Busy,
            "try again; the server's idle_in_transaction_session_timeout may be too short",
        ),
        Some(&SqlState::DISK_FULL | &SqlState::OUT_OF_MEMORY) => (
            FaultKind::Full,
            "make room on the server, and record it again",
        ),
        // As `default_transaction_read_only` makes it, and a replica.
        Some(&SqlState::READ_ONLY_SQL_TRANSACTION | &SqlState::FEATURE_NOT_SUPPORTED) => (
            FaultKind::ReadOnly,
            "the server is a read replica, or read-only: name the primary",
        ),
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => (
            FaultKind::ReadOnly,
            "let the owner of the schema openprose grant the rights on its tables",
        ),
        Some(code) if code.code().starts_with("08") || code.code().starts_with("57P") => {
            (FaultKind::Io, "check that the server runs, and try again")
        }
        Some(
            &SqlState::UNDEFINED_TABLE
            | &SqlState::UNDEFINED_COLUMN
            | &SqlState::INVALID_SCHEMA_NAME,
        ) => (
            FaultKind::Damaged,
            "a table or column of the schema openprose is missing: `prosescope init PROGRAM --state postgres` completes it",
        ),
        Some(_) => (
            FaultKind::Damaged,
            "`prosescope postgres status` says what is wrong with the schema openprose",
        ),
    };
    Fault::new(kind, format!("{address} was not written: {}", words(error))).hint(hint)
}

/// Why nothing was read.
pub(crate) fn unread(address: &Address, lost: &Lost) -> DecodeError {
    DecodeError::Server(match lost {
        Lost::Silent => format!("{address} cannot be read: the server does not answer"),
        Lost::Error(error) => format!("{address} cannot be read: {}", words(error)),
    })
}

/// The same, for whoever has no decoder to tell it to.
pub(crate) fn unread_fault(address: &Address, lost: &Lost) -> Fault {
    let error = unread(address, lost);
    Fault::new(FaultKind::Io, error.to_string()).hint(error.next_step())
}

/// Whether the same may succeed when it is begun anew: another transaction was in the way, or the connection was lost.
pub(crate) fn is_passing(lost: &Lost) -> bool {
    match lost {
        Lost::Silent => false,
        Lost::Error(error) => match error.code() {
            None => {
                error.is_closed()
                    || std::error::Error::source(error)
                        .is_some_and(|cause| cause.is::<std::io::Error>())
            }
            Some(code) => {
                matches!(
                    *code,
                    SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED
                ) || is_connection(code)
            }
        },
    }
}

/// Errors after which the session is gone: the server stops, or ended an idle transaction.
fn is_connection(code: &SqlState) -> bool {
    let code = code.code();
    code.starts_with("08") || matches!(code, "57P01" | "57P02" | "57P03" | "25P03")
}

/// What is wrong with a value that PostgreSQL refuses (errata P11), where the error is one of a value.
pub(crate) fn not_storable(lost: &Lost) -> Option<String> {
    let Lost::Error(error) = lost else {
        return None;
    };
    let of_value = error
        .code()
        .is_some_and(|code| code.code().starts_with("22"));
    of_value.then(|| words(error))
}

/// Whether the error may have come after the server had committed.
pub(crate) fn leaves_open(lost: &Lost) -> bool {
    match lost {
        Lost::Silent => true,
        Lost::Error(error) => error.code().is_none_or(is_connection),
    }
}

/// What is wrong, in one line. A database error names its table, column or constraint; never our statement.
pub(crate) fn words(error: &Error) -> String {
    if let Some(said) = error.as_db_error() {
        return said.message().replace('\n', " ");
    }
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        let text = next.to_string();
        if !words.contains(&text) {
            words = format!("{words}: {text}");
        }
        cause = next.source();
    }
    words
}
