//! Tests of the commands that read, on runs that the tests record.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use prosescope_test_support::run::fed;
use prosescope_test_support::{clock, needs};

const FORMS: [&str; 2] = ["filesystem", "sqlite"];

/// A folder with a program and a home folder in it. Tests run `prosescope` there at times that they choose.
struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new(program: &str) -> Project {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("home")).expect("made");
        fs::write(dir.path().join("p.prose"), program).expect("written");
        Project { dir }
    }

    fn path(&self, at: &str) -> PathBuf {
        self.dir.path().join(at)
    }

    /// Runs `prosescope` with this standard input, at a time of one fixed day such as `10:00:00`. Expects this exit
    /// code. Returns standard output and standard error.
    #[track_caller]
    fn run(&self, code: i32, time: &str, args: &str, input: &str) -> (String, String) {
        let args: Vec<&str> = args.split_whitespace().collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
        command
            .args(&args)
            .current_dir(self.dir.path())
            .env("HOME", self.path("home"))
            .envs(clock::at(&format!("2026-01-15T{time}Z")));
        let out = fed(&mut command, input.as_bytes());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (said, errors) = (text(&out.stdout), text(&out.stderr));
        assert_eq!(out.status.code(), Some(code), "{args:?}: {said}{errors}");
        (said, errors)
    }

    /// Runs a command that has to succeed, at a time of the same fixed day. Returns its standard output.
    #[track_caller]
    fn done(&self, time: &str, args: &str, input: &str) -> String {
        self.run(0, time, args, input).0.trim_end().to_owned()
    }
}

/// Returns the first line of an output, which for `begin` is the number.
fn first_line(said: &str) -> String {
    said.lines().next().unwrap_or_default().to_owned()
}

/// Returns the line of a text that contains a word.
#[track_caller]
fn line<'a>(text: &'a str, part: &str) -> &'a str {
    text.lines()
        .find(|line| line.contains(part))
        .unwrap_or_else(|| panic!("{part} is not in {text}"))
}

/// A statement that began after a value was written is not shown as the value's writer, even if the statement failed.
#[test]
fn a_value_is_shown_at_the_statement_that_was_under_way_when_it_was_written() {
    if needs::faketime().is_none() {
        return;
    }
    for form in FORMS {
        let project = Project::new("let draft = session \"Write\"\ndraft = session \"Shorten\"\n");
        let go = |time: &str, args: &str, input: &str| {
            first_line(&project.done(time, &format!("{args} --run r"), input))
        };
        project.done(
            "10:00:00",
            &format!("init p.prose --id r --state {form}"),
            "",
        );
        let first = go("10:00:00", "begin 1", "");
        go(
            "10:00:20",
            &format!("put draft --into {first} --not-done"),
            "one",
        );
        go("10:00:30", &format!("end {first}"), "");
        let second = go("10:01:18", "begin 2", "");
        go("10:01:50", &format!("fail {second} lost"), "");

        let trace = project.done("11:00:00", "trace r", "");
        assert!(line(&trace, "Write").contains("→ draft"), "{form}: {trace}");
        assert_eq!(trace.matches('→').count(), 1, "{form}: {trace}");
        let by = format!("written by #{first}");
        let bindings = project.done("11:00:00", "bindings r", "");
        assert!(bindings.contains(&by), "{form}: {bindings}");
        let explained = project.done("11:00:00", "get draft --explain --run r", "");
        assert!(
            explained.contains(&format!("{by}: let draft")),
            "{form}: {explained}"
        );
        let shown = project.done("11:00:00", "show r --json", "");
        let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
        let wrote = |line: usize| &shown["program"]["lines"][line]["bindings"];
        assert_eq!(wrote(0)[0]["name"], "draft", "{form}");
        assert_eq!(*wrote(1), serde_json::json!([]), "{form}");

        // The second value replaces the first, which becomes history.
        let third = go("10:02:00", "begin 2", "");
        go(
            "10:02:10",
            &format!("put draft --into {third} --not-done"),
            "two",
        );
        go("10:02:20", &format!("end {third}"), "");
        let trace = project.done("11:00:00", "trace r", "");
        let first = line(&trace, "Write");
        assert!(
            first.contains("→ draft (overwritten later)"),
            "{form}: {trace}"
        );
        assert_eq!(trace.matches('→').count(), 2, "{form}: {trace}");
    }
}

/// A frame in a loop is shown as part of the frame around the loop, in every form of run.
#[test]
fn a_converted_run_names_the_same_frames_around_its_values() {
    if needs::faketime().is_none() {
        return;
    }
    let program = "block outer():\n  loop (max: 2):\n    do inner()\nblock inner():\n  let x = session \"Find\"\ndo outer()\n";
    let project = Project::new(program);
    project.done("10:00:00", "init p.prose --id r --state filesystem", "");
    let go = |args: &str, input: &str| {
        first_line(&project.done("10:00:00", &format!("{args} --run r"), input))
    };
    let outer = go("begin 6", "");
    let of_loop = go(&format!("begin 2 --parent {outer}"), "");
    let inner = go(&format!("begin 3 --parent {of_loop}"), "");
    let x = go(&format!("begin 5 --parent {inner}"), "");
    go(&format!("put x --into {x} --not-done"), "found");
    let file = |run: &str| {
        let path = format!(".prose/runs/{run}/bindings/x__{inner}.md");
        fs::read_to_string(project.path(&path)).expect("a binding")
    };
    assert!(file("r").contains(&format!("parent_execution_id: {outer}\n")));
    for (run, to) in [("r", "sqlite"), ("r-sqlite", "filesystem")] {
        let said = project.done("11:00:00", &format!("convert {run} --to {to}"), "");
        assert!(said.contains("the copy is complete"), "{said}");
    }
    assert_eq!(file("r-sqlite-filesystem"), file("r"));
}

/// `sqlite3 state.db "select 1"` creates an empty database in the folder of a run in files. Commands ignore such a
/// database.
#[test]
fn an_empty_database_beside_a_run_in_files_is_ignored() {
    if needs::faketime().is_none() {
        return;
    }
    for begun in [false, true] {
        let project = Project::new("let x = session \"Find\"\n");
        project.done("10:00:00", "init p.prose --id r --state filesystem", "");
        let go = |args: &str, input: &str| {
            first_line(&project.done("10:00:00", &format!("{args} --run r"), input))
        };
        if begun {
            go("begin 1", "");
        }
        fs::write(project.path(".prose/runs/r/state.db"), "").expect("written");
        let id = if begun {
            "1".to_owned()
        } else {
            go("begin 1", "")
        };
        go(&format!("put x --into {id} --not-done"), "found");
        go(&format!("end {id}"), "");
        assert_eq!(project.done("10:00:01", "get x --run r", ""), "found");
        let said = project.done("10:00:01", "check r", "");
        assert!(said.contains("stray-database"), "{said}");
        let said = project.done("10:00:01", "convert r --to sqlite", "");
        assert!(
            said.contains("state.db: not copied: this database has no table"),
            "{said}"
        );
        assert_eq!(
            project.done("10:00:02", "get x --run r-sqlite", ""),
            "found"
        );
    }
}

/// An empty database without other files of a run is an error, because the whole run may have been in this database.
#[test]
fn an_empty_database_alone_is_an_error_and_not_an_empty_run() {
    if needs::faketime().is_none() {
        return;
    }
    let project = Project::new("let x = session \"Find\"\n");
    project.done("10:00:00", "init p.prose --id r --state sqlite", "");
    fs::write(project.path(".prose/runs/r/state.db"), "").expect("written");
    for args in [
        "show r",
        "trace r",
        "get x --run r",
        "bindings r",
        "gates r",
        "audit verify r",
        "resume r --prompt",
        "check r",
        "convert r --to filesystem",
        "put x --run r",
        "begin 1 --run r",
        "agent memory get a --run r",
    ] {
        let (said, error) = project.run(5, "10:00:01", args, "");
        assert!(
            said.is_empty() && error.contains("state.db"),
            "{args}: {said}{error}"
        );
    }
    let (said, _) = project.run(1, "10:00:01", "runs", "");
    assert!(said.contains("unreadable"), "{said}");
    // The status of this run is unknown, so a list of running runs must say that it may lack a run.
    let (said, _) = project.run(1, "10:00:01", "runs --status running", "");
    assert!(
        said.contains("1 run could not be read and is left out"),
        "{said}"
    );
}

/// The index of a run folder (index.md) lacks a value from its `put` until its statement ends. `check` does not
/// report such a value.
#[test]
fn check_is_silent_about_what_prose_itself_has_just_written() {
    if needs::faketime().is_none() {
        return;
    }
    let program = "input topic: \"What\"\nblock work():\n  let r = session \"Work\"\nlet x = session \"Find\"\nsession \"Unnamed\"\nparallel:\n  a = session \"A\"\nloop (max: 2):\n  draft = session \"Draft\"\ndo work()\n";
    for form in FORMS {
        let project = Project::new(program);
        project.done(
            "10:00:00",
            &format!("init p.prose --id r --state {form}"),
            "",
        );
        let go = |args: &str, input: &str| {
            first_line(&project.done("10:00:01", &format!("{args} --run r"), input))
        };
        let silent = |when: &str| {
            let said = project.done("10:00:02", "check r --deny warnings", "");
            assert!(!said.contains("warning"), "{form}, {when}: {said}");
        };
        let put = |name: &str, execution: &str| {
            go(&format!("put {name} --into {execution} --not-done"), "v");
            silent(&format!("put {name}"));
        };
        go("put topic", "t");
        silent("an input before anything began");
        let x = go("begin 4", "");
        put("x", &x);
        put("more", &x);
        go(
            &format!("put more --into {x} --kind output --not-done"),
            "v",
        );
        silent("the same with another kind");
        go(&format!("end {x}"), "");
        let unnamed = go("begin 5", "");
        put("--anon", &unnamed);
        go(&format!("end {unnamed}"), "");
        let parallel = go("begin 6", "");
        // The branch began with its parallel, under the next number.
        let branch = (parallel.parse::<i64>().expect("a number") + 1).to_string();
        put("a", &branch);
        go(&format!("end {branch}"), "");
        go(&format!("end {parallel}"), "");
        let of_loop = go("begin 8", "");
        let draft = go(&format!("begin 9 --parent {of_loop}"), "");
        put("draft", &draft);
        go(&format!("end {draft}"), "");
        go(&format!("end {of_loop}"), "");
        let frame = go("begin 10", "");
        put("r", &go(&format!("begin 3 --parent {frame}"), ""));
    }
}

/// `check` still reports a value that another program wrote, and every value that the index of a finished run lacks.
#[test]
fn check_reports_values_that_the_index_will_never_name() {
    if needs::faketime().is_none() {
        return;
    }
    let project = Project::new("let x = session \"Find\"\n");
    project.done("10:00:00", "init p.prose --id r --state filesystem", "");
    let file = project.path(".prose/runs/r/bindings/other.md");
    let written = |updated: &str| {
        fs::write(&file, format!("# other\n\nkind: let\n{updated}\n---\n\nv")).expect("written");
    };
    let told = || project.run(0, "10:00:01", "check r", "").0;
    fs::create_dir_all(project.path(".prose/runs/r/bindings")).expect("made");
    written("");
    assert!(told().contains("binding-not-indexed"), "{}", told());
    fs::remove_file(&file).expect("removed");
    project.done("10:00:01", "finish --run r", "");
    written("updated: 2026-01-15T10:00:00Z\n");
    assert!(told().contains("binding-not-indexed"), "{}", told());
}

/// An agent of the project or of the user has one memory, shared by runs in a database and runs in files.
#[test]
fn runs_of_both_forms_share_the_memory_of_an_agent() {
    if needs::faketime().is_none() {
        return;
    }
    for scope in ["project", "user"] {
        for (first, second) in [("filesystem", "sqlite"), ("sqlite", "filesystem")] {
            let program =
                format!("agent captain:\n  persist: {scope}\nresume: captain\n  prompt: \"On\"\n");
            let project = Project::new(&program);
            project.done(
                "10:00:00",
                &format!("init p.prose --id a --state {first}"),
                "",
            );
            project.done(
                "10:00:00",
                &format!("init p.prose --id b --state {second}"),
                "",
            );
            let go = |run: &str, args: &str, input: &str| {
                let (said, note) =
                    project.run(0, "10:00:01", &format!("agent {args} --run {run}"), input);
                assert_eq!(note, "", "{scope}, {first}: {args}");
                said
            };
            go("a", "memory set captain", "one");
            assert_eq!(go("b", "memory get captain", ""), "one");
            go("b", "segment add captain --prompt Ask", "did");
            go("b", "memory set captain", "two");
            assert_eq!(go("a", "memory get captain", ""), "two");
            for run in ["a", "b"] {
                let agents = project.done("10:00:02", &format!("agents {run} --json"), "");
                let agents: serde_json::Value = serde_json::from_str(&agents).expect("JSON");
                let agents = agents["agents"].as_array().expect("agents");
                assert_eq!(agents.len(), 1, "{scope}, {first}: {agents:?}");
                assert_eq!(agents[0]["segments"][0]["number"], 1);
                assert_eq!(agents[0]["memory_preview"], "two");
                let resume = project.done("10:00:02", &format!("resume {run} --json"), "");
                let resume: serde_json::Value = serde_json::from_str(&resume).expect("JSON");
                assert_eq!(resume["memories"][0]["state"], "there", "{resume:#}");
            }
        }
    }
}

/// If an agent already has a memory in both stores, each run uses the store of its own form, and prints a note about
/// the other store.
#[test]
fn of_two_memories_a_run_uses_the_one_of_its_form_and_says_that_there_is_another() {
    if needs::faketime().is_none() {
        return;
    }
    let project =
        Project::new("agent captain:\n  persist: project\nresume: captain\n  prompt: \"On\"\n");
    project.done("10:00:00", "init p.prose --id a --state filesystem", "");
    project.done("10:00:00", "init p.prose --id b --state sqlite", "");
    for (path, memory) in [(".prose", "in files"), (".prose/agents.db", "in rows")] {
        project.done(
            "10:00:00",
            &format!("agent memory set captain --path {path}"),
            memory,
        );
    }
    for (run, memory, other) in [
        ("a", "in files", ".prose/agents.db"),
        ("b", "in rows", ".prose/agents/captain"),
    ] {
        let (said, note) = project.run(
            0,
            "10:00:01",
            &format!("agent memory get captain --run {run}"),
            "",
        );
        assert_eq!(said, memory);
        assert!(
            note.contains(&format!("another memory in {other}, and")),
            "{note}"
        );
        let args = format!("agent segment add captain --prompt Ask --run {run}");
        let (_, note) = project.run(0, "10:00:01", &args, "did");
        assert!(note.contains("another memory"), "{note}");
        let agents = project.done("10:00:01", &format!("agents {run} --json"), "");
        let agents: serde_json::Value = serde_json::from_str(&agents).expect("JSON");
        let told = |at: usize| {
            let agent = &agents["agents"][at];
            (agent["memory_preview"].clone(), agent["shadowed"].clone())
        };
        assert_eq!(told(0), (memory.into(), false.into()), "{agents:#}");
        assert_eq!(told(1).1, true, "{agents:#}");
        let check = project.done("10:00:01", &format!("check {run}"), "");
        assert!(check.contains("agent-in-two-stores"), "{check}");
    }
}

#[test]
fn a_statement_that_is_tried_again_shows_why_its_last_attempt_failed() {
    if needs::faketime().is_none() {
        return;
    }
    for form in FORMS {
        let project = Project::new("let x = session \"Find\"\n  retry: 3\n");
        project.done(
            "10:00:00",
            &format!("init p.prose --id r --state {form}"),
            "",
        );
        let go = |args: &str| project.done("10:00:01", &format!("{args} --run r"), "");
        let x = first_line(&go("begin 1"));
        for (attempt, error) in [(2, "lost"), (3, "refused")] {
            go(&format!("fail {x} {error}"));
            go(&format!("retry {x}"));
            let shown = project.done("10:00:02", "show r", "");
            let (_, positions) = shown.split_once("Where it stands").expect("a position");
            assert!(positions.contains(error), "{form}: {shown}");
            let resume = project.done("10:00:02", "resume r", "");
            let (_, positions) = resume.split_once("Where it stands").expect("a position");
            assert!(positions.contains(error), "{form}: {resume}");
            let shown = project.done("10:00:02", "show r --json", "");
            let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
            let position = &shown["overview"]["positions"][0];
            assert_eq!(position["error"], error, "{form}: attempt {attempt}");
        }
    }
}

/// The records in a copied folder contain the id of the original run. So the copy is named after its folder, and
/// commands accept that name.
#[test]
fn a_copy_of_a_run_goes_by_the_name_of_its_folder() {
    if needs::faketime().is_none() {
        return;
    }
    let program = "approve pub:\n  prompt: \"ok?\"\nlet x = session \"Find\"\n";
    for form in FORMS {
        let project = Project::new(program);
        project.done(
            "10:00:00",
            &format!("init p.prose --id r --state {form}"),
            "",
        );
        project.done(
            "10:00:00",
            "gate create pub --line 1 --prompt ok? --run r",
            "",
        );
        let (from, to) = (
            project.path(".prose/runs/r"),
            project.path(".prose/runs/copy"),
        );
        copy(&from, &to);
        let runs = project.done("10:00:01", "runs", "");
        assert!(
            runs.contains(" copy (r) ") && runs.contains(" r "),
            "{form}: {runs}"
        );
        let list = project.done("10:00:01", "runs --json", "");
        let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
        let mut names: Vec<&str> = list["runs"]
            .as_array()
            .expect("runs")
            .iter()
            .filter_map(|run| run["name"].as_str())
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["copy", "r"], "{form}");
        // The command that `gates` prints for the copy decides the gate of the copy, not of the original run.
        let gates = project.done("10:00:01", "gates copy --json", "");
        let gates: serde_json::Value = serde_json::from_str(&gates).expect("JSON");
        let approve = gates[0]["approve_command"].as_str().expect("a command");
        let approve = approve
            .strip_prefix("prosescope ")
            .expect("ours")
            .replace("NAME", "user");
        project.done("10:00:02", &approve, "");
        let status = |run: &str| {
            let gates = project.done("10:00:03", &format!("gates {run} --all --json"), "");
            let gates: serde_json::Value = serde_json::from_str(&gates).expect("JSON");
            gates[0]["status"].to_string()
        };
        let (copied, first) = (status("copy"), status("r"));
        assert_eq!(
            (&*copied, &*first),
            ("\"approved\"", "\"pending\""),
            "{form}"
        );
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("listed").flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            let _ = fs::copy(&path, &to).expect("copied");
        }
    }
}

/// Returns a project with a run whose second statement took longest and whose third failed, and the run's id.
fn three() -> (Project, String) {
    let project = Project::new("session \"a\"\nsession \"b\"\nsession \"c\"\n");
    let run = project.done("10:00:00", "init p.prose", "");
    for (number, status, from, to) in [
        (1, "completed", "10:00:00", "10:00:02"),
        (2, "completed", "10:00:02", "10:05:02"),
        (3, "failed", "10:05:02", "10:05:32"),
    ] {
        let id = first_line(&project.done(from, &format!("begin {number}"), ""));
        let end = match status {
            "failed" => format!("fail {id} limit"),
            _ => format!("end {id}"),
        };
        project.done(to, &end, "");
    }
    (project, run)
}

#[test]
fn the_trace_is_sorted_chosen_and_drawn_in_time() {
    if needs::faketime().is_none() {
        return;
    }
    let (project, _) = three();
    let rows = |args: &str| -> Vec<String> {
        let said = project.done("11:00:00", &format!("trace --json {args}"), "");
        let page: serde_json::Value = serde_json::from_str(&said).expect("JSON");
        let rows = page["rows"].as_array().expect("rows").iter();
        rows.map(|row| {
            row["text"]
                .as_str()
                .unwrap_or_default()
                .replace("session ", "")
        })
        .collect()
    };
    assert_eq!(rows("--sort longest"), ["\"b\"", "\"c\"", "\"a\""]);
    assert_eq!(rows("--sort problems --limit 1"), ["\"c\""]);
    assert_eq!(rows("--status failed"), ["\"c\""]);
    assert_eq!(rows("--at-least 30s --kind statement"), ["\"b\"", "\"c\""]);
    let said = project.done("11:00:00", "trace --text nowhere", "");
    assert_eq!(said, "no row matches (of 3)");
    let (_, errors) = project.run(2, "11:00:00", "trace --at-least 1.5h", "");
    assert!(
        errors.contains("--at-least 1.5h is not a duration"),
        "{errors}"
    );
    let drawn = project.done("11:00:00", "trace --timeline", "");
    let bar = |part: &str| line(&drawn, part).matches('━').count();
    assert!(bar("\"b\"") > 5 * bar("\"c\""), "{drawn}");
    assert!(line(&drawn, "10:00:00").contains("5m 32s"), "{drawn}");
}
