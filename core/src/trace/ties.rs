//! Ties rows to statements of the program, and determines which statements are in a loop's body.

use std::collections::BTreeMap;

use super::rows::NONE;
use super::shape::is_branch_text;
use crate::model::Execution;
use crate::program::{self, Listing, StatementKind, Tie, TiedBy, Within};

/// Maximum number of remembered ties. Only rows that a loop repeats are looked up again, and such rows are few.
const REMEMBERED: usize = 4096;

/// A lookup from rows to statements of the program. Each distinct text is looked up only once.
pub(super) struct RowTies<'a> {
    program: Option<&'a Listing>,
    /// The lookup of a statement by its text and index. It has learned from the rows what their indices count.
    learned: Option<program::ProgramTies<'a>>,
    rows: BTreeMap<TieKey<'a>, Option<Tie>>,
    /// The first block of each name.
    blocks: BTreeMap<&'a str, u32>,
    branches: BTreeMap<(u32, &'a str), Option<u32>>,
}

/// The key of a remembered tie: a row's index, recorded line, text, enclosing statement and gate. Numbers come first
/// because they are compared faster than texts with equal beginnings.
type TieKey<'a> = (
    Option<i64>,
    Option<i64>,
    &'a str,
    Option<Within>,
    Option<&'a str>,
);

/// A place in the program: the statement ([`NONE`] without a tie), whether the tie is a guess, and the
/// statement_index.
type TiedPlace = (u32, bool, Option<i64>);

impl<'a> RowTies<'a> {
    pub(super) fn new(program: Option<&'a Listing>, rows: &'a [Execution]) -> RowTies<'a> {
        let program = program.filter(|p| !p.statements.is_empty());
        let learned = program.map(|program| {
            let mut ties = program.ties();
            // A branch's row has the index of its parallel block (errata F7), so the row does not show how statements
            // are counted.
            let branch = |row: &&Execution| row.meta.as_deref().is_some_and(|m| m.branch.is_some());
            let rows = rows.iter().filter(|row| !branch(row));
            ties.learn(rows.map(|row| (&*row.text, row.index)));
            ties
        });
        let mut blocks = BTreeMap::new();
        for (at, statement) in (0_u32..).zip(program.iter().flat_map(|p| &p.statements)) {
            if let (StatementKind::Block, Some(name)) = (statement.kind, &statement.name) {
                blocks.entry(name.as_str()).or_insert(at);
            }
        }
        RowTies {
            program,
            learned,
            rows: BTreeMap::new(),
            blocks,
            branches: BTreeMap::new(),
        }
    }

    /// Returns the statements that may run in an instance: the body of its statement, or the block that the statement
    /// calls by name. `guessed` means that the instance's own tie is a guess. `scope` means that the instance is a
    /// branch without a statement of its own. Such a branch contains its first statement and the clauses of that
    /// statement, such as a `catch`.
    pub(super) fn within(
        &self,
        statement: u32,
        block: Option<&str>,
        guessed: bool,
        scope: bool,
    ) -> Option<Within> {
        let program = self.program?;
        let own = program.get(statement);
        let called = own.and_then(|s| match s.kind {
            StatementKind::Do => s.target.as_deref(),
            _ => None,
        });
        if let Some(outer) = called.or(block).and_then(|name| self.blocks.get(name)) {
            return Some(Within {
                outer: *outer,
                last: *outer,
                sure: called.is_some() && !guessed,
            });
        }
        let followers = || {
            std::iter::successors(program.next_sibling(statement), |at| {
                program.next_sibling(*at)
            })
            .take_while(|at| program.leader(*at) == statement)
        };
        let last = if scope { followers().last() } else { None };
        own.filter(|s| s.kind.has_body()).map(|_| Within {
            outer: statement,
            last: last.unwrap_or(statement),
            sure: !guessed,
        })
    }

    /// Returns the statement of a row, given the construct in which the row ran.
    pub(super) fn row(&mut self, row: &'a Execution, within: Option<Within>) -> Option<Tie> {
        let (program, learned) = (self.program?, self.learned.as_mut()?);
        let meta = row.meta.as_deref();
        let gate = meta.and_then(|meta| meta.gate_id.as_deref());
        let line = meta.and_then(|meta| meta.program_line);
        let key = (row.index, line, &*row.text, within, gate);
        if let Some(tie) = self.rows.get(&key) {
            return *tie;
        }
        let mut tie = learned.tie_within(&row.text, row.index, within);
        if tie.is_none_or(|tie| tie.guessed)
            && let Some(statement) = line.and_then(|line| begins_at(program, line))
        {
            let by = tie.filter(|tie| tie.statement == statement);
            tie = Some(Tie {
                statement,
                guessed: false,
                by: by.map_or(TiedBy::Index, |tie| tie.by),
            });
        }
        if let Some(gate) = gate {
            tie = of_gate(program, gate, tie);
        }
        if self.rows.len() < REMEMBERED {
            self.rows.insert(key, tie);
        }
        tie
    }

    /// Returns the statement of a named branch of a parallel block.
    pub(super) fn named_branch(
        &mut self,
        (parallel, guessed): (u32, bool),
        name: &'a str,
    ) -> Option<Tie> {
        let program = self.program?;
        let named = self.branches.entry((parallel, name));
        let statement = *named.or_insert_with(|| program.branch_of(parallel, name));
        statement.map(|statement| Tie {
            statement,
            guessed,
            by: TiedBy::Name,
        })
    }

    /// Returns the statement of a branch: the statement of that name in the parallel block, otherwise the statement to
    /// which the branch's row is tied.
    pub(super) fn branch(
        &mut self,
        parallel: (u32, bool),
        name: &'a str,
        row: &'a Execution,
    ) -> Option<Tie> {
        self.named_branch(parallel, name).or_else(|| {
            if let Some(tie) = self.scope(parallel, name, row) {
                return Some(tie);
            }
            let within = self.within(parallel.0, None, parallel.1, false);
            self.row(row, within)
        })
    }

    /// Returns the statement of a row whose text is only the name of a branch, as Prosescope records a branch with a
    /// body. The row's index is the line of the branch's first statement. For an item of a `parallel for`, the index is
    /// the line of the enclosing statement.
    fn scope(&self, parallel: (u32, bool), name: &str, row: &Execution) -> Option<Tie> {
        let program = self.program?;
        if !is_branch_text(&row.text, name) {
            return None;
        }
        let line = match row.meta.as_deref().and_then(|meta| meta.program_line) {
            Some(line) => line,
            None if self.learned.as_ref()?.counts_lines() => row.index?,
            None => return None,
        };
        let at = begins_at(program, line)?;
        let own = program.get(at)?;
        let fits = if at == parallel.0 {
            program.has_items(at)
        } else {
            own.parent == Some(parallel.0)
        };
        fits.then_some(Tie {
            statement: at,
            guessed: parallel.1,
            by: TiedBy::Index,
        })
    }

    /// Whether a statement is in a loop's body (errata T5). The program decides. Without a program, the statement's
    /// index must be higher than the loop's index.
    pub(super) fn in_body(&self, around: TiedPlace, inner: TiedPlace) -> bool {
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
            // While a loop is open, its parent runs nothing else. A guessed tie therefore does not prove that a
            // statement is outside of the loop.
            (Some(_), Some(_)) => (around.1 || inner.1) && by_index,
            _ => by_index,
        }
    }

    /// Returns the statement of a place. Without a tie, the index is taken as a line of the program, because some
    /// writers count lines.
    fn statement(&self, program: &Listing, (statement, _, index): TiedPlace) -> Option<u32> {
        if statement != NONE {
            return Some(statement);
        }
        begins_at(program, index?)
    }
}

/// Returns the statement that begins at a line.
fn begins_at(program: &Listing, line: i64) -> Option<u32> {
    let line = u32::try_from(line).ok()?;
    let at = program.statement_at(line)?;
    (program.get(at)?.line == line).then_some(at)
}

/// Returns the statement of a row that waits at a gate: a statement with the gate's name, whatever the row's text
/// resembles. If the program has no gate of that name, returns `tie` if it is certain or leads to a nameless gate.
fn of_gate(program: &Listing, id: &str, tie: Option<Tie>) -> Option<Tie> {
    let named = program.gates_named(crate::model::visit(id).0);
    if let Some(tie) = tie.filter(|tie| named.binary_search(&tie.statement).is_ok()) {
        let alone = named.len() == 1;
        return Some(Tie {
            guessed: tie.guessed && !alone,
            ..tie
        });
    }
    match named {
        [] => tie.filter(|tie| !tie.guessed || program.may_be_gate(tie.statement, id)),
        [first, ..] => Some(Tie {
            statement: *first,
            // The tie is a guess if several statements have the name, or if the text certainly belongs to another
            // statement.
            guessed: named.len() > 1 || tie.is_some_and(|tie| !tie.guessed),
            by: TiedBy::Name,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Status;

    /// The rows of a run show how their indices count. Here they count from 0, so index 2 is the third statement.
    #[test]
    fn equal_texts_are_told_apart_by_the_counting_of_the_run() {
        let row = |id, index, text: &str| Execution {
            index: Some(index),
            text: text.into(),
            ..Execution::new(id, Status::Completed)
        };
        let program = crate::program::scan(
            "session \"a\"\nsession \"same\"\nsession \"same\"\nsession \"b\"\n",
        );
        let rows = [
            row(1, 0, "session \"a\""),
            row(2, 2, "session \"same\""),
            row(3, 3, "session \"b\""),
        ];
        let mut ties = RowTies::new(Some(&program), &rows);
        let tie = Tie {
            statement: 2,
            guessed: false,
            by: TiedBy::Text,
        };
        assert_eq!(ties.row(&rows[1], None), Some(tie));
    }

    /// If two blocks contain the same line, the construct in which a row ran decides between them.
    #[test]
    fn equal_texts_are_told_apart_by_what_they_ran_in() {
        let program = crate::program::scan(
            "block f:\n  session \"same\"\nblock g:\n  session \"same\"\nlet x = do g\nparallel:\n  a = do f\nparallel:\n  a = do g\n",
        );
        let row = |text: &str, index| Execution {
            index,
            text: text.into(),
            ..Execution::new(1, Status::Completed)
        };
        let rows = [
            row("session \"same\"", None),
            row("session \"same\"", Some(99)),
            row("a", None),
        ];
        let mut ties = RowTies::new(Some(&program), &rows);
        let in_call = ties.within(4, None, false, false);
        let line = |tie: Option<Tie>| tie.map(|t| (t.statement, t.guessed));
        assert_eq!(line(ties.row(&rows[0], None)), Some((1, true)));
        assert_eq!(line(ties.row(&rows[0], in_call)), Some((3, false)));
        // Three guesses: a contradicting index, a call that is a guess, and a block known only by name.
        assert_eq!(line(ties.row(&rows[1], in_call)), Some((3, true)));
        let guess = ties.within(4, None, true, false);
        assert_eq!(line(ties.row(&rows[0], guess)), Some((3, true)));
        let by_name = ties.within(NONE, Some("g"), false, false);
        assert_eq!(line(ties.row(&rows[0], by_name)), Some((3, true)));
        // The tie of a branch is at most as certain as the tie of its parallel block.
        assert_eq!(
            line(ties.branch((7, false), "a", &rows[2])),
            Some((8, false))
        );
        assert_eq!(line(ties.branch((7, true), "a", &rows[2])), Some((8, true)));
        assert_eq!(ties.within(1, None, false, false), None);
    }
}
