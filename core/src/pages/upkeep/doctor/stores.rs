use super::{CheckResult, DatabaseFacts, DoctorCheck, DoctorFacts, StoreFacts};
use crate::model::issue::Severity;
use crate::model::text::counted;
use crate::pages::check::rule;

/// Returns one check for each fault of each store, and a last check that summarizes all stores.
pub(super) fn checks(facts: &DoctorFacts) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    for store in &facts.stores {
        checks.extend(of(store).into_iter().map(|check| check.about(&store.name)));
    }
    checks.push(summary(facts, checks.len()));
    checks
}

fn of(store: &StoreFacts) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    if let Some(error) = &store.error {
        checks.push(
            DoctorCheck::error("unreadable", error).next(
                "write a repaired copy of what can be read with `prosescope check RUN --fix`",
            ),
        );
    }
    if let Some(db) = &store.database {
        checks.extend(beside(db, store.ended));
    }
    checks.extend(schema(store));
    checks
}

/// Checks the files that a writer left beside the database, such as `-wal`.
fn beside(db: &DatabaseFacts, ended: bool) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    // A -wal that contains only its header of 32 bytes has no rows.
    let wal = db.wal.filter(|len| *len > 32);
    if let Some(len) = wal {
        if ended {
            checks.push(
                DoctorCheck::warning("wal", format!("the run has ended, but {len} bytes are still in the `-wal` file: a copy of the database alone misses rows"),
                )
                .next("run `sqlite3 state.db 'PRAGMA wal_checkpoint(TRUNCATE)'`, or copy the `-wal` file too"),
            );
        }
        if !db.shm {
            checks.push(
                DoctorCheck::warning("wal", "there is a `-wal` file, but no `-shm` file: the writer was killed, or the files were copied",
                )
                .next("keep the database and the `-wal` file together, so that nothing is lost; the next writer takes the rows over"),
            );
        }
    }
    if wal.is_none() && db.wal_mode && db.shm && ended {
        checks.push(
            DoctorCheck::warning(
                "wal",
                "the database is in WAL mode and has a `-shm` file, but no `-wal` file",
            )
            .next("check that no writer hangs; if the `-wal` file was deleted, its rows are lost"),
        );
    }
    if db.journal.is_some_and(|len| len > 0) {
        checks.push(
            DoctorCheck::warning("journal", "there is a rollback journal: a writer is in the middle of a change, or was stopped during a change",
            )
            .next("keep the `-journal` file with the database: from this file, the next writer undoes the change"),
        );
    }
    checks
}

/// Reports the worst issue that decoding found about the database file and its tables.
fn schema(store: &StoreFacts) -> Option<DoctorCheck> {
    let about_the_file = |name: &str| {
        let area = rule(name).map(|rule| &*rule.area);
        matches!(area, Some("Databases" | "Schema"))
    };
    let mut worst: Vec<_> = store
        .issues
        .iter()
        .filter(|issue| issue.severity >= Severity::Warning && about_the_file(&issue.rule))
        .collect();
    worst.sort_by_key(|issue| std::cmp::Reverse(issue.severity));
    let first = worst.first()?;
    let state = match first.severity {
        Severity::Error => CheckResult::Error,
        _ => CheckResult::Warning,
    };
    let more = match worst.len() {
        1 => String::new(),
        n => format!("; and {} more", n - 1),
    };
    let found = format!("{}: {}{more}", first.rule, first.message);
    Some(
        DoctorCheck::new("schema", state, found).next(
            "list all issues with `prosescope check RUN`, or write a repaired copy with `prosescope check RUN --fix`",
        ),
    )
}

fn summary(facts: &DoctorFacts, troubles: usize) -> DoctorCheck {
    let databases: Vec<&DatabaseFacts> = facts
        .stores
        .iter()
        .filter_map(|s| s.database.as_ref())
        .collect();
    let wal = databases.iter().filter(|db| db.wal_mode).count();
    let mut parts = vec![counted(facts.stores.len() as u64, "store", "stores")];
    if !databases.is_empty() {
        parts.push(format!(
            "{} with a rollback journal, {wal} in WAL mode",
            databases.len() - wal
        ));
    }
    let folders = facts.stores.len() - databases.len();
    if folders > 0 {
        parts.push(format!("{folders} of files"));
    }
    if troubles == 0 && !facts.stores.is_empty() {
        parts.push("no fault found".to_owned());
    }
    let check = DoctorCheck::ok("stores", parts.join(", "));
    match wal {
        0 => check,
        _ => check.next("keep a database in WAL mode on a local disk: on a network or container folder, several writers corrupt it silently"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::said;
    use super::*;
    use crate::model::issue::Issue;

    fn store(database: DatabaseFacts, ended: bool) -> StoreFacts {
        StoreFacts {
            name: "r1".to_owned(),
            ended,
            database: Some(database),
            ..StoreFacts::default()
        }
    }

    #[test]
    fn each_hazard_is_said_and_a_sound_store_is_not() {
        use CheckResult::Warning;
        let plain = DatabaseFacts::default();
        let wal = |len, shm| DatabaseFacts {
            wal_mode: true,
            wal: len,
            shm,
            journal: None,
        };
        let hot = DatabaseFacts {
            journal: Some(512),
            ..plain
        };
        for (db, ended, expected) in [
            (plain, true, vec![]),
            (wal(Some(9000), true), false, vec![]),
            (wal(Some(9000), true), true, vec![("wal", Warning)]),
            (wal(Some(9000), false), false, vec![("wal", Warning)]),
            (
                wal(Some(9000), false),
                true,
                vec![("wal", Warning), ("wal", Warning)],
            ),
            (wal(None, true), true, vec![("wal", Warning)]),
            (wal(Some(0), true), false, vec![]),
            (hot, false, vec![("journal", Warning)]),
        ] {
            let store = store(db, ended);
            assert_eq!(said(&of(&store)), expected, "{store:?}");
        }
    }

    #[test]
    fn the_worst_of_the_schema_is_said_and_what_runs_did_is_not() {
        let mut store = StoreFacts {
            issues: vec![
                Issue::warning("odd-key", "the primary key of bindings is (name)"),
                Issue::error("database-damaged", "page 3 is not what it should be"),
                Issue::error("orphan-parent", "row 7 names a parent that is not there"),
                Issue::noted("unknown-column", "agents has a column mood"),
            ],
            ..StoreFacts::default()
        };
        let check = schema(&store).unwrap();
        assert_eq!(check.state, CheckResult::Error);
        assert_eq!(
            check.found,
            "database-damaged: page 3 is not what it should be; and 1 more"
        );
        store.issues.drain(..2);
        assert_eq!(schema(&store), None);
    }

    #[test]
    fn what_is_right_is_one_line() {
        let facts = DoctorFacts {
            stores: vec![store(DatabaseFacts::default(), true), StoreFacts::default()],
            ..DoctorFacts::default()
        };
        let checks = checks(&facts);
        assert_eq!(checks.len(), 1);
        assert_eq!(
            checks[0].found,
            "2 stores, 1 with a rollback journal, 0 in WAL mode, 1 of files, no fault found"
        );
    }
}
