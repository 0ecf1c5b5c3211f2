//! Somebody changes the log behind our back: `audit verify` finds it, in a database as in a folder; in a database its
//! triggers abort it before (errata G7). Somebody changes a gate: `check` finds that the log says otherwise.

use std::fs;
use std::path::Path;

use prosescope_core::gate::chain::{Chain, seal, with_chain};
use prosescope_test_support::needs;
use serde_json::{Map, Value, json};

use crate::{FORMS, Form, Project, sqlite};

const DROP: &str = "DROP TRIGGER gate_audit_log_no_update; DROP TRIGGER gate_audit_log_no_delete;
                    DROP TRIGGER gate_audit_log_no_replace;";

/// A row of the log: its columns that are not NULL.
type Row = Map<String, Value>;

/// A log of four rows (a and b created, a approved, b rejected), and the head that its last decision printed.
fn logged(form: Form) -> Option<(Project, String)> {
    if form == Form::Sqlite && needs::sqlite3().is_none() {
        return None;
    }
    let project = Project::new(form);
    let run = project.run.clone();
    project.create("a", &["--allow", "raymond,lee"]);
    project.create("b", &["--allow", "raymond,lee", "--force"]);
    project.expect(
        0,
        &["approve", &run, "a", "--as", "raymond", "--comment", "LGTM"],
    );
    let done = project.json(0, &["reject", &run, "b", "--reason", "no", "--as", "lee"]);
    let hash = done["head"]["hash"].as_str().expect("a hash");
    let head = format!("{}:{hash}", done["head"]["count"]);
    Some((project, head))
}

/// The rows of the log as they are kept.
fn rows(project: &Project) -> Vec<Row> {
    let mut rows: Vec<Row> = match project.form {
        Form::Sqlite => {
            let sql = ".mode json\nSELECT * FROM gate_audit_log ORDER BY id;";
            serde_json::from_str(&project.sql(sql)).expect("JSON")
        }
        Form::Folder => {
            let log = fs::read_to_string(project.folder().join("gates/audit.jsonl"));
            let log = log.expect("a log");
            log.lines()
                .map(|line| serde_json::from_str(line).expect("JSON"))
                .collect()
        }
    };
    for row in &mut rows {
        row.retain(|_, value| !value.is_null());
    }
    rows
}

/// Puts these rows in the place of the log, past whatever keeps it.
fn write(project: &Project, rows: &[Row]) {
    match project.form {
        Form::Sqlite => {
            let mut sql = format!("{DROP}\nDELETE FROM gate_audit_log;\n");
            for row in rows {
                let literal = |value: &Value| match value {
                    Value::String(text) => format!("'{}'", text.replace('\'', "''")),
                    other => other.to_string(),
                };
                let columns: Vec<&str> = row.keys().map(String::as_str).collect();
                let values: Vec<String> = row.values().map(literal).collect();
                sql.push_str(&format!(
                    "INSERT INTO gate_audit_log ({}) VALUES ({});\n",
                    columns.join(", "),
                    values.join(", ")
                ));
            }
            project.sql(&sql);
        }
        Form::Folder => {
            let lines: String = rows.iter().map(|row| format!("{}\n", json!(row))).collect();
            fs::write(project.folder().join("gates/audit.jsonl"), lines).expect("written");
        }
    }
}

/// Changes the metadata of a row.
fn metadata(row: &mut Row, change: impl FnOnce(&mut Row)) {
    let mut metadata: Row =
        serde_json::from_str(row["metadata"].as_str().expect("a text")).expect("JSON");
    change(&mut metadata);
    row["metadata"] = json!(metadata).to_string().into();
}

/// Seals a row anew, at the place that it had: the hash needs no secret.
fn reseal(row: &mut Row, behind: Option<&Chain>) -> Chain {
    let mut said = String::new();
    metadata(row, |metadata| {
        metadata.remove("chain");
        said = json!(metadata).to_string();
    });
    let chain = seal(behind, &json!(row).to_string()).expect("sealed");
    row["metadata"] = with_chain(Some(&said), &chain).expect("JSON").into();
    chain
}

fn chain(row: &Row) -> Option<Chain> {
    Chain::of_metadata(row["metadata"].as_str()?)
}

/// What is done to the log.
type Tampering = fn(&mut Vec<Row>);

/// What is done, the rule that finds it with the head that was noted, and whether it is found without.
const TAMPERINGS: &[(&str, Tampering, &str, bool)] = &[
    (
        "another principal",
        |rows| rows[2]["principal"] = "mallory".into(),
        "audit-row-edited",
        true,
    ),
    (
        "another decision",
        |rows| rows[2]["event_type"] = "rejected".into(),
        "audit-row-edited",
        true,
    ),
    (
        "a comment less",
        |rows| drop(rows[2].remove("comment")),
        "audit-row-edited",
        true,
    ),
    (
        "a column more",
        |rows| drop(rows[0].insert("comment".into(), "as agreed".into())),
        "audit-row-edited",
        true,
    ),
    (
        "other metadata",
        |rows| {
            metadata(&mut rows[2], |m| {
                m.insert("client".into(), "ui".into());
            });
        },
        "audit-row-edited",
        true,
    ),
    (
        "another time",
        |rows| rows[0]["timestamp"] = "2026-01-01 00:00:00".into(),
        "audit-row-edited",
        true,
    ),
    (
        "another gate",
        |rows| rows[2]["gate_id"] = "b".into(),
        "audit-row-edited",
        true,
    ),
    (
        "edited and sealed anew, but not what follows",
        |rows| {
            rows[2]["principal"] = "mallory".into();
            let before = chain(&rows[1]);
            reseal(&mut rows[2], before.as_ref());
        },
        "audit-row-replaced",
        true,
    ),
    (
        "a row less",
        |rows| drop(rows.remove(1)),
        "audit-row-missing",
        true,
    ),
    (
        "the first row less",
        |rows| drop(rows.remove(0)),
        "audit-row-missing",
        true,
    ),
    (
        "two rows in each other's place",
        |rows| {
            rows[1]["id"] = 3.into();
            rows[2]["id"] = 2.into();
            rows.swap(1, 2);
        },
        "audit-row-",
        true,
    ),
    (
        "the last row once more",
        |rows| {
            let mut again = rows[3].clone();
            again["id"] = 5.into();
            rows.push(again);
        },
        "audit-row-repeated",
        true,
    ),
    (
        "a row in the place of another",
        |rows| {
            let (id, first) = (rows[2]["id"].clone(), rows[0].clone());
            rows[2] = first;
            rows[2]["id"] = id;
        },
        "audit-row-",
        true,
    ),
    (
        "a seal less",
        |rows| metadata(&mut rows[2], |m| drop(m.remove("chain"))),
        "audit-row-missing",
        true,
    ),
    (
        "a row that follows nothing",
        |rows| {
            let mut more = rows[3].clone();
            more["id"] = 5.into();
            let odd = Chain {
                seq: 4,
                prev: "ab".repeat(32),
                hash: "ab".repeat(32),
                id: None,
            };
            reseal(&mut more, Some(&odd));
            rows.push(more);
        },
        "audit-row-replaced",
        true,
    ),
    // The tail: only who noted the head knows.
    (
        "the last row less",
        |rows| drop(rows.pop()),
        "audit-tail-cut",
        false,
    ),
    ("no row", Vec::clear, "audit-tail-cut", false),
    (
        "no seal",
        |rows| {
            for row in rows {
                metadata(row, |m| drop(m.remove("chain")));
            }
        },
        "audit-tail-cut",
        false,
    ),
    (
        "another end, sealed as ours are",
        |rows| {
            rows[3]["event_type"] = "approved".into();
            let before = chain(&rows[2]);
            reseal(&mut rows[3], before.as_ref());
        },
        "audit-head-differs",
        false,
    ),
    (
        "all of it anew, with another principal",
        |rows| {
            let mut before = None;
            for row in rows {
                if row["principal"] == "raymond" {
                    row["principal"] = "mallory".into();
                }
                before = Some(reseal(row, before.as_ref()));
            }
        },
        "audit-head-differs",
        false,
    ),
];

#[test]
fn every_change_of_the_log_is_found() {
    for form in FORMS {
        let Some((project, head)) = logged(form) else {
            continue;
        };
        let run = &project.run;
        let noted = ["audit", "verify", run, "--expect-head", &head];
        let original = project.files();
        // As it is read and written here, it is as it was.
        let sound = rows(&project);
        write(&project, &sound);
        let found = project.json(0, &noted);
        assert_eq!(found["chain"], "consistent", "{form:?}: {found}");
        for (what, tampering, rule, alone) in TAMPERINGS {
            Project::restore(&original, &project.folder());
            let mut rows = sound.clone();
            tampering(&mut rows);
            write(&project, &rows);
            let found = project.json(1, &noted);
            assert_eq!(found["chain"], "broken", "{form:?}, {what}");
            let issues = found["issues"].to_string();
            assert!(issues.contains(rule), "{form:?}, {what}: {found}");
            // What is said of a head that somebody noted is no rule of the others.
            let code = i32::from(*alone);
            project.expect(code, &["audit", "verify", run]);
        }
    }
}

/// Rows of other tools are no change of ours: they are told apart, and a second decision shows at its gate.
#[test]
fn a_row_that_somebody_adds_is_unsealed() {
    for form in FORMS {
        let Some((project, head)) = logged(form) else {
            continue;
        };
        let run = &project.run;
        let mut more = rows(&project);
        let mut added = more[3].clone();
        added["id"] = 5.into();
        added["event_type"] = "approved".into();
        metadata(&mut added, |m| drop(m.remove("chain")));
        more.push(added);
        write(&project, &more);
        let noted = ["audit", "verify", run, "--expect-head", &head];
        let found = project.json(0, &noted);
        assert_eq!(found["chain"], "partly sealed", "{form:?}: {found}");
        let check = project.json(0, &["check", run]).to_string();
        assert!(check.contains("gate-resolved-twice"), "{form:?}: {check}");
        // Ours go on behind our own.
        project.expect(0, &["gate", "show", run, "b"]);
        let found = project.json(0, &noted);
        assert_eq!(found["chain"], "partly sealed", "{form:?}: {found}");
        assert_eq!(found["rows"], 6);
    }
}

/// Who cuts the tail off and decides anew has another head.
#[test]
fn a_log_that_was_cut_and_went_on_has_another_head() {
    for form in FORMS {
        let Some((project, head)) = logged(form) else {
            continue;
        };
        let run = &project.run;
        let mut rows = rows(&project);
        rows.pop();
        write(&project, &rows);
        project.expect(0, &["gate", "show", run, "a"]);
        project.expect(0, &["audit", "verify", run]);
        let noted = ["audit", "verify", run, "--expect-head", &head];
        let found = project.json(1, &noted);
        assert!(
            found["issues"].to_string().contains("audit-head-differs"),
            "{form:?}: {found}"
        );
        assert_eq!(found["expected"]["found"], false);
    }
}

/// What is done to gate `a`, which raymond approved: as SQL, and in the folder `gates`; the rule that `check` finds.
type GateTampering = (&'static str, fn(&Path), &'static str);

const OF_GATES: &[GateTampering] = &[
    (
        "UPDATE gates SET status = 'rejected' WHERE id = 'a';",
        |gates| {
            edit(
                &gates.join("a.resolved.json"),
                "decision",
                "rejected".into(),
            );
            edit(&gates.join("a.resolved.json"), "status", "rejected".into());
        },
        "gate-log-disagrees",
    ),
    (
        "UPDATE gates SET status = 'pending', resolved_at = NULL, resolved_by = NULL WHERE id = 'a';",
        |gates| fs::remove_file(gates.join("a.resolved.json")).expect("removed"),
        "gate-log-ahead",
    ),
    (
        "UPDATE gates SET resolved_by = 'lee' WHERE id = 'a';",
        |gates| {
            edit(&gates.join("a.resolved.json"), "resolved_by", "lee".into());
            edit(&gates.join("a.resolved.json"), "principal", "lee".into());
        },
        "gate-changed",
    ),
    (
        "UPDATE gates SET allow = '[\"raymond\",\"lee\",\"mallory\"]' WHERE id = 'a';",
        |gates| {
            let list = json!(["raymond", "lee", "mallory"]);
            edit(&gates.join("a.pending.json"), "allow", list);
        },
        "gate-changed",
    ),
    (
        "UPDATE gates SET prompt = 'Stay?' WHERE id = 'a';",
        |gates| edit(&gates.join("a.pending.json"), "prompt", "Stay?".into()),
        "gate-changed",
    ),
    (
        "DELETE FROM gates WHERE id = 'a';",
        |gates| {
            for end in ["pending", "resolved"] {
                fs::remove_file(gates.join(format!("a.{end}.json"))).expect("removed");
            }
        },
        "gate-row-missing",
    ),
];

fn edit(path: &Path, key: &str, value: Value) {
    let text = fs::read_to_string(path).expect("a gate's file");
    let mut file: Row = serde_json::from_str(&text).expect("JSON");
    file.insert(key.to_owned(), value);
    fs::write(path, json!(file).to_string()).expect("written");
}

#[test]
fn a_gate_that_contradicts_its_log_is_named() {
    for form in FORMS {
        let Some((project, head)) = logged(form) else {
            continue;
        };
        let run = &project.run;
        let original = project.files();
        let check = || {
            let args = ["check", run, "--severity", "warning"];
            project.json(0, &args)["runs"][0]["issues"].clone()
        };
        assert_eq!(check(), json!([]), "{form:?}");
        for (sql, in_folder, rule) in OF_GATES {
            Project::restore(&original, &project.folder());
            match form {
                Form::Sqlite => drop(project.sql(sql)),
                Form::Folder => in_folder(&project.folder().join("gates")),
            }
            let issues = check();
            let of_gate = |issue: &Value| {
                let told = issue["message"]
                    .as_str()
                    .is_some_and(|m| m.contains("gate a"));
                told && issue["rule"] == *rule
            };
            let found = issues.as_array().is_some_and(|all| all.iter().any(of_gate));
            assert!(found, "{form:?}, {sql}: {issues}");
            // The log itself is whole.
            let noted = ["audit", "verify", run, "--expect-head", &head];
            project.expect(0, &noted);
        }
    }
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
    let [one, two, three, four] = lines[..] else {
        panic!("{log}");
    };
    let noted = ["audit", "verify", run, "--expect-head", &head];
    // What stands there, whether the log holds with the head that was noted, what is found without it.
    for (text, code, rule, unread) in [
        // In another order on disk, with their own ids: every row says what it said.
        (format!("{two}\n\n{one}\n{four}\n{three}\n"), 0, "", false),
        (format!("{log}{}", &four[..40]), 0, "", true),
        (
            format!("{one}\n{two}\nx{three}\n{four}\n"),
            1,
            "audit-row-missing",
            true,
        ),
        (
            format!("{one}\n{two}\n{three}{four}\n"),
            1,
            "audit-tail-cut",
            true,
        ),
        (
            format!("{one}\n{two}\n{three}\n{}", &four[..40]),
            1,
            "audit-tail-cut",
            true,
        ),
    ] {
        fs::write(&path, &text).expect("written");
        let found = project.json(code, &noted);
        let issues = found["issues"].to_string();
        assert!(issues.contains(rule), "{text}\n{found}");
        let out = project.command(&["check", run, "--json"]).output();
        let check = String::from_utf8(out.expect("prose runs").stdout).expect("JSON");
        assert_eq!(check.contains("malformed-json"), unread, "{text}\n{check}");
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
