use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use prosescope_core::write::{Fault, FaultKind};

use super::fault;

/// The name of the lock file, in the run's folder. It stays: removing it would let two writers hold two of them.
pub(crate) const LOCK: &str = ".lock";

/// How long to wait for the other writers.
const PATIENCE: Duration = Duration::from_secs(60);

/// The right to write to a run, until it is dropped; the system takes it back from a process that dies.
#[derive(Debug)]
pub(crate) struct RunLock {
    _file: File,
}

/// Waits for the right to write to the run in `dir`.
pub(crate) fn lock(dir: &Path) -> Result<RunLock, Fault> {
    let path = dir.join(LOCK);
    let file = open(&path)?;
    let begun = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(RunLock { _file: file }),
            // A file system without locks: SQLite's own, or the order of renames, must do.
            Err(TryLockError::Error(cause)) if cause.kind() == io::ErrorKind::Unsupported => {
                return Ok(RunLock { _file: file });
            }
            Err(TryLockError::Error(cause)) => {
                return Err(fault::io(&path, "cannot be locked", &cause));
            }
            Err(TryLockError::WouldBlock) if begun.elapsed() > PATIENCE => {
                return Err(Fault::new(
                    FaultKind::Busy,
                    format!(
                        "{} is held by another `prose` for more than {} s",
                        path.display(),
                        PATIENCE.as_secs()
                    ),
                )
                .hint("look for a `prose` that hangs, and try again"));
            }
            Err(TryLockError::WouldBlock) => {
                sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(5));
            }
        }
    }
}

/// Opens the lock file, and makes it where there is none. A link may lead out of the run, and a pipe waits for ever.
fn open(path: &Path) -> Result<File, Fault> {
    let odd = || {
        let message = format!("{} is no plain file, and cannot be locked", path.display());
        Fault::new(FaultKind::Damaged, message).hint("remove it: the next writer makes it anew")
    };
    if fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(odd());
    }
    let mut how = OpenOptions::new();
    how.create(true).truncate(false).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // What comes into its place meanwhile is not followed, nor waited for.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        how.custom_flags(flags.bits().cast_signed());
    }
    let wrong = |cause: io::Error| fault::io(path, "cannot be locked", &cause);
    let file = how.open(path).map_err(wrong)?;
    if file.metadata().map_err(wrong)?.is_file() {
        Ok(file)
    } else {
        Err(odd())
    }
}
