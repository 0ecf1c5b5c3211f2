//! Tests OpenProse's own SQL and shell examples on a database made by `prosescope init`, and OpenProse's queries on
//! data recorded by `prosescope`. The documents are read from the shared material. tests/fixtures/sqlite.md has
//! examples of the same kinds, so that these tests also run without the shared material.

use std::path::PathBuf;
use std::process::Command;

use prosescope_tests::needs;

use crate::project::{Project, assert_whole, text};

/// The id of the run in the examples of sqlite.md.
const RUN: &str = "20260125-125506-002755";

/// Examples that are not valid SQL, identified by words in them. (SQLite rejects the primary key in the schema
/// (errata S1), but accepts the schema in these tests, because all its tables already exist.)
const ERRATA: &[(&str, &str)] = &[
    (
        "timeout, timeout_at, ...)",
        "it is shortened with an ellipsis",
    ),
    (
        "resolved_at = datetime('now'), ...",
        "it is shortened with an ellipsis",
    ),
];

fn read(path: PathBuf) -> String {
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Returns the text of tests/fixtures/sqlite.md.
fn fixture_examples() -> String {
    read(needs::fixtures("sqlite.md"))
}

/// Returns the text of OpenProse's sqlite.md; `None`, after printing why, if it is missing.
fn document() -> Option<String> {
    needs::shared("spec/sqlite.md").map(read)
}

/// Returns the content of a document's fenced code blocks in this language.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for line in document.lines() {
        match &mut open {
            Some(block) if line.trim_start().starts_with("```") => {
                found.push(std::mem::take(block));
                open = None;
            }
            Some(block) => {
                block.push_str(line);
                block.push('\n');
            }
            None if line.trim() == format!("```{language}") => open = Some(String::new()),
            None => {}
        }
    }
    found
}

fn erratum(block: &str) -> Option<&'static str> {
    ERRATA
        .iter()
        .find(|(words, _)| block.contains(words))
        .map(|(_, why)| *why)
}

#[test]
fn sql_as_models_write_it_works_on_what_init_makes() {
    sql_works(&fixture_examples(), 12);
}

#[test]
fn the_sql_of_the_document_works_on_what_init_makes() {
    if let Some(document) = document() {
        sql_works(&document, 20);
    }
}

fn sql_works(document: &str, least: usize) {
    let Some(project) = Project::new("session \"Work\"\n") else {
        return;
    };
    project.line(&["init", "p.prose", "--state", "sqlite", "--id", RUN]);
    let blocks = blocks(document, "sql");
    assert!(blocks.len() > least, "{} blocks", blocks.len());
    let mut worked = 0;
    for block in &blocks {
        let out = project.sqlite(RUN, block);
        let said = text(&out.stderr);
        match erratum(block) {
            None => {
                assert!(out.status.success() && said.is_empty(), "{said}\n{block}");
                worked += 1;
            }
            Some(why) => assert!(!said.is_empty(), "it works, although {why}:\n{block}"),
        }
    }
    println!(
        "{worked} of {} blocks of SQL work as they stand",
        blocks.len()
    );
    assert_eq!(worked + ERRATA.len(), blocks.len());
    // After all examples ran in one database, the database is still a run that opens.
    let out = project.give(&["show", RUN], b"");
    assert!(
        matches!(out.status.code(), Some(0 | 1)),
        "{}",
        text(&out.stderr)
    );
}

#[test]
fn shell_commands_as_models_write_them_work_on_what_init_makes() {
    shell_works(&fixture_examples());
}

#[test]
fn the_shell_examples_of_the_document_work_on_what_init_makes() {
    if let Some(document) = document() {
        shell_works(&document);
    }
}

fn shell_works(document: &str) {
    let Some(project) = Project::new("session \"Work\"\n") else {
        return;
    };
    for run in [RUN, "20260116-143052-a7b3c9"] {
        project.line(&["init", "p.prose", "--state", "sqlite", "--id", run]);
    }
    project.expect(
        0,
        &[
            "gate",
            "create",
            "production_deploy",
            "--run",
            RUN,
            "--prompt",
            "Ship it?",
        ],
        b"",
    );
    let path = {
        let bin = project.path().join("bin");
        std::fs::create_dir(&bin).expect("made");
        // OpenProse calls the command `prose`, so the binary gets this second name.
        let program = needs::prose().expect("prosescope");
        std::fs::hard_link(&program, bin.join("prose"))
            .or_else(|_| std::fs::copy(&program, bin.join("prose")).map(drop))
            .expect("a second name");
        let mut folders = vec![bin];
        folders.extend(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        ));
        std::env::join_paths(folders).expect("a path")
    };
    let mut ran = 0;
    for block in blocks(document, "bash") {
        // Placeholders and a shortened schema are replaced, because a shell cannot run them.
        let block = block
            .replace("CREATE TABLE IF NOT EXISTS...", "SELECT 1")
            .replace("<run_id>", RUN)
            .replace("<gate_id>", "production_deploy");
        let out = Command::new("sh")
            .arg("-c")
            .arg(&block)
            .current_dir(project.path())
            .env("PATH", &path)
            .env("HOME", project.path().join("home"))
            .output()
            .expect("sh runs");
        let said = text(&out.stderr);
        // sqlite.md approves a gate and then rejects it. The second decision is refused, so its error is expected
        // (errata G3).
        let ours: Vec<&str> = said
            .lines()
            .filter(|line| line.contains("error") && !line.contains("production_deploy"))
            .collect();
        assert!(ours.is_empty(), "{said}\n{block}");
        ran += 1;
    }
    assert_eq!(ran, 3);
    let gates = project.json(&["gates", RUN]);
    assert_eq!(gates[0]["status"], "approved");
}

/// Checks that the queries of sqlite.md read what `prosescope` recorded.
#[test]
fn the_queries_of_the_document_read_what_prose_wrote() {
    let Some(project) = Project::new(
        "parallel:\n  a = session \"A\"\nloop until **done** (max: 5):\n  session \"B\"\n",
    ) else {
        return;
    };
    let run = project.init("sqlite");
    let go = |args: &[&str]| {
        let mut args = args.to_vec();
        args.extend(["--run", &run]);
        project.expect(0, &args, b"");
    };
    let parallel = project.begin(&["1", "--run", &run]);
    // The value completes the branch.
    project.put(&run, "a", b"it's A");
    go(&["end", &parallel]);
    let a_loop = project.begin(&["3", "--run", &run]);
    go(&["round", &a_loop]);
    go(&["round", &a_loop]);
    go(&["end", &a_loop, "--because", "condition_satisfied"]);
    let failing = project.begin(&["--text", "session \"Risky\"", "--run", &run]);
    go(&["fail", &failing, "Connection timeout after 30s"]);
    go(&["retry", &failing, "--max", "3"]);
    go(&["end", &failing]);
    let ask = |sql: &str| {
        let out = project.sqlite(&run, sql);
        assert!(out.stderr.is_empty(), "{sql}: {}", text(&out.stderr));
        text(&out.stdout)
    };
    assert_eq!(
        ask("SELECT value FROM bindings WHERE name = 'a'"),
        "it's A\n"
    );
    // "Check parallel branch status", with the id from `begin`.
    assert_eq!(
        ask(&format!(
            "SELECT json_extract(metadata, '$.branch'), status FROM execution
             WHERE json_extract(metadata, '$.parallel_id') = 'p{parallel}' AND json_extract(metadata, '$.branch') IS NOT NULL ORDER BY id"
        )),
        "a|started\na|completed\n"
    );
    assert_eq!(
        ask(&format!(
            "SELECT max(json_extract(metadata, '$.iteration')), max(json_extract(metadata, '$.reason')) FROM execution
             WHERE json_extract(metadata, '$.loop_id') = 'l{a_loop}'"
        )),
        "2|condition_satisfied\n"
    );
    assert_eq!(
        ask(
            "SELECT status, json_extract(metadata, '$.attempt') FROM execution
             WHERE statement_text = 'session \"Risky\"' ORDER BY id DESC LIMIT 1"
        ),
        "completed|2\n"
    );
    // This is the query of sqlite.md for scope resolution.
    assert_eq!(
        ask("WITH RECURSIVE scope_chain AS (
               SELECT id, parent_id FROM execution WHERE id = 2
               UNION ALL
               SELECT e.id, e.parent_id FROM execution e JOIN scope_chain s ON e.id = s.parent_id)
             SELECT b.value FROM bindings b LEFT JOIN scope_chain s ON b.execution_id = s.id
             WHERE b.name = 'a' AND (b.execution_id IN (SELECT id FROM scope_chain) OR b.execution_id IS NULL)
             ORDER BY CASE WHEN b.execution_id IS NULL THEN 1 ELSE 0 END, s.id DESC NULLS LAST LIMIT 1"),
        "it's A\n"
    );
    assert_eq!(ask("SELECT status FROM run"), "running\n");
    go(&["finish"]);
    assert_eq!(ask("SELECT status FROM run"), "completed\n");
    assert_whole(&project, &run);
}

/// The queries "Find current position" and "Check parallel block status" (sqlite.md, "Resuming Execution").
const POSITION: &str = "SELECT statement_index, statement_text, status
FROM execution
WHERE status = 'executing'
ORDER BY id DESC LIMIT 1;";
const BRANCHES: &str = "SELECT json_extract(metadata, '$.branch') as branch, status
FROM execution
WHERE json_extract(metadata, '$.parallel_id') IS NOT NULL
  AND parent_id = (SELECT id FROM execution WHERE status = 'executing' AND statement_text LIKE 'parallel:%');";

#[test]
fn the_queries_for_resuming_are_the_documents() {
    let Some(document) = document() else {
        return;
    };
    assert!(document.contains(POSITION) && document.contains(BRANCHES));
}

const RESUMED: &str = r#"let plan = session "Plan"

parallel:
  a = session "A"
  b = session "B"

parallel ("first"):
  x = do check(plan)
  y = session "Y"

loop until **done** (max: 3):
  let draft = session "Draft"

block check(text):
  let verdict = session "Verdict"
  repeat 2:
    session "Again"

do check(plan)

approve go:
  prompt: "Go?"
  timeout: "1h"

session "Send"
  retry: 3
"#;

/// Records a run by these steps. A step is a command, and the line of the statement that the document's query finds
/// after the command, or 0 for none. `@N` is the most recent execution of line N.
fn resumed(project: &Project, steps: &[(&str, usize)]) -> String {
    let run = project.init("sqlite");
    std::fs::write(project.path().join("value"), "a value").expect("written");
    for (command, line) in steps {
        let words = command.split(' ').map(|word| match word.strip_prefix('@') {
            Some(line) => query_result(
                project,
                &run,
                &format!(
                    "SELECT max(id) FROM execution WHERE statement_index = {line}
                     AND status IN ('executing', 'started', 'pending');"
                ),
            ),
            None if word == "RUN" => run.clone(),
            None => word.to_owned(),
        });
        let mut words: Vec<String> = words.collect();
        if words[0] == "put" {
            words.extend(["--file".to_owned(), "value".to_owned()]);
        }
        if !command.contains("RUN") {
            words.extend(["--run".to_owned(), run.clone()]);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        project.expect(0, &words, b"");
        let expected = match line {
            0 => String::new(),
            line => {
                let text = RESUMED.lines().nth(line - 1).expect("a line").trim();
                format!("{line}|{text}|executing")
            }
        };
        assert_eq!(
            query_result(project, &run, POSITION),
            expected,
            "after {command}"
        );
    }
    run
}

fn query_result(project: &Project, run: &str, sql: &str) -> String {
    let out = project.sqlite(run, sql);
    assert!(out.stderr.is_empty(), "{sql}: {}", text(&out.stderr));
    text(&out.stdout).trim_end().to_owned()
}

#[test]
fn the_current_position_is_the_statement_that_is_under_way_and_none_in_a_run_that_is_over() {
    let Some(project) = Project::new(RESUMED) else {
        return;
    };
    let run = resumed(
        &project,
        &[
            ("begin 1", 1),
            ("put plan --into @1", 0),
            ("begin 3", 5),
            ("put b --into @5", 4),
            ("fail @4 no", 3),
            ("retry @4", 4),
            ("put a --into @4", 3),
            ("end", 0),
            // If the first finished branch is enough, the running statement in the other branch is cancelled.
            ("begin 7", 9),
            ("begin 16", 16),
            ("begin 17", 17),
            ("put y --into @9", 17),
            ("end @7", 0),
            ("begin 11", 11),
            ("begin 12", 12),
            ("put draft --into @12", 11),
            ("round", 11),
            ("begin 12", 12),
            ("skip 12", 11),
            ("end", 0),
            ("begin 19", 19),
            ("begin 15", 15),
            ("finish interrupted --run RUN", 15),
            ("resume RUN --begin", 15),
            ("put verdict --into @15", 19),
            ("begin 16", 16),
            ("begin 17", 17),
            // A failed statement also ends the open statements inside of it.
            ("fail @19 no", 0),
            ("begin 19", 19),
            ("end @19", 0),
            ("gate create --line 21", 0),
            ("approve RUN go", 0),
            ("begin 25", 25),
            ("retry @25 --error no", 25),
            ("fail @25 no", 0),
            ("retry @25", 25),
            ("end", 0),
            ("finish --run RUN", 0),
        ],
    );
    assert_eq!(
        query_result(&project, &run, "SELECT status FROM run"),
        "completed"
    );
    assert_whole(&project, &run);
}

#[test]
fn no_statement_is_under_way_in_a_run_that_failed_or_was_forced_to_its_end() {
    let Some(project) = Project::new(RESUMED) else {
        return;
    };
    let open: [&[(&str, usize)]; 6] = [
        &[("begin 1", 1)],
        &[("begin 3", 5), ("fail @4 no", 5)],
        &[("begin 7", 9), ("begin 16", 16), ("begin 17", 17)],
        &[
            ("begin 11", 11),
            ("begin 12", 12),
            ("retry @12 --error no", 12),
        ],
        &[("begin 19", 19), ("begin 15", 15), ("end @15 --force", 19)],
        &[
            ("begin 19", 19),
            ("gate create --line 21 --force", 19),
            ("begin 15 --force", 15),
        ],
    ];
    for steps in open {
        for end in ["finish failed --run RUN", "finish --run RUN --force"] {
            let steps = [steps, &[(end, 0)]].concat();
            let run = resumed(&project, &steps);
            assert_whole(&project, &run);
        }
    }
    // The queries also give the right line after a construct that is ended early, or whose condition is not met.
    for steps in [
        &[
            ("begin 3", 5),
            ("end @3 --force", 0),
            ("finish --run RUN --force", 0),
        ][..],
        &[
            ("begin 11", 11),
            ("begin 12", 12),
            ("end @11 --force", 0),
            ("finish --run RUN --force", 0),
        ],
        &[
            ("begin 19", 19),
            ("begin 15", 15),
            ("end @19 --force", 0),
            ("finish --run RUN --force", 0),
        ],
        &[
            ("begin 19", 19),
            ("begin 15", 15),
            ("skip 19 --force", 0),
            ("finish --run RUN --force", 0),
        ],
        &[
            ("gate create --line 21", 0),
            ("reject RUN go --reason no", 0),
            ("finish --run RUN --force", 0),
        ],
    ] {
        resumed(&project, steps);
    }
}

#[test]
fn the_branches_of_an_open_parallel_are_what_the_document_asks_for() {
    let Some(project) = Project::new(RESUMED) else {
        return;
    };
    let steps: [(&str, usize, &str); 4] = [
        ("begin 3", 5, "a|executing\nb|executing"),
        ("put a --into @4", 5, "a|completed\na|started\nb|executing"),
        (
            "fail @5 no",
            3,
            "a|completed\na|started\nb|failed\nb|started",
        ),
        ("end --force", 0, ""),
    ];
    for upto in 1..=steps.len() {
        let script: Vec<_> = steps[..upto]
            .iter()
            .map(|(c, line, _)| (*c, *line))
            .collect();
        let run = resumed(&project, &script);
        let found = query_result(&project, &run, BRANCHES);
        let mut found: Vec<&str> = found.lines().collect();
        found.sort_unstable();
        assert_eq!(found.join("\n"), steps[upto - 1].2, "{}", steps[upto - 1].0);
    }
}
