//! Tests of workflows on the command line: the lifecycle, output for scripts, the stream of events, and killed writers.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use actions::words;
use conformance::{bring_about, is_already, is_refused};
use prosescope_store::WorkflowStore;
use prosescope_test_support::kills::Kills;
use prosescope_test_support::run;
use prosescope_workflow::{Action, TurnStatus, WorkflowStatus, show};
use serde_json::Value;

#[path = "shared/actions.rs"]
mod actions;
#[path = "../../core/tests/stores/workflows.rs"]
mod conformance;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(".prose")).unwrap();
        Place { dir }
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join(".prose/workflows.db")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("HOME", self.dir.path())
            .env_remove("PROSE_WORKFLOWS");
        command
    }

    #[track_caller]
    fn prose(&self, code: i32, args: &[&str]) -> String {
        run::said(code, &mut self.command(args))
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        let out = self.command(args).arg("--json").output().unwrap();
        assert!(
            out.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        serde_json::from_slice(&out.stdout).unwrap()
    }

    fn start(&self) -> (String, String) {
        let begun = self.json(&["workflow", "start", "--input", "Which reef?"]);
        let id = |key: &str| begun[key].as_str().unwrap().to_owned();
        (id("workflow_id"), id("run_id"))
    }
}

#[test]
fn every_action_in_every_status_does_what_the_table_says() {
    let place = Place::new();
    let mut store = WorkflowStore::set_up(&place.file()).unwrap();
    let mut n = 0;
    let mut tried = 0;
    for workflow in WorkflowStatus::ALL {
        for turn in TurnStatus::ALL {
            for action in Action::all() {
                n += 1;
                let Some((of, run)) = bring_about(&mut store, n, *workflow, *turn) else {
                    continue;
                };
                let before = show(&store, &of).unwrap().unwrap();
                let refused = is_refused(action, *workflow, *turn);
                let already = is_already(action, *workflow, *turn);
                let code = if refused { 4 } else { 0 };
                let mut command = place.command(&words(action, &of, &run));
                let said = command.output().unwrap();
                assert_eq!(
                    said.status.code(),
                    Some(code),
                    "{action:?} on {workflow:?} and {turn:?}: {}",
                    String::from_utf8_lossy(&said.stderr)
                );
                let after = show(&store, &of).unwrap().unwrap();
                if refused || already {
                    assert_eq!(before, after, "{action:?} on {workflow:?} and {turn:?}");
                }
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 18 * 16);
}

/// The database of workflows is kept beside the runs, and is none of them.
#[test]
fn lists_of_runs_leave_out_the_database_of_workflows() {
    let place = Place::new();
    place.start();
    assert!(place.prose(0, &["runs"]).contains("no runs in"));
    place.prose(0, &["check", "--all"]);
    assert!(place.prose(3, &["show"]).contains("there are no runs in"));
}

#[test]
fn what_scripts_rely_on() {
    let place = Place::new();
    let (of, run) = place.start();
    place.prose(0, &["workflow", "ask", &run, "--question", "--which?"]);
    place.prose(
        0,
        &[
            "workflow",
            "input",
            "latest",
            "--text",
            "it's $(rm -rf /) \"that\"\\n",
        ],
    );
    for kind in ["progress", "status", "warning", "error", "final"] {
        place.prose(
            0,
            &[
                "workflow", "events", "append", &of, "--kind", kind, "--text", kind, "--run", &run,
            ],
        );
    }
    // The payload contains a line break, but the event is printed on one line.
    let payload = "{\"n\":\n 123456789012345678901234567890}";
    place.prose(
        0,
        &[
            "workflow",
            "events",
            "append",
            &of,
            "--text",
            "with",
            "--payload",
            payload,
        ],
    );
    let shown = place.json(&["workflow", "show", &of]);
    assert_eq!(
        shown["context"]["tail"][1]["content"],
        "it's $(rm -rf /) \"that\"\\n"
    );
    assert_eq!(shown["runs"][0]["status"], "running");
    assert_eq!(shown["runs"][0]["state"], serde_json::json!({}));

    let tail = place.prose(
        0,
        &["workflow", "events", "tail", &of, "--after", "4", "--json"],
    );
    let lines: Vec<Value> = tail
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["kind"], "final");
    assert_eq!(lines[0]["run_id"], run.as_str());
    assert!(tail.contains("123456789012345678901234567890"), "{tail}");
    assert_eq!(lines[1]["run_id"], Value::Null);
    for key in ["id", "kind", "text", "run_id", "payload", "created_at"] {
        assert!(lines[0].get(key).is_some(), "{key}");
    }

    let mut lines = place.command(&["workflow", "events", "append", &of, "--lines", "--json"]);
    let out = run::fed(
        &mut lines,
        b"{\"text\": \"a\"}\n\n{\"text\": \"b\", \"kind\": \"warning\"}\n",
    );
    assert_eq!(
        serde_json::from_slice::<Value>(&out.stdout).unwrap()["ids"],
        serde_json::json!([7, 8])
    );
    let mut lines = place.command(&["workflow", "events", "append", &of, "--lines"]);
    let out = run::fed(&mut lines, b"{\"text\": \"c\"}\n{\"kind\": \"warning\"}\n");
    assert_eq!(out.status.code(), Some(2), "all or none");
    assert_eq!(
        place
            .prose(0, &["workflow", "events", "tail", &of])
            .lines()
            .count(),
        8
    );
}

#[test]
fn errors_say_what_to_do_next() {
    let place = Place::new();
    let said = place.prose(3, &["workflow", "show"]);
    assert!(said.contains("prosescope workflow start"), "{said}");
    assert_eq!(place.prose(0, &["workflow", "list"]), "no workflows\n");
    assert!(!place.file().exists(), "reading makes nothing");
    let (of, run) = place.start();
    place.prose(3, &["workflow", "pause", "ffffffff"]);
    place.prose(3, &["workflow", "ask", &of, "--question", "not a run"]);
    place.prose(
        2,
        &[
            "workflow", "events", "append", &of, "--kind", "note", "--text", "x",
        ],
    );
    place.prose(
        2,
        &[
            "workflow",
            "events",
            "append",
            &of,
            "--text",
            "x",
            "--payload",
            "[1]",
        ],
    );
    place.prose(2, &["workflow", "finish", &run, "--output", "no JSON"]);
    place.prose(4, &["workflow", "pause", &of, "--if-version", "77"]);
    place.prose(
        2,
        &["workflow", "list", "--state", "postgresql://u:secret@h/d"],
    );
    std::fs::write(
        place.dir.path().join("text.db"),
        "no database at all, but a text",
    )
    .unwrap();
    let said = place.prose(5, &["workflow", "list", "--state", "text.db"]);
    assert!(said.contains("text.db"), "{said}");

    place.prose(
        0,
        &[
            "workflow",
            "start",
            "--workflow",
            &of,
            "--input",
            "b",
            "--parallel",
        ],
    );
    let waiting = place.json(&["workflow", "show", &of]);
    for turn in waiting["runs"].as_array().unwrap() {
        place.prose(
            0,
            &[
                "workflow",
                "ask",
                turn["id"].as_str().unwrap(),
                "--question",
                "q",
            ],
        );
    }
    // Without `--run`, `workflow input` answers the run that waits.
    place.prose(0, &["workflow", "input", &of, "--text", "first"]);
    place.prose(0, &["workflow", "input", &of, "--text", "second"]);
    let said = place.prose(4, &["workflow", "input", &of, "--text", "third"]);
    assert!(said.contains("no run of workflow"), "{said}");
    let quiet = place.json(&["workflow", "start", "--input", "x", "--no-clarifications"]);
    let said = place.prose(
        4,
        &[
            "workflow",
            "ask",
            quiet["run_id"].as_str().unwrap(),
            "--question",
            "q",
        ],
    );
    assert!(said.contains("may not ask"), "{said}");
}

#[test]
fn a_follower_gets_every_event_once_and_pruning_keeps_those_of_open_runs() {
    let place = Place::new();
    let (of, run) = place.start();
    let mut follower = place
        .command(&[
            "workflow", "events", "tail", &of, "--follow", "--limit", "40", "--json",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    thread::scope(|scope| {
        for writer in 0..4 {
            let (place, of, run) = (&place, &of, &run);
            scope.spawn(move || {
                for n in 0..12 {
                    let text = format!("{writer}:{n}");
                    place.prose(
                        0,
                        &[
                            "workflow", "events", "append", of, "--text", &text, "--run", run,
                        ],
                    );
                }
            });
        }
    });
    let lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let read: Vec<Value> = lines
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    assert!(follower.wait().unwrap().success());
    let ids: Vec<i64> = read
        .iter()
        .map(|event| event["id"].as_i64().unwrap())
        .collect();
    assert_eq!(ids, (1..=40).collect::<Vec<i64>>());

    let kept = place.json(&["workflow", "events", "prune", &of]);
    assert_eq!(kept["removed"], 0, "the run is open");
    place.prose(0, &["workflow", "finish", &run, "--output", "1"]);
    let rest = place.prose(
        0,
        &["workflow", "events", "tail", &of, "--after", "40", "--json"],
    );
    assert_eq!(rest.lines().count(), 8, "it goes on where it was");
    let some = place.json(&["workflow", "events", "prune", &of, "--up-to", "40"]);
    assert_eq!(some["removed"], 40);
    assert_eq!(
        place.json(&["workflow", "events", "prune", &of])["removed"],
        8
    );
    place.prose(0, &["workflow", "events", "append", &of, "--text", "after"]);
    let after = place.prose(0, &["workflow", "events", "tail", &of, "--json"]);
    assert!(
        after.contains("\"id\":49"),
        "an id is never used again: {after}"
    );
}

#[test]
fn writers_that_are_killed_lose_nothing_acknowledged() {
    let place = Place::new();
    let (of, _) = place.start();
    let kills: u32 = if std::env::var_os("PROSE_SOAK").is_some() {
        400
    } else {
        40
    };
    let first = ["workflow", "events", "append", &of, "--text", "first"];
    let (mut moments, _) = Kills::learn(|| place.prose(0, &first));
    let mut acknowledged = BTreeSet::new();
    for n in 0..kills {
        let text = format!("event {n}");
        let append = [
            "workflow", "events", "append", &of, "--text", &text, "--json",
        ];
        let said = moments.kill(&mut place.command(&append), b"");
        if serde_json::from_str::<Value>(&said).is_ok() {
            acknowledged.insert(text);
        }
    }
    place.prose(0, &["workflow", "events", "append", &of, "--text", "last"]);
    let tail = place.prose(0, &["workflow", "events", "tail", &of, "--json"]);
    let read: Vec<Value> = tail
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let texts: BTreeSet<String> = read
        .iter()
        .map(|event| event["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(texts.len(), read.len(), "none twice");
    let lost: Vec<&String> = acknowledged.difference(&texts).collect();
    assert!(lost.is_empty(), "lost {lost:?}");
    assert!(!acknowledged.is_empty() && acknowledged.len() < kills as usize);
}
