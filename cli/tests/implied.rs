//! Tests of values that commands infer: the execution to complete, the next or skipped line, the writer of a value.

use std::fs;
use std::path::Path;
use std::process::Command;

use prosescope_test_support::{clock, needs, run};

const FORMS: [&str; 2] = ["sqlite", "filesystem"];

const PROGRAM: &str = r#"let a = session "A"

loop until **good** (max: 3):
  let b = session "B"

parallel:
  x = session "X"
  y = session "Y"

session "End"
"#;

/// Runs `prosescope` on a run, and expects this exit code. Returns all output.
#[track_caller]
fn prose(dir: &Path, run: &str, code: i32, line: &str) -> String {
    run::said(code, &mut command(dir, run, line))
}

/// Returns a command on a run.
fn command(dir: &Path, run: &str, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
    command.args(line.split(' ')).current_dir(dir);
    command.env("HOME", dir.join("home")).env("PROSE_RUN", run);
    command
}

/// Returns a project of the program [`PROGRAM`], with a run in each form.
fn project() -> tempfile::TempDir {
    project_of(PROGRAM)
}

/// Returns a project of this program, with a run in each form.
fn project_of(program: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("p.prose"), program).expect("written");
    for form in FORMS {
        let line = format!("init p.prose --state {form} --id {form}");
        prose(dir.path(), form, 0, &line);
    }
    dir
}

#[test]
fn a_statement_that_did_not_begin_is_skipped_by_its_line() {
    let dir = project();
    for form in FORMS {
        let ask = |code, line: &str| prose(dir.path(), form, code, line);
        assert_eq!(ask(0, "skip 1 --because unneeded"), "1 skipped\n");
        let said = ask(0, "next");
        assert!(said.contains("begin 3"), "{said}");
        let said = ask(0, "trace --json");
        assert!(said.contains("\"skipped\""), "{said}");
        assert!(ask(0, "check").contains("nothing found"));
        // A statement that may not begin yet cannot be skipped either. The refused command records nothing.
        let said = ask(4, "skip 4");
        assert!(said.contains("lies in the loop of line 3"), "{said}");
        // A loop is skipped as a whole.
        assert!(ask(0, "skip 3").ends_with(" skipped\n"));
        assert!(ask(0, "next").contains("begin 6"));
        assert!(ask(0, "check").contains("nothing found"));
        let said = ask(2, "skip");
        assert!(said.contains("<LINE>"), "{said}");
        // If a statement of the line is open, this statement is skipped.
        let said = ask(0, "begin 1");
        let begun = said.lines().next().unwrap_or_default();
        assert_eq!(ask(0, "skip 1"), format!("{begun} skipped\n"));
        let said = ask(0, "trace --json");
        assert!(!said.contains("\"executing\""), "{said}");
    }
}

#[test]
fn a_value_completes_the_open_statement_that_writes_it() {
    let dir = project();
    for form in FORMS {
        let ask = |code, line: &str| prose(dir.path(), form, code, line);
        let said = ask(3, "put --anon --file p.prose");
        assert!(said.contains("no statement is open"), "{said}");
        assert!(said.contains("`prosescope begin LINE`"), "{said}");
        let said = ask(0, "begin 1");
        let a = said.lines().next().unwrap_or_default();
        // The open statement writes another binding than the command line contains.
        let said = ask(4, &format!("put z --file p.prose --into {a}"));
        assert!(said.contains("whose statement writes a"), "{said}");
        ask(3, "get z");
        // Without a number, this value belongs to the root, and the statement stays open.
        let said = ask(0, "put z --file p.prose");
        assert!(!said.contains("Completed"), "{said}");
        let said = ask(0, "put a --file p.prose");
        assert!(
            said.contains(&format!("Completed: execution {a}")),
            "{said}"
        );
        // Without the number of a loop, the commands end the innermost loop.
        ask(0, "begin 3");
        ask(0, "begin 4");
        ask(0, "put b --file p.prose");
        assert!(ask(0, "round").contains("rounds done: 1/3"));
        ask(0, "skip 4");
        ask(0, "end");
        // With two open branches, it is ambiguous which execution writes a value without a name.
        ask(0, "begin 6");
        let said = ask(4, "put --anon --file p.prose");
        assert!(said.contains("more than one statement is open"), "{said}");
        assert!(said.contains("`--into ID`"), "{said}");
        ask(3, "get anon_001");
        let said = ask(0, "put y --file p.prose");
        assert!(said.contains("Completed: execution"), "{said}");
        ask(3, "get x");
        ask(0, "finish failed");
        let said = ask(4, "put x --file p.prose");
        assert!(said.contains("is failed already"), "{said}");
    }
}

/// A `try` stays open until its handler has ended. Meanwhile, commands without a number use the open execution in the
/// handler.
#[test]
fn a_try_ends_after_its_handler() {
    let dir = project_of(
        "try:\n  session \"A\"\ncatch as e:\n  session \"B\"\nfinally:\n  session \"C\"\n",
    );
    for form in FORMS {
        let ask = |code, line: &str| prose(dir.path(), form, code, line);
        let id = |said: String| said.lines().next().unwrap_or_default().to_owned();
        let tried = id(ask(0, "begin 1"));
        let failed = id(ask(0, "begin 2"));
        ask(0, &format!("fail {failed} no"));
        let handler = id(ask(0, "begin 3"));
        let inner = id(ask(0, "begin 4"));
        let said = ask(0, "put --anon --file p.prose");
        assert!(
            said.contains(&format!("Completed: execution {inner}")),
            "{said}"
        );
        let said = ask(4, &format!("end {tried}"));
        assert!(
            said.contains(&format!("execution {handler} is open (catch as e:)")),
            "{said}"
        );
        assert_eq!(ask(0, "end"), format!("{handler} completed\n"));
        assert_eq!(ask(0, "end"), format!("{tried} completed\n"));
    }
}

/// Only one branch of an `if` runs, whichever command comes first, and also inside of a parallel block.
#[test]
fn of_two_ways_one_is_taken_in_a_branch_too() {
    let ways = "if **x**:\n  session \"A\"\nelse:\n  session \"B\"\n";
    let inside = ways.replace("if", "  if").replace("else", "  else");
    let inside = inside.replace("  session", "    session");
    for (program, item, lines) in [
        (ways.to_owned(), None, [1, 3]),
        (
            format!("parallel:\n{inside}  session \"C\"\n"),
            Some("branch_1"),
            [2, 4],
        ),
        // Each item of a `parallel for` may take another branch.
        (
            format!("parallel for i in all:\n{inside}  session \"C\"\n"),
            Some("p"),
            [2, 4],
        ),
    ] {
        for [first, other] in [lines, [lines[1], lines[0]]] {
            let dir = project_of(&program);
            for form in FORMS {
                let ask = |code, line: &str| prose(dir.path(), form, code, line);
                let own = item.map_or(String::new(), |item| {
                    ask(0, "begin 1");
                    format!(" --item {item}")
                });
                ask(0, &format!("begin {first}{own}"));
                let said = ask(4, &format!("begin {other}{own}"));
                let says = format!("line {other} is an alternative to line {first}");
                assert!(said.contains(&says), "{program}{said}");
                if item == Some("p") {
                    ask(0, &format!("begin {other} --item q"));
                }
            }
        }
    }
}

/// After a failure was passed on to the outer execution, the commands that `resume` prints retry that execution.
#[test]
fn a_failed_run_goes_on_by_the_commands_that_resume_prints() {
    let dir = project_of("block b(p):\n  session \"In {p}\"\ndo b(\"v\")\n");
    for form in FORMS {
        let ask = |code, line: &str| prose(dir.path(), form, code, line);
        ask(0, "begin 3");
        ask(0, "begin 2");
        ask(0, "fail 2 boom");
        ask(0, "fail 1 boom");
        ask(0, "finish failed");
        let said = ask(0, "resume");
        assert!(said.contains("boom") && said.contains("line 2"), "{said}");
        let commands: Vec<&str> = said
            .lines()
            .filter_map(|line| line.trim().strip_prefix("$ prosescope "))
            .collect();
        assert_eq!(commands.len(), 2, "{said}");
        for command in commands {
            ask(0, command);
        }
        assert!(ask(0, "next").contains("begin 2"));
    }
}

/// `next` asks only for inputs without a value, in all forms.
#[test]
fn an_input_on_the_way_is_asked_for_until_it_is_there() {
    let dir = project_of(
        "session \"A\"\ninput topic: \"t?\"\ninput level: **which level**\nsession \"B\"\n",
    );
    for form in FORMS {
        let ask = |code, line: &str| prose(dir.path(), form, code, line);
        ask(0, "begin 1");
        ask(0, "end 1");
        for (line, name) in [(2, "topic"), (3, "level")] {
            let said = ask(0, "resume");
            assert!(said.contains(&format!("line {line} comes next")), "{said}");
            assert!(ask(0, "next").contains(&format!("prosescope put {name}")));
            ask(0, &format!("put {name} --file p.prose"));
        }
        let said = ask(0, "resume");
        assert!(said.contains("line 4 comes next"), "{said}");
        assert!(ask(0, "next").contains("begin 4"));
    }
}

/// Rows of `prosescope` contain the line of their statement. So rows of equal statements, and values without names,
/// are shown at the right statement.
#[test]
fn rows_of_one_text_and_values_without_names_keep_their_place() {
    let dir = project_of(
        "parallel:\n  session \"same\"\n  session \"other\"\nparallel:\n  parallel:\n    session \"same\"\n  session \"same\"\nsession \"same\"\n",
    );
    for form in FORMS {
        let ask = |code, line: &str| prose(dir.path(), form, code, line);
        ask(0, "begin 1");
        for branch in [3, 2] {
            ask(
                0,
                &format!("put --anon --file p.prose --into {branch} --not-done"),
            );
            ask(0, &format!("end {branch}"));
        }
        let said = ask(0, "bindings");
        assert!(said.contains("written by #2"), "{said}");
        assert!(said.contains("written by #3"), "{said}");
        ask(0, "end");
        ask(0, "begin 4");
        ask(0, "begin 5");
        let said = ask(0, "trace");
        assert!(!said.contains('?'), "{said}");
        let said = ask(0, "check");
        assert!(said.contains("nothing found"), "{said}");
    }
}

/// A gate that the VM adds by itself has no line in the program, even if a gate of the program has the same prompt.
#[test]
fn a_gate_of_its_own_is_not_taken_for_the_programs() {
    let dir = project_of(
        "session \"A\"\napprove check_it:\n  prompt: \"Deploy?\"\nsession \"B\"\nsession \"C\"\n",
    );
    for form in FORMS {
        let ask = |code, line: &str| prose(dir.path(), form, code, line);
        ask(0, "gate create g0 --prompt Go?");
        ask(0, &format!("approve {form} g0 --as joe"));
        assert!(ask(0, "next").contains("begin 1"));
        ask(0, "begin 1");
        ask(0, "end");
        ask(0, "gate create g9 --prompt Deploy?");
        ask(0, &format!("approve {form} g9 --as joe"));
        let said = ask(0, "trace");
        assert!(said.contains("approve g9:"), "{said}");
        assert!(!said.contains("line 2"), "{said}");
        assert!(ask(0, "next").contains("begin 2"));
        assert!(ask(0, "resume").contains("line 2 comes next"));
        ask(0, "begin 2");
        ask(0, &format!("approve {form} check_it --as joe"));
        assert!(ask(0, "next").contains("begin 4"));
        // Rejecting a gate that the VM added stops the run, as for a gate of the program.
        ask(0, "gate create last --prompt Deploy? --on-reject stop");
        ask(0, &format!("reject {form} last --as joe --reason no"));
        let said = ask(0, "next");
        let why = "the gate was turned down, and its on_reject is `stop`";
        assert!(said.contains(why), "{said}");
        assert!(ask(0, "check").contains("nothing found"));
    }
}

/// At a gate, `next` prints the command that shows the question, and never one that decides. After the deadline,
/// `next` prints the command that records the time-out. If the user named the run, every command contains the run's id.
#[test]
fn next_names_the_run_and_decides_no_gate() {
    let dir = project_of(
        "session \"A\"\napprove go:\n  prompt: \"Go?\"\n  timeout: \"1h\"\nlet b = session \"B\"\n",
    );
    for form in FORMS {
        let ask = |code, line: &str| prose(dir.path(), form, code, line);
        let named = ask(0, &format!("next {form}"));
        let command = format!("prosescope begin 1 --run {form}\n");
        assert!(named.starts_with(&command), "{named}");
        assert!(ask(0, "next").starts_with("prosescope begin 1\n"));
        ask(0, "begin 1");
        ask(0, "end");
        ask(0, "gate create --line 2");
        for said in [ask(0, "next"), ask(0, &format!("next {form}"))] {
            let lines: Vec<&str> = said
                .lines()
                .filter(|line| line.starts_with("prosescope"))
                .collect();
            assert_eq!(lines, [format!("prosescope gate wait {form} go")]);
        }
        ask(0, &format!("approve {form} go --as joe"));
        let said = ask(0, "begin 5");
        let begun = said.lines().next().unwrap_or_default();
        let named = ask(0, &format!("next {form}"));
        assert!(
            named.starts_with(&format!(
                "prosescope put b --into {begun} --run {form} < FILE\n"
            )),
            "{named}"
        );
    }
    if needs::faketime().is_none() {
        return;
    }
    let dir = project_of("approve go:\n  prompt: \"Go?\"\n  timeout: \"1h\"\n");
    for form in FORMS {
        let mut create = command(dir.path(), form, "gate create --line 1");
        run::said(0, create.envs(clock::at("2026-01-25T12:00:00Z")));
        let said = prose(dir.path(), form, 0, "next");
        assert!(
            said.starts_with(&format!("prosescope gates expire {form}\n")),
            "{said}"
        );
        assert!(!said.contains("approve"), "{said}");
    }
}

/// An empty value, and a name that the program does not contain, are recorded and noted.
#[test]
fn a_value_that_is_probably_a_slip_is_noted() {
    let dir = project();
    fs::write(dir.path().join("value"), "text").expect("written");
    fs::write(dir.path().join("blank"), " \n").expect("written");
    for form in FORMS {
        let ask = |line: &str| prose(dir.path(), form, 0, line);
        assert!(!ask("put a --file value").contains("note"));
        assert!(ask("put b --file blank").contains("note: the value of b is only white space"));
        let said = ask("put research --file value");
        assert!(
            said.contains("note: the program does not contain the name research"),
            "{said}"
        );
        assert!(!ask("put --anon --not-done --file value").contains("note"));
    }
}

/// The first row of several statements with equal text gets its line at once. Later rows are not needed to decide which
/// statement ran.
#[test]
fn the_first_row_of_equal_texts_has_its_line() {
    let program = "parallel:\n  session \"same\"\n  session \"same\"\nparallel:\n  session \"same\"\n  repeat 2:\n    session \"same\"\nsession \"same\"\nsession \"same\"\n";
    let dir = project_of(program);
    for form in FORMS {
        let ask = |code, line: &str| prose(dir.path(), form, code, line);
        let sure = || {
            let said = ask(0, "trace");
            assert!(!said.contains('?'), "{said}");
            let said = ask(0, "check");
            assert!(!said.contains("guessed-tie"), "{said}");
        };
        ask(0, "begin 4");
        sure();
        let said = ask(0, "trace --json");
        assert!(
            said.contains("\"line\": 4") || said.contains("\"line\":4"),
            "{said}"
        );
        // A branch whose body is a block, such as a loop, contains the statements in that block.
        ask(0, "begin 6");
        sure();
    }
    let dir = project_of("session \"same\"\nsession \"same\"\n");
    for form in FORMS {
        let ask = |code, line: &str| prose(dir.path(), form, code, line);
        ask(0, "begin 1");
        let said = ask(0, "trace");
        assert!(!said.contains('?'), "{said}");
        assert!(ask(0, "check").contains("nothing found"));
    }
}

/// A construct, such as `if`, whose inner statements write the values is completed without a value.
#[test]
fn a_construct_is_not_completed_with_a_value() {
    let program = "if **x**:\n  session \"A\"\nchoice **c**:\n  option \"o\":\n    session \"B\"\ntry:\n  session \"C\"\nrepeat 1:\n  session \"D\"\nparallel:\n  session \"E\"\n  session \"F\"\ndo:\n  session \"G\"\n";
    let dir = project_of(program);
    for form in FORMS {
        let ask = |code, line: &str| prose(dir.path(), form, code, line);
        let id = |said: String| said.lines().next().unwrap_or_default().to_owned();
        for (line, force) in [(1, ""), (3, ""), (6, ""), (8, ""), (10, " --force")] {
            let open = id(ask(0, &format!("begin {line}")));
            for name in ["--anon", "z"] {
                let put = format!("put {name} --file p.prose --into {open}");
                let said = ask(4, &put);
                assert!(said.contains(&format!("prosescope end {open}")), "{said}");
                assert!(
                    said.contains(&format!("the first is line {}", line + 1)),
                    "{said}"
                );
            }
            assert!(ask(0, "bindings").contains("no values"));
            ask(0, &format!("end {open}{force}"));
        }
        ask(0, "begin 3 --force");
        let said = ask(4, "put --anon --file p.prose");
        assert!(said.contains("the first is line 4"), "{said}");
    }
}
