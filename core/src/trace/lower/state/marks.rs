//! Determines which statements get a record: marked statements, statements that called a frame, and the parallel
//! blocks and loops around them.

use std::collections::{BTreeMap, BTreeSet};

use super::frames::Frames;
use crate::model::Run;
use crate::program::StatementKind;
use crate::trace::lower::facts::LineEvidence;
use crate::trace::verdict::recorded;

/// The statements that get a record in the trace, and why.
pub(super) struct RecordedMarks {
    kept: Vec<bool>,
    /// For each statement: whether a statement inside of it has a record.
    holds: Vec<bool>,
    /// For each statement: whether it is running, or contains a running statement.
    open: Vec<bool>,
    /// The last statement with a record, by block.
    last: BTreeMap<Option<u32>, u32>,
    finished: bool,
}

impl RecordedMarks {
    pub(super) fn of(run: &Run, facts: &LineEvidence<'_>, frames: &Frames) -> RecordedMarks {
        let count = facts.listing.statements.len();
        let mut marks = RecordedMarks {
            kept: vec![false; count],
            holds: vec![false; count],
            open: vec![false; count],
            last: BTreeMap::new(),
            finished: recorded(run).iter().any(|claim| claim.status.is_finished()),
        };
        // The calls that made frames, each with whether one of these frames is open.
        let mut calls: BTreeMap<u32, bool> = BTreeMap::new();
        for ((_, call), places) in &frames.called {
            let open = |place: &usize| frames.list.get(*place).is_some_and(|frame| frame.open);
            if let Some(call) = call {
                *calls.entry(*call).or_default() |= places.iter().any(open);
            }
        }
        let blocks: BTreeSet<u32> = facts.blocks.values().copied().collect();
        for at in (0..count as u32).rev() {
            let (Some(statement), Some(fact)) = (facts.statement(at), facts.get(at)) else {
                continue;
            };
            let (i, frame) = (at as usize, calls.get(&at));
            // Inside a block, the mark on a call belongs to the frame that the call made.
            let is_frames = statement.kind == StatementKind::Do
                && fact.block.is_some()
                && !fact.is_over()
                && frame.is_none();
            // An input that is under way is a question to a person, at which the run waits.
            let asks = statement.kind == StatementKind::Input && !fact.is_over();
            let ran = fact.ran() && (statement.kind.runs() || asks) && !is_frames;
            let holds = marks.holds.get(i) == Some(&true);
            let around = statement.kind == StatementKind::Parallel || statement.kind.is_loop();
            let keep = ran || frame.is_some() || (around && holds);
            if keep {
                marks.last.entry(fact.block).or_insert(at);
            }
            let open = (ran && !fact.is_over())
                || frame == Some(&true)
                || marks.open.get(i) == Some(&true);
            set(&mut marks.kept, i, keep);
            set(&mut marks.open, i, open);
            if let Some(outer) = statement.parent.filter(|p| !blocks.contains(p)) {
                set(&mut marks.holds, outer as usize, keep || holds);
                set(&mut marks.open, outer as usize, (keep || holds) && open);
            }
        }
        marks
    }

    pub(super) fn is_kept(&self, at: u32) -> bool {
        self.kept.get(at as usize) == Some(&true)
    }

    pub(super) fn is_under_way(&self, at: u32) -> bool {
        self.open.get(at as usize) == Some(&true)
    }

    pub(super) fn holds(&self, at: u32) -> bool {
        self.holds.get(at as usize) == Some(&true)
    }

    /// Whether an unmarked statement is over, because the run has ended or continued after the statement.
    pub(super) fn passed(&self, facts: &LineEvidence<'_>, at: u32) -> bool {
        let block = facts.get(at).and_then(|fact| fact.block);
        let end = facts.statement(at).map_or(0, |s| s.end);
        let last = self
            .last
            .get(&block)
            .and_then(|last| facts.statement(*last));
        let later = last.is_some_and(|s| s.line > end);
        !self.is_under_way(at) && (later || self.finished)
    }
}

fn set(list: &mut [bool], at: usize, holds: bool) {
    if let Some(slot) = list.get_mut(at).filter(|_| holds) {
        *slot = true;
    }
}
