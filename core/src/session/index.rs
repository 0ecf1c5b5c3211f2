use std::collections::BTreeMap;

use super::writes::Writes;
use crate::model::{Binding, Run, Text};
use crate::program::Listing;
pub(super) use crate::text::short;
use crate::trace::{NodeKind, Trace};

/// What pages look up again and again, computed once when a run is opened.
#[derive(Debug, Default)]
pub struct NodeIndex {
    /// For each node: its place among its siblings, from 1, and how many they are.
    pub(super) place: Vec<(u32, u32)>,
    /// For each node: direct children.
    pub(super) children: Vec<u32>,
    /// For each node: whether a failure below it was not recovered, so that its own is a consequence.
    pub(super) fails_below: Vec<bool>,
    /// For each node: the node of the frame that it lies in; a frame's own node lies in the one above.
    pub(super) frame: Vec<Option<u32>>,
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
    pub(super) fn build(run: &Run, trace: &Trace, listing: Option<&Listing>) -> NodeIndex {
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
        self.children = vec![0; count];
        self.frame = vec![None; count];
        self.fails_below = vec![false; count];
        for (i, node) in trace.nodes.iter().enumerate().rev() {
            let fails = node.has_failed() || self.fails_below.get(i) == Some(&true);
            let parent = node.parent.filter(|_| fails);
            if let Some(above) = parent.and_then(|p| self.fails_below.get_mut(p as usize)) {
                *above = true;
            }
        }
        let mut roots = 0;
        for (i, node) in trace.nodes.iter().enumerate() {
            let nth = match node.parent {
                Some(parent) => {
                    let parent_at = parent as usize;
                    let is_frame = trace
                        .nodes
                        .get(parent_at)
                        .is_some_and(|p| matches!(p.kind, NodeKind::Frame { .. }));
                    self.frame[i] = if is_frame {
                        Some(parent)
                    } else {
                        self.frame.get(parent_at).copied().flatten()
                    };
                    self.children.get_mut(parent_at).map_or(1, |n| {
                        *n += 1;
                        *n
                    })
                }
                None => {
                    roots += 1;
                    roots
                }
            };
            self.place[i].0 = nth;
        }
        for (i, node) in trace.nodes.iter().enumerate() {
            self.place[i].1 = node.parent.map_or(roots, |p| {
                self.children.get(p as usize).copied().unwrap_or(1)
            });
        }
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
pub(super) fn node_of_row(trace: &Trace, row: i64) -> Option<u32> {
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
