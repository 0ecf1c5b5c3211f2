//! What names the site of a record, and its statement.

use crate::model::{Meta, Text};
use crate::program::{Tie, TiedBy};

pub(super) fn gate(id: Text) -> Meta {
    Meta {
        gate_id: Some(id),
        ..Meta::default()
    }
}

pub(super) fn looped(id: Text) -> Meta {
    Meta {
        loop_id: Some(id),
        ..Meta::default()
    }
}

pub(super) fn parallel(id: Text) -> Meta {
    Meta {
        parallel_id: Some(id),
        ..Meta::default()
    }
}

/// A branch of the parallel of that id.
pub(super) fn branch(parallel: Text, name: Text) -> Meta {
    Meta {
        parallel_id: Some(parallel),
        branch: Some(name),
        ..Meta::default()
    }
}

pub(super) fn frame(block: Text) -> Meta {
    Meta {
        block: Some(block),
        ..Meta::default()
    }
}

/// A tie that is no guess.
pub(super) fn tied(statement: u32, by: TiedBy) -> Option<Tie> {
    Some(Tie {
        statement,
        guessed: false,
        by,
    })
}
