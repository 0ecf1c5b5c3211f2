use std::fs::{File, OpenOptions, TryLockError};
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
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|cause| fault::io(&path, "cannot be locked", &cause))?;
    let begun = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(RunLock { _file: file }),
            // A file system without locks: SQLite's own, or the order of renames, must do.
            Err(TryLockError::Error(cause)) if cause.kind() == std::io::ErrorKind::Unsupported => {
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
