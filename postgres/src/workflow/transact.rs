//! Executes one command on workflows: locks the workflow's row, computes the changes, and applies them.

use std::cell::Cell;
use std::thread;
use std::time::Duration;

use futures_util::future::join3;
use prosescope_core::record::{Fault, FaultKind, WriteError};
use prosescope_workflow::{
    LockTarget, Select, Statement, Work, Workflow, WorkflowFacts, WorkflowRow, WorkflowShape,
    WorkflowTable,
};

use super::{PostgresTables, bound, discover, send, settle, texts, unwritten};
use crate::cell::get;
use crate::fault;
use crate::server::LOCK_WAIT;
use crate::server::{Lost, PgClient};
use crate::settle::settled;
use crate::store::OF_WORKFLOWS;

/// The most attempts of a command that fails because of other transactions or lost connections.
const TRIES: u32 = 20;

/// The reason why a command was not recorded.
pub(super) enum TransactFailure {
    /// A retry may succeed.
    Passing(Fault),
    /// A retry cannot succeed.
    Finally(WriteError),
    /// The server did not answer the COMMIT of these changes.
    Unanswered(Box<settle::UnansweredCommit>),
}

impl From<WriteError> for TransactFailure {
    fn from(error: WriteError) -> TransactFailure {
        TransactFailure::Finally(error)
    }
}

impl PostgresTables {
    /// Records a command; retries it after conflicts with other transactions, or after a connection lost before its
    /// COMMIT.
    pub(super) fn transacted(
        &mut self,
        target: LockTarget<'_>,
        work: Work<'_>,
    ) -> Result<Vec<i64>, WriteError> {
        let (mut last, mut was_silent) = (None, false);
        for n in 0..TRIES {
            match self.attempt(target, work) {
                Ok(ids) => return Ok(ids),
                Err(TransactFailure::Finally(error)) => return Err(error),
                Err(TransactFailure::Passing(fault)) => last = Some(fault),
                Err(TransactFailure::Unanswered(unanswered)) => {
                    match self.settle(&unanswered, was_silent)? {
                        settle::CommitOutcome::Recorded(ids) => return Ok(ids),
                        settle::CommitOutcome::Not(fault) => {
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

    fn attempt(
        &mut self,
        target: LockTarget<'_>,
        work: Work<'_>,
    ) -> Result<Vec<i64>, TransactFailure> {
        let server = self.server().map_err(TransactFailure::Passing)?;
        let done = self.in_transaction(&server, target, work);
        let is_over = match &done {
            Ok(_) => true,
            Err(TransactFailure::Unanswered(_)) => false,
            Err(_) => !server.is_closed() && server.batch("ROLLBACK").is_ok(),
        };
        // A connection with an open transaction is dropped. The server then ends the transaction.
        *self.server.borrow_mut() = Some(server).filter(|_| is_over);
        done
    }

    fn in_transaction(
        &self,
        server: &PgClient,
        target: LockTarget<'_>,
        work: Work<'_>,
    ) -> Result<Vec<i64>, TransactFailure> {
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
            _ => TransactFailure::Finally(error),
        })?;
        if changes.is_empty() {
            return server
                .batch("ROLLBACK")
                .map(|()| Vec::new())
                .map_err(failed);
        }
        match self.commit(server, &changes)? {
            send::CommitAnswer::Recorded(ids) => Ok(ids),
            send::CommitAnswer::Unanswered(lost) => Err(TransactFailure::Unanswered(Box::new(
                settle::UnansweredCommit {
                    transaction,
                    changes,
                    lost,
                },
            ))),
        }
    }

    /// Begins a transaction, and locks the workflow's row; returns the workflow, and the transaction's id.
    fn lock(
        &self,
        server: &PgClient,
        target: LockTarget<'_>,
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
    fn locking(&self, target: LockTarget<'_>) -> Option<Statement> {
        let all = Select::of(WorkflowTable::Workflows);
        let (wanted, id) = match target {
            LockTarget::New => return None,
            LockTarget::Workflow(id) => (all.is("id", id), None),
            LockTarget::Run(id) => (all, Some(id)),
        };
        let mut statement = discover::statement(&self.shape, &wanted)?;
        if let Some(id) = id {
            let of_run = Select::of(WorkflowTable::Runs)
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
    pub(super) fn failed(&self, lost: &Lost) -> TransactFailure {
        if fault::is_passing(lost) {
            return TransactFailure::Passing(unwritten(&self.address, lost));
        }
        if let Some(why) = fault::not_storable(lost) {
            let message = format!(
                "{} was not written: PostgreSQL refuses a value: {why}",
                self.address
            );
            let hint = "change the value, or keep workflows in a file (--state sqlite)";
            return TransactFailure::Finally(WriteError::refused("not-storable", message, hint));
        }
        TransactFailure::Finally(unwritten(&self.address, lost).into())
    }

    /// Finds out whether a transaction with an unanswered COMMIT was recorded.
    fn settle(
        &self,
        of: &settle::UnansweredCommit,
        was_silent: bool,
    ) -> Result<settle::CommitOutcome, WriteError> {
        match settled(&self.address, |server| self.fate(server, of)) {
            Some(settle::Fate::Recorded(ids)) => Ok(settle::CommitOutcome::Recorded(ids)),
            Some(settle::Fate::Not) => {
                let fault = unwritten(&self.address, &of.lost);
                match of.lost {
                    // The command is retried only once, because the server may be silent again.
                    Lost::Silent if was_silent => Err(fault.into()),
                    _ => Ok(settle::CommitOutcome::Not(fault)),
                }
            }
            Some(settle::Fate::Unknown) | None => Err(settle::unknown(&self.address, &of.lost)),
        }
    }
}

/// The facts from which a command computes its changes, read in the transaction of the command.
struct PostgresFacts<'a> {
    tables: &'a PostgresTables,
    server: &'a PgClient,
    workflow: Option<Workflow>,
    /// The error of the last failed query, by which the store decides whether a retry may succeed.
    lost: Cell<Option<Lost>>,
}

impl WorkflowFacts for PostgresFacts<'_> {
    fn select(&self, wanted: &Select<'_>) -> Result<Vec<WorkflowRow>, Fault> {
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

    fn shape(&self) -> &WorkflowShape {
        &self.tables.shape
    }

    fn workflow(&self) -> Option<&Workflow> {
        self.workflow.as_ref()
    }
}
