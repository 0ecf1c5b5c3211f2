//! Tests of `check --fix`, which writes a repaired copy of a damaged run. Each rule's example is repaired, and no
//! data may be lost.

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use prosescope_core::model::schema::STATE_SQL;
use prosescope_core::pages::check;
use prosescope_core::pages::repair::{MadeRepair, plan};
use prosescope_core::pages::session::{Options, Session, pages};
use prosescope_core::pages::view::RuleView;
use prosescope_store::{DamagedRun, Disk, write_repaired};
use prosescope_test_support::example::{Example, example};
use rusqlite::Connection;

const NOW: i64 = 1_800_000_000_000;

/// Rules whose damage is repaired in the copy.
const REPAIRED: &[&str] = &[
    "audit-unguarded",
    "computed-column",
    "contradicting-parent",
    "disguised-schema",
    "duplicate-binding",
    "duplicate-id",
    "foreign-code",
    "gate-allow-unreadable",
    "gate-twice",
    "malformed-json",
    "missing-column",
    "missing-id",
    "missing-table",
    "no-run-row",
    "odd-key",
    "orphan-parent",
    "parent-cycle",
    "segment-without-agent",
    "self-parent",
    "state-file-contradicts-rows",
    "status-disagrees",
    "table-not-read",
    "unnamed-run",
    "utf16",
    "wal-missing",
];

fn open(dir: &Path) -> (Rc<Disk>, Session) {
    let disk = Rc::new(Disk::open(dir).unwrap());
    let session = Session::open(disk.clone(), "", &Options::default()).unwrap();
    (disk, session)
}

fn rules(session: &Session) -> BTreeSet<String> {
    pages::check(session, Some(NOW))
        .into_iter()
        .map(|issue| issue.rule)
        .collect()
}

/// Writes a repaired copy beside a run folder.
fn repaired(dir: &Path) -> (Vec<MadeRepair>, Session) {
    let (disk, session) = open(dir);
    let repair = plan(session.run(), session.trace(), "2027-01-15 08:00:00");
    let to = dir.with_file_name("fixed");
    let (done, _) = write_repaired(
        &DamagedRun {
            disk: &disk,
            root: "",
            database: dir.join("state.db").exists().then_some("state.db"),
            with_files: true,
            tables: &session.run().tables,
            repair: &repair,
        },
        &to,
    )
    .unwrap();
    (done, open(&to).1)
}

fn example_of(rule: &RuleView) -> Option<Example> {
    let parts = rule.example.iter();
    example(parts.map(|part| (&*part.title, &*part.language, &*part.text)))
}

fn run_of<T: AsRef<str>>(sql: &str, schema: bool, files: &[(T, T)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("r1");
    std::fs::create_dir(&run).unwrap();
    let conn = Connection::open(run.join("state.db")).unwrap();
    conn.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF")
        .unwrap();
    if schema {
        conn.execute_batch(STATE_SQL).unwrap();
    }

    conn.execute_batch(sql).unwrap();
    for (path, text) in files {
        let path = run.join(path.as_ref());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.as_ref()).unwrap();
    }
    dir
}

#[test]
fn every_rule_that_can_be_repaired_is() {
    let mut gone = BTreeSet::new();
    for rule in check::rules() {
        let dir = match example_of(rule) {
            Some(Example {
                sql: Some(sql),
                schema,
                files,
                asked: None,
            }) => run_of(&sql, schema, &files),
            _ => continue,
        };
        let run = dir.path().join("r1");
        let before = rules(&open(&run).1);
        if !before.contains(&*rule.name) {
            continue;
        }
        let bytes = std::fs::read(run.join("state.db")).unwrap();
        let (done, session) = repaired(&run);
        let after = rules(&session);
        assert_eq!(
            bytes,
            std::fs::read(run.join("state.db")).unwrap(),
            "{}",
            rule.name
        );
        if !after.contains(&*rule.name) {
            gone.insert(&*rule.name);
        }
        // This rule is expected: a gate's unreadable list of principals is repaired to an empty list, which admits
        // nobody.
        let new: Vec<&String> = after
            .difference(&before)
            .filter(|rule| *rule != "gate-admits-nobody")
            .collect();
        assert!(
            new.is_empty(),
            "{} is repaired by new damage: {new:?}, {done:?}",
            rule.name
        );
    }
    let expected: BTreeSet<&str> = REPAIRED.iter().copied().collect();
    assert_eq!(gone, expected);
}

/// Returns every value of a table, as text.
fn all(dir: &Path, sql: &str) -> Vec<Vec<String>> {
    let conn = Connection::open(dir.join("state.db")).unwrap();
    let mut statement = conn.prepare(sql).unwrap();
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        (0..columns)
            .map(|at| Ok(format!("{:?}", row.get_ref(at)?)))
            .collect()
    });
    rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

/// Rules about folders whose damage is repaired in the copy.
const REPAIRED_FILES: &[&str] = &[
    "binding-not-indexed",
    "index-disagrees",
    "marker-contradicts-disk",
    "round-behind-disk",
    "state-file-behind",
];

#[test]
fn a_folder_gets_a_state_file_that_agrees_with_it_and_keeps_the_old_one() {
    let mut gone = BTreeSet::new();
    for rule in check::rules() {
        let example = example_of(rule).filter(|example| example.sql.is_none());
        let Some(Example { files, .. }) = example else {
            continue;
        };
        let inside = files.iter().any(|(path, _)| path.starts_with("runs/r1/"));
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("runs/r1");
        std::fs::create_dir_all(&run).unwrap();
        for (path, text) in files {
            let path = if inside {
                dir.path().join(path)
            } else {
                run.join(path)
            };
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let disk = Disk::open(&run).unwrap();
        let Ok(session) = Session::open(Rc::new(disk), "", &Options::default()) else {
            continue;
        };
        let before = rules(&session);
        if !before.contains(&*rule.name) || run.join("state.db").exists() {
            continue;
        }
        let (done, session) = repaired(&run);
        let after = rules(&session);
        let new: Vec<&String> = after.difference(&before).collect();
        println!(
            "{} {} {done:?} NEW {new:?}",
            rule.name,
            if after.contains(&*rule.name) {
                "KEPT"
            } else {
                "gone"
            }
        );
        if !after.contains(&*rule.name) {
            gone.insert(&*rule.name);
        }
    }
    let expected: BTreeSet<&str> = REPAIRED_FILES.iter().copied().collect();
    assert_eq!(gone, expected);
}

#[test]
fn of_two_files_for_one_name_the_other_goes_to_the_history() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("r1");
    std::fs::create_dir_all(run.join("bindings")).unwrap();
    std::fs::write(
        run.join("state.md"),
        "# Execution State\n\nrun: r1\nprogram: p.prose\n",
    )
    .unwrap();
    for file in ["result__043.md", "result__43.md"] {
        let text = format!("# result\n\nkind: let\nexecution_id: 43\n\n---\n\n{file}\n");
        std::fs::write(run.join("bindings").join(file), text).unwrap();
    }
    assert!(rules(&open(&run).1).contains("duplicate-binding"));
    let (_, session) = repaired(&run);
    assert!(!rules(&session).contains("duplicate-binding"));
    let count = |dir: &Path| std::fs::read_dir(dir).unwrap().count();
    assert_eq!(count(&dir.path().join("fixed/bindings")), 1);
    assert_eq!(count(&dir.path().join("fixed/x_history/bindings")), 1);
    assert_eq!(count(&run.join("bindings")), 2);
}

#[test]
fn what_is_unknown_is_carried_and_what_is_replaced_is_kept() {
    let dir = run_of(
        "CREATE TABLE run (id TEXT, status TEXT, mood TEXT);
         INSERT INTO run VALUES ('r1', 'running', 'calm');
         CREATE TABLE bindings (name TEXT, execution_id INTEGER, kind TEXT, value TEXT, token_count INTEGER);
         INSERT INTO bindings VALUES ('a', NULL, 'let', 'first', 1), ('b', NULL, 'let', x'00ff', 2), ('a', NULL, 'let', 'second', 3);
         CREATE TABLE execution (id INTEGER PRIMARY KEY AUTOINCREMENT, statement_text TEXT, status TEXT, metadata TEXT);
         INSERT INTO execution VALUES (7, 'session \"A\"', 'completed', '{broken');
         DELETE FROM sqlite_sequence; INSERT INTO sqlite_sequence VALUES ('execution', 40);
         CREATE TABLE \"x_odd \"\"name\" (\"the key\" INTEGER PRIMARY KEY, v) ;
         INSERT INTO \"x_odd \"\"name\" VALUES (5, 'five'), (9, NULL);
         CREATE TRIGGER x_mine AFTER INSERT ON run BEGIN DELETE FROM bindings; END;
         CREATE TABLE x_keyed (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
         INSERT INTO x_keyed VALUES ('b', 2), ('a', 1);",
        false,
        &[("attachments/a.md", "large"), ("notes/x.txt", "mine")],
    );
    let (done, session) = repaired(&dir.path().join("r1"));
    let fixed = dir.path().join("fixed");
    let ask = |sql: &str| -> Vec<String> {
        all(&fixed, sql)
            .into_iter()
            .map(|row| row.join(" "))
            .collect()
    };
    assert_eq!(
        ask("SELECT mood, started_at, state_mode FROM run"),
        ["Text([99, 97, 108, 109]) Null Null"]
    );
    assert_eq!(
        ask("SELECT CAST(value AS TEXT), token_count FROM bindings WHERE name = 'a'"),
        ["Text([115, 101, 99, 111, 110, 100]) Integer(3)"]
    );
    assert_eq!(
        ask("SELECT value, created_at FROM bindings WHERE name = 'b'"),
        ["Blob([0, 255]) Null"]
    );
    let history = all(&fixed, "SELECT CAST(value AS TEXT) FROM x_binding_history");
    assert_eq!(history.len(), 1);
    assert_eq!(
        ask("SELECT row_id FROM x_repaired WHERE before LIKE '%token_count%'"),
        ["Integer(1)"]
    );
    let broken =
        "SELECT row_id FROM x_repaired WHERE column_name = 'metadata' AND before = '{broken'";
    assert_eq!(ask(broken), ["Integer(7)"]);
    assert_eq!(
        ask("SELECT json_extract(metadata, '$.x_malformed') = '{broken' FROM execution"),
        ["Integer(1)"]
    );
    assert_eq!(
        ask("SELECT seq FROM sqlite_sequence WHERE name = 'execution'"),
        ["Integer(40)"]
    );
    assert_eq!(all(&fixed, "SELECT * FROM \"x_odd \"\"name\"").len(), 2);
    assert_eq!(all(&fixed, "SELECT * FROM x_keyed").len(), 2);
    for (path, text) in [("attachments/a.md", "large"), ("notes/x.txt", "mine")] {
        assert_eq!(std::fs::read_to_string(fixed.join(path)).unwrap(), text);
    }
    let left_out = done
        .iter()
        .find(|done| done.rule.is_empty())
        .map(|done| done.did.as_str());
    assert_eq!(
        left_out,
        Some("left out the trigger x_mine: only tables and their rows are copied")
    );
    let left = rules(&session);
    for gone in [
        "duplicate-binding",
        "malformed-json",
        "missing-table",
        "missing-column",
    ] {
        assert!(!left.contains(gone), "{gone}: {done:?}");
    }
}

#[test]
fn the_audit_log_is_carried_to_the_letter() {
    let dir = run_of::<&str>(
        "INSERT INTO run (id) VALUES ('r1');
         INSERT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, metadata)
         VALUES (3, 'g', 'r1', 'created', NULL, '{\"a\": 1}'), (8, 'g', 'r1', 'viewed', 'me', '{broken');
         CREATE TABLE x_more (a);",
        true,
        &[],
    );
    let sql = "SELECT * FROM gate_audit_log ORDER BY id";
    let before = all(&dir.path().join("r1"), sql);
    repaired(&dir.path().join("r1"));
    let fixed = dir.path().join("fixed");
    assert_eq!(all(&fixed, sql), before);
    let conn = Connection::open(fixed.join("state.db")).unwrap();
    assert!(
        conn.execute("DELETE FROM gate_audit_log", []).is_err(),
        "it is append-only again"
    );
}

#[test]
fn a_stale_row_says_what_the_evidence_says() {
    let state = "# Execution State\n\nrun: r1\nprogram: p.prose\nstatus: completed\nupdated: 2026-01-02T00:00:00Z\n";
    let sql =
        "INSERT INTO run (id, status, updated_at) VALUES ('r1', 'running', '2026-01-01 00:00:00')";
    let dir = run_of(sql, true, &[("state.md", state)]);
    let (_, session) = repaired(&dir.path().join("r1"));
    assert_eq!(
        session
            .run()
            .status
            .as_ref()
            .map(|status| status.word().to_owned())
            .as_deref(),
        Some("completed")
    );
    assert!(!rules(&session).contains("status-disagrees"));
}

#[test]
fn what_a_damaged_file_still_gives_is_saved_and_nothing_is_written_over() {
    let rows = "INSERT INTO run (id) VALUES ('r1');
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
        INSERT INTO bindings (name, kind, value) SELECT 'name_' || i, 'let', printf('%.*c', 100, 'x') FROM n;";
    let dir = run_of::<&str>(rows, true, &[]);
    let run = dir.path().join("r1");
    let path = run.join("state.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let page = bytes
        .chunks(4096)
        .position(|page| page.windows(9).any(|w| w == b"name_300l"))
        .unwrap();
    bytes[page * 4096..(page + 1) * 4096].fill(0);
    std::fs::write(&path, &bytes).unwrap();
    let (done, session) = repaired(&run);
    assert!(
        done.iter().any(|done| done.rule == "table-damaged"),
        "{done:?}"
    );
    assert!(
        session.run().bindings.len() > 50,
        "{}",
        session.run().bindings.len()
    );
    assert!(!rules(&session).contains("database-damaged"));
    let (disk, session) = open(&run);
    let repair = plan(session.run(), session.trace(), "");
    let again = write_repaired(
        &DamagedRun {
            disk: &disk,
            root: "",
            database: Some("state.db"),
            with_files: true,
            tables: &session.run().tables,
            repair: &repair,
        },
        &dir.path().join("fixed"),
    );
    assert!(again.is_err_and(|fault| fault.message.contains("there already")));
    let left: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .flatten()
        .map(|at| at.file_name())
        .collect();
    assert_eq!(left.len(), 2, "no temporary folder stays: {left:?}");
}
