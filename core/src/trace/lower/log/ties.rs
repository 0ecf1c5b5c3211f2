//! Ties each line of a log to a statement of the program. The lines of the root and the lines of each frame are aligned
//! with the program separately ([`crate::trace::align`]).

use std::collections::BTreeMap;

use super::ahead::LogPreview;
use super::marks::{Mark, mark};
use super::walk::FrameLines;
use crate::model::{BindingKind, CompactLog, LogEvent, LogLine, Run};
use crate::program::{Listing, StatementKind as Kind, Tie, TiedBy, counts, fits};
use crate::trace::align::{Cost, TieCandidate, align};
use crate::trace::lower::facts::LineEvidence;

/// Maximum number of enclosing constructs that are examined.
pub(super) const DEEP: usize = 24;

/// Returns the tie of each line.
pub(super) fn of(
    run: &Run,
    log: &CompactLog,
    ahead: &LogPreview,
    facts: &LineEvidence<'_>,
) -> Vec<Option<Tie>> {
    let mut found = vec![None; log.lines.len()];
    if facts.listing.statements.is_empty() {
        return found;
    }
    let mut program = ProgramFacts::of(run, log, facts);
    let mut blocks: BTreeMap<i64, u32> = BTreeMap::new();
    let mut lines: BTreeMap<Option<i64>, Vec<ReferringLine<'_>>> = BTreeMap::new();
    for (at, line) in log.lines.iter().enumerate() {
        if let LogEvent::Enter {
            block,
            id: Some(id),
            ..
        } = &line.event
            && let Some(block) = facts.blocks.get(&**block)
        {
            blocks.insert(*id, *block);
        }
        let Some(mark) = mark(line) else { continue };
        let frame = line.frame.filter(|id| blocks.contains_key(id));
        let known = program.known(at, line, &mark);
        lines.entry(frame).or_default().push(ReferringLine {
            at,
            line,
            mark,
            known,
        });
    }
    for (frame, lines) in &lines {
        let walk = FrameLines {
            program: &program,
            lines,
            block: frame.and_then(|id| blocks.get(&id).copied()),
        };
        for (line, tie) in lines.iter().zip(align(&walk)) {
            if let Some(slot) = found.get_mut(line.at) {
                *slot = tie;
            }
        }
    }
    // All markers of a loop are tied to the statement of the first marker.
    let mut passes: BTreeMap<u32, Option<Tie>> = BTreeMap::new();
    for (at, slot) in found.iter_mut().enumerate() {
        if let Some((pass, _)) = ahead.pass(at) {
            *slot = *passes.entry(pass).or_insert(*slot);
        }
    }
    found
}

/// A line that refers to a statement.
pub(super) struct ReferringLine<'l> {
    pub(super) at: usize,
    pub(super) line: &'l LogLine,
    pub(super) mark: Mark<'l>,
    /// The statements that match the line's words; empty if only the line's place identifies the statement.
    pub(super) known: Vec<TieCandidate>,
}

/// The facts about a program's statements that ties need, prepared once.
pub(super) struct ProgramFacts<'f, 'a> {
    pub(super) facts: &'f LineEvidence<'a>,
    /// The `try` that belongs to each `catch`.
    pub(super) tries: BTreeMap<u32, u32>,
    /// For each statement, the number of statements before it that always run: outside of blocks, and inside blocks.
    pub(super) always: Vec<(u32, u32)>,
    /// For each statement, its number if only the top level is counted, and its number if all levels are counted.
    pub(super) numbers: Vec<(i64, i64)>,
    /// The statements to which a line without words may refer, by block and kind.
    pub(super) by_kind: BTreeMap<(Option<u32>, Option<Kind>), Vec<u32>>,
    /// For each binding name, the source that the binding's header quotes, and the last line with that name.
    pub(super) sources: BTreeMap<&'f str, (&'f str, usize)>,
    /// The result of [`Listing::spoken_of`] for each text that was looked up. Long logs repeat few texts.
    spoken_of: BTreeMap<&'f str, (Vec<u32>, TiedBy, bool)>,
}

impl<'f, 'a> ProgramFacts<'f, 'a> {
    fn of(run: &'f Run, log: &'f CompactLog, facts: &'f LineEvidence<'a>) -> ProgramFacts<'f, 'a> {
        let listing = facts.listing;
        let mut program = ProgramFacts {
            facts,
            tries: BTreeMap::new(),
            always: Vec::with_capacity(listing.statements.len()),
            numbers: Vec::with_capacity(listing.statements.len()),
            by_kind: BTreeMap::new(),
            sources: BTreeMap::new(),
            spoken_of: BTreeMap::new(),
        };
        let (mut always, mut top, mut all) = ((0, 0), -1, -1);
        for (at, own) in (0_u32..).zip(&listing.statements) {
            if let Some(catch) = listing.catch_of(at) {
                program.tries.insert(catch, at);
            }
            program.always.push(always);
            let fact = facts.get(at);
            let block = fact.and_then(|fact| fact.block);
            let optional = fact.is_none_or(|fact| fact.may_not_run);
            let runs = u32::from(own.kind.is_work() && own.kind.runs() && !optional);
            match block {
                None => always.0 += runs,
                Some(_) => always.1 += runs,
            }
            // Branches and statements of blocks are not counted: lines of a branch have letters, and lines of a block
            // have the number of the call.
            let branch = own.parent.is_some_and(|p| is(listing, p, Kind::Parallel));
            if counts(own.kind) && block.is_none() {
                top += i64::from(own.depth == 0);
                all += i64::from(!branch);
            }
            program.numbers.push((top, all));
            for kind in [
                Kind::Input,
                Kind::Loop,
                Kind::Parallel,
                Kind::If,
                Kind::Else,
                Kind::Gate,
                Kind::Exec,
                Kind::Do,
            ] {
                if fits(Some(kind), own) {
                    let of = program.by_kind.entry((block, Some(kind)));
                    of.or_default().push(at);
                }
            }
            let plain = own.kind.is_work() && own.kind.runs() && !own.kind.is_loop();
            if plain && !branch && !matches!(own.kind, Kind::Parallel | Kind::Gate) {
                program.by_kind.entry((block, None)).or_default().push(at);
            }
        }
        for binding in &run.bindings {
            let root = binding.execution_id.is_none() && binding.kind != BindingKind::Input;
            let quoted = binding.source.as_deref().map(str::trim);
            if let (true, Some(quoted)) = (root, quoted.filter(|text| !text.is_empty())) {
                program.sources.insert(&binding.name, (quoted, 0));
            }
        }
        for (at, line) in log.lines.iter().enumerate() {
            if let LogEvent::Statement { text, .. } = &line.event
                && let Some((_, last)) = program.sources.get_mut(&**text)
                && line.frame.is_none()
            {
                *last = at;
            }
        }
        program
    }

    /// Returns the statements that match the words of a line.
    fn known(&mut self, at: usize, line: &LogLine, mark: &Mark<'f>) -> Vec<TieCandidate> {
        let listing = self.facts.listing;
        let candidate = |statement, cost, by| TieCandidate {
            statement,
            cost,
            by,
            elsewhere: false,
        };
        if let LogEvent::Statement { text, .. } = &line.event
            && text.contains(['"', '=', ':'])
            && let Some(tie) = listing.tie(text, None).filter(|tie| !tie.guessed)
        {
            return vec![candidate(tie.statement, 0, tie.by)];
        }
        if mark.label.is_empty() {
            return Vec::new();
        }
        let (named, by) = listing.called(mark.label, mark.kind);
        let fitting = named.into_iter().filter(|at| {
            let own = listing.get(*at);
            own.is_some_and(|own| fits(mark.kind, own))
        });
        let fitting: Vec<u32> = fitting.collect();
        // The last line with a binding's name records the statement that the header of the binding on disk quotes.
        let source = self.sources.get(mark.label);
        if let Some((quoted, _)) = source.filter(|(_, last)| *last == at) {
            let first = quoted.lines().next().unwrap_or_default().trim_end();
            let quoted = listing.quoted(fitting.iter().copied(), quoted);
            let elsewhere = || listing.tie(first, None).filter(|tie| !tie.guessed);
            let quoted = if fitting.is_empty() {
                elsewhere().map(|tie| tie.statement)
            } else {
                quoted
            };
            if let Some(one) = quoted {
                return vec![candidate(one, 0, by)];
            }
        }
        let cost = Cost::from(by == TiedBy::Target);
        if !fitting.is_empty() {
            let named = fitting.into_iter();
            return named.map(|at| candidate(at, cost, by)).collect();
        }
        if !matches!(mark.kind, None | Some(Kind::Exec)) {
            return Vec::new();
        }
        let spoken_of = self.spoken_of.entry(mark.label);
        let (words, by, begins) = spoken_of.or_insert_with(|| listing.spoken_of(mark.label));
        let words = words.iter().copied().filter(|at| {
            let own = listing.get(*at);
            own.is_some_and(|own| fits(mark.kind, own))
        });
        // A prompt that only begins with the line's words is weak evidence, so the tie becomes a guess.
        let cost = if *begins { 8 } else { 3 };
        words.map(|at| candidate(at, cost, *by)).collect()
    }

    /// Returns a statement and the constructs around it, from the inside out.
    pub(super) fn around(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        let own = std::iter::once(at);
        own.chain(self.facts.listing.enclosing(at).take(DEEP))
    }
}

pub(super) fn is(listing: &Listing, at: u32, kind: Kind) -> bool {
    listing.get(at).is_some_and(|own| own.kind == kind)
}
