//! Creates and decodes databases for tests.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use prosescope_core::model::issue::Issue;
use prosescope_core::model::{Binding, Run};
use prosescope_core::read::decode::rows::{self, DecodedRun};
use prosescope_core::read::sqlite::{Guard, Sqlite};
use prosescope_test_support::needs::{self, skip};
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../fixtures/sql/", $name, ".sql"))
    };
}

pub(crate) const SCHEMA: &str = fixture!("schema");
pub(crate) const SCHEMA_GATES: &str = fixture!("schema_gates");
pub(crate) const BINDINGS_PLAIN_KEY: &str = fixture!("bindings_plain_key");
pub(crate) const APPEND_ONLY: &str = fixture!("append_only");
pub(crate) const IN_PLACE: &str = fixture!("in_place");
pub(crate) const VALUES: &str = fixture!("values");
pub(crate) const GATES: &str = fixture!("gates");
pub(crate) const EXTENSIONS: &str = fixture!("extensions");

/// A database in a folder of its own.
pub(crate) struct Db {
    dir: TempDir,
}

/// The output of the `sqlite3` program.
pub(crate) struct Answer {
    pub(crate) ok: bool,
    pub(crate) said: String,
    pub(crate) errors: String,
}

impl Db {
    pub(crate) fn new() -> Db {
        Db {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// Creates a database with rusqlite by executing the given SQL.
    pub(crate) fn of(sql: &str) -> Db {
        let db = Db::new();
        db.run(sql);
        db
    }

    /// Creates a database with large values, through the `sqlite3` program. SQLite's limit of memory ([`Guard::heap`])
    /// counts for the whole process, so writing large values in this process could fail while other tests read. Returns
    /// `None` if the program is missing.
    pub(crate) fn large(sql: &str) -> Option<Db> {
        needs::sqlite3()?;
        let db = Db::new();
        let answer = db.sqlite3(sql);
        assert!(answer.ok, "{}", answer.errors);
        Some(db)
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.dir.path().join("state.db")
    }

    pub(crate) fn run(&self, sql: &str) {
        let conn = Connection::open(self.path()).unwrap();
        // Foreign keys are off by default in the sqlite3 program too.
        conn.pragma_update(None, "foreign_keys", false).unwrap();
        conn.pragma_update(None, "synchronous", "off").unwrap();
        conn.execute_batch(sql).unwrap();
    }

    /// Executes SQL through the `sqlite3` program as OpenProse does: `sqlite3 state.db "…"`. The program stops at the
    /// first error.
    pub(crate) fn sqlite3(&self, sql: &str) -> Answer {
        let output = Command::new("sqlite3")
            .arg(self.path())
            .arg(sql)
            .output()
            .unwrap();
        Answer::of(output)
    }

    /// Pipes SQL into the `sqlite3` program, which continues after an error.
    pub(crate) fn piped(&self, sql: &str) -> Answer {
        let mut child = Command::new("sqlite3")
            .arg(self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(sql.as_bytes())
            .unwrap();
        Answer::of(child.wait_with_output().unwrap())
    }

    pub(crate) fn open(&self) -> Sqlite {
        open(&self.path())
    }

    pub(crate) fn decode(&self) -> DecodedRun {
        rows::decode(&self.open(), "state.db", None).unwrap()
    }

    pub(crate) fn read(&self) -> Run {
        self.decode().run
    }
}

impl Answer {
    fn of(output: std::process::Output) -> Answer {
        Answer {
            ok: output.status.success(),
            said: String::from_utf8(output.stdout).unwrap(),
            errors: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Opens a database read-only and guarded, as the command line does.
pub(crate) fn open(path: &Path) -> Sqlite {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    Sqlite::new(conn, Guard::default()).unwrap()
}

/// Returns every issue as a line `rule: message`.
pub(crate) fn said(issues: &[Issue]) -> Vec<String> {
    issues
        .iter()
        .map(|i| format!("{}: {}", i.rule, i.message))
        .collect()
}

/// Asserts that some issue of this rule has a message that contains these words.
#[track_caller]
pub(crate) fn assert_said(run: &Run, rule: &str, words: &str) {
    assert!(
        run.issues
            .iter()
            .any(|i| i.rule == rule && i.message.contains(words)),
        "no {rule} says “{words}”: {:#?}",
        said(&run.issues)
    );
}

/// Returns the value of a binding.
pub(crate) fn value(db: &Sqlite, binding: &Binding) -> String {
    let len = binding.value.len().unwrap_or(0) as usize;
    let bytes = rows::value_bytes(db, "bindings", "value", &binding.value, 0, len + 10).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Returns the bytes that this thread read from the system during `work`; `None` if the system does not count them.
pub(crate) fn bytes_read(work: impl FnOnce()) -> Option<u64> {
    let count = || -> Option<u64> {
        let text = std::fs::read_to_string("/proc/thread-self/io").ok()?;
        text.lines()
            .find_map(|l| l.strip_prefix("rchar: "))?
            .trim()
            .parse()
            .ok()
    };
    let before = count();
    work();
    let read = count().zip(before).map(|(after, before)| after - before);
    if read.is_none() {
        skip("counts what a thread reads, and this system does not");
    }
    read
}
