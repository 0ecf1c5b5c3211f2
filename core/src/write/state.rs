//! Renders the `state.md` of a run folder during recording, and selects the rows that the next rendering needs.

use std::collections::BTreeSet;

use crate::model::Run;
use crate::program;
use crate::render::state_md;
use crate::trace;

/// The rendered state of a folder.
#[derive(Debug, Clone, PartialEq)]
pub struct FolderState {
    /// The new content of `state.md`.
    pub text: String,
    /// Ids of the rows from which this `state.md` and every later `state.md` can be rendered; see
    /// [`state_md::rows_that_tell`].
    pub rows: BTreeSet<i64>,
}

/// Renders the `state.md` of a run folder. The run may contain only the rows that were kept at the last rendering, and
/// the rows added since.
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
