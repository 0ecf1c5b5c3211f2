use std::collections::BTreeMap;

use super::writes::Writes;
use crate::model::{Binding, Run, Text};
use crate::program::Listing;
pub(super) use crate::text::short;
use crate::trace::{Node, NodeKind, Trace};

/// What pages look up again and again, computed once when a run is opened.
#[derive(Debug, Default)]
pub(in crate::session) struct NodeIndex {
    /// For each node: its place among its siblings, from 1, and how many they are.
    pub(super) place: Vec<(u32, u32)>,
    /// For each node: direct children; last, how many nodes lie in none.
    pub(super) children: Vec<u32>,
    /// For each node: whether a failure below it was not recovered, so that its own is a consequence.
    pub(super) fails_below: Vec<bool>,
    /// For each node: the node of the frame that it lies in; a frame's own node lies in the one above.
    pub(in crate::session) frame: Vec<Option<u32>>,
    /// Who wrote what.
    pub(super) writes: Writes,
    /// `(line, node)`, ascending.
    pub(super) lines: Vec<(u32, u32)>,
    /// `(line of the log, node)`, ascending: the other way round than [`Trace::told`].
    pub(super) told: Vec<(u32, u32)>,
    /// Bindings by scope: the root first, then frame by frame in the order of the trace.
    pub(super) binding_order: Vec<u32>,
    /// Bindings whose name and frame other rows claim too, and by how many in all (errata S2).
    pub(super) claims: BTreeMap<u32, u32>,
}

impl NodeIndex {
    pub(in crate::session) fn build(
        run: &Run,
        trace: &Trace,
        listing: Option<&Listing>,
    ) -> NodeIndex {
        let mut index = NodeIndex::default();
        index.tree(trace);
        index.lines = trace
            .nodes
            .iter()
            .enumerate()
            .filter_map(|(i, node)| node.line.map(|line| (line, i as u32)))
            .collect();
        index.lines.sort_unstable();
        index.told = trace
            .told
            .iter()
            .map(|(node, line)| (*line, *node))
            .collect();
        index.told.sort_unstable();
        index.writes = Writes::of(run, trace, listing, &index.frame);
        index.binding_order = binding_order(run, trace);
        index.claims = claims(run);
        index
    }

    fn tree(&mut self, trace: &Trace) {
        let count = trace.nodes.len();
        self.place = vec![(1, 1); count];
        self.frame = vec![None; count];
        self.fails_below = vec![false; count];
        for (i, node) in trace.nodes.iter().enumerate().rev() {
            let fails = node.has_failed() || self.fails_below.get(i) == Some(&true);
            let parent = node.parent.filter(|_| fails);
            if let Some(above) = parent.and_then(|p| self.fails_below.get_mut(p as usize)) {
                *above = true;
            }
        }
        // The last place counts the nodes that lie in none.
        let mut children = vec![0; count + 1];
        let slot = |node: &Node| node.parent.map_or(count, |parent| parent as usize);
        for (i, node) in trace.nodes.iter().enumerate() {
            if let Some(nth) = children.get_mut(slot(node)) {
                *nth += 1;
                self.place[i].0 = *nth;
            }
            let parent = node.parent.and_then(|p| trace.nodes.get(p as usize));
            self.frame[i] = match parent.map(|parent| &parent.kind) {
                Some(NodeKind::Frame { .. }) => node.parent,
                _ => self.frame.get(slot(node)).copied().flatten(),
            };
        }
        for (i, node) in trace.nodes.iter().enumerate() {
            self.place[i].1 = children.get(slot(node)).copied().unwrap_or(1);
        }
        self.children = children;
    }

    /// Nodes tied to a line.
    pub(super) fn at_line(&self, line: u32) -> impl Iterator<Item = u32> + '_ {
        let from = self.lines.partition_point(|&(l, _)| l < line);
        self.lines
            .get(from..)
            .unwrap_or_default()
            .iter()
            .take_while(move |&&(l, _)| l == line)
            .map(|&(_, n)| n)
    }
}

/// The node of a row id, its instance's when the row is an alias.
pub(in crate::session) fn node_of_row(trace: &Trace, row: i64) -> Option<u32> {
    trace
        .by_row
        .binary_search_by_key(&row, |&(id, _)| id)
        .ok()
        .and_then(|at| trace.by_row.get(at))
        .map(|&(_, n)| n)
}

fn claims(run: &Run) -> BTreeMap<u32, u32> {
    let place = |binding: &'_ Binding| (binding.name.clone(), binding.execution_id);
    let mut counts: BTreeMap<(Text, Option<i64>), u32> = BTreeMap::new();
    for binding in &run.bindings {
        *counts.entry(place(binding)).or_default() += 1;
    }
    (0..)
        .zip(&run.bindings)
        .filter_map(|(b, binding)| {
            let count = counts.get(&place(binding)).copied()?;
            (count > 1).then_some((b, count))
        })
        .collect()
}

fn binding_order(run: &Run, trace: &Trace) -> Vec<u32> {
    let mut order: Vec<u32> = (0..run.bindings.len() as u32).collect();
    let key = |b: &u32| {
        let id: Option<i64> = run
            .bindings
            .get(*b as usize)
            .and_then(|binding| binding.execution_id);
        // Frames in the order of the trace; those that the trace does not know come last, by id.
        let node = id.map(|id| node_of_row(trace, id).unwrap_or(u32::MAX));
        (node, id)
    };
    order.sort_by_key(key);
    order
}

/// Words for the way to a frame, from the outside in.
pub(super) fn frame_path(trace: &Trace, frames: &[Option<u32>], frame: Option<u32>) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut at = frame;
    // Longer ways are cut in the middle: a hundred thousand frames deep is legal, but nobody reads it.
    while let Some(i) = at {
        let Some(node) = trace.nodes.get(i as usize) else {
            break;
        };
        let name: Text = node.text.clone();
        names.push(match node.id {
            Some(id) => format!("{} #{id}", short(&name, 40)),
            None => short(&name, 40),
        });
        if names.len() == 6 {
            names.push("…".to_owned());
            break;
        }
        at = frames.get(i as usize).copied().flatten();
    }
    names.reverse();
    names.join(" › ")
}
