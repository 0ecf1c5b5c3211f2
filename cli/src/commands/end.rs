use prosescope_core::pages::view::{EndedPart, ExecutionEnded, LoopRounds};
use prosescope_core::record::{End, Fail, Insist, Retry, Round, Skip, StatementRef};

use super::{begin, brief};
use crate::args::record::{
    EndArgs, FailArgs, ForceArgs, InsistArgs, RetryArgs, RoundArgs, SkipArgs,
};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{Out, say_notes};
use crate::record::{self, Recorder};

/// Records that executions ended: all of them, or none. The JSON is one object for one execution, and an array for
/// several.
pub(super) fn end(args: EndArgs, out: &Out) -> Result<Exit, CliError> {
    let end = |id| End {
        id,
        because: args.because.clone(),
        insist: args.force.into(),
    };
    let all: Vec<End> = match args.ids.as_slice() {
        [] => vec![end(None)],
        ids => ids.iter().map(|id| end(Some(*id))).collect(),
    };
    let all = record::one(&args.run.name()?, &all)?;
    let text = || all.iter().map(|ended| line(ended, out)).collect();
    all.iter()
        .for_each(|ended| say_notes(&ended.execution().notes));
    match all.as_slice() {
        [one] => out.show(one, text),
        all => out.show(&all, text),
    }
}

fn line(ended: &EndedPart, out: &Out) -> String {
    match ended {
        EndedPart::Execution(ended) => of_execution(ended, out),
        EndedPart::Loop(rounds) => {
            let id = out.execution(rounds.of.id);
            format!("{id} exited after {}\n", rounds_of(rounds))
        }
        EndedPart::Parallel(joined) => {
            let branches = joined.branches.iter();
            let branches = branches.map(|of| format!("{} {}", of.branch, of.status));
            let branches: Vec<String> = branches.collect();
            let id = out.execution(joined.parallel.id);
            format!("{id} joined: {}\n", branches.join(", "))
        }
    }
}

fn of_execution(ended: &ExecutionEnded, out: &Out) -> String {
    format!("{} {}\n", out.execution(ended.id), ended.status)
}

fn rounds_of(rounds: &LoopRounds) -> String {
    let of = rounds.max.map_or(String::new(), |max| format!("/{max}"));
    format!("{}{of}", rounds.iteration)
}

/// Records that a round of a loop ended.
pub(super) fn round(args: &RoundArgs, out: &Out) -> Result<Exit, CliError> {
    let round = Round {
        id: args.id,
        insist: args.force.into(),
    };
    let rounds = record::one(&args.run.name()?, &round)?;
    say_notes(&rounds.of.notes);
    out.show(&rounds, || {
        let id = out.execution(rounds.of.id);
        format!("{id} rounds done: {}\n", rounds_of(&rounds))
    })
}

/// Records that an execution failed.
pub(super) fn fail(args: FailArgs, out: &Out) -> Result<Exit, CliError> {
    let (id, error) = args.parts()?;
    let fail = Fail {
        id,
        error,
        insist: Insist::default(),
    };
    say_ended(&record::one(&args.run.name()?, &fail)?, out)
}

/// Records that a statement was skipped.
pub(super) fn skip(args: SkipArgs, out: &Out) -> Result<Exit, CliError> {
    let skip = Skip {
        statement: StatementRef::line(args.line),
        parent: args.parent,
        item: args.item.item,
        because: args.because,
        insist: args.force.into(),
    };
    say_ended(&record::one(&args.run.name()?, &skip)?, out)
}

fn say_ended(ended: &ExecutionEnded, out: &Out) -> Result<Exit, CliError> {
    say_notes(&ended.notes);
    out.show(ended, || of_execution(ended, out))
}

/// Records another attempt at a failed execution.
pub(super) fn retry(args: &RetryArgs, out: &Out) -> Result<Exit, CliError> {
    let retry = Retry {
        id: args.id,
        max: args.max,
        error: args.error.clone(),
        insist: args.insist.into(),
    };
    let mut recorder = Recorder::open(&args.run.name()?)?;
    let mut retried = recorder.record(&retry)?;
    let id = retried.id;
    brief::task(&recorder, id, &mut retried.task);
    let of = retried.max.map_or(String::new(), |max| format!("/{max}"));
    out.show(&retried, || {
        let next = begin::again(id, retried.task.as_ref(), recorder.run_id());
        format!(
            "{} attempt {}{of}\n{next}",
            out.execution(id),
            retried.attempt
        )
    })
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
