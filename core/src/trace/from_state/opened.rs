//! "Active Constructs": which parallel and which loop of the program each section speaks of, and what it says.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::Facts;
use super::stack::Stack;
use crate::model::{LoopState, ParallelState, Run};
use crate::program::StatementKind;
use crate::trace::NodeStatus;
use crate::trace::emit::word;
use crate::trace::verdict::recorded;

/// The statement that each section speaks of.
#[derive(Default)]
pub(super) struct Sections {
    parallels: Vec<Option<u32>>,
    loops: Vec<Option<u32>>,
}

/// Finds the statement of each section: by the lines that it names, else by its branches or its condition.
pub(super) fn find(run: &Run, facts: &Facts<'_>) -> Sections {
    let mut sections = Sections::default();
    let Some(file) = &run.state_file else {
        return sections;
    };
    // A statement of a block's body runs in several frames at once; any other only once.
    let again = |at: &u32| facts.get(*at).is_some_and(|f| f.block.is_some());
    let mut taken: BTreeSet<u32> = BTreeSet::new();
    let parallels: Vec<u32> = of_kind(facts, |kind| kind == StatementKind::Parallel);
    for state in &file.parallels {
        let by_line = state
            .lines
            .and_then(|(line, _)| begins(facts, line, &parallels));
        let names: BTreeSet<&str> = state.branches.iter().map(|(name, _)| &**name).collect();
        let fits = |at: &u32| {
            let mut inside = facts
                .listing
                .children(*at)
                .filter_map(|c| facts.statement(c)?.name.as_deref());
            !names.is_empty() && inside.any(|name| names.contains(name))
        };
        let mut free = parallels.iter().copied().filter(|at| !taken.contains(at));
        let found = by_line
            .filter(|at| !taken.contains(at) || again(at))
            .or_else(|| free.find(fits));
        taken.extend(found);
        sections.parallels.push(found);
    }
    let loops: Vec<u32> = of_kind(facts, StatementKind::is_loop);
    for state in &file.loops {
        let by_line = state
            .lines
            .and_then(|(line, _)| begins(facts, line, &loops));
        let same = |at: &u32| {
            let condition = facts.statement(*at).and_then(|s| s.property("condition"));
            state.condition.is_some() && condition == state.condition.as_deref()
        };
        let mut free = loops.iter().copied().filter(|at| !taken.contains(at));
        let alone = (loops.len() == 1 && file.loops.len() == 1)
            .then(|| loops.first().copied())
            .flatten();
        let found = by_line
            .filter(|at| !taken.contains(at) || again(at))
            .or_else(|| free.find(same))
            .or(alone);
        taken.extend(found);
        sections.loops.push(found);
    }
    sections
}

impl Sections {
    /// Branches that a section says are under way.
    pub(super) fn active(&self, run: &Run, facts: &Facts<'_>) -> BTreeSet<u32> {
        let states = run.state_file.iter().flat_map(|file| &file.parallels);
        let placed = self.parallels.iter().zip(states);
        placed
            .filter_map(|(at, state)| Some(((*at)?, state)))
            .flat_map(|(at, state)| {
                let open = state.branches.iter().filter(|(_, status)| {
                    let status = word(status);
                    status.is_open() && status != NodeStatus::Pending
                });
                open.filter_map(move |(name, _)| facts.listing.branch_of(at, name))
            })
            .collect()
    }
}

/// Takes the sections into the facts, as far as they speak of the root or of the innermost frames; the others into
/// the stack. Those that fit no statement are left to [`super::unplaced`].
pub(super) fn read(run: &Run, facts: &mut Facts<'_>, sections: &Sections, stack: &mut Stack<'_>) {
    let Some(file) = &run.state_file else { return };
    let finished = recorded(run).iter().any(|claim| claim.status.is_finished());
    let last = last_ran(facts);
    // Whether the run went on behind a statement, or is over.
    let passed = |facts: &Facts<'_>, at: u32| {
        let end = facts.statement(at).map_or(0, |s| s.end);
        let last = facts.get(at).and_then(|fact| last.get(&fact.block));
        let later = last.and_then(|last| facts.statement(*last));
        finished || later.is_some_and(|s| s.line > end)
    };
    let inside = under_way_inside(facts);
    let inside = |at: u32| inside.get(at as usize) == Some(&true);
    for (at, indices) in by_statement(&sections.parallels) {
        let of = stack.speak_of(at, indices.len(), inside(at));
        for (frame, index) in of.into_iter().zip(indices) {
            match frame {
                Some(frame) => {
                    stack.told.insert((frame, at), index);
                }
                None => {
                    if let Some(state) = file.parallels.get(index as usize) {
                        let passed = passed(facts, at);
                        parallel(facts, at, index, state, passed);
                    }
                }
            }
        }
    }
    for (at, indices) in by_statement(&sections.loops) {
        let of = stack.speak_of(at, indices.len(), inside(at));
        for (frame, index) in of.into_iter().zip(indices) {
            match frame {
                Some(frame) => {
                    stack.told.insert((frame, at), index);
                }
                None => {
                    if let Some(state) = file.loops.get(index as usize) {
                        looped(facts, at, index, state);
                    }
                }
            }
        }
    }
    // A marker on a construct that only outer frames are in speaks of them.
    for (at, fact) in (0_u32..).zip(&mut facts.of) {
        let told = fact.construct.is_some();
        if fact.ran() && !fact.is_over() && !told && stack.is_of_outer(at, inside(at)) {
            fact.forget();
        }
    }
}

/// Sections by the statement that they speak of.
fn by_statement(sections: &[Option<u32>]) -> BTreeMap<u32, Vec<u32>> {
    let mut by: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (index, at) in (0_u32..).zip(sections) {
        if let Some(at) = at {
            by.entry(*at).or_default().push(index);
        }
    }
    by
}

/// Whether a marker inside a statement says that something is under way there.
fn under_way_inside(facts: &Facts<'_>) -> Vec<bool> {
    let mut inside = vec![false; facts.of.len()];
    for (at, (statement, fact)) in facts
        .listing
        .statements
        .iter()
        .zip(&facts.of)
        .enumerate()
        .rev()
    {
        // A marker on a call speaks of the frame that it made.
        let own = fact.ran() && !fact.is_over() && statement.kind != StatementKind::Do;
        if (own || inside.get(at) == Some(&true))
            && statement.kind != StatementKind::Block
            && let Some(slot) = statement.parent.and_then(|p| inside.get_mut(p as usize))
        {
            *slot = true;
        }
    }
    inside
}

/// By block, and for what lies in none: the last statement that is said to have begun.
fn last_ran(facts: &Facts<'_>) -> BTreeMap<Option<u32>, u32> {
    let ran = (0_u32..).zip(&facts.of).filter(|(_, fact)| fact.ran());
    ran.map(|(at, fact)| (fact.block, at)).collect()
}

fn of_kind(facts: &Facts<'_>, wanted: impl Fn(StatementKind) -> bool) -> Vec<u32> {
    let all = (0..).zip(&facts.listing.statements);
    all.filter(|(_, s)| wanted(s.kind))
        .map(|(at, _)| at)
        .collect()
}

/// The statement among these that begins at a line.
fn begins(facts: &Facts<'_>, line: u32, among: &[u32]) -> Option<u32> {
    let line_of = |at: &u32| facts.statement(*at).map_or(0, |s| s.line);
    let found = among.binary_search_by_key(&line, line_of).ok()?;
    among.get(found).copied()
}

fn parallel(facts: &mut Facts<'_>, at: u32, index: u32, state: &ParallelState, passed: bool) {
    // All branches over, and listed as active: it is about to be joined, unless the run went on.
    let mut open = state.branches.is_empty() || !passed;
    for (name, status) in &state.branches {
        let status = word(status);
        open |= status.is_open();
        let branch = facts.listing.branch_of(at, name);
        let Some(fact) = branch.and_then(|b| facts.of.get_mut(b as usize)) else {
            continue;
        };
        // An end is newer than a marker of progress, whichever of the two places has it.
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

fn looped(facts: &mut Facts<'_>, at: u32, index: u32, state: &LoopState) {
    let Some(fact) = facts.of.get_mut(at as usize) else {
        return;
    };
    fact.construct = Some(index);
    fact.round = state.iteration.filter(|n| *n > 0);
    let said = state.status.trim().to_lowercase();
    let ahead = ["not yet", "not entered", "not started", "pending"]
        .iter()
        .any(|w| said.starts_with(w));
    if ahead || fact.is_over() {
        return;
    }
    let status = word(&crate::decode::state_md::rows::read_status(&state.status));
    fact.status = Some(if status.is_open() {
        NodeStatus::Started
    } else {
        status
    });
    fact.ahead = false;
}
