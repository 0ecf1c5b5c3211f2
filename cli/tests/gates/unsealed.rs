//! Tests of a gate whose creation is not sealed in the audit log, because OpenProse's SQL or another tool created it.
//! Commands that read the run report such a gate, and its time-out is recorded only with `--override`.
//! `core/src/record/tests/unsealed.rs` tests decisions.

use std::fs;

use prosescope_test_support::needs;
use serde_json::{Value, json};

use crate::{Form, Project, in_both_forms};

/// Creates a gate as another tool does: with the SQL of sqlite.md, or as a file.
pub(crate) fn insert(project: &Project) {
    match project.form {
        Form::Sqlite => drop(project.sql(&format!(
            "INSERT INTO gates (id, run_id, prompt, allow, timeout, timeout_at, on_reject, status)
             VALUES ('by-hand', '{}', 'Ship?', '[\"lee\"]', '4h', datetime('now', '+4 hours'), 'throw', 'pending');",
            project.run
        ))),
        Form::Folder => {
            let gate = json!({
                "id": "by-hand", "run_id": project.run, "prompt": "Ship?", "allow": ["lee"],
                "on_reject": "throw", "status": "pending", "created_at": "2026-01-25T12:00:00Z",
                "timeout_at": "2030-01-01T00:00:00Z",
            });
            let folder = project.folder().join("gates");
            fs::create_dir_all(&folder).expect("made");
            fs::write(folder.join("by-hand.pending.json"), gate.to_string()).expect("written");
        }
    }
}

/// Returns the messages of the issues with the tested rule.
fn told(issues: &Value) -> Vec<&str> {
    let all = issues.as_array().expect("issues").iter();
    let own = all.filter(|issue| issue["rule"] == "gate-creation-unsealed");
    own.map(|issue| issue["message"].as_str().expect("a text"))
        .collect()
}

/// Returns the event, the principal and the seal of each row of an audit log.
fn logged(log: &Value) -> Vec<(&Value, &Value, &Value)> {
    let rows = log["rows"].as_array().expect("rows").iter();
    rows.map(|row| (&row["event"], &row["principal"], &row["sealed"]))
        .collect()
}

/// With `--override`, the time-out of a gate that another tool created is recorded. The log then contains the name of
/// the person who overrides.
#[test]
fn the_time_out_of_a_gate_of_another_tool_is_recorded_by_override() {
    if needs::faketime().is_none() || needs::sqlite3().is_none() {
        return;
    }
    const LATE: &str = "2031-01-01 00:00:00";
    in_both_forms(|project| {
        let run = &*project.run;
        project.create("deploy", &[]);
        insert(project);
        let verified = project.json(0, &["audit", "verify", run]);
        let pending = "gate by-hand: no sealed row of the log records its creation: `prosescope approve` and `reject` need `--override`";
        assert_eq!(told(&verified["issues"]), [pending]);
        let (said, _) = project.expect(0, &["gates", run]);
        assert!(said.contains("need `--override`"), "{said}");
        let before = project.files();
        let (_, said) = project.expect_at(LATE, 4, &["gates", "expire", run]);
        assert!(
            said.contains("creation of gate by-hand") && said.contains("--override"),
            "{said}"
        );
        // An override is refused unless the command names a run and a person.
        for args in [
            &["gates", "expire", "--override"][..],
            &["gates", "expire", run, "--as", "lee"],
            &["gates", "expire", run, "--override", "--as", " "],
        ] {
            project.expect_at(LATE, 2, args);
        }
        assert!(project.files() == before);
        let expire = ["gates", "expire", run, "--override", "--as", "lee"];
        let (said, _) = project.expect_at(LATE, 0, &expire);
        assert!(said.contains("by-hand"), "{said}");
        let log = project.json(0, &["audit", run, "--gate", "by-hand"]);
        let (yes, lee, system) = (json!(true), json!("lee"), json!("system"));
        assert_eq!(
            logged(&log),
            [
                (&json!("overridden"), &lee, &yes),
                (&json!("timeout"), &system, &yes)
            ]
        );
        let verified = project.json(0, &["audit", "verify", run]);
        assert_eq!(verified["chain"], "consistent");
        let reason = verified["chain_reason"].as_str().expect("a text");
        assert!(reason.contains("creation of one gate"), "{reason}");
        let shown = project.json(0, &["gates", run, "--all"]);
        let mut gates = shown.as_array().expect("gates").iter();
        let gate = gates.find(|gate| gate["id"] == "by-hand");
        let by = gate.expect("the gate")["unsealed"].as_str();
        assert!(by.expect("a text").contains("override of “lee”"), "{shown}");
        // The time-out is recorded once: repeating the command changes nothing.
        project.expect_at(LATE, 0, &expire);
        assert_eq!(project.json(0, &["audit", run, "--gate", "by-hand"]), log);
    });
}
