//! Makes each system call of each command fail, once and permanently, and compares the output with the resulting state.
//! Unreadable data is never reported as empty, and a failure never as success.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::rc::Rc;

use prosescope_test_support::clock;

use prosescope_core::model::issue::Severity;
use prosescope_core::model::source::Source;
use prosescope_core::pages::session::{FoundKind, Options, Session, ValueOf, pages, survey};
use prosescope_store::Disk;
use prosescope_tests::needs;
use serde_json::{Value, json};

use crate::inject::{Fault, faults};
use crate::project::{FORMS, Project, given, many, text};

const PROGRAM: &str = r#"use "https://p.prose.md/a/b" as r

agent writer:
  model: opus
  persist: true

session "Outline"

approve publish:
  prompt: "Publish it?"
  timeout: 30m

output report = session: writer
  prompt: "Report"
"#;

/// The time of the recording, and the times of the commands. The clock stands still, so that equal commands record
/// equal data.
const THEN: &str = "2026-01-15T14:30:00Z";
const NOW: &str = "2026-01-15T14:40:00Z";
const LATER: &str = "2026-01-16T18:00:00Z";

/// The commands that record: arguments, standard input, time.
const WRITERS: &[(&[&str], &str, &str)] = &[
    (
        &["init", "p.prose", "--id", "r2", "--state", "FORM"],
        "",
        NOW,
    ),
    (&["put", "new", "--run", "r1"], "a value", NOW),
    (&["put", "draft", "--run", "r1"], "another draft", NOW),
    (&["put", "fresh", "--run", "r1"], "LARGE", NOW),
    (&["put", "big", "--run", "r1"], "LARGE", NOW),
    (&["put", "big", "--run", "r1"], "small again", NOW),
    (&["begin", "13", "--force", "--run", "r1"], "", NOW),
    (&["end", "1", "--run", "r1"], "", NOW),
    (&["fail", "1", "no", "--run", "r1"], "", NOW),
    (
        &[
            "gate", "create", "extra", "--run", "r1", "--prompt", "More?", "--force",
        ],
        "",
        NOW,
    ),
    (&["gate", "show", "r1", "publish"], "", NOW),
    (&["approve", "r1", "publish", "--comment", "yes"], "", NOW),
    (&["reject", "r1", "publish", "--reason", "no"], "", NOW),
    (&["gates", "expire"], "", LATER),
    (
        &["agent", "memory", "set", "writer", "--run", "r1"],
        "more",
        NOW,
    ),
    (
        &[
            "agent", "memory", "set", "kept", "--scope", "project", "--run", "r1",
        ],
        "more",
        NOW,
    ),
    (
        &[
            "agent", "segment", "add", "writer", "--run", "r1", "--prompt", "p",
        ],
        "5",
        NOW,
    ),
    (&["begin", "1", "--run", "r1"], "", NOW),
    (&["finish", "failed", "--run", "r1", "--force"], "", NOW),
    (&["finish", "--vacuum", "--run", "r0"], "", NOW),
    (&["clean", "r0", "--yes", "--force"], "", LATER),
    (&["convert", "r1", "--to", "OTHER"], "", NOW),
];

/// The commands that read. The flag is true if a command may print less, provided that its output reports which part is
/// missing.
const READERS: &[(&[&str], bool)] = &[
    (&["show", "r1"], true),
    (&["trace", "r1"], false),
    (&["state", "r1"], false),
    (&["bindings", "r1"], false),
    (&["get", "draft", "--run", "r1"], false),
    (&["get", "big", "--run", "r1"], false),
    (&["gates", "r1"], false),
    (&["gates"], true),
    (&["gate", "show", "r1", "publish", "--no-log"], false),
    (&["audit", "r1"], false),
    (&["audit", "verify", "r1"], false),
    (&["agents", "r1"], false),
    (&["agent", "memory", "get", "writer", "--run", "r1"], false),
    (
        &[
            "agent", "memory", "get", "kept", "--scope", "project", "--run", "r1",
        ],
        false,
    ),
    (&["agent", "segment", "get", "writer", "--run", "r1"], false),
    (&["brief", "1", "--run", "r1"], false),
    (&["resume", "r1", "--prompt"], false),
    (&["check", "r1"], true),
    (&["runs"], true),
    (&["clean", "--status", "failed"], true),
];

#[test]
fn a_recording_command_says_truly_whether_it_recorded() {
    sweep("sqlite", true);
}

#[test]
fn a_recording_command_says_truly_whether_it_recorded_in_files() {
    sweep("filesystem", true);
}

#[test]
fn what_cannot_be_read_is_never_said_to_be_empty() {
    sweep("sqlite", false);
}

#[test]
fn files_that_cannot_be_read_are_never_said_to_be_empty() {
    sweep("filesystem", false);
}

/// Makes all recording commands (`writing`) or all reading commands fail at each system call; in CI only at some of
/// the calls, evenly spread.
fn sweep(form: &'static str, writing: bool) {
    let Some(place) = Place::new(form) else {
        return;
    };
    let mut counts = Counts::default();
    if writing {
        for (args, input, at) in WRITERS {
            place.each(args, input, at, many(73, 1), &recorded, &mut counts);
        }
    } else {
        for (args, partly) in READERS {
            let judge = |tried: &Tried<'_>| answered(tried, *partly);
            place.each(args, "", NOW, many(59, 1), &judge, &mut counts);
        }
    }
    let Counts {
        kept, done, odd, ..
    } = counts;
    assert!(
        odd.is_empty(),
        "{} odd, {kept} kept, {done} done:\n{}",
        odd.len(),
        odd.join("\n")
    );
    assert!(kept > 50 && done > 25, "{kept} kept, {done} done");
}

/// Counts how the tried faults ended.
#[derive(Default)]
struct Counts {
    /// How many faults of the next command to skip before the first one that is tried. The spacing continues from
    /// command to command, so that not only the first calls of each command are tried.
    passed: usize,
    kept: usize,
    done: usize,
    odd: Vec<String>,
}

/// A fault that was tried.
struct Tried<'a> {
    place: &'a Place,
    command: &'a Command,
    input: &'a str,
    before: &'a Value,
    files: &'a [PathBuf],
    after: &'a Value,
    plain: &'a Output,
    fault: &'a Fault,
    out: &'a Output,
}

enum Verdict {
    /// The command was refused, and everything is unchanged.
    Kept,
    /// The command did the same as without the fault.
    Done,
    /// The output does not match the resulting state.
    Odd(String),
}

/// Judges a recording command: the project must be in the old or in the new state, and the exit code must match the
/// state.
fn recorded(tried: &Tried<'_>) -> Verdict {
    let said = text(&tried.out.stderr);
    let now = tried.place.facts();
    match tried.out.status.code() {
        Some(0) if now == *tried.after => Verdict::Done,
        // The command recorded, but could not render the run's files and reports that. The next command renders them.
        Some(0 | 7) if said.contains("was not brought up to date") => {
            let (mut now, mut after) = (now, tried.after.clone());
            for facts in [&mut now, &mut after] {
                for run in facts.as_array_mut().expect("runs") {
                    run.as_object_mut().map(|run| run.remove("state"));
                }
            }
            if now == after {
                Verdict::Done
            } else {
                Verdict::Odd(format!("not there: {}", differs(&now, &after)))
            }
        }
        // Code 7: the command recorded, but a later step failed, such as printing or confirming.
        Some(7) if now == *tried.after => Verdict::Done,
        // `clean` removed the run, except for files that no list of runs shows, and the message contains their path. Or
        // `gates expire` recorded the time-outs of one run, and could not read another run.
        Some(5 | 6)
            if now == *tried.after
                && [
                    "was left by an interrupted removal",
                    "and is now .trash-",
                    "skipped: ",
                ]
                .iter()
                .any(|says| said.contains(says)) =>
        {
            Verdict::Done
        }
        // `gate show` printed the gate, with a note that the view was not recorded.
        Some(0) if now == *tried.before && said.contains("not record that you viewed the gate") => {
            Verdict::Kept
        }
        Some(0) if now == *tried.before => Verdict::Odd("done, and not there".to_owned()),
        Some(5 | 6) if now == *tried.before => {
            if !names_something(&said) {
                return Verdict::Odd("does not say what failed".to_owned());
            }
            // After a failing sync, no temporary files remain. Other failing calls may be calls that remove such files.
            let files = tried.place.files();
            if tried.place.form == "filesystem"
                && tried.fault.call.contains("sync")
                && files != tried.files
            {
                return Verdict::Odd(format!("left behind: {files:?}"));
            }
            // The failed command must not block the next command.
            let again = given(&mut again(tried.command), tried.input.as_bytes());
            if !again.status.success() || tried.place.facts() != *tried.after {
                return Verdict::Odd(format!(
                    "the next one fails: {} {}",
                    text(&again.stderr),
                    differs(&tried.place.facts(), tried.after)
                ));
            }
            Verdict::Kept
        }
        Some(5 | 6) if now == *tried.after && now != *tried.before => {
            Verdict::Odd("failed, and there".to_owned())
        }
        Some(0 | 5 | 6) => Verdict::Odd(format!(
            "neither as it was nor as it is to be: {} / {}",
            differs(&now, tried.before),
            differs(&now, tried.after)
        )),
        _ => Verdict::Odd("an exit code that says something else".to_owned()),
    }
}

/// Judges a reading command: its output must be the same, or an error or a remark must report what was not read.
fn answered(tried: &Tried<'_>, partly: bool) -> Verdict {
    let said = text(&tried.out.stderr);
    let same = tried.out.stdout == tried.plain.stdout;
    match tried.out.status.code() {
        // Code 1 means that the run has issues of severity error; the output itself is complete.
        Some(0 | 1) if same => Verdict::Done,
        Some(5 | 6) if names_something(&said) => Verdict::Kept,
        Some(5 | 6) => Verdict::Odd("does not say what failed".to_owned()),
        Some(0 | 1) if partly && names_cause(&format!("{}{said}", text(&tried.out.stdout))) => {
            Verdict::Kept
        }
        Some(0 | 1) => Verdict::Odd(format!(
            "less than there is: {}",
            changed_lines(&text(&tried.plain.stdout), &text(&tried.out.stdout))
        )),
        _ => Verdict::Odd("an exit code that says something else".to_owned()),
    }
}

fn changed_lines(plain: &str, now: &str) -> String {
    let gone: Vec<&str> = plain.lines().filter(|l| !now.contains(l)).take(4).collect();
    let new: Vec<&str> = now.lines().filter(|l| !plain.contains(l)).take(4).collect();
    format!("- {gone:?} + {new:?}")
}

fn names_something(said: &str) -> bool {
    [
        ".prose",
        "r0",
        "r1",
        "state.db",
        "p.prose",
        "agents",
        "standard input",
    ]
    .iter()
    .any(|name| said.contains(name))
}

fn names_cause(said: &str) -> bool {
    [
        "unable to get the page",
        "os error",
        "disk I/O error",
        "cannot be",
        "unable to open",
        "not be read",
        "is malformed",
        "ISSUES",
    ]
    .iter()
    .any(|cause| said.contains(cause))
}

/// Returns the parts of two texts of facts around their first difference.
fn differs(now: &Value, then: &Value) -> String {
    let (now, then) = (now.to_string(), then.to_string());
    let at = now
        .bytes()
        .zip(then.bytes())
        .position(|(a, b)| a != b)
        .unwrap_or(now.len().min(then.len()));
    let part = |text: &str| {
        String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(60)..(at + 100).min(text.len())])
            .into_owned()
    };
    if now == then {
        "the same".to_owned()
    } else {
        format!("…{}… instead of …{}…", part(&now), part(&then))
    }
}

fn again(command: &Command) -> Command {
    let mut again = Command::new(command.get_program());
    again.args(command.get_args());
    for (name, value) in command.get_envs() {
        again.env(name, value.expect("a value"));
    }
    again.current_dir(command.get_current_dir().expect("a folder"));
    again
}

/// A project with an open run `r1` and a finished run `r0`.
struct Place {
    project: Project,
    form: &'static str,
    template: tempfile::TempDir,
}

impl Place {
    fn new(form: &'static str) -> Option<Place> {
        needs::strace()?;
        needs::faketime()?;
        let project = Project::new(PROGRAM)?;
        let place = Place {
            project,
            form,
            template: tempfile::tempdir().expect("a temporary folder"),
        };
        let large = "x".repeat(100_001);
        let steps: &[(&[&str], &str)] = &[
            (&["init", "p.prose", "--id", "r0", "--state", form], ""),
            (&["put", "v", "--run", "r0"], "v"),
            (&["finish", "failed", "--run", "r0", "--force"], ""),
            (&["init", "p.prose", "--id", "r1", "--state", form], ""),
            (&["put", "draft", "--run", "r1"], "a draft"),
            (&["put", "big", "--run", "r1"], &large),
            (&["begin", "7", "--run", "r1"], ""),
            (
                &[
                    "gate", "create", "publish", "--run", "r1", "--line", "9", "--force",
                ],
                "",
            ),
            (
                &["agent", "memory", "set", "writer", "--run", "r1"],
                "memory",
            ),
            (
                &[
                    "agent", "memory", "set", "kept", "--scope", "project", "--run", "r1",
                ],
                "kept",
            ),
            (
                &[
                    "agent", "segment", "add", "writer", "--run", "r1", "--prompt", "p",
                ],
                "first",
            ),
        ];
        for (args, input) in steps {
            let out = given(
                &mut place.command(&place.args(args), THEN),
                input.as_bytes(),
            );
            assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
        }
        copy(
            &place.project.path().join(".prose"),
            &place.template.path().join(".prose"),
        );
        Some(place)
    }

    fn args(&self, args: &[&str]) -> Vec<String> {
        let other = FORMS
            .into_iter()
            .find(|form| *form != self.form)
            .expect("two forms");
        args.iter()
            .map(|arg| match *arg {
                "FORM" => self.form.to_owned(),
                "OTHER" => other.to_owned(),
                arg => arg.to_owned(),
            })
            .collect()
    }

    fn command(&self, args: &[String], at: &str) -> Command {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut command = self.project.command(&args);
        command.envs(clock::at(at));
        command
    }

    /// Tries one in `step` faults of a command.
    fn each(
        &self,
        args: &[&str],
        input: &str,
        at: &str,
        step: usize,
        judge: &dyn Fn(&Tried<'_>) -> Verdict,
        counts: &mut Counts,
    ) {
        let args = self.args(args);
        let large = "large ".repeat(20_000);
        let input = if input == "LARGE" { &large } else { input };
        self.restore();
        let (before, files) = (self.facts(), self.files());
        let command = self.command(&args, at);
        let root = self.project.path();
        let (plain, faults) = faults(&command, input.as_bytes(), root, &root.join("log"));
        let said = format!("{}{}", text(&plain.stdout), text(&plain.stderr));
        assert!(plain.status.success(), "{args:?}: {said}");
        assert!(faults.len() > 100, "{args:?}: {} faults", faults.len());
        let after = self.facts();
        let mut changed = true;
        let tried = faults.iter().skip(counts.passed).step_by(step);
        counts.passed = (counts.passed + tried.len() * step).saturating_sub(faults.len());
        for fault in tried {
            // The project is restored only if the command changes it. A reading command must leave it unchanged.
            if std::mem::replace(&mut changed, before != after) {
                self.restore();
            }
            let out = fault.run(&command, input.as_bytes());
            // The fault hit libfaketime, the library that changes the clock, in a child process. Such a fault does not
            // test the command.
            if out.stderr.starts_with(b"libfaketime: ") {
                continue;
            }
            let tried = Tried {
                place: self,
                command: &command,
                input,
                before: &before,
                files: &files,
                after: &after,
                plain: &plain,
                fault,
                out: &out,
            };
            match judge(&tried) {
                Verdict::Kept => counts.kept += 1,
                Verdict::Done => counts.done += 1,
                Verdict::Odd(why) => counts.odd.push(format!(
                    "{} {args:?} {}: {why}\n    {:?} {}{}",
                    self.form,
                    fault.shown(),
                    out.status.code(),
                    short(&out.stdout),
                    short(&out.stderr),
                )),
            }
        }
    }

    /// Restores the project to its state before the first fault.
    fn restore(&self) {
        let prose = self.project.path().join(".prose");
        fs::remove_dir_all(&prose).expect("removed");
        copy(&self.template.path().join(".prose"), &prose);
    }

    /// Returns the files of the run, except those that only writers need.
    fn files(&self) -> Vec<PathBuf> {
        let mut all = Vec::new();
        let mut folders = vec![self.project.run_dir("r1")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("listed") {
                let entry = entry.expect("listed");
                if entry.file_type().expect("a kind").is_dir() {
                    folders.push(entry.path());
                } else {
                    all.push(entry.path());
                }
            }
        }
        all.retain(|path| !path.ends_with("x_checkpoint.jsonl"));
        all.sort();
        all
    }

    /// Returns the facts of all runs, as a reader sees them.
    fn facts(&self) -> Value {
        let disk = Disk::open(&self.project.path().join(".prose")).expect("a folder");
        let disk: Rc<dyn Source> = Rc::new(disk);
        let found = survey(disk.as_ref()).found;
        let facts = found.iter().map(|found| {
            if found.kind == FoundKind::Agents {
                return json!(found.place);
            }
            match Session::open(Rc::clone(&disk), &found.place, &Options::default()) {
                Ok(session) => run_facts(&found.place, &session),
                Err(error) => json!({"place": found.place, "error": error.to_string()}),
            }
        });
        comparable(facts.collect())
    }
}

/// Removes facts that may differ between tries: the number of an attachment, if an earlier one was left over, and the
/// user, who is looked up in system files, with the hashes of the audit log that depend on the user.
fn comparable(facts: Value) -> Value {
    match facts {
        Value::String(text) if text.starts_with('{') => match serde_json::from_str(&text) {
            Ok(inside) => comparable(inside),
            Err(_) => json!(text),
        },
        Value::String(text) => {
            let parts = text.split('@').enumerate().map(|(n, part)| match n {
                0 => part,
                _ => part.trim_start_matches(|c: char| c.is_ascii_digit()),
            });
            let text: String = parts.collect();
            let hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            json!(if hash { "a hash" } else { &text })
        }
        Value::Array(all) => all.into_iter().map(comparable).collect(),
        Value::Object(all) => {
            let kept = all.into_iter().filter(|(key, _)| key != "os_user");
            Value::Object(kept.map(|(key, value)| (key, comparable(value))).collect())
        }
        other => other,
    }
}

fn run_facts(place: &str, session: &Session) -> Value {
    let value = |of: &ValueOf| match session.value(of, 1 << 20) {
        Ok(value) => json!([value.text, value.note]),
        Err(error) => json!({"error": error.to_string()}),
    };
    let run = session.run();
    let bindings = (0..)
        .zip(&run.bindings)
        .map(|(n, _)| value(&ValueOf::Binding(n)));
    let memories = (0..)
        .zip(&run.agents)
        .map(|(n, _)| value(&ValueOf::Memory(n)));
    let errors = pages::check(session, None).into_iter();
    let errors = errors.filter(|issue| issue.severity == Severity::Error);
    json!({
        "place": place,
        "program": run.program.source,
        "state": pages::state_md(session, true),
        "bindings": pages::bindings_page(session, 0, u32::MAX),
        "values": bindings.collect::<Vec<_>>(),
        "memories": memories.collect::<Vec<_>>(),
        "agents": pages::agents(session),
        "gates": pages::gates(session, None),
        "audit": pages::audit(session, None),
        "imports": pages::imports(session),
        "errors": errors.map(|issue| issue.message).collect::<Vec<_>>(),
    })
}

fn short(said: &[u8]) -> String {
    let said: String = text(said).chars().take(400).collect();
    said.replace('\n', "\n    ")
}

/// Copies a folder with the times of its files, because checkpoints contain them.
fn copy(from: &Path, to: &Path) {
    let out = Command::new("cp")
        .arg("-a")
        .args([from, to])
        .output()
        .expect("cp");
    assert!(out.status.success(), "{}", text(&out.stderr));
}
