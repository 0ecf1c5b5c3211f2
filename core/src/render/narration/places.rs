//! Determines the place of each node in a narration: statement number, branch letter and frame.

use typed_index_collections::TiVec;

use crate::model::{CompactLog, Run};
use crate::program::{Listing, StatementKind};
use crate::trace::{Node, NodeId, NodeKind, Trace};

/// The longest head in bytes (`3a.b` is a head). A parallel that is nested deeper has the head of the parallel around
/// it.
const LONGEST: usize = 16;

/// The place of a node in a narration.
pub(super) struct Place {
    pub(super) at: NodeId,
    /// The number of the outermost statement around the node; `None` if the number is unknown.
    pub(super) number: Option<u64>,
    /// The number with the branch: `3`, or `3a` in the first branch of the third statement.
    pub(super) head: String,
    /// The id of the call that the node runs in. For a call, this is the call around it.
    pub(super) frame: Option<i64>,
    /// The id of the frame in which the nodes inside of this node run.
    inside: Option<i64>,
}

impl Place {
    /// Creates the place of a node whose number and frame are unknown.
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
    /// The first lines of the statements to which a log gives numbers, in the order of the program.
    counted: Vec<u32>,
    /// The position of each node among its siblings, from 0.
    ordinals: TiVec<NodeId, u32>,
    /// The number of outermost nodes visited so far.
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

    /// Determines the place of a node from the place of the node around it.
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

    /// Returns the statement number that the log records for a node.
    fn own_number(&self, log: &CompactLog, at: NodeId) -> Option<u64> {
        let told = &self.trace.told;
        let first = told.get(told.partition_point(|(of, _)| *of < at));
        let (_, line) = first.filter(|(of, _)| *of == at)?;
        log.lines.get(*line as usize)?.number.map(u64::from)
    }

    /// Returns the number of an outermost node: the number of its statement among the statements of the program's top
    /// level. A statement inside a choice, `try` or loop without an execution gets the number of that construct.
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
        // `catch` and `else` do not have their own number: they belong to the statement before them.
        let place = self.counted.partition_point(|line| *line <= outermost.line);
        u64::try_from(place).ok().filter(|place| *place > 0)
    }

    /// Returns the head of a branch: `3a`, or `3a.b` for a parallel inside of that branch.
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

/// Returns the position of each node among its siblings, from 0.
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
