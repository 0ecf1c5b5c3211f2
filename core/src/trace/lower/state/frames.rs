//! Finds the frames of a run with a state file: the open frames in the file's call stack, and the finished frames,
//! which only bindings mention. Also finds the statement that called each frame, if the program leaves only one choice.

use std::collections::BTreeMap;

use crate::model::{BindingKind, CallFrame, Run, Text};
use crate::program::StatementKind;
use crate::trace::NodeStatus;
use crate::trace::emit::word;
use crate::trace::lower::disk::WrittenBindings;
use crate::trace::lower::facts::LineEvidence;

/// A call of a block.
pub(in crate::trace) struct BlockCall {
    pub(in crate::trace) id: i64,
    /// The name of the frame's block; empty if unknown.
    pub(super) name: Text,
    /// The declaration of the frame's block in the program.
    pub(in crate::trace) block: Option<u32>,
    /// The calling frame, as an index in [`Frames::list`]; `None` for the root or an unknown caller.
    pub(super) above: Option<usize>,
    /// The statement that called the frame, if known.
    pub(super) call: Option<u32>,
    /// The status of the frame.
    pub(super) status: NodeStatus,
    /// Whether the frame is in the call stack.
    pub(super) open: bool,
}

/// The frames of a run.
#[derive(Default)]
pub(in crate::trace) struct Frames {
    /// All frames: the open frames, outermost first; then the finished frames, in order of id.
    pub(super) list: Vec<BlockCall>,
    /// The innermost open frame of each block, to which the marks in the block's body refer.
    innermost: BTreeMap<u32, usize>,
    /// The frames, by the calling frame and the calling statement; `None` if unknown. Finished frames come first, in
    /// order of id.
    pub(super) called: BTreeMap<(Option<usize>, Option<u32>), Vec<usize>>,
}

/// Returns the call stack, outermost first.
pub(super) fn rows(run: &Run) -> Vec<&CallFrame> {
    let all = run.state_file.iter().flat_map(|file| &file.call_stack);
    let mut rows: Vec<&CallFrame> = all.collect();
    // OpenProse lists the innermost frame first. A stack in the opposite order is recognised by its depths.
    let depths = rows.first().zip(rows.last());
    if !depths.is_some_and(|(first, last)| first.depth < last.depth && first.depth.is_some()) {
        rows.reverse();
    }
    rows
}

impl Frames {
    pub(super) fn of(run: &Run, facts: &LineEvidence<'_>, written: &WrittenBindings<'_>) -> Frames {
        let mut frames = Frames::default();
        let calls = calls(facts);
        frames.add_open(run, facts, &calls);
        frames.add_finished(run, facts, written, &calls);
        for (place, frame) in frames.list.iter().enumerate() {
            let call = frame.call.filter(|_| frames.is_walked(frame.above));
            let of = frames.called.entry((frame.above, call)).or_default();
            of.push(place);
        }
        for of in frames.called.values_mut() {
            of.sort_by_key(|place| {
                let frame = frames.list.get(*place);
                frame.map(|frame| (frame.open, if frame.open { 0 } else { frame.id }))
            });
        }
        frames
    }

    /// Returns the frame to which the marks in a block's body refer.
    pub(in crate::trace) fn innermost(&self, block: u32) -> Option<&BlockCall> {
        self.list.get(*self.innermost.get(&block)?)
    }

    /// Whether the state file's marks are about a frame: true for the root, and for the innermost frame of each block.
    pub(super) fn is_walked(&self, place: Option<usize>) -> bool {
        let Some(place) = place else { return true };
        let block = self.list.get(place).and_then(|frame| frame.block);
        block.is_some_and(|block| self.innermost.get(&block) == Some(&place))
    }

    fn add_open(&mut self, run: &Run, facts: &LineEvidence<'_>, calls: &BlockCalls<'_>) {
        let mut above: Vec<(usize, i64)> = Vec::new();
        let mut made: BTreeMap<(Option<usize>, &str), usize> = BTreeMap::new();
        for (count, row) in (1_i64..).zip(rows(run)) {
            let depth = row.depth.unwrap_or(count);
            while above.last().is_some_and(|(_, outer)| *outer >= depth) {
                above.pop();
            }
            let caller = above.last().map(|(at, _)| *at);
            let nth = made.entry((caller, &row.block)).or_default();
            let call = self.inside(caller).and_then(|inside| {
                let all = calls.get(&(&*row.block, inside))?;
                let is_open = |at: &&u32| facts.get(**at).is_some_and(|f| f.ran() && !f.is_over());
                let under_way = all.iter().filter(is_open).nth(*nth);
                under_way.or(only(all)).copied()
            });
            *nth += 1;
            let block = facts.blocks.get(&*row.block).copied();
            above.push((self.list.len(), depth));
            if let Some(block) = block {
                self.innermost.insert(block, self.list.len());
            }
            self.list.push(BlockCall {
                id: row.execution_id,
                name: row.block.clone(),
                block,
                above: caller,
                call,
                status: word(&row.status),
                open: true,
            });
        }
    }

    /// Returns the block whose body a frame runs; `Some(None)` for the root, `None` if the block is unknown.
    fn inside(&self, place: Option<usize>) -> Option<Option<u32>> {
        match place {
            None => Some(None),
            Some(place) => self.list.get(place)?.block.map(Some),
        }
    }

    /// Adds the finished frames, which bindings mention but the call stack does not contain.
    fn add_finished(
        &mut self,
        run: &Run,
        facts: &LineEvidence<'_>,
        written: &WrittenBindings<'_>,
        calls: &BlockCalls<'_>,
    ) {
        let mut found: BTreeMap<i64, FrameEvidence> = BTreeMap::new();
        let mut ties = facts.listing.ties();
        for binding in run.bindings.iter().filter(|b| b.is_written()) {
            let Some(id) = binding.execution_id else {
                continue;
            };
            let parent = binding.parent_execution_id;
            let frame = found.entry(id).or_default();
            frame.parent = frame.parent.or(parent);
            // The header of an input binding quotes the call that passed the input.
            if let (BindingKind::Input, Some(first)) = (&binding.kind, binding.first_line())
                && let Some(tie) = ties.tie(first, None)
                && let Some(call) = facts.statement(tie.statement)
                && call.kind == StatementKind::Do
            {
                let target = call.target.as_deref();
                frame.block = target.and_then(|name| facts.blocks.get(name).copied());
                frame.call = Some(tie.statement).filter(|_| !tie.guessed);
            }
            if let Some(parent) = parent {
                found.entry(parent).or_default();
            }
        }
        for (statement, id) in written.keys() {
            if let Some(frame) = id.and_then(|id| found.get_mut(&id)) {
                let block = || facts.get(*statement)?.block;
                frame.block = frame.block.or_else(block);
            }
        }
        let open = self.list.iter().map(|frame| frame.id);
        for id in open.collect::<Vec<_>>() {
            found.remove(&id);
        }
        let first = self.list.len();
        for (id, frame) in &found {
            let name = frame
                .block
                .and_then(|at| facts.statement(at)?.name.as_deref());
            self.list.push(BlockCall {
                id: *id,
                name: name.unwrap_or_default().into(),
                block: frame.block,
                above: None,
                call: None,
                status: NodeStatus::Completed,
                open: false,
            });
        }
        let places = self.list.iter().enumerate();
        let place_of: BTreeMap<i64, usize> = places.map(|(at, frame)| (frame.id, at)).collect();
        for (place, frame) in (first..).zip(found.values()) {
            let above = frame.parent.and_then(|id| place_of.get(&id).copied());
            let above = above.filter(|above| *above != place);
            let inside = self.inside(above);
            let name = frame
                .block
                .and_then(|at| facts.statement(at)?.name.as_deref());
            let key = name.zip(inside);
            // A call outside of the parent frame's block cannot have made this frame.
            let lies =
                |call: &u32| inside.is_none() || facts.get(*call).map(|fact| fact.block) == inside;
            let call = frame.call.or_else(|| only(calls.get(&key?)?).copied());
            if let Some(frame) = self.list.get_mut(place) {
                (frame.above, frame.call) = (above, call.filter(lies));
            }
        }
    }
}

/// Facts about a frame from bindings.
#[derive(Default)]
struct FrameEvidence {
    parent: Option<i64>,
    block: Option<u32>,
    call: Option<u32>,
}

/// Statements that call a block, in the program's order. The key is the called block's name, and the block that
/// contains the call (`None` for the root).
type BlockCalls<'a> = BTreeMap<(&'a str, Option<u32>), Vec<u32>>;

fn calls<'a>(facts: &LineEvidence<'a>) -> BlockCalls<'a> {
    let mut calls: BlockCalls<'a> = BTreeMap::new();
    for (at, statement) in (0_u32..).zip(&facts.listing.statements) {
        if let (StatementKind::Do, Some(target), Some(fact)) =
            (statement.kind, &statement.target, facts.get(at))
        {
            let of = calls.entry((target.as_str(), fact.block)).or_default();
            of.push(at);
        }
    }
    calls
}

/// Returns the only element; `None` if there are several.
fn only(calls: &Vec<u32>) -> Option<&u32> {
    match calls.as_slice() {
        [only] => Some(only),
        _ => None,
    }
}
