//! Reads a SQLite file as a [`Database`]. The shell, such as the command line or the viewer, opens the connection or
//! passes the file's bytes.
//!
//! Everything specific to SQLite is in this module: the file's header and `-wal`, the restrictions on a connection
//! ([`Guard`]), statements that skip large values, and the checks of an untrusted schema. The module looks up which
//! tables and columns exist; it does not rely on a fixed schema.
//!
//! ```
//! use prosescope_core::read::decode::rows;
//! use prosescope_core::read::sqlite::{self, Guard, Sqlite};
//! # let path = tempfile::NamedTempFile::new().unwrap();
//! # let made = rusqlite::Connection::open(path.path()).unwrap();
//! # made.execute_batch(prosescope_core::model::schema::STATE_SQL).unwrap();
//! # made.execute_batch("INSERT INTO run(id) VALUES ('r1'); INSERT INTO bindings(name, value) VALUES ('a', 'text')").unwrap();
//! # let bytes = std::fs::read(path.path()).unwrap();
//! let db = Sqlite::new(sqlite::from_bytes(&bytes)?, Guard::default())?;
//! let run = rows::decode(&db, "state.db", None)?.run;
//! assert_eq!(&*run.id, "r1");
//! let value = &run.bindings[0].value;
//! assert_eq!(rows::value_bytes(&db, "bindings", "value", value, 0, 100)?, b"text");
//! # Ok::<(), prosescope_core::model::database::DecodeError>(())
//! ```

pub mod agents;
mod bytes;
mod cell;
mod check;
mod error;
mod foreign;
mod guard;
mod memory;
mod query;
mod rebuilt;
mod select;
mod shape;
mod value;
mod wal;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;

use rusqlite::Connection;

pub use crate::read::decode::sqlite_header::{HEAD, Header, not_sqlite, wal_missing};
pub use bytes::{from_bytes, from_bytes_with_wal};
pub use foreign::{Unfit, fit_for_writing, unfit_for_vacuum};
pub use guard::{Guard, end_probe, exclusive, guard, limit, probe};
pub use memory::MemorySource;
pub use query::empty;
pub use rebuilt::{Cells, Rebuild, RebuildError, rebuild, unbounded};
pub(crate) use shape::quoted;

use crate::model::database::FoundTable;
use crate::model::database::query::{QueryError, QueryView, Question};
use crate::model::database::{CellAt, Database, DecodeError, Limits, Row, Scan};
use crate::model::issue::Issue;
use crate::model::source::SourceError;

/// A guarded connection to a SQLite file.
pub struct Sqlite {
    conn: Connection,
    steps: guard::Steps,
    /// The number of bytes returned in the current snapshot, or, without a snapshot, in the current scan. Only cells
    /// count that were read without asking for their size first.
    handed: Cell<u64>,
    /// Facts cached for the current snapshot.
    known: RefCell<SnapshotFacts>,
}

/// The facts about a file that cannot change during a snapshot. They are cached because a list of values needs them for
/// each value.
#[derive(Default)]
struct SnapshotFacts {
    len: Option<u64>,
    is_utf8: Option<bool>,
    tables: BTreeMap<String, FoundTable>,
    plain_rowid: BTreeMap<String, bool>,
}

impl Sqlite {
    /// Guards a connection through which nothing has been read yet.
    ///
    /// # Errors
    /// See [`guard()`].
    pub fn new(mut conn: Connection, options: Guard) -> Result<Sqlite, DecodeError> {
        let steps = guard::counted(&mut conn, options)?;
        Ok(Sqlite {
            conn,
            steps,
            handed: Cell::new(0),
            known: RefCell::default(),
        })
    }

    /// Returns a fact from the snapshot's cache. If the fact is not cached, `ask` determines it, and `set` stores it.
    /// Outside of a snapshot nothing is cached.
    fn known<T: Clone>(
        &self,
        get: impl Fn(&SnapshotFacts) -> Option<T>,
        ask: impl FnOnce(&Connection) -> Result<T, DecodeError>,
        set: impl FnOnce(&mut SnapshotFacts, T),
    ) -> Result<T, DecodeError> {
        if self.conn.is_autocommit() {
            return ask(&self.conn);
        }
        if let Some(known) = get(&self.known.borrow()) {
            return Ok(known);
        }
        let answer = ask(&self.conn)?;
        set(&mut self.known.borrow_mut(), answer.clone());
        Ok(answer)
    }

    /// Returns the size of the database in bytes, including its `-wal`.
    fn file_len(&self) -> Result<u64, DecodeError> {
        self.known(
            |known| known.len,
            value::file_len,
            |known, len| known.len = Some(len),
        )
    }

    /// Returns whether the database stores text as UTF-8.
    fn is_utf8(&self) -> Result<bool, DecodeError> {
        self.known(
            |known| known.is_utf8,
            shape::is_utf8,
            |known, is| known.is_utf8 = Some(is),
        )
    }

    /// Returns whether no column of the table has the name `_rowid_`.
    fn has_plain_rowid(&self, table: &str) -> Result<bool, DecodeError> {
        self.known(
            |known| known.plain_rowid.get(table).copied(),
            |conn| shape::has_plain_rowid(conn, table),
            |known, is| {
                known.plain_rowid.insert(table.to_owned(), is);
            },
        )
    }

    /// Guards the shell's connection to the database at `path`. Implementations of
    /// [`crate::model::source::Source::database`] call this.
    ///
    /// # Errors
    /// See [`guard()`].
    pub fn of_source(
        conn: Connection,
        path: &str,
        limits: &Limits,
    ) -> Result<Box<dyn Database>, SourceError> {
        let db = Sqlite::new(conn, limits.into());
        let db = db.map_err(|error| SourceError::of_database(path, &error))?;
        Ok(Box::new(db))
    }
}

impl Database for Sqlite {
    fn begin(&self) -> Result<(), DecodeError> {
        // A nested BEGIN is refused before SQLite compiles it, because compiling it would restart the guard's count of
        // steps.
        if !self.conn.is_autocommit() {
            return Err(DecodeError::Sqlite("a snapshot has begun".to_owned()));
        }
        self.conn.execute_batch("BEGIN")?;
        self.handed.set(0);
        self.known.take();
        Ok(())
    }

    fn end(&self) {
        // A rollback has nothing to undo, because the transaction only reads.
        let _ = self.conn.execute_batch("ROLLBACK");
        self.known.take();
    }

    fn tables(&self) -> Result<Vec<FoundTable>, DecodeError> {
        let mut tables = shape::discover(&self.conn)?;
        // Errors are ignored, because damage is reported when the table itself is read.
        let _ = shape::note_empty(&self.conn, &mut tables);
        Ok(tables)
    }

    fn table(&self, name: &str) -> Result<FoundTable, DecodeError> {
        self.known(
            |known| known.tables.get(name).cloned(),
            |conn| shape::find(conn, name),
            |known, found| {
                known.tables.insert(name.to_owned(), found);
            },
        )
    }

    fn scan(
        &self,
        scan: &Scan<'_>,
        each: &mut dyn FnMut(&dyn Row) -> bool,
    ) -> Result<(), DecodeError> {
        if self.conn.is_autocommit() {
            self.handed.set(0);
        }
        select::scan(self, scan, each)
    }

    /// Counts at most 20,000 rows in a file above 64 MB, because each row may be on another page.
    fn count(&self, table: &FoundTable, most: u64) -> Option<u64> {
        let large = self.file_len().ok()? > 64 << 20;
        let most = if large { most.min(20_000) } else { most };
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 FROM {} LIMIT {})",
            quoted(&table.info.name),
            most + 1
        );
        let rows: i64 = self.conn.query_row(&sql, [], |r| r.get(0)).ok()?;
        u64::try_from(rows).ok().filter(|n| *n <= most)
    }

    /// Estimates the number of rows from the lowest and highest rowid, which takes only two lookups in the table's
    /// tree.
    fn about(&self, table: &FoundTable) -> u64 {
        let Some(rowid) = table.rowid_name() else {
            return 0;
        };
        let name = quoted(&table.info.name);
        let sql = format!(
            "SELECT (SELECT max({rowid}) FROM {name}) - (SELECT min({rowid}) FROM {name}) + 1"
        );
        let span = self
            .conn
            .query_row(&sql, [], |row| row.get::<_, Option<i64>>(0));
        u64::try_from(span.ok().flatten().unwrap_or(0)).unwrap_or(0)
    }

    fn pieces(
        &self,
        cell: &CellAt<'_>,
        range: Range<u64>,
        each: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), DecodeError> {
        value::pieces(self, cell, range, each)
    }

    fn notes(&self) -> Vec<Issue> {
        match self.is_utf8() {
            Ok(false) => vec![
                Issue::noted("utf16", "the database stores its texts as UTF-16")
                    .hint("Values are read whole to know their lengths; opening is slower."),
            ],
            _ => Vec::new(),
        }
    }

    fn query(&self, question: &Question<'_>) -> Option<Result<QueryView, QueryError>> {
        Some(query::query(&self.conn, &self.steps, question))
    }

    fn unguarded(&self) -> Result<Vec<&'static str>, DecodeError> {
        foreign::audit_triggers_gone(&self.conn)
    }

    fn check_database(&self, name: &str) -> Vec<Issue> {
        check::check_database(&self.conn, name)
    }
}
