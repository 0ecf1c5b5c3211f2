//! The interface through which decoding and sessions read rows from any store: SQLite, PostgreSQL or memory.
//!
//! ```text
//! SQLite file ──► sqlite ─┐
//! PostgreSQL, memory … ───┴─► Database: tables, rows, bytes of a cell ──► decode::rows ──► Run
//! ```
//!
//! A store lists its tables and columns, returns rows, and streams the bytes of a cell. Stores do not depend on the
//! meaning of a run; [`crate::read::decode::rows`] does not depend on SQL. What a store guarantees:
//!
//! - **One snapshot for all tables** between [`Database::begin`] and [`Database::end`].
//! - **Only the requested data**: [`Want`] names the columns of a scan and limits each cell, so that a list reads no
//!   large value. [`WantedRows`] selects the rows, so that reading one run does not touch the rows of others.
//! - **A defined order** ([`WantedRows`]), and an address for each row by which the store finds the row again
//!   ([`Row::at`]).
//! - **One query per scan**: the store passes the rows to a callback. A query per cell would be slow, because each
//!   query to a server costs a round trip.
//! - **Everything is bounded** by the [`Limits`] with which the store was opened.

mod error;
mod found;
pub mod query;

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::time::Duration;

pub use error::DecodeError;
pub(crate) use error::bytes_in_words;
pub use found::FoundTable;
pub(crate) use found::{is_new_name, renamed};

use crate::model::StoredType;
use crate::model::issue::Issue;

/// A callback that a store polls while it reads; `true` stops the reading.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// The time limit of one command or one query, after which a shell's [`Limits::stop`] returns `true`. Gigabytes can be
/// read within this time, and a hostile file cannot keep the reader busy for longer.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// The limits that a store obeys while it reads.
#[derive(Clone, Default)]
pub struct Limits {
    /// The callback that the store polls while it reads; `true` stops the reading with [`DecodeError::Stopped`]. A
    /// shell returns `true` at a deadline, or when the user cancels.
    pub stop: Option<Stop>,
    /// Maximum number of bytes that the store may allocate, counted over the whole process; `None` means the store's
    /// own default.
    pub heap: Option<u64>,
}

/// A readable store of tables.
pub trait Database: Send {
    /// Begins a snapshot: all reads until [`Database::end`] see the state of one moment.
    ///
    /// # Errors
    /// If the store refuses, or if a snapshot has begun already.
    fn begin(&self) -> Result<(), DecodeError>;

    /// Ends the snapshot.
    fn end(&self);

    /// Returns all tables, ordered by name. The number of rows, `info.rows`, is always set for a table that is known
    /// to be empty, and sometimes for other tables.
    ///
    /// # Errors
    /// If the store cannot be read. The same holds for every method below.
    fn tables(&self) -> Result<Vec<FoundTable>, DecodeError>;

    /// Returns the table of this name.
    ///
    /// # Errors
    /// [`DecodeError::NotFound`] if the store lacks the table.
    fn table(&self, name: &str) -> Result<FoundTable, DecodeError>;

    /// Passes rows to `each`, in the order of [`WantedRows`], until `each` returns `false`.
    fn scan(
        &self,
        scan: &Scan<'_>,
        each: &mut dyn FnMut(&dyn Row) -> bool,
    ) -> Result<(), DecodeError>;

    /// Returns a table's number of rows; `None` if the table has more than `most` rows or if counting takes too long.
    fn count(&self, table: &FoundTable, most: u64) -> Option<u64>;

    /// Returns an estimate of a table's number of rows without reading the rows; 0 if the store has no estimate.
    fn about(&self, table: &FoundTable) -> u64;

    /// Passes the bytes of a cell in `range` to `each`, piece by piece in order, until `each` returns `false`. Text
    /// is UTF-8, numbers are text, NULL has no bytes. Only one piece is in memory at a time. The store does not seek
    /// again for each piece.
    fn pieces(
        &self,
        cell: &CellAt<'_>,
        range: Range<u64>,
        each: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), DecodeError>;

    /// Passes the texts of one column, for all rows between two addresses, to the callback with a single query. A
    /// store whose queries are cheap need not implement this: callers read a missing text with [`Database::pieces`].
    ///
    /// # Errors
    /// If the store cannot be read.
    fn texts_between(
        &self,
        _table: &str,
        _column: &str,
        _addresses: RangeInclusive<i64>,
        _each: &mut dyn FnMut(i64, &[u8]),
    ) -> Result<(), DecodeError> {
        Ok(())
    }

    /// Returns whether the tables hold rows of many runs, each with its `run_id`. A run is then read by its id, without
    /// touching the rows of other runs. A file made for one run that contains rows of others by accident returns
    /// `false`.
    fn holds_many_runs(&self) -> bool {
        false
    }

    /// Returns notes for the user about the store itself.
    fn notes(&self) -> Vec<Issue> {
        Vec::new()
    }

    /// Returns the names of missing triggers that should protect the audit log from changes.
    fn unguarded(&self) -> Result<Vec<&'static str>, DecodeError> {
        Ok(Vec::new())
    }

    /// Answers an SQL query ([`query`]); `None` if the store does not support this SQL dialect. The tables that the
    /// query adds stay in the store, so open a store for one query only.
    fn query(
        &self,
        _question: &query::Question<'_>,
    ) -> Option<Result<query::QueryView, query::QueryError>> {
        None
    }

    /// Checks the whole store and returns its defects; `_name` is the store's name for the user.
    fn check_database(&self, _name: &str) -> Vec<Issue> {
        Vec::new()
    }
}

/// A snapshot that ends when this value is dropped. Does nothing if another snapshot is active.
pub(crate) struct Snapshot<'d>(Option<&'d dyn Database>);

impl<'d> Snapshot<'d> {
    pub(crate) fn of(db: &'d dyn Database) -> Snapshot<'d> {
        Snapshot(db.begin().is_ok().then_some(db))
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        if let Some(db) = self.0 {
            db.end();
        }
    }
}

/// A request for cells of a table.
#[derive(Debug, Clone, Copy)]
pub struct Scan<'a> {
    /// The table to read.
    pub table: &'a FoundTable,
    /// The columns to read. [`Row`] numbers its cells in this order.
    pub wants: &'a [Want<'a>],
    /// The rows to read, and their order.
    pub rows: WantedRows<'a>,
}

/// The rows that a scan returns, and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedRows<'a> {
    /// All rows, ordered by rowid, or by primary key in a table without rowids.
    All,
    /// The rows of `All` whose `run_id` equals this id or is NULL; every row of a table without that column.
    OfRun(&'a str),
    /// The rows of `All` in which the named column equals the key, found by an index where there is one. A store that
    /// compares by its own rules may return extra rows, but never omits a row.
    Holding(&'a str, LookupKey<'a>),
    /// The row at this address ([`Row::at`]).
    At(i64),
    /// A page: the index of the first row, and the number of rows.
    Page(u64, u32),
}

/// The value that [`WantedRows::Holding`] looks up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookupKey<'a> {
    /// A whole number, such as a row's id.
    Int(i64),
    /// A text.
    Text(&'a str),
}

/// A column that a scan requests. A column that the table lacks is NULL in every row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Want<'a> {
    /// The column's name.
    pub column: &'a str,
    /// Maximum length in bytes of a text; a longer text is cut to its beginning.
    pub most: u32,
    /// If set, the cell is read only if the columns stored before it take at most this many bytes, so that a scan
    /// does not walk over large values. Unless [`Want::sized`] is set, a text longer than `most` is left out as well.
    pub within: Option<u32>,
    /// Whether the caller needs the cell's storage type and full length, from [`Row::size`].
    pub sized: bool,
    /// The type of the column in a database that has types.
    pub kind: ColumnType,
}

/// The type of a column's values in a database that has types; SQLite stores any of them as text or a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColumnType {
    /// A text.
    #[default]
    Text,
    /// A whole number, such as a line number.
    Integer,
    /// A time with its zone.
    Time,
    /// JSON.
    Json,
}

/// Maximum length of a statement, message or metadata text in bytes; the rest is read when the user opens the row.
pub(crate) const LONG_TEXT: u32 = 64 << 10;
/// Maximum length of a name, kind, status or time in bytes.
pub(crate) const SHORT_TEXT: u32 = 4 << 10;

/// The largest number of bytes before a cell in its row at which a list still reads the cell ([`Want::within`]).
pub const NEAR: u32 = 2048;

impl<'a> Want<'a> {
    /// Requests a column, cut at `most` bytes.
    pub const fn of(column: &'a str, most: u32) -> Want<'a> {
        Want {
            column,
            most,
            within: None,
            sized: false,
            kind: ColumnType::Text,
        }
    }

    /// Requests a column that holds a whole number.
    pub(crate) const fn integer(column: &'a str) -> Want<'a> {
        Want::short(column).as_kind(ColumnType::Integer)
    }

    /// Requests a column that holds a time, cut at [`SHORT_TEXT`].
    pub(crate) const fn time(column: &'a str) -> Want<'a> {
        Want::short(column).as_kind(ColumnType::Time)
    }

    /// Requests a column that holds JSON, cut at [`LONG_TEXT`].
    pub(crate) const fn json(column: &'a str) -> Want<'a> {
        Want::long(column).as_kind(ColumnType::Json)
    }

    const fn as_kind(self, kind: ColumnType) -> Want<'a> {
        Want { kind, ..self }
    }

    /// Requests a column that holds a name, kind or status, cut at [`SHORT_TEXT`].
    pub(crate) const fn short(column: &'a str) -> Want<'a> {
        Want::of(column, SHORT_TEXT)
    }

    /// Requests a column that holds a statement, a message or metadata, cut at [`LONG_TEXT`].
    pub(crate) const fn long(column: &'a str) -> Want<'a> {
        Want::of(column, LONG_TEXT)
    }

    /// Requests only a column's storage type and length, without its content.
    pub const fn size(column: &'a str) -> Want<'a> {
        Want::of(column, 0).sized()
    }

    /// Returns the request with [`Want::within`] set.
    pub const fn within(self, bytes: u32) -> Want<'a> {
        Want {
            within: Some(bytes),
            ..self
        }
    }

    /// Returns the request with [`Want::sized`] set.
    pub const fn sized(self) -> Want<'a> {
        Want {
            sized: true,
            ..self
        }
    }
}

/// A row of a scan.
pub trait Row {
    /// Returns the row's address, by which the store finds the row again as long as nothing is written: a rowid, or
    /// the row's place in the table's order.
    fn at(&self) -> i64;

    /// Returns the i-th requested cell.
    ///
    /// # Errors
    /// If a cell that is cut cannot be read.
    fn cell(&self, i: usize) -> Result<Cell<'_>, DecodeError>;

    /// Returns the storage type of the i-th requested cell and its length in bytes as [`Database::pieces`] counts
    /// them. Both come from the row's header, without reading the cell.
    fn size(&self, i: usize) -> (StoredType, Option<u64>);

    /// Returns whether every cell with a limit [`Want::within`] was within its limit, and so was read.
    fn reached(&self) -> bool;
}

/// A cell, cut to the requested length.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell<'a> {
    /// The stored value; NULL also for a cell that was not read.
    pub value: Value<'a>,
    /// Length of the whole text in bytes; `value` may be only its beginning.
    pub len: u64,
}

/// A cell's value. Texts and BLOBs keep exactly the stored bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    #[default]
    Null,
    /// A whole number of at most 64 bits.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// A text. Should be UTF-8, but a file may contain any bytes.
    Text(Cow<'a, [u8]>),
    /// Bytes.
    Blob(Cow<'a, [u8]>),
}

impl<'a> Cell<'a> {
    /// A cell that is NULL or was not read.
    pub const NULL: Cell<'static> = Cell {
        value: Value::Null,
        len: 0,
    };

    /// Returns a cell that is not cut.
    pub fn whole(value: Value<'a>) -> Cell<'a> {
        let len = value.bytes().len() as u64;
        Cell { value, len }
    }

    /// Returns whether `value` is only the beginning of the text.
    pub fn is_cut(&self) -> bool {
        self.len > self.value.bytes().len() as u64
    }
}

impl Value<'_> {
    /// Returns a value with a copy of this text.
    pub fn text(text: &str) -> Value<'static> {
        Value::Text(text.as_bytes().to_vec().into())
    }

    /// Returns the text; `None` for another type or invalid UTF-8.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// Returns the whole number; `None` for another type.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Value::Integer(n) => Some(*n),
            _ => None,
        }
    }

    /// Returns whether the value is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Returns the value's bytes, the same that [`Database::pieces`] passes on.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Value::Text(bytes) | Value::Blob(bytes) => bytes.into_owned(),
            other => other.lossy().unwrap_or_default().into_owned().into_bytes(),
        }
    }

    /// Returns the same value, which no longer borrows its bytes from the store.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Integer(n) => Value::Integer(n),
            Value::Real(x) => Value::Real(x),
            Value::Text(bytes) => Value::Text(bytes.into_owned().into()),
            Value::Blob(bytes) => Value::Blob(bytes.into_owned().into()),
        }
    }

    /// Returns any value as text, with replacement characters for invalid UTF-8; `None` for NULL.
    pub fn lossy(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Value::Null => return None,
            Value::Integer(n) => n.to_string().into(),
            // The debug format writes `3.0`, as SQLite's `CAST … AS TEXT` does; the display format would write `3`.
            Value::Real(x) => format!("{x:?}").into(),
            Value::Text(bytes) | Value::Blob(bytes) => String::from_utf8_lossy(bytes),
        })
    }

    /// Returns the bytes of a text or a BLOB; an empty slice for other types.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Value::Text(bytes) | Value::Blob(bytes) => bytes,
            Value::Null | Value::Integer(_) | Value::Real(_) => &[],
        }
    }
}

/// The position of a cell in a store.
#[derive(Debug, Clone, Copy)]
pub struct CellAt<'a> {
    /// The table that contains the cell.
    pub table: &'a str,
    /// The column's name.
    pub column: &'a str,
    /// The row's address, from [`Row::at`].
    pub at: i64,
    /// The cell's storage type; `None` if the caller does not know it.
    pub stored: Option<StoredType>,
}
