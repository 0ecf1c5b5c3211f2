//! Finds the statement of the program to which a command refers by line or by text. The program supplies everything
//! that a command leaves out. A command that contradicts the program is refused (see [`super::Insist`]).

use std::borrow::Cow;

use super::{Facts, WriteError};
use crate::model::Execution;
use crate::program::{self, Listing, Statement, StatementKind as Kind};
use crate::trace::{Trace, is_branch_text};

/// A statement as named by the caller: by its line in the program, its text, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatementRef {
    /// The statement's text, possibly shortened.
    pub text: Option<String>,
    /// The statement's line in the program, from 1.
    pub line: Option<u32>,
}

impl StatementRef {
    /// Returns a reference to the statement that begins at `line`.
    pub fn line(line: u32) -> StatementRef {
        StatementRef {
            text: None,
            line: Some(line),
        }
    }
}

/// The run's program, and the trace that ties rows to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramSource<'s> {
    pub(super) listing: Option<&'s Listing>,
    trace: &'s Trace,
}

/// The result of looking up a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineLookup {
    /// The statement's text: the given text, else the program's.
    pub(super) text: String,
    /// The statement's line in the program, from 1, if known.
    pub(super) line: Option<u32>,
    /// The statement's index in the listing, if the program has the statement.
    pub(super) statement: Option<u32>,
}

impl LineLookup {
    /// Returns the value of the column `statement_index` for the statement's rows.
    pub(super) fn index(&self) -> Option<i64> {
        self.line.map(i64::from)
    }
}

impl<'s> ProgramSource<'s> {
    pub(super) fn of(facts: &'s Facts<'_>) -> ProgramSource<'s> {
        ProgramSource {
            listing: facts.listing(),
            trace: facts.trace(),
        }
    }

    /// Looks up a statement. A text that does not clearly match a statement of the program gets no line, because models
    /// shorten and reword statements.
    ///
    /// # Errors
    /// [`WriteError::Wrong`] if neither text nor line was given, if the text is only a number, or if text and line
    /// belong to different statements; [`WriteError::NotFound`] if no statement begins at the line.
    pub(super) fn find(&self, wanted: &StatementRef) -> Result<LineLookup, WriteError> {
        match (&wanted.text, wanted.line) {
            (None, None) => Err(WriteError::wrong(
                "no statement was named",
                "give the statement's line in the program, or its text with --text",
            )),
            (Some(text), None) => match text.trim().parse::<u32>() {
                Ok(line) if self.listing.is_some() => Err(WriteError::wrong(
                    format!("{line} is a number, not the text of a statement"),
                    format!("to name a statement by its line, use `prosescope begin {line}`"),
                )),
                _ => Ok(self.by_text(text)),
            },
            (text, Some(line)) => self.by_line(text.as_deref(), line),
        }
    }

    fn by_text(&self, text: &str) -> LineLookup {
        let statement = self.sure(text);
        LineLookup {
            text: text.to_owned(),
            line: statement.and_then(|at| self.get(at)).map(|s| s.line),
            statement,
        }
    }

    fn by_line(&self, text: Option<&str>, line: u32) -> Result<LineLookup, WriteError> {
        let at = self.at_line(line);
        if let Some(text) = text {
            let other = self.sure(text).filter(|other| Some(*other) != at);
            if let Some(other) = other.and_then(|other| self.get(other)) {
                return Err(WriteError::wrong(
                    format!(
                        "the given text is the statement of line {}, not of line {line}: {}",
                        other.line,
                        super::instance::shown(text)
                    ),
                    "give either the text or the line, not both",
                ));
            }
            return Ok(LineLookup {
                text: text.to_owned(),
                line: Some(line),
                statement: at,
            });
        }
        let Some(statement) = at.and_then(|at| self.get(at)) else {
            return Err(self.no_statement(line));
        };
        Ok(LineLookup {
            text: statement.text.clone(),
            line: Some(line),
            statement: at,
        })
    }

    fn no_statement(&self, line: u32) -> WriteError {
        let Some(listing) = self.listing else {
            return WriteError::not_found(
                "the run contains no program, so no statement can be named by its line",
                "give the statement's text with --text",
            );
        };
        let around = listing.statement_at(line).and_then(|at| listing.get(at));
        let hint = match around {
            Some(around) => format!(
                "line {line} belongs to the statement of line {}: give that line",
                around.line
            ),
            None => match listing.statements.iter().find(|s| s.line > line) {
                Some(next) => format!("the next statement begins at line {}", next.line),
                None => format!("the program has {} lines", listing.lines.len()),
            },
        };
        WriteError::not_found(
            format!("no statement begins at line {line} of the program"),
            hint,
        )
    }

    /// Returns the statement of a recorded row, as every reader ties it; `None` without a certain tie. A branch that
    /// was begun by its name alone has its statement only if the branch consists of that statement.
    pub(super) fn of_row(&self, row: &Execution) -> Option<u32> {
        let listing = self.listing?;
        let node = self.trace.node(self.trace.of_row(row.id)?)?;
        let own = node.sure_index(Some(listing))?;
        let branch = row.meta.as_deref().and_then(|meta| meta.branch.as_deref());
        if branch.is_some_and(|branch| is_branch_text(&row.text, branch)) {
            Some(own).filter(|own| !self.trace.borrows_line(node) && listing.stands_alone(*own))
        } else {
            Some(own)
        }
    }

    /// Returns the listing that contains a statement, and the statement's index in it. A statement that is not in the
    /// program is scanned as a program of its own.
    pub(super) fn listed(&self, found: &LineLookup) -> (Cow<'s, Listing>, u32) {
        match (self.listing, found.statement) {
            (Some(listing), Some(at)) => (Cow::Borrowed(listing), at),
            _ => (Cow::Owned(program::scan(&found.text)), 0),
        }
    }

    pub(super) fn get(&self, statement: u32) -> Option<&'s Statement> {
        self.listing?.get(statement)
    }

    pub(super) fn kind(&self, statement: u32) -> Option<Kind> {
        Some(self.get(statement)?.kind)
    }

    pub(super) fn statement(&self, found: &LineLookup) -> Option<&'s Statement> {
        self.get(found.statement?)
    }

    /// Returns the statement that begins at a line.
    pub(super) fn at_line(&self, line: u32) -> Option<u32> {
        self.listing?.begun_at(line)
    }

    /// Returns the names and statements of a parallel block's branches in the program.
    pub(super) fn branches(&self, parallel: u32) -> Vec<(String, u32)> {
        let listing = self.listing;
        listing.map_or_else(Vec::new, |listing| listing.branches(parallel))
    }

    /// Returns the names and statements of the branches of a parallel block that the program has.
    pub(super) fn branches_of(&self, found: &LineLookup) -> Vec<(String, u32)> {
        found
            .statement
            .map_or_else(Vec::new, |at| self.branches(at))
    }

    /// Returns whether a statement runs its body once for each item.
    pub(super) fn has_items(&self, found: &LineLookup) -> bool {
        let listing = self.listing.zip(found.statement);
        listing.is_some_and(|(listing, at)| listing.has_items(at))
    }

    /// Returns whether a row is an item, whose line is that of its parallel block or pipe.
    pub(super) fn has_items_of(&self, row: &Execution) -> bool {
        let line = row.index.and_then(|line| u32::try_from(line).ok());
        let at = line.and_then(|line| self.at_line(line));
        self.listing
            .zip(at)
            .is_some_and(|(listing, at)| listing.has_items(at))
    }

    /// Returns whether the text of a statement is unique in the program.
    pub(super) fn text_is_unique(&self, found: &LineLookup) -> bool {
        found.statement.is_some() && self.sure(&found.text) == found.statement
    }

    /// Returns whether a row belongs to a gate that is not in the program.
    pub(super) fn is_own_gate(&self, row: &Execution) -> bool {
        let gate = row.meta.as_deref().and_then(|meta| meta.gate_id.as_deref());
        self.listing.is_some() && gate.is_some() && self.of_row(row).is_none()
    }

    fn sure(&self, text: &str) -> Option<u32> {
        let tie = self.listing?.tie(text, None)?;
        (!tie.guessed).then_some(tie.statement)
    }

    /// Returns whether a value of this name belongs to the execution itself, not to a scope around it. The result is
    /// true for a branch or item if other branches or items bind the name, too.
    pub(super) fn owns(&self, row: &Execution, parallel: Option<&Execution>, name: &str) -> bool {
        let is_branch = row
            .meta
            .as_deref()
            .is_some_and(|meta| meta.branch.is_some());
        let listing = self.listing.filter(|_| is_branch);
        let parallel = listing.zip(parallel.and_then(|row| self.of_row(row)));
        parallel.is_some_and(|(listing, parallel)| listing.own_in_branch(parallel, name))
    }
}

/// The kind of command that records a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordingCommand {
    Exec,
    Parallel,
    Loop,
    Gate,
    Input,
    Import,
    Declares,
}

impl RecordingCommand {
    pub(super) fn of(statement: &Statement) -> RecordingCommand {
        match statement.kind {
            Kind::Parallel => RecordingCommand::Parallel,
            kind if kind.is_loop() => RecordingCommand::Loop,
            Kind::Gate => RecordingCommand::Gate,
            Kind::Input => RecordingCommand::Input,
            Kind::Use => RecordingCommand::Import,
            kind if kind.is_declaration() => RecordingCommand::Declares,
            _ => RecordingCommand::Exec,
        }
    }

    /// Returns the refusal of a statement that does not begin: an input, which is written, or a declaration.
    pub(super) fn not_begun(self, statement: &Statement) -> WriteError {
        let line = statement.line;
        let name = statement.name.as_deref().unwrap_or("NAME");
        let (what, next) = match self {
            RecordingCommand::Input => (
                "an input",
                format!(
                    "use `prosescope put {name}`: the value comes on standard input; without a value, use `prosescope skip {line}`"
                ),
            ),
            _ if statement.kind == Kind::Block => (
                "the declaration of a block",
                format!(
                    "`do {name}(…)` calls the block: give the line of the call, or of a statement in the block"
                ),
            ),
            _ => (
                "a declaration",
                "a declaration is not recorded: give the line of a statement that runs".to_owned(),
            ),
        };
        WriteError::wrong(
            format!(
                "line {line} is {what}, which does not begin: {}",
                super::instance::shown(&statement.text)
            ),
            next,
        )
    }
}
