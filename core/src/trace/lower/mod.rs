//! Lowers runs without rows (logs, state files, bindings) to a story: what happened, in order, and the place of each
//! thing.

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
