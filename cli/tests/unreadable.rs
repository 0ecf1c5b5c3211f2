//! Tests that an unreadable run is never shown as an empty run. A command that needs an unread part prints the name
//! of the part and what to do. Its exit code is 5 (the data cannot be understood) or 6 (reading failed).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use prosescope_test_support::needs;

const RUN: &str = "20270101-120000-aaaaaa";

/// A program that binds a value in a row and a value in an attachment, and then waits at a gate.
const PROGRAM: &str = "let plan = session \"Plan\"\n\nlet long = session \"Write\"\n\napprove deploy:\n  prompt: \"Publish?\"\n";

/// Commands that need the gates of a run.
const OF_GATES: &[&[&str]] = &[
    &["audit", "verify", RUN],
    &["audit", RUN],
    &["audit", "--all"],
    &["gates", RUN],
    &["gates", RUN, "--pending"],
    &["gates"],
    &["gate", "show", RUN, "deploy"],
];

/// Commands that need the bindings of a run.
const OF_BINDINGS: &[&[&str]] = &[&["bindings", RUN], &["get", "nothing", "--run", RUN]];

/// Commands that need the statements of a run.
const OF_STATEMENTS: &[&[&str]] = &[&["trace", RUN], &["cost", RUN]];

/// Commands that need every part of a run.
const OF_ALL: &[&[&str]] = &[
    &["show", RUN],
    &["diff", RUN, RUN],
    &["state", RUN],
    &["resume", RUN],
    &["resume", RUN, "--prompt"],
];

/// All commands for a run whose database cannot be opened.
const EVERYTHING: &[&[&[&str]]] = &[OF_GATES, OF_BINDINGS, OF_STATEMENTS, OF_ALL];

/// Texts that must not be printed about an unread part.
const EMPTY: &[&str] = &[
    "no gates",
    "no values",
    "no audit row",
    "no statement is recorded",
    "No statement is recorded",
    "no run",
    "no difference\n",
    "empty: ",
    "has no binding",
];

struct Project {
    dir: tempfile::TempDir,
    /// The id of the user that runs the commands; `None` means the user of the test.
    user: Option<u32>,
}

impl Project {
    fn new(form: &str) -> Project {
        let project = Project {
            dir: tempfile::tempdir().expect("a folder"),
            user: None,
        };
        fs::create_dir_all(project.dir.path().join(".prose")).expect("made");
        let file = |name: &str, text: &str| write(&project.dir.path().join(name), text.as_bytes());
        file("p.prose", PROGRAM);
        file("plan", &"What was found".repeat(9));
        file("long", &"x".repeat(200_000));
        for args in [
            &["init", "p.prose", "--id", RUN, "--state", form][..],
            &["begin", "1"],
            &["put", "plan", "--file", "plan"],
            &["put", "long", "--file", "long"],
            &["gate", "create", "--line", "5"],
        ] {
            let out = project.prose(args);
            assert!(out.status.success(), "{args:?}: {out:?}");
        }
        project
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join(".prose/runs").join(RUN)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("HOME", self.dir.path().join("home"))
            .env("USER", "tester")
            .env_remove("PROSE_RUN");
        #[cfg(unix)]
        if let Some(user) = self.user {
            use std::os::unix::process::CommandExt;
            command.uid(user);
        }
        command
    }

    fn prose(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("prosescope runs")
    }

    /// Checks that each command ends with this code, and prints the name of the unread part and what to do next. No
    /// command may print that the part is empty.
    #[track_caller]
    fn check(&self, what: &str, questions: &[&[&[&str]]], named: &str, code: i32) {
        let mut asked = Vec::new();
        for question in questions.iter().copied().flatten() {
            for json in [false, true] {
                if json && question.contains(&"--prompt") {
                    continue;
                }
                let mut args = question.to_vec();
                args.extend(json.then_some("--json"));
                let mut command = self.command(&args);
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
                // The commands run at the same time, because each waits for a lock.
                asked.push((args, json, command.spawn().expect("prosescope runs")));
            }
        }
        for (args, json, child) in asked {
            let out = child.wait_with_output().expect("it ends");
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (said, why) = (text(&out.stdout), text(&out.stderr));
            let told = format!("{what}: prosescope {args:?}\n{said}\n{why}");
            assert_eq!(out.status.code(), Some(code), "{told}");
            for word in EMPTY {
                assert!(!said.contains(word), "{word}: {told}");
            }
            assert!(why.contains(named), "{told}");
            if json {
                let last = why.lines().last().unwrap_or_default();
                let error: serde_json::Value = serde_json::from_str(last).expect(&told);
                assert_eq!(error["error"]["exit"], code, "{told}");
            } else {
                assert!(why.contains("error:") && why.contains('→'), "{told}");
            }
        }
    }
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("written");
}

/// Cuts a file in the middle.
fn cut(path: &Path) {
    let bytes = fs::read(path).expect("read");
    write(path, &bytes[..bytes.len() / 2]);
}

/// Overwrites the database page that holds the row with this text. The other tables stay readable.
fn overwrite(path: &Path, text: &str) {
    let mut bytes = fs::read(path).expect("a database");
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let mut windows = bytes.windows(text.len());
    let found = windows.rposition(|part| part == text.as_bytes());
    let at = found.expect("its row") / page * page;
    bytes[at..at + page].fill(0xa5);
    write(path, &bytes);
}

/// A damage: its name, the form of the run, the function that damages the run's folder, the commands that then fail,
/// and the part of the run that their errors contain.
type Damage = (
    &'static str,
    &'static str,
    fn(&Path),
    &'static [&'static [&'static [&'static str]]],
    &'static str,
);

const DAMAGES: &[Damage] = &[
    (
        "cut",
        "sqlite",
        |run| cut(&run.join("state.db")),
        EVERYTHING,
        "state.db",
    ),
    (
        "garbage",
        "sqlite",
        |run| write(&run.join("state.db"), &[0x9d; 9_000]),
        EVERYTHING,
        "state.db",
    ),
    (
        "a page instead",
        "sqlite",
        |run| write(&run.join("state.db"), b"<html>404 Not Found</html>"),
        EVERYTHING,
        "state.db",
    ),
    (
        "empty",
        "sqlite",
        |run| write(&run.join("state.db"), b""),
        EVERYTHING,
        "state.db",
    ),
    (
        "removed, its attachment left",
        "sqlite",
        |run| fs::remove_file(run.join("state.db")).expect("removed"),
        EVERYTHING,
        "state.db",
    ),
    (
        "removed, its journal left",
        "sqlite",
        |run| {
            fs::remove_dir_all(run.join("attachments")).expect("removed");
            fs::rename(run.join("state.db"), run.join("state.db-journal")).expect("moved");
        },
        EVERYTHING,
        "state.db",
    ),
    (
        "a page of gates overwritten",
        "sqlite",
        |run| overwrite(&run.join("state.db"), "Publish?"),
        &[OF_GATES, OF_ALL],
        "table gates",
    ),
    (
        "a page of bindings overwritten",
        "sqlite",
        |run| overwrite(&run.join("state.db"), "What was found"),
        &[OF_BINDINGS, OF_ALL],
        "table bindings",
    ),
    (
        "a gate that is no JSON",
        "filesystem",
        |run| write(&run.join("gates/deploy.pending.json"), b"{\"id\": "),
        &[OF_GATES, OF_ALL],
        "gates/deploy",
    ),
    #[cfg(unix)]
    (
        "gates that lie elsewhere",
        "filesystem",
        |run| {
            fs::rename(run.join("gates"), run.join("elsewhere")).expect("moved");
            std::os::unix::fs::symlink("elsewhere", run.join("gates")).expect("linked");
        },
        &[OF_GATES, OF_ALL],
        "gates",
    ),
];

#[test]
fn what_cannot_be_understood_is_never_empty() {
    for (what, form, damage, questions, named) in DAMAGES {
        let project = Project::new(form);
        damage(&project.folder());
        project.check(what, questions, named, 5);
    }
}

/// Replaces a file or folder by something of another kind.
#[cfg(unix)]
fn replace(part: &Path, by: &str) {
    if part.is_dir() {
        fs::remove_dir_all(part).expect("removed");
    } else {
        fs::remove_file(part).expect("removed");
    }
    match by {
        "a folder" => fs::create_dir(part).expect("made"),
        "a file" => write(part, b"text"),
        "a pipe" => {
            let made = Command::new("mkfifo").arg(part).status();
            assert!(made.expect("mkfifo runs").success());
        }
        _ => drop(std::os::unix::net::UnixListener::bind(part).expect("a socket")),
    }
}

#[cfg(unix)]
#[test]
fn what_stands_in_the_place_of_something_else_is_never_empty() {
    const SQLITE: &str = "sqlite";
    const FOLDER: &str = "filesystem";
    let gates: &[&[&[&str]]] = &[OF_GATES, OF_ALL];
    let bindings: &[&[&[&str]]] = &[OF_BINDINGS, OF_ALL];
    for (form, part, questions, by) in [
        (
            SQLITE,
            "state.db",
            EVERYTHING,
            &["a folder", "a pipe", "a socket"][..],
        ),
        (FOLDER, "gates", gates, &["a file", "a pipe", "a socket"]),
        (FOLDER, "gates/audit.jsonl", gates, &["a folder", "a pipe"]),
        (FOLDER, "gates/deploy.pending.json", gates, &["a pipe"]),
        (FOLDER, "bindings", bindings, &["a file", "a pipe"]),
    ] {
        for by in by {
            let project = Project::new(form);
            // Attachments would prove that the run had a database, so they are removed.
            let _ = fs::remove_dir_all(project.folder().join("attachments"));
            replace(&project.folder().join(part), by);
            let named = part.rsplit('/').next().unwrap_or(part);
            project.check(&format!("{part} is {by}"), questions, named, 6);
        }
    }
}

#[test]
fn a_database_that_another_program_holds_is_never_an_empty_run() {
    if needs::sqlite3().is_none() {
        return;
    }
    let project = Project::new("sqlite");
    let mut holder = Command::new("sqlite3")
        .arg(project.folder().join("state.db"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sqlite3 runs");
    let mut stdin = holder.stdin.take().expect("its input");
    std::io::Write::write_all(&mut stdin, b"BEGIN EXCLUSIVE; SELECT 1;\n").expect("it reads");
    let mut said = std::io::BufReader::new(holder.stdout.take().expect("its output"));
    std::io::BufRead::read_line(&mut said, &mut String::new()).expect("it holds the lock");
    project.check("locked", EVERYTHING, "state.db", 6);
    drop(stdin);
    holder.wait().expect("it ends");
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_never_empty() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65534;
    let mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
    };
    for (form, part, questions) in [
        ("sqlite", "state.db", EVERYTHING),
        ("filesystem", "gates", &[OF_GATES, OF_ALL]),
        (
            "filesystem",
            "gates/deploy.pending.json",
            &[OF_GATES, OF_ALL],
        ),
        ("filesystem", "gates/audit.jsonl", &[OF_GATES, OF_ALL]),
    ] {
        let mut project = Project::new(form);
        let part = project.folder().join(part);
        mode(project.dir.path(), 0o755);
        mode(&part, 0o000);
        // Root can read everything, so the commands run as another user.
        if fs::File::open(&part).is_ok() {
            project.user = Some(NOBODY);
            let mut may = project.command(&["--version"]);
            if !may
                .uid(NOBODY)
                .output()
                .is_ok_and(|out| out.status.success())
            {
                needs::skip("this user may read every file, and nobody else can run prosescope");
                return;
            }
        }
        let named = part.file_name().unwrap_or_default().to_string_lossy();
        project.check(&named, questions, &named, 6);
        mode(&part, 0o755);
    }
}

/// The agents of a project are in a separate database, outside of the run. If this database cannot be read, the run
/// itself is still complete.
#[test]
fn agents_around_a_run_that_cannot_be_read_are_not_no_agents() {
    let project = Project::new("sqlite");
    let agents = project.dir.path().join(".prose/agents.db");
    let memory = project.dir.path().join("memory");
    write(&memory, "What it remembers".repeat(9).as_bytes());
    let set = ["agent", "memory", "set", "captain", "--scope", "project"];
    let mut set = project.command(&set);
    set.stdin(fs::File::open(memory).expect("opened"));
    let out = set.output().expect("prosescope runs");
    assert!(out.status.success(), "{out:?}");
    let whole = fs::read(&agents).expect("a database");
    overwrite(&agents, "What it remembers");
    let ask: &[&[&[&str]]] = &[&[&["agents", RUN]]];
    project.check("a page of agents overwritten", ask, "table agents of", 5);
    write(&agents, &whole[..whole.len() / 2]);
    project.check("agents cut", ask, "agents.db", 5);
    let out = project.prose(&["bindings", RUN]);
    assert!(
        String::from_utf8_lossy(&out.stdout).contains("plan"),
        "{out:?}"
    );
}

/// `show` and `check` print the readable parts of a run, and the errors of the unread parts.
#[test]
fn show_and_check_show_what_was_read_of_a_run() {
    let project = Project::new("filesystem");
    let gate = project.folder().join("gates/deploy.pending.json");
    write(&gate, b"{\"id\": ");
    for (args, code) in [(["show", RUN], 5), (["check", RUN], 1)] {
        let out = project.prose(&args);
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        assert_eq!(out.status.code(), Some(code), "{args:?}: {out:?}");
        assert!(said.contains("gates/deploy"), "{args:?}: {out:?}");
    }
}

/// An unreadable run does not count as a run without issues.
#[test]
fn checking_all_counts_only_what_was_read() {
    let project = Project::new("filesystem");
    let other = project.folder().with_file_name("20270101-120001-bbbbbb");
    fs::create_dir(&other).expect("made");
    write(&other.join("state.db"), &[7; 4096]);
    let out = project.prose(&["check", "--all"]);
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert_eq!(out.status.code(), Some(1), "{out:?}");
    assert!(said.contains(" in 1 run; 1 could not be read\n"), "{said}");
    let out = project.prose(&["check", "20270101-120001-bbbbbb"]);
    assert_eq!(out.status.code(), Some(5), "{out:?}");
}

/// A part that was read completely may be reported as empty, even if another part is damaged.
#[test]
fn a_part_that_was_read_is_empty_where_it_is() {
    let project = Project::new("sqlite");
    for (damaged, code) in [(false, 0), (true, 1)] {
        if damaged {
            overwrite(&project.folder().join("state.db"), "Publish?");
        }
        let out = project.prose(&["agents", RUN]);
        assert_eq!(out.status.code(), Some(code), "{out:?}");
        assert_eq!(String::from_utf8_lossy(&out.stdout), "no agents\n");
    }
}

/// An encrypted value was read, although it cannot be understood. It is shown as encrypted, and is not an error.
#[test]
fn an_encrypted_value_in_a_readable_run_is_no_failure() {
    if needs::sqlite3().is_none() {
        return;
    }
    let project = Project::new("sqlite");
    let mut sqlite = Command::new("sqlite3");
    sqlite
        .arg(project.folder().join("state.db"))
        .arg("UPDATE bindings SET value = randomblob(4096) WHERE name = 'plan';");
    assert!(sqlite.status().expect("sqlite3 runs").success());
    for args in [&["show", RUN], &["bindings", RUN], &["gates", RUN]] {
        let out = project.prose(args);
        assert_eq!(out.status.code(), Some(0), "{args:?}: {out:?}");
    }
}

/// The runs of a long list are read on several processors, those of a short list on one.
#[test]
fn a_long_list_has_the_lines_of_short_lists() {
    let project = Project::new("sqlite");
    let state = fs::read(project.folder().join("state.db")).expect("a state.db");
    let fill = |place: &str, numbers: std::ops::Range<u32>| -> Vec<serde_json::Value> {
        for n in numbers {
            let state: &[u8] = if n % 9 == 4 { b"no database" } else { &state };
            let run = format!("{place}/20270102-120000-{n:06}");
            let run = project.dir.path().join(run);
            fs::create_dir_all(&run).expect("made");
            write(&run.join("state.db"), state);
        }
        let out = project.prose(&["runs", place, "--json"]);
        let list: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let mut runs = list["runs"].as_array().expect("runs").clone();
        runs.sort_by_key(|run| run["place"].to_string());
        // Time passes between the lists.
        for run in &mut runs {
            run.as_object_mut().expect("an object").remove("age");
        }
        runs
    };
    let long = fill("many", 0..40);
    assert_eq!(long.iter().filter(|run| !run["error"].is_null()).count(), 4);
    let short = [fill("first", 0..20), fill("second", 20..40)].concat();
    // A failed assertion would print forty lines.
    assert!(long == short, "other lines");
}
