use super::begin::{scope_of, touch};
use super::insist::{Insist, Insisted};
use super::instance::{Instance, running, shown};
use super::meta::Keys;
use super::source::Source;
use super::standing::{Standing, no_longer};
use super::task::output_of;
use super::{
    At, Change, ExecutionRow, ExecutionUpdate, Facts, Plan, Record, Style, WriteError, names,
};
use crate::time::Stamp;
use crate::trace::{Shape, shape};

/// How an execution ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// It is done. Refused until the binding that its statement writes is there.
    Completed {
        /// The binding that it had to write; by the program without it.
        binding: Option<String>,
    },
    /// It ended with an error.
    Failed {
        /// What went wrong.
        error: String,
    },
    /// It was passed over.
    Skipped {
        /// Why.
        reason: Option<String>,
    },
}

/// `exec complete`, `exec fail`, `exec skip`: an execution ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Close {
    /// Which; the one that stands open without it.
    pub id: Option<i64>,
    /// How.
    pub how: How,
    /// What the caller insists on.
    pub insist: Insist,
}

impl Close {
    /// An execution ends in this way.
    pub fn new(id: i64, how: How) -> Close {
        Close {
            id: Some(id),
            how,
            insist: Insist::default(),
        }
    }
}

/// What ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// Its execution id.
    pub id: i64,
    /// The statement's text.
    pub text: String,
    /// Its line in the program, where it is known.
    pub line: Option<i64>,
    /// The status word.
    pub status: &'static str,
    /// The branch that it was.
    pub branch: Option<String>,
}

impl Record for Close {
    type Done = Closed;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Closed>, WriteError> {
        self.close(facts, at, Keys::default())
    }
}

impl Close {
    /// The plan, with more keys for the row that ends it.
    pub(super) fn close(
        &self,
        facts: &dyn Facts,
        at: &At,
        keys: Keys,
    ) -> Result<Plan<Closed>, WriteError> {
        running(facts)?;
        let standing = Standing::of(facts)?;
        let id = standing.pick(self.id, Shape::Statement)?;
        let instance = Instance::of(facts, id)?.open()?;
        self.own_command(id, &instance)?;
        let mut insisted = Insisted::new(self.insist);
        let (status, error) = match &self.how {
            How::Completed { binding } => {
                self.outputs(facts, &instance, binding.as_deref(), &mut insisted)?;
                ("completed", None)
            }
            How::Failed { error } => ("failed", Some(error.clone())),
            How::Skipped { .. } => ("skipped", None),
        };
        // What fails may leave something behind that nobody ends any more.
        if status != "failed"
            && let Err(error) = standing.no_child(id, "execution", &format!("cannot be {status}"))
        {
            insisted.sequence(error)?;
        }
        let reason = match &self.how {
            How::Skipped { reason } => reason.as_deref(),
            _ => None,
        };
        let keys = insisted.keys(keys.text("reason", reason));
        let mut changes = ending(facts, at, &instance, status, error, keys)?;
        changes.extend(standing.cut_off(facts.style(), Some(id)));
        changes.push(touch(facts, at));
        Ok(Plan {
            changes,
            done: Closed {
                id,
                text: instance.first.text.to_string(),
                line: instance.first.index,
                status,
                branch: instance.meta().branch.map(|b| b.to_string()),
            },
        })
    }

    /// Refuses to complete what has not written its binding: the one that was named, else the program's.
    fn outputs(
        &self,
        facts: &dyn Facts,
        instance: &Instance,
        binding: Option<&str>,
        insisted: &mut Insisted,
    ) -> Result<(), WriteError> {
        let source = Source::of(facts)?;
        let says = output_of(&source, &instance.first).map(|(name, _)| name);
        if let Some(name) = binding {
            names::binding(name)?;
        }
        let line = instance
            .first
            .index
            .and_then(|line| u32::try_from(line).ok());
        let wanted = insisted.settle("binding", line, says, binding.map(str::to_owned))?;
        if let Some(name) = wanted
            && let Err(error) = written(facts, instance, &name)
        {
            insisted.sequence(error)?;
        }
        Ok(())
    }

    /// Refuses what ends by a command of its own: a parallel whose branches were not looked at would be joined, a gate
    /// passed that nobody decided. A parallel and a loop may fail.
    fn own_command(&self, id: i64, instance: &Instance) -> Result<(), WriteError> {
        if instance.meta().branch.is_some() {
            return Ok(());
        }
        let failed = matches!(self.how, How::Failed { .. });
        let (what, command) = match shape(&instance.first) {
            Shape::Parallel if !failed => ("a parallel", "prose parallel join ID"),
            Shape::Loop if !failed => ("a loop", "prose loop exit ID"),
            Shape::Gate => (
                "a gate",
                "prose approve RUN GATE` or `prose reject RUN GATE",
            ),
            _ => return Ok(()),
        };
        Err(WriteError::refused(
            "ends-by-own-command",
            format!("execution {id} is {what}: {}", shown(&instance.first.text)),
            format!("it ends with `{command}`"),
        ))
    }
}

/// The row that closes an instance, behind its opening row, which is no longer under way; in place, the update of its only
/// row.
pub(super) fn ending(
    facts: &dyn Facts,
    at: &At,
    instance: &Instance,
    status: &str,
    error: Option<String>,
    keys: Keys,
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

/// A later row of an instance: what names it is copied.
pub(super) fn again(
    facts: &dyn Facts,
    instance: &Instance,
    keys: Keys,
) -> Result<ExecutionRow, WriteError> {
    let mut metadata = Keys::naming(&instance.meta()).done();
    // The attempt stays with what follows it, so that the last row knows how many there were, and may be.
    let last = super::instance::meta(&instance.last);
    if let Some(attempt) = last.attempt {
        metadata.insert("attempt".to_owned(), attempt.into());
        if let Some(max) = last.max.filter(|_| last.loop_id.is_none()) {
            metadata.insert("max".to_owned(), max.into());
        }
    }
    // So do the rounds of a loop: one that failed and is tried again goes on where it was.
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

/// Refuses when the binding that an execution had to write is not there, or is older than the execution.
fn written(facts: &dyn Facts, instance: &Instance, name: &str) -> Result<(), WriteError> {
    // What a frame itself returns belongs to its caller, what a statement binds to the frame around it.
    let frame = scope_of(facts, instance.first.parent)?;
    let hint = format!(
        "the session writes it: `prose put {name} --execution {}`; without it the execution failed (`prose exec fail`)",
        instance.first.id
    );
    let place = frame.map_or("at the root".to_owned(), |id| format!("in frame {id}"));
    let Some(binding) = facts.binding(name, frame)? else {
        return Err(WriteError::refused(
            "output-missing",
            format!(
                "execution {} is not completed: there is no binding {name} {place} ({})",
                instance.first.id,
                shown(&instance.first.text)
            ),
            hint,
        ));
    };
    let begun = instance
        .last
        .started
        .as_ref()
        .or(instance.first.started.as_ref());
    let begun = begun.and_then(Stamp::millis);
    let wrote = binding.updated.as_ref().and_then(Stamp::millis);
    if let (Some(begun), Some(wrote)) = (begun, wrote)
        && wrote < begun
    {
        return Err(WriteError::refused(
            "output-missing",
            format!(
                "execution {} is not completed: binding {name} {place} is older than it ({} against {})",
                instance.first.id,
                Stamp::At(wrote),
                Stamp::At(begun)
            ),
            hint,
        ));
    }
    Ok(())
}
