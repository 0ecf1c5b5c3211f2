//! Tests of gates whose rows were changed in the database. Such a gate cannot be decided, because the audit log
//! contains its original state in a sealed row.

use crate::project::{Project, cluster};

/// SQL assignments that change a gate without a row in the audit log.
const EDITS: [&str; 7] = [
    "allow = '[\"eve\"]'",
    "allow = '[]'",
    "prompt = 'Stay?'",
    "timeout = '40h'",
    "timeout_at = '2026-01-01 00:00:00+00'",
    "on_reject = 'continue'",
    "created_at = '2026-01-01 00:00:00+00'",
];

#[test]
fn a_gate_whose_row_was_changed_is_not_decided() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new("approve g:\n  prompt: \"Go?\"\n", &url);
    let run = project.init("postgres");
    for (n, edit) in EDITS.iter().enumerate() {
        let gate = format!("g{n}");
        let create = [
            "gate",
            "create",
            &gate,
            "--run",
            &run,
            "--prompt",
            "Go?",
            "--allow",
            "raymond",
            "--timeout",
            "4h",
            "--on-reject",
            "throw \"no\"",
            "--force",
        ];
        project.prose(0, &create, "");
        let change = format!("UPDATE openprose.gates SET {edit} WHERE id = '{gate}'");
        cluster.psql(&url, &change).unwrap();
        let mut ways: Vec<Vec<&str>> = vec![
            vec!["approve", &run, &gate, "--as", "raymond"],
            vec!["reject", &run, &gate, "--as", "raymond", "--reason", "no"],
            vec![
                "approve",
                &run,
                &gate,
                "--as",
                "raymond",
                "--record-timeout",
            ],
        ];
        if edit.starts_with("timeout_at") {
            ways.push(vec!["gates", "expire", &run]);
        }
        for way in ways {
            let said = project.prose(4, &way, "");
            assert!(
                said.contains("nothing was decided"),
                "{edit} {way:?}: {said}"
            );
        }
        let left = format!("SELECT status FROM openprose.gates WHERE id = '{gate}'");
        assert_eq!(cluster.psql(&url, &left).unwrap(), "pending", "{edit}");
        let rows =
            format!("SELECT count(*) FROM openprose.gate_audit_log WHERE gate_id = '{gate}'");
        assert_eq!(cluster.psql(&url, &rows).unwrap(), "1", "{edit}");
    }
}

/// Tests changes of the audit log by someone who can switch off its triggers. The gate cannot be decided, not even
/// with `--override`, and `audit verify` reports the change.
#[test]
fn a_gate_whose_log_was_changed_is_not_decided() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    // The SQL that changes the log or the gates, and a part of the error when gate b is decided.
    let edits = [
        (
            "UPDATE openprose.gate_audit_log SET metadata = replace(metadata, 'raymond', 'eve') WHERE gate_id = 'b';
             UPDATE openprose.gates SET allow = '[\"eve\"]' WHERE id = 'b'",
            "was changed after it was sealed",
        ),
        (
            "UPDATE openprose.gate_audit_log SET principal = 'eve' WHERE gate_id = 'b'",
            "was changed after it was sealed",
        ),
        (
            "UPDATE openprose.gate_audit_log SET metadata = (metadata::jsonb - 'chain')::text WHERE gate_id = 'b'",
            "lost its seal",
        ),
        (
            "DELETE FROM openprose.gate_audit_log WHERE gate_id = 'b'",
            "names the sealed row at place 2 of the audit log",
        ),
        (
            "DELETE FROM openprose.gate_audit_log WHERE gate_id = 'b';
             UPDATE openprose.execution SET metadata = metadata - 'audit_seq'",
            "missing before it",
        ),
        (
            "DELETE FROM openprose.gate_audit_log WHERE gate_id <> 'c';
             UPDATE openprose.execution SET metadata = metadata - 'audit_seq'",
            "missing before it",
        ),
    ];
    let project = Project::new("approve g:\n  prompt: \"Go?\"\n", &url);
    let tamper = |run: &str, edit: &str| {
        let of = format!("run_id = '{}'", run.trim_start_matches("postgres:"));
        let edit: Vec<String> = edit
            .split(';')
            .map(|one| {
                if one.contains(" WHERE ") {
                    format!("{one} AND {of}")
                } else {
                    format!("{one} WHERE {of}")
                }
            })
            .collect();
        let sql = format!(
            "ALTER TABLE openprose.gate_audit_log DISABLE TRIGGER USER; {}; ALTER TABLE openprose.gate_audit_log ENABLE TRIGGER USER",
            edit.join("; ")
        );
        cluster.psql(&url, &sql).unwrap();
    };
    let begun = || {
        let run = project.init("postgres");
        for gate in ["a", "b", "c"] {
            let create = [
                "gate", "create", gate, "--run", &run, "--prompt", "Go?", "--allow", "raymond",
                "--force",
            ];
            project.prose(0, &create, "");
        }
        run
    };
    for (edit, why) in edits {
        let run = begun();
        tamper(&run, edit);
        for by in ["raymond", "eve"] {
            for more in [&[][..], &["--override"]] {
                let way = [&["approve", &run, "b", "--as", by], more].concat();
                let said = project.prose(4, &way, "");
                assert!(
                    said.contains("nothing was decided") && said.contains(why),
                    "{edit}: {said}"
                );
                let way = [&["reject", &run, "b", "--as", by, "--reason", "no"], more].concat();
                project.prose(4, &way, "");
            }
        }
        project.prose(1, &["audit", "verify", &run], "");
    }
    // A log that lost all its rows is not replaced by a new log.
    let run = begun();
    tamper(&run, "DELETE FROM openprose.gate_audit_log");
    for way in [
        &["approve", &run, "b", "--as", "raymond"][..],
        &["gates", "expire", &run],
        &["put", "x", "--run", &run],
        &["begin", "1", "--run", &run],
        &[
            "gate", "create", "d", "--run", &run, "--prompt", "Go?", "--force",
        ],
    ] {
        let said = project.prose(5, way, "");
        assert!(
            said.contains("refers to place") && said.contains("from a copy"),
            "{said}"
        );
    }
    let said = project.prose(1, &["audit", "verify", &run], "");
    assert!(
        said.contains("gone") && said.contains("refers to place"),
        "{said}"
    );
    // A gate that was inserted with OpenProse's own SQL can be decided with `--override`, and the log records the
    // override.
    let run = begun();
    let id = run.trim_start_matches("postgres:");
    let insert = format!(
        "INSERT INTO openprose.gates (id, run_id, prompt, allow, status) VALUES ('by-hand', '{id}', 'Go?', '[\"raymond\"]', 'pending')"
    );
    cluster.psql(&url, &insert).unwrap();
    let approve = ["approve", &*run, "by-hand", "--as", "raymond"];
    let said = project.prose(4, &approve, "");
    assert!(said.contains("--override"), "{said}");
    project.prose(0, &[&approve[..], &["--override"]].concat(), "");
    let log = project.json(&["audit", &run, "--gate", "by-hand"]);
    let words: Vec<&str> = log["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|row| row["event"].as_str())
        .collect();
    assert_eq!(words, ["overridden", "approved"]);
    let verified = project.json(&["audit", "verify", &run]);
    assert_eq!(verified["chain"], "consistent");
    assert!(
        verified
            .to_string()
            .contains("decided by override of “raymond”"),
        "{verified}"
    );
}
