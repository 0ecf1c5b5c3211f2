//! What it means that a record of an end is missing (one-fold.md: "the one policy that differs by form").

use super::{Node, NodeKind, NodeStatus};
use crate::model::RunStatus;

/// What silence means where a run is told by lines that are written as things end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Silence {
    /// The run has ended: what stands open ended with it.
    Over(RunStatus),
    /// The run stopped to go on later: what stands open stands where it stopped.
    Open,
    /// Nothing says whether the run goes on.
    Unknown,
}

/// Settles what stands open in nodes that stand in preorder.
pub(super) fn settle(nodes: &mut [Node], silence: &Silence) {
    // Nodes after which something else ran in what they lie in: they are over.
    let mut passed = vec![false; nodes.len()];
    let mut later: Vec<bool> = vec![false; nodes.len() + 1];
    for at in (0..nodes.len()).rev() {
        let Some(node) = nodes.get(at) else { continue };
        let around = node.parent.map_or(nodes.len(), |p| p as usize);
        let beside = node
            .parent
            .and_then(|p| nodes.get(p as usize))
            .is_some_and(|p| p.kind == NodeKind::Parallel);
        if let Some(passed) = passed.get_mut(at) {
            *passed = !beside && later.get(around) == Some(&true);
        }
        if let Some(later) = later.get_mut(around) {
            *later |= !node.derived;
        }
    }
    join(nodes);
    for at in 0..nodes.len() {
        let parent = nodes.get(at).and_then(|node| node.parent);
        // What lies in something that was completed is over, too.
        let above = parent.is_some_and(|p| {
            passed.get(p as usize) == Some(&true)
                || nodes
                    .get(p as usize)
                    .is_some_and(|node| node.status == NodeStatus::Completed)
        });
        if let (true, Some(passed)) = (above, passed.get_mut(at)) {
            *passed = true;
        }
        let (Some(node), Some(passed)) = (nodes.get_mut(at), passed.get(at)) else {
            continue;
        };
        // A gate's own record says how it stands, and an announced branch ran nowhere.
        let waits = matches!(node.kind, NodeKind::Gate { .. }) && !node.derived;
        if !node.status.is_open() || waits {
            continue;
        }
        let announced = node.status == NodeStatus::Pending && node.derived;
        node.status = match silence {
            _ if announced => match (*passed, silence) {
                (false, Silence::Unknown | Silence::Open) => continue,
                _ => NodeStatus::Skipped,
            },
            _ if *passed => NodeStatus::Completed,
            Silence::Over(RunStatus::Completed) => NodeStatus::Completed,
            Silence::Over(_) => NodeStatus::CutOff,
            Silence::Open => continue,
            Silence::Unknown => NodeStatus::Unknown,
        };
        node.derived |= !matches!(node.kind, NodeKind::Round { .. });
    }
}

/// A parallel all of whose branches are over has nothing more to do.
fn join(nodes: &mut [Node]) {
    let mut branches = vec![(0_u32, true); nodes.len()];
    for at in (0..nodes.len()).rev() {
        let Some(node) = nodes.get_mut(at) else {
            continue;
        };
        let (count, over) = branches.get(at).copied().unwrap_or_default();
        if node.kind == NodeKind::Parallel && node.status.is_open() && count > 0 && over {
            node.status = NodeStatus::Completed;
            node.derived = true;
        }
        let open = node.status.is_open();
        let parent = node.parent.and_then(|p| branches.get_mut(p as usize));
        if let Some((count, over)) = parent {
            *count += 1;
            *over &= !open;
        }
    }
}
