use prosescope_core::model::{AgentScope, Form};
use prosescope_core::render::brief::{Brief, brief};
use prosescope_core::render::text::escape;
use prosescope_core::session::pages;
use prosescope_core::view::{BriefView, ExecutionBegun, Part, TaskView};
use prosescope_core::write::{Begun, Task, names};

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
    let (session, folder) = locate::open_with_folder(&args.run.run)?;
    unread::whole(&session, &[Part::Program, Part::Statements, Part::Bindings])?;
    let task = match args.execution {
        Some(id) => pages::task(&session, id).ok_or_else(|| no_execution(&session, id))?,
        None => Task::default(),
    };
    let on_server = locate::id_on_server(&folder).is_some();
    let database = matches!(session.run().form, Form::Sqlite { .. } | Form::Postgres);
    let output = task.output.clone().map(|(name, _)| name);
    let name = args.name.clone().or(output);
    let shown = name.as_deref().unwrap_or("anon_…");
    let listing = session.listing();
    let declared = args.name.as_deref().and_then(|name| listing?.binder(name));
    let agent = args.agent.as_ref().map(|agent| {
        let scope = listing.and_then(|listing| listing.agent_scope(agent));
        (agent.clone(), scope.unwrap_or(AgentScope::Execution))
    });
    let frame = task.frame.as_ref().map(|(id, ..)| *id);
    let of = Brief {
        run: match on_server {
            true => folder.clone(),
            false => session.run().id.to_string(),
        },
        location: record::location(database, &folder, shown, frame),
        database: (database && !on_server).then(|| format!("{folder}/state.db")),
        kind: declared.and_then(|statement| statement.binds.clone()),
        source: declared.map(|statement| statement.text.clone()),
        execution: args.execution,
        done: args.done,
        ..with_task(
            name,
            &Task {
                agent: agent.or(task.agent.clone()),
                ..task
            },
        )
    };
    let text = brief(&of, args.sqlite3);
    let (put, run) = (of.put(), of.run);
    let view = BriefView { run, text, put };
    out.show(&view, || escape(&view.text, true))
}

/// What a task says of a brief.
fn with_task(name: Option<String>, task: &Task) -> Brief {
    Brief {
        name,
        frame: task.frame.clone(),
        agent: task
            .agent
            .as_ref()
            .map(|(agent, scope)| (agent.clone(), scope.word().to_owned())),
        prompt: task.prompt.clone(),
        context: task.context.clone(),
        ..Brief::default()
    }
}

/// What the subagent does that carries out an execution; its brief asks for `put --done`.
pub(super) fn task(recorder: &Recorder, id: i64, task: Option<&Task>) -> Option<TaskView> {
    let task = task?;
    let name = task.output.as_ref().map(|(name, _)| name.clone());
    let frame = task.frame.as_ref().map(|(id, ..)| *id);
    let brief = Brief {
        run: recorder.run_id().to_owned(),
        location: recorder.location(name.as_deref().unwrap_or("anon_…"), frame),
        execution: Some(id),
        done: true,
        ..with_task(name, task)
    };
    Some(TaskView::new(&brief, task))
}

/// The brief of what began, after an empty line; nothing where no subagent carries it out.
pub(super) fn appended(recorder: &Recorder, begun: &Begun) -> String {
    let task = task(recorder, begun.id, begun.task.as_ref());
    task.map_or(String::new(), |task| {
        format!("\n{}", escape(&task.brief, true))
    })
}

/// What began, with its task.
pub(super) fn begun(recorder: &Recorder, begun: &Begun) -> ExecutionBegun {
    let task = task(recorder, begun.id, begun.task.as_ref());
    ExecutionBegun::new(recorder.run_id(), begun, task)
}
