//! Finds one agent by its name without reading the whole run, for `prosescope agent`.
//!
//! Two parts of a run determine where an agent's memory is: the program, which declares the scope, and the store of
//! that scope. Only these are read, because the command runs after each invocation of an agent, and a run may have many
//! other rows. If these parts are not enough (no program, an unusual table, damage), the whole run is opened.

use std::rc::Rc;

use super::around::{AgentFolder, Parts, agents_not_listed};
use super::lookup::program_of;
use super::summary::folder_name;
use super::survey::{database_of, join, split};
use super::unread::{unread, unread_of};
use super::values::{NamedDatabase, ValuePlace};
use super::{OpenError, Options, Session};
use crate::model::source::{Source, SourceError};
use crate::model::{Agent, AgentScope, Run, Segment, Text};
use crate::pages::view::{Unread, ValueView};
use crate::program::Listing;
use crate::read::decode::{folder, rows};

/// One agent of a run: its declaration in the program, and the agents with its name in all scopes.
pub struct OneAgent {
    name: String,
    parts: Parts,
    listing: Option<Listing>,
}

/// The store that the run uses for an agent of one scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentHome {
    /// Index into [`OneAgent::agents`].
    pub agent: usize,
    /// Whether the agent's store is an `agents.db`; otherwise the store is a folder `agents/`.
    pub database: bool,
    /// Whether another store of this scope also has an agent of this name. The run does not use that agent.
    pub twice: bool,
}

impl OneAgent {
    /// Reads the program, and the agents with this name in all scopes, without their segments.
    ///
    /// # Errors
    /// The errors of [`Session::open`].
    pub fn open(
        source: Rc<dyn Source>,
        place: &str,
        options: &Options,
        name: &str,
    ) -> Result<OneAgent, OpenError> {
        match narrow(&source, place, options, name) {
            Some(found) => Ok(found),
            None => Ok(OneAgent::of(Session::open(source, place, options)?, name)),
        }
    }

    /// Takes the agents of a name from a run that was opened as a whole.
    pub fn of(session: Session, name: &str) -> OneAgent {
        let (mut parts, listing) = Parts::of(session);
        parts.run.agents.retain(|agent| *agent.name == *name);
        OneAgent {
            name: name.to_owned(),
            parts,
            listing,
        }
    }

    /// Returns the id of the run in which the agent was looked up.
    pub fn run(&self) -> &Text {
        &self.parts.run.id
    }

    /// Returns the agents of the name, one for each store.
    pub fn agents(&self) -> &[Agent] {
        &self.parts.run.agents
    }

    /// Returns the scope that the program declares for the agent; `None` without a declaration.
    pub fn declared(&self) -> Option<AgentScope> {
        self.listing.as_ref()?.agent_scope(&self.name)
    }

    /// Returns the store of a scope that has the agent; `None` if none does. If both an `agents.db` and a folder have
    /// the agent, the run uses the store of the run's own form.
    pub fn home(&self, scope: &AgentScope) -> Option<AgentHome> {
        let agents = self.agents().iter().enumerate();
        let mut held = agents.filter(|(_, agent)| agent.scope == *scope);
        let (at, used) = held.next()?;
        let mut databases = self.parts.values.agent_stores.iter();
        Some(AgentHome {
            agent: at,
            database: databases.any(|store| store.name == used.store),
            twice: held.next().is_some(),
        })
    }

    /// Returns the memory of one of the agents, up to `most` bytes.
    ///
    /// # Errors
    /// An error if the agent does not exist, or its store cannot be read.
    pub fn memory(&self, agent: usize, most: usize) -> Result<ValueView, SourceError> {
        self.parts.values.view(&self.place(agent)?, most)
    }

    /// Passes the whole memory of one of the agents to `each`, in pieces. `each` stops the reading by returning
    /// `false`.
    ///
    /// # Errors
    /// The errors of [`OneAgent::memory`].
    pub fn memory_pieces(
        &self,
        agent: usize,
        each: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), SourceError> {
        self.parts.values.pieces(&self.place(agent)?, each)
    }

    /// Returns an invocation of one of the agents, like [`Session::segment`].
    ///
    /// # Errors
    /// An error if the store cannot be read.
    pub fn segment(
        &self,
        agent: usize,
        number: Option<i64>,
    ) -> Result<Option<Segment>, SourceError> {
        match self.agents().get(agent) {
            Some(agent) => self.parts.values.segment(agent, number),
            None => Ok(None),
        }
    }

    /// Returns the parts of the run that were needed for the agent and could not be read.
    pub fn unread(&self) -> Vec<Unread> {
        unread_of(&self.parts.run, &self.parts.values)
    }

    fn place(&self, agent: usize) -> Result<ValuePlace, SourceError> {
        let none = || SourceError::NotFound(format!("agent {agent}"));
        let agent = self.agents().get(agent).ok_or_else(none)?;
        Ok(self.parts.values.of_memory(agent))
    }
}

/// Finds the agent without opening the run. `None` if that fails; opening the run then gives the reason.
fn narrow(source: &Rc<dyn Source>, place: &str, options: &Options, name: &str) -> Option<OneAgent> {
    // An agent whose name contains a slash cannot have a folder.
    if options.run_id.is_some() || name.contains('/') {
        return None;
    }
    let own = AgentFolder {
        scope: AgentScope::Execution,
        source: Rc::clone(source),
        prefix: join(place.trim_end_matches('/'), ""),
    };
    if agents_not_listed(&own).next().is_some() {
        return None;
    }
    let mut parts = match database_of(source.as_ref(), place) {
        Some(path) => {
            let db = source.database(&path, &options.limits).ok()?;
            let (dir, file) = split(&path);
            let folder = folder_name(source.as_ref(), dir);
            let run = rows::agents_named(db.as_ref(), file, &folder, name).ok()?;
            let store = NamedDatabase {
                name: file.into(),
                db,
            };
            Parts::new(run, Rc::clone(source), join(dir, ""), Some(store))
        }
        None => {
            let mut run = Run::default();
            let dir = format!("{}agents/", own.prefix);
            let agent = folder::agent_named(source.as_ref(), &dir, AgentScope::Execution, name);
            run.agents.extend(agent.map(|agent| Agent {
                store: format!("agents/{name}/").into(),
                ..agent
            }));
            Parts::new(run, Rc::clone(source), own.prefix, None)
        }
    };
    let listing = program_of(source.as_ref(), &parts.values.root, &mut parts.run)?;
    let before = parts.run.issues.len();
    parts.around(options, Some(name));
    let mut met = parts.run.issues.iter().skip(before);
    if met.any(|issue| unread(issue).is_some()) {
        return None;
    }
    Some(OneAgent {
        name: name.to_owned(),
        parts,
        listing: Some(listing),
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::model::schema::{AGENTS_SQL, STATE_SQL};
    use crate::read::sqlite::MemorySource;

    const PROGRAM: &str = "agent captain:\n  persist: project\nsession \"A\"\n";

    fn database(sql: &str) -> Vec<u8> {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(sql).unwrap();
        conn.serialize("main").unwrap().to_vec()
    }

    fn source(files: Vec<(&str, Vec<u8>)>) -> Rc<dyn Source> {
        let files = files
            .into_iter()
            .map(|(path, bytes)| (path.to_owned(), bytes));
        Rc::new(MemorySource::new("test", files.collect::<Vec<_>>()))
    }

    /// Returns the scope, store and memory of each agent that has a memory.
    fn memories(one: &OneAgent) -> Vec<(String, String, String)> {
        let agents = one.agents().iter().enumerate();
        agents
            .filter(|(_, agent)| agent.memory.len().is_some())
            .map(|(at, agent)| {
                let value = one.memory(at, 1000).unwrap();
                let scope = agent.scope.word().to_owned();
                (scope, agent.store.to_string(), value.text)
            })
            .collect()
    }

    #[test]
    fn an_agent_is_what_it_is_in_the_whole_run() {
        let agents = |text: &str| {
            format!(
                "{AGENTS_SQL}INSERT INTO agents (name, scope, memory) VALUES ('captain', 'execution', '{text}');"
            )
        };
        let rows = format!(
            "{STATE_SQL}INSERT INTO run (id, program_source) VALUES ('r', '{PROGRAM}');
             INSERT INTO execution (statement_text, status) VALUES ('session \"A\"', 'executing');
             INSERT INTO bindings (name, value) VALUES ('a', 'x');
             INSERT INTO agents (name, scope, memory) VALUES ('captain', 'execution', 'of the run'), ('mate', 'execution', 'm');
             INSERT INTO agent_segments (agent_name, segment_number, summary) VALUES ('captain', 1, 's');"
        );
        let text = |text: &str| text.as_bytes().to_vec();
        let form = |state: Vec<(&'static str, Vec<u8>)>| {
            let around = vec![
                ("agents.db", database(&agents("of the project"))),
                ("agents/captain/memory.md", text("in a folder")),
                ("agents/captain/captain-001.md", text("# Segment 001\n")),
            ];
            source([state, around].concat())
        };
        for (form, own) in [
            (form(vec![("runs/r/state.db", database(&rows))]), true),
            (
                form(vec![
                    ("runs/r/program.prose", text(PROGRAM)),
                    ("runs/r/state.md", text("# Execution State\n\nrun: r\n")),
                    (
                        "runs/r/bindings/a.md",
                        text("# a\n\nkind: let\n\n---\n\nx\n"),
                    ),
                    ("runs/r/agents/captain/memory.md", text("of the run")),
                    (
                        "runs/r/agents/captain/captain-001.md",
                        text("# Segment 001\n"),
                    ),
                ]),
                false,
            ),
        ] {
            let users = source(vec![("agents.db", database(&agents("of the user")))]);
            let options = Options {
                around: vec![AgentFolder {
                    scope: AgentScope::User,
                    source: users,
                    prefix: String::new(),
                }],
                ..Options::default()
            };
            let whole = Session::open(Rc::clone(&form), "runs/r", &options).unwrap();
            let narrow = narrow(&form, "runs/r", &options, "captain").unwrap();
            assert!(!whole.run().bindings.is_empty() && own != whole.run().executions.is_empty());
            let found = memories(&narrow);
            assert_eq!(found, memories(&OneAgent::of(whole, "captain")));
            assert_eq!(found.len(), 4);
            assert_eq!(narrow.declared(), Some(AgentScope::Project));
            // The lookup did not read executions, bindings and segments.
            let run = &narrow.parts.run;
            assert_eq!((run.executions.len(), run.bindings.len()), (0, 0));
            assert!(run.agents.iter().all(|agent| agent.segments.is_empty()));
        }
    }

    /// Other tools may write segments out of order, with a repeated number, as bytes, or for an agent without a row.
    #[test]
    fn a_segment_is_read_whole_whatever_its_row_looks_like() {
        let long = "x".repeat(100_000);
        for encoding in ["", "PRAGMA encoding = 'UTF-16'; "] {
            let rows = format!(
                "{encoding}{STATE_SQL}INSERT INTO run (id, program_source) VALUES ('r', '{PROGRAM}');
                 DROP TABLE agent_segments;
                 CREATE TABLE agent_segments (agent_name TEXT, segment_number INTEGER, timestamp TEXT, prompt TEXT, summary TEXT);
                 INSERT INTO agent_segments (agent_name, segment_number, prompt, summary) VALUES
                   ('captain', 2, 'p2', 'first of two'), ('mate', 9, 'p', 's'), ('captain', 2, NULL, 'é {long}'),
                   ('captain', 1, '', x'6279746573');"
            );
            let source = source(vec![("runs/r/state.db", database(&rows))]);
            let one = OneAgent::open(source, "runs/r", &Options::default(), "captain").unwrap();
            let segment = |number| {
                let found = one.segment(0, number).unwrap()?;
                let text = |text: Option<Text>| text.map(|text| text.to_string());
                Some((found.number, text(found.prompt), text(found.summary)))
            };
            let last = (2, None, Some(format!("é {long}")));
            assert_eq!(segment(None), Some(last.clone()));
            assert_eq!(segment(Some(2)), Some(last));
            let first = (1, Some(String::new()), Some("bytes".to_owned()));
            assert_eq!(segment(Some(1)), Some(first));
            assert_eq!(segment(Some(3)), None);
        }
    }

    #[test]
    fn where_the_short_way_ends_the_run_is_opened_whole() {
        let memory = ("runs/r/agents/captain/memory.md", b"mine".to_vec());
        let without = source(vec![memory.clone()]);
        let options = Options::default();
        assert!(narrow(&without, "runs/r", &options, "captain").is_none());
        let one = OneAgent::open(without, "runs/r", &options, "captain").unwrap();
        assert_eq!(memories(&one).len(), 1);
        let damaged = source(vec![
            memory,
            ("runs/r/state.db", b"SQLite format 3".to_vec()),
        ]);
        assert!(narrow(&damaged, "runs/r", &options, "captain").is_none());
    }
}
