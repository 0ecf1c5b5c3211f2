//! What it means that a record of an end is missing: the one policy that differs by form.

use std::collections::BTreeSet;

use typed_index_collections::TiVec;

use super::{Node, NodeId, NodeKind, NodeSlice, NodeStatus};
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
pub(super) fn settle(nodes: &mut NodeSlice, silence: &Silence) {
    // Nodes after which something else ran in what they lie in: they are over.
    let mut passed: TiVec<NodeId, bool> = vec![false; nodes.len()].into();
    let mut later: BTreeSet<Option<NodeId>> = BTreeSet::new();
    let in_parallel = |node: &Node| {
        let around = node.parent.and_then(|p| nodes.get(p));
        around.is_some_and(|p| p.kind == NodeKind::Parallel)
    };
    for (node, passed) in nodes.iter().zip(&mut passed).rev() {
        *passed = !in_parallel(node) && later.contains(&node.parent);
        if !node.derived {
            later.insert(node.parent);
        }
    }
    join(nodes);
    for at in nodes.keys() {
        let parent = nodes.get(at).and_then(|node| node.parent);
        // What lies in something that was completed is over, too.
        let above = parent.is_some_and(|p| {
            let completed = |node: &Node| node.status == NodeStatus::Completed;
            passed.get(p) == Some(&true) || nodes.get(p).is_some_and(completed)
        });
        let (Some(node), Some(passed)) = (nodes.get_mut(at), passed.get_mut(at)) else {
            continue;
        };
        *passed |= above;
        // A gate's own record says how it stands, and an announced branch ran nowhere.
        let waits = matches!(node.kind, NodeKind::Gate { .. }) && !node.derived;
        // An outcome in words that are not understood is one all the same.
        let odd = matches!(&node.status, NodeStatus::Other(word) if !word.trim().is_empty());
        if !node.status.is_open() || waits || odd {
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
fn join(nodes: &mut NodeSlice) {
    let mut branches: TiVec<NodeId, (u32, bool)> = vec![(0, true); nodes.len()].into();
    for (node, at) in nodes.iter_mut().zip(branches.keys()).rev() {
        let (count, over) = branches.get(at).copied().unwrap_or_default();
        if node.kind == NodeKind::Parallel && node.status.is_open() && count > 0 && over {
            node.status = NodeStatus::Completed;
            node.derived = true;
        }
        let open = node.status.is_open();
        if let Some((count, over)) = node.parent.and_then(|p| branches.get_mut(p)) {
            *count += 1;
            *over &= !open;
        }
    }
}
