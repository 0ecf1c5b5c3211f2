//! Checks the invariants of every trace.

use prosescope_core::model::Run;
use prosescope_core::trace::{NodeId, Trace, fold};

pub(crate) fn folded(run: &Run) -> Trace {
    let trace = fold(run, None, None);
    let mut wrong = Vec::new();
    sound(run, &trace, &mut wrong);
    assert!(wrong.is_empty(), "{:?}", wrong.first());
    trace
}

/// Checks the invariants of a trace: preorder, levels, descendants, each row in exactly one node, by_row, positions.
pub(crate) fn sound(run: &Run, trace: &Trace, wrong: &mut Vec<String>) {
    let mut seen: Vec<(i64, NodeId)> = Vec::new();
    let mut open: Vec<(NodeId, NodeId)> = Vec::new();
    for (at, node) in trace.nodes.iter_enumerated() {
        while open.last().is_some_and(|(_, end)| *end <= at) {
            open.pop();
        }
        let parent = open.last().map(|(at, _)| *at);
        if node.parent != parent || node.level as usize != open.len() {
            wrong.push(format!("{at:?} is out of place: {node:?}"));
        }
        let end = trace.end(at);
        if end > trace.nodes.next_key() || open.last().is_some_and(|(_, outer)| end > *outer) {
            wrong.push(format!("{at:?} counts too many descendants: {node:?}"));
        }
        open.push((at, end));
        let ids = node.id.iter().chain(&node.aliases);
        seen.extend(ids.map(|id| (*id, at)));
        if node.text.is_empty() && node.id.is_none() {
            wrong.push(format!("{at:?} has neither a row nor a name"));
        }
    }
    seen.sort_unstable();
    if seen != trace.by_row {
        wrong.push("by_row is not what the nodes say".to_owned());
    }
    let mut rows: Vec<i64> = run.executions.iter().map(|row| row.id).collect();
    rows.sort_unstable();
    let placed: Vec<i64> = seen.iter().map(|(id, _)| *id).collect();
    if rows != placed {
        wrong.push(format!("rows {rows:?} became {placed:?}"));
    }
    if !trace.positions.is_sorted()
        || trace
            .positions
            .iter()
            .any(|at| *at >= trace.nodes.next_key())
    {
        wrong.push(format!("positions {:?}", trace.positions));
    }
}
