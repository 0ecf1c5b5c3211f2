//! Finds failures that were handled: statements in a `try` whose `catch` ran (errata T9).
//!
//! There are two kinds of evidence. Either the program contains the failed statement in a `try`, and another node is
//! tied to a statement in the `catch` of that `try`. Or `try` and `catch` have rows of their own.

use std::collections::BTreeMap;

use typed_index_collections::{TiSlice, TiVec};

use super::finish::lead;
use super::words::Lead;
use super::{Node, NodeId, NodeSlice, NodeStatus};
use crate::model::Run;
use crate::program::{Listing, StatementKind as Kind};

/// Marks failed nodes as recovered if a `catch` ran for them. Nodes are in preorder.
pub(super) fn recover(run: &Run, nodes: &mut NodeSlice, program: Option<&Listing>) {
    if !nodes.iter().any(|n| n.status == NodeStatus::Failed) {
        return;
    }
    let mut caught: TiVec<NodeId, bool> = vec![false; nodes.len()].into();
    by_rows(nodes, &mut caught);
    if let Some(program) = program {
        by_program(run, nodes, program, &mut caught);
    }
    for (at, node) in nodes.iter_mut_enumerated() {
        let above = node.parent.and_then(|p| caught.get(p)) == Some(&true);
        if let Some(caught) = caught.get_mut(at) {
            *caught |= above;
            node.recovered |= *caught && node.status == NodeStatus::Failed;
        }
    }
}

fn ran(node: &Node) -> bool {
    !node.derived && !matches!(node.status, NodeStatus::Pending | NodeStatus::Skipped)
}

/// Marks all nodes from a `try` row to the next `catch` row with the same parent as caught.
fn by_rows(nodes: &NodeSlice, caught: &mut TiSlice<NodeId, bool>) {
    // For each parent: its children since the last `try` row.
    let mut bodies: BTreeMap<Option<NodeId>, Vec<NodeId>> = BTreeMap::new();
    for (at, node) in nodes.iter_enumerated() {
        match lead(node) {
            Some(Lead::Try) => {
                bodies.insert(node.parent, vec![at]);
            }
            Some(Lead::Catch) => {
                let body = bodies.remove(&node.parent).unwrap_or_default();
                for at in body.into_iter().filter(|_| ran(node)) {
                    if let Some(caught) = caught.get_mut(at) {
                        *caught = true;
                    }
                }
            }
            _ => bodies
                .get_mut(&node.parent)
                .into_iter()
                .for_each(|body| body.push(at)),
        }
    }
}

/// Marks a statement in the body of a `try` as caught if a later statement of the same round or frame is tied into the
/// `catch` of that `try`.
fn by_program(run: &Run, nodes: &NodeSlice, program: &Listing, caught: &mut TiSlice<NodeId, bool>) {
    // Maximum number of enclosing statements that are examined. Real programs do not nest deeper, and hostile
    // programs stay cheap.
    const DEEPEST: usize = 32;
    // The node's statement and the statements around it in the program.
    let program_around = |node: &Node| {
        let own = node.line.and_then(|line| program.statement_at(line));
        let outer = own.into_iter().flat_map(|own| program.enclosing(own));
        own.into_iter().chain(outer).take(DEEPEST)
    };
    let mut around: TiVec<NodeId, Option<NodeId>> = TiVec::with_capacity(nodes.len());
    for node in nodes {
        // The round or frame around a node, because a catch in another round does not handle the node's failure.
        let inside = node.parent.and_then(|p| {
            let parent = nodes.get(p)?;
            if parent.kind.is_round() || parent.block(run).is_some() {
                Some(p)
            } else {
                around.get(p).copied().flatten()
            }
        });
        around.push(inside);
    }
    // For each round or frame and each `catch`: the last node that ran in that `catch`.
    let mut ran_in: BTreeMap<(Option<NodeId>, u32), NodeId> = BTreeMap::new();
    let is_catch = |at: &u32| program.get(*at).is_some_and(|s| s.kind == Kind::Catch);
    for ((at, node), inside) in nodes.iter_enumerated().zip(&around) {
        let catches = program_around(node).filter(is_catch);
        ran_in.extend(
            catches
                .filter(|_| ran(node))
                .map(|catch| ((*inside, catch), at)),
        );
    }
    if ran_in.is_empty() {
        return;
    }
    for ((at, node), inside) in nodes.iter_enumerated().zip(&around) {
        let mut catches = program_around(node).filter_map(|outer| program.catch_of(outer));
        let dealt_with = catches.any(|catch| ran_in.get(&(*inside, catch)) > Some(&at));
        if dealt_with && let Some(caught) = caught.get_mut(at) {
            *caught = true;
        }
    }
}
