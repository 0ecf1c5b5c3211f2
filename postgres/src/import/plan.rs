//! Converts the changes of an import into changes that PostgreSQL stores: with the database's ids, and with refused
//! values kept separately.

use std::hash::{DefaultHasher, Hash, Hasher};

use prosescope_core::model::database::ColumnType;
use prosescope_core::record::{Change, ExecutionRow};
use serde_json::Value;

use super::RunImport;
use super::original::{Original, RefusedValues, in_place, nul, refused_by, scope, some, time};
use super::rows::{GROUP, PlannedInsert};
use crate::written_row::{WrittenCell, WrittenRow};

/// Estimated size of a row without its texts, in bytes.
const ROW: usize = 100;

impl RunImport<'_> {
    /// Converts a change into a change that PostgreSQL stores; `None` for an attachment, which has no row.
    pub(super) fn plan(&mut self, mut change: Change) -> Option<PlannedInsert> {
        match &mut change {
            Change::Gate(own) => self.run().clone_into(&mut own.run_id),
            Change::ResolveGate(own) => self.run().clone_into(&mut own.run_id),
            _ => {}
        }
        let of_agent = agent(&mut change);
        let mut row = WrittenRow::of(self.run(), &change)?;
        let mut originals = match &change {
            Change::Execution(own) => self.execution(own, &mut row),
            _ => self.frames(&mut row),
        };
        match of_agent {
            Some(agents) => originals.extend(agents),
            // The log's hashes cover its exact bytes, so its values are never replaced.
            None if matches!(change, Change::Audit(_)) => {}
            None => {
                for cell in row.columns.iter_mut().chain(&mut row.first) {
                    let original = refused_by(cell);
                    originals.extend(original.map(|bytes| (cell.column, bytes)));
                }
            }
        }
        let refused = (!originals.is_empty()).then(|| RefusedValues {
            table: row.table,
            key: row.key.clone(),
            originals,
        });
        Some(PlannedInsert {
            shares: self.shares(&change, &row),
            change,
            row,
            refused,
        })
    }

    /// Returns the bytes of a row that can be written in one statement with others: an execution, a row of the log, or
    /// a small binding without an earlier value that becomes history. If two hashes collide, the binding is written
    /// separately, which is slower but correct.
    fn shares(&mut self, change: &Change, row: &WrittenRow) -> Option<usize> {
        let texts = row.columns.iter().filter_map(|cell| cell.value.as_str());
        let bytes = ROW + texts.map(str::len).sum::<usize>();
        let shares = match change {
            Change::Execution(_) | Change::Audit(_) => true,
            Change::Binding(own) => {
                let mut hasher = DefaultHasher::new();
                let frame = row.key.get(1).and_then(|cell| cell.value.as_i64());
                (&own.name, frame.unwrap_or(-1)).hash(&mut hasher);
                self.seen.insert(hasher.finish()) && bytes <= GROUP
            }
            _ => false,
        };
        shares.then_some(bytes)
    }

    /// Gives a row the database's ids of executions. An execution that a gate names and that has no row is kept
    /// separately; a frame without a row keeps its id.
    fn frames(&self, row: &mut WrittenRow) -> Vec<Original> {
        let mut lost = Vec::new();
        let (table, cells) = (row.table, row.key.iter_mut().chain(&mut row.columns));
        for cell in cells {
            let Some(id) = cell
                .value
                .as_i64()
                .filter(|_| cell.column.ends_with("execution_id"))
            else {
                continue;
            };
            let own = self.id(id);
            if own.is_none() && table == "gates" {
                lost.push((cell.column, id.to_string().into_bytes()));
            }
            cell.value = own.or((table != "gates").then_some(id)).into();
        }
        lost
    }

    /// Gives a row of `execution` the database's ids, and a status that the table accepts (errata P3).
    fn execution(&mut self, own: &ExecutionRow, row: &mut WrittenRow) -> Vec<Original> {
        let id = self.id(own.id).unwrap_or(own.id);
        let index = own.index.filter(|index| i32::try_from(*index).is_ok());
        let parent = own.parent.and_then(|parent| self.id(parent));
        // A parent is normally written before its children. In an odd run it comes later, so the id of the parent is
        // set after both rows are written.
        let later = parent.filter(|parent| *parent >= id);
        self.late.extend(later.map(|parent| (id, parent)));
        let (word, odd) = in_place(&own.status);
        let mut set = |column: &str, value: Value| {
            if let Some(cell) = row.cell(column) {
                cell.value = value;
            }
        };
        set("statement_index", index.into());
        set("parent_id", parent.filter(|_| later.is_none()).into());
        set("status", word.into());
        set("x_status", odd.into());
        set("x_source_id", own.id.into());
        if own.metadata.is_empty() {
            set("metadata", Value::Null);
        }
        row.key = vec![WrittenCell::own("id", ColumnType::Integer, id)];
        let odd = |value: Option<i64>| value.map(|value| value.to_string().into_bytes());
        some([
            (
                "statement_index",
                odd(own.index.filter(|_| index.is_none())),
            ),
            ("parent_id", odd(own.parent.filter(|_| parent.is_none()))),
        ])
    }
}

/// Replaces what the tables of agents refuse, and returns the originals; `None` for a change of another table.
fn agent(change: &mut Change) -> Option<Vec<Original>> {
    Some(match change {
        Change::Agent(row) => some([
            ("scope", scope(&mut row.scope)),
            ("created_at", time_of(&mut row.created)),
            ("updated_at", time_of(&mut row.updated)),
        ]),
        Change::Memory(row) => some([
            ("memory", nul(&mut row.memory)),
            ("updated_at", time_of(&mut row.at)),
        ]),
        Change::Segment(row) => some([
            ("prompt", nul(&mut row.prompt)),
            ("summary", nul(&mut row.summary)),
            ("timestamp", time_of(&mut row.at)),
        ]),
        _ => return None,
    })
}

/// Applies [`time`] to a time as a text, which is empty if the time is unknown.
fn time_of(value: &mut String) -> Option<Vec<u8>> {
    let mut at = Some(std::mem::take(value));
    let original = time(&mut at);
    *value = at.unwrap_or_default();
    original
}
