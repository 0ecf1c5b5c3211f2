//! Tests a `state.db` from someone else whose schema hides objects or runs code. A database with anything on our tables
//! that is not on the list (`core/src/model/schema/allowed.rs`) is not recorded into. Every other command does exactly
//! what it reports, within 256 MB and 2 s of processor time (security.md, B1 to B3).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use prosescope_tests::work::pace;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::project::{Project, given, text};

const PROGRAM: &str = r#"agent writer:
  model: opus
  persist: true

session "Outline"

approve publish:
  prompt: "Publish it?"

output report = session: writer
  prompt: "Report"
"#;

/// SQL for a trigger that approves a gate, and for hiding that trigger.
macro_rules! trigger {
    ($hidden:literal) => {
        concat!(
            "CREATE TRIGGER evil AFTER UPDATE ON gates BEGIN UPDATE gates SET status = 'approved'; INSERT INTO stolen VALUES (1); END;",
            $hidden
        )
    };
}
macro_rules! virtual_table {
    ($begin:literal) => {
        concat!(
            "DROP TABLE bindings; CREATE VIRTUAL TABLE bindings USING fts5(name, value, kind, execution_id, source_statement, created_at, updated_at, attachment_path);
             UPDATE sqlite_schema SET sql = replace(sql, 'CREATE VIRTUAL TABLE bindings', '", $begin, "') WHERE name = 'bindings'"
        )
    };
}
macro_rules! check {
    ($table:literal, $column:literal, $expression:literal) => {
        concat!(
            "UPDATE sqlite_schema SET sql = replace(sql, '",
            $column,
            " TEXT', '",
            $column,
            " TEXT CHECK (' || \"",
            $expression,
            "\" || ')') WHERE type = 'table' AND name = '",
            $table,
            "'"
        )
    };
}
macro_rules! replaced {
    ($table:literal, $was:literal, $is:literal) => {
        concat!(
            "UPDATE sqlite_schema SET sql = replace(sql, \"",
            $was,
            "\", \"",
            $is,
            "\") WHERE type = 'table' AND name = '",
            $table,
            "'"
        )
    };
}
/// Each case: a name, and SQL that changes the schema of a run's database with `writable_schema` on. Only code in the
/// schema writes to the table `stolen`, so a row in `stolen` proves that such code ran.
const SCHEMAS: &[(&str, &str)] = &[
    // The next cases are recorded into: the examples of sqlite.md, and what others have in the same database.
    ("the document's extensions", "CREATE TABLE x_metrics (execution_id INTEGER REFERENCES execution(id), metric_name TEXT,
        metric_value REAL, recorded_at TEXT DEFAULT (datetime('now'))); ALTER TABLE bindings ADD COLUMN token_count INTEGER;
        CREATE INDEX idx_execution_status ON execution(status)"),
    ("what others have", "CREATE TABLE x_t (a CHECK (instr(zeroblob(20000000), a)), b AS (hex(zeroblob(480000000))));
        CREATE INDEX x_i ON x_t(instr(zeroblob(20000000), a)); CREATE VIEW x_v AS SELECT hex(zeroblob(480000000)) AS a FROM bindings;
        CREATE TRIGGER x_g AFTER INSERT ON x_t BEGIN INSERT INTO stolen VALUES (1); END;
        CREATE TRIGGER x_h INSTEAD OF INSERT ON x_v BEGIN UPDATE gates SET status = 'approved'; END"),
    // The next cases add triggers, visible and hidden.
    ("a trigger", trigger!("")),
    ("a trigger of another case", trigger!("UPDATE sqlite_schema SET type = 'TRIGGER' WHERE name = 'evil'")),
    ("a trigger whose SQL is a BLOB", trigger!("UPDATE sqlite_schema SET sql = CAST(sql AS BLOB) WHERE name = 'evil'")),
    ("a trigger whose name is a BLOB", trigger!("UPDATE sqlite_schema SET name = CAST(name AS BLOB) WHERE name = 'evil'")),
    ("a trigger whose table is a BLOB", trigger!("UPDATE sqlite_schema SET tbl_name = CAST(tbl_name AS BLOB) WHERE name = 'evil'")),
    ("a trigger on a table with a NUL", trigger!("UPDATE sqlite_schema SET tbl_name = 'gates' || char(0) || 'x' WHERE name = 'evil'")),
    ("a trigger with a NUL in its SQL", trigger!("UPDATE sqlite_schema SET sql = sql || char(0) || 'x' WHERE name = 'evil'")),
    ("a trigger that is listed as an index", trigger!("UPDATE sqlite_schema SET type = 'index' WHERE name = 'evil'")),
    ("a trigger that is listed as a table", trigger!("UPDATE sqlite_schema SET type = 'table', rootpage = 2 WHERE name = 'evil'")),
    ("a trigger listed on another table", trigger!("UPDATE sqlite_schema SET tbl_name = 'stolen' WHERE name = 'evil'")),
    ("a trigger with comments", "CREATE/**/TRIGGER/**/evil AFTER UPDATE ON gates BEGIN UPDATE gates SET status = 'approved'; END"),
    ("a trigger that calls itself as ours", "DROP TRIGGER gate_audit_log_no_update;
        CREATE TRIGGER gate_audit_log_no_update AFTER INSERT ON gate_audit_log BEGIN UPDATE gates SET status = 'approved'; END"),
    ("a trigger on a history", "CREATE TRIGGER evil AFTER INSERT ON x_binding_history BEGIN UPDATE gates SET status = 'approved'; END"),
    ("a trigger of one column", "CREATE TRIGGER evil AFTER UPDATE OF resolved_by ON gates BEGIN UPDATE gates SET status = 'approved'; END"),
    ("a trigger that forbids", "CREATE TRIGGER evil BEFORE UPDATE ON gates BEGIN SELECT RAISE(IGNORE); END"),
    // The next cases add entries that are not ordinary tables.
    ("a virtual table", virtual_table!("CREATE VIRTUAL TABLE bindings")),
    ("a virtual table in disguise", virtual_table!("CREATE/**/VIRTUAL TABLE bindings")),
    ("a shadow table", "DROP TABLE agent_segments; CREATE VIRTUAL TABLE agent USING fts4(a)"),
    ("a view of run", "ALTER TABLE run RENAME TO old_run; CREATE VIEW run AS SELECT * FROM old_run"),
    ("a view that never ends", "DROP TABLE bindings; CREATE VIEW bindings AS
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS name, i AS value, i AS execution_id FROM n"),
    ("a view that is written through", "ALTER TABLE gates RENAME TO old_gates; CREATE VIEW gates AS SELECT * FROM old_gates;
        CREATE TRIGGER evil INSTEAD OF UPDATE ON gates BEGIN UPDATE old_gates SET status = 'approved'; END"),
    // The next cases add code to the definitions of columns.
    ("a CHECK that takes memory", check!("bindings", "value", "hex(zeroblob(480000000)) <> value")),
    ("a CHECK that takes time", check!("bindings", "value", "instr(zeroblob(20000000), zeroblob(10000000) || x'01') = 0")),
    ("a CHECK with a pattern", check!("bindings", "value", "NOT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%a%b'")),
    ("a CHECK that joins texts", check!("bindings", "value", "length(value || value || value) > 0")),
    ("a CHECK on a gate", check!("gates", "status", "printf('%.*c', 100000000, 'x') <> status")),
    ("a CHECK on the log", check!("gate_audit_log", "comment", "replace(hex(zeroblob(9000000)), '0', hex(zeroblob(20))) <> comment")),
    ("a CHECK on an execution", check!("execution", "status", "quote(zeroblob(400000000)) <> status")),
    ("many calls in a CHECK", check!("bindings", "value",
        "json_valid(upper(lower(upper(lower(upper(lower(upper(lower(upper(lower(upper(lower(upper(lower(upper(lower(upper(lower(value)))))))))))))))))) >= 0")),
    ("a computed column", "ALTER TABLE bindings ADD COLUMN size GENERATED ALWAYS AS (instr('x', value)) VIRTUAL;
        CREATE INDEX by_size ON bindings(size);
        UPDATE sqlite_schema SET sql = replace(sql, '''x''', 'zeroblob(20000000)') WHERE name = 'bindings'"),
    ("a computed status", replaced!("gates", "status TEXT DEFAULT 'pending'", "status TEXT GENERATED ALWAYS AS ('approved') VIRTUAL")),
    ("a computed status that is stored", replaced!("gates", "status TEXT DEFAULT 'pending'", "status TEXT GENERATED ALWAYS AS (substr('approved', 1)) STORED")),
    ("a default", "ALTER TABLE gate_audit_log ADD COLUMN extra DEFAULT NULL; UPDATE sqlite_schema
        SET sql = replace(sql, 'extra DEFAULT NULL', 'extra DEFAULT (hex(zeroblob(480000000)))') WHERE name = 'gate_audit_log'"),
    ("an index on an expression", "CREATE INDEX evil ON execution(instr('x', status));
        UPDATE sqlite_schema SET sql = replace(sql, '''x''', 'hex(zeroblob(20000000))') WHERE name = 'evil'"),
    ("a partial index", "CREATE INDEX evil ON gate_audit_log(comment) WHERE instr('x', comment) OR 1;
        UPDATE sqlite_schema SET sql = replace(sql, '''x''', 'hex(zeroblob(480000000))') WHERE name = 'evil'"),
    // The next cases change keys and types.
    ("a key that is followed", replaced!("gates", "execution_id INTEGER REFERENCES execution(id)",
        "execution_id INTEGER REFERENCES execution(id) ON UPDATE SET NULL ON DELETE CASCADE")),
    ("a child that is followed", "CREATE TABLE child(id INTEGER, s TEXT REFERENCES execution(status) ON UPDATE CASCADE);
        CREATE UNIQUE INDEX evil ON execution(status, id)"),
    ("a key that replaces rows", replaced!("bindings", "kind TEXT", "kind TEXT UNIQUE ON CONFLICT REPLACE")),
    ("a key that ignores rows", replaced!("gate_audit_log", "gate_id TEXT NOT NULL", "gate_id TEXT NOT NULL UNIQUE ON CONFLICT IGNORE")),
    ("an index that allows one", "CREATE UNIQUE INDEX evil ON bindings(typeof(name))"),
    ("a type that makes numbers", replaced!("bindings", "value TEXT", "value INTEGER")),
    ("a type that makes numbers of comments", replaced!("gates", "resolution_comment TEXT", "resolution_comment REAL")),
    ("names of any case", replaced!("bindings", "name TEXT", "name TEXT COLLATE NOCASE")),
    ("a collation that is not there", replaced!("bindings", "name TEXT", "name TEXT COLLATE evil")),
    ("strict types", replaced!("bindings", "value TEXT", "value INT")),
    ("ids that are used up", "UPDATE sqlite_sequence SET seq = 9223372036854775807"),
    ("ids that are no numbers", "UPDATE sqlite_sequence SET seq = 'x'"),
    ("a column in the rowid's place", "ALTER TABLE bindings ADD COLUMN oid_ DEFAULT 7; UPDATE sqlite_schema SET sql = replace(sql, 'oid_', 'rowid') WHERE name = 'bindings'"),
    ("2,000 objects", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
        INSERT INTO sqlite_schema SELECT 'trigger', 't' || i, 'gates', 0, 'CREATE TRIGGER t' || i || ' AFTER UPDATE ON gates BEGIN UPDATE gates SET status = ''approved''; END' FROM n"),
];

/// The cases of [`SCHEMAS`] that are recorded into, or fail by themselves: what they change is a type, a row, or in
/// other tables.
const RECORDED: [&str; 9] = [
    "the document's extensions",
    "what others have",
    "a child that is followed",
    "a type that makes numbers",
    "a type that makes numbers of comments",
    "strict types",
    "ids that are used up",
    "ids that are no numbers",
    "a column in the rowid's place",
];

/// Commands, each with its standard input, and SQL whose result must be true afterwards if the command reports success.
const COMMANDS: &[(&[&str], &str, &str)] = &[
    (
        &["put", "Note", "--run", "RUN"],
        "007",
        "SELECT count(*) = 1 AND max(+value) = '007' AND typeof(value) = 'text' FROM bindings WHERE name = 'Note' COLLATE BINARY",
    ),
    (
        &["put", "draft", "--run", "RUN"],
        "1e3",
        "SELECT max(+value) = '1e3' FROM bindings WHERE name = 'draft'",
    ),
    (
        &["put", "large", "--run", "RUN"],
        "LARGE",
        "SELECT attachment_path IS NOT NULL FROM bindings WHERE name = 'large'",
    ),
    (
        &["begin", "10", "--run", "RUN"],
        "",
        "SELECT count(*) = 1 FROM execution WHERE statement_index = 10 AND status = 'executing'",
    ),
    (
        &["end", "1", "--run", "RUN"],
        "",
        "SELECT count(*) >= 1 FROM execution WHERE statement_index = 5 AND status = 'completed'",
    ),
    (
        &["fail", "1", "no", "--run", "RUN"],
        "",
        "SELECT count(*) >= 1 FROM execution WHERE statement_index = 5 AND status = 'failed'",
    ),
    (
        &["approve", "RUN", "publish", "--comment", "1.50"],
        "",
        "SELECT status = 'approved' AND +resolution_comment = '1.50' FROM gates WHERE id = 'publish'",
    ),
    (
        &["reject", "RUN", "publish", "--reason", "no"],
        "",
        "SELECT status = 'rejected' FROM gates WHERE id = 'publish'",
    ),
    (
        &[
            "gate", "create", "extra", "--run", "RUN", "--prompt", "More?",
        ],
        "",
        "SELECT status = 'pending' FROM gates WHERE id = 'extra'",
    ),
    (&["gate", "show", "RUN", "publish"], "", "SELECT 1"),
    (
        &["agent", "memory", "set", "writer", "--run", "RUN"],
        "007",
        "SELECT +memory = '007' FROM agents WHERE name = 'writer'",
    ),
    (
        &[
            "agent", "segment", "add", "writer", "--run", "RUN", "--prompt", "p",
        ],
        "5",
        "SELECT count(*) = 1 FROM agent_segments WHERE summary = '5'",
    ),
    (
        &[
            "begin",
            "--text",
            "use \"https://p.prose.md/a/b\" as r",
            "--run",
            "RUN",
        ],
        "",
        "SELECT count(*) = 1 FROM imports WHERE alias = 'r'",
    ),
    (
        &["finish", "failed", "--run", "RUN", "--force", "--vacuum"],
        "",
        "SELECT status = 'failed' FROM run",
    ),
    // The next commands only read.
    (&["show", "RUN"], "", "SELECT 1"),
    (&["check", "RUN"], "", "SELECT 1"),
    (&["get", "draft", "--run", "RUN"], "", "SELECT 1"),
    (&["audit", "verify", "RUN"], "", "SELECT 1"),
    (&["trace", "RUN"], "", "SELECT 1"),
];

/// Returns a project, the id of a run, and the bytes of its `state.db` before any change of its schema.
pub(crate) fn base() -> Option<(Project, String, Vec<u8>)> {
    let project = Project::new(PROGRAM)?;
    let run = project.init("sqlite");
    project.put(&run, "draft", b"a draft");
    project.expect(0, &["begin", "5", "--run", &run], b"");
    project.expect(
        0,
        &[
            "gate", "create", "publish", "--run", &run, "--line", "7", "--force",
        ],
        b"",
    );
    let path = project.run_dir(&run).join("state.db");
    let conn = Connection::open(&path).expect("it opens");
    conn.execute_batch("CREATE TABLE stolen(x); INSERT INTO gates(id, run_id, status) SELECT 'other', id, 'pending' FROM run")
        .expect("it is written");
    drop(conn);
    let bytes = fs::read(&path).expect("a file");
    Some((project, run, bytes))
}

/// Writes the run's database to a file and changes its schema with this SQL. Fails if SQLite rejects the SQL.
fn disguised(bytes: &[u8], sql: &str, to: &Path) -> Result<(), rusqlite::Error> {
    fs::write(to, bytes).expect("a file");
    let conn = Connection::open(to)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, true)?;
    conn.execute_batch("PRAGMA writable_schema = ON")?;
    conn.execute_batch(sql)
}

/// Runs a command with at most 256 MB of memory and 2 s of processor time; exceeding a limit ends the command by a
/// signal. Further tries have twice the time, at the machine's present speed, because a build with checks may need
/// more.
pub(crate) fn limited(project: &Project, args: &[&str], input: &[u8]) -> Output {
    // Two processes that share a core take up to twice their time each. So a command that was ended by the limit is
    // tried again.
    let mut tries = (0..3).map(|again| {
        let slower = if again == 0 { 1.0 } else { 2.0 * pace() };
        limited_once(project, args, input, (2.0 * slower).ceil())
    });
    let ended = |out: &Output| out.status.code().is_none();
    let first = tries.next().expect("a try");
    if ended(&first) {
        tries.find(|out| !ended(out)).unwrap_or(first)
    } else {
        first
    }
}

fn limited_once(project: &Project, args: &[&str], input: &[u8], seconds: f64) -> Output {
    let command = project.command(args);
    let mut limited = Command::new("prlimit");
    limited
        .args(["--data=268435456", "--core=0"])
        .arg(format!("--cpu={seconds}"))
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(project.path())
        .env("HOME", project.path().join("home"));
    given(&mut limited, input)
}

#[test]
fn a_hostile_schema_is_not_recorded_into_or_does_no_harm() {
    let Some((project, run, bytes)) = base() else {
        return;
    };
    let path = project.run_dir(&run).join("state.db");
    let large = "x".repeat(300_000);
    let (mut refused, mut done) = (0, 0);
    let mut odd = Vec::new();
    for (name, sql) in SCHEMAS {
        disguised(&bytes, sql, &path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let hostile = fs::read(&path).expect("a file");
        assert!(hostile != bytes, "{name} changes nothing");
        let is_recorded = RECORDED.contains(name);
        // Some changes of a schema also change rows. A condition that is false before any command is not checked.
        let kept: Vec<&str> = KEPT.into_iter().filter(|sql| is_true(&path, sql)).collect();
        for (n, (args, input, holds)) in COMMANDS.iter().enumerate() {
            let writes = *holds != "SELECT 1";
            // A database that is not recorded into is refused before a command is planned, so two writers are enough.
            if writes && !is_recorded && n > 0 && args[0] != "approve" {
                continue;
            }
            fresh(&path, &hostile);
            let args: Vec<&str> = args
                .iter()
                .map(|arg| if *arg == "RUN" { &run } else { *arg })
                .collect();
            let input = if *input == "LARGE" { &large } else { *input };
            let out = limited(&project, &args, input.as_bytes());
            let what = format!(
                "{name}, {args:?}: {:?}\n{}{}",
                out.status,
                text(&out.stdout),
                text(&out.stderr)
            );
            match out.status.code() {
                // Code 7: the command recorded, but a later step failed. In these tests, the step shrinks the file.
                Some(0 | 1 | 7) => {
                    done += 1;
                    if writes && !is_recorded {
                        odd.push(format!("recorded into: {what}"));
                    }
                    odd.extend(harm(&path, &kept, holds).map(|harm| format!("{harm}: {what}")));
                }
                Some(3..=6) => {
                    refused += 1;
                    // SQLite itself refuses some of the disguised schemas.
                    let is_ours = ["is not recorded into", "malformed"]
                        .iter()
                        .any(|words| what.contains(words));
                    if writes && is_recorded == is_ours {
                        odd.push(format!("another refusal: {what}"));
                    }
                    if fs::read(&path).expect("a file") != hostile {
                        odd.push(format!("refused, and changed: {what}"));
                    }
                }
                _ => odd.push(what),
            }
        }
        fresh(&path, &hostile);
        let check = limited(&project, &["check", &run], b"");
        let said = text(&check.stdout) + &text(&check.stderr);
        let named = ["foreign-code", "disguised-schema", "malformed"];
        let is_named = named.iter().any(|rule| said.contains(rule));
        if is_named == is_recorded {
            odd.push(format!("{name}: {said}"));
        }
    }
    assert!(
        odd.is_empty(),
        "{} of {}:\n{}",
        odd.len(),
        done + refused,
        odd.join("\n")
    );
    assert!(
        SCHEMAS.len() >= 40 && done > 100 && refused > 60,
        "{done} done, {refused} refused"
    );
}

/// Checks schema texts that take long to compile, or long to run without a jump. SQLite can interrupt only at a jump.
#[test]
fn however_long_a_schema_is_each_command_ends() {
    let Some((project, run, bytes)) = base() else {
        return;
    };
    let path = project.run_dir(&run).join("state.db");
    let terms = |count: usize, term: &dyn Fn(usize) -> String| -> String {
        let mut terms: Vec<String> = (0..count).map(term).collect();
        // The terms are joined to a balanced tree, because SQLite limits the depth of an expression.
        while terms.len() > 1 {
            let pairs = terms.chunks(2).map(|two| format!("({})", two.join(" + ")));
            terms = pairs.collect();
        }
        terms.remove(0)
    };
    let cases: Vec<String> = (0..3_000).map(|n| format!("WHEN {n} THEN 1")).collect();
    for expression in [
        terms(30_000, &|n| format!("abs({n})")),
        terms(5_000, &|_| "(value = value)".to_owned()),
        terms(700, &|_| "(value = value COLLATE NOCASE)".to_owned()),
        format!("CASE value {} END", cases.join(" ")),
        format!("rtrim('{}', value)", "a".repeat(300_000)),
    ] {
        for (made, object) in [
            (
                "ALTER TABLE bindings ADD COLUMN extra CHECK (1)",
                "bindings",
            ),
            ("ALTER TABLE bindings ADD COLUMN extra AS (1)", "bindings"),
            ("CREATE INDEX evil ON bindings(1)", "evil"),
        ] {
            let expression = expression.replace('\'', "''");
            let sql = format!(
                "{made}; UPDATE sqlite_schema SET sql = replace(sql, '(1)', '({expression})') WHERE name = '{object}'"
            );
            disguised(&bytes, &sql, &path).expect(made);
            for args in [
                &["put", "Note", "--run", &run][..],
                &["show", &run],
                &["check", &run],
            ] {
                let out = limited(&project, args, b"007");
                let code = out.status.code();
                assert!(matches!(code, Some(0..=7)), "{made}, {args:?}: {out:?}");
                assert!(args[0] != "put" || code == Some(5), "{made}: {out:?}");
            }
        }
    }
}

/// Each case: a name, and rows in OpenProse's own schema that are larger than those of real runs.
const HEAVY: &[(&str, &str)] = &[
    ("many gates", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80)
        INSERT INTO gates(id, run_id, status, prompt) SELECT 'g' || i, run.id, 'pending', printf('%.*c', 1000000, 'x') FROM n, run"),
    ("a long error", "UPDATE execution SET error_message = printf('%.*c', 60000000, 'x')"),
    ("nested metadata", "UPDATE execution SET metadata = '{\"a\":[' || replace(printf('%.*c', 7000000, 'x'), 'x', '[],') || '0]}'"),
    ("a long program", "UPDATE run SET program_source = printf('%.*c', 60000000, 'x')"),
    ("a long value", "UPDATE bindings SET value = printf('%.*c', 60000000, 'x')"),
    ("a long memory", "INSERT INTO agents(name, memory) VALUES ('writer', printf('%.*c', 60000000, 'x'))"),
    ("many rows", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
        INSERT INTO execution(statement_text, status, parent_id) SELECT 'session \"B\"', 'executing', 1 FROM n"),
];

#[test]
fn a_heavy_run_is_refused_or_recorded_within_the_limits() {
    let Some((project, run, bytes)) = base() else {
        return;
    };
    let path = project.run_dir(&run).join("state.db");
    let mut odd = Vec::new();
    for (name, sql) in HEAVY {
        disguised(&bytes, sql, &path).unwrap_or_else(|error| panic!("{name}: {error}"));
        for (args, input, _) in COMMANDS {
            let args: Vec<&str> = args
                .iter()
                .map(|arg| if *arg == "RUN" { &run } else { *arg })
                .collect();
            let out = limited(&project, &args, input.as_bytes());
            if !matches!(out.status.code(), Some(0..=7)) {
                odd.push(format!(
                    "{name}, {args:?}: {:?}\n{}",
                    out.status,
                    text(&out.stderr)
                ));
            }
        }
    }
    assert!(odd.is_empty(), "{}", odd.join("\n"));
}

/// Checks that `check --all` reports an unreadable run, and that it checks the other runs after a hostile one.
#[test]
fn checking_all_goes_on_after_a_hostile_run() {
    let Some((project, run, bytes)) = base() else {
        return;
    };
    let path = project.run_dir(&run).join("state.db");
    for (name, sql) in SCHEMAS {
        let (other, garbage) = (project.init("sqlite"), project.init("sqlite"));
        disguised(&bytes, sql, &path).expect("it is taken");
        fs::write(project.run_dir(&garbage).join("state.db"), [7; 9000]).expect("a file");
        let out = limited(&project, &["check", "--all", "--json"], b"");
        assert_eq!(out.status.code(), Some(1), "{name}: {}", text(&out.stderr));
        let said: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let of = |id: &str| {
            let mut runs = said["runs"].as_array().expect("a list").iter();
            let run = runs.find(|run| run["run"] == id).expect("it is listed");
            run["error"].as_str().unwrap_or_default().to_owned()
        };
        let hostile = of(&run);
        assert!(
            hostile.is_empty() || hostile.contains("malformed"),
            "{name}: {hostile}"
        );
        assert_eq!(of(&other), "", "{name}");
        assert!(of(&garbage).contains("not a"), "{name}: {}", of(&garbage));
        for gone in [other, garbage] {
            fs::remove_dir_all(project.run_dir(&gone)).expect("it goes");
        }
    }
}

/// Writes the hostile database again, and removes the folders that an earlier command may have created beside it.
fn fresh(path: &PathBuf, hostile: &[u8]) {
    fs::write(path, hostile).expect("a file");
    let dir = path.parent().expect("a folder");
    for gone in ["attachments", "imports"] {
        let _ = fs::remove_dir_all(dir.join(gone));
    }
}

/// Conditions that are true before and after every command.
const KEPT: [&str; 3] = [
    "SELECT status = 'pending' FROM gates WHERE id = 'other'",
    "SELECT count(*) = 0 FROM stolen",
    "SELECT count(*) = 1 FROM bindings WHERE name = 'draft' AND (value = 'a draft' OR value = '1e3')",
];

/// Returns a condition that is false after a command that reported success: its own condition (`holds`), or one that no
/// command may change (`kept`).
fn harm(path: &Path, kept: &[&str], holds: &str) -> Option<String> {
    let mut asked = std::iter::once(&holds).chain(kept);
    let harmed = asked.find(|sql| !is_true(path, sql))?;
    Some(format!("not so: {harmed}"))
}

/// Returns whether a query yields true; a view that never ends yields false.
fn is_true(path: &Path, sql: &str) -> bool {
    let mut conn = Connection::open(path).expect("it opens");
    let mut steps = 0;
    let most = move || {
        steps += 1;
        steps > 10_000
    };
    conn.progress_handler(1000, Some(most)).expect("it is set");
    let said = conn.query_row(sql, [], |row| row.get::<_, Option<bool>>(0));
    said == Ok(Some(true))
}
