//! Tests of decisions on gates: their output, and their refusals.

use std::process::Stdio;

use prosescope_core::model::text::is_hazard;
use prosescope_test_support::needs;

use serde_json::Value;

use crate::{Form, Project, in_both_forms};

const NOON: &str = "2026-01-25 12:00:00";

#[test]
fn an_approval_names_the_claim_and_the_head_that_verify_takes() {
    in_both_forms(|project| {
        let run = project.run.clone();
        project.create("deploy", &["--allow", "ops-team,raymond"]);
        let (said, _) = project.expect(
            0,
            &[
                "approve",
                &run,
                "deploy",
                "--as",
                "lee",
                "--for",
                "ops-team",
                "--comment",
                "LGTM",
            ],
        );
        assert!(said.contains("lee, for ops-team (claimed,"), "{said}");
        let head = said
            .lines()
            .find_map(|line| line.trim().strip_prefix("head"))
            .expect("the head is printed")
            .trim()
            .to_owned();
        assert!(head.starts_with("2:") && head.len() == 66, "{head}");
        let (said, _) = project.expect(0, &["audit", "verify", &run, "--expect-head", &head]);
        assert!(said.starts_with("consistent"), "{said}");
        assert!(said.contains("found in the chain"), "{said}");
        let rows = project.json(0, &["audit", &run, "--gate", "deploy"]);
        let metadata = rows["rows"][1]["metadata"].as_str().expect("a text");
        // The audit log records the user of the system, not `$USER`, which this test sets to "tester".
        assert!(!metadata.contains("tester"), "{metadata}");
        if let Some(user) = system_user() {
            let noted = format!(r#""os_user":"{user}""#);
            assert!(metadata.contains(&noted), "{metadata}");
        }
        for wrong in ["2", "x:y", "0:00", "2:zz", &format!("0:{}", &head[2..])] {
            project.expect(2, &["audit", "verify", &run, "--expect-head", wrong]);
        }
    });
}

#[test]
fn a_head_has_one_shape_wherever_it_is_printed() {
    in_both_forms(|project| {
        let run = project.run.clone();
        let made = project.json(
            0,
            &["gate", "create", "go", "--run", &run, "--prompt", "Go?"],
        );
        let decided = project.json(0, &["approve", &run, "go"]);
        let hash = decided["head"]["hash"].as_str().expect("a hash");
        let head = serde_json::json!({ "run": run, "count": 2, "hash": hash });
        assert_eq!(
            (&made["head"]["run"], &made["head"]["count"]),
            (&run.as_str().into(), &1.into())
        );
        assert_eq!(decided["head"], head);
        for args in [&["audit", "verify", &run][..], &["audit", &run]] {
            assert_eq!(project.json(0, args)["head"], head, "{args:?}");
        }
    });
}

#[test]
fn the_documents_own_words_decide_as_well() {
    in_both_forms(|project| {
        let run = project.run.clone();
        for (gate, words, code, status) in [
            (
                "a",
                &["approve", "--approve", "--comment", "LGTM"][..],
                0,
                "approved",
            ),
            (
                "b",
                &["approve", "--reject", "--reason", "Need review"],
                0,
                "rejected",
            ),
            ("c", &["reject", "--reason", "explanation"], 0, "rejected"),
            ("d", &["reject"], 2, "pending"),
            ("e", &["approve", "--reject"], 2, "pending"),
            (
                "f",
                &["approve", "--approve", "--reject", "--reason", "x"],
                2,
                "pending",
            ),
            ("g", &["approve", "--reason", "x"], 2, "pending"),
            ("h", &["approve"], 0, "approved"),
        ] {
            // A pending gate would block the next one, so each gate is created with `--force`.
            project.create(gate, &["--force"]);
            let args = [&[words[0], &run, gate], &words[1..]].concat();
            project.expect(code, &args);
            let gates = project.json(0, &["gates", &run]);
            let list = gates.as_array().expect("a list");
            let view = list.iter().find(|view| view["id"] == gate);
            let view = view.expect("the gate is there");
            assert_eq!(view["status"], status, "{args:?}");
            if status == "approved" {
                assert_eq!(view["resolved_by"], "user", "the document's principal");
            }
        }
    });
}

/// A model that carries out the program waits with one command, which ends with the decision.
#[test]
fn waiting_ends_with_the_decision() {
    for (decision, code, said) in [
        (
            &["approve", "--as", "ops"][..],
            0,
            "gate deploy was approved by ops",
        ),
        (
            &["reject", "--as", "ops", "--reason", "Friday"],
            4,
            "gate deploy was rejected by ops: Friday",
        ),
    ] {
        in_both_forms(|project| {
            project.create("deploy", &["--line", "3"]);
            let before = project.files();
            let wait = ["gate", "wait", &project.run, "deploy"];
            let (_, still) = project.expect(4, &[&wait[..], &["--for", "1s"]].concat());
            assert!(still.contains("waits for a decision by anyone"), "{still}");
            assert!(project.files() == before, "waiting writes nothing");
            let mut command = project.command(&wait);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let waiting = command.spawn().expect("waits");
            let (word, more) = decision.split_first().expect("a word");
            project.expect(0, &[&[*word, &project.run, "deploy"], more].concat());
            let out = waiting.wait_with_output().expect("ended");
            let all = [out.stdout, out.stderr].concat();
            let all = String::from_utf8_lossy(&all).into_owned();
            assert_eq!(out.status.code(), Some(code), "{all}");
            assert!(all.contains(said), "{all}");
        });
    }
}

#[test]
fn what_is_refused_changes_nothing() {
    in_both_forms(|project| {
        let run = project.run.clone();
        project.create("deploy", &["--allow", "ops-team"]);
        let many = ["--allow", "ops-team", "--timeout", "4h", "--force"];
        project.create("nobody", &many);
        let before = project.files();
        for (code, args) in [
            (4, &["approve", &run, "deploy", "--as", "raymond"][..]),
            (4, &["approve", &run, "deploy"]),
            (4, &["approve", &run, "deploy", "--as", "system"]),
            (4, &["reject", &run, "deploy", "--reason", "no"]),
            (
                2,
                &[
                    "reject", &run, "deploy", "--reason", " ", "--as", "ops-team",
                ],
            ),
            (3, &["approve", &run, "depoly", "--as", "ops-team"]),
            (3, &["approve", "no-such-run", "deploy"]),
            (
                2,
                &["gate", "create", "a/b", "--run", &run, "--prompt", "x"],
            ),
            (
                2,
                &[
                    "gate",
                    "create",
                    "x",
                    "--run",
                    &run,
                    "--prompt",
                    "x",
                    "--timeout",
                    "2h 30m",
                    "--force",
                ],
            ),
            (
                4,
                &["gate", "create", "deploy", "--run", &run, "--prompt", "Go?"],
            ),
            (4, &["gate", "create", "deploy", "--run", &run, "--force"]),
            (
                4,
                &["gate", "create", "later", "--run", &run, "--prompt", "x"],
            ),
        ] {
            project.expect(code, args);
            let now = project.files();
            assert!(now == before, "{args:?} left its trace");
        }
    });
}

#[test]
fn past_its_deadline_a_gate_times_out_and_the_decision_is_refused() {
    if needs::faketime().is_none() {
        return;
    }
    in_both_forms(|project| {
        let run = project.run.clone();
        let create = [
            "gate",
            "create",
            "deploy",
            "--run",
            &run,
            "--prompt",
            "Go?",
            "--timeout",
            "2h30m",
            "--on-reject",
            "continue",
        ];
        project.expect_at(NOON, 0, &create);
        // At the exact time of the deadline, the gate has not timed out yet: OpenProse compares with `<`.
        let due = |now: &str| {
            let (said, _) = project.expect_at(now, 0, &["gates", "expire"]);
            said.contains("timeout")
        };
        assert!(!due("2026-01-25 14:30:00"));
        let late = "2026-01-25 14:30:01";
        let approve = ["approve", &run, "deploy", "--as", "raymond"];
        let before = project.files();
        let (_, said) = project.expect_at(late, 4, &approve);
        assert!(said.contains("nothing was changed"), "{said}");
        assert!(said.contains("goes on with: continue"), "{said}");
        assert!(project.files() == before, "it left its trace");
        let recorded = [&approve[..], &["--record-timeout"]].concat();
        let (_, said) = project.expect_at(late, 4, &recorded);
        assert!(said.contains("the time-out was recorded"), "{said}");
        assert!(said.contains("2:"), "the head is told: {said}");
        let gate = &project.json(0, &["gates", &run])[0];
        assert_eq!(
            (&gate["status"], &gate["resolved_by"]),
            (&"timeout".into(), &"system".into())
        );
        assert!(!due("2026-01-25 15:00:00"), "once");
        project.expect_at("2026-01-25 15:00:00", 4, &["approve", &run, "deploy"]);
        let audit = project.json(0, &["audit", &run]);
        assert_eq!(audit["rows"].as_array().map(Vec::len), Some(2));
        assert_eq!(audit["chain"], "consistent");
        let timeouts = project.json(0, &["audit", "--all", "--timeouts"]);
        assert_eq!(timeouts[0]["deadline"], "2026-01-25T14:30:00Z");
        assert_eq!(timeouts[0]["on_reject"], "continue");
    });
}

#[test]
fn expiring_and_expire_look_into_all_runs() {
    if needs::faketime().is_none() {
        return;
    }
    in_both_forms(|project| {
        let run = project.run.clone();
        for (gate, timeout) in [("soon", "30m"), ("later", "2h"), ("never", "")] {
            let base = [
                "gate", "create", gate, "--run", &run, "--prompt", "Go?", "--force",
            ];
            let timeout = ["--timeout", timeout];
            let more = if timeout[1].is_empty() {
                &[][..]
            } else {
                &timeout
            };
            project.expect_at(NOON, 0, &[&base[..], more].concat());
        }
        let ids = |now: &str, args: &[&str]| -> Vec<String> {
            let args = [args, &["--json"]].concat();
            let (out, _) = project.expect_at(now, 0, &args);
            let list: serde_json::Value = serde_json::from_str(&out).expect("JSON");
            let list = list.as_array().expect("a list").iter();
            let name = |gate: &serde_json::Value| {
                let id = gate.get("id").or(gate.get("gate"));
                id.and_then(|id| id.as_str()).expect("an id").to_owned()
            };
            list.map(name).collect()
        };
        assert_eq!(ids(NOON, &["gates", "--expiring", "1h"]), ["soon"]);
        assert_eq!(ids(NOON, &["gates", "--expiring", "1d"]), ["soon", "later"]);
        let after = "2026-01-25 12:31:00";
        assert_eq!(ids(after, &["gates", "--expiring", "1h"]), [] as [&str; 0]);
        assert_eq!(ids(after, &["gates", "expire"]), ["soon"]);
        assert_eq!(ids(after, &["gates", "expire"]), [] as [&str; 0]);
        let end = "2026-01-26 12:00:00";
        assert_eq!(ids(end, &["gates", "expire", &run]), ["later"]);
        assert_eq!(ids(end, &["gates"]), ["never"]);
        project.expect(2, &["gates", "--expiring", "soon"]);
    });
}

#[test]
fn looking_is_logged_unless_it_is_not_wanted_or_cannot_be() {
    in_both_forms(|project| {
        let run = project.run.clone();
        project.create("deploy", &[]);
        let events = || {
            let audit = project.json(0, &["audit", &run]);
            let rows = audit["rows"].as_array().expect("rows").clone();
            let word = |row: &serde_json::Value| row["event"].as_str().expect("a word").to_owned();
            rows.iter().map(word).collect::<Vec<_>>()
        };
        project.expect(0, &["gate", "show", &run, "deploy", "--no-log"]);
        assert_eq!(events(), ["created"]);
        let (said, _) = project.expect(0, &["gate", "show", &run, "deploy"]);
        assert!(said.contains("viewed"), "{said}");
        assert_eq!(events(), ["created", "viewed"]);
        project.expect(3, &["gate", "show", &run, "depoly"]);
        assert_eq!(events(), ["created", "viewed"]);
        // A gate in a run that cannot be written is shown, with a note that the view was not recorded. Root may write
        // in spite of permission bits, so a folder in place of the lock file prevents writing.
        let copy = project.folder().with_file_name("readonly");
        Project::restore(&project.files(), &copy);
        std::fs::create_dir(copy.join(".lock")).expect("made");
        let path = copy.display().to_string();
        let (shown, said) = project.expect(0, &["gate", "show", &path, "deploy"]);
        assert!(shown.contains("pending"), "{shown}");
        assert!(
            said.contains("does not record that you viewed the gate"),
            "{said}"
        );
    });
}

/// Texts of users cannot inject SQL or commands, and cannot break the hash chain of the log (errata B9, P10).
#[test]
fn whatever_is_said_is_kept_and_the_log_holds_together() {
    in_both_forms(|project| {
        let run = project.run.clone();
        let said = "it's \"fine\"\n$(rm -rf ~); DROP TABLE gates; -- C:\\temp\\new größe 🎉 \u{202e}\u{1b}[2J";
        project.create("deploy", &["--on-reject", said]);
        let reject = [
            "reject", &run, "deploy", "--as", "o'brien", "--reason", said,
        ];
        let (out, err) = project.expect(0, &reject);
        assert!(!format!("{out}{err}").contains('\u{1b}'), "escaped");
        let audit = project.json(0, &["audit", &run]);
        assert_eq!(audit["chain"], "consistent");
        assert_eq!(audit["rows"][1]["comment"], said);
        assert_eq!(audit["rows"][1]["principal"], "o'brien");
    });
}

#[test]
fn going_on_is_logged_at_the_gate() {
    in_both_forms(|project| {
        let run = project.run.clone();
        project.create("deploy", &[]);
        project.expect(0, &["finish", "interrupted", "--run", &run]);
        project.expect(0, &["resume", &run, "--begin"]);
        let audit = project.json(0, &["audit", &run]);
        let last = &audit["rows"][1];
        assert_eq!(last["event"], "resumed");
        let metadata = last["metadata"].as_str().expect("a text");
        for part in [r#""resume_source":"cli""#, r#""previous_status":"pending""#] {
            assert!(metadata.contains(part), "{metadata}");
        }
    });
}

/// Gates without a run id are shown in the run of the file, and can be decided (errata G11). If a file contains
/// several runs, the error for a gate of another run contains that run's id.
#[test]
fn gates_of_no_recorded_run_are_decided_and_those_of_another_are_named() {
    if needs::sqlite3().is_none() {
        return;
    }
    let project = Project::new(Form::Sqlite);
    project.sql(
        "DROP TABLE gates; CREATE TABLE gates (id TEXT PRIMARY KEY, run_id TEXT, execution_id INTEGER, prompt TEXT,
            allow TEXT, timeout TEXT, timeout_at TEXT, on_reject TEXT, status TEXT, created_at TEXT, resolved_at TEXT,
            resolved_by TEXT, resolution_comment TEXT, metadata TEXT);
         INSERT INTO gates (id, run_id, status) VALUES ('none', NULL, 'pending'), ('gone', 'no-such-run', 'pending'),
            ('theirs', 'earlier', 'pending');
         UPDATE run SET rowid = 10; INSERT INTO run (rowid, id) VALUES (1, 'earlier');",
    );
    for gate in ["none", "gone"] {
        project.expect(0, &["approve", &project.run, gate, "--as", "ann"]);
    }
    let approved = project.sql("SELECT count(*) FROM gates WHERE status = 'approved'");
    assert_eq!(approved, "2");
    let args = ["approve", &project.run, "theirs", "--as", "ann"];
    let (_, said) = project.expect(3, &args);
    assert!(said.contains("earlier"), "{said}");
}

/// A principal that looks like another name is rejected, because people read the names in the sealed log.
#[test]
fn a_principal_that_reads_as_another_name_is_refused() {
    in_both_forms(|project| {
        let run = &project.run;
        project.create("deploy", &[]);
        let before = project.files();
        for name in [
            "\u{202e}eve",
            "e\u{200b}ve",
            "eve\u{2066}",
            "e\u{7}ve",
            "\u{feff}eve",
        ] {
            for way in [
                &["approve", run, "deploy", "--as", name][..],
                &["approve", run, "deploy", "--as", "eve", "--for", name],
                &["reject", run, "deploy", "--reason", "no", "--as", name],
                &[
                    "gate", "create", "other", "--run", run, "--prompt", "Go?", "--allow", name,
                    "--force",
                ],
            ] {
                let (said, error) = project.expect(2, way);
                assert!(error.contains("(U+"), "{way:?}: {error}");
                assert!(
                    !format!("{said}{error}").contains(is_hazardous),
                    "{way:?}: {error}"
                );
                assert!(project.files() == before, "{way:?}");
            }
        }
    });
}

/// Returns whether a character must not be printed. Line breaks are allowed.
fn is_hazardous(c: char) -> bool {
    c != '\n' && is_hazard(c)
}

/// Returns the user of this process, from `id`.
fn system_user() -> Option<String> {
    let out = std::process::Command::new("id").arg("-un").output().ok()?;
    let name = String::from_utf8(out.stdout).ok()?.trim().to_owned();
    (out.status.success() && !name.is_empty()).then_some(name)
}

/// The command that a list prints decides the right gate for any gate id. The printed command contains no invisible
/// characters, and runs nothing else.
#[test]
fn a_printed_command_decides_the_gate_that_it_was_printed_for() {
    if needs::sqlite3().is_none() {
        return;
    }
    let project = Project::new(Form::Sqlite);
    let run = &project.run;
    let ids = [
        "--as=root",
        "-x",
        "it's",
        "$(touch hacked)",
        "a\u{202e}b",
        "a\u{2028}b",
        "back\\slash 'q'\u{200b}",
        "#2",
    ];
    for id in ids {
        let id = id.replace('\'', "''");
        project.sql(&format!(
            "INSERT INTO gates (id, run_id, prompt, allow, status, created_at)
             VALUES ('{id}', '{run}', 'Go?', '[\"user\"]', 'pending', datetime('now'));"
        ));
    }
    let listed = project.command(&["gates", run, "--json"]).output();
    let listed: Value =
        serde_json::from_slice(&listed.expect("prosescope runs").stdout).expect("JSON");
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_prosescope"));
    let path = std::env::var("PATH").expect("a path");
    let path = format!("{}:{path}", own.parent().expect("a folder").display());
    for gate in listed.as_array().expect("gates") {
        let line = gate["approve_command"].as_str().expect("a command");
        assert!(line.chars().all(|c| !is_hazard(c)), "{line:?}");
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", &line.replace("NAME", "me")])
            .current_dir(project.dir.path())
            .env("HOME", project.dir.path().join("home"))
            .env("PATH", &path);
        let out = bash.output().expect("bash");
        assert!(out.status.success(), "{line}: {out:?}");
    }
    let decided = "SELECT count(*) FROM gates WHERE status = 'approved' AND resolved_by = 'me';";
    assert_eq!(project.sql(decided), ids.len().to_string());
    assert!(!project.dir.path().join("hacked").exists());
}
