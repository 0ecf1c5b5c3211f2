//! Reads events after a cursor without missing or repeating any, and prunes old ones (errata M0).
//!
//! A database assigns ids before commit, so a row with a smaller id may appear after a row with a larger id.
//! Prosescope's writers lock the workflow first, but other programs take no lock. A reader therefore reads the newest
//! assigned id, and then lists the transactions that have the table open for writing. Events up to that id are
//! delivered only after all these transactions have ended.

use serde::{Deserialize, Serialize};

use super::tables::{Op, RowCondition, Select, SqlValue, Tables, WorkflowRows, WorkflowTable};
use super::window::AT_ONCE;
use super::{TurnStatus, WorkflowEvent};
use prosescope_core::record::{Fault, WriteError};

/// An open transaction that may still add an event with a smaller id than the newest event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Waiting {
    /// The transaction's id in the database.
    pub transaction: String,
    /// The id of the server process that runs the transaction.
    pub pid: Option<i32>,
    /// The application name of the transaction's session.
    pub application: Option<String>,
}

/// A snapshot of a store: the newest assigned event id, and the transactions that may still add smaller ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Barrier {
    /// The newest assigned event id.
    pub until: i64,
    /// The transactions that may still add an event with a smaller id.
    pub waits: Vec<Waiting>,
    /// The reason why ids do not follow the order of events in this database; `None` if they do.
    pub unknown: Option<UnknownOrder>,
    /// Whether the database keeps the newest id in a counter. If so, `until` does not decrease when events are removed.
    pub is_counted: bool,
}

/// The reason why ids do not follow the order of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownOrder {
    /// The reason, as an error message.
    pub why: String,
    /// The advice to the user.
    pub next: String,
}

/// The id up to which the events of a database are settled: no new event appears at or below it.
#[derive(Debug, Clone, Default)]
pub struct Horizon {
    settled: i64,
    ahead: Option<Barrier>,
    /// The newest assigned event id; `None` if the database keeps no counter of ids.
    newest: Option<i64>,
}

impl Horizon {
    /// Returns the id up to which no new event appears.
    pub fn settled(&self) -> i64 {
        self.settled
    }

    /// Returns the open transactions because of which later events are held back.
    pub fn waits(&self) -> &[Waiting] {
        self.ahead.as_ref().map_or(&[], |barrier| &barrier.waits)
    }

    /// Updates and returns the settled id. Does not wait for open transactions: the id stays the same until they end.
    ///
    /// # Errors
    /// The fault of the store; kind `Damaged` if ids do not follow the order of events.
    pub fn advance(&mut self, rows: &dyn WorkflowRows) -> Result<i64, Fault> {
        let mut barrier = match self.ahead.take() {
            None => {
                let barrier = rows.barrier()?;
                self.newest = barrier.is_counted.then_some(barrier.until);
                barrier
            }
            Some(mut barrier) => {
                barrier.waits = rows.still_open(&barrier.waits)?;
                barrier
            }
        };
        if let Some(UnknownOrder { why, next }) = barrier.unknown.take() {
            return Err(Fault::new(prosescope_core::record::FaultKind::Damaged, why).hint(next));
        }
        if barrier.waits.is_empty() {
            self.settled = barrier.until;
        } else {
            self.ahead = Some(barrier);
        }
        Ok(self.settled)
    }

    /// Updates the settled id for a reader that reads only once. If ids do not follow the order of events, all present
    /// events count as settled, and the reason is returned.
    ///
    /// # Errors
    /// If the newest event id or the open transactions cannot be read.
    pub fn advance_once(&mut self, rows: &dyn WorkflowRows) -> Result<Option<UnknownOrder>, Fault> {
        if self.ahead.is_none() {
            let mut barrier = rows.barrier()?;
            if let Some(unknown) = barrier.unknown.take() {
                self.settled = i64::MAX;
                return Ok(Some(unknown));
            }
        }
        self.advance(rows).map(|_| None)
    }

    /// Refuses a cursor beyond the newest event, because a reader with such a cursor would wait forever.
    ///
    /// # Errors
    /// A refusal if the newest id is known and the cursor is beyond it; the store's fault.
    pub fn knows(&self, rows: &dyn WorkflowRows, cursor: i64) -> Result<(), WriteError> {
        let mut newest = self.newest.filter(|newest| *newest < cursor);
        if newest.is_some() {
            // While this horizon waits, later ids may have been assigned, so the newest id is read again before
            // refusing.
            newest = Some(rows.barrier()?.until).filter(|newest| *newest < cursor);
        }
        match newest {
            None => Ok(()),
            Some(newest) => Err(WriteError::refused(
                "cursor-ahead",
                format!(
                    "the cursor {cursor} is beyond the newest event, {newest}: the table of events was emptied, or replaced by an older copy"
                ),
                "read the events from the first: `prosescope workflow events tail WORKFLOW --after 0`",
            )),
        }
    }
}

/// A page of a workflow's events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Events {
    /// The events, in order of their ids.
    pub events: Vec<WorkflowEvent>,
    /// The cursor for the next request.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub cursor: i64,
    /// Whether more events follow after `cursor`.
    pub more: bool,
    /// Open transactions that may still add an earlier event; later events are held back until these end.
    pub waits: Vec<Waiting>,
}

/// Returns the settled events of a workflow after a cursor.
///
/// # Errors
/// A refusal if the cursor is beyond all events; the store's fault.
pub fn events(
    rows: &dyn WorkflowRows,
    horizon: &Horizon,
    workflow: &str,
    after: i64,
    limit: u32,
) -> Result<Events, WriteError> {
    horizon.knows(rows, after)?;
    let mut page = events_until(rows, Some(workflow), after, horizon.settled, limit)?;
    page.waits = horizon.waits().to_vec();
    Ok(page)
}

/// Returns the events after a cursor up to an id, of one workflow or of all. The id must be settled.
///
/// # Errors
/// If the events up to the id cannot be read.
pub fn events_until(
    rows: &dyn WorkflowRows,
    workflow: Option<&str>,
    after: i64,
    until: i64,
    limit: u32,
) -> Result<Events, Fault> {
    let mut wanted = Select::of(WorkflowTable::Events)
        .filter("id", Op::Above(SqlValue::Int(after)))
        .filter("id", Op::UpTo(SqlValue::Int(until)))
        .order(&[("id", false)])
        .limit(limit.saturating_add(1));
    if let Some(workflow) = workflow {
        wanted = wanted.is("workflow_id", workflow);
    }
    let mut events: Vec<WorkflowEvent> = rows
        .select(&wanted)?
        .iter()
        .map(WorkflowEvent::of_row)
        .collect();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = events.len() > limit;
    events.truncate(limit);
    Ok(Events {
        cursor: events.last().map_or(after, |event| event.id),
        events,
        more,
        waits: Vec::new(),
    })
}

/// The command that removes events of a workflow that are no longer needed.
#[derive(Debug, Clone, Default)]
pub struct Prune {
    /// The id of the workflow whose events are removed.
    pub workflow: String,
    /// The largest id of events to remove; `None` for no limit.
    pub up_to: Option<i64>,
    /// Whether to remove events of runs that have not ended, too.
    pub all: bool,
}

/// The result of removing events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PruneResult {
    /// The id of the workflow that the removed events belonged to.
    pub workflow_id: String,
    /// The number of removed events.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub removed: u64,
}

/// Removes events of a workflow: those of ended runs, or all.
///
/// # Errors
/// If the ended runs cannot be found, or the events cannot be removed.
pub fn prune(tables: &mut dyn Tables, command: &Prune) -> Result<PruneResult, WriteError> {
    let workflow = command.workflow.as_str();
    let up_to = command.up_to.unwrap_or(i64::MAX);
    let of = |filter: Option<RowCondition>| {
        let mut filters = vec![
            RowCondition {
                column: "workflow_id",
                op: Op::Is(workflow.into()),
            },
            RowCondition {
                column: "id",
                op: Op::UpTo(SqlValue::Int(up_to)),
            },
        ];
        filters.extend(filter);
        filters
    };
    let mut removed = 0;
    if command.all {
        removed += tables.remove_events(&of(None))?;
    } else {
        let ended = TurnStatus::ALL.iter().filter(|status| !status.is_open());
        let ended: Vec<SqlValue> = ended.map(|status| SqlValue::Word(status.word())).collect();
        let runs = Select::of(WorkflowTable::Runs)
            .is("workflow_id", workflow)
            .filter("status", Op::In(ended))
            .columns(&["id"]);
        let runs = tables.select(&runs)?;
        let runs: Vec<SqlValue> = runs
            .iter()
            .filter_map(|row| Some(row.get("id")?.into()))
            .collect();
        for some in runs.chunks(AT_ONCE) {
            removed += tables.remove_events(&of(Some(RowCondition {
                column: "run_id",
                op: Op::In(some.to_vec()),
            })))?;
        }
    }
    Ok(PruneResult {
        workflow_id: workflow.to_owned(),
        removed,
    })
}
