//! Reads from the rows when a node was running. If a value was written in that time, the node may be its writer.

use crate::model::Run;
use crate::trace::{Node, NodeId, NodeStatus};

/// The times of a node, in milliseconds since 1970 UTC.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) node: NodeId,
    pub(super) from: Option<i64>,
    pub(super) to: Option<i64>,
    pub(super) over: bool,
    pub(super) completed: bool,
    /// The index of the row that records that the node wrote the name, if any.
    pub(super) recorded: Option<u32>,
}

impl Span {
    pub(super) fn of(run: &Run, at: NodeId, node: &Node) -> Span {
        let (from, to) = node.worked(run);
        Span {
            node: at,
            from,
            to,
            over: !node.status.is_open() && node.status != NodeStatus::Abandoned,
            completed: node.status == NodeStatus::Completed,
            recorded: None,
        }
    }

    /// Returns begin and end if both are recorded; a node that is not over has an infinite end.
    pub(super) fn timed(&self) -> Option<(i64, i64)> {
        match (self.from, self.to) {
            (Some(from), Some(to)) => Some((from, to)),
            (Some(from), None) if !self.over => Some((from, i64::MAX)),
            _ => None,
        }
    }

    /// Returns whether the recorded times allow that the node wrote a value at a time.
    pub(super) fn allows(&self, at: Option<i64>) -> bool {
        let Some((low, high)) = at.map(second) else {
            return true;
        };
        self.from.is_none_or(|from| from <= high) && self.to.is_none_or(|to| to >= low)
    }
}

/// Returns the first and last millisecond of the second around a time. Many programs record only seconds, so times
/// within the same second have no order.
pub(in crate::pages::session::pages) fn second(at: i64) -> (i64, i64) {
    let low = at.div_euclid(1000).saturating_mul(1000);
    (low, low.saturating_add(999))
}
