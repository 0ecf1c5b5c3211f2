//! Groups the changes of an import into statements, in the original order. Consecutive bindings or executions share a
//! statement; each other change gets its own.
//!
//! A statement for many rows passes each column as an array. COPY would be as fast, but the library prepares it by
//! name, which a pooler may refuse, and a table with row security refuses it.

use prosescope_core::write::{BindingRow, Change};

use super::original::{Refused, in_place};
use crate::apply::{self, Check, Step, any};
use crate::readback;
use crate::server::{Bound, int, ints, text, texts};

/// Size limit for the rows of one statement, in bytes: the server keeps arrays below `work_mem` in memory.
pub(super) const GROUP: usize = 1 << 20;

/// Estimated size of a row without its texts, in bytes.
const ROW: usize = 100;

/// A change in the form that PostgreSQL accepts, and the refused values that are kept separately.
pub(super) struct Planned {
    pub(super) change: Row,
    pub(super) refused: Option<Refused>,
}

/// A change, by the kind of statement that writes it.
pub(super) enum Row {
    /// A binding, written in one statement with other bindings.
    Binding(BindingRow),
    /// An execution, written in one statement with other executions.
    Execution(Executed),
    /// Any other change, written in a statement of its own.
    Other(Change),
}

/// A row of `execution` with the database's ids.
pub(super) struct Executed {
    pub(super) id: i64,
    pub(super) source: i64,
    pub(super) index: Option<i64>,
    pub(super) text: String,
    pub(super) status: String,
    pub(super) started: Option<String>,
    pub(super) completed: Option<String>,
    pub(super) error: Option<String>,
    pub(super) parent: Option<i64>,
    pub(super) metadata: Option<String>,
}

/// The rows of a statement that is not complete yet.
#[derive(Default)]
pub(super) struct Open<'a> {
    bindings: Vec<&'a BindingRow>,
    executions: Vec<&'a Executed>,
    bytes: usize,
    /// The statements to send after the statement of these rows.
    then: Vec<Step<'a>>,
}

impl<'a> Open<'a> {
    /// Adds a change; returns the statements that became complete by this change.
    pub(super) fn add(&mut self, of: &'a crate::of::Of, planned: &'a Planned) -> Vec<Step<'a>> {
        let run = of.run().unwrap_or_default();
        let (bytes, is_binding) = match &planned.change {
            Row::Binding(row) => (row.value.len() + row.name.len() + ROW, true),
            Row::Execution(row) => {
                let metadata = row.metadata.as_ref().map_or(0, String::len);
                (row.text.len() + metadata + ROW, false)
            }
            Row::Other(_) => (GROUP, false),
        };
        let other = match is_binding {
            true => !self.executions.is_empty(),
            false => !self.bindings.is_empty(),
        };
        let mut steps = match other || self.bytes + bytes > GROUP {
            true => self.close(run),
            false => Vec::new(),
        };
        let kept = planned
            .refused
            .iter()
            .flat_map(|refused| refused.steps(run));
        match &planned.change {
            Row::Binding(row) => self.bindings.push(row),
            Row::Execution(row) => self.executions.push(row),
            Row::Other(change) => {
                steps.extend(apply::steps(of, change));
                steps.extend(readback::row(of, change));
                steps.extend(kept);
                return steps;
            }
        }
        self.bytes += bytes;
        self.then.extend(kept);
        steps
    }

    /// Returns the statements for the rows that were added since the last statement.
    pub(super) fn close(&mut self, run: &'a str) -> Vec<Step<'a>> {
        let open = std::mem::take(self);
        let mut steps = Vec::new();
        steps.extend(bindings(run, &open.bindings));
        steps.extend(executions(run, &open.executions));
        steps.extend(open.then);
        steps
    }
}

fn bindings<'a>(run: &'a str, rows: &[&'a BindingRow]) -> Option<Step<'a>> {
    let sql = "WITH new AS (
             SELECT name, execution_id, kind, x_kind, value, source, attachment, around,
                    nullif(created, '')::timestamp AT TIME ZONE 'UTC' AS created, nullif(at, '')::timestamp AT TIME ZONE 'UTC' AS at
             FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
                  AS new(name, execution_id, kind, x_kind, value, source, created, at, attachment, around)
         ), put AS (
             INSERT INTO openprose.bindings (run_id, name, execution_id, kind, x_kind, value, source_statement, created_at,
                                             updated_at, attachment_path, x_parent_execution_id)
             SELECT $1, name, execution_id, kind, x_kind, value, source, created, at, attachment, around FROM new
             RETURNING *
         )
         SELECT ARRAY[count(*) = $12, bool_and(put.run_id::text = $1),
                      bool_and(put.kind::text IS NOT DISTINCT FROM new.kind AND put.x_kind::text IS NOT DISTINCT FROM new.x_kind),
                      bool_and(put.value::text COLLATE \"C\" IS NOT DISTINCT FROM new.value),
                      bool_and(put.source_statement::text COLLATE \"C\" IS NOT DISTINCT FROM new.source),
                      bool_and(put.created_at::timestamptz IS NOT DISTINCT FROM new.created),
                      bool_and(put.updated_at::timestamptz IS NOT DISTINCT FROM new.at),
                      bool_and(put.attachment_path::text COLLATE \"C\" IS NOT DISTINCT FROM new.attachment)]
         FROM put JOIN new ON new.name = put.name::text COLLATE \"C\" AND new.execution_id IS NOT DISTINCT FROM put.execution_id";
    let kinds = rows.iter().map(|row| apply::kind(&row.kind));
    let (kinds, odd): (Vec<_>, Vec<_>) = kinds.unzip();
    let each = |of: fn(&'a BindingRow) -> Option<&'a str>| texts(rows.iter().map(|row| of(row)));
    let bound = vec![
        text(run),
        each(|row| Some(&row.name)),
        ints(rows.iter().map(|row| row.execution_id)),
        texts(kinds.into_iter().map(Some)),
        texts(odd),
        each(|row| Some(&row.value)),
        each(|row| row.source.as_deref()),
        each(|row| row.created.as_deref()),
        each(|row| Some(&row.at)),
        each(|row| row.attachment.as_deref()),
        ints(rows.iter().map(|row| row.parent_execution_id)),
        int(i64::try_from(rows.len()).unwrap_or(i64::MAX)),
    ];
    let columns = vec![
        "name",
        "run_id",
        "kind",
        "value",
        "source_statement",
        "created_at",
        "updated_at",
        "attachment_path",
    ];
    (!rows.is_empty()).then(|| compared("bindings", columns, sql, bound))
}

fn executions<'a>(run: &'a str, rows: &[&'a Executed]) -> Option<Step<'a>> {
    let sql = "WITH new AS (
             SELECT id, source, line, text, status, x_status, started::timestamp AT TIME ZONE 'UTC' AS started,
                    completed::timestamp AT TIME ZONE 'UTC' AS completed, error, parent, metadata::jsonb AS metadata
             FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
                  AS new(id, source, line, text, status, x_status, started, completed, error, parent, metadata)
         ), put AS (
             INSERT INTO openprose.execution (run_id, id, x_source_id, statement_index, statement_text, status, x_status,
                                              started_at, completed_at, error_message, parent_id, metadata)
             SELECT $1, id, source, line, text, status, x_status, started, completed, error, parent, metadata FROM new
             RETURNING *
         )
         SELECT ARRAY[count(*) = $13, bool_and(put.run_id::text = $1),
                      bool_and(put.x_source_id = new.source), bool_and(put.statement_index IS NOT DISTINCT FROM new.line),
                      bool_and(put.statement_text::text COLLATE \"C\" IS NOT DISTINCT FROM new.text),
                      bool_and(put.status::text = new.status AND put.x_status::text IS NOT DISTINCT FROM new.x_status),
                      bool_and(put.started_at::timestamptz IS NOT DISTINCT FROM new.started),
                      bool_and(put.completed_at::timestamptz IS NOT DISTINCT FROM new.completed),
                      bool_and(put.error_message::text COLLATE \"C\" IS NOT DISTINCT FROM new.error),
                      bool_and(put.parent_id IS NOT DISTINCT FROM new.parent),
                      bool_and(put.metadata::jsonb IS NOT DISTINCT FROM new.metadata)]
         FROM put JOIN new ON new.id = put.id";
    let words = rows.iter().map(|row| in_place(&row.status));
    let (words, odd): (Vec<_>, Vec<_>) = words.unzip();
    let each = |of: fn(&'a Executed) -> Option<&'a str>| texts(rows.iter().map(|row| of(row)));
    let bound = vec![
        text(run),
        ints(rows.iter().map(|row| Some(row.id))),
        ints(rows.iter().map(|row| Some(row.source))),
        ints(rows.iter().map(|row| row.index)),
        each(|row| Some(&row.text)),
        texts(words.into_iter().map(Some)),
        texts(odd),
        each(|row| row.started.as_deref()),
        each(|row| row.completed.as_deref()),
        each(|row| row.error.as_deref()),
        ints(rows.iter().map(|row| row.parent)),
        each(|row| row.metadata.as_deref()),
        int(i64::try_from(rows.len()).unwrap_or(i64::MAX)),
    ];
    let columns = vec![
        "id",
        "run_id",
        "x_source_id",
        "statement_index",
        "statement_text",
        "status",
        "started_at",
        "completed_at",
        "error_message",
        "parent_id",
        "metadata",
    ];
    (!rows.is_empty()).then(|| compared("execution", columns, sql, bound))
}

/// Returns a statement that writes many rows and compares the stored rows with the intended values.
fn compared<'a>(
    table: &'static str,
    columns: Vec<&'static str>,
    sql: &str,
    bound: Vec<Bound<'a>>,
) -> Step<'a> {
    Step {
        check: Some(Check::Row { table, columns }),
        ..any(sql, bound)
    }
}
