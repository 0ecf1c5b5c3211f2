//! What the program knows of rows: their statements, and what lies in a loop's body.

use std::collections::BTreeMap;

use super::rows::NONE;
use crate::model::Execution;
use crate::program::{Listing, Tie};

/// Ties of rows to statements; each text is tied once.
pub(super) struct Ties<'a> {
    program: Option<&'a Listing>,
    rows: BTreeMap<(&'a str, Option<i64>), Option<Tie>>,
    branches: BTreeMap<(u32, &'a str), Option<u32>>,
}

/// Where something stands in the program: its statement ([`NONE`] where it is not tied), whether that is a
/// guess, and its statement_index.
type Place = (u32, bool, Option<i64>);

impl<'a> Ties<'a> {
    pub(super) fn new(program: Option<&'a Listing>) -> Ties<'a> {
        Ties {
            program: program.filter(|p| !p.statements.is_empty()),
            rows: BTreeMap::new(),
            branches: BTreeMap::new(),
        }
    }

    /// The statement of a row.
    pub(super) fn row(&mut self, row: &'a Execution) -> Option<Tie> {
        let program = self.program?;
        *self
            .rows
            .entry((&row.text, row.index))
            .or_insert_with(|| program.tie(&row.text, row.index))
    }

    /// The statement of a branch: the one of that name in its parallel, else its row's own.
    pub(super) fn branch(
        &mut self,
        parallel: u32,
        name: &'a str,
        row: &'a Execution,
    ) -> Option<Tie> {
        let program = self.program?;
        let named = *self
            .branches
            .entry((parallel, name))
            .or_insert_with(|| program.branch_of(parallel, name));
        match named {
            Some(statement) => Some(Tie {
                statement,
                guessed: false,
            }),
            None => self.row(row),
        }
    }

    /// Whether a statement lies in a loop's body (trace.md 5): as the program has it; without one, it has the
    /// higher index.
    pub(super) fn in_body(&self, around: Place, inner: Place) -> bool {
        let by_index = match (around.2, inner.2) {
            (Some(around), Some(inner)) => inner > around,
            _ => false,
        };
        let Some(program) = self.program else {
            return by_index;
        };
        match (
            self.statement(program, around),
            self.statement(program, inner),
        ) {
            (Some(a), Some(b)) if program.contains(a, b) => true,
            // While a loop is open its parent has nothing else to run, so a guess does not speak against it.
            (Some(_), Some(_)) => (around.1 || inner.1) && by_index,
            _ => by_index,
        }
    }

    /// The statement, else the one that begins at the line that the index names: some writers count lines.
    fn statement(&self, program: &Listing, (statement, _, index): Place) -> Option<u32> {
        if statement != NONE {
            return Some(statement);
        }
        let line = u32::try_from(index?).ok()?;
        let at = program.statement_at(line)?;
        (program.get(at)?.line == line).then_some(at)
    }
}
