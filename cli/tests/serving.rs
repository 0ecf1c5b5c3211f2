//! Tests of `prosescope workflow serve` over a file: how the server ends, and its messages about the store.
#![cfg(unix)]

use std::process::Command;

use serde_json::Value;

#[path = "shared/stopping.rs"]
mod stopping;

fn place() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(".prose")).unwrap();
    dir
}

fn command(dir: &tempfile::TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
    command
        .args(args)
        .current_dir(dir.path())
        .env("HOME", dir.path())
        .env_remove("PROSE_WORKFLOWS")
        .env_remove("PROSE_SERVE_TOKEN");
    command
}

const SERVE: [&str; 5] = ["workflow", "serve", "--no-token", "--listen", "127.0.0.1:0"];

#[test]
fn a_server_that_is_told_to_stop_ends_with_0() {
    let dir = place();
    let begun = command(&dir, &["workflow", "start", "--input", "x", "--json"]).output();
    let begun: Value = serde_json::from_slice(&begun.unwrap().stdout).unwrap();
    let of = begun["workflow_id"].as_str().unwrap();
    stopping::serve_ends_well(|| command(&dir, &SERVE), of);
    stopping::serve_can_be_stopped_at_once(|| command(&dir, &SERVE));
}
