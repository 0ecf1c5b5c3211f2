//! What a PostgreSQL server says about itself, judged.

use serde::{Deserialize, Serialize};

use super::Check;

/// What was found out about a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerFacts {
    /// Its address, without the password.
    pub address: String,
    /// Why it was not asked.
    pub error: Option<String>,
    /// What to do about that, where it is no fault of the server.
    pub next: Option<String>,
    /// Its version, as it says it: `15.7`.
    pub version: String,
    /// Whether it is too old to keep runs.
    pub too_old: bool,
    /// The version of the schema, where there is one.
    pub schema: Option<i64>,
    /// The version that this program makes.
    pub wanted: i64,
    /// Tables, columns and indexes of the schema that are missing, or not valid.
    pub missing: Vec<String>,
    /// The role that connects.
    pub role: String,
    /// Whether the role may do anything.
    pub superuser: bool,
    /// What the role may do beyond the schema, because PUBLIC may.
    pub public: Vec<String>,
    /// Whether the role may write the tables.
    pub writes: bool,
    /// Whether the server takes no writes.
    pub read_only: bool,
    /// Whether the connection goes over the network without TLS.
    pub in_the_open: bool,
    /// Rows that belong to no run or no execution: the table, and how many; `None` when counting them took too long.
    pub orphans: Vec<(String, Option<i64>)>,
}

/// A server that keeps runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServerStatus {
    /// Its address, without the password.
    pub address: String,
    /// The checks.
    pub checks: Vec<Check>,
    /// How many runs there are.
    pub runs: u64,
    /// Bytes of all tables and indexes of the schema.
    pub bytes: u64,
    /// The newest runs.
    pub newest: Vec<RunSize>,
}

/// What a run takes on a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunSize {
    /// The run.
    pub run: String,
    /// Its rows of executions, bindings, gates and segments.
    pub rows: u64,
    /// Bytes of its values and attachments.
    pub bytes: u64,
}

/// What `prosescope postgres setup` and `prosescope workflow setup` print, or did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServerSetUp {
    /// The database, without the password, where one is named; a file by its path.
    pub address: Option<String>,
    /// The statements.
    pub sql: String,
    /// Whether they were run.
    pub applied: bool,
    /// The setting that gives the project a name of its own (`OPENPROSE_PROJECT=NAME`), where it has none: else its agents are
    /// shared with every project whose folder has the same name.
    pub project: Option<String>,
}

/// What `prosescope postgres trust` prints.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Trusted {
    /// The project's file, by its whole path.
    pub file: String,
    /// Whether its settings count as the user's own, until the file changes.
    pub trusted: bool,
    /// What it names of PostgreSQL (`KEY=value`), without passwords.
    pub names: Vec<String>,
}

/// Judges a server.
pub fn checks(facts: &ServerFacts) -> Vec<Check> {
    let address = &facts.address;
    if let Some(error) = &facts.error {
        let check = Check::warning("postgres", error.as_str());
        let usual = "start the server, or correct OPENPROSE_POSTGRES_URL";
        return vec![check.next(facts.next.as_deref().unwrap_or(usual))];
    }
    let of = format!("{address} is PostgreSQL {}", facts.version);
    let server = match (facts.too_old, facts.read_only) {
        (true, _) => Check::error(
            "postgres",
            format!("{of}; runs need PostgreSQL 15 or later"),
        )
        .next("use a newer server"),
        (_, true) => Check::warning("postgres", format!("{of}, and takes no writes"))
            .next("name the primary to record runs"),
        _ if facts.in_the_open => Check::warning(
            "postgres",
            format!("{of}; values and the password go there unencrypted"),
        )
        .next("add ?sslmode=verify-full to the address"),
        _ => Check::ok("postgres", of),
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
                let found = format!("{rows} rows of {table} belong to no run or execution");
                Check::warning("postgres-orphans", found).next(
                    "`prosescope clean` removes runs with all their rows; other tools may not",
                )
            }
            None => {
                let found =
                    format!("whether rows of {table} belong to no run was not found out in time");
                Check::warning("postgres-orphans", found)
                    .next("`prosescope postgres status` takes its time")
            }
        });
    }
    checks
}

fn schema(facts: &ServerFacts) -> Check {
    let next = "`prosescope postgres setup --apply` completes the schema";
    match facts.schema {
        None => Check::warning("postgres-schema", "there is no schema of runs yet")
            .next("`prosescope postgres setup --apply` makes it; so does `prosescope init --state postgres`"),
        Some(version) if !facts.missing.is_empty() => Check::error(
            "postgres-schema",
            format!(
                "the schema openprose, version {version}, lacks {}",
                facts.missing.join(", ")
            ),
        )
        .next(next),
        Some(version) if version < facts.wanted => {
            let found = format!(
                "the schema openprose has version {version}; this program makes {}",
                facts.wanted
            );
            Check::warning("postgres-schema", found).next(next)
        }
        Some(version) => Check::ok(
            "postgres-schema",
            format!("the schema openprose is whole, version {version}"),
        ),
    }
}

fn role(facts: &ServerFacts) -> Check {
    let role = &facts.role;
    if facts.superuser {
        return Check::warning(
            "postgres-role",
            format!("{role} may do anything on the server, and subagents see its address"),
        )
        .next("`prosescope postgres setup` prints a role that is limited to the schema openprose");
    }
    if facts.schema.is_some() && !facts.writes {
        return Check::warning("postgres-role", format!("{role} may not write the tables"))
            .next("let their owner grant it: `prosescope postgres setup` prints the statements");
    }
    match facts.public.is_empty() {
        true => Check::ok("postgres-role", format!("{role} is limited to the schema openprose")),
        false => Check::warning(
            "postgres-role",
            format!(
                "{role} can also {}: PUBLIC has those rights",
                facts.public.join(", ")
            ),
        )
        .next("in a database of its own: `prosescope postgres setup --dedicated` revokes them from PUBLIC; revoking from the role changes nothing"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
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
        let states = |facts: &ServerFacts| -> Vec<State> {
            checks(facts).iter().map(|check| check.state).collect()
        };
        use State::{Error, Ok, Warning};
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
