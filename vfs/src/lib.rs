//! Opens SQLite databases where there is no disk. SQLite reads them through a read-only file system over `Files`.
//!
//! ```text
//! SQLite ──► Mount ──► Files: a browser's files, ranges from a server, bytes from a JavaScript host
//! ```
//!
//! SQLite requests pages and `Files` reads them; nothing is written, and no file is kept whole in memory. A database
//! in WAL mode is read with its `-wal` file; a missing `-wal` reads as empty. `-journal` files are hidden from SQLite,
//! because rolling a database back needs writing; `Mount::open` refuses a database with a hot journal.

#![cfg(all(target_family = "wasm", target_os = "unknown"))]

mod share;
mod sqlite;

use std::rc::Rc;

use prosescope_core::model::database::DecodeError;
use prosescope_core::model::issue::Issue;
use prosescope_core::model::source::{FileEntry, SourceError};
use prosescope_core::read::sqlite::{HEAD, Header, limit, probe, wal_missing};
use rusqlite::{Connection, OpenFlags};

/// The length of the header of a `-wal` file in bytes. A file of less than this length contains no pages.
const WAL_HEADER: u64 = 32;

/// Files that can be read in parts, each identified by a number.
pub trait Files {
    /// Returns the files, sorted by path; a file's number is its index in this list.
    fn entries(&self) -> &[FileEntry];

    /// Returns the number of the file with this path; `None` if there is no such file.
    fn index(&self, path: &str) -> Option<usize> {
        let files = self.entries();
        files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .ok()
    }

    /// Returns the path of the file with this number; empty if there is no such file.
    fn path(&self, index: usize) -> &str {
        self.entries()
            .get(index)
            .map_or("", |file| file.path.as_str())
    }

    /// Returns the size of a file in bytes; 0 if there is no such file.
    fn size(&self, index: usize) -> u64 {
        self.entries().get(index).map_or(0, |file| file.len)
    }

    /// Fills `buf` from `offset` of a file and returns how many bytes were read.
    ///
    /// # Errors
    /// If the file changed or cannot be read.
    fn read(&self, index: usize, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError>;
}

/// A registration of files with SQLite, which ends when this value is dropped. Connections opened before the drop stay
/// usable.
pub struct Mount {
    number: u32,
    files: Rc<dyn Files>,
}

impl Mount {
    /// Registers files, so that SQLite can open the databases among them.
    pub fn new(files: Rc<dyn Files>) -> Mount {
        Mount {
            number: sqlite::add(Rc::clone(&files)),
            files,
        }
    }

    /// Opens a database read-only, as [`prosescope_core::model::source::Source::database`] requires. The caller must
    /// set the authorizer on the returned connection.
    ///
    /// # Errors
    /// If there is no such file, if the last write to the database was interrupted, or if SQLite refuses the file.
    pub fn open(&self, path: &str) -> Result<Connection, SourceError> {
        let index = self
            .files
            .index(path)
            .ok_or_else(|| SourceError::NotFound(path.to_owned()))?;
        if self.has_hot_journal(path) {
            return Err(refused(
                path,
                "the last write to the database was interrupted, and undoing that write would change the file, but here files are only read"
                    .to_owned(),
                "Run `prosescope show FILE`, which undoes the write in a temporary copy, or run `sqlite3 FILE .tables` on a copy of the database and its `-journal`.",
            ));
        }
        // The header is checked first, because SQLite's own error does not contain the type of a file that is not a
        // database.
        let undecodable = |e: DecodeError| refused(path, e.to_string(), e.next_step());
        let header = self.header(index)?.map_err(undecodable)?;
        if self.wal_len(path) < WAL_HEADER {
            // With a `-wal` file this check is left out: the `-wal` can contain the pages that the main file lacks.
            header.whole().map_err(undecodable)?;
        }
        let failed = |e: rusqlite::Error| undecodable(DecodeError::from(e));
        let name = format!("{}.{index}", self.number);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags_and_vfs(name, flags, sqlite::NAME).map_err(failed)?;
        limit(&connection).map_err(undecodable)?;
        // This statement must come before the first read: without shared memory, SQLite reads a WAL only in exclusive
        // mode.
        connection
            .pragma_update(None, "locking_mode", "exclusive")
            .map_err(failed)?;
        // `Files` caches what it read; SQLite's own cache of 16 MB per connection would hold the same pages twice.
        connection
            .pragma_update(None, "cache_size", -2048)
            .map_err(failed)?;
        probe(&connection).map_err(undecodable)?;
        Ok(connection)
    }

    /// Returns an issue if a database in WAL mode lacks its `-wal` file; see
    /// [`prosescope_core::model::source::Source::notes`].
    pub fn notes(&self, path: &str) -> Vec<Issue> {
        let header = self.files.index(path).map(|index| self.header(index));
        match header {
            Some(Ok(Ok(header))) if header.wal && self.wal_len(path) < WAL_HEADER => {
                vec![wal_missing(
                    path,
                    self.files.index(&format!("{path}-shm")).is_some(),
                )]
            }
            _ => Vec::new(),
        }
    }

    fn header(&self, index: usize) -> Result<Result<Header, DecodeError>, SourceError> {
        let mut head = vec![0; HEAD];
        let read = self.files.read(index, 0, &mut head)?;
        head.truncate(read);
        Ok(Header::read(&head, self.files.size(index)))
    }

    /// Returns the size of a database's `-wal` file in bytes; 0 if the file is missing.
    fn wal_len(&self, path: &str) -> u64 {
        let wal = self.files.index(&format!("{path}-wal"));
        wal.map_or(0, |index| self.files.size(index))
    }

    /// Returns whether the database has a journal that would roll back an interrupted write.
    fn has_hot_journal(&self, path: &str) -> bool {
        const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
        self.part(&format!("{path}-journal"), 0, [0; 8]) == Some(MAGIC)
    }

    /// Returns `N` bytes of a file from `offset`, or `None` if the file is shorter.
    fn part<const N: usize>(&self, path: &str, offset: u64, mut buf: [u8; N]) -> Option<[u8; N]> {
        let index = self.files.index(path)?;
        let read = self.files.read(index, offset, &mut buf).ok()?;
        (read == N).then_some(buf)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        sqlite::remove(self.number);
    }
}

fn refused(path: &str, cause: String, next: &str) -> SourceError {
    SourceError::Database {
        path: path.to_owned(),
        cause,
        next: next.to_owned(),
        failed: false,
    }
}
