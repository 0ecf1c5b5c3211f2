//! Builds databases and folders with OpenProse's own commands: SQL through the `sqlite3` program, files written one
//! by one.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Runs SQL in a database through the `sqlite3` program, which creates a missing file.
///
/// # Panics
/// If a statement fails, with SQLite's message.
pub fn sql(database: &Path, script: &str) {
    sql_with(database, &[], script);
}

/// Runs SQL like [`sql`], with arguments for the program before the database.
pub fn sql_with(database: &Path, args: &[&str], script: &str) -> String {
    if let Some(folder) = database.parent() {
        fs::create_dir_all(folder).expect("a folder for the database");
    }
    let mut sqlite = Command::new("sqlite3")
        .args(["-batch", "-bail", "-init", "/dev/null"])
        .args(args)
        .arg(database)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sqlite3 starts");
    sqlite
        .stdin
        .take()
        .expect("a pipe")
        .write_all(script.as_bytes())
        .expect("sqlite3 reads");
    let out = sqlite.wait_with_output().expect("sqlite3 ends");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(
        out.status.success() && said.is_empty(),
        "{}: {said}",
        database.display()
    );
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// Builds a database in WAL mode as its writer left it. The effect of the SQL in `first` is in the file, the effect of
/// `last` only in the `-wal` file beside it.
pub fn wal(database: &Path, first: &str, last: &str) {
    let busy = database.with_extension("busy");
    let path = |name: &Path, ending: &str| format!("{}{ending}", name.display());
    let keep = |ending: &str| {
        format!(
            ".shell cp '{}' '{}'\n",
            path(&busy, ending),
            path(database, ending)
        )
    };
    // The files are copied while the writer has the database open, because closing it would merge the WAL into the
    // file.
    let script = format!(
        "{first}\nPRAGMA journal_mode = WAL;\nPRAGMA wal_autocheckpoint = 0;\n{last}\n{}{}",
        keep(""),
        keep("-wal")
    );
    sql(&busy, &script);
    fs::remove_file(&busy).expect("the writer is done");
}

/// Writes files below a folder, creating folders, and returns the folder.
pub fn folder(folder: &Path, files: &[(&str, &str)]) -> PathBuf {
    for (path, content) in files {
        let file = folder.join(path);
        fs::create_dir_all(file.parent().expect("a file in a folder")).expect("a folder");
        fs::write(&file, content).expect("a file");
    }
    folder.to_path_buf()
}

/// Returns a text as an SQL literal.
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The number of bindings in [`large`].
pub const LARGE_BINDINGS: usize = 20_000;

/// The size of a database for measurements: loops of 100 rounds, with bindings written between the statements, as in
/// real runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The name of the database's folder in cargo's target folder.
    pub folder: &'static str,
    /// The number of rows in `execution`; 1,000 of them form a loop.
    pub executions: usize,
    /// The number of rows in `bindings`.
    pub bindings: usize,
    /// The length of the i-th value in bytes, as an SQL expression.
    pub length: &'static str,
}

/// A size of more than 1 GB. One value in fifty has 1 MB.
pub const LARGE: Size = Size {
    folder: "large-run",
    executions: 100_000,
    bindings: LARGE_BINDINGS,
    length: "CASE WHEN i % 50 = 0 THEN 1048576 ELSE 4096 + (i % 8) * 8192 END",
};

/// A size of about 110 MB.
pub const MEDIUM: Size = Size {
    folder: "medium-run",
    executions: 10_000,
    bindings: 5_000,
    length: "CASE WHEN i = 0 THEN 1048576 ELSE 14000 + (i % 8) * 2000 END",
};

/// A size of about 11 MB.
pub const SMALL: Size = Size {
    folder: "small-run",
    executions: 1_000,
    bindings: 1_000,
    length: "6000 + (i % 8) * 1000",
};

/// A size of about 0.3 MB.
pub const TINY: Size = Size {
    folder: "tiny-run",
    executions: 200,
    bindings: 50,
    length: "2000 + (i % 8) * 500",
};

/// Returns a `state.db` of more than 1 GB with OpenProse's own tables: 100,000 execution rows (100 loops of 100
/// rounds), and 20,000 bindings of 4 KB to 1 MB between them, none of them a BLOB. Built once and kept in the target
/// folder.
pub fn large() -> PathBuf {
    sized(LARGE)
}

/// Returns a database like that of [`large`], but of another size.
pub fn sized(size: Size) -> PathBuf {
    static MAKING: Mutex<()> = Mutex::new(());
    let _making = MAKING.lock();
    let script = script(size);
    let folder = target().join(size.folder);
    let (database, made_by) = (folder.join("state.db"), folder.join("made-by.sql"));
    if fs::read_to_string(&made_by).ok().as_deref() != Some(script.as_str()) {
        let _ = fs::remove_dir_all(&folder);
        sql(&database, &script);
        fs::write(&made_by, script).expect("a note beside the database");
    }
    database
}

fn script(size: Size) -> String {
    format!(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 4096;
{schema}
BEGIN;
INSERT INTO run (id, program_path, program_source, started_at, updated_at, status)
VALUES ('20260110-000000-large1', 'large.prose', 'loop until **done** (max: 100):\n  session \"Step\"\n',
  '2026-01-10 00:00:00', '2026-01-11 03:46:40', 'completed');

CREATE TEMP TABLE words AS
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 130000)
SELECT group_concat('word' || (i * 7919 % 9973), ' ') AS text FROM n;
CREATE TEMP TRIGGER in_turn AFTER INSERT ON main.execution WHEN new.id % {every} = 0 BEGIN
  INSERT INTO bindings (name, execution_id, kind, value, source_statement, created_at, updated_at)
  SELECT 'value_' || i, CASE WHEN i % 2 THEN i * {every} + 2 END, 'let', substr(text, 1 + i % 977, {length}),
    'let value_' || i || ' = session \"Step\"', '2026-01-10 00:00:00', '2026-01-10 00:00:00'
  FROM (SELECT new.id / {every} - 1 AS i), words;
END;

-- A loop is 1,000 rows: started, 99 rounds of 9 steps and their end, 7 steps and the exit of the last one.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {executions})
INSERT INTO execution (statement_index, statement_text, status, started_at, completed_at, parent_id, metadata)
SELECT
  CASE WHEN i % 1000 = 0 OR i % 10 = 9 THEN 1 ELSE 2 END,
  CASE WHEN i % 1000 = 0 OR i % 10 = 9 THEN 'loop until **done** (max: 100):' ELSE 'session \"Step ' || i || '\"' END,
  CASE WHEN i % 1000 = 0 THEN 'started' WHEN i % 1000 = 999 THEN 'exited' WHEN i % 10 = 9 THEN 'iteration' ELSE 'completed' END,
  datetime('2026-01-10', '+' || i || ' seconds'),
  datetime('2026-01-10', '+' || (i + 1) || ' seconds'),
  CASE WHEN i % 1000 = 0 OR i % 10 = 9 THEN NULL ELSE i - i % 1000 + 1 END,
  CASE WHEN i % 1000 = 0 OR i % 10 = 9
    THEN json_object('loop_id', 'l' || (i / 1000), 'max', 100, 'iteration', (i % 1000 + 1) / 10) ELSE '{{}}' END
FROM n;
COMMIT;
",
        schema = earlier_schema(),
        executions = size.executions,
        every = size.executions / size.bindings,
        length = size.length,
    )
}

/// Returns the SQL that creates the tables and a run with this many consecutive statements.
pub fn rows(count: usize) -> String {
    format!(
        "{}
        INSERT INTO run (id, program_path, status) VALUES ('20260111-000000-rows50', 'rows.prose', 'completed');
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
        INSERT INTO execution (statement_index, statement_text, status)
        SELECT i, 'session \"Row ' || i || '\"', 'completed' FROM n;",
        state_schema()
    )
}

/// Returns the SQL that creates the tables of sqlite-earlier.md. Their `value` column is in the middle of the row.
pub fn earlier_schema() -> &'static str {
    include_str!("../../examples/record/sqlite-earlier.sql")
}

/// Returns the SQL with which Prosescope creates the tables of sqlite.md, corrected by the errata.
pub fn state_schema() -> &'static str {
    include_str!("../../core/src/model/schema/state.sql")
}

/// Returns cargo's target folder: the test program is in one of its subfolders.
pub fn target() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    let target = test
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").is_file());
    target
        .expect("tests lie in cargo's target folder")
        .to_path_buf()
}
