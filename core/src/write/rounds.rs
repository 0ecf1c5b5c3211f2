use super::begin::{Begun, Entry, not_twice, opening, touch};
use super::close::{Closed, again, ending};
use super::insist::{Insist, Insisted};
use super::instance::{Instance, meta, running};
use super::meta::{Keys, Word};
use super::overlay::Overlay;
use super::source::{Command, Named, Source};
use super::standing::Standing;
use super::{At, Change, ExecutionRow, ExecutionUpdate, Facts, Plan, Record, Style, WriteError};
use crate::model::{Meta, Status};
use crate::trace::{Shape, shape};

/// `loop begin`: a loop is entered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BeginLoop {
    /// The statement; without one `loop`.
    pub statement: Named,
    /// The execution that it runs in; taken from what stands open without it.
    pub parent: Option<i64>,
    /// The most rounds; as the program says without it.
    pub max: Option<i64>,
    /// Until what, as the program says it.
    pub condition: Option<String>,
    /// What the caller insists on.
    pub insist: Insist,
}

impl Record for BeginLoop {
    type Done = Begun;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Begun>, WriteError> {
        let mut entry = Entry::open(
            facts,
            &self.statement,
            Some("loop"),
            self.parent,
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
        // The asterisks may be left out.
        let same = |given: &String| until.as_deref().map(bare) == Some(bare(given));
        let given = self.condition.clone().filter(|given| !same(given));
        let condition = entry.insisted.settle("condition", line, until, given)?;
        let name = format!("l{}", facts.next_execution()?);
        let naming = Meta {
            loop_id: Some(name.as_str().into()),
            ..Meta::default()
        };
        let style = facts.style();
        let rounds = (style == Style::InPlace).then_some(0);
        let keys = Keys::naming(&naming)
            .number(Word::MaxRounds.key(style), max)
            .number(Word::Iteration.key(style), rounds)
            .text("condition", condition.as_deref());
        let row = entry.row(facts, Status::Executing, Some(naming))?;
        not_twice(facts, &row)?;
        let keys = entry.insisted.keys(keys);
        Ok(Plan {
            changes: vec![opening(facts, at, &row, keys), touch(facts, at)],
            done: Begun {
                name: Some(name),
                ..entry.begun(&row)
            },
        })
    }
}

/// A condition without its asterisks.
fn bare(condition: &str) -> &str {
    condition.trim().trim_matches('*').trim()
}

/// `loop iterate`: a round ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Iterate {
    /// The loop's execution id; the one that stands open without it.
    pub id: Option<i64>,
    /// What the caller insists on.
    pub insist: Insist,
}

/// How a loop stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounds {
    /// The loop.
    pub closed: Closed,
    /// How many rounds ended.
    pub rounds: i64,
    /// The most rounds.
    pub max: Option<i64>,
}

impl Record for Iterate {
    type Done = Rounds;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Rounds>, WriteError> {
        running(facts)?;
        let standing = Standing::of(facts)?;
        let id = standing.pick(self.id, Shape::Loop)?;
        let instance = loop_of(facts, id)?.open()?;
        let mut insisted = Insisted::new(self.insist);
        let rounds = meta(&instance.last)
            .iteration
            .unwrap_or(0)
            .saturating_add(1);
        let max = most_rounds(&Source::of(facts)?, &instance);
        if let Some(max) = max.filter(|max| rounds > *max) {
            insisted.sequence(used_up(id, max))?;
        }
        if let Err(error) = standing.no_child(id, "the round of loop", "cannot end") {
            insisted.sequence(error)?;
        }
        let style = facts.style();
        let keys = Keys::default().number(Word::Iteration.key(style), Some(rounds));
        let keys = insisted.keys(keys);
        let change = if style == Style::InPlace {
            Change::UpdateExecution(ExecutionUpdate {
                id,
                metadata: keys.done(),
                ..ExecutionUpdate::default()
            })
        } else {
            Change::Execution(ExecutionRow {
                status: Status::Iteration.word().to_owned(),
                completed: Some(at.text(style)),
                ..again(facts, &instance, keys)?
            })
        };
        Ok(Plan {
            changes: vec![change, touch(facts, at)],
            done: stands(&instance, rounds, "iteration"),
        })
    }
}

/// `loop exit`: a loop is left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExitLoop {
    /// The loop's execution id; the one that stands open without it.
    pub id: Option<i64>,
    /// Why: `condition_satisfied`, `max_reached`, or in words.
    pub reason: Option<String>,
    /// Whether a round ends first.
    pub round: bool,
    /// What the caller insists on.
    pub insist: Insist,
}

impl Record for ExitLoop {
    type Done = Rounds;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Rounds>, WriteError> {
        if self.round {
            let mut all = Overlay::new(facts);
            let (id, insist) = (self.id, self.insist);
            all.plan(&Iterate { id, insist }, at)?;
            let round = false;
            let exit = all.plan(
                &ExitLoop {
                    round,
                    ..self.clone()
                },
                at,
            )?;
            return Ok(all.done(exit));
        }
        running(facts)?;
        let standing = Standing::of(facts)?;
        let id = standing.pick(self.id, Shape::Loop)?;
        let instance = loop_of(facts, id)?.open()?;
        let mut insisted = Insisted::new(self.insist);
        if let Err(error) = standing.no_child(id, "loop", "cannot be left") {
            insisted.sequence(error)?;
        }
        let rounds = meta(&instance.last).iteration.unwrap_or(0);
        let style = facts.style();
        let keys = Keys::default()
            .number(Word::Iteration.key(style), Some(rounds))
            .text("reason", self.reason.as_deref());
        let word = match style {
            Style::InPlace => "completed",
            Style::AppendOnly | Style::Files => "exited",
        };
        let keys = insisted.keys(keys);
        let mut changes = ending(facts, at, &instance, word, None, keys)?;
        changes.extend(standing.cut_off(style, Some(id)));
        changes.push(touch(facts, at));
        Ok(Plan {
            changes,
            done: stands(&instance, rounds, "exited"),
        })
    }
}

/// The most rounds of a loop, as it was entered, else as the program says.
fn most_rounds(source: &Source, instance: &Instance) -> Option<i64> {
    let statement = source.of_row(&instance.first).and_then(|at| source.get(at));
    instance.meta().max.or_else(|| statement?.most_rounds())
}

fn used_up(id: i64, max: i64) -> WriteError {
    WriteError::refused(
        "loop-used-up",
        format!("loop {id} had its {max} rounds"),
        "`prose loop exit ID --reason TEXT` leaves it",
    )
}

/// Refuses what would begin another round of a loop that had all of its rounds: what runs in the loop itself.
pub(super) fn rounds_left(
    facts: &dyn Facts,
    source: &Source,
    parent: Option<i64>,
) -> Result<(), WriteError> {
    let Some(id) = parent else { return Ok(()) };
    let instance = Instance::of(facts, id)?;
    if instance.meta().loop_id.is_none() || shape(&instance.first) != Shape::Loop {
        return Ok(());
    }
    let rounds = meta(&instance.last).iteration.unwrap_or(0);
    match most_rounds(source, &instance).filter(|max| rounds >= *max) {
        Some(max) => Err(used_up(id, max)),
        None => Ok(()),
    }
}

fn loop_of(facts: &dyn Facts, id: i64) -> Result<Instance, WriteError> {
    let instance = Instance::of(facts, id)?;
    if instance.meta().loop_id.is_some() {
        return Ok(instance);
    }
    Err(WriteError::refused(
        "not-a-loop",
        format!("execution {id} is not a loop: {}", instance.first.text),
        "give the id that `prose loop begin` printed",
    ))
}

fn stands(instance: &Instance, rounds: i64, status: &'static str) -> Rounds {
    Rounds {
        closed: Closed {
            id: instance.first.id,
            text: instance.first.text.to_string(),
            line: instance.first.index,
            status,
            branch: None,
        },
        rounds,
        max: instance.meta().max,
    }
}
