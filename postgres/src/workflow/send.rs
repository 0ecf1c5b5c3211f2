//! Sends the changes of a command and its COMMIT in one message, so that the workflow's row is locked as briefly as
//! possible.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;

use futures_util::TryStreamExt;
use futures_util::future::{FutureExt, MaybeDone, maybe_done};
use prosescope_core::record::{Fault, FaultKind, WriteError};
use prosescope_workflow::{RowChange, Statement, WorkflowTable};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::discover::Postgres;
use super::readback::{self, ComparedChange, is_new_event};
use super::transact::TransactFailure;
use super::{PostgresTables, bound, missing};
use crate::address::Address;
use crate::cell::get;
use crate::fault;
use crate::server::{Bound, Lost, PgClient, typed};

/// The result of sending a command's statements together with its COMMIT.
pub(super) enum CommitAnswer {
    /// The command is recorded; the ids are those of its new events.
    Recorded(Vec<i64>),
    /// The server did not answer the COMMIT.
    Unanswered(Lost),
}

impl PostgresTables {
    /// Applies changes and ends the transaction.
    pub(super) fn commit(
        &self,
        server: &PgClient,
        changes: &[RowChange],
    ) -> Result<CommitAnswer, TransactFailure> {
        let compared = readback::of_all(changes, |table| self.shape.table(table));
        let mut statements = Vec::with_capacity(changes.len());
        for (n, change) in changes.iter().enumerate() {
            let statement = self.shape.change(change, &Postgres);
            let statement = statement.ok_or_else(|| WriteError::from(missing(change.table)))?;
            let bytes: usize = bound(&statement.values).iter().map(|value| value.len).sum();
            if bytes > self.address.most {
                let message = format!(
                    "{} was not written: a row has {bytes} bytes, and PostgreSQL accepts less than 1 GB",
                    self.address
                );
                let hint = "keep the value in a file, and record the path of that file";
                return Err(TransactFailure::Finally(WriteError::refused(
                    "not-storable",
                    message,
                    hint,
                )));
            }
            let leave = compared
                .get(n)
                .map(ComparedChange::leave)
                .unwrap_or_default();
            statements.push((one_row(change, &statement, &leave), statement.values));
        }
        statements.push((readback::CHECK_NOW.to_owned(), Vec::new()));
        // The positions of the statements that check whether a row was written as sent, each with the row's table.
        let mut looks = BTreeMap::new();
        for compared in &compared {
            if let Some(look) = compared.look() {
                looks.insert(statements.len(), compared.table);
                statements.push(look);
            }
        }
        let client = server.client();
        let mut all: Vec<SendResult<'_>> = Vec::with_capacity(statements.len() + 1);
        for (sql, values) in &statements {
            all.push(one(server, sql, bound(values)).boxed_local());
        }
        let commit = async { client.batch_execute("COMMIT").await.map(|()| None) };
        all.push(commit.boxed_local());
        // The message contains a COMMIT. If the server is silent, `settle` finds out the result of this COMMIT.
        let Some(answers) = server.wait_commit(in_order(all)) else {
            return Ok(CommitAnswer::Unanswered(Lost::Silent));
        };
        let mut ids = Vec::new();
        for (at, answer) in answers.into_iter().enumerate() {
            // The first error causes the errors of the following statements; after it, COMMIT rolls everything back.
            match answer.map_err(|error| server.lost(error)) {
                Ok(id) => ids.extend(id),
                Err(lost) if fault::leaves_open(&lost) => {
                    return Ok(CommitAnswer::Unanswered(lost));
                }
                Err(lost)
                    if is_check(&lost)
                        && let Some(table) = looks.get(&at) =>
                {
                    return Err(TransactFailure::Finally(readback::otherwise(server, table)));
                }
                Err(lost) => {
                    let of = changes.get(at).filter(|_| is_check(&lost));
                    let fault = of.map(|change| not_one_row(&self.address, change.table));
                    return Err(match fault {
                        Some(fault) => TransactFailure::Finally(fault.into()),
                        None => self.failed(&lost),
                    });
                }
            }
        }
        Ok(CommitAnswer::Recorded(ids))
    }
}

/// Returns whether a statement failed by the division that checks its effect.
pub(super) fn is_check(lost: &Lost) -> bool {
    matches!(lost, Lost::Error(error) if error.code() == Some(&SqlState::DIVISION_BY_ZERO))
}

/// Returns the fault of a statement that did not change exactly one row.
pub(super) fn not_one_row(address: &Address, table: WorkflowTable) -> Fault {
    let message = format!(
        "{address} was not written: a change of one row of {} affected no row or several rows",
        table.name()
    );
    let hint = "look for rules, triggers and row security on the table";
    Fault::new(FaultKind::Damaged, message).hint(hint)
}

type SendResult<'a> = Pin<Box<dyn Future<Output = Result<Option<i64>, Error>> + 'a>>;

/// Returns the statement for a change, which fails unless it changes one row. The statement must fail by itself,
/// because the COMMIT is already sent when its answer arrives.
fn one_row(change: &RowChange, statement: &Statement, leave: &str) -> String {
    let sql = &statement.sql;
    if is_new_event(change) {
        format!("WITH one(id) AS ({sql}) SELECT min(id), 1 / (count(*) = 1)::int{leave} FROM one")
    } else {
        format!(
            "WITH one AS ({sql} RETURNING 1) SELECT NULL::text, 1 / (count(*) = 1)::int{leave} FROM one"
        )
    }
}

/// Returns the id of the event that a statement added; other statements do not return text.
async fn one(server: &PgClient, sql: &str, bound: Vec<Bound<'_>>) -> Result<Option<i64>, Error> {
    let rows = server.client().query_typed_raw(sql, typed(&bound)).await?;
    let rows: Vec<tokio_postgres::Row> = rows.try_collect().await?;
    let id = rows
        .first()
        .and_then(|row| get::<Option<String>>(row, 0).ok());
    Ok(id.flatten().and_then(|id| id.parse().ok()))
}

/// Sends all questions in order, and then waits for the answers, which arrive in the same order.
async fn in_order<T>(questions: Vec<Pin<Box<dyn Future<Output = T> + '_>>>) -> Vec<T> {
    let mut all: Vec<_> = questions.into_iter().map(maybe_done).collect();
    let (mut sent, mut answered) = (false, 0);
    poll_fn(|cx| {
        if !sent {
            sent = true;
            // A question is sent when it is first polled.
            for question in &mut all {
                let _ = question.poll_unpin(cx);
            }
        }
        while let Some(question) = all.get_mut(answered) {
            if question.poll_unpin(cx).is_pending() {
                return std::task::Poll::Pending;
            }
            answered += 1;
        }
        std::task::Poll::Ready(())
    })
    .await;
    let answers = all.into_iter().filter_map(|answer| match answer {
        MaybeDone::Done(answer) => Some(answer),
        _ => None,
    });
    answers.collect()
}
