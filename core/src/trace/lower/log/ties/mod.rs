//! Which statement of the program each line of a log speaks of (one-fold.md, rule 2): a walk through the program along
//! the lines, as a log is written while the program is carried out.
//!
//! A name decides first: of several statements that have it, the one whose text a binding's header quotes (for the last
//! line of that name), else the next on the way. A number means the statement to which it was tied first; numbers that
//! count every statement are known by the lines that have names. A line that has neither is the next statement on the
//! way that no name would be written for.

mod find;
mod marks;

use std::collections::{BTreeMap, BTreeSet};

use super::ahead::Ahead;
use crate::model::{BindingKind, CompactLog, GateStatus, LogEvent, LogLine, Run, Status, Text};
use crate::program::{LogMark, LogTies, Statement, StatementKind as Kind, Tie, Ties};
use crate::trace::lower::facts::Facts;
use marks::mark;

/// How many branches of a parallel teach what its number means.
const TEACHERS: usize = 8;
/// Statements of one name that are looked at.
const MANY: usize = 256;
/// Constructs around a statement that are looked at.
const DEEP: usize = 64;

/// The tie of each line.
pub(super) fn of(
    run: &Run,
    log: &CompactLog,
    ahead: &Ahead,
    facts: &Facts<'_>,
) -> Vec<Option<Tie>> {
    if facts.listing.statements.is_empty() {
        return vec![None; log.lines.len()];
    }
    let mut walk = Walk::new(run, log, ahead, facts);
    let lines = log.lines.iter().enumerate();
    lines.map(|(at, line)| walk.tie(at, line)).collect()
}

/// Where the root, or a frame, has come to.
#[derive(Default, Clone)]
struct Place {
    /// The beginning of what runs here.
    begin: u32,
    /// The next statement may be this one.
    from: u32,
    /// The end of what runs here.
    end: u32,
    /// Loops around it: statement and pass.
    loops: Vec<(Option<u32>, u32)>,
    /// Bodies that do not run: until their end nothing is tied.
    not_run: BTreeSet<u32>,
    /// The `catch` of each `try` in which something failed: it may run.
    failed: BTreeSet<u32>,
    /// What the line before was tied to.
    last: Option<Last>,
    /// What each number was first tied to.
    numbers: BTreeMap<u32, u32>,
    /// The parallel that began last under a number.
    forks: BTreeMap<Option<u32>, Tie>,
}

/// What a line was tied to, and how that stands.
#[derive(Clone)]
struct Last {
    number: Option<u32>,
    tie: Tie,
    status: Option<Status>,
}

struct Walk<'w, 'a> {
    facts: &'w Facts<'a>,
    ahead: &'w Ahead,
    ties: LogTies<'a>,
    /// Ties of whole texts.
    texts: Ties<'a>,
    /// The end of each statement: the first after it.
    ends: Vec<u32>,
    /// Statements in the order in which some writers count all of them; empty where the log does not.
    counted: Vec<u32>,
    /// The text that a binding's header quotes, by its name, and the last line of that name.
    sources: BTreeMap<&'w str, (&'w str, usize)>,
    root: Place,
    frames: BTreeMap<i64, Place>,
    /// The tie of a loop's markers, by its pass.
    passes: BTreeMap<u32, Option<Tie>>,
}

impl<'w, 'a> Walk<'w, 'a> {
    fn new(
        run: &'w Run,
        log: &'w CompactLog,
        ahead: &'w Ahead,
        facts: &'w Facts<'a>,
    ) -> Walk<'w, 'a> {
        let listing = facts.listing;
        let count = listing.statements.len() as u32;
        let mut ends: Vec<u32> = (1..=count).collect();
        for (at, statement) in listing.statements.iter().enumerate().rev() {
            let end = ends.get(at).copied().unwrap_or(count);
            if let Some(outer) = statement.parent.and_then(|p| ends.get_mut(p as usize)) {
                *outer = (*outer).max(end);
            }
        }
        let marks: Vec<LogMark<'_>> = log.lines.iter().filter_map(mark).collect();
        let taught = log.lines.iter().flat_map(|line| {
            let names: &[Text] = match &line.event {
                LogEvent::Fork { branches } if line.frame.is_none() => branches,
                _ => &[],
            };
            names.iter().take(TEACHERS).map(|label| LogMark {
                number: line.number,
                label,
                ..LogMark::default()
            })
        });
        let all: Vec<LogMark<'_>> = marks.into_iter().chain(taught).collect();
        let mut sources = BTreeMap::new();
        for binding in &run.bindings {
            let root = binding.execution_id.is_none() && binding.kind != BindingKind::Input;
            let quoted = binding.source.as_deref().map(str::trim);
            if let (true, Some(quoted)) = (root, quoted.filter(|text| !text.is_empty())) {
                sources.insert(&*binding.name, (quoted, 0));
            }
        }
        for (at, line) in log.lines.iter().enumerate() {
            if let LogEvent::Statement { text, .. } = &line.event
                && line.frame.is_none()
                && let Some((_, last)) = sources.get_mut(&**text)
            {
                *last = at;
            }
        }
        let mut walk = Walk {
            facts,
            ahead,
            ties: listing.log_ties(&all),
            texts: listing.ties(),
            ends,
            counted: Vec::new(),
            sources,
            root: Place {
                end: count,
                ..Place::default()
            },
            frames: BTreeMap::new(),
            passes: BTreeMap::new(),
        };
        walk.counted = walk.counting(&all);
        walk
    }

    /// All statements that run outside of blocks, where the numbers of named lines count these.
    fn counting(&self, marks: &[LogMark<'_>]) -> Vec<u32> {
        let all: Vec<u32> = (0_u32..)
            .zip(&self.facts.listing.statements)
            .filter(|(at, s)| {
                self.block_of(*at).is_none()
                    && crate::program::is_counted(s.kind)
                    // Branches have letters.
                    && !self.is_branch(s)
            })
            .map(|(at, _)| at)
            .collect();
        let (mut nested, mut against) = (0, 0);
        for mark in marks.iter().filter(|mark| mark.block.is_none()) {
            let (Some(number), [only]) = (mark.number, self.ties.named(mark.label, mark.kind))
            else {
                continue;
            };
            let at = (number as usize).checked_sub(1);
            if at.and_then(|at| all.get(at)) == Some(only) {
                let deep = self.statement(*only).is_some_and(|s| s.depth > 0);
                nested += usize::from(deep);
            } else {
                against += 1;
            }
        }
        match nested > against {
            true => all,
            false => Vec::new(),
        }
    }

    fn statement(&self, at: u32) -> Option<&'a Statement> {
        self.facts.statement(at)
    }

    fn is_branch(&self, statement: &Statement) -> bool {
        let outer = statement.parent.and_then(|p| self.statement(p));
        outer.is_some_and(|s| s.kind == Kind::Parallel)
    }

    fn block_of(&self, at: u32) -> Option<u32> {
        self.facts.get(at)?.block
    }

    fn end_of(&self, at: u32) -> u32 {
        self.ends.get(at as usize).copied().unwrap_or(at + 1)
    }

    fn place(&self, line: &LogLine) -> &Place {
        let frame = line.frame.and_then(|id| self.frames.get(&id));
        frame.unwrap_or(&self.root)
    }

    fn place_mut(&mut self, line: &LogLine) -> &mut Place {
        match line.frame.filter(|id| self.frames.contains_key(id)) {
            Some(id) => self.frames.entry(id).or_default(),
            None => &mut self.root,
        }
    }

    fn tie(&mut self, at: usize, line: &'w LogLine) -> Option<Tie> {
        let mark = mark(line)?;
        if let LogEvent::Round { exit, .. } = &line.event {
            return self.round(at, line, &mark, *exit);
        }
        let tie = self.find(at, line, &mark);
        self.take(line, &mark, tie);
        tie
    }

    /// A marker of a loop: all of one pass are tied as its first.
    fn round(
        &mut self,
        at: usize,
        line: &'w LogLine,
        mark: &LogMark<'_>,
        exit: bool,
    ) -> Option<Tie> {
        let (pass, _) = self.ahead.pass(at)?;
        let tie = match self.passes.get(&pass) {
            Some(tie) => *tie,
            None => {
                let tie = self.find(at, line, mark);
                self.passes.insert(pass, tie);
                tie
            }
        };
        let statement = tie.map(|tie| tie.statement);
        let ends = statement.map(|at| self.end_of(at));
        let place = self.place_mut(line);
        match place.loops.iter().position(|(_, own)| *own == pass) {
            Some(known) => place.loops.truncate(known + 1),
            None => place.loops.push((statement, pass)),
        }
        if let (Some(statement), Some(end)) = (statement, ends) {
            let inside = |at: &u32| *at > statement && *at < end;
            place.not_run.retain(|at| !inside(at));
            place.failed.retain(|at| !inside(at));
            place.from = if exit { end } else { statement + 1 };
        }
        place.last = None;
        if exit {
            place.loops.pop();
        }
        tie
    }

    /// Goes on along the program.
    fn take(&mut self, line: &LogLine, mark: &LogMark<'_>, tie: Option<Tie>) {
        let status = match &line.event {
            LogEvent::Statement { status, .. } => status.clone(),
            LogEvent::Retry { .. } => Some(Status::Retry),
            LogEvent::Join { status } => Some(status.clone()),
            LogEvent::Gate {
                status: GateStatus::Rejected | GateStatus::Timeout,
                ..
            } => Some(Status::Failed),
            _ => None,
        };
        let called = match &line.event {
            LogEvent::Enter { block, id, .. } => id.zip(self.facts.blocks.get(&**block).copied()),
            _ => None,
        };
        if let Some((id, block)) = called {
            let place = Place {
                begin: block,
                from: block + 1,
                end: self.end_of(block),
                ..Place::default()
            };
            self.frames.insert(id, place);
        }
        let Some(tie) = tie else {
            self.place_mut(line).last = None;
            return;
        };
        let at = tie.statement;
        let Some(own) = self.statement(at) else {
            return;
        };
        let holds = |status: &Option<Status>| *status != Some(Status::Skipped);
        let is_if = matches!(own.kind, Kind::If | Kind::Elif | Kind::Else);
        let end = self.end_of(at);
        let joined = matches!(line.event, LogEvent::Join { .. });
        let failed = status == Some(Status::Failed);
        let tried = self.catching(at).filter(|_| failed);
        let mut after = if joined || (is_if && !holds(&status)) {
            end
        } else {
            at + 1
        };
        // A branch is one of several: what comes next does not follow it.
        let parallel = own
            .parent
            .filter(|p| self.statement(*p).is_some_and(|s| s.kind == Kind::Parallel));
        if let Some(parallel) = parallel.filter(|_| !joined) {
            after = parallel + 1;
        }
        // Of an `if` that held, the other ways are not taken.
        let mut others = Vec::new();
        if is_if && holds(&status) {
            let mut next = end;
            while let Some(s) = self.statement(next) {
                if !matches!(s.kind, Kind::Elif | Kind::Else) || s.parent != own.parent {
                    break;
                }
                others.push(next);
                next = self.end_of(next);
            }
        }
        let catch = tried.and_then(|tried| self.facts.listing.catch_of(tried));
        let number = mark.number;
        let first = matches!(
            line.event,
            LogEvent::Statement { .. } | LogEvent::Retry { .. } | LogEvent::Fork { .. }
        );
        let place = self.place_mut(line);
        if is_if {
            match holds(&status) {
                true => place.not_run.remove(&at),
                false => place.not_run.insert(at),
            };
        }
        place.not_run.extend(others);
        place.failed.extend(catch);
        place.from = after.max(catch.unwrap_or(0));
        if let LogEvent::Fork { .. } = &line.event {
            place.forks.insert(number, tie);
        }
        if let Some(number) = number.filter(|_| first) {
            place.numbers.entry(number).or_insert(at);
        }
        place.last = Some(Last {
            number,
            tie,
            status,
        });
    }
}
