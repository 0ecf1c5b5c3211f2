//! Tests of error messages, as text for people and as JSON for programs.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const RUN: &str = "20270101-120000-aaaaaa";
const INSIDE: &str = ".prose/runs/20270101-120000-aaaaaa/copy";

fn prose(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_prosescope"))
        .args(args)
        .current_dir(dir)
        .env("HOME", dir.join("home"))
        .env_remove("PROSE_RUN")
        .output()
        .expect("prosescope runs")
}

/// Runs `prosescope`, and expects this exit code. Returns standard error.
#[track_caller]
fn said(dir: &Path, code: i32, args: &[&str]) -> String {
    let out = prose(dir, args);
    let said = String::from_utf8(out.stderr).expect("UTF-8");
    assert_eq!(out.status.code(), Some(code), "{args:?}: {said}");
    said
}

/// Returns a project whose run has a binding, an import, a gate and an agent.
fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let program = "let research = session \"Find\"\n\ngate publish:\n  prompt: \"Publish?\"\nuse \"./tool.prose\" as tool\n";
    fs::write(at.join("p.prose"), program).expect("written");
    for args in [
        &["init", "p.prose", "--id", RUN][..],
        &["begin", "1"],
        &["put", "research", "--file", "p.prose"],
        &["put", "deep", "--file", "p.prose"],
        &["begin", "5"],
        &[
            "gate", "create", "publish", "--prompt", "Publish?", "--line", "3",
        ],
        &["agent", "segment", "add", "captain", "--prompt", "Look"],
    ] {
        said(at, 0, args);
    }
    dir
}

#[test]
fn a_wrong_name_is_told_with_what_was_expected_and_what_is_near() {
    let dir = project();
    let run = format!("run {RUN}");
    for (args, code, parts) in [
        (
            &["show", "/nope/path"][..],
            3,
            &["there is no file or folder /nope/path"][..],
        ),
        (
            &["show", "./nope"],
            3,
            &["there is no file or folder ./nope"],
        ),
        (
            &["put", "x", "--file", "p.prose", "--run", "/nope/path"],
            3,
            &["no file or folder /nope/path"],
        ),
        (
            &["view", "/nope/path"],
            3,
            &["no file or folder /nope/path"],
        ),
        (
            &["show", "nope/path"],
            3,
            &["no file or folder nope/path", "no run nope"],
        ),
        (&["show", "state.db"], 3, &["no file or folder state.db"]),
        (
            &["show", "p.prose"],
            2,
            &[
                "p.prose is a program, not a run",
                "prosescope runs --program p",
            ],
        ),
        (
            &["get", "research", "r1"],
            2,
            &["name the run with `--run r1`"],
        ),
        (
            &["get", "latest", "research"],
            2,
            &["name the run with `--run`: research --run latest"],
        ),
        (
            &["show", "latest/tol"],
            3,
            &["has no import tol", "did you mean tool?"],
        ),
        (
            &["get", "nothing", "--from", "999"],
            3,
            &["there is no execution 999 in", &run, "prosescope trace"],
        ),
        (
            &["get", "research", "--from", "999"],
            3,
            &["there is no execution 999 in", &run, "prosescope trace"],
        ),
        (
            &["get", "research", "--from", "999", "--explain"],
            3,
            &["there is no execution 999 in", &run],
        ),
        (
            &["trace", "--status", "failedd"],
            2,
            &[
                "no row has the status \"failedd\"",
                "did you mean failed?",
                "completed, failed, skipped",
            ],
        ),
        (
            &["get", "nothing", "--from", "1"],
            3,
            &["no binding nothing", "from frame 1"],
        ),
        (
            &["get", "reserch"],
            3,
            &["no binding reserch", "did you mean research?"],
        ),
        (
            &["get", "reserch", "--explain"],
            3,
            &["did you mean research?"],
        ),
        (
            &["show", "--for-model", "--node", "999"],
            3,
            &["there is no execution 999 in", &run],
        ),
        (
            &["gate", "show", "latest", "publihs"],
            3,
            &["no gate publihs", "did you mean publish?"],
        ),
        (
            &["approve", "latest", "publihs"],
            3,
            &["no gate publihs", "did you mean publish?"],
        ),
        (
            &["reject", "latest", "other", "--reason", "No"],
            3,
            &["no gate other", "gates: publish"],
        ),
        (
            &["audit", "--gate", "publihs"],
            3,
            &["did you mean publish?"],
        ),
        (
            &["agent", "memory", "get", "captian"],
            3,
            &["no memory", "did you mean captain?"],
        ),
        (
            &["check", "--explain", "gate-overdu"],
            2,
            &["no rule gate-overdu", "gate-overdue"],
        ),
        (
            &["check", "--rule", "nope"],
            2,
            &[
                "no rule nope",
                "`prosescope check --explain` lists all rules",
            ],
        ),
        (
            &["end", "abc"],
            2,
            &["'abc'", "expected the number of an execution"],
        ),
        (
            &["round", "abc"],
            2,
            &["expected the number of an execution"],
        ),
        (
            &["get", "x", "--from", "abc"],
            2,
            &["expected the number of an execution"],
        ),
        (
            &["begin", "x"],
            2,
            &["'x'", "expected the number of a line in the program"],
        ),
        (
            &["runs", "--limit", "digits"],
            2,
            &["expected a whole number"],
        ),
    ] {
        let said = said(dir.path(), code, args);
        for part in parts {
            assert!(said.contains(part), "{args:?}: {said}");
        }
        assert!(
            !said.contains("docs/") && !said.contains("invalid digit"),
            "{said}"
        );
    }
    let found = prose(dir.path(), &["search", "nowhere"]).stdout;
    let none = format!("no match for nowhere in {RUN}\n");
    assert!(String::from_utf8_lossy(&found).starts_with(&none));
    // The error is the same outside of a project, and for a broken link.
    let outside = tempfile::tempdir().expect("a folder");
    for path in ["nope/path", "state.db", "./nope"] {
        let said = said(outside.path(), 3, &["show", path]);
        assert!(
            said.contains(&format!("no file or folder {path}")),
            "{said}"
        );
    }
}

#[test]
fn the_rules_are_listed_where_none_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = prose(dir.path(), &["check", "--explain"]);
    let text = String::from_utf8(out.stdout).expect("UTF-8");
    let out = prose(dir.path(), &["check", "--explain", "--json"]);
    let rules: Vec<Value> = serde_json::from_slice(&out.stdout).expect("JSON");
    assert!(rules.len() > 50, "{}", rules.len());
    for rule in rules {
        let name = rule["name"].as_str().expect("a name");
        assert!(text.contains(&format!("\n  {name}  ")), "{name}");
        said(dir.path(), 0, &["check", "--explain", name]);
    }
}

/// Programs read only the last line of standard error. Notes may come before that line.
#[test]
fn with_json_an_error_is_one_object_on_the_last_line_of_standard_error() {
    let dir = project();
    let at = dir.path();
    for (args, exit, kind, rule, message, hint) in [
        (
            &["show", "1999"][..],
            3,
            "not-found",
            None,
            "there is no run 1999 in",
            "the only run is",
        ),
        (
            &["show", "20", "--nope"],
            2,
            "usage",
            None,
            "unexpected argument '--nope' found",
            "Usage: prosescope show",
        ),
        (
            &["skip"],
            2,
            "usage",
            None,
            "the following required arguments were not provided: <LINE>",
            "Usage:",
        ),
        (
            &["finish", "complete"],
            2,
            "usage",
            None,
            "[possible values: completed, failed, interrupted]",
            "a similar value exists: 'completed'",
        ),
        (
            &["end", "x"],
            2,
            "usage",
            None,
            "expected the number of an execution",
            "",
        ),
        (
            &["runs", "--since", "\u{1b}[2J"],
            2,
            "usage",
            None,
            "neither a time",
            "",
        ),
        (
            &["end", "1"],
            4,
            "refused",
            Some("execution-closed"),
            "",
            "",
        ),
        (
            &["convert", "latest", "--to", "filesystem"],
            4,
            "refused",
            Some("same-form"),
            "",
            "--to sqlite",
        ),
        (
            &["convert", "latest", "--to", "sqlite", "--out", INSIDE],
            4,
            "refused",
            Some("out-inside-run"),
            "",
            "--out",
        ),
        (
            &["check", "--fix", "--out", "x", "a", "b"],
            2,
            "usage",
            None,
            "--fix takes one run",
            "",
        ),
        (
            &["show", "photo.db"],
            5,
            "unreadable",
            None,
            "not a SQLite database",
            "",
        ),
    ] {
        fs::write(at.join("photo.db"), b"\x89PNG\r\n\x1a\n and so on").expect("written");
        let args = [args, &["--json"]].concat();
        let said = said(at, exit, &args);
        let last = said.lines().last().expect("a line");
        assert!(!last.contains('\u{1b}'), "{last:?}");
        let error: Value = serde_json::from_str(last).expect("JSON");
        let error = &error["error"];
        assert_eq!(
            (&error["exit"], &error["kind"]),
            (&exit.into(), &kind.into()),
            "{args:?}: {said}"
        );
        let named = error.get("rule").map(|rule| rule.as_str().expect("a name"));
        assert_eq!(named, rule, "{said}");
        let told = error["message"].as_str().expect("a text");
        assert!(
            !told.is_empty() && told.contains(message),
            "{args:?}: {said}"
        );
        let hints = error["hints"].as_array().expect("an array");
        assert!(
            hint.is_empty()
                || hints
                    .iter()
                    .any(|h| h.as_str().is_some_and(|h| h.contains(hint))),
            "{args:?}: {said}"
        );
    }
    // A request for help succeeds, and prints text even with `--json`.
    let out = prose(at, &["show", "--json", "--help"]);
    assert!(out.status.success() && out.stdout.starts_with(b"Summarize a run"));
}

#[test]
fn the_advice_on_a_wrong_command_line_can_be_followed() {
    let dir = project();
    for (args, says, tip) in [
        (
            &["trace", "--limit", "-3"][..],
            "expected a whole number, 0 or more",
            None,
        ),
        (
            &["begin", "-1"],
            "expected the number of a line in the program",
            None,
        ),
        (
            &["begin", "99999999999"],
            "expected the number of a line in the program",
            None,
        ),
        (
            &["view", "--port", "-1"],
            "expected the number of a port, from 0 to 65535",
            None,
        ),
        (
            &["retry", "1", "--error", "- it broke"],
            "unexpected argument",
            Some("as `--error=VALUE`"),
        ),
        (
            &["retry", "1", "--error", "-broken"],
            "unexpected argument",
            Some("as `--error=VALUE`"),
        ),
        // `-x` is not the value of `--vacuum`, which takes none. `--json` is an option, so it is not the value of
        // `--error`.
        (&["finish", "--vacuum", "-x"], "unexpected argument", None),
        (
            &["retry", "1", "--error", "--json"],
            "a value is required for '--error <TEXT>'",
            None,
        ),
        (
            &["begin", "--round"],
            "unexpected argument '--round'",
            Some("`prosescope round EXECUTION` ends the round before"),
        ),
        // `finish` took the run as its first argument before.
        (
            &["finish", "r", "--vacuum"],
            "invalid value 'r' for '[STATUS]'",
            Some("name the run with `--run`"),
        ),
        (
            &["audit", "--all", "--run", "x"],
            "cannot be used with",
            None,
        ),
    ] {
        let said = said(dir.path(), 2, args);
        assert!(said.contains(says), "{args:?}: {said}");
        assert!(!said.contains("'-- "), "{args:?}: {said}");
        assert!(!said.contains("Usage: prosescope audit --all [RUN]"));
        match tip {
            Some(tip) => assert!(said.contains(tip), "{args:?}: {said}"),
            None => {
                assert!(!said.contains("tip:"), "{args:?}: {said}");
                assert!(!said.contains("=VALUE"), "{args:?}: {said}");
            }
        }
    }
    // A negative number is parsed as a value, not as an option. No execution has such a number.
    said(dir.path(), 3, &["end", "-1"]);
    said(dir.path(), 3, &["get", "research", "--from", "-7"]);
    said(dir.path(), 0, &["search", "-3"]);
}

/// A parallel block or a gate has no task for a subagent, so it has no brief.
#[test]
fn a_brief_is_for_what_a_subagent_carries_out() {
    let dir = tempfile::tempdir().expect("a folder");
    let program =
        "parallel:\n  a = session \"A\"\n  b = session \"B\"\napprove go:\n  prompt: \"Go?\"\n";
    fs::write(dir.path().join("p.prose"), program).expect("written");
    let run = said(dir.path(), 0, &["init", "p.prose"]);
    assert_eq!(run, "", "its id is on standard output");
    said(dir.path(), 0, &["begin", "1"]);
    for (id, code, what) in [
        ("1", 4, "is no session"),
        ("2", 0, ""),
        ("3", 0, ""),
        ("9", 3, "no execution 9"),
    ] {
        let said = said(dir.path(), code, &["brief", id]);
        assert!(said.contains(what), "{id}: {said}");
    }
}

#[test]
fn what_people_type_instead_of_a_command_works_or_is_answered() {
    let dir = project();
    let at = dir.path();
    let printed = |args: &[&str]| {
        let out = prose(at, args);
        assert!(out.status.success(), "{args:?}");
        String::from_utf8(out.stdout).expect("UTF-8")
    };
    // Only the first line is compared, because later lines contain the time since the last sign of life.
    let first = |args: &[&str]| printed(args).lines().next().map(str::to_owned);
    let folder = format!(".prose/runs/{RUN}");
    for args in [&["log"][..], &["status"], &["info"], &[&folder]] {
        assert_eq!(first(args), first(&["show"]), "{args:?}");
    }
    let json: Value = serde_json::from_str(&printed(&["--json", &folder])).expect("JSON");
    assert_eq!(json["overview"]["run"], RUN);
    // A path in place of a command means `show`, so a wrong option after the path is an error of `show`.
    let wrong = said(at, 2, &[&folder, "--size", "9"]);
    assert!(
        wrong.contains("invalid value '9' for '--size <KB>'"),
        "{wrong}"
    );
    // The age of a run may be a second more in the second list.
    for name in ["ls", "list"] {
        assert_eq!(first(&[name]), first(&["runs"]));
        assert!(printed(&[name]).contains(RUN), "{name}");
    }
    for (word, part) in [
        ("run", "a model runs a program in its own session"),
        ("export", "`prosescope share` writes a run into one file"),
        (
            "p.prose",
            "`prosescope init PROGRAM` creates a run of this program",
        ),
    ] {
        let said = said(at, 2, &[word]);
        assert!(said.contains(part), "{said}");
        assert!(!said.contains("similar"), "{said}");
    }
    for word in ["gone.db", "gone.html", "gone.zip", "./gone", "gone/r"] {
        let said = said(at, 3, &[word]);
        assert!(said.contains("there is no file or folder"), "{said}");
    }
}

/// The message of a failed `share` names the file that the user named, not a temporary one.
#[test]
fn a_file_that_cannot_be_written_is_named_alone() {
    let dir = project();
    for end in ["zip", "db", "txt"] {
        let file = format!("gone/x.{end}");
        let said = said(dir.path(), 6, &["share", "-o", &file, "--yes"]);
        assert!(
            said.starts_with(&format!(
                "error: cannot write {file}: No such file or directory"
            )),
            "{said}"
        );
        assert!(!said.contains(".prosescope-"), "{said}");
    }
}

/// A former command or option is refused with what to type now. Other commands of that name do not run.
#[test]
fn a_former_command_names_its_successor() {
    let dir = tempfile::tempdir().expect("a folder");
    // A folder of the same name is not read in place of the command.
    std::fs::create_dir(dir.path().join("serve")).expect("made");
    for (words, now) in [
        (&["narrate", "latest"][..], "`prosescope trace`"),
        (&["vm"], "`prosescope help vm`"),
        (&["licenses"], "`prosescope help licenses`"),
        (&["events", "tail", "x"], "`prosescope workflow events`"),
        (&["serve", "--json"], "`prosescope workflow serve`"),
        (&["gate", "import", "x"], "decide in the run itself"),
        (&["exec", "begin", "--line", "1"], "`prosescope begin LINE`"),
        (
            &["exec", "begin", "session \"A\""],
            "`prosescope begin LINE`",
        ),
        (
            &["exec", "run", "--in", "1", "--line", "2"],
            "`prosescope begin LINE`",
        ),
        (&["exec", "complete", "1"], "`prosescope end EXECUTION`"),
        (
            &["exec", "fail", "1", "--error", "x"],
            "`prosescope fail EXECUTION TEXT`",
        ),
        (&["exec", "retry", "1"], "`prosescope retry EXECUTION`"),
        (&["exec", "skip", "--line", "1"], "`prosescope skip LINE`"),
        (&["exec", "skip", "1"], "`prosescope skip LINE`"),
        (&["exec"], "`prosescope begin LINE`"),
        (
            &["parallel", "run", "--line", "1"],
            "`prosescope begin LINE`",
        ),
        (
            &["parallel", "begin", "--line", "1"],
            "`prosescope begin LINE`",
        ),
        (
            &["parallel", "branch", "1", "a"],
            "`prosescope begin LINE` begins a parallel with all of its branches",
        ),
        (&["parallel", "join"], "`prosescope end EXECUTION`"),
        (&["parallel"], "`prosescope begin LINE`"),
        (&["loop", "begin", "--line", "1"], "`prosescope begin LINE`"),
        (&["loop", "iterate"], "`prosescope round EXECUTION`"),
        (&["loop", "round", "1"], "`prosescope round EXECUTION`"),
        (
            &["loop", "exit", "1", "--reason", "x"],
            "`prosescope end EXECUTION`",
        ),
        (&["loop"], "`prosescope begin LINE`"),
        (
            &["import", "add", "x"],
            "`prosescope begin LINE` registers the `use`",
        ),
        (&["begin", "--line", "1"], "`prosescope begin LINE`"),
        (&["skip", "--line", "1"], "`prosescope skip LINE`"),
        (&["skip", "1", "--reason", "x"], "`--because TEXT`"),
        (&["end", "1", "--reason", "x"], "`--because TEXT`"),
        (
            &["end", "1", "--round"],
            "a loop ends with its present round",
        ),
        (
            &["begin", "--round", "1"],
            "`prosescope round EXECUTION` ends the round before",
        ),
        (
            &["fail", "1", "--error", "x"],
            "`prosescope fail EXECUTION TEXT`",
        ),
        (
            &["fail", "--id", "1", "x"],
            "`prosescope fail EXECUTION TEXT`",
        ),
        (&["put", "x", "--execution", "1"], "`--into EXECUTION`"),
        (&["put", "x", "--done"], "unless you give --not-done"),
        (
            &["brief", "--execution", "1"],
            "`prosescope brief EXECUTION`",
        ),
        (&["brief", "1", "--done"], "the brief's command says it"),
        (
            &["finish", "--status", "failed"],
            "`prosescope finish failed`",
        ),
        (
            &["finish", "r", "--status", "failed"],
            "`prosescope finish failed`",
        ),
    ] {
        let out = prose(dir.path(), words);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(now), "{words:?}: {said}");
        let out = prose(dir.path(), &[words, &["--json"]].concat());
        let error: Value = serde_json::from_slice(&out.stderr).expect("JSON");
        let hints = error["error"]["hints"].as_array().expect("an array");
        let is_now = |hint: &Value| hint.as_str().is_some_and(|hint| hint.contains(now));
        assert!(hints.iter().any(is_now), "{words:?}: {error}");
    }
    let out = prose(dir.path(), &["help", "vm"]);
    assert!(
        out.status.success() && out.stdout.starts_with(b"How a model records"),
        "{out:?}"
    );
}
