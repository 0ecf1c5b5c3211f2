//! Judges whether a directory is ready for recording. The caller gathers the facts; this module does no I/O.
//!
//! | file | judges |
//! |---|---|
//! | `tools.rs` | `sqlite3`, `psql`, the built-in SQLite |
//! | `stores.rs` | journal mode and schema of each run |
//! | `server.rs` | a PostgreSQL server |

pub mod server;
mod stores;
mod tools;

use serde::{Deserialize, Serialize};

use crate::model::issue::Issue;

/// The facts about a directory and its machine that the caller gathered for [`judge`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DoctorFacts {
    /// The `sqlite3` program.
    pub sqlite3: Tool,
    /// The `psql` program.
    pub psql: Tool,
    /// The version of the SQLite that is built into `prosescope`.
    pub library: String,
    /// Whether `.prose/.env` or the environment contains the address of a PostgreSQL database.
    pub postgres_url: bool,
    /// The facts about the PostgreSQL server; `None` if the server was not queried.
    pub server: Option<server::ServerFacts>,
    /// Which files of `.prose` git ignores; `None` outside a git repository, or without a `.prose`.
    pub git: Option<Git>,
    /// The facts about each run's store, and about the agents' database.
    pub stores: Vec<StoreFacts>,
}

/// A program that OpenProse calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Tool {
    /// The program is not in PATH.
    #[default]
    Missing,
    /// The program starts. The text is the first line of the program's version output.
    Says(String),
    /// The program is in PATH but does not start. The text is the reason.
    Fails(String),
}

/// Which files of `.prose` git ignores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Git {
    /// Whether `.prose/.env` exists.
    pub env_exists: bool,
    /// Whether git ignores `.prose/.env`.
    pub env_ignored: bool,
    /// Whether git ignores `.prose/runs`.
    pub runs_ignored: bool,
}

/// The facts about a run's store, or about a database of agents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoreFacts {
    /// The store's name: a run's folder, or `agents.db`.
    pub name: String,
    /// Whether the run has ended.
    pub ended: bool,
    /// The facts about the store's database, if it has one.
    pub database: Option<DatabaseFacts>,
    /// Issues found by reading the store.
    pub issues: Vec<Issue>,
    /// The reason why the database cannot be opened; `None` if it can.
    pub error: Option<String>,
}

/// A database and the files beside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DatabaseFacts {
    /// Whether the database's header sets WAL mode.
    pub wal_mode: bool,
    /// The size of the `-wal` file beside the database in bytes; `None` without such a file.
    pub wal: Option<u64>,
    /// Whether a `-shm` file exists beside the database.
    pub shm: bool,
    /// The size of the `-journal` file beside the database in bytes; `None` without such a file.
    pub journal: Option<u64>,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum CheckResult {
    /// The checked item works as it should.
    Ok,
    /// The checked item works, with a risk or a cost.
    Warning,
    /// The checked item has a fault by which data may be lost or secrets are exposed.
    Error,
}

/// One check and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DoctorCheck {
    /// The subject: `sqlite3`, `psql`, `sqlite`, `postgres`, `postgres-schema`, `postgres-role`,
    /// `postgres-orphans`, `git-env`, `git-runs`, `wal`, `journal`, `schema`, `unreadable`, `stores`.
    pub name: String,
    /// The result.
    pub state: CheckResult,
    /// The run or database that was checked, if the check is about one.
    pub about: Option<String>,
    /// The finding, in a sentence.
    pub found: String,
    /// The advice on what to do next; empty if none is needed.
    pub next: String,
}

impl DoctorCheck {
    fn new(name: &'static str, state: CheckResult, found: impl Into<String>) -> DoctorCheck {
        DoctorCheck {
            name: name.to_owned(),
            state,
            about: None,
            found: found.into(),
            next: String::new(),
        }
    }

    fn ok(name: &'static str, found: impl Into<String>) -> DoctorCheck {
        DoctorCheck::new(name, CheckResult::Ok, found)
    }

    fn warning(name: &'static str, found: impl Into<String>) -> DoctorCheck {
        DoctorCheck::new(name, CheckResult::Warning, found)
    }

    fn error(name: &'static str, found: impl Into<String>) -> DoctorCheck {
        DoctorCheck::new(name, CheckResult::Error, found)
    }

    fn about(mut self, what: &str) -> DoctorCheck {
        self.about = Some(what.to_owned());
        self
    }

    fn next(mut self, what: impl Into<String>) -> DoctorCheck {
        self.next = what.into();
        self
    }
}

/// The output of `prosescope doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Checkup {
    /// All checks, in order of display.
    pub checks: Vec<DoctorCheck>,
}

/// Returns the result of each check of the facts.
pub fn judge(facts: &DoctorFacts) -> Checkup {
    let mut checks = tools::checks(facts);
    checks.extend(facts.server.iter().flat_map(server::checks));
    checks.extend(git(facts));
    checks.extend(stores::checks(facts));
    Checkup { checks }
}

fn git(facts: &DoctorFacts) -> Vec<DoctorCheck> {
    let Some(git) = facts.git else {
        return Vec::new();
    };
    let env = match (git.env_ignored, git.env_exists) {
        (true, _) => DoctorCheck::ok("git-env", "git ignores .prose/.env"),
        (false, true) => DoctorCheck::error(
            "git-env",
            "git does not ignore the existing .prose/.env: its contents may be committed",
        ),
        (false, false) => DoctorCheck::warning(
            "git-env",
            "git would not ignore the file .prose/.env if it existed",
        ),
    };
    let runs = if git.runs_ignored {
        DoctorCheck::ok("git-runs", "git ignores .prose/runs")
    } else {
        DoctorCheck::warning(
            "git-runs",
            "git does not ignore .prose/runs: values of runs, including secrets, may be committed",
        )
    };
    let add = |check: DoctorCheck, line: &str| match check.state {
        CheckResult::Ok => check,
        _ => check.next(format!(
            "add the line {line} to the .gitignore beside .prose"
        )),
    };
    vec![add(env, ".prose/.env"), add(runs, ".prose/runs/")]
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(in crate::pages::upkeep::doctor) fn said(
        checks: &[DoctorCheck],
    ) -> Vec<(&str, CheckResult)> {
        checks
            .iter()
            .map(|check| (check.name.as_str(), check.state))
            .collect()
    }

    #[test]
    fn a_secret_in_the_open_is_an_error_and_one_to_come_a_warning() {
        use CheckResult::{Error, Ok, Warning};
        for (env_exists, env_ignored, runs_ignored, expected) in [
            (true, true, true, [Ok, Ok]),
            (true, false, false, [Error, Warning]),
            (false, false, true, [Warning, Ok]),
        ] {
            let facts = DoctorFacts {
                git: Some(Git {
                    env_exists,
                    env_ignored,
                    runs_ignored,
                }),
                ..DoctorFacts::default()
            };
            let states: Vec<CheckResult> = git(&facts).iter().map(|check| check.state).collect();
            assert_eq!(states, expected);
        }
        assert_eq!(git(&DoctorFacts::default()), []);
    }
}
