//! Temporary folders that only this user can open. What a killed command left is removed by the next one.
//!
//! ```text
//! TMPDIR/prosescope-1000/     of one user, mode 0700
//! └── .tmpa1B2c3/             of one command, locked while the command lives
//! ```
//!
//! What is read once has no name at all (`tempfile::tempfile`). A database needs a name: SQLite follows
//! `/proc/self/fd/N` to the name of the deleted file, and would create that file and its journal.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use cap_std::fs::MetadataExt;
use rustix::process::geteuid;
use tempfile::TempDir;

use crate::dir::Dir;

/// A temporary folder. Dropping it removes it; if the process is killed, the next command does.
#[derive(Debug)]
pub struct Aside {
    dir: TempDir,
    /// The lock on the folder, which the system releases when the process ends.
    _lock: File,
}

impl Aside {
    /// Creates a folder.
    ///
    /// # Errors
    /// If it cannot be created, or the folder above it belongs to another user.
    pub fn new() -> io::Result<Aside> {
        // Another command may remove the folder before it is locked, or the empty folder above it.
        let made = (0..9).find_map(|_| Aside::once().ok());
        made.map_or_else(Aside::once, Ok)
    }

    /// Returns the folder's path.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    fn once() -> io::Result<Aside> {
        match fs::DirBuilder::new().mode(0o700).create(above()) {
            Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => return Err(cause),
            _ => {}
        }
        let dir = TempDir::new_in(all()?.path())?;
        let lock = File::open(dir.path())?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            _ => fs::metadata(dir.path()).map(|_| Aside { dir, _lock: lock }),
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.path());
        let _ = self.path().parent().map(fs::remove_dir);
    }
}

/// Removes the folders of commands that were killed.
pub fn sweep_asides() {
    let Ok(all) = all() else { return };
    for (name, _) in all.names("").unwrap_or_default() {
        if let Ok(Some(dir)) = all.dir(&name)
            && let Ok(lock) = dir.itself()
            && lock.try_lock().is_ok()
        {
            let _ = all.remove_tree(&name);
        }
    }
    let _ = fs::remove_dir(all.path());
}

/// Returns the path of the folder with the temporary folders of this user.
fn above() -> PathBuf {
    tempfile::env::temp_dir().join(format!("prosescope-{}", geteuid().as_raw()))
}

/// Opens that folder, and closes it to other users: a command whose folder disappeared may have created both anew.
///
/// # Errors
/// If the folder does not exist, or belongs to another user, who could replace what lies in it.
fn all() -> io::Result<Dir> {
    let all = Dir::open_own(&above())?;
    let meta = all.metadata()?;
    if meta.uid() != geteuid().as_raw() {
        let message = format!("{} belongs to another user", all.path().display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    if meta.mode() & 0o077 != 0 {
        all.itself()?
            .set_permissions(fs::Permissions::from_mode(0o700))?;
    }
    Ok(all)
}
