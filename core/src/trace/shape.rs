//! What one row is by itself, before anything is folded: what a writer must know of the rows that it makes.

use super::sweep::{Kind, plain_kind};
use super::words;
use crate::model::{Execution, Meta};

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A plain statement.
    Statement,
    /// A parallel.
    Parallel,
    /// A loop.
    Loop,
    /// A block that is called: a scope of its own.
    Frame,
    /// A gate.
    Gate,
}

/// What a row is, by its text and its metadata.
pub fn shape(row: &Execution) -> Shape {
    let empty = Meta::default();
    let meta = row.meta.as_deref().unwrap_or(&empty);
    let words = words::read(&row.text);
    if meta.gate_id.is_some() || matches!(words.lead, words::Lead::Gate(_)) {
        return Shape::Gate;
    }
    match plain_kind(row, meta, words) {
        Kind::Parallel => Shape::Parallel,
        Kind::Loop => Shape::Loop,
        Kind::Frame(_) => Shape::Frame,
        Kind::Gate(_) => Shape::Gate,
        Kind::Statement | Kind::Branch(_) => Shape::Statement,
    }
}

/// The block that a row calls: then its id is the scope of what is bound in it (errata T6).
pub fn frame_block(row: &Execution) -> Option<&str> {
    if shape(row) != Shape::Frame {
        return None;
    }
    let named = row.meta.as_deref().and_then(|meta| meta.block.as_deref());
    match words::read(&row.text).lead {
        words::Lead::Do(block) => Some(named.unwrap_or(block)),
        _ => named,
    }
}

/// Whether a row of this text that has a `parallel_id` is read as what branches lie in: not where its words say that it is
/// something else.
pub(crate) fn may_hold_branches(text: &str) -> bool {
    matches!(
        words::read(text).lead,
        words::Lead::Unknown | words::Lead::Parallel
    )
}

/// Whether a text only names its branch (see [`branch_text`]).
pub(crate) fn is_branch_text(text: &str, branch: &str) -> bool {
    let name = text
        .strip_prefix("parallel:")
        .or_else(|| text.strip_prefix("item:"));
    name.is_some_and(|name| name.trim() == branch)
}

/// The text of a branch that is no statement itself: `parallel:a` (sqlite.md), and `item:a` in what is no parallel.
pub(crate) fn branch_text(parallel: &Execution, branch: &str) -> String {
    match shape(parallel) {
        Shape::Parallel => format!("parallel:{branch}"),
        _ => format!("item:{branch}"),
    }
}
