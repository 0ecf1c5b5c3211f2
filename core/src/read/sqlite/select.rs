//! Builds statements for tables of unknown shape that never read a large value.
//!
//! A statement contains only columns that exist. SQLite reads a row's columns in order: to read a column after a large
//! value, it reads all pages of that value (errata R8). `octet_length` and `typeof` read only the row's header. A text
//! is therefore selected only if it is short, and a column only if the columns before it are short.

use std::borrow::Cow;
use std::cell::Cell as Once;

use rusqlite::types::ValueRef;

use super::Sqlite;
use super::guard::LONGEST_VALUE;
use super::shape::quoted;
use super::value;
use crate::model::StoredType;
use crate::model::database::FoundTable;
use crate::model::database::{
    Cell, CellAt, DecodeError, LookupKey, Row, Scan, Value, Want, WantedRows,
};

/// The minimum size of a row on its page, in bytes: two for the pointer to the row, and one each for the row's length,
/// its key and the length of its header. A file with more rows than this allows is damaged.
const SMALLEST_ROW: u64 = 5;
/// Maximum ratio of the bytes of all returned cells to the bytes of the file. It is above 1 because a text stored as
/// UTF-16 can grow by half when read as UTF-8.
const MOST_READ: u64 = 2;

/// Runs a scan, see [`crate::model::database::Database::scan`].
pub(super) fn scan(
    db: &Sqlite,
    scan: &Scan<'_>,
    each: &mut dyn FnMut(&dyn Row) -> bool,
) -> Result<(), DecodeError> {
    let found = scan.table;
    let by_rowid = found.rowid_name().is_some();
    let plan = ScanStatement::of(scan);
    let file_len = db.file_len()?;
    let measured = scan.wants.iter().any(|want| want.most == 0);
    let left = (measured && !db.is_utf8()?).then(|| Once::new(file_len));
    let ascends = !matches!(scan.rows, WantedRows::At(_) | WantedRows::Page(..));
    // In a table without rowids, a row's address is its position, from 0. Rows that are filtered out count, too.
    let mut place = match scan.rows {
        WantedRows::At(at) => at,
        WantedRows::Page(from, _) => i64::try_from(from).unwrap_or(i64::MAX),
        _ => 0,
    };
    let counted = scan.wants.iter().any(|want| !want.sized);
    let mut walked = 0_u64;
    let mut before: Option<i64> = None;
    // The compiled statement is cached, because callers often read single rows one after another.
    let mut statement = db.conn.prepare_cached(&plan.sql)?;
    let mut rows = statement.query(rusqlite::params_from_iter(&plan.parameters))?;
    while let Some(row) = rows.next()? {
        let at = if by_rowid { row.get(0)? } else { place };
        place = place.saturating_add(1);
        walked += 1;
        if ascends && by_rowid && before.is_some_and(|before| at <= before) {
            return Err(out_of_order(at));
        }
        before = Some(at);
        let too_much = counted && db.handed.get() > MOST_READ * file_len;
        if too_much || walked > file_len / SMALLEST_ROW {
            return Err(more_than_the_file());
        }
        if !row.get::<_, Option<bool>>(1)?.unwrap_or(false) {
            continue;
        }
        let row = OfStatement {
            db,
            plan: &plan,
            scan,
            row,
            at,
            left: left.as_ref(),
        };
        if !each(&row) {
            break;
        }
    }
    Ok(())
}

/// The statement for a scan. `slots` has the result columns of each wanted column.
struct ScanStatement {
    sql: String,
    parameters: Vec<rusqlite::types::Value>,
    slots: Vec<Slot>,
}

/// The index of the column that is true if a text is too long. The statement's first four columns are: the row's
/// address, whether the row is wanted, [`TOO_LONG`], and [`REACHED`]. From [`FIRST`] on, the requested columns follow:
/// type, length, value.
const TOO_LONG: usize = 2;
const REACHED: usize = 3;
const FIRST: usize = 4;

/// The indexes of the result columns for one requested cell. `size` is the index of its type, which its length follows.
/// `None`: the statement does not select the column.
#[derive(Clone, Copy)]
struct Slot {
    size: Option<usize>,
    value: Option<usize>,
}

impl ScanStatement {
    fn of(scan: &Scan<'_>) -> ScanStatement {
        let found = scan.table;
        let (condition, mut parameters) = condition(found, scan.rows);
        // If a row's address is its position, all rows must be counted. The condition then becomes a column instead of
        // a `WHERE` clause.
        let (kept, filter) = match condition {
            Some(condition) if found.rowid_name().is_none() => (condition, String::new()),
            Some(condition) => ("1".to_owned(), format!(" WHERE {condition}")),
            None => ("1".to_owned(), String::new()),
        };
        let mut sql = format!(
            "SELECT {}, {kept}, {}, {}",
            found.rowid_name().unwrap_or("NULL"),
            too_long(found, scan.wants),
            reached(found, scan.wants)
        );
        let mut next = FIRST;
        let mut slots = Vec::with_capacity(scan.wants.len());
        let stored = found.stored_order();
        for want in scan.wants {
            let mut slot = Slot {
                size: None,
                value: None,
            };
            if let Some(column) = found.column(want.column) {
                let name = quoted(column);
                if want.sized {
                    sql.push_str(&format!(", typeof({name}), octet_length({name})"));
                    slot.size = Some(next);
                    next += 2;
                }
                if want.most > 0 {
                    let near = want
                        .within
                        .and_then(|bytes| {
                            Some(format!(" AND {} <= {bytes}", before(&stored, column)?))
                        })
                        .unwrap_or_default();
                    sql.push_str(&format!(
                        ", CASE WHEN octet_length({name}) <= {}{near} THEN {name} END",
                        want.most
                    ));
                    slot.value = Some(next);
                    next += 1;
                }
            }
            slots.push(slot);
        }
        sql.push_str(&format!(" FROM {}", quoted(&found.info.name)));
        if !matches!(scan.rows, WantedRows::Holding(..)) {
            // NOT INDEXED makes SQLite read the table itself, because the index of a damaged file may differ from the
            // table.
            sql.push_str(" NOT INDEXED");
        }
        sql.push_str(&filter);
        match scan.rows {
            WantedRows::All | WantedRows::OfRun(_) | WantedRows::Holding(..) => {
                sql.push_str(&order(found));
            }
            WantedRows::At(at) => {
                sql.push_str(&value::address(found));
                parameters = vec![at.into(), 1.into()];
            }
            WantedRows::Page(from, len) => {
                sql.push_str(&order(found));
                sql.push_str(" LIMIT ?2 OFFSET ?1");
                let from = i64::try_from(from).unwrap_or(i64::MAX);
                parameters = vec![from.into(), i64::from(len).into()];
            }
        }
        ScanStatement {
            sql,
            parameters,
            slots,
        }
    }
}

/// Returns the condition that selects the rows, and its parameters.
fn condition(
    found: &FoundTable,
    rows: WantedRows<'_>,
) -> (Option<String>, Vec<rusqlite::types::Value>) {
    match rows {
        WantedRows::OfRun(run) => match found.column("run_id") {
            Some(column) => {
                let column = quoted(column);
                let condition = format!("({column} IS NULL OR {column} = ?1)");
                (Some(condition), vec![run.to_owned().into()])
            }
            None => (None, Vec::new()),
        },
        WantedRows::Holding(column, key) => {
            // If the table lacks the column, no row can match.
            let Some(column) = found.column(column) else {
                return (Some("0".to_owned()), Vec::new());
            };
            let name = quoted(column);
            match key {
                LookupKey::Int(n) => (Some(format!("{name} = ?1")), vec![n.into()]),
                // The column may store the text as a BLOB, so both types are compared.
                LookupKey::Text(text) if is_text(found, column) => (
                    Some(format!("{name} IN (?1, CAST(?1 AS BLOB))")),
                    vec![text.to_owned().into()],
                ),
                // A column without text affinity may store the key as a number.
                LookupKey::Text(text) => (
                    Some(format!("CAST({name} AS TEXT) = ?1")),
                    vec![text.to_owned().into()],
                ),
            }
        }
        WantedRows::All | WantedRows::At(_) | WantedRows::Page(..) => (None, Vec::new()),
    }
}

/// Returns whether a column has text affinity (SQLite, "Determination Of Column Affinity"): SQLite converts numbers
/// written to such a column into text, so a name in it is never a number.
fn is_text(found: &FoundTable, column: &str) -> bool {
    let declared = found.info.columns.iter().find(|c| c.name == column);
    let declared = declared.map_or_else(String::new, |c| c.declared.to_ascii_uppercase());
    let has = |word: &str| declared.contains(word);
    !has("INT") && (has("CHAR") || has("CLOB") || has("TEXT"))
}

/// Returns an SQL expression that is true if a text of the row exceeds its requested length. Only the text's beginning
/// is then read.
fn too_long(found: &FoundTable, wants: &[Want<'_>]) -> String {
    let terms: Vec<String> = wants
        .iter()
        .filter(|want| want.within.is_none() && !want.sized)
        .filter_map(|want| {
            let column = quoted(found.column(want.column)?);
            Some(format!(
                "coalesce(octet_length({column}) > {}, 0)",
                want.most
            ))
        })
        .collect();
    match terms.as_slice() {
        [] => "0".to_owned(),
        terms => terms.join(" + "),
    }
}

/// Returns an SQL expression that is true if all wanted columns are close enough to the row's start to be read. The last
/// of them decides, because every other one is nearer.
fn reached(found: &FoundTable, wants: &[Want<'_>]) -> String {
    let stored = found.stored_order();
    let limited = wants.iter().filter(|want| !want.sized);
    let limited = limited.filter_map(|want| Some((found.column(want.column)?, want.within?)));
    let (columns, limits): (Vec<&str>, Vec<u32>) = limited.unzip();
    // A computed column is stored nowhere, and needs any of the others.
    let place = |column: &&str| stored.iter().position(|stored| stored == column);
    let last = columns
        .into_iter()
        .max_by_key(|column| place(column).unwrap_or(stored.len()));
    last.and_then(|last| {
        Some(format!(
            "{} <= {}",
            before(&stored, last)?,
            limits.iter().min()?
        ))
    })
    .unwrap_or_else(|| "1".to_owned())
}

/// Returns an ORDER BY clause for the order in which rows are stored.
pub(super) fn order(found: &FoundTable) -> String {
    match found.rowid_name() {
        Some(rowid) => format!(" ORDER BY {rowid}"),
        None if found.without_rowid => {
            let key: Vec<String> = found.key.iter().map(|k| quoted(k)).collect();
            format!(" ORDER BY {}", key.join(", "))
        }
        None => String::new(),
    }
}

/// Returns an SQL expression for the number of bytes before a column in its row; `None` for the first column. `stored`
/// lists the columns in stored order. After more than [`MOST_BEFORE`] columns, the expression is the largest number, so
/// the column counts as out of reach.
fn before(stored: &[&str], column: &str) -> Option<String> {
    let columns: Vec<&&str> = stored
        .iter()
        .take_while(|c| **c != column)
        .take(MOST_BEFORE + 1)
        .collect();
    if columns.len() > MOST_BEFORE {
        return Some(i64::MAX.to_string());
    }
    let lengths: Vec<String> = columns
        .iter()
        .map(|c| format!("coalesce(octet_length({}), 0)", quoted(c)))
        .collect();
    balanced(&lengths)
}

/// Maximum number of columns whose lengths are added for each row. A table may have 2,000 columns.
const MOST_BEFORE: usize = 64;

/// Returns a sum as a balanced tree, because SQLite limits the depth of an expression.
fn balanced(terms: &[String]) -> Option<String> {
    match terms {
        [] => None,
        [one] => Some(one.clone()),
        many => {
            let (left, right) = many.split_at(many.len() / 2);
            Some(format!("({} + {})", balanced(left)?, balanced(right)?))
        }
    }
}

/// A row of a [`ScanStatement`]'s statement.
struct OfStatement<'a, 'r> {
    db: &'a Sqlite,
    plan: &'a ScanStatement,
    scan: &'a Scan<'a>,
    row: &'a rusqlite::Row<'r>,
    at: i64,
    /// The number of bytes of values that may still be read to determine their lengths, in a UTF-16 database. `None` in
    /// other databases.
    left: Option<&'a Once<u64>>,
}

impl Row for OfStatement<'_, '_> {
    fn at(&self) -> i64 {
        self.at
    }

    fn cell(&self, i: usize) -> Result<Cell<'_>, DecodeError> {
        let Some(Slot {
            size,
            value: Some(slot),
        }) = self.plan.slots.get(i).copied()
        else {
            return Ok(Cell::NULL);
        };
        let cell = match self.row.get_ref(slot).unwrap_or(ValueRef::Null) {
            ValueRef::Null if size.is_some() => self.beginning(i)?,
            ValueRef::Null if self.flag(TOO_LONG) => self.cut(i)?,
            value => Cell::whole(value.into()),
        };
        // Cells whose size was requested do not count, because their rows are read one by one or for a second time.
        if size.is_none() {
            let handed = &self.db.handed;
            handed.set(handed.get() + cell.value.bytes().len() as u64);
        }
        Ok(cell)
    }

    fn size(&self, i: usize) -> (StoredType, Option<u64>) {
        let Some(slot) = self.plan.slots.get(i).and_then(|slot| slot.size) else {
            return (StoredType::Null, None);
        };
        let word = self.row.get_ref(slot).unwrap_or(ValueRef::Null);
        let stored = match word.as_str().unwrap_or_default() {
            "integer" => StoredType::Integer,
            "real" => StoredType::Real,
            "text" => StoredType::Text,
            "blob" => StoredType::Blob,
            _ => StoredType::Null,
        };
        let len: Option<i64> = self.row.get(slot + 1).ok().flatten();
        let len = len.and_then(|n| u64::try_from(n).ok());
        let whole = self.scan.wants.get(i).is_some_and(|want| want.most == 0);
        match (self.left, len) {
            (Some(left), Some(len)) if whole => (stored, Some(self.as_utf8(i, len, left))),
            _ => (stored, len),
        }
    }

    fn reached(&self) -> bool {
        self.flag(REACHED)
    }
}

impl OfStatement<'_, '_> {
    fn flag(&self, slot: usize) -> bool {
        self.row.get::<_, Option<i64>>(slot).ok().flatten() > Some(0)
    }

    /// Returns the i-th wanted column: the request, and the column's name as the table spells it.
    fn column(&self, i: usize) -> Option<(&Want<'_>, &str)> {
        let want = self.scan.wants.get(i)?;
        Some((want, self.scan.table.column(want.column)?))
    }

    /// Returns the beginning of a text that exceeds its requested length; NULL for other cells.
    fn cut(&self, i: usize) -> Result<Cell<'_>, DecodeError> {
        let Some((want, column)) = self.column(i).filter(|(want, _)| want.within.is_none()) else {
            return Ok(Cell::NULL);
        };
        let prefix = value::prefix(self.db, self.scan.table, column, self.at, want.most)?;
        Ok(prefix.map_or(Cell::NULL, |(bytes, len)| Cell {
            value: Value::Text(Cow::Owned(bytes)),
            len,
        }))
    }

    /// Returns the beginning of a cell of known length, if it is close enough to the row's start.
    fn beginning(&self, i: usize) -> Result<Cell<'_>, DecodeError> {
        // A missing length usually means that the cell is empty.
        let (stored, Some(len)) = self.size(i) else {
            return Ok(Cell::NULL);
        };
        let Some((want, column)) = self.column(i).filter(|_| stored != StoredType::Null) else {
            return Ok(Cell::NULL);
        };
        let found = self.scan.table;
        let is_near = want
            .within
            .is_none_or(|most| self.before(column) <= u64::from(most));
        // SQLite has no blob handles for tables without rowids. It reads a value there as a whole or not at all, so
        // only short values are read.
        let in_reach = found.rowid_name().is_some() || len <= LONGEST_VALUE as u64 / 4;
        let value = match (is_near && in_reach).then_some(stored) {
            None => Value::Null,
            Some(kind) => {
                let most = u64::from(want.most);
                let bytes = value::part(self.db, found, column, self.at, 0..most)?;
                match kind {
                    StoredType::Blob => Value::Blob(bytes.into()),
                    _ => Value::Text(bytes.into()),
                }
            }
        };
        Ok(Cell { value, len })
    }

    /// Returns the number of bytes before a column in its row, as far as the lengths are known.
    fn before(&self, column: &str) -> u64 {
        let stored = self.scan.table.stored_order();
        let before = stored.iter().take_while(|c| **c != column);
        let len = |column: &str| {
            let mut wants = self.scan.wants.iter();
            let i = wants.position(|want| want.column.eq_ignore_ascii_case(column))?;
            self.size(i).1
        };
        before.filter_map(|column| len(column)).sum()
    }

    /// Returns the length in UTF-8 of a text stored as UTF-16, which requires reading the text. `left` limits the bytes
    /// that are read: all values of an intact file together are not longer than the file. Once `left` is used up, the
    /// stored length is returned.
    fn as_utf8(&self, i: usize, len: u64, left: &Once<u64>) -> u64 {
        left.set(left.get().saturating_sub(len));
        let Some((_, column)) = self.column(i).filter(|_| left.get() > 0) else {
            return len;
        };
        let at = CellAt {
            table: &self.scan.table.info.name,
            column,
            at: self.at,
            stored: None,
        };
        let mut total = 0;
        let counted = value::pieces(self.db, &at, 0..u64::MAX, &mut |piece| {
            total += piece.len() as u64;
            true
        });
        counted.map_or(len, |()| total)
    }
}

/// Returns the error for a row whose rowid is not greater than the previous one. The pages of such a table refer back
/// to each other, so a scan might never end.
fn out_of_order(at: i64) -> DecodeError {
    DecodeError::Damaged(format!(
        "row {at} follows a later row, so the table's pages refer to each other"
    ))
}

fn more_than_the_file() -> DecodeError {
    DecodeError::Damaged(
        "the rows of a table claim more bytes than the file has, so they share pages".to_owned(),
    )
}
