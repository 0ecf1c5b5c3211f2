//! Tests of `show --for-model` on every form of run: the size limit, and the notes on standard error.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use prosescope_test_support::needs;
use serde_json::Value;

const FAILED: &str = "20260118";

fn prose(at: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_prosescope"))
        .args(args)
        .current_dir(at)
        .env("COLUMNS", "100")
        .output()
        .expect("started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn examples() -> PathBuf {
    needs::root().join("examples")
}

/// Returns the JSON of `show --for-model` at a size. Exit code 1 is allowed, because the run may have issues.
#[track_caller]
fn of(at: &Path, run: &str, size: &str) -> Value {
    let out = prose(at, &["show", run, "--for-model", "--size", size, "--json"]);
    let said = text(&out.stderr);
    assert!(matches!(out.status.code(), Some(0 | 1)), "{run}: {said}");
    assert!(said.starts_with("about "), "{run}: {said}");
    serde_json::from_slice(&out.stdout).expect("JSON")
}

#[test]
fn every_run_fits_and_says_what_it_is_about() {
    let fixtures = needs::root().join("tests/fixtures/runs");
    let mut seen = 0;
    for folder in [examples().join(".prose/runs"), fixtures] {
        for entry in fs::read_dir(&folder).expect("listed") {
            let run = entry.expect("an entry").path();
            let run = run.to_string_lossy();
            for (size, most) in [("8", 8_000), ("128", 128_000)] {
                let of = of(&examples(), &run, size);
                let text = of["text"].as_str().expect("a text");
                assert!(text.len() <= most, "{run}: {}", text.len());
                assert_eq!(of["bytes"], text.len());
                assert!(text.contains("## What happened"), "{run}: {text}");
            }
            seen += 1;
        }
    }
    assert!(seen > 15, "{seen}");
}

#[test]
fn a_failed_run_is_told_by_its_first_cause_and_any_row_when_asked() {
    let at = examples();
    let failure = of(&at, FAILED, "8");
    assert_eq!(failure["about"], "failure");
    let out = prose(&at, &["show", FAILED, "--for-model", "--node", "13"]);
    let (said, line) = (text(&out.stdout), text(&out.stderr));
    assert!(said.contains("row: #13,"), "{said}");
    assert!(said.contains("## Its statement"), "{said}");
    assert!(
        line.contains(" tokens, ") && line.contains(" replaced"),
        "{line}"
    );
    assert_eq!(line.lines().count(), 1, "{line}");
    let out = prose(&at, &["show", FAILED, "--for-model", "--node", "9999"]);
    assert_eq!(out.status.code(), Some(3), "{}", text(&out.stderr));
}

#[test]
fn what_leaves_is_said_only_with_for_model() {
    let out = prose(&examples(), &["show", FAILED, "--without", "values"]);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("also give --for-model"), "{said}");
    for option in [["--node", "13"], ["--size", "8"]] {
        let out = prose(&examples(), &["show", FAILED, option[0], option[1]]);
        assert_eq!(out.status.code(), Some(2), "{option:?}");
    }
    assert_eq!(prose(&examples(), &["show", FAILED]).status.code(), Some(0));
}
