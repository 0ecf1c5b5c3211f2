//! Tests of `prose`, OpenProse's name for this command, when another program has the same name.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
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

/// Creates a program called `prose`, which writes a file when it runs. Returns its path.
fn foreign(folder: &Path, ran: &Path) -> PathBuf {
    let path = folder.join("prose");
    fs::create_dir_all(folder).expect("made");
    fs::write(&path, format!("#!/bin/sh\n: >'{}'\n", ran.display())).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
    path
}

/// Runs `doctor` with these folders as PATH. Returns its output, and the result of its check of the name `prose`.
fn checked(dir: &Path, folders: &[PathBuf]) -> (String, serde_json::Value) {
    let path = std::env::join_paths(folders).expect("a path");
    let doctor = |args: &[&str]| {
        let out = Command::new(PROSESCOPE)
            .args(args)
            .current_dir(dir)
            .env("PATH", &path)
            .env("HOME", dir.join("home"))
            .output()
            .expect("prosescope runs");
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    let said: serde_json::Value =
        serde_json::from_str(&doctor(&["doctor", "--json"])).expect("JSON");
    let checks = said["checks"].as_array().expect("checks");
    let check = checks.iter().find(|check| check["name"] == "prose");
    (doctor(&["doctor"]), check.expect("a check").clone())
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

#[test]
fn the_doctor_names_a_foreign_prose_and_never_runs_it() {
    let dir = project();
    let at = dir.path();
    let (bin, other, ran) = (at.join("bin"), at.join("other"), at.join("ran"));
    let theirs = foreign(&other, &ran).display().to_string();
    symlink(PROSESCOPE, bin.join("prose")).expect("a link");
    for (folders, state) in [
        (&[bin.clone()][..], "ok"),
        (&[bin.clone(), other.clone()], "warning"),
        (&[other.clone(), bin], "warning"),
        (std::slice::from_ref(&other), "warning"),
        (&[at.join("nowhere")], "ok"),
    ] {
        let (text, check) = checked(at, folders);
        let found = check["found"].as_str().expect("found");
        assert_eq!(check["state"], state, "{folders:?}: {found}");
        assert_eq!(found.contains(&theirs), state == "warning", "{found}");
        let next = check["next"].as_str().expect("next");
        assert_eq!(next.contains("prosescope"), state == "warning", "{next}");
        assert_eq!(text.contains("! prose\n"), state == "warning", "{text}");
    }
    assert!(!ran.exists(), "the foreign program was run");
}

#[test]
fn a_copy_under_the_second_name_is_known_as_ours() {
    let dir = project();
    let at = dir.path();
    fs::copy(PROSESCOPE, at.join("bin/prose")).expect("copied");
    let (_, check) = checked(at, &[at.join("bin")]);
    assert_eq!(check["state"], "ok", "{check}");
}
