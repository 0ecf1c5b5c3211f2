//! Events after a cursor, none missed and none twice, and their pruning (errata M0).
//!
//! Ids are handed out before commit, so a row with a smaller id may appear after one with a larger one. Our writers lock the
//! workflow first; foreign ones take no lock. A reader therefore notes the newest id that was handed out, then who has the
//! table open for writing, and delivers up to that id only once all of these have ended.

use serde::{Deserialize, Serialize};

use super::tables::{Filter, Op, Rows, Select, Table, Tables, Value};
use super::window::AT_ONCE;
use super::{Event, TurnStatus};
use prosescope_core::write::{Fault, WriteError};

/// A transaction that may still bring an event with an older id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Waiting {
    /// The transaction, as the database names it.
    pub transaction: String,
    /// The process of its session.
    pub pid: Option<i32>,
    /// What its program calls itself.
    pub application: Option<String>,
}

/// A moment: the newest id that was handed out, and who may still bring an older one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Barrier {
    /// The newest id.
    pub until: i64,
    /// Who may still bring an older one.
    pub waits: Vec<Waiting>,
    /// Why ids say nothing about order here, where they do not.
    pub unknown: Option<UnknownOrder>,
    /// The newest id is counted apart from the events: it does not go back when they are removed.
    pub is_counted: bool,
}

/// Why the ids of events say nothing about their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownOrder {
    /// What was found.
    pub why: String,
    /// What to do about it.
    pub next: String,
}

/// How far the events of a database are settled: up to there nothing new appears.
#[derive(Debug, Clone, Default)]
pub struct Horizon {
    settled: i64,
    ahead: Option<Barrier>,
    /// The newest id that was handed out, where that is counted.
    newest: Option<i64>,
}

impl Horizon {
    /// The id up to which nothing new appears.
    pub fn settled(&self) -> i64 {
        self.settled
    }

    /// Whom it waits for.
    pub fn waits(&self) -> &[Waiting] {
        self.ahead.as_ref().map_or(&[], |barrier| &barrier.waits)
    }

    /// Looks how far events are settled now. Never waits.
    ///
    /// # Errors
    /// The fault of the store; a fault of kind `Damaged` where ids say nothing about order.
    pub fn advance(&mut self, rows: &dyn Rows) -> Result<i64, Fault> {
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
            return Err(Fault::new(prosescope_core::write::FaultKind::Damaged, why).hint(next));
        }
        match barrier.waits.is_empty() {
            true => self.settled = barrier.until,
            false => self.ahead = Some(barrier),
        }
        Ok(self.settled)
    }

    /// Looks how far events are settled, for a reader that does not come back: where ids say nothing about order, what is there
    /// now is all, and the reason is returned.
    ///
    /// # Errors
    /// The fault of the store.
    pub fn advance_once(&mut self, rows: &dyn Rows) -> Result<Option<UnknownOrder>, Fault> {
        if self.ahead.is_none() {
            let mut barrier = rows.barrier()?;
            if let Some(unknown) = barrier.unknown.take() {
                self.settled = i64::MAX;
                return Ok(Some(unknown));
            }
        }
        self.advance(rows).map(|_| None)
    }

    /// Refuses a cursor that no event ever had: who went on after it would wait for ever.
    ///
    /// # Errors
    /// A refusal, where the newest id is known and the cursor is beyond it; the store's fault.
    pub fn knows(&self, rows: &dyn Rows, cursor: i64) -> Result<(), WriteError> {
        let mut newest = self.newest.filter(|newest| *newest < cursor);
        if newest.is_some() {
            // While this horizon waits, another one may have handed out later ids: ask again before a refusal.
            newest = Some(rows.barrier()?.until).filter(|newest| *newest < cursor);
        }
        match newest {
            None => Ok(()),
            Some(newest) => Err(WriteError::refused(
                "cursor-ahead",
                format!(
                    "the cursor is {cursor}, and the newest event has the id {newest}: the table was emptied, or an older copy of it restored"
                ),
                "begin again: `prosescope events tail WORKFLOW --after 0`",
            )),
        }
    }
}

/// Events of a workflow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Events {
    /// In order of their ids.
    pub events: Vec<Event>,
    /// The cursor to go on with.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub cursor: i64,
    /// Whether there are more.
    pub more: bool,
    /// Open transactions that may still bring an earlier event: later ones are held back until these end.
    pub waits: Vec<Waiting>,
}

/// The events of a workflow after a cursor, as far as they are settled.
///
/// # Errors
/// A refusal where the cursor is beyond all events; the store's fault.
pub fn events(
    rows: &dyn Rows,
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

/// The events after a cursor up to an id, of one workflow or of all. Nothing new appears up to an id that is settled.
///
/// # Errors
/// The fault of the store.
pub fn events_until(
    rows: &dyn Rows,
    workflow: Option<&str>,
    after: i64,
    until: i64,
    limit: u32,
) -> Result<Events, Fault> {
    let mut wanted = Select::of(Table::Events)
        .filter("id", Op::Above(Value::Int(after)))
        .filter("id", Op::UpTo(Value::Int(until)))
        .order(&[("id", false)])
        .limit(limit.saturating_add(1));
    if let Some(workflow) = workflow {
        wanted = wanted.is("workflow_id", workflow);
    }
    let mut events: Vec<Event> = rows.select(&wanted)?.iter().map(Event::of_row).collect();
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

/// A follower that has a name: its cursor is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Follower {
    /// Its name.
    pub name: String,
    /// The last event that it has read.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub cursor: i64,
}

/// The named followers of a workflow.
///
/// # Errors
/// The fault of the store.
pub fn followers(rows: &dyn Rows, workflow: &str) -> Result<Vec<Follower>, Fault> {
    let wanted = Select::of(Table::Followers)
        .is("workflow_id", workflow)
        .order(&[("name", false)]);
    let found = rows.select(&wanted)?;
    let found = found.iter().map(|row| Follower {
        name: row.get("name").unwrap_or_default().to_owned(),
        cursor: row
            .get("cursor")
            .and_then(|text| text.parse().ok())
            .unwrap_or_default(),
    });
    Ok(found.collect())
}

/// Removes events that nobody needs any more.
#[derive(Debug, Clone, Default)]
pub struct Prune {
    /// The workflow.
    pub workflow: String,
    /// Events with ids up to this one alone.
    pub up_to: Option<i64>,
    /// Of runs that have not ended too.
    pub all: bool,
    /// Also those that a named follower has not read.
    pub force: bool,
}

/// Events that were removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Pruned {
    /// The workflow.
    pub workflow_id: String,
    /// How many.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub removed: u64,
    /// The follower that has not read what stays.
    pub held_by: Option<Follower>,
}

/// Removes events of a workflow: of runs that ended, and as far as every named follower has read.
///
/// # Errors
/// The fault of the store.
pub fn prune(tables: &mut dyn Tables, command: &Prune) -> Result<Pruned, WriteError> {
    let workflow = command.workflow.as_str();
    let slowest = followers(tables, workflow)?
        .into_iter()
        .min_by_key(|follower| follower.cursor)
        .filter(|_| !command.force);
    let wanted = command.up_to.unwrap_or(i64::MAX);
    let up_to = slowest
        .as_ref()
        .map_or(wanted, |slowest| wanted.min(slowest.cursor));
    let held_by = slowest.filter(|slowest| slowest.cursor < wanted);
    let of = |filter: Option<Filter>| {
        let mut filters = vec![
            Filter {
                column: "workflow_id",
                op: Op::Is(workflow.into()),
            },
            Filter {
                column: "id",
                op: Op::UpTo(Value::Int(up_to)),
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
        let ended: Vec<Value> = ended.map(|status| Value::Word(status.word())).collect();
        let runs = Select::of(Table::Runs)
            .is("workflow_id", workflow)
            .filter("status", Op::In(ended))
            .columns(&["id"]);
        let runs = tables.select(&runs)?;
        let runs: Vec<Value> = runs
            .iter()
            .filter_map(|row| Some(row.get("id")?.into()))
            .collect();
        for some in runs.chunks(AT_ONCE) {
            removed += tables.remove_events(&of(Some(Filter {
                column: "run_id",
                op: Op::In(some.to_vec()),
            })))?;
        }
    }
    Ok(Pruned {
        workflow_id: workflow.to_owned(),
        removed,
        held_by,
    })
}

/// Notes how far a named follower has read.
///
/// # Errors
/// A refusal where the table of followers is missing; the store's fault.
pub fn note_cursor(
    tables: &mut dyn Tables,
    workflow: &str,
    follower: &str,
    cursor: i64,
    now: i64,
) -> Result<(), WriteError> {
    if tables.shape().table(Table::Followers).is_none() {
        return Err(WriteError::refused(
            "no-followers-table",
            "the database has no table x_workflow_followers, which keeps what named followers have read",
            "`prosescope workflow setup --apply` adds it; or follow with --after, without a name",
        ));
    }
    Ok(tables.note_cursor(workflow, follower, cursor, now)?)
}
