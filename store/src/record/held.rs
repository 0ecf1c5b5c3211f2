//! Opens SQLite on files of a directory that is held open.
//!
//! SQLite opens a database, and later its journal, by path. On Linux, SQLite gets the system's name of the directory's
//! descriptor (`/proc/self/fd/N`), which leads to the directory even after a rename. SQLite would resolve that name to
//! the real path, so Prosescope registers a file system layer (`vfs.rs`) that keeps every name unchanged.

use cap_fs_ext::MetadataExt;
use prosescope_core::record::{Fault, FaultKind};
use rusqlite::{Connection, OpenFlags};

use super::fault;
use crate::dir::Dir;
#[cfg(target_os = "linux")]
use crate::vfs;

/// Opens a database in `dir`, which must stay open as long as the connection. Does not follow a link.
pub(super) fn open(dir: &Dir, name: &str, flags: OpenFlags) -> Result<Connection, Fault> {
    let path = dir.shown(name);
    let wrong = |error| fault::sqlite(&path, &error);
    plain(dir, name)?;
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    #[cfg(target_os = "linux")]
    if let Some(held) = beneath(dir) {
        let opened = Connection::open_with_flags_and_vfs(held.join(name), flags, vfs::HELD);
        return opened.map_err(|error| match error {
            // SQLite's message is dropped: it contains the path of a descriptor, which does not help the user.
            rusqlite::Error::SqliteFailure(code, _) => {
                wrong(rusqlite::Error::SqliteFailure(code, None))
            }
            other => wrong(other),
        });
    }
    let conn = Connection::open_with_flags(&path, flags).map_err(wrong)?;
    stays(dir, name)?;
    Ok(conn)
}

/// Refuses a database file, or a file that SQLite would open beside it, if it is not a plain file: opening a pipe never
/// ends, and no lock timeout applies to a pipe.
fn plain(dir: &Dir, name: &str) -> Result<(), Fault> {
    for end in ["", "-journal", "-wal", "-shm"] {
        let place = format!("{name}{end}");
        let path = dir.shown(&place);
        let found = dir.look(&place);
        let found = found.map_err(|cause| fault::io(&path, "cannot be opened", &cause))?;
        let what = match found {
            Some(meta) if meta.is_symlink() => "a link, which is not followed for writing",
            Some(meta) if meta.is_dir() => "a folder instead of a file: nothing was written",
            Some(meta) if !meta.is_file() => "a pipe, a socket or a device: nothing was written",
            _ => continue,
        };
        let next = match end {
            "" => "give the path of the database file itself",
            _ => "remove this entry if no writer of the database made it, and repeat the command",
        };
        let message = format!("{} is {what}", path.display());
        return Err(Fault::new(FaultKind::Io, message).hint(next));
    }
    Ok(())
}

/// Opens a database for reading without locks, even if its journal mode requires them.
pub(super) fn open_unlocked(dir: &Dir, name: &str) -> Result<Connection, Fault> {
    plain(dir, name)?;
    let path = dir.shown(name);
    #[cfg(target_os = "linux")]
    let path = beneath(dir).map_or(path, |held| held.join(name));
    let escaped: String = path
        .to_string_lossy()
        .chars()
        .map(|c| match c {
            '%' => "%25".to_owned(),
            '?' => "%3f".to_owned(),
            '#' => "%23".to_owned(),
            c => c.to_string(),
        })
        .collect();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let uri = format!("file:{escaped}?nolock=1");
    #[cfg(target_os = "linux")]
    if beneath(dir).is_some() {
        let opened = Connection::open_with_flags_and_vfs(uri, flags, vfs::HELD);
        return opened.map_err(|error| fault::sqlite(&dir.shown(name), &error));
    }
    Connection::open_with_flags(uri, flags).map_err(|error| fault::sqlite(&dir.shown(name), &error))
}

/// Checks that the path that SQLite opened still leads to the held directory. Called before a commit.
pub(super) fn stays(dir: &Dir, name: &str) -> Result<(), Fault> {
    #[cfg(target_os = "linux")]
    if beneath(dir).is_some() {
        return Ok(());
    }
    let file = |dir: &Dir| {
        let meta = dir.look(name).ok()??;
        Some((meta.dev(), meta.ino()))
    };
    let by_path = Dir::open_own(dir.path()).ok();
    if file(dir).is_some() && by_path.and_then(|now| file(&now)) == file(dir) {
        return Ok(());
    }
    let message = format!(
        "{} was moved while it was open: nothing was written",
        dir.shown(name).display()
    );
    Err(Fault::new(FaultKind::Busy, message)
        .hint("find out which program moved the database or its folder, and try again"))
}

/// Returns a path for the directory by its descriptor, if the system has one and accepts it.
#[cfg(target_os = "linux")]
fn beneath(dir: &Dir) -> Option<std::path::PathBuf> {
    let held = dir.held_path();
    (held.is_dir() && vfs::are_registered()).then_some(held)
}
