use super::end::{Close, EndingKind, again, not_empty};
use super::entry::barred;
use super::gate::{forced_gates, resumed};
use super::insist::{ForcedRules, Insist};
use super::instance::{Instance, another};
use super::meta::MetaKeys;
use super::open_executions::{OpenExecutions, listed};
use super::steps::Steps;
use super::{
    At, Change, CommandPlan, ExecutionRow, ExecutionUpdate, Facts, Record, RunChange, RunFact,
    RunFinished, Style, WriteError, at_text,
};
use crate::model::time::Stamp;
use crate::model::{Execution, Gate, GateStatus, RunStatus, Status};
use crate::trace::{RowShape, shape};

/// The command `finish`, which ends or interrupts the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finish {
    /// The run's new status: completed, failed or interrupted. `None` keeps the status of a run that has ended.
    pub status: Option<RunStatus>,
    /// Why the run failed: the error of what is open, which fails.
    pub error: Option<String>,
    /// Whether to accept a run that already has this status, because the caller only wants a follow-up action
    /// (`--vacuum`).
    pub again: bool,
    /// Whether the run may be completed although executions are still open (`--force`).
    pub insist: Insist,
}

impl Record for Finish {
    type Done = RunFinished;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<RunFinished>, WriteError> {
        let run = facts.run();
        if run.status.is_finished() {
            let other = self.status.as_ref().is_some_and(|own| *own != run.status);
            if self.again && !other {
                return Ok(CommandPlan {
                    changes: Vec::new(),
                    done: RunFinished {
                        status: run.status.word().to_owned(),
                        run: run.name,
                        before: true,
                    },
                });
            }
            return Err(finished(&run));
        }
        let Some(ending) = &self.status else {
            return Err(WriteError::wrong(
                format!(
                    "run {} is {}: how does it end?",
                    run.name,
                    run.status.word()
                ),
                "give completed, failed or interrupted",
            ));
        };
        if !matches!(
            ending,
            RunStatus::Completed | RunStatus::Failed | RunStatus::Interrupted
        ) {
            return Err(WriteError::wrong(
                format!("a run cannot end with the status {:?}", ending.word()),
                "give completed, failed or interrupted",
            ));
        }
        if let Some(error) = &self.error {
            return self.with_error(facts, at, ending, error);
        }
        let open_executions = OpenExecutions::of(facts);
        let mut insisted = ForcedRules::new(self.insist);
        let mut changes = Vec::new();
        if *ending == RunStatus::Completed
            && insisted
                .sequence(nothing_open(facts, &open_executions))?
                .is_none()
        {
            changes.extend(forced(facts, at, &open_executions, insisted)?);
        }
        if ending.is_finished() {
            changes.extend(open_executions.cut_off(facts.style(), None));
        }
        changes.push(status(facts, at, ending));
        Ok(CommandPlan {
            changes,
            done: RunFinished {
                run: run.name,
                status: ending.word().to_owned(),
                before: false,
            },
        })
    }
}

impl Finish {
    /// Plans the end of a run whose open executions fail with an error.
    fn with_error(
        &self,
        facts: &Facts<'_>,
        at: &At,
        ending: &RunStatus,
        error: &str,
    ) -> Result<CommandPlan<RunFinished>, WriteError> {
        if *ending != RunStatus::Failed {
            return Err(WriteError::wrong(
                "only a failed run has an error",
                "leave the text out, or give failed",
            ));
        }
        not_empty(error)?;
        let open_executions = OpenExecutions::of(facts);
        let is_outer = |row: &&Execution| {
            shape(row) != RowShape::Gate && open_executions.above(row).next().is_none()
        };
        let outer: Vec<i64> = open_executions
            .rows()
            .filter(is_outer)
            .map(|row| row.id)
            .collect();
        if outer.is_empty() {
            return Err(WriteError::refused(
                "nothing-open",
                "no execution is open that could fail with this text".to_owned(),
                "leave the text out: the executions that failed have their errors",
            ));
        }
        let mut all = Steps::new(facts);
        for id in outer {
            let error = error.to_owned();
            all.plan(
                &Close::new(id, EndingKind::Failed { error }, Insist::default()),
                at,
            )?;
        }
        let without = Finish {
            error: None,
            ..self.clone()
        };
        let done = all.plan(&without, at)?;
        Ok(all.done(done))
    }
}

/// Returns the error for a run that has ended.
pub(super) fn finished(run: &RunFact) -> WriteError {
    WriteError::refused(
        "run-finished",
        format!("run {} is {} already", run.name, run.status.word()),
        another(&run.status),
    )
}

/// Refuses to complete a run with an open execution or a pending gate.
fn nothing_open(facts: &Facts<'_>, open_executions: &OpenExecutions) -> Result<(), WriteError> {
    let run = facts.run().name;
    let open: Vec<&Execution> = open_executions.rows().collect();
    if !open.is_empty() {
        return Err(WriteError::refused(
            "statements-open",
            format!("run {run} is not completed: {}", listed(&open)),
            "end, fail or skip the open executions, and wait for the decisions at gates; `prosescope finish failed` and `finish interrupted` leave them open",
        ));
    }
    // Nothing waits for a gate in a branch that its parallel block did not wait for.
    let is_cut_off = |gate: &Gate| {
        gate.execution_id
            .is_some_and(|id| facts.execution(id).is_some())
    };
    let pending = facts
        .gates()
        .find(|gate| gate.status == GateStatus::Pending && !is_cut_off(gate));
    match pending {
        Some(gate) => Err(WriteError::refused(
            "gate-waits",
            format!(
                "run {run} is not completed: gate {} waits for a decision",
                gate.id
            ),
            format!(
                "a person decides: `prosescope gate wait {}` waits; `prosescope finish failed` and `finish interrupted` leave the gate pending",
                gate.id
            ),
        )),
        None => match facts.bar_of_end(None) {
            Some(bar) => Err(barred(&bar, &format!("run {run} is not completed"))),
            None => Ok(()),
        },
    }
}

/// Returns the changes that record a forced completion: a log row for each pending gate, and metadata keys for every
/// open execution.
fn forced(
    facts: &Facts<'_>,
    at: &At,
    open_executions: &OpenExecutions,
    insisted: ForcedRules,
) -> Result<Vec<Change>, WriteError> {
    let mut changes = forced_gates(facts, at)?;
    let keys = insisted.keys(MetaKeys::default());
    for (nth, row) in (0..).zip(open_executions.rows()) {
        let instance = Instance::of(facts, row.id)?;
        // A database gets an update instead of a new row, because OpenProse counts rows with `status = 'executing'` as
        // running.
        if facts.style() != Style::Files {
            changes.push(Change::UpdateExecution(ExecutionUpdate {
                id: row.id,
                metadata: keys.clone().done(),
                ..ExecutionUpdate::default()
            }));
            continue;
        }
        let again = again(facts, &instance, keys.clone())?;
        changes.push(Change::Execution(ExecutionRow {
            id: again.id.saturating_add(nth),
            status: instance.last.status.word().to_owned(),
            ..again
        }));
    }
    Ok(changes)
}

/// The command `resume --begin`, which continues an interrupted, waiting or failed run and records this in the log of
/// its gates. A failed statement continues by `retry`, or begins again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reopen;

impl Record for Reopen {
    /// The ids of the gates in whose logs the resumption is recorded: pending gates, and gates that were decided last.
    type Done = Vec<String>;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<Vec<String>>, WriteError> {
        let run = facts.run();
        if run.status == RunStatus::Completed {
            return Err(WriteError::refused(
                "run-finished",
                format!(
                    "run {} is {}: nothing is left to do",
                    run.name,
                    run.status.word()
                ),
                "`prosescope init PROGRAM` begins another run",
            ));
        }
        let rested = run.status != RunStatus::Running;
        let (gates, mut changes) = resumed(facts, at, rested)?;
        if run.status.is_finished() {
            changes.push(Change::Execution(taken_up(facts, at, &run)?));
        }
        changes.push(status(facts, at, &RunStatus::Running));
        Ok(CommandPlan {
            changes,
            done: gates,
        })
    }
}

/// Returns the row that records the resumption of an ended run, with the status and the time of the earlier end.
fn taken_up(facts: &Facts<'_>, at: &At, run: &RunFact) -> Result<ExecutionRow, WriteError> {
    let style = facts.style();
    let ended = run.updated.as_ref().and_then(Stamp::millis);
    Ok(ExecutionRow {
        id: facts.next_execution()?,
        text: format!(
            "(the run was taken up again: it had ended as {})",
            run.status.word()
        ),
        status: Status::Completed.word().to_owned(),
        started: ended.map(|ms| at_text(ms, style)),
        completed: Some(at.text(style)),
        metadata: MetaKeys::default()
            .text("reopened", Some(run.status.word()))
            .done(),
        ..ExecutionRow::default()
    })
}

/// Returns the change that sets the run's status.
fn status(facts: &Facts<'_>, at: &At, status: &RunStatus) -> Change {
    Change::Run(RunChange {
        status: Some(status.word().to_owned()),
        updated: at.text(facts.style()),
    })
}
