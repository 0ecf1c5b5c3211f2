//! Gives each run to one engine at a time, for a lease that its heartbeats extend.
//!
//! An engine claims the next run that needs work. While its lease lasts, other engines cannot ask, finish, fail, record a
//! checkpoint or send a heartbeat for the run. After the lease, or after a question, another engine may claim the run. The
//! name of an engine is a claim: two engines with one name are one engine here.

use serde::{Deserialize, Serialize};

use super::announce::Told;
use super::json::Members;
use super::lifecycle::Action;
use super::rules::{allowed, may, turn};
use super::tables::{
    LockTarget, Op, RowChange, Select, SqlValue, TableCommand, Tables, WorkflowFacts, WorkflowPlan,
    WorkflowTable, record,
};
use super::{Turn, TurnStatus, Workflow, WorkflowShape, context, find_run, find_workflow};
use prosescope_core::model::time::Stamp;
use prosescope_core::record::WriteError;

/// The length of a lease, in milliseconds, unless the engine chooses another one.
pub const LEASE: i64 = 60_000;

/// The most runs that one claim looks at: those of paused workflows are passed over.
const LOOKED_AT: u32 = 1_000;

/// The rules of refusals that mean that another engine was quicker, or that the run needs no work now.
const PASSED: [&str; 3] = ["not-yours", "workflow-status", "run-status"];

/// The command that gives a run to an engine.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Claim {
    /// The id of the run to work on.
    pub run: String,
    /// The name of the engine; not verified.
    pub owner: String,
    /// The length of the lease in milliseconds; 0 means [`LEASE`].
    #[serde(default)]
    pub lease: i64,
}

/// A run that an engine claimed, with all that the engine needs to go on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClaimedRun {
    /// The run, with its input and its checkpoint.
    pub run: Turn,
    /// The run's workflow, with the conversation.
    pub workflow: Workflow,
    /// The time at which the lease ends, unless a heartbeat extends it.
    pub lease_until: Option<Stamp>,
}

impl TableCommand for Claim {
    type Done = ClaimedRun;

    fn target(&self) -> LockTarget<'_> {
        LockTarget::Run(&self.run)
    }

    fn plan(
        &self,
        facts: &dyn WorkflowFacts,
        now: i64,
    ) -> Result<WorkflowPlan<ClaimedRun>, WriteError> {
        let (workflow, mut turn) = turn(facts, &self.run)?;
        allowed(Action::Claim, workflow)?;
        may(Action::Claim, &turn, false)?;
        is_yours(&turn, Some(&self.owner), now)?;
        has_leases(facts.shape())?;
        let until = until(now, self.lease);
        let mut changes = vec![RowChange::update(
            WorkflowTable::Runs,
            &turn.id,
            vec![
                ("x_owner", self.owner.as_str().into()),
                ("x_heartbeat", SqlValue::Time(now)),
                ("x_lease", SqlValue::Time(until)),
            ],
        )];
        let mut more = Members::new();
        more.insert("owner".to_owned(), context::raw(&self.owner));
        let text = format!("{} works on the run", self.owner);
        let told = Told {
            action: Action::Claim,
            workflow: &workflow.id,
            run: Some(&turn),
            text: &text,
        };
        changes.extend(told.event(facts, more, now));
        turn.owner = Some(self.owner.clone());
        turn.heartbeat = Some(Stamp::At(now));
        turn.lease = Some(Stamp::At(until));
        let done = ClaimedRun {
            lease_until: turn.lease.clone(),
            workflow: workflow.clone(),
            run: turn,
        };
        Ok(WorkflowPlan { changes, done })
    }
}

/// The request of an engine for a run to work on.
#[derive(Debug, Clone, Default)]
pub struct ClaimNext {
    /// The run to claim; `None` for the oldest run that needs work: it is running in an active workflow, and no engine has a
    /// lease on it.
    pub run: Option<String>,
    /// The workflow of the run to claim; `None` for any.
    pub workflow: Option<String>,
    /// The name of the engine; not verified.
    pub owner: String,
    /// The length of the lease in milliseconds; 0 means [`LEASE`].
    pub lease: i64,
}

impl ClaimNext {
    /// Replaces the names of the run and of the workflow by their ids.
    ///
    /// # Errors
    /// See [`find_run`].
    pub fn named(&mut self, rows: &dyn Tables) -> Result<(), WriteError> {
        let run = self.run.take().map(|name| find_run(rows, &name));
        let workflow = self.workflow.take().map(|name| find_workflow(rows, &name));
        (self.run, self.workflow) = (run.transpose()?, workflow.transpose()?);
        Ok(())
    }

    /// Claims a run. `None` if no run needs work.
    ///
    /// # Errors
    /// A refusal if the named run needs no work, another engine has a lease on it, or the tables have no column for leases;
    /// the store's fault.
    pub fn claim(
        &self,
        tables: &mut dyn Tables,
        now: i64,
    ) -> Result<Option<ClaimedRun>, WriteError> {
        has_leases(tables.shape())?;
        let command = |run: &str| Claim {
            run: run.to_owned(),
            owner: self.owner.clone(),
            lease: self.lease,
        };
        if let Some(run) = &self.run {
            return record(tables, &command(run), None, now).map(Some);
        }
        for run in free_runs(tables, self.workflow.as_deref(), now)? {
            match record(tables, &command(&run), None, now) {
                Ok(claimed) => return Ok(Some(claimed)),
                Err(WriteError::Refused { rule, .. }) if PASSED.contains(&rule) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// Returns the ids of running runs without a lease, the oldest first.
fn free_runs(
    tables: &dyn Tables,
    workflow: Option<&str>,
    now: i64,
) -> Result<Vec<String>, WriteError> {
    let of = |lease: Op| {
        let running = SqlValue::Word(TurnStatus::Running.word());
        let mut wanted = Select::of(WorkflowTable::Runs)
            .columns(&["id", "created_at"])
            .is("status", running)
            .filter("x_lease", lease)
            .order(&[("created_at", false), ("id", false)])
            .limit(LOOKED_AT);
        if let Some(workflow) = workflow {
            wanted = wanted.is("workflow_id", workflow);
        }
        tables.select(&wanted)
    };
    let mut free: Vec<Turn> = Vec::new();
    for lease in [Op::Missing, Op::UpTo(SqlValue::Time(now))] {
        free.extend(of(lease)?.iter().map(Turn::of_row));
    }
    free.sort_by_key(|turn| turn.created_at.as_ref().and_then(Stamp::millis));
    Ok(free.into_iter().map(|turn| turn.id).collect())
}

/// Refuses a change by an engine while another engine has a lease on the run.
pub(super) fn is_yours(turn: &Turn, owner: Option<&str>, now: i64) -> Result<(), WriteError> {
    let until = turn.lease.as_ref().and_then(Stamp::millis);
    if until.is_none_or(|until| until <= now) || turn.owner.as_deref() == owner {
        return Ok(());
    }
    let engine = turn.owner.as_deref().unwrap_or("another engine");
    let until = turn.lease.as_ref().map_or(String::new(), Stamp::to_string);
    Err(WriteError::refused(
        "not-yours",
        format!("{engine} works on run {} until {until}", turn.id),
        "stop working on the run, and claim another one: `prosescope workflow claim`",
    ))
}

fn has_leases(shape: &WorkflowShape) -> Result<(), WriteError> {
    match shape.has(WorkflowTable::Runs, "x_lease") {
        true => Ok(()),
        false => Err(WriteError::refused(
            "no-lease-column",
            "the table `workflow_runs` has no column `x_lease`",
            "add the column with `prosescope workflow setup --apply`",
        )),
    }
}

/// Returns when a lease ends that begins or is extended now.
pub(super) fn until(now: i64, lease: i64) -> i64 {
    now.saturating_add(if lease > 0 { lease } else { LEASE })
}

/// The change that ends the lease on a run: no engine works on a question, or on a run that ended.
pub(super) const RELEASED: (&str, SqlValue) = ("x_lease", SqlValue::Null);
