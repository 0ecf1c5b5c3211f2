//! Interprets the complete tree of a trace: which nodes were abandoned, which node failed first and with which
//! consequences, and where the run is now (errata T7 to T10).
//!
//! All forms of runs share this module, because the module uses only the nodes and not their sources.

use std::collections::BTreeSet;

use typed_index_collections::TiVec;

use super::rows::Ledger;
use super::verdict::{self, Claim};
use super::words::{self, Lead};
use super::{Node, NodeId, NodeKind, NodeSlice, NodeStatus, Nodes, Trace, arena, caught, ways};
use crate::model::issue::{Issue, Severity};
use crate::model::{CompactLog, Run, RunStatus};
use crate::program::{Listing, StatementKind};

/// Builds the trace from nodes that are in preorder (see [`super::preorder::order`]).
///
/// `claims` are the statuses that the sources record for the run, most trusted first; `now` is in milliseconds since
/// 1970 UTC.
pub(crate) fn finish(
    run: &Run,
    program: Option<&Listing>,
    mut nodes: Nodes,
    claims: Vec<Claim>,
    now: Option<i64>,
    mut ledger: Ledger,
) -> Trace {
    let believed = verdict::believed(&claims).map(|at| claims[at].status.clone());
    let finished = believed.as_ref().is_some_and(RunStatus::is_finished);
    let open = nodes.iter().filter(|n| stands_open(n)).count();
    if finished {
        abandon(&mut nodes, &believed, &mut ledger);
    }
    caught::recover(run, &mut nodes, program);
    let questions = questions(run, &mut nodes, program);
    ways::compare(&nodes, program, &mut ledger);
    let rows = TimeOrder { run };
    let (first_cause, because_of) = match believed {
        Some(RunStatus::Completed) => (None, Vec::new()),
        _ => failure(&nodes, &rows, believed == Some(RunStatus::Failed)),
    };
    // Rounds are marked as failed after the search for consequences. No row records a round, so a round must not be
    // listed as a consequence.
    fail_rounds(&mut nodes);
    let positions = if finished {
        Vec::new()
    } else {
        positions(&nodes, program, &rows, &mut ledger)
    };
    let mut positions = positions;
    if run.log.is_some() && run.state_file.is_none() && !run.recorded_in_rows() {
        // A log records ends, so a statement whose status is an unknown word is over and not a position.
        let odd = |at: &NodeId| {
            nodes
                .get(*at)
                .is_some_and(|n| matches!(n.status, NodeStatus::Other(_)))
        };
        positions.retain(|at| !odd(at));
    }
    let waits = verdict::waits(&nodes, &positions, &questions, program);
    let verdict = verdict::verdict(run, &nodes, waits, claims, open, now, &mut ledger);
    let mut by_row: Vec<(i64, NodeId)> = Vec::with_capacity(run.executions.len());
    for (at, node) in nodes.iter_enumerated() {
        let ids = node.id.iter().chain(&node.aliases);
        by_row.extend(ids.map(|id| (*id, at)));
    }
    by_row.sort_unstable();
    Trace {
        nodes,
        positions,
        first_cause,
        because_of,
        verdict,
        by_row,
        told: Vec::new(),
        remarks: Vec::new(),
        unordered: false,
        issues: ledger.finish(),
    }
}

/// Marks the open inputs that nobody has answered as waiting, and the answered ones as completed. Returns the waiting
/// inputs.
fn questions(run: &Run, nodes: &mut NodeSlice, program: Option<&Listing>) -> BTreeSet<NodeId> {
    let mut questions = BTreeSet::new();
    // The names of the values that may be answers; collected only if a question is open.
    let mut answers: Option<BTreeSet<&str>> = None;
    for (at, node) in nodes.iter_mut_enumerated() {
        let statement = node.sure_index(program).filter(|_| node.status.is_open());
        let own = program
            .zip(statement)
            .and_then(|(listing, at)| listing.get(at));
        let Some(own) = own.filter(|own| own.kind == StatementKind::Input) else {
            continue;
        };
        let written = run.bindings.iter().filter(|binding| binding.is_written());
        let written = answers.get_or_insert_with(|| written.map(|b| &*b.name).collect());
        if own
            .name
            .as_deref()
            .is_some_and(|name| written.contains(name))
        {
            node.status = NodeStatus::Completed;
            node.derived = true;
        } else {
            node.status = NodeStatus::Waiting;
            questions.insert(at);
        }
    }
    questions
}

/// An order of nodes by time: by the id of a node's last row; for nodes without rows, by place in the tree.
struct TimeOrder<'a> {
    run: &'a Run,
}

impl TimeOrder<'_> {
    fn last(&self, node: &Node, at: NodeId) -> i64 {
        node.last_row
            .and_then(|row| self.run.executions.get(row as usize))
            .map_or_else(|| i64::from(at.get()), |row| row.id)
    }

    /// Returns whether the error that the log states for the run begins with the node's name, as in
    /// `searcher.AllCallsFailed`. The run then ended because of this node, whatever else failed before.
    fn is_named_in_error(&self, node: &Node) -> bool {
        let error = self.run.log.as_ref().and_then(CompactLog::error);
        let behind = error.and_then(|error| error.strip_prefix(&*node.text));
        let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        behind.is_some_and(|behind| !node.text.is_empty() && !behind.starts_with(in_name))
    }
}

/// Whether a node may be a position: the node is open, and a row or a gate records it. A round or an announced branch
/// is never a position.
fn stands_open(node: &Node) -> bool {
    node.status.is_open()
        && match node.kind {
            NodeKind::Round { .. } => false,
            NodeKind::Gate { .. } => true,
            _ => !node.derived,
        }
}

/// Marks open nodes of a finished run as abandoned (errata T7). An unknown status word may mean an end, so a node with
/// such a word keeps its status.
fn abandon(nodes: &mut NodeSlice, believed: &Option<RunStatus>, ledger: &mut Ledger) {
    let run = believed.as_ref().map_or("finished", RunStatus::word);
    for node in nodes {
        let unknown = matches!(&node.status, NodeStatus::Other(word) if !word.is_empty());
        if !node.status.is_open() || unknown {
            continue;
        }
        if let NodeKind::Round { .. } = node.kind {
            node.status = NodeStatus::Abandoned;
            node.derived = true;
            continue;
        }
        if !stands_open(node) {
            // The branch was announced but never ran.
            node.status = NodeStatus::Skipped;
            continue;
        }
        node.status = NodeStatus::Abandoned;
        node.derived = true;
        let end = format!("has no recorded end, but the run is {run}");
        note_open(node, &end, "The row is shown as abandoned.", ledger);
    }
}

/// Reports a node that is still open in a finished run. Writers use different words in rows (`started` by Prosescope,
/// `executing` by others), so the text `end` describes the missing end instead of the word.
fn note_open(node: &Node, end: &str, hint: &str, ledger: &mut Ledger) {
    ledger.note(Severity::Warning, "abandoned", || {
        let what = match node.id {
            Some(id) => format!("execution {id}"),
            None => format!("`{}`", node.text),
        };
        let issue = Issue::noted("", format!("{what} {end}")).hint(hint);
        issue.at_execution(node.id)
    });
}

/// Reports nodes that a state file still marks as running although the run is over.
pub(super) fn note_marks(nodes: &NodeSlice, run: &RunStatus, ledger: &mut Ledger) {
    let gate = |node: &Node| matches!(node.kind, NodeKind::Gate { .. });
    for node in nodes.iter().filter(|n| stands_open(n) && !gate(n)) {
        let hint = "The row is shown as ended with the run.";
        let end = format!(
            "is still marked {}, but the run is {}",
            node.status.word(),
            run.word()
        );
        note_open(node, &end, hint, ledger);
    }
}

/// Marks a round that was running when its loop was left as failed if the round contains a failure (errata T5).
/// Without a failure, the round was merely cut off.
fn fail_rounds(nodes: &mut NodeSlice) {
    let fails = arena::above(nodes, |_, node| node.has_failed());
    for (node, fails) in nodes.iter_mut().zip(fails) {
        if fails && node.status == NodeStatus::CutOff {
            node.status = NodeStatus::Failed;
        }
    }
}

/// Returns the first cause of a failed run, and the nodes that failed or were stopped as a consequence (errata T9).
fn failure(
    nodes: &NodeSlice,
    order: &TimeOrder<'_>,
    run_failed: bool,
) -> (Option<NodeId>, Vec<NodeId>) {
    let failed = Node::has_failed;
    let below = arena::above(nodes, |_, node| failed(node));
    let first = nodes
        .iter_enumerated()
        .filter(|(at, node)| failed(node) && below.get(*at) == Some(&false))
        .min_by_key(|(at, node)| (!order.is_named_in_error(node), order.last(node, *at), *at))
        .map(|(at, _)| at);
    // A rejected gate is not a failed row, but it ends a run too.
    let refused = || {
        let is = |node: &Node| matches!(node.status, NodeStatus::Rejected | NodeStatus::Timeout);
        nodes
            .iter_enumerated()
            .rfind(|(_, node)| is(node))
            .map(|(at, _)| at)
    };
    let Some(cause) = first.or_else(|| refused().filter(|_| run_failed)) else {
        return (None, Vec::new());
    };
    let Some(node) = nodes.get(cause) else {
        return (None, Vec::new());
    };
    let when = order.last(node, cause);
    let mut because: Vec<NodeId> = Vec::new();
    let mut stopped: Vec<NodeId> = Vec::new();
    let mut at = cause;
    loop {
        let parent = nodes.get(at).and_then(|n| n.parent);
        let parent_failed = parent.and_then(|p| nodes.get(p)).is_some_and(failed);
        // While the run continues, a statement may have been skipped for other reasons than the failure.
        if run_failed || parent_failed {
            for sibling in arena::children(nodes, parent) {
                let Some(node) = nodes.get(sibling).filter(|_| sibling != at) else {
                    continue;
                };
                let stops = match node.status {
                    NodeStatus::Skipped => !node.derived && order.last(node, sibling) > when,
                    NodeStatus::Abandoned => !matches!(node.kind, NodeKind::Round { .. }),
                    _ => false,
                };
                if stops {
                    stopped.push(sibling);
                }
            }
        }
        let Some(parent) = parent else { break };
        if parent_failed {
            because.push(parent);
        }
        at = parent;
    }
    stopped.sort_unstable();
    because.extend(stopped);
    (Some(cause), because)
}

/// Returns the run's positions: open nodes without open descendants (errata T8). There may be several (errata X8).
///
/// An open node whose construct was closed by a later row is used only if there is no other position, because the
/// later row is newer evidence. A statement that is announced after a running statement is not a position, and neither
/// is a branch that its parallel ended without.
fn positions(
    nodes: &NodeSlice,
    program: Option<&Listing>,
    order: &TimeOrder<'_>,
    ledger: &mut Ledger,
) -> Vec<NodeId> {
    let left = left_behind(nodes, program, order.run);
    let stands = |at: NodeId, node: &Node| stands_open(node) && left.get(at) != Some(&true);
    let mut closed_at: TiVec<NodeId, i64> = vec![i64::MIN; nodes.len()].into();
    let mut over: TiVec<NodeId, bool> = vec![false; nodes.len()].into();
    for (at, node) in nodes.iter_enumerated() {
        let above = node
            .parent
            .and_then(|p| closed_at.get(p))
            .copied()
            .unwrap_or(i64::MIN);
        let last = order.last(node, at);
        if let Some(slot) = over.get_mut(at) {
            *slot = stands(at, node) && node.last_row.is_some() && above > last;
        }
        // A row that is updated in place is closed at an unknown time, so its id does not show the order.
        let closes = !node.status.is_open()
            && !node.aliases.is_empty()
            && !matches!(node.kind, NodeKind::Round { .. });
        if let Some(slot) = closed_at.get_mut(at) {
            *slot = if closes { above.max(last) } else { above };
        }
    }
    for (at, node) in nodes.iter_enumerated() {
        if over.get(at) == Some(&true)
            && let Some(id) = node.id
        {
            ledger.note(Severity::Warning, "open-under-closed", || {
                let status = node.status.word();
                Issue::noted("", format!("execution {id} is still {status}, but a later row ended the statement around it"))
                    .hint("The later row counts, so the run is not shown as being at this execution.")
                    .at_row("execution", id)
            });
        }
    }
    let found = collect(nodes, |at, node| {
        stands(at, node) && over.get(at) == Some(&false)
    });
    if found.is_empty() {
        return collect(nodes, stands);
    }
    found
}

/// Returns for each node whether it is in a parallel that ended without waiting for all of its branches.
fn left_behind(nodes: &NodeSlice, program: Option<&Listing>, run: &Run) -> TiVec<NodeId, bool> {
    let mut left: TiVec<NodeId, bool> = TiVec::with_capacity(nodes.len());
    for node in nodes {
        let around = node.parent.and_then(|at| Some((at, nodes.get(at)?)));
        left.push(around.is_some_and(|(at, around)| {
            let waits_for_some = || around.needs_some(run, program);
            left.get(at) == Some(&true)
                || around.status == NodeStatus::Completed && waits_for_some()
        }));
    }
    left
}

fn collect(nodes: &NodeSlice, open: impl Fn(NodeId, &Node) -> bool) -> Vec<NodeId> {
    let below = arena::above(nodes, &open);
    // The parents of the open nodes so far.
    let mut busy: BTreeSet<Option<NodeId>> = BTreeSet::new();
    let mut found = Vec::new();
    for (at, node) in nodes.iter_enumerated() {
        let inside = below.get(at) == Some(&true);
        if !open(at, node) && !inside {
            continue;
        }
        let behind = !busy.insert(node.parent);
        let ahead =
            behind && node.status == NodeStatus::Pending && node.kind == NodeKind::Statement;
        if !inside && !ahead {
            found.push(at);
        }
    }
    found
}

/// Returns what the first word of a statement's text means, such as `try` or `catch`; `None` for any other node.
pub(super) fn lead(node: &Node) -> Option<Lead<'_>> {
    (node.kind == NodeKind::Statement).then(|| words::read(&node.text).lead)
}
