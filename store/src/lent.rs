//! Opens databases for a viewer, and keeps them open only while something reads them.
//!
//! In WAL mode, the last connection to close a database writes the `-wal` back into it. A viewer that kept a connection
//! for minutes would prevent that: the `-wal` would stay, and a copy of the database without the `-wal` would lack the
//! latest rows.

use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use parking_lot::ReentrantMutex;
use prosescope_core::model::database::query::{QueryError, Question};
use prosescope_core::model::database::{
    CellAt, Database, DecodeError, FoundTable, Limits, Row, Scan,
};
use prosescope_core::model::issue::Issue;
use prosescope_core::pages::view::QueryView;
use prosescope_core::read::sqlite::Sqlite;

use crate::Aside;
use crate::database::{DatabaseError, DatabaseWatch, OpenedDatabase};

/// A database that is opened when it is read, and closed by [`Releaser::let_go`].
pub struct Lent {
    file: PathBuf,
    /// The database's path in the source.
    path: String,
    limits: Limits,
    open: Arc<LockedDatabase>,
}

/// A handle that can close a [`Lent`] database; see [`Releaser::let_go`].
pub struct Releaser(Weak<LockedDatabase>);

/// The open database, if any, behind a lock. The lock is reentrant, because a callback of one scan may read more of the
/// same database.
type LockedDatabase = ReentrantMutex<RefCell<Option<HeldDatabase>>>;

struct HeldDatabase {
    db: Box<dyn Database>,
    watch: DatabaseWatch,
    /// The temporary copy that is read instead of the database, if any. It stays open between reads: creating it again
    /// may be slow, and keeping it blocks no writer.
    aside: Option<Aside>,
}

impl Lent {
    /// Opens the database at `file`; `path` is the database's name in messages. Also returns notes for people, and the
    /// watch that detects changes during the first read.
    pub(crate) fn open(
        file: PathBuf,
        path: &str,
        limits: &Limits,
    ) -> Result<(Lent, Vec<Issue>, DatabaseWatch), DatabaseError> {
        let lent = Lent {
            file,
            path: path.to_owned(),
            limits: limits.clone(),
            open: Arc::default(),
        };
        let (held, notes) = lent.held()?;
        let watch = held.watch.clone();
        lent.open.lock().replace(Some(held));
        Ok((lent, notes, watch))
    }

    /// Returns a handle with which other code can close the database. The handle does not keep the database alive.
    pub fn claim(&self) -> Releaser {
        Releaser(Arc::downgrade(&self.open))
    }

    fn with<T>(
        &self,
        read: impl FnOnce(&dyn Database) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let open = self.open.lock();
        if open.borrow().is_none() {
            let (again, _) = self.held().map_err(|error| match error {
                DatabaseError::Decode(error) => error,
                other => DecodeError::Io(other.to_string()),
            })?;
            open.replace(Some(again));
        }
        match open.borrow().as_ref() {
            Some(held) => read(held.db.as_ref()),
            None => Err(DecodeError::NotFound(self.path.clone())),
        }
    }

    fn held(&self) -> Result<(HeldDatabase, Vec<Issue>), DatabaseError> {
        let OpenedDatabase {
            conn,
            notes,
            aside,
            watch,
        } = crate::database::open(&self.file)?;
        let db = Box::new(Sqlite::new(conn, (&self.limits).into())?);
        Ok((HeldDatabase { db, watch, aside }, notes))
    }
}

impl Releaser {
    /// Closes the database until the next read. Returns `Some(false)` if a reader without locks may have read during a
    /// write, so that its reads saw different states. Returns `None` if the [`Lent`] was dropped.
    pub fn let_go(&self) -> Option<bool> {
        let open = self.0.upgrade()?;
        let open = open.lock();
        let held = open.take();
        let changed = held.as_ref().and_then(|held| held.watch.changed());
        open.replace(held.filter(|held| held.aside.is_some()));
        Some(changed.is_none())
    }
}

impl Database for Lent {
    fn begin(&self) -> Result<(), DecodeError> {
        self.with(|db| db.begin())
    }

    fn end(&self) {
        if let Some(held) = self.open.lock().borrow().as_ref() {
            held.db.end();
        }
    }

    fn tables(&self) -> Result<Vec<FoundTable>, DecodeError> {
        self.with(|db| db.tables())
    }

    fn table(&self, name: &str) -> Result<FoundTable, DecodeError> {
        self.with(|db| db.table(name))
    }

    fn scan(
        &self,
        scan: &Scan<'_>,
        each: &mut dyn FnMut(&dyn Row) -> bool,
    ) -> Result<(), DecodeError> {
        self.with(|db| db.scan(scan, each))
    }

    fn count(&self, table: &FoundTable, most: u64) -> Option<u64> {
        self.with(|db| Ok(db.count(table, most))).ok().flatten()
    }

    fn about(&self, table: &FoundTable) -> u64 {
        self.with(|db| Ok(db.about(table))).unwrap_or_default()
    }

    fn pieces(
        &self,
        cell: &CellAt<'_>,
        range: Range<u64>,
        each: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), DecodeError> {
        self.with(|db| db.pieces(cell, range, each))
    }

    fn texts_between(
        &self,
        table: &str,
        column: &str,
        addresses: RangeInclusive<i64>,
        each: &mut dyn FnMut(i64, &[u8]),
    ) -> Result<(), DecodeError> {
        self.with(|db| db.texts_between(table, column, addresses, each))
    }

    fn holds_many_runs(&self) -> bool {
        self.with(|db| Ok(db.holds_many_runs())).unwrap_or_default()
    }

    fn notes(&self) -> Vec<Issue> {
        self.with(|db| Ok(db.notes())).unwrap_or_default()
    }

    fn unguarded(&self) -> Result<Vec<&'static str>, DecodeError> {
        self.with(|db| db.unguarded())
    }

    fn query(&self, question: &Question<'_>) -> Option<Result<QueryView, QueryError>> {
        self.with(|db| Ok(db.query(question)))
            .unwrap_or_else(|error| Some(Err(error.into())))
    }

    fn check_database(&self, name: &str) -> Vec<Issue> {
        self.with(|db| Ok(db.check_database(name)))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use prosescope_core::model::source::Source as _;
    use rusqlite::Connection;

    use super::*;
    use crate::Disk;

    /// Creates a run of one row in WAL mode; the returned connection keeps the database open.
    fn written(dir: &std::path::Path) -> Connection {
        let writer = Connection::open(dir.join("state.db")).unwrap();
        writer
            .execute_batch(
                "PRAGMA journal_mode = WAL;
                 CREATE TABLE run (id TEXT); INSERT INTO run VALUES ('one');",
            )
            .unwrap();
        writer
    }

    fn ids(db: &Lent) -> Result<u64, DecodeError> {
        db.table("run").map(|table| db.count(&table, 99).unwrap())
    }

    #[test]
    fn a_writer_takes_its_wal_back_while_a_viewer_is_open() {
        let dir = tempfile::tempdir().unwrap();
        let wal = dir.path().join("state.db-wal");
        let writer = written(dir.path());
        let disk = Disk::open(dir.path()).unwrap();
        let lent = disk.lent("state.db", &Limits::default()).unwrap();
        let claim = lent.claim();
        assert_eq!(ids(&lent), Ok(1));
        assert_eq!(claim.let_go(), Some(true));
        writer
            .execute("INSERT INTO run VALUES ('two')", [])
            .unwrap();
        drop(writer);
        assert!(!wal.exists(), "it is left behind");
        // The database is read in its present state; its `-wal` and `-shm` are not used.
        assert_eq!(ids(&lent), Ok(2));
        assert_eq!(disk.notes("state.db").len(), 0);
        drop(lent);
        assert_eq!(claim.let_go(), None);
    }

    #[test]
    fn a_write_during_a_read_without_locks_is_said() {
        let dir = tempfile::tempdir().unwrap();
        drop(written(dir.path()));
        let disk = Disk::open(dir.path()).unwrap();
        let lent = disk.lent("state.db", &Limits::default()).unwrap();
        assert_eq!(ids(&lent), Ok(1));
        // In WAL mode and without a `-wal`, a database is read without locks.
        let writer = Connection::open(dir.path().join("state.db")).unwrap();
        writer
            .execute("INSERT INTO run VALUES ('two')", [])
            .unwrap();
        assert_eq!(lent.claim().let_go(), Some(false));
        assert_eq!(ids(&lent), Ok(2));
        assert_eq!(lent.claim().let_go(), Some(true));
    }

    #[test]
    fn a_database_that_is_gone_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        drop(written(dir.path()));
        let disk = Disk::open(dir.path()).unwrap();
        let lent = disk.lent("state.db", &Limits::default()).unwrap();
        assert_eq!(lent.claim().let_go(), Some(true));
        std::fs::remove_file(dir.path().join("state.db")).unwrap();
        assert!(matches!(ids(&lent), Err(DecodeError::Io(_))));
    }
}
