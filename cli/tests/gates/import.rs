//! Tests of `gate import`: a decision on a copy of the run is compared with the run, and recorded once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use prosescope_test_support::needs;
use serde_json::{Value, json};

use crate::{FORMS, Form, Project, in_both_forms, sqlite};

const NOON: &str = "2026-01-25 12:00:00";
/// A time past the deadline of a gate that waits for an hour from noon.
const LATE: &str = "2026-01-25 13:00:01";
const FILE: &str = "deploy.decision.json";

/// Returns the decision file that a page of the run would save.
fn decision(project: &Project, gate: &str, word: &str) -> Value {
    let gates = project.json(0, &["gates", &project.run]);
    let gates = gates.as_array().expect("gates");
    let view = gates.iter().find(|view| view["id"] == gate);
    let seen = &view.expect("the gate is there")["seen"];
    assert!(seen.is_object(), "{seen}");
    json!({
        "format": "prosescope-decision-1",
        "note": "A copy's decision.",
        "run": project.run,
        "gate": gate,
        "decision": word,
        "comment": "As I saw it",
        "by": "raymond",
        "decided_at": "2026-01-25T12:10:00Z",
        "seen": seen,
    })
}

/// Runs a command that has to fail and to record nothing. Returns its error.
#[track_caller]
fn error(project: &Project, code: i32, args: &[&str]) -> Value {
    let before = project.files();
    let (_, said) = project.expect(code, &[args, &["--json"]].concat());
    assert!(project.files() == before, "{args:?}: {said}");
    let told: Value = serde_json::from_str(&said).expect("JSON");
    let next = told["error"]["hints"].as_array().map_or(0, Vec::len);
    assert!(next > 0, "what to do next: {told}");
    told["error"].clone()
}

fn write(project: &Project, file: &Value) {
    let text = serde_json::to_string_pretty(file).expect("JSON");
    fs::write(project.dir.path().join(FILE), text).expect("written");
}

#[test]
fn a_decision_file_is_recorded_once() {
    in_both_forms(|project| {
        let run = project.run.clone();
        for (gate, word, status) in [
            ("deploy", "approved", "approved"),
            ("refused", "rejected", "rejected"),
        ] {
            project.create(gate, &["--allow", "ops-team,raymond", "--timeout", "4h"]);
            write(project, &decision(project, gate, word));
            // Without a run on the command line, the command uses the run in the decision file.
            let done = project.json(0, &["gate", "import", FILE]);
            assert_eq!(
                (&done["run"], &done["status"]),
                (&json!(run), &json!(status))
            );
            assert_eq!(done["imported"]["by"], "raymond");
            let audit = project.json(0, &["audit", &run, "--gate", gate]);
            let row = &audit["rows"][1];
            assert_eq!(
                (&row["event"], &row["principal"], &row["comment"]),
                (&json!(word), &json!("raymond"), &json!("As I saw it"))
            );
            let metadata = row["metadata"].as_str().expect("a text");
            let metadata: Value = serde_json::from_str(metadata).expect("JSON");
            assert_eq!(
                metadata["imported"],
                json!({"principal": "raymond", "decided_at": "2026-01-25T12:10:00Z"})
            );
            assert_ne!(row["timestamp"], "2026-01-25T12:10:00Z");

            let again = error(project, 4, &["gate", "import", FILE, &run]);
            assert_eq!(again["rule"], "decision-recorded-already");
        }
        let (said, _) = project.expect(0, &["audit", "verify", &run]);
        assert!(said.starts_with("consistent"), "{said}");
    });
}

#[test]
fn what_differs_is_refused_by_name_and_changes_nothing() {
    in_both_forms(|project| {
        project.create("deploy", &["--allow", "ops-team,raymond"]);
        let run = project.run.clone();
        let file = decision(project, "deploy", "approved");
        let other = project.expect(0, &["init", "p.prose", "--state", project.form.word()]);
        let other = other.0.trim().to_owned();
        let refused = |code: i32, rule: &str, args: &[&str], edit: &dyn Fn(&mut Value)| {
            let mut file = file.clone();
            edit(&mut file);
            write(project, &file);
            let args = [&["gate", "import", FILE], args].concat();
            let error = error(project, code, &args);
            let named = error["rule"].as_str().unwrap_or_default();
            assert_eq!(named, rule, "{error}");
        };
        refused(4, "decision-of-another-run", &[&other], &|_| {});
        refused(4, "decision-of-another-run", &[&run], &|file| {
            file["run"] = "x".into();
        });
        refused(3, "", &[], &|file| file["gate"] = "other".into());
        refused(4, "decision-prompt-differs", &[], &|file| {
            file["seen"]["prompt_hash"] = format!("sha256:{:064x}", 7).into();
        });
        refused(4, "decision-allow-differs", &[], &|file| {
            file["seen"]["allow"] = json!(["user"]);
        });
        refused(4, "decision-head-differs", &[], &|file| {
            file["seen"]["head"]["hash"] = format!("{:064x}", 7).into();
        });
        refused(4, "decision-head-differs", &[], &|file| {
            file["seen"]["head"]["count"] = 2.into();
        });
        refused(4, "decision-head-differs", &[], &|file| {
            file["seen"]["head"] = Value::Null;
        });
        refused(4, "gate-not-allowed", &[], &|file| {
            file["by"] = "eve".into();
        });
        refused(4, "gate-not-allowed", &["--as", "eve"], &|_| {});
        refused(2, "", &[], &|file| file["by"] = " ".into());
        refused(2, "", &[], &|file| {
            file["decision"] = "rejected".into();
            file["comment"] = Value::Null;
        });
        refused(2, "", &["--gate", "other"], &|_| {});
        // These files are JSON, but they are not decision files.
        refused(5, "", &[], &|file| file["seal"] = 1.into());
        refused(5, "", &[], &|file| {
            file["format"] = "prosescope-decision-2".into();
        });
        refused(5, "", &[], &|file| {
            file["note"] = "é".repeat(200_000).into();
        });
        // The file is untrusted, so the `run` in the file must not lead out of the project.
        for named in ["../x", "/tmp", "latest", "p.prose", ".", ""] {
            refused(3, "", &[], &|file| file["run"] = named.into());
        }
        project.expect(3, &["gate", "import", "missing.decision.json"]);
        write(project, &file);
        project.expect(0, &["gate", "import", FILE]);
    });
}

/// The deadline is compared with the clock of the import, because the time in the file is a claim.
#[test]
fn a_decision_that_comes_after_the_deadline_is_refused() {
    if needs::faketime().is_none() {
        return;
    }
    for form in FORMS {
        let mut project = Project::new(form);
        let (id, _) = project.expect_at(NOON, 0, &["init", "p.prose", "--state", form.word()]);
        project.run = id.trim().to_owned();
        let run = project.run.clone();
        let create = ["gate", "create", "deploy", "--run", &run, "--timeout", "1h"];
        project.expect_at(NOON, 0, &create);
        write(&project, &decision(&project, "deploy", "approved"));
        let before = project.files();
        let (_, said) = project.expect_at(LATE, 4, &["gate", "import", FILE]);
        assert!(said.contains("is past its deadline"), "{said}");
        assert!(
            said.contains(&format!("prosescope gates expire {run}")),
            "{said}"
        );
        assert!(project.files() == before);
        project.expect_at(NOON, 0, &["gate", "import", FILE]);
    }
}

#[test]
fn of_two_imports_at_once_one_is_recorded() {
    in_both_forms(|project| {
        for race in 0..8 {
            let gate = format!("g{race}");
            project.create(&gate, &[]);
            write(project, &decision(project, &gate, "approved"));
            let imports: Vec<_> = (0..3)
                .map(|_| {
                    let mut import = project.command(&["gate", "import", FILE]);
                    import.stdout(Stdio::null()).stderr(Stdio::null());
                    import.spawn().expect("prosescope runs")
                })
                .collect();
            let mut codes: Vec<_> = imports
                .into_iter()
                .map(|mut import| import.wait().expect("it ends").code())
                .collect();
            codes.sort_unstable();
            assert_eq!(codes, [Some(0), Some(4), Some(4)]);
            let audit = project.json(0, &["audit", &project.run, "--gate", &gate]);
            let events: Vec<&Value> = audit["rows"]
                .as_array()
                .expect("rows")
                .iter()
                .map(|row| &row["event"])
                .collect();
            assert_eq!(events, ["created", "approved"]);
        }
    });
}

/// Copies the run out of the project. Returns the copy's folder, and the copy's path as commands take it.
fn copied(project: &Project, name: &str) -> (PathBuf, String) {
    let folder = project.dir.path().join(name);
    Project::restore(&project.files(), &folder);
    let path = match project.form {
        Form::Sqlite => format!("{name}/state.db"),
        Form::Folder => name.to_owned(),
    };
    (folder, path)
}

#[test]
fn a_copy_in_which_the_gate_was_decided_is_imported_as_a_file_is() {
    in_both_forms(|project| {
        let run = project.run.clone();
        project.create("deploy", &["--allow", "ops-team,raymond"]);
        let (_, copy) = copied(project, "copy");
        let undecided = error(project, 4, &["gate", "import", &copy]);
        assert_eq!(undecided["rule"], "copy-without-decision");
        let approve = [
            "approve",
            &copy,
            "deploy",
            "--as",
            "lee",
            "--for",
            "ops-team",
            "--comment",
            "Good",
        ];
        project.expect(0, &approve);
        // The run's audit log gets another row after the copy was made.
        project.expect(0, &["gate", "show", &run, "deploy"]);
        let shared = project.dir.path().join("copy.zip");
        let shared = shared.to_string_lossy().into_owned();
        project.expect(0, &["share", &copy, "--raw", "-o", &shared]);
        let redacted = project.dir.path().join("redacted.zip");
        let redacted = redacted.to_string_lossy().into_owned();
        project.expect(0, &["share", &copy, "-o", &redacted]);
        let before = project.files();
        // A redacted copy replaces names, so its log differs from the log of the run.
        error(project, 4, &["gate", "import", &redacted]);
        for from in [&copy, &shared] {
            Project::restore(&before, &project.folder());
            let done = project.json(0, &["gate", "import", from]);
            assert_eq!(
                (&done["resolved_by"], &done["on_behalf_of"]),
                (&json!("lee"), &json!("ops-team"))
            );
            assert_eq!(done["imported"]["by"], "lee");
            let again = error(project, 4, &["gate", "import", from]);
            assert_eq!(again["rule"], "decision-recorded-already");
            let gates = project.json(0, &["gates", &run]);
            assert_eq!(gates[0]["comment"], "Good");
        }
        let (said, _) = project.expect(0, &["audit", "verify", &run]);
        assert!(said.starts_with("consistent"), "{said}");
    });
}

#[test]
fn of_a_copy_that_decides_several_gates_one_is_named() {
    in_both_forms(|project| {
        project.create("deploy", &[]);
        project.create("ship", &["--force"]);
        let (_, copy) = copied(project, "copy");
        project.expect(0, &["approve", &copy, "deploy", "--as", "lee"]);
        project.expect(0, &["approve", &copy, "ship", "--as", "lee"]);
        let (_, said) = project.expect(2, &["gate", "import", &copy]);
        assert!(
            said.contains("deploy, ship") && said.contains("--gate"),
            "{said}"
        );
        let (_, said) = project.expect(3, &["gate", "import", &copy, "--gate", "shp"]);
        assert!(said.contains("did you mean ship?"), "{said}");
        // The copy also contains a later record, about another gate. The import works, because the head in the
        // decision is older than that record, and the run contains that head, too.
        project.expect(0, &["gate", "import", &copy, "--gate", "deploy"]);
    });
}

#[test]
fn a_copy_that_was_tampered_with_is_refused() {
    if needs::sqlite3().is_none() {
        return;
    }
    in_both_forms(|project| {
        project.create("deploy", &["--allow", "ops-team,raymond"]);
        let (folder, copy) = copied(project, "copy");
        project.expect(0, &["approve", &copy, "deploy", "--as", "raymond"]);
        match project.form {
            Form::Sqlite => {
                let edit = "UPDATE gates SET resolved_by = 'eve';";
                assert!(sqlite(&folder.join("state.db"), edit).0);
            }
            Form::Folder => {
                let path = folder.join("gates/deploy.resolved.json");
                let text = fs::read_to_string(&path).expect("read");
                fs::write(&path, text.replace("raymond", "eve")).expect("written");
            }
        }
        let error = error(project, 4, &["gate", "import", &copy]);
        assert_eq!(error["rule"], "copy-contradicted");
    });
}

/// The argument COPY is a path, even if a run has the same name.
#[test]
fn a_copy_is_a_path() {
    let project = Project::new(Form::Sqlite);
    project.create("deploy", &[]);
    for copy in ["latest", project.run.as_str()] {
        assert!(!Path::new(copy).exists());
        project.expect(3, &["gate", "import", copy]);
    }
    // The copy's path equals the id of the run.
    let run = project.run.clone();
    let (folder, _) = copied(&project, &run);
    let copy = folder.join("state.db").display().to_string();
    project.expect(0, &["approve", &copy, "deploy", "--as", "lee"]);
    project.expect(0, &["gate", "import", &run]);
}
