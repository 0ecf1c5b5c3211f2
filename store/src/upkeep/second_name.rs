//! Finds the programs called `prose`, the second name of `prosescope`, in PATH, and determines which of them are
//! Prosescope.
//!
//! A program called `prose` is never run for this: another tool of that name passes unknown commands to a paid model.
//! The program's file is read instead. `cargo xtask install` compiles this source file too, so this file uses the
//! standard library alone.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The names under which a shell finds a program called `prose`.
#[cfg(not(windows))]
const NAMES: &[&str] = &["prose"];
#[cfg(windows)]
const NAMES: &[&str] = &["prose.com", "prose.exe", "prose.bat", "prose.cmd"];

/// The bytes by which a program is recognised as Prosescope. Every version since the one that added this source file
/// contains them.
const MARK: &[u8] =
    b"prosescope: inspects and records runs of OpenProse programs; it calls no model\x1e";
const MARK_END: u8 = b'\x1e';

/// Number of bytes that are read from a file at a time.
const PIECE: u64 = 1 << 16;
const MOST: u64 = 1 << 30;

/// Returns the programs called `prose` in these folders, in the order of the folders. Each has a flag that is true for
/// Prosescope, or the error of reading its file. A program that several folders lead to is listed once.
pub(crate) fn second_names(
    folders: impl IntoIterator<Item = PathBuf>,
) -> Vec<(PathBuf, io::Result<bool>)> {
    let mut seen = Vec::new();
    let paths = folders
        .into_iter()
        .flat_map(|folder| NAMES.iter().map(move |name| folder.join(name)));
    paths
        .filter(|path| is_program(path))
        .filter(|path| {
            let place = path.parent().and_then(|folder| folder.canonicalize().ok());
            let new = !seen.contains(&place);
            seen.push(place);
            new
        })
        .map(|path| {
            let ours = is_ours(&path);
            (path, ours)
        })
        .collect()
}

/// Returns whether a program is Prosescope, by the mark in its file.
pub(crate) fn is_ours(program: &Path) -> io::Result<bool> {
    has_mark(BufReader::new(File::open(program)?.take(MOST)))
}

fn has_mark(mut file: impl BufRead) -> io::Result<bool> {
    // The optimizer may split a constant that is only compared, and then the program would not contain the mark.
    let mark = std::hint::black_box(MARK);
    let mut read = Vec::new();
    loop {
        // Keeps the end of the last piece, because the mark may begin in it.
        read.drain(..read.len().saturating_sub(mark.len()));
        if file.by_ref().take(PIECE).read_until(MARK_END, &mut read)? == 0 {
            return Ok(false);
        }
        if read.ends_with(mark) {
            return Ok(true);
        }
    }
}

/// Returns whether a shell would run this file; links are followed.
fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && is_executable(&meta))
}

#[cfg(unix)]
fn is_executable(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_found_wherever_it_lies() {
        let piece = usize::try_from(PIECE).unwrap();
        for before in [0, 1, piece - 1, piece - 20, piece, 3 * piece - MARK.len()] {
            for filler in [0, MARK_END, MARK[0]] {
                let mut bytes = vec![filler; before];
                bytes.extend(MARK);
                bytes.extend(b"more");
                assert!(has_mark(&bytes[..]).unwrap(), "{before} times {filler}");
                bytes.truncate(before + MARK.len() - 1);
                assert!(!has_mark(&bytes[..]).unwrap(), "{before} times {filler}");
            }
        }
    }
}
