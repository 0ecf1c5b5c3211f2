//! Tests what the commands print about the runs of core/tests/fixtures/real-4.json, command by command. `core/tests/real`
//! checks the facts of the same cases.

#[path = "shared/habits.rs"]
mod shared;

use std::process::Command;

use prosescope_core::model::schema::STATE_SQL;
use prosescope_test_support::needs;
use serde_json::Value;
use shared::RUN;
use tempfile::TempDir;

/// The end of a command: its exit code, and all that it printed.
struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Said {
    /// Returns all that was printed, without line ends.
    fn flat(&self) -> String {
        let both = format!("{} {}", self.out, self.err);
        both.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Puts a case into a run folder of a project.
fn project(case: &Value) -> TempDir {
    let files = case["files"].as_object().expect("paths and texts").iter();
    let files = files.map(|(path, text)| (&**path, text.as_str().expect("a text")));
    let project = shared::project(files);
    if let Some(sql) = case["sql"].as_array() {
        let lines = sql.iter().map(|sql| sql.as_str().expect("SQL"));
        let all: Vec<&str> = [STATE_SQL].into_iter().chain(lines).collect();
        let database = project
            .path()
            .join(".prose/runs")
            .join(RUN)
            .join("state.db");
        let mut sqlite3 = Command::new("sqlite3");
        sqlite3.arg(database).arg(all.join(";\n"));
        assert!(sqlite3.status().expect("sqlite3 runs").success());
    }
    project
}

fn run(project: &TempDir, args: &[&str]) -> Said {
    let out = shared::run(project, args);
    Said {
        code: out.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&out.stdout).into_owned(),
        err: String::from_utf8_lossy(&out.stderr).into_owned(),
    }
}

/// Returns the words of a list that a text lacks. A word that is a list itself stands for any one of its words.
fn missing(words: &Value, text: &str) -> Vec<String> {
    let words = words.as_array().expect("a list").iter();
    let is_there = |word: &&Value| match word {
        Value::Array(any) => any
            .iter()
            .any(|word| text.contains(word.as_str().expect("a text"))),
        word => text.contains(word.as_str().expect("a text")),
    };
    words
        .filter(|word| !is_there(word))
        .map(Value::to_string)
        .collect()
}

/// Returns the messages of the warnings and errors that `check` finds.
fn findings(project: &TempDir) -> Vec<String> {
    let said = run(project, &["check", RUN, "--json"]);
    let list: Value = serde_json::from_str(&said.out).expect("JSON of `check`");
    let runs = list["runs"].as_array().expect("runs").iter();
    let issues = runs.flat_map(|run| run["issues"].as_array().expect("issues"));
    let serious =
        issues.filter(|issue| matches!(issue["severity"].as_str(), Some("warning" | "error")));
    serious.map(Value::to_string).collect()
}

/// Returns what is wrong with the answer of `get NAME`.
fn wrong_value(project: &TempDir, name: &str, want: &Value) -> Option<String> {
    let said = run(project, &["get", name, "--run", RUN]);
    let is_right = match want {
        Value::String(_) => said.code != 0 || !said.err.trim().is_empty(),
        want => {
            want["exit"]
                .as_array()
                .is_none_or(|codes| codes.contains(&said.code.into()))
                && want["text"]
                    .as_str()
                    .is_none_or(|text| said.out.contains(text))
        }
    };
    (!is_right).then(|| {
        format!(
            "get {name}: wanted {want}, got {} {:?} {:?}",
            said.code, said.out, said.err
        )
    })
}

/// Returns what is wrong with the output for one key of a case.
fn wrong(project: &TempDir, key: &str, want: &Value) -> Vec<String> {
    let flat = |args: &[&str]| run(project, args).flat();
    let everything = || {
        ["show", "trace", "resume", "check"]
            .map(|command| flat(&[command, RUN]))
            .join(" ")
    };
    match key {
        "text" | "any_text" => missing(want, &everything()),
        "text_absent" => {
            let printed = everything().to_lowercase();
            let texts = want
                .as_array()
                .expect("a list")
                .iter()
                .filter_map(Value::as_str);
            let there = texts.filter(|text| printed.contains(&text.to_lowercase()));
            there.map(|text| format!("{text:?} is printed")).collect()
        }
        "show_text" => missing(want, &flat(&["show", RUN])),
        "trace_text" => missing(want, &flat(&["trace", RUN])),
        "for_model" => missing(want, &flat(&["show", RUN, "--for-model"])),
        "gates_text" => missing(want, &flat(&["gates", "--run", RUN])),
        "issue" => missing(want, &findings(project).join("\n")),
        "issues_min" => {
            let found = findings(project).len() as u64;
            let wants = want.as_u64().expect("a number");
            (found < wants)
                .then(|| format!("{found} findings"))
                .into_iter()
                .collect()
        }
        "get" => {
            let names = want.as_object().expect("names").iter();
            names
                .filter_map(|(name, want)| wrong_value(project, name, want))
                .collect()
        }
        "get_not" => {
            let names = want.as_object().expect("names").iter();
            let answers = names.filter(|(name, text)| {
                let said = run(project, &["get", name, "--run", RUN]);
                said.out.contains(text.as_str().expect("a text"))
            });
            answers
                .map(|(name, text)| format!("get {name} prints {text}"))
                .collect()
        }
        "next_line" => {
            let next = flat(&["next", "--run", RUN]);
            let wanted = format!("begin {want} ");
            let is_named = next.contains(&wanted) || next.contains(&format!("line {want}"));
            (!is_named)
                .then(|| format!("line {want} is not in {next}"))
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    }
}

/// With `PROSE_PRINTED=name`, the test prints the output of `show` and `trace` of the cases whose names contain that text.
#[test]
fn each_command_prints_what_a_person_reads_from_the_run() {
    let file: Value =
        serde_json::from_str(include_str!("../../core/tests/fixtures/real-4.json")).expect("JSON");
    let mut problems = Vec::new();
    let has_sqlite3 = needs::sqlite3().is_some();
    for case in file["cases"].as_array().expect("it lists cases") {
        if case["sql"].is_array() && !has_sqlite3 {
            continue;
        }
        let name = case["name"].as_str().expect("a name");
        let project = project(case);
        if std::env::var("PROSE_PRINTED").is_ok_and(|part| name.contains(&part)) {
            for args in [
                ["show", RUN],
                ["trace", RUN],
                ["resume", RUN],
                ["check", RUN],
            ] {
                let said = run(&project, &args);
                println!("{name}\n$ {args:?} {}\n{}{}", said.code, said.out, said.err);
            }
        }
        let expect = case["expect"].as_object().expect("keys and facts");
        if let Some(words) = expect.get("or_refused") {
            let said = run(&project, &["show", RUN]);
            let words = words.as_array().expect("a list");
            let is_named = words
                .iter()
                .any(|word| said.flat().contains(word.as_str().expect("a text")));
            if said.code == 5 && is_named {
                continue;
            }
        }
        for (key, want) in expect {
            for why in wrong(&project, key, want) {
                problems.push(format!("{name}: {key}: {why}"));
            }
        }
    }
    assert!(
        problems.is_empty(),
        "{} problems\n{}",
        problems.len(),
        problems.join("\n")
    );
}

/// What a forge shows of a run cannot mention anybody, hold a secret or break out of its block.
#[test]
fn markdown_for_a_forge_is_harmless() {
    let log = "# run:20260104-101500-case01 @ops **now**.prose\n1→ a ✗ key ghp_4f9aQ2mXc7Lr8TzWb1Ye6Ku3Hd5Jn0VsA1b2 and ``` @ops\n";
    let case = serde_json::json!({"files": {
        "program.prose": "let a = session \"Ask @ops\"\n",
        "state.md": log,
        "bindings/plan.md": "# plan\n\nkind: let\n\n---\n\nA plan.\n",
    }});
    let project = project(&case);
    let said = run(&project, &["show", RUN, "--markdown", "--exit-status"]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(
        said.out.contains("**First cause:** `let a ="),
        "{}",
        said.out
    );
    assert!(said.out.contains("| `plan` | let | 8 B |"), "{}", said.out);
    assert!(!said.out.contains("ghp_4f9a"), "{}", said.out);
    let prose = said.out.replace("\\`", "");
    let prose = prose.split("````").step_by(2).collect::<String>();
    let bare = prose.split('`').step_by(2).collect::<String>();
    assert!(!bare.contains('@') && !bare.contains("**now**"), "{bare}");
}

#[test]
fn nothing_is_recorded_in_a_form_that_is_only_read() {
    for file in [
        "compiled-intent.json",
        ".prose-run-manifest.json",
        "receipts/a.jsonl",
    ] {
        let project = project(&serde_json::json!({"files": {file: "{}\n"}}));
        let said = run(&project, &["finish", "failed", "--run", RUN]);
        assert_eq!(said.code, 4, "{file}: {}", said.err);
        assert!(
            said.err.contains("does not record in"),
            "{file}: {}",
            said.err
        );
        let folder = project.path().join(".prose/runs").join(RUN);
        assert!(!folder.join("state.md").exists(), "{file}");
    }
}
