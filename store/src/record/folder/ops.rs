//! What is done to the files of a run, all of it or nothing.
//!
//! One file is replaced, or one log gets a line: that is atomic by itself. More of them go through a journal: it is on
//! disk before the first of them, and whoever locks the run next does the rest (reliability.md, "What must hold" 2).

use std::fs;
use std::io;
use std::path::Path;

use prosescope_core::write::{Fault, FaultKind, FileChange as Op, JOURNAL};

use crate::record::fault;
use crate::record::files::{
    append, aside, is_inside, make_dir, read, read_part, replace, sync_dir,
};

/// Does all of `ops`, then puts `state` (what state.md is to say) into its place.
///
/// `state` is derived from the rest, and the next one says it again; where it `says_more` (the run's status), it
/// counts as one of them.
pub(super) fn commit(
    root: &Path,
    mut ops: Vec<Op>,
    state: Option<String>,
    says_more: bool,
) -> Result<(), Fault> {
    let unwritten = |cause: io::Error| fault::io(root, "was not written to", &cause);
    if !ops.iter().all(Op::is_ours) {
        return Err(Fault::new(
            FaultKind::Damaged,
            format!(
                "{}: a file that is no part of a run was not written",
                root.display()
            ),
        ));
    }
    // Room for it is found before anything is done.
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
    let journaled = ops.len() > 1;
    let mut done = Vec::with_capacity(ops.len());
    let doing = (|| {
        if journaled {
            let journal = serde_json::to_string(&ops).map_err(io::Error::other)?;
            replace(root, &root.join(JOURNAL), journal.as_bytes())?;
        }
        for op in &ops {
            op.stays(root)?;
            let undo = Undo::of(root, op)?;
            done.push((op, undo));
            op.apply(root)?;
        }
        if let Some(aside) = &ready {
            fs::rename(aside, root.join("state.md"))?;
            sync_dir(root)?;
        }
        if journaled {
            forget(root)?;
        }
        Ok(())
    })();
    doing.map_err(|cause| {
        if let Some(aside) = &ready {
            let _ = fs::remove_file(aside);
        }
        let mut undone = done.into_iter().rev();
        let undone = undone.all(|(op, undo)| undo.apply(root, op).is_ok());
        let fault = unwritten(cause);
        if !journaled || (undone && forget(root).is_ok()) {
            return fault;
        }
        // What cannot be undone either is done by the journal.
        fault.hint(format!(
            "it is all in {}: the next command that records does it first, do not record it again",
            root.join(JOURNAL).display()
        ))
    })
}

/// Removes the journal, durably: one that comes back would do, or undo, what is long past.
fn forget(root: &Path) -> io::Result<()> {
    match fs::remove_file(root.join(JOURNAL)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => sync_dir(root),
    }
}

/// Does what a writer that died had begun.
pub(super) fn recover(root: &Path) -> Result<(), Fault> {
    let path = root.join(JOURNAL);
    let wrong = |cause: &io::Error| {
        let fault = fault::io(&path, "cannot be brought to its end", cause);
        match fault.kind {
            FaultKind::Full | FaultKind::ReadOnly => fault,
            _ => fault.hint("mend what it speaks of; where no `prose` wrote it, remove it"),
        }
    };
    let Some(bytes) = read(&path).map_err(|cause| wrong(&cause))? else {
        return Ok(());
    };
    let ops: Vec<Op> = serde_json::from_slice(&bytes)
        .ok()
        .filter(|ops: &Vec<Op>| ops.iter().all(Op::is_ours))
        .ok_or_else(|| {
            let message = format!("{} is no journal of this writer", path.display());
            Fault::new(FaultKind::Damaged, message)
                .hint("look at it, and move it away: what it says is done before anything else is recorded")
        })?;
    for op in &ops {
        op.again(root).map_err(|cause| wrong(&cause))?;
    }
    forget(root).map_err(|cause| wrong(&cause))
}

/// What is done to the files.
trait Doing {
    /// Does it.
    fn apply(&self, root: &Path) -> io::Result<()>;

    /// The same, unless it was done before.
    fn again(&self, root: &Path) -> io::Result<()>;

    /// Checks that no link leads what it does out of the run.
    fn stays(&self, root: &Path) -> io::Result<()>;
}

impl Doing for Op {
    fn apply(&self, root: &Path) -> io::Result<()> {
        match self {
            Op::Append { path, at, text } => append(root, &root.join(path), *at, text.as_bytes()),
            Op::Write { path, text, keep } => {
                if let Some(keep) = keep {
                    put_aside(root, path, keep)?;
                }
                replace(root, &root.join(path), text.as_bytes())
            }
        }
    }

    fn again(&self, root: &Path) -> io::Result<()> {
        self.stays(root)?;
        let done = match self {
            Op::Append { path, at, text } => {
                let path = root.join(path);
                path.is_file() && read_part(&path, *at, text.len() as u64)? == text.as_bytes()
            }
            Op::Write { path, text, .. } => {
                read(&root.join(path))?.is_some_and(|bytes| bytes == text.as_bytes())
            }
        };
        if done { Ok(()) } else { self.apply(root) }
    }

    fn stays(&self, root: &Path) -> io::Result<()> {
        match self {
            Op::Append { path, .. } => {
                let path = root.join(path);
                is_inside(root, &path)?;
                match fs::symlink_metadata(&path) {
                    Ok(meta) if !meta.is_file() => Err(io::Error::new(
                        io::ErrorKind::InvalidInput,
                        format!("{} is no plain file", path.display()),
                    )),
                    _ => Ok(()),
                }
            }
            Op::Write { path, keep, .. } => {
                is_inside(root, &root.join(path))?;
                let keep = keep.as_ref().map(|keep| root.join(keep));
                keep.map_or(Ok(()), |keep| is_inside(root, &keep))
            }
        }
    }
}

/// Gives a file a second name, so that its first one can be given to another without a moment between.
fn put_aside(root: &Path, path: &str, keep: &str) -> io::Result<()> {
    let (from, to) = (root.join(path), root.join(keep));
    is_inside(root, &from)?;
    let plain = fs::symlink_metadata(&from).is_ok_and(|meta| meta.is_file());
    if !plain || fs::symlink_metadata(&to).is_ok() {
        return Ok(());
    }
    let folder = to.parent().unwrap_or(root);
    make_dir(root, folder)?;
    if fs::hard_link(&from, &to).is_err() {
        // A file system without links.
        replace(root, &to, &fs::read(&from)?)?;
    }
    sync_dir(folder)
}

/// How things were.
enum Undo {
    /// The log had this length.
    Cut(u64),
    /// There was no such file.
    Remove,
    /// It had these bytes.
    Restore(Vec<u8>),
}

impl Undo {
    fn of(root: &Path, op: &Op) -> io::Result<Undo> {
        Ok(match op {
            Op::Append { path, at, .. } => match fs::symlink_metadata(root.join(path)) {
                Ok(_) => Undo::Cut(*at),
                Err(_) => Undo::Remove,
            },
            Op::Write { path, .. } => match read(&root.join(path))? {
                Some(bytes) => Undo::Restore(bytes),
                None => Undo::Remove,
            },
        })
    }

    fn apply(self, root: &Path, op: &Op) -> io::Result<()> {
        let path = root.join(op.path());
        match self {
            // What was no plain file before was not replaced.
            Undo::Cut(_) | Undo::Remove
                if !fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()) =>
            {
                Ok(())
            }
            Undo::Cut(at) => fs::OpenOptions::new().write(true).open(path)?.set_len(at),
            Undo::Remove => fs::remove_file(path),
            Undo::Restore(bytes) => match read(&path)? {
                Some(now) if now == bytes => Ok(()),
                _ => replace(root, &path, &bytes),
            },
        }?;
        if let Op::Write {
            keep: Some(keep), ..
        } = op
        {
            let _ = fs::remove_file(root.join(keep));
        }
        Ok(())
    }
}
