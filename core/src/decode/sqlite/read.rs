//! Reading what a person opened: a value, a row, a page of a table. Nothing of it is held by the model.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::cells::real_in_words;
use super::error::{DecodeError, bytes_in_words};
use super::guard::LONGEST_VALUE;
use super::scan::{before_in, order, whole_characters};
use super::shape::{find, has_plain_rowid, is_utf8, pragma, quoted};
use crate::model::ValueAt;
use crate::schema::{self, Found};
use crate::view::{Cell, TableRows};

/// Bytes of a value from `offset`, at most `len`; fewer at its end. Numbers are given as SQLite writes them.
///
/// `bindings` hold theirs in `value`, `agents` in `memory`.
///
/// # Errors
/// When there is no such row, or it cannot be read.
pub fn value_bytes(
    conn: &Connection,
    table: &str,
    column: &str,
    value: &ValueAt,
    offset: u64,
    len: usize,
) -> Result<Vec<u8>, DecodeError> {
    if let Some(blob) = value_blob(conn, table, column, value)? {
        return blob_part(&blob, offset, len);
    }
    cell_bytes(conn, table, column, address_of(value)?, offset, len)
}

/// A handle on a value whose type is known, without looking at the table first: a list asks for the beginning of every
/// value that is on screen. `None` where it takes a look.
fn value_blob<'c>(
    conn: &'c Connection,
    table: &str,
    column: &str,
    value: &ValueAt,
) -> Result<Option<rusqlite::blob::Blob<'c>>, DecodeError> {
    let at = address_of(value)?;
    let known = match value {
        ValueAt::Row { stored, .. } => matches!(&**stored, "text" | "blob"),
        _ => false,
    };
    if known && is_utf8(conn)? && has_plain_rowid(conn, table)? {
        return Ok(handle(conn, table, column, at).ok());
    }
    Ok(None)
}

/// Gives a value to `each` in pieces, from its beginning to its end, holding no more than a piece.
///
/// Much faster than [`value_bytes`] in a loop for values of hundreds of megabytes: the way to a place deep in
/// a value is walked once.
///
/// # Errors
/// When there is no such row, or it cannot be read. `each` stops the walk by returning `false`.
pub fn value_pieces(
    conn: &Connection,
    table: &str,
    column: &str,
    value: &ValueAt,
    each: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<(), DecodeError> {
    if let Some(blob) = value_blob(conn, table, column, value)? {
        return blob_pieces(&blob, each);
    }
    let at = address_of(value)?;
    let found = find(conn, table)?;
    let column = column_of(&found, column)?;
    if let Some(blob) = open_blob(conn, &found, column, at)? {
        return blob_pieces(&blob, each);
    }
    let whole = whole_cell(conn, &found, column, at)?;
    for piece in whole.chunks(PIECE) {
        if !each(piece) {
            break;
        }
    }
    Ok(())
}

/// Bytes of any cell from `offset`, at most `len`; fewer at its end. NULL has none.
///
/// # Errors
/// When there is no such table, column or row, or it cannot be read.
pub fn cell_bytes(
    conn: &Connection,
    table: &str,
    column: &str,
    at: i64,
    offset: u64,
    len: usize,
) -> Result<Vec<u8>, DecodeError> {
    let found = find(conn, table)?;
    let column = column_of(&found, column)?;
    part(conn, &found, column, at, offset, len)
}

/// All columns of one row with their cells, each cut at `most` bytes; also those that no document lists.
/// `at` is the row's rowid, or its place in a table without one. `None`: there is no such row.
///
/// # Errors
/// When there is no such table, or it cannot be read.
pub fn row(
    conn: &Connection,
    table: &str,
    at: i64,
    most: usize,
) -> Result<Option<Vec<(String, Cell)>>, DecodeError> {
    let found = find(conn, table)?;
    let mut row = Vec::new();
    for columns in found.read_columns().chunks(COLUMNS) {
        let wanted = Wanted {
            clause: &address(&found),
            start: at,
            len: 1,
            most,
            near: u64::MAX,
        };
        let Some(cells) = page(conn, &found, columns, &wanted)?.pop() else {
            return Ok(None);
        };
        row.extend(columns.iter().map(|c| (*c).to_owned()).zip(cells));
    }
    Ok(Some(row))
}

/// The row of `execution` that carries this id, with all its columns, each cut at `most` bytes.
///
/// # Errors
/// When there is no such table, or it cannot be read.
pub fn execution_row(
    conn: &Connection,
    id: i64,
    most: usize,
) -> Result<Option<Vec<(String, Cell)>>, DecodeError> {
    let found = find(conn, schema::EXECUTION)?;
    let Some(column) = found.column("id") else {
        return row(conn, schema::EXECUTION, id, most);
    };
    let (table, column) = (quoted(&found.info.name), quoted(column));
    let sql = match found.rowid_name() {
        Some(rowid) => format!("SELECT {rowid} FROM {table} WHERE {column} = ?1"),
        // Its place in the key's order.
        None => format!(
            "SELECT (SELECT count(*) FROM {table} WHERE {column} < ?1) FROM {table} WHERE {column} = ?1"
        ),
    };
    let at = match conn.query_row(&sql, [id], |r| r.get(0)) {
        Ok(at) => at,
        // Rows whose id is no number are known by their rowid.
        Err(rusqlite::Error::QueryReturnedNoRows) if !found.without_rowid => id,
        Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    row(conn, schema::EXECUTION, at, most)
}

/// `len` rows of a table from the `from`-th on, in the order in which they are stored; known tables or not.
///
/// Cells are cut at `most` bytes, and one that lies behind a large value is left empty and marked as cut: a
/// list of rows costs no page of a value. Asked for a single row, all its cells are read. Of a table that is wider
/// than a page can show the first columns are given.
///
/// # Errors
/// When there is no such table, it is a view or a virtual table, or it cannot be read.
pub fn table_rows(
    conn: &Connection,
    table: &str,
    from: u64,
    len: u32,
    most: usize,
) -> Result<TableRows, DecodeError> {
    let found = find(conn, table)?;
    if !found.is_table() {
        return Err(DecodeError::Refused(format!(
            "{} is a {}, whose rows the file's own SQL would compute",
            found.info.name, found.info.kind
        )));
    }
    let all = found.read_columns();
    let columns = all.get(..COLUMNS).unwrap_or(&all);
    let wanted = Wanted {
        clause: &format!("{} LIMIT ?2 OFFSET ?1", order(&found)),
        start: i64::try_from(from).unwrap_or(i64::MAX),
        len,
        most,
        near: if len == 1 { u64::MAX } else { NEAR },
    };
    Ok(TableRows {
        rows: page(conn, &found, columns, &wanted)?,
        columns: columns.iter().map(|c| (*c).to_owned()).collect(),
        more_columns: (all.len() - columns.len()) as u32,
        from,
        total: None,
        table: found.info.name.clone(),
    })
}

/// Bytes of the database, those in its `-wal` included.
pub(super) fn file_len(conn: &Connection) -> Result<u64, DecodeError> {
    let of = |sql: &str| pragma::<i64>(conn, sql);
    let bytes = of("PRAGMA page_count")?.saturating_mul(of("PRAGMA page_size")?);
    Ok(u64::try_from(bytes).unwrap_or(0))
}

/// A handle on a value; one that claims to be longer than the whole file is refused: its pages would be read in a
/// circle.
fn handle<'c>(
    conn: &'c Connection,
    table: &str,
    column: &str,
    at: i64,
) -> Result<rusqlite::blob::Blob<'c>, DecodeError> {
    let blob = conn.blob_open(c"main", table, column, at, true)?;
    if blob.len() as u64 > file_len(conn)? {
        return Err(DecodeError::Damaged(format!(
            "row {at} of {table} claims a value of {}, more than the whole file",
            bytes_in_words(blob.len() as u64)
        )));
    }
    Ok(blob)
}

/// A piece of a value.
const PIECE: usize = 1 << 20;
/// A page shows a cell when no more than this lies before it in its row.
const NEAR: u64 = 2048;
/// Columns that a statement asks for. A table may have 2,000, and nobody looks at so many side by side.
const COLUMNS: usize = 100;

fn address_of(value: &ValueAt) -> Result<i64, DecodeError> {
    match value {
        ValueAt::Row { rowid, .. } => Ok(*rowid),
        _ => Err(DecodeError::NotFound("value in the database".into())),
    }
}

fn column_of<'f>(found: &'f Found, column: &str) -> Result<&'f str, DecodeError> {
    found
        .column(column)
        .ok_or_else(|| DecodeError::NotFound(format!("column {column} in {}", found.info.name)))
}

/// `WHERE` or `LIMIT` that finds the row of address `?1`; `?2` is 1.
pub(super) fn address(found: &Found) -> String {
    match found.rowid_name() {
        Some(rowid) => format!(" WHERE {rowid} = ?1 LIMIT ?2"),
        None => format!("{} LIMIT ?2 OFFSET ?1", order(found)),
    }
}

/// The first `most` bytes of a cell and its whole length; `None` for NULL.
pub(super) fn prefix(
    conn: &Connection,
    found: &Found,
    column: &str,
    at: i64,
    most: u32,
) -> Result<Option<(Vec<u8>, u64)>, DecodeError> {
    let sql = format!(
        "SELECT octet_length({}) FROM {} NOT INDEXED{}",
        quoted(column),
        quoted(&found.info.name),
        address(found)
    );
    let total: Option<i64> = conn.query_row(&sql, [at, 1], |r| r.get(0))?;
    let Some(total) = total.and_then(|n| u64::try_from(n).ok()) else {
        return Ok(None);
    };
    let bytes = part(conn, found, column, at, 0, most as usize)?;
    Ok(Some((bytes, total)))
}

fn part(
    conn: &Connection,
    found: &Found,
    column: &str,
    at: i64,
    offset: u64,
    len: usize,
) -> Result<Vec<u8>, DecodeError> {
    if let Some(blob) = open_blob(conn, found, column, at)? {
        return blob_part(&blob, offset, len);
    }
    let whole = whole_cell(conn, found, column, at)?;
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    let end = offset.saturating_add(len).min(whole.len());
    Ok(whole.get(offset..end).unwrap_or(&[]).to_vec())
}

fn blob_part(
    blob: &rusqlite::blob::Blob<'_>,
    offset: u64,
    len: usize,
) -> Result<Vec<u8>, DecodeError> {
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    let mut bytes = vec![0; len.min(blob.len().saturating_sub(offset))];
    if !bytes.is_empty() {
        let n = blob.read_at(&mut bytes, offset)?;
        bytes.truncate(n);
    }
    Ok(bytes)
}

fn blob_pieces(
    blob: &rusqlite::blob::Blob<'_>,
    each: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<(), DecodeError> {
    let mut piece = vec![0; PIECE.min(blob.len())];
    let mut done = 0;
    while done < blob.len() {
        let n = blob.read_at(&mut piece, done)?;
        if n == 0 || !each(piece.get(..n).unwrap_or(&[])) {
            break;
        }
        done += n;
    }
    Ok(())
}

/// A handle on a text or blob of a row; `None` where there can be none: no rowid, a number, UTF-16, a computed
/// column beside it.
fn open_blob<'c>(
    conn: &'c Connection,
    found: &Found,
    column: &str,
    at: i64,
) -> Result<Option<rusqlite::blob::Blob<'c>>, DecodeError> {
    if found.rowid_name().is_none() || !is_utf8(conn)? {
        return Ok(None);
    }
    let sql = format!(
        "SELECT typeof({}) FROM {} NOT INDEXED{}",
        quoted(column),
        quoted(&found.info.name),
        address(found)
    );
    let kind: String = conn
        .query_row(&sql, [at, 1], |r| r.get(0))
        .map_err(|e| no_row(e, found, at))?;
    if kind != "text" && kind != "blob" {
        return Ok(None);
    }
    let name = found.info.name.as_str();
    match handle(conn, name, column, at) {
        Ok(blob) => Ok(Some(blob)),
        // SQLite opens none on a table that has a computed column anywhere.
        Err(_) if !found.computed.is_empty() => Ok(None),
        Err(error) => Err(error),
    }
}

/// A whole cell as bytes of UTF-8; numbers as SQLite writes them.
fn whole_cell(
    conn: &Connection,
    found: &Found,
    column: &str,
    at: i64,
) -> Result<Vec<u8>, DecodeError> {
    let sql = format!(
        "SELECT {} FROM {} NOT INDEXED{}",
        quoted(column),
        quoted(&found.info.name),
        address(found)
    );
    conn.query_row(&sql, [at, 1], |r| {
        Ok(match r.get_ref(0)? {
            ValueRef::Null => Vec::new(),
            ValueRef::Integer(n) => n.to_string().into_bytes(),
            ValueRef::Real(x) => real_in_words(x).into_bytes(),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
        })
    })
    .map_err(|e| no_row(e, found, at))
}

fn no_row(error: rusqlite::Error, found: &Found, at: i64) -> DecodeError {
    match error {
        rusqlite::Error::QueryReturnedNoRows => {
            DecodeError::NotFound(format!("row {at} in {}", found.info.name))
        }
        other => other.into(),
    }
}

/// Which rows are read, and how much of them.
struct Wanted<'a> {
    /// What chooses the rows: `?1` is `start`, `?2` is `len`.
    clause: &'a str,
    start: i64,
    len: u32,
    /// Cells are cut at so many bytes.
    most: usize,
    /// Cells are read where no more than this lies before them.
    near: u64,
}

/// Reads rows: of each cell its type and length, which cost only the row's header; the cell itself where it is
/// short and not behind something long; of a long one the beginning.
fn page(
    conn: &Connection,
    found: &Found,
    columns: &[&str],
    wanted: &Wanted<'_>,
) -> Result<Vec<Vec<Cell>>, DecodeError> {
    let by_rowid = found.rowid_name().is_some();
    let mut page: Vec<(i64, Vec<Cell>)> = Vec::new();
    let sql = page_statement(found, columns, wanted);
    let mut statement = conn.prepare(&sql)?;
    let mut rows = statement.query([wanted.start, i64::from(wanted.len)])?;
    while let Some(row) = rows.next()? {
        let nth = i64::try_from(page.len()).unwrap_or(i64::MAX);
        let at = if by_rowid {
            row.get(0)?
        } else {
            wanted.start.saturating_add(nth)
        };
        let mut cells = Vec::with_capacity(columns.len());
        for i in 0..columns.len() {
            let len: Option<i64> = row.get(3 * i + 2)?;
            let value = row.get_ref(3 * i + 3)?;
            let stored = row.get_ref(3 * i + 1)?.as_str().unwrap_or("null");
            cells.push(Cell {
                text: shown(value),
                len: len.and_then(|n| u64::try_from(n).ok()).unwrap_or(0),
                // Not read yet.
                cut: stored != "null" && matches!(value, ValueRef::Null),
                stored: stored.to_owned(),
            });
        }
        page.push((at, cells));
    }
    drop(rows);

    let places: BTreeMap<&str, usize> = columns.iter().copied().zip(0..).collect();
    let in_order: Vec<usize> = found
        .stored_order()
        .iter()
        .filter_map(|stored| places.get(stored).copied())
        .collect();
    for (at, row) in &mut page {
        let mut before = 0_u64;
        for i in &in_order {
            let (Some(cell), Some(column)) = (row.get_mut(*i), columns.get(*i)) else {
                continue;
            };
            // Without a handle a value is read whole or not at all.
            let in_reach = by_rowid || cell.len <= LONGEST_VALUE as u64 / 4;
            if cell.cut && before <= wanted.near && in_reach {
                let bytes = part(conn, found, column, *at, 0, wanted.most)?;
                cell.cut = (bytes.len() as u64) < cell.len;
                cell.text = if cell.stored == "blob" {
                    hex(&bytes)
                } else {
                    String::from_utf8_lossy(whole_characters(&bytes)).into_owned()
                };
            }
            before = before.saturating_add(cell.len);
        }
    }
    Ok(page.into_iter().map(|(_, cells)| cells).collect())
}

/// `SELECT address, (type, length, text where it is cheap) for each column`.
fn page_statement(found: &Found, columns: &[&str], wanted: &Wanted<'_>) -> String {
    let mut sql = format!("SELECT {}", found.rowid_name().unwrap_or("NULL"));
    let stored = found.stored_order();
    for column in columns {
        let name = quoted(column);
        let far = (wanted.near < u64::MAX).then(|| before_in(&stored, column));
        let reach = match far.flatten() {
            Some(bytes) => format!(" AND {bytes} <= {}", wanted.near),
            None => String::new(),
        };
        sql.push_str(&format!(
            ", typeof({name}), octet_length({name}), CASE WHEN octet_length({name}) <= {}{reach} THEN {name} END",
            wanted.most
        ));
    }
    sql.push_str(&format!(
        " FROM {} NOT INDEXED{}",
        quoted(&found.info.name),
        wanted.clause
    ));
    sql
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(n) => n.to_string(),
        ValueRef::Real(x) => real_in_words(x),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ValueRef::Blob(bytes) => hex(bytes),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
