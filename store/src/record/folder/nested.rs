//! Creates the nested runs of imports in a run's folder.

use std::io;

use cap_std::fs::FileType;

use prosescope_core::read::decode::text::is_plain_path;
use prosescope_core::record::{Fault, FaultKind, NestedRun, WriteError};

use super::fill_new;
use crate::dir::Dir;
use crate::record::fault;
use crate::record::lock::RunLock;

/// The nested runs that one command creates. Dropping this value removes them, unless [`NestedRuns::keep`] is called.
pub(super) struct NestedRuns<'a> {
    root: &'a Dir,
    made: Vec<(Dir, String)>,
    late_fault: Option<Fault>,
}

impl<'a> NestedRuns<'a> {
    /// Creates an empty list. The lock is required, because two concurrent commands may otherwise use the same free
    /// handle.
    pub(super) fn new(root: &'a Dir, _held: &RunLock) -> NestedRuns<'a> {
        NestedRuns {
            root,
            made: Vec::new(),
            late_fault: None,
        }
    }

    /// Creates the nested run of an import of the run `of`, unless it exists.
    ///
    /// # Errors
    /// A [`WriteError`] if the nested run cannot be created, or if a folder of its path is a link, which may lead out
    /// of the run.
    pub(super) fn make(&mut self, of: &str, run: &NestedRun, now: &str) -> Result<(), WriteError> {
        let place = run.place.as_str();
        let unmade = |cause: io::Error| match cause.kind() {
            io::ErrorKind::NotADirectory => Fault::new(FaultKind::Damaged, cause.to_string())
                .hint("move that link or file away, and import again"),
            _ => fault::io(&self.root.shown(place), "cannot be made", &cause),
        };
        let Some((above, name)) = place.rsplit_once('/').filter(|_| is_plain_path(place)) else {
            let message = format!("{place:?} is not a path for the folder of an import");
            return Err(Fault::new(FaultKind::Damaged, message).into());
        };
        let slot = place.strip_prefix("imports/").unwrap_or(place);
        let handle = slot.split_once("--").map_or(slot, |(handle, _)| handle);
        let others = match self.root.names("imports") {
            Err(cause) if cause.kind() == io::ErrorKind::NotADirectory => Vec::new(),
            names => names.map_err(unmade)?,
        };
        let handle_of = |dir: &str| {
            dir.split_once("--")
                .map_or(dir.to_owned(), |(own, _)| own.to_owned())
        };
        let other = |(dir, kind): &&(String, FileType)| {
            kind.is_dir() && handle_of(dir) == handle && dir != slot
        };
        if let Some((other, _)) = others.iter().find(other) {
            return Err(WriteError::refused(
                "import-differs",
                format!("{handle} is the handle of another import already: imports/{other}"),
                "take another handle for this import",
            ));
        }
        let above = self.root.make_dir(above).map_err(unmade)?;
        if above.dir(name).map_err(unmade)?.is_some() {
            return Ok(());
        }
        let id = format!("{of}/{name}");
        let late_fault = fill_new(&above, name, &id, &run.name, &run.program, now)?;
        self.late_fault = self.late_fault.take().or(late_fault);
        self.made.push((above, name.to_owned()));
        Ok(())
    }

    /// Keeps the nested runs; returns a failure that happened after their creation.
    pub(super) fn keep(mut self) -> Option<Fault> {
        self.made.clear();
        self.late_fault.take()
    }
}

impl Drop for NestedRuns<'_> {
    fn drop(&mut self) {
        for (above, name) in &self.made {
            // Renames the folder before its removal, so that a half-removed run never looks complete.
            let aside = format!(
                "{}{}",
                prosescope_core::pages::upkeep::clean::UNFINISHED,
                std::process::id()
            );
            let gone = above.rename(name, &aside).map(|()| aside);
            let _ = above.remove_tree(gone.as_deref().unwrap_or(name));
        }
    }
}
