//! A run that cannot be read never looks like an empty one.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use prosescope_test_support::needs;

const PROGRAM: &str =
    "let plan = session \"Plan\"\n\napprove deploy:\n  prompt: \"Go?\"\n\nsession \"Ship\"\n";

/// What asks for a part of a run that is there: a binding, a gate, rows.
const QUESTIONS: &[&[&str]] = &[
    &["audit", "verify", "RUN"],
    &["audit", "RUN"],
    &["gates", "RUN"],
    &["gates"],
    &["gate", "show", "RUN", "deploy"],
    &["get", "plan", "--run", "RUN"],
    &["bindings", "RUN"],
    &["trace", "RUN"],
    &["state", "RUN"],
    &["resume", "RUN"],
    &["resume", "RUN", "--prompt"],
];

/// Those that are about gates.
const OF_GATES: &[&[&str]] = &[
    &["audit", "verify", "RUN"],
    &["audit", "RUN"],
    &["gates", "RUN"],
    &["gates"],
    &["gate", "show", "RUN", "deploy"],
    &["resume", "RUN", "--prompt"],
];

struct Project {
    dir: tempfile::TempDir,
    run: String,
    /// The user that commands run as, where it is another one.
    user: Option<u32>,
}

impl Project {
    /// A run with a binding, one with an attachment, and a gate that waits.
    fn new(form: &str) -> Project {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join(".prose")).expect("made");
        fs::write(dir.path().join("p.prose"), PROGRAM).expect("written");
        let mut project = Project {
            dir,
            run: String::new(),
            user: None,
        };
        let id = project.prose(&["init", "p.prose", "--state", form]);
        project.run = String::from_utf8_lossy(&id.stdout).trim().to_owned();
        let id = project.prose(&["exec", "begin", "--run", "RUN", "--line", "1"]);
        assert!(id.status.success(), "{id:?}");
        let id = String::from_utf8_lossy(&id.stdout).trim().to_owned();
        let mut put = project.command(&["put", "plan", "--run", "RUN"]);
        let mut put = put
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("prose runs");
        let value = "x".repeat(200_000);
        let mut stdin = put.stdin.take().expect("its input");
        stdin.write_all(value.as_bytes()).expect("it reads");
        drop(stdin);
        assert!(put.wait().expect("it ends").success());
        let done = project.prose(&["exec", "complete", &id, "--run", "RUN"]);
        assert!(done.status.success(), "{done:?}");
        let gate = project.prose(&["gate", "create", "--line", "3", "--run", "RUN"]);
        assert!(gate.status.success(), "{gate:?}");
        project
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join(".prose/runs").join(&self.run)
    }

    fn command(&self, args: &[&str]) -> Command {
        let args = args.iter().map(|arg| match *arg {
            "RUN" => self.run.as_str(),
            other => other,
        });
        let mut command = Command::new(env!("CARGO_BIN_EXE_prose"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("HOME", self.dir.path().join("home"))
            .env("USER", "tester");
        #[cfg(unix)]
        if let Some(user) = self.user {
            use std::os::unix::process::CommandExt;
            command.uid(user);
        }
        command
    }

    fn prose(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("prose runs")
    }

    /// Every question ends with this code, says what was not read and what to do, and answers nothing.
    #[track_caller]
    fn check(&self, what: &str, questions: &[&[&str]], code: i32) {
        // At once: a lock is waited for.
        let asked: Vec<_> = questions
            .iter()
            .map(|args| {
                let mut command = self.command(args);
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
                (args, command.spawn().expect("prose runs"))
            })
            .collect();
        for (args, child) in asked {
            let out = child.wait_with_output().expect("it ends");
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (said, why) = (text(&out.stdout), text(&out.stderr));
            let told = format!("{what}: prose {args:?}\n{said}\n{why}");
            assert_eq!(out.status.code(), Some(code), "{told}");
            // A gate whose log was not read is shown, and nothing is said to be empty.
            assert!(said.is_empty() || said.contains("deploy"), "{told}");
            assert!(why.contains("error:"), "{told}");
            let next = why.contains('→') || why.contains("skipped: ");
            assert!(next, "{told}");
        }
    }
}

/// What is done to a run's folder, and how it then ends: 5 for what cannot be understood, 6 for what could not be read.
type Damage = (&'static str, fn(&Path), i32);

const OF_DATABASES: &[Damage] = &[
    ("cut", |run| cut(&run.join("state.db")), 5),
    (
        "garbage",
        |run| write(&run.join("state.db"), b"404: Not Found"),
        5,
    ),
    ("empty", |run| write(&run.join("state.db"), b""), 5),
    (
        "removed, its attachment left",
        |run| remove(&run.join("state.db")),
        5,
    ),
    (
        "removed, its journal left",
        |run| {
            fs::remove_dir_all(run.join("attachments")).expect("removed");
            fs::rename(run.join("state.db"), run.join("state.db-journal")).expect("moved");
        },
        5,
    ),
];

fn cut(path: &Path) {
    let bytes = fs::read(path).expect("read");
    write(path, &bytes[..bytes.len() / 2]);
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("written");
}

fn remove(path: &Path) {
    fs::remove_file(path).expect("removed");
}

#[test]
fn a_database_that_cannot_be_read_is_no_empty_run() {
    for (what, damage, code) in OF_DATABASES {
        let project = Project::new("sqlite");
        damage(&project.folder());
        project.check(what, QUESTIONS, *code);
    }
}

#[test]
fn a_database_that_another_program_holds_is_no_empty_run() {
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
    stdin
        .write_all(b"BEGIN EXCLUSIVE; SELECT 1;\n")
        .expect("it reads");
    let mut said = std::io::BufReader::new(holder.stdout.take().expect("its output"));
    std::io::BufRead::read_line(&mut said, &mut String::new()).expect("it holds the lock");
    project.check("locked", QUESTIONS, 6);
    drop(stdin);
    holder.wait().expect("it ends");
}

#[cfg(unix)]
const OF_FOLDERS: &[Damage] = &[
    (
        "a gate that is no JSON",
        |run| write(&run.join("gates/deploy.pending.json"), b"{\"id\": "),
        5,
    ),
    (
        "gates that lie elsewhere",
        |run| {
            fs::rename(run.join("gates"), run.join("elsewhere")).expect("moved");
            std::os::unix::fs::symlink("elsewhere", run.join("gates")).expect("linked");
        },
        5,
    ),
];

#[cfg(unix)]
#[test]
fn gates_of_a_folder_that_cannot_be_read_are_not_no_gates() {
    for (what, damage, code) in OF_FOLDERS {
        let project = Project::new("filesystem");
        damage(&project.folder());
        project.check(what, OF_GATES, *code);
    }
}

/// Who is not root may not read what belongs to root.
#[cfg(unix)]
#[test]
fn what_belongs_to_another_user_is_not_empty() {
    use std::os::unix::fs::PermissionsExt;
    const NOBODY: u32 = 65534;
    let mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
    };
    let mut may = Command::new(env!("CARGO_BIN_EXE_prose"));
    std::os::unix::process::CommandExt::uid(&mut may, NOBODY);
    if !may
        .arg("--version")
        .output()
        .is_ok_and(|out| out.status.success())
    {
        eprintln!("skipped: only root becomes another user, who can run prose");
        return;
    }
    for (form, part, questions) in [
        ("sqlite", "state.db", QUESTIONS),
        ("filesystem", "gates", OF_GATES),
        ("filesystem", "gates/deploy.pending.json", OF_GATES),
        ("filesystem", "gates/audit.jsonl", OF_GATES),
    ] {
        let mut project = Project::new(form);
        mode(project.dir.path(), 0o755);
        mode(&project.folder().join(part), 0o600);
        project.user = Some(NOBODY);
        project.check(part, questions, 6);
    }
}

/// A text that cannot be understood is read, and shown as what it is.
#[test]
fn an_encrypted_value_in_a_readable_run_is_no_failure() {
    if needs::sqlite3().is_none() {
        return;
    }
    let project = Project::new("sqlite");
    let mut sqlite = Command::new("sqlite3");
    sqlite.arg(project.folder().join("state.db")).arg(
        "UPDATE bindings SET value = randomblob(4096), attachment_path = NULL WHERE name = 'plan';",
    );
    assert!(sqlite.status().expect("sqlite3 runs").success());
    for args in [
        &["show", "RUN"][..],
        &["bindings", "RUN"],
        &["gates", "RUN"],
    ] {
        let out = project.prose(args);
        assert_eq!(out.status.code(), Some(0), "{args:?}: {out:?}");
    }
}

/// What was read is shown beside what was not.
#[test]
fn show_and_check_name_what_was_not_read() {
    let project = Project::new("filesystem");
    write(
        &project.folder().join("gates/deploy.pending.json"),
        b"{\"id\": ",
    );
    for args in [&["show", "RUN"][..], &["check", "RUN"]] {
        let out = project.prose(args);
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(said.contains("deploy"), "{args:?}: {out:?}");
        assert_ne!(said, "");
    }
}
