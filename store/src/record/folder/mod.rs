//! A run in a folder: events are lines of a log, everything else is files (filesystem.md; errata, "Folder form").
//!
//! ```text
//! lock ──► journal of a writer that died, done ──► facts ──► changes ──► events, audit log, files ──► state.md
//! ```
//!
//! state.md is rendered anew after each change that it tells of, from the rows that are of the present
//! ([`prosescope_core::write::folder_state`]): they are kept in a checkpoint, so that the cost of a write does not
//! grow with what ran. What a subagent writes (a binding, a memory, a segment) touches its own file alone.

mod apply;
mod facts;
mod head;
mod index;
mod log;
mod ops;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use prosescope_core::decode::text::is_plain_path;
use prosescope_core::model::{AgentScope, IndexedBinding};
use prosescope_core::write::{Facts, Fault, FaultKind, RunStore, Work, WriteError};

use super::files::{make_dir, replace};
use super::lock::lock;
use super::{fault, fresh};
use facts::FolderFacts;
use log::EVENTS;

/// A run folder that is written to.
#[derive(Debug)]
pub struct FolderStore {
    dir: PathBuf,
    scope: AgentScope,
    run: String,
}

impl FolderStore {
    /// Opens a run folder for writing.
    ///
    /// # Errors
    /// A [`Fault`] when there is no such folder, or its state file cannot be read.
    pub fn open(dir: &Path) -> Result<FolderStore, Fault> {
        let mut store = FolderStore::open_agents(dir, AgentScope::Execution)?;
        store.run = FolderFacts::new(&store.dir, &store.scope).run()?.id;
        Ok(store)
    }

    /// Opens a folder in which `agents/` lies beside any run, such as `.prose`: for memories and segments.
    ///
    /// # Errors
    /// A [`Fault`] when there is no such folder.
    pub fn open_agents(dir: &Path, scope: AgentScope) -> Result<FolderStore, Fault> {
        let opened = dir.canonicalize();
        let dir = opened.map_err(|cause| fault::io(dir, "cannot be opened", &cause))?;
        if !dir.is_dir() {
            return Err(Fault::new(
                FaultKind::Io,
                format!("{} is no folder", dir.display()),
            ));
        }
        Ok(FolderStore {
            dir,
            scope,
            run: String::new(),
        })
    }

    /// The id of the run that is written to.
    pub fn run_id(&self) -> &str {
        &self.run
    }

    /// Makes the nested run of an import at `place`, such as `imports/r--research`, unless it is there.
    ///
    /// # Errors
    /// A [`WriteError`], when it cannot be made, or a link stands on the way: it may lead out of the run.
    pub fn init_nested(
        &self,
        place: &str,
        run_id: &str,
        program_name: &str,
        program_source: &str,
        now: &str,
    ) -> Result<(), WriteError> {
        let dir = self.dir.join(place);
        let odd = |path: &Path| {
            let message = format!("{} is no folder of its own", path.display());
            Fault::new(FaultKind::Damaged, message).hint("move it away, and import again")
        };
        if !is_plain_path(place) {
            return Err(odd(&dir).into());
        }
        // Two at once may have asked whether the handle is free.
        let _lock = lock(&self.dir)?;
        let slot = place.strip_prefix("imports/").unwrap_or(place);
        let handle = slot.split_once("--").map_or(slot, |(handle, _)| handle);
        let others = index::imports(&self.dir);
        if let Some((_, other)) = others
            .iter()
            .find(|(own, dir)| own == handle && dir != slot)
        {
            return Err(WriteError::refused(
                "import-differs",
                format!("{handle} is the handle of another import already: imports/{other}"),
                "take another handle for this one",
            ));
        }
        let above = dir.parent().unwrap_or(&self.dir);
        make_dir(&self.dir, above).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotADirectory => odd(above),
            _ => fault::io(above, "cannot be made", &cause),
        })?;
        match fs::symlink_metadata(&dir) {
            Ok(meta) if meta.is_dir() => Ok(()),
            Ok(_) => Err(odd(&dir).into()),
            Err(_) => init_folder(&dir, run_id, program_name, program_source, now),
        }
    }

    /// Where the run lies.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

impl RunStore for FolderStore {
    fn transact(&mut self, work: Work<'_>) -> Result<(), WriteError> {
        let lock = lock(&self.dir)?;
        ops::recover(&self.dir)?;
        let facts = FolderFacts::new(&self.dir, &self.scope);
        let changes = work(&facts)?;
        apply::changes(facts, &changes, &lock)
    }
}

/// Makes a run folder with its program and a first state.md, atomically: under another name first. An import's nested
/// run is made the same way, in `imports/{handle}--{slug}` of its run.
///
/// # Errors
/// A refusal when something is there already, or a [`Fault`] when it cannot be written; then nothing is there.
pub fn init_folder(
    dir: &Path,
    run_id: &str,
    program_name: &str,
    program_source: &str,
    now: &str,
) -> Result<(), WriteError> {
    fresh::run_folder(dir, program_source, |aside| {
        write_first(aside, run_id, program_name, program_source, now, Vec::new())
            .and_then(|()| begin_events(aside))
            .map_err(|cause| fault::io(dir, "cannot be made", &cause).into())
    })
}

/// Fills a new folder of a run with a first state.md. Its index lists `bindings`: their order stays.
pub(crate) fn write_first(
    dir: &Path,
    run_id: &str,
    program_name: &str,
    program_source: &str,
    now: &str,
    bindings: Vec<IndexedBinding>,
) -> io::Result<()> {
    let state = apply::first_state(run_id, program_name, program_source, now, bindings);
    replace(dir, &dir.join("state.md"), state.as_bytes())?;
    make_dir(dir, &dir.join("bindings"))
}

/// Begins the log of events: from now on it alone says what ran, also while it is empty.
pub(crate) fn begin_events(dir: &Path) -> io::Result<()> {
    replace(dir, &dir.join(EVENTS), b"")
}
