//! Creates projects whose runs are in PostgreSQL, and runs commands in them.

use std::path::Path;
use std::process::{Command, Output};

use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::run::fed;
use prosescope_test_support::{clock, needs};

/// A password that no command may show. The server accepts any password.
pub(crate) const SECRET: &str = "hush-hush";

/// Returns the test server, or `None` if PostgreSQL or libfaketime is missing.
pub(crate) fn cluster() -> Option<&'static Cluster> {
    needs::faketime()?;
    Cluster::shared()
}

/// A folder with a program. Its `.prose/.env` contains the address of a database.
pub(crate) struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    pub(crate) fn new(program: &str, url: &str) -> Project {
        let dir = tempfile::tempdir().unwrap();
        let project = Project { dir };
        std::fs::create_dir_all(project.path().join(".prose")).unwrap();
        std::fs::write(project.path().join("p.prose"), program).unwrap();
        let url = url.replace("postgres@", &format!("postgres:{SECRET}@"));
        let env = format!("# a comment\nexport OPENPROSE_POSTGRES_URL='{url}'\n");
        std::fs::write(project.path().join(".prose/.env"), env).unwrap();
        if !url.is_empty() {
            project.trust();
        }
        project
    }

    /// Trusts the current contents of `.prose/.env`.
    pub(crate) fn trust(&self) {
        self.prose(0, &["postgres", "trust"], "");
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
        command
            .args(args)
            .current_dir(self.path())
            .env("HOME", self.path().join("home"))
            .envs(clock::at("2026-03-01T10:00:00Z"))
            .env_remove("XDG_STATE_HOME")
            .env_remove("DATABASE_URL")
            .env_remove("OPENPROSE_POSTGRES_URL")
            .env_remove("PROSE_RUN");
        command
    }

    pub(crate) fn give(&self, args: &[&str], input: &[u8]) -> Output {
        let out = fed(&mut self.command(args), input);
        let both = text(&out.stdout) + &text(&out.stderr);
        assert!(!both.contains(SECRET), "prosescope {args:?}\n{both}");
        out
    }

    /// Runs a command, and expects this exit code. Returns its output.
    pub(crate) fn prose(&self, code: i32, args: &[&str], input: &str) -> String {
        let out = self.give(args, input.as_bytes());
        let both = format!("{}{}", text(&out.stdout), text(&out.stderr));
        assert_eq!(out.status.code(), Some(code), "prosescope {args:?}\n{both}");
        both
    }

    /// Runs a command. Returns its output; of `begin`, only the id on its first line.
    pub(crate) fn line(&self, args: &[&str]) -> String {
        let out = self.give(args, b"");
        let (said, error) = (text(&out.stdout), text(&out.stderr));
        assert!(out.status.success(), "prosescope {args:?}\n{said}{error}");
        match args.first() {
            Some(&"begin") => said.lines().next().unwrap_or_default().to_owned(),
            _ => said.trim_end().to_owned(),
        }
    }

    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        let out = self.give(&[args, &["--json"]].concat(), b"");
        serde_json::from_slice(&out.stdout)
            .unwrap_or_else(|error| panic!("{args:?}: {error}: {}", text(&out.stderr)))
    }

    /// Creates a run. Returns its name as commands take it.
    pub(crate) fn init(&self, form: &str) -> String {
        self.line(&["init", "p.prose", "--state", form])
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
