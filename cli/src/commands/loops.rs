use prosescope_core::write::{BeginLoop, ExitLoop, Iterate, Rounds};
use serde_json::json;

use super::exec::{began, named};
use crate::args::record::LoopCommand;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::record::Recorder;

pub(super) fn run(command: LoopCommand, out: &Out) -> Result<Exit, CliError> {
    match command {
        LoopCommand::Begin {
            statement,
            max,
            condition,
            run,
        } => {
            let parent = statement.parent;
            let begin = BeginLoop {
                statement: named(statement),
                parent,
                max,
                condition,
            };
            began(&Recorder::open(&run.run)?.record(&begin)?, out)
        }
        LoopCommand::Iterate { id, run } => {
            let rounds = Recorder::open(&run.run)?.record(&Iterate { id })?;
            said(&rounds, "iteration", out)
        }
        LoopCommand::Exit { id, reason, run } => {
            let rounds = Recorder::open(&run.run)?.record(&ExitLoop { id, reason })?;
            said(&rounds, "exited after", out)
        }
    }
}

fn said(rounds: &Rounds, word: &str, out: &Out) -> Result<Exit, CliError> {
    let id = rounds.closed.id;
    if out.json {
        out.json(&json!({
            "id": id,
            "status": rounds.closed.status,
            "iteration": rounds.rounds,
            "max": rounds.max,
        }))?;
    } else {
        let of = rounds.max.map_or(String::new(), |max| format!("/{max}"));
        out.text(&format!("{id} {word} {}{of}\n", rounds.rounds))?;
    }
    Ok(Exit::Done)
}
