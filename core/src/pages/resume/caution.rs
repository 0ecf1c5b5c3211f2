//! Lists effects that may have happened already, or in part, and must not be repeated unchecked.

use super::ahead::Position;
use super::{ResumeFacts, ResumePlan};
use crate::model::text::short;
use crate::model::{AgentScope, ValueAt};
use crate::pages::view::{Risk, Stop};
use crate::program::{Statement, StatementKind as Kind, classify};
use crate::trace::scope;
use crate::trace::{Node, NodeId, NodeKind, NodeStatus};

/// Limit for the number of positions for which cautions are listed.
const POSITIONS: usize = 50;
/// Limit for the number of enclosing nodes examined around each position.
const LEVELS: usize = 64;

/// A risk to check before the run continues.
#[derive(Debug, Clone, PartialEq)]
pub struct Caution {
    /// The kind of risk.
    pub risk: Risk,
    /// The node that the caution is about.
    pub node: NodeId,
    /// The known facts about the risk, in one sentence.
    pub text: String,
}

pub(super) fn add_cautions(facts: ResumeFacts<'_>, plan: &mut ResumePlan) {
    let mut cautions = Cautions {
        facts,
        found: Vec::new(),
    };
    for position in plan.positions.iter().take(POSITIONS) {
        let Some((at, node)) = position.node.and_then(|at| Some((at, facts.node(at)?))) else {
            continue;
        };
        if matches!(position.stop, Stop::Open | Stop::Failed) && node.status != NodeStatus::Pending
        {
            cautions.itself(position, at, node);
        }
        for level in facts.trace.upward(Some(at)).take(LEVELS) {
            match facts.node(level) {
                Some(node) if node.kind == NodeKind::Parallel => cautions.branches(level, node),
                Some(node) if node.kind == NodeKind::Loop => cautions.rounds(level, node),
                _ => {}
            }
        }
    }
    plan.cautions = cautions.found;
}

struct Cautions<'a> {
    facts: ResumeFacts<'a>,
    found: Vec<Caution>,
}

impl Cautions<'_> {
    fn add(&mut self, risk: Risk, node: NodeId, text: String) {
        let caution = Caution { risk, node, text };
        if !self.found.contains(&caution) {
            self.found.push(caution);
        }
    }

    /// Adds the effects that the statement at the position may have had already.
    fn itself(&mut self, position: &Position, at: NodeId, node: &Node) {
        let what = format!("`{}`", short(&node.text, 60));
        let statement = position.statement.zip(self.facts.listing);
        let statement = statement.and_then(|(at, listing)| listing.get(at));
        let kind = statement.map_or_else(|| classify(&node.text), |s| s.kind);
        // A question without an answer did nothing.
        if kind == Kind::Input && node.status == NodeStatus::Waiting {
            return;
        }
        let failed = position.stop == Stop::Failed;
        let is_work = matches!(
            node.kind,
            NodeKind::Statement | NodeKind::Branch { .. } | NodeKind::Gate { .. }
        );
        let begun = if failed {
            "failed"
        } else {
            "was begun, and no end is recorded"
        };
        if is_work && kind == Kind::Exec {
            let text = format!("{what} {begun}: its command may have run, whole or in part");
            self.add(Risk::Exec, at, text);
        } else if is_work && !failed {
            let text = format!("{what} {begun}: it may have done its work");
            self.add(Risk::Begun, at, text);
        }
        if node.attempts > 1 || (failed && node.max.is_some()) {
            let of = node.max.map_or(String::new(), |max| format!(" of {max}"));
            let left = match node.max {
                Some(max) if node.attempts >= max => ": no attempt is left",
                _ => "",
            };
            let word = if failed {
                "has failed in attempt"
            } else {
                "is in attempt"
            };
            let n = node.attempts;
            self.add(Risk::Attempts, at, format!("{what} {word} {n}{of}{left}"));
        }
        let Some(statement) = statement else { return };
        self.written(position, at, statement);
        if kind == Kind::Resume && !failed {
            self.turn(at, statement);
        }
        self.outside(at, statement);
    }

    /// Adds a caution if the statement's own frame has a binding of the statement's name. The session may have written
    /// the binding before the statement was recorded as completed.
    fn written(&mut self, position: &Position, at: NodeId, statement: &Statement) {
        let facts = self.facts;
        let is_own = statement.binds.as_deref() != Some("input") && statement.text.contains('=');
        let Some(name) = statement.name.as_deref().filter(|_| is_own) else {
            return;
        };
        let winner = scope::resolve(facts.run, facts.trace, name, position.scope).winner;
        let binding = winner.and_then(|at| facts.run.bindings.get(at));
        let here = binding.filter(|b| b.execution_id == position.scope);
        let Some(binding) = here.filter(|b| !matches!(b.value, ValueAt::Missing)) else {
            return;
        };
        let when = binding.updated.as_ref();
        let when = when.map_or(String::new(), |at| format!(", last at {at}"));
        let listing = facts.listing;
        let around = position.statement.and_then(|at| listing?.loop_of(at));
        let but = match (around, position.stop) {
            (Some(_), _) => "; the value may be from an earlier round",
            (None, Stop::Failed) => "; the value may be partial",
            (None, _) => ": the statement has probably ended",
        };
        let text = format!("{name} is written in this frame{when}{but}");
        self.add(Risk::Written, at, text);
    }

    /// Adds a caution if an agent has more segments than completed sessions. The agent's memory may contain this
    /// session already.
    fn turn(&mut self, at: NodeId, statement: &Statement) {
        let facts = self.facts;
        let agent = statement.target.as_deref();
        let mut agents = facts.run.agents.iter();
        let of_run = agents.find(|a| Some(&*a.name) == agent && a.scope == AgentScope::Execution);
        let (Some(own), Some(listing)) = (of_run, facts.listing) else {
            return;
        };
        let is_turn = |at: NodeId| {
            let statement = facts.statement(at).and_then(|at| listing.get(at));
            statement.is_some_and(|s| s.target.as_deref() == agent)
        };
        let nodes = facts.trace.nodes.iter_enumerated();
        let done = nodes.filter(|(_, node)| node.status == NodeStatus::Completed);
        let turns = done.filter(|(at, _)| is_turn(*at)).count();
        let (agent, segments) = (&own.name, own.segments.len());
        if segments > turns {
            self.add(
                Risk::Memory,
                at,
                format!(
                    "agent {agent} has more segments ({segments}) than completed sessions ({turns}): the agent's memory may contain this session already"
                ),
            );
        }
    }

    /// Adds cautions about effects outside of the run that a statement or its agent declares.
    fn outside(&mut self, at: NodeId, statement: &Statement) {
        let Some(listing) = self.facts.listing else {
            return;
        };
        let agent = statement.target.as_deref();
        let agent = agent.and_then(|name| listing.agent(name));
        let all = std::iter::once(statement).chain(agent);
        let allowed = all.flat_map(|s| &s.properties).filter_map(|p| {
            let what = p.name.strip_prefix("permissions.")?;
            let text = p.text.trim();
            let no = matches!(text, "deny" | "none" | "false" | "[]" | "no" | "");
            (what != "read" && !no).then(|| format!("{what}: {}", short(text, 40)))
        });
        let allowed = allowed.collect::<Vec<_>>().join(", ");
        if !allowed.is_empty() {
            let text = format!("the statement may change things outside of the run ({allowed})");
            self.add(Risk::Outside, at, text);
        }
        if matches!(statement.property("idempotent"), Some("false" | "no")) {
            let text = "the program declares the statement as not idempotent".to_owned();
            self.add(Risk::Outside, at, text);
        }
    }

    /// Adds a caution that lists the finished branches of a parallel block around a position.
    fn branches(&mut self, level: NodeId, node: &Node) {
        let inner = self.facts.inner(Some(level));
        let done = inner.filter(|(_, node)| node.status == NodeStatus::Completed);
        let names = done.map(|(_, node)| match &node.kind {
            NodeKind::Branch { branch } => branch.to_string(),
            _ => node.text.to_string(),
        });
        let names = listed(names.collect());
        if !names.is_empty() {
            let place = place(node);
            let text = format!("these branches of the parallel{place} are done: {names}");
            self.add(Risk::Branches, level, text);
        }
    }

    /// Adds a caution that counts the finished rounds of a loop around a position.
    fn rounds(&mut self, level: NodeId, node: &Node) {
        let inner = self.facts.inner(Some(level));
        let rounds = inner.filter_map(|(at, round)| match round.kind {
            NodeKind::Round { n } => Some((at, n, &round.status)),
            _ => None,
        });
        let Some((at, number, status)) = rounds.last() else {
            return;
        };
        let place = place(node);
        let max = node.max.map_or(String::new(), |max| format!(" of {max}"));
        if *status == NodeStatus::Completed {
            let text = format!("{number}{max} rounds of the loop{place} are done");
            return self.add(Risk::Rounds, level, text);
        }
        let done = |(_, node): &(NodeId, &Node)| {
            use NodeStatus::{Approved, Completed, Skipped};
            matches!(node.status, Completed | Approved | Skipped)
        };
        let inside = self.facts.inner(Some(at)).filter(done);
        let already = match listed(inside.map(|(_, node)| short(&node.text, 40)).collect()) {
            none if none.is_empty() => none,
            words => format!("; already done: {words}"),
        };
        let text = format!("the loop{place} is in round {number}{max}{already}");
        self.add(Risk::Rounds, level, text);
    }
}

fn place(node: &Node) -> String {
    node.line
        .map_or(String::new(), |line| format!(" at line {line}"))
}

fn listed(mut words: Vec<String>) -> String {
    let more = words.len().saturating_sub(8);
    words.truncate(8);
    let listed = words.join(", ");
    match more {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}
