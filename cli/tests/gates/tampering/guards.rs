//! Tests that commands notice damage to the files, lines and triggers that protect the audit log and its gates.

use std::fs;
use std::path::Path;

use prosescope_test_support::needs;
use serde_json::json;

use super::state::Row;
use super::{found, logged};
use crate::{FORMS, Form, Project, sqlite};

/// An edit of a gate's file: the name of the file, the key and its new value (`None` removes the file), and the rule of
/// the expected finding. `core/src/read/decode/gates_json/tests.rs` has the other pairs of keys that must agree.
type OfFile = (
    &'static str,
    Option<(&'static str, &'static str)>,
    &'static str,
);

const OF_FILES: &[OfFile] = &[
    (
        "a.resolved",
        Some(("principal", "mallory")),
        "gate-files-disagree",
    ),
    ("a.resolved", Some(("gate_id", "b")), "gate-files-disagree"),
    (
        "c.pending",
        Some(("status", "approved")),
        "gate-decision-unsealed",
    ),
    (
        "c.pending",
        Some(("decision", "approved")),
        "gate-decision-unsealed",
    ),
    ("a.resolved", None, "gate-changed"),
];

#[test]
fn a_change_of_one_file_of_a_gate_is_named() {
    let Some((project, _)) = logged(Form::Folder) else {
        return;
    };
    let original = project.files();
    for (file, edit, rule) in OF_FILES {
        Project::restore(&original, &project.folder());
        let path = project.folder().join(format!("gates/{file}.json"));
        match edit {
            None => fs::remove_file(&path).expect("removed"),
            Some((key, value)) => {
                let text = fs::read_to_string(&path).expect("a gate's file");
                let mut file: Row = serde_json::from_str(&text).expect("JSON");
                file.insert((*key).to_owned(), (*value).into());
                fs::write(&path, json!(file).to_string()).expect("written");
            }
        }
        let (verified, checked) = found(&project, None);
        assert!(verified.contains(*rule), "{file}, {edit:?}: {verified:?}");
        assert!(checked.contains(*rule), "{file}, {edit:?}: {checked:?}");
    }
}

/// Marks a case in which the test removes the log, in place of the contents that remain.
const GONE: &[u8] = b"gone";

/// A log that lost all its rows, or the end of its last row, is damaged, not just shorter. Commands that read report
/// the damage, and commands that write are refused. An incomplete last row from a killed writer is not damage
/// (`tests/tests/record/kill.rs`).
#[test]
fn a_log_that_was_emptied_or_cut_off_is_not_gone_on_with() {
    let Some((project, _)) = logged(Form::Folder) else {
        return;
    };
    const NOON: &str = "2026-01-25 12:50:00";
    const LATE: &str = "2031-01-01 00:00:00";
    let original = project.files();
    let run = &project.run;
    let (audit, events) = ("gates/audit.jsonl", "x_events.jsonl");
    let all = |log: &str| original[Path::new(log)].clone();
    let cut = |log: &str| {
        let mut bytes = all(log);
        bytes.truncate(bytes.len() - 20);
        bytes
    };
    let first = |log: &str| {
        let mut bytes = all(log);
        bytes.truncate(40);
        bytes
    };
    // Each case: what happened to a log, the file of the log, the contents that remain, the exit code of reading
    // commands, and that of writing commands.
    for (what, log, left, verified, approved) in [
        ("emptied", audit, Vec::new(), 5, 5),
        ("blank", audit, b"\n \n".to_vec(), 5, 5),
        ("cut off", audit, cut(audit), 5, 5),
        ("its only line cut off", audit, first(audit), 5, 5),
        ("emptied", events, Vec::new(), 0, 5),
        ("its only line cut off", events, first(events), 0, 5),
        ("gone", audit, GONE.to_vec(), 1, 5),
        ("gone", events, GONE.to_vec(), 0, 5),
    ] {
        Project::restore(&original, &project.folder());
        let path = project.folder().join(log);
        let is_gone = left == GONE;
        if is_gone {
            fs::remove_file(path).expect("removed");
        } else {
            fs::write(path, left).expect("written");
        }
        let before = project.files();
        let what = format!("{log}, {what}");
        for (now, code, args) in [
            (NOON, verified, &["audit", "verify", run][..]),
            (NOON, 1, &["check", run]),
            (NOON, approved, &["approve", run, "c", "--as", "lee"]),
            (LATE, approved, &["gates", "expire", run]),
            (
                NOON,
                approved,
                &["put", "x", "--run", run, "--file", "p.prose"],
            ),
            (NOON, approved, &["begin", "1", "--run", run]),
            (
                NOON,
                approved,
                &[
                    "gate", "create", "e", "--run", run, "--prompt", "Go?", "--force",
                ],
            ),
        ] {
            // `check` cannot notice a missing log of events, because no other file refers to this log.
            if args[0] == "check" && is_gone && log == events {
                continue;
            }
            let out = project.at(now, args);
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            assert_eq!(out.status.code(), Some(code), "{what}, {args:?}: {said}");
            assert!(project.files() == before, "{what}, {args:?}");
            if code == 5 {
                assert!(said.contains(log) && said.contains('→'), "{what}: {said}");
            }
        }
    }
    // A run may never have written any of these logs, so their absence is not an error.
    Project::restore(&original, &project.folder());
    for log in ["gates", "x_checkpoint.jsonl", events] {
        let path = project.folder().join(log);
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
    }
    project.expect(0, &["audit", "verify", run]);
}

/// The executions of gates refer to the audit log. So if the log's rows, table or file are missing, every recording
/// command is refused, and `audit verify` reports that the log is gone.
#[test]
fn a_run_whose_audit_log_is_gone_is_not_gone_on_with() {
    const REMOVED: &[&str] = &[
        "DROP TRIGGER gate_audit_log_no_delete; DELETE FROM gate_audit_log;",
        "DROP TABLE gate_audit_log;",
    ];
    for (form, removed) in [
        (Form::Sqlite, REMOVED),
        (Form::Folder, &["gates/audit.jsonl"]),
    ] {
        let Some((project, _)) = logged(form) else {
            continue;
        };
        let original = project.files();
        let run = &project.run;
        for what in removed {
            Project::restore(&original, &project.folder());
            match form {
                Form::Sqlite => drop(project.sql(what)),
                Form::Folder => fs::remove_file(project.folder().join(what)).expect("removed"),
            }
            let before = project.files();
            for args in [
                &["put", "x", "--run", run, "--file", "p.prose"][..],
                &["begin", "1", "--run", run],
                &[
                    "gate", "create", "e", "--run", run, "--prompt", "Go?", "--force",
                ],
                &["approve", run, "c", "--as", "lee", "--override"],
                &["gates", "expire", run, "--override"],
                &["resume", run, "--begin"],
                &["finish", "failed", "--run", run],
            ] {
                let (_, said) = project.expect_at("2026-01-25 12:50:00", 5, args);
                for part in [
                    "the audit log of run",
                    "refers to place 4 of the log's chain, the creation of gate d",
                    "nothing was changed",
                    "from a copy",
                ] {
                    assert!(said.contains(part), "{what}, {args:?}: {said}");
                }
                assert!(project.files() == before, "{what}, {args:?}");
            }
            let said = project.json(1, &["audit", "verify", run]);
            assert_eq!((&said["chain"], &said["rows"]), (&json!("gone"), &json!(0)));
            assert!(
                said["chain_reason"]
                    .to_string()
                    .contains("refers to place 4"),
                "{said}"
            );
            let (verified, checked) = found(&project, None);
            for rules in [verified, checked] {
                assert!(rules.contains("audit-log-gone"), "{what}: {rules:?}");
            }
            // Commands that read still show the gates.
            let (said, _) = project.expect(1, &["gates", run]);
            assert!(said.contains("approved  a"), "{said}");
        }
        // After the log was restored, the run can be recorded again.
        Project::restore(&original, &project.folder());
        project.expect(0, &["put", "x", "--run", run, "--file", "p.prose"]);
    }
}

/// A run without gates, or with gates of another tool only, may never have had an audit log. So no log is reported as
/// missing.
#[test]
fn a_log_that_never_was_is_not_missed() {
    for form in FORMS {
        let project = Project::new(form);
        let run = &project.run;
        let put = ["put", "x", "--run", run, "--file", "p.prose"];
        let empty = || {
            let said = project.json(0, &["audit", "verify", run]);
            assert_eq!(said["chain"], "empty", "{form:?}: {said}");
            project.expect(0, &put);
        };
        empty();
        match form {
            Form::Sqlite if needs::sqlite3().is_none() => continue,
            _ => crate::unsealed::insert(&project),
        }
        empty();
    }
}

/// A log of events that lost its last lines is shorter than its checkpoint. Recording is refused, because new rows
/// would reuse ids.
#[test]
fn a_log_of_events_that_was_shortened_is_not_gone_on_with() {
    let project = Project::new(Form::Folder);
    let run = &project.run;
    let give = |code: i32, args: &[&str]| project.expect(code, &[args, &["--run", run]].concat());
    let (begun, _) = give(0, &["begin", "1"]);
    let value = ["--file", "p.prose"];
    let begun = begun.lines().next().unwrap_or_default();
    let put = ["put", "plan", "--into", begun];
    give(0, &[&put[..], &value].concat());
    project.create("deploy", &[]);
    let path = project.folder().join("x_events.jsonl");
    let log = fs::read_to_string(&path).expect("a log");
    let whole = project.files();
    // The checkpoint counts the events up to the written value. The two later lines are removed: the end of that
    // execution, and the creation of the gate.
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    fs::write(&path, lines[..lines.len() - 2].concat()).expect("written");
    let before = project.files();
    for args in [
        &["begin", "6"][..],
        &[&put[..], &value].concat(),
        &["gate", "create", "other", "--prompt", "Go?", "--force"],
        &["finish", "failed"],
        &["reject", "deploy", "--reason", "no"],
        &["approve", "deploy"],
    ] {
        let (_, said) = give(5, args);
        assert!(
            said.contains("x_events.jsonl") && said.contains("x_checkpoint.jsonl"),
            "{said}"
        );
        assert!(project.files() == before, "{args:?}");
    }
    // Recording works again after either of two repairs: the checkpoint is removed, or the log is restored.
    fs::remove_file(project.folder().join("x_checkpoint.jsonl")).expect("removed");
    give(0, &["approve", "deploy"]);
    Project::restore(&whole, &project.folder());
    give(0, &["approve", "deploy"]);
}

/// In a database with several runs, a gate that was moved to another run is missing in its own run.
#[test]
fn a_gate_that_is_moved_to_another_recorded_run_is_missed() {
    let Some((project, _)) = logged(Form::Sqlite) else {
        return;
    };
    project.sql(
        "INSERT INTO run (id, started_at) VALUES ('r9', '2020-01-01 00:00:00');
         UPDATE gates SET run_id = 'r9' WHERE id = 'a';",
    );
    let (verified, checked) = found(&project, None);
    assert!(verified.contains("gate-removed"), "{verified:?}");
    assert!(checked.contains("gate-removed"), "{checked:?}");
}

#[test]
fn lines_that_cannot_be_read_are_missed() {
    let Some((project, head)) = logged(Form::Folder) else {
        return;
    };
    let run = &project.run;
    let path = project.folder().join("gates/audit.jsonl");
    let log = fs::read_to_string(&path).expect("a log");
    let lines: Vec<&str> = log.lines().collect();
    let (start, tail) = lines.split_at(lines.len() - 4);
    let [one, two, three, four] = tail else {
        panic!("{log}");
    };
    let start = start.join("\n");
    let noted = ["audit", "verify", run, "--expect-head", &head];
    // The text of the log, and the number of unreadable lines.
    for (text, unread) in [
        // Another order of the lines on disk changes nothing, because each row has its own id.
        (format!("{start}\n{two}\n\n{one}\n{four}\n{three}\n"), 0),
        (
            format!("{start}\n{one}\nx{two}\n{three}\n{}", &four[..40]),
            2,
        ),
    ] {
        fs::write(&path, &text).expect("written");
        let out = project.command(&noted).output().expect("prosescope runs");
        let (said, why) = (
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr),
        );
        let code = if unread > 0 { 5 } else { 0 };
        assert_eq!(out.status.code(), Some(code), "{text}\n{said}{why}");
        let counted = format!("{unread} of the ");
        assert_eq!(why.contains(&counted), unread > 0, "{text}\n{why}");
        let out = project.command(&["check", run, "--json"]).output();
        let check = String::from_utf8(out.expect("prosescope runs").stdout).expect("JSON");
        for rule in ["malformed-json", "audit-lines-unread"] {
            assert_eq!(check.contains(rule), unread > 0, "{text}\n{check}");
        }
    }
}

#[test]
fn the_triggers_abort_every_change() {
    let Some((project, head)) = logged(Form::Sqlite) else {
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
fn triggers_that_were_dropped_or_tamed_are_missed() {
    let Some((project, head)) = logged(Form::Sqlite) else {
        return;
    };
    let run = &project.run;
    let verify = ["audit", "verify", run, "--expect-head", &head];
    let sound = project.json(0, &verify);
    assert_eq!(sound["issues"], json!([]));
    project.sql(
        "DROP TRIGGER gate_audit_log_no_update;
         CREATE TRIGGER gate_audit_log_no_update BEFORE UPDATE ON gate_audit_log WHEN 0
         BEGIN SELECT RAISE(ABORT, 'gate_audit_log is append-only: its rows are not changed'); END;
         DROP TRIGGER gate_audit_log_no_delete;",
    );
    // Only triggers were changed, so the chain of the log itself is consistent.
    let found = project.json(0, &verify);
    assert_eq!(found["chain"], "consistent");
    let issue = &found["issues"][0];
    assert_eq!(issue["rule"], "audit-unguarded");
    let message = issue["message"].as_str().expect("a text");
    assert!(
        message.ends_with("changes of rows: gate_audit_log_no_update, gate_audit_log_no_delete"),
        "{message}"
    );
}
