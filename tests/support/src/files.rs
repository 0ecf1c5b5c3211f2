//! Reads and copies all files of a folder, for tests.

use std::fs;
use std::path::Path;

/// Copies a folder with its content.
///
/// # Panics
/// If something cannot be read or written.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            let _ = fs::copy(entry.path(), to).expect("copied");
        }
    }
}

/// Returns all readable files below a folder: their relative paths, with `/` as the separator, and their bytes.
pub fn below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    collect(folder, "", &mut found);
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        } else if let Ok(bytes) = fs::read(entry.path()) {
            found.push((name, bytes));
        }
    }
}
