//! Lists the statements ahead of every position: the rest of the position's body, then the statements after each
//! enclosing statement, frame by frame out to the program's end.

use super::walk::AheadWalk;
use super::{ResumeFacts, ResumePlan, Scopes};
use crate::model::RunStatus;
use crate::pages::view::{How, Stop};
use crate::program::StatementKind;
use crate::record::stands;
use crate::trace::{Node, NodeId, NodeKind};

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
    /// Index into [`ResumePlan::ahead`] of the first statement that runs when the run continues at this position.
    pub next: Option<usize>,
}

/// A statement that may run when the run continues.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementAhead {
    /// The statement: an index into [`crate::program::Listing::statements`].
    pub statement: u32,
    /// Why the statement is ahead: surely next, or only under a condition.
    pub how: How,
    /// The execution from which the statement's names are resolved; `None` is the root.
    pub scope: Option<i64>,
    /// The block around the statement, if that block has yet to be called and therefore has no frame id.
    pub called: Option<u32>,
    /// The position after which the statement comes: an index into [`ResumePlan::positions`].
    pub position: usize,
}

/// Returns the last failure inside the open node `within`, or inside the program for `None`, and the statement that
/// handles it, if there is one. The run continues at the failure, or at its handler. Returns `None` if nothing failed
/// last, or if the open node is a parallel that allows the failure. Also returns `None` if only bindings show what ran,
/// because they record no order. A log or state file that ends with a failure ends there.
fn failed_last(
    facts: ResumeFacts<'_>,
    mut within: Option<NodeId>,
) -> Option<(NodeId, Option<u32>)> {
    if facts.trace.unordered {
        return None;
    }
    loop {
        let around = within.and_then(|at| facts.node(at));
        if within.is_some_and(|at| facts.allows_failure(at).is_some()) {
            return None;
        }
        // A `finally` that ran does not make up for the failure of its `try`.
        let cleans_up = |at: NodeId, node: &Node| {
            let own = facts.statement(at).and_then(|own| facts.listing?.get(own));
            !node.has_failed() && own.is_some_and(|own| own.kind == StatementKind::Finally)
        };
        let ran = |(at, node): &(NodeId, &Node)| {
            let present = facts.trace.is_present(facts.run, node) != Some(false);
            present && !node.derived && !cleans_up(*at, node) || node.kind.is_round()
        };
        let mut inner = facts.inner(within).filter(ran);
        // Of several failed branches, the first comes first.
        let (last, node) = if around.is_some_and(|around| around.kind == NodeKind::Parallel) {
            inner.find(|(_, node)| node.has_failed())?
        } else {
            inner.last()?
        };
        if node.kind.is_round() {
            within = Some(last);
            continue;
        }
        let handler = facts.statement(last);
        let handler = handler.and_then(|at| facts.listing?.handler(at));
        // If the handler failed as well, the failure is not handled.
        let ran = handler.and_then(|handler| ran_after(facts, last, handler));
        if !ran.unwrap_or(node).has_failed() {
            return None;
        }
        return Some((cause_of(facts, last), handler.filter(|_| ran.is_none())));
    }
}

/// Returns the execution of a statement after a node, in the same body or in one around it.
fn ran_after(facts: ResumeFacts<'_>, node: NodeId, statement: u32) -> Option<&Node> {
    let around = facts.node(node).and_then(|node| node.parent);
    let bodies = facts.trace.upward(around).map(Some).chain([None]);
    let mut later = bodies.flat_map(|body| facts.inner(body));
    let is_it = |(at, own): &(NodeId, &Node)| {
        *at > node && !own.derived && facts.statement(*at) == Some(statement)
    };
    later.find(is_it).map(|(_, own)| own)
}

/// Returns the first cause of the run's failure if the cause is inside a failed node, else the failed node. Therefore a
/// run that was resumed before continues at the same place as the first time.
fn cause_of(facts: ResumeFacts<'_>, failed: NodeId) -> NodeId {
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

/// A place where a run stopped: its node, the reason, and the handler of the failure there.
type StopPlace = (Option<NodeId>, Stop, Option<u32>);

/// Returns the run's positions.
fn stops(facts: ResumeFacts<'_>, notes: &mut Vec<String>) -> Vec<StopPlace> {
    if facts.trace.verdict.status == RunStatus::Failed.word() {
        let Some(cause) = facts.trace.first_cause else {
            notes.push("the run failed, but no record shows at which statement".to_owned());
            return Vec::new();
        };
        return vec![(Some(cause), Stop::Failed, None)];
    }
    let stop = |at: NodeId| match (failed_last(facts, Some(at)), facts.node(at)) {
        (Some((failed, None)), _) => (Some(failed), Stop::Failed, None),
        (Some((_, handler)), _) => (Some(at), Stop::Open, handler),
        (None, Some(node)) if node.kind.is_gate() => (Some(at), Stop::Gate, None),
        (None, _) => (Some(at), Stop::Open, None),
    };
    let mut found: Vec<_> = facts.trace.positions.iter().map(|at| stop(*at)).collect();
    if !found.is_empty() {
        return found;
    }
    let unknown = facts.trace.verdict.status.is_empty();
    let failed = failed_last(facts, None);
    let note = if let Some((failed, None)) = failed {
        found.push((Some(failed), Stop::Failed, None));
        return found;
    } else if unknown && facts.trace.nodes.is_empty() {
        "no execution is recorded: it is unknown whether the run has begun"
    } else {
        found.push((None, Stop::Between, failed.and_then(|(_, handler)| handler)));
        "the run's status is not recorded: the statements after the last recorded statement are listed as still to run"
    };
    notes.extend(unknown.then(|| note.to_owned()));
    found
}

pub(super) fn add_positions(facts: ResumeFacts<'_>, plan: &mut ResumePlan) {
    let scopes = Scopes::of(facts);
    let stops = stops(facts, &mut plan.notes);
    for (node, stop, _) in stops.iter().copied() {
        let own = node.and_then(|at| facts.node(at));
        // If the node is a frame in which no statement has started yet, the position is inside that frame.
        let inside = match own {
            Some(own) if own.is_frame => node,
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
    let mut walk = AheadWalk::new(facts, listing, &scopes);
    let stands = stands(facts.run, facts.trace, facts.listing);
    for (nth, (position, (.., handler))) in plan.positions.iter_mut().zip(stops).enumerate() {
        let own = position.node.and_then(|at| facts.node(at)?.id);
        let known = matches!(position.stop, Stop::Open | Stop::Between);
        // An open execution inside of one that ended is a position only if there is no other.
        let stand = stands
            .get(&own)
            .or_else(|| stands.get(&None))
            .filter(|_| known);
        walk.position = nth;
        walk.first = None;
        walk.from(position.node);
        walk.called();
        position.next = walk.first;
        if let Some((gate, refused)) = walk.decided.take() {
            plan.decided.push(gate);
            if refused && stand.is_none() {
                position.stop = Stop::Refused;
                position.node = Some(gate);
                position.statement = facts.statement(gate);
            }
        }
        if let Some(handler) = handler {
            let at = walk
                .ahead
                .iter()
                .rposition(|ahead| ahead.statement == handler);
            position.next = at.or(position.next);
        } else if let Some(stand) = stand {
            position.next = walk.ahead_at(*stand).or(position.next);
        }
    }
    if walk.is_full() {
        walk.unknown(format!(
            "only the first {MOST} remaining statements were examined"
        ));
    }
    if let Some(line) = listing.cut_at().filter(|_| !plan.positions.is_empty()) {
        walk.unknown(format!(
            "line {line} says that more of the program follows: the statements after it are unknown"
        ));
    }
    // A trace that stands in for the program may lack statements.
    plan.cut = walk.cut || facts.run.program.source.is_none() || facts.run.form.has_nodes();
    plan.ahead = walk.ahead;
    plan.notes.extend(walk.notes);
    plan.notes.dedup();
}
