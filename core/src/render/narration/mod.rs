//! What a VM tells in its conversation: markers of what happened, a line each.
//!
//! | style | written | source |
//! |---|---|---|
//! | [`Style::Compact`] | `1→ research ✓`, `3→ ∥start a,b`, `5→ loop:2/5 exit(**done**)` | sqlite.md, "Compact Narration"; the state files of later versions (docs/reference/formats.md) |
//! | [`Style::Positions`] | `[Position] Statement 3: …`, `[Success] …`, `[Error] …` | sqlite-earlier.md, postgres.md |
//!
//! Marks and words are those that [`crate::decode::compact_log`] reads. A run that a compact log records is told in the
//! lines of that log (`log.rs`): its numbers and rounds are its writer's, and a VM goes on from them.
//!
//! `places` finds where a node stands, `compact` and `positions` write it in their style.

mod compact;
mod log;
mod places;
mod positions;

use crate::model::Run;
use crate::program::Listing;
use crate::trace::{Node, NodeId, NodeStatus, Trace};
use places::{Place, Places};

/// Characters of a text that is told.
const MOST: usize = 120;

/// How it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// One short marker.
    Compact,
    /// A line for the position and one for what came of it.
    Positions,
}

/// Tells a run, or one node of it with all that it holds.
pub fn narrate(
    run: &Run,
    trace: &Trace,
    listing: Option<&Listing>,
    only: Option<NodeId>,
    style: Style,
) -> Vec<String> {
    let (from, to) = only.map_or_else(
        || (NodeId::new(0), trace.nodes.next_key()),
        |at| (at, trace.end(at)),
    );
    let mut teller = Teller {
        run,
        trace,
        listing,
        out: Vec::new(),
    };
    let mut places = Places::new(run, trace, listing);
    if let (Style::Compact, Some(log)) = (style, log::of(run)) {
        teller.log(log, from, to, only.is_none());
        return teller.out;
    }
    // What lies around the nodes that are told, then those that were entered and not left; the innermost last.
    let mut open: Vec<Place> = Vec::new();
    let above = only.and_then(|at| trace.node(at)?.parent);
    let above: Vec<NodeId> = trace.upward(above).collect();
    for at in above.into_iter().rev() {
        open.extend(places.of(at, open.last()));
    }
    let around = open.len();
    for at in from.to(to) {
        while open.len() > around
            && let Some(left) = open.pop_if(|place| trace.end(place.at) <= at)
        {
            teller.leave(&left, style);
        }
        let Some(place) = places.of(at, open.last()) else {
            break;
        };
        teller.enter(&place, style);
        open.push(place);
    }
    for left in open.drain(around..).rev() {
        teller.leave(&left, style);
    }
    teller.out
}

struct Teller<'a> {
    run: &'a Run,
    trace: &'a Trace,
    listing: Option<&'a Listing>,
    out: Vec<String>,
}

impl<'a> Teller<'a> {
    fn enter(&mut self, place: &Place, style: Style) {
        let Some(node) = self.happened(place.at) else {
            return;
        };
        match style {
            Style::Compact => self.begun(place, node),
            Style::Positions => self.position(place, node),
        }
    }

    fn leave(&mut self, place: &Place, style: Style) {
        let Some(node) = self.happened(place.at) else {
            return;
        };
        match style {
            Style::Compact => self.ended(place, node),
            Style::Positions => self.outcome(node),
        }
    }

    /// The node, unless it is only ahead: nothing of it happened yet.
    fn happened(&self, at: NodeId) -> Option<&'a Node> {
        let node = self.trace.node(at)?;
        let waits = matches!(node.kind, crate::trace::NodeKind::Gate { .. });
        (waits || node.status != NodeStatus::Pending).then_some(node)
    }

    fn children(&self, at: NodeId) -> impl Iterator<Item = &'a Node> {
        let children = self.trace.children(Some(at));
        children.filter_map(|at| self.trace.node(at))
    }
}
