//! What was written is read back before the COMMIT. The tables may be another program's, with triggers, rules and defaults of its
//! own, which run as they do for that program: a database is refused for what they do to a row of ours, not for being there.
//!
//! A statement that writes leaves a digest of its values, as the columns' types read them, in a setting of the transaction; once all
//! is written, the rows are compared with it. So a value travels once, and a time in a column of whole seconds is what the column
//! can hold. `updated_at` is not compared: triggers that keep it are usual.

use prosescope_core::write::WriteError;
use prosescope_workflow::{Change, Column, Dialect, Table, TableShape, Value};

use super::discover::Postgres;
use crate::rows::get;
use crate::server::{Lost, Server, owned};

/// Constraints and triggers that wait for the commit run before rows are compared.
pub(super) const AT_ONCE: &str = "SET CONSTRAINTS ALL IMMEDIATE";

/// What other programs put on a table that runs when a row is written. Triggers whose names begin so are ours.
const FOREIGN: &str = "
    SELECT 'the trigger ' || tgname FROM pg_trigger
    WHERE tgrelid = $1::text::regclass AND NOT tgisinternal AND tgenabled <> 'D' AND NOT starts_with(tgname::text, 'x_workflow')
    UNION ALL
    SELECT 'the rule ' || rulename FROM pg_rewrite
    WHERE ev_class = $1::text::regclass AND ev_enabled <> 'D' AND rulename <> '_RETURN'
    ORDER BY 1 LIMIT 5";

/// A change, and what its row is compared by.
pub(super) struct Compared<'a> {
    change: &'a Change,
    pub(super) table: &'a TableShape,
    /// Its place among the changes, which names its settings.
    n: usize,
    /// Columns that no later change writes: their places in the statement that writes, and what is written.
    columns: Vec<(usize, &'a Column, &'a Value)>,
}

/// What each change is compared by.
pub(super) fn of_all<'a>(
    changes: &'a [Change],
    table_of: impl Fn(Table) -> Option<&'a TableShape>,
) -> Vec<Compared<'a>> {
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
        Some(Compared {
            change,
            table,
            n,
            columns: columns.collect(),
        })
    });
    compared.collect()
}

/// The id of a row that the change names; an event gets its id from the database.
fn key(change: &Change) -> Option<Value> {
    let id = change.values.iter().find(|(name, _)| *name == "id");
    let row = change.row.clone().map(Value::Text);
    row.or_else(|| id.map(|(_, id)| id.clone()))
}

impl Compared<'_> {
    /// What the statement that writes answers beside what it did: it leaves the digest, and the id of an event.
    pub(super) fn leave(&self) -> String {
        let texts = self.columns.iter().map(|(place, column, value)| {
            match (value, column.of.as_str()) {
                // A cast to a type such as `name` would cut it as the column does.
                (Value::Text(_) | Value::Word(_), of) if of != "uuid" => format!("${place}::text"),
                _ => format!("({})::text", Postgres.place(*place, column)),
            }
        });
        let id = match is_new_event(self.change) {
            true => format!(", set_config('prose.id_{}', min(id), true)", self.n),
            false => String::new(),
        };
        format!(
            ", set_config('prose.row_{}', {}, true){id}",
            self.n,
            digest(texts)
        )
    }

    /// The statement that fails unless the row is as it was written.
    pub(super) fn look(&self) -> Option<(String, Vec<Value>)> {
        let by = self.table.column("id")?;
        let (place, values) = match is_new_event(self.change) {
            true => (
                format!("current_setting('prose.id_{}')::{}", self.n, by.of),
                Vec::new(),
            ),
            false => {
                let id = key(self.change)?;
                (Postgres.place(1, by), vec![Postgres.value(&id, by)])
            }
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

/// Whether a change adds an event, which the database gives an id.
pub(super) fn is_new_event(change: &Change) -> bool {
    change.table == Table::Events && change.row.is_none()
}

/// The refusal of a row that reads otherwise than it was written; its transaction is over.
pub(super) fn otherwise(server: &Server, table: &TableShape) -> WriteError {
    let address = server.address();
    let named = || {
        let rows = server.ask(FOREIGN, &[owned(table.name.clone())])?;
        let names = rows.iter().map(|row| get::<String>(row, 0));
        Ok::<_, Lost>(names.collect::<Result<Vec<String>, _>>()?)
    };
    let on_it = match named() {
        Ok(names) if names.is_empty() => String::new(),
        Ok(names) => format!("; on the table: {}", names.join(", ")),
        Err(_) => "; what other programs put on the table cannot be looked up".to_owned(),
    };
    WriteError::refused(
        "written-otherwise",
        format!(
            "{address} was not written: a row of {} reads otherwise than it was written{on_it}",
            table.name
        ),
        "nothing was recorded; have what changes the row leave alone what others write, or record with the program that the tables belong to",
    )
}

/// A digest of some texts, each of which may be NULL.
fn digest(texts: impl Iterator<Item = String>) -> String {
    let each = texts
        .map(|text| format!("coalesce(encode(sha256(convert_to({text}, 'UTF8')), 'hex'), '-')"));
    let each: Vec<String> = std::iter::once("' '".to_owned()).chain(each).collect();
    format!("concat({})", each.join(", "))
}
