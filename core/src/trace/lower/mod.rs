//! Converts runs without rows (logs, state files, bindings) into a story: the happenings in order, each with its
//! parent.

pub(super) mod disk;
pub(super) mod facts;
pub(super) mod log;
pub(crate) mod state;

use crate::program::{Tie, TiedBy};

/// Returns a tie that is not a guess.
fn tied(statement: u32, by: TiedBy) -> Option<Tie> {
    Some(Tie {
        statement,
        guessed: false,
        by,
    })
}
