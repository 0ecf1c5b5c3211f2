//! Compares written rows with the intended values before the COMMIT. The tables may belong to another program, with
//! triggers, rules and defaults that run for Prosescope's rows too. Such code is allowed, unless it changes one of
//! these rows.
//!
//! Each writing statement stores a digest of its values in a setting of the transaction. At the end, each row is
//! compared with its digest, so no value is sent a second time. Before the digest, values are converted to the columns'
//! types: a time in a column of whole seconds may be rounded. `updated_at` is not compared, because triggers that set
//! this column are common.

use prosescope_core::record::WriteError;
use prosescope_workflow::{
    RowChange, SqlDialect, SqlValue, TableShape, WorkflowColumn, WorkflowTable,
};

use super::discover::Postgres;
use crate::cell::get;
use crate::server::{Lost, PgClient, owned};

/// Runs deferred constraints and triggers before rows are compared.
pub(super) const CHECK_NOW: &str = "SET CONSTRAINTS ALL IMMEDIATE";

/// Finds code of other programs that runs when a row is written. Triggers named `x_workflow…` are Prosescope's own and
/// are left out.
const FOREIGN: &str = "
    SELECT 'the trigger ' || tgname FROM pg_trigger
    WHERE tgrelid = $1::text::regclass AND NOT tgisinternal AND tgenabled <> 'D' AND NOT starts_with(tgname::text, 'x_workflow')
    UNION ALL
    SELECT 'the rule ' || rulename FROM pg_rewrite
    WHERE ev_class = $1::text::regclass AND ev_enabled <> 'D' AND rulename <> '_RETURN'
    ORDER BY 1 LIMIT 5";

/// A change with the data for comparing its row.
pub(super) struct ComparedChange<'a> {
    change: &'a RowChange,
    pub(super) table: &'a TableShape,
    /// The index of the change, which is part of the names of its settings, such as `prose.row_3`.
    n: usize,
    /// The columns that no later change of the command writes: the position in the writing statement, the column and
    /// the value.
    columns: Vec<(usize, &'a WorkflowColumn, &'a SqlValue)>,
}

/// Returns the data for comparing each change.
pub(super) fn of_all<'a>(
    changes: &'a [RowChange],
    table_of: impl Fn(WorkflowTable) -> Option<&'a TableShape>,
) -> Vec<ComparedChange<'a>> {
    let compared = changes.iter().enumerate().filter_map(|(n, change)| {
        let table = table_of(change.table)?;
        let later = changes.get(n + 1..).unwrap_or_default();
        let is_last = |name: &str| {
            !later.iter().any(|other| {
                other.table == change.table
                    && key(other).is_some()
                    && key(other) == key(change)
                    && other.values.iter().any(|(written, _)| *written == name)
            })
        };
        let known = change.values.iter();
        let known = known.filter_map(|(name, value)| Some((table.column(name)?, value)));
        let columns = (1..)
            .zip(known)
            .map(|(place, (column, value))| (place, column, value));
        let columns =
            columns.filter(|(_, column, _)| column.name != "updated_at" && is_last(&column.name));
        Some(ComparedChange {
            change,
            table,
            n,
            columns: columns.collect(),
        })
    });
    compared.collect()
}

/// Returns the id of the changed row; `None` for a new event, whose id the database assigns.
fn key(change: &RowChange) -> Option<SqlValue> {
    let id = change.values.iter().find(|(name, _)| *name == "id");
    let row = change.row.clone().map(SqlValue::Text);
    row.or_else(|| id.map(|(_, id)| id.clone()))
}

impl ComparedChange<'_> {
    /// Returns SQL for additional result columns of the writing statement. They store the row's digest, and the id of a
    /// new event, in settings of the transaction.
    pub(super) fn leave(&self) -> String {
        let texts = self.columns.iter().map(|(place, column, value)| {
            match (value, column.of.as_str()) {
                // A text is not cast to the column's type. A cast to a type such as `name` would cut the text as the
                // column does, and hide the loss.
                (SqlValue::Text(_) | SqlValue::Word(_), of) if of != "uuid" => {
                    format!("${place}::text")
                }
                _ => format!("({})::text", Postgres.place(*place, column)),
            }
        });
        let id = if is_new_event(self.change) {
            format!(", set_config('prose.id_{}', min(id), true)", self.n)
        } else {
            String::new()
        };
        format!(
            ", set_config('prose.row_{}', {}, true){id}",
            self.n,
            digest(texts)
        )
    }

    /// Returns the statement that fails unless the stored row has the digest of the written values.
    pub(super) fn look(&self) -> Option<(String, Vec<SqlValue>)> {
        let by = self.table.column("id")?;
        let (place, values) = if is_new_event(self.change) {
            (
                format!("current_setting('prose.id_{}')::{}", self.n, by.of),
                Vec::new(),
            )
        } else {
            let id = key(self.change)?;
            (Postgres.place(1, by), vec![Postgres.value(&id, by)])
        };
        let texts = self
            .columns
            .iter()
            .map(|(_, column, _)| Postgres.read(column));
        let sql = format!(
            "SELECT 1 / (count(*) = 1)::int FROM {} WHERE \"id\" = {place} AND {} = current_setting('prose.row_{}')",
            self.table.name,
            digest(texts),
            self.n
        );
        Some((sql, values))
    }
}

/// Returns whether a change adds an event, whose id the database assigns.
pub(super) fn is_new_event(change: &RowChange) -> bool {
    change.table == WorkflowTable::Events && change.row.is_none()
}

/// Returns the refusal of a command whose stored row differs from the written row. The transaction must have ended.
pub(super) fn otherwise(server: &PgClient, table: &TableShape) -> WriteError {
    let address = server.address();
    let named = || {
        let rows = server.ask(FOREIGN, &[owned(table.name.clone())])?;
        let names = rows.iter().map(|row| get::<String>(row, 0));
        Ok::<_, Lost>(names.collect::<Result<Vec<String>, _>>()?)
    };
    let on_it = match named() {
        Ok(names) if names.is_empty() => String::new(),
        Ok(names) => format!("; on the table: {}", names.join(", ")),
        Err(_) => {
            "; the triggers and rules of other programs on the table cannot be looked up".to_owned()
        }
    };
    WriteError::refused(
        "written-otherwise",
        format!(
            "{address} was not written: a row of {} does not read back as it was written{on_it}",
            table.name
        ),
        "nothing was recorded; change the trigger or rule so that rows of other programs stay as they were written, or record with the program that owns the tables",
    )
}

/// Returns the digest of some texts, each of which may be NULL.
fn digest(texts: impl Iterator<Item = String>) -> String {
    let each = texts
        .map(|text| format!("coalesce(encode(sha256(convert_to({text}, 'UTF8')), 'hex'), '-')"));
    let each: Vec<String> = std::iter::once("' '".to_owned()).chain(each).collect();
    format!("concat({})", each.join(", "))
}
