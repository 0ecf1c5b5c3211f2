//! Converts rows of a database into the core's plain data.

use prosescope_core::decode::rows::{meta_of, which_run};
use prosescope_core::model::{AuditEvent, AuditKind, Execution, Gate, GateStatus, Status, Text};
use prosescope_core::schema;
use prosescope_core::time::Stamp;
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, Row, Rows};

pub(super) const EXECUTION: &str = "id, statement_index, statement_text, status, parent_id, started_at, completed_at, \
     error_message, metadata";

pub(super) fn execution(row: &Row<'_>) -> rusqlite::Result<Execution> {
    Ok(Execution {
        id: row.get(0)?,
        index: integer(row, 1)?,
        text: text(row, 2)?.unwrap_or_else(|| "".into()),
        status: Status::parse(&text(row, 3)?.unwrap_or_else(|| "".into())),
        parent: integer(row, 4)?,
        started: stamp(row, 5)?,
        completed: stamp(row, 6)?,
        error: text(row, 7)?,
        meta: text(row, 8)?.and_then(|json| meta_of(&json)),
    })
}

/// Returns the newest executions, the newest first: at most `most`, and no more once their texts exceed [`MOST_HELD`].
pub(super) fn newest(conn: &Connection, most: u32) -> rusqlite::Result<Vec<Execution>> {
    let sql = format!("SELECT {EXECUTION} FROM execution ORDER BY id DESC LIMIT ?1");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([most])?;
    let (mut newest, mut held) = (Vec::new(), 0);
    while let (true, Some(row)) = (held < MOST_HELD, rows.next()?) {
        held += len(row, 9);
        newest.push(execution(row)?);
    }
    Ok(newest)
}

/// Converts all rows of a query with the columns [`GATE`] into gates.
pub(super) fn gates(rows: Rows<'_>) -> rusqlite::Result<Vec<Gate>> {
    all(rows, 14, "the gates of the run take", gate)
}

/// Converts all rows of a query with the columns [`EVENT`] into audit rows.
pub(super) fn events(rows: Rows<'_>) -> rusqlite::Result<Vec<AuditEvent>> {
    all(rows, 8, "the log of one gate takes", event)
}

/// Converts all rows with `read`. Returns an error if the texts in the first `columns` columns exceed [`MOST_HELD`].
fn all<T>(
    mut rows: Rows<'_>,
    columns: usize,
    what: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let (mut held, mut found) = (0, Vec::new());
    while let Some(row) = rows.next()? {
        held += len(row, columns);
        if held > MOST_HELD {
            let message = format!("{what} more than {} MB", MOST_HELD >> 20);
            return Err(too_long(0, message));
        }
        found.push(read(row)?);
    }
    Ok(found)
}

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

pub(super) const GATE: &str = "id, run_id, execution_id, prompt, allow, timeout, timeout_at, on_reject, status, \
     created_at, resolved_at, resolved_by, resolution_comment, metadata";

/// Condition for the gates of run `?1`: its own gates, and gates without a recorded run (errata G11), which readers
/// show with this run.
pub(super) const GATE_OF_RUN: &str =
    "(run_id IS ?1 OR run_id IS NULL OR run_id NOT IN (SELECT id FROM run WHERE id IS NOT NULL))";
/// The condition [`GATE_OF_RUN`] as a sort key that puts the run's own gates first.
pub(super) const GATE_OF_RUN_FIRST: &str =
    "(run_id IS ?1 OR run_id IS NULL OR run_id NOT IN (SELECT id FROM run WHERE id IS NOT NULL))
     ORDER BY run_id IS ?1 DESC, run_id";

pub(super) fn gate(row: &Row<'_>) -> rusqlite::Result<Gate> {
    Ok(Gate {
        id: text(row, 0)?.unwrap_or_else(|| "".into()),
        run_id: text(row, 1)?,
        execution_id: integer(row, 2)?,
        source_execution_id: None,
        prompt: text(row, 3)?,
        allow: text(row, 4)?,
        timeout: text(row, 5)?,
        timeout_at: stamp(row, 6)?,
        on_reject: text(row, 7)?,
        status: GateStatus::parse(&text(row, 8)?.unwrap_or_else(|| "".into())),
        created: stamp(row, 9)?,
        resolved: stamp(row, 10)?,
        resolved_by: text(row, 11)?,
        comment: text(row, 12)?,
        metadata: text(row, 13)?,
    })
}

/// The columns of the audit log that Prosescope fills, in the order in which [`event`] reads them.
const SEALED: [&str; 8] = [
    "id",
    "gate_id",
    "run_id",
    "event_type",
    "principal",
    "comment",
    "timestamp",
    "metadata",
];

/// Returns an audit row as JSON text, from which its hash is computed; `None` if a column is a BLOB, a floating-point
/// number or invalid UTF-8.
fn whole(row: &Row<'_>) -> rusqlite::Result<Option<Text>> {
    let mut columns = serde_json::Map::new();
    for (at, name) in SEALED.into_iter().enumerate() {
        let value = match row.get_ref(at)? {
            ValueRef::Null => continue,
            ValueRef::Integer(n) => n.into(),
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => text.into(),
                Err(_) => return Ok(None),
            },
            ValueRef::Real(_) | ValueRef::Blob(_) => return Ok(None),
        };
        columns.insert(name.to_owned(), value);
    }
    Ok(Some(serde_json::Value::Object(columns).to_string().into()))
}

/// The columns of an audit row, as [`event`] reads them.
pub(super) const EVENT: &str =
    "id, gate_id, run_id, event_type, principal, comment, timestamp, metadata";

pub(super) fn event(row: &Row<'_>) -> rusqlite::Result<AuditEvent> {
    let word = |at| Ok::<_, rusqlite::Error>(text(row, at)?.unwrap_or_else(|| "".into()));
    Ok(AuditEvent {
        id: row.get(0)?,
        gate_id: word(1)?,
        run_id: word(2)?,
        kind: AuditKind::parse(&word(3)?),
        principal: text(row, 4)?,
        comment: text(row, 5)?,
        timestamp: stamp(row, 6)?,
        metadata: text(row, 7)?,
        row_json: whole(row)?,
    })
}

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

fn integer(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<i64>> {
    Ok(match row.get_ref(at)? {
        ValueRef::Integer(n) => Some(n),
        ValueRef::Text(bytes) => std::str::from_utf8(bytes)
            .ok()
            .and_then(|text| text.trim().parse().ok()),
        _ => None,
    })
}

pub(super) fn stamp(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Stamp>> {
    Ok(text(row, at)?.map(|text| Stamp::parse(&text)))
}
