//! Habits of real runs, in small: what `show`, `trace`, `resume` and `check` print together of each case of
//! core/tests/fixtures/real.json and real-more.json. `core/tests/real` holds the facts of the same cases.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

const RUN: &str = "20260104-101500-case01";

/// The files of a case in a run folder of a project, read by each command: all that they print.
fn printed(files: &Value) -> String {
    let project = tempfile::tempdir().expect("a folder");
    let run = project.path().join(".prose/runs").join(RUN);
    for (path, text) in files.as_object().expect("paths and texts") {
        let path = run.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text.as_str().expect("a text")).expect("written");
    }
    let mut printed = String::new();
    for command in ["show", "trace", "resume", "check"] {
        let out = Command::new(env!("CARGO_BIN_EXE_prosescope"))
            .args([command, RUN])
            .current_dir(project.path())
            .env("HOME", project.path().join("home"))
            .env_remove("PROSE_NOW")
            .env_remove("PROSE_RUN")
            .stdin(Stdio::null())
            .output()
            .expect("prosescope runs");
        let said = format!(
            "$ prosescope {command}\n{}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        );
        assert!(matches!(out.status.code(), Some(0 | 1)), "{said}");
        printed.push_str(&said);
    }
    printed
}

fn texts<'c>(expect: &'c Value, key: &str) -> Vec<&'c str> {
    let list = expect[key].as_array().map(Vec::as_slice);
    let list = list.unwrap_or_default().iter();
    list.map(|text| text.as_str().expect("a text")).collect()
}

/// `PROSE_PRINTED=name` prints the whole output of the cases whose names contain that text.
#[test]
fn what_a_person_reads_from_real_habits_is_printed() {
    let files = [
        include_str!("../../core/tests/fixtures/real.json"),
        include_str!("../../core/tests/fixtures/real-more.json"),
    ];
    let files: [Value; 2] =
        files.map(|text| serde_json::from_str(text).expect("the fixture is JSON"));
    let mut problems = Vec::new();
    for case in files
        .iter()
        .flat_map(|file| file["cases"].as_array().expect("it lists cases"))
    {
        let (name, expect) = (case["name"].as_str().expect("a name"), &case["expect"]);
        let printed = printed(&case["files"]);
        if std::env::var("PROSE_PRINTED").is_ok_and(|part| name.contains(&part)) {
            println!("{name}\n{printed}");
        }
        // Lines are wrapped.
        let printed: Vec<&str> = printed.split_whitespace().collect();
        let printed = printed.join(" ");
        let lower = printed.to_lowercase();
        let mut problem = |key: &str, why: String| {
            problems.push(format!("{name}: {key}: {why}"));
        };
        for (key, of) in [("text", "text"), ("notes printed", "notes")] {
            let missing: Vec<&str> = texts(expect, of)
                .into_iter()
                .filter(|text| !printed.contains(text))
                .collect();
            if !missing.is_empty() {
                problem(key, format!("{missing:?} is not in what is printed"));
            }
        }
        let there: Vec<&str> = texts(expect, "text_absent")
            .into_iter()
            .filter(|text| lower.contains(&text.to_lowercase()))
            .collect();
        if !there.is_empty() {
            problem("text_absent", format!("{there:?} is printed"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
