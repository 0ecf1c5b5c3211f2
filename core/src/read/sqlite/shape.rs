//! Lists the tables and columns of a database, whatever its schema is.

use rusqlite::Connection;
use rusqlite::types::FromSql;

use crate::model::database::DecodeError;
use crate::model::database::FoundTable;
use crate::model::schema::{known_column, known_table};
use crate::model::{ColumnInfo, TableInfo};

/// Returns all tables and views except SQLite's own, ordered by name.
pub(super) fn discover(conn: &Connection) -> Result<Vec<FoundTable>, DecodeError> {
    let listed = list(conn)?.into_iter();
    listed.map(|listed| describe(conn, listed)).collect()
}

/// The index of the column `name` in the rows of `table_xinfo`: cid, name, type, notnull, dflt_value, pk, hidden.
/// Columns are read by index, because looking up their names for each of a table's up to 2,000 columns takes most of
/// the time.
const XINFO_NAME: usize = 1;

/// Returns the description of one table.
pub(super) fn find(conn: &Connection, name: &str) -> Result<FoundTable, DecodeError> {
    let listed = list_by(conn, &format!("PRAGMA table_list({})", quoted(name)))?
        .into_iter()
        .find(|t| t.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| DecodeError::NotFound(format!("table {name}")))?;
    describe(conn, listed)
}

/// Marks the tables of OpenProse that have no rows. One statement checks them all, because preparing a statement per
/// table costs more than reading many rows.
pub(super) fn note_empty(conn: &Connection, tables: &mut [FoundTable]) -> Result<(), DecodeError> {
    let mut known: Vec<&mut FoundTable> = tables
        .iter_mut()
        .filter(|found| found.is_table() && known_table(&found.info.name))
        .collect();
    let parts: Vec<String> = known
        .iter()
        .map(|found| {
            let table = quoted(&found.info.name);
            format!("EXISTS(SELECT 1 FROM {table} NOT INDEXED)")
        })
        .collect();
    if parts.is_empty() {
        return Ok(());
    }
    let sql = format!("SELECT {}", parts.join(", "));
    let has_rows: Vec<bool> = conn.query_row(&sql, [], |row| {
        (0..parts.len()).map(|i| row.get(i)).collect()
    })?;
    for (found, has_rows) in known.iter_mut().zip(has_rows) {
        found.info.rows = (!has_rows).then_some(0);
    }
    Ok(())
}

/// Returns whether the database stores text as UTF-8.
pub(super) fn is_utf8(conn: &Connection) -> Result<bool, DecodeError> {
    Ok(pragma::<String>(conn, "PRAGMA encoding")? == "UTF-8")
}

/// Returns the value of a pragma with one row. The statement is cached, because it runs for each value that is read.
pub(super) fn pragma<T: FromSql>(conn: &Connection, sql: &str) -> rusqlite::Result<T> {
    conn.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// Returns whether none of a table's columns has the name `_rowid_`, so that this name selects the rowid. The result
/// has no meaning for a table without rowids.
pub(super) fn has_plain_rowid(conn: &Connection, table: &str) -> Result<bool, DecodeError> {
    let mut statement = conn.prepare_cached(&format!("PRAGMA table_xinfo({})", quoted(table)))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if lossy(row.get_ref(XINFO_NAME)?).eq_ignore_ascii_case("_rowid_") {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns a name quoted for SQL.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the names in lower case of all tables and views except SQLite's own, each with its kind.
pub(super) fn tables(conn: &Connection) -> Result<Vec<(String, String)>, DecodeError> {
    let listed = list(conn)?.into_iter();
    Ok(listed
        .map(|listed| (listed.name.to_ascii_lowercase(), listed.kind))
        .collect())
}

struct SchemaObject {
    name: String,
    kind: String,
    without_rowid: bool,
}

fn list(conn: &Connection) -> Result<Vec<SchemaObject>, DecodeError> {
    list_by(conn, "PRAGMA table_list")
}

fn list_by(conn: &Connection, sql: &str) -> Result<Vec<SchemaObject>, DecodeError> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut tables = Vec::new();
    while let Some(row) = rows.next()? {
        // The columns of `table_list`: schema, name, type, ncol, wr, strict.
        let schema: String = row.get(0)?;
        let name = lossy(row.get_ref(1)?);
        let own = name
            .get(..7)
            .is_some_and(|start| start.eq_ignore_ascii_case("sqlite_"));
        if schema == "main" && !own {
            tables.push(SchemaObject {
                name,
                kind: row.get(2)?,
                without_rowid: row.get(4)?,
            });
        }
    }
    tables.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(tables)
}

fn describe(conn: &Connection, listed: SchemaObject) -> Result<FoundTable, DecodeError> {
    let mut columns = Vec::new();
    let mut key: Vec<(i64, String)> = Vec::new();
    let (mut computed, mut generated) = (Vec::new(), Vec::new());
    // The columns of views and virtual tables are not listed, because that would use the view's SQL or the table's
    // module.
    if listed.kind == "table" || listed.kind == "shadow" {
        let sql = format!("PRAGMA table_xinfo({})", quoted(&listed.name));
        let mut statement = conn.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let name = lossy(row.get_ref(XINFO_NAME)?);
            let place: i64 = row.get(5)?;
            if place > 0 {
                key.push((place, name.clone()));
            }
            // `hidden` is 2 for a generated column that is computed on reading, and 3 for a generated column that is
            // stored. A stored column reads like an ordinary one.
            let hidden: i64 = row.get(6)?;
            if hidden == 2 {
                computed.push(name.clone());
            }
            if hidden == 2 || hidden == 3 {
                generated.push(name.clone());
            }
            columns.push(ColumnInfo {
                known: known_column(&listed.name, &name),
                declared: lossy(row.get_ref(2)?),
                name,
            });
        }
    }
    key.sort();
    Ok(FoundTable {
        info: TableInfo {
            known: known_table(&listed.name),
            name: listed.name,
            kind: listed.kind,
            rows: None,
            columns,
        },
        key: key.into_iter().map(|(_, name)| name).collect(),
        without_rowid: listed.without_rowid,
        computed,
        generated,
    })
}

/// Returns a text or a BLOB as text, with invalid bytes replaced.
pub(super) fn lossy(value: rusqlite::types::ValueRef<'_>) -> String {
    value
        .as_bytes_or_null()
        .ok()
        .flatten()
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .unwrap_or_default()
}
