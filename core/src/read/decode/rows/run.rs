//! Reads a run's row with its program, and its imports, from the tables `run` and `imports`.

use std::collections::BTreeSet;

use super::execution::malformed;
use super::gates::not_json;
use super::reader::{RowsReader, not_read, whole_characters};
use crate::model::database::{CellAt, Database, DecodeError};
use crate::model::issue::Issue;
use crate::model::schema;
use crate::model::time::Stamp;
use crate::model::{Import, Program, Run, RunStatus, Text};
use crate::program;
use crate::read::decode::fields::{self, Fields as _};
use crate::read::decode::room::bytes_of_program;

/// Maximum bytes of a program; a longer program is cut.
const PROGRAM: usize = 4 << 20;

struct RunRow {
    at: i64,
    id: Option<Text>,
    started: Option<Stamp>,
    path: Option<Text>,
    updated: Option<Stamp>,
    status: Option<Text>,
    state_mode: Option<Text>,
}

/// Returns the index of the row of `run` that describes the run in `folder`. `rows` are the id and the start time of
/// each row.
///
/// The last row whose id is the folder's name is chosen, otherwise the row that started last, if possible a row with an
/// id. A row that another program added without an id, or with a later time, therefore does not hide the run. Readers
/// and writers both use this rule.
pub fn which_run<'a>(
    rows: impl Iterator<Item = (Option<&'a str>, Option<i64>)> + Clone,
    folder: &str,
) -> Option<usize> {
    let named = rows
        .clone()
        .enumerate()
        .filter(|(_, (id, _))| !folder.is_empty() && *id == Some(folder));
    named.last().map(|(at, _)| at).or_else(|| {
        let has_id = |id: Option<&str>| id.is_some_and(|id| !id.trim().is_empty());
        let latest = rows
            .enumerate()
            .max_by_key(|(_, (id, started))| (has_id(*id), *started));
        latest.map(|(at, _)| at)
    })
}

/// A row of the table `run`, which may have rows of several runs.
pub struct RunEntry {
    /// The run's id; `None` if the row has no id.
    pub id: Option<Text>,
    /// When the run started, in milliseconds since 1970 UTC.
    pub started: Option<i64>,
}

/// Returns the runs of a database, in the table's order.
///
/// # Errors
/// If the database cannot be read at all, or contains none of OpenProse's tables.
pub fn runs(db: &dyn Database, name: &str) -> Result<Vec<RunEntry>, DecodeError> {
    let (mut reader, _) = super::begin(db, name)?;
    let mut runs = Vec::new();
    reader.scan(schema::RUN, |cells| {
        runs.push(RunEntry {
            id: cells.text("id"),
            started: cells.stamp("started_at").and_then(|at| at.millis()),
        });
    });
    Ok(runs)
}

/// Fills `run` from the row of the run `wanted`, or from the row that [`which_run`] chooses. Returns the ids of the
/// other runs.
///
/// # Errors
/// If the requested run does not exist.
pub(super) fn read_run(
    reader: &mut RowsReader<'_>,
    run: &mut Run,
    folder: &str,
    wanted: Option<&str>,
) -> Result<BTreeSet<String>, DecodeError> {
    let mut rows: Vec<RunRow> = Vec::new();
    reader.scan(schema::RUN, |cells| {
        rows.push(RunRow {
            at: cells.at,
            id: cells.text("id"),
            path: cells.text("program_path"),
            started: cells.stamp("started_at"),
            updated: cells.stamp("updated_at"),
            status: cells.text("status"),
            state_mode: cells.text("state_mode"),
        });
    });
    let chosen = match wanted {
        Some(id) => rows
            .iter()
            .rposition(|r| r.id.as_deref() == Some(id))
            .ok_or_else(|| DecodeError::NotFound(format!("run {id} in this database")))?,
        None => {
            let millis = |r: &RunRow| r.started.as_ref().and_then(Stamp::millis);
            match which_run(rows.iter().map(|r| (r.id.as_deref(), millis(r))), folder) {
                Some(i) => i,
                None => {
                    no_row(reader);
                    return Ok(BTreeSet::new());
                }
            }
        }
    };
    let others: BTreeSet<String> = rows
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != chosen)
        .filter_map(|(_, r)| r.id.as_deref().map(str::to_owned))
        .collect();
    let count = rows.len();
    if count > 1 {
        let id = rows.get(chosen).and_then(|row| row.id.as_deref());
        let which = match wanted {
            Some(_) => "the requested run",
            None if id == Some(folder) => "the run with the name of the folder",
            None => "the run that started last",
        };
        let message = format!("this database contains {count} runs; {which} is shown");
        let issue = Issue::warning("several-runs", message).at_table(schema::RUN);
        reader.notes.add(issue.hint(
            "Executions and bindings of all runs are shown with this run, because OpenProse's schema does not assign them to a run.",
        ));
    }
    let Some(row) = rows.into_iter().nth(chosen) else {
        return Ok(others);
    };
    run.id = row.id.unwrap_or_else(|| {
        reader.notes.add(
            Issue::warning("unnamed-run", "the row of the table `run` has no id")
                .at_row(schema::RUN, row.at)
                .at_column("id")
                .hint("The run is named after its folder."),
        );
        "".into()
    });
    run.started = row.started;
    run.updated = row.updated;
    run.status = row.status.as_deref().map(RunStatus::parse);
    run.state_mode = row.state_mode;
    run.program = Program {
        path: row.path,
        ..Program::default()
    };
    read_source(reader, &mut run.program, row.at);
    if count > 1 {
        reader.only_run = Some(Text::clone(&run.id));
    }
    Ok(others)
}

fn no_row(reader: &mut RowsReader<'_>) {
    if reader.table(schema::RUN).is_some() {
        reader.notes.add(
            Issue::warning("no-run-row", "the table `run` is empty")
                .at_table(schema::RUN)
                .hint("Program, start and status are not recorded. The rest is shown."),
        );
    }
}

fn read_source(reader: &mut RowsReader<'_>, into: &mut Program, at: i64) {
    let Some(found) = reader.table(schema::RUN) else {
        return;
    };
    let Some(column) = found.column("program_source") else {
        return;
    };
    let cell = CellAt {
        table: &found.info.name,
        column,
        at,
        stored: None,
    };
    let mut bytes = Vec::new();
    let read = reader
        .db
        .pieces(&cell, 0..PROGRAM as u64 + 1, &mut |piece| {
            bytes.extend_from_slice(piece);
            true
        });
    let mut note = |issue: Issue| {
        let issue = issue.at_row(schema::RUN, at);
        reader.notes.add(issue.at_column("program_source"));
    };
    let cut = |message: String| {
        let issue = Issue::warning("long-text", message);
        issue.hint("To see the rest, open the row under files and tables.")
    };
    if bytes.len() > PROGRAM {
        bytes.truncate(PROGRAM);
        let message = "the program is longer than 4 MB; only its beginning is shown";
        note(cut(message.to_owned()));
    }
    if let Err(error) = read {
        let message = format!("the program cannot be read: {error}");
        return note(not_read(&error, message));
    }
    if bytes.is_empty() {
        return;
    }
    let text = String::from_utf8_lossy(whole_characters(&bytes));
    let first = program::first_lines(&text);
    if first.len() < text.len() {
        note(cut(program::cut()));
    }
    reader.held += bytes_of_program(first);
    into.source = Some(first.into());
    into.source_from = Some("run.program_source".into());
}

/// Reads all rows of the table `imports`.
pub(super) fn read_imports(reader: &mut RowsReader<'_>) -> Vec<Import> {
    let mut imports = Vec::new();
    reader.scan(schema::IMPORTS, |cells| {
        let import = fields::import(cells);
        for (text, column) in [
            (&import.inputs_schema, "inputs_schema"),
            (&import.outputs_schema, "outputs_schema"),
        ] {
            if let Some(why) = text.as_deref().and_then(not_json) {
                cells
                    .notes
                    .add(malformed(schema::IMPORTS, cells.at, column, &why));
            }
        }
        imports.push(import);
    });
    imports
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_that_is_named_as_the_folder_is_the_run() {
        for (rows, folder, which) in [
            (&[][..], "r", None),
            (&[(None, None)], "r", Some(0)),
            (&[(Some("r"), Some(1)), (Some("x"), Some(9))], "r", Some(0)),
            (&[(Some("r"), Some(1)), (None, Some(9))], "r", Some(0)),
            (
                &[
                    (Some("r"), None),
                    (Some("R"), Some(9)),
                    (Some("r "), Some(9)),
                ],
                "r",
                Some(0),
            ),
            (&[(Some("r"), Some(1)), (Some("r"), Some(0))], "r", Some(1)),
            // In a folder of another name, such as a copy, the row with an id that started last is chosen.
            (
                &[(Some("r"), Some(9)), (Some("x"), Some(1))],
                "copy",
                Some(0),
            ),
            (
                &[(Some("r"), Some(1)), (Some(""), Some(9)), (None, Some(9))],
                "",
                Some(0),
            ),
        ] {
            assert_eq!(which_run(rows.iter().copied(), folder), which, "{rows:?}");
        }
    }
}
