//! A gate whose row was changed in the database is not decided: its creation is sealed in the log.

use crate::project::{Project, cluster};

/// What is changed of a gate without the log.
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
