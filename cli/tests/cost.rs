//! Tests of `prosescope cost`, on the examples and on transcripts that the test writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use prosescope_test_support::files;
use serde_json::{Value, json};

const RUN: &str = "20260112-091407-k3v8qd";

/// A copy of the examples, and a folder of transcripts beside it.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().expect("a folder");
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        files::copy(&examples, &dir.path().join("examples"));
        fs::create_dir_all(dir.path().join("t/s1/subagents")).expect("made");
        Place { dir }
    }

    fn path(&self, at: &str) -> PathBuf {
        self.dir.path().join(at)
    }

    fn write(&self, at: &str, lines: &[Value]) {
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(self.path(at), lines).expect("written");
    }

    /// Returns what `cost` prints to standard output and to standard error.
    #[track_caller]
    fn cost(&self, code: i32, args: &[&str]) -> (String, String) {
        let out = Command::new(env!("CARGO_BIN_EXE_prosescope"))
            .arg("cost")
            .args(args)
            .current_dir(self.path("examples"))
            .env("HOME", self.path("home"))
            .env("COLUMNS", "80")
            .env_remove("PROSE_RUN")
            .output()
            .expect("prosescope runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        let (said, errors) = (text(out.stdout), text(out.stderr));
        assert_eq!(out.status.code(), Some(code), "{args:?}: {said}{errors}");
        (said, errors)
    }
}

/// Returns a text on one line with single blanks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn line(time: &str, more: Value) -> Value {
    let mut line = json!({"sessionId": "s1", "timestamp": format!("2026-01-12T{time}Z")});
    for (key, value) in more.as_object().into_iter().flatten() {
        line[key] = value.clone();
    }
    line
}

fn answer(time: &str, id: &str, agent: Option<&str>, content: Value) -> Value {
    line(
        time,
        json!({"type": "assistant", "requestId": id, "agentId": agent, "isSidechain": agent.is_some(),
            "message": {"id": id, "model": "opus", "content": content, "usage": {"input_tokens": 7,
            "cache_read_input_tokens": 40_000, "output_tokens": 1_200,
            "cache_creation": {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 20}}}}),
    )
}

/// Writes a session that gives the task of `case_file` to a subagent.
fn session(place: &Place) {
    let prompt = format!("Write to .prose/runs/{RUN}/bindings/case_file.md");
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Task",
        "input": {"description": "Go", "prompt": prompt}}]);
    let lines = [
        answer("09:14:10", "m1", None, call),
        answer("09:58:40", "m2", None, json!([])),
    ];
    place.write("t/s1.jsonl", &lines);
    let lines = [answer("09:18:00", "m3", Some("a1"), json!([]))];
    place.write("t/s1/subagents/agent-a1.jsonl", &lines);
    place.write(
        "t/s1/subagents/agent-a1.meta.json",
        &[json!({"toolUseId": "t1"})],
    );
}

#[test]
fn the_tokens_of_a_statement_are_counted_from_the_transcripts() {
    let place = Place::new();
    session(&place);
    let before = files::below(&place.path("examples"));
    let dir = place.path("t");
    let dir = dir.to_str().expect("UTF-8");
    let (said, _) = place.cost(0, &["20260112", "--transcripts", dir]);
    let flat = flat(&said);
    let row = "19 let case_file = session: captain 7 40 000 300/20 1 200 opus, by tool use";
    assert!(flat.contains(row), "{flat}");
    assert!(
        flat.contains("it carried out the run: it started subagents"),
        "{flat}"
    );
    assert!(
        said.lines().all(|line| line.chars().count() <= 80),
        "{said}"
    );
    let (json, _) = place.cost(0, &["20260112", "--transcripts", dir, "--json"]);
    let view: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(view["source"], "measured");
    assert_eq!(view["statements"][0]["tokens"], json!({}));
    let of = &view["statements"][1];
    assert_eq!(of["tokens"]["opus"]["written_1h"], 20);
    assert_eq!(of["transcripts"][0]["why"], "bindings/case_file.md");
    assert_eq!(
        files::below(&place.path("examples")),
        before,
        "nothing is written"
    );
}

#[test]
fn without_transcripts_the_answer_says_that_nothing_is_recorded_and_what_to_do() {
    let (said, _) = Place::new().cost(0, &["20260112"]);
    assert!(
        said.contains("Unknown: the run records no tokens."),
        "{said}"
    );
    assert!(said.contains("--transcripts ~/.claude/projects"), "{said}");
}

#[test]
fn a_wrong_folder_is_an_error_that_says_what_to_do() {
    let place = Place::new();
    let dir = |at: &str| place.path(at).to_str().expect("UTF-8").to_owned();
    let (_, said) = place.cost(3, &["20260112", "--transcripts", &dir("nowhere")]);
    assert!(said.contains("nowhere: No such file"), "{said}");
    let (_, said) = place.cost(3, &["20260112", "--transcripts", &dir("t")]);
    assert!(said.contains("contains no transcripts (*.jsonl)"), "{said}");
    session(&place);
    let (_, said) = place.cost(6, &["20260112", "--transcripts", &dir("t/s1.jsonl")]);
    assert!(said.contains("s1.jsonl: Not a directory"), "{said}");
    // What can be read is counted nevertheless.
    fs::create_dir(place.path("t/folder.jsonl")).expect("made");
    place.cost(0, &["20260112", "--transcripts", &dir("t")]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", place.path("t/gone.jsonl")).expect("made");
        let (said, error) = place.cost(6, &["20260112", "--transcripts", &dir("t")]);
        assert!(said.contains("opus, by tool use"), "{said}");
        assert!(error.contains("gone.jsonl: No such file"), "{error}");
    }
}

#[test]
fn a_cut_off_line_and_a_name_of_a_file_cannot_disturb_the_answer() {
    let place = Place::new();
    session(&place);
    let other = answer("09:50:00", "m9", None, json!([])).to_string();
    let torn = format!("{}\n{{\"type\": \"assis", other.replace("s1", "s2"));
    fs::write(place.path("t/\u{1b}[2Jx.jsonl"), torn).expect("written");
    let dir = place.path("t");
    let (said, _) = place.cost(
        0,
        &["20260112", "--transcripts", dir.to_str().expect("UTF-8")],
    );
    assert!(flat(&said).contains("unreadable lines: 1"), "{said}");
    assert!(said.contains("\\u{1b}[2Jx.jsonl"), "{said}");
}
