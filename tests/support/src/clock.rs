//! Runs commands at a chosen time. Recording commands use only the system's clock, so tests change the clock with
//! Debian's `faketime`.

use std::ffi::OsString;
use std::path::PathBuf;

/// Returns the environment variables that run a command with its clock stopped at this time: `2026-01-15T14:30:52Z`,
/// `2026-01-15 14:30:52` or `2026-01-15`. The test must call [`crate::needs::faketime`] first.
///
/// # Panics
/// If faketime is missing.
pub fn at(time: &str) -> [(&'static str, OsString); 7] {
    let library = library().expect("the test asks for faketime first");
    let time = time.trim_end_matches('Z').replace('T', " ");
    let time = match time.len() {
        10 => format!("{time} 00:00:00"),
        _ => time,
    };
    [
        ("LD_PRELOAD", library.into()),
        ("FAKETIME", time.into()),
        ("TZ", "UTC".into()),
        // Timeouts still use the real monotonic clock, and the dates of files are not changed.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
        ("NO_FAKE_STAT", "1".into()),
        // Without shared memory, a killed process leaves nothing of faketime behind.
        ("FAKETIME_DISABLE_SHM", "1".into()),
        ("PROSE_NOW", OsString::new()),
    ]
}

/// Returns the path of faketime's library, which changes the clock of a process.
pub(crate) fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten();
    let folders = folders.map(|folder| folder.path());
    let mut libraries = folders.map(|folder| folder.join("faketime/libfaketime.so.1"));
    libraries.find(|library| library.is_file())
}
