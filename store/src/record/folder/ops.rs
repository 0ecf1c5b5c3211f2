//! Applies the file operations of a command: all of them, or none.
//!
//! A single operation (replacing a file, appending a line to the log of events) is atomic by itself. Several
//! operations, and rows of the audit log, go through a journal. The journal is durable before the first operation, and
//! the next process that locks the run completes the rest (errata H2).

use std::io;

use prosescope_core::record::{Fault, FaultKind, FileChange as Op, JOURNAL};

use super::log::AUDIT;
use crate::dir::Dir;
use crate::record::fault;
use crate::record::files::{SyncFault, append, aside, extend, place, replace, unsure};

/// Applies all of `ops`, then writes `state`, the new text of state.md.
///
/// Writing `state` may fail, because the next command renders state.md again from the other files. If `says_more` is
/// true, `state` contains a new status of the run, which no other file contains. Writing `state` then counts as one of
/// the operations.
///
/// One step decides whether the command is recorded: the rename of a file, the line in the log, or the journal. An
/// error means that this step did not happen and everything is unchanged. After this step the command is recorded, so a
/// later failure is returned in `Ok`.
pub(super) fn commit(
    root: &Dir,
    mut ops: Vec<Op>,
    state: Option<String>,
    says_more: bool,
) -> Result<Option<Fault>, Fault> {
    let unwritten = |cause: io::Error| fault::io(root.path(), "was not written to", &cause);
    if !ops.iter().all(Op::is_ours) {
        return Err(Fault::new(
            FaultKind::Damaged,
            format!(
                "{}: nothing was written, because a path is not one of a run's files",
                root.path().display()
            ),
        ));
    }
    // Writes the new state.md under a temporary name first, so that a full disk is noticed before anything changes.
    let mut ready = None;
    match state {
        Some(text) if says_more && !ops.is_empty() => ops.push(Op::Write {
            path: "state.md".to_owned(),
            text,
            keep: None,
        }),
        Some(text) => ready = Some(aside(root, "state.md", text.as_bytes()).map_err(unwritten)?),
        None => {}
    }
    let done = match ops.as_slice() {
        [] => Ok(None),
        // A torn audit row would look like damage rather than an interrupted write, so audit rows always use the
        // journal.
        [op] if op.path() != AUDIT => op.stays(root).and_then(|()| op.apply(root)).map(unsure),
        ops => all_of(root, ops),
    };
    let mut late_fault = match done {
        Ok(late_fault) => late_fault,
        Err(cause) => {
            ready.map(|aside| root.remove(&aside));
            return Err(unwritten(cause));
        }
    };
    if let Some(aside) = ready {
        match place(root, &aside, "state.md") {
            Ok(settled) => late_fault = late_fault.or_else(|| unsure(settled)),
            Err(cause) if ops.is_empty() => return Err(unwritten(cause)),
            Err(cause) => {
                let fault = fault::io(
                    &root.shown("state.md"),
                    "was not brought up to date",
                    &cause,
                );
                late_fault = late_fault.or(Some(
                    fault.hint("the next command that records updates `state.md`"),
                ));
            }
        }
    }
    Ok(late_fault)
}

/// Applies several operations with a journal: once the journal exists, all are completed, if necessary by the next
/// writer.
fn all_of(root: &Dir, ops: &[Op]) -> io::Result<Option<Fault>> {
    for op in ops {
        op.stays(root)?;
    }
    let journal = serde_json::to_string(ops).map_err(io::Error::other)?;
    let mut late_fault = None;
    if let Some(cause) = place(root, &aside(root, "file", journal.as_bytes())?, JOURNAL)? {
        // The journal exists, but may not survive a power failure: the command is undone by removing the journal.
        if forget(root, &mut None).is_ok() {
            return Err(cause);
        }
        late_fault = unsure(Some(cause));
    }
    let mut done = Vec::with_capacity(ops.len());
    let doing = ops.iter().try_for_each(|op| {
        let undo = Undo::of(root, op)?;
        done.push((op, undo));
        op.apply(root)?.map_or(Ok(()), Err)
    });
    match doing {
        Ok(()) => {
            let mut settled = None;
            if let Err(cause) = forget(root, &mut settled) {
                settled = Some(cause);
            }
            Ok(late_fault.or_else(|| unsure(settled)))
        }
        Err(cause) => {
            // Another writer that began has completed the journal, and may have changed the same files since.
            let mut undone = done.into_iter().rev();
            let undone = root.is_in_turn() && undone.all(|(op, undo)| undo.apply(root, op).is_ok());
            if undone && forget(root, &mut None).is_ok() {
                return Err(cause);
            }
            // If an operation can neither be completed nor undone, the journal stays, and readers use it too.
            let journal = root.shown(JOURNAL);
            let fault = fault::io(root.path(), "was written only in part", &cause);
            Ok(Some(fault.hint(format!(
                "the change is saved in {}; the next command that records applies it. Do not repeat this command",
                journal.display()
            ))))
        }
    }
}

/// Removes the journal durably: an old journal that reappeared would repeat or undo past changes.
fn forget(root: &Dir, settled: &mut SyncFault) -> io::Result<()> {
    root.remove(JOURNAL)?;
    *settled = root.sync().err();
    Ok(())
}

/// Completes the operations in the journal of a killed writer.
pub(super) fn recover(root: &Dir) -> Result<(), Fault> {
    let path = root.shown(JOURNAL);
    let wrong = |cause: &io::Error| {
        let fault = fault::io(&path, "cannot be completed", cause);
        match fault.kind {
            FaultKind::Full | FaultKind::ReadOnly => fault,
            _ => fault.hint("repair the files that the journal lists; if no `prosescope` wrote the journal, remove it"),
        }
    };
    let Some(bytes) = root.read(JOURNAL).map_err(|cause| wrong(&cause))? else {
        return Ok(());
    };
    let ops: Vec<Op> = serde_json::from_slice(&bytes)
        .ok()
        .filter(|ops: &Vec<Op>| ops.iter().all(Op::is_ours))
        .ok_or_else(|| {
            let message = format!("{} is not a valid journal of `prosescope`", path.display());
            Fault::new(FaultKind::Damaged, message)
                .hint("check the journal and move it away: no command can record while it is there")
        })?;
    for op in &ops {
        op.again(root).map_err(|cause| wrong(&cause))?;
    }
    let mut settled = None;
    forget(root, &mut settled)
        .and(settled.map_or(Ok(()), Err))
        .map_err(|cause| wrong(&cause))
}

/// The steps of one file operation: checking, applying, and applying again after a crash.
trait FileStep {
    /// Applies the operation. An error means that nothing was changed.
    fn apply(&self, root: &Dir) -> io::Result<SyncFault>;

    /// Applies the operation durably, unless it is already applied.
    fn again(&self, root: &Dir) -> io::Result<()>;

    /// Checks that no link redirects the operation out of the run.
    fn stays(&self, root: &Dir) -> io::Result<()>;
}

impl FileStep for Op {
    fn apply(&self, root: &Dir) -> io::Result<SyncFault> {
        match self {
            Op::Append { path, at, text } => extend(root, path, *at, text.as_bytes()),
            Op::Write {
                path,
                text,
                keep: None,
            } => replace(root, path, text.as_bytes()),
            Op::Write {
                path,
                text,
                keep: Some(keep),
            } => replace_kept(root, path, text.as_bytes(), keep),
        }
    }

    fn again(&self, root: &Dir) -> io::Result<()> {
        self.stays(root)?;
        let done = match self {
            Op::Append { path, at, text } => {
                root.look(path)?.is_some()
                    && root.read_part(path, *at, text.len() as u64)? == text.as_bytes()
            }
            Op::Write { path, text, .. } => root
                .read(path)?
                .is_some_and(|bytes| bytes == text.as_bytes()),
        };
        if done {
            return Ok(());
        }
        self.apply(root)?.map_or(Ok(()), Err)
    }

    fn stays(&self, root: &Dir) -> io::Result<()> {
        match self {
            Op::Append { path, .. } => match root.look(path)? {
                Some(meta) if !meta.is_file() => Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("{} is not a plain file", root.shown(path).display()),
                )),
                _ => Ok(()),
            },
            Op::Write { path, keep, .. } => {
                root.look(path)?;
                keep.as_ref()
                    .map_or(Ok(()), |keep| root.look(keep).map(drop))
            }
        }
    }
}

/// Replaces a file atomically, and keeps the earlier file under the name `keep`. An error means that everything is
/// unchanged: both folders are opened first, so that an undo needs no new lookup.
fn replace_kept(root: &Dir, path: &str, bytes: &[u8], keep: &str) -> io::Result<SyncFault> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = root.make_dir(folder)?;
    let aside = aside(root, "file", bytes)?;
    let done = put_aside(root, path, keep).and_then(|kept| {
        let renamed = root.rename_to(&aside, &folder, name);
        if let (Err(_), Some((dir, kept))) = (&renamed, kept) {
            let _ = dir.remove(kept);
        }
        renamed
    });
    match done {
        Ok(()) => Ok(folder.sync().err()),
        Err(cause) => {
            let _ = root.remove(&aside);
            Err(cause)
        }
    }
}

/// Gives a file a second name, so that its first name can be replaced without a gap. Returns the second name and its
/// folder; `None` if the file does not exist or the second name is taken.
fn put_aside<'a>(root: &Dir, from: &str, to: &'a str) -> io::Result<Option<(Dir, &'a str)>> {
    let plain = root.look(from)?.is_some_and(|meta| meta.is_file());
    if !plain || root.look(to)?.is_some() {
        return Ok(None);
    }
    let (folder, name) = to.rsplit_once('/').unwrap_or(("", to));
    let folder = root.make_dir(folder)?;
    let kept = match root.link(from, to) {
        Ok(()) => folder.sync(),
        // Another writer began, although this one holds the lock.
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists || !root.is_in_turn() => {
            return Err(cause);
        }
        // The file system does not support hard links, so the file is copied.
        Err(cause) => match root.read(from)? {
            Some(bytes) => append(root, to, 0, &bytes),
            None => Err(cause),
        },
    };
    if let Err(cause) = kept {
        let _ = folder.remove(name);
        return Err(cause);
    }
    Ok(Some((folder, name)))
}

/// The way to undo an operation.
enum Undo {
    /// Cut the log to this length.
    Cut(u64),
    /// Remove the file.
    Remove,
    /// Write these bytes back.
    Restore(Vec<u8>),
}

impl Undo {
    fn of(root: &Dir, op: &Op) -> io::Result<Undo> {
        Ok(match op {
            Op::Append { path, at, .. } => match root.look(path)? {
                Some(_) => Undo::Cut(*at),
                None => Undo::Remove,
            },
            Op::Write { path, .. } => match root.read(path)? {
                Some(bytes) => Undo::Restore(bytes),
                None => Undo::Remove,
            },
        })
    }

    fn apply(self, root: &Dir, op: &Op) -> io::Result<()> {
        let path = op.path();
        match self {
            // An entry that is not a plain file was never changed by the operation, so it needs no undoing.
            Undo::Cut(at) => match root.writable(path)? {
                Some(file) => file.set_len(at),
                None => Ok(()),
            },
            Undo::Remove => match root.look(path)? {
                Some(meta) if meta.is_file() => root.remove(path),
                _ => Ok(()),
            },
            Undo::Restore(bytes) => match root.read(path)? {
                Some(now) if now == bytes => Ok(()),
                _ => replace(root, path, &bytes).map(drop),
            },
        }?;
        if let Op::Write {
            keep: Some(keep), ..
        } = op
        {
            root.remove(keep)?;
        }
        Ok(())
    }
}
