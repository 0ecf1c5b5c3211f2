//! Adds the agents of the project and of the user to a session. Their stores are outside of the run's folder.

use std::rc::Rc;
use std::sync::Arc;

use super::survey::{join, split};
use super::unread::unread;
use super::values::{NamedDatabase, Values};
use super::{OpenError, Options, Session};
use crate::model::database::Database;
use crate::model::issue::Issue;
use crate::model::source::{Source, SourceError};
use crate::model::{Agent, AgentScope, Form, Run};
use crate::program::Listing;
use crate::read::decode::{dotenv, folder, rows};

/// A `.prose` folder whose agents a run may use.
pub struct AgentFolder {
    /// The scope of the agents: [`AgentScope::Project`] or [`AgentScope::User`].
    pub scope: AgentScope,
    /// The source that contains the folder.
    pub source: Rc<dyn Source>,
    /// The folder's path inside that source, ending in `/`; empty if the source is the folder itself.
    pub prefix: String,
}

/// The decoded run with the reader of its values, while the session is being built.
pub(super) struct Parts {
    pub(super) run: Run,
    pub(super) values: Values,
    pub(super) other_runs: Vec<String>,
}

impl Parts {
    pub(super) fn new(
        run: Run,
        source: Rc<dyn Source>,
        root: String,
        db: Option<NamedDatabase>,
    ) -> Parts {
        Parts {
            run,
            values: Values::new(source, root, db),
            other_runs: Vec::new(),
        }
    }

    /// Splits a session into the decoded parts and the program.
    pub(super) fn of(session: Session) -> (Parts, Option<Listing>) {
        let Session { opened, values } = session;
        let parts = Parts {
            run: opened.run,
            values,
            other_runs: opened.other_runs,
        };
        (parts, opened.listing)
    }

    /// Adds the agents of the project and the user, and issues of the project's settings (`.env`). Both are read from
    /// the `.prose` folder around the run and from the folders in `options.around`. With `only`, just the agents of
    /// that name are added, without their segments and without issues of settings.
    pub(super) fn around(&mut self, options: &Options, only: Option<&str>) {
        let (source, root) = (Rc::clone(&self.values.source), &self.values.root);
        if only.is_none() && !root.is_empty() {
            let runs = join(split(root.trim_end_matches('/')).0, "");
            folder::of_chat(source.as_ref(), &runs, &mut self.run);
        }
        if let Some(prefix) = prose_folder(&self.values.root) {
            let own = AgentFolder {
                scope: AgentScope::Project,
                source: Rc::clone(&self.values.source),
                prefix,
            };
            self.add(&own, options, only);
        }
        for around in &options.around {
            self.add(around, options, only);
        }
    }

    fn add(&mut self, around: &AgentFolder, options: &Options, only: Option<&str>) {
        let (source, word) = (around.source.as_ref(), around.scope.word());
        let before = self.run.agents.len();
        let path = format!("{}agents.db", around.prefix);
        if self.run.form != Form::Agents && source.file(&path).is_some() {
            let name = Arc::from(format!("{word}: {path}"));
            match agents_of_database(source, &path, &name, options, only) {
                Ok((found, db)) => {
                    let agents = found.agents.into_iter().map(|agent| Agent {
                        // The scope of an agent follows from its store, not from its row (errata A1).
                        scope: around.scope.clone(),
                        store: Arc::clone(&name),
                        ..agent
                    });
                    self.run.agents.extend(agents);
                    // Keeps only issues about data that could not be read. Other issues are reported when the store
                    // itself is opened.
                    let issues = found.issues.into_iter().map(|issue| issue.at_file(&*path));
                    let unread = issues.filter(|issue| unread(issue).is_some());
                    self.run.issues.extend(unread);
                    self.values.agent_stores.push(NamedDatabase { name, db });
                }
                Err(error) => self.run.issues.push(
                    Issue::warning(error.rule("agents-unreadable"), error.to_string())
                        .at_file(path)
                        .hint("The agents in this file are not shown."),
                ),
            }
        }
        self.run.issues.extend(agents_not_listed(around));
        let of_database = self.run.agents.len().saturating_sub(before);
        let dir = format!("{}agents/", around.prefix);
        let scope = around.scope.clone();
        let (agents, issues) = match only {
            None => folder::agents(source, &dir, scope),
            Some(name) => {
                let agent = folder::agent_named(source, &dir, scope, name);
                (agent.into_iter().collect(), Vec::new())
            }
        };
        for mut agent in agents {
            // Two sources may have folders of the same name, so the scope makes the store's name unique.
            agent.store = format!("{word}: {}", agent.store).into();
            let folder = (Arc::clone(&agent.store), Rc::clone(&around.source));
            self.values.folders.push(folder);
            self.run.agents.push(agent);
        }
        // Of two agents with the same name and scope, the run uses the first. A run in files must use the agent in
        // files, so the agents of the database move to the end.
        if self.values.db.is_none()
            && let Some(added) = self.run.agents.get_mut(before..)
        {
            added.rotate_left(of_database.min(added.len()));
        }
        self.run.issues.extend(issues);
        if only.is_none() && around.scope == AgentScope::Project {
            let runs = format!("{}runs/", around.prefix);
            folder::of_chat(source, &runs, &mut self.run);
        }
        let env = format!("{}.env", around.prefix);
        if only.is_none()
            && around.scope == AgentScope::Project
            && source.file(&env).is_some()
            && let Ok(bytes) = source.read(&env, 0, 64 << 10)
        {
            let issues = dotenv::unreadable(&String::from_utf8_lossy(&bytes));
            let issues = issues.into_iter().map(|issue| issue.at_file(&*env));
            self.run.issues.extend(issues);
        }
    }
}

fn agents_of_database(
    source: &dyn Source,
    path: &str,
    name: &str,
    options: &Options,
    only: Option<&str>,
) -> Result<(Run, Box<dyn Database>), OpenError> {
    let db = source.database(path, &options.limits)?;
    let found = match only {
        None => rows::decode(db.as_ref(), name, None).map(|decoded| decoded.run),
        Some(agent) => rows::agents_named(db.as_ref(), name, "", agent),
    };
    let found = found.map_err(|error| SourceError::of_database(path, &error))?;
    Ok((found, db))
}

/// Returns issues about agents' folders whose files could not be listed.
pub(super) fn agents_not_listed(around: &AgentFolder) -> impl Iterator<Item = Issue> {
    let above = around.prefix.trim_end_matches('/').to_owned();
    let agents = format!("{}agents", around.prefix);
    around
        .source
        .listed()
        .into_iter()
        .filter(move |issue| {
            let place = issue.location.file.as_deref().unwrap_or_default();
            let listing = matches!(issue.rule.as_str(), "unreadable-folder" | "file-unreadable");
            listing && (place == above || place.starts_with(&agents))
        })
        .map(|issue| issue.at_file("../agents"))
}

/// Returns the path of the `.prose` folder around a run folder: the part before `runs/`. `None` if `root` has no
/// `runs/`.
fn prose_folder(root: &str) -> Option<String> {
    let at = if root.starts_with("runs/") {
        0
    } else {
        root.find("/runs/")? + 1
    };
    root.get(..at).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::prose_folder;
    use crate::pages::session::pages::overview;
    use crate::pages::session::{Options, Session};
    use crate::read::sqlite::MemorySource;

    /// The list of chats is beside the runs, in any source that contains the runs' folder.
    #[test]
    fn a_run_that_a_list_of_chats_names_is_of_openclaw_prose() {
        let chat = "chat agent:main:web".to_owned();
        let openclaw = "written by openclaw-prose, in the form of OpenProse 0.5 to 0.8".to_owned();
        let newer = "written by OpenProse 0.11".to_owned();
        let of_chat = vec![openclaw, chat];
        let new = r#"{"agent:main:web": "r1", "n": 1}"#;
        for (place, also, chats, told) in [
            (".prose/runs/r1", "program.prose", new, &of_chat),
            (
                "runs/r1",
                "program.prose",
                r#"{"r1": "agent:main:web"}"#,
                &of_chat,
            ),
            ("r1", "program.prose", new, &of_chat),
            (
                "runs/r1",
                "program.prose",
                r#"{"agent:main:web": "r2"}"#,
                &vec![],
            ),
            ("runs/r1", "program.prose", "not JSON", &vec![]),
            ("runs/r1", "manifest.run.md", new, &vec![newer]),
        ] {
            let runs = place.trim_end_matches("r1");
            let text = "session \"A\"\n";
            let files = [
                (format!("{place}/{also}"), text),
                (format!("{place}/state.md"), "# run:r1 p.prose\n1→ a ✓\n"),
                (format!("{runs}sessions.json"), chats),
            ];
            let files = files.map(|(path, text)| (path, text.as_bytes().to_vec()));
            let source = Rc::new(MemorySource::new("a drop", files));
            let session = Session::open(source, place, &Options::default()).unwrap();
            let facts = overview(&session, None).facts.into_iter();
            let facts: Vec<String> = facts.map(|(key, value)| format!("{key} {value}")).collect();
            assert_eq!(&facts, told, "{place}, {also}, {chats}");
        }
    }

    #[test]
    fn finds_the_prose_folder_above_a_run() {
        for (root, prose) in [
            ("runs/a/", Some("")),
            (".prose/runs/a/", Some(".prose/")),
            ("x/.prose/runs/a/imports/r--b/", Some("x/.prose/")),
            ("a/", None),
            ("", None),
        ] {
            assert_eq!(prose_folder(root).as_deref(), prose, "{root}");
        }
    }
}
