//! Opens a database of another program without a trace: the file, its folder's listing and all times stay unchanged.
//!
//! A plain read-only open of a database in WAL mode creates a `-wal` and a `-shm`; `immutable` loses rows that are only
//! in the `-wal`; a hot journal cannot be rolled back without writing. So the files beside the database decide how the
//! database is opened (errata R7):
//!
//! | beside the database | opened with |
//! |---|---|
//! | `-wal` of 32 bytes or more, and `-shm` | `mode=ro&readonly_shm=1` |
//! | `-wal`, no `-shm` | `mode=ro&vfs=unix-none`, then `locking_mode=exclusive` |
//! | WAL header, no or empty `-wal` | `mode=ro&immutable=1` |
//! | hot `-journal`, refused by `mode=ro` | copied to a temporary folder with its journal, rolled back there |
//! | a link, a pipe or a device with one of these names | `mode=ro&immutable=1`, which ignores all of them |
//! | otherwise | `mode=ro` |

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use prosescope_core::model::database::DecodeError;
use prosescope_core::model::issue::Issue;
use prosescope_core::read::sqlite::{self, Header};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::{Aside, sparse, vfs};

/// A database that was opened for reading.
pub(crate) struct OpenedDatabase {
    /// The open connection; the limits of reading are not yet set on it.
    pub(crate) conn: Connection,
    /// Notes for the user on how the database was opened.
    pub(crate) notes: Vec<Issue>,
    /// The temporary copy that was opened, if one was needed; must outlive the connection.
    pub(crate) aside: Option<Aside>,
    /// The state of the files at opening, to detect changes under a reader that takes no locks.
    pub(crate) watch: DatabaseWatch,
}

/// The reason why a database was not opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DatabaseError {
    /// The file is not a database, or is incomplete.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// An error of the system.
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The database has a hot journal and could not be copied.
    #[error(
        "the last writer of the database stopped in the middle of a change, and the copy in which to undo that change cannot be made: {0}"
    )]
    Copy(io::Error),
    /// The database has a hot journal and is too large to be copied.
    #[error(
        "the last writer of the database stopped in the middle of a change; undoing that change needs a copy of {} MB, and at most {most} MB are copied",
        megabytes(*.data)
    )]
    Large {
        /// Size of the copy in bytes.
        data: u64,
        /// The limit in megabytes.
        most: u64,
    },
    /// The database has a hot journal, and there is not enough space for a copy.
    #[error(
        "the last writer of the database stopped in the middle of a change; undoing that change needs a copy of {} MB, but {} has only {} MB free",
        megabytes(*.data), .aside.display(), megabytes(*.free)
    )]
    Full {
        /// Size of the copy in bytes.
        data: u64,
        /// Free space in bytes.
        free: u64,
        /// The folder for temporary files.
        aside: PathBuf,
    },
    /// The database was written during each attempt to copy it.
    #[error("the database changed while it was being copied")]
    Busy,
}

impl DatabaseError {
    /// Returns whether reading failed, so that another try may succeed; false if the content is unreadable.
    pub(crate) fn is_failed(&self) -> bool {
        match self {
            DatabaseError::Decode(error) => error.is_failed(),
            _ => true,
        }
    }

    /// Returns what the user can do so that the database opens.
    pub(crate) fn next(&self) -> &'static str {
        match self {
            DatabaseError::Decode(error) => error.next_step(),
            DatabaseError::Io(_) => {
                "Check that you have permission to read the file and its folder."
            }
            DatabaseError::Copy(_) => {
                "Make room in the folder for temporary files, or open the database once with the program that writes it."
            }
            DatabaseError::Full { .. } => {
                "Set TMPDIR to a folder with more room, or open the database once with the program that writes it, which undoes the unfinished change in place."
            }
            DatabaseError::Large { .. } => {
                "Open the database once with the program that writes it, or with `sqlite3 state.db .tables`: either undoes the unfinished change in place."
            }
            DatabaseError::Busy => {
                "Wait until the database's writer is done, and open the database again."
            }
        }
    }
}

/// The way in which a database is opened; each variant is a row of the table in this module's documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpeningMode {
    SharedMemory,
    Alone,
    Immutable,
    Plain,
}

/// Opens a database read-only and without a trace.
pub(crate) fn open(path: &Path) -> Result<OpenedDatabase, DatabaseError> {
    // SQLite looks for a database's other files beside the file itself, not beside a link to it.
    let path = fs::canonicalize(path)?;
    let watch = DatabaseWatch::new(&path);
    let header = header(&path)?;
    let wal = watch.len(DatabaseFile::Wal);
    let odd = no_files(&path);
    let how = match (wal, watch.exists(DatabaseFile::Shm), header.wal) {
        _ if !odd.is_empty() => OpeningMode::Immutable,
        (Some(32..), true, _) => OpeningMode::SharedMemory,
        (Some(32..), false, _) => OpeningMode::Alone,
        (_, _, true) => OpeningMode::Immutable,
        _ => OpeningMode::Plain,
    };
    if how != OpeningMode::SharedMemory && how != OpeningMode::Alone {
        // The file may be shorter than its header states while the missing pages are in the `-wal`.
        whole(&path, &header)?;
    }

    let mut notes = Vec::new();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !odd.is_empty() {
        notes.push(not_read(&name, &odd));
    } else if how == OpeningMode::Immutable {
        notes.push(sqlite::wal_missing(&name, watch.exists(DatabaseFile::Shm)));
    }
    match connect(&path, how) {
        Ok(conn) => Ok(OpenedDatabase {
            conn,
            notes,
            aside: None,
            watch: watch.of(how),
        }),
        // A lock means that the writer is alive, so the journal is in use and must not be rolled back.
        Err(error)
            if how == OpeningMode::Plain
                && error != DecodeError::Locked
                && watch.len(DatabaseFile::Journal).is_some_and(|n| n > 0) =>
        {
            let (conn, aside) = roll_back_aside(&path, &watch, MOST_COPIED)?;
            notes.push(rolled_back(&name));
            Ok(OpenedDatabase {
                conn,
                notes,
                aside: Some(aside),
                watch,
            })
        }
        Err(error) => Err(error.into()),
    }
}

fn rolled_back(name: &str) -> Issue {
    Issue::warning(
        "hot-journal",
        format!("the last writer of {name} stopped in the middle of a change, and the unfinished change is left out"),
    )
    .at_file(name)
    .hint(
        "The unfinished change was undone in a temporary copy. The database itself was not modified; its next writer will undo the change there.",
    )
}

/// Returns the names of files that SQLite would open together with a database although they are not plain files:
/// reading a pipe never ends, and a link may lead to another folder.
fn no_files(path: &Path) -> Vec<&'static str> {
    PARTS
        .iter()
        .skip(1)
        .map(|(_, end)| *end)
        .filter(|end| fs::symlink_metadata(beside(path, end)).is_ok_and(|meta| !meta.is_file()))
        .collect()
}

fn not_read(name: &str, ends: &[&str]) -> Issue {
    let names: Vec<String> = ends.iter().map(|end| format!("{name}{end}")).collect();
    Issue::warning(
        "beside-no-file",
        format!(
            "entries beside {name} are not files and are not read: {}",
            names.join(", ")
        ),
    )
    .at_file(name)
    .hint(
        "Links, pipes and devices are never followed; rows that the writer kept there are missing.",
    )
}

fn header(path: &Path) -> Result<Header, DatabaseError> {
    let mut head = Vec::with_capacity(sqlite::HEAD);
    let file = File::open(path)?;
    let len = file.metadata()?.len();
    file.take(sqlite::HEAD as u64).read_to_end(&mut head)?;
    Ok(Header::read(&head, len)?)
}

/// Refuses a truncated database. In the middle of a change, a database may seem truncated: then either a journal
/// exists, or a later read finds the missing pages.
fn whole(path: &Path, first: &Header) -> Result<(), DatabaseError> {
    let mut found = first.whole();
    for _ in 0..3 {
        if found.is_ok()
            || DatabaseWatch::new(path)
                .len(DatabaseFile::Journal)
                .is_some_and(|n| n > 0)
        {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
        found = header(path)?.whole();
    }
    Ok(found?)
}

/// Opens the database and reads the first page, so that an error appears here rather than later.
fn connect(path: &Path, how: OpeningMode) -> Result<Connection, DecodeError> {
    let parameters = match how {
        OpeningMode::SharedMemory => "mode=ro&readonly_shm=1",
        OpeningMode::Immutable => "mode=ro&immutable=1",
        OpeningMode::Alone | OpeningMode::Plain => "mode=ro",
    };
    let system = match (vfs::are_registered(), how == OpeningMode::Alone) {
        (true, true) => format!("&vfs={}", vfs::UNLOCKED),
        (true, false) => format!("&vfs={}", vfs::LOCKED),
        (false, true) if cfg!(unix) => "&vfs=unix-none".to_owned(),
        (false, true) => "&vfs=win32-none".to_owned(),
        (false, false) => String::new(),
    };
    let conn = Connection::open_with_flags(
        uri(path, &format!("{parameters}{system}")),
        OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    conn.busy_timeout(PATIENCE)?;
    if how == OpeningMode::Alone {
        sqlite::exclusive(&conn)?;
    }
    sqlite::probe(&conn)?;
    Ok(conn)
}

/// How long a reader waits for a writer that is in the middle of its commit.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns a `file:` URI for SQLite, with every special character escaped, in particular `% ? #`.
fn uri(path: &Path, parameters: &str) -> String {
    let mut uri = String::from("file://");
    if !cfg!(unix) {
        uri.push('/');
    }
    for byte in bytes_of(path) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(byte));
            }
            b'\\' if !cfg!(unix) => uri.push('/'),
            b':' if !cfg!(unix) => uri.push(':'),
            other => uri.push_str(&format!("%{other:02x}")),
        }
    }
    format!("{uri}?{parameters}")
}

#[cfg(unix)]
fn bytes_of(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(not(unix))]
fn bytes_of(path: &Path) -> Vec<u8> {
    let text = path.to_string_lossy();
    // Removes the prefix `\\?\` that `canonicalize` adds on Windows, because a URI does not allow it.
    text.strip_prefix(r"\\?\")
        .unwrap_or(&text)
        .as_bytes()
        .to_vec()
}

/// The largest number of bytes that are copied to undo an interrupted change.
const MOST_COPIED: u64 = 1 << 30;

fn megabytes(bytes: u64) -> u64 {
    bytes.div_ceil(1_000_000)
}

/// Copies a database and its hot journal to a temporary folder and lets SQLite undo the change there. Copies at most
/// `most` bytes, not counting holes.
fn roll_back_aside(
    path: &Path,
    watch: &DatabaseWatch,
    most: u64,
) -> Result<(Connection, Aside), DatabaseError> {
    let aside = Aside::new().map_err(DatabaseError::Copy)?;
    let mut before = watch.clone();
    for n in 0..3 {
        let copy = aside.path().join(format!("copy-{n}.db"));
        let mut files = Vec::new();
        let mut data = 0;
        for end in ["", "-journal"] {
            match File::open(beside(path, end)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(DatabaseError::Copy(error)),
                Ok(file) => {
                    data += sparse::data(&file.metadata().map_err(DatabaseError::Copy)?);
                    files.push((file, beside(&copy, end)));
                }
            }
        }
        let large = |data| DatabaseError::Large {
            data,
            most: megabytes(most),
        };
        if data > most {
            return Err(large(data));
        }
        if let Some(free) = sparse::free(aside.path()).filter(|free| *free < data) {
            let aside = std::env::temp_dir();
            return Err(DatabaseError::Full { data, free, aside });
        }
        for (mut file, to) in files {
            sparse::copy(&mut file, &to, most).map_err(|error| match error.kind() {
                io::ErrorKind::FileTooLarge => large(data.max(most + 1)),
                _ => DatabaseError::Copy(error),
            })?;
        }
        let after = DatabaseWatch::new(path);
        if after.seen == before.seen {
            {
                let writer = Connection::open_with_flags(
                    uri(&copy, "mode=rw"),
                    OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI,
                )
                .map_err(DecodeError::from)?;
                sqlite::probe(&writer)?;
            }
            self::header(&copy)?.whole()?;
            return Ok((connect(&copy, OpeningMode::Plain)?, aside));
        }
        // Removes the failed copy, which frees the space for the next attempt.
        let _ = fs::remove_file(&copy);
        let _ = fs::remove_file(beside(&copy, "-journal"));
        before = after;
    }
    Err(DatabaseError::Busy)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// A file that belongs to a database, including the database itself.
#[derive(Debug, Clone, Copy)]
enum DatabaseFile {
    Database,
    Wal,
    Shm,
    Journal,
}

const PARTS: [(DatabaseFile, &str); 4] = [
    (DatabaseFile::Database, ""),
    (DatabaseFile::Wal, "-wal"),
    (DatabaseFile::Shm, "-shm"),
    (DatabaseFile::Journal, "-journal"),
];

/// The length and time of each database file at opening, in the order of [`PARTS`].
#[derive(Debug, Clone)]
pub(crate) struct DatabaseWatch {
    path: PathBuf,
    seen: [Option<(u64, Option<SystemTime>)>; 4],
    /// Whether the reader takes no locks, so that a concurrent write goes unnoticed and the result may mix two
    /// states.
    lockless: bool,
}

impl DatabaseWatch {
    fn new(path: &Path) -> DatabaseWatch {
        let seen = PARTS.map(|(_, end)| {
            let meta = fs::metadata(beside(path, end)).ok()?;
            Some((meta.len(), meta.modified().ok()))
        });
        DatabaseWatch {
            path: path.to_owned(),
            seen,
            lockless: false,
        }
    }

    fn of(mut self, how: OpeningMode) -> DatabaseWatch {
        self.lockless = matches!(how, OpeningMode::Alone | OpeningMode::Immutable);
        self
    }

    fn len(&self, part: DatabaseFile) -> Option<u64> {
        self.seen
            .get(part as usize)
            .copied()
            .flatten()
            .map(|(len, _)| len)
    }

    fn exists(&self, part: DatabaseFile) -> bool {
        self.len(part).is_some()
    }

    /// Returns an issue if a database that was read without locks has changed. Called after reading.
    pub(crate) fn changed(&self) -> Option<Issue> {
        if !self.lockless || DatabaseWatch::new(&self.path).seen == self.seen {
            return None;
        }
        let name = self
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Some(
            Issue::error(
                "changed-while-reading",
                format!("{name} changed while it was read: the result may be wrong"),
            )
            .at_file(name)
            .hint("Open the database again."),
        )
    }
}

#[cfg(test)]
mod tests {
    use prosescope_core::model::database::Database as _;
    use prosescope_core::read::sqlite::{Guard, Sqlite};

    use super::*;

    /// Creates a database whose writer was killed; returns the folder and the path of the database.
    fn with_hot_journal() -> (tempfile::TempDir, PathBuf) {
        let (live, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (from, to) = (live.path().join("state.db"), dir.path().join("state.db"));
        let conn = Connection::open(&from).unwrap();
        conn.execute_batch(
            "PRAGMA cache_size=2; PRAGMA cache_spill=1; CREATE TABLE t (a); INSERT INTO t VALUES ('before');
             BEGIN IMMEDIATE; UPDATE t SET a = 'after';",
        )
        .unwrap();
        for _ in 0..50 {
            conn.execute_batch("INSERT INTO t VALUES (hex(randomblob(3000)))")
                .unwrap();
        }
        for end in ["", "-journal"] {
            fs::copy(beside(&from, end), beside(&to, end)).unwrap();
        }
        (dir, to)
    }

    #[test]
    fn an_opened_database_holds_no_lock_between_two_reads() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.db");
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("CREATE TABLE t (a)").unwrap();
        let opened = open(&path).map_err(|error| error.to_string()).unwrap();
        let reader = Sqlite::new(opened.conn, Guard::default()).unwrap();
        writer.busy_timeout(Duration::ZERO).unwrap();
        writer.execute_batch("INSERT INTO t VALUES (1)").unwrap();
        assert_eq!(reader.tables().unwrap().len(), 1);
        writer.execute_batch("INSERT INTO t VALUES (2)").unwrap();
    }

    #[test]
    fn a_sparse_database_is_undone_in_a_copy_without_its_holes() {
        let (_dir, path) = with_hot_journal();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(3 << 30).unwrap();
        // The limit is far below the file's length, but above its data.
        let undone = roll_back_aside(&path, &DatabaseWatch::new(&path), 2 << 20);
        let (conn, _aside) = undone.map_err(|error| error.to_string()).unwrap();
        let said: String = conn
            .query_row("SELECT group_concat(a) FROM t", [], |row| row.get(0))
            .unwrap();
        assert_eq!(said, "before");
    }

    #[test]
    fn what_is_too_large_to_be_copied_is_said_with_its_size() {
        let (_dir, path) = with_hot_journal();
        let refused = roll_back_aside(&path, &DatabaseWatch::new(&path), 1000);
        let error = refused.err().unwrap();
        let said = error.to_string();
        assert!(
            said.contains("needs a copy of 1 MB, and at most 1 MB are copied"),
            "{said}"
        );
        assert!(
            error
                .next()
                .contains("undoes the unfinished change in place")
        );
    }
}
