//! Bindings on disk against the lines of a log, and where a run stands that goes on.

use std::collections::BTreeMap;

use super::build::{About, Builder, Place};
use crate::model::{CompactLog, Run, RunStatus};
use crate::trace::emit::derived;
use crate::trace::from_state::disk::{self, Stale};
use crate::trace::from_state::facts::Facts;
use crate::trace::from_state::next;
use crate::trace::from_state::stack::Stack;
use crate::trace::from_state::statements::kind_of;
use crate::trace::preorder::measure;
use crate::trace::rows::Ledger;
use crate::trace::{Node, NodeKind, NodeStatus};

/// The nodes of a log when all its lines are read, as a tree that may still grow.
pub(super) struct Grown {
    nodes: Vec<Node>,
    about: Vec<About>,
    kids: BTreeMap<Place, Vec<u32>>,
    /// Children that no line tells of, by their statements.
    added: BTreeMap<Place, Vec<(u32, u32)>>,
    told: Vec<(u32, u32)>,
    /// The last node of each statement.
    of_statement: BTreeMap<u32, u32>,
}

impl Builder<'_, '_> {
    pub(super) fn grown(self) -> Grown {
        let mut of_statement = BTreeMap::new();
        for (at, about) in (0_u32..).zip(&self.about) {
            if let Some(statement) = about.statement {
                of_statement.insert(statement, at);
            }
        }
        Grown {
            nodes: self.nodes,
            about: self.about,
            kids: self.kids,
            added: BTreeMap::new(),
            told: self.told,
            of_statement,
        }
    }
}

/// Adds what bindings on disk show and no line tells, and what comes next in a run that goes on.
pub(super) fn compare(
    run: &Run,
    log: &CompactLog,
    grown: &mut Grown,
    facts: &mut Facts<'_>,
    ledger: &mut Ledger,
) -> Stale {
    grown.speak(facts);
    let stale = disk::compare(run, facts, &Stack::default(), ledger);
    for at in 0..facts.of.len() as u32 {
        let Some(fact) = facts.get(at) else { continue };
        let (over, shown, round) = (fact.is_over(), fact.derived, fact.round);
        match grown.of_statement.get(&at).copied() {
            Some(node) => grown.corrected(node, over, shown, round),
            None if shown && over => grown.add(facts, at, NodeStatus::Completed),
            None => {}
        }
    }
    grown.join();
    next_or_failed(log, grown, facts);
    stale
}

/// The statement that comes next: a run that goes on stands before it; one that ended with an error that no line
/// tells of failed there.
fn next_or_failed(log: &CompactLog, grown: &mut Grown, facts: &Facts<'_>) {
    let failed = log.status == Some(RunStatus::Failed);
    let ended = log.status.as_ref().is_some_and(RunStatus::is_finished);
    let stands =
        |n: &Node| n.status.is_open() && (!n.derived || matches!(n.kind, NodeKind::Gate { .. }));
    if (ended && !failed) || (log.lines.is_empty() && grown.nodes.is_empty()) {
        return;
    }
    if grown
        .nodes
        .iter()
        .any(|n| n.status == NodeStatus::Failed || (!failed && stands(n)))
    {
        return;
    }
    let status = |at: u32| {
        let node = grown.nodes.get(*grown.of_statement.get(&at)? as usize)?;
        Some(node.status.clone())
    };
    let Some(at) = next::statement(facts, &status) else {
        return;
    };
    grown.add(
        facts,
        at,
        if failed {
            NodeStatus::Failed
        } else {
            NodeStatus::Pending
        },
    );
    if let Some(node) = grown.nodes.last_mut() {
        node.inferred = true;
        node.derived = false;
        // A gate that was not reached was not created: nobody waits at it.
        if let NodeKind::Gate { .. } = node.kind {
            node.kind = NodeKind::Statement;
        }
        node.state_line = log.trailer.filter(|_| failed);
    }
}

impl Grown {
    /// Tells the facts what the lines say of each statement: an end before a beginning.
    fn speak(&self, facts: &mut Facts<'_>) {
        let mut rounds: BTreeMap<u32, u32> = BTreeMap::new();
        for node in &self.nodes {
            if let (NodeKind::Round { n }, Some(parent)) = (&node.kind, node.parent) {
                let most = rounds.entry(parent).or_default();
                *most = (*most).max(*n);
            }
        }
        for (at, (node, about)) in (0_u32..).zip(self.nodes.iter().zip(&self.about)) {
            let fact = about.statement.and_then(|s| facts.of.get_mut(s as usize));
            // What was announced is not yet said to have begun.
            let Some(fact) = fact.filter(|_| !(node.derived && node.status.is_open())) else {
                continue;
            };
            if fact.status.as_ref().is_none_or(NodeStatus::is_open) || !node.status.is_open() {
                fact.status = Some(node.status.clone());
            }
            fact.guessed |= node.line_guessed;
            fact.round = fact.round.max(rounds.get(&at).copied());
        }
    }

    /// Parallels all of whose branches are over.
    fn join(&mut self) {
        for at in 0..self.nodes.len() as u32 {
            let Some(node) = self.nodes.get(at as usize) else {
                break;
            };
            if node.kind != NodeKind::Parallel || !node.status.is_open() {
                continue;
            }
            let told = self.kids.get(&Some(at)).into_iter().flatten();
            let added = self
                .added
                .get(&Some(at))
                .into_iter()
                .flatten()
                .map(|(_, kid)| kid);
            let mut branches = told
                .chain(added)
                .filter_map(|kid| self.nodes.get(*kid as usize))
                .peekable();
            let all_over =
                branches.peek().is_some() && branches.all(|branch| !branch.status.is_open());
            if let Some(node) = self.nodes.get_mut(at as usize).filter(|_| all_over) {
                node.status = NodeStatus::Completed;
                node.derived = true;
            }
        }
    }

    /// What the disk knows better.
    fn corrected(&mut self, at: u32, over: bool, shown: bool, round: Option<u32>) {
        let known = self.kids.get(&Some(at)).into_iter().flatten();
        let last = known.filter_map(|kid| match self.nodes.get(*kid as usize)?.kind {
            NodeKind::Round { n } => Some(n),
            _ => None,
        });
        let last = last.max();
        let Some(node) = self.nodes.get_mut(at as usize) else {
            return;
        };
        if over && node.status.is_open() {
            node.status = NodeStatus::Completed;
            node.derived |= shown;
        }
        let is_loop = node.kind == NodeKind::Loop;
        let status = if node.status.is_open() {
            NodeStatus::Started
        } else {
            NodeStatus::Completed
        };
        if let Some(n) = round.filter(|n| is_loop && last.is_none_or(|last| *n > last)) {
            let round = derived(NodeKind::Round { n }, format!("round {n}").into(), status);
            self.push(round, None, Some(at));
        }
    }

    /// Adds a statement that no line tells of, where it stands in the program.
    fn add(&mut self, facts: &Facts<'_>, at: u32, status: NodeStatus) {
        let Some(statement) = facts.statement(at) else {
            return;
        };
        let outer = statement
            .parent
            .and_then(|p| self.of_statement.get(&p))
            .copied();
        let in_parallel = outer
            .and_then(|o| self.nodes.get(o as usize))
            .is_some_and(|n| n.kind == NodeKind::Parallel);
        // In a loop: in its last round.
        let round = outer.and_then(|o| self.kids.get(&Some(o))?.last().copied());
        let round = round.filter(|r| {
            self.nodes
                .get(*r as usize)
                .is_some_and(|n| matches!(n.kind, NodeKind::Round { .. }))
        });
        let kind = match &statement.name {
            Some(name) if in_parallel => NodeKind::Branch {
                branch: name.as_str().into(),
            },
            _ => kind_of(statement),
        };
        let mut node = derived(kind, statement.text.as_str().into(), status);
        node.line = Some(statement.line);
        self.push(node, Some(at), round.or(outer));
    }

    fn push(&mut self, mut node: Node, statement: Option<u32>, place: Place) {
        let at = self.nodes.len() as u32;
        node.parent = place;
        self.nodes.push(node);
        self.about.push(About {
            statement,
            ..About::default()
        });
        if let Some(statement) = statement {
            self.of_statement.insert(statement, at);
        }
        self.added
            .entry(place)
            .or_default()
            .push((statement.unwrap_or(u32::MAX), at));
    }

    /// The children of a container: what was added stands before the first that is behind it in the program.
    fn children(&mut self, of: Place) -> Vec<u32> {
        let told = self.kids.remove(&of).unwrap_or_default();
        let mut added = self.added.remove(&of).unwrap_or_default();
        added.sort_unstable();
        let mut added = added.into_iter().peekable();
        let mut all = Vec::with_capacity(told.len() + added.len());
        for kid in told {
            let statement = self
                .about
                .get(kid as usize)
                .and_then(|about| about.statement);
            while let Some((_, at)) = added.next_if(|(own, _)| statement.is_some_and(|s| s > *own))
            {
                all.push(at);
            }
            all.push(kid);
        }
        all.extend(added.map(|(_, at)| at));
        all
    }

    /// The nodes in preorder, and which line tells of which, by node.
    pub(super) fn into_nodes(mut self) -> (Vec<Node>, Vec<(u32, u32)>) {
        let mut pool: Vec<Option<Node>> = std::mem::take(&mut self.nodes)
            .into_iter()
            .map(Some)
            .collect();
        let mut place = vec![None; pool.len()];
        let mut nodes: Vec<Node> = Vec::with_capacity(pool.len());
        let roots = self.children(None);
        let mut later: Vec<(u32, Option<u32>)> =
            roots.into_iter().rev().map(|kid| (kid, None)).collect();
        while let Some((at, parent)) = later.pop() {
            let Some(mut node) = pool.get_mut(at as usize).and_then(Option::take) else {
                continue;
            };
            let new = nodes.len() as u32;
            node.parent = parent;
            nodes.push(node);
            if let Some(place) = place.get_mut(at as usize) {
                *place = Some(new);
            }
            let kids = self.children(Some(at));
            later.extend(kids.into_iter().rev().map(|kid| (kid, Some(new))));
        }
        measure(&mut nodes);
        let told = self.told.iter();
        let told =
            told.filter_map(|(node, line)| Some((place.get(*node as usize).copied()??, *line)));
        let mut told: Vec<(u32, u32)> = told.collect();
        told.sort_unstable();
        told.dedup();
        (nodes, told)
    }
}
