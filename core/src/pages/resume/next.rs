//! Returns what `prosescope next` prints.

use super::{Position, ResumeFacts, ahead};
use crate::model::shell;
use crate::model::text::cut;
use crate::model::{Binding, RunStatus};
use crate::program::Statement;
use crate::record::{self, NextChoice, NextView, WriteError};

/// The most places that are named.
const MOST: usize = 24;

/// Returns the commands that may come next in a run. `name` is the name by which commands find the run. `named` is true
/// if the user gave this name; all commands then contain it. `values` returns the value of a binding if it is text of
/// at most so many bytes. `now` is in milliseconds since 1970.
///
/// # Errors
/// An error if the run contradicts itself, or if a part of it was not read.
pub fn next(
    facts: ResumeFacts<'_>,
    now: i64,
    (name, named): (&str, bool),
    values: &dyn Fn(&Binding, usize) -> Option<String>,
) -> Result<NextView, WriteError> {
    let (run, is_over) = (facts.run, RunStatus::is_finished);
    let over = run.status.as_ref().is_some_and(is_over);
    let elsewhere = run.log.is_some() && run.state_file.is_none() && !run.recorded_in_rows();
    let is_open_copy = run.is_copy && facts.trace.verdict.status != RunStatus::Completed.word();
    if run.form.is_only_read() || elsewhere && !over || is_open_copy {
        return Ok(not_recorded_here(facts, (name, named)));
    }
    let (trace, listing) = (facts.trace, facts.listing);
    record::next(run, trace, listing, now, (name, named), values)
}

/// Returns where a run stands that other tools record in a compact log, or where a copy stands. Commands record nothing
/// in either.
fn not_recorded_here(facts: ResumeFacts<'_>, (name, named): (&str, bool)) -> NextView {
    let run: &[&str] = if named { &[name] } else { &[] };
    let plan = ahead(facts);
    let what = match facts.run.is_copy {
        true => "this is a copy, in which nothing is recorded; the run",
        false => "the run is not recorded here, but",
    };
    let next = |position: &Position| {
        let next = position.next.and_then(|at| plan.ahead.get(at));
        let statement = next.map(|ahead| ahead.statement).or(position.statement);
        facts.listing?.get(statement?)
    };
    let why = |own: &Statement| {
        let text = cut(own.text.lines().next().unwrap_or_default(), 80);
        let line = own.line;
        format!("{what} stands at line {line}: {text}")
    };
    let mut whys: Vec<String> = plan.positions.iter().filter_map(next).map(why).collect();
    if whys.is_empty() {
        whys.push(format!("{what} has no record of a next statement"));
    }
    let choices = whys.into_iter().take(MOST).map(|why| NextChoice {
        command: shell::command("resume", run, ""),
        why,
        ..NextChoice::default()
    });
    NextView {
        run: name.to_owned(),
        execution: None,
        choices: choices.collect(),
    }
}
