//! Creates temporary projects in which the tests record runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) use prosescope_test_support::run::fed as given;
use prosescope_tests::needs;

/// The forms in which a run is stored.
pub(crate) const FORMS: [&str; 2] = ["sqlite", "filesystem"];

/// A folder with a program, in which the binary runs.
pub(crate) struct Project {
    dir: tempfile::TempDir,
    prose: PathBuf,
}

impl Project {
    /// Creates a project. Returns `None`, after printing why, if `prosescope` or `sqlite3` is missing.
    pub(crate) fn new(program: &str) -> Option<Project> {
        let (prose, _) = (needs::prose()?, needs::sqlite3()?);
        let dir = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(dir.path().join("p.prose"), program).expect("a program");
        std::fs::create_dir(dir.path().join(".prose")).expect("a folder");
        Some(Project { dir, prose })
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn run_dir(&self, run: &str) -> PathBuf {
        self.path().join(".prose/runs").join(run)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.prose);
        command
            .args(args)
            .current_dir(self.path())
            .env("HOME", self.path().join("home"))
            .stdin(Stdio::null());
        command
    }

    /// Runs a command with this standard input.
    pub(crate) fn give(&self, args: &[&str], input: &[u8]) -> Output {
        given(&mut self.command(args), input)
    }

    /// Runs a command that must end with this exit code. Returns standard output if the code is 0, otherwise standard
    /// error.
    pub(crate) fn expect(&self, code: i32, args: &[&str], input: &[u8]) -> String {
        let out = self.give(args, input);
        let (stdout, stderr) = (text(&out.stdout), text(&out.stderr));
        assert_eq!(
            out.status.code(),
            Some(code),
            "prosescope {args:?}\n{stdout}\n{stderr}"
        );
        if code == 0 { stdout } else { stderr }
    }

    /// Runs a `begin`, and returns the number on its first line.
    pub(crate) fn begin(&self, args: &[&str]) -> String {
        let args = [&["begin"], args].concat();
        let said = self.expect(0, &args, b"");
        said.lines().next().unwrap_or_default().to_owned()
    }

    /// Runs a command and returns its only line of output.
    pub(crate) fn line(&self, args: &[&str]) -> String {
        self.expect(0, args, b"").trim_end().to_owned()
    }

    /// Creates a run, and returns its id.
    pub(crate) fn init(&self, form: &str) -> String {
        self.line(&["init", "p.prose", "--state", form])
    }

    pub(crate) fn put(&self, run: &str, name: &str, value: &[u8]) {
        self.expect(0, &["put", name, "--run", run], value);
    }

    /// Returns the value of a binding, byte for byte.
    pub(crate) fn get(&self, run: &str, name: &str) -> Vec<u8> {
        let out = self.give(&["get", name, "--run", run], b"");
        assert!(out.status.success(), "get {name}: {}", text(&out.stderr));
        out.stdout
    }

    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        let mut args = args.to_vec();
        args.push("--json");
        let out = self.give(&args, b"");
        serde_json::from_slice(&out.stdout)
            .unwrap_or_else(|e| panic!("{args:?}: {e}: {}", text(&out.stderr)))
    }

    /// Runs SQL on a run's database with the `sqlite3` program, as OpenProse instructs.
    pub(crate) fn sqlite(&self, run: &str, sql: &str) -> Output {
        let mut sqlite = Command::new("sqlite3");
        sqlite
            .args(["-batch", "-bail", "-init", "/dev/null"])
            .arg(self.run_dir(run).join("state.db"));
        given(&mut sqlite, sql.as_bytes())
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns `ci`, the number of repetitions in CI, or the larger number `soak` in `cargo xtask soak`.
pub(crate) fn many(ci: usize, soak: usize) -> usize {
    match std::env::var_os("PROSE_SOAK") {
        Some(_) => soak,
        None => ci,
    }
}

/// Asserts that SQLite finds no damage in a run's database, and that every key that a row refers to exists.
pub(crate) fn assert_whole(project: &Project, run: &str) {
    let out = project.sqlite(run, "PRAGMA integrity_check; PRAGMA foreign_key_check;");
    assert_eq!(text(&out.stdout).trim(), "ok", "{}", text(&out.stderr));
}
