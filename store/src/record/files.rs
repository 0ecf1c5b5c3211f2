//! Files that are there whole or not at all.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use prosescope_core::write::{AttachmentFile, Content, Fault, FaultKind};

use super::fault;
use super::lock::RunLock;
use crate::dir::{Dir, write_new};

/// Attachments of a transaction: written first, taken back unless it is kept (errata B8).
pub(crate) struct Attachments<'a> {
    dir: &'a Dir,
    /// What was handed to the store because it is too long to be held.
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

    fn write(&mut self, path: &str, content: &Content) -> io::Result<()> {
        let (folder, _) = path.rsplit_once('/').unwrap_or_default();
        let folder = self.dir.make_dir(folder)?;
        if self.made.is_empty() {
            sweep_below(&folder)?;
        }
        let aside = match content {
            Content::Held(bytes) => aside(self.dir, "attachment", bytes)?,
            Content::Staged(staged) => self.copy(staged.len)?,
        };
        if let Err(cause) = place_new(self.dir, &aside, path) {
            let _ = self.dir.remove(&aside);
            return Err(cause);
        }
        self.made.push(path.to_owned());
        folder.sync()
    }

    /// Copies what was handed to the store.
    fn copy(&self, len: u64) -> io::Result<String> {
        let mut from = self.staged.ok_or(io::ErrorKind::NotFound)?;
        from.rewind()?;
        let name = fresh_name(self.dir, "attachment")?;
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

/// Moves a file to a place where nothing lies.
fn place_new(root: &Dir, aside: &str, path: &str) -> io::Result<()> {
    match root.link(aside, path) {
        Ok(()) => root.remove(aside),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // A file system without links.
        Err(_) => match root.look(path)? {
            None => root.rename(aside, path),
            Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
        },
    }
}

/// What is written under another name first, each in a place of its own.
const SLOTS: [&str; 4] = ["file", "state.md", "checkpoint", "attachment"];

/// Removes what a writer that was killed left under such a name.
pub(crate) fn sweep(root: &Dir, _held: &RunLock) {
    for slot in SLOTS {
        // The writer that needs the name is told what is in its way.
        let _ = root.remove(&named(slot));
    }
}

/// The same, of names that earlier versions gave to attachments.
fn sweep_below(folder: &Dir) -> io::Result<()> {
    for (name, _) in folder.names("")? {
        if name.starts_with(".new-") {
            folder.remove(&name)?;
        }
    }
    Ok(())
}

fn named(slot: &str) -> String {
    format!(".tmp-{slot}")
}

/// Writes a file straight in the run, under a name that no reader lists; it is on disk when this returns.
pub(crate) fn aside(root: &Dir, slot: &str, mut bytes: &[u8]) -> io::Result<String> {
    let name = fresh_name(root, slot)?;
    write_new(root, &name, &mut bytes)?;
    Ok(name)
}

fn fresh_name(root: &Dir, slot: &str) -> io::Result<String> {
    let name = named(slot);
    // What an earlier writer left is no use to anybody; it may be a link.
    root.remove(&name)?;
    Ok(name)
}

/// What the system said when what is done was to be made durable; nothing when it is.
pub(crate) type Settled = Option<io::Error>;

/// What is there, and may not survive a power failure.
pub(crate) fn unsure(settled: Settled) -> Option<Fault> {
    let cause = settled?;
    let message = format!("the system did not confirm that it is on disk: {cause}");
    Some(
        Fault::new(FaultKind::Io, message).hint("check the disk: a power failure may take it back"),
    )
}

/// Puts a file whole into its place, whatever was there. An error means that it is not there.
pub(crate) fn replace(root: &Dir, path: &str, bytes: &[u8]) -> io::Result<Settled> {
    let (folder, _) = path.rsplit_once('/').unwrap_or_default();
    root.make_dir(folder)?;
    place(root, &aside(root, "file", bytes)?, path)
}

/// Renames what was written aside into its place.
pub(crate) fn place(root: &Dir, aside: &str, path: &str) -> io::Result<Settled> {
    if let Err(cause) = root.rename(aside, path) {
        let _ = root.remove(aside);
        return Err(cause);
    }
    Ok(root.sync_above(path).err())
}

/// Puts a file whole and durably into its place.
pub(crate) fn put(root: &Dir, path: &str, bytes: &[u8]) -> io::Result<()> {
    replace(root, path, bytes)?.map_or(Ok(()), Err)
}

/// Writes durably at the end of a log.
pub(crate) fn append(root: &Dir, path: &str, at: u64, bytes: &[u8]) -> io::Result<()> {
    extend(root, path, at, bytes)?.map_or(Ok(()), Err)
}

/// Writes at the end of a log, which is `at` bytes long; what half-written thing lies behind is cut off. An error means
/// that the log is as it was.
pub(crate) fn extend(root: &Dir, path: &str, at: u64, bytes: &[u8]) -> io::Result<Settled> {
    let (folder, _) = path.rsplit_once('/').unwrap_or_default();
    let folder = root.make_dir(folder)?;
    let (mut file, new) = match root.writable(path)? {
        Some(file) => (file, false),
        None if root.look(path)?.is_some() => {
            let message = "it is no plain file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        None => (root.create(path)?, true),
    };
    let end = file.metadata()?.len();
    if end < at {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            format!("it has {end} bytes, and had {at}"),
        ));
    }
    if end > at {
        file.set_len(at)?;
    }
    file.seek(SeekFrom::Start(at))?;
    if let Err(cause) = file.write_all(bytes).and_then(|()| file.sync_data()) {
        let undone = match new {
            true => root.remove(path),
            false => file.set_len(at),
        };
        // What cannot be taken back is there when it is whole; a torn line is nothing to a reader.
        let there = || {
            let part = root.read_part(path, at, bytes.len() as u64);
            part.is_ok_and(|part| part == bytes)
        };
        return match undone.is_err() && there() {
            true => Ok(Some(cause)),
            false => Err(cause),
        };
    }
    Ok(match new {
        true => folder.sync().err(),
        false => None,
    })
}
