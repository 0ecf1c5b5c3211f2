//! Reads the rows of runs or agents in one snapshot: a transaction that is repeatable-read and read-only.

mod cells;
mod condition;
mod stream;

use std::cell::{Cell as Flag, RefCell};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use prosescope_core::model::database::{
    CellAt, Database, DecodeError, FoundTable, Limits, Row, Scan,
};
use prosescope_core::model::issue::Issue;
use prosescope_core::record::Fault;

use crate::address::Address;
use crate::cell::get;
use crate::fault;
use crate::foreign;
use crate::hidden::all_rows;
use crate::owner::RowOwner;
use crate::server::{Bound, Lost, PgClient, int};
use crate::shape::{COLUMNS, ColumnReading, KEPT, ScannedTable, shapes};
use cells::{OfStatement, RawBytes, Slot};
use condition::condition;

/// The statements that begin a reading transaction. They set everything that reading depends on, because a pooler may
/// provide a session with any settings.
const BEGIN: &str = concat!(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL search_path = pg_catalog; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD';
    SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1; ",
    all_rows!("r", "c.relnamespace = to_regnamespace('openprose')"),
    "; SAVEPOINT read"
);

/// The statements that make a writing transaction readable in the same way; its own beginning sets the rest.
pub(crate) const WITHIN: &str =
    "SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1; SAVEPOINT read";

/// The most bytes of a value that one query fetches.
const PIECE: u64 = 16 << 20;

/// A reader for the rows of one run, of all runs, or of agents that outlive runs.
pub struct PostgresRun {
    server: PgClient,
    of: RowOwner,
    /// Whether executions have the ids of the store from which they were imported (`x_source_id`), not their own.
    source_ids: bool,
    limits: Limits,
    /// Whether a snapshot is open.
    snapshot: Flag<bool>,
    /// Whether a stream of rows is open. The connection then accepts no other query.
    busy: Flag<bool>,
    /// The tables of the schema; `None` until they are first needed.
    shapes: RefCell<Option<Arc<[ScannedTable]>>>,
}

impl PostgresRun {
    /// Connects to the server, to read one run.
    ///
    /// # Errors
    /// If the server does not answer, or refuses the connection.
    pub fn connect(address: &Address, run: &str, limits: &Limits) -> Result<PostgresRun, Fault> {
        PostgresRun::of(address, RowOwner::Run(run.to_owned()), limits)
    }

    /// Makes executions have the ids of their original store, for a copy that returns to that store. Has no effect if
    /// an original id is equal to or larger than the id of an execution that was recorded in this database, because two
    /// executions could then have the same id.
    ///
    /// # Errors
    /// If the server does not answer.
    pub(crate) fn by_source_ids(mut self) -> Result<PostgresRun, DecodeError> {
        const THERE: &str = "SELECT EXISTS (SELECT FROM pg_attribute
            WHERE attrelid = to_regclass('openprose.execution') AND attname = 'x_source_id')";
        const FREE: &str = "SELECT NOT EXISTS (
            SELECT FROM openprose.execution AS own JOIN openprose.execution AS came
            ON came.run_id = own.run_id AND came.x_source_id >= own.id
            WHERE own.run_id = $1 AND own.x_source_id IS NULL)";
        let is_so = |sql: &str, bound: &[Bound<'_>]| {
            let rows = self.inside(|| self.rows(sql, bound))?;
            let said = rows.first().map(|row| get::<bool>(row, 0)).transpose();
            said.map_err(|error| self.unread(error))
        };
        let source_ids =
            is_so(THERE, &[])? == Some(true) && is_so(FREE, &[self.key()])? == Some(true);
        self.source_ids = source_ids;
        Ok(self)
    }

    /// Connects to the server, to read the rows of an owner: a run, several runs, or a keeper of agents.
    ///
    /// # Errors
    /// As [`PostgresRun::connect`].
    pub(crate) fn of(
        address: &Address,
        of: RowOwner,
        limits: &Limits,
    ) -> Result<PostgresRun, Fault> {
        Ok(PostgresRun {
            server: PgClient::connect(address)?,
            of,
            source_ids: false,
            limits: limits.clone(),
            snapshot: Flag::new(false),
            busy: Flag::new(false),
            shapes: RefCell::default(),
        })
    }

    /// Returns a reader inside an open transaction, which has the savepoint of [`WITHIN`].
    pub(crate) fn within(server: PgClient, of: RowOwner, limits: &Limits) -> PostgresRun {
        PostgresRun {
            server,
            of,
            source_ids: false,
            limits: limits.clone(),
            snapshot: Flag::new(true),
            busy: Flag::new(false),
            shapes: RefCell::default(),
        }
    }

    fn unread(&self, lost: impl Into<Lost>) -> DecodeError {
        fault::unread(self.server.address(), &lost.into())
    }

    /// Calls `ask` inside the open snapshot. Without an open snapshot, begins one and ends it after the call.
    fn inside<T>(&self, ask: impl FnOnce() -> Result<T, DecodeError>) -> Result<T, DecodeError> {
        let own = !self.snapshot.get();
        if own {
            self.begin()?;
        }
        let answer = ask();
        if own {
            self.end();
        } else if answer.is_err() {
            let _ = self.back();
        }
        answer
    }

    /// Rolls back to the savepoint, because a failed statement would otherwise end the whole transaction.
    fn back(&self) -> Result<(), DecodeError> {
        let back = self.server.batch("ROLLBACK TO SAVEPOINT read");
        back.map_err(|lost| self.unread(lost))
    }

    /// Returns the value that every query binds to `$1`: the owner of the rows.
    fn key(&self) -> Bound<'_> {
        self.of.key()
    }

    fn is_stopped(&self) -> bool {
        self.limits.stop.as_ref().is_some_and(|stop| stop())
    }

    fn rows(
        &self,
        sql: &str,
        bound: &[Bound<'_>],
    ) -> Result<Vec<tokio_postgres::Row>, DecodeError> {
        self.server
            .rows(sql, bound)
            .map_err(|lost| self.unread(lost))
    }

    fn shapes(&self) -> Result<Arc<[ScannedTable]>, DecodeError> {
        if let Some(known) = &*self.shapes.borrow() {
            return Ok(Arc::clone(known));
        }
        let rows = self.inside(|| self.rows(COLUMNS, &[]))?;
        let mut found = shapes(&rows, &self.of).map_err(|error| self.unread(error))?;
        let keeps = found
            .iter()
            .position(|shape| shape.found.info.name == "x_original");
        let kept = keeps.map(|at| found.remove(at));
        let is_known = |shape: &ScannedTable| shape.found.column("stored").is_some();
        if kept.is_some_and(|shape| is_known(&shape)) && self.of.run().is_some() {
            let rows = self.inside(|| self.rows(KEPT, &[self.key()]))?;
            for row in &rows {
                let wrong = |error| self.unread(Lost::Error(error));
                let table: &str = get(row, 0).map_err(wrong)?;
                let column: &str = get(row, 1).map_err(wrong)?;
                let of = found
                    .iter_mut()
                    .find(|shape| shape.found.info.name == table);
                if let Some(shape) = of {
                    shape.kept.push(column.to_owned());
                }
            }
        }
        let has_source = rows.iter().any(|row| {
            let named = |at| get::<&str>(row, at).ok();
            (named(0), named(2)) == (Some("execution"), Some("x_source_id"))
        });
        let of_several = found
            .iter()
            .any(|shape| shape.lacks_run(&self.of).is_some())
            && !self.is_alone().unwrap_or_default();
        for shape in &mut found {
            shape.source_ids = self.source_ids;
            shape.of_several = of_several;
            if has_source && !self.source_ids {
                shape.with_source_executions();
            }
        }
        let found: Arc<[ScannedTable]> = found.into();
        *self.shapes.borrow_mut() = Some(Arc::clone(&found));
        Ok(found)
    }

    fn with_shape<T>(
        &self,
        table: &str,
        ask: impl FnOnce(&ScannedTable) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let shapes = self.shapes()?;
        let shape = shapes
            .iter()
            .find(|shape| shape.found.info.name.eq_ignore_ascii_case(table));
        ask(shape.ok_or_else(|| DecodeError::NotFound(format!("table {table}")))?)
    }

    /// Returns whether the database has at most one run.
    fn is_alone(&self) -> Result<bool, DecodeError> {
        let sql = "SELECT count(*) FROM (SELECT FROM openprose.run LIMIT 2) AS first";
        let rows = self.inside(|| self.rows(sql, &[]))?;
        let count = rows.first().map(|row| get::<i64>(row, 0)).transpose();
        Ok(count.map_err(|error| self.unread(error))? < Some(2))
    }

    /// Calls `ask` with the shape of a table. Refuses a table that lacks the column for the run, if its rows may belong
    /// to other runs.
    fn with_rows<T>(
        &self,
        table: &str,
        ask: impl FnOnce(&ScannedTable) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        self.with_shape(table, |shape| match shape.is_anybodys(&self.of) {
            None => ask(shape),
            Some(column) => Err(DecodeError::Server(format!(
                "openprose.{table} has no column `{column}`, so it is not known which run or agent each row belongs to"
            ))),
        })
    }

    /// Counts the owner's rows; stops at `most + 1`, so that the caller sees that there are more than `most`.
    fn counted(&self, table: &FoundTable, most: u64) -> Option<u64> {
        let most = i64::try_from(most).unwrap_or(i64::MAX - 1);
        let counted = self.with_rows(&table.info.name, |shape| {
            let only = shape.only(&self.of);
            let name = crate::shape::quoted(&shape.found.info.name);
            let sql = format!(
                "SELECT count(*) FROM (SELECT FROM openprose.{name} AS of WHERE {only} LIMIT $2) AS counted"
            );
            let bound = [self.key(), int(most.saturating_add(1))];
            let rows = self.inside(|| self.rows(&sql, &bound))?;
            let count = rows.first().map(|row| get::<i64>(row, 0)).transpose();
            count.map_err(|error| self.unread(error))
        });
        counted
            .ok()
            .flatten()
            .and_then(|count| count.try_into().ok())
    }
}

impl Drop for PostgresRun {
    fn drop(&mut self) {
        if !self.snapshot.get() && !self.busy.get() {
            self.server.release();
        }
    }
}

impl Database for PostgresRun {
    fn begin(&self) -> Result<(), DecodeError> {
        if self.snapshot.replace(true) {
            return Err(DecodeError::Refused(
                "a second snapshot before the first one ended".to_owned(),
            ));
        }
        self.server.batch(BEGIN).map_err(|lost| {
            self.snapshot.set(false);
            self.unread(lost)
        })
    }

    fn end(&self) {
        if self.snapshot.replace(false) {
            // If the connection is lost, the failed ROLLBACK does no harm: nothing was written, and the server ends
            // the transaction.
            let _ = self.server.batch("ROLLBACK");
        }
    }

    fn tables(&self) -> Result<Vec<FoundTable>, DecodeError> {
        Ok(self
            .shapes()?
            .iter()
            .map(|shape| shape.found.clone())
            .collect())
    }

    fn table(&self, name: &str) -> Result<FoundTable, DecodeError> {
        self.with_shape(name, |shape| Ok(shape.found.clone()))
    }

    fn scan(
        &self,
        scan: &Scan<'_>,
        each: &mut dyn FnMut(&dyn Row) -> bool,
    ) -> Result<(), DecodeError> {
        self.with_rows(&scan.table.info.name, |shape| {
            let slots: Vec<Slot> = scan
                .wants
                .iter()
                .map(|want| Slot::of(shape, want))
                .collect();
            let columns: String = slots.iter().map(|slot| slot.sql.as_str()).collect();
            let (condition, mut bound) = condition(shape, scan.rows, &self.of);
            bound.insert(0, self.key());
            let sql = format!(
                "SELECT t.\"*at*\"{columns} FROM {} {condition}",
                shape.rows(&self.of)
            );
            self.inside(|| {
                self.each(&sql, &bound, &mut |at, row| {
                    Ok(each(&OfStatement {
                        row,
                        slots: &slots,
                        at,
                    }))
                })
            })
        })
    }

    fn count(&self, table: &FoundTable, most: u64) -> Option<u64> {
        self.counted(table, most).filter(|count| *count <= most)
    }

    fn about(&self, table: &FoundTable) -> u64 {
        // The count stops at about a million rows, so that it does not take long.
        self.counted(table, 1 << 20).unwrap_or(0)
    }

    fn pieces(
        &self,
        cell: &CellAt<'_>,
        range: Range<u64>,
        each: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), DecodeError> {
        self.with_rows(cell.table, |shape| {
            let missing = |what: &str, name: &dyn std::fmt::Display| {
                DecodeError::NotFound(format!("{what} {name} in {}", cell.table))
            };
            let column = shape.found.column(cell.column);
            let column = column.ok_or_else(|| missing("column", &cell.column))?;
            let expression = shape.expression(column);
            let kind = shape.kind(column);
            let value = match kind {
                ColumnReading::Whole | ColumnReading::Real => format!("({expression})::text"),
                ColumnReading::Time => format!("replace({expression}, '+00', '')"),
                ColumnReading::Text | ColumnReading::Bytes | ColumnReading::Kept => expression,
            };
            let is_bytes = matches!(kind, ColumnReading::Bytes | ColumnReading::Kept);
            // A character has at least one byte, so the first n bytes are within the first n characters.
            let part = if is_bytes { format!("substring({value} FROM $3::integer FOR $4::integer)") } else { format!(
                "substring(convert_to(left({value}, $5::integer), 'UTF8') FROM $3::integer FOR $4::integer)"
            ) };
            let sql = format!(
                "SELECT octet_length({value})::bigint, {part} FROM {} WHERE t.\"*at*\" = $2 AND $5 IS NOT NULL LIMIT 1",
                shape.rows(&self.of)
            );
            self.inside(|| {
                let mut from = range.start;
                while from < range.end {
                    if self.is_stopped() {
                        return Err(DecodeError::Stopped);
                    }
                    let len = (range.end - from).min(PIECE);
                    let bound = [
                        self.key(),
                        int(cell.at),
                        int(at_most(from.saturating_add(1))),
                        int(at_most(len)),
                        int(at_most(from.saturating_add(len))),
                    ];
                    let rows = self.rows(&sql, &bound)?;
                    let row = rows.first().ok_or_else(|| missing("row", &cell.at))?;
                    let whole: Option<i64> = get(row, 0).map_err(|error| self.unread(error))?;
                    let piece: Option<&[u8]> = get(row, 1).map_err(|error| self.unread(error))?;
                    let piece = piece.unwrap_or_default();
                    let whole = whole.unwrap_or(0).unsigned_abs();
                    let more = piece.is_empty() || each(piece);
                    from = from.saturating_add(piece.len() as u64);
                    if !more || piece.is_empty() || from >= whole {
                        return Ok(());
                    }
                }
                Ok(())
            })
        })
    }

    fn texts_between(
        &self,
        table: &str,
        column: &str,
        addresses: RangeInclusive<i64>,
        each: &mut dyn FnMut(i64, &[u8]),
    ) -> Result<(), DecodeError> {
        self.with_rows(table, |shape| {
            let column = shape.found.column(column);
            let Some(column) =
                column.filter(|column| matches!(shape.kind(column), ColumnReading::Text | ColumnReading::Kept))
            else {
                return Ok(());
            };
            let sql = format!(
                "SELECT t.\"*at*\", {} FROM {} WHERE t.\"*at*\" BETWEEN $2 AND $3 ORDER BY t.\"*at*\"",
                shape.expression(column),
                shape.rows(&self.of)
            );
            let bound = [self.key(), int(*addresses.start()), int(*addresses.end())];
            self.inside(|| {
                self.each(&sql, &bound, &mut |at, row| {
                    let value: Option<RawBytes<'_>> = get(row, 1).map_err(|error| self.unread(error))?;
                    if let Some(RawBytes(bytes)) = value {
                        each(at, bytes);
                    }
                    Ok(true)
                })
            })
        })
    }

    fn holds_many_runs(&self) -> bool {
        true
    }

    fn check_database(&self, name: &str) -> Vec<Issue> {
        let found = self.inside(|| Ok(foreign::check_database(&self.server, name)));
        found.unwrap_or_default()
    }
}

/// Returns a position in a value, limited to the largest `integer` of SQL's functions. No position is cut off, because
/// PostgreSQL's values have at most 1 GB.
fn at_most(n: u64) -> i64 {
    i64::from(i32::try_from(n).unwrap_or(i32::MAX))
}
