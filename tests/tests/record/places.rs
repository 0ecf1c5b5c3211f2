//! Puts twenty unexpected things in the place of each file and folder of a run, in both forms, and runs each command.
//! No command hangs or crashes, and none reports unreadable data as empty (security.md, X4). CI runs a sample; with
//! `PROSE_SWEEP` all combinations run.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use prosescope_test_support::files::copy;

use crate::project::{FORMS, Project, given, text};

const PROGRAM: &str = "agent captain:\n  persist: true\n\nlet plan = session \"Plan\"\n\nlet long = session \"Write\"\n\napprove deploy:\n  prompt: \"Publish?\"\n";

const THINGS: &[&str] = &[
    "a pipe",
    "a socket",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "a folder",
    "a folder with files",
    "an empty file",
    "a loop of links",
    "a link to itself",
    "a link to a file elsewhere",
    "a link to nothing",
    "a link to a device",
    "a link through a file",
    "the first half",
    "zeros",
    "a web page",
    "a mark before it",
    "an archive",
    "a text",
];

/// Returns the paths of the files and folders in a run's folder.
fn parts(form: &str) -> &'static [&'static str] {
    match form {
        "sqlite" => &[
            "state.db",
            "state.db-journal",
            "state.db-wal",
            "state.db-shm",
            "program.prose",
            "attachments",
            "attachments/long.md",
            ".lock",
        ],
        _ => &[
            "state.md",
            "program.prose",
            "bindings",
            "bindings/plan.md",
            "bindings/long.md",
            "attachments",
            "attachments/long.md",
            "gates",
            "gates/deploy.pending.json",
            "gates/audit.jsonl",
            "agents",
            "agents/captain",
            "agents/captain/memory.md",
            "imports",
            "x_events.jsonl",
            "x_checkpoint.jsonl",
            "x_journal.json",
            ".lock",
        ],
    }
}

const COMMANDS: &[&[&str]] = &[
    &["audit", "verify", "RUN"],
    &["audit", "RUN"],
    &["gates", "RUN", "--all"],
    &["gates"],
    &["bindings", "RUN"],
    &["get", "plan", "--run", "RUN"],
    &["get", "long", "--run", "RUN"],
    &["show", "RUN"],
    &["trace", "RUN"],
    &["state", "RUN"],
    &["resume", "RUN", "--prompt"],
    &["agents", "RUN"],
    &["check", "RUN"],
    &["runs"],
    &["brief", "1", "--run", "RUN"],
    &["put", "new", "--run", "RUN"],
    &["begin", "4", "--run", "RUN", "--force"],
    &["approve", "RUN", "deploy", "--as", "me"],
    &["gate", "show", "RUN", "deploy"],
    &["check", "RUN", "--fix"],
    &["convert", "RUN", "--to", "sqlite"],
    &["finish", "--run", "RUN", "--force"],
];

/// Messages that say that something is empty or missing.
const EMPTY: &[&str] = &[
    "no gates",
    "no values",
    "no agents",
    "no runs",
    "no audit row",
    "o statement is recorded",
    "empty  ",
];

/// Returns whether this thing, at this path in the run, is a valid but empty file or folder.
fn holds_nothing(part: &str, thing: &str) -> bool {
    let is_folder = [
        "bindings",
        "attachments",
        "gates",
        "agents",
        "agents/captain",
        "imports",
    ];
    match thing {
        "a folder" | "a folder with files" => is_folder.contains(&part),
        "an empty file" => part.ends_with(".jsonl"),
        // Other things contain something: the first half of a memory, for example, is a memory, too.
        _ => false,
    }
}

fn place(thing: &str, at: &Path) -> bool {
    let before = fs::read(at).unwrap_or_default();
    if at.is_dir() {
        fs::remove_dir_all(at).expect("removed");
    } else if at.symlink_metadata().is_ok() {
        fs::remove_file(at).expect("removed");
    }
    fs::create_dir_all(at.parent().expect("a folder")).expect("made");
    let made = |program: &str, args: &[&str]| {
        let made = Command::new(program).arg(at).args(args).output();
        made.is_ok_and(|out| out.status.success())
    };
    match thing {
        "a pipe" => return made("mkfifo", &[]),
        "/dev/null" => return made("mknod", &["c", "1", "3"]),
        "/dev/zero" => return made("mknod", &["c", "1", "5"]),
        "/dev/full" => return made("mknod", &["c", "1", "7"]),
        "a socket" => return std::os::unix::net::UnixListener::bind(at).is_ok(),
        "a folder" => fs::create_dir(at),
        "a folder with files" => {
            fs::create_dir_all(at.join("x/y")).and_then(|()| fs::write(at.join("x/y/z.md"), "z"))
        }
        "an empty file" => fs::write(at, ""),
        "a loop of links" => {
            let other = at.with_extension("other");
            symlink(&other, at).and_then(|()| symlink(at, &other))
        }
        "a link to itself" => symlink(at.file_name().expect("a name"), at),
        "a link to a file elsewhere" => symlink("/etc/hostname", at),
        "a link to nothing" => symlink("/nowhere/at/all", at),
        "a link to a device" => symlink("/dev/zero", at),
        "a link through a file" => symlink("/etc/hostname/x", at),
        "the first half" => fs::write(at, &before[..before.len() / 2]),
        "zeros" => fs::write(at, vec![0; before.len().max(100)]),
        "a web page" => fs::write(at, "<html>\n404 Not Found</html>\n"),
        "a mark before it" => fs::write(at, [b"\xef\xbb\xbf", before.as_slice()].concat()),
        "an archive" => fs::write(at, [b"\x1f\x8b\x08".as_slice(), &[0x93; 300]].concat()),
        _ => fs::write(at, "hello\n"),
    }
    .expect(thing);
    true
}

/// Records a run, and keeps a copy of its folder, from which the tests restore the run.
fn made(form: &str) -> Option<(Project, String, PathBuf)> {
    let project = Project::new(PROGRAM)?;
    let run = project.init(form);
    project.expect(0, &["begin", "4", "--run", &run], b"");
    project.put(&run, "plan", b"What was found");
    project.put(&run, "long", "x".repeat(200_000).as_bytes());
    project.expect(
        0,
        &["agent", "memory", "set", "captain", "--run", &run],
        b"It knows",
    );
    project.expect(
        0,
        &["gate", "create", "--line", "8", "--run", &run, "--force"],
        b"",
    );
    let kept = project.path().join("kept");
    copy(&project.run_dir(&run), &kept);
    Some((project, run, kept))
}

#[test]
fn whatever_stands_in_a_files_place_is_not_nothing() {
    let whole = std::env::var_os("PROSE_SWEEP").is_some();
    let (mut wrong, mut done) = (Vec::new(), 0);
    let mut n = 0_usize;
    for form in FORMS {
        let Some((project, run, kept)) = made(form) else {
            return;
        };
        let dir = project.run_dir(&run);
        for part in parts(form) {
            for thing in THINGS {
                for command in COMMANDS {
                    n += 1;
                    // 61 has no common factor with the number of commands and of things, so the sample covers all of
                    // them.
                    if !whole && !n.is_multiple_of(61) {
                        continue;
                    }
                    fs::remove_dir_all(project.path().join(".prose/runs")).expect("removed");
                    copy(&kept, &dir);
                    if !place(thing, &dir.join(part)) {
                        continue;
                    }
                    done += 1;
                    wrong.extend(wrong_ending(&project, &run, (form, part, thing), command));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {done}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(done > 100, "{done}");
}

/// Runs a command. Returns a description if the command printed a forbidden message or did not end.
fn wrong_ending(
    project: &Project,
    run: &str,
    (form, part, thing): (&str, &str, &str),
    args: &[&str],
) -> Option<String> {
    let args: Vec<&str> = args
        .iter()
        .map(|arg| if *arg == "RUN" { run } else { *arg })
        .collect();
    let command = project.command(&args);
    // `timeout` kills a command that waits for ever, which the test then sees as an end by a signal.
    let mut timed = Command::new("timeout");
    timed
        .args(["--signal=KILL", "60"])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(project.path())
        .env("HOME", project.path().join("home"));
    let out = given(&mut timed, b"v");
    let (said, why) = (text(&out.stdout), text(&out.stderr));
    let told = || {
        let short = |text: &str| text.chars().take(600).collect::<String>();
        Some(format!(
            "{form}, {part} is {thing}: {args:?}: {:?}\n{}{}",
            out.status,
            short(&said),
            short(&why)
        ))
    };
    match out.status.code() {
        Some(0 | 1) if holds_nothing(part, thing) => None,
        Some(0 | 1) if EMPTY.iter().any(|word| said.contains(word)) => told(),
        Some(0..=7) => None,
        _ => told(),
    }
}
