//! `next`: the command that comes next in the open run, from what stands open and from how the program goes on. It asks,
//! and writes nothing.
//!
//! | the run stands | next |
//! |---|---|
//! | at a statement without a body | its value, or its end |
//! | in a body | the statement after the one that ended last (`program/flow.rs`), else the end of the body |
//! | behind a failure | another attempt, the handler, or the failure of what it lies in |

mod begun;
mod ends;
mod offers;

use std::ops::ControlFlow;

pub(super) use begun::next_step;
use serde::{Deserialize, Serialize};

use self::ends::choice;
use super::instance::{begins, begun_after, meta, newest_in, same};
use super::item::is_parallel;
use super::source::Source;
use super::standing::Standing;
use super::{Facts, RunStore, WriteError};
use crate::gate::visit;
use crate::model::{Execution, GateStatus, RunStatus, Status};
use crate::program::{Listing, StatementKind as Kind};
use crate::shell;
use crate::trace::{Shape, frame_block, is_branch_text, shape};

/// What comes next in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NextView {
    /// The run's id.
    pub run: String,
    /// The execution that the run stands in; `None` at the program's top.
    pub execution: Option<i64>,
    /// What may be recorded now, the likeliest first; where there are several, the run decides between them.
    pub choices: Vec<NextChoice>,
}

/// A command that may come next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NextChoice {
    /// The command. Words in capitals are to be filled in.
    pub command: String,
    /// Why it comes next, or in which case.
    pub why: String,
}

/// Asks what comes next; nothing is written.
///
/// # Errors
/// A [`super::Fault`] when the store cannot answer.
pub fn next(store: &mut dyn RunStore) -> Result<NextView, WriteError> {
    let mut answer = None;
    // The transaction ends without a change: an answer is none.
    let refused = store.transact(&mut |facts| {
        answer = Some(asked(facts)?);
        Err(WriteError::refused("only-asked", "", ""))
    });
    match (answer, refused) {
        (Some(answer), _) => Ok(answer),
        (None, Err(error)) => Err(error),
        (None, Ok(())) => Ok(NextView::default()),
    }
}

fn asked(facts: &dyn Facts) -> Result<NextView, WriteError> {
    let run = facts.run()?;
    let view = |choices| NextView {
        run: run.name.clone(),
        execution: None,
        choices,
    };
    let begin = |why| Ok(view(vec![choice("prosescope resume --begin", why)]));
    match run.status {
        RunStatus::Completed => return Ok(view(Vec::new())),
        RunStatus::Failed => {
            return begin("the run failed: this takes it up again where it failed");
        }
        RunStatus::Interrupted => return begin("the run is interrupted"),
        _ => {}
    }
    let source = Source::of(facts)?;
    let Some(listing) = &source.listing else {
        let why = "the run holds no program, so what comes next is not known";
        return Ok(view(vec![choice("prosescope resume", why)]));
    };
    let standing = Standing::of(facts)?;
    let leaves: Vec<&Execution> = standing
        .rows()
        .filter(|row| standing.inside(row.id).next().is_none())
        .collect();
    let look = Look {
        facts,
        source: &source,
        listing,
        several: leaves.len() > 1,
    };
    let at = leaves.last().copied();
    let mut choices = look.choices(at)?;
    choices.truncate(MOST);
    Ok(NextView {
        execution: at.map(|row| row.id),
        ..view(choices)
    })
}

/// Choices that are listed.
const MOST: usize = 24;

/// What the answer is made from.
struct Look<'a> {
    facts: &'a dyn Facts,
    source: &'a Source,
    listing: &'a Listing,
    /// Whether the run stands at several places: commands then name theirs.
    several: bool,
}

/// What runs in an execution.
struct Body {
    /// The statement whose body it is; `None` is the program.
    of: Option<u32>,
    /// What it begins with.
    first: Option<u32>,
}

/// What happened last in a body.
struct Last {
    row: Execution,
    failed: bool,
    statement: Option<u32>,
}

impl Look<'_> {
    fn choices(&self, at: Option<&Execution>) -> Result<Vec<NextChoice>, WriteError> {
        let Some(row) = at else {
            return self.in_body(None, &self.body_of(None));
        };
        if shape(row) == Shape::Gate {
            return Ok(self.decision(row));
        }
        match self.body(row)? {
            Some(body) if is_parallel(row) => self.branches(row, &body),
            Some(body) => self.in_body(Some(row), &body),
            None => self.work(row),
        }
    }

    /// What runs in a statement, or in the program.
    fn body_of(&self, of: Option<u32>) -> Body {
        Body {
            of,
            first: self.listing.first_in(of),
        }
    }

    /// What runs in an execution; `None` where it has no body.
    fn body(&self, row: &Execution) -> Result<Option<Body>, WriteError> {
        let of = |of: u32| self.body_of(Some(of));
        if let Some(block) = frame_block(row) {
            return Ok(self.listing.block_named(block).map(of));
        }
        let branch = meta(row).branch;
        if branch.is_some_and(|branch| is_branch_text(&row.text, &branch)) {
            let parallel = match row.parent {
                Some(parent) => self.facts.execution(parent)?,
                None => None,
            };
            let Some(parallel) = parallel.and_then(|row| self.source.of_row(&row)) else {
                return Ok(None);
            };
            if self.listing.has_items(parallel) {
                return Ok(Some(of(parallel)));
            }
            let own = row.index.and_then(|line| u32::try_from(line).ok());
            let first = own.and_then(|line| self.source.at_line(line));
            return Ok(first.is_some().then_some(Body {
                of: Some(parallel),
                first,
            }));
        }
        let own = self.source.of_row(row);
        let has_body = |at: &u32| self.listing.children(*at).next().is_some();
        Ok(own.filter(has_body).map(of))
    }

    /// What comes next in a body: after what ended last in it.
    fn in_body(&self, row: Option<&Execution>, body: &Body) -> Result<Vec<NextChoice>, WriteError> {
        let is_choice = |of: &u32| self.source.kind(*of) == Some(Kind::Choice);
        let Some(last) = self.last(row)? else {
            return match body.of.filter(is_choice) {
                Some(choice) => Ok(self.options(choice)),
                None => self.offers(body.first, row, body),
            };
        };
        if last.failed {
            return self.behind_failure(row, &last);
        }
        let Some(statement) = last.statement else {
            let id = last.row.id;
            return Ok(vec![choice(
                "prosescope resume",
                format!(
                    "execution {id} is tied to no line of the program, so what follows it is not known"
                ),
            )]);
        };
        self.offers(self.listing.after(statement, body.of), row, body)
    }

    /// What was recorded last in an execution, or at the program's top; of a loop, in the round that is open.
    fn last(&self, row: Option<&Execution>) -> Result<Option<Last>, WriteError> {
        let parent = row.map(|row| row.id);
        let all = (begun_after(self.facts, parent)?, usize::MAX);
        let last = newest_in(self.facts, parent, all, |_| true)?;
        // Whoever runs the program asks for more than it does: it goes on after its own last statement.
        let of_program = |row: &Execution| !self.source.is_own_gate(row);
        let last = match last {
            Some(last) if !of_program(&last) && !self.has_failed(&last)? => {
                newest_in(self.facts, parent, all, of_program)?
            }
            last => last,
        };
        let Some(row) = last else { return Ok(None) };
        Ok(Some(Last {
            failed: self.has_failed(&row)?,
            statement: self.source.of_row(&row),
            row,
        }))
    }

    fn has_failed(&self, row: &Execution) -> Result<bool, WriteError> {
        match &meta(row).gate_id {
            Some(gate) => self.turned_down(gate, self.source.of_row(row)),
            None => Ok(row.status == Status::Failed),
        }
    }

    /// Whether the program does not go on after a gate.
    fn turned_down(&self, gate: &str, statement: Option<u32>) -> Result<bool, WriteError> {
        let Some(gate) = self.facts.gate(gate)? else {
            return Ok(false);
        };
        let refused = matches!(gate.status, GateStatus::Rejected | GateStatus::Timeout);
        let own = statement.and_then(|at| self.listing.get(at));
        let says = gate
            .on_reject
            .as_deref()
            .or(own.and_then(|s| s.property("on_reject")));
        Ok(refused && !says.is_some_and(crate::gate::is_continue))
    }

    /// The id of the instance that a row belongs to.
    fn instance(&self, row: &Execution) -> Result<i64, WriteError> {
        let mut first = row.id;
        self.facts
            .executions_back(&super::Place::of(row), 0, &mut |other| {
                if other.id <= row.id && same(row, &other) {
                    first = other.id;
                    if begins(&other) {
                        return ControlFlow::Break(());
                    }
                }
                ControlFlow::Continue(())
            })?;
        Ok(first)
    }

    fn decision(&self, row: &Execution) -> Vec<NextChoice> {
        let own = meta(row);
        let gate = own.gate_id.as_deref().unwrap_or_default();
        let name = visit(gate).0;
        let why = format!(
            "gate {name} waits: a person decides it, never the one who carries out the program"
        );
        ["approve", "reject"]
            .map(|verb| choice(shell::command(verb, &["RUN", gate], "--as NAME"), &*why))
            .to_vec()
    }
}
