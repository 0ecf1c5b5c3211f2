//! Walks from an execution to the root of the trace's tree. In this tree, all rows of an execution are one node, and a
//! branch is inside its parallel block. A frame is identified by the id in its own store (errata B4).

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::model::Run;
use crate::trace::{NodeId, Trace};

/// The walk from an execution to the root.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// The executions that are scopes on the way to the root, innermost first.
    pub(super) chain: Vec<i64>,
    /// The fault that ended the walk early.
    pub(super) bend: Option<Bend>,
    /// Whether the execution at which the walk begins has no parent.
    pub(super) alone: bool,
}

/// Why a walk ended before the root.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bend {
    /// The ancestors of the execution include the execution itself (errata B2).
    Circle(i64),
    /// The execution records a parent that does not exist. Fields: execution, parent.
    Orphan(i64, i64),
    /// The execution records itself as its parent.
    Itself(i64),
    /// The execution records no parent, although its metadata records a depth (errata B3). Fields: execution, depth.
    NoParent(i64, i64),
}

/// Returns the id of the execution to which a row belongs: the id of the execution's first row (errata T3).
pub(super) fn instance(trace: &Trace, id: i64) -> i64 {
    let node = trace.of_row(id).and_then(|at| trace.node(at));
    node.and_then(|node| node.id).unwrap_or(id)
}

/// Walks from an execution to the root. Leaves out executions that are not frames, except the starting execution and
/// the executions in `scopes`.
pub(super) fn way(run: &Run, trace: &Trace, from: i64, scopes: &BTreeSet<i64>) -> Way {
    let mut way = Way::default();
    let mut passed = 0_u32;
    way.bend = visit(run, trace, from, |id, is_frame| {
        if passed == 0 || is_frame || scopes.contains(&id) {
            way.chain.push(id);
        }
        passed = passed.saturating_add(1);
        ControlFlow::Continue(())
    });
    way.alone = passed == 1;
    way
}

/// Returns the first execution on the walk from `from` to the root for which `wanted` is true.
pub(super) fn nearest(
    run: &Run,
    trace: &Trace,
    from: i64,
    wanted: impl Fn(i64) -> bool,
) -> Option<i64> {
    let mut found = None;
    visit(run, trace, from, |id, _| {
        if wanted(id) {
            found = Some(id);
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    found
}

/// Walks to the root and calls `each` for every execution, with the execution's id and whether it is a frame. Returns
/// the fault that ended the walk.
fn visit(
    run: &Run,
    trace: &Trace,
    from: i64,
    mut each: impl FnMut(i64, bool) -> ControlFlow<()>,
) -> Option<Bend> {
    let Some(start) = trace.of_row(from) else {
        let _ = each(from, true);
        return None;
    };
    let mut tell = |at: NodeId| {
        let node = trace.node(at);
        match node.and_then(|node| Some((node.id?, node.is_frame))) {
            Some((id, is_frame)) => each(id, is_frame),
            None => ControlFlow::Continue(()),
        }
    };
    let mut root = start;
    for at in trace.upward(Some(start)) {
        root = at;
        if tell(at).is_break() {
            return None;
        }
    }
    let (bend, next) = end(run, trace, root)?;
    // The trace opens a cycle of parents at one execution, which becomes a root. Some executions of the cycle are below
    // that root without being above `start`, so the walk continues with them.
    let passed = |at: NodeId| at <= start && start < trace.end(at);
    let rest = trace.upward(next).take_while(|at| !passed(*at));
    let _ = rest.map(tell).find(ControlFlow::is_break);
    Some(bend)
}

/// Returns the fault at the top of a walk, and the node at which the walk would continue.
fn end(run: &Run, trace: &Trace, root: NodeId) -> Option<(Bend, Option<NodeId>)> {
    let node = trace.node(root)?;
    let id = node.id?;
    let row = run.executions.get(node.first_row? as usize)?;
    let Some(parent) = row.parent else {
        let depth = row.meta.as_deref().and_then(|meta| meta.depth)?;
        return (depth > 1).then_some((Bend::NoParent(id, depth), None));
    };
    Some(match trace.of_row(parent) {
        None => (Bend::Orphan(id, parent), None),
        Some(at) if at == root => (Bend::Itself(id), None),
        Some(next) => (Bend::Circle(id), Some(next)),
    })
}
