//! Tests `prosescope check` as CI uses it (exit codes, output, formats), and the texts of `prosescope resume` for
//! people and models.

use std::process::{Command, Output};

use prosescope_tests::needs;
use serde_json::Value;

/// Runs `prosescope` in `examples/`, at a simulated time in the middle of their runs.
fn prose(args: &[&str]) -> Option<Output> {
    let out = Command::new(needs::prose()?)
        .args(args)
        .current_dir(needs::root().join("examples"))
        .env("HOME", needs::root().join("examples/record"))
        .env("PROSE_NOW", "2026-01-25T16:00:00Z")
        .output();
    Some(out.expect("prosescope runs"))
}

#[test]
fn it_ends_as_it_was_asked_to() {
    for (args, code) in [
        (&["check", "20260125"][..], 0),
        (&["check", "20260125", "--deny", "warnings"], 0),
        (&["check", "20260125", "--deny", "notes"], 1),
        (
            &[
                "check",
                "20260125",
                "--deny",
                "notes",
                "--severity",
                "warning",
            ],
            0,
        ),
        (
            &[
                "check",
                "20260125",
                "--deny",
                "notes",
                "--rule",
                "gate-overdue",
            ],
            0,
        ),
        (&["check", "20260125", "20260118"], 0),
        (&["check", "--all"], 0),
        (&["check", "no-such-run"], 3),
        (&["check", "--rule", "gate-overdu"], 2),
        (&["check", "--explain", "gate-overdue"], 0),
        (&["check", "--explain", "nothing"], 2),
        (&["check", "--json", "--sarif"], 2),
    ] {
        let Some(out) = prose(args) else { return };
        assert_eq!(
            out.status.code(),
            Some(code),
            "{args:?}\n{}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        );
    }
}

#[test]
fn an_unknown_rule_is_told_with_those_that_are_near() {
    let Some(out) = prose(&["check", "--explain", "gate-overdu"]) else {
        return;
    };
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("there is no rule gate-overdu"), "{said}");
    assert!(said.contains("gate-overdue"), "{said}");
}

#[test]
fn all_runs_are_one_log_of_sarif_with_paths_from_here() {
    let Some(out) = prose(&["check", "--all", "--sarif"]) else {
        return;
    };
    let log: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let uris: Vec<&str> = log["runs"][0]["results"]
        .as_array()
        .expect("results")
        .iter()
        .filter_map(|r| r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str())
        .collect();
    assert!(
        uris.contains(&".prose/runs/20260125-125506-p7r2mx/state.db"),
        "{uris:?}"
    );
}

#[test]
fn resume_says_how_to_go_on_and_its_commands_work() {
    let Some(out) = prose(&["resume", "20260118"]) else {
        return;
    };
    assert_eq!(out.status.code(), Some(0));
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(
        text.contains("the run can begin again at line 38"),
        "{text}"
    );
    let command = text
        .lines()
        .find_map(|l| l.trim().strip_prefix("$ prosescope "))
        .expect("a command");
    let words: Vec<&str> = command.split(' ').collect();
    let value = prose(&words).expect("prosescope is there");
    assert_eq!(value.status.code(), Some(0), "{command}");
    assert!(!value.stdout.is_empty(), "{command}");
}

#[test]
fn a_completed_run_is_not_resumed() {
    let Some(out) = prose(&["resume", "20260112"]) else {
        return;
    };
    assert_eq!(out.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&out.stdout).contains("nothing to resume"));
}

#[test]
fn the_prompt_is_the_same_in_every_place() {
    let Some(out) = prose(&["resume", "20260125", "--prompt"]) else {
        return;
    };
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(
        text.starts_with("# Go on with an OpenProse run\n"),
        "{text}"
    );
    assert!(
        text.contains("```sh\nprosescope get staging --run 20260125-125506-p7r2mx\n"),
        "{text}"
    );
    let both = prose(&["resume", "20260125", "--prompt", "--json"]).expect("prosescope is there");
    assert_eq!(both.status.code(), Some(2));
}
