use super::begin::{Entry, not_twice, touch};
use super::close::{Ending, again};
use super::insist::Insist;
use super::instance::{Instance, meta};
use super::item::{self, Wanted};
use super::meta::{Keys, Word};
use super::source::{Command, Source, StatementRef};
use super::steps::Steps;
use super::{
    At, Change, ExecutionBegun, ExecutionRow, ExecutionUpdate, Facts, LoopRounds, Plan, Record,
    Style, WriteError,
};
use crate::model::{Meta, Status};
use crate::trace::{Shape, shape};

/// The command `loop begin`, which begins a loop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BeginLoop {
    /// The loop's statement; by default the text `loop`.
    pub statement: StatementRef,
    /// The execution that the loop runs in; by default chosen from the open executions.
    pub parent: Option<i64>,
    /// The name of the item or branch that the loop runs in.
    pub item: Option<String>,
    /// The limit for the number of rounds; by default the program's limit.
    pub max: Option<i64>,
    /// The condition that ends the loop, in the program's words.
    pub condition: Option<String>,
    /// The overrides that the caller gave (`--force`, `--override`).
    pub insist: Insist,
}

impl Record for BeginLoop {
    type Done = ExecutionBegun;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<Plan<ExecutionBegun>, WriteError> {
        let wanted = Wanted::new(&self.statement, self.parent, &self.item, self.insist);
        item::inside(facts, at, wanted, |facts, parent| {
            self.plan_in(facts, at, parent)
        })
    }
}

impl BeginLoop {
    fn plan_in(
        &self,
        facts: &Facts<'_>,
        at: &At,
        parent: Option<i64>,
    ) -> Result<Plan<ExecutionBegun>, WriteError> {
        let mut entry = Entry::open(
            facts,
            &self.statement,
            Some("loop"),
            parent,
            self.insist,
            Command::Loop,
        )?;
        let statement = entry.source.statement(&entry.found);
        let (most, until) = (
            statement.and_then(|s| s.most_rounds()),
            statement.and_then(|s| s.until()),
        );
        let line = entry.found.line;
        let max = entry.insisted.settle("max", line, most, self.max)?;
        // The condition may be given without its asterisks.
        let same = |given: &String| until.as_deref().map(bare) == Some(bare(given));
        let given = self.condition.clone().filter(|given| !same(given));
        let condition = entry.insisted.settle("condition", line, until, given)?;
        let naming = Meta {
            loop_id: Some(format!("l{}", facts.next_execution()?).into()),
            ..Meta::default()
        };
        let style = facts.style();
        let rounds = (style == Style::InPlace).then_some(0);
        let keys = Keys::default()
            .number(Word::MaxRounds.key(style), max)
            .number(Word::Iteration.key(style), rounds)
            .text("condition", condition.as_deref());
        let row = entry.row(facts, Status::Executing, naming)?;
        not_twice(facts, &row)?;
        entry.begin(facts, at, row, keys)
    }
}

/// Returns a condition without the asterisks of `**…**`.
fn bare(condition: &str) -> &str {
    condition.trim().trim_matches('*').trim()
}

/// The command `loop iterate`, which ends a round of a loop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Iterate {
    /// The loop's execution id; by default the only open loop.
    pub id: Option<i64>,
    /// The overrides that the caller gave (`--force`, `--override`).
    pub insist: Insist,
}

impl Record for Iterate {
    type Done = LoopRounds;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<Plan<LoopRounds>, WriteError> {
        let mut open = Ending::open(facts, self.id, Shape::Loop, self.insist)?;
        let id = open.instance.first.id;
        let rounds = ended_rounds(&open.instance).saturating_add(1);
        open.insisted
            .sequence(rounds_left(facts, &Source::of(facts), Some(id)))?;
        open.no_child(facts, "the round of loop", "cannot end")?;
        let style = facts.style();
        let keys = Keys::default().number(Word::Iteration.key(style), Some(rounds));
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
        Ok(Plan {
            changes: vec![change, touch(facts, at)],
            done: loop_result(facts, &open, rounds, "iteration"),
        })
    }
}

/// The command `loop exit`, which ends a loop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExitLoop {
    /// The loop's execution id; by default the only open loop.
    pub id: Option<i64>,
    /// The reason why the loop ended: `condition_satisfied`, `max_reached`, or free text.
    pub reason: Option<String>,
    /// Whether to end the open round first.
    pub round: bool,
    /// The overrides that the caller gave (`--force`, `--override`).
    pub insist: Insist,
}

impl Record for ExitLoop {
    type Done = LoopRounds;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<Plan<LoopRounds>, WriteError> {
        if self.round {
            let mut all = Steps::new(facts);
            let (id, insist) = (self.id, self.insist);
            // If the last round that the loop may have is ended already, only the loop is left to end.
            match all.plan(&Iterate { id, insist }, at) {
                Err(WriteError::Refused { rule: USED_UP, .. }) => {}
                ended => drop(ended?),
            }
            let mut alone = self.clone();
            alone.round = false;
            let exit = all.plan(&alone, at)?;
            return Ok(all.done(exit));
        }
        let mut open = Ending::open(facts, self.id, Shape::Loop, self.insist)?;
        open.no_child(facts, "loop", "cannot be left")?;
        open.not_barred(facts)?;
        let rounds = ended_rounds(&open.instance);
        let keys = Keys::default()
            .number(Word::Iteration.key(facts.style()), Some(rounds))
            .text("reason", self.reason.as_deref());
        Ok(Plan {
            changes: open.changes(facts, at, "exited", None, keys)?,
            done: loop_result(facts, &open, rounds, "exited"),
        })
    }
}

/// Returns the number of finished rounds of a loop.
fn ended_rounds(instance: &Instance) -> i64 {
    meta(&instance.last).iteration.unwrap_or(0)
}

/// The rule that refuses more rounds than a loop may have.
const USED_UP: &str = "loop-used-up";

/// Refuses a statement directly in the loop `parent` if the loop has reached its limit, because the statement would
/// begin another round.
pub(super) fn rounds_left(
    facts: &Facts<'_>,
    source: &Source<'_>,
    parent: Option<i64>,
) -> Result<(), WriteError> {
    let Some(id) = parent else { return Ok(()) };
    let instance = Instance::of(facts, id)?;
    if instance.meta().loop_id.is_none() || shape(&instance.first) != Shape::Loop {
        return Ok(());
    }
    // A limit given at `loop begin` takes precedence over the program's limit.
    let statement = source.of_row(&instance.first).and_then(|at| source.get(at));
    let max = instance.meta().max.or_else(|| statement?.most_rounds());
    match max.filter(|max| ended_rounds(&instance) >= *max) {
        Some(max) => Err(WriteError::refused(
            USED_UP,
            format!("loop {id} has had all of its {max} rounds"),
            "leave the loop with `prosescope loop exit ID --reason TEXT`",
        )),
        None => Ok(()),
    }
}

fn loop_result(facts: &Facts<'_>, open: &Ending, rounds: i64, status: &str) -> LoopRounds {
    LoopRounds {
        of: open.ended(facts, status),
        iteration: rounds,
        max: open.instance.meta().max,
    }
}
