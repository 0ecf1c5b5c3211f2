//! Checks whether a statement begins in the order of the program. A second alternative of a choice is refused; other
//! deviations are recorded with a note.

use super::instance::{begun_after, meta, newest_in, shown};
use super::place::at_line;
use super::source::{LineLookup, ProgramSource};
use super::{Facts, WriteError};
use crate::model::{Execution, Status};
use crate::program::{Listing, StatementKind as Kind};
use crate::trace::judgement::{Lack, lines_are};

/// A statement that is about to begin in a sequence.
pub(super) struct NextInSequence<'a> {
    pub(super) facts: &'a Facts<'a>,
    pub(super) source: ProgramSource<'a>,
    pub(super) found: &'a LineLookup,
    pub(super) parent: Option<i64>,
}

impl<'a> NextInSequence<'a> {
    /// Refuses a statement in one alternative of a choice if another alternative was already taken.
    pub(super) fn other_way(&self) -> Result<(), WriteError> {
        let Some((listing, statement)) = self.followed() else {
            return Ok(());
        };
        // Two branches or items may take different alternatives, but each of them takes only one.
        if self.is_beside(listing, statement) && !self.in_scope() {
            return Ok(());
        }
        let Some(choice) = listing.choice(statement) else {
            return Ok(());
        };
        let is_other = |at: &u32| *at != statement && listing.choice(*at) == Some(choice);
        let since = begun_after(self.facts, self.parent)?;
        let others = listing.siblings(statement).filter(is_other);
        for way in others {
            let begun = self.begun(way, since);
            if let Some(row) = begun.filter(|row| row.status != Status::Skipped) {
                let line = listing.get(way).map_or(0, |way| way.line);
                return Err(WriteError::refused(
                    "way-taken",
                    format!(
                        "{} is an alternative to line {}, which was already taken (execution {}: {})",
                        at_line(self.found),
                        line,
                        row.id,
                        shown(&row.text)
                    ),
                    "continue after these alternatives: only one of them is taken",
                ));
            }
        }
        Ok(())
    }

    /// Returns notes for the caller on a statement that begins out of the program's order.
    pub(super) fn notes(&self) -> Result<Vec<String>, WriteError> {
        let mut notes = Vec::new();
        let listing = self.source.listing;
        let resembles = |listing: &Listing| listing.tie(&self.found.text, None).is_some();
        if self.found.line.is_none() && listing.is_some_and(resembles) {
            notes.push(format!(
                "the program has several statements like this one ({}), so the execution is recorded without a line: name its line instead: `prosescope begin LINE`",
                shown(&self.found.text)
            ));
            return Ok(notes);
        }
        let Some((listing, statement)) = self.straight() else {
            return Ok(notes);
        };
        let since = begun_after(self.facts, self.parent)?;
        let again = self.begun(statement, since);
        let ended = |row: &Execution| row.status.is_terminal() && row.status != Status::Failed;
        if again.is_some_and(ended) {
            notes.push(format!(
                "{} ended already in this sequence: this command records the statement once more",
                at_line(self.found)
            ));
            return Ok(notes);
        }
        let is_catch = listing
            .get(statement)
            .is_some_and(|own| own.kind == Kind::Catch);
        let tried = is_catch.then(|| self.facts.nothing_failed(self.parent, statement));
        if let Some(tried) = tried.flatten() {
            notes.push(format!(
                "{} begins, but {}",
                at_line(self.found),
                Lack::Failure { tried }.told()
            ));
        }
        let over = self.facts.passed_over(self.parent, statement);
        if !over.is_empty() {
            notes.push(format!(
                "{} not recorded, although {} comes later in the program",
                lines_are(&over),
                at_line(self.found)
            ));
        }
        let of_program = |row: &Execution| !self.source.is_own_gate(row);
        let Some(last) = newest_in(self.facts, self.parent, since, of_program) else {
            return Ok(notes);
        };
        let Some(before) = self
            .source
            .of_row(last)
            .filter(|before| *before != statement)
        else {
            return Ok(notes);
        };
        let line = listing.get(before).map_or(0, |s| s.line);
        let same = listing.leader(before) == listing.leader(statement);
        if before > statement && !same {
            notes.push(format!(
                "{} comes before line {line} in the program, but line {line} is recorded already",
                at_line(self.found)
            ));
        }
        Ok(notes)
    }

    /// Returns the program and the statement if the statements of the sequence run in the order of lines. Returns
    /// `None` if the program has labels, to which a gate may lead back, or if the statement is a branch or in an item.
    fn straight(&self) -> Option<(&'a Listing, u32)> {
        self.followed()
            .filter(|(listing, statement)| !self.is_beside(listing, *statement))
    }

    /// Returns the program and the statement, unless the program has labels, to which a gate may lead back.
    fn followed(&self) -> Option<(&'a Listing, u32)> {
        let listing = self.source.listing?;
        let statement = self.found.statement?;
        let labels = listing.statements.iter().any(|s| s.kind == Kind::Label);
        (!labels).then_some((listing, statement))
    }

    /// Returns whether a statement is directly inside a construct with branches or items.
    fn is_beside(&self, listing: &Listing, statement: u32) -> bool {
        let outer = listing.get(statement).and_then(|own| own.parent);
        let outer = outer.and_then(|at| listing.get(at));
        outer.is_some_and(|s| matches!(s.kind, Kind::Parallel | Kind::Pipe))
    }

    /// Returns whether the statement runs in a branch or item with an execution of its own.
    fn in_scope(&self) -> bool {
        let row = self.parent.and_then(|parent| self.facts.execution(parent));
        row.is_some_and(|row| meta(row).branch.is_some())
    }

    /// Returns the newest row of a statement in this sequence, among the rows after `since`.
    fn begun(&self, statement: u32, since: i64) -> Option<&Execution> {
        let is_it = |row: &Execution| self.source.of_row(row) == Some(statement);
        newest_in(self.facts, self.parent, since, is_it)
    }
}
