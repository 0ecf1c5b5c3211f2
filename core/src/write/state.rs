//! state.md of a run that is being recorded, and what its writer keeps for the next one.

use std::collections::BTreeSet;

use crate::model::Run;
use crate::program;
use crate::render::state_md;
use crate::trace;

/// What a folder is to be written as.
#[derive(Debug, Clone, PartialEq)]
pub struct FolderState {
    /// state.md.
    pub text: String,
    /// Ids of the rows that it, and every later one, is told by: see [`state_md::rows_that_tell`].
    pub rows: BTreeSet<i64>,
}

/// Renders state.md of a run folder. Its rows may be those alone that the one before was told by, and what came since.
pub fn folder_state(run: &Run) -> FolderState {
    let listing = run.program.source.as_deref().map(program::scan);
    let trace = trace::fold(run, listing.as_ref(), None);
    let options = state_md::RenderOptions::default();
    FolderState {
        text: state_md::from_run(run, &trace, listing.as_ref(), &options),
        rows: state_md::rows_that_tell(run, &trace, listing.as_ref()),
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
