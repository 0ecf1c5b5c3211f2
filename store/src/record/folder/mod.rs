//! Records a run in a folder: events are lines of a log, everything else is files (filesystem.md; errata F3).
//!
//! ```text
//! lock ──► finish the journal of a killed writer ──► facts ──► changes ──► events, audit log, files ──► state.md
//! ```
//!
//! After each change that state.md shows, state.md is rendered again ([`prosescope_core::record::folder_state`]). A
//! subagent's write (a binding, a memory, a segment) changes only its own file.

mod apply;
mod head;
mod log;
mod nested;
mod ops;
mod shelf;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unlocked;

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use prosescope_core::model::{AgentScope, IndexedBinding};
use prosescope_core::record::{Facts, Fault, RunStore, Style, Work, WriteError};

use super::files::{put, sweep};
use super::lock::{RunLock, lock};
use super::turn::{Turn, shared};
use super::{fault, fresh};
use crate::dir::Dir;
use head::StateHead;
use log::EVENTS;
use shelf::FolderShelf;

/// How often a command starts over if other writers begin although this one holds the lock.
const TRIES: u64 = 12;

/// A run folder open for recording.
#[derive(Debug)]
pub struct FolderStore {
    dir: Dir,
    scope: AgentScope,
    run: String,
    /// The failure that happened after the last command was recorded, until [`RunStore::late_fault`] returns it.
    late_fault: Option<Fault>,
    /// The file with a value that is too long for memory.
    staged: Option<File>,
}

impl FolderStore {
    /// Opens a run folder for writing. A link is not followed.
    ///
    /// # Errors
    /// A [`Fault`] if the folder does not exist, or its state file cannot be read.
    pub fn open(dir: &Path) -> Result<FolderStore, Fault> {
        let opened = Dir::open_own(dir);
        FolderStore::of(opened.map_err(|cause| fault::unopened(dir, &cause))?)
    }

    /// Opens the run in a folder that is held open.
    pub(crate) fn of(dir: Dir) -> Result<FolderStore, Fault> {
        let mut store = FolderStore {
            dir,
            scope: AgentScope::Execution,
            run: String::new(),
            late_fault: None,
            staged: None,
        };
        store.run = StateHead::load(&store.dir)?.id(&store.dir);
        Ok(store)
    }

    /// Opens a folder with its own `agents/`, such as `.prose`, for memories and segments.
    ///
    /// # Errors
    /// A [`Fault`] if the folder does not exist.
    pub fn open_agents(dir: &Path, scope: AgentScope) -> Result<FolderStore, Fault> {
        let opened = Dir::open(dir);
        Ok(FolderStore {
            dir: opened.map_err(|cause| fault::io(dir, "cannot be opened", &cause))?,
            scope,
            run: String::new(),
            late_fault: None,
            staged: None,
        })
    }

    /// Sets the file with the bytes of a value that is too long for memory; the next commands copy these bytes for each
    /// `ValueBytes::Staged`.
    pub fn stage(&mut self, file: File) {
        self.staged = Some(file);
    }

    /// Returns the id of the run in the folder; empty for a folder of agents.
    pub fn run_id(&self) -> &str {
        &self.run
    }

    /// Returns the path of the run.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }
}

impl RunStore for FolderStore {
    fn transact(&mut self, work: Work<'_>) -> Result<(), WriteError> {
        let lock = lock(&self.dir)?;
        for attempt in 1..=TRIES {
            let turn = Arc::new(Turn::begin(&self.dir));
            let done = self.once(&self.dir.in_turn(&turn), work, &lock);
            if done.is_ok() || turn.was_alone(&self.dir) {
                self.late_fault = turn.overlap(&self.dir).or(done?);
                return Ok(());
            }
            // Another writer began, and this one changed nothing.
            std::thread::sleep(Duration::from_millis(attempt * 5));
        }
        let what = "was not written to, because other commands write to it at the same time";
        Err(shared(&self.dir, what, "repeat the command").into())
    }

    fn late_fault(&mut self) -> Option<Fault> {
        self.late_fault.take()
    }
}

impl FolderStore {
    /// Records the changes of `work` in one turn. Returns a fault that happened after they were recorded.
    fn once(&self, dir: &Dir, work: Work<'_>, lock: &RunLock) -> Result<Option<Fault>, WriteError> {
        sweep(dir, lock);
        ops::recover(dir)?;
        let shelf = FolderShelf::read(dir, &self.scope, !self.run.is_empty())?;
        let run = shelf.run();
        let (run_now, listing, trace) = (Cow::Borrowed(&*run), shelf.listing(), shelf.trace());
        let facts = Facts::of(&shelf, Style::Files, run_now, listing, trace);
        let facts = facts.map_err(|fault| fault.in_place(dir.path().display()))?;
        let changes = work(&facts)?;
        drop(facts);
        let (run, staged) = (run.into_owned(), self.staged.as_ref());
        apply::changes(dir, &shelf, run, &changes, staged, lock)
    }
}

/// Creates a run folder with its program and a first state.md, atomically by renaming. Also used for the nested run of
/// an import, in `imports/{handle}--{slug}` of its run. Returns a failure that happened after the folder was created.
///
/// # Errors
/// A refusal if the path exists, or a [`Fault`] if it cannot be written; in both cases no part of the folder is left.
pub fn init_folder(
    dir: &Path,
    run_id: &str,
    program_name: &str,
    program_source: &str,
    now: &str,
) -> Result<Option<Fault>, WriteError> {
    let (above, name) = fresh::place(dir)?;
    fill_new(&above, &name, run_id, program_name, program_source, now)
}

fn fill_new(
    above: &Dir,
    name: &str,
    run_id: &str,
    program_name: &str,
    program_source: &str,
    now: &str,
) -> Result<Option<Fault>, WriteError> {
    fresh::run_folder(above, name, program_source, |aside| {
        write_first(aside, run_id, program_name, program_source, now, Vec::new())
            .and_then(|()| begin_events(aside))
            .map_err(|cause| fault::io(&above.shown(name), "cannot be made", &cause).into())
    })
}

/// Writes the first state.md into a new run folder. The index of state.md lists `bindings` in the given order.
pub(crate) fn write_first(
    dir: &Dir,
    run_id: &str,
    program_name: &str,
    program_source: &str,
    now: &str,
    bindings: Vec<IndexedBinding>,
) -> io::Result<()> {
    let state = apply::first_state(run_id, program_name, program_source, now, bindings);
    put(dir, "state.md", state.as_bytes())?;
    dir.make_dir("bindings").map(drop)
}

/// Begins the log of events. From then on, only the log records executions, even while it is empty.
pub(crate) fn begin_events(dir: &Dir) -> io::Result<()> {
    put(dir, EVENTS, b"")
}
