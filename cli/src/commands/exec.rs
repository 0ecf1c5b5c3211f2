use prosescope_core::view::{AttemptBegun, ExecutionEnded};
use prosescope_core::write::{Begin, Begun, Close, Closed, How, Insist, Named, Record, Retry, Run};

use super::brief;
use crate::args::record::{ExecCommand, ForceArgs, InsistArgs, StatementArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::record::{self, Recorder};

pub(super) fn run(command: ExecCommand, out: &Out) -> Result<Exit, CliError> {
    match command {
        ExecCommand::Begin {
            statement,
            block,
            run,
        } => began(&run.run, &begin(statement, block), out),
        ExecCommand::Run {
            statement,
            within,
            round,
            run,
        } => {
            let command = Run {
                begin: begin(statement, None),
                within,
                round,
            };
            let mut recorder = Recorder::open(&run.run)?;
            let begun = recorder.record(&command)?;
            briefed(&recorder, &begun, out)
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
            let (run, closed) = record::one(&run.run, &all)?;
            ended(&run, &closed, out)
        }
        ExecCommand::Fail { id, error, run } => {
            close(&run.run, Close::new(id, How::Failed { error }), out)
        }
        ExecCommand::Skip {
            id,
            reason,
            force,
            run,
        } => {
            let skip = Close {
                insist: force.into(),
                ..Close::new(id, How::Skipped { reason })
            };
            close(&run.run, skip, out)
        }
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
            let mut recorder = Recorder::open(&run.run)?;
            let retried = recorder.record(&retry)?;
            let task = brief::task(&recorder, id, retried.task.as_ref());
            let view = AttemptBegun::new(recorder.run_id(), &retried, task);
            let of = retried.max.map_or(String::new(), |max| format!("/{max}"));
            out.show(&view, || format!("{id} attempt {}{of}\n", retried.attempt))
        }
    }
}

fn begin(statement: StatementArgs, block: Option<String>) -> Begin {
    Begin {
        parent: statement.parent,
        insist: statement.insist.into(),
        statement: named(statement),
        block,
    }
}

fn close(run: &str, close: Close, out: &Out) -> Result<Exit, CliError> {
    let (run, closed) = record::one(run, &close)?;
    ended(&run, &[closed], out)
}

pub(super) fn named(statement: StatementArgs) -> Named {
    Named {
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

/// Records what begins, and prints its id alone: every later command names the execution by it.
pub(super) fn began<R: Record<Done = Begun>>(
    run: &str,
    command: &R,
    out: &Out,
) -> Result<Exit, CliError> {
    let mut recorder = Recorder::open(run)?;
    let begun = recorder.record(command)?;
    out.show(&brief::begun(&recorder, &begun), || {
        format!("{}\n", begun.id)
    })
}

/// The id, and the brief where a subagent carries it out.
fn briefed(recorder: &Recorder, begun: &Begun, out: &Out) -> Result<Exit, CliError> {
    out.show(&brief::begun(recorder, begun), || {
        format!("{}\n{}", begun.id, brief::appended(recorder, begun))
    })
}

/// One object for one execution, an array for several.
fn ended(run: &str, closed: &[Closed], out: &Out) -> Result<Exit, CliError> {
    let all = closed.iter().map(|one| ExecutionEnded::new(run, one));
    let all: Vec<_> = all.collect();
    let line = |closed: &Closed| format!("{} {}\n", closed.id, closed.status);
    let text = || closed.iter().map(line).collect();
    match all.as_slice() {
        [one] => out.show(one, text),
        all => out.show(&all, text),
    }
}
