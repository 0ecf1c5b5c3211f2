//! Converts errors of a server into messages for a person who reads or records.

use prosescope_core::model::database::DecodeError;
use prosescope_core::record::{Fault, FaultKind};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::address::Address;
use crate::dial::DialError;
use crate::server::Lost;

/// Returns the fault of a failed connection.
pub(crate) fn unconnected(address: &Address, why: &str) -> Fault {
    Fault::new(FaultKind::Io, format!("cannot connect to {address}: {why}"))
        .hint("check that the server runs and that the address is right (OPENPROSE_POSTGRES_URL)")
}

/// Returns the fault of a connection that the server refused.
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

/// Returns the fault for an address of which no host could be reached.
pub(crate) fn undialled(address: &Address, error: &DialError) -> Fault {
    match error {
        DialError::Refused(error) => refused(address, error),
        DialError::Unreached(_) => unconnected(address, &error.words()),
    }
}

/// Returns, as a text, why no answer arrived.
fn unanswered(lost: &Lost) -> String {
    match lost {
        Lost::Flood(what) => format!("this is not an answer of a PostgreSQL server: {what}"),
        Lost::AtCommit(lost) => unanswered(lost),
        Lost::Silent | Lost::Error(_) => "the server does not answer".to_owned(),
    }
}

/// Returns the fault of a command with an unanswered COMMIT whose result stays unknown.
pub(crate) fn undecided(address: &Address, lost: &Lost) -> Fault {
    let why = match lost {
        Lost::Error(error) => words(error),
        Lost::AtCommit(lost) => return undecided(address, lost),
        lost => unanswered(lost),
    };
    let message = format!(
        "it is not known whether this command was recorded: the connection to {address} was lost at COMMIT: {why}"
    );
    Fault::new(FaultKind::Io, message).hint(
        "before you repeat the command, check with `prosescope runs`, `prosescope show` or `prosescope trace` whether it was recorded",
    )
}

/// Returns the fault of a command of which nothing was recorded.
pub(crate) fn unwritten(address: &Address, lost: &Lost) -> Fault {
    if let Lost::AtCommit(lost) = lost {
        return undecided(address, lost);
    }
    let Lost::Error(error) = lost else {
        let message = format!("{address} was not written: {}", unanswered(lost));
        return Fault::new(FaultKind::Io, message).hint("check the server, and try again");
    };
    let (kind, hint) = match error.code() {
        None => (FaultKind::Io, "check that the server runs, and try again"),
        Some(&SqlState::LOCK_NOT_AVAILABLE) => (
            FaultKind::Busy,
            "try again; `pg_stat_activity` shows which connection keeps a transaction open",
        ),
        Some(&SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED) => (
            FaultKind::Busy,
            "try again; each attempt met another writer of the same rows",
        ),
        Some(&SqlState::QUERY_CANCELED) => (
            FaultKind::Busy,
            "try again; the server's `statement_timeout` may be too short",
        ),
        Some(&SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT) => (
            FaultKind::Busy,
            "try again; the server's `idle_in_transaction_session_timeout` may be too short",
        ),
        Some(&SqlState::DISK_FULL | &SqlState::OUT_OF_MEMORY) => (
            FaultKind::Full,
            "make room on the server, and repeat the command",
        ),
        // The role has `default_transaction_read_only`, or the server is a replica.
        Some(&SqlState::READ_ONLY_SQL_TRANSACTION | &SqlState::FEATURE_NOT_SUPPORTED) => (
            FaultKind::ReadOnly,
            "the server is a read replica, or read-only: give the address of the primary server",
        ),
        Some(_) if is_of_row_security(error) => (FaultKind::ReadOnly, SEES_ALL),
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => (
            FaultKind::ReadOnly,
            "let the owner of the schema `openprose` grant this role the rights on the schema's tables",
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
            "a table or column of the schema `openprose` is missing: `prosescope init PROGRAM --state postgres` completes the schema",
        ),
        Some(_) => (
            FaultKind::Damaged,
            "`prosescope postgres status` shows the faults of the schema `openprose`",
        ),
    };
    Fault::new(kind, format!("{address} was not written: {}", words(error))).hint(hint)
}

/// Advice if it is unknown whether an idempotent command was executed.
pub(crate) const REPEAT: &str = "repeat the command: existing parts are not created again";

/// Advice if row security hides rows.
const SEES_ALL: &str = "row security hides rows from this role, so a result would look complete although rows are missing: use a role that sees all rows (`ALTER ROLE … BYPASSRLS`, or a policy `USING (true)` for the role), or let the owner disable row security (`ALTER TABLE … DISABLE ROW LEVEL SECURITY`)";

/// Returns whether a query was refused because row security would hide rows from the role (`row_security = off`).
fn is_of_row_security(error: &Error) -> bool {
    let said = error.as_db_error();
    said.is_some_and(|said| said.routine() == Some("check_enable_rls"))
}

/// Returns the error of a failed read, in the form that decoding expects.
pub(crate) fn unread(address: &Address, lost: &Lost) -> DecodeError {
    DecodeError::Server(match lost {
        Lost::Silent | Lost::Flood(_) | Lost::AtCommit(_) => {
            format!("{address} cannot be read: {}", unanswered(lost))
        }
        Lost::Error(error) if is_of_row_security(error) => {
            format!("{address} cannot be read: {}; {SEES_ALL}", words(error))
        }
        Lost::Error(error) => format!("{address} cannot be read: {}", words(error)),
    })
}

/// Returns the error of a failed read as a fault, for callers without a decoder.
pub(crate) fn unread_fault(address: &Address, lost: &Lost) -> Fault {
    let error = unread(address, lost);
    Fault::new(FaultKind::Io, error.to_string()).hint(error.next_step())
}

/// Returns whether a retry may succeed: the command conflicted with another transaction, or the connection was lost.
pub(crate) fn is_passing(lost: &Lost) -> bool {
    match lost {
        Lost::Silent | Lost::Flood(_) => false,
        Lost::AtCommit(lost) => is_passing(lost),
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

/// Returns whether another transaction holds a needed lock, and the lock timeout of the server passed.
pub(crate) fn is_locked(lost: &Lost) -> bool {
    matches!(lost, Lost::Error(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE))
}

/// Returns whether a statement failed because a table does not exist.
pub(crate) fn is_no_table(lost: &Lost) -> bool {
    matches!(lost, Lost::Error(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE))
}

/// Returns whether the session is lost after an error: the connection failed, the server stops, or the server ended an
/// idle transaction.
fn is_connection(code: &SqlState) -> bool {
    let code = code.code();
    code.starts_with("08") || matches!(code, "57P01" | "57P02" | "57P03" | "25P03")
}

/// Returns what is wrong with a value that PostgreSQL refuses (errata P11), if the error is about a value.
pub(crate) fn not_storable(lost: &Lost) -> Option<String> {
    let Lost::Error(error) = lost else {
        return None;
    };
    let of_value = error
        .code()
        .is_some_and(|code| code.code().starts_with("22"));
    of_value.then(|| words(error))
}

/// Returns whether the server may have committed the transaction before the error.
pub(crate) fn leaves_open(lost: &Lost) -> bool {
    match lost {
        Lost::Silent | Lost::Flood(_) | Lost::AtCommit(_) => true,
        Lost::Error(error) => error.code().is_none_or(is_connection),
    }
}

/// Returns the error in one line. A database error contains its table, column or constraint, but not Prosescope's SQL.
pub(crate) fn words(error: &Error) -> String {
    if let Some(said) = error.as_db_error() {
        return short(&said.message().replace('\n', " "));
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
    short(&words)
}

/// Limit for the shown part of a server's message, in characters.
const SHOWN: usize = 2000;

/// Returns the beginning of a text, because a server may send a text of any length.
fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
