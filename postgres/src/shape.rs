//! Describes the tables found in the schema `openprose`: their columns, the order of their rows, and the address of a
//! row.

use prosescope_core::model::database::FoundTable;
use prosescope_core::model::schema::{
    AGENT_SEGMENTS, AGENTS, FRAME_AROUND, GATES, RECEIPT, RUN, SOURCE_EXECUTION, known_column,
    known_table,
};
use prosescope_core::model::{ColumnInfo, TableInfo};
use tokio_postgres::{Error, Row};

use crate::cell::get;
use crate::owner::{Keeper, RowOwner, USER};

/// Reads all columns of all tables, each with its position in the primary key, if it is part of that key.
pub(crate) const COLUMNS: &str = "
    SELECT c.relname::text, c.relkind::text, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attgenerated::text,
           array_position(k.indkey::int2[], a.attnum)::bigint
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = 'openprose'
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_index AS k ON k.indrelid = c.oid AND k.indisprimary
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
      AND c.relname NOT IN ('x_schema', 'x_commands', 'x_attachments')
    ORDER BY c.relname, a.attnum";

/// A table, with the facts needed to select its rows.
#[derive(Debug, Clone)]
pub(crate) struct ScannedTable {
    pub(crate) found: FoundTable,
    /// The column with the run's id; `None` if the table lacks it.
    pub(crate) run: Option<String>,
    /// The whole-number column that orders and identifies the rows of a run. Without such a column, a row's address is
    /// its position in the order of the key.
    pub(crate) address: Option<String>,
    /// The column with the agent's name, if its names begin with the prefix [`USER`]. Reading removes this prefix.
    pub(crate) prefixed: Option<&'static str>,
    /// The columns with a companion `x_…`, such as `x_status`, for words that the column itself refuses (errata P11).
    pub(crate) odd: Vec<String>,
    /// Columns whose refused values may be in `x_original`.
    pub(crate) kept: Vec<String>,
    /// Whether executions have the ids of the store from which they were imported (`x_source_id`, errata P8).
    pub(crate) source_ids: bool,
    /// Whether the database has several runs. If so, a table without a column for the run is not read.
    pub(crate) of_several: bool,
}

/// The columns that Prosescope adds to OpenProse's tables and does not show as parts of a row.
const HIDDEN: [&str; 4] = ["x_seq", "x_status", "x_kind", "x_source_id"];

/// The tables that Prosescope adds to those of OpenProse.
const OURS: [&str; 4] = [
    "x_agent_memory_history",
    "x_binding_history",
    "x_events",
    "x_original",
];

/// Returns the name of a table's column with the run's id.
fn run_column(table: &str) -> &'static str {
    if table == RUN { "id" } else { "run_id" }
}

/// The columns that contain the id of an execution, each with its table.
const OF_EXECUTIONS: [(&str, &str); 6] = [
    ("execution", "parent_id"),
    ("bindings", "execution_id"),
    ("bindings", FRAME_AROUND),
    ("gates", "execution_id"),
    ("x_binding_history", "execution_id"),
    ("x_events", "execution_id"),
];

/// Returns whether OpenProse's documents or Prosescope define a column: sqlite.md, postgres.md, or the prefix `x_`.
fn is_known(table: &str, column: &str) -> bool {
    known_column(table, column)
        || (known_table(table)
            && (matches!(column, "run_id" | "metadata" | "content_hash")
                || column.starts_with("x_")))
}

/// The tables with rows of agents, and the column with the agent's name.
const OF_AGENTS: [(&str, &str); 3] = [
    (AGENTS, "name"),
    (AGENT_SEGMENTS, "agent_name"),
    ("x_agent_memory_history", "agent_name"),
];

/// Returns the name of a table's column with the agent's name; `None` if the table has no rows of agents.
fn name_column(table: &str) -> Option<&'static str> {
    let mut tables = OF_AGENTS.iter();
    tables
        .find(|(name, _)| *name == table)
        .map(|(_, column)| *column)
}

/// Returns the tables in the result of [`COLUMNS`] that may contain rows of an owner, ordered by name.
pub(crate) fn shapes(rows: &[Row], of: &RowOwner) -> Result<Vec<ScannedTable>, Error> {
    let mut shapes: Vec<ScannedTable> = Vec::new();
    let mut keys: Vec<Vec<(i64, String)>> = Vec::new();
    for row in rows {
        let (table, kind): (&str, &str) = (get(row, 0)?, get(row, 1)?);
        let (column, declared): (&str, &str) = (get(row, 2)?, get(row, 3)?);
        let generated: &str = get(row, 4)?;
        if shapes
            .last()
            .is_none_or(|shape| shape.found.info.name != table)
        {
            shapes.push(empty(table, kind));
            keys.push(Vec::new());
        }
        let (Some(shape), Some(key)) = (shapes.last_mut(), keys.last_mut()) else {
            continue;
        };
        if let Some(place) = get::<Option<i64>>(row, 5)? {
            key.push((place, column.to_owned()));
        }
        if column == run_column(table) {
            shape.run = Some(column.to_owned());
        }
        if !generated.is_empty() {
            shape.found.generated.push(column.to_owned());
        }
        if let ("x_status" | "x_kind", Some(of)) = (column, column.strip_prefix("x_")) {
            shape.odd.push(of.to_owned());
        }
        if column == "x_seq" && is_whole(declared) {
            shape.address = Some(column.to_owned());
        }
        if known_table(table) && HIDDEN.contains(&column) {
            continue;
        }
        shape.found.info.columns.push(ColumnInfo {
            name: column.to_owned(),
            declared: declared.to_owned(),
            known: is_known(table, column),
        });
    }
    for (shape, mut key) in shapes.iter_mut().zip(keys) {
        key.sort();
        shape.found.key = key.into_iter().map(|(_, column)| column).collect();
        let run = shape.run.as_deref();
        let mut own = shape
            .found
            .key
            .iter()
            .filter(|column| Some(column.as_str()) != run);
        if shape.address.is_none()
            && let (Some(alone), None) = (own.next(), own.next())
            && is_whole(declared(&shape.found, alone))
        {
            shape.address = Some(alone.clone());
        }
    }
    if let RowOwner::Agents(keeper) = of {
        shapes.retain(|shape| name_column(&shape.found.info.name).is_some());
        for shape in &mut shapes {
            let is_prefixed = *keeper == Keeper::User;
            shape.prefixed = name_column(&shape.found.info.name).filter(|_| is_prefixed);
        }
    }
    Ok(shapes)
}

fn empty(table: &str, kind: &str) -> ScannedTable {
    ScannedTable {
        found: FoundTable {
            info: TableInfo {
                name: table.to_owned(),
                kind: match kind {
                    "r" | "p" => "table",
                    "f" => "virtual",
                    _ => "view",
                }
                .to_owned(),
                rows: None,
                known: known_table(table),
                columns: Vec::new(),
            },
            key: Vec::new(),
            without_rowid: false,
            computed: Vec::new(),
            generated: Vec::new(),
        },
        run: None,
        address: None,
        prefixed: None,
        odd: Vec::new(),
        kept: Vec::new(),
        source_ids: false,
        of_several: false,
    }
}

/// Returns the declared type of a column; empty if the table lacks the column.
pub(crate) fn declared<'a>(found: &'a FoundTable, column: &str) -> &'a str {
    let mut columns = found.info.columns.iter();
    columns
        .find(|of| of.name == column)
        .map_or("", |of| &of.declared)
}

fn is_whole(declared: &str) -> bool {
    matches!(declared, "smallint" | "integer" | "bigint")
}

/// The way in which a column's values are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnReading {
    /// A whole number: the types `smallint`, `integer` and `bigint`.
    Whole,
    /// A floating-point number.
    Real,
    /// A text, or the textual form of another type.
    Text,
    /// A time with a zone, whose textual form ends with the offset of UTC, `+00`.
    Time,
    /// Bytes.
    Bytes,
    /// A text as bytes, because some of its values are not valid text for PostgreSQL.
    Kept,
}

impl ColumnReading {
    pub(crate) fn of(declared: &str) -> ColumnReading {
        match declared {
            _ if is_whole(declared) => ColumnReading::Whole,
            "real" | "double precision" => ColumnReading::Real,
            "bytea" => ColumnReading::Bytes,
            _ if declared.starts_with("timestamp") && declared.ends_with("with time zone") => {
                ColumnReading::Time
            }
            _ => ColumnReading::Text,
        }
    }
}

impl ScannedTable {
    /// Returns the SQL expression that reads a column as its [`ColumnReading`].
    pub(crate) fn expression(&self, column: &str) -> String {
        let name = quoted(column);
        if self.found.info.name == GATES && column == SOURCE_EXECUTION {
            return "(SELECT source.x_source_id FROM openprose.execution AS source WHERE source.id = t.execution_id)"
                .to_owned();
        }
        if self.odd.iter().any(|odd| odd == column) {
            return format!("nullif(COALESCE(x_{column}, {column}), '')");
        }
        let table = self.found.info.name.as_str();
        if self.keeps(column) {
            let original = original(table, column);
            return match ColumnReading::of(declared(&self.found, column)) {
                ColumnReading::Whole => format!(
                    "COALESCE((SELECT convert_from(kept.bytes, 'UTF8') {original})::bigint, {})",
                    self.whole(column)
                ),
                ColumnReading::Bytes | ColumnReading::Kept => name,
                ColumnReading::Time => format!(
                    "COALESCE((SELECT kept.bytes {original}), convert_to(replace({name}::text, '+00', ''), 'UTF8'))"
                ),
                ColumnReading::Real | ColumnReading::Text => format!(
                    "COALESCE((SELECT kept.bytes {original}), convert_to({name}::text, 'UTF8'))"
                ),
            };
        }
        if self.prefixed == Some(column) {
            return format!("substr({name}::text, {})", USER.len() + 1);
        }
        match ColumnReading::of(declared(&self.found, column)) {
            ColumnReading::Whole => self.whole(column),
            ColumnReading::Real => format!("{name}::double precision"),
            ColumnReading::Bytes | ColumnReading::Kept => name,
            ColumnReading::Text | ColumnReading::Time => format!("{name}::text"),
        }
    }

    /// Adds a column to the table of gates: the ids of their executions in the original store. Rows of the audit log
    /// may refer to these ids.
    pub(crate) fn with_source_executions(&mut self) {
        if self.found.info.name == GATES && self.found.column("execution_id").is_some() {
            self.found.info.columns.push(ColumnInfo {
                name: SOURCE_EXECUTION.to_owned(),
                declared: "bigint".to_owned(),
                known: true,
            });
        }
    }

    /// Returns whether `x_original` may contain refused values of a column.
    pub(crate) fn keeps(&self, column: &str) -> bool {
        self.kept.iter().any(|kept| kept == column)
    }

    /// Returns how a column's values are read; columns with values in `x_original` are read as bytes.
    pub(crate) fn kind(&self, column: &str) -> ColumnReading {
        match ColumnReading::of(declared(&self.found, column)) {
            ColumnReading::Time | ColumnReading::Text | ColumnReading::Real
                if self.keeps(column) =>
            {
                ColumnReading::Kept
            }
            kind => kind,
        }
    }

    /// Returns the expression for a whole number. For the id of an execution, this is the original id if
    /// [`ScannedTable::source_ids`] is set.
    fn whole(&self, column: &str) -> String {
        let name = quoted(column);
        let table = self.found.info.name.as_str();
        if self.source_ids && table == "execution" && column == "id" {
            return "COALESCE(x_source_id, id)::bigint".to_owned();
        }
        if self.source_ids && OF_EXECUTIONS.contains(&(table, column)) {
            return format!(
                "COALESCE((SELECT source.x_source_id FROM openprose.execution AS source
                           WHERE source.id = t.{name} AND source.run_id = t.run_id), t.{name})::bigint"
            );
        }
        format!("{name}::bigint")
    }

    /// Returns the name of the missing run column, if this is a table of OpenProse or Prosescope without that column.
    pub(crate) fn lacks_run(&self, of: &RowOwner) -> Option<&'static str> {
        let name = self.found.info.name.as_str();
        let is_of_runs = known_table(name) || OURS.contains(&name) || name == RECEIPT;
        let is_missing = is_of_runs && self.run.is_none() && *of != RowOwner::Runs(None);
        is_missing.then(|| run_column(name))
    }

    /// Returns the name of the missing run column, if the database has several runs: a row may then belong to any run.
    pub(crate) fn is_anybodys(&self, of: &RowOwner) -> Option<&'static str> {
        self.lacks_run(of).filter(|_| self.of_several)
    }

    /// Returns the condition for the owner's rows; `$1` is [`RowOwner::key`].
    pub(crate) fn only(&self, of: &RowOwner) -> String {
        let whole = "$1 IS NOT NULL".to_owned();
        let RowOwner::Agents(keeper) = of else {
            return match &self.run {
                Some(column) if of.run().is_some() => format!("{}::text = $1", quoted(column)),
                Some(column) if matches!(of, RowOwner::Runs(Some(_))) => {
                    format!("{}::text = ANY($1)", quoted(column))
                }
                _ => whole,
            };
        };
        let name = name_column(&self.found.info.name).unwrap_or("name");
        let mut only = match keeper {
            Keeper::User => format!("starts_with({name}::text, '{USER}') AND {whole}"),
            Keeper::Project(_) => format!("NOT starts_with({name}::text, '{USER}')"),
        };
        if self.run.is_some() {
            only.push_str(" AND run_id IS NULL");
        }
        if let Keeper::Project(_) = keeper {
            only.push_str(match self.found.column("x_project") {
                None => " AND $1 IS NOT NULL",
                Some(_) => {
                    " AND (x_project = $1 OR x_project IS NULL AND NOT EXISTS (
                         SELECT FROM openprose.agents AS own
                         WHERE own.name = of.@name AND own.run_id IS NULL AND own.x_project = $1))"
                }
            });
        }
        only.replace("@name", name)
    }

    /// Returns the query for the owner's rows, each with its address in `"*at*"`.
    pub(crate) fn rows(&self, of: &RowOwner) -> String {
        let table = format!("openprose.{} AS of", quoted(&self.found.info.name));
        let only = self.only(of);
        match &self.address {
            Some(address) => {
                format!(
                    "(SELECT {}::bigint AS \"*at*\", * FROM {table} WHERE {only}) AS t",
                    quoted(address)
                )
            }
            None => {
                let key: Vec<String> = self.found.key.iter().map(|column| quoted(column)).collect();
                let order = if key.is_empty() {
                    "ctid".to_owned()
                } else {
                    key.join(", ")
                };
                format!(
                    "(SELECT row_number() OVER (ORDER BY {order}) AS \"*at*\", * FROM {table} WHERE {only}) AS t"
                )
            }
        }
    }
}

/// Returns the SQL `FROM … WHERE …` that finds a value in `x_original`. Nothing is found if the column no longer
/// contains the replacement of this value.
fn original(table: &str, column: &str) -> String {
    let literal = |text: &str| text.replace('\'', "''");
    format!(
        "FROM openprose.x_original AS kept
         WHERE kept.run_id = $1 AND kept.table_name = '{}' AND kept.column_name = '{}' AND kept.key = t.\"*at*\"::text
           AND kept.stored IS NOT DISTINCT FROM md5(t.{}::text)",
        literal(table),
        literal(column),
        quoted(column)
    )
}

/// Finds the columns with values in `x_original`, for run `$1`.
pub(crate) const KEPT: &str =
    "SELECT DISTINCT table_name, column_name FROM openprose.x_original WHERE run_id = $1";

/// Returns a name quoted for SQL.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
