//! Reads each table of a store of many runs once, and gives the rows to the decoder of each run.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::StoredType;
use crate::model::database::{
    Cell, CellAt, Database, DecodeError, FoundTable, Row, Scan, Want, WantedRows,
};
use crate::model::schema;

/// The largest program that is kept for each run, in bytes.
const PROGRAM: u32 = 256 << 10;

/// A store of several runs whose tables are read once.
pub(super) struct Replay(Mutex<ReplayInner>);

struct ReplayInner {
    db: Box<dyn Database>,
    tables: Option<Vec<FoundTable>>,
    /// The results of scans: a table, the columns that were read, and the rows by run.
    scanned: Vec<(String, Vec<Want<'static>>, Arc<ByRun>)>,
}

type ByRun = BTreeMap<String, Vec<ReplayedRow>>;

/// A row that is kept in memory.
struct ReplayedRow {
    at: i64,
    cells: Vec<Cell<'static>>,
    sizes: Vec<(StoredType, Option<u64>)>,
    reached: bool,
}

impl Row for ReplayedRow {
    fn at(&self) -> i64 {
        self.at
    }

    fn cell(&self, i: usize) -> Result<Cell<'_>, DecodeError> {
        Ok(self.cells.get(i).cloned().unwrap_or(Cell::NULL))
    }

    fn size(&self, i: usize) -> (StoredType, Option<u64>) {
        self.sizes
            .get(i)
            .copied()
            .unwrap_or((StoredType::Null, None))
    }

    fn reached(&self) -> bool {
        self.reached
    }
}

impl Replay {
    /// Prepares reading a store. All tables are read in one snapshot, which ends when the result is dropped.
    pub(super) fn of(db: Box<dyn Database>) -> Replay {
        // An error is ignored: without a snapshot, tables are read at different times, which a list tolerates.
        let _ = db.begin();
        Replay(Mutex::new(ReplayInner {
            db,
            tables: None,
            scanned: Vec::new(),
        }))
    }

    /// Returns a database that has only the rows of one run.
    pub(super) fn run<'r>(&'r self, id: &'r str) -> OneRun<'r> {
        OneRun { replay: self, id }
    }

    fn tables(&self) -> Result<Vec<FoundTable>, DecodeError> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.tables.is_none() {
            inner.tables = Some(inner.db.tables()?);
        }
        Ok(inner.tables.clone().unwrap_or_default())
    }

    /// Returns the rows of a table by run.
    fn scanned(&self, table: &FoundTable, wants: &[Want<'_>]) -> Result<Arc<ByRun>, DecodeError> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = table.info.name.as_str();
        let known = inner
            .scanned
            .iter()
            .find(|(known, of, _)| known == name && of.as_slice() == wants);
        if let Some((.., rows)) = known {
            return Ok(Arc::clone(rows));
        }
        let wanted: Vec<Want<'static>> = wants.iter().map(known_want).collect::<Result<_, _>>()?;
        let whose = match name {
            schema::RUN => "id",
            _ => "run_id",
        };
        let all: Vec<Want<'_>> = wants.iter().copied().chain([Want::short(whose)]).collect();
        let scan = Scan {
            table,
            wants: &all,
            rows: WantedRows::All,
        };
        let mut rows = ByRun::new();
        let mut failed = None;
        inner
            .db
            .scan(&scan, &mut |row| match held(row, wants.len()) {
                Ok((run, row)) => {
                    rows.entry(run).or_default().push(row);
                    true
                }
                Err(error) => {
                    failed = Some(error);
                    false
                }
            })?;
        if let Some(error) = failed {
            return Err(error);
        }
        let rows = Arc::new(rows);
        inner
            .scanned
            .push((name.to_owned(), wanted, Arc::clone(&rows)));
        Ok(rows)
    }
}

impl Drop for ReplayInner {
    fn drop(&mut self) {
        self.db.end();
    }
}

/// Returns a requested column with the schema's `'static` name, because the rows are kept longer than the request.
fn known_want(want: &Want<'_>) -> Result<Want<'static>, DecodeError> {
    let columns = schema::TABLES.iter().flat_map(|table| table.columns);
    let extra = [Want::short(schema::SOURCE_EXECUTION)];
    let receipts = schema::RECEIPT_COLUMNS;
    let mut known = columns.copied().chain(extra).chain(receipts);
    let name = known.find(|known| known.column == want.column);
    let name = name.ok_or_else(|| DecodeError::NotFound(format!("column {}", want.column)))?;
    Ok(Want {
        column: name.column,
        ..*want
    })
}

fn held(row: &dyn Row, columns: usize) -> Result<(String, ReplayedRow), DecodeError> {
    let mut cells = Vec::with_capacity(columns);
    for at in 0..columns {
        let cell = row.cell(at)?;
        cells.push(Cell {
            value: cell.value.into_owned(),
            len: cell.len,
        });
    }
    let run = row
        .cell(columns)?
        .value
        .lossy()
        .unwrap_or_default()
        .into_owned();
    let row = ReplayedRow {
        at: row.at(),
        cells,
        sizes: (0..columns).map(|at| row.size(at)).collect(),
        reached: row.reached(),
    };
    Ok((run, row))
}

/// A database with the rows of one of the runs.
pub(super) struct OneRun<'r> {
    replay: &'r Replay,
    id: &'r str,
}

impl Database for OneRun<'_> {
    fn begin(&self) -> Result<(), DecodeError> {
        Ok(())
    }

    fn end(&self) {}

    fn tables(&self) -> Result<Vec<FoundTable>, DecodeError> {
        self.replay.tables()
    }

    fn table(&self, name: &str) -> Result<FoundTable, DecodeError> {
        let mut tables = self.tables()?.into_iter();
        let found = tables.find(|found| found.info.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| DecodeError::NotFound(format!("table {name}")))
    }

    fn scan(
        &self,
        scan: &Scan<'_>,
        each: &mut dyn FnMut(&dyn Row) -> bool,
    ) -> Result<(), DecodeError> {
        if !matches!(scan.rows, WantedRows::All | WantedRows::OfRun(_)) {
            return Err(DecodeError::NotFound(
                "support for reading only some rows of this store".to_owned(),
            ));
        }
        let rows = self.replay.scanned(scan.table, scan.wants)?;
        for row in rows.get(self.id).into_iter().flatten() {
            if !each(row) {
                break;
            }
        }
        Ok(())
    }

    fn count(&self, _: &FoundTable, _: u64) -> Option<u64> {
        None
    }

    fn about(&self, _: &FoundTable) -> u64 {
        0
    }

    /// Passes the bytes of a program to `each`. A program is the only large value that a list needs.
    fn pieces(
        &self,
        cell: &CellAt<'_>,
        range: Range<u64>,
        each: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), DecodeError> {
        let table = self.table(cell.table)?;
        let rows = self
            .replay
            .scanned(&table, &[Want::of(cell.column, PROGRAM)])?;
        let of = rows.get(self.id).into_iter().flatten();
        let Some(held) = of.flat_map(|row| row.cells.first()).next() else {
            return Ok(());
        };
        if held.is_cut() {
            return Err(DecodeError::TooBig("the program".to_owned()));
        }
        let bytes = held.value.bytes();
        let end = usize::try_from(range.end)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        let start = usize::try_from(range.start).unwrap_or(usize::MAX).min(end);
        if let Some(part) = bytes.get(start..end).filter(|part| !part.is_empty()) {
            each(part);
        }
        Ok(())
    }

    fn holds_many_runs(&self) -> bool {
        true
    }
}
