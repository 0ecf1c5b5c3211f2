//! Writes the narration of a run: markers, one per line, with which a VM records in its conversation what happened.
//!
//! | style | written | source |
//! |---|---|---|
//! | [`Style::Compact`] | `1→ research ✓`, `3→ ∥start a,b`, `5→ loop:2/5 exit(**done**)` | sqlite.md, "Compact Narration"; the state files of later versions (docs/reference/formats.md) |
//! | [`Style::Positions`] | `[Position] Statement 3: …`, `[Success] …`, `[Error] …` | sqlite-earlier.md, postgres.md |
//!
//! The marks and words are those that [`crate::decode::compact_log`] reads. If a compact log records the run, the log's
//! own lines are used (`log.rs`), because a VM continues from the log's numbers and rounds.
//!
//! `places` determines the number, branch and frame of a node. `compact` and `positions` write the markers of one
//! style.

mod compact;
mod log;
mod places;
mod positions;

use crate::model::Run;
use crate::program::Listing;
use crate::trace::{Node, NodeId, NodeStatus, Trace};
use places::{Place, Places};

/// Limit for a text in a marker, in characters.
const MOST: usize = 120;

/// The style of the markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// One short marker for each event.
    Compact,
    /// A line for the position and a line for the outcome.
    Positions,
}

/// Returns the markers of a run, or only the markers of one node and of everything inside of it.
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
    let mut narrator = Narrator {
        run,
        trace,
        listing,
        out: Vec::new(),
    };
    let mut places = Places::new(run, trace, listing);
    if let (Style::Compact, Some(log)) = (style, log::of(run)) {
        narrator.log(log, from, to, only.is_none());
        return narrator.out;
    }
    // The nodes around the current node, outermost first: the nodes above `only`, then the nodes entered and not yet
    // left.
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
            narrator.leave(&left, style);
        }
        let Some(place) = places.of(at, open.last()) else {
            break;
        };
        narrator.enter(&place, style);
        open.push(place);
    }
    for left in open.drain(around..).rev() {
        narrator.leave(&left, style);
    }
    narrator.out
}

struct Narrator<'a> {
    run: &'a Run,
    trace: &'a Trace,
    listing: Option<&'a Listing>,
    out: Vec<String>,
}

impl<'a> Narrator<'a> {
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

    /// Returns the node, unless nothing happened to it yet. A pending gate counts, because the run waits at it.
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
