//! Renders the `state.md` of a run folder during recording.

use crate::model::Run;
use crate::program;
use crate::record::render::state_md;
use crate::trace;

/// Renders the `state.md` of a run folder.
pub fn folder_state(run: &Run) -> String {
    let listing = run.program.source.as_deref().map(program::scan);
    let trace = trace::fold(run, listing.as_ref(), None);
    let options = state_md::RenderOptions::default();
    state_md::from_run(run, &trace, listing.as_ref(), &options)
}
