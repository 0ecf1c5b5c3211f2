//! What of a trace went well, and can be folded: then what did not is on the first screen.

use std::collections::BTreeSet;

use super::joined::drawn;
use crate::model::Binding;
use crate::session::values::Table;
use crate::session::{Opened, Session};
use crate::text::short;
use crate::trace::{Node, NodeId, NodeStatus};
use crate::view::TracePage;

/// How much of a call's argument stands beside it.
const ARGUMENT: usize = 60;

/// The outermost nodes that went well together with all that lies in them. A failure that was recovered is none: how it was
/// made good is worth seeing.
pub fn went_well(opened: &Opened) -> &BTreeSet<NodeId> {
    opened.index.well.get_or_init(|| outermost(opened))
}

/// Whether a node by itself did not go well. What was passed over went as the program says.
pub(super) fn is_odd(node: &Node) -> bool {
    let is_well = matches!(
        node.status,
        NodeStatus::Completed | NodeStatus::Approved | NodeStatus::Skipped
    );
    !is_well || node.recovered
}

fn outermost(opened: &Opened) -> BTreeSet<NodeId> {
    let trace = &opened.trace;
    let below = trace.above(|_, node| is_odd(node));
    let mut well = BTreeSet::new();
    let mut at = NodeId::new(0);
    while let Some(node) = opened.node(at) {
        let calm = !is_odd(node) && below.get(at) != Some(&true);
        if calm && node.descendants > 0 {
            well.insert(drawn(opened, at));
        }
        at = match calm {
            true => trace.end(at),
            false => at.next(),
        };
    }
    well
}

/// Says beside each call of a block what it was given first: the beginning of that value.
pub fn name_calls(session: &Session, page: &mut TracePage) {
    for row in page.rows.iter_mut().filter(|row| row.depth.is_some()) {
        let argument = row.id.and_then(|id| session.index.arguments.get(&id));
        let argument = argument.and_then(|at| session.run.bindings.get(*at as usize));
        let preview = |of: &Binding| session.values.preview(Table::Bindings, &of.value);
        row.argument = argument
            .map(|of| short(&preview(of), ARGUMENT))
            .filter(|words| !words.is_empty());
    }
}

#[cfg(test)]
mod tests;
