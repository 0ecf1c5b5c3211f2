use super::{At, Change, Facts, Plan, Record, RunChange, WriteError};
use crate::model::RunStatus;

/// `finish`: the run ends, or rests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    /// Completed, failed or interrupted.
    pub status: RunStatus,
}

impl Record for Finish {
    type Done = ();

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<()>, WriteError> {
        let run = facts.run()?;
        if run.status.is_finished() {
            return Err(WriteError::refused(
                "run-finished",
                format!("run {} is {} already", run.id, run.status.word()),
                "a finished run is not written to; `prose init PROGRAM` begins another",
            ));
        }
        if !matches!(
            self.status,
            RunStatus::Completed | RunStatus::Failed | RunStatus::Interrupted
        ) {
            return Err(WriteError::wrong(
                format!("a run does not end as {:?}", self.status.word()),
                "completed, failed or interrupted",
            ));
        }
        Ok(Plan {
            changes: vec![status(facts, at, &self.status)],
            done: (),
        })
    }
}

/// `resume --begin`: an interrupted or waiting run goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reopen;

impl Record for Reopen {
    type Done = RunStatus;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<RunStatus>, WriteError> {
        let run = facts.run()?;
        if run.status.is_finished() {
            return Err(WriteError::refused(
                "run-finished",
                format!(
                    "run {} is {}: nothing is left to go on with",
                    run.id,
                    run.status.word()
                ),
                "`prose init PROGRAM` begins another run",
            ));
        }
        Ok(Plan {
            changes: vec![status(facts, at, &RunStatus::Running)],
            done: run.status,
        })
    }
}

/// The run's new status, and its time with it (errata X15).
fn status(facts: &dyn Facts, at: &At, status: &RunStatus) -> Change {
    Change::Run(RunChange {
        status: Some(status.word().to_owned()),
        updated: at.text(facts.style()),
    })
}
