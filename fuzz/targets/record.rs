//! Fuzzes recording: changes the schema of a run's database at random and executes random commands on it. A refused
//! command must change nothing, and another program must be able to read what a successful command reports.
#![no_main]

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use prosescope_core::model::AgentScope;
use prosescope_core::model::schema::STATE_SQL;
use prosescope_core::record::{
    At, Begin, CreateGate, Decision, End, Fail, Insist, Put, Remember, ResolveGate, StatementRef, WriteError, record,
};
use prosescope_store::SqliteStore;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

const TABLES: [&str; 8] = ["run", "execution", "bindings", "gates", "gate_audit_log", "agents", "x_binding_history", "stolen"];

/// The columns that replace `C` in [`CHANGES`]. If a table lacks the column, SQLite refuses the change.
const COLUMNS: [&str; 12] = [
    "id", "name", "value", "status", "execution_id", "run_id", "comment", "memory", "metadata", "resolved_by", "kind", "parent_id",
];

const EXPRESSIONS: [&str; 14] = [
    "1",
    "NULL",
    "'approved'",
    "instr(zeroblob(20000000), zeroblob(10000000) || x'01')",
    "hex(zeroblob(480000000))",
    "length(status)",
    "upper(name)",
    "value || value",
    "typeof(value) = 'text'",
    "status IN ('pending', 'approved', 'rejected', 'running')",
    "value LIKE '%a%a%a%a%a%b'",
    "random()",
    "json_valid(metadata)",
    "7",
];

/// Changes of the schema, in which [`words`] replaces `T` by a table, `C` by a column and `E` by an expression.
const CHANGES: [&str; 30] = [
    "CREATE TRIGGER evil AFTER INSERT ON T BEGIN UPDATE gates SET status = E; END",
    "CREATE TRIGGER evil BEFORE UPDATE ON T BEGIN DELETE FROM bindings; END",
    "CREATE TRIGGER evil AFTER UPDATE OF C ON T BEGIN INSERT INTO stolen VALUES (E); END",
    "CREATE TRIGGER evil BEFORE INSERT ON T BEGIN SELECT RAISE(IGNORE); END",
    "UPDATE sqlite_schema SET type = 'TRIGGER' WHERE name = 'evil'",
    "UPDATE sqlite_schema SET sql = CAST(sql AS BLOB) WHERE name IN ('evil', 'T')",
    "UPDATE sqlite_schema SET name = CAST(name AS BLOB) WHERE name IN ('evil', 'T')",
    "UPDATE sqlite_schema SET tbl_name = tbl_name || char(0) || 'x' WHERE name = 'evil'",
    "UPDATE sqlite_schema SET tbl_name = 'T' WHERE name = 'evil'",
    "UPDATE sqlite_schema SET sql = replace(sql, ' ', '/**/') WHERE name = 'evil'",
    "UPDATE sqlite_schema SET sql = replace(sql, 'C TEXT', 'C TEXT CHECK (E)') WHERE name = 'T'",
    "UPDATE sqlite_schema SET sql = replace(sql, 'C TEXT', 'C TEXT DEFAULT (E)') WHERE name = 'T'",
    "UPDATE sqlite_schema SET sql = replace(sql, 'C TEXT', 'C TEXT GENERATED ALWAYS AS (E) VIRTUAL') WHERE name = 'T'",
    "UPDATE sqlite_schema SET sql = replace(sql, 'C TEXT', 'C TEXT GENERATED ALWAYS AS (E) STORED') WHERE name = 'T'",
    "UPDATE sqlite_schema SET sql = replace(sql, 'C TEXT', 'C TEXT COLLATE NOCASE') WHERE name = 'T'",
    "UPDATE sqlite_schema SET sql = replace(sql, 'C TEXT', 'C INTEGER') WHERE name = 'T'",
    "UPDATE sqlite_schema SET sql = replace(sql, 'C TEXT', 'C REAL UNIQUE ON CONFLICT REPLACE') WHERE name = 'T'",
    "UPDATE sqlite_schema SET sql = replace(sql, 'C TEXT', 'C TEXT UNIQUE ON CONFLICT IGNORE') WHERE name = 'T'",
    "UPDATE sqlite_schema SET sql = replace(sql, 'C TEXT', 'C TEXT NOT NULL ON CONFLICT REPLACE DEFAULT (E)') WHERE name = 'T'",
    "UPDATE sqlite_schema SET sql = replace(sql, 'C TEXT', 'C TEXT REFERENCES run(id) ON UPDATE CASCADE ON DELETE SET NULL') WHERE name = 'T'",
    "UPDATE sqlite_schema SET sql = replace(sql, 'AUTOINCREMENT', '') WHERE name = 'T'",
    "CREATE UNIQUE INDEX evil ON T(C)",
    "CREATE INDEX evil ON T(instr(C, 'x')); UPDATE sqlite_schema SET sql = replace(sql, '''x''', 'E') WHERE name = 'evil'",
    "CREATE INDEX evil ON T(C) WHERE C IS NOT NULL; UPDATE sqlite_schema SET sql = replace(sql, 'C IS NOT NULL', 'E') WHERE name = 'evil'",
    "ALTER TABLE T ADD COLUMN extra DEFAULT 1; UPDATE sqlite_schema SET sql = replace(sql, 'DEFAULT 1', 'DEFAULT (E)') WHERE name = 'T'",
    "ALTER TABLE T RENAME TO old_T; CREATE VIEW T AS SELECT * FROM old_T",
    "DROP TABLE T; CREATE VIRTUAL TABLE T USING fts5(name, value, kind, execution_id)",
    "DROP TABLE T",
    "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'T'",
    "INSERT INTO sqlite_schema SELECT type, 'x' || name, tbl_name, rootpage, sql FROM sqlite_schema WHERE name = 'T'",
];

/// Returns the bytes of a database with a run: a running statement, a binding and two gates.
fn base() -> &'static [u8] {
    static BASE: OnceLock<Vec<u8>> = OnceLock::new();
    BASE.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("state.db");
        let conn = Connection::open(&path).expect("a database");
        conn.execute_batch(STATE_SQL).expect("the schema");
        conn.execute_batch(
            "CREATE TABLE stolen(x);
             INSERT INTO run(id, status) VALUES ('r', 'running');
             INSERT INTO execution(id, statement_index, statement_text, status) VALUES (1, 1, 'session \"A\"', 'executing');
             INSERT INTO bindings(name, kind, value) VALUES ('draft', 'let', 'a draft');
             INSERT INTO gates(id, run_id, status) VALUES ('publish', 'r', 'pending'), ('other', 'r', 'pending');",
        )
        .expect("rows");
        drop(conn);
        fs::read(path).expect("a file")
    })
}

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.iter().copied().take(64);
    let mut pick = |most: usize| bytes.next().map(|byte| usize::from(byte) % most);
    let dir = tempfile::Builder::new().tempdir_in(memory()).expect("a folder");
    let path = dir.path().join("state.db");
    fs::write(&path, base()).expect("a file");
    for _ in 0..pick(4).unwrap_or(0) {
        let (Some(change), Some(table), Some(column), Some(expression)) =
            (pick(CHANGES.len()), pick(TABLES.len()), pick(COLUMNS.len()), pick(EXPRESSIONS.len()))
        else {
            break;
        };
        let sql = words(CHANGES[change], TABLES[table], COLUMNS[column], EXPRESSIONS[expression]);
        // A change that SQLite refuses is skipped.
        let _ = plain(&path).execute_batch(&sql);
    }
    while let Some(command) = pick(9) {
        let before = told(&path);
        let done = run(&path, command);
        let after = told(&path);
        match done {
            Err(error) => assert!(before == after, "{error} changed {before:?} to {after:?}"),
            Ok(()) => {
                let holds = plain(&path).query_row(HOLDS[command], [], |row| row.get::<_, Option<bool>>(0));
                // If the plain reader cannot read a table, the check asserts nothing about this table.
                assert!(!matches!(holds, Ok(Some(false) | None)), "command {command} succeeded, but the database lacks what it records: {after:?}");
                assert!(after[3] == before[3] || before[3].is_none(), "something else was written: {after:?}");
            }
        }
    }
});

/// Returns a folder in memory, or `/tmp` if the system has no such folder.
fn memory() -> &'static Path {
    let shm = Path::new("/dev/shm");
    match shm.is_dir() {
        true => shm,
        false => Path::new("/tmp"),
    }
}

/// Replaces the placeholders `T`, `C` and `E` in a change by a table, a column and an expression.
fn words(change: &str, table: &str, column: &str, expression: &str) -> String {
    let mut out = String::new();
    let mut last = ' ';
    let mut rest = change.chars().peekable();
    while let Some(letter) = rest.next() {
        let alone = !(last.is_alphanumeric()) && !rest.peek().is_some_and(|next| next.is_alphanumeric());
        match letter {
            'T' if alone => out.push_str(table),
            'C' if alone => out.push_str(column),
            'E' if alone => out.push_str(expression),
            other => out.push(other),
        }
        last = letter;
    }
    out
}

/// Opens a connection as another program might: triggers run, and the schema may be changed. The length of values is
/// limited.
fn plain(path: &Path) -> Connection {
    let conn = Connection::open(path).expect("a connection");
    let settings = [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false),
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, true),
    ];
    for (setting, on) in settings {
        let _ = conn.set_db_config(setting, on);
    }
    let _ = conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, 100_000);
    let _ = conn.execute_batch("PRAGMA synchronous = OFF");
    conn
}

/// Returns what a program with plain SQL reads: bindings, executions, gates, and data that no command changes. `None`
/// for each that the program cannot read.
fn told(path: &Path) -> [Option<String>; 4] {
    let conn = plain(path);
    [
        "SELECT group_concat(quote(name) || quote(value) || quote(execution_id), ';') FROM bindings",
        "SELECT group_concat(id || quote(status) || quote(statement_index), ';') FROM execution",
        "SELECT group_concat(quote(id) || quote(status) || quote(resolved_by), ';') FROM gates",
        "SELECT (SELECT count(*) FROM stolen) || (SELECT group_concat(quote(status)) FROM gates WHERE id = 'other')",
    ]
    .map(|sql| conn.query_row(sql, [], |row| row.get::<_, Option<String>>(0)).ok().flatten())
}

const HOLDS: [&str; 9] = [
    "SELECT +value = '007' AND typeof(value) = 'text' FROM bindings WHERE name = 'Note' COLLATE BINARY",
    "SELECT +value = '1e3' AND typeof(value) = 'text' FROM bindings WHERE name = 'draft' COLLATE BINARY",
    "SELECT count(*) > 0 FROM execution WHERE statement_index = 2 AND status = 'executing'",
    "SELECT count(*) > 0 FROM execution JOIN execution AS ended ON execution.statement_index IS ended.statement_index
     WHERE ended.id = 1 AND execution.status = 'completed'",
    "SELECT count(*) > 0 FROM execution JOIN execution AS ended ON execution.statement_index IS ended.statement_index
     WHERE ended.id = 1 AND execution.status = 'failed'",
    "SELECT status = 'approved' FROM gates WHERE id = 'publish' COLLATE BINARY",
    "SELECT status = 'rejected' FROM gates WHERE id = 'publish' COLLATE BINARY",
    "SELECT count(*) = 1 FROM gates WHERE id = 'extra' COLLATE BINARY AND status = 'pending'",
    "SELECT +memory = '12' AND typeof(memory) = 'text' FROM agents WHERE name = 'writer' COLLATE BINARY",
];

/// Executes the command of this number; the query of the same number in [`HOLDS`] checks its effect.
fn run(path: &Path, command: usize) -> Result<(), WriteError> {
    let mut store = SqliteStore::open(path, Some("r"))?;
    let at = At { now: 1_768_487_452_000, ..At::default() };
    let insist = Insist { force: true, overrides: true };
    let put = |name: &str, value: &str| Put {
        name: Some(name.to_owned()),
        value: value.as_bytes().to_vec().into(),
        ..Put::default()
    };
    let decide = |decision| ResolveGate {
        gate: "publish".to_owned(),
        decision,
        by: "user".to_owned(),
        on_behalf_of: None,
        record_timeout: false,
        overrides: false,
    };
    match command {
        0 => record(&mut store, &put("Note", "007"), &at).map(drop),
        1 => record(&mut store, &put("draft", "1e3"), &at).map(drop),
        2 => {
            let statement = StatementRef { text: Some("session \"B\"".to_owned()), line: Some(2) };
            let begin = Begin { statement, insist, ..Begin::default() };
            record(&mut store, &begin, &at).map(drop)
        }
        3 => record(&mut store, &End { id: Some(1), because: None, insist }, &at).map(drop),
        4 => record(&mut store, &Fail { id: Some(1), error: "no".to_owned(), insist }, &at).map(drop),
        5 => record(&mut store, &decide(Decision::Approve { comment: None }), &at).map(drop),
        6 => record(&mut store, &decide(Decision::Reject { reason: "no".to_owned() }), &at).map(drop),
        7 => {
            let gate = CreateGate {
                id: Some("extra".to_owned()),
                prompt: Some("More?".to_owned()),
                allow: None,
                timeout: None,
                on_reject: None,
                parent: None,
                item: None,
                line: None,
                insist,
            };
            record(&mut store, &gate, &at).map(drop)
        }
        _ => {
            let remember = Remember {
                agent: "writer".to_owned(),
                scope: AgentScope::Execution,
                memory: "12".to_owned(),
            };
            record(&mut store, &remember, &at).map(drop)
        }
    }
}
