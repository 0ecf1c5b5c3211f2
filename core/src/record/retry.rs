use super::end::{Close, EndingKind, again};
use super::entry::touch;
use super::insist::{ForcedRules, Insist};
use super::instance::{Instance, begun_after, begun_again, meta, open_parent, running};
use super::meta::{MetaKeys, Word};
use super::open_executions::OpenExecutions;
use super::source::{LineLookup, ProgramSource};
use super::steps::Steps;
use super::task::task_of;
use super::{
    At, AttemptBegun, Change, CommandPlan, ExecutionRow, ExecutionUpdate, Facts, Record, Style,
    WriteError,
};
use crate::model::Status;

/// The command `retry`, which begins another attempt at a failed execution.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Retry {
    /// The id of the failed execution.
    pub id: i64,
    /// The limit for the number of attempts, including the first; by default the program's (`retry: 3`).
    pub max: Option<i64>,
    /// The error, if it is not recorded yet. The execution is then first marked as failed.
    pub error: Option<String>,
    /// The overrides that the caller gave (`--force`, `--override`).
    pub insist: Insist,
}

impl Record for Retry {
    type Done = AttemptBegun;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<AttemptBegun>, WriteError> {
        if let Some(error) = &self.error {
            let mut all = Steps::new(facts);
            let error = error.clone();
            let failed = Close::new(self.id, EndingKind::Failed { error }, self.insist);
            all.plan(&failed, at)?;
            let mut alone = self.clone();
            alone.error = None;
            let retried = all.plan(&alone, at)?;
            return Ok(all.done(retried));
        }
        let run = running(facts)?;
        let instance = Instance::of(facts, self.id)?;
        retriable(facts, &instance, self.id)?;
        let attempt = next_attempt(&instance);
        let mut insisted = ForcedRules::new(self.insist);
        let past = OpenExecutions::of(facts).past_gates(instance.first.parent);
        insisted.sequence(past)?;
        let source = ProgramSource::of(facts);
        let statement = source.of_row(&instance.first);
        let line = instance.line();
        let max = match raised(&instance).filter(|_| self.max.is_none()) {
            Some(raised) => Some(raised),
            None => {
                let says = in_program(&source, &instance);
                insisted.settle("max", line, says, self.max)?
            }
        };
        if let Some(max) = max.filter(|max| attempt > *max) {
            return Err(WriteError::refused(
                "retry-used-up",
                format!("execution {} has had all of its {max} attempts", self.id),
                "leave the execution failed, or allow more attempts with `--max N`, and --override if the program has a limit",
            ));
        }
        let style = facts.style();
        let keys = insisted
            .keys(MetaKeys::default())
            .number(Word::Attempt.key(style), Some(attempt))
            .number(Word::MaxAttempts.key(style), max);
        let under_way = |metadata, error| {
            Change::UpdateExecution(ExecutionUpdate {
                id: self.id,
                status: Some(Status::Executing.word().to_owned()),
                completed: Some(None),
                error,
                metadata,
            })
        };
        let mut changes = Vec::with_capacity(3);
        if style == Style::InPlace {
            changes.push(under_way(keys.done(), Some(None)));
        } else {
            // The update marks the row that opened the execution as running again.
            let opened = instance.first.status == Status::Started && instance.first.id == self.id;
            if style == Style::AppendOnly && opened {
                changes.push(under_way(Default::default(), None));
            }
            changes.push(Change::Execution(ExecutionRow {
                status: Status::Retry.word().to_owned(),
                started: Some(at.text(style)),
                ..again(facts, &instance, keys)?
            }));
        }
        changes.push(touch(facts, at));
        let found = LineLookup {
            text: instance.first.text.to_string(),
            line,
            statement,
        };
        let mut task = task_of(facts, &source, &found, &instance.first)?;
        if let Some(task) = &mut task {
            task.failed = instance.last.error.as_deref().map(str::to_owned);
        }
        Ok(CommandPlan {
            changes,
            done: AttemptBegun {
                run,
                id: self.id,
                statement: instance.first.text.to_string(),
                line: instance.first.index,
                attempt,
                max,
                task,
            },
        })
    }
}

/// Returns the limit of attempts if the failed execution `instance` has used all of its attempts.
pub(super) fn used_up(source: &ProgramSource<'_>, instance: &Instance) -> Option<i64> {
    let max = raised(instance).or_else(|| in_program(source, instance))?;
    (next_attempt(instance) > max).then_some(max)
}

fn next_attempt(instance: &Instance) -> i64 {
    meta(&instance.last).attempt.unwrap_or(1).saturating_add(1)
}

/// Refuses an execution that did not fail, or in whose place another one stands.
fn retriable(facts: &Facts<'_>, instance: &Instance, id: i64) -> Result<(), WriteError> {
    if instance.last.status != Status::Failed {
        return Err(WriteError::refused(
            "retry-not-failed",
            format!(
                "execution {} is {}: only a failed execution can be retried",
                id,
                instance.last.status.word()
            ),
            "to record a failure and the next attempt, use `prosescope retry ID --error TEXT`",
        ));
    }
    if let Some(again) = begun_again(facts, instance) {
        return Err(WriteError::refused(
            "retry-superseded",
            format!("execution {} was begun again, as execution {again}", id),
            format!("give the number {again} to the next command"),
        ));
    }
    open_parent(facts, instance.first.parent)?;
    if begun_after(facts, instance.first.parent)? > instance.last.id {
        return Err(WriteError::refused(
            "retry-superseded",
            format!(
                "execution {} belongs to an earlier attempt or round of its parent, so it cannot be retried",
                id
            ),
            "begin the statement of the execution again: `prosescope begin N`",
        ));
    }
    Ok(())
}

/// Returns the limit that the last attempt recorded. If a retry raised the limit, the limit stays raised.
fn raised(instance: &Instance) -> Option<i64> {
    let last = meta(&instance.last);
    last.max.filter(|_| last.attempt.is_some())
}

fn in_program(source: &ProgramSource<'_>, instance: &Instance) -> Option<i64> {
    source.get(source.of_row(&instance.first)?)?.most_attempts()
}
