//! Puts small runs into projects, and runs commands there, for the tests of habits of real runs.
#![allow(dead_code)]

use std::fs;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The id of each run.
pub(crate) const RUN: &str = "20260104-101500-case01";

/// Returns a project with one run that consists of these files.
pub(crate) fn project<'t>(files: impl IntoIterator<Item = (&'t str, &'t str)>) -> TempDir {
    let project = tempfile::tempdir().expect("a folder");
    let run = project.path().join(".prose/runs").join(RUN);
    for (path, text) in files {
        let path = run.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    project
}

/// Runs a command in a project.
pub(crate) fn run(project: &TempDir, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_prosescope"))
        .args(args)
        .current_dir(project.path())
        .env("HOME", project.path().join("home"))
        .env_remove("PROSE_NOW")
        .env_remove("PROSE_RUN")
        .stdin(Stdio::null())
        .output()
        .expect("prosescope runs")
}
