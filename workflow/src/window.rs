//! Reads parts of long lists: first all ids from an index, then only the rows near the visible part.

use std::collections::{BTreeMap, BTreeSet};

use super::follow::Horizon;
use super::read::{NEWEST, SUMMARY, WorkflowFilter, WorkflowSummary, summarised};
use super::tables::{Op, Select, SqlValue, WorkflowRow, WorkflowRows, WorkflowTable};
use super::{TurnStatus, WorkflowEvent};
use prosescope_core::record::Fault;

/// The most ids in one statement: a guarded connection accepts 64 values per statement.
pub(super) const AT_ONCE: usize = 50;

/// The most events of a workflow that are listed. If a workflow has more events, the newest are listed.
pub const MOST_EVENTS: u32 = 200_000;

/// Returns the ids of the workflows that meet the conditions, the newest first.
///
/// # Errors
/// If the ids of the workflows, or of those that wait for input, cannot be read.
pub fn workflow_ids(
    rows: &dyn WorkflowRows,
    wanted: &WorkflowFilter,
) -> Result<Vec<String>, Fault> {
    let mut select = Select::of(WorkflowTable::Workflows)
        .columns(&["id"])
        .order(NEWEST);
    if let Some(status) = wanted.status {
        select = select.is("status", SqlValue::Word(status.word()));
    }
    if wanted.limit > 0 && !wanted.waiting {
        select = select.limit(wanted.limit);
    }
    let mut ids = ids(&rows.select(&select)?, "id");
    if wanted.waiting {
        let waiting = Select::of(WorkflowTable::Runs)
            .is("status", SqlValue::Word(TurnStatus::WaitingForInput.word()))
            .columns(&["workflow_id"]);
        let mut named = BTreeSet::new();
        named.extend(self::ids(&rows.select(&waiting)?, "workflow_id"));
        ids.retain(|id| named.contains(id));
    }
    Ok(ids)
}

/// Returns the list entries of these workflows, in the same order. A removed workflow is left out.
///
/// # Errors
/// If the rows of these workflows or of their newest runs cannot be read.
pub fn summaries(rows: &dyn WorkflowRows, ids: &[String]) -> Result<Vec<WorkflowSummary>, Fault> {
    let mut lines = Vec::with_capacity(ids.len());
    for some in ids.chunks(AT_ONCE) {
        let wanted = some.iter().map(|id| id.as_str().into()).collect();
        let found = Select::of(WorkflowTable::Workflows)
            .columns(SUMMARY)
            .filter("id", Op::In(wanted));
        let found = summarised(rows, &rows.select(&found)?)?;
        let line = |id: &String| found.iter().find(|line| line.id == *id).cloned();
        lines.extend(some.iter().filter_map(line));
    }
    Ok(lines)
}

/// The ids of a workflow's events, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventIds {
    /// The ids of the events of all runs, and of events without a run.
    pub all: Vec<i64>,
    /// The ids of the events of each run, by the run's id.
    pub by_run: BTreeMap<String, Vec<i64>>,
}

impl EventIds {
    /// Returns the ids of the events of one run; of all events if `run` is `None`.
    pub fn of(&self, run: Option<&str>) -> &[i64] {
        match run {
            None => &self.all,
            Some(run) => self.by_run.get(run).map_or(&[], Vec::as_slice),
        }
    }
}

/// Returns the ids of a workflow's events, the oldest first; of more than 200 000, only the newest.
///
/// # Errors
/// If the ids of the events cannot be read.
pub fn event_ids(rows: &dyn WorkflowRows, workflow: &str) -> Result<EventIds, Fault> {
    let select = Select::of(WorkflowTable::Events)
        .is("workflow_id", workflow)
        .columns(&["id", "run_id"])
        .order(&[("id", true)])
        .limit(MOST_EVENTS);
    let mut found = EventIds::default();
    for row in rows.select(&select)?.iter().rev() {
        let Some(id) = row.get("id").and_then(|id| id.parse().ok()) else {
            continue;
        };
        found.all.push(id);
        let Some(run) = row.get("run_id") else {
            continue;
        };
        match found.by_run.get_mut(run) {
            Some(ids) => ids.push(id),
            None => {
                found.by_run.insert(run.to_owned(), vec![id]);
            }
        }
    }
    Ok(found)
}

/// Returns the events of a workflow, or of one run, whose ids are at least `first`.
///
/// # Errors
/// If the events cannot be read, or if their ids do not follow the order in which they were added.
pub fn events_from(
    rows: &dyn WorkflowRows,
    workflow: &str,
    run: Option<&str>,
    first: i64,
    limit: u32,
) -> Result<Vec<WorkflowEvent>, Fault> {
    let mut horizon = Horizon::default();
    let until = horizon.advance(rows)?;
    let mut wanted = Select::of(WorkflowTable::Events)
        .is("workflow_id", workflow)
        .filter("id", Op::Above(SqlValue::Int(first.saturating_sub(1))))
        .filter("id", Op::UpTo(SqlValue::Int(until)))
        .order(&[("id", false)])
        .limit(limit);
    if let Some(run) = run {
        wanted = wanted.is("run_id", run);
    }
    Ok(rows
        .select(&wanted)?
        .iter()
        .map(WorkflowEvent::of_row)
        .collect())
}

fn ids(rows: &[WorkflowRow], column: &str) -> Vec<String> {
    let id = |row: &WorkflowRow| row.get(column).map(str::to_owned);
    rows.iter().filter_map(id).collect()
}
