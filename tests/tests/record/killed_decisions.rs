//! Tests that a decision on a gate is atomic even if the command is killed: either the gate is pending, or the gate is
//! decided and the audit log has the row of the decision (errata H2).

use prosescope_test_support::{clock, needs};
use std::process::Command;

use serde_json::{Value, json};

use prosescope_test_support::kills::Kills;

use crate::project::{FORMS, Project, assert_whole, many, text};

const NOON: &str = "2026-01-25 12:00:00";
/// A time after the deadline of the gates.
const LATE: &str = "2026-01-25 13:00:01";
/// Maximum number of gates in one run.
const MOST: usize = 100;

/// Returns a `prosescope` command that runs at this time.
fn at(project: &Project, now: &str, args: &[&str]) -> Command {
    let mut command = project.command(args);
    command.envs(clock::at(now));
    command
}

/// Runs a command that must end with this exit code.
#[track_caller]
fn expect(project: &Project, code: i32, now: &str, args: &[&str]) {
    let out = at(project, now, args).output().expect("prosescope runs");
    let said = text(&[out.stdout, out.stderr].concat());
    assert_eq!(out.status.code(), Some(code), "{args:?}: {said}");
}

/// Creates a run at the simulated time of its gates, because a start after the last row would be an issue.
fn init(project: &Project, form: &str) -> String {
    let args = ["init", "p.prose", "--state", form];
    let out = at(project, NOON, &args).output().expect("prosescope runs");
    text(&out.stdout).trim().to_owned()
}

fn create(project: &Project, run: &str, gate: &str) {
    let args = [
        "gate",
        "create",
        gate,
        "--run",
        run,
        "--prompt",
        "Go?",
        "--timeout",
        "1h",
        "--on-reject",
        "continue",
    ];
    expect(project, 0, NOON, &args);
}

/// Returns the status of a gate, and the rows of the audit log about it.
fn gate_and_log(project: &Project, run: &str, gate: &str) -> (String, Vec<Value>) {
    let gates = project.json(&["gates", run]);
    let gates = gates.as_array().expect("gates");
    let view = gates.iter().find(|view| view["id"] == gate);
    let status = view.expect("it is there")["status"].as_str();
    let audit = project.json(&["audit", run, "--gate", gate]);
    assert_eq!(audit["chain"], "consistent", "{gate}: {audit}");
    let rows = audit["rows"].as_array().expect("rows").iter();
    let events = rows.map(|row| row["event"].clone()).collect();
    (status.expect("a word").to_owned(), events)
}

#[test]
fn a_gate_is_decided_with_its_row_or_not_at_all() {
    if needs::faketime().is_none() {
        return;
    }
    let Some(project) = Project::new("approve go:\n  prompt: \"Go?\"\n") else {
        return;
    };
    for form in FORMS {
        let mut run = init(&project, form);
        create(&project, &run, "first");
        let approve = ["approve", &run, "first"];
        let (mut kills, ()) = Kills::learn(|| expect(&project, 0, NOON, &approve));
        let mut ended = [0; 3];
        for n in 0..many(40, 1_000) {
            if n > 0 && n % MOST == 0 {
                run = init(&project, form);
            }
            let gate = format!("g{n}");
            create(&project, &run, &gate);
            let (now, args, word): (_, &[&str], _) = match n % 3 {
                0 => (NOON, &["approve", &run, &gate], "approved"),
                1 => (NOON, &["reject", &run, &gate, "--reason", "no"], "rejected"),
                _ => (LATE, &["gates", "expire", &run], "timeout"),
            };
            let said = kills.kill(&mut at(&project, now, args), b"");
            // The gate is read before any other command runs, so that its state is what the killed command left.
            let (status, events) = gate_and_log(&project, &run, &gate);
            if status == "pending" {
                assert_eq!(events, ["created"], "{form}: {gate}");
                assert!(
                    !said.contains("head"),
                    "{form}: {gate} was acknowledged: {said}"
                );
                ended[0] += 1;
                // The next command can decide the gate.
                expect(&project, 0, NOON, &["approve", &run, &gate]);
                let (status, events) = gate_and_log(&project, &run, &gate);
                assert_eq!(status, "approved", "{form}: {gate}");
                assert_eq!(events, ["created", "approved"], "{form}: {gate}");
            } else {
                assert_eq!(status, word, "{form}: {gate}");
                assert_eq!(events, ["created", word], "{form}: {gate}");
                ended[if said.is_empty() { 1 } else { 2 }] += 1;
                expect(&project, 4, NOON, &["approve", &run, &gate]);
            }
            if n % MOST == MOST - 1 || n + 1 == many(40, 1_000) {
                sound(&project, form, &run);
            }
        }
        println!("{form}: before the decision, after it, after its word: {ended:?} of the kills");
        assert!(ended[0] > 0 && ended[2] > 0, "{form}: {ended:?}");
    }
}

fn sound(project: &Project, form: &str, run: &str) {
    if form == "sqlite" {
        assert_whole(project, run);
    }
    let check = ["check", run, "--severity", "warning", "--json"];
    let out = at(project, LATE, &check).output().expect("prosescope runs");
    let check: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(check["runs"][0]["issues"], json!([]), "{form}: {check}");
}
