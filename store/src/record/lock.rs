use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use prosescope_core::record::{Fault, FaultKind};

use super::fault;
use crate::dir::Dir;

/// The name of the lock file, in the run's folder. The file is never removed: otherwise two writers could hold locks on
/// two different files.
pub(crate) const LOCK: &str = ".lock";

/// How long a writer waits for other writers of the run.
const PATIENCE: Duration = Duration::from_secs(60);

/// A lock on a run: the exclusive right to write to it, or the right to read it while no command records. Dropping this
/// value releases the lock; if the process dies, the system releases it.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

/// Waits for the exclusive right to write to the run in `dir`.
pub(crate) fn lock(dir: &Dir) -> Result<RunLock, Fault> {
    wait(dir, open(dir)?, try_lock)
}

/// Keeps commands from recording into the run in `dir` while the returned value exists, so that a reader finds all of
/// its files in one state. Waits for a command that records now. Returns `None` if the run has no lock file, or the file
/// cannot be locked.
///
/// # Errors
/// If a command records for too long.
pub fn hold(dir: &Path) -> Result<Option<RunLock>, Fault> {
    let held = Dir::open(dir).and_then(|dir| Ok((dir.file(LOCK)?, dir)));
    let Ok((Some(file), dir)) = held else {
        return Ok(None);
    };
    match wait(&dir, file, File::try_lock_shared) {
        Err(fault) if fault.kind != FaultKind::Busy => Ok(None),
        held => held.map(Some),
    }
}

fn wait(
    dir: &Dir,
    file: File,
    attempt: impl Fn(&File) -> Result<(), TryLockError>,
) -> Result<RunLock, Fault> {
    let path = dir.shown(LOCK);
    let begun = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        match attempt(&file) {
            Ok(()) => return Ok(RunLock { _file: file }),
            // On a file system without locks, SQLite's own locking or the order of renames must suffice.
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
                        "{} has been locked by another `prosescope` for more than {} s",
                        path.display(),
                        PATIENCE.as_secs()
                    ),
                )
                .hint("look for a `prosescope` that hangs, and try again"));
            }
            Err(TryLockError::WouldBlock) => {
                sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(5));
            }
        }
    }
}

#[cfg(test)]
thread_local! {
    /// Whether locks of this thread exclude no other writer, as on some network file systems.
    pub(super) static EXCLUDES_NONE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

fn try_lock(file: &File) -> Result<(), TryLockError> {
    #[cfg(test)]
    if EXCLUDES_NONE.get() {
        return Ok(());
    }
    file.try_lock()
}

/// Opens the lock file, and creates it if it is missing. Refuses a link, which may lead out of the run, and a pipe,
/// which would block.
fn open(dir: &Dir) -> Result<File, Fault> {
    let path = dir.shown(LOCK);
    let wrong = |cause: io::Error| fault::io(&path, "cannot be locked", &cause);
    // Tries twice, because another writer may create the file between the two calls.
    for _ in 0..2 {
        if let Some(file) = dir.writable(LOCK).map_err(wrong)? {
            return Ok(file);
        }
        match dir.create(LOCK) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map_err(wrong),
        }
    }
    let message = format!(
        "{} is not a plain file, so it cannot be locked",
        path.display()
    );
    Err(Fault::new(FaultKind::Damaged, message)
        .hint("remove this entry: the next command that records creates the lock file again"))
}
