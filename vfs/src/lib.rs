//! Databases read in place where there is no disk: a read-only SQLite file system over the files of a source.
//!
//! ```text
//! SQLite ──► Mount ──► Files: a browser's files, a server's ranges, a JavaScript host's bytes
//! ```
//!
//! SQLite asks for pages, `Files` gives them; nothing is held whole, and nothing is written. A database in WAL mode
//! is read with its `-wal`, or with an empty one; its `-journal` is never shown: a hot one is refused.

#![cfg(all(target_family = "wasm", target_os = "unknown"))]

mod share;
mod sqlite;

use std::rc::Rc;

use prosescope_core::database::DecodeError;
use prosescope_core::issue::Issue;
use prosescope_core::source::{FileEntry, SourceError};
use prosescope_core::sqlite::{HEAD, Header, limit, probe, wal_missing};
use rusqlite::{Connection, OpenFlags};

/// A `-wal` of fewer bytes holds nothing.
const WAL_HEADER: u64 = 32;

/// Files that can be read in parts, each with a number.
pub trait Files {
    /// The files, in order of path: a file's number is its place here.
    fn entries(&self) -> &[FileEntry];

    /// The number of a path.
    fn index(&self, path: &str) -> Option<usize> {
        let files = self.entries();
        files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .ok()
    }

    /// The path of a number; empty where there is none.
    fn path(&self, index: usize) -> &str {
        self.entries()
            .get(index)
            .map_or("", |file| file.path.as_str())
    }

    /// Bytes of a file; 0 where there is none.
    fn size(&self, index: usize) -> u64 {
        self.entries().get(index).map_or(0, |file| file.len)
    }

    /// Fills `buf` from `offset` of a file; returns how much there was.
    ///
    /// # Errors
    /// When the file changed, or cannot be read.
    fn read(&self, index: usize, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError>;
}

/// Files whose databases SQLite can open while this lives; connections that are open go on after it.
pub struct Mount {
    number: u32,
    files: Rc<dyn Files>,
}

impl Mount {
    /// Makes the databases among these files openable.
    pub fn new(files: Rc<dyn Files>) -> Mount {
        Mount {
            number: sqlite::add(Rc::clone(&files)),
            files,
        }
    }

    /// Opens a database read-only, as [`prosescope_core::source::Source::database`] promises; it is not yet guarded.
    ///
    /// # Errors
    /// When there is no such file, its last write was cut off, or SQLite refuses it.
    pub fn open(&self, path: &str) -> Result<Connection, SourceError> {
        let index = self
            .files
            .index(path)
            .ok_or_else(|| SourceError::NotFound(path.to_owned()))?;
        if self.has_hot_journal(path) {
            return Err(refused(
                path,
                "a write to it was cut off, and the way back lies in the -journal beside it; here it is only read"
                    .to_owned(),
                "Run `prosescope show` on it, which rolls a copy back, or let `sqlite3 FILE .tables` do that to a copy of both files.",
            ));
        }
        // Says what a file is instead of a database; SQLite does not.
        let undecodable = |e: DecodeError| refused(path, e.to_string(), e.next_step());
        let header = self.header(index)?.map_err(undecodable)?;
        if self.wal_len(path) < WAL_HEADER {
            // With a -wal the missing pages may be there.
            header.whole().map_err(undecodable)?;
        }
        let failed = |e: rusqlite::Error| undecodable(DecodeError::from(e));
        let name = format!("{}.{index}", self.number);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags_and_vfs(name, flags, sqlite::NAME).map_err(failed)?;
        limit(&connection).map_err(undecodable)?;
        // Before anything is read: without shared memory this is the one mode in which a WAL can be read.
        connection
            .pragma_update(None, "locking_mode", "exclusive")
            .map_err(failed)?;
        // What lies below keeps what it read; SQLite's own 16 MB a connection would hold it twice.
        connection
            .pragma_update(None, "cache_size", -2048)
            .map_err(failed)?;
        probe(&connection).map_err(undecodable)?;
        Ok(connection)
    }

    /// What to know of a database; what [`prosescope_core::source::Source::notes`] promises.
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

    /// Bytes of the `-wal` beside a database; 0 without one.
    fn wal_len(&self, path: &str) -> u64 {
        let wal = self.files.index(&format!("{path}-wal"));
        wal.map_or(0, |index| self.files.size(index))
    }

    /// A journal that holds the way back from a write that did not finish.
    fn has_hot_journal(&self, path: &str) -> bool {
        const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
        self.part(&format!("{path}-journal"), 0, [0; 8]) == Some(MAGIC)
    }

    /// Some bytes of a file, where it has that many.
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
