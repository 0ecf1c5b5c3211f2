//! "Active Constructs": which parallel and which loop of the program each section speaks of, and what it says.

use std::collections::BTreeSet;

use super::facts::Facts;
use crate::model::{LoopState, ParallelState, Run};
use crate::program::StatementKind;
use crate::trace::NodeStatus;
use crate::trace::emit::word;
use crate::trace::verdict::recorded;

/// Takes the sections into the facts. Those that fit no statement are left to [`super::build`].
pub(super) fn read(run: &Run, facts: &mut Facts<'_>) {
    let Some(file) = &run.state_file else { return };
    let mut taken: BTreeSet<u32> = BTreeSet::new();
    let parallels: Vec<u32> = of_kind(facts, |kind| kind == StatementKind::Parallel);
    for (i, state) in (0_u32..).zip(&file.parallels) {
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
            .filter(|at| !taken.contains(at))
            .or_else(|| free.find(fits));
        let Some(at) = found else { continue };
        taken.insert(at);
        parallel(facts, at, i, state, passed(run, facts, at));
    }
    let loops: Vec<u32> = of_kind(facts, StatementKind::is_loop);
    for (i, state) in (0_u32..).zip(&file.loops) {
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
            .filter(|at| !taken.contains(at))
            .or_else(|| free.find(same))
            .or(alone);
        let Some(at) = found else { continue };
        taken.insert(at);
        looped(facts, at, i, state);
    }
}

/// Whether the run went on behind a statement, or is over.
fn passed(run: &Run, facts: &Facts<'_>, at: u32) -> bool {
    let finished = recorded(run).iter().any(|claim| claim.status.is_finished());
    let end = facts.statement(at).map_or(0, |s| s.end);
    let later = facts.listing.statements.partition_point(|s| s.line <= end);
    finished
        || facts
            .of
            .get(later..)
            .is_some_and(|rest| rest.iter().any(super::facts::Fact::ran))
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
