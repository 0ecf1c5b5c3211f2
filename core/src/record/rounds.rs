use super::end::{EndingExecution, again};
use super::entry::{BeginnableStatement, not_twice, touch};
use super::insist::Insist;
use super::instance::{Instance, begun_after, meta, newest_in};
use super::meta::{MetaKeys, Word};
use super::source::ProgramSource;
use super::steps::Steps;
use super::{
    At, Change, CommandPlan, ExecutionBegun, ExecutionRow, ExecutionUpdate, Facts, LoopRounds,
    Record, Style, WriteError,
};
use crate::model::{Meta, Status};
use crate::program::Statement;
use crate::trace::{RowShape, shape};

/// Returns the plan that begins a loop; `own` is its statement.
pub(super) fn begin_loop(
    facts: &Facts<'_>,
    at: &At,
    entry: BeginnableStatement<'_>,
    own: &Statement,
) -> Result<CommandPlan<ExecutionBegun>, WriteError> {
    let id = facts.next_execution()?;
    let naming = Meta {
        loop_id: Some(format!("l{id}").into()),
        ..Meta::default()
    };
    let style = facts.style();
    let rounds = (style == Style::InPlace).then_some(0);
    let keys = MetaKeys::default()
        .number(Word::MaxRounds.key(style), own.most_rounds())
        .number(Word::Iteration.key(style), rounds)
        .text("condition", own.until().as_deref());
    let row = entry.row(facts, Status::Executing, naming)?;
    not_twice(facts, &row)?;
    entry.begin(facts, at, row, keys)
}

/// The command `round`, which ends a round of a loop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Round {
    /// The loop's execution id; by default the only open loop.
    pub id: Option<i64>,
    /// Whether the round may be recorded although a rule about the order refuses (`--force`).
    pub insist: Insist,
}

impl Record for Round {
    type Done = LoopRounds;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<LoopRounds>, WriteError> {
        let mut open = EndingExecution::open(facts, self.id, RowShape::Loop, self.insist)?;
        let id = open.instance.first.id;
        let rounds = ended_rounds(&open.instance).saturating_add(1);
        open.insisted
            .sequence(rounds_left(facts, &ProgramSource::of(facts), Some(id)))?;
        open.no_child(facts, "the round of loop", "cannot end")?;
        let style = facts.style();
        let keys = MetaKeys::default().number(Word::Iteration.key(style), Some(rounds));
        let keys = open.insisted.keys(keys);
        let change = if style == Style::InPlace {
            let next = facts.next_execution()?;
            Change::UpdateExecution(ExecutionUpdate {
                id,
                metadata: keys.number("round_from", Some(next)).done(),
                ..ExecutionUpdate::default()
            })
        } else {
            Change::Execution(ExecutionRow {
                status: Status::Iteration.word().to_owned(),
                completed: Some(at.text(style)),
                ..again(facts, &open.instance, keys)?
            })
        };
        Ok(CommandPlan {
            changes: vec![change, touch(facts, at)],
            done: loop_result(facts, &open, rounds, "iteration"),
        })
    }
}

/// Returns the plan that leaves a loop. Its present round ends with it, if anything began in the round.
pub(super) fn leave(
    facts: &Facts<'_>,
    at: &At,
    id: i64,
    because: Option<&str>,
    insist: Insist,
) -> Result<CommandPlan<LoopRounds>, WriteError> {
    let mut all = Steps::new(facts);
    let since = begun_after(facts, Some(id))?;
    if newest_in(facts, Some(id), since, |_| true).is_some() {
        let round = Round {
            id: Some(id),
            insist: Insist::default(),
        };
        // What keeps a round from ending keeps the loop from it, too, unless the caller forces it; then the round is
        // left unfinished. A round too many does not count.
        match all.plan(&round, at) {
            Err(WriteError::Refused { .. }) => {}
            ended => drop(ended?),
        }
    }
    let left = all.then(|facts| {
        let mut open = EndingExecution::open(facts, Some(id), RowShape::Loop, insist)?;
        open.no_child(facts, "loop", "cannot be left")?;
        open.not_barred(facts)?;
        let rounds = ended_rounds(&open.instance);
        let keys = MetaKeys::default()
            .number(Word::Iteration.key(facts.style()), Some(rounds))
            .text("reason", because);
        Ok(CommandPlan {
            changes: open.changes(facts, at, "exited", None, keys)?,
            done: loop_result(facts, &open, rounds, "exited"),
        })
    })?;
    Ok(all.done(left))
}

/// Returns the number of finished rounds of a loop.
fn ended_rounds(instance: &Instance) -> i64 {
    meta(&instance.last).iteration.unwrap_or(0)
}

/// Refuses a statement directly in the loop `parent` if the loop has reached its limit, because the statement would
/// begin another round.
pub(super) fn rounds_left(
    facts: &Facts<'_>,
    source: &ProgramSource<'_>,
    parent: Option<i64>,
) -> Result<(), WriteError> {
    let Some(id) = parent else { return Ok(()) };
    let instance = Instance::of(facts, id)?;
    if instance.meta().loop_id.is_none() || shape(&instance.first) != RowShape::Loop {
        return Ok(());
    }
    // The limit in the record takes precedence over the program's limit.
    let statement = source.of_row(&instance.first).and_then(|at| source.get(at));
    let max = instance.meta().max.or_else(|| statement?.most_rounds());
    match max.filter(|max| ended_rounds(&instance) >= *max) {
        Some(max) => Err(WriteError::refused(
            "loop-used-up",
            format!("loop {id} has had all of its {max} rounds"),
            format!("leave the loop with `prosescope end {id}`"),
        )),
        None => Ok(()),
    }
}

fn loop_result(facts: &Facts<'_>, open: &EndingExecution, rounds: i64, status: &str) -> LoopRounds {
    LoopRounds {
        of: open.ended(facts, status),
        iteration: rounds,
        max: open.instance.meta().max,
    }
}
