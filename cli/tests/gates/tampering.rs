//! Somebody changes the log behind our back: its triggers abort that, or `audit verify` finds it (errata G7).

use crate::{Project, has_sqlite3, sqlite};

const DROP: &str = "DROP TRIGGER gate_audit_log_no_update; DROP TRIGGER gate_audit_log_no_delete;
                    DROP TRIGGER gate_audit_log_no_replace;";

/// A log of four rows, and the head that its last decision printed.
fn logged() -> Option<(Project, String)> {
    if !has_sqlite3() {
        return None;
    }
    let project = Project::new();
    let run = project.run.clone();
    project.create("a", &[]);
    project.create("b", &[]);
    project.expect(
        0,
        &["approve", &run, "a", "--as", "raymond", "--comment", "LGTM"],
    );
    let done = project.json(0, &["reject", &run, "b", "--reason", "no", "--as", "lee"]);
    let hash = done["head"]["hash"].as_str().expect("a hash");
    let head = format!("{}:{hash}", done["head"]["count"]);
    Some((project, head))
}

#[test]
fn the_triggers_abort_every_change() {
    let Some((project, head)) = logged() else {
        return;
    };
    for sql in [
        "UPDATE gate_audit_log SET principal = 'mallory' WHERE id = 3;",
        "UPDATE gate_audit_log SET id = 9 WHERE id = 3;",
        "DELETE FROM gate_audit_log WHERE id = 3;",
        "DELETE FROM gate_audit_log;",
        "INSERT OR REPLACE INTO gate_audit_log (id, gate_id, run_id, event_type, principal)
         SELECT id, gate_id, run_id, event_type, 'mallory' FROM gate_audit_log WHERE id = 3;",
        "REPLACE INTO gate_audit_log (id, gate_id, run_id, event_type) VALUES (4, 'b', 'x', 'approved');",
    ] {
        let (ok, _, said) = sqlite(&project.database(), sql);
        assert!(!ok, "{sql}");
        assert!(said.contains("append-only"), "{said}");
    }
    let (said, _) = project.expect(
        0,
        &["audit", "verify", &project.run, "--expect-head", &head],
    );
    assert!(said.starts_with("consistent"), "{said}");
}

#[test]
fn without_the_triggers_every_change_is_found() {
    let Some((project, head)) = logged() else {
        return;
    };
    let original = std::fs::read(project.database()).expect("read");
    // What is done, what is found with the head, and whether it is found without it.
    for (sql, rule, alone) in [
        (
            "UPDATE gate_audit_log SET principal = 'mallory' WHERE id = 3;",
            "audit-row-edited",
            true,
        ),
        (
            "UPDATE gate_audit_log SET comment = NULL WHERE id = 3;",
            "audit-row-edited",
            true,
        ),
        (
            "UPDATE gate_audit_log SET metadata = json_set(metadata, '$.client', 'ui') WHERE id = 3;",
            "audit-row-edited",
            true,
        ),
        (
            "UPDATE gate_audit_log SET timestamp = '2026-01-01 00:00:00' WHERE id = 1;",
            "audit-row-edited",
            true,
        ),
        (
            "DELETE FROM gate_audit_log WHERE id = 2;",
            "audit-row-missing",
            true,
        ),
        (
            "DELETE FROM gate_audit_log WHERE id = 1;",
            "audit-row-missing",
            true,
        ),
        (
            "UPDATE gate_audit_log SET id = 99 WHERE id = 2;
             UPDATE gate_audit_log SET id = 2 WHERE id = 3;
             UPDATE gate_audit_log SET id = 3 WHERE id = 99;",
            "audit-row-",
            true,
        ),
        (
            "INSERT OR REPLACE INTO gate_audit_log SELECT 3, gate_id, run_id, 'rejected', 'mallory', comment, timestamp,
             metadata FROM gate_audit_log WHERE id = 3;",
            "audit-row-edited",
            true,
        ),
        (
            "INSERT INTO gate_audit_log SELECT 5, gate_id, run_id, event_type, principal, comment, timestamp, metadata
             FROM gate_audit_log WHERE id = 4;",
            "audit-row-repeated",
            true,
        ),
        (
            "UPDATE gate_audit_log SET metadata = json_remove(metadata, '$.chain') WHERE id = 3;",
            "audit-row-missing",
            true,
        ),
        // The tail: only who noted the head knows.
        (
            "DELETE FROM gate_audit_log WHERE id = 4;",
            "audit-tail-cut",
            false,
        ),
        ("DELETE FROM gate_audit_log;", "audit-tail-cut", false),
        (
            "UPDATE gate_audit_log SET metadata = json_remove(metadata, '$.chain');",
            "audit-tail-cut",
            false,
        ),
    ] {
        std::fs::write(project.database(), &original).expect("written");
        project.sql(&format!("{DROP}\n{sql}"));
        let run = &project.run;
        let noted = ["audit", "verify", run, "--expect-head", &head];
        let found = project.json(1, &noted);
        assert_eq!(found["chain"], "broken", "{sql}");
        assert!(found["issues"].to_string().contains(rule), "{sql}\n{found}");
        project.expect(i32::from(alone), &["audit", "verify", run]);
    }
}

#[test]
fn triggers_that_were_dropped_or_tamed_are_missed() {
    let Some((project, head)) = logged() else {
        return;
    };
    let run = &project.run;
    let verify = ["audit", "verify", run, "--expect-head", &head];
    let sound = project.json(0, &verify);
    assert_eq!(sound["issues"], serde_json::json!([]));
    project.sql(
        "DROP TRIGGER gate_audit_log_no_update;
         CREATE TRIGGER gate_audit_log_no_update BEFORE UPDATE ON gate_audit_log WHEN 0
         BEGIN SELECT RAISE(ABORT, 'gate_audit_log is append-only: its rows are not changed'); END;
         DROP TRIGGER gate_audit_log_no_delete;",
    );
    // Nothing of the log itself was changed.
    let found = project.json(0, &verify);
    assert_eq!(found["chain"], "consistent");
    let issue = &found["issues"][0];
    assert_eq!(issue["rule"], "audit-unguarded");
    let message = issue["message"].as_str().expect("a text");
    assert!(
        message.ends_with("changed: gate_audit_log_no_update, gate_audit_log_no_delete"),
        "{message}"
    );
}

#[test]
fn a_log_that_was_made_anew_is_consistent_and_has_another_head() {
    let Some((project, head)) = logged() else {
        return;
    };
    // Who may write the file may also record all of it again: here, on a copy of the run.
    let other = Project::new();
    other.create("a", &[]);
    other.create("b", &[]);
    other.expect(0, &["approve", &other.run, "a", "--as", "mallory"]);
    let done = ["approve", &other.run, "b", "--as", "mallory"];
    other.expect(0, &done);
    std::fs::copy(other.database(), project.database()).expect("copied");
    let path = project.database().display().to_string();
    let (said, _) = project.expect(0, &["audit", "verify", &path]);
    assert!(said.starts_with("consistent"), "{said}");
    let found = project.json(1, &["audit", "verify", &path, "--expect-head", &head]);
    assert!(
        found["issues"].to_string().contains("audit-head-differs"),
        "{found}"
    );
    assert_eq!(found["expected"]["found"], false);
}
