use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use typed_index_collections::TiVec;

use super::writes::Writes;
use crate::model::{Binding, BindingKind, Gate, Run, RunStatus, Text};
use crate::program::Listing;
pub(super) use crate::text::short;
use crate::trace::{NodeId, Trace};

/// What pages look up again and again, computed once when a run is opened.
#[derive(Debug, Default)]
pub(in crate::session) struct NodeIndex {
    /// For each node: its place among its siblings, from 1, and how many they are.
    pub(super) place: TiVec<NodeId, (u32, u32)>,
    /// Direct children of each node that has some; and how many nodes lie in none.
    pub(super) children: BTreeMap<Option<NodeId>, u32>,
    /// For each node: whether a failure below it was not recovered, so that its own is a consequence.
    pub(super) fails_below: TiVec<NodeId, bool>,
    /// What failed first, of a completed run too: its rows may hold a failure that nothing recovered.
    pub(super) cause: Option<NodeId>,
    /// Who wrote what.
    pub(super) writes: Writes,
    /// `(line, node)`, ascending.
    pub(in crate::session) lines: Vec<(u32, NodeId)>,
    /// `(line of the log, node)`, ascending: the other way round than [`Trace::told`].
    pub(super) told: Vec<(u32, NodeId)>,
    /// Bindings by scope: the root first, then frame by frame in the order of the trace.
    pub(super) binding_order: Vec<u32>,
    /// Gates by their ids, of which the first row counts: places in [`Run::gates`].
    pub(super) gates: BTreeMap<Text, u32>,
    /// What went well ([`super::went_well`]), once that was asked.
    pub(super) well: OnceLock<BTreeSet<NodeId>>,
    /// By the id of a call, the first value that it was given: a place in [`Run::bindings`].
    pub(super) arguments: BTreeMap<i64, u32>,
    /// Bindings whose name and frame other rows claim too, and by how many in all (errata S2).
    pub(super) claims: BTreeMap<u32, u32>,
}

impl NodeIndex {
    pub(in crate::session) fn build(
        run: &Run,
        trace: &Trace,
        listing: Option<&Listing>,
    ) -> NodeIndex {
        let mut index = NodeIndex {
            fails_below: trace.above(|_, node| node.has_failed()),
            ..NodeIndex::default()
        };
        index.cause = trace.first_cause.or_else(|| index.unrecovered(run, trace));
        index.places(trace);
        let tied = trace.nodes.iter_enumerated();
        index.lines = tied
            .filter_map(|(at, node)| Some((node.line?, at)))
            .collect();
        index.lines.sort_unstable();
        let told = trace.told.iter();
        index.told = told.map(|(node, line)| (*line, *node)).collect();
        index.told.sort_unstable();
        index.writes = Writes::of(run, trace, listing);
        index.binding_order = binding_order(run, trace);
        index.claims = claims(run);
        let given = (0..).zip(&run.bindings);
        for (at, binding) in given.filter(|(_, own)| own.kind == BindingKind::Input) {
            if let Some(call) = binding.execution_id {
                index.arguments.entry(call).or_insert(at);
            }
        }
        for (at, gate) in (0..).zip(&run.gates) {
            index.gates.entry(Text::clone(&gate.id)).or_insert(at);
        }
        index
    }

    /// The failure that was recorded first, of those that nothing recovered, in a completed run.
    fn unrecovered(&self, run: &Run, trace: &Trace) -> Option<NodeId> {
        if trace.verdict.status != RunStatus::Completed.word() {
            return None;
        }
        let last = |at: NodeId, row: Option<u32>| {
            let row = row.and_then(|row| run.executions.get(row as usize));
            row.map_or_else(|| i64::from(at.get()), |row| row.id)
        };
        let nodes = trace.nodes.iter_enumerated();
        nodes
            .filter(|(at, node)| node.has_failed() && self.fails_below.get(*at) != Some(&true))
            .min_by_key(|(at, node)| (last(*at, node.last_row), *at))
            .map(|(at, _)| at)
    }

    fn places(&mut self, trace: &Trace) {
        for node in &trace.nodes {
            let count = self.children.entry(node.parent).or_default();
            *count += 1;
            self.place.push((*count, 1));
        }
        for (node, place) in trace.nodes.iter().zip(&mut self.place) {
            place.1 = self.children.get(&node.parent).copied().unwrap_or(1);
        }
    }

    /// The gate of an id.
    pub(super) fn gate<'r>(&self, run: &'r Run, id: &str) -> Option<&'r Gate> {
        run.gates.get(*self.gates.get(id)? as usize)
    }

    /// How many nodes lie directly in one.
    pub(super) fn children_of(&self, node: NodeId) -> u32 {
        self.children.get(&Some(node)).copied().unwrap_or(0)
    }

    /// Nodes tied to a line.
    pub(in crate::session) fn at_line(&self, line: u32) -> impl Iterator<Item = NodeId> + '_ {
        let from = self.lines.partition_point(|&(l, _)| l < line);
        let own = self.lines.iter().skip(from);
        let own = own.take_while(move |(of, _)| *of == line);
        own.map(|(_, node)| *node)
    }
}

fn claims(run: &Run) -> BTreeMap<u32, u32> {
    let place = |binding: &'_ Binding| (binding.name.clone(), binding.execution_id);
    let mut counts: BTreeMap<(Text, Option<i64>), u32> = BTreeMap::new();
    for binding in &run.bindings {
        *counts.entry(place(binding)).or_default() += 1;
    }
    let all = (0..).zip(&run.bindings);
    let claimed = all.filter_map(|(at, binding)| Some((at, *counts.get(&place(binding))?)));
    claimed.filter(|(_, count)| *count > 1).collect()
}

fn binding_order(run: &Run, trace: &Trace) -> Vec<u32> {
    let mut order: Vec<u32> = (0..run.bindings.len() as u32).collect();
    let key = |b: &u32| {
        let binding = run.bindings.get(*b as usize);
        let id = binding.and_then(|binding| binding.execution_id);
        // Frames in the order of the trace; those that the trace does not know come last, by id.
        let node = id.map(|id| trace.of_row(id).unwrap_or(trace.nodes.next_key()));
        (node, id)
    };
    order.sort_by_key(key);
    order
}

/// Words for the way to a frame, from the outside in.
pub(super) fn frame_path(trace: &Trace, frame: Option<NodeId>) -> String {
    let mut names: Vec<String> = Vec::new();
    let upward = trace.upward(frame).filter_map(|at| trace.node(at));
    // What a binding names as its frame may be something else.
    let frames = upward
        .enumerate()
        .filter(|(nth, node)| *nth == 0 || node.kind.is_frame());
    // Longer ways are cut in the middle: a hundred thousand frames deep is legal, but nobody reads it.
    for (_, node) in frames {
        names.push(match node.id {
            Some(id) => format!("{} #{id}", short(&node.text, 40)),
            None => short(&node.text, 40),
        });
        if names.len() == 6 {
            names.push("…".to_owned());
            break;
        }
    }
    names.reverse();
    names.join(" › ")
}
