//! Tests of the first three lines of `prosescope show`: the status, the remaining statements, and what to do next.

use std::fs;
use std::path::Path;
use std::process::Command;

use prosescope_test_support::{clock, needs};

const FORMS: [&str; 2] = ["filesystem", "sqlite"];

const PROGRAM: &str = "session \"Plan\"\napprove deploy:\n  allow: [\"ops\"]\n  on_reject: throw \"Stopped\"\nloop until **it is good** (max: 3):\n  session \"Build\"\noutput report = session \"Report\"\n";

/// Runs `prosescope` in a folder at 14:00 of the run's day. `args` are split at blanks.
fn prose(dir: &Path, args: &str) -> (Option<i32>, String) {
    prose_at("2026-01-15T14:00:00Z", dir, args)
}

fn prose_at(now: &str, dir: &Path, args: &str) -> (Option<i32>, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_prosescope"))
        .args(args.split_whitespace())
        .current_dir(dir)
        .env("HOME", dir)
        .envs(clock::at(now))
        .env_remove("PROSE_RUN")
        .output()
        .expect("prosescope runs");
    let text = [out.stdout, out.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (out.status.code(), text)
}

#[track_caller]
fn done(dir: &Path, args: &str) -> String {
    let (code, text) = prose(dir, args);
    assert_eq!(code, Some(0), "{args}: {text}");
    text
}

/// Returns a folder with a run `r`, recorded by these commands. `$n` in a command stands for the first line that the n-th command printed.
fn project(form: &str, commands: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("p.prose"), PROGRAM).expect("written");
    done(dir.path(), &format!("init p.prose --id r --state {form}"));
    let mut printed: Vec<String> = Vec::new();
    for command in commands {
        let mut command = format!("{command} --run r");
        for (nth, text) in printed.iter().enumerate() {
            command = command.replace(
                &format!("${}", nth + 1),
                text.lines().next().unwrap_or_default(),
            );
        }
        printed.push(done(dir.path(), &command));
    }
    dir
}

/// The commands that record everything before the program's gate.
const PLANNED: [&str; 2] = ["begin 1", "end $1"];

#[test]
fn the_first_lines_say_how_it_stands_what_is_left_and_what_to_do() {
    if needs::faketime().is_none() {
        return;
    }
    let gate = "gate create deploy --prompt Deploy? --allow ops";
    let cases: [(&[&str], [&str; 3]); 8] = [
        (
            &[],
            [
                "● Running",
                "4 statements, from line 1 on",
                "prosescope trace r  # still running, last sign of life just now: see what the run does",
            ],
        ),
        (
            &["begin 1"],
            [
                "● Running at line 1: session \"Plan\"",
                "4 statements, from line 1 on",
                "prosescope trace r  # still running, last sign of life just now: see what the run does",
            ],
        ),
        (
            &[PLANNED[0], PLANNED[1], gate],
            [
                "◷ Waiting at gate deploy since 15 Jan 2026, 14:00 UTC",
                "3 statements, from line 2 on",
                "prosescope approve r deploy --as NAME  # have gate deploy decided by ops",
            ],
        ),
        (
            &[PLANNED[0], PLANNED[1], gate, "approve deploy --as ops"],
            [
                "● Running; gate deploy was approved by ops",
                "2 statements, from line 5 on",
                "prosescope trace r  # still running, last sign of life just now: see what the run does",
            ],
        ),
        (
            &[PLANNED[0], "fail $1 lost", "finish failed"],
            [
                "✗ Failed at line 1: session \"Plan\"",
                "4 statements, from line 1 on",
                "prosescope resume r  # remove the cause of the failure, then go on from line 1",
            ],
        ),
        (
            &[PLANNED[0], "finish interrupted"],
            [
                "■ Interrupted at line 1: session \"Plan\"",
                "4 statements, from line 1 on",
                "prosescope resume r  # go on at line 1",
            ],
        ),
        (
            &[PLANNED[0], PLANNED[1], "finish --force"],
            [
                "✓ Completed",
                "the run's output report is missing",
                "prosescope check r  # look at 1 warning found in the run's records",
            ],
        ),
        (
            &[
                PLANNED[0],
                PLANNED[1],
                "put report --file p.prose",
                "finish --force",
            ],
            [
                "✓ Completed",
                "nothing",
                "prosescope get report --run r  # read its output",
            ],
        ),
    ];
    for form in FORMS {
        for (commands, expected) in &cases {
            let dir = project(form, commands);
            let shown = done(dir.path(), "show r");
            let lines: Vec<&str> = shown.lines().take(3).collect();
            let [headline, left, next] = expected;
            let expected = [
                (*headline).to_owned(),
                format!("  not done  {left}"),
                format!("  next      {next}"),
            ];
            assert_eq!(lines, expected, "{form}: {commands:?}");
        }
    }
}

/// Returns the command in the third line, without its reason.
fn command(shown: &str) -> String {
    let next = shown.lines().nth(2).expect("a third line");
    let next = next.trim().strip_prefix("next").expect("what to do next");
    let command = next.split("  #").next().unwrap_or_default().trim();
    let args = command.strip_prefix("prosescope ").expect("a command");
    args.to_owned()
}

/// Outside of the run's project, the command in the third line contains the path of the run. So the command works in
/// the folder where it was printed.
#[test]
fn the_command_to_copy_works_where_it_was_printed() {
    if needs::faketime().is_none() {
        return;
    }
    for form in FORMS {
        let dir = project(form, &PLANNED);
        let outside = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(".prose/runs/r");
        let path = path.to_str().expect("a name in UTF-8");
        for (here, named) in [
            (dir.path(), "r"),
            (dir.path(), "latest"),
            (dir.path(), ".prose/runs/r"),
            (outside.path(), path),
        ] {
            let next = command(&done(here, &format!("show {named}")));
            assert!(next.starts_with("trace "), "{next}");
            assert!(done(here, &next).contains("Plan"), "{form}: {next}");
        }
    }
}

#[test]
fn a_list_says_how_old_each_run_is_and_where_its_start_is_from() {
    if needs::faketime().is_none() {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let write = |id: &str, text: &str| {
        let run = dir.path().join(".prose/runs").join(id);
        fs::create_dir_all(&run).expect("made");
        fs::write(run.join("state.md"), text).expect("written");
    };
    let log = |id: &str| format!("# run:{id} p.prose\n\n1→ a ✓\n");
    write("20260115-110000-logged", &log("20260115-110000-logged"));
    write("mine", "# run:mine p.prose\n\n1→ a ✓\n");
    write(
        "20260101-110000-silent",
        "# Execution State\n\nrun: 20260101-110000-silent\nprogram: p.prose\nstarted: 2026-01-01T12:00:00Z\nstatus: running\n",
    );
    let listed = done(dir.path(), "runs");
    let line = |part: &str| {
        let line = listed.lines().find(|line| line.contains(part));
        let words: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
        words.join(" ")
    };
    assert_eq!(
        line("logged"),
        "· unknown 20260115-110000-logged p.prose 2026-01-15 11:00* 3h"
    );
    assert_eq!(
        line("20260101"),
        "· silent 20260101-110000-silent p.prose 2026-01-01 12:00 14d 1"
    );
    // The date of a file is not taken for the start of the run.
    assert_eq!(line("mine"), "· unknown mine p.prose unknown");
    assert!(
        listed.ends_with(
            "* start not recorded; this is the time in the run's id, without a time zone\n"
        ),
        "{listed}"
    );
    let silent = done(dir.path(), "runs --status silent");
    assert!(
        silent.contains("20260101") && !silent.contains("mine"),
        "{silent}"
    );
}

#[test]
fn what_lies_ahead_is_indented_as_in_the_program() {
    if needs::faketime().is_none() {
        return;
    }
    let dir = project("sqlite", &PLANNED);
    let shown = done(dir.path(), "resume r");
    let (_, ahead) = shown
        .split_once("The program from this point on\n")
        .expect("what lies ahead");
    let lines: Vec<&str> = ahead.lines().take(4).collect();
    assert_eq!(
        lines,
        [
            "     2 → approve deploy:",
            "     5 → loop until **it is good** (max: 3):",
            "     6 →   session \"Build\"",
            "     7 → output report = session \"Report\"",
        ]
    );
}

#[test]
fn a_silent_run_is_to_be_checked_before_it_is_resumed_and_a_pipe_gets_the_whole_line() {
    if needs::faketime().is_none() {
        return;
    }
    let dir = project("sqlite", &[]);
    let (_, shown) = prose_at("2026-01-15T14:11:00Z", dir.path(), "show r");
    let next = "prosescope resume r  # make sure that no model is still carrying out the run, then go on at line 1";
    assert!(shown.contains(next), "{shown}");
    let out = Command::new(env!("CARGO_BIN_EXE_prosescope"))
        .args(["show", "r"])
        .current_dir(dir.path())
        .env("HOME", dir.path())
        .envs(clock::at("2026-01-15T14:11:00Z"))
        .env("COLUMNS", "60")
        .output()
        .expect("prosescope runs");
    let shown = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(shown.contains(next), "{shown}");
}

#[test]
fn a_brief_does_not_name_the_row_of_a_database() {
    if needs::faketime().is_none() {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("p.prose"), "let plan = session \"Plan\"\n").expect("written");
    done(dir.path(), "init p.prose --id r --state sqlite");
    done(dir.path(), "begin 1 --run r");
    let brief = done(dir.path(), "brief 1 --run r");
    assert!(brief.starts_with("Your task:"), "{brief}");
    assert!(brief.contains(".prose/runs/r/state.db\n"), "{brief}");
    assert!(!brief.contains("bindings table"), "{brief}");
}

#[test]
fn a_late_decision_is_also_refused_for_the_name_that_may_not_decide() {
    if needs::faketime().is_none() {
        return;
    }
    let gate = "gate create deploy --prompt Deploy? --allow ops --timeout 30s";
    let dir = project("sqlite", &[PLANNED[0], PLANNED[1], gate]);
    let late = |name| {
        let args = format!("approve r deploy --as {name}");
        prose_at("2026-01-15T14:01:00Z", dir.path(), &args)
    };
    let (code, said) = late("eve");
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("past its deadline"), "{said}");
    assert!(said.contains("`eve` may not decide this gate"), "{said}");
    let (_, said) = late("ops");
    assert!(!said.contains("may not decide"), "{said}");
}
