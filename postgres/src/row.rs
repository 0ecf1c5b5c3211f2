//! The row that a change writes, with the values that PostgreSQL stores, and the SQL that writes it and compares it.
//!
//! The columns and their types are those of [`prosescope_core::schema::TABLES`].

use std::borrow::Cow;

use prosescope_core::database::Kind;
use prosescope_core::schema::table_spec;
use prosescope_core::write::Change;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::server::{Bound, int, ints, owned, owned_bytes, text, texts};

/// Texts longer than this many bytes are compared by their hash, so that a long text is not sent a second time.
const LONG: usize = 4096;

/// A column with its new value.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) column: &'static str,
    pub(crate) kind: Kind,
    pub(crate) value: Value,
}

/// A row that a change writes; see [`prosescope_core::change::Stored`].
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) table: &'static str,
    pub(crate) key: Vec<Cell>,
    pub(crate) columns: Vec<Cell>,
    pub(crate) first: Vec<Cell>,
}

/// The words that the column `run.status` accepts.
const STATUSES: [&str; 4] = ["running", "completed", "failed", "interrupted"];

/// The words that the column `bindings.kind` accepts.
const KINDS: [&str; 4] = ["input", "output", "let", "const"];

impl Cell {
    /// A column of Prosescope's own.
    pub(crate) fn own(column: &'static str, kind: Kind, value: impl Into<Value>) -> Cell {
        let value = value.into();
        Cell {
            column,
            kind,
            value,
        }
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
    fn place(&self, bound: &mut Vec<Bound<'_>>) -> String {
        bound.push(match self.kind {
            Kind::Integer => int(self.value.as_i64()),
            _ => owned(self.text().map(Cow::into_owned)),
        });
        of_kind(self.kind, &format!("${}", bound.len()))
    }

    /// Binds the value; returns the condition that the stored value is the same. A text is compared character by
    /// character, whatever the column's type.
    pub(crate) fn same(&self, bound: &mut Vec<Bound<'_>>) -> String {
        match self.text().filter(|text| text.len() > LONG) {
            Some(long) if self.kind == Kind::Text => {
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
fn of_kind(kind: Kind, value: &str) -> String {
    match kind {
        Kind::Text | Kind::Integer => value.to_owned(),
        Kind::Time => format!("(nullif({value}, '')::timestamp AT TIME ZONE 'UTC')"),
        Kind::Json => format!("{value}::jsonb"),
    }
}

/// Returns the SQL expression that converts the text bound to `$n` into a time; an empty text becomes NULL.
pub(crate) fn time(n: usize) -> String {
    of_kind(Kind::Time, &format!("${n}"))
}

/// Returns the condition that a column of a kind stores a value.
fn stored_as(kind: Kind, column: &str, value: &str) -> String {
    let cast = match kind {
        Kind::Text => "text COLLATE \"C\"",
        Kind::Integer => "bigint",
        Kind::Time => "timestamptz",
        Kind::Json => "jsonb",
    };
    format!("{column}::{cast} IS NOT DISTINCT FROM {value}")
}

impl Row {
    /// Returns the row that a change writes in a run; `None` for an attachment.
    pub(crate) fn of(run: &str, change: &Change) -> Option<Row> {
        let stored = change.stored(run)?;
        let spec = table_spec(stored.table)?;
        let cell = |(column, value)| Cell {
            column,
            kind: spec.kind(column),
            value,
        };
        let cells = |columns: Vec<(&'static str, Value)>| columns.into_iter().map(cell).collect();
        let mut row = Row {
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
                    .push(Cell::own("x_status", Kind::Text, Value::Null));
                let source = Cell::own("x_source_id", Kind::Integer, Value::Null);
                row.columns.push(source);
            }
            Change::ResolveGate(_) => row.columns.splice(0..0, row.key.drain(1..)).for_each(drop),
            Change::UpdateExecution(row_of) if row_of.status.is_some() => {
                row.columns
                    .push(Cell::own("x_status", Kind::Text, Value::Null));
            }
            _ => {}
        }
        Some(row)
    }

    /// Returns one of the cells besides the key.
    pub(crate) fn cell(&mut self, column: &str) -> Option<&mut Cell> {
        let mut cells = self.columns.iter_mut().chain(&mut self.first);
        cells.find(|cell| cell.column == column)
    }

    /// Replaces a word that a column refuses, and keeps it in a column of Prosescope's own (errata P11).
    fn accept(&mut self, column: &str, words: &[&str], instead: &str, kept: &'static str) {
        let Some(cell) = self.cell(column) else {
            return;
        };
        let known = cell
            .value
            .as_str()
            .is_some_and(|word| words.contains(&word));
        let odd = match known {
            true => Value::Null,
            false => std::mem::replace(&mut cell.value, instead.into()),
        };
        // An empty text says that no word was recorded.
        let odd = match odd {
            Value::Null if !known => "".into(),
            odd => odd,
        };
        self.columns.push(Cell::own(kept, Kind::Text, odd));
    }

    /// Returns whether a row has the same table and columns.
    pub(crate) fn is_alike(&self, other: &Row) -> bool {
        let columns = |row: &Row| row.cells().map(|cell| cell.column).collect::<Vec<_>>();
        self.table == other.table && columns(self) == columns(other)
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.key.iter().chain(&self.columns).chain(&self.first)
    }

    /// Returns whether the table has a column with the run's id that is not among the row's cells.
    fn lacks_run(&self) -> bool {
        self.table != "run" && !self.cells().any(|cell| cell.column == "run_id")
    }

    /// Returns the condition that selects the row in its table.
    pub(crate) fn only<'a>(&self, run: &'a str, bound: &mut Vec<Bound<'a>>) -> String {
        let mut only = Vec::new();
        if self.table != "run" {
            bound.push(text(run));
            only.push(format!("run_id = ${}", bound.len()));
        }
        for cell in self.key.iter().filter(|cell| cell.column != "run_id") {
            let place = cell.place(bound);
            // A row of the root may have the `execution_id` NULL or -1 (errata P11).
            only.push(match cell.column {
                "execution_id" => format!("COALESCE(execution_id, -1) = COALESCE({place}, -1)"),
                column => format!("{column} = {place}"),
            });
        }
        only.join(" AND ")
    }

    /// Returns the statement that adds the row. With `conflict`, the columns of the unique index, an existing row gets
    /// the new values.
    pub(crate) fn insert<'a>(
        &self,
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

    /// Returns the statement that changes the row, if `only` holds, too. The keys in `metadata` are set, and its other
    /// keys stay; `before` is the expression for the metadata as an object.
    pub(crate) fn update<'a>(
        &self,
        run: &'a str,
        (metadata, before, after): (&Map<String, Value>, &str, &str),
        only: &str,
    ) -> (String, Vec<Bound<'a>>) {
        let mut bound = Vec::new();
        let key = self.only(run, &mut bound);
        let mut set: Vec<String> = Vec::new();
        for cell in &self.columns {
            set.push(format!("{} = {}", cell.column, cell.place(&mut bound)));
        }
        if !metadata.is_empty() {
            bound.push(owned(Value::Object(metadata.clone()).to_string()));
            set.push(format!(
                "metadata = ({before} || ${}::jsonb){after}",
                bound.len()
            ));
        }
        if set.is_empty() {
            set.push("id = id".to_owned());
        }
        let (table, set) = (self.table, set.join(", "));
        (
            format!("UPDATE openprose.{table} SET {set} WHERE {key}{only}"),
            bound,
        )
    }
}

/// Returns the statement that adds rows of one table with the same columns, and compares the stored rows with the
/// intended ones: the names of the compared columns, the SQL and its values.
pub(crate) fn insert_many<'a>(
    run: &'a str,
    rows: &[&'a Row],
) -> Option<(Vec<&'static str>, String, Vec<Bound<'a>>)> {
    let row = rows.first()?;
    let cells: Vec<&Cell> = row.cells().collect();
    let mut bound = vec![text(run)];
    for nth in 0..cells.len() {
        let nth = |row: &&'a Row| row.cells().nth(nth);
        let column = rows.iter().filter_map(nth);
        bound.push(match cells.get(bound.len() - 1).map(|cell| cell.kind) {
            Some(Kind::Integer) => ints(column.map(|cell| cell.value.as_i64())),
            _ => texts(column.map(Cell::text)),
        });
    }
    bound.push(int(i64::try_from(rows.len()).unwrap_or(i64::MAX)));
    let name = |cell: &&Cell| format!("\"{}\"", cell.column);
    let names = cells.iter().map(name).collect::<Vec<_>>().join(", ");
    let values = cells.iter().map(|cell| {
        let name = name(cell);
        format!("{} AS {name}", of_kind(cell.kind, &name))
    });
    let values = values.collect::<Vec<_>>().join(", ");
    let places: Vec<String> = (2..bound.len()).map(|n| format!("${n}")).collect();
    let (count, places) = (bound.len(), places.join(", "));
    let own_run = row.lacks_run();
    let (run_id, one) = if own_run {
        ("run_id, ", "$1, ")
    } else {
        ("", "")
    };
    let mut compared = vec![row.key.first()?.column, "run_id"];
    let mut same = vec![
        format!("count(*) = ${count}"),
        "bool_and(put.run_id::text = $1)".to_owned(),
    ];
    for cell in row
        .columns
        .iter()
        .chain(&row.first)
        .filter(|cell| cell.column != "run_id")
    {
        let (put, new) = (
            format!("put.{}", name(&cell)),
            format!("new.{}", name(&cell)),
        );
        compared.push(cell.column);
        same.push(format!("bool_and({})", stored_as(cell.kind, &put, &new)));
    }
    let joined = row.key.iter().map(|cell| {
        let name = name(&cell);
        match (cell.kind, cell.column) {
            (Kind::Text, _) => format!("new.{name} = put.{name}::text COLLATE \"C\""),
            (_, "execution_id") => format!("new.{name} IS NOT DISTINCT FROM put.{name}"),
            _ => format!("new.{name} = put.{name}"),
        }
    });
    let joined = joined.collect::<Vec<_>>().join(" AND ");
    let (table, same) = (row.table, same.join(", "));
    let sql = format!(
        "WITH new AS (SELECT {values} FROM unnest({places}) AS new({names})), put AS (
             INSERT INTO openprose.{table} ({run_id}{names}) SELECT {one}{names} FROM new RETURNING *
         ) SELECT ARRAY[{same}] FROM put JOIN new ON {joined}"
    );
    Some((compared, sql, bound))
}
