//! A compact log, as records (dialects.md, "B: compact log").
//!
//! ```text
//! line ──► scope: frame #1, branch 3a, else the root ──► the loop around it ──► a record of a site
//! ```
//!
//! A log is written as things end. Numbers repeat and skip, and most lines name what they speak of: which statement a
//! line is tied to, `ties` finds.

mod ahead;
mod branches;
mod disk;
mod frames;
mod loops;
mod statements;
#[cfg(test)]
mod tests;
mod ties;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::facts::Facts;
use super::{At, Beside, Record, Round, Story};
use crate::issue::{Issue, Severity};
use crate::model::{
    CompactLog, Execution, LogEvent, LogLine, Meta, Run, RunStatus, Status, Text, words,
};
use crate::program::{Statement, Tie};
use crate::trace::rows::Ledger;
use ahead::Ahead;
use branches::Parallel;
use frames::Frames;
use loops::Loop;
use statements::Latest;

/// What a record lies in: a frame or a branch; `None` is the root.
type Place = Option<At>;

/// A log as records.
pub(in crate::trace) struct Lowered {
    pub(in crate::trace) records: Vec<Execution>,
    pub(in crate::trace) beside: Vec<Beside>,
    /// Lines that record no statement: the position of the record before each, and the line.
    pub(in crate::trace) remarks: Vec<(Option<u32>, u32)>,
    /// Bindings that nothing but themselves tells of.
    pub(in crate::trace) unmarked: Vec<String>,
}

/// Lowers a log.
pub(in crate::trace) fn lower(
    run: &Run,
    log: &CompactLog,
    facts: &Facts<'_>,
    ledger: &mut Ledger,
) -> Lowered {
    let ahead = Ahead::of(log);
    let ties = ties::of(run, log, &ahead, facts);
    let mut lowering = Lowering {
        log,
        facts,
        ties,
        ahead,
        ledger,
        story: Story::default(),
        states: BTreeMap::new(),
        gates: BTreeMap::new(),
        holders: BTreeSet::new(),
        frames: Frames::of(facts),
        parallels: BTreeMap::new(),
        forks: BTreeMap::new(),
        loops: BTreeMap::new(),
        newest: BTreeMap::new(),
        latest: BTreeMap::new(),
        last: None,
        of_statement: BTreeMap::new(),
        ended: BTreeMap::new(),
        not_run: BTreeSet::new(),
        remarks: Vec::new(),
    };
    for (at, line) in log.lines.iter().enumerate() {
        lowering.take(at, line);
    }
    let unmarked = lowering.disk(run);
    let (records, beside, positions) = lowering.story.finish();
    let remarks = lowering.remarks.into_iter();
    Lowered {
        records,
        beside,
        remarks: remarks
            .map(|(after, line)| (after.and_then(|at| positions.get(at)), line))
            .collect(),
        unmarked,
    }
}

struct Lowering<'l, 'f, 'a> {
    log: &'l CompactLog,
    facts: &'f Facts<'a>,
    ties: Vec<Option<Tie>>,
    ahead: Ahead,
    ledger: &'f mut Ledger,
    story: Story,
    /// What the last record of an instance says, by its first record.
    states: BTreeMap<At, State>,
    /// Gates by what they lie in, their number and their name.
    gates: BTreeMap<(Place, Option<u32>, Text), At>,
    /// The last instance in each place.
    newest: BTreeMap<Place, At>,
    /// What other records lie in.
    holders: BTreeSet<At>,
    frames: Frames<'a>,
    parallels: BTreeMap<(Place, Option<u32>), Parallel>,
    /// Where the last parallel of a number began.
    forks: BTreeMap<Option<u32>, Place>,
    loops: BTreeMap<Place, Vec<Loop>>,
    latest: BTreeMap<(Place, Option<u32>), Latest>,
    /// The instance that the last line spoke of.
    last: Option<At>,
    /// The last instance of each statement.
    of_statement: BTreeMap<u32, At>,
    /// The record that ends an instance.
    ended: BTreeMap<At, At>,
    /// Conditions that did not hold.
    not_run: BTreeSet<u32>,
    /// Lines that record no statement, after the first record of what the line before spoke of.
    remarks: Vec<(Option<At>, u32)>,
}

/// What the last record of an instance says.
struct State {
    status: Status,
    /// The line that put it off; it goes on later.
    deferred: Option<usize>,
}

/// What a line says of a site.
#[derive(Default)]
struct Said {
    text: Text,
    label: Text,
    meta: Meta,
    round: Option<u32>,
    id: Option<i64>,
    gate: Option<crate::trace::NodeStatus>,
    derived: bool,
}

impl State {
    fn of(at: Option<usize>, status: &Status, meta: &Meta) -> State {
        let deferred = meta.reason.as_deref().is_some_and(words::says_deferred);
        State {
            status: status.clone(),
            deferred: at.filter(|_| *status == Status::Skipped && deferred),
        }
    }
}

impl<'l, 'a> Lowering<'l, '_, 'a> {
    fn take(&mut self, at: usize, line: &'l LogLine) {
        let scope = match &line.event {
            LogEvent::Note => return self.remark(at),
            LogEvent::Trailer { status, .. } => {
                // The last trailer is the run's; the others are remarks in their place.
                if self.log.trailer != Some(at as u32) {
                    self.remark(at);
                }
                return self.trailer(at, status);
            }
            LogEvent::Leave { status } => return self.leave(at, line, status),
            LogEvent::Enter { block, .. } => self.scope(at, line, Some(block)),
            _ => self.scope(at, line, None),
        };
        match &line.event {
            LogEvent::Fork { branches } => self.fork(at, line, scope, branches),
            LogEvent::Join { status } => self.join(at, line, scope, status),
            LogEvent::Round { .. } => self.round(at, line, scope),
            LogEvent::Enter { block, id, status } => {
                self.enter(at, line, scope, block, *id, status.as_ref());
            }
            LogEvent::Gate { gate, status } => self.gate(at, line, scope, gate, status),
            LogEvent::Retry { text, attempt, max } => {
                self.retry(at, line, scope, text, *attempt, *max);
            }
            LogEvent::Statement { text, status } => {
                self.statement(at, line, scope, text, status.as_ref());
            }
            LogEvent::Leave { .. } | LogEvent::Trailer { .. } | LogEvent::Note => {}
        }
    }

    /// A line that records no statement is kept at its place.
    fn remark(&mut self, at: usize) {
        self.remarks.push((self.last, at as u32));
    }

    /// Adds a record of a new instance.
    fn begin(&mut self, at: usize, parent: Place, status: Status, said: Said) -> At {
        let state = State::of(Some(at), &status, &said.meta);
        let record = self.record(Some(at), parent, status, said);
        let statement = record.beside.tie.map(|tie| tie.statement);
        let first = self.story.add(record);
        if let Some(statement) = statement {
            self.of_statement.insert(statement, first);
        }
        self.states.insert(first, state);
        self.holders.extend(parent);
        // A frame after which something else ran in what it lies in is over.
        if let Some(before) = self.newest.insert(parent, first) {
            self.frames.close(before);
        }
        self.last = Some(first);
        first
    }

    /// Adds a record of an instance that is there.
    fn go_on(&mut self, at: Option<usize>, first: At, status: Status, mut said: Said) {
        let Some(begun) = self.story.get(first) else {
            return;
        };
        let (parent, meta) = (begun.parent, begun.meta.clone());
        // What names the site is the same in all its records.
        if let Some(meta) = meta {
            said.meta = Meta {
                iteration: said.meta.iteration,
                attempt: said.meta.attempt,
                max: said.meta.max,
                reason: said.meta.reason,
                branches: said.meta.branches,
                ..Meta::clone(&meta)
            };
        }
        let state = State::of(at, &status, &said.meta);
        let mut record = self.record(at, parent, status, said);
        record.of = Some(first);
        let over = record.status.is_terminal();
        let added = self.story.add(record);
        if over {
            self.ended.insert(first, added);
        }
        let before = self.states.insert(first, state);
        // Why it was put off stays told, once it went on.
        let put_off = before.and_then(|state| state.deferred);
        self.remarks
            .extend(put_off.map(|line| (Some(first), line as u32)));
        self.last = Some(first);
    }

    fn record(&self, at: Option<usize>, parent: Place, status: Status, said: Said) -> Record {
        Record {
            parent,
            of: None,
            text: said.text,
            status,
            meta: (said.meta != Meta::default()).then(|| Arc::new(said.meta)),
            beside: Beside {
                of: 0,
                tie: at.and_then(|at| self.ties.get(at).copied().flatten()),
                status: said.gate,
                line: at.map(|at| at as u32),
                id: said.id,
                round: said.round.map(|n| Round { n, derived: false }),
                derived: said.derived,
                label: said.label,
                ..Beside::default()
            },
        }
    }

    fn is_open(&self, first: At) -> bool {
        self.states
            .get(&first)
            .is_some_and(|state| state.deferred.is_some() || !state.status.is_terminal())
    }

    fn has_failed(&self, first: At) -> bool {
        self.says(first, &Status::Failed)
    }

    fn says(&self, first: At, status: &Status) -> bool {
        self.states
            .get(&first)
            .is_some_and(|state| state.status == *status)
    }

    fn tie(&self, at: usize) -> Option<(Tie, &'a Statement)> {
        let tie = self.ties.get(at).copied().flatten()?;
        Some((tie, self.facts.statement(tie.statement)?))
    }

    /// Notes what is odd about a line.
    fn odd(&mut self, rule: &'static str, line: &LogLine, message: String, hint: &str) {
        let file = self.log.file.to_string();
        self.ledger.note(Severity::Info, rule, || {
            Issue::info("", message)
                .at_file(file)
                .at_line(line.line)
                .hint(hint)
        });
    }

    /// The frame or branch that a line speaks in. `called`: it enters that block.
    fn scope(&mut self, at: usize, line: &LogLine, called: Option<&Text>) -> Place {
        let frame = match line.frame {
            Some(id) => Some(self.frame_of(at, line, id)),
            None => self.frame_around(at, line, called),
        };
        let letter = line
            .branch
            .as_ref()
            .filter(|b| b.starts_with(|c: char| c.is_ascii_alphabetic()));
        let Some(letter) = letter else {
            return frame;
        };
        // What runs in a frame of a branch runs in that frame, unless that has branches of its own.
        let frame = frame.or_else(|| self.forks.get(&line.number).copied().flatten());
        if !self.parallels.contains_key(&(frame, line.number))
            && (frame.is_some() || !self.is_in_parallel(at))
            && !self.ahead.is_joined(at, line)
        {
            // A letter alone numbers a step: nothing says that it is a branch.
            return frame;
        }
        Some(self.branch(at, line, frame, letter))
    }

    /// An end with an error: what is under way failed.
    fn trailer(&mut self, at: usize, status: &RunStatus) {
        let Some(last) = self.last.filter(|_| *status == RunStatus::Failed) else {
            return;
        };
        if self.says(last, &Status::Executing) {
            self.go_on(Some(at), last, Status::Failed, Said::default());
        }
    }
}
