//! Tests of `prosescope diff`, on recorded runs and on the examples.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use prosescope_test_support::files;
use prosescope_test_support::run::fed;
use serde_json::Value;

const PROGRAM: &str = "input topic: \"The topic\"\n\nlet plan = session \"Plan {topic}\"\nlet draft = session \"Write a long text about the topic, as the plan has it, with all that belongs to it\"\n  retry: 3\noutput letter = session \"Send\"\n";

/// A project with a program and recorded runs of that program.
struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new() -> Project {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("home")).expect("made");
        fs::write(dir.path().join("p.prose"), PROGRAM).expect("written");
        Project { dir }
    }

    fn path(&self, at: &str) -> PathBuf {
        self.dir.path().join(at)
    }

    #[track_caller]
    fn run(&self, code: i32, args: &[&str], input: &str) -> (String, String) {
        ran(self.dir.path(), &self.path("home"), code, args, input)
    }

    /// Records a run whose output is `letter`. If `letter` is `None`, the statement of the output fails.
    fn record(&self, id: &str, form: &str, plan: &str, letter: Option<&str>) {
        // Returns the first line of the output, which for `begin` is the number.
        let go = |args: &[&str], input: &str| {
            let args = [args, &["--run", id]].concat();
            let said = self.run(0, &args, input).0;
            said.lines().next().unwrap_or_default().to_owned()
        };
        self.run(0, &["init", "p.prose", "--id", id, "--state", form], "");
        go(&["put", "topic"], "bees");
        let first = go(&["begin", "3"], "");
        go(&["put", "plan", "--into", &first], plan);
        let second = go(&["begin", "4"], "");
        go(&["put", "draft", "--into", &second], "text");
        let third = go(&["begin", "6"], "");
        match letter {
            Some(letter) => {
                go(&["put", "letter", "--into", &third], letter);
                go(&["finish"], "");
            }
            None => {
                go(&["fail", &third, "No network"], "");
                go(&["finish", "failed"], "");
            }
        }
    }
}

#[track_caller]
fn ran(dir: &Path, home: &Path, code: i32, args: &[&str], input: &str) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
    command
        .args(args)
        .current_dir(dir)
        .env("HOME", home)
        .env("COLUMNS", "80")
        .env_remove("PROSE_RUN");
    let out = fed(&mut command, input.as_bytes());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, errors) = (text(&out.stdout), text(&out.stderr));
    assert_eq!(out.status.code(), Some(code), "{args:?}: {said}{errors}");
    (said, errors)
}

#[test]
fn runs_of_either_form_are_compared_and_their_differences_printed() {
    let project = Project::new();
    project.record("good", "sqlite", "one\ntwo\n", Some("Dear Ada"));
    project.record("same", "sqlite", "one\ntwo\n", Some("Dear Ada"));
    project.record("filed", "filesystem", "one\ntwo\n", Some("Dear Ada"));
    project.record("bad", "sqlite", "one\n2\n", None);
    for (a, b) in [
        ("good", "good"),
        ("good", "same"),
        ("good", "filed"),
        ("filed", "good"),
    ] {
        let (said, _) = project.run(0, &["diff", a, b], "");
        let found = said.lines().nth(1);
        assert_eq!(found, Some("no difference"), "{a}, {b}: {said}");
        assert!(!said.contains("Rows"), "{a}, {b}: {said}");
        let (json, _) = project.run(0, &["diff", a, b, "--json"], "");
        let view: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(view["equal"], true, "{a}, {b}: {json}");
        assert_eq!(view["counts"]["values"], 4, "{a}, {b}: {json}");
    }
    for good in [
        "good",
        "filed",
        ".prose/runs/good",
        ".prose/runs/good/state.db",
    ] {
        let (said, _) = project.run(0, &["diff", good, "bad"], "");
        let mut lines = said.lines();
        let headline = lines.next().unwrap_or_default();
        assert!(
            headline.starts_with("B failed at line 6: output letter"),
            "{said}"
        );
        assert!(headline.contains("; A completed"), "{said}");
        for part in [
            "2 rows differ, the first difference is at line 3",
            "~ let plan = session \"Plan {topic}\"",
            "      - two\n      + 2\n",
            "    status completed → failed",
            "    + error: No network",
            "    letter (output): only in A, 8 B",
            "Outputs that differ\n  letter",
            "1 the same, 2 differ",
        ] {
            assert!(said.contains(part), "{good}: {part}: {said}");
        }
        assert!(!said.contains("Write a long text"), "{said}");
        for line in said.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        let (all, _) = project.run(0, &["diff", good, "bad", "--all"], "");
        assert!(
            all.contains("  let draft = session \"Write a long text"),
            "{all}"
        );
    }
}

/// Records of a folder that only its files have: each is changed alone in a copy.
#[test]
fn a_folder_is_compared_with_its_copies() {
    let project = Project::new();
    project.record("good", "filesystem", "one\n", Some("Dear Ada"));
    let go =
        |args: &[&str], input: &str| project.run(0, &[args, &["--run", "good"]].concat(), input);
    go(
        &["agent", "memory", "set", "editor", "--scope", "execution"],
        "I know bees\n",
    );
    let add = ["agent", "segment", "add", "editor", "--prompt", "Plan"];
    go(&add, "Planned");
    let good = project.path(".prose/runs/good");
    fs::create_dir(good.join("gates")).expect("made");
    let gate = r#"{"id":"send","prompt":"Send?","allow":["ada"],"status":"approved","created_at":"2026-01-25T15:06:00Z","resolved_at":"2026-01-25T15:07:00Z","resolved_by":"ada"}"#;
    fs::write(good.join("gates/send.json"), gate).expect("written");
    let event =
        r#"{"id":1,"gate_id":"send","event_type":"created","timestamp":"2026-01-25T15:06:00Z"}"#;
    fs::write(good.join("gates/audit.jsonl"), format!("{event}\n")).expect("written");
    let import = r#"{"alias":"spell","source_url":"https://example.com/spell"}"#;
    fs::write(good.join("x_imports.jsonl"), format!("{import}\n")).expect("written");
    fs::write(good.join("notes.txt"), "a note\n").expect("written");
    let copy = project.path(".prose/runs/copy");
    for (file, old, new, found) in [
        ("notes.txt", "a note", "another", "notes.txt (file)"),
        (
            "gates/send.json",
            "Send?",
            "Send now?",
            "+ prompt: Send now?",
        ),
        (
            "gates/send.json",
            "[\"ada\"]",
            "[\"eve\"]",
            "+ allow: [\"eve\"]",
        ),
        (
            "gates/audit.jsonl",
            "created\"",
            "created\",\"principal\":\"eve\"",
            "+ principal: eve",
        ),
        ("x_imports.jsonl", "/spell", "/other", "spell (import)"),
        (
            "agents/editor/editor-001.md",
            "Planned",
            "Planned well",
            "+ summary: Planned well",
        ),
        (
            "bindings/plan.md",
            "kind: let",
            "kind: const",
            "+ kind: const",
        ),
        (
            "x_events.jsonl",
            "\"binding\":\"plan\"",
            "\"binding\":\"plan\",\"mood\":\"glad\"",
            "+ mood: \"glad\"",
        ),
        ("notes.txt", "", "", "no difference"),
    ] {
        files::copy(&good, &copy);
        let text = fs::read_to_string(copy.join(file)).expect("read");
        assert!(text.contains(old), "{file}: {text}");
        fs::write(copy.join(file), text.replacen(old, new, 1)).expect("written");
        let (said, _) = project.run(0, &["diff", "good", "copy"], "");
        assert!(said.contains(found), "{file}, {new}: {said}");
        let (json, _) = project.run(0, &["diff", "good", "copy", "--json"], "");
        let view: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(view["equal"], new.is_empty(), "{file}: {json}");
        fs::remove_dir_all(&copy).expect("removed");
    }
    let args = [
        "convert",
        "good",
        "--to",
        "sqlite",
        "--out",
        ".prose/runs/base",
    ];
    project.run(0, &args, "");
    for pair in [["good", "base"], ["base", "good"]] {
        let (said, _) = project.run(0, &["diff", pair[0], pair[1]], "");
        assert_eq!(said.lines().nth(1), Some("no difference"), "{said}");
    }
}

#[test]
fn a_shared_file_is_compared_with_its_run() {
    let project = Project::new();
    project.record("good", "sqlite", "one\ntwo\n", Some("Dear Ada"));
    project.run(0, &["share", "good", "-o", "good.zip"], "");
    let (said, _) = project.run(0, &["diff", "good", "good.zip"], "");
    assert_eq!(said.lines().nth(1), Some("no difference"), "{said}");
}

#[test]
fn what_cannot_be_compared_is_refused_with_what_to_do() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let home = examples.join("record");
    let (_, said) = ran(&examples, &home, 4, &["diff", "20260112", "20260118"], "");
    assert!(
        said.contains("runs of different programs: 0 of the 17 statements in A and the 19 in B"),
        "{said}"
    );
    assert!(
        said.contains("--anyway compares runs of different programs, too"),
        "{said}"
    );
    let (_, json) = ran(
        &examples,
        &home,
        4,
        &["diff", "20260112", "20260118", "--json"],
        "",
    );
    let error: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(error["error"]["rule"], "different-programs");
    let (said, _) = ran(
        &examples,
        &home,
        0,
        &["diff", "20260112", "20260118", "--anyway"],
        "",
    );
    assert!(
        said.contains("16 rows are only in A, 33 rows are only in B"),
        "{said}"
    );
    let (_, said) = ran(
        &examples,
        &home,
        3,
        &["diff", "20260112", ".prose/agents.db"],
        "",
    );
    assert!(said.contains("is a store of agents, not a run"), "{said}");
    let (_, said) = ran(&examples, &home, 2, &["diff", "20260112"], "");
    assert!(said.contains("<B>"), "{said}");
}

#[test]
fn a_run_whose_value_was_lost_is_compared() {
    let project = Project::new();
    project.record("good", "filesystem", "one\ntwo\n", Some("Dear Ada"));
    let bad = project.path(".prose/runs/bad");
    files::copy(&project.path(".prose/runs/good"), &bad);
    fs::remove_file(bad.join("bindings/plan.md")).expect("removed");
    let (said, _) = project.run(0, &["diff", "good", "bad"], "");
    assert!(said.contains("plan (let): only in A, 8 B"), "{said}");
}
