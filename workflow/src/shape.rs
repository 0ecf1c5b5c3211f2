//! Describes the workflow tables that a database contains, Prosescope's or another program's, and builds SQL statements
//! for these tables.

use super::tables::{Op, RowChange, RowCondition, Select, SqlValue, WorkflowTable};
use super::{Kind, Turn, TurnStatus, Workflow, WorkflowRow, WorkflowStatus};
use prosescope_core::model::time::Stamp;
use prosescope_core::record::Fault;

/// A column of a workflow table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkflowColumn {
    /// The name of the column.
    pub name: String,
    /// The column's type, in the database's spelling.
    pub of: String,
    /// The words that the column accepts, if its type is an enum.
    pub labels: Vec<String>,
}

/// A workflow table as the database contains it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableShape {
    /// The table's name, quoted for statements.
    pub name: String,
    /// The table's columns, in their order.
    pub columns: Vec<WorkflowColumn>,
}

impl TableShape {
    /// Returns a column by its name.
    pub fn column(&self, name: &str) -> Option<&WorkflowColumn> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// The workflow tables of a database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkflowShape {
    /// The tables that exist, each with its columns.
    pub tables: Vec<(WorkflowTable, TableShape)>,
}

/// The reason why the tables cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// No workflow table exists.
    Empty,
    /// A required table is missing.
    NoTable(WorkflowTable),
    /// A required column is missing.
    NoColumn(WorkflowTable, &'static str),
}

/// The required columns of each table; all others are optional.
const NEEDED: &[(WorkflowTable, &[&str])] = &[
    (WorkflowTable::Workflows, &["id", "status"]),
    (WorkflowTable::Runs, &["id", "workflow_id", "status"]),
    (
        WorkflowTable::Events,
        &["id", "workflow_id", "kind", "text"],
    ),
];

impl WorkflowShape {
    /// Returns a table, if it exists.
    pub fn table(&self, table: WorkflowTable) -> Option<&TableShape> {
        let found = self.tables.iter().find(|(known, _)| *known == table);
        found.map(|(_, shape)| shape)
    }

    /// Returns whether a table has a column.
    pub fn has(&self, table: WorkflowTable, column: &str) -> bool {
        self.table(table)
            .is_some_and(|table| table.column(column).is_some())
    }

    /// Detects whether a table of another program contains OpenProse's words in capitals. SQLAlchemy stores an enum in
    /// a text column as the name of its member, such as `ACTIVE`. `select` reads the first row of each table.
    ///
    /// # Errors
    /// The error of `select`.
    pub fn learn(
        &mut self,
        select: &mut dyn FnMut(&Select<'_>) -> Result<Vec<WorkflowRow>, Fault>,
    ) -> Result<(), Fault> {
        for (table, name) in [
            (WorkflowTable::Workflows, "status"),
            (WorkflowTable::Runs, "status"),
            (WorkflowTable::Events, "kind"),
        ] {
            let found = self.tables.iter_mut().find(|(known, _)| *known == table);
            let columns = found.map(|(_, found)| found.columns.iter_mut());
            let column = columns.and_then(|mut all| all.find(|column| column.name == name));
            // A column whose enum type or CHECK lists its words already has labels, so it is skipped.
            let Some(column) = column.filter(|column| column.labels.is_empty()) else {
                continue;
            };
            let wanted = [name];
            let first = select(&Select::of(table).columns(&wanted).limit(1))?;
            let word = first.first().and_then(|row| row.get(name));
            if word.is_some_and(|word| !word.is_empty() && word == word.to_ascii_uppercase()) {
                let words = WorkflowStatus::ALL.iter().map(|status| status.word());
                let words = words.chain(TurnStatus::ALL.iter().map(|status| status.word()));
                let words = words.chain(Kind::ALL.iter().map(|kind| kind.word()));
                column.labels = words.map(str::to_ascii_uppercase).collect();
            }
        }
        Ok(())
    }

    /// Checks that all required tables and columns exist.
    ///
    /// # Errors
    /// The missing table or column.
    pub fn fits(&self) -> Result<(), Unfit> {
        if self.tables.is_empty() {
            return Err(Unfit::Empty);
        }
        for (table, columns) in NEEDED {
            if self.table(*table).is_none() {
                return Err(Unfit::NoTable(*table));
            }
            if let Some(missing) = columns.iter().find(|column| !self.has(*table, column)) {
                return Err(Unfit::NoColumn(*table, missing));
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unfit::Empty => f.write_str("the database has no tables of workflows"),
            Unfit::NoTable(table) => write!(f, "the database has no table `{}`", table.name()),
            Unfit::NoColumn(table, column) => {
                write!(f, "the table `{}` has no column `{column}`", table.name())
            }
        }
    }
}

/// The differences between SQLite and PostgreSQL in SQL.
pub trait SqlDialect {
    /// Returns the expression that reads a column as text.
    fn read(&self, column: &WorkflowColumn) -> String;
    /// Returns the placeholder of the n-th value (from 1), for a column.
    fn place(&self, n: usize, column: &WorkflowColumn) -> String;
    /// Returns a value in the form in which the database binds it.
    fn value(&self, value: &SqlValue, column: &WorkflowColumn) -> SqlValue;
}

/// Returns a name in the quotes that a statement needs: `"name"`.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// An SQL statement with its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The SQL text.
    pub sql: String,
    /// The values to bind, in order.
    pub values: Vec<SqlValue>,
    /// The names of the columns in the result.
    pub columns: Vec<String>,
}

impl WorkflowShape {
    /// Returns the statement that selects rows; `None` if the table or a column of a condition is missing, so that no
    /// row can match.
    pub fn select(&self, wanted: &Select<'_>, dialect: &dyn SqlDialect) -> Option<Statement> {
        let table = self.table(wanted.table)?;
        let columns: Vec<&WorkflowColumn> = match wanted.columns {
            None => table.columns.iter().collect(),
            Some(names) => names.iter().filter_map(|name| table.column(name)).collect(),
        };
        let read: Vec<String> = columns.iter().map(|column| dialect.read(column)).collect();
        let mut values = Vec::new();
        let conditions = conditions(table, &wanted.filters, dialect, &mut values)?;
        let mut sql = format!("SELECT {} FROM {}{conditions}", read.join(", "), table.name);
        let order = wanted.order.iter().filter_map(|(name, down)| {
            let column = table.column(name)?;
            let way = if *down { " DESC" } else { "" };
            // The name includes the table, because a bare name would mean the column of the result, which is text.
            Some(format!("{}.{}{way}", table.name, quoted(&column.name)))
        });
        let order: Vec<String> = order.collect();
        if !order.is_empty() {
            sql = format!("{sql} ORDER BY {}", order.join(", "));
        }
        if let Some(limit) = wanted.limit {
            sql = format!("{sql} LIMIT {limit}");
        }
        let columns = columns.iter().map(|column| column.name.clone()).collect();
        Some(Statement {
            sql,
            values,
            columns,
        })
    }

    /// Returns the statement for a change; `None` if the table does not exist. A statement that inserts an event
    /// returns the event's id.
    pub fn change(&self, change: &RowChange, dialect: &dyn SqlDialect) -> Option<Statement> {
        let table = self.table(change.table)?;
        let known = change.values.iter();
        let known = known.filter_map(|(name, value)| Some((table.column(name)?, value)));
        let known: Vec<(&WorkflowColumn, &SqlValue)> = known.collect();
        let mut values: Vec<SqlValue> = known
            .iter()
            .map(|(column, value)| dialect.value(value, column))
            .collect();
        let places: Vec<String> = (1..)
            .zip(&known)
            .map(|(n, (column, _))| dialect.place(n, column))
            .collect();
        let names: Vec<String> = known
            .iter()
            .map(|(column, _)| quoted(&column.name))
            .collect();
        let sql = match &change.row {
            None => {
                let answer = match change.table {
                    WorkflowTable::Events => {
                        format!(" RETURNING {}", dialect.read(table.column("id")?))
                    }
                    _ => String::new(),
                };
                format!(
                    "INSERT INTO {} ({}) VALUES ({}){answer}",
                    table.name,
                    names.join(", "),
                    places.join(", ")
                )
            }
            Some(id) => {
                let mut sets: Vec<String> = names
                    .iter()
                    .zip(&places)
                    .map(|(name, place)| format!("{name} = {place}"))
                    .collect();
                if table.column("x_version").is_some() {
                    sets.push("\"x_version\" = coalesce(\"x_version\", 0) + 1".to_owned());
                }
                let by = table.column("id")?;
                values.push(dialect.value(&SqlValue::Text(id.clone()), by));
                let place = dialect.place(values.len(), by);
                format!(
                    "UPDATE {} SET {} WHERE \"id\" = {place}",
                    table.name,
                    sets.join(", ")
                )
            }
        };
        Some(Statement {
            sql,
            values,
            columns: vec!["id".to_owned()],
        })
    }

    /// Returns the statement that removes rows; `None` if the table or a column of a condition is missing.
    pub fn remove(
        &self,
        table: WorkflowTable,
        filters: &[RowCondition],
        dialect: &dyn SqlDialect,
    ) -> Option<Statement> {
        let table = self.table(table)?;
        let mut values = Vec::new();
        let conditions = conditions(table, filters, dialect, &mut values)?;
        Some(Statement {
            sql: format!("DELETE FROM {}{conditions}", table.name),
            values,
            columns: Vec::new(),
        })
    }
}

fn conditions(
    table: &TableShape,
    filters: &[RowCondition],
    dialect: &dyn SqlDialect,
    values: &mut Vec<SqlValue>,
) -> Option<String> {
    let mut all = Vec::new();
    for filter in filters {
        let column = table.column(filter.column)?;
        let name = quoted(&column.name);
        let mut bind = |value: &SqlValue| {
            values.push(dialect.value(value, column));
            dialect.place(values.len(), column)
        };
        all.push(match &filter.op {
            Op::Is(value) => format!("{name} = {}", bind(value)),
            Op::Above(value) => format!("{name} > {}", bind(value)),
            Op::UpTo(value) => format!("{name} <= {}", bind(value)),
            Op::Missing => format!("{name} IS NULL"),
            Op::In(wanted) if wanted.is_empty() => "1 = 0".to_owned(),
            Op::In(wanted) => {
                let places: Vec<String> = wanted.iter().map(&mut bind).collect();
                format!("{name} IN ({})", places.join(", "))
            }
            Op::Begins(text) => {
                // Ids are hexadecimal, so removing wildcard characters changes no valid id.
                let text = text.replace(['%', '_', '\\', '\''], "");
                format!("{} LIKE '{text}%'", dialect.read(column))
            }
        });
    }
    Some(if all.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", all.join(" AND "))
    })
}

/// Returns the word of an enum in the case that a column accepts: SQLAlchemy stores `active` as `ACTIVE`.
pub fn label(word: &str, column: &WorkflowColumn) -> String {
    let known = column
        .labels
        .iter()
        .find(|label| label.eq_ignore_ascii_case(word));
    known.cloned().unwrap_or_else(|| word.to_owned())
}

/// Returns a time for databases: UTC, six digits after the second (SQLAlchemy reads these digits as microseconds).
pub fn time_text(ms: i64) -> String {
    let text = Stamp::At(ms.div_euclid(1000).saturating_mul(1000)).to_string();
    let text = text.trim_end_matches('Z').replace('T', " ");
    format!("{text}.{:03}000", ms.rem_euclid(1000))
}

const WORKFLOW_COLUMNS: &[&str] = &[
    "id",
    "status",
    "context",
    "preferences",
    "important_steps",
    "most_recent_run_id",
    "error",
    "created_at",
    "updated_at",
    "x_version",
    "x_changed",
    "x_writer",
];

const TURN_COLUMNS: &[&str] = &[
    "id",
    "workflow_id",
    "status",
    "user_input",
    "ask_clarifications",
    "state",
    "final_output",
    "error",
    "x_owner",
    "x_heartbeat",
    "x_lease",
    "created_at",
    "updated_at",
    "x_version",
    "x_changed",
    "x_writer",
];

const EVENT_COLUMNS: &[&str] = &[
    "id",
    "workflow_id",
    "run_id",
    "kind",
    "text",
    "payload",
    "created_at",
];

fn text(row: &WorkflowRow, column: &str) -> String {
    row.get(column).unwrap_or_default().to_owned()
}

fn json(row: &WorkflowRow, column: &str) -> Option<super::Json> {
    // SQLAlchemy writes None into a JSON column as the JSON word null, so null counts as a missing value.
    let text = row.get(column).filter(|text| text.trim() != "null");
    text.map(super::Json::of_column)
}

fn stamp(row: &WorkflowRow, column: &str) -> Option<Stamp> {
    row.get(column).map(Stamp::parse)
}

fn extra(row: &WorkflowRow, known: &[&str]) -> Vec<(String, Option<String>)> {
    let others = row
        .0
        .iter()
        .filter(|(name, _)| !known.contains(&name.as_str()));
    others.cloned().collect()
}

impl Workflow {
    /// Reads a workflow from a row.
    pub fn of_row(row: &WorkflowRow) -> Workflow {
        Workflow {
            id: text(row, "id"),
            status: text(row, "status"),
            context: json(row, "context").unwrap_or_default(),
            preferences: json(row, "preferences").unwrap_or_default(),
            important_steps: json(row, "important_steps").unwrap_or_default(),
            most_recent_run_id: row.get("most_recent_run_id").map(str::to_owned),
            error: json(row, "error"),
            created_at: stamp(row, "created_at"),
            updated_at: stamp(row, "updated_at"),
            version: row.get("x_version").and_then(|text| text.parse().ok()),
            extra: extra(row, WORKFLOW_COLUMNS),
        }
    }
}

impl Turn {
    /// Reads a run from a row.
    pub fn of_row(row: &WorkflowRow) -> Turn {
        let truth = |text: &str| match text {
            "1" | "t" | "true" => Some(true),
            "0" | "f" | "false" => Some(false),
            _ => None,
        };
        Turn {
            id: text(row, "id"),
            workflow_id: text(row, "workflow_id"),
            status: text(row, "status"),
            user_input: row.get("user_input").map(str::to_owned),
            ask_clarifications: row.get("ask_clarifications").and_then(truth),
            state: json(row, "state").unwrap_or_default(),
            final_output: json(row, "final_output"),
            error: json(row, "error"),
            owner: row.get("x_owner").map(str::to_owned),
            heartbeat: stamp(row, "x_heartbeat"),
            lease: stamp(row, "x_lease"),
            created_at: stamp(row, "created_at"),
            updated_at: stamp(row, "updated_at"),
            version: row.get("x_version").and_then(|text| text.parse().ok()),
            extra: extra(row, TURN_COLUMNS),
        }
    }

    /// Returns whether the run is running or waits for input.
    pub fn is_open(&self) -> bool {
        self.known_status().is_some_and(TurnStatus::is_open)
    }
}

impl super::WorkflowEvent {
    /// Reads an event from a row.
    pub fn of_row(row: &WorkflowRow) -> super::WorkflowEvent {
        super::WorkflowEvent {
            id: row
                .get("id")
                .and_then(|id| id.parse().ok())
                .unwrap_or_default(),
            workflow_id: text(row, "workflow_id"),
            run_id: row.get("run_id").map(str::to_owned),
            kind: text(row, "kind"),
            text: text(row, "text"),
            payload: json(row, "payload"),
            created_at: stamp(row, "created_at"),
            extra: extra(row, EVENT_COLUMNS),
        }
    }
}
