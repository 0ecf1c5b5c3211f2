//! Nodes of what ran, each in the construct, round or frame that it lies in: what the other files here build with.

use std::collections::BTreeMap;

use super::facts::Facts;
use super::rounds::Rounds;
use super::stack::Stack;
use super::{finished, frames};
use crate::model::Run;
use crate::trace::{Node, NodeKind};

/// The place of what is tied to no line: behind everything that is.
pub(super) const LAST: u32 = u32::MAX;
/// Rounds that are listed though nothing but their number is known.
const MOST_ROUNDS: u32 = 1_000;

/// Builds the nodes; parents are indices, siblings stand in the order of the program.
pub(super) fn nodes(run: &Run, facts: &mut Facts<'_>, stack: &Stack<'_>) -> Vec<Node> {
    let mut builder = Builder {
        facts,
        nodes: Vec::new(),
        keys: Vec::new(),
        node_of: Vec::new(),
        round_of: BTreeMap::new(),
        rounds_of: BTreeMap::new(),
        holder: Vec::new(),
        names: BTreeMap::new(),
        gone: BTreeMap::new(),
        innermost: BTreeMap::new(),
        rounds_left: MOST_ROUNDS,
    };
    let open = frames::open(stack, &mut builder);
    for frame in &open {
        if let Some(block) = frame.block {
            builder.innermost.insert(block, frame.node);
        }
    }
    let calls = builder.consumed(stack, &open);
    builder.statements(run, stack, &calls);
    let waiting = builder.waiting(run, stack, &open);
    builder.places(stack, &open, &calls);
    builder.branches(run);
    builder.strays();
    builder.unplaced_constructs(run, stack);
    builder.gates(run);
    finished::finished(run, &mut builder, stack, &open, &waiting);
    builder.next(run);
    builder.sorted()
}

/// Nodes under construction.
pub(super) struct Builder<'f, 'a> {
    pub(super) facts: &'f mut Facts<'a>,
    pub(super) nodes: Vec<Node>,
    /// Line and order of making, by node.
    pub(super) keys: Vec<(u32, u32)>,
    /// The node of each statement.
    pub(super) node_of: Vec<Option<u32>>,
    /// The round that a loop is in, by its statement.
    pub(super) round_of: BTreeMap<u32, u32>,
    /// The rounds of each loop's node.
    pub(super) rounds_of: BTreeMap<u32, Rounds>,
    /// What a statement's children lie in.
    pub(super) holder: Vec<Option<u32>>,
    /// Statements by block and the name they bind.
    pub(super) names: BTreeMap<(u32, &'a str), u32>,
    /// Nodes that became part of others.
    pub(super) gone: BTreeMap<u32, u32>,
    /// The innermost open frame of each block: what the markers in its body speak of.
    pub(super) innermost: BTreeMap<u32, u32>,
    pub(super) rounds_left: u32,
}

impl Builder<'_, '_> {
    pub(super) fn push(&mut self, node: Node, key: u32) -> u32 {
        let at = self.nodes.len() as u32;
        self.nodes.push(node);
        self.keys.push((key, at));
        at
    }

    pub(super) fn node(&self, at: u32) -> Option<&Node> {
        self.nodes.get(at as usize)
    }

    pub(super) fn set_parent(&mut self, at: u32, parent: Option<u32>) {
        if let Some(node) = self.nodes.get_mut(at as usize) {
            node.parent = parent.filter(|p| *p != at);
        }
    }

    pub(super) fn node_of_statement(&self, at: u32) -> Option<u32> {
        self.node_of.get(at as usize).copied().flatten()
    }

    pub(super) fn statement_in(&self, block: u32, name: &str) -> Option<u32> {
        self.names.get(&(block, name)).copied()
    }

    /// The block that a frame runs, in the program.
    pub(super) fn block_of_frame(&self, frame: u32) -> Option<u32> {
        match &self.node(frame)?.kind {
            NodeKind::Frame { block, .. } => self.facts.blocks.get(&**block).copied(),
            _ => None,
        }
    }

    /// Whether a node lies in a frame, nearer than any other frame. Constructs of a program are not nested deep; the
    /// bound keeps hostile ones cheap.
    pub(super) fn lies_in(&self, node: u32, frame: u32) -> bool {
        let mut at = Some(node);
        for _ in 0..64 {
            let Some(parent) = at.and_then(|at| self.node(at)?.parent) else {
                return false;
            };
            if parent == frame {
                return true;
            }
            if self
                .node(parent)
                .is_some_and(|n| matches!(n.kind, NodeKind::Frame { .. }))
            {
                return false;
            }
            at = Some(parent);
        }
        false
    }

    /// Finished calls of a block whose frame is not known, in order.
    pub(super) fn calls_without_id(&self, block: &str) -> Vec<u32> {
        let is_call = |n: &Node| {
            is_finished_call(n)
                && matches!(&n.kind, NodeKind::Frame { block: b, .. } if **b == *block)
        };
        self.node_of
            .iter()
            .flatten()
            .copied()
            .filter(|at| self.node(*at).is_some_and(is_call))
            .collect()
    }

    /// The finished call of a statement, where its frame is not known.
    pub(super) fn finished_call(&self, statement: u32) -> Option<u32> {
        let is_call = |at: &u32| self.node(*at).is_some_and(is_finished_call);
        self.node_of_statement(statement).filter(is_call)
    }

    /// Makes a frame known by its bindings the one that a call made.
    pub(super) fn absorb(&mut self, call: u32, frame: u32) {
        let id = self.node(frame).and_then(|n| n.id);
        if let Some(node) = self.nodes.get_mut(call as usize) {
            node.id = id;
        }
        // Of several frames of one call, the order of their ids.
        let order = self.keys.get(frame as usize).map(|key| key.1);
        if let (Some(order), Some(key)) = (order, self.keys.get_mut(call as usize)) {
            key.1 = order;
        }
        self.gone.insert(frame, call);
    }

    /// Notes which statement called a frame.
    pub(super) fn called_by(&mut self, frame: u32, call: Option<u32>) {
        let line = self.line_of(call);
        let statement = call.and_then(|at| self.facts.statement(at));
        if let (Some(statement), Some(node)) = (statement, self.nodes.get_mut(frame as usize)) {
            node.text = statement.text.as_str().into();
            node.line = Some(statement.line);
        }
        if let Some(key) = self.keys.get_mut(frame as usize) {
            key.0 = line;
        }
    }

    pub(super) fn mark_inferred(&mut self, at: u32) {
        if let Some(node) = self.nodes.get_mut(at as usize) {
            node.inferred = true;
        }
    }

    /// The node that stands for another.
    pub(super) fn resolved(&self, at: u32) -> u32 {
        self.gone.get(&at).copied().unwrap_or(at)
    }

    /// All nodes, siblings in the order of the program.
    fn sorted(self) -> Vec<Node> {
        let mut order: Vec<u32> = (0..self.nodes.len() as u32)
            .filter(|at| !self.gone.contains_key(at))
            .collect();
        order.sort_by_key(|at| self.keys.get(*at as usize).copied());
        let mut place = vec![None; self.nodes.len()];
        for (new, old) in (0_u32..).zip(&order) {
            if let Some(slot) = place.get_mut(*old as usize) {
                *slot = Some(new);
            }
        }
        let gone = self.gone;
        let mut pool: Vec<Option<Node>> = self.nodes.into_iter().map(Some).collect();
        order
            .iter()
            .filter_map(|old| {
                let mut node = pool.get_mut(*old as usize)?.take()?;
                node.parent = node
                    .parent
                    .map(|p| gone.get(&p).copied().unwrap_or(p))
                    .and_then(|p| place.get(p as usize).copied().flatten());
                Some(node)
            })
            .collect()
    }
}

fn is_finished_call(node: &Node) -> bool {
    node.id.is_none() && !node.status.is_open() && matches!(node.kind, NodeKind::Frame { .. })
}
