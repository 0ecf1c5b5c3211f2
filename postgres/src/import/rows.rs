//! Groups the changes of an import into statements, in the original order. Consecutive rows of one table share a
//! statement, as far as no row replaces another; each other change gets its own.
//!
//! A statement for many rows passes each column as an array. COPY would be as fast, but the library prepares it by
//! name, which a pooler may refuse, and a table with row security refuses it.

use prosescope_core::record::Change;

use super::original::RefusedValues;
use crate::apply::{self, StepCheck, TransactionStep, any};
use crate::readback;
use crate::written_row::{WrittenRow, insert_many};

/// Size limit for the rows of one statement, in bytes: the server keeps arrays below `work_mem` in memory.
pub(super) const GROUP: usize = 1 << 20;

/// A change in the form that PostgreSQL accepts, and the refused values that are kept separately.
pub(super) struct PlannedInsert {
    pub(super) change: Change,
    pub(super) row: WrittenRow,
    /// The bytes of a row that shares a statement with others; `None` for a change with a statement of its own.
    pub(super) shares: Option<usize>,
    pub(super) refused: Option<RefusedValues>,
}

/// The rows of a statement that is not complete yet.
#[derive(Default)]
pub(super) struct OpenInsert<'a> {
    rows: Vec<&'a WrittenRow>,
    bytes: usize,
    /// The statements to send after the statement of these rows.
    then: Vec<TransactionStep<'a>>,
}

impl<'a> OpenInsert<'a> {
    /// Adds a change; returns the statements that became complete by this change.
    pub(super) fn add(
        &mut self,
        of: &'a crate::owner::RowOwner,
        planned: &'a PlannedInsert,
    ) -> Vec<TransactionStep<'a>> {
        let run = of.run().unwrap_or_default();
        let PlannedInsert {
            change,
            row,
            shares,
            refused,
        } = planned;
        let fits = |bytes: usize| {
            let alike = self.rows.first().is_none_or(|first| first.is_alike(row));
            alike && self.bytes + bytes <= GROUP
        };
        let mut steps = if shares.is_some_and(fits) {
            Vec::new()
        } else {
            self.close(run)
        };
        let kept = refused.iter().flat_map(|refused| refused.steps(run));
        match shares {
            Some(bytes) => {
                self.rows.push(row);
                self.bytes += bytes;
                self.then.extend(kept);
            }
            None => {
                steps.extend(apply::steps(of, change, row));
                steps.push(readback::row(of, change, row));
                steps.extend(kept);
            }
        }
        steps
    }

    /// Returns the statements for the rows that were added since the last statement.
    pub(super) fn close(&mut self, run: &'a str) -> Vec<TransactionStep<'a>> {
        let open = std::mem::take(self);
        let table = open.rows.first().map_or("", |row| row.table);
        let all = insert_many(run, &open.rows).map(|(columns, sql, bound)| TransactionStep {
            check: Some(StepCheck::Row { table, columns }),
            ..any(sql, bound)
        });
        all.into_iter().chain(open.then).collect()
    }
}
