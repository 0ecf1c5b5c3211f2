//! Converts a state file, or the bindings of a folder without one, into a story (errata T10: the newest evidence of
//! progress counts). A *record* is the happening of a statement or a frame in that story.
//!
//! ```text
//! annotated lines ──► tied to statements ─┐
//! Active Constructs, Call Stack ──────────┼─► statements that ran, with status ──► a record of each, in the program's order
//! bindings and gates on disk ─────────────┘
//! ```
//!
//! A state file shows one moment and is often outdated: for example `<-- EXECUTING` for a statement whose binding is
//! on disk. Then the disk counts, the verdict lists all sources, and an issue reports the contradiction. A statement
//! that no source mentions has no record.

pub(in crate::trace) mod beside;
mod body;
pub(in crate::trace) mod frames;
mod marks;
mod next;
mod sections;
#[cfg(test)]
pub(in crate::trace) mod tests;
mod unplaced;
mod written;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::disk::{self, WrittenBindings};
use super::facts::LineEvidence;
use crate::model::visit;
use crate::model::{Gate, Run, Status, Text};
use crate::program::{Listing, StatementKind};
use crate::trace::NodeStatus;
use crate::trace::gates::status as gate_status;
use crate::trace::rows::Ledger;
use crate::trace::story::{Story, StoryAt, StoryParent};
use frames::Frames;
use sections::UnplacedSections;

/// The evidence about a run from a state file and the bindings on disk.
pub(in crate::trace) struct Evidence<'a, 'r> {
    pub(in crate::trace) facts: LineEvidence<'a>,
    pub(in crate::trace) frames: Frames,
    pub(in crate::trace) written: WrittenBindings<'r>,
    unplaced: UnplacedSections,
}

impl<'a, 'r> Evidence<'a, 'r> {
    /// Collects the evidence. `told` is the file's trace, scanned. `listing` is the program; without a program,
    /// `listing` is the same as `told`.
    pub(in crate::trace) fn of(
        run: &'r Run,
        listing: &'a Listing,
        told: &Listing,
        is_trace: bool,
        ledger: &mut Ledger,
    ) -> Evidence<'a, 'r> {
        let mut facts = LineEvidence::of(run, listing, told, is_trace, ledger);
        let written = disk::written(run, &facts);
        let mut open: BTreeMap<u32, usize> = BTreeMap::new();
        let mut innermost: BTreeMap<u32, i64> = BTreeMap::new();
        for row in frames::rows(run) {
            if let Some(block) = facts.blocks.get(&*row.block) {
                *open.entry(*block).or_default() += 1;
                innermost.insert(*block, row.execution_id);
            }
        }
        facts.part(run, &innermost);
        let unplaced = sections::read(run, &mut facts, &open);
        let frames = Frames::of(run, &facts, &written);
        Evidence {
            facts,
            frames,
            written,
            unplaced,
        }
    }

    /// Replaces the marks of gates by the gates' own records (errata G13). In a block or loop, a decided gate without a
    /// mark is left out, because the gate does not record its frame or round.
    pub(in crate::trace) fn prefer_gate_records(&mut self, run: &Run) {
        for (at, gates) in gates_of(run, self.facts.listing) {
            if let (Some(fact), Some(last)) = (self.facts.of.get_mut(at as usize), gates.last()) {
                let status = gate_status(last);
                let again = fact.block.is_some() || fact.in_loop.is_some();
                if fact.ran() || status.is_open() || !again {
                    fact.gate = Some(last.id.clone());
                    fact.status = Some(status);
                }
            }
        }
    }
}

/// Returns the visits of each gate of the program, in the order in which they are stored.
fn gates_of<'r>(run: &'r Run, listing: &Listing) -> BTreeMap<u32, Vec<&'r Gate>> {
    let mut by_name: BTreeMap<&str, u32> = BTreeMap::new();
    for (at, statement) in (0_u32..).zip(&listing.statements) {
        if let (StatementKind::Gate, Some(name)) = (statement.kind, statement.name.as_deref()) {
            by_name.entry(name).or_insert(at);
        }
    }
    let mut of: BTreeMap<u32, Vec<&Gate>> = BTreeMap::new();
    for gate in &run.gates {
        if let Some(at) = by_name.get(visit(&gate.id).0) {
            of.entry(*at).or_default().push(gate);
        }
    }
    of
}

/// Converts the evidence into a story.
pub(in crate::trace) fn lower(run: &Run, told: &Evidence<'_, '_>) -> Story {
    let count = told.facts.listing.statements.len();
    let mut lowering = Lowering {
        run,
        facts: &told.facts,
        frames: &told.frames,
        story: Story::default(),
        gates: gates_of(run, told.facts.listing),
        marks: marks::RecordedMarks::of(run, &told.facts, &told.frames),
        bodies: BTreeMap::new(),
        holder: vec![None; count],
        status: vec![None; count],
        said: BTreeMap::new(),
        frame_at: BTreeMap::new(),
        queue: VecDeque::new(),
        walked: BTreeSet::new(),
        calls: BTreeMap::new(),
        strays: BTreeMap::new(),
        announced: BTreeMap::new(),
        in_rounds: disk::in_rounds(run, &told.facts),
        rounds_left: body::MOST_ROUNDS,
        has_position: false,
    };
    lowering.all(&told.unplaced, &told.written);
    lowering.story
}

struct Lowering<'f, 'a, 'r> {
    run: &'r Run,
    facts: &'f LineEvidence<'a>,
    frames: &'f Frames,
    story: Story,
    gates: BTreeMap<u32, Vec<&'r Gate>>,
    marks: marks::RecordedMarks,
    /// The statements of each block's body, in order; `None` is the root.
    bodies: BTreeMap<Option<u32>, Vec<u32>>,
    /// The happening under which the records of each statement's children are added.
    holder: Vec<StoryParent>,
    /// The status of each statement's record; `None` without a record.
    status: Vec<Option<NodeStatus>>,
    /// The records of statements, by the record of their frame and the statement.
    said: BTreeMap<(StoryParent, u32), StoryAt>,
    /// The records of frames, by the frame's index in [`Frames::list`].
    frame_at: BTreeMap<usize, StoryAt>,
    /// Frames whose statements are not recorded yet.
    queue: VecDeque<usize>,
    /// Blocks whose bodies are recorded.
    walked: BTreeSet<u32>,
    /// The last call of each block that has no open frame in the call stack.
    calls: BTreeMap<u32, Call>,
    /// The annotated lines without a statement, by the statement before them.
    strays: BTreeMap<Option<u32>, Vec<usize>>,
    /// Branches that a section lists and no line marks, by statement: the parallel block, name and status.
    announced: BTreeMap<u32, (StoryAt, Text, Status)>,
    /// The statements that wrote a binding in a round, by loop and round.
    in_rounds: BTreeMap<(u32, u32), BTreeSet<u32>>,
    rounds_left: u32,
    /// Whether any node is open or failed, so that the run has a position.
    has_position: bool,
}

/// The record of a call, and the called frame if it is known.
#[derive(Clone, Copy)]
struct Call {
    at: StoryAt,
    frame: Option<usize>,
    /// Whether this is the only call of the block.
    only: bool,
}

impl Lowering<'_, '_, '_> {
    fn all(&mut self, unplaced: &UnplacedSections, written: &WrittenBindings<'_>) {
        for (at, fact) in (0_u32..).zip(&self.facts.of) {
            self.bodies.entry(fact.block).or_default().push(at);
        }
        for (at, stray) in self.facts.strays.iter().enumerate() {
            let place = stray.after.max(stray.inside);
            self.strays.entry(place).or_default().push(at);
        }
        self.strays_after(None);
        self.body(None, None, None, false);
        self.record_known_frames();
        // Adds the frames that name each other as their callers, since no walk from the root reaches them.
        for place in 0..self.frames.list.len() {
            if !self.frame_at.contains_key(&place) {
                self.frame(place, None, None);
                self.record_known_frames();
            }
        }
        let blocks: Vec<u32> = self.bodies.keys().copied().flatten().collect();
        for block in blocks {
            if self.has_unrecorded_marks(block) {
                self.body(Some(block), None, None, true);
                self.record_known_frames();
            }
        }
        let left: Vec<Option<u32>> = self.strays.keys().copied().collect();
        for after in left {
            self.strays_after(after);
        }
        self.written(written);
        self.constructs(unplaced);
        self.sessions();
        self.decided_gates();
        self.next();
    }

    /// Whether a block's body has marks that are not recorded yet.
    fn has_unrecorded_marks(&self, block: u32) -> bool {
        let body = self.bodies.get(&Some(block)).map_or(&[][..], Vec::as_slice);
        !self.walked.contains(&block) && body.iter().any(|at| self.marks.is_kept(*at))
    }

    /// Records the statements of all known frames. If a block's calls are recorded but no frame of the block is open,
    /// the block's marks belong to the block's last call.
    fn record_known_frames(&mut self) {
        loop {
            while let Some(place) = self.queue.pop_front() {
                self.in_frame(place);
            }
            let mut told = self
                .calls
                .iter()
                .filter(|(block, _)| self.has_unrecorded_marks(**block));
            let Some((block, call)) = told.next().map(|(block, call)| (*block, *call)) else {
                break;
            };
            self.body(Some(block), call.frame, Some(call.at), !call.only);
        }
    }

    /// Stores the record of a call.
    fn called(&mut self, block: u32, at: StoryAt, frame: Option<usize>) {
        let only = !self.calls.contains_key(&block);
        self.calls.insert(block, Call { at, frame, only });
    }
}
