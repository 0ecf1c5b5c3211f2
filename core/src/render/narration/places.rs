//! Where nodes stand: the number of their statement, the letter of their branch, the frame that they run in.

use typed_index_collections::TiVec;

use crate::model::{CompactLog, Run};
use crate::program::{Listing, StatementKind};
use crate::trace::{Node, NodeId, NodeKind, Trace};

/// Bytes of a number with its letters; parallels that lie deeper are not told apart.
const LONGEST: usize = 16;

/// Where a node stands.
pub(super) struct Place {
    pub(super) at: NodeId,
    /// The number of the outermost statement around it; `None` where it is not known.
    pub(super) number: Option<u64>,
    /// The number and the branch: `3`, and `3a` in the third statement's first branch.
    pub(super) head: String,
    /// The call that it runs in; its own id lies in what it calls.
    pub(super) frame: Option<i64>,
    /// What runs in it runs in that frame.
    inside: Option<i64>,
}

impl Place {
    /// The place of a node of which no number and no frame is known.
    pub(super) fn unknown(at: NodeId) -> Place {
        Place {
            at,
            number: None,
            head: String::new(),
            frame: None,
            inside: None,
        }
    }
}

pub(super) struct Places<'a> {
    run: &'a Run,
    trace: &'a Trace,
    listing: Option<&'a Listing>,
    /// First lines of the statements that a log numbers, in order.
    counted: Vec<u32>,
    /// Each node's place among its siblings, from 0.
    ordinals: TiVec<NodeId, u32>,
    /// Outermost nodes so far.
    roots: u64,
}

impl<'a> Places<'a> {
    pub(super) fn new(run: &'a Run, trace: &'a Trace, listing: Option<&'a Listing>) -> Self {
        Places {
            run,
            trace,
            listing: listing.filter(|listing| !listing.statements.is_empty()),
            counted: listing.map(Listing::log_numbers).unwrap_or_default(),
            ordinals: ordinals(trace),
            roots: 0,
        }
    }

    /// The place of a node, by that of what it lies in.
    pub(super) fn of(&mut self, at: NodeId, around: Option<&Place>) -> Option<Place> {
        let node = self.trace.node(at)?;
        if around.is_none() {
            self.roots = self.roots.saturating_add(1);
        }
        let number = match (super::log::of(self.run), around) {
            (Some(log), _) => self.own_number(log, at).or(around.and_then(|a| a.number)),
            (None, Some(around)) => around.number,
            (None, None) => self.number(node),
        };
        let frame = around.and_then(|around| around.inside);
        let head = match (&node.kind, number, around) {
            (NodeKind::Branch { .. }, Some(number), _) => self.lettered(at, number, around),
            (_, _, Some(around)) => around.head.clone(),
            (_, number, None) => number.map_or(String::new(), |number| number.to_string()),
        };
        let calls = node.block(self.run).and(node.id);
        Some(Place {
            at,
            number,
            head,
            frame,
            inside: calls.or(frame),
        })
    }

    /// The number that a log gives to a node.
    fn own_number(&self, log: &CompactLog, at: NodeId) -> Option<u64> {
        let told = &self.trace.told;
        let first = told.get(told.partition_point(|(of, _)| *of < at));
        let (_, line) = first.filter(|(of, _)| *of == at)?;
        log.lines.get(*line as usize)?.number.map(u64::from)
    }

    /// The number of an outermost node: that of its statement among those of the program's top level. A statement of a
    /// choice, a `try` or a loop that was not begun as an execution of its own has that one's number.
    fn number(&self, node: &Node) -> Option<u64> {
        let Some(listing) = self.listing else {
            let row = self.run.executions.get(node.first_row? as usize);
            let index = row.and_then(|row| u64::try_from(row.index?).ok());
            return index.or(Some(self.roots));
        };
        let own = listing.statement_at(node.line?)?;
        let outermost = listing.enclosing(own).last().unwrap_or(own);
        let outermost = listing.get(outermost)?;
        if outermost.kind.is_declaration() || outermost.kind == StatementKind::Input {
            return None;
        }
        // `catch` and `else` have no number of their own: they belong to the statement before.
        let place = self.counted.partition_point(|line| *line <= outermost.line);
        u64::try_from(place).ok().filter(|place| *place > 0)
    }

    /// `3a`, and `3a.b` in a parallel of that branch.
    fn lettered(&self, branch: NodeId, number: u64, around: Option<&Place>) -> String {
        let place = self.ordinals.get(branch).copied().unwrap_or(0);
        let around = around.map_or(String::new(), |around| around.head.clone());
        if around.len() > LONGEST {
            return around;
        }
        let (head, point) = match around.ends_with(|c: char| c.is_ascii_alphabetic()) {
            true => (around, "."),
            false => (number.to_string(), ""),
        };
        match u8::try_from(place) {
            Ok(place) if place < 26 => {
                format!("{head}{point}{}", char::from(b'a'.saturating_add(place)))
            }
            _ => format!("{head}.{}", place.saturating_add(1)),
        }
    }
}

/// Each node's place among its siblings, from 0.
fn ordinals(trace: &Trace) -> TiVec<NodeId, u32> {
    let mut seen: TiVec<NodeId, u32> = vec![0; trace.nodes.len()].into();
    trace
        .nodes
        .iter()
        .map(|node| {
            let count = node.parent.and_then(|parent| seen.get_mut(parent));
            count.map_or(0, |count| {
                *count = count.saturating_add(1);
                count.saturating_sub(1)
            })
        })
        .collect()
}
