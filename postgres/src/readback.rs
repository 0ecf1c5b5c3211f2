//! Builds the statements that compare written rows with the intended values before the commit. A column's type or
//! collation, or foreign code, may alter a value. A command must report success only if its data is stored exactly.

use std::collections::HashSet;

use prosescope_core::write::Change;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::agents;
use crate::apply::{Check, Step, any};
use crate::of::Of;
use crate::row::Row;
use crate::server::{Bound, int, owned, owned_bytes, text};

/// Returns the statement that checks deferred constraints before rows are read back; without such constraints it has no
/// effect.
pub(crate) fn at_once<'a>() -> Step<'a> {
    any("SET CONSTRAINTS ALL IMMEDIATE", Vec::new())
}

/// Returns the statements that compare each changed row with the last change of this row.
pub(crate) fn of_all<'a>(of: &'a Of, changes: &'a [Change]) -> Vec<Step<'a>> {
    let run = of.run().unwrap_or_default();
    let mut seen = HashSet::new();
    let mut last: Vec<&Change> = changes.iter().rev().collect();
    last.retain(|change| match change.stored(run) {
        // The first two columns of the key identify a row. The key of a gate's decision has more columns than the key
        // of the change that created the gate.
        Some(row) => seen.insert((
            row.table,
            format!("{:?}", row.key.iter().take(2).collect::<Vec<_>>()),
        )),
        None => false,
    });
    last.iter()
        .rev()
        .filter_map(|change| row(of, change))
        .collect()
}

/// Returns the statement that compares a row with a change; `None` for a change without a row, such as an attachment.
pub(crate) fn row<'a>(of: &'a Of, change: &'a Change) -> Option<Step<'a>> {
    let row = Row::of(of.run().unwrap_or_default(), change)?;
    Some(of_row(of, change, row))
}

/// Returns the statement that compares the row of a change.
pub(crate) fn of_row<'a>(of: &'a Of, change: &'a Change, mut row: Row) -> Step<'a> {
    let mut bound = Vec::new();
    let agent = match change {
        Change::Agent(own) => Some(&own.agent),
        Change::Memory(own) => Some(&own.agent),
        Change::Segment(own) => Some(&own.agent),
        _ => None,
    };
    let only = match agent {
        Some(name) => {
            bound.extend([agents::stored(of, name), of.key()]);
            let mut only = String::new();
            for (nth, cell) in row.key.drain(..).enumerate() {
                only += &match nth {
                    0 => format!("{} = $1 AND {}", cell.column, agents::whose(of)),
                    _ => format!(" AND {}", cell.same(&mut bound)),
                };
            }
            only
        }
        None => row.only(of.run().unwrap_or_default(), &mut bound),
    };
    // An agent that was registered earlier stays unchanged, so its columns may differ from this change.
    if matches!(change, Change::Agent(_)) {
        row.columns.clear();
    }
    // The frame of a root's binding is compared, too: its row may have -1 instead of NULL.
    let frame = row.key.iter().filter(|cell| cell.column == "execution_id");
    let cells = frame.chain(&row.columns);
    let cells = cells.filter(|cell| cell.column != "run_id");
    let mut columns: Vec<(&'static str, String)> = cells
        .map(|cell| (cell.column, cell.same(&mut bound)))
        .collect();
    let kept = match change {
        Change::UpdateExecution(update) => Some(&update.metadata),
        Change::ResolveGate(decision) => Some(&decision.metadata),
        _ => None,
    };
    // The metadata contains at least the keys that were set.
    if let Some(object) = kept.filter(|object| !object.is_empty()) {
        bound.push(owned(Value::Object(object.clone()).to_string()));
        let same = format!(
            "metadata::jsonb = metadata::jsonb || ${}::jsonb",
            bound.len()
        );
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
) -> Step<'a> {
    let (columns, same): (Vec<_>, Vec<String>) = columns.into_iter().unzip();
    let same = same.join(", ");
    Step {
        check: Some(Check::Row { table, columns }),
        ..any(
            format!("SELECT ARRAY[{same}]::bool[] FROM openprose.{table} WHERE {only}"),
            bound,
        )
    }
}

/// Returns the statement that compares a piece of an attachment.
pub(crate) fn piece<'a>(run: &'a str, path: &'a str, n: i64, bytes: &[u8]) -> Step<'a> {
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
    use prosescope_core::write::{BindingRow, RunChange};

    use super::*;

    #[test]
    fn of_several_changes_of_a_row_the_last_is_compared() {
        let of = Of::Run("r".to_owned());
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
        let steps = of_all(&of, &changes);
        let tables: Vec<&str> = steps
            .iter()
            .filter_map(|step| match &step.check {
                Some(Check::Row { table, .. }) => Some(*table),
                _ => None,
            })
            .collect();
        assert_eq!(tables, ["bindings", "run"]);
    }
}
