//! Renders state.md of a run during recording, and selects the rows that the writer keeps for the next rendering.

use std::collections::BTreeSet;

use crate::model::Run;
use crate::program;
use crate::render::state_md;
use crate::trace;

/// The rendered state of a folder.
#[derive(Debug, Clone, PartialEq)]
pub struct FolderState {
    /// state.md.
    pub text: String,
    /// Ids of the rows from which this and every later state.md can be rendered; see [`state_md::rows_that_tell`].
    pub rows: BTreeSet<i64>,
}

/// Renders state.md of a run folder. The run may contain only the rows kept from the last rendering, and those added
/// since.
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
