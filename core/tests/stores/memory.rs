//! A store for tests that is not SQLite: it has runs as lists of rows in memory, and counts how much is read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use prosescope_core::model::StoredType;
use prosescope_core::model::database::FoundTable;
use prosescope_core::model::database::{
    Cell, CellAt, Database, DecodeError, Limits, LookupKey, Row, Scan, Value, Want, WantedRows,
};

/// A store with the rows of all runs in memory.
#[derive(Default)]
pub(crate) struct Memory {
    tables: Vec<FoundTable>,
    /// The rows of each table and run, each row with its address.
    rows: BTreeMap<(String, String), Vec<(i64, Cells)>>,
    handed: Mutex<Handed>,
}

/// The cells of a row, in the order of its table's columns.
pub(crate) type Cells = Vec<Value<'static>>;

/// Counts of the rows and bytes that were read.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Handed {
    /// Rows, by their run.
    pub(crate) rows: BTreeMap<String, u64>,
    /// How many bytes were read from cells of more than [`SMALL`] bytes while rows were listed.
    pub(crate) large: u64,
    /// How many bytes were read from cells that were requested one by one.
    pub(crate) pieces: u64,
}

/// The size in bytes up to which a cell does not count as large: names, times and statements are shorter.
const SMALL: usize = 1 << 10;

impl Memory {
    /// Copies the rows of another store into memory, as the rows of the given run.
    pub(crate) fn copy_of(db: &dyn Database, run: &str) -> Result<Memory, DecodeError> {
        let mut memory = Memory::default();
        for mut found in db.tables()? {
            found.info.rows = None;
            if found.is_table() {
                let rows = rows_of(db, &found)?;
                memory.rows.insert(key(&found.info.name, run), rows);
            }
            memory.tables.push(found);
        }
        Ok(memory)
    }

    /// Adds the rows of a run again as another run, with each cell changed.
    pub(crate) fn add(&mut self, run: &str, other: &str, change: impl Fn(&mut Value<'static>)) {
        for found in &self.tables {
            let name = &found.info.name;
            if let Some(rows) = self.rows.get(&key(name, run)) {
                let mut rows = rows.clone();
                rows.iter_mut()
                    .flat_map(|(_, cells)| cells)
                    .for_each(&change);
                self.rows.insert(key(name, other), rows);
            }
        }
    }

    /// Sets the cells of these columns (each given as `table.column`) in all rows of a run.
    pub(crate) fn set(&mut self, run: &str, columns: &[&str], text: &'static [u8]) {
        for found in &self.tables {
            let name = &found.info.name;
            let rows = self.rows.get_mut(&key(name, run));
            for (_, row) in rows.into_iter().flatten() {
                for (cell, column) in row.iter_mut().zip(&found.info.columns) {
                    if columns.contains(&format!("{name}.{}", column.name).as_str()) {
                        *cell = Value::Text(Cow::Borrowed(text));
                    }
                }
            }
        }
    }

    /// Returns the number of rows of a run.
    pub(crate) fn len(&self, run: &str) -> u64 {
        let own = self.rows.iter().filter(|((_, of), _)| of == run);
        own.map(|(_, rows)| rows.len() as u64).sum()
    }

    pub(crate) fn take_handed(&self) -> Handed {
        std::mem::take(&mut self.handed.lock().unwrap())
    }

    /// Returns a reader of one run.
    pub(crate) fn reader(self: &Arc<Memory>, run: &str, limits: &Limits) -> Box<dyn Database> {
        self.reader_of(Some(run), limits)
    }

    /// Returns a reader of all runs.
    pub(crate) fn reader_of_all(self: &Arc<Memory>, limits: &Limits) -> Box<dyn Database> {
        self.reader_of(None, limits)
    }

    fn reader_of(self: &Arc<Memory>, run: Option<&str>, limits: &Limits) -> Box<dyn Database> {
        Box::new(OfRun {
            memory: Arc::clone(self),
            run: run.map(str::to_owned),
            limits: limits.clone(),
            snapshot: AtomicBool::new(false),
        })
    }
}

fn key(table: &str, run: &str) -> (String, String) {
    (table.to_ascii_lowercase(), run.to_owned())
}

fn rows_of(db: &dyn Database, found: &FoundTable) -> Result<Vec<(i64, Cells)>, DecodeError> {
    let columns = found.info.columns.iter();
    let wants: Vec<Want<'_>> = columns.map(|c| Want::of(&c.name, u32::MAX)).collect();
    let scan = Scan {
        table: found,
        wants: &wants,
        rows: WantedRows::All,
    };
    let mut rows = Vec::new();
    db.scan(&scan, &mut |row| {
        let cell = |i| row.cell(i).unwrap().value.into_owned();
        rows.push((row.at(), (0..wants.len()).map(cell).collect()));
        true
    })?;
    Ok(rows)
}

struct OfRun {
    memory: Arc<Memory>,
    /// The run; `None` means all runs.
    run: Option<String>,
    limits: Limits,
    snapshot: AtomicBool,
}

impl OfRun {
    /// Returns the rows of a table, each with the id of its run.
    fn rows(&self, table: &str) -> impl Iterator<Item = (&str, &(i64, Cells))> {
        let run = self.run.as_deref();
        let from = key(table, run.unwrap_or_default());
        let (table, _) = from.clone();
        let tables = self.memory.rows.range(from..);
        let tables = tables
            .take_while(move |((of, own), _)| *of == table && run.is_none_or(|run| run == own));
        tables.flat_map(|((_, run), rows)| rows.iter().map(move |row| (run.as_str(), row)))
    }
}

impl Database for OfRun {
    fn begin(&self) -> Result<(), DecodeError> {
        if !self.snapshot.swap(true, Ordering::Relaxed) {
            Ok(())
        } else {
            Err(DecodeError::Refused("a snapshot in a snapshot".to_owned()))
        }
    }

    fn end(&self) {
        self.snapshot.store(false, Ordering::Relaxed);
    }

    fn tables(&self) -> Result<Vec<FoundTable>, DecodeError> {
        Ok(self.memory.tables.clone())
    }

    fn table(&self, name: &str) -> Result<FoundTable, DecodeError> {
        let mut tables = self.memory.tables.iter();
        let found = tables.find(|found| found.info.name.eq_ignore_ascii_case(name));
        found
            .cloned()
            .ok_or_else(|| DecodeError::NotFound(format!("table {name}")))
    }

    fn scan(
        &self,
        scan: &Scan<'_>,
        each: &mut dyn FnMut(&dyn Row) -> bool,
    ) -> Result<(), DecodeError> {
        let rows = self.rows(&scan.table.info.name);
        let (from, len) = match scan.rows {
            WantedRows::Page(from, len) => (from as usize, len as usize),
            _ => (0, usize::MAX),
        };
        for (run, &(at, ref cells)) in rows.skip(from).take(len) {
            let row = OfTable {
                memory: &self.memory,
                scan,
                cells,
                at,
            };
            let column = |name| row.value(name).and_then(Value::lossy);
            let wanted = match scan.rows {
                WantedRows::All | WantedRows::Page(..) => true,
                WantedRows::OfRun(run) => column("run_id").is_none_or(|of| of == run),
                WantedRows::Holding(name, LookupKey::Int(n)) => {
                    column(name) == Some(n.to_string().into())
                }
                WantedRows::Holding(name, LookupKey::Text(text)) => {
                    column(name).is_some_and(|of| of == text)
                }
                WantedRows::At(address) => address == at,
            };
            if !wanted {
                continue;
            }
            if self.limits.stop.as_ref().is_some_and(|stop| stop()) {
                return Err(DecodeError::Stopped);
            }
            let mut handed = self.memory.handed.lock().unwrap();
            *handed.rows.entry(run.to_owned()).or_default() += 1;
            drop(handed);
            if !each(&row) {
                break;
            }
        }
        Ok(())
    }

    fn count(&self, table: &FoundTable, most: u64) -> Option<u64> {
        let rows = self.rows(&table.info.name).count() as u64;
        (rows <= most).then_some(rows)
    }

    fn about(&self, table: &FoundTable) -> u64 {
        self.rows(&table.info.name).count() as u64
    }

    fn pieces(
        &self,
        cell: &CellAt<'_>,
        range: Range<u64>,
        each: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), DecodeError> {
        let found = self.table(cell.table)?;
        let missing = |what| DecodeError::NotFound(format!("{what} in {}", cell.table));
        let column =
            place(&found, cell.column).ok_or_else(|| missing(format!("column {}", cell.column)))?;
        let mut rows = self.rows(cell.table);
        let (_, (_, row)) = rows
            .find(|(_, (at, _))| *at == cell.at)
            .ok_or_else(|| missing(format!("row {}", cell.at)))?;
        let bytes = row[column].clone().into_bytes();
        let at = |at: u64| usize::try_from(at).map_or(bytes.len(), |at| at.min(bytes.len()));
        // The pieces are small, so that readers must join them.
        for piece in bytes[at(range.start)..at(range.end)].chunks(7) {
            self.memory.handed.lock().unwrap().pieces += piece.len() as u64;
            if !each(piece) {
                break;
            }
        }
        Ok(())
    }
}

fn place(found: &FoundTable, column: &str) -> Option<usize> {
    let name = found.column(column)?;
    found.info.columns.iter().position(|c| c.name == name)
}

struct OfTable<'a> {
    memory: &'a Memory,
    scan: &'a Scan<'a>,
    cells: &'a [Value<'static>],
    at: i64,
}

impl<'a> OfTable<'a> {
    fn value(&self, column: &str) -> Option<&'a Value<'static>> {
        self.cells.get(place(self.scan.table, column)?)
    }

    /// Returns whether a list reads a column: at most `want.within` bytes come before the column in the row.
    fn is_near(&self, want: &Want<'_>) -> bool {
        let stored = self.scan.table.stored_order();
        let before = stored.iter();
        let before = before.take_while(|column| !column.eq_ignore_ascii_case(want.column));
        let before: u64 = before.map(|column| len(self.value(column))).sum();
        want.within.is_none_or(|most| before <= u64::from(most))
    }
}

fn len(value: Option<&Value<'_>>) -> u64 {
    match value {
        Some(Value::Text(bytes) | Value::Blob(bytes)) => bytes.len() as u64,
        Some(value) => value.lossy().map_or(0, |text| text.len() as u64),
        None => 0,
    }
}

impl Row for OfTable<'_> {
    fn at(&self) -> i64 {
        self.at
    }

    fn cell(&self, i: usize) -> Result<Cell<'_>, DecodeError> {
        let want = &self.scan.wants[i];
        let value = self.value(want.column).unwrap_or(&Value::Null);
        let (len, most) = (value.bytes().len() as u64, want.most as usize);
        let is_cut = len > most as u64;
        if want.most == 0 || !self.is_near(want) {
            return Ok(Cell::NULL);
        }
        if is_cut && want.within.is_some() && !want.sized {
            return Ok(Cell::NULL);
        }
        let cut = |bytes: &'_ [u8]| Cow::Owned(bytes[..bytes.len().min(most)].to_vec());
        let value = match value {
            Value::Text(bytes) => Value::Text(cut(bytes)),
            Value::Blob(bytes) => Value::Blob(cut(bytes)),
            other => other.clone(),
        };
        if value.bytes().len() > SMALL {
            self.memory.handed.lock().unwrap().large += value.bytes().len() as u64;
        }
        Ok(Cell { value, len })
    }

    fn size(&self, i: usize) -> (StoredType, Option<u64>) {
        let value = self.value(self.scan.wants[i].column);
        let stored = match value {
            None | Some(Value::Null) => return (StoredType::Null, None),
            Some(Value::Integer(_)) => StoredType::Integer,
            Some(Value::Real(_)) => StoredType::Real,
            Some(Value::Text(_)) => StoredType::Text,
            Some(Value::Blob(_)) => StoredType::Blob,
        };
        (stored, Some(len(value)))
    }

    fn reached(&self) -> bool {
        self.scan.wants.iter().all(|want| self.is_near(want))
    }
}
