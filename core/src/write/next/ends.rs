//! How what stands open ends: with its value, its last round, its branches, or a failure.

use super::super::instance::{Instance, begins, meta, newest_at};
use super::super::task::output_of;
use super::super::{Place, WriteError};
use super::{Body, Last, Look, NextChoice};
use crate::model::{Execution, Status};
use crate::program::StatementKind as Kind;
use crate::shell;
use crate::trace::{Shape, shape};

pub(super) fn choice(command: impl Into<String>, why: impl Into<String>) -> NextChoice {
    NextChoice {
        command: command.into(),
        why: why.into(),
    }
}

/// How a statement without a body ends.
pub(super) enum Ending<'a> {
    /// With an error.
    Throws,
    /// With its value: the name that it has, if any.
    Writes(Option<&'a str>),
    /// Without a value.
    Completes,
}

impl Ending<'_> {
    /// By the kind of the statement, and the name that it writes.
    pub(super) fn of(kind: Option<Kind>, output: Option<&str>) -> Ending<'_> {
        use Kind::{Arrow, Call, Do, Exec, Resume, Session, Throw};
        match (kind, output) {
            (Some(Throw), _) => Ending::Throws,
            (_, Some(name)) => Ending::Writes(Some(name)),
            (Some(Session | Resume | Call | Arrow | Exec | Do), None) => Ending::Writes(None),
            _ => Ending::Completes,
        }
    }

    /// The command; a value comes on its standard input.
    pub(super) fn command(&self, id: i64) -> String {
        match self {
            Ending::Throws => format!("prosescope exec fail {id} --error TEXT"),
            Ending::Writes(Some(name)) => {
                format!(
                    "prosescope put {} --execution {id} --done",
                    shell::word(name)
                )
            }
            Ending::Writes(None) => format!("prosescope put --anon --execution {id} --done"),
            Ending::Completes => format!("prosescope exec complete {id}"),
        }
    }
}

impl Look<'_> {
    /// What ends a statement without a body.
    pub(super) fn work(&self, row: &Execution) -> Result<Vec<NextChoice>, WriteError> {
        let id = row.id;
        let kind = self
            .source
            .of_row(row)
            .and_then(|at| self.listing.get(at))
            .map(|s| s.kind);
        let output = output_of(self.source, row).map(|(name, _)| name);
        let end = Ending::of(kind, output.as_deref());
        let why = match &end {
            Ending::Throws => "the program throws here".to_owned(),
            Ending::Writes(Some(name)) => format!("execution {id} is open, and writes {name}"),
            Ending::Writes(None) => format!("execution {id} is open: its result has no name"),
            Ending::Completes => format!("execution {id} is open, and writes nothing"),
        };
        let file = match end {
            Ending::Writes(_) => " < FILE",
            _ => "",
        };
        Ok(vec![choice(format!("{}{file}", end.command(id)), why)])
    }

    /// What ends an execution whose body is done; the run, at the program's top.
    pub(super) fn end(&self, row: Option<&Execution>) -> Result<Vec<NextChoice>, WriteError> {
        let Some(row) = row else {
            return Ok(vec![choice(
                "prosescope finish --status completed",
                "the program is at its end",
            )]);
        };
        if shape(row) == Shape::Loop {
            return self.round(row);
        }
        let id = row.id;
        Ok(vec![match output_of(self.source, row) {
            Some((name, _)) => choice(
                format!(
                    "prosescope put {} --execution {id} --done < FILE",
                    shell::word(&name)
                ),
                format!("what runs in execution {id} is done, and {name} is its value"),
            ),
            None => choice(
                format!("prosescope exec complete {id}"),
                format!("what runs in execution {id} is done"),
            ),
        }])
    }

    /// What follows a round of a loop.
    fn round(&self, row: &Execution) -> Result<Vec<NextChoice>, WriteError> {
        let id = row.id;
        let ended = meta(&Instance::of(self.facts, id)?.last)
            .iteration
            .unwrap_or(0);
        let statement = self.source.of_row(row).and_then(|at| self.listing.get(at));
        let most = meta(row)
            .max
            .or_else(|| statement.and_then(|s| s.most_rounds()));
        let this = ended.saturating_add(1);
        let again = choice(
            format!("prosescope loop iterate {id}"),
            format!("round {this} is done, and another one follows"),
        );
        let exit = choice(
            format!("prosescope loop exit {id} --round"),
            format!("round {this} is done, and it is the last one"),
        );
        let counted = statement.is_some_and(|s| s.kind == Kind::Repeat);
        Ok(match most {
            Some(most) if this >= most => vec![exit],
            Some(_) if counted => vec![again],
            _ => vec![exit, again],
        })
    }

    /// What follows in a parallel or a pipe none of whose branches is open.
    pub(super) fn branches(
        &self,
        row: &Execution,
        body: &Body,
    ) -> Result<Vec<NextChoice>, WriteError> {
        let id = row.id;
        let instance = Instance::of(self.facts, id)?;
        let begun = super::super::parallel::branches_of(self.facts, &instance)?;
        let announced = instance.meta().branches;
        let missing = announced
            .iter()
            .find(|name| !begun.iter().any(|(known, _)| known == *name));
        let has_items = body.of.is_some_and(|of| self.listing.has_items(of));
        let end = match shape(row) {
            Shape::Parallel => vec![choice(
                format!("prosescope parallel join {id}"),
                "all branches are done",
            )],
            _ => self.end(Some(row))?,
        };
        let mut last = std::collections::BTreeMap::new();
        for (name, status) in &begun {
            last.insert(&**name, status);
        }
        let failed = last
            .iter()
            .find(|(_, status)| ***status == Status::Failed)
            .map(|(name, _)| *name);
        if let Some(name) = failed
            && !self.passes_failures(row)
        {
            let mut all = self.failed_branch(row, name)?;
            all.push(choice(
                format!("prosescope exec fail {id} --error TEXT"),
                format!("branch {name} failed, so the parallel fails"),
            ));
            return Ok(all);
        }
        match missing {
            Some(name) if !has_items => Ok(vec![choice(
                format!("prosescope parallel branch {id} {name}"),
                format!("branch {name} has not begun"),
            )]),
            _ if has_items => {
                let item = match missing {
                    Some(name) => name.to_string(),
                    None => "NAME".to_owned(),
                };
                let first = body.first.and_then(|at| self.listing.get(at));
                let mut next: Vec<NextChoice> = Vec::new();
                if let (Some(first), Some(at)) = (first, body.first) {
                    let mut command = self.command(at, None);
                    command.push_str(&format!(" --item {item}"));
                    next.push(choice(
                        command,
                        format!("line {} runs once for each item", first.line),
                    ));
                }
                // At least one item, where any is announced.
                match (missing, begun.is_empty()) {
                    (Some(_), _) => {}
                    (None, true) => next.extend(end),
                    (None, false) => next.splice(0..0, end).for_each(drop),
                }
                Ok(next)
            }
            _ => Ok(end),
        }
    }

    /// Whether a parallel goes on although a branch failed.
    fn passes_failures(&self, row: &Execution) -> bool {
        let statement = self.source.of_row(row).and_then(|at| self.listing.get(at));
        statement.is_some_and(super::super::parallel::passes_failures)
    }

    fn failed_branch(&self, row: &Execution, name: &str) -> Result<Vec<NextChoice>, WriteError> {
        let since = super::super::instance::begun_after(self.facts, Some(row.id))?;
        let mut failed = None;
        self.facts.children(row.id, &mut |child| {
            if child.id > since && meta(&child).branch.as_deref() == Some(name) && begins(&child) {
                failed = Some(child.id);
            }
            std::ops::ControlFlow::Continue(())
        })?;
        Ok(failed
            .map(|id| {
                choice(
                    format!("prosescope exec retry {id}"),
                    format!("branch {name} failed"),
                )
            })
            .into_iter()
            .collect())
    }

    /// What follows a failure: another attempt, the handler of the `try` that it lies in, or the failure of what it lies in.
    pub(super) fn behind_failure(
        &self,
        row: Option<&Execution>,
        last: &Last,
    ) -> Result<Vec<NextChoice>, WriteError> {
        let error = match &last.row.error {
            Some(error) => format!(": {}", super::super::instance::shown(error)),
            None => String::new(),
        };
        let gate = meta(&last.row).gate_id.is_some();
        let failed = self.instance(&last.row)?;
        let what = match gate {
            true => "the gate was turned down".to_owned(),
            false => format!("execution {failed} failed{error}"),
        };
        let retry = choice(
            format!("prosescope exec retry {failed}"),
            format!("{what}; once what made it fail is changed"),
        );
        let on = match row {
            None => vec![choice("prosescope finish --status failed", what)],
            Some(row) => match self.handler(row)? {
                Some(handler) => return Ok(vec![handler, retry]),
                None => vec![choice(
                    format!("prosescope exec fail {} --error TEXT", row.id),
                    format!("{what}, and nothing in execution {} handles that", row.id),
                )],
            },
        };
        let caught = self.was_handled(row)?;
        Ok(match (gate, caught) {
            (_, Some(done)) => vec![done],
            (true, None) => on,
            (false, None) => [retry].into_iter().chain(on).collect(),
        })
    }

    /// The `catch` of a `try`, where it has not begun since.
    fn handler(&self, row: &Execution) -> Result<Option<NextChoice>, WriteError> {
        let catch = self
            .source
            .of_row(row)
            .and_then(|at| self.listing.catch_of(at));
        let Some(catch) = catch else { return Ok(None) };
        Ok(match self.since(row, catch)? {
            None => Some(choice(
                self.command(catch, row.parent),
                "the statement before it in `try` failed",
            )),
            Some(_) => None,
        })
    }

    /// The end of a `try` whose handler ran.
    fn was_handled(&self, row: Option<&Execution>) -> Result<Option<NextChoice>, WriteError> {
        let Some(row) = row else { return Ok(None) };
        let catch = self
            .source
            .of_row(row)
            .and_then(|at| self.listing.catch_of(at));
        let ran = match catch {
            Some(catch) => self.since(row, catch)?,
            None => None,
        };
        Ok(match ran {
            Some(Status::Completed) => Some(choice(
                format!("prosescope exec complete {}", row.id),
                "its handler is done",
            )),
            _ => None,
        })
    }

    /// The status of a statement beside an execution, where it began since.
    fn since(&self, row: &Execution, statement: u32) -> Result<Option<Status>, WriteError> {
        let Some(own) = self.listing.get(statement) else {
            return Ok(None);
        };
        let newest = newest_at(self.facts, &Place::of_statement(row.parent, own), row.id)?;
        Ok(newest.map(|row| row.status))
    }
}
