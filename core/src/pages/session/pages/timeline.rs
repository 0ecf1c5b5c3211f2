//! Builds the timeline: when each row of the trace was running, along an axis on which idle time is shortened.
//!
//! If a row's own times are recorded, the row extends from its begin to its end. A row without times (a round, a
//! branch, a frame) extends from the first begin to the last end of the rows inside of it. A row that began and did not
//! end extends to the run's last sign of life and is marked as open. A row without any time has no bar.

mod dense;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use typed_index_collections::TiVec;

use super::node_ref;
use crate::model::time::{Stamp, human_duration};
use crate::pages::session::Opened;
use crate::pages::view::{Bar, BarEnd, Gap, Longest, Timeline};
use crate::trace::{Node, NodeId, NodeKind, NodeStatus};

/// Idle time is shortened if it takes more than this fraction (1/20) of the whole time.
const IDLE: u64 = 20;

/// The drawn length of a shortened idle time, as a fraction (1/50) of the time that is not shortened.
const DRAWN: u64 = 50;

/// The largest number of statements in the list of the longest statements.
const LONGEST: usize = 5;

type Spans = TiVec<NodeId, Option<Span>>;

/// The times of one node, in milliseconds since 1970 UTC.
#[derive(Debug, Clone, Copy)]
struct Span {
    from: i64,
    until: i64,
    end: BarEnd,
}

/// Builds the timeline of a run.
pub fn timeline(opened: &Opened) -> Timeline {
    let spans = spans(opened);
    let known = spans.iter().flatten();
    let Some(first) = known.clone().map(|span| span.from).min() else {
        return Timeline {
            untimed: spans.len() as u32,
            ..Timeline::default()
        };
    };
    let last = known.map(|span| span.until).max().unwrap_or(first);
    let innermost = innermost(opened, &spans);
    let axis = Axis::new(&busy(&innermost, &spans), first, last);
    let critical = critical(opened, &spans);
    let bars = spans.iter_enumerated().filter_map(|(at, span)| {
        let span = (*span)?;
        Some(Bar {
            node: at.get(),
            from: axis.at(span.from),
            until: axis.at(span.until),
            end: span.end,
            critical: critical.contains(&at),
        })
    });
    let bars: Vec<Bar> = bars.collect();
    let len = axis.at(last);
    Timeline {
        from: Some(Stamp::At(first)),
        until: Some(Stamp::At(last)),
        took: Some(human_duration(last - first)),
        len,
        untimed: spans.iter().filter(|span| span.is_none()).count() as u32,
        longest: longest(opened, &innermost, &spans),
        dense: dense::dense(opened, &innermost, &spans, &axis, len),
        gaps: axis.gaps,
        sequential: sequential(opened, &spans, &critical),
        bars,
    }
}

/// Returns the span of each node; `None` for a node without any time.
fn spans(opened: &Opened) -> Spans {
    let last_sign = opened.trace.verdict.last_sign.as_ref();
    let last_sign = last_sign.and_then(Stamp::millis);
    let mut spans: Spans = opened.trace.nodes.iter().map(|_| None).collect();
    // Children come after their parents. The loop goes backward, so that the times of the children are known before
    // their parent's.
    for (at, node) in opened.trace.nodes.iter_enumerated().rev() {
        let inner = spans.get(at).copied().flatten();
        let own = own(opened, node, inner.is_some(), last_sign);
        let span = match (own, inner) {
            (Some(own), Some(inner)) => Some(around(own, inner)),
            (own, inner) => own.or(inner),
        };
        if let Some(slot) = spans.get_mut(at) {
            *slot = span;
        }
        let parent = node.parent.and_then(|parent| spans.get_mut(parent));
        if let (Some(span), Some(slot)) = (span, parent) {
            let end = match span.end {
                BarEnd::Open => BarEnd::Open,
                _ => BarEnd::Inner,
            };
            let inner = Span { end, ..span };
            *slot = Some(slot.map_or(inner, |before| around(before, inner)));
        }
    }
    spans
}

/// Returns the span that a node's own rows record; `None` without a recorded begin.
fn own(opened: &Opened, node: &Node, has_inner: bool, last_sign: Option<i64>) -> Option<Span> {
    let (from, until) = node.worked(&opened.run);
    let from = from?;
    let (until, end) = match until {
        Some(until) if until >= from => (until, BarEnd::Recorded),
        None if node.status.is_open() && !has_inner => {
            (last_sign.map_or(from, |sign| sign.max(from)), BarEnd::Open)
        }
        _ => (from, BarEnd::Unknown),
    };
    Some(Span { from, until, end })
}

/// Returns the span from the first begin to the last end of two spans. Its `end` is that of the span that ends last.
fn around(a: Span, b: Span) -> Span {
    Span {
        from: a.from.min(b.from),
        until: a.until.max(b.until),
        end: if b.until > a.until { b.end } else { a.end },
    }
}

/// Returns the nodes with times that contain no other nodes with times.
fn innermost(opened: &Opened, spans: &Spans) -> Vec<NodeId> {
    let is_timed = |at: NodeId| spans.get(at).is_some_and(Option::is_some);
    let nodes = opened.trace.nodes.iter_enumerated();
    let timed = nodes.filter(|(at, _)| is_timed(*at));
    let around: BTreeSet<NodeId> = timed.clone().filter_map(|(_, n)| n.parent).collect();
    let all = timed.map(|(at, _)| at);
    all.filter(|at| !around.contains(at)).collect()
}

/// Returns the ranges of time in which an innermost node was running, joined and in order.
fn busy(innermost: &[NodeId], spans: &Spans) -> Vec<(i64, i64)> {
    let mut times: Vec<(i64, i64)> = innermost
        .iter()
        .filter_map(|at| spans.get(*at).copied().flatten())
        .map(|span| (span.from, span.until))
        .collect();
    times.sort_unstable();
    let mut joined: Vec<(i64, i64)> = Vec::new();
    for (from, until) in times {
        match joined.last_mut() {
            Some((_, end)) if from <= *end => *end = (*end).max(until),
            _ => joined.push((from, until)),
        }
    }
    joined
}

/// A map from times to positions on the axis, in milliseconds of drawn time.
struct Axis {
    first: i64,
    gaps: Vec<Gap>,
}

impl Axis {
    fn new(busy: &[(i64, i64)], first: i64, last: i64) -> Axis {
        let all = last.abs_diff(first);
        let idle = busy.windows(2).filter_map(|pair| match pair {
            [(_, end), (begin, _)] if begin.abs_diff(*end) > all / IDLE => Some((*end, *begin)),
            _ => None,
        });
        let idle: Vec<(i64, i64)> = idle.collect();
        let left_out: u64 = idle.iter().map(|(from, until)| until.abs_diff(*from)).sum();
        let drawn = (all.saturating_sub(left_out) / DRAWN).max(1);
        let mut axis = Axis {
            first,
            gaps: Vec::new(),
        };
        for (from, until) in idle {
            let len = until.abs_diff(from);
            let gap = Gap {
                at: axis.at(from),
                drawn: drawn.min(len),
                from: Stamp::At(from),
                len_ms: len,
                len: human_duration(until - from),
            };
            axis.gaps.push(gap);
        }
        axis
    }

    /// Returns the position of a time on the axis.
    fn at(&self, time: i64) -> u64 {
        let mut place = time.saturating_sub(self.first).max(0).unsigned_abs();
        for gap in &self.gaps {
            let Some(begin) = gap.from.millis() else {
                continue;
            };
            let passed = time.saturating_sub(begin).max(0).unsigned_abs();
            let passed = passed.min(gap.len_ms);
            // Inside of a shortened gap, the drawn position advances in proportion to the time.
            let drawn = match gap.len_ms {
                0 => 0,
                len => (u128::from(passed) * u128::from(gap.drawn) / u128::from(len)) as u64,
            };
            place = place - passed + drawn;
        }
        place
    }
}

/// Returns the nodes that the run's end waited for: all nodes in sequence, and in each parallel the branch that ended
/// last.
fn critical(opened: &Opened, spans: &Spans) -> BTreeSet<NodeId> {
    let mut critical = BTreeSet::new();
    let ends = |at: NodeId| {
        let span = spans.get(at).copied().flatten();
        span.map(|span| span.until)
    };
    // For each parallel, the branch that ended last.
    let mut last: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    for (at, node) in opened.trace.nodes.iter_enumerated() {
        let Some(parent) = node.parent else { continue };
        let is_parallel = opened
            .node(parent)
            .is_some_and(|parent| parent.kind == NodeKind::Parallel);
        if !is_parallel || ends(at).is_none() {
            continue;
        }
        let known = last.get(&parent).copied();
        if known.is_none_or(|known| ends(at) > ends(known)) {
            last.insert(parent, at);
        }
    }
    for (at, node) in opened.trace.nodes.iter_enumerated() {
        let waited_for = match node.parent {
            None => true,
            Some(parent) => {
                critical.contains(&parent) && last.get(&parent).is_none_or(|branch| *branch == at)
            }
        };
        if waited_for && ends(at).is_some() {
            critical.insert(at);
        }
    }
    critical
}

/// Returns whether the run's end waited for every row; `None` if a branch that began has no times.
fn sequential(opened: &Opened, spans: &Spans, critical: &BTreeSet<NodeId>) -> Option<bool> {
    let is_beside = |(at, span): (NodeId, &Option<Span>)| span.is_some() && !critical.contains(&at);
    let is_open = |(at, span): (NodeId, &Option<Span>)| {
        let node = opened.node(at).filter(|_| span.is_none());
        let node = node.filter(|node| node.status != NodeStatus::Skipped);
        let parent = node.and_then(|node| node.parent);
        parent.is_some_and(|at| {
            let around = opened.node(at).map(|around| &around.kind);
            around == Some(&NodeKind::Parallel) && opened.index.children_of(at) > 1
        })
    };
    if spans.iter_enumerated().any(is_beside) {
        Some(false)
    } else if spans.iter_enumerated().any(is_open) {
        None
    } else {
        Some(true)
    }
}

/// Returns the innermost statements that took longest.
fn longest(opened: &Opened, innermost: &[NodeId], spans: &Spans) -> Vec<Longest> {
    let took = |at: &NodeId| {
        let span = spans.get(*at).copied().flatten()?;
        let took = span.until - span.from;
        (span.end == BarEnd::Recorded && took > 0).then_some((took, *at))
    };
    let mut all: Vec<(i64, NodeId)> = innermost.iter().filter_map(took).collect();
    all.sort_unstable_by_key(|(took, at)| (Reverse(*took), *at));
    all.truncate(LONGEST);
    let named = all.into_iter().filter_map(|(took, at)| {
        Some(Longest {
            node: node_ref(opened, at)?,
            took: human_duration(took),
            took_ms: took,
        })
    });
    named.collect()
}

#[cfg(test)]
mod tests;
