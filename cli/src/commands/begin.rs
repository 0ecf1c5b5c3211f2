use prosescope_core::model::shell;
use prosescope_core::pages::view::{Begun, ExecutionBegun, NextStep, TaskView};
use prosescope_core::record::render::text::escape;
use prosescope_core::record::{Begin, StatementRef};

use super::brief;
use super::gate::say_open_names;
use crate::args::record::BeginArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{Out, say_notes};
use crate::record::Recorder;

/// Records that a statement begins. The first line is the number that later commands take: of an execution, or the id
/// of a gate.
pub(super) fn run(args: BeginArgs, out: &Out) -> Result<Exit, CliError> {
    let program = match &args.program {
        Some(path) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            Some((super::init::read_program(path)?, name.into_owned()))
        }
        None => None,
    };
    let command = Begin {
        statement: StatementRef {
            text: args.text,
            line: args.line,
        },
        parent: args.parent,
        item: args.item.item,
        program,
        insist: args.force.into(),
    };
    let mut recorder = Recorder::open(&args.run.name()?)?;
    let mut begun = recorder.record(&command)?;
    match &mut begun {
        Begun::Execution(begun) => brief::tell(&recorder, begun),
        Begun::Parallel(running) => {
            brief::tell(&recorder, &mut running.parallel);
            for branch in &mut running.branches {
                brief::tell(&recorder, branch);
            }
        }
        Begun::Gate(gate) => say_open_names(gate),
        // A run in a database has no nested runs, so the answer must not name one.
        Begun::Import(import) if recorder.is_database() => import.nested = None,
        Begun::Import(_) => {}
    }
    say_notes(begun.notes());
    out.show(&begun, || told(&begun, recorder.run_id(), out))
}

fn told(begun: &Begun, run: &str, out: &Out) -> String {
    match begun {
        Begun::Execution(begun) => {
            format!("{}\n{}", out.execution(begun.id), follows(begun, run))
        }
        Begun::Parallel(running) => {
            let mut text = format!("{}\n", out.execution(running.parallel.id));
            for branch in &running.branches {
                let name = branch.name.as_deref().unwrap_or_default();
                let (id, name) = (out.execution(branch.id), escape(name, false));
                text.push_str(&format!("{id} {name}: {}", follows(branch, run)));
            }
            text
        }
        Begun::Gate(gate) => {
            let wait = shell::command("gate wait", &[run, &gate.gate], "");
            let gate = &gate.gate;
            escape(&format!("{gate}\nA person decides: {wait}\n"), true)
        }
        Begun::Import(import) => {
            let its = import.nested.as_ref();
            let its = its.map_or(String::new(), |run| format!(" (nested run: {run})"));
            escape(&format!("Import registered: {}{its}\n", import.alias), true)
        }
    }
}

/// Returns the line that says who goes on with an execution: a subagent with its brief, or the VM itself.
fn follows(begun: &ExecutionBegun, run: &str) -> String {
    match (&begun.task, &begun.next) {
        (Some(_), _) => subagent(begun.id, run),
        (None, Some(NextStep { say, command })) => {
            format!("{}\n", escape(&format!("{say}: {command}"), false))
        }
        (None, None) => "\n".to_owned(),
    }
}

/// Returns the line that a VM gives to the subagent of an execution.
pub(super) fn subagent(id: i64, run: &str) -> String {
    let run = shell::option("--run", run);
    format!("Subagent: prosescope brief {id} {run}\n")
}

/// Returns the line for the subagent of another attempt; nothing if the execution has none.
pub(super) fn again(id: i64, task: Option<&TaskView>, run: &str) -> String {
    task.map_or(String::new(), |_| subagent(id, run))
}
