use super::gate::resumed;
use super::{At, Change, Facts, Plan, Record, RunChange, WriteError};
use crate::gate::audit::Head;
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

/// `resume --begin`: an interrupted or waiting run goes on, and the log says so at its gates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reopen;

/// A run that goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reopened {
    /// How it stood before.
    pub was: RunStatus,
    /// The gates at which it goes on: pending ones, and those whose decision was the last thing that happened.
    pub gates: Vec<String>,
    /// Where the audit log ends now; `None` in a log without sealed rows.
    pub head: Option<Head>,
}

impl Record for Reopen {
    type Done = Reopened;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Reopened>, WriteError> {
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
        let (gates, mut changes, head) = resumed(facts, at)?;
        changes.push(status(facts, at, &RunStatus::Running));
        Ok(Plan {
            changes,
            done: Reopened {
                was: run.status,
                gates,
                head,
            },
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
