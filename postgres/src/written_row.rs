//! The row that a change writes, with the values that PostgreSQL stores, and the SQL that writes it and compares it.
//!
//! The columns and their types are those of [`prosescope_core::model::schema::TABLES`].

use std::borrow::Cow;

use prosescope_core::model::database::ColumnType;
use prosescope_core::model::schema::table_spec;
use prosescope_core::record::Change;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::server::{Bound, int, ints, owned, owned_bytes, text, texts};

/// Texts longer than this many bytes are compared by their hash, so that a long text is not sent a second time.
const LONG: usize = 4096;

/// A column with its new value.
#[derive(Debug, Clone)]
pub(crate) struct WrittenCell {
    pub(crate) column: &'static str,
    pub(crate) kind: ColumnType,
    pub(crate) value: Value,
}

/// A row that a change writes; see [`prosescope_core::model::change::ChangeRow`].
#[derive(Debug, Clone)]
pub(crate) struct WrittenRow {
    pub(crate) table: &'static str,
    pub(crate) key: Vec<WrittenCell>,
    pub(crate) columns: Vec<WrittenCell>,
    pub(crate) first: Vec<WrittenCell>,
}

/// The words that the column `run.status` accepts.
const STATUSES: [&str; 4] = ["running", "completed", "failed", "interrupted"];

/// The words that the column `bindings.kind` accepts.
const KINDS: [&str; 4] = ["input", "output", "let", "const"];

/// An SQL expression for the column `metadata` as an object to which keys can be added, even if the column is NULL
/// (errata X12). A value that is not an object is kept under the key `x_malformed`.
const OBJECT: &str = "CASE WHEN jsonb_typeof(metadata) = 'object' THEN metadata
                           WHEN metadata IS NULL THEN '{}'::jsonb
                           ELSE jsonb_build_object('x_malformed', metadata) END";

/// The same for the metadata of a gate, which is a text.
const GATE_OBJECT: &str = "COALESCE(nullif(metadata, ''), '{}')::jsonb";

impl WrittenCell {
    /// Returns a column with a value, of a kind that the caller knows.
    pub(crate) fn own(
        column: &'static str,
        kind: ColumnType,
        value: impl Into<Value>,
    ) -> WrittenCell {
        let value = value.into();
        WrittenCell {
            column,
            kind,
            value,
        }
    }

    /// Returns the column's name, so that a word of SQL such as `timestamp` is a name, too.
    fn quoted(&self) -> String {
        format!("\"{}\"", self.column)
    }

    /// Returns the value as a text, or NULL.
    fn text(&self) -> Option<Cow<'_, str>> {
        match &self.value {
            Value::Null => None,
            Value::String(text) => Some(text.into()),
            other => Some(other.to_string().into()),
        }
    }

    /// Binds the value; returns the SQL expression for it.
    pub(crate) fn place<'a>(&'a self, bound: &mut Vec<Bound<'a>>) -> String {
        bound.push(match (self.kind, &self.value) {
            (ColumnType::Integer, value) => int(value.as_i64()),
            (_, Value::String(long)) => text(long.as_str()),
            _ => owned(self.text().map(Cow::into_owned)),
        });
        of_kind(self.kind, &format!("${}", bound.len()))
    }

    /// Binds the value; returns the condition that the stored value is the same. A text is compared character by
    /// character, whatever the column's type.
    pub(crate) fn same<'a>(&'a self, bound: &mut Vec<Bound<'a>>) -> String {
        match self.text().filter(|text| text.len() > LONG) {
            Some(long) if self.kind == ColumnType::Text => {
                bound.push(owned_bytes(Sha256::digest(long.as_bytes()).to_vec()));
                let (column, n) = (self.column, bound.len());
                format!("sha256(convert_to({column}::text, 'UTF8')) = ${n}")
            }
            _ => {
                let place = self.place(bound);
                stored_as(self.kind, self.column, &place)
            }
        }
    }
}

/// Returns the SQL expression that converts a bound value into a value of a column. A time is a text in UTC; an empty
/// one becomes NULL.
fn of_kind(kind: ColumnType, value: &str) -> String {
    match kind {
        ColumnType::Text | ColumnType::Integer => value.to_owned(),
        ColumnType::Time => format!("(nullif({value}, '')::timestamp AT TIME ZONE 'UTC')"),
        ColumnType::Json => format!("{value}::jsonb"),
    }
}

/// Returns the SQL expression that converts the text bound to `$n` into a time; an empty text becomes NULL.
pub(crate) fn time(n: usize) -> String {
    of_kind(ColumnType::Time, &format!("${n}"))
}

/// Returns the condition that a column of a kind stores a value.
fn stored_as(kind: ColumnType, column: &str, value: &str) -> String {
    let cast = match kind {
        ColumnType::Text => "text COLLATE \"C\"",
        ColumnType::Integer => "bigint",
        ColumnType::Time => "timestamptz",
        ColumnType::Json => "jsonb",
    };
    format!("{column}::{cast} IS NOT DISTINCT FROM {value}")
}

impl WrittenRow {
    /// Returns the row that a change writes in a run; `None` for an attachment.
    pub(crate) fn of(run: &str, change: &Change) -> Option<WrittenRow> {
        let stored = change.stored(run)?;
        let spec = table_spec(stored.table)?;
        let cell = |(column, value)| WrittenCell {
            column,
            kind: spec.kind(column),
            value,
        };
        let cells = |columns: Vec<(&'static str, Value)>| columns.into_iter().map(cell).collect();
        let mut row = WrittenRow {
            table: stored.table,
            key: cells(stored.key),
            columns: cells(stored.columns),
            first: cells(stored.first),
        };
        match change {
            // An unknown time leaves the stored time unchanged.
            Change::Run(_) => {
                row.first.clear();
                row.columns.retain(|cell| !cell.value.is_null());
                row.accept("status", &STATUSES, "interrupted", "x_status");
            }
            Change::Binding(_) => row.accept("kind", &KINDS, "let", "x_kind"),
            Change::Execution(_) => {
                if let Some(metadata) = row.cell("metadata").filter(|cell| cell.value.is_null()) {
                    metadata.value = json!({});
                }
                row.columns
                    .push(WrittenCell::own("x_status", ColumnType::Text, Value::Null));
                let source = WrittenCell::own("x_source_id", ColumnType::Integer, Value::Null);
                row.columns.push(source);
            }
            // A gate's id finds its row; the decision is what changes.
            Change::ResolveGate(_) => {
                let decision = row.key.split_off(1);
                row.columns.splice(0..0, decision);
            }
            Change::UpdateExecution(row_of) if row_of.status.is_some() => {
                row.columns
                    .push(WrittenCell::own("x_status", ColumnType::Text, Value::Null));
            }
            _ => {}
        }
        Some(row)
    }

    /// Returns one of the cells besides the key.
    pub(crate) fn cell(&mut self, column: &str) -> Option<&mut WrittenCell> {
        let mut cells = self.columns.iter_mut().chain(&mut self.first);
        cells.find(|cell| cell.column == column)
    }

    /// Replaces a word that a column refuses, and keeps it in a column of Prosescope's own (errata P11).
    fn accept(&mut self, column: &str, words: &[&str], instead: &str, kept: &'static str) {
        let Some(cell) = self.cell(column) else {
            return;
        };
        // The column of our own is empty if no word was recorded.
        let word = cell.value.as_str().unwrap_or_default().to_owned();
        let odd = (!words.contains(&word.as_str())).then_some(word);
        if odd.is_some() {
            cell.value = instead.into();
        }
        self.columns
            .push(WrittenCell::own(kept, ColumnType::Text, odd));
    }

    /// Returns whether a row has the same table and columns.
    pub(crate) fn is_alike(&self, other: &WrittenRow) -> bool {
        let own = self.cells().map(|cell| cell.column);
        let others = other.cells().map(|cell| cell.column);
        self.table == other.table && own.eq(others)
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = &WrittenCell> {
        self.key.iter().chain(&self.columns).chain(&self.first)
    }

    /// Returns whether the table has a column with the run's id that is not among the row's cells.
    fn lacks_run(&self) -> bool {
        self.table != "run" && !self.cells().any(|cell| cell.column == "run_id")
    }

    /// Returns the condition that selects the row in its table.
    pub(crate) fn only<'a>(&'a self, run: &'a str, bound: &mut Vec<Bound<'a>>) -> String {
        only(self.table, &self.key, run, bound)
    }

    /// Returns the statement that adds the row. With `conflict`, the columns of the unique index, an existing row gets
    /// the new values.
    pub(crate) fn insert<'a>(
        &'a self,
        run: &'a str,
        conflict: Option<&str>,
    ) -> (String, Vec<Bound<'a>>) {
        let (mut bound, mut names, mut places) = (Vec::new(), Vec::new(), Vec::new());
        if self.lacks_run() {
            bound.push(text(run));
            names.push("run_id");
            places.push("$1".to_owned());
        }
        for cell in self.cells() {
            names.push(cell.column);
            places.push(cell.place(&mut bound));
        }
        let mut sql = format!(
            "INSERT INTO openprose.{} ({}) VALUES ({})",
            self.table,
            names.join(", "),
            places.join(", ")
        );
        if let Some(unique) = conflict {
            // A row with `execution_id` -1 becomes a binding of the root, whose `execution_id` is NULL.
            let frame = self.key.iter().filter(|cell| cell.column == "execution_id");
            let set = frame.chain(&self.columns).map(|cell| cell.column);
            let set: Vec<String> = set
                .map(|name| format!("{name} = excluded.{name}"))
                .collect();
            sql += &format!(" ON CONFLICT ({unique}) DO UPDATE SET {}", set.join(", "));
        }
        (sql, bound)
    }

    /// Returns the statement that changes the row, if the condition `also` holds, too. The keys in `metadata` are set,
    /// and the other keys of the column stay.
    pub(crate) fn update<'a>(
        &'a self,
        run: &'a str,
        metadata: &Map<String, Value>,
        also: &str,
    ) -> (String, Vec<Bound<'a>>) {
        let mut bound = Vec::new();
        let key = self.only(run, &mut bound);
        let mut set: Vec<String> = Vec::new();
        for cell in &self.columns {
            set.push(format!("{} = {}", cell.column, cell.place(&mut bound)));
        }
        if !metadata.is_empty() {
            bound.push(owned(Value::Object(metadata.clone()).to_string()));
            let n = bound.len();
            set.push(match self.table {
                "gates" => format!("metadata = ({GATE_OBJECT} || ${n}::jsonb)::text"),
                _ => format!("metadata = ({OBJECT}) || ${n}::jsonb"),
            });
        }
        // The row must be there, even if nothing of it changes.
        if set.is_empty() {
            set.push("id = id".to_owned());
        }
        let (table, set) = (self.table, set.join(", "));
        let sql = format!("UPDATE openprose.{table} SET {set} WHERE {key}{also}");
        (sql, bound)
    }
}

/// Returns the changes that write rows, each with its row.
pub(crate) fn rows_of<'a>(run: &str, changes: &'a [Change]) -> Vec<(&'a Change, WrittenRow)> {
    let rows = changes.iter();
    rows.filter_map(|change| Some((change, WrittenRow::of(run, change)?)))
        .collect()
}

/// Returns the condition that selects the row of a run with this key.
pub(crate) fn only<'a>(
    table: &str,
    key: &'a [WrittenCell],
    run: &'a str,
    bound: &mut Vec<Bound<'a>>,
) -> String {
    let mut only = Vec::new();
    if table != "run" {
        bound.push(text(run));
        only.push(format!("run_id = ${}", bound.len()));
    }
    for cell in key.iter().filter(|cell| cell.column != "run_id") {
        let place = cell.place(bound);
        // A row of the root may have the `execution_id` NULL or -1 (errata P11).
        only.push(match cell.column {
            "execution_id" => format!("COALESCE(execution_id, -1) = COALESCE({place}, -1)"),
            column => format!("{column} = {place}"),
        });
    }
    only.join(" AND ")
}

/// Returns the statement that adds rows of one table with the same columns, and compares the stored rows with the
/// intended ones: the names of the compared columns, the SQL and its values.
pub(crate) fn insert_many<'a>(
    run: &'a str,
    rows: &[&'a WrittenRow],
) -> Option<(Vec<&'static str>, String, Vec<Bound<'a>>)> {
    let row = rows.first()?;
    let mut bound = vec![text(run)];
    let (mut names, mut values, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (nth, cell) in row.cells().enumerate() {
        let column = rows.iter().filter_map(|row| row.cells().nth(nth));
        bound.push(match cell.kind {
            ColumnType::Integer => ints(column.map(|cell| cell.value.as_i64())),
            _ => texts(column.map(WrittenCell::text)),
        });
        let name = cell.quoted();
        values.push(format!("{} AS {name}", of_kind(cell.kind, &name)));
        places.push(format!("${}", bound.len()));
        names.push(name);
    }
    bound.push(int(i64::try_from(rows.len()).unwrap_or(i64::MAX)));
    let mut compared = vec![row.key.first()?.column, "run_id"];
    let mut same = vec![
        format!("count(*) = ${}", bound.len()),
        "bool_and(put.run_id::text = $1)".to_owned(),
    ];
    let others = row.columns.iter().chain(&row.first);
    for cell in others.filter(|cell| cell.column != "run_id") {
        let name = cell.quoted();
        let is = stored_as(cell.kind, &format!("put.{name}"), &format!("new.{name}"));
        compared.push(cell.column);
        same.push(format!("bool_and({is})"));
    }
    let joined = row.key.iter().map(|cell| {
        let name = cell.quoted();
        match (cell.kind, cell.column) {
            (ColumnType::Text, _) => format!("new.{name} = put.{name}::text COLLATE \"C\""),
            (_, "execution_id") => format!("new.{name} IS NOT DISTINCT FROM put.{name}"),
            _ => format!("new.{name} = put.{name}"),
        }
    });
    let joined = joined.collect::<Vec<_>>().join(" AND ");
    let (run_id, one) = if row.lacks_run() {
        ("run_id, ", "$1, ")
    } else {
        ("", "")
    };
    let (table, names, values) = (row.table, names.join(", "), values.join(", "));
    let (places, same) = (places.join(", "), same.join(", "));
    let sql = format!(
        "WITH new AS (SELECT {values} FROM unnest({places}) AS new({names})), put AS (
             INSERT INTO openprose.{table} ({run_id}{names}) SELECT {one}{names} FROM new RETURNING *
         ) SELECT ARRAY[{same}] FROM put JOIN new ON {joined}"
    );
    Some((compared, sql, bound))
}
