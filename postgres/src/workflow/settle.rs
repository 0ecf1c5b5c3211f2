//! What became of a transaction whose COMMIT was not answered.

use prosescope_core::workflow::{Change, Filter, Op, Select, Table, Target, Value, Workflow};
use prosescope_core::write::{Fault, FaultKind, WriteError};

use super::discover::Postgres;
use super::{PostgresTables, bound, texts, unwritten};
use crate::address::Address;
use crate::server::{Lost, Server};

/// A transaction whose COMMIT was not answered.
pub(super) struct Unanswered {
    /// The workflow that it locked.
    pub(super) workflow: Option<String>,
    /// The version that the workflow had.
    pub(super) version: Option<i64>,
    pub(super) changes: Vec<Change>,
    /// The ids that its events were given.
    pub(super) ids: Vec<i64>,
    pub(super) lost: Lost,
}

/// What is known of it.
pub(super) enum Settled {
    /// It is recorded.
    Recorded(Vec<i64>),
    /// It is not.
    Not(Fault),
}

/// What of it is there.
pub(super) struct Visible {
    /// A row that it inserted, or one as it updated it.
    any: bool,
    /// The version of the workflow now.
    version: Option<i64>,
}

impl PostgresTables {
    /// Looks which of the changes are there. The lock is taken anew, which waits for the end of the old transaction.
    pub(super) fn look_for(&self, server: &Server, of: &Unanswered) -> Result<Visible, Lost> {
        let target = of.workflow.as_deref().map_or(Target::New, Target::Workflow);
        let workflow = self.lock(server, target)?;
        let mut any = false;
        let mut ids = of.ids.iter();
        for change in &of.changes {
            let mut wanted = Select::of(change.table).columns(&["id"]).limit(1);
            wanted.filters = match (&change.row, change.table) {
                (None, Table::Events) => {
                    let mut filters = same(change, &["workflow_id", "kind", "text", "created_at"]);
                    let id = ids.next().map(|id| Op::Is(Value::Int(*id)));
                    filters.extend(id.map(|op| Filter { column: "id", op }));
                    filters
                }
                (None, _) => same(change, &["id"]),
                (Some(id), _) => {
                    let mut filters = same(change, &["updated_at", "status", "x_heartbeat"]);
                    filters.push(Filter {
                        column: "id",
                        op: Op::Is(id.as_str().into()),
                    });
                    filters
                }
            };
            if let Some(statement) = self.shape.select(&wanted, &Postgres) {
                let rows = server.rows(&statement.sql, &bound(&statement.values))?;
                any |= !texts(&rows, &statement)?.is_empty();
            }
        }
        server.batch("ROLLBACK")?;
        Ok(Visible {
            any,
            version: workflow.and_then(|workflow: Workflow| workflow.version),
        })
    }
}

/// Conditions that find what a change wrote into these columns.
fn same(change: &Change, columns: &[&str]) -> Vec<Filter> {
    let values = change
        .values
        .iter()
        .filter(|(column, _)| columns.contains(column));
    let filters = values.map(|(column, value)| Filter {
        column,
        op: Op::Is(value.clone()),
    });
    filters.collect()
}

/// Decides by what is there.
pub(super) fn settled(
    address: &Address,
    of: Unanswered,
    visible: Visible,
) -> Result<Settled, WriteError> {
    if visible.any {
        return Ok(Settled::Recorded(of.ids));
    }
    let inserted = of.changes.iter().any(|change| change.row.is_none());
    let same_version = of.version.is_some() && of.version == visible.version;
    let on_workflow = of
        .changes
        .iter()
        .any(|change| change.table == Table::Workflows);
    // What was inserted stays; what was updated may have been updated again, which raises the version.
    match inserted || (on_workflow && same_version) {
        true => Ok(Settled::Not(unwritten(address, &of.lost))),
        false => Err(unknown(address)),
    }
}

/// Nobody knows.
pub(super) fn unknown(address: &Address) -> WriteError {
    let message = format!(
        "the connection to {address} was lost at COMMIT, and the server does not say whether the command is recorded"
    );
    Fault::new(FaultKind::Io, message)
        .hint("look with `prose workflow show` before you repeat it")
        .into()
}
