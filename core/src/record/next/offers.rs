//! Lists the commands for the statements that a run may begin next. At an `if`, several statements are possible.

use super::super::entry::barred;
use super::super::instance::Instance;
use super::super::source::RecordingCommand;
use super::super::{StatementPlace, WriteError, retry};
use super::ends::choice;
use super::{BodyStatements, FILE, NextChoice, NextFacts};
use crate::model::shell;
use crate::model::{Execution, Status};
use crate::program::{Statement, StatementKind as Kind};
use crate::trace::judgement::{Bar, Why};
use crate::trace::{RowShape, shape};

impl NextFacts<'_> {
    /// Returns the commands for the statements that may begin in `row`, from `next` on. If none of them has to run, the
    /// commands that end the body follow.
    pub(super) fn offers(
        &self,
        next: Option<u32>,
        row: Option<&Execution>,
        body: &BodyStatements,
    ) -> Result<Vec<NextChoice>, WriteError> {
        let mut all = Vec::new();
        let mut at = next;
        let parent = row.map(|row| row.id);
        while let Some(now) = at {
            let Some(own) = self.listing.get(now) else {
                break;
            };
            if matches!(own.kind, Kind::Input | Kind::Use) && self.is_there(own)? {
                at = self.listing.after(now, body.of);
                continue;
            }
            if own.kind != Kind::If {
                if let Some(bar) = self.bar(now, own, parent) {
                    let what = format!("line {} cannot begin", own.line);
                    all.extend(self.instead(&bar, &what, parent));
                    return Ok(all);
                }
                all.push(choice(self.command(now, parent), why(own)).at(now, parent));
                // At the start of a round, the loop may also be left, because it may have no items left.
                if all.len() == 1 && row.is_some_and(|row| self.may_exit(row, now, body)) {
                    let id = parent.unwrap_or_default();
                    all.push(choice(
                        format!("prosescope end {id}"),
                        "the loop's condition is met, or no item is left",
                    ));
                }
                return Ok(all);
            }
            let ways = std::iter::successors(Some(now), |way| self.listing.next_way(*way));
            let mut otherwise = false;
            for (way, own) in ways.filter_map(|at| Some((at, self.listing.get(at)?))) {
                all.push(choice(self.command(way, parent), why(own)).at(way, parent));
                otherwise |= own.kind == Kind::Else;
            }
            if otherwise {
                return Ok(all);
            }
            at = self.listing.after(now, body.of);
        }
        all.extend(self.end(row)?);
        Ok(all)
    }

    /// Returns what bars a statement that would begin now.
    fn bar(&self, at: u32, own: &Statement, parent: Option<i64>) -> Option<Bar> {
        let name = own.name.as_deref().filter(|_| own.kind == Kind::Gate);
        let block = own.target.as_deref().filter(|_| own.kind == Kind::Do);
        let deep = || self.facts.bar_of_call(parent, block?);
        self.facts.bar(parent, Some(at), name).or_else(deep)
    }

    /// Returns the commands that come instead of what is barred in the execution `parent`.
    pub(super) fn instead(&self, bar: &Bar, what: &str, parent: Option<i64>) -> Vec<NextChoice> {
        let why = barred(bar, what).to_string();
        let ends = || match parent {
            Some(id) => format!("prosescope fail {id} TEXT"),
            None => "prosescope finish failed".to_owned(),
        };
        match bar {
            Bar::Gate(bar) if bar.why == Why::NeverAsked => {
                let line = bar.line;
                let at = line.map_or("LINE".to_owned(), |line| line.to_string());
                let ask = choice(format!("prosescope begin {at}"), why);
                let gate = line.and_then(|line| self.source.at_line(line));
                vec![match gate {
                    Some(gate) => ask.at(gate, parent),
                    None => ask,
                }]
            }
            Bar::Gate(bar) if bar.why == Why::Gone => {
                vec![choice(shell::command("check", &[self.name], ""), why)]
            }
            Bar::Failed { id: Some(id), .. } => {
                let failed = self.facts.instance(*id);
                let cause = "once the cause of the failure is removed";
                let why_again = format!("execution {id} failed; retry {cause}");
                let again = failed.and_then(|failed| self.retry(&failed, why_again));
                again.into_iter().chain([choice(ends(), why)]).collect()
            }
            _ => vec![choice(ends(), why)],
        }
    }

    /// Returns the command that tries a failed execution again, unless it has had all of its attempts.
    pub(super) fn retry(&self, failed: &Instance, why: String) -> Option<NextChoice> {
        let again = retry::used_up(self.source, failed).is_none();
        again.then(|| choice(format!("prosescope retry {}", failed.first.id), why))
    }

    /// Returns the commands that begin the options of a choice.
    pub(super) fn options(&self, statement: u32, row: Option<&Execution>) -> Vec<NextChoice> {
        let options = self.listing.children(statement);
        let inside = row.map(|row| row.id);
        options
            .filter_map(|at| Some((at, self.listing.get(at)?)))
            .map(|(at, own)| choice(self.command(at, None), why(own)).at(at, inside))
            .collect()
    }

    /// Returns the command that begins a statement.
    pub(super) fn command(&self, statement: u32, parent: Option<i64>) -> String {
        let Some(own) = self.listing.get(statement) else {
            return "prosescope resume".to_owned();
        };
        let line = own.line;
        let name = own.name.as_deref();
        let mut command = match RecordingCommand::of(own) {
            RecordingCommand::Input => {
                return format!("prosescope put {}{FILE}", name.unwrap_or("NAME"));
            }
            // A gate needs a question.
            RecordingCommand::Gate if name.is_some() && own.find("prompt").is_none() => format!(
                "prosescope gate create {} --line {line} --prompt TEXT",
                name.unwrap_or("ID")
            ),
            _ => format!("prosescope begin {line}"),
        };
        if let Some(parent) = parent.filter(|_| self.several) {
            command.push_str(&format!(" --parent {parent}"));
        }
        command
    }

    /// Returns whether the loop `row` may be left before the statement `next`, which would begin a new round.
    fn may_exit(&self, row: &Execution, next: u32, body: &BodyStatements) -> bool {
        let counted = self.source.of_row(row).and_then(|at| self.listing.get(at));
        shape(row) == RowShape::Loop
            && body.first == Some(next)
            && counted.is_none_or(|s| s.kind != Kind::Repeat)
    }

    /// Returns whether the value of an `input` statement, or the import of a `use` statement, exists. An input that was
    /// skipped is not given.
    fn is_there(&self, own: &Statement) -> Result<bool, WriteError> {
        Ok(match (&own.name, own.kind) {
            (Some(name), Kind::Input) => {
                let place = StatementPlace::of_statement(None, own);
                let mut rows = self.facts.back(&place, i64::MIN);
                self.facts.binding(name, None)?.is_some()
                    || rows.any(|row| row.status == Status::Skipped)
            }
            (Some(name), _) => self.facts.import(name).is_some(),
            (None, _) => true,
        })
    }
}

/// Returns why a statement comes next, or under which condition.
fn why(own: &Statement) -> String {
    let text = super::super::instance::shown(&own.text);
    match own.kind {
        Kind::If | Kind::Elif => format!("if this condition holds: {text}"),
        Kind::Else => format!("if no earlier condition held: {text}"),
        Kind::Option => format!("if this option is chosen: {text}"),
        Kind::Input => format!("the program asks for a value: {text}"),
        _ => format!("line {} comes next: {text}", own.line),
    }
}
