use super::begin::touch;
use super::close::again;
use super::instance::{Instance, begun_again, meta, open_parent, running};
use super::meta::{Keys, Word};
use super::{At, Change, ExecutionRow, ExecutionUpdate, Facts, Plan, Record, Style, WriteError};
use crate::model::Status;

/// `exec retry`: another attempt at an execution that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Which.
    pub id: i64,
    /// The most attempts, the first one included.
    pub max: Option<i64>,
}

/// The attempt that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retried {
    /// The execution, under the same id.
    pub id: i64,
    /// The statement's text.
    pub text: String,
    /// Its line in the program, where it is known.
    pub line: Option<i64>,
    /// The attempt, from 2.
    pub attempt: i64,
    /// The most attempts.
    pub max: Option<i64>,
}

impl Record for Retry {
    type Done = Retried;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Retried>, WriteError> {
        running(facts)?;
        let instance = Instance::of(facts, self.id)?;
        if instance.last.status != Status::Failed {
            return Err(WriteError::refused(
                "retry-not-failed",
                format!(
                    "execution {} is {}: only what failed is tried again",
                    self.id,
                    instance.last.status.word()
                ),
                "`prose exec fail ID --error TEXT` records that it failed",
            ));
        }
        if let Some(again) = begun_again(facts, &instance)? {
            return Err(WriteError::refused(
                "retry-superseded",
                format!(
                    "execution {} was begun again, as execution {again}",
                    self.id
                ),
                "what is recorded next is the later one's",
            ));
        }
        open_parent(facts, instance.first.parent)?;
        let last = meta(&instance.last);
        let attempt = last.attempt.unwrap_or(1).saturating_add(1);
        let max = self.max.or(last.max);
        if let Some(max) = max.filter(|max| attempt > *max) {
            return Err(WriteError::refused(
                "retry-used-up",
                format!("execution {} had its {max} attempts", self.id),
                "`--max N` allows more",
            ));
        }
        let style = facts.style();
        let keys = Keys::default()
            .number(Word::Attempt.key(style), Some(attempt))
            .number(Word::MaxAttempts.key(style), max);
        let change = if style == Style::InPlace {
            Change::UpdateExecution(ExecutionUpdate {
                id: self.id,
                status: Some(Status::Executing.word().to_owned()),
                completed: Some(None),
                error: Some(None),
                metadata: keys.done(),
            })
        } else {
            Change::Execution(ExecutionRow {
                status: Status::Retry.word().to_owned(),
                started: Some(at.text(style)),
                ..again(facts, &instance, keys)?
            })
        };
        Ok(Plan {
            changes: vec![change, touch(facts, at)],
            done: Retried {
                id: self.id,
                text: instance.first.text.to_string(),
                line: instance.first.index,
                attempt,
                max,
            },
        })
    }
}
