//! The ways in which a line finds its statement, the surest first.

use super::marks::of_several;
use super::{DEEP, MANY, Place, Walk};
use crate::model::{LogEvent, LogLine, Status};
use crate::program::{LogMark, StatementKind as Kind, Tie, TiedBy};

impl<'w> Walk<'w, '_> {
    pub(super) fn find(&mut self, at: usize, line: &'w LogLine, mark: &LogMark<'_>) -> Option<Tie> {
        if let LogEvent::Statement { text, .. } = &line.event {
            let whole = text.contains(['"', '=', ':']);
            let tie = whole.then(|| self.texts.tie(text, None)).flatten();
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
            && let Some(last) = &place.last
            && last.number == mark.number
            && mark.branch.is_none()
            && last
                .status
                .as_ref()
                .is_some_and(|s| matches!(s, Status::Failed | Status::Retry) || !s.is_terminal())
            && self.goes_on(line, last.tie)
        {
            return Some(last.tie);
        }
        self.by_name(at, line, mark)
            .or_else(|| self.by_source(at, line, mark))
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
                let last = self.place(line).last.as_ref();
                let failed = last.is_some_and(|last| last.status == Some(Status::Failed));
                // In a `try` what comes after a failure is its `catch`.
                !failed || self.catching(tie.statement).is_none()
            }
            _ => false,
        }
    }

    /// The innermost `try` around a statement that has a `catch`.
    pub(super) fn catching(&self, at: u32) -> Option<u32> {
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
            let listing = self.facts.listing;
            if let Some(one) = listing.quoted(all.iter().copied(), quoted) {
                return Some(tie(one, false));
            }
        }
        let runs = |at: &&u32| here(at) && !self.is_not_run(place, **at);
        let here: Vec<u32> = all.iter().filter(runs).copied().collect();
        if let LogEvent::Statement { text, .. } = &line.event
            && let Some((_, which)) = of_several(text)
        {
            let binds = |at: &&u32| self.statement(**at).and_then(|s| s.bound()) == Some(which);
            if let Some(one) = here.iter().find(binds) {
                return Some(tie(*one, false));
            }
        }
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
        let around = place.loops.last().and_then(|(statement, _)| *statement);
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

    /// A binding's file may have another name than the program gives it: its header quotes the statement.
    fn by_source(&mut self, at: usize, line: &LogLine, mark: &LogMark<'_>) -> Option<Tie> {
        let (quoted, last) = self.sources.get(mark.label)?;
        if line.frame.is_some() || *last != at {
            return None;
        }
        let first = quoted.lines().next().unwrap_or(quoted).trim_end();
        self.texts.tie(first, None).filter(|tie| !tie.guessed)
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
        // The way leads into no body that does not run.
        let place = self.place(line);
        let reached = self.is_reached(place, statement);
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
        let around = place.loops.last().and_then(|(statement, _)| *statement);
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
        let scope = scope.filter(|_| line.frame.is_none());
        let tie = self.ties.by_words(mark, scope)?;
        (line.frame.is_some() || self.is_reached(self.place(line), tie.statement)).then_some(tie)
    }

    /// Whether the way leads to a statement: it leads back in a loop alone.
    fn is_reached(&self, place: &Place, at: u32) -> bool {
        let mut loops = place.loops.iter().filter_map(|(outer, _)| *outer);
        at >= place.from || loops.any(|outer| self.facts.listing.contains(outer, at))
    }
}
