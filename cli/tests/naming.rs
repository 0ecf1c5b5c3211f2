//! Tests of the three ways to name a run: the first argument, `--run`, and PROSE_RUN.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use prosescope_test_support::{clock, needs};

const RUN: &str = "20270101-120000-aaaaaa";
const OTHER: &str = "20270102-120000-bbbbbb";

fn prose(dir: &Path, env: Option<&str>, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
    command
        .args(args)
        .current_dir(dir)
        .env("HOME", dir.join("home"))
        .envs(clock::at("2027-01-03T12:00:00Z"))
        .env_remove("PROSE_RUN");
    if let Some(run) = env {
        command.env("PROSE_RUN", run);
    }
    command.output().expect("prosescope runs")
}

#[track_caller]
fn told(dir: &Path, env: Option<&str>, code: i32, args: &[&str]) -> (String, String) {
    let out = prose(dir, env, args);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let (stdout, stderr) = (text(out.stdout), text(out.stderr));
    assert_eq!(
        out.status.code(),
        Some(code),
        "{args:?}, PROSE_RUN {env:?}: {stdout}{stderr}"
    );
    (stdout, stderr)
}

/// Returns a project with two runs that wait at a gate: `RUN`, and `OTHER`, which is newer.
fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let program = "let research = session \"Find\"\n\napprove publish:\n  prompt: \"Publish?\"\n";
    fs::write(at.join("p.prose"), program).expect("written");
    for run in [RUN, OTHER] {
        told(at, None, 0, &["init", "p.prose", "--id", run]);
        told(at, Some(run), 0, &["put", "topic", "--file", "p.prose"]);
        told(at, Some(run), 0, &["gate", "create", "publish"]);
    }
    dir
}

#[test]
fn a_run_is_named_by_an_argument_by_run_or_by_the_environment() {
    if needs::faketime().is_none() {
        return;
    }
    let dir = project();
    let at = dir.path();
    for (before, after) in [
        (&["show"][..], &[][..]),
        (&["trace"], &[]),
        (&["state"], &[]),
        (&["bindings"], &["--json"]),
        (&["agents"], &["--json"]),
        (&["cost"], &[]),
        (&["audit"], &[]),
        (&["audit", "verify"], &[]),
        (&["resume"], &[]),
        (&["check"], &[]),
        (&["gate", "show"], &["publish", "--no-log"]),
    ] {
        let with = |words: &[&'static str]| [before, words, after].concat();
        let (argument, _) = told(at, None, 0, &with(&[RUN]));
        let (option, _) = told(at, None, 0, &with(&["--run", RUN]));
        let (both, _) = told(at, None, 0, &with(&[RUN, "--run", RUN]));
        let (environment, _) = told(at, Some(RUN), 0, &with(&[]));
        let (nearest, _) = told(at, Some(OTHER), 0, &with(&["--run", RUN]));
        for other in [option, both, environment, nearest] {
            assert_eq!(argument, other, "{before:?}");
        }
        if *before == ["gate", "show"] {
            told(at, None, 2, &with(&[]));
        } else {
            let (latest, _) = told(at, None, 0, &with(&[]));
            let (second, _) = told(at, None, 0, &with(&["--run", OTHER]));
            assert_eq!(latest, second, "{before:?}");
        }
        let (_, said) = told(at, None, 2, &with(&[RUN, "--run", OTHER]));
        assert!(
            said.contains(&format!(
                "two runs are named: {RUN} as an argument, and {OTHER} with --run"
            )),
            "{before:?}: {said}"
        );
    }
    // Commands for the gates of all runs ignore `PROSE_RUN`.
    let (all, _) = told(at, Some(RUN), 0, &["gates"]);
    assert!(all.contains(RUN) && all.contains(OTHER), "{all}");
    let (one, _) = told(at, None, 0, &["gates", "--run", RUN]);
    assert!(one.contains(RUN) && !one.contains(OTHER), "{one}");
}

#[test]
fn a_gate_is_decided_in_a_run_that_was_named() {
    if needs::faketime().is_none() {
        return;
    }
    let dir = project();
    let at = dir.path();
    for decision in [
        &["approve", "publish"][..],
        &["reject", "publish", "--reason", "no"],
    ] {
        let (_, said) = told(at, None, 2, decision);
        assert!(
            said.contains("the run of gate publish is not named"),
            "{said}"
        );
        assert!(said.contains("`prosescope gates`"), "{said}");
    }
    for decision in [
        &["approve"][..],
        &["reject", "--reason", "no"],
        &["gate", "show"],
    ] {
        let (_, said) = told(at, Some(RUN), 2, decision);
        assert!(said.contains("the id of the gate is missing"), "{said}");
    }
    told(
        at,
        Some(OTHER),
        0,
        &["gate", "show", RUN, "--no-log", "publish"],
    );
    told(at, Some(RUN), 0, &["approve", "publish"]);
    let (gates, _) = told(at, None, 0, &["gates", "--pending"]);
    assert!(gates.contains(OTHER) && !gates.contains(RUN), "{gates}");
    told(
        at,
        Some(RUN),
        0,
        &["reject", "--run", OTHER, "publish", "--reason", "no"],
    );
    let (gates, _) = told(at, None, 0, &["gates", "--json"]);
    assert_eq!(gates.trim(), "[]");
    // The gate was decided above, so another decision is refused.
    told(at, None, 4, &["approve", RUN, "publish"]);
    told(at, Some(RUN), 0, &["finish", "failed"]);
    told(at, None, 0, &["finish", "failed", "--run", OTHER]);
}

#[test]
fn a_shell_completes_the_ids_of_runs_newest_first_and_no_name_that_means_more_to_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let runs = dir.path().join(".prose/runs");
    for name in [RUN, OTHER, "20270101$(id)", "-rf"] {
        fs::create_dir_all(runs.join(name)).expect("a folder");
    }
    let completed = |words: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_prosescope"))
            .args(["--", "prosescope"])
            .args(words)
            .current_dir(dir.path())
            .env("PROSESCOPE_COMPLETE", "bash")
            .env("_CLAP_IFS", " ")
            .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
            .output()
            .expect("prosescope runs");
        String::from_utf8(out.stdout).expect("UTF-8")
    };
    assert_eq!(completed(&["show", "2027"]), format!("{OTHER} {RUN}"));
    assert_eq!(completed(&["get", "x", "--run", "20270101"]), RUN);
    assert_eq!(completed(&["trace", "--run", "la"]), "latest");
    assert_eq!(completed(&["approv"]), "approve");
}
