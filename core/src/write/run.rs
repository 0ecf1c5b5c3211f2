use super::gate::resumed;
use super::{At, Change, Facts, Plan, Record, RunChange, WriteError};
use crate::gate::audit::Head;
use crate::model::RunStatus;

/// `finish`: the run ends, or rests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    /// Completed, failed or interrupted; `None` leaves a run as it ended.
    pub status: Option<RunStatus>,
    /// Whether a run that ended so before is left as it is, instead of refused: what follows (`--vacuum`) is meant.
    pub again: bool,
}

/// A run that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How.
    pub status: RunStatus,
    /// Whether it had ended before, and nothing was written.
    pub before: bool,
}

impl Record for Finish {
    type Done = Finished;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Finished>, WriteError> {
        let run = facts.run()?;
        if run.status.is_finished() {
            let other = self.status.as_ref().is_some_and(|own| *own != run.status);
            if self.again && !other {
                return Ok(Plan {
                    changes: Vec::new(),
                    done: Finished {
                        status: run.status,
                        before: true,
                    },
                });
            }
            return Err(WriteError::refused(
                "run-finished",
                format!("run {} is {} already", run.id, run.status.word()),
                "a finished run is not written to; `prose init PROGRAM` begins another",
            ));
        }
        let Some(ending) = &self.status else {
            return Err(WriteError::wrong(
                format!("run {} is {}: how does it end?", run.id, run.status.word()),
                "`--status completed`, `failed` or `interrupted` says it",
            ));
        };
        if !matches!(
            ending,
            RunStatus::Completed | RunStatus::Failed | RunStatus::Interrupted
        ) {
            return Err(WriteError::wrong(
                format!("a run does not end as {:?}", ending.word()),
                "completed, failed or interrupted",
            ));
        }
        Ok(Plan {
            changes: vec![status(facts, at, ending)],
            done: Finished {
                status: ending.clone(),
                before: false,
            },
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
