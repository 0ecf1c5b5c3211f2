//! The changes of a command and its COMMIT, in one message: the workflow's row is locked for as short as can be.

use std::future::{Future, poll_fn};
use std::pin::Pin;

use futures_util::TryStreamExt;
use futures_util::future::{FutureExt, MaybeDone, maybe_done};
use prosescope_core::workflow::{Change, Statement, Table};
use prosescope_core::write::{Fault, FaultKind, WriteError};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::discover::Postgres;
use super::transact::Failed;
use super::{PostgresTables, bound, missing};
use crate::fault;
use crate::rows::get;
use crate::server::{Bound, Lost, Server, typed};

/// What became of a message with a COMMIT.
pub(super) enum Sent {
    /// It is recorded; the ids of its events.
    Recorded(Vec<i64>),
    /// The server did not answer.
    Unanswered(Lost),
}

impl PostgresTables {
    /// Applies changes and ends the transaction.
    pub(super) fn commit(&self, server: &Server, changes: &[Change]) -> Result<Sent, Failed> {
        let mut statements = Vec::with_capacity(changes.len());
        for change in changes {
            let statement = self.shape.change(change, &Postgres);
            let statement = statement.ok_or_else(|| WriteError::from(missing(change.table)))?;
            let bytes: usize = bound(&statement.values).iter().map(|value| value.len).sum();
            if bytes > self.address.most {
                let message = format!(
                    "{} was not written: a row of {bytes} bytes, and PostgreSQL takes less than 1 GB",
                    self.address
                );
                let hint = "keep the value in a file, and its path here";
                return Err(Failed::Finally(WriteError::refused(
                    "not-storable",
                    message,
                    hint,
                )));
            }
            statements.push((one_row(change, &statement), statement));
        }
        let client = server.client();
        let mut all: Vec<Answer<'_>> = Vec::with_capacity(statements.len() + 1);
        for (sql, statement) in &statements {
            all.push(one(server, sql, bound(&statement.values)).boxed_local());
        }
        let commit = async { client.batch_execute("COMMIT").await.map(|()| None) };
        all.push(commit.boxed_local());
        // A COMMIT is among them: where the server is silent, what became of it is asked.
        let Some(answers) = server.wait_commit(in_order(all)) else {
            return Ok(Sent::Unanswered(Lost::Silent));
        };
        let mut ids = Vec::new();
        for (at, answer) in answers.into_iter().enumerate() {
            // The first error is the reason for the others; after it COMMIT undoes all.
            match answer.map_err(|error| server.lost(error)) {
                Ok(id) => ids.extend(id),
                Err(lost) if fault::leaves_open(&lost) => return Ok(Sent::Unanswered(lost)),
                Err(lost) => {
                    let of = changes.get(at).map(|change| change.table);
                    return Err(self
                        .not_one_row(&lost, of)
                        .unwrap_or_else(|| self.failed(&lost)));
                }
            }
        }
        Ok(Sent::Recorded(ids))
    }

    /// The fault where a statement changed another number of rows than one.
    fn not_one_row(&self, lost: &Lost, of: Option<Table>) -> Option<Failed> {
        let (Lost::Error(error), Some(table)) = (lost, of) else {
            return None;
        };
        if error.code() != Some(&SqlState::DIVISION_BY_ZERO) {
            return None;
        }
        let message = format!(
            "{} was not written: one row of {} was to change, and another number would have",
            self.address,
            table.name()
        );
        let hint = "look for rules, triggers and row security on the table";
        let fault = Fault::new(FaultKind::Damaged, message).hint(hint);
        Some(Failed::Finally(fault.into()))
    }
}

type Answer<'a> = Pin<Box<dyn Future<Output = Result<Option<i64>, Error>> + 'a>>;

/// The statement for a change, which fails unless it changes one row: the COMMIT is already on its way when its answer comes.
fn one_row(change: &Change, statement: &Statement) -> String {
    let sql = &statement.sql;
    match (change.table, &change.row) {
        (Table::Events, None) => {
            format!("WITH one(id) AS ({sql}) SELECT min(id), 1 / (count(*) = 1)::int FROM one")
        }
        _ => format!(
            "WITH one AS ({sql} RETURNING 1) SELECT NULL::text, 1 / (count(*) = 1)::int FROM one"
        ),
    }
}

/// The id of the event that a statement added.
async fn one(server: &Server, sql: &str, bound: Vec<Bound<'_>>) -> Result<Option<i64>, Error> {
    let rows = server.client().query_typed_raw(sql, typed(&bound)).await?;
    let rows: Vec<tokio_postgres::Row> = rows.try_collect().await?;
    let id = rows.first().map(|row| get::<Option<String>>(row, 0));
    Ok(id.transpose()?.flatten().and_then(|id| id.parse().ok()))
}

/// Sends all questions in their order, and then waits for the answers, which come in the same order.
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
