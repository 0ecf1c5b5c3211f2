use prosescope_core::write::{BeginParallel, Branch, Join, Named};
use serde_json::json;

use super::exec::{began, named};
use crate::args::record::ParallelCommand;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::record;

pub(super) fn run(command: ParallelCommand, out: &Out) -> Result<Exit, CliError> {
    match command {
        ParallelCommand::Begin {
            statement,
            branches,
            strategy,
            run,
        } => {
            let parent = statement.parent;
            let begin = BeginParallel {
                statement: named(statement),
                parent,
                branches,
                strategy,
            };
            let (run, begun) = record::one(&run.run, &begin)?;
            began(&run, &begun, out)
        }
        ParallelCommand::Branch {
            parallel,
            name,
            text,
            line,
            run,
        } => {
            let statement = (text.is_some() || line.is_some()).then_some(Named { text, line });
            let branch = Branch {
                parallel,
                name,
                statement,
            };
            let (run, begun) = record::one(&run.run, &branch)?;
            began(&run, &begun, out)
        }
        ParallelCommand::Join { parallel, run } => {
            let (run, joined) = record::one(&run.run, &Join { parallel })?;
            if out.json {
                let branches: Vec<_> = joined
                    .branches
                    .iter()
                    .map(|(name, status)| json!({ "branch": name, "status": status }))
                    .collect();
                out.json(&json!({
                    "run": run,
                    "id": parallel,
                    "status": "joined",
                    "branches": branches,
                }))?;
            } else {
                let branches: Vec<String> = joined
                    .branches
                    .iter()
                    .map(|(name, status)| format!("{name} {status}"))
                    .collect();
                out.text(&format!("{parallel} joined: {}\n", branches.join(", ")))?;
            }
            Ok(Exit::Done)
        }
    }
}
