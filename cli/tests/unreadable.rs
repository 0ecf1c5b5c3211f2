//! A run that cannot be read is never told as one that is empty.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RUN: &str = "20270101-120000-aaaaaa";

fn prose(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_prose"))
        .args(args)
        .current_dir(dir)
        .env("HOME", dir.join("home"))
        .env_remove("PROSE_RUN")
        .output()
        .expect("prose runs")
}

fn run_folder(dir: &Path) -> PathBuf {
    dir.join(".prose/runs").join(RUN)
}

/// A run with a statement, a binding and a gate that waits.
fn project(form: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let program = "let research = session \"Find\"\n\ngate publish:\n  prompt: \"Publish?\"\n";
    fs::write(at.join("p.prose"), program).expect("written");
    fs::write(at.join("value"), "What was found".repeat(9)).expect("written");
    for args in [
        &["init", "p.prose", "--id", RUN, "--state", form][..],
        &["exec", "begin", "--line", "1"],
        &["put", "research", "--file", "value"],
        &["exec", "complete", "1", "--binding", "research"],
        &[
            "gate", "create", "publish", "--prompt", "Publish?", "--line", "3",
        ],
    ] {
        let out = prose(at, args);
        assert!(out.status.success(), "{args:?}: {out:?}");
    }
    dir
}

/// Every command that answers from what was recorded; `verify` from the audit log, `get` from the bindings.
const READING: &[&[&str]] = &[
    &["gates"],
    &["gates", RUN],
    &["audit", "verify", RUN],
    &["audit", RUN],
    &["audit", "--all"],
    &["bindings", RUN],
    &["get", "research", "--run", RUN],
    &["trace", RUN],
    &["show", RUN],
    &["state", RUN],
    &["resume", RUN],
    &["resume", RUN, "--prompt"],
];

/// What must not be said of something that was not read.
const EMPTY: &[&str] = &[
    "no gates",
    "no bindings",
    "no audit row",
    "nothing was executed",
    "No statement is recorded",
    "no run",
    "empty: ",
    "has no binding",
];

/// Runs these commands, and expects that each ends as unreadable, says what was not read, and never that there is
/// nothing.
#[track_caller]
fn check(what: &str, dir: &Path, commands: &[&[&str]], named: &str) {
    for args in commands {
        for json in [false, true] {
            if json && args.contains(&"--prompt") {
                continue;
            }
            let mut args = args.to_vec();
            args.extend(json.then_some("--json"));
            let out = prose(dir, &args);
            let said = String::from_utf8_lossy(&out.stdout).into_owned();
            let errors = String::from_utf8_lossy(&out.stderr).into_owned();
            let all = format!("{what}, {args:?}: {said}{errors}");
            assert_eq!(out.status.code(), Some(5), "{all}");
            assert!(errors.contains(named), "{all}");
            for word in EMPTY {
                assert!(!said.contains(word), "{word}: {all}");
            }
        }
    }
}

#[test]
fn a_database_that_cannot_be_read_is_never_an_empty_run() {
    let dir = project("sqlite");
    let folder = run_folder(dir.path());
    let database = folder.join("state.db");
    let whole = fs::read(&database).expect("a database");
    let half = &whole[..whole.len() / 2];
    for (what, bytes) in [
        ("cut off", Some(half)),
        ("garbage", Some(&[0x9d; 9_000][..])),
        ("a page instead", Some(&b"<html>404 Not Found</html>"[..])),
        ("empty", Some(&b""[..])),
        ("gone, with its journal left", None),
    ] {
        match bytes {
            Some(bytes) => fs::write(&database, bytes).expect("written"),
            None => {
                fs::remove_file(&database).expect("removed");
                fs::write(folder.join("state.db-journal"), [0x5a; 600]).expect("written");
            }
        }
        check(what, dir.path(), READING, "state.db");
    }
}

#[test]
fn a_database_whose_attachments_are_left_was_one() {
    let dir = project("sqlite");
    let folder = run_folder(dir.path());
    fs::remove_file(folder.join("state.db")).expect("removed");
    fs::create_dir_all(folder.join("attachments")).expect("made");
    fs::write(folder.join("attachments/research.md"), "What was found").expect("written");
    check("attachments left", dir.path(), READING, "state.db");
}

/// The page that holds a table's row, overwritten: the other tables are read.
#[test]
fn a_table_that_cannot_be_read_is_never_an_empty_list() {
    for (content, table, commands) in [
        (
            "Publish?",
            "gates",
            &[
                &["gates"][..],
                &["gates", RUN],
                &["gates", RUN, "--pending"],
                &["show", RUN],
            ][..],
        ),
        (
            "What was found",
            "bindings",
            &[
                &["bindings", RUN],
                &["get", "research", "--run", RUN],
                &["resume", RUN, "--prompt"],
            ],
        ),
    ] {
        let dir = project("sqlite");
        let database = run_folder(dir.path()).join("state.db");
        let mut bytes = fs::read(&database).expect("a database");
        let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
        let find = |text: &str| {
            bytes
                .windows(text.len())
                .rposition(|part| part == text.as_bytes())
        };
        let at = find(content).expect("its row") / page * page;
        bytes[at..at + page].fill(0xa5);
        fs::write(&database, bytes).expect("written");
        check(table, dir.path(), commands, table);
    }
}

/// What was read to its end may be empty, and a fault elsewhere does not hide it.
#[test]
fn a_run_that_was_read_is_empty_where_it_is() {
    let dir = project("sqlite");
    let out = prose(dir.path(), &["agents", RUN]);
    assert_eq!(out.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&out.stdout), "no agents\n");
}

/// A folder that nobody may list, as another user's. The superuser may list everything.
#[test]
#[cfg(unix)]
fn a_folder_of_gates_that_cannot_be_listed_is_never_empty() {
    use std::os::unix::fs::PermissionsExt;

    let dir = project("filesystem");
    let gates = run_folder(dir.path()).join("gates");
    fs::set_permissions(&gates, fs::Permissions::from_mode(0o000)).expect("closed");
    let refused = fs::read_dir(&gates).is_err();
    if refused {
        let commands: &[&[&str]] = &[
            &["gates", RUN],
            &["audit", "verify", RUN],
            &["resume", RUN, "--prompt"],
        ];
        check("gates closed", dir.path(), commands, "gates");
    } else {
        prosescope_test_support::needs::skip("this user may list every folder");
    }
    fs::set_permissions(&gates, fs::Permissions::from_mode(0o755)).expect("opened");
}
