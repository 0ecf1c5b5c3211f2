//! Chooses the command that ends an open execution by writing a value, leaving a loop, joining branches, or recording a
//! failure.

use super::super::instance::{Instance, meta, newest_in, shown};
use super::super::rounds::rounds_left;
use super::super::source::ProgramSource;
use super::super::task::output_of;
use super::super::{WriteError, parallel, retry};
use super::{BodyStatements, FILE, NewestRow, NextChoice, NextFacts};
use crate::model::shell;
use crate::model::{Execution, Status, Text};
use crate::program::{StatementKind as Kind, allows_failure};
use crate::trace::{RowShape, shape};

pub(super) fn choice(command: impl Into<String>, why: impl Into<String>) -> NextChoice {
    NextChoice {
        command: command.into(),
        why: why.into(),
        stands: None,
    }
}

/// The way in which a statement without a body ends.
pub(super) enum StatementEnd<'a> {
    /// The statement ends with an error.
    Throws,
    /// The statement ends with a value, which may have a name.
    Writes(Option<&'a str>),
    /// The statement ends without a value.
    Completes,
}

impl StatementEnd<'_> {
    /// Chooses the ending by the statement's kind and by the name of the value that the statement writes.
    pub(super) fn of(kind: Option<Kind>, output: Option<&str>) -> StatementEnd<'_> {
        use Kind::{Arrow, Call, Do, Exec, Resume, Session, Throw};
        match (kind, output) {
            (Some(Throw), _) => StatementEnd::Throws,
            (_, Some(name)) => StatementEnd::Writes(Some(name)),
            (Some(Session | Resume | Call | Arrow | Exec | Do), None) => StatementEnd::Writes(None),
            _ => StatementEnd::Completes,
        }
    }

    /// Returns the command that ends the statement. A command that writes a value reads it from standard input.
    pub(super) fn command(&self, id: i64) -> String {
        match self {
            StatementEnd::Throws => format!("prosescope fail {id} TEXT"),
            StatementEnd::Writes(Some(name)) => {
                format!("prosescope put {} --into {id}", shell::word(name))
            }
            StatementEnd::Writes(None) => format!("prosescope put --anon --into {id}"),
            StatementEnd::Completes => format!("prosescope end {id}"),
        }
    }
}

/// Returns the command that ends an open execution in which nothing is open.
pub(in crate::record) fn end_of(source: &ProgramSource<'_>, row: &Execution) -> String {
    let output = output_of(source, row).map(|(name, _)| name);
    let of = source.of_row(row).and_then(|at| source.kind(at));
    let works = shape(row) == RowShape::Statement && meta(row).gate_id.is_none();
    match meta(row).gate_id {
        Some(gate) => format!("prosescope gate wait {gate}"),
        None => StatementEnd::of(of.filter(|_| works), output.as_deref()).command(row.id),
    }
}

impl NextFacts<'_> {
    /// Says that the run goes on with this command at the end of an execution.
    fn at_end(&self, row: &Execution, choice: NextChoice) -> NextChoice {
        match self.source.of_row(row) {
            Some(statement) => choice.at(statement, row.parent),
            None => choice,
        }
    }

    /// Returns the commands to choose from that end a statement without a body.
    pub(super) fn work(&self, row: &Execution) -> Result<Vec<NextChoice>, WriteError> {
        let id = row.id;
        let kind = self
            .source
            .of_row(row)
            .and_then(|at| self.listing.get(at))
            .map(|s| s.kind);
        let output = output_of(self.source, row).map(|(name, _)| name);
        let end = StatementEnd::of(kind, output.as_deref());
        let why = match &end {
            StatementEnd::Throws => "the program throws here".to_owned(),
            StatementEnd::Writes(Some(name)) => {
                format!("execution {id} is open, and writes {name}")
            }
            StatementEnd::Writes(None) => format!("execution {id} is open: its result has no name"),
            StatementEnd::Completes => format!("execution {id} is open, and writes nothing"),
        };
        let file = match end {
            StatementEnd::Writes(_) => FILE,
            _ => "",
        };
        let ends = choice(format!("{}{file}", end.command(id)), why);
        Ok(vec![self.at_end(row, ends)])
    }

    /// Returns the commands to choose from that end an execution whose body is done, or the run at the program's top.
    pub(super) fn end(&self, row: Option<&Execution>) -> Result<Vec<NextChoice>, WriteError> {
        let id = row.map(|row| row.id);
        if let Some(bar) = self.facts.bar_of_end(id) {
            let what = id.map_or("the run cannot be completed".to_owned(), |id| {
                format!("execution {id} cannot be completed")
            });
            return Ok(self.instead(&bar, &what, id));
        }
        let Some(row) = row else {
            return Ok(vec![match self.listing.cut_at() {
                Some(line) => choice(
                    "prosescope resume",
                    format!(
                        "line {line} says that more of the program follows, so the next statement is unknown"
                    ),
                ),
                None => choice("prosescope finish", "the program is at its end"),
            }]);
        };
        if shape(row) == RowShape::Loop {
            return self.round(row);
        }
        let id = row.id;
        let done = format!("the statements of execution {id} are done");
        let ends = match output_of(self.source, row) {
            Some((name, _)) => {
                let end = StatementEnd::Writes(Some(&name)).command(id);
                choice(
                    format!("{end}{FILE}"),
                    format!("{done}, and {name} is the execution's value"),
                )
            }
            None => choice(StatementEnd::Completes.command(id), done),
        };
        Ok(vec![self.at_end(row, ends)])
    }

    /// Returns the command that ends an execution in which nothing else may begin, because the call around it has
    /// returned. `None` if a statement may begin.
    pub(super) fn over(&self, row: &Execution) -> Result<Option<Vec<NextChoice>>, WriteError> {
        let id = row.id;
        let is_loop = shape(row) == RowShape::Loop;
        if let Some(line) = self.facts.returned(Some(id)) {
            return if is_loop {
                Ok(Some(vec![choice(
                    format!("prosescope end {id}"),
                    format!("the call returned at line {line}, in this loop"),
                )]))
            } else {
                self.end(Some(row)).map(Some)
            };
        }
        Ok(None)
    }

    /// Returns the command that leaves a loop in which no further round may begin.
    pub(super) fn used_up(&self, row: &Execution) -> Option<NextChoice> {
        let id = row.id;
        let used_up =
            shape(row) == RowShape::Loop && rounds_left(self.facts, self.source, Some(id)).is_err();
        used_up.then(|| {
            choice(
                format!("prosescope end {id}"),
                "the loop has had all of its rounds",
            )
        })
    }

    /// Returns the command that joins a parallel block whose strategy needs none of its open branches.
    pub(super) fn joins(&self, row: &Execution) -> Result<Option<NextChoice>, WriteError> {
        let instance = Instance::of(self.facts, row.id)?;
        let branches = parallel::statuses(self.facts, &instance);
        Ok(self.joins_with(&instance, &branches))
    }

    fn joins_with(&self, of: &Instance, branches: &[(Text, Status)]) -> Option<NextChoice> {
        let joins = parallel::may_join(of, branches, self.source).is_ok();
        joins.then(|| {
            choice(
                format!("prosescope end {}", of.first.id),
                "the strategy of the parallel needs no further branch",
            )
        })
    }

    /// Returns the commands to choose from after a round of a loop.
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
            format!("prosescope round {id}"),
            format!("round {this} is done, and another one follows"),
        );
        let exit = choice(
            format!("prosescope end {id}"),
            format!("round {this} is done, and it is the last one"),
        );
        let counted = statement.is_some_and(|s| s.kind == Kind::Repeat);
        Ok(match most {
            Some(most) if this >= most => vec![self.at_end(row, exit)],
            Some(_) if counted => vec![self.at_end(row, again)],
            _ => vec![self.at_end(row, exit), again],
        })
    }

    /// Returns the commands to choose from in a parallel block or a pipe without an open branch.
    pub(super) fn branches(
        &self,
        row: &Execution,
        body: &BodyStatements,
    ) -> Result<Vec<NextChoice>, WriteError> {
        let id = row.id;
        let instance = Instance::of(self.facts, id)?;
        let branches = parallel::statuses(self.facts, &instance);
        let missing = branches.iter().find(|(_, of)| *of == Status::Pending);
        let missing = missing.map(|(name, _)| &**name);
        let has_items = body.of.is_some_and(|of| self.listing.has_items(of));
        let end = match shape(row) {
            RowShape::Parallel => vec![choice(
                format!("prosescope end {id}"),
                "all branches are done",
            )],
            _ => self.end(Some(row))?,
        };
        let failed = branches.iter().find(|(_, of)| *of == Status::Failed);
        let statement = self.source.of_row(row).and_then(|at| self.listing.get(at));
        let own = instance.meta();
        if let Some((name, _)) = failed
            && allows_failure(own.strategy.as_deref(), statement).is_none()
        {
            let mut all = self.failed_branch(&instance, name)?;
            all.push(choice(
                format!("prosescope fail {id} TEXT"),
                format!("branch {name} failed, so the parallel fails"),
            ));
            return Ok(all);
        }
        match missing {
            Some(name) if !has_items => {
                let why = format!("branch {name} has not begun");
                let listed = body
                    .of
                    .map_or_else(Vec::new, |of| self.listing.branches(of));
                let listed = parallel::named_as(&own.branches, listed);
                let begin = match listed.iter().find(|(of, _)| *of == *name) {
                    Some((_, at)) => choice(self.command(*at, Some(id)), why).at(*at, Some(id)),
                    None => {
                        let name = shell::word(name);
                        let begin =
                            format!("prosescope begin --text TEXT --parent {id} --item {name}");
                        choice(begin, why)
                    }
                };
                let join = self.joins_with(&instance, &branches);
                Ok(join.into_iter().chain([begin]).collect())
            }
            _ if has_items => {
                let left = parallel::not_begun(self.facts, &instance, &branches)?;
                let of_list = left.iter().flatten().next();
                let of_list = of_list.and_then(|(_, item)| item.as_deref());
                let item = shell::word(missing.or(of_list).unwrap_or("NAME"));
                let first = body.first.and_then(|at| Some((at, self.listing.get(at)?)));
                let next = first.map(|(at, first)| {
                    choice(
                        format!("{} --item {item}", self.command(at, None)),
                        format!("line {} runs once for each item", first.line),
                    )
                    .at(at, Some(id))
                });
                // An item in the construct's list `branches` that has not begun has to run. Without such an item, the
                // construct may also end.
                let begun = branches.iter().any(|(_, of)| *of != Status::Pending);
                Ok(match (missing, left, begun) {
                    (Some(_), ..) => next.into_iter().collect(),
                    (None, Some(left), _) if left.is_empty() => end,
                    (None, Some(_), _) => next.into_iter().collect(),
                    (None, None, false) => next.into_iter().chain(end).collect(),
                    (None, None, true) => end.into_iter().chain(next).collect(),
                })
            }
            _ => Ok(end),
        }
    }

    fn failed_branch(
        &self,
        parallel: &Instance,
        name: &str,
    ) -> Result<Vec<NextChoice>, WriteError> {
        let mut begun = parallel::branches_begun(self.facts, parallel);
        let Some((_, row)) = begun.find(|(of, row)| **of == *name && row.status == Status::Failed)
        else {
            return Ok(Vec::new());
        };
        let branch = Instance::of(self.facts, row.id)?;
        let again = self.retry(&branch, format!("branch {name} failed"));
        Ok(again.into_iter().collect())
    }

    /// Returns the commands to choose from after a failure: another attempt, the handler of the enclosing `try`, or the
    /// failure of the enclosing execution.
    pub(super) fn behind_failure(
        &self,
        row: Option<&Execution>,
        last: &NewestRow,
    ) -> Result<Vec<NextChoice>, WriteError> {
        let error = match &last.row.error {
            Some(error) => format!(": {}", shown(error)),
            None => String::new(),
        };
        let asked = meta(&last.row).gate_id;
        let gate = asked.is_some();
        let recorded = match &asked {
            Some(id) => self.facts.gate(id)?,
            None => None,
        };
        let says = recorded.and_then(|gate| self.on_reject(gate, last.statement));
        let instance = Instance::of(self.facts, last.row.id)?;
        let failed = instance.first.id;
        let what = match (gate, retry::used_up(self.source, &instance)) {
            (true, _) => match says {
                Some(action) => format!(
                    "the gate was turned down, and its on_reject is `{}`",
                    shown(action)
                ),
                None => "the gate was turned down".to_owned(),
            },
            (_, Some(max)) => {
                format!("execution {failed} failed {max} of {max} times{error}")
            }
            (_, None) => format!("execution {failed} failed{error}"),
        };
        let why = format!("{what}; retry once the cause of the failure is removed");
        let retry = self.retry(&instance, why).filter(|_| !gate);
        let Some(row) = row else {
            let finish = choice("prosescope finish failed", what);
            return Ok(retry.into_iter().chain([finish]).collect());
        };
        let at = self.source.of_row(row);
        let catch = at.and_then(|at| self.listing.catch_of(at));
        let ran = match catch {
            Some(catch) => self.since(row, catch),
            None => None,
        };
        let id = row.id;
        Ok(match (catch, ran) {
            (Some(catch), None) => {
                let why = "a statement of the `try` failed";
                let handle = choice(self.command(catch, row.parent), why).at(catch, row.parent);
                [handle].into_iter().chain(retry).collect()
            }
            (_, Some(Status::Completed)) => vec![choice(
                format!("prosescope end {id}"),
                "the handler of the `try` is done",
            )],
            _ => {
                let fail = choice(
                    format!("prosescope fail {id} TEXT"),
                    format!("{what}, and nothing in execution {id} handles the failure"),
                );
                retry.into_iter().chain([fail]).collect()
            }
        })
    }

    /// Returns the status of `statement` in the parent of `row`, if the statement began after `row`.
    fn since(&self, row: &Execution, statement: u32) -> Option<Status> {
        let is_it = |row: &Execution| self.source.of_row(row) == Some(statement);
        Some(
            newest_in(self.facts, row.parent, row.id, is_it)?
                .status
                .clone(),
        )
    }
}
