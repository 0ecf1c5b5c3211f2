//! Reads workflows and runs from a store for lists and pages, and resolves the beginnings of their ids.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::rules::{no_run, no_workflow};
use super::tables::{Op, Select, SqlValue, WorkflowRow, WorkflowRows, WorkflowTable};
use super::window::{AT_ONCE, summaries, workflow_ids};
use super::{Turn, TurnStatus, Workflow, WorkflowStatus};
use prosescope_core::model::time::Stamp;
use prosescope_core::record::{Fault, WriteError};

/// The conditions for a list of workflows, and the length of the list.
#[derive(Debug, Clone, Default)]
pub struct WorkflowFilter {
    /// The status that the workflows must have; `None` for any.
    pub status: Option<WorkflowStatus>,
    /// Whether the workflows must have a run that waits for input.
    pub waiting: bool,
    /// The most workflows to list. 0 means 50 for [`list`], and no limit for [`workflow_ids`].
    pub limit: u32,
}

/// The default number of workflows in a list.
const PAGE: u32 = 50;

/// Limit for a text in a list, in characters.
const SHORT: usize = 200;

/// The newest workflows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkflowList {
    /// The workflows, the newest first.
    pub workflows: Vec<WorkflowSummary>,
    /// Whether the store contains more workflows than the list.
    pub more: bool,
}

/// A workflow in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkflowSummary {
    /// The workflow's id, by which commands find it.
    pub id: String,
    /// The workflow's status, as recorded.
    pub status: String,
    /// The id of the newest run.
    pub run_id: Option<String>,
    /// The status of the newest run.
    pub run_status: Option<String>,
    /// The beginning of the person's message of the newest run.
    pub input: Option<String>,
    /// The beginning of the newest run's question, if this run waits for an answer.
    pub question: Option<String>,
    /// The time at which the workflow was created, if recorded.
    pub created_at: Option<Stamp>,
    /// The time of the workflow's last change, if recorded.
    pub updated_at: Option<Stamp>,
}

/// A workflow with its runs. Deserializes only from JSON text.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkflowView {
    /// The workflow.
    #[serde(flatten)]
    pub workflow: Workflow,
    /// The workflow's runs, the oldest first.
    pub runs: Vec<Turn>,
}

impl<'de> Deserialize<'de> for WorkflowView {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<WorkflowView, D::Error> {
        #[derive(Deserialize)]
        struct RemainingRows {
            runs: Vec<Turn>,
        }
        // serde's default for flattened members parses numbers and prints them again, which can change them. The raw
        // JSON keeps their text.
        let raw = Box::<RawValue>::deserialize(from)?;
        let wrong = serde::de::Error::custom::<serde_json::Error>;
        let RemainingRows { runs } = serde_json::from_str(raw.get()).map_err(wrong)?;
        Ok(WorkflowView {
            workflow: serde_json::from_str(raw.get()).map_err(wrong)?,
            runs,
        })
    }
}

/// A run with status `running` but without a recent heartbeat (errata M4).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StuckRun {
    /// The id of the workflow that the silent run belongs to.
    pub workflow_id: String,
    /// The id of the run that gives no sign of life.
    pub run_id: String,
    /// The name of the engine that works on the run; not verified, and unknown for runs of other programs.
    pub owner: Option<String>,
    /// The time of the run's last heartbeat.
    pub heartbeat: Option<Stamp>,
    /// The time of the run's last activity: its heartbeat, else its last change, else its creation.
    pub last_sign: Option<Stamp>,
    /// Milliseconds since `last_sign`; `None` if no time is recorded.
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    pub silent_ms: Option<i64>,
}

pub(super) const SUMMARY: &[&str] = &[
    "id",
    "status",
    "most_recent_run_id",
    "created_at",
    "updated_at",
];

pub(super) const NEWEST: &[(&str, bool)] =
    &[("updated_at", true), ("created_at", true), ("id", true)];

/// Returns the newest workflows.
///
/// # Errors
/// If the list of workflows cannot be read.
pub fn list(rows: &dyn WorkflowRows, wanted: &WorkflowFilter) -> Result<WorkflowList, Fault> {
    let limit = if wanted.limit == 0 {
        PAGE
    } else {
        wanted.limit
    };
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    if wanted.waiting {
        let mut ids = workflow_ids(rows, wanted)?;
        let more = ids.len() > most;
        ids.truncate(most);
        return Ok(WorkflowList {
            workflows: summaries(rows, &ids)?,
            more,
        });
    }
    let mut select = Select::of(WorkflowTable::Workflows)
        .columns(SUMMARY)
        .order(NEWEST)
        .limit(limit.saturating_add(1));
    if let Some(status) = wanted.status {
        select = select.is("status", SqlValue::Word(status.word()));
    }
    let mut found = rows.select(&select)?;
    let more = found.len() > most;
    found.truncate(most);
    Ok(WorkflowList {
        workflows: summarised(rows, &found)?,
        more,
    })
}

/// Returns the list entries of workflows, with the status, message and question of their newest runs. Runs are read in
/// parts, because a guarded connection accepts at most 64 values per statement.
pub(super) fn summarised(
    rows: &dyn WorkflowRows,
    found: &[WorkflowRow],
) -> Result<Vec<WorkflowSummary>, Fault> {
    let mut lines = Vec::with_capacity(found.len());
    for some in found.chunks(AT_ONCE) {
        let ids = some
            .iter()
            .filter_map(|row| Some(row.get("most_recent_run_id")?.into()));
        let newest = Select::of(WorkflowTable::Runs)
            .columns(&["id", "status", "user_input", "state"])
            .filter("id", Op::In(ids.collect()));
        let newest: Vec<Turn> = rows.select(&newest)?.iter().map(Turn::of_row).collect();
        lines.extend(some.iter().map(|row| summary(row, &newest)));
    }
    Ok(lines)
}

fn summary(row: &WorkflowRow, newest: &[Turn]) -> WorkflowSummary {
    let run_id = row.get("most_recent_run_id").map(str::to_owned);
    let run = newest.iter().find(|turn| Some(&turn.id) == run_id.as_ref());
    let waits = run.filter(|run| run.known_status() == Some(TurnStatus::WaitingForInput));
    WorkflowSummary {
        id: row.get("id").unwrap_or_default().to_owned(),
        status: row.get("status").unwrap_or_default().to_owned(),
        run_status: run.map(|run| run.status.clone()),
        input: run.and_then(|run| run.user_input.as_deref()).map(short),
        question: waits.and_then(Turn::question).as_deref().map(short),
        run_id,
        created_at: row.get("created_at").map(Stamp::parse),
        updated_at: row.get("updated_at").map(Stamp::parse),
    }
}

pub(super) fn short(text: &str) -> String {
    text.chars().take(SHORT).collect()
}

/// Returns a workflow with its runs; `None` if the id does not exist.
///
/// # Errors
/// If the workflow or its runs cannot be read.
pub fn show(rows: &dyn WorkflowRows, id: &str) -> Result<Option<WorkflowView>, Fault> {
    let found = rows.select(&Select::of(WorkflowTable::Workflows).is("id", id))?;
    let Some(workflow) = found.first().map(Workflow::of_row) else {
        return Ok(None);
    };
    let runs = Select::of(WorkflowTable::Runs)
        .is("workflow_id", workflow.id.as_str())
        .order(&[("created_at", false), ("id", false)]);
    Ok(Some(WorkflowView {
        runs: rows.select(&runs)?.iter().map(Turn::of_row).collect(),
        workflow,
    }))
}

/// Returns a run; `None` if the id does not exist.
///
/// # Errors
/// If the table of runs cannot be read.
pub fn run(rows: &dyn WorkflowRows, id: &str) -> Result<Option<Turn>, Fault> {
    let found = rows.select(&Select::of(WorkflowTable::Runs).is("id", id))?;
    Ok(found.first().map(Turn::of_row))
}

/// Returns runs with status `running` and without activity for `silent` milliseconds, the longest silent first.
///
/// # Errors
/// If the runs with status `running` cannot be read.
pub fn stuck(rows: &dyn WorkflowRows, silent: i64, now: i64) -> Result<Vec<StuckRun>, Fault> {
    let running = Select::of(WorkflowTable::Runs)
        .is("status", SqlValue::Word(TurnStatus::Running.word()))
        .columns(&[
            "id",
            "workflow_id",
            "x_owner",
            "x_heartbeat",
            "created_at",
            "updated_at",
        ]);
    let running = rows.select(&running)?;
    let stuck = running.iter().map(Turn::of_row).filter_map(|turn| {
        let last_sign = turn
            .heartbeat
            .clone()
            .or(turn.updated_at)
            .or(turn.created_at);
        let silent_ms = last_sign
            .as_ref()
            .and_then(Stamp::millis)
            .map(|at| now.saturating_sub(at));
        // A run without a recorded time may be stuck, so it is included.
        silent_ms.is_none_or(|ms| ms >= silent).then_some(StuckRun {
            workflow_id: turn.workflow_id,
            run_id: turn.id,
            owner: turn.owner,
            heartbeat: turn.heartbeat,
            last_sign,
            silent_ms,
        })
    });
    let mut stuck: Vec<StuckRun> = stuck.collect();
    stuck.sort_by(|a, b| (b.silent_ms, &a.run_id).cmp(&(a.silent_ms, &b.run_id)));
    Ok(stuck)
}

/// Returns the id of the workflow that `name` means: a whole id, a unique beginning of an id, or `latest`.
///
/// # Errors
/// [`WriteError::NotFound`]; a refusal if several ids begin with `name`; the store's fault.
pub fn find_workflow(rows: &dyn WorkflowRows, name: &str) -> Result<String, WriteError> {
    find(rows, WorkflowTable::Workflows, name, || no_workflow(name))
}

/// Returns the id of the run that `name` means: a whole id, a unique beginning of an id, or `latest`.
///
/// # Errors
/// See [`find_workflow`].
pub fn find_run(rows: &dyn WorkflowRows, name: &str) -> Result<String, WriteError> {
    find(rows, WorkflowTable::Runs, name, || no_run(name))
}

fn find(
    rows: &dyn WorkflowRows,
    table: WorkflowTable,
    name: &str,
    none: impl Fn() -> WriteError,
) -> Result<String, WriteError> {
    const ID: &[&str] = &["id"];
    let id = |row: &WorkflowRow| row.get("id").unwrap_or_default().to_owned();
    let select = match name {
        "latest" => Select::of(table).columns(ID).order(NEWEST).limit(1),
        name => Select::of(table).columns(ID).is("id", name).limit(1),
    };
    if let Some(row) = rows.select(&select)?.first() {
        return Ok(id(row));
    }
    let is_beginning = name.len() >= 4 && name.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if !is_beginning {
        return Err(none());
    }
    let select = Select::of(table)
        .columns(ID)
        .filter("id", Op::Begins(name.to_ascii_lowercase()))
        .limit(2);
    match rows.select(&select)?.as_slice() {
        [] => Err(none()),
        [one] => Ok(id(one)),
        _ => Err(WriteError::wrong(
            format!("several ids begin with {name}"),
            "write more characters of the id",
        )),
    }
}
