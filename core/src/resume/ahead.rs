//! The statements ahead of every position: the rest of its body, then of what that lies in, frame by frame out to the
//! program's end.

use super::walk::Walk;
use super::{Facts, Plan, Scopes};
use crate::model::RunStatus;
use crate::trace::{Node, NodeId, NodeKind, NodeStatus};

/// Statements that are looked ahead.
pub(super) const MOST: usize = 4_000;
/// Frames on the way out of a position that are looked at from the inside, and as many from the outside.
pub(super) const FRAMES: usize = 64;

/// Where a run stands, or can begin again.
#[derive(Debug, Clone, PartialEq)]
pub struct Stand {
    /// The node; `None` where nothing is open and the place follows from what ended last.
    pub node: Option<NodeId>,
    /// Why it stands there.
    pub stop: Stop,
    /// The node of the frame that it lies in.
    pub frame: Option<NodeId>,
    /// The execution that names are resolved from; `None` is the root.
    pub scope: Option<i64>,
    /// The statement that it is tied to.
    pub statement: Option<u32>,
    /// Index into [`Plan::ahead`] of what comes first when the run goes on here.
    pub next: Option<usize>,
}

/// Why a run stands somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The statement was begun, and no end is recorded.
    Open,
    /// It is the first cause of the run's failure.
    Failed,
    /// It waits at a gate.
    Gate,
    /// Nothing is open: the next statement has not begun.
    Between,
    /// Nothing is open behind a gate that was turned down: what that means is still to be done.
    Refused,
}

impl Stop {
    /// `open`, `failed`, `gate`, `between`, `refused`.
    pub fn word(self) -> &'static str {
        match self {
            Stop::Open => "open",
            Stop::Failed => "failed",
            Stop::Gate => "gate",
            Stop::Between => "between",
            Stop::Refused => "refused",
        }
    }
}

/// A statement ahead.
#[derive(Debug, Clone, PartialEq)]
pub struct Ahead {
    /// Index into [`crate::program::Listing::statements`].
    pub statement: u32,
    /// How it comes to run.
    pub how: How,
    /// The execution that its names are resolved from; `None` is the root.
    pub scope: Option<i64>,
    /// The block that is called on the way, where it lies in one: the frame has no id yet.
    pub called: Option<u32>,
    /// Which of [`Plan::stands`] it follows.
    pub stand: usize,
}

/// How a statement ahead comes to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// The run stands at it.
    Here,
    /// It follows.
    Next,
    /// It lies in a loop's body and runs if there is another round.
    Again,
    /// A condition, an error or a choice decides.
    Maybe,
    /// It lies in a block that a statement ahead calls.
    Called,
}

impl How {
    /// `here`, `next`, `again`, `maybe`, `called`.
    pub fn word(self) -> &'static str {
        match self {
            How::Here => "here",
            How::Next => "next",
            How::Again => "again",
            How::Maybe => "maybe",
            How::Called => "called",
        }
    }
}

/// What failed last in something that is open (`None`: in the program), where nothing handled that: the run stands there. Only
/// rows record the order that this asks for.
fn failed_last(facts: Facts<'_>, within: Option<NodeId>) -> Option<NodeId> {
    if !facts.run.told_by_rows() {
        return None;
    }
    let mut within = within;
    loop {
        let ran = |at: &NodeId| {
            facts
                .trace
                .node(*at)
                .is_some_and(|node| !node.derived || is_round(node))
        };
        let last = facts.trace.children(within).filter(ran).last()?;
        let node = facts.trace.node(last)?;
        if is_round(node) {
            within = Some(last);
            continue;
        }
        let handled = node.recovered || node.status != NodeStatus::Failed;
        let branches = within
            .and_then(|at| facts.trace.node(at))
            .is_some_and(|n| n.kind == NodeKind::Parallel);
        if handled && branches {
            let failed = |at: &NodeId| {
                facts
                    .trace
                    .node(*at)
                    .is_some_and(|n| n.status == NodeStatus::Failed && !n.recovered)
            };
            return facts.trace.children(within).find(failed);
        }
        // A handler comes next, where there is one.
        let catches = || {
            let (listing, statement) = facts.listing.zip(facts.statement(last))?;
            let mut around = std::iter::once(statement).chain(listing.enclosing(statement));
            around.find_map(|at| listing.catch_of(at))
        };
        return (!handled && catches().is_none()).then_some(last);
    }
}

fn is_round(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Round { .. })
}

pub(super) fn look(facts: Facts<'_>, plan: &mut Plan) {
    let failed = facts.trace.verdict.status == RunStatus::Failed.word();
    let mut at: Vec<(Option<NodeId>, Stop)> = Vec::new();
    if failed {
        match facts.trace.first_cause {
            Some(cause) => at.push((Some(cause), Stop::Failed)),
            None => plan
                .notes
                .push("the run failed, and no record says where".to_owned()),
        }
    } else {
        for &node in &facts.trace.positions {
            if let Some(failed) = failed_last(facts, Some(node)) {
                at.push((Some(failed), Stop::Failed));
                continue;
            }
            let gate = facts
                .trace
                .node(node)
                .is_some_and(|n| matches!(n.kind, NodeKind::Gate { .. }));
            at.push((Some(node), if gate { Stop::Gate } else { Stop::Open }));
        }
        if at.is_empty()
            && let Some(failed) = failed_last(facts, None)
        {
            at.push((Some(failed), Stop::Failed));
        }
        let unknown = facts.trace.verdict.status.is_empty();
        if at.is_empty() && !(unknown && facts.trace.nodes.is_empty()) {
            at.push((None, Stop::Between));
            if unknown {
                plan.notes.push(
                    "nothing records how the run stands: what follows the last statement that is recorded is listed as ahead"
                        .to_owned(),
                );
            }
        }
    }
    if at.is_empty() && !failed {
        plan.notes
            .push("nothing says what ran: whether it is at its beginning is not known".to_owned());
    }
    let scopes = Scopes::of(facts);
    for (node, stop) in at {
        let inside = match node.and_then(|n| facts.trace.node(n)) {
            // Inside of a frame that nothing has happened in yet.
            Some(Node {
                kind: NodeKind::Frame { .. },
                ..
            }) => node,
            _ => node.and_then(|n| facts.trace.node(n)?.parent),
        };
        plan.stands.push(Stand {
            node,
            stop,
            frame: facts.trace.frame(inside),
            scope: scopes.at(inside),
            statement: node.and_then(|n| facts.statement(n)),
            next: None,
        });
    }
    let Some(listing) = facts.listing else {
        if !plan.stands.is_empty() {
            plan.notes.push(format!(
                "{}: what lies ahead, and what that needs, is not known",
                facts.run.program.missing()
            ));
        }
        return;
    };
    let mut walk = Walk::new(facts, listing, &scopes);
    for (stand, at) in plan.stands.iter_mut().enumerate() {
        walk.stand = stand;
        walk.first = None;
        walk.from(at.node);
        walk.called();
        at.next = walk.first;
        if let Some((gate, refused)) = walk.decided.take() {
            plan.decided.push(gate);
            if refused {
                at.stop = Stop::Refused;
                at.node = Some(gate);
                at.statement = facts.statement(gate);
            }
        }
    }
    if walk.ahead.len() >= MOST {
        walk.notes.push(format!(
            "only the first {MOST} statements ahead were looked at"
        ));
    }
    plan.cut = walk.cut || walk.ahead.len() >= MOST;
    plan.ahead = walk.ahead;
    plan.notes.extend(walk.notes);
    plan.notes.dedup();
}
