//! The tree as an arena: nodes stand in preorder, so that a subtree is a range of them, and a parent comes before its
//! children.

use super::{Node, NodeKind, Trace};

impl Trace {
    /// The node at an index.
    pub fn node(&self, at: u32) -> Option<&Node> {
        self.nodes.get(at as usize)
    }

    /// The node of an execution, by its id or an alias.
    pub fn of_row(&self, id: i64) -> Option<u32> {
        // Ids are mostly counted without a gap.
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

    /// The index after the last node of a subtree.
    pub fn end(&self, at: u32) -> u32 {
        let below = self.node(at).map_or(0, |node| node.descendants);
        at.saturating_add(below).saturating_add(1)
    }

    /// The nodes directly below one, or the roots.
    pub fn children(&self, of: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        children(&self.nodes, of)
    }

    /// A node and what it lies in, from the inside out.
    pub fn upward(&self, from: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(from, |at| self.node(*at)?.parent)
    }

    /// The innermost frame around a node, itself when it is one.
    pub fn frame(&self, at: Option<u32>) -> Option<u32> {
        let mut upward = self.upward(at);
        upward.find(|at| self.node(*at).is_some_and(|node| node.kind.is_frame()))
    }
}

impl NodeKind {
    /// Whether it is an invocation of a block.
    pub fn is_frame(&self) -> bool {
        matches!(self, NodeKind::Frame { .. })
    }

    /// Whether it is a round of a loop.
    pub fn is_round(&self) -> bool {
        matches!(self, NodeKind::Round { .. })
    }
}

/// The nodes directly below one, or the roots.
pub(super) fn children(nodes: &[Node], of: Option<u32>) -> impl Iterator<Item = u32> + '_ {
    let (mut at, end) = match of.and_then(|at| Some((at as usize, nodes.get(at as usize)?))) {
        Some((at, node)) => (at + 1, at + 1 + node.descendants as usize),
        None => (0, nodes.len()),
    };
    std::iter::from_fn(move || {
        let here = at;
        let node = nodes.get(here).filter(|_| here < end)?;
        at += 1 + node.descendants as usize;
        u32::try_from(here).ok()
    })
}

/// Of each node, whether one below it is like that.
pub(super) fn above(nodes: &[Node], is: impl Fn(usize, &Node) -> bool) -> Vec<bool> {
    let mut above = vec![false; nodes.len()];
    for (at, node) in nodes.iter().enumerate().rev() {
        if (above.get(at) == Some(&true) || is(at, node))
            && let Some(parent) = node.parent.and_then(|p| above.get_mut(p as usize))
        {
            *parent = true;
        }
    }
    above
}
