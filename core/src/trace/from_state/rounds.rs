//! Rounds of loops: of most of them nothing but the number is known.

use super::build::{Builder, LAST};
use crate::trace::emit::derived;
use crate::trace::{NodeKind, NodeStatus};

/// The nodes of a loop's rounds: `listed` from `first` on, and one for the last behind them.
pub(super) struct Rounds {
    first: u32,
    listed: u32,
    total: u32,
}

impl Builder<'_, '_> {
    pub(super) fn rounds(&mut self, at: u32, node: u32, holds: bool) {
        let Some(fact) = self.facts.get(at) else {
            return;
        };
        if !self.facts.statement(at).is_some_and(|s| s.kind.is_loop()) {
            return;
        }
        // Entered, and nothing says how often: what ran in it ran in the first round.
        let entered = fact.construct.is_some() && holds;
        let Some(total) = fact.round.or(entered.then_some(1)) else {
            return;
        };
        let status = self
            .node(node)
            .map_or(NodeStatus::Started, |n| n.status.clone());
        let last = match &status {
            NodeStatus::Failed | NodeStatus::Skipped => NodeStatus::CutOff,
            status if status.is_open() => NodeStatus::Started,
            _ => NodeStatus::Completed,
        };
        let round = self.add_rounds(node, total, last);
        self.round_of.insert(at, round);
    }

    /// Rounds of which nothing but the number is known; the last one is given back.
    pub(super) fn add_rounds(&mut self, node: u32, total: u32, last: NodeStatus) -> u32 {
        let key = self.keys.get(node as usize).map_or(LAST, |k| k.0);
        let listed = (total.saturating_sub(1)).min(self.rounds_left);
        self.rounds_left -= listed;
        let mut at = node;
        let first = self.nodes.len() as u32;
        self.rounds_of.insert(
            node,
            Rounds {
                first,
                listed,
                total,
            },
        );
        for n in (1..=listed).chain([total]) {
            let status = if n == total {
                last.clone()
            } else {
                NodeStatus::Completed
            };
            let round = derived(NodeKind::Round { n }, format!("round {n}").into(), status);
            at = self.push(round, key);
            self.set_parent(at, Some(node));
        }
        at
    }

    /// The loop of a round; anything else as it is.
    pub(super) fn loop_of(&self, holder: u32) -> u32 {
        let round = self
            .node(holder)
            .filter(|n| matches!(n.kind, NodeKind::Round { .. }));
        round.and_then(|n| n.parent).unwrap_or(holder)
    }

    /// Where in a loop the `nth` of so many frames was called: in its round, where each round called one; in the loop,
    /// where nothing is known of rounds.
    pub(super) fn home(&self, looped: u32, nth: usize, frames: usize) -> Option<u32> {
        match self.rounds_of.get(&looped) {
            None => Some(looped),
            Some(rounds)
                if rounds.total as usize == frames && rounds.listed + 1 == rounds.total =>
            {
                Some(rounds.first + nth as u32)
            }
            Some(_) => None,
        }
    }
}
