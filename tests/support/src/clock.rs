//! Commands that record take the system's clock alone, so a test that records at another time runs them under Debian's
//! `faketime`.

use std::ffi::OsString;
use std::path::PathBuf;

/// The variables that have a command run as if it were this time (`2026-01-15T14:30:52Z`, or with a blank): its clock stands
/// still there. The test asks [`crate::needs::faketime`] first.
///
/// # Panics
/// When faketime is missing.
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
        // What waits goes on waiting, and files keep their times.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
        ("NO_FAKE_STAT", "1".into()),
        // A process that is killed would leave its shared memory behind.
        ("FAKETIME_DISABLE_SHM", "1".into()),
        ("PROSE_NOW", OsString::new()),
    ]
}

/// The library that moves the clock of a process.
pub(crate) fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten();
    let folders = folders.map(|folder| folder.path());
    let mut libraries = folders.map(|folder| folder.join("faketime/libfaketime.so.1"));
    libraries.find(|library| library.is_file())
}
