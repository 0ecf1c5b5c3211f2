//! Tests of the recording commands, one command at a time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use prosescope_test_support::run;
use prosescope_test_support::{clock, needs};

const FORMS: [&str; 2] = ["filesystem", "sqlite"];

/// A folder with a program and a home folder in it, where tests run `prosescope`.
struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new() -> Project {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("home")).expect("made");
        fs::write(dir.path().join("p.prose"), "let a = session \"Find\"\n").expect("written");
        Project { dir }
    }

    fn path(&self, at: &str) -> PathBuf {
        self.dir.path().join(at)
    }

    /// Runs `prosescope` in the project, and expects this exit code. Returns all output.
    #[track_caller]
    fn prose(&self, code: i32, args: &[&str]) -> String {
        self.prose_in(self.dir.path(), code, args)
    }

    #[track_caller]
    fn prose_in(&self, at: &Path, code: i32, args: &[&str]) -> String {
        run::said(code, self.command(args).current_dir(at))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
        command.args(args).env("HOME", self.path("home"));
        command.current_dir(self.dir.path());
        command
    }

    /// Copies an example run into the project.
    fn copy_example(&self, run: &str) {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/.prose/runs");
        let to = self.path(".prose/runs").join(run);
        prosescope_test_support::files::copy(&examples.join(run), &to);
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> serde_json::Value {
        let said = self.fed(&[args, &["--json"]].concat(), b"");
        serde_json::from_slice(&said).expect("JSON")
    }

    /// Runs `prosescope` with this standard input. Returns its standard output.
    #[track_caller]
    fn fed(&self, args: &[&str], input: &[u8]) -> Vec<u8> {
        let out = run::fed(&mut self.command(args), input);
        assert!(out.status.success(), "{args:?}");
        out.stdout
    }

    fn init(&self, id: &str, form: &str) {
        self.prose(0, &["init", "p.prose", "--id", id, "--state", form]);
    }
}

/// Returns the files below a folder with their bytes, without lock files.
fn files(at: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(at).expect("listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.push((path.clone(), Vec::new()));
            found.extend(files(&path));
        } else if entry.file_name() != ".lock" {
            found.push((path.clone(), fs::read(&path).expect("read")));
        }
    }
    found.sort();
    found
}

/// `~/.prose` contains the user's agents. Only commands in the home folder itself treat `~/.prose` as the folder of a
/// project.
#[test]
fn the_users_own_folder_is_no_project() {
    let project = Project::new();
    let home = project.path("home");
    let work = home.join("work/deep");
    fs::create_dir_all(&work).expect("made");
    fs::create_dir_all(home.join(".prose/runs/old")).expect("made");
    fs::copy(
        project.path("p.prose"),
        home.join(".prose/runs/old/program.prose"),
    )
    .expect("copied");
    for file in [home.join("p.prose"), work.join("p.prose")] {
        fs::copy(project.path("p.prose"), file).expect("copied");
    }
    let said = project.prose_in(&work, 3, &["runs"]);
    assert!(said.contains("home directory"), "{said}");
    let said = project.prose_in(&work, 3, &["put", "a", "--file", "p.prose", "--run", "old"]);
    assert!(said.contains("no .prose folder"), "{said}");
    project.prose_in(&work, 0, &["init", "p.prose", "--id", "new"]);
    assert!(work.join(".prose/runs/new").is_dir());
    assert!(!home.join(".prose/runs/new").exists());
    // In a project, the user's agent is still read from the home folder.
    let args = [
        "agent", "memory", "get", "cap", "--scope", "user", "--run", "new",
    ];
    fs::create_dir_all(home.join(".prose/agents/cap")).expect("made");
    fs::write(home.join(".prose/agents/cap/memory.md"), "mine\n").expect("written");
    assert_eq!(project.prose_in(&work, 0, &args), "mine\n");
    // A command in the home folder itself records a run there.
    project.prose_in(&home, 0, &["init", "p.prose", "--id", "own"]);
    assert!(home.join(".prose/runs/own").is_dir());
    assert!(project.prose_in(&home, 0, &["runs"]).contains("old"));
}

#[test]
fn a_finished_run_is_made_small_as_often_as_one_wants() {
    for form in FORMS {
        let project = Project::new();
        project.init("r", form);
        // `finish --vacuum` does not guess how the run ended.
        let said = project.prose(2, &["finish", "--run", "r", "--vacuum"]);
        assert!(said.contains("how does it end?"), "{said}");
        project.prose(0, &["finish", "--run", "r"]);
        let ended = files(&project.path(".prose/runs/r"));
        for args in [
            &["finish", "--run", "r", "--vacuum"][..],
            &["finish", "completed", "--run", "r", "--vacuum"],
            &["finish", "--vacuum", "--run", "r"],
        ] {
            assert!(project.prose(0, args).contains("completed"), "{form}");
            if form == "filesystem" {
                assert_eq!(files(&project.path(".prose/runs/r")), ended);
            }
        }
        for args in [
            &["finish", "failed", "--run", "r", "--vacuum"][..],
            &["finish", "--run", "r"],
        ] {
            project.prose(4, args);
        }
        assert!(
            project.prose(0, &["show", "r"]).contains("Completed"),
            "{form}"
        );
    }
}

#[test]
fn a_handle_is_of_one_source() {
    for form in FORMS {
        let project = Project::new();
        project.init("r", form);
        let add = |code: i32, source: &str| {
            let statement = format!("use \"{source}\" as r");
            let args = ["begin", "--text", &statement, "--program", "p.prose"];
            project.prose(code, &[&args[..], &["--run", "r"]].concat())
        };
        add(0, "https://p.prose.md/@alice/research");
        let before = files(&project.path(".prose/runs/r"));
        // A handle that is taken cannot be used for another program, nor for a program of that name by another author.
        for other in ["@bob/survey", "@bob/research"] {
            let said = add(4, &format!("https://p.prose.md/{other}"));
            assert!(
                said.contains("research") && said.contains("another handle"),
                "{form}: {said}"
            );
        }
        assert_eq!(files(&project.path(".prose/runs/r")), before, "{form}");
        // Repeating the command for the same import is not an error.
        add(0, "https://p.prose.md/@alice/research");
    }
}

#[test]
fn the_program_of_an_import_is_kept_in_both_forms() {
    for form in FORMS {
        let project = Project::new();
        project.init("r", form);
        let sub = "let deep = session \"Only in the import\"\n";
        fs::write(project.path("sub.prose"), sub).expect("written");
        let statement = "use \"./lib/research.prose\" as r";
        let args = ["begin", "--text", statement, "--program", "sub.prose"];
        project.prose(0, &[&args[..], &["--run", "r"]].concat());
        let kept = project.path(".prose/runs/r/imports/r--research/program.prose");
        assert_eq!(fs::read_to_string(kept).expect("kept"), sub, "{form}");
        // Commands open the nested run like any run, and the JSON of the outer run contains its path.
        let said = project.prose(0, &["state", "r/r--research"]);
        assert!(said.contains("Only in the import"), "{form}: {said}");
        let said = project.prose(0, &["show", "r", "--json"]);
        assert!(said.contains("imports/r--research"), "{form}: {said}");
        let said = project.prose(0, &["check", "r"]);
        assert!(!said.contains("import-"), "{form}: {said}");
    }
}

/// Names of Windows devices are rejected as names of files, because such files cannot be copied to Windows.
#[test]
fn no_file_is_called_as_windows_devices_are() {
    let project = Project::new();
    for id in ["con", "NUL", "Com1", "lpt9.x", "run."] {
        project.prose(2, &["init", "p.prose", "--id", id]);
    }
    assert!(!project.path(".prose/runs").exists());
    for form in FORMS {
        project.init(form, form);
        let before = files(&project.path(".prose/runs"));
        // In a database, a name is only a value in a row, so it is allowed.
        let code = if form == "sqlite" { 0 } else { 2 };
        for args in [
            &["put", "aux", "--file", "p.prose"][..],
            &["gate", "create", "nul", "--prompt", "Go?"],
        ] {
            let said = project.prose(code, &[args, &["--run", form]].concat());
            assert!(code == 0 || said.contains("Windows"), "{form}: {said}");
        }
        assert_eq!(files(&project.path(".prose/runs")) == before, code == 2);
        // A handle must not contain two dashes. In the name of a nested run, such as `handle--slug`, two dashes end
        // the handle.
        let statement = "use \"https://p.prose.md/@a/aux\" as con";
        project.prose(0, &["begin", "--text", statement, "--run", form]);
    }
}

/// Runs `prosescope init` eight times at the same moment. Returns the exit codes and the outputs.
fn at_once(project: &Project, args: &[&str]) -> Vec<(Option<i32>, String)> {
    let running: Vec<_> = (0..8)
        .map(|_| {
            Command::new(env!("CARGO_BIN_EXE_prosescope"))
                .args(["init", "p.prose"])
                .args(args)
                .current_dir(project.dir.path())
                .env("HOME", project.path("home"))
                .envs(clock::at("2026-01-15T14:30:52Z"))
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .expect("it starts")
        })
        .collect();
    running
        .into_iter()
        .map(|one| {
            let out = one.wait_with_output().expect("it ends");
            let said = String::from_utf8_lossy(&out.stdout).trim().to_owned();
            (out.status.code(), said)
        })
        .collect()
}

#[test]
fn runs_that_begin_at_once_are_runs_of_their_own() {
    if needs::faketime().is_none() {
        return;
    }
    for form in FORMS {
        let project = Project::new();
        let done = at_once(&project, &["--state", form]);
        let ids: std::collections::BTreeSet<&str> =
            done.iter().map(|(_, id)| id.as_str()).collect();
        assert_eq!(ids.len(), 8, "{done:?}");
        for id in ids {
            assert!(project.path(".prose/runs").join(id).is_dir(), "{id}");
        }
        // Eight commands with the same id create one run: one command succeeds, and the others are refused.
        let done = at_once(&project, &["--state", form, "--id", "one"]);
        let mut codes: Vec<i32> = done.iter().filter_map(|(code, _)| *code).collect();
        codes.sort_unstable();
        assert_eq!(codes, [0, 4, 4, 4, 4, 4, 4, 4]);
        project.prose(0, &["show", "one"]);
    }
}

#[test]
fn a_program_that_is_too_long_begins_no_run() {
    let project = Project::new();
    let long = fs::File::create(project.path("long.prose")).expect("made");
    long.set_len((8 << 20) + 1).expect("long");
    let said = project.prose(2, &["init", "long.prose"]);
    assert!(said.contains("8388609 bytes"), "{said}");
    assert!(!project.path(".prose").exists());
}

/// A value that an import returns can be read under the import's handle, and under the name that the calling
/// statement binds. Its kind in the import's run does not matter: without a copy of the import's program, no file
/// marks the binding as `output`.
#[test]
fn a_dotted_name_gets_the_binding_of_an_import() {
    for form in FORMS {
        for copy in [true, false] {
            let project = Project::new();
            let program = "use \"./sub.prose\" as research\nlet report = research(topic: \"x\")\n";
            fs::write(project.path("p.prose"), program).expect("written");
            fs::write(project.path("sub.prose"), "let found = session \"Find\"\n")
                .expect("written");
            fs::write(project.path("value"), "the finding").expect("written");
            project.init("r", form);
            let mut add = vec!["begin", "1", "--run", "r"];
            if copy {
                add.extend(["--program", "sub.prose"]);
            }
            project.prose(0, &add);
            // Without a copy of the import's program, a run in a database has no nested run, so the value is put in the
            // run itself.
            let (name, run) = match (form, copy) {
                ("sqlite", false) => ("research.found", "r"),
                _ => ("found", "r/research"),
            };
            project.prose(0, &["put", name, "--file", "value", "--run", run]);
            for name in ["research.found", "report.found"] {
                assert_eq!(
                    project.prose(0, &["get", name, "--run", "r"]),
                    "the finding",
                    "{form} {copy}"
                );
                let why = project.prose(0, &["get", name, "--run", "r", "--explain"]);
                assert!(why.contains("the finding"), "{why}");
                let json = project.prose(0, &["get", name, "--run", "r", "--json"]);
                let view: serde_json::Value = serde_json::from_str(&json).expect("JSON");
                assert_eq!(view["text"], "the finding");
            }
            let said = project.prose(3, &["get", "research.nothing", "--run", "r"]);
            let own = "`prosescope bindings RUN/research` lists the bindings of the import's run";
            assert_eq!(said.contains(own), run != "r", "{said}");
            if run != "r" {
                for name in ["found", "research.found"] {
                    assert_eq!(
                        project.prose(0, &["get", name, "--run", run]),
                        "the finding"
                    );
                }
            }
        }
    }
}

/// A segment is printed completely, although lists show only its beginning, and also for an agent without a memory.
#[test]
fn a_segment_is_read_back_byte_for_byte() {
    let long = format!(
        "## Summary\n\n{}\nThe end: it's \u{1f600} \"quoted\"",
        "A line.\n".repeat(40_000)
    );
    for form in FORMS {
        let project = Project::new();
        project.init("r", form);
        for place in [
            &[][..],
            &["--scope", "project"],
            &["--scope", "user"],
            &["--path", "mine.db"],
            &["--path", "mine"],
        ] {
            let base = ["agent", "segment", "add", "mate", "--run", "r"];
            let add = |prompt: &str, summary: &str| {
                let prompt = ["--prompt", prompt];
                project.fed(&[&base[..], place, &prompt].concat(), summary.as_bytes());
            };
            let get = |number: &[&str], more: &[&str]| {
                let base = ["agent", "segment", "get", "mate"];
                let run = ["--run", "r"];
                project.fed(&[&base[..], number, &run, place, more].concat(), b"")
            };
            add("Look", "seen");
            add("Look\nagain", &long);
            let last = format!("Look\nagain\n\n{long}");
            for (number, text) in [
                (&[][..], &*last),
                (&["2"], &*last),
                (&["1"], "Look\n\nseen"),
            ] {
                assert!(
                    get(number, &[]) == text.as_bytes(),
                    "{form} {place:?} {number:?}"
                );
            }
            let view: serde_json::Value =
                serde_json::from_slice(&get(&["2"], &["--json"])).expect("JSON");
            assert_eq!(
                (&view["agent"], &view["segment"]),
                (&"mate".into(), &2.into())
            );
            assert_eq!(
                (view["prompt"].as_str(), view["summary"].as_str()),
                (Some("Look\nagain"), Some(&*long))
            );
            assert!(view["timestamp"].is_string(), "{form} {place:?}");
            let base = ["agent", "segment", "get"];
            let said = project.prose(
                3,
                &[&base[..], &["mate", "7", "--run", "r"], place].concat(),
            );
            assert!(
                said.contains("no segment 7") && said.contains("the last segment is 2"),
                "{said}"
            );
            let said = project.prose(3, &[&base[..], &["maet", "--run", "r"], place].concat());
            assert!(
                said.contains("no segments") && said.contains("did you mean mate?"),
                "{said}"
            );
        }
    }
}

/// A loop, a gate or a nested statement of a branch is recorded in that branch. Recording it in another branch is
/// refused.
#[test]
fn what_a_branch_holds_runs_in_that_branch() {
    let project = Project::new();
    let program = "parallel:\n  loop (max: 2):\n    session \"X\"\n  approve go:\n    prompt: \"Go?\"\n  try:\n    session \"T\"\n";
    fs::write(project.path("p.prose"), program).expect("written");
    for form in FORMS {
        project.prose(0, &["init", "p.prose", "--state", form, "--id", form]);
        // Execution 1 is the parallel block; 2, 3 and 4 are its branches.
        project.prose(0, &["begin", "1", "--run", form]);
        for (words, parent) in [
            ("begin 2", 2),
            ("begin 3", 5),
            ("gate create --line 4", 3),
            ("begin 7", 4),
        ] {
            let args: Vec<&str> = words.split(' ').collect();
            let elsewhere = if parent == 3 { "2" } else { "3" };
            for wrong in ["1", elsewhere] {
                let args = [&args[..], &["--run", form, "--parent", wrong]].concat();
                let said = project.prose(4, &args);
                assert!(said.contains("leave --parent out"), "{said}");
            }
            let begun = project.json(&[&args[..], &["--run", form]].concat());
            let own = begun.get("id").or(begun.get("execution_id"));
            let trace = project.json(&["trace", form]);
            let rows = trace["rows"].as_array().expect("rows");
            let at = rows.iter().position(|row| Some(&row["id"]) == own);
            let (before, rest) = rows.split_at(at.expect("it is in the trace"));
            let level = |row: &serde_json::Value| row["level"].as_u64();
            // A round has no execution number, so the nearest row above with a number counts as the parent.
            let above = before
                .iter()
                .rfind(|row| !row["id"].is_null() && level(row) < level(&rest[0]));
            assert_eq!(above.expect("a parent")["id"], parent, "{words}: {trace:#}");
        }
    }
}

/// Returns a project with a copy of this example run, which is opened again for recording.
fn taken_up(run: &str) -> Project {
    let project = Project::new();
    project.copy_example(run);
    project.prose(0, &["resume", run, "--begin"]);
    project
}

/// In this run, an execution has one row, which is updated in place. So each call around a failure begins again under
/// its own number.
#[test]
fn the_calls_around_a_failure_begin_again_one_after_the_other() {
    let run = "20260118-201530-z4t9wa";
    let project = taken_up(run);
    for execution in ["2", "6", "12", "16", "19", "22"] {
        let next = project.prose(0, &["next", "--run", run]);
        let retry = format!("prosescope retry {execution}");
        assert!(next.starts_with(&retry), "{execution}: {next}");
        project.prose(0, &["retry", execution, "--run", run]);
    }
    // The program allows no attempt beyond the third, so the failure passes to the enclosing call.
    let next = project.prose(0, &["next", "--run", run]);
    assert!(next.starts_with("prosescope fail 22 TEXT"), "{next}");
    assert!(next.contains("execution 26 failed 3 of 3 times"), "{next}");
    assert!(!next.contains("retry"), "{next}");
}

/// What a construct lacks is said at the command that ends it, when the work can still be recorded.
#[test]
fn a_construct_that_ends_without_its_work_is_noted() {
    let program = "repeat 2:\n  session \"x\"\nif **a**:\n  session \"y\"\nsession \"z\"\n";
    for form in FORMS {
        let project = Project::new();
        fs::write(project.path("p.prose"), program).expect("written");
        let run = project.prose(0, &["init", "p.prose", "--state", form]);
        let prose = |args: &[&str]| project.prose(0, &[args, &["--run", run.trim()]].concat());
        prose(&["begin", "1"]);
        prose(&["begin", "2"]);
        prose(&["end"]);
        let left = prose(&["end", "1"]);
        assert!(
            left.contains(
                "execution 1 ended, but the program counts 2 rounds, and the record has 1"
            ),
            "{left}"
        );
        prose(&["begin", "3"]);
        let last = prose(&["end"]);
        assert!(last.contains("nothing is recorded of its body"), "{last}");
    }
}

#[test]
fn a_program_is_checked_by_its_file_and_when_a_run_begins() {
    let project = Project::new();
    fs::write(project.path("bad.prose"), "repeat -5:\n  session \"A\"\n").expect("written");
    let said = project.prose(1, &["check", "bad.prose"]);
    assert!(said.contains("bad.prose, line 1"), "{said}");
    assert!(said.contains("negative number of times"), "{said}");
    let begun = project.prose(0, &["init", "bad.prose"]);
    assert!(begun.contains("line 1: a loop cannot repeat"), "{begun}");
    let well = project.prose(0, &["check", "p.prose"]);
    assert_eq!(well, "p.prose\n✓ nothing found\n");
}

#[test]
fn the_program_is_listed_with_line_numbers_and_results() {
    for form in FORMS {
        let project = Project::new();
        fs::write(project.path("p.prose"), "session \"A\"\nsession \"B\"\n").expect("written");
        let run = project.prose(0, &["init", "p.prose", "--state", form]);
        project.prose(0, &["begin", "1", "--run", run.trim()]);
        let listed = project.prose(0, &["program", run.trim()]);
        let lines = "1 ● session \"A\"  ← executing\n2 · session \"B\"  ← not reached\n";
        assert_eq!(listed, lines);
    }
}

#[test]
fn a_name_that_means_no_run_names_the_only_one() {
    let project = Project::new();
    let run = project.prose(0, &["init", "p.prose"]);
    let said = project.prose(3, &["show", "nothing"]);
    let hint = format!("the only run is {}", run.trim());
    assert!(said.contains(&hint), "{said}");
}

/// A run whose state file was written by hand gets rows when it is reopened. Each execution has a number of its own,
/// also in frames that keep their recorded numbers.
#[test]
fn a_run_that_a_model_wrote_by_hand_goes_on_in_its_innermost_call() {
    let run = "20260115-083214-h5n2ye";
    let project = Project::new();
    project.copy_example(run);
    let state = project.path(".prose/runs").join(run).join("state.md");
    let text = fs::read_to_string(&state).expect("read");
    fs::write(
        &state,
        text.replace("status: interrupted", "status: running"),
    )
    .expect("written");
    // Before a command records the run, its executions have no rows, but the numbers that `next` prints are known.
    let next = project.prose(0, &["next", run]);
    let open = next.split_once("--into ").expect("an execution").1;
    let open = open.split(' ').next().expect("a number");
    let node = project.prose(0, &["trace", run, "--node", open]);
    assert!(node.contains("let cost = session: engineer"), "{node}");
    let brief = project.prose(0, &["brief", open, "--run", run]);
    assert!(brief.contains("put cost"), "{brief}");
    let begun = project.prose(0, &["resume", run, "--begin"]);
    assert!(!begun.contains("last sign of life"), "{begun}");
    std::fs::write(project.path("value"), "120 kW").expect("written");
    let next = project.prose(0, &["next", run]);
    let open = next.split_once("--into ").expect("an execution").1;
    let open = open.split(' ').next().expect("a number");
    project.prose(
        0,
        &[
            "put", "cost", "--into", open, "--file", "value", "--run", run,
        ],
    );
    let next = project.prose(0, &["next", run]);
    assert!(next.contains("begin 35"), "{next}");
    let trace = project.prose(0, &["trace", run]);
    let frame = trace
        .lines()
        .filter(|line| line.contains("frame 3"))
        .count();
    assert_eq!(frame, 1, "{trace}");
    assert!(!trace.contains("overwritten later"), "{trace}");
}

/// `next` follows the strategy of a parallel block: if the block waits for the first branch, a failed branch does not
/// end the block.
#[test]
fn a_parallel_that_waits_for_the_first_goes_on_after_a_failed_branch() {
    let project = Project::new();
    let program =
        "parallel (\"first\"):\n  a = session \"A\"\n  b = session \"B\"\n  c = session \"C\"\n";
    fs::write(project.path("p.prose"), program).expect("written");
    fs::write(project.path("value"), "yes").expect("written");
    for form in FORMS {
        project.prose(0, &["init", "p.prose", "--state", form, "--id", form]);
        let run = |command: &str| {
            let args: Vec<&str> = command.split(' ').collect();
            project.prose(0, &[&args[..], &["--run", form]].concat())
        };
        // The branches a, b and c are the executions 2, 3 and 4.
        run("begin 1");
        run("fail 2 no");
        let next = run("next");
        assert!(next.starts_with("prosescope put c --into 4"), "{next}");
        assert!(!next.contains("prosescope end"), "{next}");
        // The failure is allowed, so neither page asks to repair it or to repeat the branch.
        for page in [&["show", form][..], &["resume", form]] {
            let shown = project.prose(0, page);
            assert!(!shown.contains("remove the cause"), "{shown}");
            assert!(!shown.contains("retry"), "{shown}");
        }
        run("put b --into 3 --file value");
        let next = run("next");
        assert!(next.starts_with("prosescope end 1"), "{next}");
        assert!(next.contains("put c --into 4"), "{next}");
        run("end 1");
    }
}
