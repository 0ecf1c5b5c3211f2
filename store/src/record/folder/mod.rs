//! A run in a folder: events are lines of a log, everything else is files (filesystem.md; errata F3).
//!
//! ```text
//! lock ──► journal of a writer that died, done ──► facts ──► changes ──► events, audit log, files ──► state.md
//! ```
//!
//! state.md is rendered anew after each change that it tells of, from the rows that are of the present
//! ([`prosescope_core::write::folder_state`]): they are kept in a checkpoint, so that the cost of a write does not
//! grow with what ran. What a subagent writes (a binding, a memory, a segment) touches its own file alone.

mod apply;
mod audit;
mod facts;
mod head;
mod index;
mod log;
mod nested;
mod ops;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::path::Path;

use prosescope_core::model::{AgentScope, IndexedBinding};
use prosescope_core::write::{Facts, Fault, RunStore, Work, WriteError};

use super::files::{put, sweep};
use super::lock::lock;
use super::{fault, fresh};
use crate::dir::Dir;
use facts::FolderFacts;
use log::EVENTS;

/// A run folder that is written to.
#[derive(Debug)]
pub struct FolderStore {
    dir: Dir,
    scope: AgentScope,
    run: String,
    /// What went wrong after the last command was recorded.
    told: Option<Fault>,
    /// What is too long to be held in memory.
    staged: Option<File>,
}

impl FolderStore {
    /// Opens a run folder for writing. A link is not followed.
    ///
    /// # Errors
    /// A [`Fault`] when there is no such folder, or its state file cannot be read.
    pub fn open(dir: &Path) -> Result<FolderStore, Fault> {
        let opened = Dir::open_own(dir);
        FolderStore::of(opened.map_err(|cause| fault::unopened(dir, &cause))?)
    }

    /// The run in a folder that is held open.
    pub(crate) fn of(dir: Dir) -> Result<FolderStore, Fault> {
        let mut store = FolderStore {
            dir,
            scope: AgentScope::Execution,
            run: String::new(),
            told: None,
            staged: None,
        };
        store.run = FolderFacts::new(&store.dir, &store.scope).run()?.id;
        Ok(store)
    }

    /// Opens a folder in which `agents/` lies beside any run, such as `.prose`: for memories and segments.
    ///
    /// # Errors
    /// A [`Fault`] when there is no such folder.
    pub fn open_agents(dir: &Path, scope: AgentScope) -> Result<FolderStore, Fault> {
        let opened = Dir::open(dir);
        Ok(FolderStore {
            dir: opened.map_err(|cause| fault::io(dir, "cannot be opened", &cause))?,
            scope,
            run: String::new(),
            told: None,
            staged: None,
        })
    }

    /// Takes the bytes of a value that is too long to be held: the next commands copy them where a `Content::Staged`
    /// goes.
    pub fn stage(&mut self, file: File) {
        self.staged = Some(file);
    }

    /// The id of the run that is written to.
    pub fn run_id(&self) -> &str {
        &self.run
    }

    /// Where the run lies.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }
}

impl RunStore for FolderStore {
    fn transact(&mut self, work: Work<'_>) -> Result<(), WriteError> {
        let lock = lock(&self.dir)?;
        sweep(&self.dir, &lock);
        ops::recover(&self.dir)?;
        let facts = FolderFacts::new(&self.dir, &self.scope);
        let changes = work(&facts)?;
        self.told = apply::changes(facts, &changes, self.staged.as_ref(), &lock)?;
        Ok(())
    }

    fn told(&mut self) -> Option<Fault> {
        self.told.take()
    }
}

/// Makes a run folder with its program and a first state.md, atomically: under another name first. An import's nested
/// run is made the same way, in `imports/{handle}--{slug}` of its run.
///
/// # Errors
/// A refusal when something is there already, or a [`Fault`] when it cannot be written; then nothing is there. What went
/// wrong after it was made is returned.
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

/// Fills a new folder of a run with a first state.md. Its index lists `bindings`: their order stays.
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

/// Begins the log of events: from now on it alone says what ran, also while it is empty.
pub(crate) fn begin_events(dir: &Dir) -> io::Result<()> {
    put(dir, EVENTS, b"")
}
