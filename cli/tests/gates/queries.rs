//! Tests with the SQL of OpenProse (sqlite.md, "Approval Gates", "Gate Audit Logging"). `sqlite3` runs this SQL on runs
//! that `prosescope` recorded, and `prosescope` reads runs that this SQL wrote.

use prosescope_test_support::needs;

use crate::{Form, Project};

/// Records a run with five gates: one past its deadline, one that expires within the hour, an approved one, a rejected
/// one, and one that timed out.
fn recorded() -> Option<Project> {
    needs::sqlite3()?;
    needs::faketime()?;
    let project = Project::new(Form::Sqlite);
    let run = project.run.clone();
    let time = |shift: &str| project.sql(&format!("SELECT datetime('now', '{shift}');"));
    let (ago, now) = (time("-2 hours"), time("-1 seconds"));
    for (gate, at, timeout) in [
        ("production_deploy", &ago, "1d"),
        ("refused", &ago, "1d"),
        ("optional_review", &ago, "30m"),
        ("due", &ago, "1h"),
        ("soon", &now, "2h30m"),
        ("sooner", &now, "59m"),
    ] {
        let args = [
            "gate",
            "create",
            gate,
            "--run",
            &run,
            "--prompt",
            "Ready?",
            "--allow",
            "user,ops-team",
            "--timeout",
            timeout,
            "--on-reject",
            "continue",
            // The option allows several gates to wait at once.
            "--force",
        ];
        project.expect_at(at, 0, &args);
    }
    let early = time("-1 hours");
    let yes = ["approve", &run, "production_deploy", "--as", "raymond"];
    let comment = ["--comment", "Reviewed changes, LGTM"];
    project.expect_at(&early, 0, &[&yes[..], &comment].concat());
    let no = [
        "reject",
        &run,
        "refused",
        "--reason",
        "Need more testing first",
    ];
    project.expect_at(&early, 0, &no);
    let late = [
        "approve",
        &run,
        "optional_review",
        "--as",
        "raymond",
        "--record-timeout",
    ];
    project.expect_at(&early, 4, &late);
    Some(project)
}

#[test]
fn the_documents_gate_queries_read_what_we_wrote() {
    let Some(project) = recorded() else { return };
    let run = &project.run;
    for (name, sql, expected) in [
        (
            "pending gates, with their run",
            "SELECT g.id, g.prompt, r.program_path FROM gates g JOIN run r ON g.run_id = r.id
             WHERE g.status = 'pending' ORDER BY g.created_at;"
                .to_owned(),
            "due|Ready?|p.prose\nsoon|Ready?|p.prose\nsooner|Ready?|p.prose",
        ),
        (
            "gates of a run",
            format!(
                "SELECT id, status, resolved_by, resolved_at IS NOT NULL FROM gates WHERE run_id = '{run}';"
            ),
            "production_deploy|approved|raymond|1\nrefused|rejected|user|1\noptional_review|timeout|system|1\n\
             due|pending||0\nsoon|pending||0\nsooner|pending||0",
        ),
        (
            "pending count",
            format!(
                "SELECT COUNT(*) as pending_count FROM gates WHERE run_id = '{run}' AND status = 'pending';"
            ),
            "3",
        ),
        (
            "timed-out gates",
            "SELECT id, timeout FROM gates WHERE status = 'pending' AND timeout_at IS NOT NULL
             AND timeout_at < datetime('now');"
                .to_owned(),
            "due|1h",
        ),
        (
            "expiring in the next hour",
            "SELECT id, timeout FROM gates WHERE status = 'pending' AND timeout_at IS NOT NULL
             AND timeout_at BETWEEN datetime('now') AND datetime('now', '+1 hour');"
                .to_owned(),
            "sooner|59m",
        ),
        (
            "resolved while suspended",
            format!(
                "SELECT status, resolved_by, resolution_comment FROM gates
                 WHERE id = 'production_deploy' AND run_id = '{run}';"
            ),
            "approved|raymond|Reviewed changes, LGTM",
        ),
        (
            "G12: the deadline is the sum of its units",
            "SELECT timeout_at = datetime(created_at, '+2 hours', '+30 minutes') FROM gates WHERE id = 'soon';"
                .to_owned(),
            "1",
        ),
        (
            "G2: every gate's execution row is there, and is over once the gate is",
            "SELECT g.id, e.status, (SELECT status FROM execution x WHERE json_extract(x.metadata, '$.gate_id') = g.id
                                     ORDER BY x.id DESC LIMIT 1)
             FROM gates g JOIN execution e ON e.id = g.execution_id WHERE g.id IN ('production_deploy', 'soon');"
                .to_owned(),
            "production_deploy|started|completed\nsoon|pending|pending",
        ),
    ] {
        assert_eq!(project.sql(&sql), expected, "{name}");
    }
}

#[test]
fn the_documents_audit_queries_read_what_we_wrote_and_agree_with_ours() {
    let Some(project) = recorded() else { return };
    let run = &project.run;
    for (name, sql, expected) in [
        (
            "history of a gate",
            format!(
                "SELECT event_type, principal, comment FROM gate_audit_log
                 WHERE gate_id = 'production_deploy' AND run_id = '{run}' ORDER BY timestamp;"
            ),
            "created|system|\napproved|raymond|Reviewed changes, LGTM",
        ),
        (
            "by a principal",
            "SELECT gate_id, event_type, comment FROM gate_audit_log
             WHERE principal = 'raymond' AND event_type IN ('approved', 'rejected') ORDER BY timestamp DESC;"
                .to_owned(),
            "production_deploy|approved|Reviewed changes, LGTM",
        ),
        (
            "time-outs, with their deadlines",
            "SELECT a.gate_id, datetime(json_extract(a.metadata, '$.timeout_at')) = g.timeout_at
             FROM gate_audit_log a JOIN gates g ON g.id = a.gate_id WHERE a.event_type = 'timeout';"
                .to_owned(),
            "optional_review|1",
        ),
        (
            "decisions of a day",
            "SELECT gate_id, event_type, principal FROM gate_audit_log WHERE event_type IN ('approved', 'rejected')
             AND timestamp >= datetime('now', '-24 hours') ORDER BY timestamp DESC, id;"
                .to_owned(),
            "production_deploy|approved|raymond\nrefused|rejected|user",
        ),
        (
            "G10: how long they waited, one row a gate",
            "SELECT g.id, CAST(round((julianday(a.timestamp) - julianday(g.created_at)) * 24 * 60) AS INTEGER)
             FROM gates g JOIN gate_audit_log a ON g.id = a.gate_id AND g.run_id = a.run_id
             WHERE a.event_type IN ('approved', 'rejected', 'timeout') ORDER BY g.id;"
                .to_owned(),
            "optional_review|60\nproduction_deploy|60\nrefused|60",
        ),
        (
            "stats",
            "SELECT event_type, COUNT(*) as count, COUNT(DISTINCT principal) as unique_principals
             FROM gate_audit_log WHERE timestamp >= datetime('now', '-30 days') GROUP BY event_type;"
                .to_owned(),
            "approved|1|1\ncreated|6|1\nrejected|1|1\ntimeout|1|1",
        ),
        (
            "metadata",
            "SELECT json_extract(metadata, '$.client'), json_extract(metadata, '$.approval_time_seconds') BETWEEN 3590 AND 3610,
                    json_extract(metadata, '$.previous_status'), json_extract(metadata, '$.on_reject')
             FROM gate_audit_log WHERE event_type IN ('approved', 'rejected') ORDER BY id;"
                .to_owned(),
            "cli|1|pending|\ncli|1|pending|continue",
        ),
    ] {
        assert_eq!(project.sql(&sql), expected, "{name}");
    }
    // `prosescope` answers the same questions as OpenProse's queries above.
    let told = |args: &[&str], keys: &[&str]| -> Vec<String> {
        let value = project.json(0, args);
        let rows = match value.get(0).and_then(|first| first.get("audit")) {
            Some(audit) => audit["rows"].clone(),
            None => value,
        };
        let text = |value: &serde_json::Value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        let rows = rows.as_array().expect("a list").iter();
        rows.map(|row| {
            let cells: Vec<String> = keys.iter().map(|key| text(&row[*key])).collect();
            cells.join("|")
        })
        .collect()
    };
    let who = &["gate", "event", "principal"];
    assert_eq!(
        told(&["audit", "--all", "--by", "raymond"], who),
        ["production_deploy|approved|raymond"]
    );
    assert_eq!(
        told(&["audit", "--all", "--since", "24h"], who),
        [
            "production_deploy|approved|raymond",
            "refused|rejected|user"
        ]
    );
    assert_eq!(
        told(
            &["audit", run, "--stats"],
            &["event", "count", "principals"]
        ),
        ["approved|1|1", "created|6|1", "rejected|1|1", "timeout|1|1"]
    );
    assert_eq!(
        told(&["audit", run, "--timeouts"], &["gate", "on_reject"]),
        ["optional_review|continue"]
    );
    let mut waits = told(&["audit", "--all", "--waits"], &["gate", "waited"]);
    waits.sort();
    assert_eq!(
        waits,
        ["optional_review|1h", "production_deploy|1h", "refused|1h"]
    );
}

/// Gates that a model writes by hand are read, and decided by the same rules (errata G2, G3, G6, G7).
#[test]
fn a_gate_that_the_documents_sql_made_is_decided_by_our_rules() {
    if needs::sqlite3().is_none() {
        return;
    }
    let project = Project::new(Form::Sqlite);
    let run = project.run.clone();
    project.sql(&format!(
        "INSERT INTO gates (id, run_id, execution_id, prompt, allow, timeout, timeout_at, on_reject, status)
         VALUES ('production_deploy', '{run}', 3, 'Ready to deploy to production. Changes: ...', '[\"user\"]', '4h',
                 datetime('now', '+4 hours'), 'throw \"Deployment cancelled\"', 'pending');
         INSERT INTO execution (statement_index, statement_text, status, metadata)
         VALUES (3, 'approve production_deploy:', 'pending', '{{\"gate_id\": \"production_deploy\"}}');
         INSERT INTO gate_audit_log (gate_id, run_id, event_type, principal, metadata)
         VALUES ('production_deploy', '{run}', 'created', 'system',
                 '{{\"prompt_hash\": \"sha256:abc123...\", \"allow\": [\"user\", \"ops-team\"]}}');
         INSERT INTO gates (id, run_id, prompt, timeout, timeout_at) VALUES ('old', '{run}', 'x', '1s', '2026-01-01T00:00:00Z');"
    ));
    let (said, _) = project.expect(0, &["audit", "verify", &run]);
    assert!(said.starts_with("unsealed"), "{said}");
    project.expect(
        0,
        &["approve", &run, "production_deploy", "--as", "raymond"],
    );
    // Rows that `prosescope` writes are sealed, and rows that the model writes are not. The verification reports the
    // mixture.
    let (said, _) = project.expect(0, &["audit", "verify", &run]);
    assert!(said.starts_with("partly sealed"), "{said}");
    // A deadline with `T` and `Z` is compared as a time, too (errata G5).
    project.expect(4, &["approve", &run, "old"]);
    assert_eq!(
        project.sql("SELECT status FROM gates WHERE id = 'old';"),
        "pending"
    );
    project.expect(4, &["approve", &run, "old", "--record-timeout"]);
    assert_eq!(
        project.sql("SELECT id, status, resolved_by FROM gates ORDER BY id;"),
        "old|timeout|system\nproduction_deploy|approved|raymond"
    );
    // SQLite lets anyone change a gate by hand. The verification finds this change afterwards.
    project.sql(&format!(
        "UPDATE gates SET status = 'rejected', resolved_at = datetime('now'), resolved_by = 'user'
         WHERE id = 'production_deploy' AND run_id = '{run}';"
    ));
    let issues = project.json(1, &["check", &run]);
    assert!(
        issues.to_string().contains("gate-changed"),
        "the log and the gate disagree: {issues}"
    );
}
