//! Selects the rows that a writer must keep in memory to render a run's next state.md.

use std::collections::{BTreeMap, BTreeSet};

use typed_index_collections::TiVec;

use super::marks::live;
use crate::model::{Run, Status, Text};
use crate::program::Listing;
use crate::trace::{Node, NodeId, NodeKind, NodeStatus, Trace};

/// Returns the ids of the rows that the run's present state.md and all later ones depend on; other rows are history.
/// The number of rows is limited by the program's size and by what is open, not by how much ran.
///
/// Of each selected instance, the first and the last row are needed. Of a loop, the row that ended the last round is
/// needed, and the rows that ended rounds in which a selected instance began. These instances are selected, with all
/// instances around them:
///
/// - open instances, and the branches of an open parallel;
/// - in each open frame, and at the root: the last instance of each statement;
/// - in every instance that continues: the last instance of a statement if it failed, because the statement may be
///   tried again;
/// - the last instance of each statement number (`index`) and text, because these rows show how the run numbers its
///   statements, and so assign lines to rows;
/// - the last frame of each block, which determines the annotations once no frame of the block is open.
///
/// A new round of a loop replaces the annotations of the previous round. After the loop, the annotations from before
/// the loop apply again. Therefore instances inside and outside of each open loop are selected separately. Without the
/// program, all rows are needed.
pub fn rows_that_tell(run: &Run, trace: &Trace, program: Option<&Listing>) -> BTreeSet<i64> {
    let Some(listing) = program else {
        return run.executions.iter().map(|row| row.id).collect();
    };
    let row = |at: Option<u32>| at.and_then(|at| run.executions.get(at as usize));
    let ended = |node: &Node| row(node.last_row).is_none_or(|row| row.status.is_terminal());
    let mut kept: TiVec<NodeId, bool> = trace
        .nodes
        .iter()
        .map(|node| node.status.is_open() || !ended(node))
        .collect();
    let keep = |kept: &mut TiVec<NodeId, bool>, at: NodeId| {
        if let Some(kept) = kept.get_mut(at) {
            *kept = true;
        }
    };
    for at in Speaking::new(trace, listing).all(trace) {
        keep(&mut kept, at);
    }
    for at in teaching(run, trace) {
        keep(&mut kept, at);
    }
    // A branch is a direct child of its parallel and comes after it.
    for (at, node) in trace.nodes.iter_enumerated() {
        let of_kept = || node.parent.is_some_and(|p| kept.get(p) == Some(&true));
        if matches!(node.kind, NodeKind::Branch { .. }) && of_kept() {
            keep(&mut kept, at);
        }
    }
    // In preorder, descendants come after their node, so this reversed pass selects all ancestors of each
    // selected node.
    for (at, node) in trace.nodes.iter_enumerated().rev() {
        if let (Some(true), Some(above)) = (kept.get(at), node.parent) {
            keep(&mut kept, above);
        }
    }
    let mut rows = BTreeSet::new();
    let mut loops: BTreeMap<NodeId, Vec<i64>> = BTreeMap::new();
    let nodes = trace.nodes.iter_enumerated();
    for (at, node) in nodes.filter(|(at, _)| kept.get(*at) == Some(&true)) {
        rows.extend(row(node.first_row).map(|row| row.id));
        rows.extend(row(node.last_row).map(|row| row.id));
        if node.attempts > 1 {
            // The row of a failure or retry starts a new attempt: without it, the number of attempts would be lost.
            for status in [Status::Failed, Status::Retry] {
                rows.extend(rows_with(run, node, &status).last());
            }
        }
        if node.kind == NodeKind::Loop {
            let ends = rows_with(run, node, &Status::Iteration);
            rows.extend(ends.last());
            loops.insert(at, ends);
        }
        // The row that ended a round comes after the rows that began in the round, and assigns those rows to the round.
        let round = node.parent.and_then(|p| trace.node(p));
        if let Some(round) = round.filter(|r| matches!(r.kind, NodeKind::Round { .. }))
            && let Some(ends) = round.parent.and_then(|p| loops.get(&p))
            && let Some(id) = node.id
        {
            rows.extend(ends.get(ends.partition_point(|end| *end < id)));
        }
    }
    rows
}

/// Returns the last node of each statement number (`index`) and text, with at most eight texts for each number.
fn teaching(run: &Run, trace: &Trace) -> Vec<NodeId> {
    const TEXTS: usize = 8;
    let mut by_index: BTreeMap<i64, BTreeMap<&str, NodeId>> = BTreeMap::new();
    for (at, node) in trace.nodes.iter_enumerated() {
        let row = node
            .first_row
            .and_then(|at| run.executions.get(at as usize));
        let Some((index, row)) = row.and_then(|row| Some((row.index?, row))) else {
            continue;
        };
        let texts = by_index.entry(index).or_default();
        if texts.len() < TEXTS || texts.contains_key(&*row.text) {
            texts.insert(&row.text, at);
        }
    }
    by_index
        .into_values()
        .flat_map(BTreeMap::into_values)
        .collect()
}

/// Returns the rows of an instance with this status, in order of id.
fn rows_with(run: &Run, node: &Node, status: &Status) -> Vec<i64> {
    let has = |id: &&i64| {
        let at = run.executions.binary_search_by_key(*id, |row| row.id);
        let row = at.ok().and_then(|at| run.executions.get(at));
        row.is_some_and(|row| row.status == *status)
    };
    node.aliases.iter().filter(has).copied().collect()
}

/// The last current node of each statement and block, separately for each open loop around it.
#[derive(Default)]
struct Speaking<'a> {
    /// The key is the frame, the open loop, and the statement.
    statements: BTreeMap<(Option<NodeId>, Option<NodeId>, u32), NodeId>,
    /// The key is the block and the open loop.
    frames: BTreeMap<(&'a Text, Option<NodeId>), NodeId>,
    /// Statements whose last instance failed and may be tried again. The key is the statement, and the node around the
    /// statement, in which more may happen.
    failed: BTreeMap<(Option<NodeId>, u32), NodeId>,
}

impl<'a> Speaking<'a> {
    fn new(trace: &'a Trace, listing: &Listing) -> Speaking<'a> {
        let live = live(trace);
        let mut speaking = Speaking::default();
        // For each node, the frame and the open loop that contain it.
        let mut around: TiVec<NodeId, (Option<NodeId>, Option<NodeId>)> =
            TiVec::with_capacity(trace.nodes.len());
        for (at, node) in trace.nodes.iter_enumerated() {
            let above = node
                .parent
                .and_then(|p| Some((p, trace.node(p)?, *around.get(p)?)));
            let (frame, in_loop) = match above {
                None => (None, None),
                Some((p, parent, (frame, in_loop))) => match parent.kind {
                    NodeKind::Frame { .. } => (Some(p), in_loop),
                    NodeKind::Loop if goes_on(parent) => (frame, Some(p)),
                    _ => (frame, in_loop),
                },
            };
            around.push((frame, in_loop));
            let statement = node.line.and_then(|line| listing.statement_at(line));
            if let Some(statement) = statement {
                let place = (begun_in(trace, node), statement);
                let open = place.0.is_none_or(|at| is(trace, at, goes_on));
                if open && node.status == NodeStatus::Failed {
                    speaking.failed.insert(place, at);
                } else {
                    speaking.failed.remove(&place);
                }
            }
            if live.get(at) != Some(&true) {
                continue;
            }
            if let NodeKind::Frame { block, .. } = &node.kind {
                speaking.frames.insert((block, in_loop), at);
            }
            if let Some(statement) = statement {
                speaking.statements.insert((frame, in_loop, statement), at);
            }
        }
        speaking
    }

    /// Returns the nodes that determine annotations now, or may do so later.
    fn all(&self, trace: &Trace) -> BTreeSet<NodeId> {
        let last: BTreeSet<NodeId> = self.frames.values().copied().collect();
        let counts = |frame: &Option<NodeId>| {
            frame.is_none_or(|at| last.contains(&at) || is(trace, at, goes_on))
        };
        let told = self
            .statements
            .iter()
            .filter(|((frame, ..), _)| counts(frame))
            .map(|(_, at)| *at);
        let failed = self.failed.values().copied();
        told.chain(failed).chain(last.iter().copied()).collect()
    }
}

/// Returns the node in which a node began. For a node in a round, this is the loop.
fn begun_in(trace: &Trace, node: &Node) -> Option<NodeId> {
    let at = node.parent?;
    let above = trace.node(at)?;
    match above.kind {
        NodeKind::Round { .. } => above.parent,
        _ => Some(at),
    }
}

fn is(trace: &Trace, at: NodeId, what: fn(&Node) -> bool) -> bool {
    trace.node(at).is_some_and(what)
}

/// Returns whether more may happen inside of a node. A failed node counts, because it can be tried again.
fn goes_on(node: &Node) -> bool {
    node.status.is_open() || matches!(node.status, NodeStatus::Failed | NodeStatus::Abandoned)
}
