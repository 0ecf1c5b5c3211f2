use prosescope_core::model::Form;
use prosescope_core::render::brief::{Brief, brief};
use prosescope_core::render::text::escape;
use prosescope_core::session::pages;
use prosescope_core::shell;
use prosescope_core::view::{AgentOfTask, BriefView, ExecutionBegun, NextStep, Part, TaskView};
use prosescope_core::write::names;

use super::{no_execution, unread};
use crate::args::record::BriefArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::record::Recorder;
use crate::{locate, record};

pub(super) fn run(args: &BriefArgs, out: &Out) -> Result<Exit, CliError> {
    if let Some(name) = &args.name {
        names::binding(name)?;
    }
    let (session, folder) = locate::open_with_folder(&args.run.name()?)?;
    unread::require_parts(&session, &[Part::Program, Part::Statements, Part::Bindings])?;
    let task = match args.execution {
        Some(id) => {
            let task = pages::task(&session, id).ok_or_else(|| no_execution(&session, id))?;
            if let Some(what) = pages::around_others(&session, id) {
                let message =
                    format!("execution {id} is {what}, and only a session has a subagent");
                return Err(CliError::refused("not-a-session", message)
                    .hint("give the number of a session; `prosescope trace RUN` lists the executions with their numbers")
                    .hint("`prosescope next` prints the next command"));
            }
            task
        }
        None => TaskView::default(),
    };
    let on_server = locate::id_on_server(&folder).is_some();
    let database = matches!(session.run().form, Form::Sqlite { .. } | Form::Postgres);
    let binding = args.name.clone().or(task.binding);
    let shown = binding.as_deref().unwrap_or("anon_…");
    let frame = task.frame.as_ref().map(|frame| frame.id);
    let listing = session.listing();
    let declared = args.name.as_deref().and_then(|name| listing?.binder(name));
    let agent = args.agent.as_ref();
    let agent = agent.map(|name| AgentOfTask::new(name, listing));
    let mut of = Brief {
        run: match on_server {
            true => folder.clone(),
            false => session.run().id.to_string(),
        },
        database: (database && !on_server).then(|| format!("{folder}/state.db")),
        source: declared.map(|statement| statement.text.clone()),
        execution: args.execution,
        done: args.done,
        task: TaskView {
            location: record::location(database, &folder, shown, frame),
            binding,
            kind: declared.and_then(|statement| statement.binds.clone()),
            agent: agent.or(task.agent),
            ..task
        },
    };
    of.find_inputs();
    let text = brief(&of, args.sqlite3);
    let (put, run) = (of.put(), of.run);
    let view = BriefView { run, text, put };
    out.show(&view, || escape(&view.text, true))
}

/// Completes the answer about a begun execution. Adds the location of the binding and the brief to the execution's
/// task, and the option `--run` to the next command. The brief contains `put --done`.
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
        execution: Some(id),
        done: true,
        ..Brief::default()
    }
    .told();
}

/// Returns an empty line and the brief of a begun execution. For an execution without a subagent, returns the next step
/// instead.
pub(super) fn appended(begun: &ExecutionBegun) -> String {
    if let Some(task) = &begun.task {
        return of_task(task);
    }
    let next = begun.next.as_ref();
    next.map_or(String::new(), |NextStep { say, command }| {
        format!("\n{}\n", escape(&format!("{say}: {command}"), false))
    })
}

/// Returns an empty line and the brief of a task.
pub(super) fn of_task(task: &TaskView) -> String {
    format!("\n{}", escape(&task.brief, true))
}
