//! Reads rows as they are stored, for display of any table, whether OpenProse defines it or not.

use super::reader::whole_characters;
use crate::model::StoredType;
use crate::model::database::{
    self, Database, DecodeError, LookupKey, NEAR, Scan, Value, Want, WantedRows,
};
use crate::model::schema;
use crate::model::text;
use crate::model::{ShownCell, TableRows};

/// Maximum number of columns of a page. A table may have 2,000, which are too many to display side by side.
const COLUMNS: usize = 100;

/// Returns all columns of one row with their cells, each cut at `most` bytes, including columns unknown to OpenProse.
/// `at` is the row's address. Returns `None` if the row does not exist.
///
/// # Errors
/// If the table does not exist or cannot be read.
pub fn row(
    db: &dyn Database,
    table: &str,
    at: i64,
    most: u32,
) -> Result<Option<Vec<(String, ShownCell)>>, DecodeError> {
    let found = db.table(table)?;
    let mut row = Vec::new();
    for columns in found.read_columns().chunks(COLUMNS) {
        let wants = wants(columns, most, None);
        let scan = Scan {
            table: &found,
            wants: &wants,
            rows: WantedRows::At(at),
        };
        let Some(cells) = page(db, &scan)?.pop() else {
            return Ok(None);
        };
        row.extend(columns.iter().map(|c| (*c).to_owned()).zip(cells));
    }
    Ok(Some(row))
}

/// Returns the row of `execution` with this id, with all its columns, each cut at `most` bytes.
///
/// # Errors
/// If the table does not exist or cannot be read.
pub fn execution_row(
    db: &dyn Database,
    id: i64,
    most: u32,
) -> Result<Option<Vec<(String, ShownCell)>>, DecodeError> {
    let found = db.table(schema::EXECUTION)?;
    let scan = Scan {
        table: &found,
        wants: &[],
        rows: WantedRows::Holding("id", LookupKey::Int(id)),
    };
    let mut at = None;
    db.scan(&scan, &mut |row| {
        at = Some(row.at());
        false
    })?;
    // If no row has this id, it may be a rowid: decoding uses the rowid of a row without a numeric id as its id.
    match at.or((!found.without_rowid).then_some(id)) {
        Some(at) => row(db, schema::EXECUTION, at, most),
        None => Ok(None),
    }
}

/// Returns `len` rows of any table, starting at index `from`, in stored order.
///
/// Cells are cut at `most` bytes. A cell after a large value is left empty and marked as cut, because reading such a
/// cell would load the value's pages. If `len` is 1, these cells are read as well. A table with too many columns for a
/// page is returned with its first columns only.
///
/// # Errors
/// If the table does not exist, is a view or a virtual table, or cannot be read.
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
            "`{}` is a {}, and reading such rows would run SQL of the file",
            found.info.name, found.info.kind
        )));
    }
    let all = found.read_columns();
    let columns = all.get(..COLUMNS).unwrap_or(&all);
    let wants = wants(columns, most, (len != 1).then_some(NEAR));
    let scan = Scan {
        table: &found,
        wants: &wants,
        rows: WantedRows::Page(from, len),
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

fn page(db: &dyn Database, scan: &Scan<'_>) -> Result<Vec<Vec<ShownCell>>, DecodeError> {
    let mut page = Vec::new();
    let mut failed = Ok(());
    db.scan(scan, &mut |row| {
        let cells: Result<_, _> = (0..scan.wants.len()).map(|i| cell(row, i)).collect();
        failed = cells.map(|cells| page.push(cells));
        failed.is_ok()
    })?;
    failed.map(|()| page)
}

fn cell(row: &dyn database::Row, i: usize) -> Result<ShownCell, DecodeError> {
    let (stored, len) = row.size(i);
    let cell = row.cell(i)?;
    let len = len.unwrap_or(0);
    let (text, cut) = match &cell.value {
        Value::Null => (String::new(), stored != StoredType::Null),
        Value::Text(bytes) if cell.is_cut() => {
            let whole = String::from_utf8_lossy(whole_characters(bytes));
            (whole.into_owned(), true)
        }
        Value::Blob(bytes) => (text::hex(bytes), cell.is_cut()),
        value => (value.lossy().unwrap_or_default().into_owned(), false),
    };
    Ok(ShownCell {
        text,
        len,
        cut,
        stored: stored.word().to_owned(),
    })
}
