//! Tests of gates and their audit log. They run the binary as people and scripts do, and `sqlite3` on the same files
//! as other tools do.

mod decisions;
mod page;
mod queries;
mod races;
mod tampering;
mod unsealed;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use prosescope_test_support::clock;
use prosescope_test_support::run::fed;
use prosescope_test_support::work::SQLITE3_WAITS;
use serde_json::Value;

/// The form in which a run is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Sqlite,
    Folder,
}

const FORMS: [Form; 2] = [Form::Sqlite, Form::Folder];

impl Form {
    /// Returns the name of the form as `init --state` takes it.
    fn word(self) -> &'static str {
        match self {
            Form::Sqlite => "sqlite",
            Form::Folder => "filesystem",
        }
    }
}

/// Runs a check in two projects: one with a run in a database, one with a run in files.
#[track_caller]
fn in_both_forms(test: impl Fn(&Project)) {
    for form in FORMS {
        // The test harness shows this line only if the check fails.
        println!("in a run of the form {}", form.word());
        test(&Project::new(form));
    }
}

/// A project with one run.
struct Project {
    dir: tempfile::TempDir,
    form: Form,
    run: String,
}

const PROGRAM: &str =
    "let plan = session \"Plan\"\n\napprove deploy:\n  prompt: \"Go?\"\n\nsession \"Ship\"\n";

impl Project {
    fn new(form: Form) -> Project {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join(".prose")).expect("made");
        fs::write(dir.path().join("p.prose"), PROGRAM).expect("written");
        let mut project = Project {
            dir,
            form,
            run: String::new(),
        };
        let (id, _) = project.expect(0, &["init", "p.prose", "--state", form.word()]);
        project.run = id.trim().to_owned();
        project
    }

    /// Returns the run's folder.
    fn folder(&self) -> PathBuf {
        self.dir.path().join(".prose/runs").join(&self.run)
    }

    fn database(&self) -> PathBuf {
        self.folder().join("state.db")
    }

    /// Returns the run's files with their bytes, except for the lock file.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.folder()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("listed").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if entry.file_name() != ".lock" {
                    let bytes = fs::read(&path).expect("read");
                    let inside = path.strip_prefix(self.folder()).expect("inside");
                    files.insert(inside.to_owned(), bytes);
                }
            }
        }
        files
    }

    /// Makes the folder of a run contain exactly these files.
    fn restore(files: &BTreeMap<PathBuf, Vec<u8>>, folder: &Path) {
        if folder.exists() {
            fs::remove_dir_all(folder).expect("removed");
        }
        for (path, bytes) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, bytes).expect("written");
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("HOME", self.dir.path().join("home"))
            .env("USER", "tester")
            .env_remove("PROSE_NOW");
        command
    }

    fn at(&self, now: &str, args: &[&str]) -> Output {
        let mut command = self.command(args);
        command
            .envs(clock::at(now))
            .output()
            .expect("prosescope runs")
    }

    /// Runs a command, and expects this exit code. Returns standard output and standard error.
    #[track_caller]
    fn expect(&self, code: i32, args: &[&str]) -> (String, String) {
        checked(
            code,
            args,
            &self.command(args).output().expect("prosescope runs"),
        )
    }

    /// Runs a command at a given time.
    #[track_caller]
    fn expect_at(&self, now: &str, code: i32, args: &[&str]) -> (String, String) {
        checked(code, args, &self.at(now, args))
    }

    #[track_caller]
    fn json(&self, code: i32, args: &[&str]) -> Value {
        let args = [args, &["--json"]].concat();
        serde_json::from_str(&self.expect(code, &args).0).expect("JSON")
    }

    #[track_caller]
    fn create(&self, gate: &str, more: &[&str]) {
        let args = [
            "gate", "create", gate, "--run", &self.run, "--prompt", "Go?",
        ];
        self.expect(0, &[&args[..], more].concat());
    }

    /// Runs SQL with `sqlite3` on the run's database. Returns the output, one line per row.
    #[track_caller]
    fn sql(&self, sql: &str) -> String {
        let (ok, out, said) = sqlite(&self.database(), sql);
        assert!(ok, "{sql}\n{said}");
        out
    }
}

#[track_caller]
fn checked(code: i32, args: &[&str], out: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&out.stdout), text(&out.stderr));
    assert_eq!(
        out.status.code(),
        Some(code),
        "prosescope {args:?}\n{stdout}\n{stderr}"
    );
    // Messages must not call a log proven or safe: its hashes need no secret, so anyone can compute them.
    let said = format!("{stdout}{stderr}").to_lowercase();
    assert!(!said.contains("proof"), "{said}");
    (stdout, stderr)
}

/// Runs a script in `sqlite3`. Returns its success and output.
fn sqlite(path: &Path, sql: &str) -> (bool, String, String) {
    let mut sqlite3 = Command::new("sqlite3");
    sqlite3.args(["-bail", "-cmd", SQLITE3_WAITS]).arg(path);
    let out = fed(&mut sqlite3, sql.as_bytes());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    (out.status.success(), text(&out.stdout), text(&out.stderr))
}
