//! Cases with possible contents of a database's rows (docs/reference/formats.md, docs/contribute/errata.md).

use super::{Make, RUN, bare, database, documents};
use crate::Outcome::{self, Refused, Shown};
use crate::seeds::{APPEND_ONLY, EXTENSIONS, GATES, IN_PLACE, NO_ROWIDS, SCHEMA, VALUES, make};

/// Cases that are a script: name, outcome, whether OpenProse's tables come first, statements.
const SCRIPTS: &[(&str, Outcome, bool, &str)] = &[
    ("only the table of executions", Shown(&["missing-table"]), false,
        "CREATE TABLE execution (id INTEGER PRIMARY KEY, statement_text TEXT, status TEXT);
         INSERT INTO execution VALUES (1, 'session \"A\"', 'executing')"),
    ("all tables and no rows", Shown(&["no-run-row"]), true, ""),
    ("no tables at all", Refused("no tables at all"), false, "PRAGMA user_version = 7"),
    ("tables of somebody else", Refused("songs"), false, "CREATE TABLE songs (title TEXT); CREATE TABLE albums (id)"),
    ("the same binding twice at the root", Shown(&["duplicate-binding"]), true,
        "INSERT INTO bindings (name, kind, value) VALUES ('research', 'let', 'one'), ('research', 'let', 'two')"),
    ("parents that are not there", Shown(&["orphan-parent"]), true,
        "INSERT INTO execution (id, statement_index, statement_text, status, parent_id) VALUES
         (1, 1, 'session \"A\"', 'completed', 99), (2, 2, 'session \"B\"', 'failed', -1)"),
    ("rows that are their own parents", Shown(&["self-parent"]), true,
        "INSERT INTO execution (id, statement_index, statement_text, status, parent_id) VALUES
         (1, 1, 'session \"A\"', 'completed', 1), (2, 2, 'block b():', 'executing', 2)"),
    ("two parents of each other", Shown(&["parent-cycle"]), true,
        "INSERT INTO execution (id, statement_index, statement_text, status, parent_id) VALUES
         (1, 1, 'block a():', 'executing', 2), (2, 2, 'block b():', 'executing', 1)"),
    ("a circle of ten thousand parents", Shown(&["parent-cycle"]), true,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
         INSERT INTO execution (id, statement_index, statement_text, status, parent_id)
         SELECT i, i % 9, 'do deeper()', 'executing', i % 10000 + 1 FROM n;
         INSERT INTO bindings (name, execution_id, kind, value) SELECT 'x', id, 'let', id FROM execution WHERE id % 100 = 0"),
    ("ten thousand frames in each other", Shown(&[]), true,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
         INSERT INTO execution (id, statement_index, statement_text, status, parent_id)
         SELECT i, 2, 'do deeper()', 'executing', nullif(i - 1, 0) FROM n;
         INSERT INTO bindings (name, execution_id, kind, value) SELECT 'x', id, 'let', id FROM execution"),
    ("parents that are statement indices", Shown(&[]), true,
        "INSERT INTO execution (id, statement_index, statement_text, status, parent_id, metadata) VALUES
         (1, 5, 'parallel:', 'executing', NULL, '{\"parallel_id\": \"p1\", \"branches\": [\"a\", \"b\"]}'),
         (2, 6, 'a = session \"A\"', 'executing', 5, '{\"parallel_id\": \"p1\", \"branch\": \"a\"}'),
         (5, 7, 'b = session \"B\"', 'completed', 5, '{\"parallel_id\": \"p1\", \"branch\": \"b\"}')"),
    ("malformed JSON", Shown(&["malformed-json"]), true,
        "INSERT INTO execution (statement_index, statement_text, status, metadata) VALUES
         (1, 'parallel:', 'started', '{\"parallel_id\": '), (2, 'loop', 'iteration', '[1, 2]'), (3, 'x', 'failed', 'null');
         INSERT INTO imports (alias, inputs_schema) VALUES ('a', '{{{'); INSERT INTO gates (id, allow, metadata) VALUES ('g', '[\"user', '}')"),
    ("both forms of time in one column", Shown(&["mixed-times"]), true,
        "INSERT INTO execution (statement_index, statement_text, status, started_at, completed_at) VALUES
         (1, 'session \"A\"', 'completed', '2026-01-25T12:55:06Z', '2026-01-25 12:55:09'),
         (2, 'session \"B\"', 'completed', '2026-01-25 12:55:06', '2026-01-25T13:55:09+01:00')"),
    ("times of every other kind", Shown(&["numeric-time", "unreadable-time"]), true,
        "INSERT INTO execution (statement_index, statement_text, status, started_at, completed_at) VALUES
         (1, 'session \"A\"', 'completed', 1769345706, 1769345706000), (2, 'session \"B\"', 'completed', 2461066.038, 'soon'),
         (3, 'session \"C\"', 'completed', '0000-00-00 00:00:00', '99999-01-01T00:00:00Z'),
         (4, 'session \"D\"', 'executing', -9223372036854775808, 9e999)"),
    ("gates without a run row", Shown(&["no-run-row", "gate-of-unknown-run"]), true,
        "INSERT INTO gates (id, run_id, prompt, timeout, timeout_at) VALUES ('g', 'gone', 'Go?', '4h', '2026-01-25 18:00:00')"),
    ("a log of gates that are not there", Shown(&["gate-row-missing"]), true,
        "INSERT INTO gate_audit_log (gate_id, run_id, event_type, principal) VALUES ('g', 'r', 'approved', 'user'), ('', '', '', NULL)"),
    ("several runs in one file", Shown(&["several-runs"]), true,
        "INSERT INTO run (id, started_at) VALUES ('a', '2026-01-01 00:00:00'), ('b', '2026-01-02 00:00:00'), ('c', NULL);
         INSERT INTO execution (statement_text, status) VALUES ('session \"A\"', 'completed');
         INSERT INTO gates (id, run_id) VALUES ('of_a', 'a'), ('of_b', 'b'), ('of_nobody', 'z')"),
    ("a BLOB in every column", Shown(&["invalid-utf8"]), true,
        "INSERT INTO run VALUES (x'0001', x'ff', x'00ff', x'', x'80', x'c0', x'00');
         INSERT INTO execution VALUES (NULL, x'01', x'ff00', x'00', x'00', x'00', x'00', x'00', x'7b');
         INSERT INTO bindings VALUES (x'00', x'01', x'02', x'03', x'04', x'05', x'06', x'07');
         INSERT INTO agents VALUES (x'00', x'01', x'02', x'03', x'04');
         INSERT INTO agent_segments VALUES (NULL, x'00', x'01', x'02', x'03', x'04');
         INSERT INTO imports VALUES (x'00', x'01', x'02', x'03', x'04');
         INSERT INTO gates VALUES (x'00', x'01', x'02', x'03', x'04', x'05', x'06', x'07', x'08', x'09', x'0a', x'0b', x'0c', x'0d');
         INSERT INTO gate_audit_log VALUES (NULL, x'00', x'01', x'02', x'03', x'04', x'05', x'06')"),
    ("numbers in every column", Shown(&["not-a-number"]), false,
        "CREATE TABLE run (id, program_path, program_source, started_at, updated_at, status, state_mode);
         CREATE TABLE execution (id, statement_index, statement_text, status, started_at, completed_at, error_message, parent_id, metadata);
         CREATE TABLE bindings (name, execution_id, kind, value, source_statement, created_at, updated_at, attachment_path);
         CREATE TABLE agents (name, scope, memory, created_at, updated_at);
         CREATE TABLE agent_segments (agent_name, segment_number, timestamp, prompt, summary);
         INSERT INTO run VALUES (1, 2.5, 3, 4, 5e300, -6, 9223372036854775807);
         INSERT INTO execution VALUES (1.5, 2.5, 3, 4, 5, 6, 7, 8.25, 9), (-9223372036854775808, 9223372036854775807, 0, 0, 0, 0, 0, 1e300, 0);
         INSERT INTO bindings VALUES (1, 2.5, 3, 4.5, 5, 6, 7, 8), (1, -9223372036854775808, 3, 4, 5, 6, 7, 8);
         INSERT INTO agents VALUES (1, 2, 3, 4, 5); INSERT INTO agent_segments VALUES (1, 2.5, 3, 4, 5)"),
    ("NULL in every column", Shown(&["unnamed-binding"]), false,
        "CREATE TABLE run (id, started_at, status); CREATE TABLE execution (id, statement_index, statement_text, status, parent_id, metadata);
         CREATE TABLE bindings (name, execution_id, kind, value); CREATE TABLE agents (name, memory); CREATE TABLE gates (id, run_id, status);
         CREATE TABLE agent_segments (agent_name, segment_number); CREATE TABLE imports (alias); CREATE TABLE gate_audit_log (id, gate_id);
         INSERT INTO run DEFAULT VALUES; INSERT INTO execution DEFAULT VALUES; INSERT INTO execution DEFAULT VALUES;
         INSERT INTO bindings DEFAULT VALUES; INSERT INTO bindings DEFAULT VALUES; INSERT INTO agents DEFAULT VALUES;
         INSERT INTO gates DEFAULT VALUES; INSERT INTO agent_segments DEFAULT VALUES; INSERT INTO imports DEFAULT VALUES;
         INSERT INTO gate_audit_log DEFAULT VALUES"),
    ("text that is no UTF-8", Shown(&["invalid-utf8"]), true,
        "INSERT INTO run (id, status) VALUES (CAST(x'72ff' AS TEXT), CAST(x'c3' AS TEXT));
         INSERT INTO execution (statement_text, status, error_message) VALUES (CAST(x'eda080' AS TEXT), CAST(x'f8888080' AS TEXT), CAST(x'fffe' AS TEXT));
         INSERT INTO bindings (name, kind, value) VALUES (CAST(x'80' AS TEXT), 'let', CAST(x'ff00ff' AS TEXT))"),
    ("names in the schema that are no UTF-8", Shown(&[]), true,
        "INSERT INTO run (id, status) VALUES ('20260125-125506-002755', 'running');
         INSERT INTO execution (statement_index, statement_text, status) VALUES (1, 'session \"A\"', 'completed');
         CREATE TABLE notes (note INTEGER PRIMARY KEY, text CHECK (lower(text) = text)); INSERT INTO notes VALUES (1, 'x'), (2, 'y');
         CREATE INDEX first_letters ON notes (substr(text, 1, 1)) WHERE lower(text) > 'a';
         PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(replace(sql, 'note INTEGER', CAST(x'f1ff' AS TEXT) || ' INTEGER'), 'lower', CAST(x'c3' AS TEXT));
         UPDATE sqlite_schema SET sql = replace(sql, 'datetime(', CAST(x'f16469' AS TEXT) || '(')"),
    ("NUL in the middle of text", Shown(&[]), true,
        "INSERT INTO run (id, program_path) VALUES ('r' || char(0) || 'x', 'a' || char(0) || '.prose');
         INSERT INTO execution (statement_text, status) VALUES ('session' || char(0) || '\"A\"', 'completed' || char(0));
         INSERT INTO bindings (name, kind, value) VALUES ('a' || char(0) || 'b', 'let', 'x' || char(0) || 'y')"),
    ("segments before their agents, no foreign keys", Shown(&["segment-without-agent"]), true,
        "INSERT INTO agent_segments (agent_name, segment_number, prompt) VALUES ('nobody', 1, 'x'), ('nobody', 1e3, 'y'), (NULL, NULL, NULL);
         INSERT INTO bindings (name, execution_id, kind, value) VALUES ('x', 43, 'let', 'y')"),
    ("ids at the ends of what numbers hold", Shown(&[]), true,
        "INSERT INTO execution (id, statement_index, statement_text, status, parent_id) VALUES
         (-9223372036854775808, 9223372036854775807, 'session \"A\"', 'failed', 9223372036854775807),
         (9223372036854775806, -9223372036854775808, 'session \"B\"', 'executing', -9223372036854775808), (0, 0, '', '', 0);
         INSERT INTO bindings (name, execution_id, kind, value) VALUES ('x', -9223372036854775808, 'let', 'y')"),
    ("ids that stand twice", Shown(&["duplicate-id"]), false,
        "CREATE TABLE execution (id, statement_index, statement_text, status, parent_id);
         INSERT INTO execution VALUES (1, 1, 'session \"A\"', 'completed', NULL), (1, 2, 'session \"B\"', 'failed', 1), (1, 1, 'x', 'y', 1)"),
    ("words unknown to OpenProse", Shown(&["unknown-kind", "unknown-gate-status"]), true,
        "INSERT INTO run (id, status) VALUES ('r', 'on holiday');
         INSERT INTO execution (statement_index, statement_text, status) VALUES (-1, 'perhaps:', 'maybe'), (2, '', '');
         INSERT INTO bindings (name, kind, value) VALUES ('x', 'var', 'y'); INSERT INTO agents (name, scope) VALUES ('a', 'galaxy');
         INSERT INTO gates (id, run_id, status, timeout, allow) VALUES ('g', 'r', 'shrug', 'a fortnight', 'anyone');
         INSERT INTO gate_audit_log (gate_id, run_id, event_type) VALUES ('g', 'r', 'winked')"),
    ("names that lead elsewhere", Shown(&["odd-name"]), true,
        "INSERT INTO bindings (name, kind, value, attachment_path) VALUES ('../../etc/passwd', 'let', 'x', '../../../../etc/passwd'),
         ('x__43', 'let', 'x', '/etc/passwd'), ('C:\\x', 'let', 'x', 'C:\\Windows\\win.ini'), ('a b', 'let', 'x', 'attachments/../../x'),
         ('nul', 'let', 'x', 'nul' || char(0) || '.md'), ('', 'let', 'x', '')"),
    ("metadata in every spelling at once", Shown(&[]), true,
        "INSERT INTO execution (statement_index, statement_text, status, metadata) VALUES
         (1, 'loop', 'iteration', '{\"loop_id\": \"l\", \"iteration\": 9223372036854775807, \"current_iteration\": -1, \"max\": 0, \"max_iterations\": 1e300}'),
         (1, 'loop', 'exited', '{\"loop_id\": \"l\", \"iteration\": \"two\", \"max\": null}'),
         (2, 'parallel:', 'joined', '{\"parallel_id\": {}, \"branches\": [[[[]]], {}, 1e999]}'),
         (3, 'session \"A\"', 'retry', '{\"attempt\": -9223372036854775808, \"max_retries\": 18446744073709551615}')"),
    ("rounds and branches by the thousand", Shown(&[]), true,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
         INSERT INTO execution (statement_index, statement_text, status, metadata)
         SELECT 1, CASE i % 2 WHEN 0 THEN 'loop' ELSE 'parallel:' END, CASE i % 3 WHEN 0 THEN 'iteration' WHEN 1 THEN 'started' ELSE 'completed' END,
           '{\"loop_id\": \"l' || i % 3 || '\", \"iteration\": ' || i || ', \"parallel_id\": \"p\", \"branch\": \"b' || i || '\"}' FROM n"),
];

pub(super) fn cases() -> Vec<Make> {
    let mut cases: Vec<Make> = Vec::new();
    for (name, outcome, with_tables, script) in SCRIPTS {
        cases.push(Box::new(move || {
            let bytes = if *with_tables {
                documents(script)
            } else {
                bare(script)
            };
            database(name, *outcome, bytes)
        }));
    }
    cases.push(Box::new(|| {
        // `sqlite3` stops at the refused statement if it gets the whole schema as one argument (errata S1), so later
        // tables are missing.
        let until = SCHEMA
            .split_once("CREATE TABLE IF NOT EXISTS bindings")
            .map_or(SCHEMA, |(before, _)| before);
        database(
            "tables missing after a refused CREATE",
            Shown(&["missing-table"]),
            bare(&format!("{until}{APPEND_ONLY}{VALUES}")),
        )
    }));
    cases.push(Box::new(|| {
        database(
            "both dialects in one table",
            Shown(&[]),
            documents(&format!("{APPEND_ONLY}{IN_PLACE}{VALUES}{GATES}")),
        )
    }));
    cases.push(Box::new(|| {
        database(
            "x_ tables and columns",
            Shown(&["unknown-column"]),
            documents(&format!(
                "{APPEND_ONLY}{EXTENSIONS} CREATE TABLE \"x_\"\"';--\" (\"\" TEXT, \"a b\" BLOB); INSERT INTO \"x_\"\"';--\" VALUES (1, x'00');
                 CREATE TABLE x_binding_history (name, execution_id, value, replaced_at); INSERT INTO x_binding_history VALUES ('tide', x'00', NULL, 'soon')"
            )),
        )
    }));
    for (name, encoding) in [
        ("UTF-16, little-endian", "UTF-16le"),
        ("UTF-16, big-endian", "UTF-16be"),
    ] {
        cases.push(Box::new(move || {
            let settings = format!("PRAGMA page_size = 512; PRAGMA encoding = '{encoding}'");
            let half = "INSERT INTO bindings (name, kind, value) VALUES (CAST(x'00d8' AS TEXT), 'let', CAST(x'00d841' AS TEXT))";
            let bytes = make(&settings, &[super::SCHEMA, super::PLAIN_KEY, RUN, VALUES, half]);
            database(name, Shown(&["utf16"]), bytes)
        }));
    }
    cases.push(Box::new(|| {
        database("every table without rowids", Shown(&[]), bare(NO_ROWIDS))
    }));
    cases.push(Box::new(|| {
        let all = "CREATE TABLE run (id TEXT PRIMARY KEY, status AS (upper(id)), started_at AS (hex(zeroblob(50000000))));
            CREATE TABLE execution (id INTEGER PRIMARY KEY, statement_text AS (hex(zeroblob(id * 10000000))), status STORED);
            CREATE TABLE bindings (name TEXT, kind AS ('let'), value AS (hex(zeroblob(100000000))), note AS (name) STORED);
            INSERT INTO run (id) VALUES ('r'); INSERT INTO execution (id) VALUES (1), (2), (3); INSERT INTO bindings (name) VALUES ('a')";
        database("computed columns", Shown(&["computed-column"]), bare(all))
    }));
    cases
}
