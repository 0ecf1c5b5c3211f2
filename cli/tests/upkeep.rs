//! Tests of `clean`, `agent delete`, `doctor` and `check --fix`: their output, the files that they remove, and the
//! files that they never remove.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use prosescope_test_support::{clock, needs};

/// Runs `prosescope` in a project, nine days after its runs began.
fn prose(dir: &Path, args: &[&str]) -> Output {
    prose_at(dir, args, "2026-02-10T00:00:00Z")
}

fn prose_at(dir: &Path, args: &[&str], now: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_prosescope"))
        .args(args)
        .current_dir(dir)
        .env("HOME", dir.join("home"))
        .envs(clock::at(now))
        .output()
        .expect("prosescope runs")
}

fn done(dir: &Path, args: &[&str], now: &str) {
    let out = prose_at(dir, args, now);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{args:?}: {said}");
}

/// Returns a project with a completed run, a running run, an agent of the project and an agent of the user.
fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    fs::write(at.join("p.prose"), "session \"Find\"\n").expect("written");
    for id in ["done", "running"] {
        let began = "2026-02-01T00:00:00Z";
        done(
            at,
            &["init", "p.prose", "--state", "sqlite", "--id", id],
            began,
        );
    }
    let ended = "2026-02-01T01:00:00Z";
    done(at, &["finish", "--run", "done"], ended);
    for prose in [at.join(".prose"), at.join("home/.prose")] {
        fs::create_dir_all(prose.join("agents/captain")).expect("made");
        fs::write(prose.join("agents/captain/memory.md"), "memory").expect("written");
    }
    dir
}

fn runs(dir: &Path) -> Vec<String> {
    let listed = fs::read_dir(dir.join(".prose/runs")).expect("listed");
    let mut names: Vec<String> = listed
        .flatten()
        .map(|at| at.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A run that cannot be removed is listed among the kept runs. The total size of the removed runs does not include this
/// run.
#[test]
fn clean_says_what_it_removed_and_nothing_else() {
    if needs::faketime().is_none() {
        return;
    }
    let dir = project();
    let at = dir.path();
    // With a folder in place of the lock file, the run cannot be locked, even by root. So the run cannot be removed.
    let lock = at.join(".prose/runs/running/.lock");
    let _ = fs::remove_file(&lock);
    fs::create_dir(&lock).expect("made");
    let clean = ["clean", "done", "running", "--force", "--yes"];
    let out = prose(at, &[&clean[..], &["--json"]].concat());
    assert_eq!(out.status.code(), Some(6));
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let names = |list: &str| -> Vec<String> {
        let runs = told[list].as_array().expect("runs").iter();
        runs.map(|run| run["run"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(
        (names("remove"), names("keep")),
        (vec!["done".into()], vec!["running".into()])
    );
    assert_eq!(told["bytes"], told["remove"][0]["bytes"]);
    assert_eq!(
        (&told["done"], runs(at)),
        (&false.into(), vec!["running".to_owned()])
    );
    let why = told["keep"][0]["why"].as_str().expect("why");
    assert!(why.contains("is not a file"), "{why}");
    // The text for people is the same if no run at all could be removed.
    let out = prose(
        at,
        &clean[..1]
            .iter()
            .chain(&clean[2..])
            .copied()
            .collect::<Vec<_>>(),
    );
    let said = String::from_utf8_lossy(&out.stdout);
    assert_eq!(out.status.code(), Some(6));
    assert!(
        said.contains("nothing was removed") && !said.contains("freed"),
        "{said}"
    );
}

#[test]
fn nothing_goes_without_yes_and_then_only_what_was_said() {
    if needs::faketime().is_none() {
        return;
    }
    let dir = project();
    let at = dir.path();
    for (args, code, left) in [
        (&["clean"][..], 2, 2),
        (&["clean", "--yes"], 2, 2),
        (&["clean", "--older-than", "a week"], 2, 2),
        (&["clean", "no-such-run", "--yes"], 3, 2),
        (&["clean", "../home", "--yes"], 2, 2),
        (&["clean", "--status", "completed"], 0, 2),
        (&["clean", "--older-than", "30d", "--yes"], 0, 2),
        (
            &[
                "clean",
                "--status",
                "completed",
                "--older-than",
                "5d",
                "--yes",
            ],
            0,
            1,
        ),
    ] {
        let out = prose(at, args);
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(code), "{args:?}: {said}");
        assert_eq!(runs(at).len(), left, "{args:?}");
    }
    assert_eq!(runs(at), ["running"]);
    assert!(at.join(".prose/agents/captain/memory.md").exists());
}

#[test]
fn a_run_that_lives_goes_by_force_only() {
    if needs::faketime().is_none() {
        return;
    }
    let dir = project();
    let at = dir.path();
    // The run counts as active, because it began only two simulated hours ago.
    let soon = "2026-02-01T02:00:00Z";
    let out = prose_at(at, &["clean", "running", "--yes"], soon);
    assert_eq!(out.status.code(), Some(4));
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(said.contains("`--force` removes the run"), "{said}");
    assert_eq!(runs(at).len(), 2);
    done(at, &["clean", "running", "--force", "--yes"], soon);
    assert_eq!(runs(at), ["done"]);
}

#[test]
fn an_agent_is_deleted_from_the_scope_that_was_named() {
    if needs::faketime().is_none() {
        return;
    }
    let dir = project();
    let at = dir.path();
    let project = at.join(".prose/agents/captain");
    let user = at.join("home/.prose/agents/captain");
    let delete = ["agent", "delete", "captain", "--scope"];
    let with = |rest: &[&'static str]| [&delete[..], rest].concat();
    let out = prose(at, &with(&["project"]));
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(said.contains("nothing was deleted;"), "{said}");
    assert!(project.exists());
    done(at, &with(&["project", "--yes"]), "2026-02-10T00:00:00Z");
    assert!(!project.exists() && user.exists());
    let again = prose(at, &with(&["project", "--yes"]));
    assert_eq!(again.status.code(), Some(3));
    done(at, &with(&["user", "--yes"]), "2026-02-10T00:00:00Z");
    assert!(!user.exists());
    assert_eq!(
        prose(at, &delete[..3]).status.code(),
        Some(2),
        "a scope is named"
    );
}

#[test]
fn a_log_without_rows_is_called_empty_once() {
    let dir = project();
    let said = prose(dir.path(), &["audit", "running"]).stdout;
    assert_eq!(
        String::from_utf8_lossy(&said),
        "empty  There is no audit row.\n"
    );
}

#[test]
fn skill_writes_what_help_vm_prints_and_keeps_what_others_wrote() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let files = [".claude", ".agents"].map(|of| at.join(of).join("skills/prosescope/SKILL.md"));
    let out = prose(at, &["skill"]);
    assert_eq!(out.status.code(), Some(0), "{out:?}");
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(
        said.contains("Written: .claude/skills/prosescope/SKILL.md\n"),
        "{said}"
    );
    assert!(said.contains("AGENTS.md needs this line"), "{said}");
    let vm = prose(at, &["help", "vm"]).stdout;
    let vm = String::from_utf8(vm).expect("UTF-8");
    for file in &files {
        let text = std::fs::read_to_string(file).expect("written");
        let head = text
            .strip_prefix("---\nname: prosescope\ndescription: ")
            .expect("a head");
        let (description, rest) = head.split_once("\n---\n\n").expect("its end");
        // YAML would take a colon for a key, and agents refuse a longer description.
        assert!(!description.contains([':', '#', '\n']) && description.len() < 1024);
        assert!(rest.contains(&vm), "{rest}");
        assert!(rest.contains(env!("CARGO_PKG_VERSION")));
    }
    // The same text is not written again. A text of others stays, and then no file is written.
    let said = prose(at, &["skill", "--for", "claude"]).stdout;
    assert!(said.starts_with(b"Up to date: .claude"), "{said:?}");
    std::fs::remove_file(&files[0]).expect("removed");
    std::fs::write(&files[1], "mine").expect("written");
    let out = prose(at, &["skill"]);
    let refused = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(4), "{refused}");
    assert!(refused.contains("SKILL.md already exists"), "{refused}");
    assert!(refused.contains("--overwrite"), "{refused}");
    assert!(!files[0].exists());
    assert_eq!(std::fs::read(&files[1]).expect("read"), b"mine");
    assert_eq!(prose(at, &["skill", "--overwrite"]).status.code(), Some(0));
    assert_eq!(
        std::fs::read(&files[0]).unwrap(),
        std::fs::read(&files[1]).unwrap()
    );
    let out = prose(at, &["skill", "-o", "elsewhere/record.md"]);
    assert_eq!(out.status.code(), Some(0), "{out:?}");
    let written = std::fs::read_dir(at.join("elsewhere")).expect("made");
    assert_eq!(written.count(), 1, "a temporary file is left");
}

#[test]
fn the_doctor_says_what_is_in_the_open_and_what_to_do() {
    if needs::faketime().is_none() {
        return;
    }
    let dir = project();
    let at = dir.path();
    let out = prose(at, &["doctor"]);
    assert_eq!(out.status.code(), Some(0));
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(
        said.contains("2 stores, 2 with a rollback journal"),
        "{said}"
    );
    fs::create_dir(at.join(".git")).expect("made");
    fs::write(at.join(".prose/.env"), "KEY=1\n").expect("written");
    let out = prose(at, &["doctor", "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let said: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let state = |name: &str| {
        let checks = said["checks"].as_array().expect("checks");
        let check = checks.iter().find(|check| check["name"] == name);
        check.expect("a check")["state"].clone()
    };
    assert_eq!(
        (state("git-env"), state("git-runs")),
        ("error".into(), "warning".into())
    );
    fs::write(at.join(".gitignore"), ".prose/.env\n.prose/runs/\n").expect("written");
    assert_eq!(prose(at, &["doctor"]).status.code(), Some(0));
}

#[test]
fn a_repaired_copy_lies_beside_the_run_and_the_run_stays() {
    if needs::faketime().is_none() {
        return;
    }
    let dir = project();
    let at = dir.path();
    // `check --fix` writes no copy of a run without damage, unless `--out` is given.
    let out = prose(at, &["check", "done", "--fix"]);
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(
        out.status.success() && said.contains("no copy was written"),
        "{said}"
    );
    assert_eq!(runs(at), ["done", "running"]);
    let database = at.join(".prose/runs/done/state.db");
    let orphan =
        "INSERT INTO execution (statement_text, status, parent_id) VALUES ('x', 'completed', 99)";
    let damaged = Command::new("sqlite3").arg(&database).arg(orphan).status();
    assert!(damaged.expect("sqlite3 runs").success());
    let before = fs::read(&database).expect("read");
    for (args, code) in [
        (&["check", "done", "--fix"][..], 0),
        (&["check", "done", "--fix"], 6),
        (&["check", "done", "--fix", "--out", "elsewhere/copy"], 0),
        (&["check", "done", "running", "--fix"], 2),
        (&["check", "done", "--out", "x"], 2),
    ] {
        let out = prose(at, args);
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(code), "{args:?}: {said}");
    }
    assert_eq!(runs(at), ["done", "done-fixed", "running"]);
    assert!(at.join("elsewhere/copy/state.db").exists());
    assert_eq!(before, fs::read(&database).expect("read"));
    let shown = prose(at, &["show", ".prose/runs/done-fixed"]);
    assert!(shown.status.success());
}
