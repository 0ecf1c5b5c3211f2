//! Scans the tables of a store, converts rows for the model, and collects their defects.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::cells::{CellPlace, Texts, int_of, stamp_of, text_from, text_of};
use super::notes::Notes;
use crate::model::database::FoundTable;
use crate::model::database::{
    Cell, Database, DecodeError, Row, Scan, Value, Want, WantedRows, bytes_in_words,
};
use crate::model::issue::Issue;
use crate::model::schema;
use crate::model::time::Stamp;
use crate::model::{Text, ValueAt};
use crate::read::decode::fields::Fields;
use crate::read::decode::room::{MOST_HELD, bytes_a_row, too_many_rows};

/// The state of a scan: the store, its tables, and the issues so far.
pub(super) struct RowsReader<'d> {
    pub(super) db: &'d dyn Database,
    /// The store's tables, in an `Rc` so that a table's description stays available while its rows are read.
    pub(super) tables: Rc<[FoundTable]>,
    pub(super) notes: Notes,
    pub(super) texts: Texts,
    /// The `run_id` of the rows to read, if several runs share the tables; `None` reads all rows.
    pub(super) only_run: Option<Text>,
    /// Number of rows of each table that was scanned to its end.
    pub(super) counts: BTreeMap<&'static str, u64>,
    /// The error that stopped the last interrupted scan. `notes` contains an issue about the same error.
    pub(super) failed: Option<DecodeError>,
    /// Approximate bytes of the program and rows read so far, without their texts.
    pub(super) held: usize,
}

impl<'d> RowsReader<'d> {
    pub(super) fn new(db: &'d dyn Database, name: &str) -> Result<RowsReader<'d>, DecodeError> {
        Ok(RowsReader::of(db, db.tables()?, name))
    }

    /// Returns a reader for one table only.
    pub(super) fn of_table(
        db: &'d dyn Database,
        table: &str,
        name: &str,
    ) -> Result<RowsReader<'d>, DecodeError> {
        Ok(RowsReader::of(db, vec![db.table(table)?], name))
    }

    fn of(db: &'d dyn Database, tables: Vec<FoundTable>, name: &str) -> RowsReader<'d> {
        RowsReader {
            db,
            tables: tables.into(),
            notes: Notes::new(name),
            texts: Texts::default(),
            only_run: None,
            counts: BTreeMap::new(),
            failed: None,
            held: 0,
        }
    }

    /// Returns a table by name if it exists and can be read.
    pub(super) fn table(&self, name: &str) -> Option<&FoundTable> {
        table(&self.tables, name)
    }
}

fn table<'a>(tables: &'a [FoundTable], name: &str) -> Option<&'a FoundTable> {
    tables
        .iter()
        .find(|t| t.info.name.eq_ignore_ascii_case(name) && t.is_table())
}

/// Returns which columns of an OpenProse table are read.
fn columns(table: &str) -> &'static [Want<'static>] {
    schema::table_spec(table).map_or(&[], |spec| spec.columns)
}

/// Returns an issue about a table that was not read to its end. The error determines the issue's rule.
pub(super) fn not_read(error: &DecodeError, message: String) -> Issue {
    let rule = match error {
        _ if error.is_stopped() => "reading-stopped",
        _ if error.is_failed() => "reading-failed",
        _ => "table-damaged",
    };
    Issue::error(rule, message).hint(error.next_step())
}

/// One row of a scan.
pub(super) struct ScannedRow<'a> {
    pub(super) row: &'a dyn Row,
    table: &'static str,
    wants: &'a [Want<'static>],
    /// Index at which the search for the next requested column starts: after the last found column, because callers
    /// mostly request columns in order.
    next: usize,
    /// The row's address: its rowid, or its position in a table without rowids.
    pub(super) at: i64,
    /// Bytes that this row takes in addition to the usual size of its table's rows.
    pub(super) more: usize,
    pub(super) notes: &'a mut Notes,
    pub(super) texts: &'a mut Texts,
}

impl RowsReader<'_> {
    /// Scans one of OpenProse's tables in order: all rows, or the rows of the chosen run, with the columns of
    /// [`schema::TABLES`]. Does nothing if the table does not exist; an interrupted scan becomes an issue.
    pub(super) fn scan(&mut self, table: &'static str, each: impl FnMut(&mut ScannedRow<'_>)) {
        self.scan_some(table, columns(table), each);
    }

    /// Scans any table like [`RowsReader::scan`], but with the given columns.
    pub(super) fn scan_some(
        &mut self,
        table: &'static str,
        wants: &[Want<'static>],
        each: impl FnMut(&mut ScannedRow<'_>),
    ) {
        let run = self.only_run.clone();
        let rows = run.as_deref().map_or(WantedRows::All, WantedRows::OfRun);
        self.scan_rows(table, rows, wants, each);
    }

    /// Scans a table like [`RowsReader::scan_some`], but only the given rows.
    pub(super) fn scan_rows(
        &mut self,
        table: &'static str,
        rows: WantedRows<'_>,
        wants: &[Want<'static>],
        mut each: impl FnMut(&mut ScannedRow<'_>),
    ) {
        let tables = Rc::clone(&self.tables);
        let Some(found) = self::table(&tables, table) else {
            return;
        };
        if found.info.rows == Some(0) {
            self.counts.insert(table, 0);
            return;
        }
        let mut count = 0_usize;
        let mut held = self.held;
        let mut full = false;
        let walked = self.walk((table, found), rows, wants, |cells| {
            held += bytes_a_row(table);
            full = held + cells.texts.bytes() > MOST_HELD;
            if !full {
                count += 1;
                each(cells);
                held += cells.more;
            }
            !full
        });
        let is_whole = match rows {
            WantedRows::All => true,
            WantedRows::OfRun(_) => found.column("run_id").is_none(),
            _ => false,
        };
        self.held = held;
        match walked {
            Ok(()) if full => {
                let hint = "To see all rows, open the table under files and tables.";
                let issue = too_many_rows(table, count).hint(hint);
                self.notes.add(issue.at_table(table));
            }
            Ok(()) if is_whole => {
                self.counts.insert(table, count as u64);
            }
            Ok(()) => {}
            Err(error) => {
                let why = match &error {
                    DecodeError::Damaged(said) => format!("part of the file is damaged ({said})"),
                    error => error.to_string(),
                };
                let none = match table {
                    schema::BINDINGS => "no value".to_owned(),
                    schema::AGENTS => "no agent".to_owned(),
                    schema::GATES => "no gate".to_owned(),
                    table => format!("no row of `{table}`"),
                };
                let message = match count {
                    0 => format!("{none} can be read: {why}"),
                    _ => format!("`{table}` can be read only up to row {count}: {why}"),
                };
                self.notes.add(not_read(&error, message).at_table(table));
                self.failed = Some(error);
            }
        }
    }

    /// Reads all columns of one row by the row's address, including the columns after a large value.
    pub(super) fn scan_row(
        &mut self,
        table: &'static str,
        at: i64,
        mut each: impl FnMut(&mut ScannedRow<'_>),
    ) -> Result<(), DecodeError> {
        let tables = Rc::clone(&self.tables);
        let found = self::table(&tables, table)
            .ok_or_else(|| DecodeError::NotFound(format!("table {table}")))?;
        let wants: Vec<Want<'static>> = columns(table)
            .iter()
            .map(|want| Want {
                within: None,
                ..*want
            })
            .collect();
        self.walk((table, found), WantedRows::At(at), &wants, |cells| {
            each(cells);
            false
        })
    }

    /// Returns how many rows to reserve memory for, so that a long list is not moved while it grows (in wasm, memory
    /// is never returned to the system). The number is an estimate with a maximum.
    pub(super) fn room_for(&self, table: &str) -> usize {
        const MOST: u64 = 1 << 17;
        self.about(table).min(MOST) as usize
    }

    /// Returns the approximate number of a table's rows; 0 if unknown.
    pub(super) fn about(&self, table: &str) -> u64 {
        self.table(table).map_or(0, |found| self.db.about(found))
    }

    /// Runs a scan; `each` returns whether to continue.
    fn walk(
        &mut self,
        (table, found): (&'static str, &FoundTable),
        rows: WantedRows<'_>,
        wants: &[Want<'static>],
        mut each: impl FnMut(&mut ScannedRow<'_>) -> bool,
    ) -> Result<(), DecodeError> {
        let scan = Scan {
            table: found,
            wants,
            rows,
        };
        let (notes, texts) = (&mut self.notes, &mut self.texts);
        self.db.scan(&scan, &mut |row| {
            each(&mut ScannedRow {
                row,
                table,
                wants,
                next: 0,
                at: row.at(),
                more: 0,
                notes,
                texts,
            })
        })
    }
}

impl<'a> ScannedRow<'a> {
    /// Adds an issue about a column.
    pub(super) fn mark_odd(&mut self, column: &str, issue: Issue) {
        let issue = issue.at_row(self.table, self.at).at_column(column);
        self.notes.add(issue);
    }

    /// Returns the index of a requested column, and its position for issues.
    fn find(&mut self, column: &str) -> (usize, CellPlace) {
        let len = self.wants.len();
        let places = (self.next..len).chain(0..self.next.min(len));
        let is = |at: &usize| {
            self.wants
                .get(*at)
                .is_some_and(|want| want.column == column)
        };
        let found = places.into_iter().find(is).unwrap_or(len);
        self.next = found + 1;
        let place = CellPlace {
            table: self.table,
            row: self.at,
            column: self.wants.get(found).map_or("", |want| want.column),
        };
        (found, place)
    }

    /// Returns a requested cell and its position; NULL if the cell cannot be read.
    fn cell(&mut self, column: &str) -> (Cell<'a>, CellPlace) {
        let (found, place) = self.find(column);
        (self.row.cell(found).unwrap_or(Cell::NULL), place)
    }

    /// Returns a requested column as text.
    pub(super) fn string(&mut self, column: &str) -> Option<String> {
        let (cell, at) = self.cell(column);
        self.string_of(&cell, at)
    }

    fn string_of(&mut self, cell: &Cell<'_>, at: CellPlace) -> Option<String> {
        if !cell.is_cut() {
            return text_of(&cell.value, at, self.notes);
        }
        let bytes = cell.value.bytes();
        let message = format!(
            "`{}` is {} long; only the first {} are shown",
            at.column,
            bytes_in_words(cell.len),
            bytes_in_words(bytes.len() as u64)
        );
        let issue = Issue::noted("long-text", message);
        at.mark_odd(self.notes, issue.hint("Open the row to see the rest."));
        Some(text_from(whole_characters(bytes), at, self.notes))
    }

    /// Returns the location and length of a requested column's value.
    pub(super) fn value_at(&mut self, column: &str) -> ValueAt {
        let (found, _) = self.find(column);
        let (stored, len) = self.row.size(found);
        ValueAt::Row {
            rowid: self.at,
            len,
            stored,
        }
    }
}

impl Fields for ScannedRow<'_> {
    /// Returns a column as text. Rows with equal texts share one copy in memory.
    fn text(&mut self, column: &str) -> Option<Text> {
        let (cell, at) = self.cell(column);
        // A whole cell of valid UTF-8, the usual case, is passed on without a copy.
        if let Value::Text(bytes) = &cell.value
            && !cell.is_cut()
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            return Some(self.texts.share(text));
        }
        let text = self.string_of(&cell, at)?;
        Some(self.texts.share(&text))
    }

    fn int(&mut self, column: &str) -> Option<i64> {
        let (cell, at) = self.cell(column);
        int_of(&whole(cell), at, self.notes)
    }

    fn stamp(&mut self, column: &str) -> Option<Stamp> {
        let (cell, at) = self.cell(column);
        stamp_of(&whole(cell), at, self.notes)
    }
}

/// Returns a cell's value if the whole cell was read, otherwise NULL.
fn whole(cell: Cell<'_>) -> Value<'_> {
    if cell.is_cut() {
        Value::Null
    } else {
        cell.value
    }
}

/// Returns the bytes without an incomplete UTF-8 character at their end, which cutting a text may leave.
pub(crate) fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => {
            bytes.get(..error.valid_up_to()).unwrap_or(bytes)
        }
        _ => bytes,
    }
}
