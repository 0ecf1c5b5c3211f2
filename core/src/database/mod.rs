//! Reading rows from any store: the one door through which decoding and sessions read a database.
//!
//! ```text
//! SQLite file ──► sqlite ─┐
//! PostgreSQL, memory … ───┴─► Database: tables, rows, bytes of a cell ──► decode::rows ──► Run
//! ```
//!
//! A store says which tables and columns there are, hands out rows, and streams the bytes of a cell. It knows nothing of
//! runs; [`crate::decode::rows`] knows nothing of SQL. What a store promises:
//!
//! - **One snapshot for all tables** between [`Database::begin`] and [`Database::end`].
//! - **Only what is asked for**: [`Want`] names the columns of a scan and cuts each cell, so that a list touches no large
//!   value, and [`Rows`] names the rows, so that one run touches no rows of others.
//! - **A stated order** ([`Rows`]), and an address for each row by which the store finds it again ([`Row::at`]).
//! - **One call a scan**: rows go to a callback. A question to a server costs a round trip, so none is asked for a cell.
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
pub use found::Found;

use crate::issue::Issue;
use crate::model::Stored;

/// A question that a store asks while it reads: `true` stops it.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// How long a shell lets reading take before its `stop` says so, for a command or a question: long enough for
/// gigabytes, and an end for a hostile file.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// How far reading may go.
#[derive(Clone, Default)]
pub struct Limits {
    /// Asked now and then; `true` stops the reading with [`DecodeError::Stopped`]. A shell's clock, or its cancel button.
    pub stop: Option<Stop>,
    /// Bytes that the store may hold in the whole process; its own default without it.
    pub heap: Option<u64>,
}

/// A store of tables that is read.
pub trait Database: Send {
    /// Begins a snapshot: what is read until [`Database::end`] is of one moment.
    ///
    /// # Errors
    /// When the store refuses, or a snapshot has begun already.
    fn begin(&self) -> Result<(), DecodeError>;

    /// Ends the snapshot.
    fn end(&self);

    /// All tables, in order of name. `info.rows` is given where a table is known to be empty, and may be given elsewhere.
    ///
    /// # Errors
    /// When the store cannot be read; so for all questions.
    fn tables(&self) -> Result<Vec<Found>, DecodeError>;

    /// The table of this name.
    ///
    /// # Errors
    /// [`DecodeError::NotFound`] without one.
    fn table(&self, name: &str) -> Result<Found, DecodeError>;

    /// Gives rows to `each`, in the order of [`Rows`], until it returns `false`.
    fn scan(
        &self,
        scan: &Scan<'_>,
        each: &mut dyn FnMut(&dyn Row) -> bool,
    ) -> Result<(), DecodeError>;

    /// How many rows a table has; `None` where counting takes too long: with more than `most` rows, or sooner.
    fn count(&self, table: &Found, most: u64) -> Option<u64>;

    /// About how many rows a table has, without looking at them; 0 where that is not known.
    fn about(&self, table: &Found) -> u64;

    /// Gives the bytes of a cell in `range` to `each`, in pieces, from first to last, until it returns `false`: text as
    /// UTF-8, numbers as text, none for NULL. Holds no more than a piece, and walks to the place once.
    fn pieces(
        &self,
        cell: &CellAt<'_>,
        range: Range<u64>,
        each: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), DecodeError>;

    /// Hands on the texts of a column of the rows between two addresses, all by one question. A store where a question costs
    /// nothing hands on none: whoever misses a text asks for its pieces.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn texts_between(
        &self,
        _table: &str,
        _column: &str,
        _addresses: RangeInclusive<i64>,
        _each: &mut dyn FnMut(i64, &[u8]),
    ) -> Result<(), DecodeError> {
        Ok(())
    }

    /// Whether rows of many runs share the tables, each with its `run_id`: a run is then read by its id, and no row of
    /// another run is looked at. A file of one run, into which somebody put others, is no such store.
    fn holds_many_runs(&self) -> bool {
        false
    }

    /// What a person should know of the store itself.
    fn notes(&self) -> Vec<Issue> {
        Vec::new()
    }

    /// Names of what should keep the audit log from being changed, and is gone.
    fn unguarded(&self) -> Result<Vec<&'static str>, DecodeError> {
        Ok(Vec::new())
    }

    /// Answers a question in SQL ([`query`]). `None`: the store has no SQL of this dialect. What the question puts beside the
    /// tables stays there, so that the store is opened for this question alone.
    fn query(
        &self,
        _question: &query::Question<'_>,
    ) -> Option<Result<query::QueryView, query::QueryError>> {
        None
    }

    /// What the store, which people know by this name, finds wrong with itself when all of it is looked at.
    fn look_through(&self, _name: &str) -> Vec<Issue> {
        Vec::new()
    }
}

/// A snapshot that ends when it goes out of scope. Inside of another one it does nothing.
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

/// Which cells a scan hands out.
#[derive(Debug, Clone, Copy)]
pub struct Scan<'a> {
    /// The table.
    pub table: &'a Found,
    /// The columns, which [`Row`] numbers in this order.
    pub wants: &'a [Want<'a>],
    /// The rows.
    pub rows: Rows<'a>,
}

/// Which rows a scan hands out, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows<'a> {
    /// All rows, in the table's order: that of its rowids, else of its key.
    All,
    /// Of these those whose `run_id` is this one or NULL; all of a table without such a column.
    OfRun(&'a str),
    /// Of these those whose column holds this, found by an index where there is one. More rows may be given where the
    /// store compares in its own way, never fewer.
    Holding(&'a str, Key<'a>),
    /// The row of this address.
    At(i64),
    /// So many rows, from the n-th on.
    Page(u64, u32),
}

/// What a row is found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key<'a> {
    /// A number.
    Int(i64),
    /// A text.
    Text(&'a str),
}

/// A column that is wanted of a table. One that the table does not have is NULL in every row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Want<'a> {
    /// Its name.
    pub column: &'a str,
    /// The longest text that is read whole; of a longer one the beginning is.
    pub most: u32,
    /// Read only where the columns stored before it take at most so many bytes, so that no large value is walked over.
    /// Without [`Want::sized`], a text longer than `most` is left out, too.
    pub within: Option<u32>,
    /// Whether [`Row::size`] is asked for.
    pub sized: bool,
}

/// Longest statement, message, metadata …; the rest of a longer one is read when somebody opens the row.
pub(crate) const LONG_TEXT: u32 = 64 << 10;
/// Longest name, kind, status, time.
pub(crate) const SHORT_TEXT: u32 = 4 << 10;

/// A list shows what lies behind no more than so many bytes in its row.
pub const NEAR: u32 = 2048;

impl<'a> Want<'a> {
    /// A column, cut at `most` bytes.
    pub const fn of(column: &'a str, most: u32) -> Want<'a> {
        Want {
            column,
            most,
            within: None,
            sized: false,
        }
    }

    /// A name, kind, status or time.
    pub(crate) const fn short(column: &'a str) -> Want<'a> {
        Want::of(column, SHORT_TEXT)
    }

    /// A statement, a message, metadata.
    pub(crate) const fn long(column: &'a str) -> Want<'a> {
        Want::of(column, LONG_TEXT)
    }

    /// How a column is stored and how long it is, and nothing of it.
    pub const fn size(column: &'a str) -> Want<'a> {
        Want::of(column, 0).sized()
    }

    /// The same with [`Want::within`].
    pub const fn within(self, bytes: u32) -> Want<'a> {
        Want {
            within: Some(bytes),
            ..self
        }
    }

    /// The same with [`Want::sized`].
    pub const fn sized(self) -> Want<'a> {
        Want {
            sized: true,
            ..self
        }
    }
}

/// A row of a scan.
pub trait Row {
    /// The row's address: a number by which the store finds it again, for as long as nobody writes. A rowid, or the row's
    /// place in the table's order.
    fn at(&self) -> i64;

    /// The i-th wanted cell.
    ///
    /// # Errors
    /// When a cell that is cut cannot be read.
    fn cell(&self, i: usize) -> Result<Cell<'_>, DecodeError>;

    /// How the i-th wanted cell is stored, and its bytes as [`Database::pieces`] gives them; known from the row's header.
    fn size(&self, i: usize) -> (Stored, Option<u64>);

    /// Whether every column that is wanted [`Want::within`] some bytes was near enough.
    fn reached(&self) -> bool;
}

/// A cell, cut as it was wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell<'a> {
    /// What is stored there; NULL as well where it was not to be read.
    pub value: Value<'a>,
    /// Bytes of the whole text, of which `value` may be the beginning.
    pub len: u64,
}

/// A cell's value, byte for byte.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    #[default]
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text, as UTF-8; a file may hold anything.
    Text(Cow<'a, [u8]>),
    /// Bytes.
    Blob(Cow<'a, [u8]>),
}

impl<'a> Cell<'a> {
    /// NULL, or what is not read.
    pub const NULL: Cell<'static> = Cell {
        value: Value::Null,
        len: 0,
    };

    /// A whole cell.
    pub fn whole(value: Value<'a>) -> Cell<'a> {
        let len = value.bytes().len() as u64;
        Cell { value, len }
    }

    /// Whether there is more of it.
    pub fn is_cut(&self) -> bool {
        self.len > self.value.bytes().len() as u64
    }
}

impl Value<'_> {
    /// A text.
    pub fn text(text: &str) -> Value<'static> {
        Value::Text(text.as_bytes().to_vec().into())
    }

    /// The text, when it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// The whole number, when it is one.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Value::Integer(n) => Some(*n),
            _ => None,
        }
    }

    /// Whether it is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The bytes that [`Database::pieces`] gives of it.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Value::Text(bytes) | Value::Blob(bytes) => bytes.into_owned(),
            other => other.lossy().unwrap_or_default().into_owned().into_bytes(),
        }
    }

    /// The same, held by itself.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Integer(n) => Value::Integer(n),
            Value::Real(x) => Value::Real(x),
            Value::Text(bytes) => Value::Text(bytes.into_owned().into()),
            Value::Blob(bytes) => Value::Blob(bytes.into_owned().into()),
        }
    }

    /// Any value as text, with replacement characters for what is none; `None` for NULL.
    pub fn lossy(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Value::Null => return None,
            Value::Integer(n) => n.to_string().into(),
            // As SQLite's `CAST … AS TEXT` writes it, near enough to be recognised: `3.0`, not `3`.
            Value::Real(x) => format!("{x:?}").into(),
            Value::Text(bytes) | Value::Blob(bytes) => String::from_utf8_lossy(bytes),
        })
    }

    /// The bytes of a text or a BLOB; none of a number.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Value::Text(bytes) | Value::Blob(bytes) => bytes,
            Value::Null | Value::Integer(_) | Value::Real(_) => &[],
        }
    }
}

/// Where a cell lies.
#[derive(Debug, Clone, Copy)]
pub struct CellAt<'a> {
    /// The table.
    pub table: &'a str,
    /// The column.
    pub column: &'a str,
    /// The row's address.
    pub at: i64,
    /// How it is stored, where that is known.
    pub stored: Option<Stored>,
}
