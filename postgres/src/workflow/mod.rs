//! Reads and writes workflows in PostgreSQL, in tables that [`PostgresTables::set_up`] or another program created.
//!
//! A command is one transaction. It locks the workflow's row (`FOR NO KEY UPDATE`) before an event gets its id, so that
//! within a workflow the order of ids is the order of commits. Writers do not wait for uncommitted inserts of other
//! programs.

mod barrier;
mod discover;
mod listen;
mod make;
mod readback;
mod send;
mod settle;
mod transact;

use std::cell::RefCell;

use futures_util::future::join3;
use prosescope_core::record::{Fault, FaultKind, WriteError};
use prosescope_workflow::{
    Barrier, Kind, LockTarget, Op, RowCondition, Select, SqlValue, Statement, Tables, TurnStatus,
    Waiting, Work, WorkflowRow, WorkflowRows, WorkflowShape, WorkflowStatus, WorkflowTable,
};

use crate::address::Address;
use crate::cell::get;
use crate::fault;
use crate::hidden::all_rows;
use crate::server::{Bound, Lost, PgClient, owned, text};
use crate::settle::settled;
use crate::store::DELETE_OF_WORKFLOWS;
use barrier::Sequence;
use discover::Postgres;
pub use listen::Listener;

/// The most events that one transaction removes.
const BATCH: u32 = 10_000;

/// Begins a reading transaction, with the same settings for times and names as a writing transaction.
const READ: &str = concat!(
    "BEGIN READ ONLY; SET LOCAL search_path = pg_catalog; SET LOCAL TimeZone = 'UTC';
    SET LOCAL DateStyle = 'ISO, YMD'; ",
    all_rows!(
        "r",
        "c.relname IN ('workflows', 'workflow_runs', 'workflow_events')"
    )
);

/// Advice to the user if workflow tables or columns are missing.
const SETUP: &str =
    "`prosescope workflow setup --apply --state postgres` makes the tables that are missing";

/// Workflow tables in a database.
pub struct PostgresTables {
    address: Address,
    /// The idle connection; `None` while it is in use, or after it was lost.
    server: RefCell<Option<PgClient>>,
    shape: WorkflowShape,
    sequence: Sequence,
}

impl std::fmt::Debug for PostgresTables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresTables")
            .field("address", &self.address)
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

impl PostgresTables {
    /// Connects, and discovers the workflow tables in the first schema of the role's search path that contains one.
    ///
    /// # Errors
    /// If the server does not answer, or the tables cannot be used.
    pub fn open(address: &Address) -> Result<PostgresTables, Fault> {
        let tables = PostgresTables::look(address)?;
        tables.shape.fits().map_err(|unfit| {
            let message = format!("{address} is not a database of workflows: {unfit}");
            Fault::new(FaultKind::Damaged, message).hint(SETUP)
        })?;
        Ok(tables)
    }

    /// Creates missing tables, in the schema of the existing ones, else in the first schema of the role's search path,
    /// and adds Prosescope's own columns. Idempotent.
    ///
    /// # Errors
    /// A refusal if the role may not create tables there; the server's fault.
    pub fn set_up(address: &Address) -> Result<PostgresTables, WriteError> {
        make::make(address)?;
        Ok(PostgresTables::open(address)?)
    }

    fn look(address: &Address) -> Result<PostgresTables, Fault> {
        let server = PgClient::connect(address)?;
        let (shape, sequence) =
            discover::look(&server).map_err(|lost| fault::unread_fault(address, &lost))?;
        let mut tables = PostgresTables {
            address: address.clone(),
            server: RefCell::new(Some(server)),
            shape,
            sequence,
        };
        let mut shape = tables.shape.clone();
        shape.learn(&mut |wanted| tables.select(wanted))?;
        tables.shape = shape;
        Ok(tables)
    }

    /// Takes the idle connection. Connects if there is none, or if it is lost.
    fn server(&self) -> Result<PgClient, Fault> {
        let kept = self.server.borrow_mut().take();
        match kept.filter(|server| !server.is_closed()) {
            Some(server) => Ok(server),
            None => PgClient::connect(&self.address),
        }
    }

    /// Keeps a connection without an open transaction for the next use.
    fn keep(&self, server: PgClient) {
        *self.server.borrow_mut() = Some(server);
    }

    /// Asks a question, and repeats it once if the connection was lost.
    fn asked<T>(&self, ask: impl Fn(&PgClient) -> Result<T, Lost>) -> Result<T, Fault> {
        self.repeated(ask, &unread)
    }

    /// Executes an idempotent operation, and repeats it once if the connection was lost or a COMMIT was not answered.
    fn repeated<T>(
        &self,
        ask: impl Fn(&PgClient) -> Result<T, Lost>,
        wrong: &dyn Fn(&Address, &Lost) -> Fault,
    ) -> Result<T, Fault> {
        let mut repeated = false;
        loop {
            let server = self.server()?;
            match ask(&server) {
                Ok(answer) => {
                    self.keep(server);
                    return Ok(answer);
                }
                Err(Lost::AtCommit(lost)) => {
                    drop(server);
                    let again = settled(&self.address, |server| ask(server).map(Some));
                    return again.ok_or_else(|| wrong(&self.address, &Lost::AtCommit(lost)));
                }
                Err(lost) if !repeated && fault::is_passing(&lost) => repeated = true,
                Err(lost) => {
                    let is_open = !server.is_closed() && server.batch("ROLLBACK").is_ok();
                    *self.server.borrow_mut() = Some(server).filter(|_| is_open);
                    return Err(wrong(&self.address, &lost));
                }
            }
        }
    }
}

impl WorkflowRows for PostgresTables {
    fn shape(&self) -> &WorkflowShape {
        &self.shape
    }

    fn select(&self, wanted: &Select<'_>) -> Result<Vec<WorkflowRow>, Fault> {
        let Some(statement) = discover::statement(&self.shape, wanted) else {
            return Ok(Vec::new());
        };
        self.asked(|server| {
            let bound = bound(&statement.values);
            // `READ` sets the zone UTC for times, because the role may have another one.
            let all = join3(
                server.client().batch_execute(READ),
                server.question(&statement.sql, &bound),
                server.client().batch_execute("END"),
            );
            let (begun, rows, ended) = server.wait(all).ok_or(Lost::Silent)?;
            let lost = |error| server.lost(error);
            begun.map_err(lost)?;
            let rows = rows.map_err(lost)?;
            ended.map_err(lost)?;
            Ok(texts(&rows, &statement)?)
        })
    }

    fn barrier(&self) -> Result<Barrier, Fault> {
        self.asked(|server| barrier::take(server, &self.sequence))
    }

    fn still_open(&self, waits: &[Waiting]) -> Result<Vec<Waiting>, Fault> {
        if waits.is_empty() {
            return Ok(Vec::new());
        }
        self.asked(|server| barrier::still_open(server, &self.sequence, waits))
    }
}

impl Tables for PostgresTables {
    fn transact(&mut self, target: LockTarget<'_>, work: Work<'_>) -> Result<Vec<i64>, WriteError> {
        self.transacted(target, work)
    }

    /// Removes events in one transaction per batch; earlier batches stay removed if a later one fails.
    fn remove_events(&mut self, filters: &[RowCondition]) -> Result<u64, Fault> {
        let mut removed = 0;
        loop {
            let some = Select {
                filters: filters.to_vec(),
                ..Select::of(WorkflowTable::Events)
            };
            // Rows are selected by id, because their physical place is not unique in a partitioned table.
            let some = some.columns(&["id"]).order(&[("id", false)]).limit(BATCH);
            let ids = self.select(&some)?;
            let last = ids.last().and_then(|row| row.get("id")?.parse().ok());
            let Some(last) = last else {
                return Ok(removed);
            };
            let up_to = RowCondition {
                column: "id",
                op: Op::UpTo(SqlValue::Int(last)),
            };
            let filters: Vec<RowCondition> = filters.iter().cloned().chain([up_to]).collect();
            let statement = self
                .shape
                .remove(WorkflowTable::Events, &filters, &Postgres);
            let statement = statement.ok_or_else(|| missing(WorkflowTable::Events))?;
            let sql = format!(
                "WITH gone AS ({} RETURNING 1) SELECT count(*) FROM gone",
                statement.sql
            );
            // This query fails if triggers or rules of other programs kept some of the rows.
            let none = statement
                .sql
                .replacen("DELETE", "SELECT 1 / (count(*) = 0)::int", 1);
            let values = || bound(&statement.values);
            // Deletes in a transaction of its own. The query `none` divides by zero if a row is still there.
            let delete = |server: &PgClient| {
                server.batch(DELETE_OF_WORKFLOWS)?;
                let rows = server.rows_long(&sql, &values())?;
                server.batch(readback::CHECK_NOW)?;
                server.rows_long(&none, &values())?;
                server.commit()?;
                Ok(rows)
            };
            let rows = self.repeated(delete, &|address, lost| {
                if send::is_check(lost) {
                    let message = format!(
                        "{address} was not written: events that were deleted are still there"
                    );
                    Fault::new(FaultKind::Damaged, message)
                        .hint("look for rules and triggers on the table of events")
                } else {
                    unwritten(address, lost)
                }
            })?;
            let count = rows.first().map(|row| get::<i64>(row, 0)).transpose();
            let count = count.map_err(|error| unwritten(&self.address, &error.into()))?;
            removed += u64::try_from(count.unwrap_or_default()).unwrap_or_default();
            if ids.len() < usize::try_from(BATCH).unwrap_or(usize::MAX) {
                return Ok(removed);
            }
        }
    }
}

impl Drop for PostgresTables {
    fn drop(&mut self) {
        // Keeps the connection, so that the next use need not connect again.
        if let Some(server) = self.server.get_mut() {
            server.release();
        }
    }
}

/// Returns values as texts, which the statement casts to the types of their columns.
fn bound(values: &[SqlValue]) -> Vec<Bound<'_>> {
    let bound = values.iter().map(|value| match value {
        SqlValue::Null => text(None),
        SqlValue::Text(value) => text(value.as_str()),
        SqlValue::Word(word) => text(*word),
        SqlValue::Json(json) => text(json.as_str()),
        SqlValue::Bool(truth) => text(if *truth { "true" } else { "false" }),
        SqlValue::Int(number) => owned(number.to_string()),
        SqlValue::Time(ms) => owned(prosescope_workflow::time_text(*ms) + "+00"),
    });
    bound.collect()
}

fn texts(
    rows: &[tokio_postgres::Row],
    of: &Statement,
) -> Result<Vec<WorkflowRow>, tokio_postgres::Error> {
    let rows = rows.iter().map(|row| {
        let cells = of.columns.iter().enumerate();
        let cells = cells.map(|(at, name)| {
            let cell = get::<Option<String>>(row, at)?;
            Ok((name.clone(), cell.map(|cell| documented(name, cell))))
        });
        Ok(WorkflowRow(
            cells.collect::<Result<_, tokio_postgres::Error>>()?,
        ))
    });
    rows.collect()
}

/// Returns a status or kind in OpenProse's spelling, such as `active`. An enum of another program may have `ACTIVE`.
fn documented(column: &str, cell: String) -> String {
    if !matches!(column, "status" | "kind") {
        return cell;
    }
    let word = cell.to_ascii_lowercase();
    let known = WorkflowStatus::parse(&word).is_some()
        || TurnStatus::parse(&word).is_some()
        || Kind::parse(&word).is_some();
    if known { word } else { cell }
}

fn missing(table: WorkflowTable) -> Fault {
    let message = format!("the database has no table {}", table.name());
    Fault::new(FaultKind::Damaged, message).hint(SETUP)
}

/// Returns the fault for a failed read.
fn unread(address: &Address, lost: &Lost) -> Fault {
    about_workflows(fault::unread_fault(address, lost), lost)
}

/// Returns the fault for a failed write.
fn unwritten(address: &Address, lost: &Lost) -> Fault {
    about_workflows(fault::unwritten(address, lost), lost)
}

/// Replaces the advice for runs, which names the schema `openprose`, by advice for workflow tables.
fn about_workflows(fault: Fault, lost: &Lost) -> Fault {
    let code = match lost {
        Lost::Error(error) => error.code().map(tokio_postgres::error::SqlState::code),
        Lost::Silent | Lost::Flood(_) | Lost::AtCommit(_) => None,
    };
    match code {
        _ if matches!(lost, Lost::AtCommit(_)) => fault.hint(settle::LOOK),
        Some("42501") => fault.hint(
            "let the owner of the tables of workflows grant SELECT, INSERT, UPDATE and DELETE on them, and USAGE and SELECT on the sequence of workflow_events.id",
        ),
        Some("0A000") => fault.hint(
            "the server is a read replica, or a table of workflows has a rule, which PostgreSQL does not run here: give the address of the primary server, or replace the rule with a trigger",
        ),
        Some(code) if code.starts_with("23") => fault.hint(
            "a constraint of the table refuses the row: compare the table with the output of `prosescope workflow setup`",
        ),
        _ if fault.kind == FaultKind::Damaged || fault.hint.contains("openprose") => fault.hint(SETUP),
        _ => fault,
    }
}
