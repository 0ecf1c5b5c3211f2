//! What a command works out by itself: the execution that is completed, the execution of a line that is skipped.

use std::fs;
use std::path::Path;
use std::process::Command;

use prosescope_test_support::run;

const FORMS: [&str; 2] = ["sqlite", "filesystem"];

const PROGRAM: &str = r#"let a = session "A"

loop until **good** (max: 3):
  let b = session "B"

parallel:
  x = session "X"
  y = session "Y"

session "End"
"#;

/// Runs `prosescope` in a folder in the run of this id, and expects this exit code; gives all that it said.
#[track_caller]
fn prose(dir: &Path, run: &str, code: i32, line: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
    command.args(line.split(' ')).current_dir(dir);
    command.env("HOME", dir.join("home")).env("PROSE_RUN", run);
    run::said(code, &mut command)
}

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("p.prose"), PROGRAM).expect("written");
    for form in FORMS {
        prose(
            dir.path(),
            form,
            0,
            &format!("init p.prose --state {form} --id {form}"),
        );
    }
    dir
}

#[test]
fn a_statement_that_did_not_begin_is_skipped_by_its_line() {
    let dir = project();
    for form in FORMS {
        let ask = |code, line: &str| prose(dir.path(), form, code, line);
        assert_eq!(
            ask(0, "exec skip --line 1 --reason unneeded"),
            "1 skipped\n"
        );
        let said = ask(0, "next");
        assert!(said.contains("loop begin --line 3"), "{said}");
        let said = ask(0, "trace --json");
        assert!(said.contains("\"skipped\""), "{said}");
        assert!(ask(0, "check").contains("nothing found"));
        // What may not begin is not skipped either, and nothing of it stays.
        let said = ask(4, "exec skip --line 4");
        assert!(said.contains("lies in the loop of line 3"), "{said}");
        let said = ask(2, "exec skip --line 3");
        assert!(said.contains("`prosescope loop begin --line 3`"), "{said}");
        let said = ask(2, "exec skip");
        assert!(said.contains("<EXECUTION_ID|--line <N>>"), "{said}");
        for more in ["--line 1", "--item x", "--parent 1"] {
            let said = ask(2, &format!("exec skip 1 {more}"));
            assert!(said.contains("cannot be used with"), "{said}");
        }
        let said = ask(0, "exec begin --line 1");
        let begun = said.lines().next().unwrap_or_default();
        let said = ask(4, "exec skip --line 1");
        assert!(said.contains("is still open"), "{said}");
        assert_eq!(
            ask(0, &format!("exec skip {begun}")),
            format!("{begun} skipped\n")
        );
    }
}

#[test]
fn put_done_completes_the_one_statement_that_is_open() {
    let dir = project();
    for form in FORMS {
        let ask = |code, line: &str| prose(dir.path(), form, code, line);
        let said = ask(3, "put a --file p.prose --done");
        assert!(said.contains("no statement is open"), "{said}");
        assert!(said.contains("`prosescope exec run --line N`"), "{said}");
        let a = ask(0, "exec begin --line 1");
        // Another name than its statement writes.
        let said = ask(4, "put z --file p.prose --done");
        assert!(said.contains("its statement writes a"), "{said}");
        ask(3, "get z");
        let said = ask(0, "put a --file p.prose --done");
        assert!(
            said.contains(&format!("Completed: execution {}", a.trim())),
            "{said}"
        );
        // The innermost: the loop around it stays open. A round ends as `loop round` too.
        ask(0, "loop begin --line 3");
        ask(0, "exec begin --line 4");
        ask(0, "put b --file p.prose --done");
        assert!(ask(0, "loop round").contains("iteration 1/3"));
        ask(0, "exec skip --line 4");
        ask(0, "loop exit --round");
        // Of two branches either could be meant.
        ask(0, "parallel run --line 6");
        let said = ask(4, "put x --file p.prose --done");
        assert!(said.contains("more than one statement is open"), "{said}");
        assert!(said.contains("`--execution ID`"), "{said}");
        ask(3, "get x");
        ask(0, "finish --status failed");
        let said = ask(4, "put x --file p.prose --done");
        assert!(said.contains("is failed already"), "{said}");
    }
}
