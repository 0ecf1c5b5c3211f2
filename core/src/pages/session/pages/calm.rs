//! Finds the parts of a trace that went well. Views fold these parts, so that the first screen shows the problems.

use std::collections::BTreeSet;

use super::joined::drawn;
use crate::model::text::short;
use crate::pages::session::values::ValueTable;
use crate::pages::session::{Opened, Session};
use crate::pages::view::TracePage;
use crate::trace::{Node, NodeId, NodeKind, NodeStatus};

/// The largest number of characters of an argument that the row of a call shows.
const ARGUMENT: usize = 60;

/// Returns the outermost nodes that went well, together with everything inside of them. A recovered failure did not go
/// well, because users want to see how the run recovered.
pub fn went_well(opened: &Opened) -> &BTreeSet<NodeId> {
    opened.index.well.get_or_init(|| outermost(opened))
}

/// Returns whether a node itself did not go well. A skipped node went well, because the program decided to skip it.
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
        at = if calm { trace.end(at) } else { at.next() };
    }
    well
}

/// Adds to the row of each block call the beginning of the call's first argument.
pub fn name_calls(session: &Session, page: &mut TracePage) {
    for row in page.rows.iter_mut().filter(|row| row.depth.is_some()) {
        row.argument = row.id.and_then(|id| argument(session, id));
    }
}

/// Returns the beginning of a call's first argument; `None` if it is not recorded, or empty. Each is read once, because
/// a list or a search names the same call for many values.
fn argument(session: &Session, call: i64) -> Option<String> {
    let at = session.index.arguments.get(&call)?;
    let binding = session.run.bindings.get(*at as usize)?;
    let mut known = session.values.arguments.borrow_mut();
    let words = known.entry(call).or_insert_with(|| {
        let preview = session.values.preview(ValueTable::Bindings, &binding.value);
        short(&preview, ARGUMENT)
    });
    Some(words.clone()).filter(|words| !words.is_empty())
}

/// Returns a scope in words; see [`crate::pages::view::BindingRow::scope`].
pub(in crate::pages::session) fn scope_words(session: &Session, frame: Option<i64>) -> String {
    let Some(id) = frame else {
        return "root".to_owned();
    };
    let node = session.node_of_row(id).and_then(|at| session.node(at));
    match (node.map(|node| &node.kind), argument(session, id)) {
        (Some(NodeKind::Frame { block, .. }), Some(words)) => format!("{block}(\"{words}\")"),
        _ => format!("frame {id}"),
    }
}

#[cfg(test)]
mod tests;
