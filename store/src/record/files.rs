//! Writes the files of a run, each file completely or not at all.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use prosescope_core::record::{AttachmentFile, Fault, FaultKind, ValueBytes};

use super::fault;
use super::lock::RunLock;
use super::turn::unique;
use crate::dir::{Dir, write_new};

/// Attachments of a transaction. They are written first, and removed again unless the transaction commits (errata
/// B8).
pub(crate) struct Attachments<'a> {
    dir: &'a Dir,
    /// The file with the bytes of an attachment that is too long for memory.
    staged: Option<&'a File>,
    made: Vec<String>,
}

impl<'a> Attachments<'a> {
    pub(crate) fn new(dir: &'a Dir, staged: Option<&'a File>, _held: &RunLock) -> Attachments<'a> {
        Attachments {
            dir,
            staged,
            made: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, file: &AttachmentFile) -> Result<(), Fault> {
        let path = file.path.as_str();
        self.write(path, &file.content)
            .map_err(|cause| fault::io(&self.dir.shown(path), "cannot be written", &cause))
    }

    fn write(&mut self, path: &str, content: &ValueBytes) -> io::Result<()> {
        let (folder, _) = path.rsplit_once('/').unwrap_or_default();
        let folder = self.dir.make_dir(folder)?;
        if self.made.is_empty() {
            sweep_below(&folder)?;
        }
        let aside = match content {
            ValueBytes::Held(bytes) => aside(self.dir, "attachment", bytes)?,
            ValueBytes::Staged(staged) => self.copy(staged.len)?,
        };
        if let Err(cause) = place_new(self.dir, &aside, path) {
            let _ = self.dir.remove(&aside);
            return Err(cause);
        }
        self.made.push(path.to_owned());
        folder.sync()
    }

    /// Copies the staged bytes to a temporary file; returns its name.
    fn copy(&self, len: u64) -> io::Result<String> {
        let mut from = self.staged.ok_or(io::ErrorKind::NotFound)?;
        from.rewind()?;
        let name = fresh_name("attachment");
        if write_new(self.dir, &name, &mut from.take(len))? != len {
            self.dir.remove(&name)?;
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(name)
    }

    pub(crate) fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for Attachments<'_> {
    fn drop(&mut self) {
        for path in &self.made {
            let _ = self.dir.remove(path);
        }
    }
}

/// Renames the temporary file `aside` to `path`; fails if `path` exists.
fn place_new(root: &Dir, aside: &str, path: &str) -> io::Result<()> {
    match root.link(aside, path) {
        Ok(()) => root.remove(aside),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // The file system does not support hard links, so the file is renamed instead.
        Err(_) => match root.look(path)? {
            None => root.rename(aside, path),
            Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
        },
    }
}

/// The kinds of files that are written under a temporary name and then renamed.
const SLOTS: [&str; 4] = ["file", "state.md", "checkpoint", "attachment"];

/// Removes temporary files that a killed writer left. Earlier versions of Prosescope used one name per kind, such as
/// `.tmp-file`.
pub(crate) fn sweep(root: &Dir, _held: &RunLock) {
    for (name, _) in root.names("").unwrap_or_default() {
        let kind = name.strip_prefix(".tmp-").unwrap_or_default();
        if SLOTS.contains(&kind.split_once('-').map_or(kind, |(kind, _)| kind)) {
            // A file that cannot be removed harms no command: each one takes a new name.
            let _ = root.change(|| root.remove(&name));
        }
    }
}

/// Removes temporary files that an earlier version of Prosescope left, such as `.new-x7Gh2`.
fn sweep_below(folder: &Dir) -> io::Result<()> {
    for (name, _) in folder.names("")? {
        if name.starts_with(".new-") {
            folder.remove(&name)?;
        }
    }
    Ok(())
}

/// Writes a file directly in the run, under a temporary name that readers ignore. The file is durable on return.
pub(crate) fn aside(root: &Dir, slot: &str, mut bytes: &[u8]) -> io::Result<String> {
    let name = fresh_name(slot);
    write_new(root, &name, &mut bytes)?;
    Ok(name)
}

/// Returns a temporary name that no other command uses: some network file systems grant a lock to several writers, and
/// with one name, each would rename what the other one wrote.
pub(crate) fn fresh_name(slot: &str) -> String {
    format!(".tmp-{slot}-{}", unique())
}

/// The error of the last sync, if the change was made but may not survive a power failure.
pub(crate) type SyncFault = Option<io::Error>;

/// Returns a fault for a change that may not survive a power failure.
pub(crate) fn unsure(settled: SyncFault) -> Option<Fault> {
    let cause = settled?;
    let message = format!("the system did not confirm that the change is on disk: {cause}");
    Some(
        Fault::new(FaultKind::Io, message)
            .hint("check the disk: a power failure may undo the change"),
    )
}

/// Replaces a file atomically. An error means that the new file is not in place.
pub(crate) fn replace(root: &Dir, path: &str, bytes: &[u8]) -> io::Result<SyncFault> {
    let (folder, _) = path.rsplit_once('/').unwrap_or_default();
    root.make_dir(folder)?;
    place(root, &aside(root, "file", bytes)?, path)
}

/// Renames a temporary file to its final name.
pub(crate) fn place(root: &Dir, aside: &str, path: &str) -> io::Result<SyncFault> {
    if let Err(cause) = root.rename(aside, path) {
        let _ = root.remove(aside);
        return Err(cause);
    }
    Ok(root.sync_above(path).err())
}

/// Replaces a file atomically and durably.
pub(crate) fn put(root: &Dir, path: &str, bytes: &[u8]) -> io::Result<()> {
    replace(root, path, bytes)?.map_or(Ok(()), Err)
}

/// Appends to a log at position `at` durably; see [`extend`].
pub(crate) fn append(root: &Dir, path: &str, at: u64, bytes: &[u8]) -> io::Result<()> {
    extend(root, path, at, bytes)?.map_or(Ok(()), Err)
}

/// Appends to a log that has `at` bytes of complete lines, and removes a half-written line after them. An error means
/// that the complete lines are unchanged and nothing was added.
pub(crate) fn extend(root: &Dir, path: &str, at: u64, bytes: &[u8]) -> io::Result<SyncFault> {
    let (folder, _) = path.rsplit_once('/').unwrap_or_default();
    let folder = root.make_dir(folder)?;
    let (mut file, new) = match root.writable(path)? {
        Some(file) => (file, false),
        None if root.look(path)?.is_some() => {
            let message = "it is not a plain file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        None => (root.create(path)?, true),
    };
    let end = file.metadata()?.len();
    if end < at {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            format!("the file has {end} bytes, but had {at} bytes before"),
        ));
    }
    if end > at {
        let rest = root.read_part(path, at, end - at)?;
        // Only a half-written line is cut.
        if rest.contains(&b'\n') && !bytes.starts_with(&rest) {
            return Err(io::Error::other("another command added lines"));
        }
        file.set_len(at)?;
    }
    file.seek(SeekFrom::Start(at))?;
    let written = root.change(|| Ok(file.write_all(bytes).and_then(|()| file.sync_data())))?;
    if let Err(cause) = written {
        let undone = if new {
            root.remove(path)
        } else {
            file.set_len(at)
        };
        // If the appended line cannot be removed again, a complete line counts as recorded; readers ignore a torn line.
        let there = || {
            let part = root.read_part(path, at, bytes.len() as u64);
            part.is_ok_and(|part| part == bytes)
        };
        return if undone.is_err() && there() {
            Ok(Some(cause))
        } else {
            Err(cause)
        };
    }
    Ok(if new { folder.sync().err() } else { None })
}
