//! Determines the kind of a single row without folding the run, for writers that create rows.

use super::sweep::{InstanceKind, plain_kind};
use super::words;
use crate::model::{Execution, Meta};

/// The kind of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowShape {
    /// A plain statement.
    Statement,
    /// A parallel block.
    Parallel,
    /// A loop.
    Loop,
    /// A call of a block, with a scope of its own.
    Frame,
    /// A gate.
    Gate,
}

/// Returns a row's kind, from its text and its metadata.
pub fn shape(row: &Execution) -> RowShape {
    let empty = Meta::default();
    let meta = row.meta.as_deref().unwrap_or(&empty);
    let words = words::read(&row.text);
    if meta.gate_id.is_some() || matches!(words.lead, words::Lead::Gate(_)) {
        return RowShape::Gate;
    }
    match plain_kind(row, meta, words) {
        InstanceKind::Parallel => RowShape::Parallel,
        InstanceKind::Loop => RowShape::Loop,
        InstanceKind::Frame(_) => RowShape::Frame,
        InstanceKind::Gate(_) => RowShape::Gate,
        InstanceKind::Statement | InstanceKind::Branch(_) => RowShape::Statement,
    }
}

/// Returns the block that a row calls; the row's id is then the scope of the block's bindings (errata T6).
pub fn frame_block(row: &Execution) -> Option<&str> {
    if shape(row) != RowShape::Frame {
        return None;
    }
    let named = row.meta.as_deref().and_then(|meta| meta.block.as_deref());
    match words::read(&row.text).lead {
        words::Lead::Do(block) => Some(named.unwrap_or(block)),
        _ => named,
    }
}

/// Whether a row with this text and a `parallel_id` can contain branches. A row whose text begins another construct,
/// such as a loop, cannot.
pub(crate) fn may_hold_branches(text: &str) -> bool {
    matches!(
        words::read(text).lead,
        words::Lead::Unknown | words::Lead::Parallel
    )
}

/// Whether a text consists only of its branch's name, such as `parallel:a` (see [`branch_text`]).
pub(crate) fn is_branch_text(text: &str, branch: &str) -> bool {
    let name = text
        .strip_prefix("parallel:")
        .or_else(|| text.strip_prefix("item:"));
    name.is_some_and(|name| name.trim() == branch)
}

/// Returns the text of a branch without a statement of its own: `parallel:a` (sqlite.md), or `item:a` in a construct
/// that is not a parallel block.
pub(crate) fn branch_text(parallel: &Execution, branch: &str) -> String {
    match shape(parallel) {
        RowShape::Parallel => format!("parallel:{branch}"),
        _ => format!("item:{branch}"),
    }
}
