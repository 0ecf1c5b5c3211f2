//! Reads each row back before the commit. A foreign schema may alter a value (a column type that turns `007` into 7, or
//! names that differ only in case), and a command must report success only if its data is stored exactly.

use std::collections::HashSet;
use std::path::Path;

use prosescope_core::record::{Change, WriteError};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::columns::{self, SqlColumns, SqlRow};
use crate::record::fault;

/// The reason why a change was not written.
#[derive(Debug)]
pub(super) enum UnwrittenReason {
    /// An error of SQLite.
    Sqlite(rusqlite::Error),
    /// The stored row differs from the written one; the text is a sentence about the difference.
    Otherwise(String),
}

impl From<rusqlite::Error> for UnwrittenReason {
    fn from(error: rusqlite::Error) -> UnwrittenReason {
        UnwrittenReason::Sqlite(error)
    }
}

impl UnwrittenReason {
    /// Returns the error of the command, whose transaction is rolled back.
    pub(super) fn into_command_error(self, path: &Path) -> WriteError {
        match self {
            UnwrittenReason::Sqlite(error) => WriteError::Fault(fault::sqlite(path, &error)),
            UnwrittenReason::Otherwise(what) => WriteError::refused(
                "written-otherwise",
                format!("{} was not written: {what}", path.display()),
                "nothing was recorded; `prosescope check RUN` shows what is odd about the database, \
                 `prosescope check RUN --fix` writes a copy with OpenProse's tables alone",
            ),
        }
    }
}

/// Compares a stored row with the change that was just written.
///
/// # Errors
/// [`UnwrittenReason::Otherwise`] with the name of the differing column.
pub(super) fn row(conn: &Connection, run: &str, change: &Change) -> Result<(), UnwrittenReason> {
    let Some(stored) = columns::of(run, change) else {
        return Ok(());
    };
    let SqlRow {
        table,
        key,
        columns,
        ..
    } = stored;
    // The row is found by its key, so that an index is used. The key's values are then compared exactly, like the other
    // columns.
    let keys: Vec<String> = (1..)
        .zip(&key)
        .map(|(n, (name, value))| match value {
            Value::Null => format!("{name} IS NULL AND ?{n} IS NULL"),
            _ => format!("{name} = ?{n} COLLATE BINARY"),
        })
        .collect();
    let columns: SqlColumns = key.iter().cloned().chain(columns).collect();
    let same: Vec<String> = (key.len() + 1..)
        .zip(&columns)
        .map(|(n, (name, _))| format!("min({})", is(name, n)))
        .collect();
    let sql = format!(
        "SELECT count(*), {} FROM {table} WHERE {}",
        same.join(", "),
        keys.join(" AND ")
    );
    let values = key.iter().chain(&columns).map(|(_, value)| value);
    let differs = conn
        .prepare_cached(&sql)?
        .query_row(params_from_iter(values), |row| {
            if row.get::<_, i64>(0)? == 0 {
                return Ok(Some(None));
            }
            for (n, column) in (1..).zip(&columns) {
                if row.get::<_, Option<bool>>(n)? != Some(true) {
                    return Ok(Some(Some(column)));
                }
            }
            Ok(None)
        })?;
    match differs {
        None => Ok(()),
        Some(None) => {
            let named: Vec<String> = key
                .iter()
                .map(|(name, value)| format!("{name} {}", shown(value)))
                .collect();
            Err(UnwrittenReason::Otherwise(format!(
                "a row was written, but table `{table}` has no row with {}",
                named.join(" and ")
            )))
        }
        Some(Some((name, value))) => {
            let declared: Option<String> = conn
                .query_row(
                    "SELECT type FROM pragma_table_xinfo(?1) WHERE name = ?2 COLLATE NOCASE",
                    [table, name],
                    |row| row.get(0),
                )
                .ok();
            let declared = match declared.as_deref() {
                None | Some("") => "without a type".to_owned(),
                Some(declared) => declared.to_owned(),
            };
            Err(UnwrittenReason::Otherwise(format!(
                "column `{table}.{name}` was written as {}, but then contained another value; the column is declared {declared}",
                shown(value)
            )))
        }
    }
}

/// Returns, for each changed row, the last change, which determines the row after all changes.
pub(super) fn last<'c>(run: &str, changes: &'c [Change]) -> Vec<&'c Change> {
    let mut seen = HashSet::new();
    let mut last: Vec<&Change> = changes.iter().rev().collect();
    last.retain(|change| {
        columns::of(run, change)
            .is_some_and(|row| seen.insert((row.table, format!("{:?}", row.key))))
    });
    last
}

/// Returns a condition that a column contains exactly the bound value, independent of type and collation. A whole
/// number may also be stored as its digits, as in older tables.
fn is(name: &str, n: usize) -> String {
    format!(
        "(+{name} IS ?{n} COLLATE BINARY OR (typeof(?{n}) = 'integer' AND +{name} IS CAST(?{n} AS TEXT)))"
    )
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(n) => n.to_string(),
        Value::Text(text) => {
            let short: String = text.chars().take(40).collect();
            let more = if short.len() < text.len() { "…" } else { "" };
            format!("'{short}{more}'")
        }
        other => format!("{other:?}"),
    }
}
