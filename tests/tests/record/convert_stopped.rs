//! Tests that an interrupted `prosescope convert` leaves no copy, and the original unchanged.

use std::fs;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::Duration;

use crate::project::{FORMS, Project, text};

/// The most conversions that may end before the test succeeds in interrupting a conversion.
const TRIES: usize = 20;

/// Builds a run that is large enough to be interrupted while it is converted.
fn large(project: &Project, form: &str) -> String {
    let run = project.init(form);
    if form == "sqlite" {
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800)
                    INSERT INTO bindings (name, kind, value) SELECT 'b' || i, 'let', hex(randomblob(2000)) FROM n;";
        assert!(project.sqlite(&run, rows).status.success());
    } else {
        let value = "x".repeat(1_000);
        for n in 0..5_000 {
            let file = project.run_dir(&run).join(format!("bindings/b{n}.md"));
            fs::write(file, format!("# b{n}\n\nkind: let\n\n---\n\n{value}")).expect("written");
        }
    }
    run
}

fn other(form: &str) -> &'static str {
    match form {
        "sqlite" => "filesystem",
        _ => "sqlite",
    }
}

fn names(dir: &Path) -> Vec<String> {
    let listed = fs::read_dir(dir).expect("listed").flatten();
    let mut names: Vec<String> = listed
        .map(|at| at.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Starts to convert, and waits until a part of the new run exists.
fn begun(project: &Project, run: &str, form: &str) -> Child {
    let mut child = project
        .command(&["convert", run, "--to", form])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let runs = project.path().join(".prose/runs");
    let begun = || {
        names(&runs)
            .iter()
            .any(|name| name.starts_with(".trash-new-"))
    };
    while !begun() && child.try_wait().expect("asked").is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    child
}

/// Converts a run, and calls `meanwhile` in the middle. On a busy machine the conversion may end first; then it is
/// repeated. Returns how the interrupted conversion ended.
fn in_the_middle(
    project: &Project,
    run: &str,
    form: &str,
    meanwhile: impl Fn(Child) -> Output,
) -> Output {
    for _ in 0..TRIES {
        let out = meanwhile(begun(project, run, other(form)));
        if !out.status.success() {
            return out;
        }
        let whole = project.run_dir(&format!("{run}-{}", other(form)));
        fs::remove_dir_all(whole).expect("room");
    }
    panic!("{form}: {TRIES} times it was done before");
}

#[test]
fn what_is_killed_leaves_no_run_and_goes_with_the_next_cleaning() {
    let Some(project) = Project::new("session \"Work\"\n") else {
        return;
    };
    for form in FORMS {
        let run = large(&project, form);
        let before = project.json(&["bindings", &run]);
        in_the_middle(&project, &run, form, |mut child| {
            child.kill().expect("killed");
            child.wait_with_output().expect("it ended")
        });
        let runs = project.path().join(".prose/runs");
        let left: Vec<String> = names(&runs)
            .into_iter()
            .filter(|name| name.starts_with(".trash-new-"))
            .collect();
        assert_eq!(left.len(), 1, "{form}: {left:?}");
        let listed = project.json(&["runs"]);
        let listed = listed["runs"].as_array().expect("runs");
        let ours = |row: &&serde_json::Value| row.to_string().contains(&run);
        assert_eq!(listed.iter().filter(ours).count(), 1, "{form}: {listed:?}");
        assert_eq!(project.json(&["bindings", &run]), before, "{form}");
        // The copy looks as if `convert` were still writing it, so `clean` removes it only with `--force`.
        project.expect(0, &["clean", "--status", "completed", "--yes"], b"");
        assert!(runs.join(&left[0]).exists(), "{form}: {left:?}");
        project.expect(
            0,
            &["clean", "--status", "completed", "--force", "--yes"],
            b"",
        );
        assert!(!runs.join(&left[0]).exists(), "{form}: {left:?}");
        fs::remove_dir_all(project.run_dir(&run)).expect("room");
    }
}

#[test]
fn a_run_that_is_written_to_is_not_converted() {
    let Some(project) = Project::new("session \"Work\"\n") else {
        return;
    };
    for form in FORMS {
        let run = large(&project, form);
        let out = in_the_middle(&project, &run, form, |child| {
            project.put(&run, "late", b"late");
            child.wait_with_output().expect("it ended")
        });
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(6), "{form}: {said}");
        assert!(said.contains("was written to"), "{form}: {said}");
        let runs = names(&project.path().join(".prose/runs"));
        assert_eq!(runs.join(" "), run, "{form}");
        assert_eq!(project.get(&run, "late"), b"late");
        // Once no process writes to the run, `convert` succeeds.
        project.expect(0, &["convert", &run, "--to", other(form)], b"");
        assert_eq!(
            project.get(&format!("{run}-{}", other(form)), "late"),
            b"late"
        );
        fs::remove_dir_all(project.path().join(".prose/runs")).expect("room");
    }
}

#[test]
fn what_cannot_be_converted_is_refused_in_words() {
    let Some(project) = Project::new("session \"Work\"\n") else {
        return;
    };
    let run = project.init("filesystem");
    let import = "use \"x/r.prose\" as r";
    project.expect(0, &["begin", "--text", import, "--run", &run], b"");
    fs::create_dir(project.path().join("there")).expect("made");
    fs::create_dir_all(project.path().join(".prose/runs/log")).expect("made");
    fs::write(
        project.path().join(".prose/runs/log/state.md"),
        "# run:log p.prose\n\n1→ a ✓\n---end 2026-01-01T00:00:00Z\n",
    )
    .expect("written");
    fs::create_dir_all(project.path().join(".prose/runs/torn")).expect("made");
    fs::write(
        project.path().join(".prose/runs/torn/state.db"),
        b"SQLite format 3\0torn",
    )
    .expect("written");
    let both = project.path().join(".prose/runs/both/bindings");
    fs::create_dir_all(&both).expect("made");
    fs::write(both.join("a.md"), "a").expect("written");
    fs::write(both.join("../state.db"), b"SQLite format 3\0torn").expect("written");
    let inside = format!(".prose/runs/{run}/attachments/copy");
    let nested = format!("{run}/r--r");
    for (args, code, words) in [
        (vec!["nobody", "--to", "sqlite"], 3, "no run nobody"),
        (vec![&*run, "--to", "filesystem"], 4, "already has the form"),
        (
            vec![&*run, "--to", "sqlite", "--out", "there"],
            6,
            "there is there already",
        ),
        (
            vec![&*run, "--to", "sqlite", "--out", &inside],
            4,
            "is inside the run, and",
        ),
        (
            vec![&*nested, "--to", "sqlite"],
            4,
            "the nested run of an import",
        ),
        (vec!["log", "--to", "sqlite"], 4, "read-only"),
        (vec!["torn", "--to", "filesystem"], 5, "state.db"),
        (vec!["both", "--to", "sqlite"], 4, "an unreadable database"),
        (vec![&*run], 2, "--to"),
    ] {
        let mut all = vec!["convert"];
        all.extend(args.iter().copied());
        let said = project.expect(code, &all, b"");
        assert!(said.contains(words), "{all:?}: {said}");
        assert!(!said.contains(".trash-"), "{all:?}: {said}");
    }
    let runs = names(&project.path().join(".prose/runs"));
    assert_eq!(
        runs,
        [run, "both".to_owned(), "log".to_owned(), "torn".to_owned()]
    );
}
