use crate::model::Run;
use crate::trace::{Node, NodeId, NodeStatus};

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
