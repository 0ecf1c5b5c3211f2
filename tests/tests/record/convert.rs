//! `prose convert`: a run in the other form and back again is the same run.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::project::{Project, text};

/// Converts a run there and back, and compares what every page says.
pub(crate) fn there_and_back(project: &Project, form: &str, run: &str) {
    let other = match form {
        "sqlite" => "filesystem",
        _ => "sqlite",
    };
    let there = format!("{run}-{other}");
    let back = format!("{there}-{form}");
    project.expect(0, &["convert", run, "--to", other], b"");
    project.expect(0, &["convert", &there, "--to", form], b"");
    for copy in [&there, &back] {
        assert_same(project, run, copy);
    }
    // What is there is not replaced.
    let refused = project.give(&["convert", run, "--to", other], b"");
    assert!(!refused.status.success(), "{run} was converted over itself");
    assert!(text(&refused.stderr).contains("is there already"));
    // A run that is of that form already.
    project.expect(4, &["convert", run, "--to", form], b"");
}

fn assert_same(project: &Project, run: &str, copy: &str) {
    let of = |run: &str, page: &str| project.json(&[page, run]);
    let (a, b) = (of(run, "show"), of(copy, "show"));
    for key in ["status", "started", "updated", "program", "id"] {
        let at = |page: &Value| page["overview"][key].clone();
        assert_eq!(at(&a), at(&b), "{copy}: {key}");
    }
    // What a state file alone tells has no rows to carry: that was said, and the file is copied.
    let dir = project.run_dir(run);
    if dir.join("state.db").is_file() || dir.join("x_events.jsonl").is_file() {
        assert_eq!(rows(&of(run, "trace")), rows(&of(copy, "trace")), "{copy}");
    }
    let (ours, theirs) = (bindings(project, run), bindings(project, copy));
    assert_eq!(
        ours.keys().collect::<Vec<_>>(),
        theirs.keys().collect::<Vec<_>>(),
        "{copy}: names and frames"
    );
    for (key, binding) in &ours {
        assert_eq!(binding, &theirs[key], "{copy}: {key:?}");
    }
    assert_eq!(segments(project, run), segments(project, copy), "{copy}");
    assert_eq!(gates(project, run), gates(project, copy), "{copy}");
    let (ours, theirs) = (of(run, "audit"), of(copy, "audit"));
    for key in ["chain", "heads", "rows", "events"] {
        assert_eq!(ours[key], theirs[key], "{copy}: audit {key}");
    }
}

fn list(page: &Value, key: &str) -> Vec<Value> {
    page[key].as_array().cloned().unwrap_or_default()
}

fn pick(row: &Value, keys: &[&str]) -> String {
    let said: Vec<String> = keys
        .iter()
        .map(|key| format!("{key}={}", row[*key]))
        .collect();
    said.join(" ")
}

fn rows(trace: &Value) -> Vec<String> {
    let keys = [
        "level", "kind", "status", "text", "line", "started", "ended", "took_ms", "error",
    ];
    list(trace, "rows")
        .iter()
        .map(|row| pick(row, &keys))
        .collect()
}

/// What is known of each binding, with its value as it is printed.
fn bindings(project: &Project, run: &str) -> BTreeMap<(String, String), (String, Vec<u8>)> {
    let page = project.json(&["bindings", run]);
    let rows = list(&page, "rows").into_iter().map(|row| {
        let name = row["name"].as_str().expect("a name").to_owned();
        let frame = row["execution_id"].to_string();
        let mut args = vec!["get", &name, "--run", run];
        if frame != "null" {
            args.extend(["--execution", &frame]);
        }
        let value = project.give(&args, b"").stdout;
        let keys = ["kind", "source", "created", "updated", "attachment", "len"];
        ((name, frame), (pick(&row, &keys), value))
    });
    rows.collect()
}

fn segments(project: &Project, run: &str) -> Vec<String> {
    let page = project.json(&["agents", run]);
    let agents = list(&page, "agents");
    let own = agents.iter().filter(|agent| agent["scope"] == "execution");
    own.flat_map(|agent| {
        let keys = ["number", "timestamp", "prompt", "summary"];
        let segments = list(agent, "segments");
        // A segment's file keeps no line breaks at its summary's end; that is said.
        let said = segments
            .iter()
            .map(|segment| pick(segment, &keys).replace("\\n\"", "\""));
        let mut said: Vec<String> = said.collect();
        said.push(pick(agent, &["name", "memory_len", "preview"]));
        said
    })
    .collect()
}

fn gates(project: &Project, run: &str) -> Vec<String> {
    let page = project.json(&["gates", run]);
    let keys = [
        "id",
        "status",
        "prompt",
        "allow",
        "timeout",
        "deadline",
        "on_reject",
        "created",
        "resolved",
        "resolved_by",
        "comment",
    ];
    list(&page, "gates")
        .iter()
        .map(|gate| pick(gate, &keys))
        .collect()
}

#[test]
fn every_example_there_and_back_is_the_same_run() {
    let Some(project) = Project::new("session \"none\"\n") else {
        return;
    };
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/.prose/runs");
    let copied = Command::new("cp")
        .arg("-r")
        .arg(&examples)
        .arg(project.path().join(".prose/"))
        .status();
    assert!(copied.expect("cp runs").success());
    let listed = std::fs::read_dir(&examples).expect("examples");
    for run in listed.flatten() {
        let form = match run.path().join("state.db").is_file() {
            true => "sqlite",
            false => "filesystem",
        };
        let run = run.file_name().to_string_lossy().into_owned();
        there_and_back(&project, form, &run);
    }
}
