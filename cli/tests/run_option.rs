//! Tests of `--run` in recording commands, which accept only existing runs.

use std::fs;
use std::path::Path;
use std::process::Command;

use prosescope_test_support::run;

/// Runs `prosescope` in `dir`, and expects this exit code. Returns all output.
#[track_caller]
fn prose(dir: &Path, code: i32, args: &[&str]) -> String {
    prose_with(dir, None, code, args)
}

/// Runs `prosescope` in `dir` with `PROSE_RUN` set, and expects this exit code. Returns all output.
#[track_caller]
fn prose_with(dir: &Path, run: Option<&str>, code: i32, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
    command.env_remove("PROSE_RUN");
    command.envs(run.map(|run| ("PROSE_RUN", run)));
    command
        .args(args)
        .current_dir(dir)
        .env("HOME", dir.join("home"));
    run::said(code, &mut command)
}

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("p.prose"), "let x = session \"Find\"\n").expect("written");
    let base = ["init", "p.prose", "--id"];
    prose(
        dir.path(),
        0,
        &[&base[..], &["folder", "--state", "filesystem"]].concat(),
    );
    prose(
        dir.path(),
        0,
        &[&base[..], &["base", "--state", "sqlite"]].concat(),
    );
    dir
}

fn put(run: &str) -> [&str; 6] {
    ["put", "x", "--file", "p.prose", "--run", run]
}

#[test]
fn a_new_run_takes_no_others_place() {
    let dir = project();
    for state in ["filesystem", "sqlite"] {
        let args = ["init", "p.prose", "--id", "base", "--state", state];
        let said = prose(dir.path(), 4, &args);
        assert!(said.contains("base") && said.contains("--id"), "{said}");
    }
    prose(dir.path(), 2, &["init", "p.prose", "--id", "latest"]);
}

#[test]
fn what_is_no_run_is_not_made_one() {
    let dir = project();
    let at = dir.path();
    for (folder, file) in [
        ("docs", "README.md"),
        (".prose/runs/latest", "a.txt"),
        (".prose/runs/other", "a.txt"),
    ] {
        fs::create_dir_all(at.join(folder)).expect("made");
        fs::write(at.join(folder).join(file), "# Read me\n").expect("written");
    }
    for run in [
        "docs",
        "./docs",
        "docs/README.md",
        "other",
        ".prose/runs/latest",
    ] {
        prose(at, 3, &put(run));
    }
    for folder in ["docs", ".prose/runs/latest", ".prose/runs/other"] {
        assert_eq!(
            fs::read_dir(at.join(folder)).expect("listed").count(),
            1,
            "{folder}"
        );
    }
    prose(at, 0, &put("latest"));
    assert_eq!(
        fs::read_dir(at.join(".prose/runs/latest"))
            .expect("listed")
            .count(),
        1
    );
}

#[test]
fn of_two_stores_none_is_chosen() {
    let dir = project();
    let at = dir.path();
    prose(at, 0, &put("folder"));
    prose(at, 0, &["begin", "1", "--run", "folder"]);
    let base = at.join(".prose/runs/base/state.db");
    fs::copy(base, at.join(".prose/runs/folder/state.db")).expect("copied");
    for run in ["folder", ".prose/runs/folder"] {
        let said = prose(at, 4, &put(run));
        assert!(
            said.contains("state.db") && said.contains("x_events.jsonl"),
            "{said}"
        );
    }
    prose(at, 0, &put(".prose/runs/folder/state.md"));
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_only_where_it_is_named() {
    let dir = project();
    let at = dir.path();
    let linked = at.join(".prose/runs/linked");
    fs::create_dir(&linked).expect("made");
    fs::copy(at.join("p.prose"), linked.join("program.prose")).expect("copied");
    std::os::unix::fs::symlink("../base/state.db", linked.join("state.db")).expect("linked");
    for run in ["linked", ".prose/runs/linked"] {
        let said = prose(at, 6, &put(run));
        assert!(said.contains("link"), "{said}");
    }
    prose(at, 0, &put(".prose/runs/linked/state.db"));
}

/// A command that records in the newest run prints the name of that run.
#[test]
fn every_command_that_writes_says_to_which_run() {
    let dir = project();
    let at = dir.path();
    fs::write(
        at.join("q.prose"),
        "parallel:\n  a = session \"A\"\n\nloop (max: 3):\n  session \"B\"\n\nlet x = session \"C\"\n\napprove go:\n  prompt: \"Go?\"\nuse \"./tool.prose\"\n",
    )
    .expect("written");
    for state in ["sqlite", "filesystem"] {
        let init = ["init", "q.prose", "--id", state, "--state", state, "--json"];
        let mut said = vec![prose(at, 0, &init)];
        for words in [
            "begin 1",
            "put a --into 2 --file q.prose --not-done",
            "end 2",
            "end 1",
            "begin 4",
            "round 5",
            "end 5",
            "begin 7",
            "fail 8 no",
            "retry 8",
            "skip 7",
            "put x --file q.prose",
            "agent memory set mate",
            "agent segment add mate --prompt look",
            "begin 11",
            "gate create go --prompt Go?",
        ] {
            let args: Vec<&str> = words.split(' ').collect();
            said.push(prose(
                at,
                0,
                &[&args[..], &["--run", state, "--json"]].concat(),
            ));
        }
        said.push(prose(at, 0, &["approve", state, "go", "--json"]));
        let finish = ["finish", "--run", state, "--json"];
        said.push(prose(at, 0, &finish));
        for said in said {
            let view: serde_json::Value = serde_json::from_str(&said).expect("JSON");
            assert_eq!(view["run"], state, "{said}");
        }
        // An agent of the project does not belong to a run, so the `run` in the output is null.
        let keep = ["agent", "memory", "set", "mate", "--scope", "project"];
        let said = prose(at, 0, &[&keep[..], &["--run", state, "--json"]].concat());
        assert!(said.contains(r#""run": null"#), "{said}");
    }
}

/// Two sessions that record into one run by mistake ruin both runs. So a command without a run prints which run it
/// used.
#[test]
fn who_names_no_run_writes_to_the_newest_one_and_is_told_which() {
    let dir = project();
    let at = dir.path();
    for state in ["filesystem", "sqlite"] {
        for (older, newer) in [("zzzzzz", "aaaaaa"), ("aaaaaa", "zzzzzz")] {
            let second = if older > newer { "120000" } else { "120001" };
            let day = if state == "sqlite" {
                "20270102"
            } else {
                "20270101"
            };
            let [older, newer] = [older, newer].map(|end| format!("{day}-{second}-{end}"));
            for id in [&older, &newer] {
                // The pause is longer than the clock step of file systems, so that the second run is newer.
                std::thread::sleep(std::time::Duration::from_millis(20));
                prose(at, 0, &["init", "p.prose", "--state", state, "--id", id]);
            }
            for args in [
                &["put", "x", "--file", "p.prose"][..],
                &["begin", "1"],
                &["finish", "interrupted"],
                &["resume", "--begin"],
            ] {
                let said = prose(at, 0, args);
                let note = format!("note: recorded in run {newer}, the latest; ");
                assert!(said.contains(&note), "{args:?}: {said}");
            }
            // The user of a refused command may have meant another run, so the error contains the run that was used.
            let said = prose(at, 3, &["end", "999"]);
            assert!(
                said.contains(&format!("the command used run {newer}, the latest")),
                "{said}"
            );
            let runs = prose(at, 0, &["runs"]);
            assert!(runs.find(&newer) < runs.find(&older), "{runs}");
        }
    }
}

#[test]
fn the_variable_names_the_run_where_the_command_line_does_not() {
    let dir = project();
    let at = dir.path();
    prose(
        at,
        0,
        &["init", "p.prose", "--id", "20270101-120000-aaaaaa"],
    );
    // The newest run is `20270101-120000-aaaaaa`.
    for (variable, args, run) in [
        (
            Some("base"),
            &["put", "x", "--file", "p.prose", "--json"][..],
            "base",
        ),
        (Some("base"), &["finish", "interrupted", "--json"], "base"),
        (
            Some("folder"),
            &["put", "x", "--file", "p.prose", "--run", "base", "--json"],
            "base",
        ),
        (Some("folder"), &["resume", "--json"], "folder"),
        (
            Some("folder"),
            &["resume", "latest", "--json"],
            "20270101-120000-aaaaaa",
        ),
        (None, &["resume", "--json"], "20270101-120000-aaaaaa"),
    ] {
        let said = prose_with(at, variable, 0, args);
        let view: serde_json::Value = serde_json::from_str(&said).expect("JSON, and no note");
        assert_eq!(view["run"], run, "{args:?}");
    }
    for (args, said) in [
        (&["show"][..], "p.prose  base"),
        (&["check"], "base"),
        (&["audit", "--json"], "\"rows\": []"),
        (&["get", "x"], "session \"Find\""),
    ] {
        let out = prose_with(at, Some("base"), 0, args);
        assert!(out.contains(said), "{args:?}: {out}");
    }
    // An empty name is rejected, because it would be a prefix of every id.
    for args in [
        &["put", "x", "--file", "p.prose", "--run", ""][..],
        &["show", ""],
        &["audit", "verify", ""],
    ] {
        let said = prose(at, 2, args);
        assert!(said.contains("run's name is empty"), "{args:?}: {said}");
    }
    for args in [&["show"][..], &["check"], &["audit"]] {
        let said = prose_with(at, Some(""), 2, args);
        assert!(said.contains("PROSE_RUN"), "{args:?}: {said}");
    }
}
