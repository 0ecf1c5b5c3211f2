//! Temporary files and folders: who can open them, and what remains of a killed command.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use prosescope_test_support::kills::Kills;
use prosescope_test_support::needs;
use prosescope_test_support::run::fed;

/// A text of the run that no other user may read.
const SECRET: &str = "what only the owner may read";

struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    /// Returns a project with a run in files, a shared copy of it, and a folder for temporary files that every user
    /// may list.
    fn new() -> Project {
        let dir = tempfile::tempdir().expect("a folder");
        let project = Project { dir };
        for (folder, mode) in [("", 0o755), ("home", 0o755), ("tmp", 0o1777)] {
            let path = project.at(folder);
            fs::create_dir_all(&path).expect("made");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set");
        }
        fs::write(project.at("p.prose"), "let a = session \"A\"\n").expect("written");
        project.done(
            &["init", "p.prose", "--id", "r", "--state", "filesystem"],
            "",
        );
        project.done(
            &["put", "a", "--run", "r"],
            &format!("{SECRET}\n").repeat(9_000),
        );
        project.done(&["share", "r", "-o", "r.zip"], "");
        assert_eq!(project.left(), [], "a command that ended left files");
        project
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// Returns the folder with all temporary folders of this user.
    fn folder(&self) -> PathBuf {
        let user = rustix::process::geteuid().as_raw();
        self.at(&format!("tmp/prosescope-{user}"))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
        command.args(args);
        self.here(&mut command);
        command
    }

    fn here(&self, command: &mut Command) {
        command
            .current_dir(self.dir.path())
            .env("HOME", self.at("home"))
            .env("TMPDIR", self.at("tmp"));
    }

    #[track_caller]
    fn done(&self, args: &[&str], input: &str) -> String {
        let out = fed(&mut self.command(args), input.as_bytes());
        assert!(out.status.success(), "{args:?}: {}", said(&out));
        said(&out)
    }

    /// Returns everything below the folder for temporary files, with the mode.
    fn left(&self) -> Vec<(PathBuf, u32)> {
        let mut all = Vec::new();
        below(&self.at("tmp"), &mut all);
        all
    }

    /// Checks that no other user can open what a killed command left, and that the next command removes it. Returns
    /// whether anything was left.
    #[track_caller]
    fn is_closed_and_swept(&self, when: &str) -> bool {
        let left = self.left();
        for (path, mode) in &left {
            let above = path.parent().expect("a folder");
            let is_top = above == self.at("tmp");
            assert!(
                !is_top || mode & 0o077 == 0,
                "{when}: {} has {mode:o}",
                path.display()
            );
        }
        if rustix::process::geteuid().is_root() {
            let shown = Command::new("grep")
                .args(["-r", "-l", "-e", "", "."])
                .current_dir(self.at("tmp"))
                .uid(65_534)
                .gid(65_534)
                .output();
            let shown = shown.expect("grep runs").stdout;
            assert!(
                shown.is_empty(),
                "{when}: {}",
                String::from_utf8_lossy(&shown)
            );
        }
        self.done(&["get", "a", "--run", "r"], "");
        assert_eq!(self.left(), [], "{when}: the next command left it");
        !left.is_empty()
    }
}

fn said(out: &Output) -> String {
    String::from_utf8_lossy(&[&out.stdout[..], &out.stderr].concat()).into_owned()
}

fn below(dir: &Path, all: &mut Vec<(PathBuf, u32)>) {
    for entry in fs::read_dir(dir).expect("listed").flatten() {
        let meta = entry.path().symlink_metadata().expect("it is there");
        all.push((entry.path(), meta.mode() & 0o777));
        if meta.is_dir() {
            below(&entry.path(), all);
        }
    }
}

/// The commands that make temporary copies: of an unpacked file, of a run as a database (which is not redacted), of
/// databases.
const COMMANDS: [&[&str]; 3] = [
    &["show", "r.zip"],
    &[
        "share",
        "r",
        "--format",
        "db",
        "-o",
        "out.db",
        "--overwrite",
    ],
    &["share", "r", "-o", "out.txt", "--overwrite"],
];

/// The calls of the system that change files.
const CALLS: [&str; 14] = [
    "openat",
    "openat2",
    "mkdir",
    "mkdirat",
    "flock",
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "unlink",
    "unlinkat",
    "rmdir",
];

#[test]
fn a_command_killed_at_any_call_leaves_nothing_that_others_can_open() {
    let Some(strace) = needs::strace() else {
        return;
    };
    let project = Project::new();
    let most = if std::env::var_os("PROSE_SOAK").is_some() {
        10_000
    } else {
        4
    };
    for args in COMMANDS {
        let mut killed = 0;
        let mut remains = 0;
        for (call, times) in counts(&strace, &project, args) {
            let step = (times / most).max(1);
            for nth in (1..=times).step_by(step) {
                let how = format!("inject={call}:signal=KILL:when={nth}");
                let mut command = traced(&strace, &project, args, &["-o", "/dev/null", "-e", &how]);
                killed += usize::from(!command.output().expect("it runs").status.success());
                remains += usize::from(project.is_closed_and_swept(&format!("{args:?} {how}")));
            }
        }
        println!("{args:?}: {killed} killed, {remains} left files");
        assert!(
            killed > 10 && remains > 3,
            "{args:?}: {killed} killed, {remains} left files"
        );
    }
}

/// Returns how often a command makes each call.
fn counts(strace: &Path, project: &Project, args: &[&str]) -> BTreeMap<String, usize> {
    let log = project.at("log");
    let shown = log.to_string_lossy();
    let calls = format!("trace={}", CALLS.join(","));
    let done = traced(strace, project, args, &["-o", &shown, "-e", &calls]).output();
    assert!(done.expect("it runs").status.success());
    let mut counts = BTreeMap::new();
    for line in fs::read_to_string(log).expect("a log").lines() {
        let call = line
            .split_whitespace()
            .nth(1)
            .and_then(|rest| rest.split_once('('));
        if let Some((call, _)) = call {
            *counts.entry(call.to_owned()).or_default() += 1;
        }
    }
    counts
}

fn traced(strace: &Path, project: &Project, args: &[&str], how: &[&str]) -> Command {
    let mut command = Command::new(strace);
    command
        .arg("-f")
        .args(how)
        .arg(env!("CARGO_BIN_EXE_prosescope"))
        .args(args);
    project.here(&mut command);
    command
}

#[test]
fn a_command_killed_at_any_time_leaves_nothing_that_others_can_open() {
    let project = Project::new();
    for args in COMMANDS {
        let (mut kills, _) = Kills::learn(|| project.done(args, ""));
        for n in 0..16 {
            kills.kill(&mut project.command(args), b"");
            project.is_closed_and_swept(&format!("{args:?} {n}"));
        }
    }
}

/// A command never removes the folder of another one that is running.
#[test]
fn the_folder_of_a_running_command_stays() {
    let project = Project::new();
    let zip = project.at("r.zip");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..12 {
                    let shown = project.done(&["get", "a", "--run", &zip.to_string_lossy()], "");
                    assert!(shown.contains(SECRET));
                }
            });
        }
    });
    assert_eq!(project.left(), []);
}

/// Another user may have made the folder first, or a link in its place: nothing is written or removed there.
#[test]
fn a_folder_of_another_is_not_used() {
    let project = Project::new();
    let (folder, outside) = (project.folder(), project.at("outside"));
    fs::create_dir_all(outside.join("kept")).expect("made");
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o700)).expect("set");
    let refused = |kept: &Path| {
        let out = project.command(&["show", "r.zip"]).output();
        let out = out.expect("it runs");
        assert_eq!(out.status.code(), Some(6), "{}", said(&out));
        assert!(said(&out).contains("TMPDIR"), "{}", said(&out));
        assert!(kept.is_dir(), "a command removed {}", kept.display());
    };
    symlink(&outside, &folder).expect("linked");
    refused(&outside.join("kept"));
    if rustix::process::geteuid().is_root() {
        fs::remove_file(&folder).expect("removed");
        fs::create_dir_all(folder.join("kept")).expect("made");
        chown(&folder, Some(65_534), None).expect("given");
        refused(&folder.join("kept"));
    }
}

/// A command whose folder disappears may create it anew, open to others. The next one closes it.
#[test]
fn an_open_folder_of_the_user_is_closed() {
    let project = Project::new();
    let folder = project.folder();
    fs::create_dir_all(folder.join("running")).expect("made");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("set");
    let running = fs::File::open(folder.join("running")).expect("opened");
    running.lock().expect("locked");
    project.done(&["show", "r.zip"], "");
    let left = [(folder.clone(), 0o700), (folder.join("running"), 0o755)];
    assert_eq!(project.left(), left);
}
