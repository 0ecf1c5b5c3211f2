//! Unique texts, for names and for the lock file.

use std::hash::{BuildHasher, RandomState};

/// Returns a text that no other call returns, in this process or another, on this machine or another.
pub(crate) fn unique() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}
