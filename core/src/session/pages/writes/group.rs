use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::span::{Span, second};
use super::{Written, written};
use crate::session::Session;
use crate::trace::{NodeId, NodeStatus, Trace};

/// How many nodes are asked whether their times speak for or against a write.
const ASKED_MOST: usize = 1_000;

/// The bindings of one name in one frame, and the nodes whose statements bind it.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) bindings: Vec<u32>,
    /// Its statements bind no name, so each value has a name of its own and replaces no other.
    pub(super) anonymous: bool,
    /// In preorder.
    pub(super) spans: Vec<Span>,
    /// The last node that is recorded as a writer, by its place in `spans`.
    recorded: Option<usize>,
    /// Nodes with both times, by when they ended, of those that ended at once the later node first: end, node, begin.
    ended: Vec<(i64, Reverse<NodeId>, i64)>,
    /// Nodes without both times: places in `spans`.
    untimed: Vec<usize>,
    /// Of an anonymous group, what each node wrote; made when the first node asks.
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
        // An announced statement is named only where no other can be meant.
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

    /// What each node wrote.
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

    /// Who wrote a value at `at`.
    pub(super) fn written(&self, at: Option<i64>) -> Written {
        if let Some(by) = self.recorded(at) {
            return Written {
                by: Some(by),
                inferred: false,
                at,
            };
        }
        if let Some(at) = at {
            let (low, high) = second(at);
            let by = self.under_way(at, at).or_else(|| self.under_way(low, high));
            if by.is_some() {
                return Written {
                    by,
                    inferred: false,
                    at: Some(at),
                };
            }
        }
        let by = self.untimed(at);
        let inferred = by.is_some();
        Written { by, inferred, at }
    }

    /// The last node that is recorded as the writer; `None` where the value was written again since.
    fn recorded(&self, at: Option<i64>) -> Option<NodeId> {
        let last = self.spans.get(self.recorded?)?;
        let replaced = at.zip(last.to).is_some_and(|(at, to)| to < second(at).0);
        (!replaced).then_some(last.node)
    }

    /// The node that was under way between two instants. A statement writes its value before it ends, so of several
    /// the one that ended first.
    fn under_way(&self, low: i64, high: i64) -> Option<NodeId> {
        let from = self.ended.partition_point(|(to, ..)| *to < low);
        // What runs side by side under one name is little; the bound keeps hostile runs cheap.
        let mut near = self.ended.iter().skip(from).take(ASKED_MOST);
        let (_, Reverse(node), _) = near.find(|(.., begin)| *begin <= high)?;
        Some(*node)
    }

    /// The last node that no recorded time speaks against, if it completed or is the only one.
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
