use super::entry::{barred, touch};
use super::insist::{ForcedRules, Insist};
use super::instance::{Instance, running, scope_of, shown};
use super::meta::MetaKeys;
use super::open_executions::{OpenExecutions, no_longer};
use super::parallel::join;
use super::rounds::leave;
use super::source::ProgramSource;
use super::task::output_of;
use super::{
    At, Change, CommandPlan, ExecutionEnded, ExecutionRow, ExecutionUpdate, Facts, LoopRounds,
    ParallelJoined, Record, Style, WriteError,
};
use crate::model::time::Stamp;
use crate::trace::{RowShape, frame_block, shape};
use serde::{Deserialize, Serialize};

/// The outcome with which an execution ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EndingKind {
    /// The execution completes. The command is refused until the binding that the statement writes exists.
    Completed,
    /// The execution fails.
    Failed {
        /// The error message.
        error: String,
    },
    /// The execution is skipped.
    Skipped,
}

/// The command `end`, which ends an open execution as completed: it leaves a loop, joins a parallel block, or completes
/// a statement or a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct End {
    /// The id of the execution; by default the innermost open execution.
    pub id: Option<i64>,
    /// Why the execution ended: for a loop `condition_satisfied`, `max_reached`, or a free text.
    pub because: Option<String>,
    /// Whether the execution may end although a rule about the order refuses (`--force`).
    pub insist: Insist,
}

/// What ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(untagged)]
pub enum EndedPart {
    /// A parallel block, with its branches.
    Parallel(ParallelJoined),
    /// A loop, with its rounds.
    Loop(LoopRounds),
    /// A statement, a call or a branch.
    Execution(ExecutionEnded),
}

impl EndedPart {
    /// Returns the execution that ended.
    pub fn execution(&self) -> &ExecutionEnded {
        match self {
            EndedPart::Parallel(joined) => &joined.parallel,
            EndedPart::Loop(rounds) => &rounds.of,
            EndedPart::Execution(ended) => ended,
        }
    }
}

impl Record for End {
    type Done = EndedPart;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<EndedPart>, WriteError> {
        running(facts)?;
        let id = OpenExecutions::of(facts).pick(facts, self.id, None)?;
        let first = Instance::of(facts, id)?.first;
        let branch = super::instance::meta(&first).branch;
        Ok(match shape(&first) {
            RowShape::Loop if branch.is_none() => {
                leave(facts, at, id, self.because.as_deref(), self.insist)?.map(EndedPart::Loop)
            }
            RowShape::Parallel if branch.is_none() => {
                join(facts, at, id, self.insist)?.map(EndedPart::Parallel)
            }
            _ => {
                let close = Close::new(id, EndingKind::Completed, self.insist);
                let keys = MetaKeys::default().text("reason", self.because.as_deref());
                close.close(facts, at, keys)?.map(EndedPart::Execution)
            }
        })
    }
}

/// The command `fail`, which ends an open execution as failed. What is open inside of it is cut off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fail {
    /// The id of the execution; by default the innermost open execution.
    pub id: Option<i64>,
    /// The error message.
    pub error: String,
    /// Whether the failure may be recorded although a rule about the order refuses (`--force`).
    pub insist: Insist,
}

impl Record for Fail {
    type Done = ExecutionEnded;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<ExecutionEnded>, WriteError> {
        running(facts)?;
        not_empty(&self.error)?;
        let id = OpenExecutions::of(facts).pick(facts, self.id, None)?;
        let error = self.error.clone();
        Close::new(id, EndingKind::Failed { error }, self.insist).plan(facts, at)
    }
}

/// Refuses an error without words, which would tell nobody what failed.
pub(super) fn not_empty(error: &str) -> Result<(), WriteError> {
    match error.trim() {
        "" => Err(WriteError::wrong("the error is empty", "say what failed")),
        _ => Ok(()),
    }
}

/// Ends an execution in the given way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Close {
    id: i64,
    how: EndingKind,
    insist: Insist,
}

impl Close {
    pub(super) fn new(id: i64, how: EndingKind, insist: Insist) -> Close {
        Close { id, how, insist }
    }
}

impl Record for Close {
    type Done = ExecutionEnded;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<ExecutionEnded>, WriteError> {
        self.close(facts, at, MetaKeys::default())
    }
}

impl Close {
    /// Returns the plan of the command. The row that ends the execution also gets `keys`.
    pub(super) fn close(
        &self,
        facts: &Facts<'_>,
        at: &At,
        keys: MetaKeys,
    ) -> Result<CommandPlan<ExecutionEnded>, WriteError> {
        let mut open =
            EndingExecution::open(facts, Some(self.id), RowShape::Statement, self.insist)?;
        self.not_a_gate(&open.instance)?;
        let mut wrote = MetaKeys::default();
        let (status, error) = match &self.how {
            EndingKind::Completed => {
                wrote = outputs(facts, &mut open)?;
                ("completed", None)
            }
            EndingKind::Failed { error } => ("failed", Some(error.clone())),
            EndingKind::Skipped => ("skipped", None),
        };
        // Failing an execution also cuts off its open children. Any other ending is refused while a child is open.
        if status != "failed" {
            open.no_child(facts, "execution", &format!("cannot be {status}"))?;
        }
        if status == "completed" {
            open.not_barred(facts)?;
        }
        Ok(CommandPlan {
            changes: open.changes(facts, at, status, error, wrote.and(keys))?,
            done: open.ended(facts, status),
        })
    }

    /// Refuses to end the wait at a gate, because only a decision ends it.
    fn not_a_gate(&self, instance: &Instance) -> Result<(), WriteError> {
        let own = instance.meta();
        if own.branch.is_some() || shape(&instance.first) != RowShape::Gate {
            return Ok(());
        }
        let gate = own.gate_id.as_deref().unwrap_or("ID");
        Err(WriteError::refused(
            "gate-decides",
            format!(
                "execution {} waits at a gate, and only a decision ends that: {}",
                instance.first.id,
                shown(&instance.first.text)
            ),
            format!("a person decides: `prosescope gate wait {gate}` waits"),
        ))
    }
}

/// Refuses to complete an execution that has not written the binding that the program names. Returns the metadata keys
/// that record the binding.
fn outputs(facts: &Facts<'_>, open: &mut EndingExecution) -> Result<MetaKeys, WriteError> {
    let source = ProgramSource::of(facts);
    if let Some((name, _)) = output_of(&source, &open.instance.first) {
        let written = written(facts, &source, &open.instance, &name);
        return Ok(match open.insisted.sequence(written)? {
            Some(scope) => MetaKeys::wrote(&name, scope),
            None => MetaKeys::default(),
        });
    }
    // The last row may contain the binding of an unnamed value (`anon_001`) that was written while the execution was
    // open.
    let last = super::instance::meta(&open.instance.last);
    Ok(match &last.binding {
        Some(name) => MetaKeys::wrote(name, last.binding_scope),
        None => MetaKeys::default(),
    })
}

/// An open execution that a command ends, or in which a command ends a round or branch.
pub(super) struct EndingExecution {
    pub(super) run: String,
    open_executions: OpenExecutions,
    pub(super) instance: Instance,
    pub(super) insisted: ForcedRules,
}

impl EndingExecution {
    /// Returns the given execution, or else the only open execution of the shape `wanted`. Refuses a closed execution.
    pub(super) fn open(
        facts: &Facts<'_>,
        given: Option<i64>,
        wanted: RowShape,
        insist: Insist,
    ) -> Result<EndingExecution, WriteError> {
        let run = running(facts)?;
        let open_executions = OpenExecutions::of(facts);
        let id = open_executions.pick(facts, given, Some(wanted))?;
        let instance = Instance::of(facts, id)?;
        if wanted == RowShape::Loop && instance.meta().loop_id.is_none() {
            return Err(WriteError::refused(
                "not-a-loop",
                format!("execution {id} is not a loop: {}", instance.first.text),
                "give the number of a loop, as `prosescope begin` printed it",
            ));
        }
        Ok(EndingExecution {
            run,
            open_executions,
            instance: instance.open()?,
            insisted: ForcedRules::new(insist),
        })
    }

    /// Returns the result of the command, for the caller.
    pub(super) fn ended(&self, facts: &Facts<'_>, status: &str) -> ExecutionEnded {
        let first = &self.instance.first;
        let well = matches!(status, "completed" | "joined" | "exited");
        let lack = well.then(|| facts.lack_of_end(first.id)).flatten();
        ExecutionEnded {
            run: self.run.clone(),
            id: first.id,
            status: status.to_owned(),
            statement: first.text.to_string(),
            line: first.index,
            branch: self.instance.meta().branch.map(|branch| branch.to_string()),
            notes: lack
                .map(|lack| format!("execution {} ended, but {}", first.id, lack.told()))
                .into_iter()
                .collect(),
        }
    }

    /// Refuses to end the execution while one of its children is open.
    pub(super) fn no_child(
        &mut self,
        facts: &Facts<'_>,
        what: &str,
        verb: &str,
    ) -> Result<(), WriteError> {
        let id = self.instance.first.id;
        let none = self.open_executions.no_child(facts, id, what, verb);
        self.insisted.sequence(none).map(drop)
    }

    /// Refuses to end the execution successfully after a gate in it was rejected or timed out.
    pub(super) fn not_barred(&mut self, facts: &Facts<'_>) -> Result<(), WriteError> {
        let id = self.instance.first.id;
        let barred = match facts.bar_of_end(Some(id)) {
            Some(bar) => Err(barred(&bar, &format!("execution {id} cannot be completed"))),
            None => Ok(()),
        };
        self.insisted.sequence(barred).map(drop)
    }

    /// Refuses if a gate in this execution is pending, because no statement may begin after a pending gate.
    pub(super) fn past_gates(&mut self) -> Result<(), WriteError> {
        let past = self
            .open_executions
            .past_gates(Some(self.instance.first.id));
        self.insisted.sequence(past).map(drop)
    }

    /// Returns the changes that end the execution and cut off its open descendants.
    pub(super) fn changes(
        &self,
        facts: &Facts<'_>,
        at: &At,
        status: &str,
        error: Option<String>,
        keys: MetaKeys,
    ) -> Result<Vec<Change>, WriteError> {
        let style = facts.style();
        let status = match status {
            "joined" | "exited" if style == Style::InPlace => "completed",
            own => own,
        };
        let keys = self.insisted.keys(keys);
        let mut changes = ending(facts, at, &self.instance, status, error, keys)?;
        changes.extend(
            self.open_executions
                .cut_off(style, Some(self.instance.first.id)),
        );
        changes.push(touch(facts, at));
        Ok(changes)
    }
}

/// Returns the changes that end an instance: an update that marks its opening row as no longer running, and a closing
/// row. In the in-place style, the instance has one row, which is updated.
pub(super) fn ending(
    facts: &Facts<'_>,
    at: &At,
    instance: &Instance,
    status: &str,
    error: Option<String>,
    keys: MetaKeys,
) -> Result<Vec<Change>, WriteError> {
    let now = at.text(facts.style());
    if facts.style() == Style::InPlace {
        return Ok(vec![Change::UpdateExecution(ExecutionUpdate {
            id: instance.first.id,
            status: Some(status.to_owned()),
            completed: Some(Some(now)),
            error: error.map(Some),
            metadata: keys.done(),
        })]);
    }
    let over = no_longer(facts.style(), &instance.first, Some(now.clone()));
    let row = ExecutionRow {
        status: status.to_owned(),
        completed: Some(now),
        error,
        ..again(facts, instance, keys)?
    };
    Ok(over.into_iter().chain([Change::Execution(row)]).collect())
}

/// Returns a further row of an instance, which repeats the metadata keys that identify the instance.
pub(super) fn again(
    facts: &Facts<'_>,
    instance: &Instance,
    keys: MetaKeys,
) -> Result<ExecutionRow, WriteError> {
    let mut metadata = MetaKeys::naming(&instance.meta()).done();
    // The attempt number is copied into each later row, so that the last row always has the number and the limit.
    let last = super::instance::meta(&instance.last);
    if let Some(attempt) = last.attempt {
        metadata.insert("attempt".to_owned(), attempt.into());
        if let Some(max) = last.max.filter(|_| last.loop_id.is_none()) {
            metadata.insert("max".to_owned(), max.into());
        }
    }
    // The number of rounds is copied too, so that a failed loop continues its count after a retry.
    if let Some(rounds) = last.iteration {
        metadata.insert("iteration".to_owned(), rounds.into());
    }
    metadata.extend(keys.done());
    Ok(ExecutionRow {
        id: facts.next_execution()?,
        index: instance.first.index,
        text: instance.first.text.to_string(),
        parent: instance.first.parent,
        metadata,
        ..ExecutionRow::default()
    })
}

/// Refuses if the binding that an execution had to write is missing or older than the execution. Returns the binding's
/// frame; `None` is the root.
fn written(
    facts: &Facts<'_>,
    source: &ProgramSource<'_>,
    instance: &Instance,
    name: &str,
) -> Result<Option<i64>, WriteError> {
    // A frame's return value belongs to its caller; a statement's binding belongs to the enclosing scope.
    let id = instance.first.id;
    let from = match frame_block(&instance.first) {
        Some(_) => instance.first.parent,
        None => Some(id),
    };
    let frame = scope_of(facts, source, from, name)?.map(|frame| frame.id);
    let place = frame.map_or("at the root".to_owned(), |id| format!("in frame {id}"));
    let missing = match facts.binding(name, frame)? {
        None => format!(
            "there is no binding {name} {place} ({})",
            shown(&instance.first.text)
        ),
        Some(binding) => {
            let (last, first) = (&instance.last.started, &instance.first.started);
            let begun = last.as_ref().or(first.as_ref()).and_then(Stamp::millis);
            let wrote = binding.updated.as_ref().and_then(Stamp::millis);
            match (begun, wrote) {
                (Some(begun), Some(wrote)) if wrote < begun => format!(
                    "binding {name} {place} was written at {}, before the execution began at {}",
                    Stamp::At(wrote),
                    Stamp::At(begun)
                ),
                _ => return Ok(frame),
            }
        }
    };
    Err(WriteError::refused(
        "output-missing",
        format!("execution {id} is not completed: {missing}"),
        format!(
            "write the value with `prosescope put {name} --into {id}`; if the session gave no value, record its failure: `prosescope fail {id} TEXT`"
        ),
    ))
}
