//! Whether a place is fit to record runs in: facts that a shell gathers, judged without I/O.
//!
//! | file | judges |
//! |---|---|
//! | `tools.rs` | `sqlite3`, `psql`, our own SQLite |
//! | `names.rs` | programs called `prose`, the command's second name |
//! | `stores.rs` | journal mode, file system and schema of each run |
//! | `server.rs` | a PostgreSQL server |
//! | `mode.rs` | which state mode a program wants (the documents' decision tree) |
//! | `mounts.rs` | which file system a path lies on |

mod mode;
pub mod mounts;
mod names;
pub mod server;
mod stores;
mod tools;

use serde::{Deserialize, Serialize};

use crate::issue::Issue;

pub use names::{Named, Whose};

pub use mode::{Answer, ProgramFacts, Recommendation};

/// What a shell found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// The `sqlite3` program.
    pub sqlite3: Tool,
    /// The `psql` program.
    pub psql: Tool,
    /// The version of the SQLite that `prosescope` itself is built with.
    pub library: String,
    /// The programs called `prose` in PATH, in its order.
    pub second_names: Vec<Named>,
    /// Whether a PostgreSQL database is named, in `.prose/.env` or the environment.
    pub postgres_url: bool,
    /// What that database says, where it was asked.
    pub server: Option<server::ServerFacts>,
    /// What git would take up; `None` outside of a git repository, or without a `.prose`.
    pub git: Option<Git>,
    /// The file system that `.prose` lies on.
    pub file_system: Option<String>,
    /// The runs, and the agents' database.
    pub stores: Vec<StoreFacts>,
    /// The program that the recommendation is for.
    pub program: Option<ProgramFacts>,
}

/// A program that the documents call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Tool {
    /// It is not in PATH.
    #[default]
    Missing,
    /// It is, and this is the first line of what it says of its version.
    Says(String),
    /// It is, and does not start.
    Fails(String),
}

/// What git would take up of `.prose`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Git {
    /// Whether there is a `.prose/.env`.
    pub env_exists: bool,
    /// Whether `.prose/.env` is ignored.
    pub env_ignored: bool,
    /// Whether `.prose/runs` is ignored.
    pub runs_ignored: bool,
}

/// A run, or a database of agents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoreFacts {
    /// Its name: a run's folder, or `agents.db`.
    pub name: String,
    /// The file system that it lies on, where the system tells.
    pub file_system: Option<String>,
    /// Bytes of its files.
    pub bytes: u64,
    /// Whether the run has ended.
    pub ended: bool,
    /// Its database, where it has one.
    pub database: Option<DatabaseFacts>,
    /// What reading it found.
    pub issues: Vec<Issue>,
    /// Why it cannot be opened.
    pub error: Option<String>,
}

/// A database and what lies beside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DatabaseFacts {
    /// Whether its header says WAL.
    pub wal_mode: bool,
    /// Bytes of its `-wal`.
    pub wal: Option<u64>,
    /// Whether a `-shm` is there.
    pub shm: bool,
    /// Bytes of its `-journal`.
    pub journal: Option<u64>,
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// It works, and may cost something.
    Warning,
    /// Data may be lost, or is in the open.
    Error,
}

/// A check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Check {
    /// What was looked at: `prose`, `sqlite3`, `psql`, `sqlite`, `postgres`, `postgres-schema`, `postgres-role`,
    /// `postgres-orphans`, `git-env`, `git-runs`, `storage`, `wal`, `journal`, `schema`, `unreadable`, `stores`.
    pub name: String,
    /// How it came out.
    pub state: State,
    /// Which run or database, where it is about one.
    pub about: Option<String>,
    /// What was found, in a sentence.
    pub found: String,
    /// What to do; empty where there is nothing to do.
    pub next: String,
}

impl Check {
    fn new(name: &'static str, state: State, found: impl Into<String>) -> Check {
        Check {
            name: name.to_owned(),
            state,
            about: None,
            found: found.into(),
            next: String::new(),
        }
    }

    fn ok(name: &'static str, found: impl Into<String>) -> Check {
        Check::new(name, State::Ok, found)
    }

    fn warning(name: &'static str, found: impl Into<String>) -> Check {
        Check::new(name, State::Warning, found)
    }

    fn error(name: &'static str, found: impl Into<String>) -> Check {
        Check::new(name, State::Error, found)
    }

    fn about(mut self, what: &str) -> Check {
        self.about = Some(what.to_owned());
        self
    }

    fn next(mut self, what: impl Into<String>) -> Check {
        self.next = what.into();
        self
    }
}

/// What `prosescope doctor` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Checkup {
    /// The checks.
    pub checks: Vec<Check>,
    /// Which state mode, and why.
    pub mode: Recommendation,
}

/// Judges what was found.
pub fn judge(facts: &Facts) -> Checkup {
    let mut checks = vec![names::check(&facts.second_names)];
    checks.extend(tools::checks(facts));
    checks.extend(facts.server.iter().flat_map(server::checks));
    checks.extend(git(facts));
    checks.extend(stores::checks(facts));
    Checkup {
        checks,
        mode: mode::recommend(facts),
    }
}

fn git(facts: &Facts) -> Vec<Check> {
    let Some(git) = facts.git else {
        return Vec::new();
    };
    let env = match (git.env_ignored, git.env_exists) {
        (true, _) => Check::ok("git-env", "git ignores .prose/.env"),
        (false, true) => Check::error(
            "git-env",
            "git does not ignore .prose/.env, and it is there: what it holds may be committed",
        ),
        (false, false) => Check::warning("git-env", "git would not ignore a .prose/.env"),
    };
    let runs = match git.runs_ignored {
        true => Check::ok("git-runs", "git ignores .prose/runs"),
        false => Check::warning(
            "git-runs",
            "git does not ignore .prose/runs: what runs wrote, secrets too, may be committed",
        ),
    };
    let add = |check: Check, line: &str| match check.state {
        State::Ok => check,
        _ => check.next(format!(
            "add the line {line} to the .gitignore beside .prose"
        )),
    };
    vec![add(env, ".prose/.env"), add(runs, ".prose/runs/")]
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(in crate::upkeep::doctor) fn said(checks: &[Check]) -> Vec<(&str, State)> {
        checks
            .iter()
            .map(|check| (check.name.as_str(), check.state))
            .collect()
    }

    #[test]
    fn a_secret_in_the_open_is_an_error_and_one_to_come_a_warning() {
        use State::{Error, Ok, Warning};
        for (env_exists, env_ignored, runs_ignored, expected) in [
            (true, true, true, [Ok, Ok]),
            (true, false, false, [Error, Warning]),
            (false, false, true, [Warning, Ok]),
        ] {
            let facts = Facts {
                git: Some(Git {
                    env_exists,
                    env_ignored,
                    runs_ignored,
                }),
                ..Facts::default()
            };
            let states: Vec<State> = git(&facts).iter().map(|check| check.state).collect();
            assert_eq!(states, expected);
        }
        assert_eq!(git(&Facts::default()), []);
    }
}
