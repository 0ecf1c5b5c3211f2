//! Reads the bytes of one cell, without the rest of its row.

use std::ops::Range;

use rusqlite::Connection;
use rusqlite::blob::Blob;

use super::Sqlite;
use super::select::order;
use super::shape::{pragma, quoted};
use crate::model::StoredType;
use crate::model::database::FoundTable;
use crate::model::database::{CellAt, Database as _, DecodeError, Value, bytes_in_words};

/// The size of one piece of a value, in bytes.
const PIECE: usize = 1 << 20;

/// Passes a cell's bytes to `each` in pieces; see [`crate::model::database::Database::pieces`].
pub(super) fn pieces(
    db: &Sqlite,
    cell: &CellAt<'_>,
    range: Range<u64>,
    each: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<(), DecodeError> {
    // If the value's type is known, the table's columns need not be looked up. This matters because a list reads the
    // beginning of every visible value.
    let known = matches!(cell.stored, Some(StoredType::Text | StoredType::Blob));
    if known
        && db.is_utf8()?
        && db.has_plain_rowid(cell.table)?
        && let Ok(blob) = handle(db, cell.table, cell.column, cell.at)
    {
        return of_blob(&blob, range, each);
    }
    let found = db.table(cell.table)?;
    let column = found.column(cell.column).ok_or_else(|| {
        DecodeError::NotFound(format!("column {} in {}", cell.column, found.info.name))
    })?;
    of_cell(db, &found, column, cell.at, range, each)
}

/// Returns the bytes of a cell in `range`, or fewer if the cell ends earlier.
pub(super) fn part(
    db: &Sqlite,
    found: &FoundTable,
    column: &str,
    at: i64,
    range: Range<u64>,
) -> Result<Vec<u8>, DecodeError> {
    let mut bytes = Vec::new();
    of_cell(db, found, column, at, range, &mut |piece| {
        bytes.extend_from_slice(piece);
        true
    })?;
    Ok(bytes)
}

/// Returns the first `most` bytes of a cell and its whole length; `None` for NULL.
pub(super) fn prefix(
    db: &Sqlite,
    found: &FoundTable,
    column: &str,
    at: i64,
    most: u32,
) -> Result<Option<(Vec<u8>, u64)>, DecodeError> {
    let sql = one_cell(&format!("octet_length({})", quoted(column)), found);
    let total: Option<i64> = db.conn.query_row(&sql, [at, 1], |r| r.get(0))?;
    let Some(total) = total.and_then(|n| u64::try_from(n).ok()) else {
        return Ok(None);
    };
    let bytes = part(db, found, column, at, 0..u64::from(most))?;
    Ok(Some((bytes, total)))
}

/// Returns a `WHERE` or `LIMIT` clause that finds the row of address `?1`; `?2` must be 1.
pub(super) fn address(found: &FoundTable) -> String {
    match found.rowid_name() {
        Some(rowid) => format!(" WHERE {rowid} = ?1 LIMIT ?2"),
        None => format!("{} LIMIT ?2 OFFSET ?1", order(found)),
    }
}

/// Returns the size of the database in bytes, including its `-wal`.
pub(super) fn file_len(conn: &Connection) -> Result<u64, DecodeError> {
    let of = |sql: &str| pragma::<i64>(conn, sql);
    let bytes = of("PRAGMA page_count")?.saturating_mul(of("PRAGMA page_size")?);
    Ok(u64::try_from(bytes).unwrap_or(0))
}

fn one_cell(expression: &str, found: &FoundTable) -> String {
    format!(
        "SELECT {expression} FROM {} NOT INDEXED{}",
        quoted(&found.info.name),
        address(found)
    )
}

fn of_cell(
    db: &Sqlite,
    found: &FoundTable,
    column: &str,
    at: i64,
    range: Range<u64>,
    each: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<(), DecodeError> {
    if let Some(blob) = open_blob(db, found, column, at)? {
        return of_blob(&blob, range, each);
    }
    let whole = whole_cell(db, found, column, at)?;
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(whole.len());
    let part = whole.get(place(range.start)..place(range.end));
    for piece in part.unwrap_or_default().chunks(PIECE) {
        if !each(piece) {
            break;
        }
    }
    Ok(())
}

fn of_blob(
    blob: &Blob<'_>,
    range: Range<u64>,
    each: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<(), DecodeError> {
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(blob.len());
    let (mut done, end) = (place(range.start), place(range.end));
    let mut piece = vec![0; PIECE.min(end.saturating_sub(done))];
    while done < end {
        piece.truncate(end - done);
        let n = blob.read_at(&mut piece, done)?;
        if n == 0 || !each(piece.get(..n).unwrap_or(&[])) {
            break;
        }
        done += n;
    }
    Ok(())
}

/// Opens a blob handle on a value. Refuses a value whose recorded length exceeds the whole file, because its pages must
/// form a cycle.
fn handle<'c>(db: &'c Sqlite, table: &str, column: &str, at: i64) -> Result<Blob<'c>, DecodeError> {
    let blob = db.conn.blob_open(c"main", table, column, at, true)?;
    if blob.len() as u64 > db.file_len()? {
        return Err(DecodeError::Damaged(format!(
            "row {at} of {table} claims a value of {}, more than the whole file",
            bytes_in_words(blob.len() as u64)
        )));
    }
    Ok(blob)
}

/// Opens a blob handle on a text or blob of a row. Returns `None` where SQLite has no usable handle: for a number, in a
/// UTF-16 database, and in a table without rowids or with computed columns.
fn open_blob<'c>(
    db: &'c Sqlite,
    found: &FoundTable,
    column: &str,
    at: i64,
) -> Result<Option<Blob<'c>>, DecodeError> {
    if found.rowid_name().is_none() || !db.is_utf8()? {
        return Ok(None);
    }
    let sql = one_cell(&format!("typeof({})", quoted(column)), found);
    let kind: String = db
        .conn
        .query_row(&sql, [at, 1], |r| r.get(0))
        .map_err(|e| no_row(e, found, at))?;
    if kind != "text" && kind != "blob" {
        return Ok(None);
    }
    let name = found.info.name.as_str();
    match handle(db, name, column, at) {
        Ok(blob) => Ok(Some(blob)),
        // SQLite does not open blob handles on a table with any computed column.
        Err(_) if !found.computed.is_empty() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns a whole cell as UTF-8 bytes; a number becomes the text that SQLite would make of it.
fn whole_cell(
    db: &Sqlite,
    found: &FoundTable,
    column: &str,
    at: i64,
) -> Result<Vec<u8>, DecodeError> {
    let sql = one_cell(&quoted(column), found);
    db.conn
        .query_row(&sql, [at, 1], |r| {
            Ok(Value::from(r.get_ref(0)?).into_bytes())
        })
        .map_err(|e| no_row(e, found, at))
}

fn no_row(error: rusqlite::Error, found: &FoundTable, at: i64) -> DecodeError {
    match error {
        rusqlite::Error::QueryReturnedNoRows => {
            DecodeError::NotFound(format!("row {at} in {}", found.info.name))
        }
        other => other.into(),
    }
}
