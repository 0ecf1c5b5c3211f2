//! Finds out whether a transaction with an unanswered COMMIT was recorded.
//!
//! PostgreSQL reports for a transaction's id whether it was committed. But after an immediate stop, a server may assign
//! the same id to another transaction. So a commit counts only if a row exists as the command wrote it.

use prosescope_core::record::{Fault, WriteError};
use prosescope_workflow::{RowChange, SqlDialect, SqlValue, WorkflowTable};

use super::discover::Postgres;
use super::{PostgresTables, bound};
use crate::address::Address;
use crate::cell::get;
use crate::fault;
use crate::server::{Lost, PgClient, text};

/// A transaction whose COMMIT was not answered.
pub(super) struct UnansweredCommit {
    /// The id of the transaction.
    pub(super) transaction: String,
    pub(super) changes: Vec<RowChange>,
    pub(super) lost: Lost,
}

/// The result of a command with an unanswered COMMIT.
pub(super) enum CommitOutcome {
    /// The command is recorded.
    Recorded(Vec<i64>),
    /// The command is not recorded and may be retried.
    Not(Fault),
}

/// The result of a transaction.
pub(super) enum Fate {
    /// The transaction was committed; the ids are those of its events.
    Recorded(Vec<i64>),
    /// The transaction was not committed, and never will be.
    Not,
    /// It cannot be found out whether the transaction was committed.
    Unknown,
}

const STATUS: &str = "SELECT pg_xact_status($1::text::xid8)";

impl PostgresTables {
    /// Returns the result of a transaction; `None` while it is open.
    pub(super) fn fate(
        &self,
        server: &PgClient,
        of: &UnansweredCommit,
    ) -> Result<Option<Fate>, Lost> {
        let status = match server.ask(STATUS, &[text(of.transaction.as_str())]) {
            Ok(rows) => {
                let status = rows.first().map(|row| get::<Option<String>>(row, 0));
                status.transpose()?.flatten()
            }
            // The server restarted from an earlier state and has not assigned the transaction's id yet.
            Err(Lost::Error(error)) if error.code().is_some_and(|code| code.code() == "22023") => {
                return Ok(Some(Fate::Not));
            }
            Err(lost) => return Err(lost),
        };
        Ok(match status.as_deref() {
            Some("in progress") => None,
            Some("aborted") => Some(Fate::Not),
            Some("committed") => Some(match self.rows_of(server, of)? {
                Some(ids) => Fate::Recorded(ids),
                None => Fate::Unknown,
            }),
            _ => Some(Fate::Unknown),
        })
    }

    /// Returns the ids of the transaction's events, if a row exists as the transaction wrote it.
    fn rows_of(&self, server: &PgClient, of: &UnansweredCommit) -> Result<Option<Vec<i64>>, Lost> {
        // PostgreSQL's column `xmin` contains the lower half of the id of the transaction that wrote the row.
        let id: u64 = of.transaction.parse().unwrap_or_default();
        let writer = (id & u64::from(u32::MAX)).to_string();
        let events = of.changes.iter();
        let events: Vec<&RowChange> = events.filter(|change| is_event(change)).collect();
        let ids = self.events_of(server, &writer, &events)?;
        if !events.is_empty() && ids.len() == events.len() {
            return Ok(Some(ids));
        }
        for change in of.changes.iter().filter(|change| !is_event(change)) {
            let id = change.row.clone().map(SqlValue::Text);
            let id = id.or_else(|| written(change, "id").cloned());
            let (Some(table), Some(id)) = (self.shape.table(change.table), id) else {
                continue;
            };
            let Some(column) = table.column("id") else {
                continue;
            };
            let sql = format!(
                "SELECT xmin::text FROM {} WHERE \"id\" = {}",
                table.name,
                Postgres.place(1, column)
            );
            let rows = server.ask(&sql, &bound(&[Postgres.value(&id, column)]))?;
            let first = rows.first().map(|row| get::<String>(row, 0)).transpose()?;
            if first.is_some_and(|found| found == writer) {
                return Ok(Some(ids));
            }
        }
        Ok(None)
    }

    /// Returns the ids of the events that the transaction `writer` wrote. Returns no ids if the text of an event
    /// differs from the text at the same position in `events`.
    fn events_of(
        &self,
        server: &PgClient,
        writer: &str,
        events: &[&RowChange],
    ) -> Result<Vec<i64>, Lost> {
        let of = events
            .first()
            .and_then(|event| written(event, "workflow_id"));
        let table = self.shape.table(WorkflowTable::Events);
        let column = table.and_then(|table| table.column("workflow_id"));
        let (Some(table), Some(column), Some(of)) = (table, column, of) else {
            return Ok(Vec::new());
        };
        let sql = format!(
            "SELECT id::text, text::text FROM {} AS event WHERE workflow_id = {} AND xmin::text = $2 ORDER BY event.id",
            table.name,
            Postgres.place(1, column)
        );
        let values = [
            Postgres.value(of, column),
            SqlValue::Text(writer.to_owned()),
        ];
        let mut ids = Vec::new();
        let mut expected = events.iter();
        for row in server.ask(&sql, &bound(&values))? {
            let (id, text): (String, String) = (get(&row, 0)?, get(&row, 1)?);
            let wanted = expected.next().and_then(|event| written(event, "text"));
            if wanted != Some(&SqlValue::Text(text)) {
                return Ok(Vec::new());
            }
            ids.extend(id.parse::<i64>().ok());
        }
        Ok(ids)
    }
}

fn is_event(change: &RowChange) -> bool {
    change.table == WorkflowTable::Events && change.row.is_none()
}

/// Returns the value that a change writes into a column.
fn written<'a>(change: &'a RowChange, column: &str) -> Option<&'a SqlValue> {
    let found = change.values.iter().find(|(name, _)| *name == column);
    found.map(|(_, value)| value)
}

/// Returns the error for a command of which it is unknown whether it was recorded.
pub(super) fn unknown(address: &Address, lost: &Lost) -> WriteError {
    fault::undecided(address, lost).hint(LOOK).into()
}

/// Advice on how to find out whether a command is recorded.
pub(super) const LOOK: &str = "before you repeat the command, check with `prosescope workflow show` and `prosescope workflow events tail` whether it was recorded";
