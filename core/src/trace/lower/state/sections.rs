//! Ties the sections under "Active Constructs" to parallel blocks and loops of the program, and reads the facts in
//! these sections.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{LoopState, ParallelState, Run};
use crate::program::StatementKind;
use crate::trace::NodeStatus;
use crate::trace::emit::word;
use crate::trace::lower::facts::LineEvidence;
use crate::trace::verdict::recorded;

/// The sections whose statement is unknown, as indices into the state file's lists.
#[derive(Default)]
pub(super) struct UnplacedSections {
    pub(super) parallels: Vec<usize>,
    pub(super) loops: Vec<usize>,
}

/// Reads the facts in the sections. `open` is the number of open frames of each block. If a block has several open
/// frames, it is unknown to which frame a section belongs (errata E9).
pub(super) fn read(
    run: &Run,
    facts: &mut LineEvidence<'_>,
    open: &BTreeMap<u32, usize>,
) -> UnplacedSections {
    let mut unplaced = UnplacedSections::default();
    let Some(file) = &run.state_file else {
        return unplaced;
    };
    let finished = recorded(run).iter().any(|claim| claim.status.is_finished());
    let last = last_ran(facts);
    let parallels = of_kind(facts, |kind| kind == StatementKind::Parallel);
    let line = |i: usize| file.parallels.get(i)?.lines.map(|lines| lines.0);
    let fits = |i: usize, at: u32| {
        let branches = file.parallels.get(i).map(|state| &state.branches);
        let mut names = branches.into_iter().flatten().map(|(name, _)| name);
        names.any(|name| facts.listing.branch_of(at, name).is_some())
    };
    let found = place(facts, file.parallels.len(), &parallels, line, fits);
    for (index, at) in counted(facts, found, open, &mut unplaced.parallels) {
        let end = facts.statement(at).map_or(0, |s| s.end);
        let later = facts.get(at).and_then(|fact| last.get(&fact.block));
        let later = later.and_then(|last| facts.statement(*last));
        let passed = finished || later.is_some_and(|s| s.line > end);
        if let Some(state) = file.parallels.get(index) {
            parallel(facts, at, index, state, passed);
        }
    }
    let loops = of_kind(facts, StatementKind::is_loop);
    let line = |i: usize| file.loops.get(i)?.lines.map(|lines| lines.0);
    let fits = |i: usize, at: u32| {
        let said = file
            .loops
            .get(i)
            .and_then(|state| state.condition.as_deref());
        let condition = facts.statement(at).and_then(|s| s.property("condition"));
        said.is_some() && said == condition || loops.len() == 1 && file.loops.len() == 1
    };
    let found = place(facts, file.loops.len(), &loops, line, fits);
    for (index, at) in counted(facts, found, open, &mut unplaced.loops) {
        if let Some(state) = file.loops.get(index) {
            looped(facts, at, index, state);
        }
    }
    unplaced
}

/// Returns the statement of each section: the statement at the line in the section's heading, otherwise the first
/// fitting statement that no other section has.
fn place(
    facts: &LineEvidence<'_>,
    count: usize,
    all: &[u32],
    line: impl Fn(usize) -> Option<u32>,
    fits: impl Fn(usize, u32) -> bool,
) -> Vec<Option<u32>> {
    let mut taken: BTreeSet<u32> = BTreeSet::new();
    let found = (0..count).map(|index| {
        let line_of = |at: &u32| facts.statement(*at).map_or(0, |s| s.line);
        let named = line(index).and_then(|line| all.binary_search_by_key(&line, line_of).ok());
        let named = named.and_then(|found| all.get(found).copied());
        let mut free = all.iter().copied().filter(|at| !taken.contains(at));
        let at = named.or_else(|| free.find(|at| fits(index, *at)));
        taken.extend(at);
        at
    });
    found.collect()
}

/// Returns the sections with their statements. Of several sections about one statement, only the last is returned.
/// Sections about a block with several open frames are left out.
fn counted(
    facts: &LineEvidence<'_>,
    found: Vec<Option<u32>>,
    open: &BTreeMap<u32, usize>,
    unplaced: &mut Vec<usize>,
) -> BTreeSet<(usize, u32)> {
    let mut last: BTreeMap<u32, usize> = BTreeMap::new();
    for (index, at) in found.into_iter().enumerate() {
        match at {
            Some(at) => {
                last.insert(at, index);
            }
            None => unplaced.push(index),
        }
    }
    let frames = |at: u32| open.get(&facts.get(at)?.block?).copied();
    last.retain(|at, _| frames(*at).is_none_or(|count| count <= 1));
    last.into_iter().map(|(at, index)| (index, at)).collect()
}

/// Returns, for each block and for the root, the last statement recorded as started.
fn last_ran(facts: &LineEvidence<'_>) -> BTreeMap<Option<u32>, u32> {
    let ran = (0_u32..).zip(&facts.of).filter(|(_, fact)| fact.ran());
    ran.map(|(at, fact)| (fact.block, at)).collect()
}

fn of_kind(facts: &LineEvidence<'_>, wanted: impl Fn(StatementKind) -> bool) -> Vec<u32> {
    let all = (0..).zip(&facts.listing.statements);
    all.filter(|(_, s)| wanted(s.kind))
        .map(|(at, _)| at)
        .collect()
}

fn parallel(
    facts: &mut LineEvidence<'_>,
    at: u32,
    index: usize,
    state: &ParallelState,
    passed: bool,
) {
    // If every branch of an active block has ended, the block still has to join its branches, unless the run has
    // already continued after the block.
    let mut open = state.branches.is_empty() || !passed;
    for (name, status) in &state.branches {
        let status = word(status);
        open |= status.is_open();
        let branch = facts.listing.branch_of(at, name);
        let Some(fact) = branch.and_then(|b| facts.of.get_mut(b as usize)) else {
            continue;
        };
        // A recorded end is newer than a recorded start, whether the mark or the section contains the end.
        let newer = match &fact.status {
            None => status != NodeStatus::Pending,
            Some(said) => said.is_open() && !status.is_open(),
        };
        if newer {
            fact.status = Some(status);
            fact.ahead = false;
        }
    }
    if let Some(fact) = facts.of.get_mut(at as usize) {
        fact.construct = Some(index);
        if !fact.is_over() {
            fact.status = Some(if open {
                NodeStatus::Started
            } else {
                NodeStatus::Completed
            });
        }
    }
}

fn looped(facts: &mut LineEvidence<'_>, at: u32, index: usize, state: &LoopState) {
    let Some(fact) = facts.of.get_mut(at as usize) else {
        return;
    };
    fact.construct = Some(index);
    fact.round = state.iteration.filter(|n| *n > 0);
    if is_ahead(state) || fact.is_over() {
        return;
    }
    fact.status = Some(status_of(state));
    fact.ahead = false;
}

/// Whether a loop's section states that the loop was not entered yet.
pub(super) fn is_ahead(state: &LoopState) -> bool {
    let said = state.status.trim().to_lowercase();
    ["not yet", "not entered", "not started", "pending"]
        .iter()
        .any(|word| said.starts_with(word))
}

/// Returns a loop's status in its section.
pub(super) fn status_of(state: &LoopState) -> NodeStatus {
    let status = word(&crate::read::decode::state_md::rows::read_status(
        &state.status,
    ));
    if status.is_open() {
        NodeStatus::Started
    } else {
        status
    }
}
