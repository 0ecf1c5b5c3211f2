//! Tests of `prose`, OpenProse's name for this command.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

const PROSESCOPE: &str = env!("CARGO_BIN_EXE_prosescope");

/// Returns a project with two runs that wait at their gates, and an empty folder for programs.
fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join("bin")).expect("made");
    fs::write(dir.path().join("p.prose"), "session \"Work\"\n").expect("written");
    let at = dir.path();
    for run in ["one", "two"] {
        prosescope(at, &["init", "p.prose", "--state", "sqlite", "--id", run]);
        prosescope(at, &["gate", "create", "go", "--run", run, "--prompt", "?"]);
    }
    dir
}

fn prosescope(dir: &Path, args: &[&str]) -> String {
    let out = Command::new(PROSESCOPE)
        .args(args)
        .current_dir(dir)
        .env("HOME", dir.join("home"))
        .output()
        .expect("prosescope runs");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{args:?}: {said}");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// Runs a shell command in the project. Its PATH contains only the project's folder of programs.
fn shell(dir: &Path, line: &str) -> Output {
    Command::new("/bin/sh")
        .args(["-c", line])
        .current_dir(dir)
        .env("PATH", dir.join("bin"))
        .env("HOME", dir.join("home"))
        .output()
        .expect("sh runs")
}

#[test]
fn the_documents_own_commands_decide_gates_by_the_second_name() {
    let dir = project();
    let at = dir.path();
    symlink(PROSESCOPE, at.join("bin/prose")).expect("a link");
    for (line, expected) in [
        ("prose gates", "two"),
        ("prose gates --pending", "two"),
        ("prose approve one go", "go"),
        ("prose reject two go --reason=\"too late\"", "go"),
        ("prose gates --help", "Usage: prosescope gates"),
    ] {
        let out = shell(at, line);
        let said = String::from_utf8_lossy(&out.stdout);
        let error = String::from_utf8_lossy(&out.stderr);
        assert!(
            out.status.success() && said.contains(expected),
            "{line}: {said}{error}"
        );
    }
    let out = shell(at, "prose frobnicate");
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(error.contains("Usage: prosescope"), "{error}");
    for (run, status) in [("one", "approved"), ("two", "rejected")] {
        let gates = prosescope(at, &["gates", run, "--all", "--json"]);
        let gates: serde_json::Value = serde_json::from_str(&gates).expect("JSON");
        assert_eq!(gates[0]["status"], status, "{gates}");
    }
}
