use prosescope_core::view::ParallelRunning;
use prosescope_core::write::{BeginParallel, Branch, Join, RunParallel, StatementRef};

use super::brief;
use super::exec::{began, statement_ref};
use crate::args::record::{BranchesArgs, ParallelCommand, StatementArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{Out, say_notes};
use crate::record::{self, Recorder};

pub(super) fn run(command: ParallelCommand, out: &Out) -> Result<Exit, CliError> {
    match command {
        ParallelCommand::Begin {
            statement,
            branches,
            run,
        } => began(&run.name()?, &begin(statement, branches), out),
        ParallelCommand::Run {
            statement,
            branches,
            run,
        } => {
            let command = RunParallel {
                begin: begin(statement, branches),
            };
            let mut recorder = Recorder::open(&run.name()?)?;
            let mut running = recorder.record(&command)?;
            brief::tell(&recorder, &mut running.parallel);
            for branch in &mut running.branches {
                brief::tell(&recorder, branch);
            }
            out.show(&running, || ran(&running, out))
        }
        ParallelCommand::Branch {
            parallel,
            name,
            text,
            line,
            insist,
            run,
        } => {
            let statement =
                (text.is_some() || line.is_some()).then_some(StatementRef { text, line });
            let branch = Branch {
                parallel: Some(parallel),
                name,
                statement,
                insist: insist.into(),
            };
            began(&run.name()?, &branch, out)
        }
        ParallelCommand::Join {
            parallel,
            force,
            run,
        } => {
            let join = Join {
                parallel,
                insist: force.into(),
            };
            let joined = record::one(&run.name()?, &join)?;
            say_notes(&joined.parallel.notes);
            out.show(&joined, || {
                let branches = joined.branches.iter();
                let branches = branches.map(|of| format!("{} {}", of.branch, of.status));
                let branches: Vec<String> = branches.collect();
                let id = out.execution(joined.parallel.id);
                format!("{id} joined: {}\n", branches.join(", "))
            })
        }
    }
}

fn begin(statement: StatementArgs, branches: BranchesArgs) -> BeginParallel {
    BeginParallel {
        parent: statement.parent,
        item: statement.item.item.clone(),
        insist: statement.insist.into(),
        statement: statement_ref(statement),
        branches: branches.branches,
        strategy: branches.strategy,
    }
}

/// Formats a parallel block that began: its number, then the number, name and brief of each branch. A branch without a
/// subagent has no brief.
fn ran(running: &ParallelRunning, out: &Out) -> String {
    let mut text = format!("{}\n", out.execution(running.parallel.id));
    for branch in &running.branches {
        let name = branch.name.as_deref().unwrap_or_default();
        let brief = brief::appended(branch);
        text.push_str(&format!("\n{} {name}\n{brief}", out.execution(branch.id)));
    }
    text
}
