//! Tries edits that bypass the audit log with every way to decide the edited gate: the decision is refused and changes
//! nothing. `core/src/read/gate/sealed/tests.rs` edits each column, and `core/src/record/tests/unsealed.rs` removes
//! creations.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::gates::set;
use super::log::forge;
use super::state::{Row, State, metadata, unseal};
use super::{FORMS, Form, Project, logged};

/// The expected result of a decision.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Then {
    /// The decision is refused with exit code 4, or 5 if the gate can be read in two ways. Nothing changes.
    Refused,
    /// The decision is recorded, because the edit changed no sealed fact.
    Done,
}
use Then::{Done, Refused};

/// An edit: its name, and the function that makes it.
type InState = (&'static str, fn(&mut State));
/// An edit, and the expected result of a decision.
type InFolder = (&'static str, fn(&Path), Then);

/// Edits of the pending gate `c`, or of its row in the audit log, for runs in a database and runs in files. After each
/// edit, every decision is refused.
const EDITS: [InState; 9] = [
    ("allow", |s| set(s, "c", "allow", r#"["eve"]"#)),
    ("no allow", |s| unset(s, "allow")),
    ("prompt", |s| set(s, "c", "prompt", "Stay?")),
    ("no execution_id", |s| unset(s, "execution_id")),
    ("its decision set back", |s| forge(s, "c", "approved")),
    (
        "the row that records who may decide, and the gate with it",
        |s| {
            set(s, "c", "allow", r#"["eve"]"#);
            metadata(created(s), |m| {
                drop(m.insert("allow".into(), vec!["eve"].into()));
            });
        },
    ),
    ("its creation is gone", |s| {
        s.log.retain(|row| !is_creation(row));
    }),
    ("all creations are gone", |s| {
        s.log.retain(|row| row["event_type"] != "created");
    }),
    ("the log has no seal", |s| s.log.iter_mut().for_each(unseal)),
];

/// Edits of the files of a run's folder.
const FILES: [InFolder; 5] = [
    (
        "a key in capitals",
        |at| swap(at, "c.pending.json", "\"allow\"", "\"Allow\""),
        Refused,
    ),
    (
        "a key twice",
        |at| swap(at, "c.pending.json", "{", r#"{"allow":["eve"],"#),
        Refused,
    ),
    (
        "a key of the log twice",
        |at| swap(at, "audit.jsonl", "{", r#"{"gate_id":"x","#),
        Refused,
    ),
    (
        "a mark before the file",
        |at| swap(at, "c.pending.json", "{\"", "\u{feff}{\""),
        Done,
    ),
    (
        "its id in capitals",
        |at| swap(at, "c.pending.json", r#""id":"c""#, r#""id":"C""#),
        Refused,
    ),
];

fn unset(state: &mut State, key: &str) {
    state.gate("c").remove(key);
}

fn is_creation(row: &Row) -> bool {
    row["gate_id"] == "c" && row["event_type"] == "created"
}

fn created(state: &mut State) -> &mut Row {
    let mut rows = state.log.iter_mut();
    rows.find(|row| is_creation(row)).expect("its creation")
}

/// Replaces the first occurrence of a text in a file.
fn swap(at: &Path, file: &str, from: &str, to: &str) {
    let file = at.join(file);
    let text = fs::read_to_string(&file).expect("read");
    assert!(text.contains(from), "{text}");
    fs::write(file, text.replacen(from, to, 1)).expect("written");
}

/// Tries each way to decide an edited gate.
fn each_way(project: &Project, what: &str, then: Then) {
    let run = &project.run;
    let before = project.files();
    let ways: [(&str, &[&str]); 7] = [
        (NOON, &["approve", run, "c", "--as", "lee"]),
        (NOON, &["reject", run, "c", "--as", "lee", "--reason", "no"]),
        (NOON, &["approve", run, "c", "--as", "lee", "--override"]),
        (
            NOON,
            &[
                "reject",
                run,
                "c",
                "--as",
                "lee",
                "--reason",
                "no",
                "--override",
            ],
        ),
        (
            NOON,
            &[
                "approve", run, "c", "--reject", "--reason", "no", "--as", "lee",
            ],
        ),
        (
            LATE,
            &["approve", run, "c", "--as", "lee", "--record-timeout"],
        ),
        (LATE, &["gates", "expire", run]),
    ];
    for (now, way) in ways {
        let what = format!("{:?}, {what}, {way:?}", project.form);
        let out = project.at(now, way);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        let code = out.status.code();
        match then {
            Refused => {
                assert!(matches!(code, Some(4 | 5)), "{what}: {code:?} {said}");
                assert!(project.files() == before, "{what}: {said}");
                assert!(said.contains("nothing was"), "{what}: {said}");
            }
            // The gate is late, so the command records the time-out instead of the decision.
            Done if way.contains(&"--record-timeout") => {
                assert_eq!(code, Some(4), "{what}: {said}");
            }
            Done => assert_eq!(code, Some(0), "{what}: {said}"),
        }
        if then == Done {
            project.expect(0, &["audit", "verify", run]);
            Project::restore(&before, &project.folder());
        }
    }
}

/// Checks that `resume --begin` neither decides the gate nor hides the edit. Later decisions have the same results as
/// without `resume --begin`.
fn resumed(project: &Project, what: &str, then: Then) {
    let what = format!("{:?}, {what}, resume --begin", project.form);
    let run = &project.run;
    let gate = || match project.form {
        Form::Sqlite => project
            .sql("SELECT * FROM gates WHERE id = 'c';")
            .into_bytes(),
        Form::Folder => {
            let files = project.files().into_iter();
            let own = files
                .filter(|(path, _)| path.starts_with("gates") && !path.ends_with("audit.jsonl"));
            own.flat_map(|(path, bytes)| [path.display().to_string().into_bytes(), bytes])
                .flatten()
                .collect()
        }
    };
    let (before, was) = (project.files(), gate());
    for now in [NOON, LATE] {
        let out = project.at(now, &["resume", run, "--begin"]);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        match out.status.code() {
            // Code 1 means that the run was reopened, and that the run has issues of severity error.
            Some(0 | 1) => {}
            Some(4 | 5) => assert!(project.files() == before, "{what}: {said}"),
            code => panic!("{what}: {code:?} {said}"),
        }
        assert!(gate() == was, "{what}: {said}");
        let approved = project.at(NOON, &["approve", run, "c", "--as", "lee"]);
        match then {
            Refused => {
                let said = String::from_utf8_lossy(&approved.stderr).into_owned();
                assert!(
                    matches!(approved.status.code(), Some(4 | 5)),
                    "{what}: {said}"
                );
            }
            Done => assert_eq!(approved.status.code(), Some(0), "{what}"),
        }
        Project::restore(&before, &project.folder());
    }
}

const NOON: &str = "2026-01-25 12:20:00";
const LATE: &str = "2031-01-01 00:00:00";

#[test]
fn what_was_edited_is_not_decided_in_any_way() {
    for form in FORMS {
        let Some((project, _)) = logged(form) else {
            continue;
        };
        let original = project.files();
        let sealed = State::read(&project);
        for (what, edit) in EDITS {
            Project::restore(&original, &project.folder());
            let mut state = sealed.clone();
            edit(&mut state);
            state.write(&project);
            each_way(&project, what, Refused);
            resumed(&project, what, Refused);
        }
        for (what, edit, then) in FILES.iter().filter(|_| form == Form::Folder) {
            Project::restore(&original, &project.folder());
            sealed.write(&project);
            edit(&project.folder().join("gates"));
            each_way(&project, what, *then);
            resumed(&project, what, *then);
        }
    }
}

/// A JSON key that occurs twice makes a gate ambiguous, which is also an error in commands that only read.
#[test]
fn a_key_that_is_there_twice_is_an_error() {
    let Some((project, _)) = logged(Form::Folder) else {
        return;
    };
    let original = project.files();
    for (what, edit, _) in FILES.iter().filter(|(what, ..)| what.contains("twice")) {
        Project::restore(&original, &project.folder());
        edit(&project.folder().join("gates"));
        for args in [
            &["check", &*project.run][..],
            &["audit", "verify", &project.run],
        ] {
            let said: Value = project.json(1, args);
            assert!(
                said.to_string().contains("json-key-twice"),
                "{what}: {said}"
            );
        }
    }
}
