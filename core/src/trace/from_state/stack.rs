//! The call stack: which statement called each open frame, and in which constructs of their block outer frames wait.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::Facts;
use crate::model::{CallFrame, Run, Text};
use crate::program::StatementKind;

/// Constructs around a statement that are looked at. Programs are not nested deep; the bound keeps hostile ones cheap.
pub(super) const DEEP: usize = 64;

/// The open frames of a run, the outermost first.
#[derive(Default)]
pub(in crate::trace) struct Stack<'r> {
    pub(super) frames: Vec<Open<'r>>,
    /// The innermost open frame of each block, a place in `frames`: what the markers in its body speak of.
    pub(super) innermost: BTreeMap<u32, usize>,
    /// Sections of "Active Constructs" that speak of an outer frame: by its place in `frames` and the statement, an
    /// index into the file's parallels or loops.
    pub(super) told: BTreeMap<(usize, u32), u32>,
    /// Outer frames that wait in a construct of their own block, by its statement; the outermost first.
    waiting: BTreeMap<u32, Vec<usize>>,
    /// Constructs that the innermost frame of their block waits in.
    current: BTreeSet<u32>,
}

/// A frame of the call stack.
pub(super) struct Open<'r> {
    /// What the state file says of it.
    pub(super) row: &'r CallFrame,
    /// The frame that called it: a place in the list of open frames.
    pub(super) above: Option<usize>,
    /// The block that it runs, in the program.
    pub(super) block: Option<u32>,
    /// The statement that called it, and whether that is a guess.
    pub(super) call: Option<u32>,
    pub(super) guessed: bool,
}

impl<'r> Stack<'r> {
    /// Reads the call stack. `active` are branches that a section says are under way.
    pub(super) fn of(run: &'r Run, facts: &Facts<'_>, active: &BTreeSet<u32>) -> Stack<'r> {
        let mut stack = Stack::default();
        let Some(file) = &run.state_file else {
            return stack;
        };
        let mut rows: Vec<&CallFrame> = file.call_stack.iter().collect();
        // The document lists the innermost first; who lists the outermost first is understood by the depths.
        let depths = rows.first().zip(rows.last());
        if !depths.is_some_and(|(first, last)| first.depth < last.depth && first.depth.is_some()) {
            rows.reverse();
        }
        let mut above: Vec<(usize, i64)> = Vec::new();
        let mut calls = Calls::of(facts, active);
        for (count, row) in (1_i64..).zip(rows) {
            let depth = row.depth.unwrap_or(count);
            while above.last().is_some_and(|(_, outer)| *outer >= depth) {
                above.pop();
            }
            let caller = above.last().map(|(at, _)| *at);
            let (call, guessed) = match caller.and_then(|at| stack.frames.get(at)) {
                // The caller's own block is not in the program.
                Some(Open { block: None, .. }) => (None, false),
                Some(caller) => calls.next(facts, &row.block, caller.block),
                None => calls.next(facts, &row.block, None),
            };
            let block = facts.blocks.get(&*row.block).copied();
            above.push((stack.frames.len(), depth));
            if let Some(block) = block {
                stack.innermost.insert(block, stack.frames.len());
            }
            stack.frames.push(Open {
                row,
                above: caller,
                block,
                call,
                guessed,
            });
        }
        stack.wait(facts);
        stack
    }

    /// Notes in which constructs of its caller's block each frame was called.
    fn wait(&mut self, facts: &Facts<'_>) {
        for frame in &self.frames {
            let Some((above, call)) = frame.above.zip(frame.call) else {
                continue;
            };
            let Some(block) = self.frames.get(above).and_then(|f| f.block) else {
                continue;
            };
            for construct in constructs_around(facts, call) {
                if self.innermost.get(&block) == Some(&above) {
                    self.current.insert(construct);
                } else {
                    let waiting = self.waiting.entry(construct).or_default();
                    if waiting.last() != Some(&above) {
                        waiting.push(above);
                    }
                }
            }
        }
    }

    /// Whether a frame is the one that the markers in its block's body speak of.
    pub(super) fn is_innermost(&self, frame: usize) -> bool {
        let block = self.frames.get(frame).and_then(|f| f.block);
        block.is_some_and(|block| self.innermost.get(&block) == Some(&frame))
    }

    /// Which frames the sections on one construct speak of, section by section; `None` is the innermost of its
    /// block, or the root. `inside`: something in it is marked as under way.
    pub(super) fn speak_of(
        &self,
        construct: u32,
        sections: usize,
        inside: bool,
    ) -> Vec<Option<usize>> {
        let outer = self
            .waiting
            .get(&construct)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut of: Vec<Option<usize>> = outer.iter().copied().map(Some).collect();
        if sections > outer.len() || inside || self.current.contains(&construct) {
            of.push(None);
        }
        // The innermost ones are what a file that names few of them speaks of.
        of.split_off(of.len().saturating_sub(sections))
    }

    /// Whether only outer frames are in a construct.
    pub(super) fn is_of_outer(&self, construct: u32, inside: bool) -> bool {
        self.waiting.contains_key(&construct) && !inside && !self.current.contains(&construct)
    }
}

/// The parallel or loop that a statement lies in, within its block.
pub(super) fn construct_around(facts: &Facts<'_>, statement: u32) -> Option<u32> {
    constructs_around(facts, statement).next()
}

/// Parallels and loops that a statement lies in, within its block, the innermost first.
fn constructs_around(facts: &Facts<'_>, statement: u32) -> impl Iterator<Item = u32> {
    let kind = |at: &u32| facts.statement(*at).map(|s| s.kind);
    facts
        .listing
        .enclosing(statement)
        .take(DEEP)
        .take_while(move |at| kind(at) != Some(StatementKind::Block))
        .filter(move |at| kind(at).is_some_and(|k| k == StatementKind::Parallel || k.is_loop()))
}

/// Statements that call a block, by its name and the block that they lie in.
pub(super) type ByPlace<'a, T = u32> = BTreeMap<(&'a str, Option<u32>), Vec<T>>;

/// All calls of blocks, in the order of the program.
pub(super) fn calls<'a>(facts: &Facts<'a>) -> ByPlace<'a> {
    let mut by_place: ByPlace<'a> = BTreeMap::new();
    for (at, statement) in (0_u32..).zip(&facts.listing.statements) {
        if let (StatementKind::Do, Some(target), Some(fact)) =
            (statement.kind, &statement.target, facts.get(at))
        {
            let place = by_place.entry((target.as_str(), fact.block)).or_default();
            place.push(at);
        }
    }
    by_place
}

/// Calls that may have made open frames; those that may be under way first.
struct Calls<'a> {
    /// Rank and statement.
    by_place: ByPlace<'a, (u8, u32)>,
    /// How many of a block's calls at the root made frames already.
    made: BTreeMap<Text, usize>,
}

impl<'a> Calls<'a> {
    fn of(facts: &Facts<'a>, active: &BTreeSet<u32>) -> Calls<'a> {
        let rank = |at: u32| match facts.get(at) {
            _ if active.contains(&at) => 0,
            Some(fact) if fact.ran() && !fact.is_over() => 0,
            Some(fact) if !fact.ran() && !fact.ahead => 1,
            Some(fact) if fact.ahead => 2,
            _ => 3,
        };
        let ranked = calls(facts).into_iter().map(|(place, calls)| {
            let mut calls: Vec<(u8, u32)> = calls.into_iter().map(|at| (rank(at), at)).collect();
            calls.sort_unstable();
            (place, calls)
        });
        Calls {
            by_place: ranked.collect(),
            made: BTreeMap::new(),
        }
    }

    /// The call that most likely made the next frame, and whether that is a guess.
    fn next(
        &mut self,
        facts: &Facts<'_>,
        block: &Text,
        inside: Option<u32>,
    ) -> (Option<u32>, bool) {
        let Some(calls) = self.by_place.get(&(&**block, inside)) else {
            return (None, false);
        };
        let nth = match inside {
            None => {
                let made = self.made.entry(block.clone()).or_default();
                *made += 1;
                *made - 1
            }
            Some(_) => 0,
        };
        // One call in a `parallel for` makes several.
        let again = || {
            let last = calls
                .last()
                .filter(|(_, at)| construct_around(facts, *at).is_some());
            last.map(|(_, at)| (3, *at))
        };
        match calls.get(nth).copied().or_else(again) {
            Some((rank, at)) => (Some(at), calls.len() > 1 && rank != 0),
            None => (None, false),
        }
    }
}
