//! Converts rows into SQLite's values, for writing and for reading back.

use prosescope_core::model::change;
use prosescope_core::record::Change;
use rusqlite::types::Value;
use serde_json::{Map, Value as Json};

/// The names of columns with their values.
pub(super) type SqlColumns = Vec<(&'static str, Value)>;

/// A row as a change writes it, with SQLite's values; see [`change::ChangeRow`].
pub(super) struct SqlRow {
    pub(super) table: &'static str,
    pub(super) key: SqlColumns,
    pub(super) columns: SqlColumns,
    pub(super) first: SqlColumns,
}

/// Returns the row that a change writes; `None` for a change of a file.
pub(super) fn of(run: &str, change: &Change) -> Option<SqlRow> {
    let row = change.stored(run)?;
    let mut first = values(row.first);
    if let Change::Run(_) = change {
        first.push(("state_mode", Value::Text("sqlite".to_owned())));
    }
    Some(SqlRow {
        table: row.table,
        key: values(row.key),
        columns: values(row.columns),
        first,
    })
}

fn values(columns: change::Columns) -> SqlColumns {
    let value = |value| match value {
        Json::Null => Value::Null,
        Json::String(text) => Value::Text(text),
        Json::Number(n) if n.is_i64() => Value::Integer(n.as_i64().unwrap_or_default()),
        other => Value::Text(other.to_string()),
    };
    let columns = columns.into_iter();
    columns.map(|(name, of)| (name, value(of))).collect()
}

pub(super) fn json(object: &Map<String, Json>) -> Option<String> {
    (!object.is_empty()).then(|| Json::Object(object.clone()).to_string())
}
