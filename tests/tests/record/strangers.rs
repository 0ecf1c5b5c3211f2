//! Tests that rows or files which someone else adds to a run do not hide data, decide a gate, or block a command
//! (security.md, X5, X7, X10, X11, X13, X14).

use std::fs;
use std::path::Path;
use std::process::Output;

use prosescope_tests::needs;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::project::{Project, text};

const PROGRAM: &str = "let plan = session \"Plan\"\n\nlet long = session \"Write\"\n\napprove deploy:\n  prompt: \"Publish?\"\n";

/// Builds a run with a short and a long value, and a waiting gate.
fn project(form: &str) -> Option<(Project, String)> {
    let project = Project::new(PROGRAM)?;
    let run = project.init(form);
    project.put(&run, "plan", b"What was found");
    project.put(&run, "long", "x".repeat(200_000).as_bytes());
    project.expect(
        0,
        &["gate", "create", "--line", "5", "--run", &run, "--force"],
        b"",
    );
    Some((project, run))
}

fn execute(path: &Path, sql: &str) {
    let conn = Connection::open(path).expect("it opens");
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)
        .expect("it is set");
    conn.execute_batch(sql).expect(sql);
}

#[test]
fn a_row_of_another_run_hides_nothing_of_the_one_that_is_named() {
    let Some((project, run)) = project("sqlite") else {
        return;
    };
    let path = project.run_dir(&run).join("state.db");
    let before = fs::read(&path).expect("a file");
    let upper = run.to_uppercase();
    let blank = format!("{run} ");
    for stranger in [
        "'x'",
        "NULL",
        "''",
        &format!("'{upper}'"),
        &format!("'{blank}'"),
        "7",
    ] {
        fs::write(&path, &before).expect("a file");
        execute(
            &path,
            &format!(
                "INSERT INTO run(id, started_at, status) VALUES ({stranger}, '2099-01-01 00:00:00', 'running')"
            ),
        );
        let gates = project.expect(0, &["gates", &run, "--all"], b"");
        assert!(gates.contains("deploy"), "{stranger}: {gates}");
        let log = project.expect(0, &["audit", "verify", &run], b"");
        assert!(log.contains("consistent"), "{stranger}: {log}");
        let check = project.expect(0, &["check", &run], b"");
        assert!(check.contains("several-runs"), "{stranger}: {check}");
        // Commands still record in the same run, with and without an explicit id.
        project.put(&run, "more", b"more");
        project.expect(0, &["approve", &run, "deploy", "--as", "me"], b"");
        let gates = project.expect(0, &["gates", &run, "--all"], b"");
        assert!(gates.contains("approved"), "{stranger}: {gates}");
        let here = project.run_dir(&run);
        let mut inside = project.command(&["gates", ".", "--all"]);
        let out = inside.current_dir(&here).output().expect("it runs");
        assert!(
            text(&out.stdout).contains("approved"),
            "{stranger}: {out:?}"
        );
        let rows: i64 = Connection::open(&path)
            .expect("it opens")
            .query_row(
                "SELECT count(*) FROM gate_audit_log WHERE run_id IS NOT ?1",
                [&run],
                |row| row.get(0),
            )
            .expect("a count");
        assert_eq!(rows, 0, "{stranger}");
    }
}

#[test]
fn a_default_decides_no_gate() {
    let Some((project, run)) = project("sqlite") else {
        return;
    };
    let path = project.run_dir(&run).join("state.db");
    execute(
        &path,
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(replace(replace(sql,
             'resolved_by TEXT', 'resolved_by TEXT DEFAULT ''alice'''),
             'resolution_comment TEXT', 'resolution_comment TEXT DEFAULT ''fine'''),
             'resolved_at TEXT', 'resolved_at TEXT DEFAULT ''2026-01-01 00:00:00''')
         WHERE type = 'table' AND name = 'gates'",
    );
    let create = [
        "gate", "create", "extra", "--run", &run, "--prompt", "More?", "--force",
    ];
    project.expect(0, &create, b"");
    let decided: i64 = Connection::open(&path)
        .expect("it opens")
        .query_row(
            "SELECT count(*) FROM gates WHERE coalesce(resolved_at, resolved_by, resolution_comment) IS NOT NULL",
            [],
            |row| row.get(0),
        )
        .expect("a count");
    assert_eq!(decided, 0);
    project.expect(0, &["check", &run], b"");
}

/// Puts a folder, a link, a socket or a named pipe at a path at which a file is expected.
#[cfg(unix)]
fn put_odd(what: &str, place: &Path) {
    match what {
        "a folder" => fs::create_dir(place).expect("made"),
        "a link" => std::os::unix::fs::symlink("/nowhere", place).expect("linked"),
        "a socket" => drop(std::os::unix::net::UnixListener::bind(place).expect("a socket")),
        _ => {
            let made = std::process::Command::new("mkfifo").arg(place).status();
            assert!(made.expect("mkfifo runs").success());
        }
    }
}

/// Runs a command under `timeout`, which ends the command if it waits. No command may wait.
#[cfg(unix)]
fn at_once(project: &Project, args: &[&str], input: &[u8]) -> Output {
    let command = project.command(args);
    let mut timed = std::process::Command::new("timeout");
    timed
        .arg("60")
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(project.path())
        .env("HOME", project.path().join("home"));
    crate::project::given(&mut timed, input)
}

#[cfg(unix)]
#[test]
fn what_is_no_file_beside_a_database_is_not_waited_for() {
    let Some((project, run)) = project("sqlite") else {
        return;
    };
    let dir = project.run_dir(&run);
    for end in ["state.db-journal", "state.db-wal", "state.db-shm"] {
        for what in ["a pipe", "a folder", "a link", "a socket"] {
            let place = dir.join(end);
            put_odd(what, &place);
            for (args, input) in [
                (&["put", "new", "--run", &run][..], b"v".as_slice()),
                (&["approve", &run, "deploy", "--as", "me"], b""),
            ] {
                let out = at_once(&project, args, input);
                let said = text(&out.stderr);
                assert_eq!(out.status.code(), Some(6), "{end}, {what}: {said}");
                assert!(said.contains(end), "{end}, {what}: {said}");
            }
            // Reading continues without the odd file, and `check` reports it.
            let check = text(&at_once(&project, &["check", &run], b"").stdout);
            assert!(check.contains("beside-no-file"), "{end}, {what}: {check}");
            match what {
                "a folder" => fs::remove_dir(&place).expect("removed"),
                _ => fs::remove_file(&place).expect("removed"),
            }
        }
    }
    project.put(&run, "new", b"v");
}

#[test]
fn lines_of_a_log_that_cannot_be_read_are_counted() {
    let Some((project, run)) = project("filesystem") else {
        return;
    };
    let log = project.run_dir(&run).join("gates/audit.jsonl");
    let whole = fs::read_to_string(&log).expect("a log");
    let lines = whole.lines().count();
    assert_eq!(lines, 1, "{whole}");
    let cut = whole[..whole.len() / 2].to_owned();
    for (what, bytes, told) in [
        ("cut", cut.clone(), "the only line"),
        ("zeros", "\0".repeat(200), "the only line"),
        (
            "another format",
            "<html>\n<p>404</p>\n".into(),
            "none of the 2 lines",
        ),
        ("a line more", format!("{whole}junk\n"), "1 of the 2 lines"),
        (
            "a line that is cut",
            format!("{whole}{cut}"),
            "1 of the 2 lines",
        ),
    ] {
        fs::write(&log, bytes).expect("written");
        for args in [&["audit", "verify", &run][..], &["audit", &run]] {
            let out = project.give(args, b"");
            let (said, why) = (text(&out.stdout), text(&out.stderr));
            assert_eq!(out.status.code(), Some(5), "{what}, {args:?}: {said}{why}");
            assert!(why.contains(told), "{what}, {args:?}: {why}");
            assert_eq!(said, "", "{what}, {args:?}");
        }
        let check = project.give(&["check", &run], b"");
        assert_eq!(check.status.code(), Some(1), "{what}: {check:?}");
    }
}

#[test]
fn a_value_that_is_not_there_is_not_an_empty_one() {
    for form in ["sqlite", "filesystem"] {
        let Some((project, run)) = project(form) else {
            return;
        };
        let dir = project.run_dir(&run);
        let check = |what: &str, name: &str, code: i32| {
            let out = project.give(&["get", name, "--run", &run], b"");
            assert_eq!(out.status.code(), Some(code), "{form}, {what}: {out:?}");
            assert_eq!(text(&out.stdout), "", "{form}, {what}");
        };
        if form == "sqlite" {
            fs::remove_file(dir.join("attachments/long.md")).expect("removed");
            check("an attachment is gone", "long", 3);
            for path in [
                "../../../p.prose",
                "/etc/hostname",
                "attachments/../program.prose",
            ] {
                let sql =
                    format!("UPDATE bindings SET attachment_path = '{path}' WHERE name = 'long'");
                execute(&dir.join("state.db"), &sql);
                check(path, "long", 3);
            }
        } else {
            fs::remove_file(dir.join("bindings/plan.md")).expect("removed");
            check("a file is gone", "plan", 3);
            fs::remove_dir_all(dir.join("bindings")).expect("removed");
            fs::write(dir.join("bindings"), "text").expect("written");
            check("a file in the folder's place", "plan", 6);
            fs::remove_file(dir.join("bindings")).expect("removed");
            #[cfg(unix)]
            {
                put_odd("a pipe", &dir.join("bindings"));
                check("a pipe in the folder's place", "plan", 6);
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn runs_that_cannot_be_listed_are_not_no_runs() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65534;
    let Some((project, run)) = project("filesystem") else {
        return;
    };
    let other = project.init("filesystem");
    let runs = project.path().join(".prose/runs");
    let away = project.path().join("away");
    for what in ["a pipe", "a link", "a file"] {
        fs::rename(&runs, &away).expect("moved");
        match what {
            "a file" => fs::write(&runs, "text").expect("written"),
            what => put_odd(what, &runs),
        }
        let out = project.give(&["runs"], b"");
        assert_eq!(out.status.code(), Some(6), "{what}: {out:?}");
        assert_eq!(text(&out.stdout), "", "{what}");
        fs::remove_file(&runs).expect("removed");
        fs::rename(&away, &runs).expect("moved");
    }
    let mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
    };
    mode(project.path(), 0o755);
    let ask = || {
        let mut command = project.command(&["runs"]);
        // Root may list every folder, so the command runs as a user without this right.
        if fs::read_dir(&runs).is_ok() {
            command.uid(NOBODY);
        }
        command.output()
    };
    mode(&runs, 0o711);
    match ask() {
        Ok(out) if out.status.code().is_some_and(|code| code != 126) => {
            assert_eq!(out.status.code(), Some(6), "{out:?}");
            assert_eq!(text(&out.stdout), "");
        }
        _ => {
            return needs::skip(
                "this user may read every file, and nobody else can run prosescope",
            );
        }
    }
    mode(&runs, 0o755);
    mode(&project.run_dir(&other), 0o700);
    if let Ok(out) = ask() {
        assert_eq!(out.status.code(), Some(1), "{out:?}");
        assert!(text(&out.stdout).contains(&run), "{out:?}");
        assert!(text(&out.stderr).contains(&other), "{out:?}");
    }
    mode(&project.run_dir(&other), 0o755);
}
