//! The trace of a run that has a state file and no rows.

use super::finish::finish;
use super::preorder::arrange;
use super::rows::Ledger;
use super::{Trace, verdict};
use crate::model::Run;
use crate::program::Listing;

/// Folds a state file.
pub fn from_state_file(run: &Run, program: Option<&Listing>, now: Option<i64>) -> Trace {
    finish(
        run,
        program,
        arrange(Vec::new()),
        verdict::recorded(run),
        now,
        Ledger::default(),
    )
}
