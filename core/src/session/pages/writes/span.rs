use std::cmp::Reverse;

use crate::model::Run;
use crate::time::Stamp;
use crate::trace::{Node, NodeId, NodeStatus};

/// The nodes with both times in the order in which they ended, of those that ended at once the later node first; and above
/// them a tree of the earliest beginnings, so that a value among many thousand finds its node in a few steps.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// End and node.
    nodes: Vec<(i64, Reverse<NodeId>)>,
    /// A heap: the leaves, from `leaves` on, hold beginnings; each other place the earlier one of the two below it.
    begins: Vec<i64>,
    leaves: usize,
}

impl Ends {
    pub(super) fn of(mut timed: Vec<(i64, Reverse<NodeId>, i64)>) -> Ends {
        timed.sort_unstable();
        let leaves = timed.len().next_power_of_two();
        let mut begins = vec![i64::MAX; 2 * leaves];
        for (place, (.., from)) in begins.iter_mut().skip(leaves).zip(&timed) {
            *place = *from;
        }
        for at in (1..leaves).rev() {
            let below = [2 * at, 2 * at + 1].map(|at| begins.get(at).copied());
            let least = below.into_iter().flatten().min();
            if let (Some(place), Some(least)) = (begins.get_mut(at), least) {
                *place = least;
            }
        }
        Ends {
            nodes: timed.into_iter().map(|(to, node, _)| (to, node)).collect(),
            begins,
            leaves,
        }
    }

    /// Of the nodes that began by `high` and ended at `low` or later the one that ended first.
    pub(super) fn first(&self, low: i64, high: i64) -> Option<NodeId> {
        let start = self.nodes.partition_point(|(to, _)| *to < low);
        let begun = |at: usize| self.begins.get(at).is_some_and(|from| *from <= high);
        let mut at = self
            .leaves
            .checked_add(start)
            .filter(|_| start < self.nodes.len())?;
        // Upward to a subtree on the right that has one, then down to its first.
        while !begun(at) {
            while at % 2 == 1 {
                at /= 2;
            }
            if at == 0 {
                return None;
            }
            at += 1;
        }
        while at < self.leaves {
            at = if begun(2 * at) { 2 * at } else { 2 * at + 1 };
        }
        let (_, Reverse(node)) = self.nodes.get(at - self.leaves)?;
        Some(*node)
    }
}

/// When a node was under way, in milliseconds since 1970 UTC.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) node: NodeId,
    pub(super) from: Option<i64>,
    pub(super) to: Option<i64>,
    pub(super) over: bool,
    pub(super) completed: bool,
    /// The row that records that it wrote the name, by its place in the run.
    pub(super) recorded: Option<u32>,
}

impl Span {
    pub(super) fn of(run: &Run, at: NodeId, node: &Node) -> Span {
        let row = |row: Option<u32>| run.executions.get(row? as usize);
        let millis = |stamp: Option<&Stamp>| stamp.and_then(Stamp::millis);
        let (first, last) = (row(node.first_row), row(node.last_row));
        let ended = |row: Option<&crate::model::Execution>| millis(row?.completed.as_ref());
        Span {
            node: at,
            from: millis(first.and_then(|row| row.started.as_ref())),
            to: ended(last).or_else(|| ended(first)),
            over: !node.status.is_open() && node.status != NodeStatus::Abandoned,
            completed: node.status == NodeStatus::Completed,
            recorded: None,
        }
    }

    /// Both ends where they are recorded; what is not over has no end.
    pub(super) fn timed(&self) -> Option<(i64, i64)> {
        match (self.from, self.to) {
            (Some(from), Some(to)) => Some((from, to)),
            (Some(from), None) if !self.over => Some((from, i64::MAX)),
            _ => None,
        }
    }

    /// Whether the times that are recorded leave a write at `at` possible.
    pub(super) fn allows(&self, at: Option<i64>) -> bool {
        let Some((low, high)) = at.map(second) else {
            return true;
        };
        self.from.is_none_or(|from| from <= high) && self.to.is_none_or(|to| to >= low)
    }
}

/// The second that an instant lies in. Many writers record seconds beside milliseconds, so within one second the times
/// of two rows have no order.
pub(in crate::session::pages) fn second(at: i64) -> (i64, i64) {
    let low = at.div_euclid(1000).saturating_mul(1000);
    (low, low.saturating_add(999))
}
