//! Loops of a log: what their markers mean, and which lines lie in which round.
//!
//! `loop:2/5` stands at the beginning of round 2 in one writer's log and at its end in another's. Where something of
//! the loop was told before its first marker, markers end rounds; else they begin them.

use std::collections::BTreeSet;

use super::build::{Builder, Place};
use crate::model::{LogEvent, LogLine};
use crate::trace::emit::derived;
use crate::trace::{Node, NodeKind, NodeStatus};

/// A loop under way.
pub(super) struct Loop {
    pub(super) node: u32,
    pub(super) number: Option<u32>,
    pass: u32,
    /// The last marker of this pass.
    pub(super) end: usize,
    /// Its markers end rounds, rather than begin them.
    ends: bool,
    /// The last round that was told of.
    n: u32,
    /// The round that is open.
    round: Option<u32>,
    /// Numbers of statements that ran in it.
    numbers: BTreeSet<u32>,
}

impl Loop {
    /// Whether it had as many rounds as it may have.
    pub(super) fn had_all(&self, node: Option<&Node>) -> bool {
        node.and_then(|node| node.max)
            .is_some_and(|max| self.n >= max)
    }
}

impl Builder<'_, '_> {
    /// What a line's node lies in: the round of the innermost loop of its scope that goes on at the line.
    pub(super) fn inside(&mut self, at: usize, line: &LogLine, scope: Place) -> Place {
        loop {
            let Some(top) = self.loops.get(&scope).and_then(|loops| loops.last()) else {
                return scope;
            };
            if self.goes_on(top, at, line) {
                break;
            }
            self.finish_loop(scope, true);
        }
        let loops = self.loops.get_mut(&scope)?;
        for around in loops.iter_mut() {
            around.numbers.extend(line.number);
        }
        let (node, round, n) = loops.last().map(|top| (top.node, top.round, top.n))?;
        if round.is_some() {
            return round;
        }
        let n = n.saturating_add(1);
        let round = self.push_round(node, n, NodeStatus::Started, false);
        if let Some(top) = self
            .loops
            .get_mut(&scope)
            .and_then(|loops| loops.last_mut())
        {
            (top.round, top.n) = (Some(round), n);
        }
        Some(round)
    }

    /// Whether a line lies in an open loop.
    fn goes_on(&self, around: &Loop, at: usize, line: &LogLine) -> bool {
        if at <= around.end {
            return true;
        }
        let body = self.about(around.node).and_then(|about| about.statement);
        if let (Some((inner, false, _)), Some(body)) = (self.tie(at), body) {
            return self.facts.listing.contains(body, inner);
        }
        // In a frame numbers tell nothing, and a round that was begun holds something.
        let empty = around
            .round
            .is_some_and(|round| self.kids.get(&Some(round)).is_none_or(Vec::is_empty));
        let same = |n: u32| around.number == Some(n) || around.numbers.contains(&n);
        line.frame.is_some() || empty || line.number.is_some_and(same)
    }

    /// A marker of a loop.
    pub(super) fn round(&mut self, at: usize, line: &LogLine, scope: Place) {
        let LogEvent::Round { n, max, over, exit } = &line.event else {
            return;
        };
        let Some((pass, end)) = self.ahead.pass(at) else {
            return;
        };
        let known = self
            .loops
            .get(&scope)
            .is_some_and(|loops| loops.iter().any(|l| l.pass == pass));
        if known {
            while self
                .loops
                .get(&scope)
                .and_then(|l| l.last())
                .is_some_and(|l| l.pass != pass)
            {
                self.finish_loop(scope, true);
            }
        } else {
            // The loop of that number began anew.
            while self
                .loops
                .get(&scope)
                .and_then(|l| l.last())
                .is_some_and(|l| l.number == line.number && l.end < at)
            {
                self.finish_loop(scope, true);
            }
            self.begin_loop(at, line, scope, pass, end);
        }
        let Some(top) = self.loops.get(&scope).and_then(|loops| loops.last()) else {
            return;
        };
        let (node, ends, last, open) = (top.node, top.ends, top.n, top.round);
        self.tell(node, at);
        if let Some(node) = self.node_mut(node) {
            node.max = max.or(node.max);
        }
        let n = n.unwrap_or(if open.is_some() || *exit {
            last
        } else {
            last.saturating_add(1)
        });
        if *exit {
            self.counted_rounds(node, last, n);
            self.exit(scope, NodeStatus::Completed);
        } else if ends || *over {
            match open {
                Some(round) => self.close(round, NodeStatus::Completed),
                None => self.counted_rounds(node, last, n),
            }
            self.set_round(scope, n.max(last), None);
        } else if n > last {
            if let Some(round) = open {
                self.close(round, NodeStatus::Completed);
            }
            self.counted_rounds(node, last, n.saturating_sub(1));
            let round = self.push_round(node, n, NodeStatus::Started, false);
            self.tell(round, at);
            self.set_round(scope, n, Some(round));
        }
    }

    fn set_round(&mut self, scope: Place, n: u32, round: Option<u32>) {
        if let Some(top) = self
            .loops
            .get_mut(&scope)
            .and_then(|loops| loops.last_mut())
        {
            (top.n, top.round) = (n, round);
        }
    }

    /// The first marker of a pass. What was told of it before lies in its first round.
    fn begin_loop(&mut self, at: usize, line: &LogLine, scope: Place, pass: u32, end: usize) {
        let place = self.inside(at, line, scope);
        let body = self.tie(at).map(|(statement, ..)| statement);
        let mut before: Vec<u32> = Vec::new();
        while let Some(kid) = self
            .kids
            .get(&place)
            .and_then(|kids| kids.iter().rev().nth(before.len()))
            .copied()
        {
            let Some(about) = self.about(kid) else { break };
            let is_loop = self.node(kid).is_some_and(|n| n.kind == NodeKind::Loop);
            let in_body = body
                .zip(about.statement)
                .map(|(body, inner)| self.facts.listing.contains(body, inner));
            let same = line.frame.is_none() && line.number.is_some() && about.number == line.number;
            if is_loop || !in_body.unwrap_or(same) {
                break;
            }
            before.push(kid);
        }
        if let Some(kids) = self.kids.get_mut(&place) {
            kids.truncate(kids.len().saturating_sub(before.len()));
        }
        before.reverse();
        let node = self.make(at, line, place, NodeKind::Loop, "loop", NodeStatus::Started);
        let mut begun = Loop {
            node,
            number: line.number,
            pass,
            end,
            ends: !before.is_empty(),
            n: 0,
            round: None,
            numbers: BTreeSet::new(),
        };
        if begun.ends {
            begun
                .numbers
                .extend(before.iter().filter_map(|kid| self.about(*kid)?.number));
            let round = self.push_round(node, 1, NodeStatus::Started, false);
            for kid in &before {
                if let Some(node) = self.node_mut(*kid) {
                    node.parent = Some(round);
                }
            }
            self.kids.insert(Some(round), before);
            (begun.n, begun.round) = (1, Some(round));
        }
        self.loops.entry(scope).or_default().push(begun);
    }

    /// Rounds behind `last`, to `n`, of which nothing but the number is known.
    fn counted_rounds(&mut self, node: u32, last: u32, n: u32) {
        for n in last.saturating_add(1)..=n {
            if !self.take_round() {
                return;
            }
            self.push_round(node, n, NodeStatus::Completed, true);
        }
    }

    fn push_round(&mut self, node: u32, n: u32, status: NodeStatus, is_derived: bool) -> u32 {
        let mut round = derived(NodeKind::Round { n }, format!("round {n}").into(), status);
        round.derived = is_derived;
        self.push(round, Some(node))
    }

    /// The innermost loop of a scope was left.
    pub(super) fn exit(&mut self, scope: Place, status: NodeStatus) {
        if let Some(node) = self
            .loops
            .get(&scope)
            .and_then(|loops| loops.last())
            .map(|top| top.node)
        {
            self.close(node, status);
        }
        self.finish_loop(scope, false);
    }

    /// Takes the innermost loop of a scope off; `passed`: nobody said that it was left.
    pub(super) fn finish_loop(&mut self, scope: Place, passed: bool) {
        let Some(top) = self.loops.get_mut(&scope).and_then(Vec::pop) else {
            return;
        };
        let left = self
            .node(top.node)
            .is_some_and(|n| n.status == NodeStatus::Failed);
        if let Some(round) = top.round {
            let status = if left {
                NodeStatus::CutOff
            } else {
                NodeStatus::Completed
            };
            self.close(round, status);
        }
        if passed && self.is_open(top.node) {
            self.close(top.node, NodeStatus::Completed);
            if let Some(node) = self.node_mut(top.node) {
                node.derived = true;
            }
        }
    }
}
