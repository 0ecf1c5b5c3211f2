//! Workflows in PostgreSQL (memoria.md): the tables that [`WORKFLOWS_POSTGRES_SQL`] makes, or those of another program.
//!
//! A command is one transaction. It locks the workflow's row (`FOR NO KEY UPDATE`) before an event takes its id, so that
//! within a workflow the order of ids is the order of commits, and writers do not wait for foreign, uncommitted inserts.

mod barrier;
mod discover;
mod listen;
mod settle;

use std::thread;
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use futures_util::future::{join, join_all};
use prosescope_core::workflow::{
    Barrier, Change, Facts, Filter, Op, Row, Rows, Select, Shape, Statement, Table, Tables, Target,
    Value, WORKFLOWS_POSTGRES_SQL, Waiting, Work, Workflow,
};
use prosescope_core::write::{Fault, FaultKind, WriteError};

use crate::address::Address;
use crate::fault;
use crate::rows::get;
use crate::server::{Bound, Lost, Server, owned, text, typed};
use crate::store::BEGIN;
use barrier::Sequence;
use discover::Postgres;
pub use listen::Listener;

/// How often a command is begun anew when other transactions were in its way, or the connection was lost.
const TRIES: u32 = 20;

/// How long a command that was cut off looks for the server.
const PATIENCE: Duration = Duration::from_secs(20);

/// Events that one transaction removes.
const BATCH: u32 = 10_000;

/// What to do where the tables do not do what they should.
const SETUP: &str =
    "`prose workflow setup --apply --state postgres` makes the tables that are missing";

/// Tables of workflows in a database.
pub struct PostgresTables {
    address: Address,
    server: Option<Server>,
    shape: Shape,
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

/// Why a command was not recorded.
enum Failed {
    /// The same may succeed when it is begun anew.
    Passing(Fault),
    /// It cannot be.
    Finally(WriteError),
    /// The server did not answer the COMMIT of these changes.
    Unanswered(Box<settle::Unanswered>),
}

impl From<WriteError> for Failed {
    fn from(error: WriteError) -> Failed {
        Failed::Finally(error)
    }
}

impl PostgresTables {
    /// Looks which tables there are, in the first schema of the role's search path that has one.
    ///
    /// # Errors
    /// When the server does not answer, or the tables cannot be used.
    pub fn open(address: &Address) -> Result<PostgresTables, Fault> {
        let tables = PostgresTables::look(address)?;
        tables.shape.fits().map_err(|unfit| {
            let message = format!("{address} is no database of workflows: {unfit}");
            Fault::new(FaultKind::Damaged, message).hint(SETUP)
        })?;
        Ok(tables)
    }

    /// Makes the tables that are missing in the first schema of the role's search path, and adds our own columns.
    ///
    /// # Errors
    /// When the server does not answer, or refuses.
    pub fn set_up(address: &Address) -> Result<PostgresTables, Fault> {
        let server = Server::connect(address)?;
        if let Err(lost) = server.batch(WORKFLOWS_POSTGRES_SQL) {
            let fault = unwritten(address, &lost);
            // The statement's own transaction is still open, and failed.
            let _ = server.batch("ROLLBACK");
            return Err(fault);
        }
        server.release();
        PostgresTables::open(address)
    }

    fn look(address: &Address) -> Result<PostgresTables, Fault> {
        let server = Server::connect(address)?;
        let (shape, sequence) =
            discover::look(&server).map_err(|lost| fault::unread_fault(address, &lost))?;
        let mut tables = PostgresTables {
            address: address.clone(),
            server: Some(server),
            shape,
            sequence,
        };
        let mut shape = tables.shape.clone();
        shape.learn(&mut |wanted| tables.select(wanted))?;
        tables.shape = shape;
        Ok(tables)
    }

    fn server(&self) -> Result<&Server, Fault> {
        let gone = || {
            let message = format!("{} cannot be read: the connection was lost", self.address);
            Fault::new(FaultKind::Io, message).hint("check that the server runs, and try again")
        };
        self.server
            .as_ref()
            .filter(|server| !server.is_closed())
            .ok_or_else(gone)
    }

    fn attempt(&mut self, target: Target<'_>, work: Work<'_>) -> Result<Vec<i64>, Failed> {
        let server = match self.server.take() {
            Some(server) if !server.is_closed() => server,
            _ => Server::connect(&self.address).map_err(Failed::Passing)?,
        };
        let done = self.in_transaction(&server, target, work);
        let is_over = match &done {
            Ok(_) => true,
            Err(Failed::Unanswered(_)) => false,
            Err(_) => !server.is_closed() && server.batch("ROLLBACK").is_ok(),
        };
        // The server ends an open transaction with its session.
        self.server = Some(server).filter(|_| is_over);
        done
    }

    fn in_transaction(
        &self,
        server: &Server,
        target: Target<'_>,
        work: Work<'_>,
    ) -> Result<Vec<i64>, Failed> {
        let failed = |lost: Lost| self.failed(&lost);
        let workflow = self.lock(server, target).map_err(failed)?;
        let facts = PostgresFacts {
            tables: self,
            server,
            workflow,
        };
        let changes = work(&facts)?;
        if changes.is_empty() {
            return server
                .batch("ROLLBACK")
                .map(|()| Vec::new())
                .map_err(failed);
        }
        let mut statements = Vec::with_capacity(changes.len());
        for change in &changes {
            let statement = self.shape.change(change, &Postgres);
            let statement = statement.ok_or_else(|| WriteError::from(missing(change.table)))?;
            statements.push(statement);
        }
        let ids = self.send(server, &changes, &statements)?;
        match server.batch("COMMIT") {
            Ok(()) => Ok(ids),
            Err(lost) if fault::leaves_open(&lost) => {
                let version = facts
                    .workflow
                    .as_ref()
                    .and_then(|workflow| workflow.version);
                Err(Failed::Unanswered(Box::new(settle::Unanswered {
                    workflow: facts.workflow.map(|workflow| workflow.id),
                    version,
                    changes,
                    ids,
                    lost,
                })))
            }
            Err(lost) => Err(failed(lost)),
        }
    }

    /// Begins a transaction, and locks the workflow's row.
    fn lock(&self, server: &Server, target: Target<'_>) -> Result<Option<Workflow>, Lost> {
        let Some(statement) = self.locking(target) else {
            server.batch(BEGIN)?;
            return Ok(None);
        };
        let bound = bound(&statement.values);
        let all = join(
            server.client().batch_execute(BEGIN),
            server.question(&statement.sql, &bound),
        );
        let (begun, rows) = server.wait(all).ok_or(Lost::Silent)?;
        begun?;
        let rows = texts(&rows?, &statement)?;
        Ok(rows.first().map(Workflow::of_row))
    }

    /// The statement that locks a workflow; `None` where nothing can be locked.
    fn locking(&self, target: Target<'_>) -> Option<Statement> {
        let all = Select::of(Table::Workflows);
        let (wanted, id) = match target {
            Target::New => return None,
            Target::Workflow(id) => (all.is("id", id), None),
            Target::Run(id) => (all, Some(id)),
        };
        if !discover::may_be(&self.shape, &wanted) {
            return None;
        }
        let mut statement = self.shape.select(&wanted, &Postgres)?;
        if let Some(id) = id {
            let of_run = Select::of(Table::Runs)
                .columns(&["workflow_id"])
                .is("id", id);
            if !discover::may_be(&self.shape, &of_run) {
                return None;
            }
            let of_run = self.shape.select(&of_run, &Postgres)?;
            let (_, from) = of_run.sql.split_once(" FROM ")?;
            statement.sql = format!(
                "{} WHERE \"id\" = (SELECT \"workflow_id\" FROM {from})",
                statement.sql
            );
            statement.values = of_run.values;
        }
        statement.sql.push_str(" FOR NO KEY UPDATE");
        Some(statement)
    }

    /// Sends all statements without waiting, and then looks at the answers; returns the ids of events.
    fn send(
        &self,
        server: &Server,
        changes: &[Change],
        statements: &[Statement],
    ) -> Result<Vec<i64>, Failed> {
        let client = server.client();
        let all = statements.iter().map(|statement| async move {
            let bound = bound(&statement.values);
            let rows = client
                .query_typed_raw(&statement.sql, typed(&bound))
                .await?;
            let mut rows = std::pin::pin!(rows);
            let mut ids = Vec::new();
            while let Some(row) = rows.try_next().await? {
                ids.extend(get::<Option<String>>(&row, 0)?);
            }
            Ok::<_, tokio_postgres::Error>((ids, rows.rows_affected().unwrap_or(0)))
        });
        let answers = server.wait(join_all(all));
        let answers = answers.ok_or_else(|| self.failed(&Lost::Silent))?;
        let mut ids = Vec::new();
        for (answer, change) in answers.into_iter().zip(changes) {
            // The first error is the reason for the others.
            let (answered, changed) = answer.map_err(|error| self.failed(&Lost::Error(error)))?;
            if changed != 1 {
                let message = format!(
                    "{} was not written: one row of {} was to change, {changed} would have",
                    self.address,
                    change.table.name()
                );
                let hint = "look for rules, triggers and row security on the table";
                let fault = Fault::new(FaultKind::Damaged, message).hint(hint);
                return Err(Failed::Finally(fault.into()));
            }
            if change.table == Table::Events {
                ids.extend(answered.iter().filter_map(|id| id.parse::<i64>().ok()));
            }
        }
        Ok(ids)
    }

    fn failed(&self, lost: &Lost) -> Failed {
        if fault::is_passing(lost) {
            return Failed::Passing(unwritten(&self.address, lost));
        }
        if let Some(why) = fault::not_storable(lost) {
            let message = format!(
                "{} was not written: PostgreSQL refuses a value: {why}",
                self.address
            );
            let hint = "leave the character out, or keep workflows in a file (--state sqlite)";
            return Failed::Finally(WriteError::refused("not-storable", message, hint));
        }
        Failed::Finally(unwritten(&self.address, lost).into())
    }

    fn rows(&self, statement: &Statement, ask: Ask) -> Result<Vec<Row>, Lost> {
        let bound = bound(&statement.values);
        let (server, alone) = match ask {
            Ask::Alone(server) => (server, true),
            Ask::InTransaction(server) => (server, false),
        };
        let rows = match alone {
            true => server.ask(&statement.sql, &bound)?,
            false => server.rows(&statement.sql, &bound)?,
        };
        Ok(texts(&rows, statement)?)
    }
}

/// How a question is asked.
enum Ask<'a> {
    Alone(&'a Server),
    InTransaction(&'a Server),
}

impl Rows for PostgresTables {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn is_open(&self) -> bool {
        self.server.as_ref().is_some_and(|server| {
            // What came meanwhile, the end of the connection too, is only looked at while somebody waits.
            server.wait_for(Duration::from_millis(1), tokio::task::yield_now());
            !server.is_closed()
        })
    }

    fn select(&self, wanted: &Select<'_>) -> Result<Vec<Row>, Fault> {
        let statement = discover::may_be(&self.shape, wanted)
            .then(|| self.shape.select(wanted, &Postgres))
            .flatten();
        let Some(statement) = statement else {
            return Ok(Vec::new());
        };
        let rows = self.rows(&statement, Ask::Alone(self.server()?));
        rows.map_err(|lost| fault::unread_fault(&self.address, &lost))
    }

    fn barrier(&self) -> Result<Barrier, Fault> {
        let barrier = barrier::take(self.server()?, &self.sequence);
        barrier.map_err(|lost| fault::unread_fault(&self.address, &lost))
    }

    fn still_open(&self, waits: &[Waiting]) -> Result<Vec<Waiting>, Fault> {
        if waits.is_empty() {
            return Ok(Vec::new());
        }
        let open = barrier::writers(self.server()?, &self.sequence);
        let mut open = open.map_err(|lost| fault::unread_fault(&self.address, &lost))?;
        open.retain(|one| {
            waits
                .iter()
                .any(|waiting| waiting.transaction == one.transaction)
        });
        Ok(open)
    }
}

impl Tables for PostgresTables {
    fn transact(&mut self, target: Target<'_>, work: Work<'_>) -> Result<Vec<i64>, WriteError> {
        let mut last = None;
        for n in 0..TRIES {
            match self.attempt(target, work) {
                Ok(ids) => return Ok(ids),
                Err(Failed::Finally(error)) => return Err(error),
                Err(Failed::Passing(fault)) => last = Some(fault),
                Err(Failed::Unanswered(unanswered)) => match self.settle(*unanswered)? {
                    settle::Settled::Recorded(ids) => return Ok(ids),
                    settle::Settled::Not(fault) => last = Some(fault),
                },
            }
            thread::sleep(Duration::from_millis(u64::from(n) * 20));
        }
        let busy = || Fault::new(FaultKind::Busy, format!("{} was not written", self.address));
        Err(last.unwrap_or_else(busy).into())
    }

    fn remove_events(&mut self, filters: &[Filter]) -> Result<u64, Fault> {
        let wanted = Select {
            filters: filters.to_vec(),
            ..Select::of(Table::Events)
        };
        let statement = discover::may_be(&self.shape, &wanted)
            .then(|| self.shape.remove(Table::Events, filters, &Postgres))
            .flatten();
        let Some((statement, (delete, condition))) = statement
            .as_ref()
            .and_then(|statement| Some((statement, statement.sql.split_once(" WHERE ")?)))
        else {
            return Ok(0);
        };
        let (_, table) = delete.split_once("FROM ").unwrap_or_default();
        let sql = format!(
            "WITH gone AS ({delete} WHERE ctid = ANY (ARRAY(SELECT ctid FROM {table} WHERE {condition} LIMIT {BATCH})) RETURNING 1)
             SELECT count(*) FROM gone"
        );
        let mut removed = 0;
        loop {
            let server = self.server()?;
            let values = bound(&statement.values);
            let batch = || -> Result<i64, Lost> {
                server.batch(BEGIN)?;
                let rows = server.rows(&sql, &values)?;
                server.batch("COMMIT")?;
                let count = rows.first().map(|row| get::<i64>(row, 0)).transpose()?;
                Ok(count.unwrap_or_default())
            };
            let batch = batch().map_err(|lost| self.undone(&lost))?;
            removed += u64::try_from(batch).unwrap_or_default();
            if batch < i64::from(BATCH) {
                return Ok(removed);
            }
        }
    }

    fn note_cursor(
        &mut self,
        workflow: &str,
        follower: &str,
        cursor: i64,
        now: i64,
    ) -> Result<(), Fault> {
        let table = self
            .shape
            .table(Table::Followers)
            .ok_or_else(|| missing(Table::Followers))?;
        let of = table
            .column("workflow_id")
            .map_or("text", |column| column.of.as_str());
        let sql = format!(
            "INSERT INTO {} AS known (workflow_id, name, cursor, updated_at)
             VALUES ($1::text::{of}, $2::text, $3::text::bigint, $4::text::timestamptz)
             ON CONFLICT (workflow_id, name) DO UPDATE
             SET cursor = greatest(known.cursor, excluded.cursor), updated_at = excluded.updated_at",
            table.name
        );
        let cursor = cursor.to_string();
        let now = prosescope_core::workflow::time_text(now) + "+00";
        let values = [text(workflow), text(follower), text(&*cursor), text(&*now)];
        let server = self.server()?;
        let write = || -> Result<(), Lost> {
            server.batch(BEGIN)?;
            server.rows(&sql, &values)?;
            server.batch("COMMIT")
        };
        write().map_err(|lost| self.undone(&lost))
    }
}

impl PostgresTables {
    /// Ends a transaction that failed.
    fn undone(&self, lost: &Lost) -> Fault {
        if let Ok(server) = self.server() {
            // The server ends the transaction with its session where this fails too.
            let _ = server.batch("ROLLBACK");
        }
        unwritten(&self.address, lost)
    }

    /// Finds out what became of a transaction whose COMMIT was not answered.
    fn settle(&mut self, of: settle::Unanswered) -> Result<settle::Settled, WriteError> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Ok(server) = Server::connect(&self.address)
                && let Ok(visible) = self.look_for(&server, &of)
            {
                self.server = Some(server);
                return settle::settled(&self.address, of, visible);
            }
            // The server is not back yet.
            thread::sleep(Duration::from_millis(100));
        }
        Err(settle::unknown(&self.address))
    }
}

/// What a plan may know, in the command's transaction.
struct PostgresFacts<'a> {
    tables: &'a PostgresTables,
    server: &'a Server,
    workflow: Option<Workflow>,
}

impl Facts for PostgresFacts<'_> {
    fn select(&self, wanted: &Select<'_>) -> Result<Vec<Row>, Fault> {
        let shape = &self.tables.shape;
        let statement = discover::may_be(shape, wanted)
            .then(|| shape.select(wanted, &Postgres))
            .flatten();
        let Some(statement) = statement else {
            return Ok(Vec::new());
        };
        let rows = self
            .tables
            .rows(&statement, Ask::InTransaction(self.server));
        rows.map_err(|lost| unwritten(&self.tables.address, &lost))
    }

    fn shape(&self) -> &Shape {
        &self.tables.shape
    }

    fn workflow(&self) -> Option<&Workflow> {
        self.workflow.as_ref()
    }
}

/// Values as texts, which the statement casts to the types of their columns.
fn bound(values: &[Value]) -> Vec<Bound<'_>> {
    let bound = values.iter().map(|value| match value {
        Value::Null => text(None),
        Value::Text(value) => text(value.as_str()),
        Value::Word(word) => text(*word),
        Value::Json(json) => text(json.as_str()),
        Value::Bool(truth) => text(if *truth { "true" } else { "false" }),
        Value::Int(number) => owned(number.to_string()),
        Value::Time(ms) => owned(prosescope_core::workflow::time_text(*ms) + "+00"),
    });
    bound.collect()
}

fn texts(rows: &[tokio_postgres::Row], of: &Statement) -> Result<Vec<Row>, tokio_postgres::Error> {
    let rows = rows.iter().map(|row| {
        let cells = of.columns.iter().enumerate();
        let cells = cells.map(|(at, name)| Ok((name.clone(), get::<Option<String>>(row, at)?)));
        Ok(Row(cells.collect::<Result<_, tokio_postgres::Error>>()?))
    });
    rows.collect()
}

fn missing(table: Table) -> Fault {
    let message = format!("the database has no table {}", table.name());
    Fault::new(FaultKind::Damaged, message).hint(SETUP)
}

/// Why nothing was recorded.
fn unwritten(address: &Address, lost: &Lost) -> Fault {
    let fault = fault::unwritten(address, lost);
    match fault.kind {
        FaultKind::Damaged => fault.hint(SETUP),
        FaultKind::ReadOnly if fault.hint.contains("openprose") => {
            fault.hint("let the owner of the tables of workflows grant the rights on them")
        }
        _ => fault,
    }
}

/// Whether a condition compares with nothing but what the column can hold.
fn is_uuid(text: &str) -> bool {
    let digits = text.chars().filter(|c| *c != '-');
    text.chars().all(|c| c == '-' || c.is_ascii_hexdigit()) && digits.count() == 32
}

/// Whether the values of a condition can be in a column of UUIDs.
fn can_hold(op: &Op) -> bool {
    let fits = |value: &Value| match value {
        Value::Text(text) => is_uuid(text),
        _ => true,
    };
    match op {
        Op::Is(value) => fits(value),
        Op::In(values) => values.iter().all(fits),
        _ => true,
    }
}
