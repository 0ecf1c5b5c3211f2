use super::{DoctorCheck, DoctorFacts, Tool};
use crate::model::text::counted;

/// The first SQLite version without the WAL-reset bug (errata R2).
const WAL_SOUND: [u32; 3] = [3, 51, 3];

pub(super) fn checks(facts: &DoctorFacts) -> Vec<DoctorCheck> {
    let wal = facts
        .stores
        .iter()
        .filter_map(|store| store.database)
        .filter(|db| db.wal_mode)
        .count();
    let mut checks = vec![sqlite3(facts, wal), library(facts, wal), psql(facts)];
    if facts.postgres_url && facts.server.is_none() {
        checks.push(
            DoctorCheck::warning("postgres-role", "a role limited to the schema openprose can still connect, make temporary tables and use the schema public: PUBLIC has those rights",
            )
            .next("if the database is used only for runs, revoke the rights from PUBLIC and grant CONNECT to the role; revoking from the role changes nothing"),
        );
    }
    checks
}

fn sqlite3(facts: &DoctorFacts, wal: usize) -> DoctorCheck {
    let says = match &facts.sqlite3 {
        Tool::Missing => {
            return DoctorCheck::warning(
                "sqlite3",
                "sqlite3 is not in PATH: models that follow sqlite.md exactly fall back to files",
            )
            .next("install `sqlite3`, or let the models use `prosescope`, which does not need it");
        }
        Tool::Fails(why) => {
            let found = format!("sqlite3 is in PATH and does not start: {why}");
            return DoctorCheck::warning("sqlite3", found).next("install it again");
        }
        Tool::Says(says) => says,
    };
    let version = first_version(says);
    let found = named("sqlite3", says);
    match reset_bug(version) {
        Some(true) if wal > 0 => DoctorCheck::warning("sqlite3", format!("{found} may corrupt a database in WAL mode, and {} in WAL mode", are(wal)),
        )
        .next("use 3.51.3 or newer, or end WAL mode with `PRAGMA journal_mode = DELETE` while no process writes"),
        Some(true) => DoctorCheck::ok("sqlite3", format!("{found}, which may corrupt databases in WAL mode, as every version before 3.51.3 may; no database here is in WAL mode"),
        ),
        _ => DoctorCheck::ok("sqlite3", found),
    }
}

/// Checks the SQLite that is built into `prosescope`, which reads and writes databases as `sqlite3` does.
fn library(facts: &DoctorFacts, wal: usize) -> DoctorCheck {
    let found = format!("prosescope brings SQLite {}", facts.library);
    match reset_bug(first_version(&facts.library)) {
        Some(true) if wal > 0 => DoctorCheck::warning(
            "sqlite",
            format!(
                "{found}, which may corrupt a database in WAL mode, and {} in WAL mode",
                are(wal)
            ),
        )
        .next("end WAL mode with `PRAGMA journal_mode = DELETE` while no process writes"),
        Some(true) => DoctorCheck::ok(
            "sqlite",
            format!(
                "{found}; databases that prosescope makes have a rollback journal, which the WAL-reset bug does not affect"
            ),
        ),
        _ => DoctorCheck::ok("sqlite", found),
    }
}

fn psql(facts: &DoctorFacts) -> DoctorCheck {
    match &facts.psql {
        Tool::Says(says) => DoctorCheck::ok("psql", named("psql", says)),
        Tool::Fails(why) => {
            let found = format!("psql is in PATH and does not start: {why}");
            DoctorCheck::warning("psql", found).next("install it again")
        }
        Tool::Missing if facts.postgres_url => DoctorCheck::warning(
            "psql",
            "psql is not in PATH, although OPENPROSE_POSTGRES_URL is set",
        )
        .next("install `psql`, the command line client of PostgreSQL"),
        Tool::Missing => DoctorCheck::ok(
            "psql",
            "psql is not in PATH; only runs in PostgreSQL need it",
        ),
    }
}

fn are(n: usize) -> String {
    counted(n as u64, "database here is", "databases here are")
}

/// Returns whether an SQLite version has the WAL-reset bug; `None` if the version is unknown.
fn reset_bug(version: Option<[u32; 3]>) -> Option<bool> {
    version.map(|version| version < WAL_SOUND)
}

/// Returns the first version number `a.b.c` or `a.b` in a text.
fn first_version(text: &str) -> Option<[u32; 3]> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .find_map(|word| {
            let mut parts = word.split('.').map(str::parse::<u32>);
            let major = parts.next()?.ok()?;
            let minor = parts.next()?.ok()?;
            let patch = parts.next().and_then(Result::ok).unwrap_or_default();
            Some([major, minor, patch])
        })
}

/// Returns a program with its version, without the build details of its version output: these are too long for a line.
fn named(program: &str, says: &str) -> String {
    let version =
        |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
    match says.split_whitespace().find(version) {
        Some(version) => format!("{program} {version}"),
        None => format!("{program} is in PATH; its `--version` prints no version"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CheckResult, DatabaseFacts, StoreFacts};
    use super::*;

    fn facts(sqlite3: &str, wal_mode: bool) -> DoctorFacts {
        DoctorFacts {
            sqlite3: Tool::Says(sqlite3.to_owned()),
            library: "3.53.0".to_owned(),
            stores: vec![StoreFacts {
                database: Some(DatabaseFacts {
                    wal_mode,
                    ..DatabaseFacts::default()
                }),
                ..StoreFacts::default()
            }],
            ..DoctorFacts::default()
        }
    }

    #[test]
    fn an_old_sqlite3_is_a_hazard_where_wal_is_used() {
        for (version, wal, expected) in [
            (
                "3.40.1 2022-12-28 14:03:47 df5c253c0b3dd24916e4ec7cf77d3db5294cc9fd45ae7b9c5e82ad8197f38a24",
                true,
                CheckResult::Warning,
            ),
            ("3.40.1 2022-12-28", false, CheckResult::Ok),
            ("3.51.2", true, CheckResult::Warning),
            ("3.51.3", true, CheckResult::Ok),
            ("3.52", true, CheckResult::Ok),
            ("4.0.0", true, CheckResult::Ok),
            ("unknown", true, CheckResult::Ok),
        ] {
            let check = sqlite3(&facts(version, wal), usize::from(wal));
            assert_eq!(check.state, expected, "{version}: {}", check.found);
            assert!(!check.found.contains("df5c"), "{}", check.found);
        }
        // A program that names no version is not quoted: what it prints may be anything.
        let check = sqlite3(&facts("? ?", false), 0);
        assert_eq!(
            check.found,
            "sqlite3 is in PATH; its `--version` prints no version"
        );
    }

    #[test]
    fn what_is_missing_matters_where_it_is_needed() {
        let mut facts = DoctorFacts::default();
        let states = |facts: &DoctorFacts| -> Vec<CheckResult> {
            checks(facts).iter().map(|c| c.state).collect()
        };
        use CheckResult::{Ok, Warning};
        assert_eq!(states(&facts), [Warning, Ok, Ok]);
        facts.postgres_url = true;
        assert_eq!(states(&facts), [Warning, Ok, Warning, Warning]);
        facts.psql = Tool::Says("psql (PostgreSQL) 15.6 (Debian 15.6-0+deb12u1)".to_owned());
        facts.sqlite3 = Tool::Fails("exit code 127".to_owned());
        assert_eq!(states(&facts), [Warning, Ok, Ok, Warning]);
    }
}
