//! Frames of a run that a state file tells of: those of its call stack, and those that only bindings speak of, which
//! are over. Which statement called each, as far as the program leaves one choice.

use std::collections::BTreeMap;

use crate::model::{Binding, BindingKind, CallFrame, Run, Text};
use crate::program::{StatementKind, Ties};
use crate::trace::NodeStatus;
use crate::trace::emit::word;
use crate::trace::lower::facts::Facts;

/// A frame.
pub(in crate::trace) struct Frame {
    pub(in crate::trace) id: i64,
    /// Its block's name; empty where nothing says it.
    pub(super) name: Text,
    /// The block, in the program.
    pub(in crate::trace) block: Option<u32>,
    /// The frame that called it: a place in [`Frames::list`].
    pub(super) above: Option<usize>,
    /// The statement that called it, and whether that is a guess.
    pub(super) call: Option<u32>,
    pub(super) guessed: bool,
    /// How it stands.
    pub(super) status: NodeStatus,
    /// It is in the call stack.
    pub(super) open: bool,
}

/// The frames of a run.
#[derive(Default)]
pub(in crate::trace) struct Frames<'r> {
    /// The open ones, the outermost first; then those that are over, in order of their ids.
    pub(super) list: Vec<Frame>,
    /// The innermost open frame of each block: what the marks in its body speak of.
    innermost: BTreeMap<u32, usize>,
    /// What each wrote.
    pub(super) written: BTreeMap<i64, Vec<&'r Binding>>,
    /// By the frame that called them and the statement that did, in order of their ids; `None` where that is not known.
    pub(super) called: BTreeMap<(Option<usize>, Option<u32>), Vec<usize>>,
}

/// The call stack, the outermost first.
pub(super) fn rows(run: &Run) -> Vec<&CallFrame> {
    let all = run.state_file.iter().flat_map(|file| &file.call_stack);
    let mut rows: Vec<&CallFrame> = all.collect();
    // The document lists the innermost first; who lists the outermost first is understood by the depths.
    let depths = rows.first().zip(rows.last());
    if !depths.is_some_and(|(first, last)| first.depth < last.depth && first.depth.is_some()) {
        rows.reverse();
    }
    rows
}

impl<'r> Frames<'r> {
    pub(super) fn of(run: &'r Run, facts: &Facts<'_>) -> Frames<'r> {
        let mut frames = Frames::default();
        let calls = calls(facts);
        frames.stand_open(run, facts, &calls);
        frames.are_over(run, facts, &calls);
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

    /// The frame that the marks in a block's body speak of.
    pub(in crate::trace) fn innermost(&self, block: u32) -> Option<&Frame> {
        self.list.get(*self.innermost.get(&block)?)
    }

    /// Whether the statements of what a frame runs are told one by one: at the root, and in the innermost of a block.
    pub(super) fn is_walked(&self, place: Option<usize>) -> bool {
        let Some(place) = place else { return true };
        let block = self.list.get(place).and_then(|frame| frame.block);
        block.is_some_and(|block| self.innermost.get(&block) == Some(&place))
    }

    fn stand_open(&mut self, run: &Run, facts: &Facts<'_>, calls: &ByPlace<'_>) {
        let mut above: Vec<(usize, i64)> = Vec::new();
        let mut made: BTreeMap<Text, usize> = BTreeMap::new();
        for (count, row) in (1_i64..).zip(rows(run)) {
            let depth = row.depth.unwrap_or(count);
            while above.last().is_some_and(|(_, outer)| *outer >= depth) {
                above.pop();
            }
            let caller = above.last().map(|(at, _)| *at);
            let inside = caller.map(|at| self.list.get(at).and_then(|frame| frame.block));
            let (call, guessed) = match inside {
                // The caller's own block is not in the program.
                Some(None) => (None, false),
                Some(block) => likely(facts, calls, &row.block, block, 0),
                None => {
                    let nth = made.entry(row.block.clone()).or_default();
                    *nth += 1;
                    likely(facts, calls, &row.block, None, *nth - 1)
                }
            };
            let block = facts.blocks.get(&*row.block).copied();
            above.push((self.list.len(), depth));
            if let Some(block) = block {
                self.innermost.insert(block, self.list.len());
            }
            self.list.push(Frame {
                id: row.execution_id,
                name: row.block.clone(),
                block,
                above: caller,
                call,
                guessed,
                status: word(&row.status),
                open: true,
            });
        }
    }

    /// Frames that bindings, and paths in annotations, name and the call stack does not.
    fn are_over(&mut self, run: &'r Run, facts: &Facts<'_>, calls: &ByPlace<'_>) {
        let mut parents: BTreeMap<i64, Option<i64>> = BTreeMap::new();
        for binding in run.bindings.iter().filter(|b| b.is_written()) {
            let Some(id) = binding.execution_id else {
                continue;
            };
            self.written.entry(id).or_default().push(binding);
            let parent = parents.entry(id).or_default();
            *parent = parent.or(binding.parent_execution_id);
        }
        let named: Vec<i64> = parents.values().flatten().copied().collect();
        let told = facts.elsewhere.keys().map(|(id, _)| *id);
        for id in named.into_iter().chain(told) {
            parents.entry(id).or_default();
        }
        let mut place_of: BTreeMap<i64, usize> = BTreeMap::new();
        for (place, frame) in self.list.iter().enumerate() {
            place_of.insert(frame.id, place);
        }
        let first = self.list.len();
        let names = names_in_blocks(facts);
        let mut ties = facts.listing.ties();
        for id in parents.keys().filter(|id| !place_of.contains_key(id)) {
            let written = self.written.get(id).map(Vec::as_slice).unwrap_or_default();
            let (block, call) = origin(facts, &mut ties, written, &names);
            let name = block.and_then(|at| facts.statement(at)?.name.as_deref());
            self.list.push(Frame {
                id: *id,
                name: name.unwrap_or_default().into(),
                block,
                above: None,
                call,
                guessed: false,
                status: NodeStatus::Completed,
                open: false,
            });
        }
        for place in first..self.list.len() {
            if let Some(frame) = self.list.get(place) {
                place_of.insert(frame.id, place);
            }
        }
        for place in first..self.list.len() {
            let Some(frame) = self.list.get(place) else {
                continue;
            };
            let parent = parents.get(&frame.id).copied().flatten();
            let above = parent.and_then(|id| place_of.get(&id).copied());
            // A frame that says no parent was called at the root, as far as anybody knows.
            let inside = match above {
                None => Some(None),
                Some(above) => self.list.get(above).and_then(|f| f.block).map(Some),
            };
            let only = || match calls.get(&(&*frame.name, inside?)).map(Vec::as_slice) {
                Some([(_, only)]) => Some(*only),
                _ => None,
            };
            // A call that does not lie in the parent's block made another frame.
            let lies = |call: &u32| {
                let block = facts.get(*call).map(|fact| fact.block);
                inside.is_none() || block == inside
            };
            let call = frame.call.or_else(only).filter(lies);
            if let Some(frame) = self.list.get_mut(place) {
                (frame.above, frame.call) = (above.filter(|above| *above != place), call);
            }
        }
    }
}

/// Statements that call a block, by its name and the block that they lie in: those that are under way first, then those
/// that nothing speaks of. With a rank that says so.
type ByPlace<'a> = BTreeMap<(&'a str, Option<u32>), Vec<(u8, u32)>>;

fn calls<'a>(facts: &Facts<'a>) -> ByPlace<'a> {
    let mut by_place: ByPlace<'a> = BTreeMap::new();
    for (at, statement) in (0_u32..).zip(&facts.listing.statements) {
        if let (StatementKind::Do, Some(target), Some(fact)) =
            (statement.kind, &statement.target, facts.get(at))
        {
            let rank = match fact {
                fact if fact.ran() && !fact.is_over() => 0,
                fact if !fact.ran() && !fact.ahead => 1,
                fact if fact.ahead => 2,
                _ => 3,
            };
            let place = by_place.entry((target.as_str(), fact.block)).or_default();
            place.push((rank, at));
        }
    }
    for calls in by_place.values_mut() {
        calls.sort_unstable();
    }
    by_place
}

/// The call that made the `nth` open frame, and whether that is a guess: one that is under way, else the only one that may
/// be; of several nobody knows.
fn likely(
    facts: &Facts<'_>,
    calls: &ByPlace<'_>,
    name: &str,
    inside: Option<u32>,
    nth: usize,
) -> (Option<u32>, bool) {
    let Some(calls) = calls.get(&(name, inside)) else {
        return (None, false);
    };
    let under_way = calls.partition_point(|(rank, _)| *rank == 0);
    let (marked, others) = calls.split_at(under_way);
    if let Some((_, at)) = marked.get(nth) {
        return (Some(*at), false);
    }
    let best = others.partition_point(|(rank, _)| Some(*rank) == others.first().map(|o| o.0));
    match (others, calls.as_slice()) {
        ([(_, at), ..], _) if best == 1 && nth == under_way => (Some(*at), calls.len() > 1),
        // One call in a loop or a `parallel for` makes several.
        (_, [(_, at)]) if is_repeated(facts, *at) => (Some(*at), false),
        _ => (None, false),
    }
}

/// Whether a statement may run several times within one frame.
fn is_repeated(facts: &Facts<'_>, statement: u32) -> bool {
    let kind = |at: u32| facts.statement(at).map(|s| s.kind);
    facts
        .listing
        .enclosing(statement)
        .take(64)
        .take_while(|at| kind(*at) != Some(StatementKind::Block))
        .any(|at| kind(at).is_some_and(|k| k == StatementKind::Parallel || k.is_loop()))
}

/// The block that a frame ran, and the statement that called it: what its parameters' source is.
fn origin(
    facts: &Facts<'_>,
    ties: &mut Ties<'_>,
    written: &[&Binding],
    names: &BTreeMap<&str, Option<u32>>,
) -> (Option<u32>, Option<u32>) {
    let mut block = None;
    for binding in written {
        let tie = binding.first_line().and_then(|first| ties.tie(first, None));
        let statement = tie.and_then(|tie| facts.statement(tie.statement));
        if binding.kind == BindingKind::Input {
            let target = statement
                .filter(|s| s.kind == StatementKind::Do)
                .and_then(|s| facts.blocks.get(s.target.as_deref()?));
            if let (Some(target), Some(tie)) = (target, tie) {
                return (Some(*target), (!tie.guessed).then_some(tie.statement));
            }
            continue;
        }
        let by_text = || facts.get(tie?.statement)?.block;
        block = block
            .or_else(by_text)
            .or_else(|| names.get(&*binding.name).copied().flatten());
    }
    (block, None)
}

/// Names that statements of blocks bind, and the block where there is only one.
fn names_in_blocks<'a>(facts: &Facts<'a>) -> BTreeMap<&'a str, Option<u32>> {
    let mut names: BTreeMap<&str, Option<u32>> = BTreeMap::new();
    for (at, statement) in (0_u32..).zip(&facts.listing.statements) {
        let block = facts.get(at).and_then(|fact| fact.block);
        let (Some(name), Some(block)) = (statement.bound(), block) else {
            continue;
        };
        names
            .entry(name)
            .and_modify(|known| *known = known.filter(|b| *b == block))
            .or_insert(Some(block));
    }
    names
}
