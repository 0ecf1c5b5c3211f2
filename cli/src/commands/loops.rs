use prosescope_core::view::LoopRounds;
use prosescope_core::write::{BeginLoop, ExitLoop, Iterate};

use super::exec::{began, statement_ref};
use crate::args::record::LoopCommand;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{Out, say_notes};
use crate::record;

pub(super) fn run(command: LoopCommand, out: &Out) -> Result<Exit, CliError> {
    match command {
        LoopCommand::Begin {
            statement,
            max,
            condition,
            run,
        } => {
            let begin = BeginLoop {
                parent: statement.parent,
                item: statement.item.item.clone(),
                insist: statement.insist.into(),
                statement: statement_ref(statement),
                max,
                condition,
            };
            began(&run.name()?, &begin, out)
        }
        LoopCommand::Iterate { id, force, run } => {
            let insist = force.into();
            let rounds = record::one(&run.name()?, &Iterate { id, insist })?;
            said(&rounds, "iteration", out)
        }
        LoopCommand::Exit {
            id,
            round,
            force,
            reason,
            run,
        } => {
            let exit = ExitLoop {
                id,
                reason,
                round,
                insist: force.into(),
            };
            let rounds = record::one(&run.name()?, &exit)?;
            said(&rounds, "exited after", out)
        }
    }
}

fn said(rounds: &LoopRounds, word: &str, out: &Out) -> Result<Exit, CliError> {
    let id = rounds.of.id;
    say_notes(&rounds.of.notes);
    out.show(rounds, || {
        let of = rounds.max.map_or(String::new(), |max| format!("/{max}"));
        format!("{} {word} {}{of}\n", out.execution(id), rounds.iteration)
    })
}
