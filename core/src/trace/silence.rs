//! Decides the status of nodes whose end is not recorded, in runs whose form records each end when it happens.

use std::collections::BTreeSet;

use typed_index_collections::TiVec;

use super::{Node, NodeId, NodeKind, NodeSlice, NodeStatus};
use crate::model::RunStatus;

/// The meaning of a missing record of a node's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Silence {
    /// The run has ended, so open nodes ended with it.
    Over(RunStatus),
    /// The run was interrupted, so it stopped at its open nodes.
    Open,
    /// It is unknown whether the run continues.
    Unknown,
}

/// Sets the status of open nodes; nodes are in preorder.
pub(super) fn settle(nodes: &mut NodeSlice, silence: &Silence) {
    // Nodes that must be over, because a later sibling ran.
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
        // A node is over if its parent is over or completed.
        let above = parent.is_some_and(|p| {
            let completed = |node: &Node| node.status == NodeStatus::Completed;
            passed.get(p) == Some(&true) || nodes.get(p).is_some_and(completed)
        });
        let (Some(node), Some(passed)) = (nodes.get_mut(at), passed.get_mut(at)) else {
            continue;
        };
        *passed |= above;
        // A gate stays open, because the gate's own record shows whether the gate was decided.
        let waits = matches!(node.kind, NodeKind::Gate { .. }) && !node.derived;
        // A status in an unknown word is kept, because it may still be an outcome.
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
            // No record shows that the wait ended well.
            _ if node.status == NodeStatus::Waiting
                && (*passed || matches!(silence, Silence::Over(RunStatus::Completed))) =>
            {
                NodeStatus::Unknown
            }
            _ if *passed => NodeStatus::Completed,
            Silence::Over(RunStatus::Completed) => NodeStatus::Completed,
            Silence::Over(_) => NodeStatus::CutOff,
            Silence::Open => continue,
            Silence::Unknown => NodeStatus::Unknown,
        };
        node.derived |= !matches!(node.kind, NodeKind::Round { .. });
    }
}

/// Completes parallel blocks whose branches are all over.
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
