//! What may have happened already, or is done in part: what must not be repeated without a look.

use super::ahead::{Stand, Stop};
use super::{Facts, Plan};
use crate::model::{AgentScope, ValueAt};
use crate::program::{Statement, StatementKind as Kind, classify};
use crate::scope;
use crate::text::short;
use crate::trace::{Node, NodeId, NodeKind, NodeStatus};

/// Positions that are looked at.
const STANDS: usize = 50;
/// Levels around each that are looked at.
const LEVELS: usize = 64;

/// Something that should be looked at before the run goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Caution {
    /// What kind of risk it is.
    pub risk: Risk,
    /// The node that it speaks of.
    pub node: Option<NodeId>,
    /// What is known, in one sentence.
    pub text: String,
}

/// A kind of risk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// A command may have run.
    Exec,
    /// A session was begun, and no end is recorded.
    Begun,
    /// Its result is there already.
    Written,
    /// An agent's memory may hold the turn already.
    Memory,
    /// It may have changed things outside of the run.
    Outside,
    /// Attempts were used up, in part or all.
    Attempts,
    /// Some branches are done.
    Branches,
    /// Some rounds, or a part of one, are done.
    Rounds,
}

impl Risk {
    /// `exec`, `begun`, `written`, `memory`, `outside`, `attempts`, `branches`, `rounds`.
    pub fn word(self) -> &'static str {
        match self {
            Risk::Exec => "exec",
            Risk::Begun => "begun",
            Risk::Written => "written",
            Risk::Memory => "memory",
            Risk::Outside => "outside",
            Risk::Attempts => "attempts",
            Risk::Branches => "branches",
            Risk::Rounds => "rounds",
        }
    }
}

pub(super) fn look(facts: Facts<'_>, plan: &mut Plan) {
    let mut found: Vec<Caution> = Vec::new();
    for stand in plan.stands.iter().take(STANDS) {
        let Some((at, node)) = stand.node.and_then(|n| Some((n, facts.trace.node(n)?))) else {
            continue;
        };
        let mut add = |risk: Risk, node: NodeId, text: String| {
            let caution = Caution {
                risk,
                node: Some(node),
                text,
            };
            if !found.contains(&caution) {
                found.push(caution);
            }
        };
        if matches!(stand.stop, Stop::Open | Stop::Failed) && node.status != NodeStatus::Pending {
            itself(facts, stand, at, node, &mut add);
        }
        for level in facts.trace.upward(Some(at)).take(LEVELS) {
            around(facts, level, &mut add);
        }
    }
    plan.cautions = found;
}

/// What the statement itself may have done.
fn itself(
    facts: Facts<'_>,
    stand: &Stand,
    at: NodeId,
    node: &Node,
    add: &mut impl FnMut(Risk, NodeId, String),
) {
    let what = format!("`{}`", short(&node.text, 60));
    let container = matches!(
        node.kind,
        NodeKind::Loop | NodeKind::Parallel | NodeKind::Frame { .. } | NodeKind::Round { .. }
    );
    let statement = stand
        .statement
        .and_then(|s| facts.listing.and_then(|l| l.get(s)));
    let kind = statement.map_or_else(|| classify(&node.text), |s| s.kind);
    let failed = stand.stop == Stop::Failed;
    if !container {
        let begun = match failed {
            true => "failed",
            false => "was begun, and no end is recorded",
        };
        match kind {
            Kind::Exec => add(
                Risk::Exec,
                at,
                format!("{what} {begun}: its command may have run, whole or in part"),
            ),
            _ if !failed => add(
                Risk::Begun,
                at,
                format!("{what} {begun}: it may have done its work"),
            ),
            _ => {}
        }
    }
    if node.attempts > 1 || (failed && node.max.is_some()) {
        let of = node.max.map_or(String::new(), |max| format!(" of {max}"));
        let left = match node.max {
            Some(max) if node.attempts >= max => ": none is left",
            _ => "",
        };
        let word = if failed {
            "has failed in attempt"
        } else {
            "is in attempt"
        };
        let n = node.attempts;
        add(Risk::Attempts, at, format!("{what} {word} {n}{of}{left}"));
    }
    let Some(statement) = statement else { return };
    written(facts, stand, at, statement, add);
    if kind == Kind::Resume && !failed {
        turn(facts, at, statement, add);
    }
    outside(facts, at, statement, add);
}

/// A binding of the statement's name in its own frame: the session wrote it before it could be recorded as done.
fn written(
    facts: Facts<'_>,
    stand: &Stand,
    at: NodeId,
    statement: &Statement,
    add: &mut impl FnMut(Risk, NodeId, String),
) {
    let Some(name) = statement
        .name
        .as_deref()
        .filter(|_| statement.binds.as_deref() != Some("input") && statement.text.contains('='))
    else {
        return;
    };
    let found = scope::resolve(facts.run, facts.trace, name, stand.scope);
    let Some(binding) = found.winner.and_then(|w| facts.run.bindings.get(w)) else {
        return;
    };
    let own = match stand.scope {
        Some(scope) => binding.execution_id == Some(scope),
        None => binding.execution_id.is_none(),
    };
    if !own || matches!(binding.value, ValueAt::Missing) {
        return;
    }
    let when = binding
        .updated
        .as_ref()
        .map_or(String::new(), |at| format!(", last at {at}"));
    let listing_loop = stand
        .statement
        .and_then(|s| facts.listing.and_then(|l| l.loop_of(s)));
    let but = match (listing_loop, stand.stop) {
        (Some(_), _) => "; it may be from an earlier round",
        (None, Stop::Failed) => "; it may be partial",
        (None, _) => ": it has probably ended",
    };
    add(
        Risk::Written,
        at,
        format!("{name} is written in this frame{when}{but}"),
    );
}

/// Segments of an agent against the turns of it that are recorded as done.
fn turn(
    facts: Facts<'_>,
    at: NodeId,
    statement: &Statement,
    add: &mut impl FnMut(Risk, NodeId, String),
) {
    let (Some(agent), Some(listing)) = (statement.target.as_deref(), facts.listing) else {
        return;
    };
    let of_run = |a: &&crate::model::Agent| *a.name == *agent && a.scope == AgentScope::Execution;
    let Some(segments) = facts
        .run
        .agents
        .iter()
        .find(of_run)
        .map(|a| a.segments.len())
    else {
        return;
    };
    let turns = facts
        .trace
        .nodes
        .keys()
        .filter(|n| {
            let done = facts
                .trace
                .node(*n)
                .is_some_and(|n| n.status == NodeStatus::Completed);
            done && facts
                .statement(*n)
                .and_then(|s| listing.get(s))
                .is_some_and(|s| s.target.as_deref() == Some(agent))
        })
        .count();
    if segments > turns {
        add(
            Risk::Memory,
            at,
            format!(
                "{agent} has more segments ({segments}) than turns that are recorded as done ({turns}): this turn may be in its memory already"
            ),
        );
    }
}

/// What a statement, or its agent, says of effects outside of the run.
fn outside(
    facts: Facts<'_>,
    at: NodeId,
    statement: &Statement,
    add: &mut impl FnMut(Risk, NodeId, String),
) {
    let Some(listing) = facts.listing else { return };
    let agent = statement.target.as_deref();
    let agent = agent.and_then(|name| listing.agent(name));
    let own = statement.properties.iter();
    let allowed: Vec<String> = own
        .chain(agent.into_iter().flat_map(|a| &a.properties))
        .filter_map(|p| {
            let what = p.name.strip_prefix("permissions.")?;
            let text = p.text.trim();
            let no = matches!(text, "deny" | "none" | "false" | "[]" | "no" | "");
            (what != "read" && !no).then(|| format!("{what}: {}", short(text, 40)))
        })
        .collect();
    if !allowed.is_empty() {
        add(
            Risk::Outside,
            at,
            format!(
                "it may change things outside of the run ({})",
                allowed.join(", ")
            ),
        );
    }
    if matches!(statement.property("idempotent"), Some("false" | "no")) {
        add(
            Risk::Outside,
            at,
            "the program says that it is not idempotent".to_owned(),
        );
    }
}

/// What is done of a construct around a position.
fn around(facts: Facts<'_>, level: NodeId, add: &mut impl FnMut(Risk, NodeId, String)) {
    let Some(node) = facts.trace.node(level) else {
        return;
    };
    let place = match node.line {
        Some(line) => format!(" at line {line}"),
        None => String::new(),
    };
    let done = |status: &NodeStatus| {
        matches!(
            status,
            NodeStatus::Completed | NodeStatus::Approved | NodeStatus::Skipped
        )
    };
    match node.kind {
        NodeKind::Parallel => {
            let names: Vec<&str> = facts
                .trace
                .children(Some(level))
                .filter_map(|n| facts.trace.node(n))
                .filter(|n| n.status == NodeStatus::Completed)
                .map(|n| match &n.kind {
                    NodeKind::Branch { branch } => &**branch,
                    _ => &*n.text,
                })
                .collect();
            if !names.is_empty() {
                let names = listed(&names);
                add(
                    Risk::Branches,
                    level,
                    format!("of the parallel{place} these branches are done: {names}"),
                );
            }
        }
        NodeKind::Loop => {
            let rounds: Vec<(NodeId, u32, &Node)> = facts
                .trace
                .children(Some(level))
                .filter_map(|at| Some((at, facts.trace.node(at)?)))
                .filter_map(|(at, n)| match n.kind {
                    NodeKind::Round { n: number } => Some((at, number, n)),
                    _ => None,
                })
                .collect();
            let Some((at, number, last)) = rounds.last().copied() else {
                return;
            };
            let max = node.max.map_or(String::new(), |max| format!(" of {max}"));
            if last.status == NodeStatus::Completed {
                add(
                    Risk::Rounds,
                    level,
                    format!("{number}{max} rounds of the loop{place} are done"),
                );
                return;
            }
            let inside: Vec<String> = facts
                .trace
                .children(Some(at))
                .filter_map(|n| facts.trace.node(n))
                .filter(|n| done(&n.status))
                .map(|n| short(&n.text, 40))
                .collect();
            let words: Vec<&str> = inside.iter().map(String::as_str).collect();
            let already = match words.as_slice() {
                [] => String::new(),
                words => format!("; done of it: {}", listed(words)),
            };
            add(
                Risk::Rounds,
                level,
                format!("the loop{place} is in round {number}{max}{already}"),
            );
        }
        _ => {}
    }
}

fn listed(words: &[&str]) -> String {
    let mut text = words.iter().take(8).copied().collect::<Vec<_>>().join(", ");
    if let Some(more @ 1..) = words.len().checked_sub(8) {
        text.push_str(&format!(" and {more} more"));
    }
    text
}
