//! Rows as they are stored, for a person who looks at a table: known to the documents or not.

use super::reader::whole_characters;
use crate::database::{self, Database, DecodeError, Key, NEAR, Rows, Scan, Value, Want};
use crate::model::Stored;
use crate::model::{Cell, TableRows};
use crate::schema;
use crate::text;

/// Columns that a scan asks for. A table may have 2,000, and nobody looks at so many side by side.
const COLUMNS: usize = 100;

/// All columns of one row with their cells, each cut at `most` bytes; also those unknown to OpenProse.
/// `at` is the row's address. `None`: there is no such row.
///
/// # Errors
/// When there is no such table, or it cannot be read.
pub fn row(
    db: &dyn Database,
    table: &str,
    at: i64,
    most: u32,
) -> Result<Option<Vec<(String, Cell)>>, DecodeError> {
    let found = db.table(table)?;
    let mut row = Vec::new();
    for columns in found.read_columns().chunks(COLUMNS) {
        let wants = wants(columns, most, None);
        let scan = Scan {
            table: &found,
            wants: &wants,
            rows: Rows::At(at),
        };
        let Some(cells) = page(db, &scan)?.pop() else {
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
    db: &dyn Database,
    id: i64,
    most: u32,
) -> Result<Option<Vec<(String, Cell)>>, DecodeError> {
    let found = db.table(schema::EXECUTION)?;
    let scan = Scan {
        table: &found,
        wants: &[],
        rows: Rows::Holding("id", Key::Int(id)),
    };
    let mut at = None;
    db.scan(&scan, &mut |row| {
        at = Some(row.at());
        false
    })?;
    // Rows whose id is no number are known by their rowid.
    match at.or((!found.without_rowid).then_some(id)) {
        Some(at) => row(db, schema::EXECUTION, at, most),
        None => Ok(None),
    }
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
    db: &dyn Database,
    table: &str,
    from: u64,
    len: u32,
    most: u32,
) -> Result<TableRows, DecodeError> {
    let found = db.table(table)?;
    if !found.is_table() {
        return Err(DecodeError::Refused(format!(
            "{} is a {}, whose rows the file's own SQL would compute",
            found.info.name, found.info.kind
        )));
    }
    let all = found.read_columns();
    let columns = all.get(..COLUMNS).unwrap_or(&all);
    let wants = wants(columns, most, (len != 1).then_some(NEAR));
    let scan = Scan {
        table: &found,
        wants: &wants,
        rows: Rows::Page(from, len),
    };
    Ok(TableRows {
        rows: page(db, &scan)?,
        columns: columns.iter().map(|c| (*c).to_owned()).collect(),
        more_columns: (all.len() - columns.len()) as u32,
        from,
        total: None,
        table: found.info.name.clone(),
    })
}

fn wants<'a>(columns: &[&'a str], most: u32, within: Option<u32>) -> Vec<Want<'a>> {
    let want = |column: &&'a str| Want {
        within,
        ..Want::of(column, most).sized()
    };
    columns.iter().map(want).collect()
}

fn page(db: &dyn Database, scan: &Scan<'_>) -> Result<Vec<Vec<Cell>>, DecodeError> {
    let mut page = Vec::new();
    let mut failed = Ok(());
    db.scan(scan, &mut |row| {
        let cells: Result<_, _> = (0..scan.wants.len()).map(|i| cell(row, i)).collect();
        failed = cells.map(|cells| page.push(cells));
        failed.is_ok()
    })?;
    failed.map(|()| page)
}

fn cell(row: &dyn database::Row, i: usize) -> Result<Cell, DecodeError> {
    let (stored, len) = row.size(i);
    let cell = row.cell(i)?;
    let len = len.unwrap_or(0);
    let (text, cut) = match &cell.value {
        Value::Null => (String::new(), stored != Stored::Null),
        Value::Text(bytes) if cell.is_cut() => {
            let whole = String::from_utf8_lossy(whole_characters(bytes));
            (whole.into_owned(), true)
        }
        Value::Blob(bytes) => (text::hex(bytes), cell.is_cut()),
        value => (value.lossy().unwrap_or_default().into_owned(), false),
    };
    Ok(Cell {
        text,
        len,
        cut,
        stored: stored.word().to_owned(),
    })
}
