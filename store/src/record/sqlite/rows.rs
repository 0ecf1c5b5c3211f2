//! Reads the cells that a writer needs beside the run that it read.

use prosescope_core::model::Text;
use prosescope_core::model::schema;
use prosescope_core::model::time::Stamp;
use prosescope_core::read::decode::rows::which_run;
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, Row};

/// Returns the id of the run to record in, for a database in a folder of this name; `None` if the table `run` has no
/// row with an id.
pub(super) fn run_of(conn: &Connection, folder: &str) -> rusqlite::Result<Option<String>> {
    let named = "SELECT EXISTS (SELECT 1 FROM run WHERE id = ?1 COLLATE BINARY)";
    if conn.query_row(named, [folder], |row| row.get(0))? {
        return Ok(Some(folder.to_owned()));
    }
    let order = super::guard::by_coming(conn, schema::RUN, false);
    // A table made by hand may lack the column for the time.
    let mut statement = conn
        .prepare(&format!("SELECT id, started_at FROM run {order}"))
        .or_else(|_| conn.prepare(&format!("SELECT id, NULL FROM run {order}")))?;
    let mut rows = statement.query([])?;
    let mut found: Vec<(Option<Text>, Option<i64>)> = Vec::new();
    let mut held = 0;
    while let Some(row) = rows.next()? {
        held += len(row, 2);
        if held > MOST_HELD {
            let message = format!("the ids of runs take more than {} MB", MOST_HELD >> 20);
            return Err(too_long(0, message));
        }
        found.push((text(row, 0)?, stamp(row, 1)?.and_then(|at| at.millis())));
    }
    let ids = found.iter().map(|(id, at)| (id.as_deref(), *at));
    let run = which_run(ids, folder).and_then(|at| found.get(at));
    Ok(run.and_then(|(id, _)| id.as_deref()).map(str::to_owned))
}

/// Limit for one text of a row, in bytes; texts of real runs have about a thousandth of that.
const MOST_TEXT: usize = 8 << 20;

/// Limit for all texts that a writer keeps in memory, in bytes.
const MOST_HELD: usize = 32 << 20;

/// Returns the size of the texts in the first columns of a row, in bytes.
fn len(row: &Row<'_>, columns: usize) -> usize {
    let bytes = |at| match row.get_ref(at) {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => bytes.len(),
        _ => 0,
    };
    (0..columns).map(bytes).sum()
}

fn too_long(column: usize, what: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, what.into())
}

/// Condition and order for the gates of run `?1`, its own gates first, then gates without a recorded run (errata G11),
/// which readers show with this run.
pub(super) const GATE_OF_RUN_FIRST: &str =
    "(run_id IS ?1 OR run_id IS NULL OR run_id NOT IN (SELECT id FROM run WHERE id IS NOT NULL))
     ORDER BY run_id IS ?1 DESC, run_id";

/// Returns a column as text, whatever type a hand-made row stored.
pub(super) fn text(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Text>> {
    Ok(match row.get_ref(at)? {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string().into()),
        ValueRef::Real(x) => Some(x.to_string().into()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) if bytes.len() > MOST_TEXT => {
            let column = row
                .as_ref()
                .column_name(at)
                .unwrap_or("a column")
                .to_owned();
            return Err(too_long(
                at,
                format!(
                    "column `{column}` contains a text of more than {} MB",
                    MOST_TEXT >> 20
                ),
            ));
        }
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into())
        }
    })
}

pub(super) fn stamp(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Stamp>> {
    Ok(text(row, at)?.map(|text| Stamp::parse(&text)))
}
