//! Which statement of the program each line of a log speaks of (one-fold.md, rule 2): a walk through the program along
//! the lines, as a log is written while the program is carried out.
//!
//! A name decides first: of several statements that have it, the one whose text a binding's header quotes (for the last
//! line of that name), else the next on the way. A number means the statement to which it was tied first; numbers that
//! count every statement are known by the lines that have names. A line that has neither is the next statement on the
//! way that no name would be written for.

use std::collections::{BTreeMap, BTreeSet};

use super::ahead::Ahead;
use crate::model::{BindingKind, CompactLog, GateStatus, LogEvent, LogLine, Run, Status, Text};
use crate::program::{LogMark, LogTies, Statement, StatementKind as Kind, Tie, TiedBy};
use crate::trace::lower::facts::Facts;

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
    /// Loops around it: statement, pass, last marker.
    loops: Vec<(Option<u32>, u32, usize)>,
    /// Bodies that do not run: until their end nothing is tied.
    not_run: BTreeSet<u32>,
    /// The `catch` of each `try` in which something failed: it may run.
    failed: BTreeSet<u32>,
    /// What the line before was tied to: its number, its name, and how it stands.
    last: Option<(Option<u32>, Text, Tie, Option<Status>)>,
    /// What each number was first tied to.
    numbers: BTreeMap<u32, u32>,
    /// The parallel that began last under a number.
    forks: BTreeMap<Option<u32>, Tie>,
}

struct Walk<'w, 'a> {
    facts: &'w Facts<'a>,
    ahead: &'w Ahead,
    ties: LogTies<'a>,
    /// Behind the last statement in each.
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
        self.leave_loops(at, line);
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
        let (pass, end) = self.ahead.pass(at)?;
        let tie = match self.passes.get(&pass) {
            Some(tie) => *tie,
            None => {
                self.leave_loops(at, line);
                let tie = self.find(at, line, mark);
                self.passes.insert(pass, tie);
                tie
            }
        };
        let statement = tie.map(|tie| tie.statement);
        let ends = statement.map(|at| self.end_of(at));
        let place = self.place_mut(line);
        match place.loops.iter().position(|(_, own, _)| *own == pass) {
            Some(known) => place.loops.truncate(known + 1),
            None => place.loops.push((statement, pass, end)),
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

    /// A loop whose last marker is past, and whose body has nothing more to run, is over.
    fn leave_loops(&mut self, at: usize, line: &LogLine) {
        let number = line.number;
        let place = self.place_mut(line);
        while let Some((statement, _, end)) = place.loops.last().copied() {
            if at <= end {
                break;
            }
            let leaves = statement.is_some_and(|statement| {
                number.is_some_and(|n| place.numbers.get(&n).is_some_and(|t| *t < statement))
            });
            if !leaves {
                break;
            }
            place.loops.pop();
        }
    }

    fn find(&mut self, at: usize, line: &'w LogLine, mark: &LogMark<'_>) -> Option<Tie> {
        if let LogEvent::Statement { text, .. } = &line.event {
            let whole = text.contains(['"', '=', ':']);
            let mut texts = self.facts.listing.ties();
            let tie = whole.then(|| texts.tie(text, None)).flatten();
            if let Some(tie) = tie.filter(|tie| !tie.guessed) {
                return Some(tie);
            }
        }
        let place = self.place(line);
        if let (LogEvent::Join { .. }, Some(tie)) = (&line.event, place.forks.get(&line.number)) {
            return Some(*tie);
        }
        // What is tried again, or was under way, is the same statement.
        if mark.label.is_empty()
            && let Some((number, _, tie, status)) = &place.last
            && *number == mark.number
            && mark.branch.is_none()
            && status
                .as_ref()
                .is_some_and(|s| matches!(s, Status::Failed | Status::Retry) || !s.is_terminal())
            && self.goes_on(line, *tie)
        {
            return Some(*tie);
        }
        self.by_name(at, line, mark)
            .or_else(|| self.by_letter(line, mark))
            .or_else(|| self.by_count(line, mark))
            .or_else(|| self.next(line, mark))
            .or_else(|| self.by_words(line, mark))
            .or_else(|| self.by_number(line, mark))
    }

    /// Whether a line may go on with what the line before it spoke of.
    fn goes_on(&self, line: &LogLine, tie: Tie) -> bool {
        match &line.event {
            LogEvent::Retry { .. } => true,
            LogEvent::Statement { .. } => {
                let failed = matches!(self.place(line).last, Some((_, _, _, Some(Status::Failed))));
                // In a `try` what comes after a failure is its `catch`.
                !failed || self.catching(tie.statement).is_none()
            }
            _ => false,
        }
    }

    /// The innermost `try` around a statement that has a `catch`.
    fn catching(&self, at: u32) -> Option<u32> {
        let mut outer = self.facts.listing.enclosing(at).take(DEEP);
        outer.find(|outer| self.facts.listing.catch_of(*outer).is_some())
    }

    fn by_name(&self, at: usize, line: &LogLine, mark: &LogMark<'_>) -> Option<Tie> {
        let named = self.ties.named(mark.label, mark.kind);
        let bound = self.ties.binds(mark.label, mark.kind);
        let place = self.place(line);
        let in_frame = line.frame.is_some_and(|id| self.frames.contains_key(&id));
        let all: Vec<u32> = named
            .iter()
            .copied()
            .take(MANY)
            .filter(|at| {
                let statement = self.statement(*at);
                let here = in_frame == self.block_of(*at).is_some();
                statement.is_some_and(|s| crate::program::fits(mark.kind, s))
                    && (!here || *at < place.end)
            })
            .collect();
        let here = |at: &u32| match in_frame {
            true => *at >= place.begin && *at < place.end,
            false => self.block_of(*at).is_none(),
        };
        let by = match bound {
            true => TiedBy::Name,
            false => TiedBy::Target,
        };
        let tie = |statement, guessed| Tie {
            statement,
            guessed,
            by,
        };
        if !in_frame
            && let Some((quoted, last)) = self.sources.get(mark.label)
            && *last == at
        {
            let first = quoted.lines().next().unwrap_or(quoted).trim_end();
            let same = |at: &&u32| self.statement(**at).is_some_and(|s| s.text == first);
            let mut quoted = all.iter().filter(same);
            if let (Some(one), None) = (quoted.next(), quoted.next()) {
                return Some(tie(*one, false));
            }
        }
        let runs = |at: &&u32| here(at) && !self.is_not_run(place, **at);
        let here: Vec<u32> = all.iter().filter(runs).copied().collect();
        if let [only] = here.as_slice() {
            let alone = bound && all.len() == 1;
            let numbered = mark.number.filter(|_| !in_frame);
            let numbered = numbered.and_then(|n| self.ties.numbered(n));
            return Some(tie(*only, !alone && numbered != Some((*only, true))));
        }
        let counted = self.number(mark.number).filter(|at| here.contains(at));
        let lettered = self.by_letter(line, mark).and_then(|tie| {
            let in_branch = |at: &&u32| {
                **at == tie.statement || self.facts.listing.contains(tie.statement, **at)
            };
            here.iter().find(in_branch).copied()
        });
        let counted = counted.or(lettered);
        let around = place.loops.last().and_then(|(statement, ..)| *statement);
        let inside =
            |at: &&u32| around.is_none_or(|outer| **at > outer && **at < self.end_of(outer));
        let next = here.iter().filter(inside).find(|at| **at >= place.from);
        let next = next.or_else(|| here.iter().find(inside));
        let next = next.or_else(|| here.iter().find(|at| **at >= place.from));
        let found = counted.or(next.copied()).or(here.first().copied());
        if let Some(found) = found {
            return Some(tie(found, true));
        }
        all.first().map(|first| tie(*first, true))
    }

    /// `3b→ ✓`: the second branch of the parallel on the way.
    fn by_letter(&self, line: &LogLine, mark: &LogMark<'_>) -> Option<Tie> {
        let letter = mark.branch?.trim().as_bytes();
        let [letter] = letter else { return None };
        let nth = letter.to_ascii_lowercase().checked_sub(b'a')?;
        let place = self.place(line);
        let parallel = (0..place.from).rev().take(MANY).find(|at| {
            self.statement(*at)
                .is_some_and(|s| s.kind == Kind::Parallel)
                && self.end_of(*at) >= place.from
        });
        let numbered = || {
            let at = self.number(mark.number)?;
            let is = self.statement(at)?.kind == Kind::Parallel;
            is.then_some(at)
        };
        let parallel = parallel.or_else(numbered)?;
        Some(Tie {
            statement: self
                .facts
                .listing
                .children(parallel)
                .nth(usize::from(nth))?,
            guessed: true,
            by: TiedBy::Number,
        })
    }

    /// The statement of a number, where the log counts every statement.
    fn number(&self, number: Option<u32>) -> Option<u32> {
        let at = usize::try_from(number?).ok()?.checked_sub(1)?;
        self.counted.get(at).copied()
    }

    fn by_count(&self, line: &LogLine, mark: &LogMark<'_>) -> Option<Tie> {
        let statement = self.number(mark.number).filter(|_| line.frame.is_none())?;
        let own = self.statement(statement)?;
        // The way leads back in a loop alone, and into no body that does not run.
        let place = self.place(line);
        let again = |outer: &(Option<u32>, u32, usize)| {
            let body = |outer| self.facts.listing.contains(outer, statement);
            outer.0.is_some_and(body)
        };
        let reached = statement >= place.from || place.loops.iter().any(again);
        // A number that told of a condition tells of its body next.
        let number = mark.number.and_then(|n| place.numbers.get(&n));
        let told = mark.kind.is_none() && !own.kind.is_work() && number == Some(&statement);
        if !reached || told || self.is_not_run(place, statement) {
            return None;
        }
        (mark.label.is_empty() && crate::program::fits(mark.kind, own)).then_some(Tie {
            statement,
            guessed: false,
            by: TiedBy::Number,
        })
    }

    /// The next statement on the way.
    fn next(&self, line: &LogLine, mark: &LogMark<'_>) -> Option<Tie> {
        if !mark.label.is_empty() {
            return None;
        }
        let place = self.place(line);
        let in_frame = line.frame.is_some_and(|id| self.frames.contains_key(&id));
        let numbered = mark.number.filter(|_| !in_frame && self.counted.is_empty());
        let known = numbered.and_then(|n| place.numbers.get(&n).copied());
        let top = numbered.and_then(|n| self.ties.numbered(n));
        // A number that is tied already: the next of that kind after it.
        let (from, sure) = match (known, top) {
            (Some(known), _) => (place.from.max(known), false),
            (None, Some((top, sure))) if top >= place.from => (top, sure),
            _ => (place.from, false),
        };
        let around = place.loops.last().and_then(|(statement, ..)| *statement);
        let end = around.map_or(place.end, |outer| self.end_of(outer));
        let found = self.way(place, from, end, mark.kind, around).or_else(|| {
            // The body of a loop again.
            let head = around.map(|outer| outer + 1)?;
            self.way(place, head, end, mark.kind, around)
        });
        let found = found.or_else(|| self.way(place, end, place.end, mark.kind, None))?;
        let own = self.statement(found)?;
        let is_top = top.is_some_and(|(top, _)| top == found);
        let plain = own.name.is_none() && !own.kind.is_loop();
        let certain = match in_frame {
            // Nothing else in the block is without a name.
            true => mark.kind.is_none() && self.is_only_silent(found),
            false => sure && is_top && (mark.kind.is_some() || plain),
        };
        Some(Tie {
            statement: found,
            guessed: !certain,
            by: if mark.kind.is_some() && !is_top {
                TiedBy::Kind
            } else {
                TiedBy::Number
            },
        })
    }

    /// The first statement of a kind, or that does something and has no name, on the way from one place to another.
    fn way(
        &self,
        place: &Place,
        from: u32,
        to: u32,
        kind: Option<Kind>,
        around: Option<u32>,
    ) -> Option<u32> {
        let mut at = from;
        let mut named = None;
        let mut steps = 0;
        while at < to && steps < 4 * MANY {
            steps += 1;
            let own = self.statement(at)?;
            let passes = own.kind == Kind::Block
                || place.not_run.contains(&at)
                || (own.kind == Kind::Catch && !self.caught(place, at));
            if passes {
                at = self.end_of(at);
                continue;
            }
            let fits = match kind {
                Some(_) => crate::program::fits(kind, own),
                None => {
                    own.kind.is_work()
                        && !own.kind.is_loop()
                        && !own.kind.is_declaration()
                        && !matches!(own.kind, Kind::Parallel | Kind::Input | Kind::Gate)
                }
            };
            if fits {
                match kind {
                    None if own.name.is_some() && own.kind != Kind::Do => {
                        named = named.or(Some(at));
                    }
                    _ => return Some(at),
                }
            }
            // What runs in a loop or a parallel comes after its own mark.
            let closed = kind != Some(Kind::Loop)
                && (own.kind.is_loop() || own.kind == Kind::Parallel)
                && Some(at) != around;
            at = if closed { self.end_of(at) } else { at + 1 };
        }
        named
    }

    /// Whether a statement is the only one of its block that no name would be written for.
    fn is_only_silent(&self, at: u32) -> bool {
        let Some(block) = self.block_of(at) else {
            return false;
        };
        let silent = |at: &u32| {
            let own = self.statement(*at);
            own.is_some_and(|s| s.name.is_none() && s.kind.is_work() && !s.kind.has_body())
        };
        let inside = (block + 1..self.end_of(block)).take(MANY);
        inside.filter(silent).take(2).eq([at])
    }

    /// Whether something failed in the `try` of a `catch`.
    fn caught(&self, place: &Place, catch: u32) -> bool {
        place.failed.contains(&catch)
    }

    fn is_not_run(&self, place: &Place, at: u32) -> bool {
        let mut around = self.facts.listing.enclosing(at).take(DEEP);
        around.any(|body| place.not_run.contains(&body))
    }

    /// Words that no statement has: the statement that the number counts, if no name would be written for that.
    fn by_number(&self, line: &LogLine, mark: &LogMark<'_>) -> Option<Tie> {
        let number = mark
            .number
            .filter(|_| line.frame.is_none() && mark.branch.is_none());
        let counted = || Some(self.ties.numbered(number?)?.0);
        let statement = self.number(number).or_else(counted)?;
        let own = self.statement(statement)?;
        let fits = own.name.is_none() && own.kind.is_work() && !own.kind.has_body();
        (fits && mark.kind.is_none()).then_some(Tie {
            statement,
            guessed: true,
            by: TiedBy::Number,
        })
    }

    fn by_words(&mut self, line: &LogLine, mark: &LogMark<'_>) -> Option<Tie> {
        let scope = self.ties.numbered(mark.number?);
        self.ties
            .by_words(mark, scope.filter(|_| line.frame.is_none()))
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
        // A branch is one of several: what comes next is not behind it.
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
        place.last = Some((number, mark.label.into(), tie, status));
    }
}

/// What a line says of the statement that it speaks of.
fn mark(line: &LogLine) -> Option<LogMark<'_>> {
    let (kind, label): (Option<Kind>, &str) = match &line.event {
        LogEvent::Statement { text, .. } if line.held.is_some() => (condition(text), ""),
        LogEvent::Statement { text, .. } | LogEvent::Retry { text, .. } => words(text),
        LogEvent::Fork { .. } | LogEvent::Join { .. } => (Some(Kind::Parallel), ""),
        LogEvent::Round { .. } => (Some(Kind::Loop), ""),
        LogEvent::Enter { block, .. } => (Some(Kind::Do), block),
        LogEvent::Gate { gate, .. } => (Some(Kind::Gate), gate),
        LogEvent::Leave { .. } | LogEvent::Trailer { .. } | LogEvent::Note => return None,
    };
    Some(LogMark {
        number: line.number,
        branch: line.branch.as_deref(),
        // A line of a frame says nothing of what its number means.
        block: line.frame.map(|_| ""),
        kind,
        label,
    })
}

/// What a condition belongs to: `else` has none of its own.
fn condition(text: &str) -> Option<Kind> {
    Some(match text.starts_with("else") {
        true => Kind::Else,
        false => Kind::If,
    })
}

/// `exec .version` and `if(false)` say what they are.
fn words(text: &str) -> (Option<Kind>, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (lead, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    match lead {
        "exec" if rest.starts_with(' ') => (Some(Kind::Exec), rest.trim_start()),
        "if" | "elif" | "else" | "choice" | "option" if !rest.starts_with(['_', '-']) => {
            (Some(Kind::If), "")
        }
        _ => (None, text),
    }
}
