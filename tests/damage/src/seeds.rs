//! Healthy databases, which other modules damage: some made with OpenProse's own SQL in both dialects, some from the
//! examples.

use std::sync::OnceLock;

use prosescope_core::model::schema::{AGENTS_SQL, STATE_SQL};
use rusqlite::Connection;

macro_rules! document {
    ($name:literal) => {
        include_str!(concat!("../../../core/tests/fixtures/sql/", $name, ".sql"))
    };
}

macro_rules! example {
    ($path:literal) => {
        include_bytes!(concat!("../../../examples/.prose/", $path))
    };
}

pub(crate) const SCHEMA: &str = document!("schema");
pub(crate) const GATES_SCHEMA: &str = document!("schema_gates");
pub(crate) const PLAIN_KEY: &str = document!("bindings_plain_key");
pub(crate) const APPEND_ONLY: &str = document!("append_only");
pub(crate) const IN_PLACE: &str = document!("in_place");
pub(crate) const VALUES: &str = document!("values");
pub(crate) const GATES: &str = document!("gates");
pub(crate) const EXTENSIONS: &str = document!("extensions");

/// An undamaged database.
pub(crate) struct Seed {
    pub(crate) name: &'static str,
    /// The file's name in a run folder.
    pub(crate) file: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// Returns all undamaged databases, built once.
pub(crate) fn databases() -> &'static [Seed] {
    static MADE: OnceLock<Vec<Seed>> = OnceLock::new();
    MADE.get_or_init(|| {
        let documents = format!("{SCHEMA}{PLAIN_KEY}{GATES_SCHEMA}");
        let corrected = format!("{STATE_SQL}{APPEND_ONLY}{GATES}{VALUES}");
        let state = |name, bytes| Seed {
            name,
            file: "state.db",
            bytes,
        };
        vec![
            state(
                "append-only",
                make(
                    "PRAGMA page_size = 512",
                    &[&documents, APPEND_ONLY, GATES, VALUES, EXTENSIONS],
                ),
            ),
            state(
                "in place",
                make(
                    "PRAGMA page_size = 1024",
                    &[&documents, IN_PLACE, VALUES, EXTENSIONS],
                ),
            ),
            state(
                "corrected schema",
                make("PRAGMA page_size = 4096", &[&corrected]),
            ),
            state(
                "both dialects, UTF-16",
                make(
                    "PRAGMA page_size = 1024; PRAGMA encoding = 'UTF-16le'",
                    &[&documents, APPEND_ONLY, IN_PLACE, GATES, VALUES],
                ),
            ),
            state(
                "free pages",
                make(
                    "PRAGMA page_size = 512; PRAGMA auto_vacuum = INCREMENTAL",
                    &[STATE_SQL, MANY, LARGE, FREED],
                ),
            ),
            state("no rowids", make("PRAGMA page_size = 512", &[NO_ROWIDS])),
            state(
                "large values",
                make("PRAGMA page_size = 1024", &[&corrected, LARGE]),
            ),
            state(
                "many rows",
                make("PRAGMA page_size = 512", &[STATE_SQL, MANY]),
            ),
            Seed {
                name: "agents",
                file: "agents.db",
                bytes: make("PRAGMA page_size = 512", &[AGENTS_SQL, AGENTS]),
            },
            state(
                "example, completed",
                example!("runs/20260112-091407-k3v8qd/state.db").to_vec(),
            ),
            state(
                "example, failed",
                example!("runs/20260118-201530-z4t9wa/state.db").to_vec(),
            ),
            state(
                "example, waiting",
                example!("runs/20260125-125506-p7r2mx/state.db").to_vec(),
            ),
            Seed {
                name: "example, agents",
                file: "agents.db",
                bytes: example!("agents.db").to_vec(),
            },
        ]
    })
}

/// Returns a database with these settings and statements; skips statements that SQLite refuses, as the `sqlite3`
/// program does with its input.
///
/// # Panics
/// If SQLite cannot create a database in memory.
pub(crate) fn make(settings: &str, scripts: &[&str]) -> Vec<u8> {
    let mut conn = Connection::open_in_memory().expect("a database in memory");
    run(&conn, settings);
    run(&conn, "PRAGMA foreign_keys = OFF");
    for script in scripts {
        run(&conn, script);
    }
    let bytes = conn.serialize(c"main").expect("its bytes");
    bytes.to_vec()
}

/// Runs statements one by one, and skips those that fail. `datetime('now')` always gives the same time.
pub(crate) fn run(conn: &Connection, script: &str) {
    let script = script.replace("datetime('now'", "datetime('2026-01-25 13:00:00'");
    for statement in statements(&script) {
        let _ = conn.execute_batch(statement);
    }
}

/// Splits a script at the semicolons that end a statement. Ignores semicolons in texts, names, comments and triggers.
fn statements(script: &str) -> Vec<&str> {
    let mut statements = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(rest) = script.get(at..).filter(|rest| !rest.is_empty()) {
        let until = |end: &str| {
            rest[1..]
                .find(end)
                .map_or(rest.len(), |n| 1 + n + end.len())
        };
        at += match rest.as_bytes()[0] {
            b'\'' => until("'"),
            b'"' => until("\""),
            b'-' if rest.starts_with("--") => until("\n"),
            b'/' if rest.starts_with("/*") => until("*/"),
            b';' => {
                let statement = &script[start..=at];
                let in_trigger =
                    statement.contains("CREATE TRIGGER") && !statement.ends_with("END;");
                if !in_trigger {
                    statements.push(statement);
                    start = at + 1;
                }
                1
            }
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
    }
    statements.push(&script[start..]);
    statements
}

/// Returns the bytes of a database after a change through SQLite; `None` if SQLite cannot open the database.
pub(crate) fn with(bytes: &[u8], change: impl FnOnce(&Connection)) -> Option<Vec<u8>> {
    let mut conn = Connection::open_in_memory().ok()?;
    conn.deserialize_read_exact(c"main", bytes, bytes.len(), false)
        .ok()?;
    run(
        &conn,
        "PRAGMA foreign_keys = OFF; PRAGMA recursive_triggers = OFF",
    );
    change(&conn);
    let written = conn.serialize(c"main").ok()?;
    Some(written.to_vec())
}

/// SQL for a database in which every table is WITHOUT ROWID and has generated columns.
pub(crate) const NO_ROWIDS: &str = "
CREATE TABLE run (id TEXT PRIMARY KEY, program_path, program_source, started_at, updated_at, status) WITHOUT ROWID;
CREATE TABLE execution (statement_text, id INTEGER PRIMARY KEY, statement_index, status, metadata, parent_id,
  upper_text AS (upper(statement_text)), lower_text AS (lower(statement_text)) STORED) WITHOUT ROWID;
CREATE TABLE bindings (kind, value, name, execution_id DEFAULT 0, source_statement,
  PRIMARY KEY (name, execution_id)) WITHOUT ROWID;
CREATE TABLE agents (name PRIMARY KEY, memory, scope) WITHOUT ROWID;
CREATE TABLE gates (id, run_id, status, prompt, PRIMARY KEY (run_id, id)) WITHOUT ROWID;
CREATE TABLE gate_audit_log (gate_id, run_id, event_type, id PRIMARY KEY) WITHOUT ROWID;
INSERT INTO run VALUES ('r1', 'a.prose', 'session \"A\"', '2026-01-25 12:55:06', NULL, 'running');
INSERT INTO execution (id, statement_index, statement_text, status) VALUES
  (1, 1, 'session \"A\"', 'completed'), (2, 2, 'loop until **b**:', 'executing'), (3, 3, 'session \"C\"', 'failed');
INSERT INTO bindings VALUES ('let', 'text', 'a', -1, NULL), ('let', hex(zeroblob(4000)), 'b', 2, 'x');
INSERT INTO agents VALUES ('captain', 'Reefs to the east.', 'execution');
INSERT INTO gates VALUES ('g', 'r1', 'pending', 'Go?');
INSERT INTO gate_audit_log VALUES ('g', 'r1', 'created', 1);
";

/// SQL for nested loops, blocks and retries, with enough rows for two levels of pages.
pub(crate) const MANY: &str = "
INSERT INTO run (id, program_path, program_source, started_at, status) VALUES ('many', 'many.prose',
  'loop until **done** (max: 40):
  let a = session \"Step\"
  parallel:
    b = session \"B\"
    c = session \"C\"
', '2026-01-25 12:55:06', 'running');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
INSERT INTO execution (id, statement_index, statement_text, status, started_at, parent_id, metadata)
SELECT i, i % 5 + 1,
  CASE i % 5 WHEN 0 THEN 'loop until **done** (max: 40):' WHEN 2 THEN 'parallel:' ELSE 'session \"Step ' || i || '\"' END,
  CASE i % 7 WHEN 0 THEN 'failed' WHEN 1 THEN 'executing' WHEN 2 THEN 'started' ELSE 'completed' END,
  datetime('2026-01-25 12:55:06', '+' || i || ' seconds'), CASE WHEN i > 5 THEN i / 5 END,
  CASE i % 3 WHEN 0 THEN '{\"loop_id\": \"l' || i % 9 || '\", \"iteration\": ' || i % 11 || '}'
    WHEN 1 THEN '{\"parallel_id\": \"p' || i % 13 || '\", \"branch\": \"b' || i % 4 || '\"}' ELSE '{}' END
FROM n;
INSERT INTO bindings (name, execution_id, kind, value, source_statement)
SELECT 'b' || id, CASE WHEN id % 3 THEN id END, 'let', 'value ' || id, 'let b = session' FROM execution WHERE id % 4 = 0;
INSERT INTO gates (id, run_id, execution_id, prompt, status) SELECT 'g' || id, 'many', id, 'Go?', 'pending'
FROM execution WHERE id % 40 = 0;
INSERT INTO gate_audit_log (gate_id, run_id, event_type, principal) SELECT id, run_id, 'created', 'system' FROM gates;
";

/// SQL for values that take several pages, with further columns after them.
pub(crate) const LARGE: &str = "
INSERT INTO run (id, program_path, program_source, started_at, status)
VALUES ('large', 'large.prose', 'let a = session \"A\"', '2026-01-25 12:55:06', 'completed');
INSERT INTO execution (statement_index, statement_text, status, error_message)
VALUES (1, 'session \"' || hex(zeroblob(900)) || '\"', 'failed', hex(zeroblob(3000)));
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8)
INSERT INTO bindings (name, kind, value, source_statement) SELECT 'large' || i, 'let', hex(zeroblob(500 * i)), 'let x' FROM n;
INSERT INTO agents (name, scope, memory) VALUES ('elephant', 'project', hex(zeroblob(6000)));
INSERT INTO agent_segments (agent_name, segment_number, prompt, summary)
VALUES ('elephant', 1, hex(zeroblob(2000)), hex(zeroblob(2000)));
";

/// SQL that deletes rows, so that pages become free.
const FREED: &str = "
DELETE FROM bindings WHERE rowid % 3 = 0; DELETE FROM execution WHERE id > 250;
UPDATE agents SET memory = 'short';
";

/// SQL for agents of a project, with the columns that OpenProse documents.
const AGENTS: &str = "
INSERT INTO agents (name, scope, memory, created_at, updated_at) VALUES
  ('captain', 'project', 'Reefs to the east.', '2026-01-25 12:55:06', '2026-01-25 13:55:06'),
  ('pilot', 'user', hex(zeroblob(1500)), '2026-01-25 12:55:06', '2026-01-25T13:55:06Z');
INSERT INTO agent_segments (agent_name, segment_number, timestamp, prompt, summary) VALUES
  ('captain', 1, '2026-01-25 12:55:06', 'Plan', 'Planned'), ('pilot', 2, '2026-01-25 12:55:06', 'Steer', 'Steered');
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_whole_and_come_out_the_same() {
        for seed in databases() {
            let mut conn = Connection::open_in_memory().unwrap();
            conn.deserialize_read_exact(c"main", seed.bytes.as_slice(), seed.bytes.len(), true)
                .unwrap();
            let said: String = conn
                .query_row("PRAGMA integrity_check", [], |r| r.get(0))
                .unwrap();
            assert_eq!(said, "ok", "{}", seed.name);
        }
        let again = make("PRAGMA page_size = 512", &[NO_ROWIDS]);
        assert!(databases().iter().any(|s| s.bytes == again));
    }

    #[test]
    fn a_script_is_split_where_its_statements_end() {
        let script = "SELECT ';'; /* a; b' */ SELECT \"x;'\";-- it's; so\nSELECT 1;
            CREATE TRIGGER t BEFORE DELETE ON a BEGIN SELECT 1; SELECT 2; END; SELECT 3";
        let ends: Vec<&str> = statements(script)
            .iter()
            .map(|s| &s[s.len() - 9..])
            .collect();
        assert_eq!(
            ends,
            [
                "LECT ';';",
                "CT \"x;'\";",
                "SELECT 1;",
                "T 2; END;",
                " SELECT 3"
            ]
        );
    }

    #[test]
    fn the_documents_statements_run() {
        for (seed, tables) in [("append-only", 9), ("many rows", 10), ("no rowids", 6)] {
            let bytes = &databases().iter().find(|s| s.name == seed).unwrap().bytes;
            with(bytes, |conn| {
                let count: i64 = conn
                    .query_row(
                        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
                        [],
                        |r| r.get(0),
                    )
                    .unwrap();
                assert_eq!(count, tables, "{seed}");
            })
            .unwrap();
        }
    }
}
