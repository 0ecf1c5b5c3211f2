//! Judges the facts about a PostgreSQL server.

use serde::{Deserialize, Serialize};

use super::DoctorCheck;

/// The facts about a PostgreSQL server that the caller gathered for [`checks`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerFacts {
    /// The server's address, without the password.
    pub address: String,
    /// The reason why the server could not be queried; `None` if it was queried.
    pub error: Option<String>,
    /// Advice on the error, if its cause is not the server; `None` gives the usual advice.
    pub next: Option<String>,
    /// The server's version, as the server reports it: `15.7`.
    pub version: String,
    /// Whether the server is too old to keep runs.
    pub too_old: bool,
    /// The version of Prosescope's schema on the server; `None` without the schema.
    pub schema: Option<i64>,
    /// The schema version that this Prosescope creates.
    pub wanted: i64,
    /// Tables, columns and indexes of the schema that are missing or invalid.
    pub missing: Vec<String>,
    /// The role that connects.
    pub role: String,
    /// Whether the role is a superuser.
    pub superuser: bool,
    /// The rights of the role outside the schema, granted through PUBLIC.
    pub public: Vec<String>,
    /// Whether the role may write the tables.
    pub writes: bool,
    /// Whether the server is read-only.
    pub read_only: bool,
    /// Whether the connection crosses the network without TLS.
    pub in_the_open: bool,
    /// For each table, the number of rows whose run or execution does not exist; `None` if counting took too long.
    pub orphans: Vec<(String, Option<i64>)>,
}

/// The result of `prosescope postgres status`: the checks of a server that keeps runs, and the runs on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServerStatus {
    /// The server's address, without the password.
    pub address: String,
    /// The checks of the server.
    pub checks: Vec<DoctorCheck>,
    /// Number of runs.
    pub runs: u64,
    /// The size of all tables and indexes of the schema in bytes.
    pub bytes: u64,
    /// The newest runs.
    pub newest: Vec<RunSize>,
}

/// The size of a run on a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunSize {
    /// The id of the run that was measured.
    pub run: String,
    /// The number of the run's executions, bindings, gates and segments.
    pub rows: u64,
    /// The size of the run's values and attachments in bytes.
    pub bytes: u64,
}

/// The result of `prosescope postgres setup` or `prosescope workflow setup`: printed or applied statements.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServerSetUp {
    /// The address of the database without its password, or the path of a database file.
    pub address: Option<String>,
    /// The SQL statements.
    pub sql: String,
    /// Whether the statements were executed.
    pub applied: bool,
    /// The setting that gives the project its own name (`OPENPROSE_PROJECT=NAME`), if it has none. Without that
    /// setting, projects whose folders have the same name share their agents.
    pub project: Option<String>,
}

/// The result of `prosescope postgres trust`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Trusted {
    /// The absolute path of the project's file `.prose/.env`.
    pub file: String,
    /// Whether the file's settings are trusted like the user's own, until the file changes.
    pub trusted: bool,
    /// The PostgreSQL settings in the file (`KEY=value`), without passwords.
    pub names: Vec<String>,
}

/// Returns the result of each check of the facts about a server.
pub fn checks(facts: &ServerFacts) -> Vec<DoctorCheck> {
    let address = &facts.address;
    if let Some(error) = &facts.error {
        let check = DoctorCheck::warning("postgres", error.as_str());
        let usual = "start the server, or correct OPENPROSE_POSTGRES_URL";
        return vec![check.next(facts.next.as_deref().unwrap_or(usual))];
    }
    let of = format!("{address} is PostgreSQL {}", facts.version);
    let server = match (facts.too_old, facts.read_only) {
        (true, _) => DoctorCheck::error(
            "postgres",
            format!("{of}; runs need PostgreSQL 15 or later"),
        )
        .next("use a newer server"),
        (_, true) => DoctorCheck::warning("postgres", format!("{of}, and is read-only"))
            .next("give the address of the primary server to record runs"),
        _ if facts.in_the_open => DoctorCheck::warning(
            "postgres",
            format!("{of}; values and the password are sent unencrypted"),
        )
        .next("add ?sslmode=verify-full to the address"),
        _ => DoctorCheck::ok("postgres", of),
    };
    let mut checks = vec![server];
    if facts.too_old {
        return checks;
    }
    checks.push(schema(facts));
    checks.push(role(facts));
    for (table, rows) in &facts.orphans {
        checks.push(match rows {
            Some(rows) => {
                let found = format!("{rows} rows of {table} have no run or execution");
                DoctorCheck::warning("postgres-orphans", found).next(
                    "remove runs with `prosescope clean`, which removes all their rows; other tools may leave rows behind",
                )
            }
            None => {
                let found = format!("counting rows of {table} without a run took too long");
                DoctorCheck::warning("postgres-orphans", found)
                    .next("count the rows with `prosescope postgres status`, which has no time limit")
            }
        });
    }
    checks
}

fn schema(facts: &ServerFacts) -> DoctorCheck {
    let next = "complete the schema with `prosescope postgres setup --apply`";
    match facts.schema {
        None => DoctorCheck::warning("postgres-schema", "there is no schema of runs yet")
            .next("make the schema with `prosescope postgres setup --apply` or `prosescope init --state postgres`"),
        Some(version) if !facts.missing.is_empty() => DoctorCheck::error(
            "postgres-schema",
            format!(
                "the schema openprose, version {version}, lacks {}",
                facts.missing.join(", ")
            ),
        )
        .next(next),
        Some(version) if version < facts.wanted => {
            let found = format!(
                "the schema openprose has version {version}; this program needs version {}",
                facts.wanted
            );
            DoctorCheck::warning("postgres-schema", found).next(next)
        }
        Some(version) => DoctorCheck::ok(
            "postgres-schema",
            format!("the schema openprose is whole, version {version}"),
        ),
    }
}

fn role(facts: &ServerFacts) -> DoctorCheck {
    let role = &facts.role;
    if facts.superuser {
        return DoctorCheck::warning(
            "postgres-role",
            format!("{role} may do anything on the server, and subagents see its address"),
        )
        .next("connect as a role that is limited to the schema openprose: `prosescope postgres setup` prints the statements that make one");
    }
    if facts.schema.is_some() && !facts.writes {
        return DoctorCheck::warning("postgres-role", format!("{role} may not write the tables"))
            .next("let the owner of the tables grant the rights: `prosescope postgres setup` prints the statements");
    }
    if facts.public.is_empty() {
        DoctorCheck::ok(
            "postgres-role",
            format!("{role} is limited to the schema openprose"),
        )
    } else {
        DoctorCheck::warning(
        "postgres-role",
        format!(
            "{role} can also {}: PUBLIC has those rights",
            facts.public.join(", ")
        ),
    )
    .next("if the database is used only for runs, `prosescope postgres setup --dedicated` revokes the rights from PUBLIC; revoking from the role changes nothing")
    }
}

#[cfg(test)]
mod tests {
    use super::super::CheckResult;
    use super::*;

    #[test]
    fn a_server_is_judged_by_what_it_says() {
        let whole = ServerFacts {
            version: "15.7".to_owned(),
            schema: Some(1),
            wanted: 1,
            writes: true,
            ..ServerFacts::default()
        };
        let states = |facts: &ServerFacts| -> Vec<CheckResult> {
            checks(facts).iter().map(|check| check.state).collect()
        };
        use CheckResult::{Error, Ok, Warning};
        assert_eq!(states(&whole), [Ok, Ok, Ok]);
        for (facts, expected) in [
            (
                ServerFacts {
                    error: Some("no answer".to_owned()),
                    ..whole.clone()
                },
                vec![Warning],
            ),
            (
                ServerFacts {
                    too_old: true,
                    ..whole.clone()
                },
                vec![Error],
            ),
            (
                ServerFacts {
                    missing: vec!["index i".to_owned()],
                    ..whole.clone()
                },
                vec![Ok, Error, Ok],
            ),
            (
                ServerFacts {
                    schema: None,
                    superuser: true,
                    ..whole.clone()
                },
                vec![Ok, Warning, Warning],
            ),
            (
                ServerFacts {
                    in_the_open: true,
                    orphans: vec![
                        ("agents".to_owned(), Some(3)),
                        ("bindings".to_owned(), None),
                    ],
                    ..whole
                },
                vec![Warning, Ok, Ok, Warning, Warning],
            ),
        ] {
            assert_eq!(states(&facts), expected, "{facts:?}");
        }
    }
}
