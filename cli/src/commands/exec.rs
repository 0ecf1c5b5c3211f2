use prosescope_core::write::{Begin, Begun, Close, Closed, How, Insist, Named, Retry, Run};
use serde_json::json;

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
        } => {
            let (run, begun) = record::one(&run.run, &begin(statement, block))?;
            began(&run, &begun, out)
        }
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
            let (run, retried) = record::one(&run.run, &retry)?;
            if out.json {
                out.json(&json!({
                    "run": run,
                    "id": id,
                    "attempt": retried.attempt,
                    "max": retried.max,
                }))?;
            } else {
                let of = retried.max.map_or(String::new(), |max| format!("/{max}"));
                out.text(&format!("{id} attempt {}{of}\n", retried.attempt))?;
            }
            Ok(Exit::Done)
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

/// What began, as JSON.
pub(super) fn begun_json(run: &str, begun: &Begun) -> serde_json::Value {
    let (block, depth) = match &begun.frame {
        Some((block, depth)) => (Some(block), Some(depth)),
        None => (None, None),
    };
    json!({
        "run": run,
        "id": begun.id,
        "statement": begun.text,
        "line": begun.line,
        "parent": begun.parent,
        "name": begun.name,
        "block": block,
        "depth": depth,
    })
}

/// The id alone: it is what every later command names the execution by.
pub(super) fn began(run: &str, begun: &Begun, out: &Out) -> Result<Exit, CliError> {
    if out.json {
        out.json(&begun_json(run, begun))?;
    } else {
        out.text(&format!("{}\n", begun.id))?;
    }
    Ok(Exit::Done)
}

/// The id, and the brief where a subagent carries it out.
fn briefed(recorder: &Recorder, begun: &Begun, out: &Out) -> Result<Exit, CliError> {
    if out.json {
        out.json(&brief::begun_json(recorder, begun))?;
        return Ok(Exit::Done);
    }
    let mut text = format!("{}\n", begun.id);
    if let Some(brief) = brief::of_begun(recorder, begun) {
        text.push('\n');
        text.push_str(&brief::text(&brief));
    }
    out.text(&text)?;
    Ok(Exit::Done)
}

fn ended(run: &str, closed: &[Closed], out: &Out) -> Result<Exit, CliError> {
    if out.json {
        let all: Vec<_> = closed
            .iter()
            .map(|closed| {
                json!({
                    "run": run,
                    "id": closed.id,
                    "status": closed.status,
                    "statement": closed.text,
                    "line": closed.line,
                    "branch": closed.branch,
                })
            })
            .collect();
        match all.as_slice() {
            [one] => out.json(one)?,
            all => out.json(&all)?,
        }
    } else {
        let lines: Vec<String> = closed
            .iter()
            .map(|closed| format!("{} {}\n", closed.id, closed.status))
            .collect();
        out.text(&lines.concat())?;
    }
    Ok(Exit::Done)
}
