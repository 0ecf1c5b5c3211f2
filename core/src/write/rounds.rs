use super::begin::{Begun, not_twice, opening, touch};
use super::close::{Closed, again, ending};
use super::instance::{Instance, meta, open_parent, running};
use super::meta::{Keys, Word};
use super::parallel::{construct, or_word};
use super::{
    At, Change, ExecutionRow, ExecutionUpdate, Facts, Named, Plan, Record, Style, WriteError,
};
use crate::model::{Meta, Status};

/// `loop begin`: a loop is entered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BeginLoop {
    /// The statement; without one `loop`.
    pub statement: Named,
    /// The execution that it runs in.
    pub parent: Option<i64>,
    /// The most rounds.
    pub max: Option<i64>,
    /// Until what, as the program says it.
    pub condition: Option<String>,
}

impl Record for BeginLoop {
    type Done = Begun;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Begun>, WriteError> {
        running(facts)?;
        open_parent(facts, self.parent)?;
        let (text, index) = or_word(&self.statement, facts, "loop")?;
        let id = facts.next_execution()?;
        let name = format!("l{id}");
        let naming = Meta {
            loop_id: Some(name.as_str().into()),
            ..Meta::default()
        };
        let style = facts.style();
        let rounds = (style == Style::InPlace).then_some(0);
        let keys = Keys::naming(&naming)
            .number(Word::MaxRounds.key(style), self.max)
            .number(Word::Iteration.key(style), rounds)
            .text("condition", self.condition.as_deref());
        let row = construct(facts, id, &text, index, self.parent, naming);
        not_twice(facts, &row)?;
        Ok(Plan {
            changes: vec![opening(facts, at, &row, keys), touch(facts, at)],
            done: Begun {
                id,
                text,
                line: index,
                frame: None,
                name: Some(name),
            },
        })
    }
}

/// `loop iterate`: a round ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iterate {
    /// The loop's execution id.
    pub id: i64,
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
        let instance = loop_of(facts, self.id)?.open()?;
        let rounds = meta(&instance.last)
            .iteration
            .unwrap_or(0)
            .saturating_add(1);
        let max = instance.meta().max;
        if let Some(max) = max.filter(|max| rounds > *max) {
            return Err(WriteError::refused(
                "loop-used-up",
                format!("loop {} had its {max} rounds", self.id),
                "`prose loop exit ID --reason TEXT` leaves it",
            ));
        }
        let style = facts.style();
        let keys = Keys::default().number(Word::Iteration.key(style), Some(rounds));
        let change = if style == Style::InPlace {
            Change::UpdateExecution(ExecutionUpdate {
                id: self.id,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExitLoop {
    /// The loop's execution id.
    pub id: i64,
    /// Why: `condition_satisfied`, `max_reached`, or in words.
    pub reason: Option<String>,
}

impl Record for ExitLoop {
    type Done = Rounds;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Rounds>, WriteError> {
        running(facts)?;
        let instance = loop_of(facts, self.id)?.open()?;
        let rounds = meta(&instance.last).iteration.unwrap_or(0);
        let style = facts.style();
        let keys = Keys::default()
            .number(Word::Iteration.key(style), Some(rounds))
            .text("reason", self.reason.as_deref());
        let word = match style {
            Style::InPlace => "completed",
            Style::AppendOnly | Style::Files => "exited",
        };
        let change = ending(facts, at, &instance, word, None, keys)?;
        Ok(Plan {
            changes: vec![change, touch(facts, at)],
            done: stands(&instance, rounds, "exited"),
        })
    }
}

fn loop_of(facts: &dyn Facts, id: i64) -> Result<Instance, WriteError> {
    let instance = Instance::of(facts, id)?;
    if instance.meta().loop_id.is_some() {
        return Ok(instance);
    }
    Err(WriteError::refused(
        "not-a-loop",
        format!("execution {id} is no loop: {}", instance.first.text),
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
