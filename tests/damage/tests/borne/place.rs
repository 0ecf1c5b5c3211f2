//! Writes a case to disk, as far as the file system allows.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::Command;

use prosescope_damage::{Case, Entry, What};

/// Writes a case into a folder; returns whether all of it was written.
pub(crate) fn write(case: &Case, folder: &Path) -> bool {
    let written = case
        .entries
        .iter()
        .map(|entry| is_plain(&entry.path) && write_entry(entry, folder).is_ok());
    // `&` instead of `&&` evaluates every item, so all entries are tried.
    written.fold(true, |all, one| all & one)
}

/// Returns whether a path stays below the folder into which it is written.
fn is_plain(path: &str) -> bool {
    let part = |part: &str| !matches!(part, "" | "." | "..") && part.len() < 250;
    path.len() < 3_000 && !path.contains('\0') && path.split('/').all(part)
}

fn write_entry(entry: &Entry, folder: &Path) -> io::Result<()> {
    let path = folder.join(&entry.path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match &entry.what {
        What::File(bytes) => fs::write(&path, bytes),
        What::Hole(len) => File::create(&path)?.set_len(*len),
        What::Folder => fs::create_dir(&path),
        other => special(other, &path),
    }
}

#[cfg(unix)]
fn special(what: &What, path: &Path) -> io::Result<()> {
    match what {
        What::Link(target) => std::os::unix::fs::symlink(target, path),
        What::Socket => std::os::unix::net::UnixListener::bind(path).map(drop),
        What::Pipe => {
            let made = Command::new("mkfifo").arg(path).status()?;
            if made.success() {
                Ok(())
            } else {
                Err(io::ErrorKind::Unsupported.into())
            }
        }
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn special(_: &What, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
