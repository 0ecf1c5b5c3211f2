//! What the program knows of rows: their statements, and what lies in a loop's body.

use std::collections::BTreeMap;

use super::rows::NONE;
use crate::model::Execution;
use crate::program::{self, Listing, Tie};

/// Ties of rows to statements; each text is tied once.
pub(super) struct Ties<'a> {
    program: Option<&'a Listing>,
    /// It has learned from all rows how their indices count.
    learned: Option<program::Ties<'a>>,
    rows: BTreeMap<(&'a str, Option<i64>), Option<Tie>>,
    branches: BTreeMap<(u32, &'a str), Option<u32>>,
}

/// Where something stands in the program: its statement ([`NONE`] where it is not tied), whether that is a
/// guess, and its statement_index.
type Place = (u32, bool, Option<i64>);

impl<'a> Ties<'a> {
    pub(super) fn new(program: Option<&'a Listing>, rows: &'a [Execution]) -> Ties<'a> {
        let program = program.filter(|p| !p.statements.is_empty());
        let learned = program.map(|program| {
            let mut ties = program.ties();
            ties.learn(rows.iter().map(|row| (&*row.text, row.index)));
            ties
        });
        Ties {
            program,
            learned,
            rows: BTreeMap::new(),
            branches: BTreeMap::new(),
        }
    }

    /// The statement of a row.
    pub(super) fn row(&mut self, row: &'a Execution) -> Option<Tie> {
        let learned = self.learned.as_mut()?;
        let key = (&*row.text, row.index);
        if let Some(tie) = self.rows.get(&key) {
            return *tie;
        }
        let tie = learned.tie(&row.text, row.index);
        if self.rows.len() < program::REMEMBERED {
            self.rows.insert(key, tie);
        }
        tie
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Status;

    /// The rows of a run teach how its indices count: here from 0, so that 2 is not the second statement.
    #[test]
    fn equal_texts_are_told_apart_by_the_counting_of_the_run() {
        let row = |id, index, text: &str| Execution {
            id,
            index: Some(index),
            text: text.into(),
            status: Status::Completed,
            parent: None,
            started: None,
            completed: None,
            error: None,
            meta: None,
        };
        let program = crate::program::scan(
            "session \"a\"\nsession \"same\"\nsession \"same\"\nsession \"b\"\n",
        );
        let rows = [
            row(1, 0, "session \"a\""),
            row(2, 2, "session \"same\""),
            row(3, 3, "session \"b\""),
        ];
        let mut ties = Ties::new(Some(&program), &rows);
        let tie = Tie {
            statement: 2,
            guessed: false,
        };
        assert_eq!(ties.row(&rows[1]), Some(tie));
    }
}
