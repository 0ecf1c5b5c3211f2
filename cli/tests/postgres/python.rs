//! Tests with clients of other people: psycopg and SQLAlchemy, with models of the tables in postgres.md
//! (`tests/python/runs.py`).

use std::process::Command;

use prosescope_test_support::needs;
use serde_json::{Value, json};

use crate::PROGRAM;
use crate::project::{Project, cluster, text};

#[test]
fn models_of_the_documents_tables_read_and_write_beside_prose() {
    let (Some(cluster), Some(python)) = (cluster(), needs::python()) else {
        return;
    };
    let url = cluster.database();
    let project = Project::new(PROGRAM, &url);
    let run = project.init("postgres");
    let give = |args: &[&str], input: &str| {
        let all = [args, &["--run", &run]].concat();
        project.prose(0, &all, input).trim().to_owned()
    };
    let begun = give(&["begin", "1"], "");
    let begun = begun.lines().next().unwrap().to_owned();
    give(&["put", "research", "--into", &begun], "three sources");
    give(&["agent", "memory", "set", "captain"], "# Captain");
    give(
        &["agent", "segment", "add", "captain", "--prompt", "Review"],
        "x",
    );

    let mut script = project.command(&[]);
    let mut python = Command::new(python);
    python
        .arg(needs::root().join("tests/python/runs.py"))
        .args([&url, run.trim_start_matches("postgres:")])
        .arg(script.get_program())
        .current_dir(project.path());
    for (name, value) in script.env("PYTHONUTF8", "1").get_envs() {
        match value {
            Some(value) => python.env(name, value),
            None => python.env_remove(name),
        };
    }
    let out = python.output().unwrap();
    assert!(out.status.success(), "{}", text(&out.stderr));
    let read: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(read["status"], "running");
    assert_eq!(read["program"], PROGRAM);
    assert_eq!(read["started"], "2026-03-01T10:00:00+00:00");
    assert_eq!(
        read["executions"],
        json!([[
            1,
            "let research = session \"Find three sources\"",
            "completed"
        ]])
    );
    assert_eq!(read["bindings"], json!({"research": "three sources"}));
    assert_eq!(read["memory"], "# Captain");
    let both = |whose: &str| {
        (0..8)
            .map(|n| json!([format!("{whose}_{n}"), format!("{whose} {n}")]))
            .collect::<Vec<_>>()
    };
    assert_eq!(read["both"], json!([both("ours"), both("theirs")].concat()));

    // `prosescope` reads the rows that the SQLAlchemy models wrote.
    let frame = read["execution"].to_string();
    let typed = project.give(&["get", "typed", "--from", &frame, "--run", &run], b"");
    let hostile = read["hostile"].as_str().unwrap();
    assert_eq!(text(&typed.stdout), hostile, "{}", text(&typed.stderr));
    let segment = give(&["agent", "segment", "get", "captain"], "");
    assert!(
        segment.contains("by SQLAlchemy") && segment.contains("\u{1f600}"),
        "{segment}"
    );
    let trace = project.prose(0, &["trace", &run], "");
    assert!(trace.contains("More"), "{trace}");
    project.prose(0, &["check", &run], "");
}
