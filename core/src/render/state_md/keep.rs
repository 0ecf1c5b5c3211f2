//! Which rows a state.md is told by: what a writer must hold to render the next one.

use std::collections::BTreeSet;

use super::marks::Marks;
use crate::model::{Run, Status};
use crate::program::Listing;
use crate::trace::{NodeKind, Trace};

/// Ids of the rows that the run's state.md, and every later one, is rendered from; the others are history. Their
/// number is bounded by the program and by what is open, not by what ran.
///
/// Of an instance the first and the last row count, and of a loop the row that ended its last round. Instances that
/// count are those that are open, those that speak for a statement now, the branches of an open parallel, and
/// whatever these lie in. A run without its program is told by all of its rows.
pub fn rows_that_tell(run: &Run, trace: &Trace, program: Option<&Listing>) -> BTreeSet<i64> {
    let Some(listing) = program else {
        return run.executions.iter().map(|row| row.id).collect();
    };
    let marks = Marks::new(run, trace, listing, None);
    let row = |at: Option<u32>| at.and_then(|at| run.executions.get(at as usize));
    let mut kept: Vec<bool> = trace
        .nodes
        .iter()
        .map(|node| {
            node.status.is_open() || row(node.last_row).is_some_and(|row| !row.status.is_terminal())
        })
        .collect();
    let branches_of_open: Vec<usize> = trace
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| {
            let parent = node.parent.map(|p| p as usize);
            matches!(node.kind, NodeKind::Branch { .. })
                && parent.is_some_and(|p| kept.get(p) == Some(&true))
        })
        .map(|(at, _)| at)
        .collect();
    let speaking = marks.of.iter().flatten().chain(marks.frames());
    for at in speaking.map(|at| *at as usize).chain(branches_of_open) {
        if let Some(kept) = kept.get_mut(at) {
            *kept = true;
        }
    }
    // Preorder: what lies below a node comes behind it.
    for (at, node) in trace.nodes.iter().enumerate().rev() {
        if kept.get(at) == Some(&true)
            && let Some(above) = node.parent.and_then(|p| kept.get_mut(p as usize))
        {
            *above = true;
        }
    }
    let mut rows = BTreeSet::new();
    for (node, _) in trace.nodes.iter().zip(&kept).filter(|(_, kept)| **kept) {
        rows.extend(row(node.first_row).map(|row| row.id));
        rows.extend(row(node.last_row).map(|row| row.id));
        let rounds = node.aliases.iter().rev().find(|id| {
            let at = run.executions.binary_search_by_key(*id, |row| row.id);
            at.is_ok_and(|at| {
                let row = run.executions.get(at);
                row.is_some_and(|row| row.status == Status::Iteration)
            })
        });
        rows.extend(rounds);
    }
    rows
}
