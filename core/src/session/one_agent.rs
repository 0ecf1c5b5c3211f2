//! One agent by its name, without reading the run around it: what `prose agent` asks for.
//!
//! Two things of a run say where an agent's memory is: its program, which declares the scope, and the store of that
//! scope. An agent is written to after each of its invocations; a run has any number of those, and of other rows. Where
//! that is not enough (no program, a table of another shape, damage) the run is opened as a whole.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::open::{OpenError, agents_not_listed, files_first, prose_folder};
use super::survey::{join, split};
use super::unread::unread;
use super::values::{Table, unreadable};
use super::{Around, NodeIndex, Options, Session, Store};
use crate::decode::{folder, rows};
use crate::model::{Agent, AgentScope, Run, Segment, Text};
use crate::program;
use crate::source::{Source, SourceError};
use crate::trace::Trace;

impl Session {
    /// Opens of a run what is known of one agent: the program, and the agents of that name in all scopes, without
    /// segments. All else of the session is empty, or that of the whole run.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn open_agent(
        source: Rc<dyn Source>,
        place: &str,
        options: &Options,
        name: &str,
    ) -> Result<Session, OpenError> {
        match narrow(&source, place, options, name) {
            Some(session) => Ok(session),
            None => Session::open(source, place, options),
        }
    }
}

impl Session {
    /// An invocation of an agent, whole, however long: the one of this number, else the last. The agent is named by its
    /// index.
    ///
    /// # Errors
    /// When its store cannot give it.
    pub fn segment(&self, agent: u32, number: Option<i64>) -> Result<Option<Segment>, SourceError> {
        let Some(agent) = self.run.agents.get(agent as usize) else {
            return Ok(None);
        };
        if let Some(store) = Table::Agents(Text::clone(&agent.store)).store(self) {
            return rows::segment(store.db.as_ref(), &store.name, &agent.name, number)
                .map_err(|error| unreadable(store, &error));
        }
        let around = self.folders.iter().find(|(name, _)| *name == agent.store);
        let (source, dir) = match around {
            // Such a name begins with the scope.
            Some((name, source)) => {
                let dir = name.split_once(": ").map_or(&**name, |(_, dir)| dir);
                (source, dir.to_owned())
            }
            None => (&self.source, format!("{}{}", self.root, agent.store)),
        };
        folder::segment(source.as_ref(), &dir, &agent.name, number)
    }
}

/// The short way. `None` where it does not lead there: the long way then says why, too.
fn narrow(source: &Rc<dyn Source>, place: &str, options: &Options, name: &str) -> Option<Session> {
    // A name with a slash in it names no folder.
    if options.run_id.is_some() || name.contains('/') {
        return None;
    }
    let whole = |source: &Rc<dyn Source>, prefix: &str| {
        let around = Around {
            scope: AgentScope::Project,
            source: Rc::clone(source),
            prefix: prefix.to_owned(),
        };
        agents_not_listed(&around).next().is_none()
    };
    let place = place.trim_end_matches('/');
    let own = prose_folder(&join(place, "")).unwrap_or_else(|| join(place, ""));
    if !whole(source, &own)
        || !whole(source, &join(place, ""))
        || !options.around.iter().all(|a| whole(&a.source, &a.prefix))
    {
        return None;
    }
    let listed = |path: &str| source.file(path).is_some();
    let path = match listed(place) {
        true => place.to_owned(),
        false => join(place, "state.db"),
    };
    let (mut run, root, db) = if listed(&path) {
        let (dir, file) = split(&path);
        let store = store(source.as_ref(), &path, file, options)?;
        let run = rows::agents_named(store.db.as_ref(), file, name).ok()?;
        (run, join(dir, ""), Some(store))
    } else {
        let mut run = Run::default();
        let root = join(place, "");
        let dir = format!("{root}agents/");
        let own = folder::agent_named(source.as_ref(), &dir, AgentScope::Execution, name);
        run.agents.extend(own.map(|agent| Agent {
            store: format!("agents/{name}/").into(),
            ..agent
        }));
        (run, root, None)
    };
    if run.program.source.is_none() {
        let named = run.program.path.clone();
        run.program = folder::program_of(source.as_ref(), &root, named.as_deref()).0;
    }
    let listing = run.program.source.as_deref().map(program::scan)?;
    let mut session = Session {
        now: None,
        source: Rc::clone(source),
        place: place.to_owned(),
        called: options.called.clone(),
        root,
        db,
        agent_stores: Vec::new(),
        folders: Vec::new(),
        recorded_gates: 0,
        run,
        listing: Some(listing),
        trace: Trace::default(),
        index: NodeIndex::default(),
        other_runs: Vec::new(),
        earlier: BTreeMap::new(),
        lost: RefCell::default(),
    };
    if let Some(prefix) = prose_folder(&session.root) {
        let own = Around {
            scope: AgentScope::Project,
            source: Rc::clone(source),
            prefix,
        };
        session.add_agent(&own, options, name)?;
    }
    for around in &options.around {
        session.add_agent(around, options, name)?;
    }
    Some(session)
}

impl Session {
    /// Adds the agent of that name of a wider scope, named as [`Session::open`] names it.
    fn add_agent(&mut self, around: &Around, options: &Options, name: &str) -> Option<()> {
        let source = around.source.as_ref();
        let word = around.scope.word();
        let before = self.run.agents.len();
        let path = format!("{}agents.db", around.prefix);
        if source.file(&path).is_some() {
            let store = store(source, &path, &format!("{word}: {path}"), options)?;
            let found = rows::agents_named(store.db.as_ref(), &store.name, name).ok()?;
            if found.issues.iter().any(|issue| unread(issue).is_some()) {
                return None;
            }
            for mut agent in found.agents {
                // The store decides how far an agent reaches (errata A1), whatever its row says.
                agent.scope = around.scope.clone();
                self.run.agents.push(agent);
            }
            self.agent_stores.push(store);
        }
        let of_database = self.run.agents.len().saturating_sub(before);
        let dir = format!("{}agents/", around.prefix);
        if let Some(mut agent) = folder::agent_named(source, &dir, around.scope.clone(), name) {
            agent.store = format!("{word}: {}", agent.store).into();
            let at = (agent.store.clone(), Rc::clone(&around.source));
            self.folders.push(at);
            self.run.agents.push(agent);
        }
        if self.db.is_none() {
            files_first(&mut self.run.agents, before, of_database);
        }
        Some(())
    }
}

fn store(source: &dyn Source, path: &str, name: &str, options: &Options) -> Option<Store> {
    let db = source.database(path, &options.limits).ok()?;
    let name = name.into();
    Some(Store { name, db })
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::schema::{AGENTS_SQL, STATE_SQL};
    use crate::session::ValueOf;
    use crate::sqlite::MemorySource;

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

    /// Memories of an agent with their scopes and stores.
    fn memories(session: &Session, name: &str) -> Vec<(String, String, String)> {
        let agents = session.run().agents.iter().enumerate();
        agents
            .filter(|(_, agent)| *agent.name == *name && agent.memory.len().is_some())
            .map(|(at, agent)| {
                let value = session.value(&ValueOf::Memory(at as u32), 1000).unwrap();
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
                around: vec![Around {
                    scope: AgentScope::User,
                    source: users,
                    prefix: String::new(),
                }],
                ..Options::default()
            };
            let whole = Session::open(Rc::clone(&form), "runs/r", &options).unwrap();
            let narrow = narrow(&form, "runs/r", &options, "captain").unwrap();
            let found = memories(&narrow, "captain");
            assert_eq!(found, memories(&whole, "captain"));
            assert_eq!(found.len(), 4);
            let scope = |session: &Session| session.listing().unwrap().agent_scope("captain");
            assert_eq!(scope(&narrow), Some(AgentScope::Project));
            // Nothing else was read, however much there is.
            let run = narrow.run();
            assert_eq!((run.executions.len(), run.bindings.len()), (0, 0));
            assert!(run.agents.iter().all(|agent| agent.segments.is_empty()));
            assert!(!whole.run().bindings.is_empty() && own != whole.run().executions.is_empty());
        }
    }

    /// Rows as any tool may have written them: in no order, with one number twice, as bytes, of an agent without a row.
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
            let session = Session::open_agent(source, "runs/r", &Options::default(), "captain");
            let session = session.unwrap();
            let segment = |number| {
                let found = session.segment(0, number).unwrap()?;
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
        let session = Session::open_agent(without, "runs/r", &options, "captain").unwrap();
        assert_eq!(memories(&session, "captain").len(), 1);
        let damaged = source(vec![
            memory,
            ("runs/r/state.db", b"SQLite format 3".to_vec()),
        ]);
        assert!(narrow(&damaged, "runs/r", &options, "captain").is_none());
    }
}
