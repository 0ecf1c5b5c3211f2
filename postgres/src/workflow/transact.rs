//! Executes one command on workflows: locks the workflow's row, computes the changes, and applies them.

use std::cell::Cell;
use std::thread;
use std::time::Duration;

use futures_util::future::join3;
use prosescope_core::record::{Fault, FaultKind, WriteError};
use prosescope_workflow::{Facts, Row, Select, Shape, Statement, Table, Target, Work, Workflow};

use super::{PostgresTables, bound, discover, send, settle, texts, unwritten};
use crate::fault;
use crate::rows::get;
use crate::server::{Lost, Server};
use crate::settle::settled;
use crate::store::{LOCK_WAIT, OF_WORKFLOWS};

/// The most attempts of a command that fails because of other transactions or lost connections.
const TRIES: u32 = 20;

/// The reason why a command was not recorded.
pub(super) enum Failed {
    /// A retry may succeed.
    Passing(Fault),
    /// A retry cannot succeed.
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
    /// Records a command; retries it after conflicts with other transactions, or after a connection lost before its
    /// COMMIT.
    pub(super) fn transacted(
        &mut self,
        target: Target<'_>,
        work: Work<'_>,
    ) -> Result<Vec<i64>, WriteError> {
        let (mut last, mut was_silent) = (None, false);
        for n in 0..TRIES {
            match self.attempt(target, work) {
                Ok(ids) => return Ok(ids),
                Err(Failed::Finally(error)) => return Err(error),
                Err(Failed::Passing(fault)) => last = Some(fault),
                Err(Failed::Unanswered(unanswered)) => {
                    match self.settle(&unanswered, was_silent)? {
                        settle::Settled::Recorded(ids) => return Ok(ids),
                        settle::Settled::Not(fault) => {
                            was_silent |= matches!(unanswered.lost, Lost::Silent);
                            last = Some(fault);
                        }
                    }
                }
            }
            thread::sleep(Duration::from_millis(u64::from(n) * 20));
        }
        let busy = || Fault::new(FaultKind::Busy, format!("{} was not written", self.address));
        Err(last.unwrap_or_else(busy).into())
    }

    fn attempt(&mut self, target: Target<'_>, work: Work<'_>) -> Result<Vec<i64>, Failed> {
        let server = self.server().map_err(Failed::Passing)?;
        let done = self.in_transaction(&server, target, work);
        let is_over = match &done {
            Ok(_) => true,
            Err(Failed::Unanswered(_)) => false,
            Err(_) => !server.is_closed() && server.batch("ROLLBACK").is_ok(),
        };
        // A connection with an open transaction is dropped. The server then ends the transaction.
        *self.server.borrow_mut() = Some(server).filter(|_| is_over);
        done
    }

    fn in_transaction(
        &self,
        server: &Server,
        target: Target<'_>,
        work: Work<'_>,
    ) -> Result<Vec<i64>, Failed> {
        let failed = |lost: Lost| self.failed(&lost);
        let (workflow, transaction) = self.lock(server, target).map_err(failed)?;
        let facts = PostgresFacts {
            tables: self,
            server,
            workflow,
            lost: Cell::new(None),
        };
        let changes = work(&facts).map_err(|error| match facts.lost.take() {
            Some(lost) if fault::is_passing(&lost) => self.failed(&lost),
            _ => Failed::Finally(error),
        })?;
        if changes.is_empty() {
            return server
                .batch("ROLLBACK")
                .map(|()| Vec::new())
                .map_err(failed);
        }
        match self.commit(server, &changes)? {
            send::Sent::Recorded(ids) => Ok(ids),
            send::Sent::Unanswered(lost) => Err(Failed::Unanswered(Box::new(settle::Unanswered {
                transaction,
                changes,
                lost,
            }))),
        }
    }

    /// Begins a transaction, and locks the workflow's row; returns the workflow, and the transaction's id.
    fn lock(
        &self,
        server: &Server,
        target: Target<'_>,
    ) -> Result<(Option<Workflow>, String), Lost> {
        const TRANSACTION: &str = "SELECT pg_current_xact_id()::text";
        let statement = self.locking(target);
        let bound = bound(statement.as_ref().map_or(&[], |of| &of.values));
        let lock = async {
            match &statement {
                None => Ok(Vec::new()),
                Some(of) => server.question(&of.sql, &bound).await,
            }
        };
        let all = join3(
            server.client().batch_execute(OF_WORKFLOWS),
            lock,
            server.question(TRANSACTION, &[]),
        );
        // This statement may wait for the lock of the workflow's row.
        let (begun, rows, transaction) = server.wait_long(LOCK_WAIT, all).ok_or(Lost::Silent)?;
        begun?;
        let (rows, transaction) = (rows?, transaction?);
        let rows = match &statement {
            None => Vec::new(),
            Some(of) => texts(&rows, of)?,
        };
        let transaction = transaction.first().map(|row| get(row, 0)).transpose()?;
        Ok((
            rows.first().map(Workflow::of_row),
            transaction.unwrap_or_default(),
        ))
    }

    /// Returns the statement that locks a workflow; `None` if there is no workflow to lock.
    fn locking(&self, target: Target<'_>) -> Option<Statement> {
        let all = Select::of(Table::Workflows);
        let (wanted, id) = match target {
            Target::New => return None,
            Target::Workflow(id) => (all.is("id", id), None),
            Target::Run(id) => (all, Some(id)),
        };
        let mut statement = discover::statement(&self.shape, &wanted)?;
        if let Some(id) = id {
            let of_run = Select::of(Table::Runs)
                .columns(&["workflow_id"])
                .is("id", id);
            let of_run = discover::statement(&self.shape, &of_run)?;
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

    /// Returns why a command was not recorded, and whether it may be retried.
    pub(super) fn failed(&self, lost: &Lost) -> Failed {
        if fault::is_passing(lost) {
            return Failed::Passing(unwritten(&self.address, lost));
        }
        if let Some(why) = fault::not_storable(lost) {
            let message = format!(
                "{} was not written: PostgreSQL refuses a value: {why}",
                self.address
            );
            let hint = "change the value, or keep workflows in a file (--state sqlite)";
            return Failed::Finally(WriteError::refused("not-storable", message, hint));
        }
        Failed::Finally(unwritten(&self.address, lost).into())
    }

    /// Finds out whether a transaction with an unanswered COMMIT was recorded.
    fn settle(
        &self,
        of: &settle::Unanswered,
        was_silent: bool,
    ) -> Result<settle::Settled, WriteError> {
        match settled(&self.address, |server| self.fate(server, of)) {
            Some(settle::Fate::Recorded(ids)) => Ok(settle::Settled::Recorded(ids)),
            Some(settle::Fate::Not) => {
                let fault = unwritten(&self.address, &of.lost);
                match of.lost {
                    // The command is retried only once, because the server may be silent again.
                    Lost::Silent if was_silent => Err(fault.into()),
                    _ => Ok(settle::Settled::Not(fault)),
                }
            }
            Some(settle::Fate::Unknown) | None => Err(settle::unknown(&self.address, &of.lost)),
        }
    }
}

/// The facts from which a command computes its changes, read in the transaction of the command.
struct PostgresFacts<'a> {
    tables: &'a PostgresTables,
    server: &'a Server,
    workflow: Option<Workflow>,
    /// The error of the last failed query, by which the store decides whether a retry may succeed.
    lost: Cell<Option<Lost>>,
}

impl Facts for PostgresFacts<'_> {
    fn select(&self, wanted: &Select<'_>) -> Result<Vec<Row>, Fault> {
        let Some(statement) = discover::statement(&self.tables.shape, wanted) else {
            return Ok(Vec::new());
        };
        let rows = self.server.rows(&statement.sql, &bound(&statement.values));
        let rows = rows.and_then(|rows| Ok(texts(&rows, &statement)?));
        rows.map_err(|lost| {
            let fault = unwritten(&self.tables.address, &lost);
            self.lost.set(Some(lost));
            fault
        })
    }

    fn shape(&self) -> &Shape {
        &self.tables.shape
    }

    fn workflow(&self) -> Option<&Workflow> {
        self.workflow.as_ref()
    }
}
