//! Notices that a lock did not keep out another writer, as on some network file systems, where `flock` succeeds for all.
//!
//! A writer that got the lock writes a unique text into the lock file, and looks at the text before and after each
//! change of the run. Another text there means that another writer began in between.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use prosescope_core::record::{Fault, FaultKind};

use super::lock::LOCK;
use crate::dir::Dir;

/// What a user can do about a lock that keeps out no other writer.
const NEXT: &str = "and let only one command record into this run at a time, or record where locks work: in a local folder, or with `--state sqlite`";

/// The turn of one writer.
#[derive(Debug)]
pub(crate) struct Turn {
    text: String,
    /// Whether another writer began while this one made a change.
    overlapped: AtomicBool,
}

impl Turn {
    /// Begins the turn of a writer that holds the lock of `dir`.
    pub(super) fn begin(dir: &Dir) -> Turn {
        let turn = Turn {
            text: unique(),
            overlapped: AtomicBool::new(false),
        };
        turn.claim(dir);
        turn
    }

    /// Writes the turn's text into the lock file. If that fails, as on Windows, where a lock also keeps out its owner's
    /// other handles, no writer finds a text there.
    fn claim(&self, dir: &Dir) {
        if let Ok(Some(mut file)) = dir.writable(LOCK) {
            // Network file systems send the bytes of a file when it is closed, which happens here.
            let _ = file.write_all(self.text.as_bytes());
        }
    }

    /// Returns whether the lock file contains no other text. It is opened anew, because network file systems ask for
    /// the bytes of other machines when a file is opened.
    fn is_on(&self, dir: &Dir) -> bool {
        let found = dir.read_small(LOCK, 1 << 10).ok().flatten();
        found.is_none_or(|bytes| bytes.is_empty() || bytes == self.text.as_bytes())
    }

    /// Returns whether no other writer began since this one did.
    pub(crate) fn was_alone(&self, dir: &Dir) -> bool {
        !self.overlapped.load(Ordering::Relaxed) && self.is_on(dir)
    }

    /// Calls `act`, which changes the run, unless another writer has begun.
    pub(crate) fn during<T>(
        &self,
        dir: &Dir,
        act: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        if !self.is_on(dir) {
            return Err(io::Error::other("another command records at the same time"));
        }
        let done = act()?;
        if !self.is_on(dir) {
            // The other writer may have read the run before this change. It finds this text, and starts over.
            self.claim(dir);
            self.overlapped.store(true, Ordering::Relaxed);
        }
        Ok(done)
    }

    /// Returns the fault for a change during which another writer began, if there was one.
    pub(super) fn overlap(&self, dir: &Dir) -> Option<Fault> {
        let what = "was written to by another command at the same time, whose record may be lost";
        let next = "compare the run with what the other command printed";
        let overlapped = self.overlapped.load(Ordering::Relaxed);
        overlapped.then(|| shared(dir, what, next))
    }
}

/// Returns the fault of a directory whose lock keeps out no other writer.
pub(super) fn shared(dir: &Dir, what: &str, next: &str) -> Fault {
    let dir = dir.path().display();
    let message =
        format!("{dir} {what}: its file system grants a lock (`flock`) to several writers");
    Fault::new(FaultKind::Busy, message).hint(format!("{next}, {NEXT}"))
}

/// Returns a random text, so that no two commands have the same, on one machine or several.
pub(crate) fn unique() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_turn_ends_when_another_begins() {
        let aside = tempfile::tempdir().unwrap();
        fs::write(aside.path().join(LOCK), "").unwrap();
        let dir = Dir::open(aside.path()).unwrap();
        let first = Turn::begin(&dir);
        first.during(&dir, || Ok(())).unwrap();
        let second = Turn::begin(&dir);
        let refused = first.during::<()>(&dir, || panic!("it was changed"));
        assert!(refused.is_err());
        assert!(first.overlap(&dir).is_none() && second.was_alone(&dir));
        let third = second.during(&dir, || Ok(Turn::begin(&dir))).unwrap();
        assert!(second.overlap(&dir).is_some() && !second.was_alone(&dir));
        // The third read the run before the second had changed it.
        assert!(third.during(&dir, || Ok(())).is_err());
    }
}
