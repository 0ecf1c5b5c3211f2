//! Builds the lookup tables for the pages of a run, once, when the run is opened.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use typed_index_collections::TiVec;

use super::writes::Writes;
pub(super) use crate::model::text::short;
use crate::model::{Binding, BindingKind, Gate, Run, RunStatus, Text};
use crate::program::Listing;
use crate::trace::{NodeId, Trace};

/// Facts about nodes and bindings that pages look up often.
#[derive(Debug, Default)]
pub(in crate::pages::session) struct NodeIndex {
    /// The position of each node among its siblings, from 1, and the number of siblings.
    pub(super) place: TiVec<NodeId, (u32, u32)>,
    /// The number of children of each node; the key `None` has the number of outermost nodes.
    pub(super) children: BTreeMap<Option<NodeId>, u32>,
    /// Whether a descendant of each node failed and was not recovered, so that the node's own failure is a consequence.
    pub(super) fails_below: TiVec<NodeId, bool>,
    /// The first cause of the failure. In a completed run: the first failure that was not recovered; `None` without a
    /// failure.
    pub(super) cause: Option<NodeId>,
    /// The writers of the bindings.
    pub(super) writes: Writes,
    /// The line of each node, as `(line, node)` in ascending order.
    pub(in crate::pages::session) lines: Vec<(u32, NodeId)>,
    /// The nodes of each line of the log, as `(line, node)` in ascending order; the inverse of [`Trace::told`].
    pub(super) told: Vec<(u32, NodeId)>,
    /// The bindings by scope: the root's first, then those of each frame in the order of the trace.
    pub(super) binding_order: Vec<u32>,
    /// The index in [`Run::gates`] of each gate's first row, by the gate's id.
    pub(super) gates: BTreeMap<Text, u32>,
    /// The result of [`super::went_well`], kept after the first call.
    pub(super) well: OnceLock<BTreeSet<NodeId>>,
    /// The index in [`Run::bindings`] of each call's first argument, by the call's id.
    pub(super) arguments: BTreeMap<i64, u32>,
    /// For bindings whose name and frame occur in several rows: the number of these rows (errata S2).
    pub(super) claims: BTreeMap<u32, u32>,
}

impl NodeIndex {
    pub(in crate::pages::session) fn build(
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

    /// Returns the first recorded failure of a completed run that was not recovered.
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

    /// Returns the gate with this id.
    pub(super) fn gate<'r>(&self, run: &'r Run, id: &str) -> Option<&'r Gate> {
        run.gates.get(*self.gates.get(id)? as usize)
    }

    /// Returns the number of a node's children.
    pub(super) fn children_of(&self, node: NodeId) -> u32 {
        self.children.get(&Some(node)).copied().unwrap_or(0)
    }

    /// Returns the nodes whose statement is on this line of the program.
    pub(in crate::pages::session) fn at_line(
        &self,
        line: u32,
    ) -> impl Iterator<Item = NodeId> + '_ {
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
        // Frames are in the order of the trace. Frames without a node come last, by id.
        let node = id.map(|id| trace.of_row(id).unwrap_or(trace.nodes.next_key()));
        (node, id)
    };
    order.sort_by_key(key);
    order
}

/// Describes the calls that lead to a frame, outermost first.
pub(super) fn frame_path(trace: &Trace, frame: Option<NodeId>) -> String {
    let mut names: Vec<String> = Vec::new();
    let upward = trace.upward(frame).filter_map(|at| trace.node(at));
    // The first node is always listed: the id that a binding records as its frame may belong to any kind of node.
    let frames = upward
        .enumerate()
        .filter(|(nth, node)| *nth == 0 || node.is_frame);
    // Long paths are cut, because a program may have a hundred thousand nested frames.
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
