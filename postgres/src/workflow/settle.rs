//! What became of a transaction whose COMMIT was not answered.
//!
//! The server knows by the transaction's id whether it was committed. A server that stopped at once hands out again the ids of
//! transactions that it had not written to disk: one that was committed under this id is ours only if a row of it is there.

use prosescope_core::workflow::{Change, Dialect, Table, Value};
use prosescope_core::write::{Fault, FaultKind, WriteError};

use super::discover::Postgres;
use super::{PostgresTables, bound};
use crate::address::Address;
use crate::rows::get;
use crate::server::{Lost, Server, text};

/// A transaction whose COMMIT was not answered.
pub(super) struct Unanswered {
    /// Its id.
    pub(super) transaction: String,
    pub(super) changes: Vec<Change>,
    /// The ids that its events were given.
    pub(super) ids: Vec<i64>,
    pub(super) lost: Lost,
}

/// What a command comes to that was not answered.
pub(super) enum Settled {
    /// It is recorded.
    Recorded(Vec<i64>),
    /// It is not.
    Not(Fault),
}

/// What became of a transaction.
pub(super) enum Fate {
    /// It was committed.
    Recorded,
    /// It was not, and never will be.
    Not,
    /// Nothing shows it.
    Unknown,
}

const STATUS: &str = "SELECT pg_xact_status($1::text::xid8)";

impl PostgresTables {
    /// Looks what became of a transaction; `None` while it goes on, or the server does not answer.
    pub(super) fn fate(&self, server: &Server, of: &Unanswered) -> Option<Fate> {
        let status = match server.ask(STATUS, &[text(of.transaction.as_str())]) {
            Ok(rows) => get::<Option<String>>(rows.first()?, 0).ok()?,
            // An id that was not handed out yet: the server came back from before it.
            Err(Lost::Error(error)) if error.code().is_some_and(|code| code.code() == "22023") => {
                return Some(Fate::Not);
            }
            Err(_) => return None,
        };
        match status.as_deref() {
            Some("in progress") => None,
            Some("aborted") => Some(Fate::Not),
            Some("committed") => match self.left_a_row(server, of).ok()? {
                true => Some(Fate::Recorded),
                false => Some(Fate::Unknown),
            },
            _ => Some(Fate::Unknown),
        }
    }

    /// Whether a row is there as the transaction wrote it.
    fn left_a_row(&self, server: &Server, of: &Unanswered) -> Result<bool, Lost> {
        // Rows have the lower half of the id.
        let id: u64 = of.transaction.parse().unwrap_or_default();
        let writer = (id & u64::from(u32::MAX)).to_string();
        let mut events = of.ids.iter();
        for change in &of.changes {
            let Some(table) = self.shape.table(change.table) else {
                continue;
            };
            let written = |name: &str| {
                let found = change.values.iter().find(|(column, _)| *column == name);
                found.map(|(_, value)| value.clone())
            };
            let row = match (&change.row, change.table) {
                (Some(id), _) => Some(Value::Text(id.clone())),
                (None, Table::Events) => events.next().map(|id| Value::Int(*id)),
                (None, _) => written("id"),
            };
            let mut by = vec![("id", row)];
            if change.table == Table::Events {
                by.push(("text", written("text")));
            }
            let (mut sql, mut values) = (format!("SELECT xmin::text FROM {}", table.name), vec![]);
            for (name, value) in by {
                let (Some(column), Some(value)) = (table.column(name), value) else {
                    continue;
                };
                let word = if values.is_empty() { "WHERE" } else { "AND" };
                values.push(Postgres.value(&value, column));
                let place = Postgres.place(values.len(), column);
                sql = format!("{sql} {word} \"{name}\" = {place}");
            }
            let rows = server.ask(&sql, &bound(&values))?;
            let first = rows.first().map(|row| get::<String>(row, 0)).transpose()?;
            if first.is_some_and(|found| found == writer) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Nobody knows.
pub(super) fn unknown(address: &Address) -> WriteError {
    let message = format!(
        "the connection to {address} was lost at COMMIT, and nothing shows whether the command is recorded"
    );
    Fault::new(FaultKind::Io, message)
        .hint("look with `prose workflow show` and `prose events tail` before you repeat it")
        .into()
}
