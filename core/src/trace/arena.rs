//! Stores the tree of a trace as one list of nodes in preorder. A subtree is a contiguous range of the list, and a
//! parent precedes its children.

use serde::{Deserialize, Serialize};
use typed_index_collections::{TiSlice, TiVec};

use super::{Node, NodeKind, Trace};
use crate::model::{Run, Status};

/// The id of a node of a [`Trace`]: the index in [`Trace::nodes`], from 0. An id is only valid for its own trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(u32);

/// All nodes of a trace, in preorder.
pub type Nodes = TiVec<NodeId, Node>;

/// Nodes in preorder, borrowed.
pub type NodeSlice = TiSlice<NodeId, Node>;

impl NodeId {
    /// Returns the id of the node at an index of [`Trace::nodes`].
    pub fn new(place: u32) -> NodeId {
        NodeId(place)
    }

    /// Returns the node's index in [`Trace::nodes`], as views and pages print it.
    pub fn get(self) -> u32 {
        self.0
    }

    /// Returns the next node in preorder.
    pub fn next(self) -> NodeId {
        self.after(1)
    }

    /// Returns the node that is `places` later in preorder.
    pub(super) fn after(self, places: u32) -> NodeId {
        NodeId(self.0.saturating_add(places))
    }

    /// Returns the nodes in preorder from this node up to, but excluding, `end`.
    pub fn to(self, end: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + Clone {
        (self.0..end.0).map(NodeId)
    }
}

impl From<usize> for NodeId {
    /// Converts an index to an id. An index beyond 2^32 would become an id without a node, but a run never has so many
    /// nodes.
    fn from(place: usize) -> NodeId {
        NodeId(u32::try_from(place).unwrap_or(u32::MAX))
    }
}

impl From<NodeId> for usize {
    fn from(id: NodeId) -> usize {
        id.0 as usize
    }
}

impl Trace {
    /// Returns the node with an id.
    pub fn node(&self, at: NodeId) -> Option<&Node> {
        self.nodes.get(at)
    }

    /// Returns the node of an execution, by the id of any of the execution's rows.
    pub fn of_row(&self, id: i64) -> Option<NodeId> {
        // Ids usually have no gaps, so the index is guessed before it is searched.
        let first = self.by_row.first()?.0;
        let guess = id
            .checked_sub(first)
            .and_then(|at| usize::try_from(at).ok());
        let guess = guess.and_then(|at| self.by_row.get(at));
        if let Some((_, node)) = guess.filter(|(row, _)| *row == id) {
            return Some(*node);
        }
        let at = self.by_row.partition_point(|(row, _)| *row < id);
        let (row, node) = self.by_row.get(at)?;
        (*row == id).then_some(*node)
    }

    /// Returns the end of a node's subtree: the id after the last node of the subtree.
    pub fn end(&self, at: NodeId) -> NodeId {
        let below = self.node(at).map_or(0, |node| node.descendants);
        at.after(below.saturating_add(1))
    }

    /// Returns the direct children of a node; for `None`, the roots.
    pub fn children(&self, of: Option<NodeId>) -> impl Iterator<Item = NodeId> + '_ {
        children(&self.nodes, of)
    }

    /// Returns the last round of a loop; `None` without rounds.
    pub(crate) fn round_open(&self, of: NodeId) -> Option<NodeId> {
        let is_round = |at: &NodeId| self.node(*at).is_some_and(|node| node.kind.is_round());
        self.children(Some(of)).filter(is_round).last()
    }

    /// Returns whether a node belongs to the present attempt of the execution around it; `None` if rows do not show where
    /// that attempt began, as in the in-place form.
    pub(crate) fn is_present(&self, run: &Run, node: &Node) -> Option<bool> {
        let mut around = self.upward(node.parent).filter_map(|at| self.node(at));
        let around = around.find(|around| !around.kind.is_round());
        let Some(around) = around.filter(|around| around.attempts > 1) else {
            return Some(true);
        };
        // A statement that began again may continue the rows of the earlier attempt.
        let last = node.last_row.and_then(|at| run.executions.get(at as usize));
        let last = last.map(|row| row.id).max(node.id);
        Some(last? > around.retries(run).max()?)
    }

    /// Returns the number of a loop's last round; `None` without rounds.
    pub(crate) fn last_round(&self, of: NodeId) -> Option<u32> {
        let inside = self.children(Some(of));
        let rounds = inside.filter_map(|at| match self.node(at)?.kind {
            NodeKind::Round { n } => Some(n),
            _ => None,
        });
        rounds.max()
    }

    /// Returns a node and its ancestors, from the inside out.
    pub fn upward(&self, from: Option<NodeId>) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(from, |at| self.node(*at)?.parent)
    }

    /// Returns the enclosing frame of each node; `None` outside of all frames.
    pub fn frames(&self) -> TiVec<NodeId, Option<NodeId>> {
        let mut frames = TiVec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let frame = node.parent.and_then(|above| match self.node(above) {
                Some(parent) if parent.is_frame => Some(above),
                _ => frames.get(above).copied().flatten(),
            });
            frames.push(frame);
        }
        frames
    }

    /// Whether a branch has the same program line as its parallel block, because the branch is an item of a
    /// `parallel for` or has no statement of its own. The status of that line belongs to the block.
    pub(crate) fn borrows_line(&self, node: &Node) -> bool {
        let around = node.parent.and_then(|parent| self.node(parent));
        matches!(node.kind, NodeKind::Branch { .. })
            && around.is_some_and(|around| around.line == node.line)
    }

    /// Returns for each node whether a descendant satisfies the condition.
    pub fn above(&self, is: impl Fn(NodeId, &Node) -> bool) -> TiVec<NodeId, bool> {
        above(&self.nodes, is)
    }

    /// Returns the innermost frame around a node; the node itself if it is a frame.
    pub fn frame(&self, at: Option<NodeId>) -> Option<NodeId> {
        let mut upward = self.upward(at);
        upward.find(|at| self.node(*at).is_some_and(|node| node.is_frame))
    }
}

impl NodeKind {
    /// Whether the node is a gate.
    pub fn is_gate(&self) -> bool {
        matches!(self, NodeKind::Gate { .. })
    }

    /// Whether the node is a round of a loop.
    pub fn is_round(&self) -> bool {
        matches!(self, NodeKind::Round { .. })
    }
}

/// Returns the direct children of a node; for `None`, the roots.
pub(super) fn children(nodes: &NodeSlice, of: Option<NodeId>) -> impl Iterator<Item = NodeId> + '_ {
    let (mut at, end) = match of.and_then(|at| Some((at, nodes.get(at)?))) {
        Some((at, node)) => (at.after(1), at.after(1 + node.descendants)),
        None => (NodeId(0), nodes.next_key()),
    };
    std::iter::from_fn(move || {
        let here = at;
        let node = nodes.get(here).filter(|_| here < end)?;
        at = at.after(1 + node.descendants);
        Some(here)
    })
}

/// Returns for each node whether a descendant satisfies the condition.
pub(super) fn above(nodes: &NodeSlice, is: impl Fn(NodeId, &Node) -> bool) -> TiVec<NodeId, bool> {
    let mut above: TiVec<NodeId, bool> = vec![false; nodes.len()].into();
    for (at, node) in nodes.iter_enumerated().rev() {
        if (above.get(at) == Some(&true) || is(at, node))
            && let Some(parent) = node.parent.and_then(|p| above.get_mut(p))
        {
            *parent = true;
        }
    }
    above
}

impl Node {
    /// Returns the ids of the rows that began further attempts; none in the in-place form.
    pub(crate) fn retries<'a>(&'a self, run: &'a Run) -> impl Iterator<Item = i64> + 'a {
        let status = |id: i64| {
            let rows = &run.executions;
            let at = rows.binary_search_by_key(&id, |row| row.id).ok()?;
            Some(&rows.get(at)?.status)
        };
        let aliases = self.aliases.iter().copied();
        aliases.filter(move |id| status(*id) == Some(&Status::Retry))
    }
}
