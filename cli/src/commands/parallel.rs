use prosescope_core::write::{BeginParallel, Branch, Join, Named, RunParallel, Running};
use serde_json::json;

use super::brief;
use super::exec::{began, named};
use crate::args::record::{BranchesArgs, ParallelCommand, StatementArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::record::{self, Recorder};

pub(super) fn run(command: ParallelCommand, out: &Out) -> Result<Exit, CliError> {
    match command {
        ParallelCommand::Begin {
            statement,
            branches,
            run,
        } => {
            let (run, begun) = record::one(&run.run, &begin(statement, branches))?;
            began(&run, &begun, out)
        }
        ParallelCommand::Run {
            statement,
            branches,
            run,
        } => {
            let command = RunParallel {
                begin: begin(statement, branches),
            };
            let mut recorder = Recorder::open(&run.run)?;
            let running = recorder.record(&command)?;
            ran(&recorder, &running, out)
        }
        ParallelCommand::Branch {
            parallel,
            name,
            text,
            line,
            insist,
            run,
        } => {
            let statement = (text.is_some() || line.is_some()).then_some(Named { text, line });
            let branch = Branch {
                parallel: Some(parallel),
                name,
                statement,
                insist: insist.into(),
            };
            let (run, begun) = record::one(&run.run, &branch)?;
            began(&run, &begun, out)
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
            let (run, joined) = record::one(&run.run, &join)?;
            let parallel = joined.closed.id;
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

fn begin(statement: StatementArgs, branches: BranchesArgs) -> BeginParallel {
    BeginParallel {
        parent: statement.parent,
        insist: statement.insist.into(),
        statement: named(statement),
        branches: branches.branches,
        strategy: branches.strategy,
    }
}

/// The parallel's id, then each branch: its id and name, and its brief where a subagent carries it out.
fn ran(recorder: &Recorder, running: &Running, out: &Out) -> Result<Exit, CliError> {
    if out.json {
        let branches: Vec<_> = running
            .branches
            .iter()
            .map(|branch| brief::begun_json(recorder, branch))
            .collect();
        let mut parallel = super::exec::begun_json(recorder.run_id(), &running.parallel);
        if let Some(object) = parallel.as_object_mut() {
            object.insert("branches".to_owned(), branches.into());
        }
        out.json(&parallel)?;
        return Ok(Exit::Done);
    }
    let mut text = format!("{}\n", running.parallel.id);
    for branch in &running.branches {
        let name = branch.name.as_deref().unwrap_or_default();
        text.push_str(&format!("\n{} {name}\n", branch.id));
        if let Some(brief) = brief::of_begun(recorder, branch) {
            text.push('\n');
            text.push_str(&brief::text(&brief));
        }
    }
    out.text(&text)?;
    Ok(Exit::Done)
}
