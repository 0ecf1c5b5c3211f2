use std::io::Read;
use std::path::PathBuf;

use prosescope_core::model::{Agent, AgentScope};
use prosescope_core::render::text::escape;
use prosescope_core::session::{Session, ValueOf};
use prosescope_core::write::{AddSegment, Record, Remember, Remembered};
use serde_json::json;

use crate::args::record::{AgentArgs, AgentCommand, MemoryCommand, Scope, SegmentCommand};
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate;
use crate::out::{Out, say};
use crate::print::style::{RESET, WAIT};
use crate::record::{self, Recorder};

pub(super) fn run(command: AgentCommand, out: &Out) -> Result<Exit, CliError> {
    match command {
        AgentCommand::Memory(MemoryCommand::Get(args)) => get(&args, out),
        AgentCommand::Memory(MemoryCommand::Set(args)) => {
            let memory = text_of_stdin("a memory")?;
            let place = Place::of(&args)?;
            let command = Remember {
                agent: args.name,
                scope: place.scope.clone(),
                memory,
            };
            place.record(&command, out)
        }
        AgentCommand::Segment(SegmentCommand::Add { agent, prompt }) => {
            let summary = text_of_stdin("what an agent did")?;
            let place = Place::of(&agent)?;
            let command = AddSegment {
                agent: agent.name,
                scope: place.scope.clone(),
                prompt,
                summary,
            };
            place.record(&command, out)
        }
        AgentCommand::Delete(args) => super::agent_delete::run(&args, out),
    }
}

/// Where an agent of a scope is kept.
struct Place {
    scope: AgentScope,
    /// The scope that the run's own reading gives this place: in the home folder itself the user's agents are the
    /// project's.
    read_as: AgentScope,
    /// The store beside the run's own: a database, or a folder in which `agents/` lies.
    beside: Option<PathBuf>,
    run: String,
}

impl Place {
    fn of(args: &AgentArgs) -> Result<Place, CliError> {
        let run = args.run.run.clone();
        if let Some(path) = &args.path {
            return Ok(Place {
                scope: AgentScope::Custom,
                read_as: AgentScope::Custom,
                beside: Some(path.clone()),
                run,
            });
        }
        let target = locate::for_writing(&run)?;
        let session = locate::open_agent(&target, &args.name)?;
        let scope = match args.scope {
            Some(Scope::Execution) => AgentScope::Execution,
            Some(Scope::Project) => AgentScope::Project,
            Some(Scope::User) => AgentScope::User,
            None => declared(&session, &args.name)?,
        };
        // The project is the run's, wherever the command is given.
        let project = match target.dir.ancestors().find(|dir| dir.ends_with(".prose")) {
            Some(dir) => dir.to_owned(),
            None => record::prose_dir()?,
        };
        let (dir, read_as) = match scope {
            AgentScope::Project => (Some(project), AgentScope::Project),
            AgentScope::User => {
                let home = locate::home().ok_or_else(|| {
                    CliError::not_found("there is no home directory, so no agent of the user")
                })?;
                let own = home.join(".prose");
                let read_as = match locate::is_same(&own, &project) {
                    true => AgentScope::Project,
                    false => AgentScope::User,
                };
                (Some(own), read_as)
            }
            _ => (None, scope.clone()),
        };
        let home = session.agent_home(&args.name, &read_as);
        // An agent stays in the store that holds it; a new one goes to the run's own form (errata A1).
        let database = home.map_or(target.database.is_some(), |home| home.database);
        let inside = |dir: PathBuf| match database {
            true => dir.join("agents.db"),
            false => dir,
        };
        if let Some(dir) = dir.as_ref().filter(|_| home.is_some_and(|home| home.twice)) {
            let (base, files) = (dir.join("agents.db"), dir.join("agents").join(&args.name));
            let (used, other) = match database {
                true => (base, files),
                false => (files, base),
            };
            let text = format!(
                "agent {} has another memory in {}; this run uses {}. Next: move what is needed into one of them",
                args.name,
                record::from_here(&other),
                record::from_here(&used)
            );
            say(&format!("{WAIT}note:{RESET} {}", escape(&text, false)));
        }
        let beside = dir.map(inside);
        Ok(Place {
            scope,
            read_as,
            beside,
            run,
        })
    }

    fn record<R: Record<Done = Remembered>>(
        &self,
        command: &R,
        out: &Out,
    ) -> Result<Exit, CliError> {
        let mut recorder = match &self.beside {
            None => Recorder::open(&self.run)?,
            Some(path) => Recorder::open_agents(path, self.scope.clone())?,
        };
        let done = recorder.record(command)?;
        // An agent that outlives runs is of none.
        let run = self.beside.is_none().then(|| recorder.run_id());
        said(run, &done, self, out)
    }
}

fn declared(session: &Session, agent: &str) -> Result<AgentScope, CliError> {
    let scope = session
        .listing()
        .and_then(|listing| listing.agent_scope(agent));
    match scope {
        Some(AgentScope::Custom) => Err(CliError::usage(format!(
            "the program keeps agent {agent} in a place of its own, and that is never followed from inside a run"
        ))
        .hint("name it with --path")),
        scope => Ok(scope.unwrap_or(AgentScope::Execution)),
    }
}

fn get(args: &AgentArgs, out: &Out) -> Result<Exit, CliError> {
    let place = Place::of(args)?;
    let session = match (&place.scope, &place.beside) {
        (AgentScope::Custom, Some(path)) => locate::open(&path.to_string_lossy())?,
        _ => locate::open_agent(&locate::for_writing(&args.run.run)?, &args.name)?,
    };
    let agents = &session.run().agents;
    let has_memory = |at: &usize| agents.get(*at).is_some_and(|a| a.memory.len().is_some());
    let found = match place.scope {
        AgentScope::Custom => {
            let own = |agent: &Agent| *agent.name == *args.name && agent.memory.len().is_some();
            agents.iter().position(own)
        }
        _ => {
            let home = session.agent_home(&args.name, &place.read_as);
            home.map(|home| home.agent).filter(has_memory)
        }
    };
    let Some(at) = found.and_then(|at| u32::try_from(at).ok()) else {
        return Err(CliError::not_found(format!(
            "agent {} has no memory in scope {}",
            args.name,
            place.scope.word()
        ))
        .hint("`prose agents RUN` lists the agents with their scopes"));
    };
    let of = ValueOf::Memory(at);
    if out.json {
        out.json(&session.value(&of, usize::MAX)?)?;
        return Ok(Exit::Done);
    }
    let mut failed = None;
    session.value_pieces(&of, &mut |piece| {
        let done = match out.terminal {
            true => out.text(&escape(&String::from_utf8_lossy(piece), true)),
            false => out.bytes(piece),
        };
        failed = done.err();
        failed.is_none()
    })?;
    failed.map_or(Ok(Exit::Done), Err)
}

fn said(run: Option<&str>, done: &Remembered, place: &Place, out: &Out) -> Result<Exit, CliError> {
    let store = place.beside.as_deref().map(record::from_here);
    if out.json {
        out.json(&json!({
            "run": run,
            "agent": done.agent,
            "scope": done.scope,
            "store": store,
            "segment": done.segment,
            "replaced": done.replaced,
        }))?;
        return Ok(Exit::Done);
    }
    let store = store.map_or(String::new(), |path| format!(", in {path}"));
    let what = match done.segment {
        Some(number) => format!("Segment written: {} {number:03}", done.agent),
        None => format!("Memory written: {}", done.agent),
    };
    let text = format!("{what} (scope {}{store})\n", done.scope);
    out.text(&escape(&text, true))?;
    Ok(Exit::Done)
}

fn text_of_stdin(what: &str) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| {
        CliError::new(
            Exit::Unreadable,
            format!("{what} is text in UTF-8, and standard input is not"),
        )
    })
}
