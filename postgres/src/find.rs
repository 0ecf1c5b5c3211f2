//! Finds a run in a database by its id or by the beginning of its id.

use prosescope_core::record::Fault;
use tokio_postgres::error::SqlState;

use crate::address::Address;
use crate::cell::get;
use crate::fault;
use crate::server::{Lost, PgClient, int, text};
use crate::source::NEWEST;

/// The result of a search for a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Exactly one run matches; the value is its id.
    One(String),
    /// No run has an id that equals or begins with the given text.
    None,
    /// Several runs have ids that begin with the given text. The list contains at most four of these ids.
    Several(Vec<String>),
}

/// The most ids that [`Which::Several`] lists.
const MOST: i64 = 4;

/// Finds a run by its id or by a unique beginning of its id. If `name` is `None`, finds the run that started last.
///
/// # Errors
/// If the server does not answer the search, or refuses it.
pub fn find_run(address: &Address, name: Option<&str>) -> Result<Which, Fault> {
    let server = PgClient::connect(address)?;
    let found = find(&server, name).map_err(|lost| fault::unread_fault(address, &lost))?;
    server.release();
    Ok(found)
}

/// Returns the ids of the runs with a pending gate.
///
/// # Errors
/// If the gates in the database cannot be read.
pub fn waiting_runs(address: &Address) -> Result<Vec<String>, Fault> {
    ids(
        address,
        "openprose.gates",
        "SELECT DISTINCT run_id FROM openprose.gates WHERE status = 'pending' ORDER BY run_id",
    )
}

/// Returns the ids of all runs.
///
/// # Errors
/// If the ids of the runs cannot be read.
pub fn all_runs(address: &Address) -> Result<Vec<String>, Fault> {
    ids(
        address,
        "openprose.run",
        "SELECT id FROM openprose.run ORDER BY id",
    )
}

fn ids(address: &Address, table: &str, sql: &str) -> Result<Vec<String>, Fault> {
    let server = PgClient::connect(address)?;
    let found = has(&server, table).and_then(|there| {
        if there {
            server.ask(sql, &[])
        } else {
            Ok(Vec::new())
        }
    });
    let ids = found.and_then(|rows| {
        Ok(rows
            .iter()
            .map(|row| get(row, 0))
            .collect::<Result<_, _>>()?)
    });
    let ids = ids.map_err(|lost| fault::unread_fault(address, &lost))?;
    server.release();
    Ok(ids)
}

/// Returns whether a table exists.
pub(crate) fn has(server: &PgClient, table: &str) -> Result<bool, Lost> {
    let rows = server.ask("SELECT to_regclass($1) IS NOT NULL", &[text(table)])?;
    let there = rows.first().map(|row| get(row, 0)).transpose()?;
    Ok(there.unwrap_or_default())
}

fn find(server: &PgClient, name: Option<&str>) -> Result<Which, Lost> {
    let asked = match name {
        Some(name) => {
            // The exact search comes first, because `name` is usually a whole id.
            let whole = server.ask("SELECT id FROM openprose.run WHERE id = $1", &[text(name)]);
            match whole {
                Ok(rows) if rows.is_empty() => server.ask(
                    "SELECT id FROM openprose.run WHERE starts_with(id, $1) ORDER BY id LIMIT $2",
                    &[text(name), int(MOST)],
                ),
                whole => whole,
            }
        }
        None => {
            let sql = format!(
                "SELECT id FROM openprose.run WHERE id IN ({NEWEST}) ORDER BY started_at DESC NULLS LAST, id DESC LIMIT 1"
            );
            server.ask(&sql, &[int(1)])
        }
    };
    let rows = match asked {
        Err(Lost::Error(error)) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Vec::new(),
        asked => asked?,
    };
    let ids: Result<Vec<String>, _> = rows.iter().map(|row| get(row, 0)).collect();
    let mut ids = ids?;
    Ok(match ids.len() {
        0 => Which::None,
        1 => Which::One(ids.swap_remove(0)),
        _ => Which::Several(ids),
    })
}
