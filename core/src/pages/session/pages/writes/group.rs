//! Groups the bindings of one name in one frame with the nodes that may have written them, and finds each writer.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::span::{Span, second};
use super::{ValueWriter, written};
use crate::pages::session::Session;
use crate::trace::{NodeId, NodeStatus, Trace};

/// The largest number of nodes whose times are compared with the time of a write.
const ASKED_MOST: usize = 1_000;

/// The bindings of one name in one frame, and the nodes whose statements bind the name.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) bindings: Vec<u32>,
    /// Whether the statements bind no name. Each value then has its own name and replaces no other value.
    pub(super) anonymous: bool,
    /// The times of the nodes, in preorder.
    pub(super) spans: Vec<Span>,
    /// The index in `spans` of the last node that is recorded as a writer, if any.
    recorded: Option<usize>,
    /// Nodes with both times as (end, node, begin), ordered by end; of equal ends, the later node comes first.
    ended: Vec<(i64, Reverse<NodeId>, i64)>,
    /// The indices in `spans` of the nodes of which begin or end is not recorded.
    untimed: Vec<usize>,
    /// The bindings of each node, for an anonymous group only; computed on first use.
    of_nodes: OnceLock<BTreeMap<NodeId, Vec<u32>>>,
}

impl Group {
    pub(super) fn new(spans: Vec<Span>, anonymous: bool) -> Group {
        Group {
            spans,
            anonymous,
            ..Group::default()
        }
    }

    pub(super) fn settle(&mut self, trace: &Trace) {
        let status = |span: &Span| trace.node(span.node).map(|node| &node.status);
        let begun = |span: &Span| status(span) != Some(&NodeStatus::Pending);
        // Statements that were only announced count if no statement of the group began.
        if self.spans.iter().any(begun) {
            self.spans.retain(begun);
        }
        let spans = || self.spans.iter().enumerate();
        let recorded = spans().filter_map(|(at, span)| Some((span.recorded?, at)));
        self.recorded = recorded.max().map(|(_, at)| at);
        let timed = self.spans.iter().filter_map(|span| {
            let (from, to) = span.timed()?;
            Some((to, Reverse(span.node), from))
        });
        self.ended = timed.collect();
        self.ended.sort_unstable();
        self.untimed = spans()
            .filter(|(_, span)| span.timed().is_none())
            .map(|(at, _)| at)
            .collect();
    }

    /// Returns the bindings that each node wrote.
    pub(super) fn of_nodes(&self, session: &Session) -> &BTreeMap<NodeId, Vec<u32>> {
        self.of_nodes.get_or_init(|| {
            let mut of_nodes: BTreeMap<NodeId, Vec<u32>> = BTreeMap::new();
            for &binding in &self.bindings {
                if let Some(by) = written(session, binding, None).by {
                    of_nodes.entry(by).or_default().push(binding);
                }
            }
            of_nodes
        })
    }

    /// Finds the writer of a value that was last written at the time `at`.
    pub(super) fn written(&self, at: Option<i64>) -> ValueWriter {
        if let Some(by) = self.recorded(at) {
            return ValueWriter {
                by: Some(by),
                inferred: false,
                at,
            };
        }
        if let Some(at) = at {
            let (low, high) = second(at);
            let by = self.under_way(at, at).or_else(|| self.under_way(low, high));
            if by.is_some() {
                return ValueWriter {
                    by,
                    inferred: false,
                    at: Some(at),
                };
            }
        }
        let by = self.untimed(at);
        let inferred = by.is_some();
        ValueWriter { by, inferred, at }
    }

    /// Returns the last node that is recorded as the writer; `None` if the value was written again since.
    fn recorded(&self, at: Option<i64>) -> Option<NodeId> {
        let last = self.spans.get(self.recorded?)?;
        let replaced = at.zip(last.to).is_some_and(|(at, to)| to < second(at).0);
        (!replaced).then_some(last.node)
    }

    /// Returns the node that was running between two times. A statement writes its value before it ends, so of several
    /// such nodes the writer is the node that ended first.
    fn under_way(&self, low: i64, high: i64) -> Option<NodeId> {
        let from = self.ended.partition_point(|(to, ..)| *to < low);
        // Few nodes with one name run at the same time. The limit protects against malicious runs.
        let mut near = self.ended.iter().skip(from).take(ASKED_MOST);
        let (_, Reverse(node), _) = near.find(|(.., begin)| *begin <= high)?;
        Some(*node)
    }

    /// Returns the last node whose recorded times allow the write, if this node completed or is the only such node.
    fn untimed(&self, at: Option<i64>) -> Option<NodeId> {
        let open: Box<dyn Iterator<Item = &Span>> = match at {
            None => Box::new(self.spans.iter().rev()),
            Some(_) => {
                let untimed = self.untimed.iter().rev();
                Box::new(untimed.filter_map(|at| self.spans.get(*at)))
            }
        };
        let mut possible = open.take(ASKED_MOST).filter(|span| span.allows(at));
        let last = possible.next()?;
        (last.completed || possible.next().is_none()).then_some(last.node)
    }
}
