//! Computes how much evidence contradicts a path of log lines through the program, from one statement to the next.

use super::ties::{DEEP, ProgramFacts, ReferringLine, is};
use crate::model::{LogEvent, LogLine, Status};
use crate::program::{Listing, StatementKind as Kind, TiedBy};
use crate::trace::align::{Cost, Course, PathPoint, TieCandidate};

/// Maximum number of statements with the same name that are examined before a place, and after that place.
const NEAR: usize = 8;
/// The cost of a step that should be impossible. The log's words may still outweigh this cost.
const AGAINST: Cost = 12;
const ODD: Cost = 6;
/// The cost of placing a line without words inside a loop or a parallel block that no line mentions.
const UNTOLD: Cost = 9;

/// The lines that belong to the root, or to one frame.
pub(super) struct FrameLines<'w, 'f, 'a> {
    pub(super) program: &'w ProgramFacts<'f, 'a>,
    pub(super) lines: &'w [ReferringLine<'w>],
    /// The block that the frame runs; `None` for the root.
    pub(super) block: Option<u32>,
}

impl FrameLines<'_, '_, '_> {
    fn listing(&self) -> &Listing {
        self.program.facts.listing
    }

    /// Whether a statement belongs to the block whose lines are examined.
    fn is_here(&self, at: u32) -> bool {
        let fact = self.program.facts.get(at);
        fact.is_some_and(|fact| fact.block == self.block)
    }

    /// Returns the statements of a kind that are nearest to a statement.
    fn of_kind(&self, kind: Option<Kind>, from: u32) -> &[u32] {
        let all = self.program.by_kind.get(&(self.block, kind));
        near(all.map_or(&[], Vec::as_slice), from)
    }

    /// Returns the candidates of a line without words: statements of its kind, or statements for which a log has no
    /// name.
    fn silent(&self, line: &ReferringLine<'_>, from: u32) -> Vec<TieCandidate> {
        let listing = self.listing();
        let all = self.of_kind(line.mark.kind, from).iter().copied();
        let here = all.filter_map(|at| {
            let own = listing.get(at)?;
            let named = own.name.is_some() && own.kind != Kind::Do && line.mark.kind.is_none();
            let by = match line.mark.kind {
                Some(_) if own.depth > 0 => TiedBy::Kind,
                _ => TiedBy::Number,
            };
            let other = match &line.line.event {
                LogEvent::Fork { branches } => {
                    let first = branches.first();
                    first.is_some_and(|name| listing.branch_of(at, name).is_none())
                }
                LogEvent::Round { max: Some(max), .. } => {
                    let own = own.number("max").or_else(|| own.number("count"));
                    own.is_some_and(|own| own != *max)
                }
                _ => false,
            };
            let cost = 4 * Cost::from(named) + 2 * Cost::from(other);
            Some(plain(at, cost, by))
        });
        here.collect()
    }

    /// Returns the cost if the distance between two lines' numbers differs from the distance between their statements.
    fn count(&self, from: PathPoint, at: usize, to: u32) -> Cost {
        let number = |at: usize| self.lines.get(at).and_then(|line| line.mark.number);
        let before = match from {
            Some((_, line)) => number(line),
            None => Some(0),
        };
        let numbers = |at: u32| self.program.numbers.get(at as usize).copied();
        let from = match from {
            Some((from, _)) => numbers(from),
            None => Some((-1, -1)),
        };
        let (Some(before), Some(now), Some(from), Some(to)) =
            (before, number(at), from, numbers(to))
        else {
            return 0;
        };
        let difference = i64::from(now) - i64::from(before);
        let (top, all) = (to.0 - from.0, to.1 - from.1);
        let off = difference.abs_diff(top).min(difference.abs_diff(all));
        Cost::try_from(off.min(2)).unwrap_or(2)
    }

    /// Returns the cost of passing over the constructs and statements between two statements.
    fn way(&self, from: PathPoint, at: usize, to: u32) -> Cost {
        let (program, listing) = (self.program, self.listing());
        let (place, before) = match from {
            Some((place, line)) => (place, self.lines.get(line)),
            None => (self.block.unwrap_or(u32::MAX), None),
        };
        let Some(now) = self.lines.get(at) else {
            return 0;
        };
        let inside = |outer: u32| outer == place || listing.contains(outer, place);
        let against = if now.known.is_empty() { AGAINST } else { ODD };
        if place == to && from.is_some() {
            let again = before.is_some_and(|before| goes_on(before.line, now.line));
            let looped = program.around(to).any(|at| self.is_loop(at));
            return if again {
                0
            } else if looped {
                2
            } else {
                against
            };
        }
        let before = before.map(|line| line.line);
        let mut cost = 0;
        if place != u32::MAX && to < place {
            let again = |at: u32| {
                inside(at).then(|| match listing.get(at).map(|own| own.kind) {
                    Some(Kind::Parallel) => Some(0),
                    Some(kind) if kind.is_loop() || kind == Kind::Pipe => Some(2),
                    _ => None,
                })?
            };
            let back = program.around(to).find_map(again).unwrap_or(against);
            let marks = matches!(
                now.line.event,
                LogEvent::Round { .. } | LogEvent::Join { .. }
            );
            return if marks && inside(to) { 0 } else { back };
        }
        let left = before.is_some_and(|line| match &line.event {
            LogEvent::Join { .. } | LogEvent::Round { exit: true, .. } => true,
            _ => line.held == Some(false),
        });
        if left && listing.contains(place, to) {
            return against;
        }
        let failed = before.filter(|line| has_failed(line)).is_some();
        let mut around = 0;
        for outer in program.around(to) {
            if inside(outer) {
                break;
            }
            around += 1;
            if let Some(tried) = program.tries.get(&outer) {
                cost += if failed && inside(*tried) { 0 } else { ODD };
            }
            if let Some(choice) = program.facts.listing.choice(outer) {
                let passed = left.then_some(place);
                let other = |at: u32| {
                    Some(at) != passed
                        && at != outer
                        && program.facts.listing.choice(at) == Some(choice)
                };
                let other = place != u32::MAX && program.around(place).any(other);
                cost += against * Cost::from(other);
            }
            // A loop or a parallel block normally has a line of its own, before the lines of the statements inside.
            let marked =
                outer == to || !(self.is_loop(outer) || is(listing, outer, Kind::Parallel));
            let silent = now.known.is_empty();
            cost += match marked {
                true => 0,
                false if silent && now.mark.kind.is_none() => UNTOLD,
                false => 2,
            };
        }
        if failed {
            let tried = |at: u32| listing.catch_of(at).is_some() && inside(at);
            let tried = listing.enclosing(place).take(DEEP).find(|at| tried(*at));
            if tried.is_some_and(|tried| listing.contains(tried, to)) {
                cost += ODD;
            }
        }
        let always = |at: u32| {
            let (root, block) = program.always.get(at as usize).copied().unwrap_or_default();
            if self.block.is_none() { root } else { block }
        };
        let begun = match place {
            u32::MAX => 0,
            place => always(place.saturating_add(1).min(to)),
        };
        let skipped = always(to).saturating_sub(begun).saturating_sub(around - 1);
        cost + skipped.min(3)
    }

    fn is_loop(&self, at: u32) -> bool {
        self.listing().get(at).is_some_and(|own| own.kind.is_loop())
    }
}

impl Course for FrameLines<'_, '_, '_> {
    fn len(&self) -> usize {
        self.lines.len()
    }

    fn untied(&self, at: usize) -> Cost {
        let line = self.lines.get(at);
        if line.is_some_and(|line| line.mark.kind.is_some() || !line.known.is_empty()) {
            AGAINST
        } else {
            8
        }
    }

    fn candidates(&self, at: usize, from: PathPoint) -> Vec<TieCandidate> {
        let Some(line) = self.lines.get(at) else {
            return Vec::new();
        };
        let from = from.map_or(self.block.unwrap_or(0), |(from, _)| from);
        if line.mark.label.is_empty() && line.known.is_empty() {
            return self.silent(line, from);
        }
        let known = line.known.partition_point(|known| known.statement < from);
        let known = line
            .known
            .get(known.saturating_sub(NEAR)..)
            .unwrap_or_default();
        let known = known.iter().take(2 * NEAR).map(|known| {
            if self.is_here(known.statement) {
                *known
            } else {
                TieCandidate {
                    elsewhere: true,
                    cost: known.cost + ODD,
                    ..*known
                }
            }
        });
        known.collect()
    }

    fn step(&self, from: PathPoint, at: usize, to: u32) -> Cost {
        if !self.is_here(to) {
            return 0;
        }
        let count = match self.block {
            None => self.count(from, at, to),
            Some(_) => 0,
        };
        count + self.way(from, at, to)
    }
}

fn plain(statement: u32, cost: Cost, by: TiedBy) -> TieCandidate {
    TieCandidate {
        statement,
        cost,
        by,
        elsewhere: false,
    }
}

/// Returns the statements of an ordered list that are nearest to a statement.
fn near(list: &[u32], from: u32) -> &[u32] {
    let at = list.partition_point(|at| *at < from);
    let to = list.len().min(at + NEAR);
    list.get(at.saturating_sub(NEAR)..to).unwrap_or_default()
}

/// Whether a line may continue the statement of an earlier line.
fn goes_on(before: &LogLine, now: &LogLine) -> bool {
    match (&before.event, &now.event) {
        (
            LogEvent::Statement { status, .. },
            LogEvent::Statement { .. } | LogEvent::Retry { .. },
        ) => {
            let over = |status: &Status| status.is_terminal() && *status != Status::Failed;
            before.deferred || !status.as_ref().is_some_and(over)
        }
        (LogEvent::Retry { .. }, _)
        | (LogEvent::Round { .. }, LogEvent::Round { .. })
        | (LogEvent::Fork { .. }, LogEvent::Join { .. } | LogEvent::Fork { .. })
        | (LogEvent::Gate { .. }, LogEvent::Gate { .. }) => true,
        (LogEvent::Enter { id: a, .. }, LogEvent::Enter { id: b, .. }) => a == b,
        _ => false,
    }
}

fn has_failed(line: &LogLine) -> bool {
    match &line.event {
        LogEvent::Statement { status, .. } => *status == Some(Status::Failed),
        LogEvent::Join { status } => *status == Status::Failed,
        LogEvent::Gate { status, .. } => {
            use crate::model::GateStatus as Gate;
            matches!(status, Gate::Rejected | Gate::Timeout)
        }
        _ => false,
    }
}
