use prosescope_core::model::shell;
use prosescope_core::model::{Form, RunStatus};
use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::{ExecutionBegun, RunPart, TaskView};
use prosescope_core::record::render::brief::Brief;
use prosescope_core::record::render::text::escape;

use super::{no_execution, unread};
use crate::args::record::BriefArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::record::Recorder;
use crate::{locate, record};

pub(super) fn run(args: &BriefArgs, out: &Out) -> Result<Exit, CliError> {
    let (session, folder) = locate::open_with_folder(&args.run.name()?)?;
    unread::require_parts(
        &session,
        &[RunPart::Program, RunPart::Statements, RunPart::Bindings],
    )?;
    let id = args.execution;
    if session.node_numbered(id).is_none() {
        return Err(no_execution(&session, id));
    }
    if session.trace().verdict.status == RunStatus::Completed.word() {
        let run = &session.run().id;
        let message = format!("run {run} is completed already, so no task of it is left");
        return Err(CliError::refused("run-finished", message)
            .hint(format!("`prosescope trace {run} --node {id}` shows what the session was asked, and what it answered")));
    }
    let Some(task) = pages::task(&session, id) else {
        let message = format!("execution {id} is no session, and only a session has a subagent");
        return Err(CliError::refused("not-a-session", message)
            .hint("give the number of a session; `prosescope trace RUN` lists the executions with their numbers")
            .hint("`prosescope next` prints the next command"));
    };
    let on_server = locate::id_on_server(&folder).is_some();
    let database = matches!(
        session.run().form,
        Form::Sqlite { .. } | Form::Postgres { .. }
    );
    let shown = task.binding.as_deref().unwrap_or("anon_…");
    let frame = task.frame.as_ref().map(|frame| frame.id);
    let task = Brief {
        run: if on_server {
            folder.clone()
        } else {
            session.run().id.to_string()
        },
        execution: id,
        task: TaskView {
            location: record::location(database, &folder, shown, frame),
            ..task
        },
    }
    .told();
    out.show(&task, || escape(&task.brief, true))
}

/// Completes the answer about a begun execution. Adds the location of the binding and the brief to the execution's
/// task, and the option `--run` to the next command.
pub(super) fn tell(recorder: &Recorder, begun: &mut ExecutionBegun) {
    task(recorder, begun.id, &mut begun.task);
    if let Some(next) = &mut begun.next {
        next.command.push(' ');
        next.command
            .push_str(&shell::option("--run", recorder.run_id()));
    }
}

/// Adds the location of the binding, and the brief for the subagent, to a task.
pub(super) fn task(recorder: &Recorder, id: i64, task: &mut Option<TaskView>) {
    let Some(task) = task else { return };
    let name = task.binding.as_deref().unwrap_or("anon_…");
    task.location = recorder.location(name, task.frame.as_ref().map(|frame| frame.id));
    *task = Brief {
        task: std::mem::take(task),
        run: recorder.run_id().to_owned(),
        execution: id,
    }
    .told();
}
