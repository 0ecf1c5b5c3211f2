//! From a form that has no rows to a story: what happened, in order, and what each thing lies in.

pub(super) mod disk;
pub(super) mod facts;
pub(super) mod log;
pub(crate) mod state;

use crate::program::{Tie, TiedBy};

/// A tie that is no guess.
fn tied(statement: u32, by: TiedBy) -> Option<Tie> {
    Some(Tie {
        statement,
        guessed: false,
        by,
    })
}
