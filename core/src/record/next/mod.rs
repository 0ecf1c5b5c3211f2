//! Finds the commands that may come next in a run (`prosescope next`), from the open executions and the program. This
//! module does not write.
//!
//! | position of the run | next |
//! |---|---|
//! | at a statement without a body | its value, or its end |
//! | in a body | the statement after the last one that ended (`program/flow.rs`), else the end of the body |
//! | after a failure | another attempt, the handler, or the failure of the enclosing execution |

mod begun;
mod ends;
mod offers;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub(super) use begun::next_step;
pub(super) use ends::end_of;
use serde::{Deserialize, Serialize};

use self::ends::choice;
use super::gate::is_due;
use super::instance::{begun_after, meta, newest_in};
use super::item::is_parallel;
use super::open_executions::OpenExecutions;
use super::source::ProgramSource;
use super::{AgentFact, Facts, Fault, Shelf, Style, WriteError};
use crate::model::shell;
use crate::model::visit;
use crate::model::{Binding, Execution, Gate, GateStatus, Run, RunStatus, Status};
use crate::program::{Listing, StatementKind as Kind};
use crate::read::gate::expire_command;
use crate::trace::{RowShape, Trace, frame_block, is_branch_text, shape};

/// The commands that may come next in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NextView {
    /// The run that the commands are for, by the name that commands take.
    pub run: String,
    /// The innermost open execution; `None` at the program's top.
    pub execution: Option<i64>,
    /// Commands that may be recorded now, the likeliest first. If there are several, the VM chooses one, for example by
    /// whether a loop's condition is met.
    pub choices: Vec<NextChoice>,
}

/// A command that may come next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NextChoice {
    /// The command. Words in capitals are placeholders.
    pub command: String,
    /// Why the command comes next, or under which condition.
    pub why: String,
    /// Where the run goes on with the command, if it begins or ends a statement of the program.
    #[serde(skip)]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub stands: Option<NextPlace>,
}

/// A place at which a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextPlace {
    /// The statement: an index into [`Listing::statements`].
    pub statement: u32,
    /// The execution in which the statement runs; `None` at the program's top.
    pub inside: Option<i64>,
}

/// The most innermost open executions whose places [`stands`] returns: as many as the page of `resume` shows.
const MOST_STANDS: usize = 50;

/// Returns where a running run goes on: for each of the first innermost open executions, or for `None` if nothing is
/// open, the place of the first command that [`next`] offers there. Empty if a part of the run was not read, or if rows
/// do not record the run.
pub(crate) fn stands(
    run: &Run,
    trace: &Trace,
    listing: Option<&Listing>,
) -> BTreeMap<Option<i64>, NextPlace> {
    let shelf = ReadShelf {
        values: &|_, _| None,
    };
    let found = || -> Result<_, WriteError> {
        let run = Cow::Borrowed(run);
        let facts = Facts::of(&shelf, Style::of(&run), run, listing, Some(trace))?;
        let open_executions = OpenExecutions::of(&facts);
        let leaves = open_executions.leaves();
        let source = ProgramSource::of(&facts);
        let Some(listing) = source.listing else {
            return Ok(BTreeMap::new());
        };
        let look = NextFacts {
            facts: &facts,
            now: i64::MIN,
            name: "",
            source: &source,
            listing,
            several: false,
        };
        let all = leaves.iter().take(MOST_STANDS).map(|row| Some(*row));
        let all = all.chain(leaves.is_empty().then_some(None));
        let stand = |at: Option<&Execution>| {
            let stands = look.choices(at).ok()?.first()?.stands?;
            Some((at.map(|row| row.id), stands))
        };
        Ok(all.filter_map(stand).collect())
    };
    if run.recorded_in_rows() && !is_over(run) {
        found().unwrap_or_default()
    } else {
        BTreeMap::new()
    }
}

/// Returns the commands that may come next in a run whose events are rows, or become rows. `name` is the name by which
/// commands find the run. `named` is true if the user gave this name; all commands then contain it. `values` returns
/// the value of a binding if it is text of at most so many bytes.
///
/// # Errors
/// An error if the run contradicts itself, or if a part of it was not read.
pub(crate) fn next(
    run: &Run,
    trace: &Trace,
    listing: Option<&Listing>,
    now: i64,
    (name, named): (&str, bool),
    values: &dyn Fn(&Binding, usize) -> Option<String>,
) -> Result<NextView, WriteError> {
    let run = super::adopt::with_events(run, trace, listing);
    let read = matches!(run, Cow::Borrowed(_)).then_some(trace);
    let shelf = ReadShelf { values };
    let facts = Facts::of(&shelf, Style::of(&run), run, listing, read)?;
    let mut asked = asked(&facts, now, name)?;
    let option = shell::option("--run", name);
    for choice in asked.choices.iter_mut().filter(|_| named) {
        choice.name_run(&option);
    }
    Ok(asked)
}

/// Returns whether a run records an end, after which nothing comes next.
fn is_over(run: &Run) -> bool {
    run.status.as_ref().is_some_and(RunStatus::is_finished)
}

/// The store of a run that is only read. Of its answers, what comes next depends only on short values.
struct ReadShelf<'a> {
    values: &'a dyn Fn(&Binding, usize) -> Option<String>,
}

impl Shelf for ReadShelf<'_> {
    fn next_execution(&self) -> Result<i64, Fault> {
        Ok(0)
    }

    fn next_audit(&self) -> Result<i64, Fault> {
        Ok(0)
    }

    fn whole(&self, binding: &Binding) -> Result<Binding, Fault> {
        Ok(binding.clone())
    }

    fn short_text(&self, binding: &Binding, most: usize) -> Result<Option<String>, Fault> {
        Ok((self.values)(binding, most))
    }

    fn attachment(&self, _: &str) -> Result<bool, Fault> {
        Ok(false)
    }

    fn agent(&self, _: &str) -> Result<Option<AgentFact>, Fault> {
        Ok(None)
    }
}

impl NextChoice {
    /// Says where the run goes on with this command.
    fn at(self, statement: u32, inside: Option<i64>) -> NextChoice {
        let stands = Some(NextPlace { statement, inside });
        NextChoice { stands, ..self }
    }

    /// Adds the option that names the run, unless the command names it as an operand.
    fn name_run(&mut self, option: &str) {
        let named = [
            "prosescope check ",
            "prosescope gates ",
            "prosescope gate wait ",
        ];
        if named.iter().any(|of| self.command.starts_with(of)) {
            return;
        }
        self.command = match self.command.strip_suffix(FILE) {
            Some(command) => format!("{command} {option}{FILE}"),
            None => format!("{} {option}", self.command),
        };
    }
}

/// The end of a command that reads a value from standard input.
const FILE: &str = " < FILE";

fn asked(facts: &Facts<'_>, now: i64, name: &str) -> Result<NextView, WriteError> {
    let run = facts.run();
    let view = |choices| NextView {
        run: run.name.clone(),
        execution: None,
        choices,
    };
    let begin = |why| Ok(view(vec![choice("prosescope resume --begin", why)]));
    match run.status {
        RunStatus::Completed => return Ok(view(Vec::new())),
        RunStatus::Failed => {
            return begin("the run failed: this command resumes the run where it failed");
        }
        RunStatus::Interrupted => return begin("the run is interrupted"),
        _ => {}
    }
    let source = ProgramSource::of(facts);
    let Some(listing) = source.listing else {
        let why = "the run has no program, so the next statement is unknown";
        return Ok(view(vec![choice("prosescope resume", why)]));
    };
    let open_executions = OpenExecutions::of(facts);
    let leaves = open_executions.leaves();
    let look = NextFacts {
        facts,
        now,
        name,
        source: &source,
        listing,
        several: leaves.len() > 1,
    };
    let at = leaves.last().copied();
    let mut choices = look.choices(at)?;
    if let Some(at) = at {
        for row in open_executions
            .above(at)
            .filter(|row| shape(row) == RowShape::Parallel)
        {
            choices.splice(0..0, look.joins(row)?);
        }
    }
    choices.truncate(MOST);
    Ok(NextView {
        execution: at.map(|row| row.id),
        ..view(choices)
    })
}

/// Limit for the number of choices.
const MOST: usize = 24;

/// The data from which the next commands are computed.
struct NextFacts<'a> {
    facts: &'a Facts<'a>,
    now: i64,
    /// The name by which commands find the run.
    name: &'a str,
    source: &'a ProgramSource<'a>,
    listing: &'a Listing,
    /// Whether the run has several innermost open executions. Each command then has to contain the id of its parent.
    several: bool,
}

/// The statements inside an execution, or the whole program.
struct BodyStatements {
    /// The index of the statement around the body; `None` is the program.
    of: Option<u32>,
    /// The index of the first statement of the body; `None` if the body is empty.
    first: Option<u32>,
}

/// The newest row in a body.
struct NewestRow {
    row: Execution,
    failed: bool,
    statement: Option<u32>,
}

impl NextFacts<'_> {
    fn choices(&self, at: Option<&Execution>) -> Result<Vec<NextChoice>, WriteError> {
        let Some(row) = at else {
            return self.in_body(None, &self.body_of(None));
        };
        if shape(row) == RowShape::Gate {
            return self.decision(row);
        }
        match self.body(row)? {
            Some(body) if is_parallel(row) => self.branches(row, &body),
            Some(body) => self.in_body(Some(row), &body),
            None => self.work(row),
        }
    }

    /// Returns the body of a statement, or of the program.
    fn body_of(&self, of: Option<u32>) -> BodyStatements {
        BodyStatements {
            of,
            first: self.listing.first_in(of),
        }
    }

    /// Returns the body of an execution; `None` if the execution has no body.
    fn body(&self, row: &Execution) -> Result<Option<BodyStatements>, WriteError> {
        let of = |of: u32| self.body_of(Some(of));
        if let Some(block) = frame_block(row) {
            return Ok(self.listing.block_named(block).map(of));
        }
        let branch = meta(row).branch;
        if branch.is_some_and(|branch| is_branch_text(&row.text, &branch)) {
            let parallel = row.parent.and_then(|parent| self.facts.execution(parent));
            let Some(parallel) = parallel.and_then(|row| self.source.of_row(row)) else {
                return Ok(None);
            };
            if self.listing.has_items(parallel) {
                return Ok(Some(of(parallel)));
            }
            let own = row.index.and_then(|line| u32::try_from(line).ok());
            let first = own.and_then(|line| self.source.at_line(line));
            return Ok(first.is_some().then_some(BodyStatements {
                of: Some(parallel),
                first,
            }));
        }
        let own = self.source.of_row(row);
        let has_body = |at: &u32| self.listing.children(*at).next().is_some();
        Ok(own.filter(has_body).map(of))
    }

    /// Returns the commands to choose from in a body, after the last statement that ended in it.
    fn in_body(
        &self,
        row: Option<&Execution>,
        body: &BodyStatements,
    ) -> Result<Vec<NextChoice>, WriteError> {
        if let Some(row) = row
            && let Some(all) = self.over(row)?
        {
            return Ok(all);
        }
        let is_choice = |of: &u32| self.source.kind(*of) == Some(Kind::Choice);
        let Some(last) = self.last(row)? else {
            if let Some(exit) = row.and_then(|row| self.used_up(row)) {
                return Ok(vec![exit]);
            }
            return match body.of.filter(is_choice) {
                Some(choice) => Ok(self.options(choice, row)),
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
                format!("the line of execution {id} is unknown, so the next statement is unknown"),
            )]);
        };
        self.offers(self.listing.after(statement, body.of), row, body)
    }

    /// Returns the newest row in an execution, or at the program's top. In a loop, only the open round counts.
    fn last(&self, row: Option<&Execution>) -> Result<Option<NewestRow>, WriteError> {
        let parent = row.map(|row| row.id);
        let since = begun_after(self.facts, parent)?;
        let last = newest_in(self.facts, parent, since, |_| true);
        // A gate that the VM added to the program is skipped, unless the gate was rejected: the program continues after
        // its own last statement.
        let of_program = |row: &Execution| !self.source.is_own_gate(row);
        let last = match last {
            Some(last) if !of_program(last) && !self.has_failed(last)? => {
                newest_in(self.facts, parent, since, of_program)
            }
            last => last,
        };
        let Some(row) = last else { return Ok(None) };
        Ok(Some(NewestRow {
            failed: self.has_failed(row)?,
            statement: self.source.of_row(row),
            row: row.clone(),
        }))
    }

    fn has_failed(&self, row: &Execution) -> Result<bool, WriteError> {
        match &meta(row).gate_id {
            Some(gate) => self.turned_down(gate, self.source.of_row(row)),
            None => Ok(row.status == Status::Failed),
        }
    }

    /// Returns whether a gate was rejected or timed out, and the gate's `on_reject` does not continue the program.
    fn turned_down(&self, gate: &str, statement: Option<u32>) -> Result<bool, WriteError> {
        let Some(gate) = self.facts.gate(gate)? else {
            return Ok(false);
        };
        let refused = matches!(gate.status, GateStatus::Rejected | GateStatus::Timeout);
        let says = self.on_reject(gate, statement);
        Ok(refused && !says.is_some_and(crate::read::gate::is_continue))
    }

    /// Returns what the program does after a rejection of a gate.
    fn on_reject<'g>(&'g self, gate: &'g Gate, statement: Option<u32>) -> Option<&'g str> {
        let own = statement.and_then(|at| self.listing.get(at));
        let says = || own.and_then(|own| own.property("on_reject"));
        gate.on_reject.as_deref().or_else(says)
    }

    fn decision(&self, row: &Execution) -> Result<Vec<NextChoice>, WriteError> {
        let own = meta(row);
        let gate = own.gate_id.as_deref().unwrap_or_default();
        let name = visit(gate).0;
        if let Some(gate) = self.facts.gate(gate)?.filter(|gate| is_due(gate, self.now)) {
            let deadline = gate.timeout_at.as_ref();
            let deadline = deadline.map_or(String::new(), |at| format!(" ({})", at.spoken()));
            let why = format!(
                "gate {name} is past its deadline{deadline}: this command records the time-out"
            );
            return Ok(vec![choice(expire_command(self.name), why)]);
        }
        let why = format!(
            "gate {name} waits for a person's decision: tell whoever may decide, and wait; the VM that carries out the program never decides a gate"
        );
        let wait = shell::command("gate wait", &[self.name, gate], "");
        Ok(vec![choice(wait, why)])
    }
}
