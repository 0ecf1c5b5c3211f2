//! Opens a database from the bytes of its file, and from those of its `-wal` file if there is one.

use std::io::Read;

use rusqlite::Connection;

use super::wal;
use crate::model::database::{DecodeError, bytes_in_words};
use crate::read::decode::sqlite_header::{HEAD, Header};

/// Opens a database from its bytes, read-only.
///
/// A database in WAL mode opens too: the copy's header is changed to rollback-journal mode, since a database in memory
/// cannot have a `-wal` (errata R2). Rows that are only in the `-wal` are then missing. The caller reports that with
/// the issue [`super::wal_missing`].
///
/// # Errors
/// If the bytes are not a complete SQLite database.
pub fn from_bytes(bytes: &[u8]) -> Result<Connection, DecodeError> {
    let header = inspect(bytes)?;
    header.whole()?;
    open(bytes)
}

/// Opens a database from its bytes and those of its `-wal`, whose committed pages replace those of the database.
///
/// Ignores a `-wal` of another database and a damaged tail, as SQLite does when it recovers.
///
/// # Errors
/// If the bytes are not a complete SQLite database.
pub fn from_bytes_with_wal(bytes: &[u8], wal: &[u8]) -> Result<Connection, DecodeError> {
    let header = inspect(bytes)?;
    match wal::apply(bytes, wal, header.page_size) {
        Some(merged) => open(&merged),
        None => {
            header.whole()?;
            open(bytes)
        }
    }
}

fn inspect(bytes: &[u8]) -> Result<Header, DecodeError> {
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    Header::read(head, bytes.len() as u64)
}

/// Opens a copy of a database in memory. In the copy's header, bytes 18 and 19 are set to rollback-journal mode.
fn open(bytes: &[u8]) -> Result<Connection, DecodeError> {
    let (start, rest) = bytes
        .split_at_checked(20)
        .ok_or_else(|| DecodeError::Truncated {
            expected: "at least 512 bytes".into(),
            found: bytes_in_words(bytes.len() as u64),
        })?;
    let mut head = start.to_vec();
    for byte in head.iter_mut().skip(18) {
        if *byte == 2 {
            *byte = 1;
        }
    }
    let mut conn = Connection::open_in_memory()?;
    let whole = head.as_slice().chain(rest);
    conn.deserialize_read_exact(c"main", whole, bytes.len(), true)?;
    Ok(conn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(conn: &Connection) -> i64 {
        conn.query_row("SELECT count(*) FROM t", [], |r| r.get(0))
            .unwrap()
    }

    /// Returns a database in WAL mode with three rows, of which the last two are only in its `-wal`.
    fn with_wal() -> (Vec<u8>, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        #[allow(clippy::disallowed_methods)]
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch(
            "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1);
             PRAGMA wal_checkpoint(TRUNCATE);
             INSERT INTO t VALUES (2); INSERT INTO t VALUES (3);",
        )
        .unwrap();
        let db = std::fs::read(&path).unwrap();
        let wal = std::fs::read(dir.path().join("a.db-wal")).unwrap();
        (db, wal)
    }

    #[test]
    fn a_wal_header_is_opened_and_its_wal_is_laid_over() {
        let (db, wal) = with_wal();
        assert_eq!(count(&from_bytes(&db).unwrap()), 1);
        assert_eq!(count(&from_bytes_with_wal(&db, &wal).unwrap()), 3);
        assert_eq!(count(&from_bytes_with_wal(&db, &[]).unwrap()), 1);
    }

    #[test]
    fn a_torn_wal_gives_what_was_committed() {
        let (db, mut wal) = with_wal();
        let last = wal.len() - 10;
        wal[last] ^= 1;
        assert_eq!(count(&from_bytes_with_wal(&db, &wal).unwrap()), 2);
        wal.truncate(40);
        assert_eq!(count(&from_bytes_with_wal(&db, &wal).unwrap()), 1);
    }

    #[test]
    fn a_database_cut_off_is_refused_with_sizes() {
        let (db, _) = with_wal();
        let error = from_bytes(&db[..db.len() - 1]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the database is cut off: its header announces 8192 bytes, the file has 8191 bytes"
        );
        assert!(error.next_step().starts_with("Copy the file again"));
        for n in 0..120 {
            assert!(from_bytes(&db[..n]).is_err(), "{n}");
        }
    }

    #[test]
    fn our_copy_cannot_be_written() {
        let (db, _) = with_wal();
        let conn = from_bytes(&db).unwrap();
        assert!(conn.execute_batch("INSERT INTO t VALUES (9)").is_err());
    }
}
