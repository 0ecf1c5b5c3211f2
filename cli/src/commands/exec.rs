use prosescope_core::write::{Begin, Begun, Close, Closed, How, Named, Retry};
use serde_json::json;

use crate::args::record::{ExecCommand, StatementArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::record;

pub(super) fn run(command: ExecCommand, out: &Out) -> Result<Exit, CliError> {
    match command {
        ExecCommand::Begin {
            statement,
            block,
            run,
        } => {
            let parent = statement.parent;
            let begin = Begin {
                statement: named(statement),
                parent,
                block,
            };
            let (run, begun) = record::one(&run.run, &begin)?;
            began(&run, &begun, out)
        }
        ExecCommand::Complete { id, binding, run } => {
            close(&run.run, id, How::Completed { binding }, out)
        }
        ExecCommand::Fail { id, error, run } => close(&run.run, id, How::Failed { error }, out),
        ExecCommand::Skip { id, reason, run } => close(&run.run, id, How::Skipped { reason }, out),
        ExecCommand::Retry { id, max, run } => {
            let (run, retried) = record::one(&run.run, &Retry { id, max })?;
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

fn close(run: &str, id: i64, how: How, out: &Out) -> Result<Exit, CliError> {
    let (run, closed) = record::one(run, &Close { id, how })?;
    ended(&run, &closed, out)
}

pub(super) fn named(statement: StatementArgs) -> Named {
    Named {
        text: statement.text,
        line: statement.line,
    }
}

/// The id alone: it is what every later command names the execution by.
pub(super) fn began(run: &str, begun: &Begun, out: &Out) -> Result<Exit, CliError> {
    if out.json {
        let (block, depth) = match &begun.frame {
            Some((block, depth)) => (Some(block), Some(depth)),
            None => (None, None),
        };
        out.json(&json!({
            "run": run,
            "id": begun.id,
            "statement": begun.text,
            "line": begun.line,
            "name": begun.name,
            "block": block,
            "depth": depth,
        }))?;
    } else {
        out.text(&format!("{}\n", begun.id))?;
    }
    Ok(Exit::Done)
}

fn ended(run: &str, closed: &Closed, out: &Out) -> Result<Exit, CliError> {
    if out.json {
        out.json(&json!({
            "run": run,
            "id": closed.id,
            "status": closed.status,
            "statement": closed.text,
            "line": closed.line,
            "branch": closed.branch,
        }))?;
    } else {
        out.text(&format!("{} {}\n", closed.id, closed.status))?;
    }
    Ok(Exit::Done)
}
