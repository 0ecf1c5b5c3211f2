//! Reads and writes workflow tables in a SQLite database: Prosescope's file (`.prose/workflows.db`), or a database of
//! another program. The caller opens the connection.

use rusqlite::types::{ToSqlOutput, Value as Bound, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};

use prosescope_core::model::schema::{OF_WORKFLOWS, WORKFLOWS_SQL};
use prosescope_core::read::sqlite::{fit_for_writing, guard};

use super::{
    Barrier, LockTarget, RowCondition, Select, SqlDialect, SqlValue, Statement, TableShape, Turn,
    Waiting, Work, Workflow, WorkflowColumn, WorkflowFacts, WorkflowRow, WorkflowRows,
    WorkflowShape, WorkflowTable, label, quoted, time_text,
};
use prosescope_core::model::database::Limits;
use prosescope_core::model::source::SourceError;
use prosescope_core::record::{Fault, FaultKind, WriteError};

/// The most bytes of a BLOB that are read; the remaining bytes are left out.
const SHOWN: usize = 64 << 10;

/// Workflow tables in a SQLite database, open for reading and writing.
#[derive(Debug)]
pub struct SqliteTables {
    conn: Connection,
    shape: WorkflowShape,
}

impl SqliteTables {
    /// Discovers the existing tables. The caller must have guarded the connection with
    /// [`prosescope_core::read::sqlite::guard`].
    ///
    /// # Errors
    /// The fault of the database.
    pub fn new(conn: Connection) -> Result<SqliteTables, Fault> {
        let shape = discover(&conn)?;
        let mut tables = SqliteTables { conn, shape };
        tables.learn()?;
        Ok(tables)
    }

    /// Opens the workflow tables of a database read-only, for [`Source`](prosescope_core::model::source::Source)s.
    ///
    /// # Errors
    /// See [`guard()`]; the error contains `path`.
    pub fn of_source(
        mut conn: Connection,
        path: &str,
        limits: &Limits,
    ) -> Result<SqliteTables, SourceError> {
        let guarded = guard(&mut conn, limits.into());
        guarded.map_err(|error| SourceError::of_database(path, &error))?;
        SqliteTables::new(conn).map_err(|fault| SourceError::Database {
            path: path.to_owned(),
            cause: fault.message,
            next: fault.hint,
            failed: false,
        })
    }

    /// Creates the missing tables, adds Prosescope's missing columns, and discovers the tables again.
    ///
    /// # Errors
    /// The fault of the database.
    pub fn set_up(&mut self) -> Result<(), Fault> {
        for (table, column, of) in [
            (
                WorkflowTable::Workflows,
                "x_version",
                "INTEGER NOT NULL DEFAULT 1",
            ),
            (
                WorkflowTable::Runs,
                "x_version",
                "INTEGER NOT NULL DEFAULT 1",
            ),
            (WorkflowTable::Runs, "x_owner", "TEXT"),
            (WorkflowTable::Runs, "x_heartbeat", "TEXT"),
            (WorkflowTable::Runs, "x_lease", "TEXT"),
        ] {
            if self.shape.table(table).is_some() && !self.shape.has(table, column) {
                let sql = format!("ALTER TABLE {} ADD COLUMN {column} {of}", table.name());
                self.conn.execute_batch(&sql).map_err(fault)?;
            }
        }
        self.conn.execute_batch(WORKFLOWS_SQL).map_err(fault)?;
        self.shape = discover(&self.conn)?;
        self.learn()
    }

    fn learn(&mut self) -> Result<(), Fault> {
        let mut shape = self.shape.clone();
        shape.learn(&mut |wanted| self.select(wanted))?;
        self.shape = shape;
        Ok(())
    }

    /// Calls a function inside one immediate transaction: everything is recorded, or nothing.
    ///
    /// # Errors
    /// The error of the function, or the fault of the database.
    pub fn immediate<T, E: From<Fault>>(
        &mut self,
        work: impl FnOnce(&mut SqliteTables) -> Result<T, E>,
    ) -> Result<T, E> {
        self.conn.execute_batch("BEGIN IMMEDIATE").map_err(fault)?;
        let done = self.require_fit().map_err(E::from);
        let done = done.and_then(|()| work(self)).and_then(|done| {
            self.conn.execute_batch("COMMIT").map_err(fault)?;
            Ok(done)
        });
        if done.is_err() && !self.conn.is_autocommit() {
            // A failing ROLLBACK is ignored: the journal undoes the transaction on the next opening.
            let _ = self.conn.execute_batch("ROLLBACK");
        }
        done
    }

    /// Refuses tables on which something is that may not be there.
    fn require_fit(&self) -> Result<(), Fault> {
        let damaged = |message: String| Fault::new(FaultKind::Damaged, message);
        match fit_for_writing(&self.conn, &OF_WORKFLOWS, true) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(unfit)) => Err(damaged(format!("{unfit}, so it is not recorded into"))
                .hint("remove from the table what is named, or record into another database")),
            Err(error) => Err(damaged(error.to_string())),
        }
    }

    /// Calls `work` for the changes and applies them, inside the transaction that the caller began and ends. Returns
    /// the ids of new events.
    ///
    /// # Errors
    /// The error of `work`, or the fault of the database.
    pub fn apply(&self, target: LockTarget<'_>, work: Work<'_>) -> Result<Vec<i64>, WriteError> {
        let workflow = match target {
            LockTarget::New => None,
            LockTarget::Workflow(id) => Some(id.to_owned()),
            LockTarget::Run(id) => {
                let found = self.select(&Select::of(WorkflowTable::Runs).is("id", id))?;
                found.first().map(|row| Turn::of_row(row).workflow_id)
            }
        };
        let workflow = match workflow {
            None => None,
            Some(id) => {
                let found =
                    self.select(&Select::of(WorkflowTable::Workflows).is("id", id.as_str()))?;
                found.first().map(Workflow::of_row)
            }
        };
        let facts = SqliteFacts {
            tables: self,
            workflow,
        };
        let mut ids = Vec::new();
        for change in work(&facts)? {
            let Some(statement) = self.shape.change(&change, &Sqlite) else {
                return Err(missing(change.table).into());
            };
            let rows = self.run(&statement)?;
            let changed = self.conn.changes();
            if change.table == WorkflowTable::Events {
                let id = rows
                    .first()
                    .and_then(|row| row.get("id")?.parse::<i64>().ok());
                ids.extend(id);
            } else if change.row.is_some() && changed != 1 {
                let message = format!(
                    "a change of one row in `{}` would have changed {changed} rows",
                    change.table.name()
                );
                return Err(Fault::new(FaultKind::Damaged, message).into());
            }
        }
        Ok(ids)
    }

    /// Removes the events that meet all conditions; returns how many were removed.
    ///
    /// # Errors
    /// The fault of the database.
    pub fn remove(&self, filters: &[RowCondition]) -> Result<u64, Fault> {
        let statement = self.shape.remove(WorkflowTable::Events, filters, &Sqlite);
        let statement = statement.ok_or_else(|| missing(WorkflowTable::Events))?;
        self.run(&statement)?;
        Ok(self.conn.changes())
    }

    /// Returns the newest id that AUTOINCREMENT assigned to an event; `None` if the table does not use AUTOINCREMENT.
    fn counted(&self) -> Result<Option<i64>, Fault> {
        let name = WorkflowTable::Events.name();
        // SQLite creates `sqlite_sequence` together with the first AUTOINCREMENT table, so the second statement is
        // valid only if the first one finds such a table.
        let counts = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1 AND sql LIKE '%AUTOINCREMENT%'";
        let counts: i64 = self
            .conn
            .prepare_cached(counts)
            .and_then(|mut asked| asked.query_row([name], |row| row.get(0)))
            .map_err(fault)?;
        if counts == 0 {
            return Ok(None);
        }
        let newest = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?1";
        let newest = self
            .conn
            .prepare_cached(newest)
            .and_then(|mut asked| asked.query_row([name], |row| row.get(0)))
            .map_err(fault)?;
        Ok(Some(newest))
    }

    fn run(&self, statement: &Statement) -> Result<Vec<WorkflowRow>, Fault> {
        let mut prepared = self.conn.prepare_cached(&statement.sql).map_err(fault)?;
        let mut found = prepared
            .query(params_from_iter(&statement.values))
            .map_err(fault)?;
        let mut rows = Vec::new();
        while let Some(row) = found.next().map_err(fault)? {
            let mut cells = Vec::with_capacity(statement.columns.len());
            for (at, name) in statement.columns.iter().enumerate() {
                let cell = row.get_ref(at).map_err(fault)?;
                cells.push((name.clone(), text(cell)));
            }
            rows.push(WorkflowRow(cells));
        }
        Ok(rows)
    }
}

impl WorkflowRows for SqliteTables {
    fn shape(&self) -> &WorkflowShape {
        &self.shape
    }

    fn select(&self, wanted: &Select<'_>) -> Result<Vec<WorkflowRow>, Fault> {
        match self.shape.select(wanted, &Sqlite) {
            None => Ok(Vec::new()),
            Some(statement) => self.run(&statement),
        }
    }

    fn barrier(&self) -> Result<Barrier, Fault> {
        // SQLite has one writer at a time, so ids are in the order of commits.
        let newest = Select::of(WorkflowTable::Events)
            .columns(&["id"])
            .order(&[("id", true)])
            .limit(1);
        let newest = self.select(&newest)?;
        let until: Option<i64> = newest.first().and_then(|row| row.get("id")?.parse().ok());
        let counted = self.counted()?;
        Ok(Barrier {
            until: until.max(counted).unwrap_or_default(),
            is_counted: counted.is_some(),
            ..Barrier::default()
        })
    }

    fn still_open(&self, _waits: &[Waiting]) -> Result<Vec<Waiting>, Fault> {
        Ok(Vec::new())
    }
}

struct SqliteFacts<'a> {
    tables: &'a SqliteTables,
    workflow: Option<Workflow>,
}

impl WorkflowFacts for SqliteFacts<'_> {
    fn select(&self, wanted: &Select<'_>) -> Result<Vec<WorkflowRow>, Fault> {
        self.tables.select(wanted)
    }

    fn shape(&self) -> &WorkflowShape {
        &self.tables.shape
    }

    fn workflow(&self) -> Option<&Workflow> {
        self.workflow.as_ref()
    }
}

/// The SQL dialect of SQLite.
struct Sqlite;

impl SqlDialect for Sqlite {
    fn read(&self, column: &WorkflowColumn) -> String {
        quoted(&column.name)
    }

    fn place(&self, n: usize, _column: &WorkflowColumn) -> String {
        format!("?{n}")
    }

    fn value(&self, value: &SqlValue, column: &WorkflowColumn) -> SqlValue {
        match value {
            SqlValue::Word(word) => SqlValue::Text(label(word, column)),
            SqlValue::Time(ms) => SqlValue::Text(time_text(*ms)),
            SqlValue::Json(json) => SqlValue::Text(json.as_str().to_owned()),
            // SQLAlchemy stores UUIDs as CHAR(32), without dashes.
            SqlValue::Text(id) if column.of.eq_ignore_ascii_case("CHAR(32)") && id.len() == 36 => {
                SqlValue::Text(id.replace('-', ""))
            }
            other => other.clone(),
        }
    }
}

impl ToSql for SqlValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            SqlValue::Null => ToSqlOutput::Owned(Bound::Null),
            SqlValue::Text(text) => ToSqlOutput::from(text.as_str()),
            SqlValue::Word(word) => ToSqlOutput::from(*word),
            SqlValue::Json(json) => ToSqlOutput::from(json.as_str()),
            SqlValue::Bool(truth) => ToSqlOutput::from(*truth),
            SqlValue::Int(number) => ToSqlOutput::from(*number),
            SqlValue::Time(ms) => ToSqlOutput::from(time_text(*ms)),
        })
    }
}

fn text(cell: ValueRef<'_>) -> Option<String> {
    match cell {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => {
            let shown = bytes.get(..SHOWN).unwrap_or(bytes);
            Some(String::from_utf8_lossy(shown).into_owned())
        }
    }
}

/// Discovers the workflow tables. Views are skipped, so that no SQL of another program's schema runs.
fn discover(conn: &Connection) -> Result<WorkflowShape, Fault> {
    let mut shape = WorkflowShape::default();
    for table in [
        WorkflowTable::Workflows,
        WorkflowTable::Runs,
        WorkflowTable::Events,
    ] {
        let mut found = conn
            .prepare_cached(
                "SELECT c.name, c.type FROM main.sqlite_schema AS s, pragma_table_xinfo(s.name) AS c
                 WHERE s.type = 'table' AND s.name = ?1 AND c.hidden = 0 AND s.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY c.cid",
            )
            .map_err(fault)?;
        let columns = found
            .query_map([table.name()], |row| {
                let name: Bound = row.get(0)?;
                let of: Bound = row.get(1)?;
                let text = |value: Bound| match value {
                    Bound::Text(text) => text,
                    _ => String::new(),
                };
                Ok(WorkflowColumn {
                    name: text(name),
                    of: text(of),
                    labels: Vec::new(),
                })
            })
            .and_then(Iterator::collect::<rusqlite::Result<Vec<WorkflowColumn>>>)
            .map_err(fault)?;
        if !columns.is_empty() {
            let name = quoted(table.name());
            shape.tables.push((table, TableShape { name, columns }));
        }
    }
    Ok(shape)
}

fn missing(table: WorkflowTable) -> Fault {
    Fault::new(
        FaultKind::Damaged,
        format!("the database has no table {}", table.name()),
    )
    .hint("make the table with `prosescope workflow setup --apply`")
}

/// Converts an error of SQLite to a fault. The caller adds the database's path.
fn fault(error: rusqlite::Error) -> Fault {
    use rusqlite::ErrorCode;
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => FaultKind::Busy,
        Some(ErrorCode::DiskFull) => FaultKind::Full,
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            FaultKind::ReadOnly
        }
        Some(ErrorCode::SystemIoFailure | ErrorCode::OperationInterrupted) => FaultKind::Io,
        _ => FaultKind::Damaged,
    };
    let message = match &error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    };
    Fault::new(kind, message)
}
