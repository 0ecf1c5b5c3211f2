//! Tests that the number of a command's system calls does not grow with the size of the run, except for lists that the
//! command reads and writes completely.

use std::fs;

use prosescope_tests::needs;

use crate::inject::calls;
use crate::project::Project;

const PROGRAM: &str = "session \"A\"\nsession \"B\"\n";

/// Checks that the index of a run that ended is correct, even if another program changed the file of a binding.
#[test]
fn the_index_of_a_run_that_ended_is_right_whatever_others_wrote() {
    let Some(project) = Project::new(PROGRAM) else {
        return;
    };
    project.expect(
        0,
        &["init", "p.prose", "--id", "r", "--state", "filesystem"],
        b"",
    );
    let index = || {
        let state = fs::read_to_string(project.run_dir("r").join("state.md")).expect("a state.md");
        let rows = state.lines().filter(|line| line.contains("bindings/"));
        rows.collect::<Vec<_>>().join("\n")
    };
    for name in ["replaced", "edited", "removed"] {
        project.put("r", name, b"a value");
    }
    project.expect(0, &["begin", "2", "--force", "--run", "r"], b"");
    assert!(index().contains("| edited | let |"), "{}", index());
    let file = |name: &str| {
        project
            .run_dir("r")
            .join("bindings")
            .join(format!("{name}.md"))
    };
    let other = |name: &str| {
        let text = fs::read_to_string(file(name)).expect("a binding");
        text.replace("kind: let", "kind: const")
    };
    fs::write(file("new"), other("edited")).expect("a binding");
    fs::write(project.path().join("aside"), other("replaced")).expect("a file");
    fs::rename(project.path().join("aside"), file("replaced")).expect("replaced");
    fs::write(file("edited"), other("edited")).expect("edited");
    fs::remove_file(file("removed")).expect("removed");
    project.expect(0, &["begin", "1", "--force", "--run", "r"], b"");
    assert!(!index().contains("removed"), "{}", index());
    for row in ["| new | const |", "| replaced | const |"] {
        assert!(index().contains(row), "{}", index());
    }
    project.expect(0, &["finish", "failed", "--run", "r", "--force"], b"");
    assert!(index().contains("| edited | const |"), "{}", index());
}

/// Checks that a long list is read without a lock for each value: 1,000 bindings take as many locks as 100
/// (`PROSE_SWEEP=1`: 10,000). A binding's times are stored after its value, which a list does not read, so the writer
/// of each binding is looked up in the binding's own row.
#[test]
fn reading_takes_as_many_locks_for_many_bindings_as_for_few() {
    if needs::strace().is_none() {
        return;
    }
    let commands: [&[&str]; 11] = [
        &["show", "r"],
        &["show", "r", "--json"],
        &["trace", "r"],
        &["trace", "r", "--json"],
        &["bindings", "r"],
        &["bindings", "r", "--json"],
        &["agents", "r"],
        &["check", "r"],
        &["gates", "r", "--all"],
        &["audit", "verify", "r"],
        &["resume", "r"],
    ];
    // The smaller number already reveals one lock for every twenty bindings.
    let many = match std::env::var_os("PROSE_SWEEP") {
        Some(_) => 10_000,
        None => 1_000,
    };
    let counted = [100, many].map(|bindings| {
        let Some(project) = Project::new(PROGRAM) else {
            return Vec::new();
        };
        fs::create_dir_all(project.run_dir("r")).expect("a folder");
        let program: String = (1..=bindings)
            .map(|n| format!("let b{n} = session \"A\"\n"))
            .collect();
        let made = project.sqlite(
            "r",
            &format!(
                "PRAGMA synchronous = off; BEGIN;
                 CREATE TABLE run (id TEXT, program_path TEXT, program_source TEXT, started_at TEXT, status TEXT);
                 INSERT INTO run VALUES ('r', 'p.prose', '{program}', '2026-01-15 10:00:00', 'completed');
                 CREATE TABLE execution (id INTEGER PRIMARY KEY, statement_index INTEGER, statement_text TEXT, status TEXT,
                   started_at TEXT, completed_at TEXT, parent_id INTEGER, metadata TEXT, error_message TEXT);
                 CREATE TABLE bindings (name TEXT, execution_id INTEGER, kind TEXT, value TEXT, source_statement TEXT,
                   created_at TEXT, updated_at TEXT, attachment_path TEXT);
                 CREATE TABLE agents (name TEXT PRIMARY KEY, scope TEXT, memory TEXT, created_at TEXT, updated_at TEXT);
                 CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS
                   (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {bindings}) SELECT i FROM n;
                 INSERT INTO execution SELECT i, i, 'let b' || i || ' = session \"A\"', 'completed', '2026-01-15 10:00:00',
                   '2026-01-15 10:00:30', NULL, NULL, NULL FROM n;
                 INSERT INTO bindings SELECT 'b' || i, NULL, 'let', printf('%.*c', 3000, 'x'), NULL,
                   '2026-01-15 10:00:20', '2026-01-15 10:00:20', NULL FROM n;
                 INSERT INTO agents SELECT 'a' || i, 'execution', printf('%.*c', 3000, 'x'), NULL, NULL FROM n;
                 COMMIT;"
            ),
        );
        assert!(made.status.success(), "{made:?}");
        let log = project.path().join("log");
        let each = commands.map(|args| calls(&project.command(args), b"", &log));
        each.to_vec()
    });
    let [few, many] = counted;
    let mut wrong = Vec::new();
    for ((args, few), many) in commands.iter().zip(few).zip(many) {
        for call in ["fcntl", "newfstatat"] {
            let [few, many] = [&few, &many].map(|calls| calls.get(call).copied().unwrap_or(0));
            if many * 10 > few * 11 {
                wrong.push(format!("{args:?}: {few} {call}, then {many}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A command that gets the complete id of a run does not list the other runs of the project.
#[test]
fn a_named_run_is_opened_without_the_other_runs() {
    let (Some(project), Some(_)) = (Project::new(PROGRAM), needs::strace()) else {
        return;
    };
    for state in ["sqlite", "filesystem"] {
        project.expect(
            0,
            &["init", "p.prose", "--id", state, "--state", state],
            b"",
        );
        project.begin(&["1", "--run", state]);
    }
    let commands: [&[&str]; 8] = [
        &["show", "sqlite"],
        &["show", "filesystem"],
        &["trace", "filesystem"],
        &["bindings", "sqlite"],
        &["gates", "sqlite"],
        &["resume", "filesystem"],
        &["next", "--run", "sqlite"],
        &["put", "x", "--run", "filesystem"],
    ];
    let log = project.path().join("log");
    let count = || {
        let all = |args: &[&str]| calls(&project.command(args), b"a value", &log);
        commands.map(|args| all(args).values().sum::<usize>())
    };
    // A value that exists is replaced, which takes other calls than writing it first.
    count();
    let few = count();
    for n in 0..100 {
        let (from, to) = (
            project.run_dir("filesystem"),
            project.run_dir(&format!("other-{n}")),
        );
        fs::create_dir(&to).expect("a run");
        fs::copy(from.join("state.md"), to.join("state.md")).expect("a run");
    }
    for ((args, few), many) in commands.iter().zip(few).zip(count()) {
        // The list of the folder `runs` is longer, but no run is looked at.
        assert!(
            many < few + 100,
            "{args:?}: {few} calls, with 100 other runs {many}"
        );
    }
    // A folder with a run in it is no run. Its name may be the beginning of several ids, which must not hide that.
    let inner = project.run_dir("other").join("other-inner");
    fs::create_dir_all(&inner).expect("a folder");
    fs::copy(
        project.run_dir("filesystem").join("state.md"),
        inner.join("state.md"),
    )
    .expect("a run");
    let said = project.expect(2, &["show", "other"], b"");
    assert!(said.contains("other matches 101 runs"), "{said}");
}
