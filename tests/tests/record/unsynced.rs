//! A disk that does not confirm what it was given: a `put` leaves the old state whole, or the new one, and its exit code
//! says which.

use std::fs;
use std::path::Path;
use std::process::Command;

use prosescope_tests::needs;

use crate::project::{FORMS, Project, assert_whole, given, text};

/// Longer than a value that stands in its row: it is an attachment.
fn large(end: &str) -> Vec<u8> {
    let mut value = vec![b'x'; 100_001];
    value.extend(end.as_bytes());
    value
}

/// Files below a folder, but for what only writers need.
fn files(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("listed").flatten() {
        if entry.file_type().expect("a kind").is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.push(entry.path().display().to_string());
        }
    }
    found.retain(|path| !path.ends_with("x_checkpoint.jsonl"));
    found.sort();
    found
}

#[test]
fn an_unconfirmed_write_is_the_old_state_or_the_new_one_and_is_said_to_be() {
    let Some(project) = Project::new("let a = session \"Work\"\n") else {
        return;
    };
    if !Command::new("strace")
        .arg("-V")
        .output()
        .is_ok_and(|out| out.status.success())
    {
        needs::skip("strace is missing");
        return;
    }
    for form in FORMS {
        let (mut kept, mut written, mut unconfirmed) = (0, 0, 0);
        for (first, second) in [
            (b"one".to_vec(), b"two".to_vec()),
            (large("one"), large("two")),
        ] {
            // One of them, or all of them from there on.
            for nth in (1..=12).flat_map(|n| [format!("{n}"), format!("{n}+")]) {
                let run = project.init(form);
                project.put(&run, "a", &first);
                let before = files(&project.run_dir(&run));
                let put = project.command(&["put", "a", "--run", &run]);
                let mut traced = Command::new("strace");
                traced
                    .args([
                        "-qq",
                        "-o",
                        "/dev/null",
                        "-e",
                        "trace=fsync,fdatasync",
                        "-e",
                    ])
                    .arg(format!("inject=fsync,fdatasync:error=EIO:when={nth}"))
                    .arg(put.get_program())
                    .args(put.get_args())
                    .current_dir(project.path());
                let out = given(&mut traced, &second);
                let (code, said) = (out.status.code(), text(&out.stderr));
                let now = project.get(&run, "a");
                match code {
                    // 7: recorded, but not confirmed.
                    Some(code @ (0 | 7)) => {
                        assert!(now == second, "{form} {nth}: {said}");
                        assert_eq!(
                            said.contains("recorded, but"),
                            code == 7,
                            "{form} {nth}: {said}"
                        );
                        written += 1;
                        unconfirmed += i32::from(code == 7);
                    }
                    Some(6) => {
                        assert!(now == first, "{form} {nth}: {said}");
                        let after = files(&project.run_dir(&run));
                        if form == "filesystem" {
                            assert_eq!(after, before, "{form} {nth}: {said}");
                        }
                        kept += 1;
                    }
                    other => panic!("{form} {nth}: {other:?}: {said}"),
                }
                let check = project.json(&["check", &run, "--severity", "warning"]);
                let issues = check["runs"][0]["issues"].as_array().expect("issues");
                // SQLite could not undo it either, and readers say so: the next writer does.
                let worse = issues.iter().find(|issue| issue["rule"] != "hot-journal");
                assert_eq!(worse, None, "{form} {nth}: {said}");
                if form == "sqlite" {
                    assert_whole(&project, &run);
                }
                // The next one goes on.
                project.put(&run, "a", b"three");
                assert!(project.get(&run, "a") == b"three");
                fs::remove_dir_all(project.run_dir(&run)).expect("removed");
            }
        }
        assert!(
            kept > 0 && written > 0,
            "{form}: {kept} kept, {written} written"
        );
        if form == "filesystem" {
            assert!(unconfirmed > 0, "{form}: {written} written");
        }
    }
}
