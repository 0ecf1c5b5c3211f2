//! Reads the parts of a shared file, for the tests of several commands.

use std::fs;
use std::path::Path;

use prosescope_share::archive::Archive;

/// Returns every part of a zip with its path.
pub(crate) fn parts(zip: &Path) -> Vec<(String, Vec<u8>)> {
    let bytes = fs::read(zip).expect("read");
    let len = bytes.len() as u64;
    let zip = Archive::open(bytes, len, 1 << 30).expect("a zip");
    let paths = zip.entries().iter().map(|entry| entry.path.clone());
    let whole = |path: &str| zip.whole(path).expect("read").expect("there");
    paths.map(|path| (path.clone(), whole(&path))).collect()
}
