use std::path::PathBuf;

use crate::postgres::{Address, Keeper};
use prosescope_core::model::{AgentScope, Text};
use prosescope_core::pages::session::OneAgent;
use prosescope_core::pages::view::{AgentWritten, SegmentText};
use prosescope_core::record::render::text::escape;
use prosescope_core::record::{AddSegment, Record, Remember};

use super::unread;
use crate::args::record::{AgentArgs, AgentCommand, MemoryCommand, MemoryScope, SegmentCommand};
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::locate::{self, OnServer};
use crate::near;
use crate::out::{Out, say};
use crate::print::note;
use crate::record::{self, Recorder};

pub(super) fn run(command: AgentCommand, out: &Out) -> Result<Exit, CliError> {
    match command {
        AgentCommand::Memory(MemoryCommand::Get(args)) => get(&args, out),
        AgentCommand::Memory(MemoryCommand::Set(args)) => {
            let memory = text_of_stdin("a memory")?;
            let place = AgentStorePlace::of(&args)?;
            let command = Remember {
                agent: args.name,
                scope: place.scope.clone(),
                memory,
            };
            place.record(&command, out)
        }
        AgentCommand::Segment(SegmentCommand::Get { agent, number }) => {
            segment(&agent, number, out)
        }
        AgentCommand::Segment(SegmentCommand::Add { agent, prompt }) => {
            let summary = text_of_stdin("a segment")?;
            let place = AgentStorePlace::of(&agent)?;
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

/// The place where an agent of a scope is stored.
struct AgentStorePlace {
    scope: AgentScope,
    /// The scope under which reading commands find the agents of this place. If the home folder is the project, they
    /// read the agents of the user under the scope project.
    read_as: AgentScope,
    /// The store, if it is not the store of the run.
    beside: Option<AgentStore>,
    run: String,
}

/// A store of agents outside of a run.
enum AgentStore {
    /// A database, or a folder that contains `agents/`.
    Files(PathBuf),
    /// Rows in PostgreSQL.
    Server(Box<Address>, Keeper),
}

impl AgentStore {
    /// Returns the name of this store for messages.
    fn name(&self) -> String {
        match self {
            AgentStore::Files(path) => record::from_here(path),
            AgentStore::Server(address, _) => address.to_string(),
        }
    }
}

impl AgentStorePlace {
    fn of(args: &AgentArgs) -> Result<AgentStorePlace, CliError> {
        let run = args.run.name()?;
        if let Some(path) = &args.path {
            return Ok(AgentStorePlace {
                scope: AgentScope::Custom,
                read_as: AgentScope::Custom,
                beside: Some(AgentStore::Files(path.clone())),
                run,
            });
        }
        if let Some(found) = OnServer::named(&run)? {
            let scope = chosen(args, &found.agent(&args.name)?)?;
            let beside = match scope {
                AgentScope::Project => Some((found.address, locate::told_keeper()?)),
                AgentScope::User => Some(locate::users(&found.address)?),
                _ => None,
            };
            return Ok(AgentStorePlace {
                read_as: scope.clone(),
                scope,
                beside: beside
                    .map(|(address, keeper)| AgentStore::Server(Box::new(address), keeper)),
                run,
            });
        }
        let target = locate::for_writing(&run)?;
        let agent = locate::open_agent(&target, &args.name)?;
        let scope = chosen(args, &agent)?;
        // The agents are those of the run's project, which may differ from the project of the working directory.
        let project = match target.dir.ancestors().find(|dir| dir.ends_with(".prose")) {
            Some(dir) => dir.to_owned(),
            None => record::prose_dir()?,
        };
        let (dir, read_as) = match scope {
            AgentScope::Project => (Some(project), AgentScope::Project),
            AgentScope::User => {
                let home = locate::home().ok_or_else(|| {
                    CliError::not_found(
                        "agents of scope user are kept in the home directory, and no home directory is known",
                    )
                    .hint("set HOME")
                })?;
                let own = home.join(".prose");
                let read_as = if locate::is_same(&own, &project) {
                    AgentScope::Project
                } else {
                    AgentScope::User
                };
                (Some(own), read_as)
            }
            _ => (None, scope.clone()),
        };
        let home = agent.home(&read_as);
        // An agent stays in its store; a new agent is stored in the form of the run (errata A1).
        let database = home.map_or(target.database.is_some(), |home| home.database);
        let inside = |dir: PathBuf| if database { dir.join("agents.db") } else { dir };
        if let Some(dir) = dir.as_ref().filter(|_| home.is_some_and(|home| home.twice)) {
            let (base, files) = (dir.join("agents.db"), dir.join("agents").join(&args.name));
            let (used, other) = if database {
                (base, files)
            } else {
                (files, base)
            };
            let text = format!(
                "agent {} has another memory in {}, and this run uses only the memory in {}. Next: merge the two memories into one",
                args.name,
                record::from_here(&other),
                record::from_here(&used)
            );
            say(&note(&escape(&text, false)));
        }
        let beside = dir.map(inside).map(AgentStore::Files);
        Ok(AgentStorePlace {
            scope,
            read_as,
            beside,
            run,
        })
    }

    fn record<R: Record<Done = AgentWritten>>(
        &self,
        command: &R,
        out: &Out,
    ) -> Result<Exit, CliError> {
        let mut recorder = match &self.beside {
            None => Recorder::open(&self.run)?,
            Some(AgentStore::Files(path)) => Recorder::open_agents(path, self.scope.clone())?,
            Some(AgentStore::Server(address, keeper)) => {
                Recorder::open_agents_on_server(address, keeper.clone())?
            }
        };
        let mut done = recorder.record(command)?;
        done.store = self.beside.as_ref().map(AgentStore::name);
        // The answer contains no run for agents of the project and the user, because these agents outlast a run.
        let of_run = self.beside.is_none();
        done.run = of_run.then(|| recorder.run_id().to_owned());
        said(&done, out)
    }
}

/// Returns the scope of the command line, else the scope that the program declares.
fn chosen(args: &AgentArgs, agent: &OneAgent) -> Result<AgentScope, CliError> {
    // An unreadable store may contain the agent, so the command fails instead of choosing a wrong scope.
    unread::require_agent(agent)?;
    match args.scope {
        Some(MemoryScope::Execution) => Ok(AgentScope::Execution),
        Some(MemoryScope::Project) => Ok(AgentScope::Project),
        Some(MemoryScope::User) => Ok(AgentScope::User),
        None => declared(agent, &args.name),
    }
}

fn declared(agent: &OneAgent, name: &str) -> Result<AgentScope, CliError> {
    match agent.declared() {
        Some(AgentScope::Custom) => Err(CliError::usage(format!(
            "the program declares a path for agent {name}, and prosescope opens such a path only if the command line names it"
        ))
        .hint("name the path with --path PATH")),
        scope => Ok(scope.unwrap_or(AgentScope::Execution)),
    }
}

/// Returns the place of an agent, everything known of the agent, and the indexes of the agent's stores in
/// [`OneAgent::agents`].
fn kept(args: &AgentArgs) -> Result<(AgentStorePlace, OneAgent, Vec<usize>), CliError> {
    let place = AgentStorePlace::of(args)?;
    let agent = match (&place.scope, &place.beside) {
        // The store does not exist before the first session of the agent.
        (AgentScope::Custom, Some(AgentStore::Files(path))) if !path.exists() => {
            let message = format!(
                "agent {} has no memory: {} does not exist yet",
                args.name,
                path.display()
            );
            let hint = "`prosescope agent memory set` creates the memory";
            return Err(CliError::not_found(message).hint(hint));
        }
        (AgentScope::Custom, Some(AgentStore::Files(path))) => {
            OneAgent::of(locate::open(&path.to_string_lossy())?, &args.name)
        }
        _ => match OnServer::named(&args.run.name()?)? {
            Some(found) => found.agent(&args.name)?,
            None => locate::open_agent(&locate::for_writing(&args.run.name()?)?, &args.name)?,
        },
    };
    let found = match place.scope {
        AgentScope::Custom => (0..agent.agents().len()).collect(),
        // If two stores contain the agent, only the store that the run uses counts.
        _ => {
            let home = agent.home(&place.read_as);
            home.into_iter().map(|home| home.agent).collect()
        }
    };
    Ok((place, agent, found))
}

fn get(args: &AgentArgs, out: &Out) -> Result<Exit, CliError> {
    let (place, agent, found) = kept(args)?;
    let memory = |at: &usize| {
        let kept = agent.agents().get(*at);
        kept.is_some_and(|kept| kept.memory.len().is_some())
    };
    let Some(at) = found.into_iter().find(memory) else {
        let message = format!(
            "agent {} has no memory in scope {}",
            args.name,
            place.scope.word()
        );
        unread::require_agent(&agent)?;
        return Err(unknown(args, message));
    };
    if out.json {
        let value = agent.memory(at, Out::MOST_OF_A_VALUE)?;
        Out::say_cut(&value);
        out.json(&value)?;
        return Ok(Exit::Done);
    }
    let mut failed = None;
    agent.memory_pieces(at, &mut |piece| {
        let done = if out.terminal {
            out.text(&escape(&String::from_utf8_lossy(piece), true))
        } else {
            out.bytes(piece)
        };
        failed = done.err();
        failed.is_none()
    })?;
    failed.map_or(Ok(Exit::Done), Err)
}

fn segment(args: &AgentArgs, number: Option<i64>, out: &Out) -> Result<Exit, CliError> {
    let (place, agent, found) = kept(args)?;
    let scope = place.scope.word();
    for at in &found {
        let Some(segment) = agent.segment(*at, number)? else {
            continue;
        };
        if out.json {
            out.json(&SegmentText {
                agent: args.name.clone(),
                scope: scope.to_owned(),
                segment: segment.number,
                timestamp: segment.timestamp,
                prompt: segment.prompt.as_deref().map(str::to_owned),
                summary: segment.summary.as_deref().map(str::to_owned),
            })?;
            return Ok(Exit::Done);
        }
        let texts: Vec<Text> = [segment.prompt, segment.summary]
            .into_iter()
            .flatten()
            .collect();
        let text = texts.join("\n\n");
        if out.terminal {
            out.text(&escape(&text, true))?;
        } else {
            out.bytes(text.as_bytes())?;
        }
        return Ok(Exit::Done);
    }
    unread::require_agent(&agent)?;
    let name = &args.name;
    for at in &found {
        if let (Some(number), Some(last)) = (number, agent.segment(*at, None)?) {
            let message = format!("agent {name} has no segment {number} in scope {scope}");
            return Err(
                CliError::not_found(message).hint(format!("the last segment is {}", last.number))
            );
        }
    }
    Err(unknown(
        args,
        format!("agent {name} has no segments in scope {scope}"),
    ))
}

/// Returns the error for an unknown agent, with similar names among the agents of the run, the project and the user.
fn unknown(args: &AgentArgs, message: String) -> CliError {
    let error = CliError::not_found(message);
    let path = args.path.as_deref().map(std::path::Path::to_string_lossy);
    let opened = match path {
        Some(path) => locate::open(&path),
        None => args.run.name().and_then(|run| locate::open(&run)),
    };
    let error = match opened {
        Ok(session) => {
            let agents = session.run().agents.iter().map(|agent| &*agent.name);
            let others = agents.filter(|name| *name != args.name);
            error.hint(near::hint(&args.name, others, "agents"))
        }
        Err(_) => error,
    };
    error.hint("`prosescope agents RUN` lists the agents with their scopes")
}

fn said(done: &AgentWritten, out: &Out) -> Result<Exit, CliError> {
    let place = done.store.as_ref();
    let place = place.map_or(String::new(), |path| format!(", in {path}"));
    let what = match done.segment {
        Some(number) => format!("Segment written: {} {number:03}", done.agent),
        None => format!("Memory written: {}", done.agent),
    };
    let text = format!("{what} (scope {}{place})\n", done.scope);
    out.show(done, || escape(&text, true))
}

fn text_of_stdin(what: &str) -> Result<String, CliError> {
    String::from_utf8(input::standard()?).map_err(|_| {
        CliError::new(
            Exit::Unreadable,
            format!("{what} must be UTF-8 text, but standard input is not UTF-8"),
        )
    })
}
