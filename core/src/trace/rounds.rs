//! Determines from rows the rounds of loops, and which children belong to which round (errata T5).

use std::collections::{BTreeMap, BTreeSet};

use super::rows::{self, Ledger, OrderedRows};
use super::story::{Happening, Story, StoryAt};
use super::sweep::{Inst, InstanceKind};
use super::{NodeKind, NodeStatus};
use crate::model::issue::Severity;
use crate::model::{Run, Status};

/// Maximum number of listed rounds that are known only by number. The number of rows is added to this maximum. Without
/// a maximum, a few bytes of metadata could create millions of rounds.
const MOST: u32 = 10_000;

/// Adds rounds and moves the loops' children into the rounds. Each happening in `story` has the index of its instance
/// in `list`.
pub(super) fn place(
    run: &Run,
    rows: &OrderedRows<'_>,
    list: &[Inst<'_>],
    of_row: &[u32],
    story: &mut Story,
    ledger: &mut Ledger,
) {
    let mut budget = rows.len().saturating_add(MOST);
    let loop_at = |at: u32| {
        list.get(at as usize)
            .filter(|i| i.kind == InstanceKind::Loop)
    };
    let mut loops: BTreeMap<u32, Passing> = BTreeMap::new();
    for (pos, at) in (0..rows.len()).zip(of_row.iter().copied()) {
        let (Some(inst), Some(row)) = (list.get(at as usize), rows.get(pos)) else {
            continue;
        };
        if inst.kind == InstanceKind::Loop {
            let passing = loops.entry(at).or_default();
            let meta = row.meta.as_deref();
            let number = meta
                .and_then(|meta| meta.iteration)
                .and_then(|n| u32::try_from(n).ok());
            if row.status == Status::Iteration {
                passing.mark(at, row.id, number, story, ledger);
            } else if meta.is_some_and(|meta| meta.in_place) {
                passing.counted = number.unwrap_or(0);
            }
        }
        if inst.first == pos && loop_at(inst.parent).is_some() {
            loops.entry(inst.parent).or_default().children.push(at);
        }
    }
    for (at, mut passing) in loops {
        let Some(inst) = loop_at(at) else { continue };
        let highest = passing.last.unwrap_or(0).max(passing.counted);
        if inst.max != super::rows::NONE && highest > inst.max {
            let (id, max) = (rows.id(inst.first), inst.max);
            ledger.note(Severity::Warning, "round-number", || {
                let hint = "Both numbers are shown as recorded, but one of the two is wrong.";
                rows::at(
                    id,
                    format!("execution {id} counts {highest} rounds, but its maximum is {max}"),
                    hint,
                )
            });
        }
        let is_kept = inst.in_place && passing.by_events(run, at, (rows, list), story);
        if inst.in_place && passing.last.is_none() && !is_kept {
            in_place(at, &passing, (rows, list), (story, &mut budget), ledger);
        } else if !passing.children.is_empty() {
            let status = if inst.open {
                NodeStatus::Started
            } else {
                NodeStatus::CutOff
            };
            passing.close(at, passing.next(), status, story);
        }
    }
}

/// The state of a loop while its rows are read.
#[derive(Default)]
struct Passing {
    /// The loop's children since the last row that ended a round.
    children: Vec<u32>,
    /// The number of the last round that ended.
    last: Option<u32>,
    /// The round in the metadata key `current_iteration`, which the in-place dialect writes.
    counted: u32,
}

impl Passing {
    fn next(&self) -> u32 {
        self.last.unwrap_or(0).saturating_add(1)
    }

    /// Handles an `iteration` row, which ends a round.
    fn mark(
        &mut self,
        at: u32,
        row: i64,
        number: Option<u32>,
        story: &mut Story,
        ledger: &mut Ledger,
    ) {
        let mut n = number.unwrap_or_else(|| self.next());
        if let Some(last) = self.last
            && n <= last
        {
            // A second row that ends the same round has no effect.
            if n == last && self.children.is_empty() {
                return;
            }
            ledger.note(Severity::Warning, "round-number", || {
                rows::at(
                    row,
                    format!("execution {row} ends round {n}, but round {last} has already ended"),
                    "The round is shown as the next one. A loop that begins again should have a row of its own, with the status `started`.",
                )
            });
            n = self.next();
        }
        self.close(at, n, NodeStatus::Completed, story);
        self.children.clear();
        self.last = Some(n);
    }

    /// Ends rounds as the store keeps them apart from the loop's row. Returns whether it keeps all of them.
    fn by_events(
        &mut self,
        run: &Run,
        at: u32,
        (rows, list): (&OrderedRows<'_>, &[Inst<'_>]),
        story: &mut Story,
    ) -> bool {
        let id = |at: u32| list.get(at as usize).map_or(0, |inst| rows.id(inst.first));
        let events = run.events_of(id(at));
        let ends = events
            .iter()
            .filter(|event| event.row.status == Status::Iteration);
        let ends = ends.map(|event| {
            let meta = event.row.meta.as_deref();
            let number = meta.and_then(|meta| u32::try_from(meta.iteration?).ok());
            number.zip(meta.and_then(|meta| meta.round_from))
        });
        let Some(ends) = ends.collect::<Option<Vec<(u32, i64)>>>() else {
            return false;
        };
        // Another program may have updated the row without an event.
        let is_whole = ends.iter().map(|(n, _)| *n).eq(1..=self.counted);
        if events.is_empty() || !is_whole {
            return false;
        }
        for (n, next) in ends {
            let ended = self.children.partition_point(|child| id(*child) < next);
            let rest = self.children.split_off(ended);
            self.close(at, n, NodeStatus::Completed, story);
            self.children = rest;
            self.last = Some(n);
        }
        true
    }

    fn close(&self, at: u32, n: u32, status: NodeStatus, story: &mut Story) {
        let round = add(at, n, status, false, story);
        for child in &self.children {
            put(*child, round, story);
        }
    }
}

/// Adds a round of a loop.
fn add(at: u32, n: u32, status: NodeStatus, derived: bool, story: &mut Story) -> StoryAt {
    let mut round = Happening::new(NodeKind::Round { n }, status);
    round.text = format!("round {n}").into();
    round.derived = derived;
    story.push(Some(StoryAt::new(at)), round)
}

fn put(child: u32, round: StoryAt, story: &mut Story) {
    if let Some(child) = story.get_mut(StoryAt::new(child)) {
        child.parent = Some(round);
    }
}

/// Adds the rounds of a loop in the in-place dialect, where one row records only the number of rounds. A statement that
/// repeats begins the next pass through the body. The last pass is the last round, because updated rows show where the
/// loop is now.
fn in_place(
    at: u32,
    passing: &Passing,
    (rows, list): (&OrderedRows<'_>, &[Inst<'_>]),
    (story, budget): (&mut Story, &mut u32),
    ledger: &mut Ledger,
) {
    let Some(inst) = list.get(at as usize) else {
        return;
    };
    let mut pass = 0u32;
    let mut seen: BTreeSet<(Option<i64>, &str)> = BTreeSet::new();
    let mut pass_of = Vec::with_capacity(passing.children.len());
    for child in &passing.children {
        let first = list.get(*child as usize).and_then(|i| rows.get(i.first));
        let key = match first.map(|row| (row.index, &*row.text)) {
            Some((Some(index), _)) => (Some(index), ""),
            Some((None, text)) => (None, text),
            None => (None, ""),
        };
        if !seen.insert(key) {
            seen.clear();
            seen.insert(key);
            pass += 1;
        }
        pass_of.push(pass);
    }
    let passes = if pass_of.is_empty() { 0 } else { pass + 1 };
    let total = passing.counted.max(passes);
    let empty = total - passes;
    let listed = empty.min(*budget);
    *budget -= listed;
    if listed < empty {
        let id = rows.id(inst.first);
        ledger.note(Severity::Note, "rounds-not-listed", || {
            rows::at(
                id,
                format!(
                    "execution {id} counts {total} rounds; {} of them are not listed",
                    empty - listed
                ),
                "Only the number of these rounds is known.",
            )
        });
    }
    let end = match rows.get(inst.last).map(|row| &row.status) {
        _ if inst.open => NodeStatus::Started,
        Some(Status::Failed | Status::Skipped) => NodeStatus::CutOff,
        _ => NodeStatus::Completed,
    };
    let mut made = Vec::new();
    for n in (1..=listed).chain((0..passes).map(|pass| empty + 1 + pass)) {
        let status = if n == total {
            end.clone()
        } else {
            NodeStatus::Completed
        };
        made.push(add(at, n, status, true, story));
    }
    for (child, pass) in passing.children.iter().zip(pass_of) {
        if let Some(round) = made.get((listed + pass) as usize) {
            put(*child, *round, story);
        }
        if let Some(child) = story.get_mut(StoryAt::new(*child)) {
            child.inferred = true;
        }
    }
}
