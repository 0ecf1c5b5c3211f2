use prosescope_core::view::{ExecutionBegun, ExecutionEnded};
use prosescope_core::write::{Begin, Close, How, Insist, Record, Retry, Run, Skip, StatementRef};

use super::brief;
use crate::args::record::{ExecCommand, ForceArgs, InsistArgs, StatementArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{Out, say_notes};
use crate::record::{self, Recorder};

pub(super) fn run(command: ExecCommand, out: &Out) -> Result<Exit, CliError> {
    match command {
        ExecCommand::Begin {
            statement,
            block,
            run,
        } => began(&run.name()?, &begin(statement, block), out),
        ExecCommand::Run {
            statement,
            within,
            round,
            close,
            run,
        } => {
            let command = Run {
                begin: begin(statement, None),
                within,
                round,
                close,
            };
            let begun = begins(&run.name()?, &command)?;
            out.show(&begun, || {
                format!("{}\n{}", out.execution(begun.id), brief::appended(&begun))
            })
        }
        ExecCommand::Complete {
            ids,
            binding,
            insist,
            run,
        } => {
            let insist = insist.into();
            let close = |id| Close {
                id,
                how: How::Completed {
                    binding: binding.clone(),
                },
                insist,
            };
            let all: Vec<Close> = match ids.as_slice() {
                [] => vec![close(None)],
                ids => ids.iter().map(|id| close(Some(*id))).collect(),
            };
            ended(&record::one(&run.name()?, &all)?, out)
        }
        ExecCommand::Fail { id, error, run } => {
            close(&run.name()?, Close::new(id, How::Failed { error }), out)
        }
        ExecCommand::Skip {
            id,
            line,
            parent,
            item,
            reason,
            force,
            run,
        } => match line {
            Some(line) => {
                let begin = Begin {
                    statement: StatementRef::line(line),
                    parent,
                    item,
                    insist: force.into(),
                    ..Begin::default()
                };
                ended(&[record::one(&run.name()?, &Skip { begin, reason })?], out)
            }
            None => {
                let how = How::Skipped { reason };
                let insist = force.into();
                close(&run.name()?, Close { id, how, insist }, out)
            }
        },
        ExecCommand::Retry {
            id,
            max,
            error,
            insist,
            run,
        } => {
            let retry = Retry {
                id,
                max,
                error,
                insist: insist.into(),
            };
            let mut recorder = Recorder::open(&run.name()?)?;
            let mut retried = recorder.record(&retry)?;
            brief::task(&recorder, id, &mut retried.task);
            let of = retried.max.map_or(String::new(), |max| format!("/{max}"));
            out.show(&retried, || {
                let brief = retried
                    .task
                    .as_ref()
                    .map(brief::of_task)
                    .unwrap_or_default();
                format!(
                    "{} attempt {}{of}\n{brief}",
                    out.execution(id),
                    retried.attempt
                )
            })
        }
    }
}

fn begin(statement: StatementArgs, block: Option<String>) -> Begin {
    Begin {
        parent: statement.parent,
        item: statement.item.item.clone(),
        insist: statement.insist.into(),
        statement: statement_ref(statement),
        block,
    }
}

fn close(run: &str, close: Close, out: &Out) -> Result<Exit, CliError> {
    ended(&[record::one(run, &close)?], out)
}

pub(super) fn statement_ref(statement: StatementArgs) -> StatementRef {
    StatementRef {
        text: statement.text,
        line: statement.line,
    }
}

impl From<InsistArgs> for Insist {
    fn from(args: InsistArgs) -> Insist {
        Insist {
            overrides: args.overrides,
            force: args.force.force,
        }
    }
}

impl From<ForceArgs> for Insist {
    fn from(args: ForceArgs) -> Insist {
        Insist {
            force: args.force,
            ..Insist::default()
        }
    }
}

/// Records that an execution begins, and prints only its number, because later commands take that number.
pub(super) fn began<R: Record<Done = ExecutionBegun>>(
    run: &str,
    command: &R,
    out: &Out,
) -> Result<Exit, CliError> {
    let begun = begins(run, command)?;
    out.show(&begun, || format!("{}\n", out.execution(begun.id)))
}

/// Records that an execution begins, and adds the brief for the subagent to the answer.
fn begins<R: Record<Done = ExecutionBegun>>(
    run: &str,
    command: &R,
) -> Result<ExecutionBegun, CliError> {
    let mut recorder = Recorder::open(run)?;
    let mut begun = recorder.record(command)?;
    brief::tell(&recorder, &mut begun);
    say_notes(&begun.notes);
    Ok(begun)
}

/// Prints the executions that ended. The JSON is one object for one execution, and an array for several.
fn ended(all: &[ExecutionEnded], out: &Out) -> Result<Exit, CliError> {
    let line = |ended: &ExecutionEnded| format!("{} {}\n", out.execution(ended.id), ended.status);
    let text = || all.iter().map(line).collect();
    all.iter().for_each(|one| say_notes(&one.notes));
    match all {
        [one] => out.show(one, text),
        all => out.show(&all, text),
    }
}
