//! Builds the statements that compare written rows with the intended values before the commit. A column's type or
//! collation, or foreign code, may alter a value. A command must report success only if its data is stored exactly.

use std::collections::HashSet;

use prosescope_core::write::Change;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::agents;
use crate::apply::{self, Check, Step, any};
use crate::of::Of;
use crate::server::{Bound, int, owned, owned_bytes, text};

/// Texts longer than this many bytes are compared by their hash, so that a long text is not sent a second time.
const LONG: usize = 4096;

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

/// A compared row: its key, and the expected values of its columns.
struct Compared<'a> {
    table: &'static str,
    only: Vec<String>,
    columns: Vec<(&'static str, String)>,
    bound: Vec<Bound<'a>>,
}

impl<'a> Compared<'a> {
    fn of(table: &'static str) -> Compared<'a> {
        Compared {
            table,
            only: Vec::new(),
            columns: Vec::new(),
            bound: Vec::new(),
        }
    }

    /// Binds a value; returns the placeholder for the value.
    fn place(&mut self, bound: Bound<'a>) -> String {
        self.bound.push(bound);
        format!("${}", self.bound.len())
    }

    fn key(&mut self, column: &str, bound: Bound<'a>) {
        let place = self.place(bound);
        self.only.push(format!("{column} = {place}"));
    }

    /// Expects a text in a column of any type, compared character by character.
    fn text(&mut self, column: &'static str, value: Option<&str>) {
        let is = match value {
            Some(long) if long.len() > LONG => {
                let place = self.place(owned_bytes(Sha256::digest(long.as_bytes()).to_vec()));
                format!("sha256(convert_to({column}::text, 'UTF8')) = {place}")
            }
            short => {
                let place = self.place(owned(short.map(str::to_owned)));
                format!("{column}::text COLLATE \"C\" IS NOT DISTINCT FROM {place}")
            }
        };
        self.columns.push((column, is));
    }

    fn int(&mut self, column: &'static str, value: Option<i64>) {
        let place = self.place(int(value));
        self.columns.push((
            column,
            format!("{column}::bigint IS NOT DISTINCT FROM {place}"),
        ));
    }

    fn time(&mut self, column: &'static str, value: &str) {
        self.bound.push(owned(value.to_owned()));
        let time = apply::time(self.bound.len());
        self.columns.push((
            column,
            format!("{column}::timestamptz IS NOT DISTINCT FROM {time}"),
        ));
    }

    fn json(&mut self, column: &'static str, value: &str) {
        let place = self.place(owned(value.to_owned()));
        self.columns.push((
            column,
            format!("{column}::jsonb IS NOT DISTINCT FROM {place}::jsonb"),
        ));
    }

    /// Expects a column to contain an object with at least these members.
    fn holds(&mut self, column: &'static str, object: &serde_json::Map<String, Value>) {
        if object.is_empty() {
            return;
        }
        let place = self.place(owned(Value::Object(object.clone()).to_string()));
        self.columns.push((
            column,
            format!("{column}::jsonb = {column}::jsonb || {place}::jsonb"),
        ));
    }

    fn nothing(&mut self, column: &'static str) {
        self.columns.push((column, format!("{column} IS NULL")));
    }

    fn step(self) -> Step<'a> {
        let Compared {
            table,
            only,
            columns,
            bound,
        } = self;
        let (names, same): (Vec<&str>, Vec<String>) = columns.into_iter().unzip();
        let sql = format!(
            "SELECT ARRAY[{}]::bool[] FROM openprose.{table} WHERE {}",
            same.join(", "),
            only.join(" AND ")
        );
        Step {
            check: Some(Check::Row {
                table,
                columns: names,
            }),
            ..any(sql, bound)
        }
    }
}

/// Columns of OpenProse's tables that have a time type.
const TIMES: [&str; 6] = [
    "completed_at",
    "created_at",
    "fetched_at",
    "started_at",
    "timestamp",
    "updated_at",
];

/// Returns the statement that compares the row of a change with the change; `None` for a change without a row, such as
/// an attachment.
pub(crate) fn row<'a>(of: &'a Of, change: &'a Change) -> Option<Step<'a>> {
    let run = of.run().unwrap_or_default();
    let stored = change.stored(run)?;
    let mut row = Compared::of(stored.table);
    match change {
        Change::Run(_) => row.key("id", text(run)),
        Change::Agent(_) | Change::Memory(_) | Change::Segment(_) => {
            let (column, name) = match change {
                Change::Agent(row) => ("name", &row.agent),
                Change::Memory(row) => ("name", &row.agent),
                Change::Segment(row) => ("agent_name", &row.agent),
                _ => return None,
            };
            row.key(column, agents::stored(of, name));
            row.bound.push(of.key());
            row.only.push(agents::whose(of).to_owned());
        }
        _ => row.key("run_id", text(run)),
    }
    let whole = !matches!(change, Change::UpdateExecution(_));
    for (column, value) in stored.key.iter().chain(&stored.columns) {
        let word = value.as_str();
        match (stored.table, *column) {
            // These columns are part of the key, so they need no comparison.
            ("run", "id")
            | ("agents", "name")
            | ("agent_segments", "agent_name")
            | (_, "run_id") => {}
            (_, "id" | "alias" | "name") => {
                let bound = match value.as_i64() {
                    Some(id) => int(id),
                    None => owned(word.map(str::to_owned)),
                };
                row.key(column, bound);
            }
            ("agent_segments", "segment_number") => row.key(column, int(value.as_i64())),
            ("bindings", "execution_id") => {
                let place = row.place(int(value.as_i64().unwrap_or(-1)));
                row.only
                    .push(format!("COALESCE(execution_id, -1) = {place}"));
                row.int(column, value.as_i64());
            }
            // An agent that was registered earlier stays unchanged, so its columns may differ from this change.
            ("agents", _) if matches!(change, Change::Agent(_)) => {}
            // An unknown time leaves the stored time unchanged.
            ("run", "updated_at") if word.is_none() => {}
            ("run", "status") => {
                let (word, odd) = apply::status(word.unwrap_or_default());
                row.text("status", Some(word));
                row.text("x_status", odd);
            }
            ("bindings", "kind") => {
                let (word, odd) = apply::kind(word.unwrap_or_default());
                row.text("kind", Some(word));
                row.text("x_kind", odd);
            }
            ("execution", "status") => {
                row.text(column, word);
                row.nothing("x_status");
            }
            ("execution", "metadata") => {
                let metadata = match value {
                    Value::Null => "{}".to_owned(),
                    metadata => metadata.to_string(),
                };
                row.json(column, &metadata);
            }
            ("gates", "metadata") => {
                let metadata = (!value.is_null()).then(|| value.to_string());
                row.text(column, metadata.as_deref());
            }
            ("imports", "inputs_schema" | "outputs_schema") => match word {
                Some(json) => row.json(column, json),
                None => row.nothing(column),
            },
            (table, column) if TIMES.contains(&column) && !table.starts_with("gate") => {
                row.time(column, word.unwrap_or_default());
            }
            _ => match value {
                Value::Number(n) => row.int(column, n.as_i64()),
                _ => row.text(column, word),
            },
        }
    }
    match change {
        Change::UpdateExecution(update) => row.holds("metadata", &update.metadata),
        Change::ResolveGate(decision) => row.holds("metadata", &decision.metadata),
        // A new gate must be undecided. A default of one of these columns could decide the gate.
        Change::Gate(_) => {
            for column in ["resolved_at", "resolved_by", "resolution_comment"] {
                row.nothing(column);
            }
        }
        Change::Execution(_) if whole => row.nothing("x_source_id"),
        _ => {}
    }
    if row.columns.is_empty() {
        row.columns.push(("name", "true".to_owned()));
    }
    Some(row.step())
}

/// Returns the statement that compares a piece of an attachment.
pub(crate) fn piece<'a>(run: &'a str, path: &'a str, n: i64, bytes: &[u8]) -> Step<'a> {
    let mut row = Compared::of("x_attachments");
    row.key("run_id", text(run));
    row.key("path", text(path));
    row.key("piece", int(n));
    let place = row.place(owned_bytes(Sha256::digest(bytes).to_vec()));
    row.columns
        .push(("bytes", format!("sha256(bytes) = {place}")));
    row.step()
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
