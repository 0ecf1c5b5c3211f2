//! Lists the statements ahead of every position: the rest of the position's body, then the statements after each
//! enclosing statement, frame by frame out to the program's end.

use super::walk::Walk;
use super::{Facts, Plan, Scopes};
use crate::model::RunStatus;
use crate::trace::{Node, NodeId, NodeKind};
use crate::view::{How, Stop};

/// Limit for the number of statements ahead that a plan lists.
pub(super) const MOST: usize = 4_000;
/// The number of innermost frames, and the number of outermost frames, that are searched around a position. Frames in
/// between are skipped.
pub(super) const FRAMES: usize = 64;

/// A position: a place where a run waits or runs, or where a failed run can begin again.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    /// The node at the position; `None` if no node is open and the position follows from the statement that ended last.
    pub node: Option<NodeId>,
    /// Why the run is at this place.
    pub stop: Stop,
    /// The node of the frame around the position; `None` at the root.
    pub frame: Option<NodeId>,
    /// The execution from which names at the position are resolved; `None` is the root.
    pub scope: Option<i64>,
    /// The program's statement at the position; `None` if unknown.
    pub statement: Option<u32>,
    /// Index into [`Plan::ahead`] of the first statement that runs when the run continues at this position.
    pub next: Option<usize>,
}

/// A statement that may run when the run continues.
#[derive(Debug, Clone, PartialEq)]
pub struct Ahead {
    /// The statement: an index into [`crate::program::Listing::statements`].
    pub statement: u32,
    /// Why the statement is ahead: surely next, or only under a condition.
    pub how: How,
    /// The execution from which the statement's names are resolved; `None` is the root.
    pub scope: Option<i64>,
    /// The block around the statement, if that block has yet to be called and therefore has no frame id.
    pub called: Option<u32>,
    /// The position after which the statement comes: an index into [`Plan::positions`].
    pub position: usize,
}

/// Returns the last failure inside the open node `within`, or inside the program for `None`. The run continues at this
/// failure. Returns `None` if a handler handled the failure, or if the open node is a parallel that allows the failure.
/// Also returns `None` if only bindings show what ran, because they record no order. A log or state file that ends with a
/// failure ends there.
fn failed_last(facts: Facts<'_>, mut within: Option<NodeId>) -> Option<NodeId> {
    if facts.trace.unordered {
        return None;
    }
    loop {
        if within.is_some_and(|at| facts.allows_failure(at).is_some()) {
            return None;
        }
        let ran = |(_, node): &(NodeId, &Node)| !node.derived || node.kind.is_round();
        let (last, node) = facts.inner(within).filter(ran).last()?;
        if node.kind.is_round() {
            within = Some(last);
            continue;
        }
        if !node.has_failed() {
            let around = facts.node(within?)?;
            let mut branches = facts.inner(within).filter(|(_, node)| node.has_failed());
            let failed = branches
                .next()
                .filter(|_| around.kind == NodeKind::Parallel);
            return failed.map(|(at, _)| at);
        }
        // If the failure has a handler, the run continues at the handler, not at the failed statement.
        let handler = || facts.listing?.handler(facts.statement(last)?);
        return handler().is_none().then(|| cause_of(facts, last));
    }
}

/// Returns the first cause of the run's failure if the cause is inside a failed node, else the failed node. Therefore a
/// run that was resumed before continues at the same place as the first time.
fn cause_of(facts: Facts<'_>, failed: NodeId) -> NodeId {
    let Some(cause) = facts.trace.first_cause else {
        return failed;
    };
    let mut around = Some(cause);
    while let Some(at) = around {
        if at == failed {
            return cause;
        }
        around = facts.node(at).and_then(|node| node.parent);
    }
    failed
}

/// Returns the run's positions, each with its reason.
fn stops(facts: Facts<'_>, notes: &mut Vec<String>) -> Vec<(Option<NodeId>, Stop)> {
    if facts.trace.verdict.status == RunStatus::Failed.word() {
        let Some(cause) = facts.trace.first_cause else {
            notes.push("the run failed, but no record shows at which statement".to_owned());
            return Vec::new();
        };
        return vec![(Some(cause), Stop::Failed)];
    }
    let stop = |at: NodeId| match (failed_last(facts, Some(at)), facts.node(at)) {
        (Some(failed), _) => (Some(failed), Stop::Failed),
        (None, Some(node)) if node.kind.is_gate() => (Some(at), Stop::Gate),
        (None, _) => (Some(at), Stop::Open),
    };
    let mut found: Vec<_> = facts.trace.positions.iter().map(|at| stop(*at)).collect();
    if !found.is_empty() {
        return found;
    }
    let unknown = facts.trace.verdict.status.is_empty();
    let note = if let Some(failed) = failed_last(facts, None) {
        found.push((Some(failed), Stop::Failed));
        return found;
    } else if unknown && facts.trace.nodes.is_empty() {
        "no execution is recorded: it is unknown whether the run has begun"
    } else {
        found.push((None, Stop::Between));
        "the run's status is not recorded: the statements after the last recorded statement are listed as still to run"
    };
    notes.extend(unknown.then(|| note.to_owned()));
    found
}

pub(super) fn add_positions(facts: Facts<'_>, plan: &mut Plan) {
    let scopes = Scopes::of(facts);
    for (node, stop) in stops(facts, &mut plan.notes) {
        let own = node.and_then(|at| facts.node(at));
        // If the node is a frame in which no statement has started yet, the position is inside that frame.
        let inside = match own {
            Some(own) if own.kind.is_frame() => node,
            _ => own.and_then(|own| own.parent),
        };
        plan.positions.push(Position {
            node,
            stop,
            frame: facts.trace.frame(inside),
            scope: scopes.at(inside),
            statement: node.and_then(|at| facts.statement(at)),
            next: None,
        });
    }
    let Some(listing) = facts.listing else {
        if !plan.positions.is_empty() {
            plan.notes.push(format!(
                "{}: the remaining statements and their inputs are unknown",
                facts.run.program.missing()
            ));
        }
        return;
    };
    let mut walk = Walk::new(facts, listing, &scopes);
    for (nth, position) in plan.positions.iter_mut().enumerate() {
        walk.position = nth;
        walk.first = None;
        walk.from(position.node);
        walk.called();
        position.next = walk.first;
        if let Some((gate, refused)) = walk.decided.take() {
            plan.decided.push(gate);
            if refused {
                position.stop = Stop::Refused;
                position.node = Some(gate);
                position.statement = facts.statement(gate);
            }
        }
    }
    if walk.is_full() {
        walk.unknown(format!(
            "only the first {MOST} remaining statements were examined"
        ));
    }
    plan.cut = walk.cut;
    plan.ahead = walk.ahead;
    plan.notes.extend(walk.notes);
    plan.notes.dedup();
}
