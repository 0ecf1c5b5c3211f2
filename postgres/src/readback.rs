//! Builds the statements that compare written rows with the intended values before the commit. A column's type or
//! collation, or foreign code, may alter a value. A command must report success only if its data is stored exactly.

use std::collections::HashSet;

use prosescope_core::record::Change;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::agents;
use crate::apply::{StepCheck, TransactionStep, any};
use crate::owner::RowOwner;
use crate::server::{Bound, int, owned, owned_bytes, text};
use crate::written_row::WrittenRow;

/// Returns the statement that checks deferred constraints before rows are read back; without such constraints it has no
/// effect.
pub(crate) fn at_once<'a>() -> TransactionStep<'a> {
    any("SET CONSTRAINTS ALL IMMEDIATE", Vec::new())
}

/// Returns the statements that compare each changed row with the last change of this row.
pub(crate) fn of_all<'a>(
    of: &'a RowOwner,
    rows: &'a [(&'a Change, WrittenRow)],
) -> Vec<TransactionStep<'a>> {
    let mut seen = HashSet::new();
    let mut last: Vec<_> = rows.iter().rev().collect();
    last.retain(|(_, row)| seen.insert((row.table, format!("{:?}", row.key))));
    let last = last.into_iter().rev();
    last.map(|(change, row)| self::row(of, change, row))
        .collect()
}

/// Returns the statement that compares the stored row with the row of a change.
pub(crate) fn row<'a>(
    of: &'a RowOwner,
    change: &'a Change,
    row: &'a WrittenRow,
) -> TransactionStep<'a> {
    let mut bound = Vec::new();
    let (agent, metadata) = match change {
        Change::Agent(own) => (Some(&own.agent), None),
        Change::Memory(own) => (Some(&own.agent), None),
        Change::Segment(own) => (Some(&own.agent), None),
        Change::UpdateExecution(own) => (None, Some(&own.metadata)),
        Change::ResolveGate(own) => (None, Some(&own.metadata)),
        _ => (None, None),
    };
    let only = match (agent, row.key.split_first()) {
        // The name under which an agent is stored tells whose it is.
        (Some(name), Some((first, rest))) => {
            bound.extend([agents::stored(of, name), of.key()]);
            let mut only = format!("{} = $1 AND {}", first.column, agents::whose(of));
            for cell in rest {
                only += &format!(" AND {}", cell.same(&mut bound));
            }
            only
        }
        _ => row.only(of.run().unwrap_or_default(), &mut bound),
    };
    let is_compared = |column| match change {
        // An agent that was registered earlier stays unchanged, so its columns may differ from this change.
        Change::Agent(_) => false,
        _ => column != "run_id",
    };
    // The frame of a root's binding is compared, too: its row may have -1 instead of NULL.
    let frame = row.key.iter().filter(|cell| cell.column == "execution_id");
    let cells = frame.chain(&row.columns);
    let cells = cells.filter(|cell| is_compared(cell.column));
    let mut columns: Vec<_> = cells
        .map(|cell| (cell.column, cell.same(&mut bound)))
        .collect();
    // The metadata contains at least the keys that were set.
    if let Some(object) = metadata.filter(|object| !object.is_empty()) {
        bound.push(owned(Value::Object(object.clone()).to_string()));
        let n = bound.len();
        let same = format!("metadata::jsonb = metadata::jsonb || ${n}::jsonb");
        columns.push(("metadata", same));
    }
    if columns.is_empty() {
        columns.push(("name", "true".to_owned()));
    }
    compared(row.table, columns, &only, bound)
}

fn compared<'a>(
    table: &'static str,
    columns: Vec<(&'static str, String)>,
    only: &str,
    bound: Vec<Bound<'a>>,
) -> TransactionStep<'a> {
    let (columns, same): (Vec<_>, Vec<String>) = columns.into_iter().unzip();
    let same = same.join(", ");
    TransactionStep {
        check: Some(StepCheck::Row { table, columns }),
        ..any(
            format!("SELECT ARRAY[{same}]::bool[] FROM openprose.{table} WHERE {only}"),
            bound,
        )
    }
}

/// Returns the statement that compares a piece of an attachment.
pub(crate) fn piece<'a>(run: &'a str, path: &'a str, n: i64, bytes: &[u8]) -> TransactionStep<'a> {
    let bound = vec![
        text(run),
        text(path),
        int(n),
        owned_bytes(Sha256::digest(bytes).to_vec()),
    ];
    let same = vec![("bytes", "sha256(bytes) = $4".to_owned())];
    let only = "run_id = $1 AND path = $2 AND piece = $3";
    compared("x_attachments", same, only, bound)
}

#[cfg(test)]
mod tests {
    use prosescope_core::record::{BindingRow, RunChange};

    use super::*;
    use crate::written_row::rows_of;

    #[test]
    fn of_several_changes_of_a_row_the_last_is_compared() {
        let of = RowOwner::Run("r".to_owned());
        let binding = |value: &str| {
            Change::Binding(BindingRow {
                name: "a".to_owned(),
                value: value.to_owned(),
                kind: "let".to_owned(),
                ..BindingRow::default()
            })
        };
        let run = || {
            Change::Run(RunChange {
                status: None,
                updated: "2026-01-01 00:00:00".to_owned(),
            })
        };
        let changes = [run(), binding("1"), binding("2"), run()];
        let rows = rows_of("r", &changes);
        let steps = of_all(&of, &rows);
        let tables: Vec<&str> = steps
            .iter()
            .filter_map(|step| match &step.check {
                Some(StepCheck::Row { table, .. }) => Some(*table),
                _ => None,
            })
            .collect();
        assert_eq!(tables, ["bindings", "run"]);
    }
}
