//! Cases with malicious databases: their own SQL in place of a table, and contents that explode while they are read.

use super::{Make, RUN, bare, database, documents};
use crate::Outcome::{self, Either, Shown};
use crate::seeds::{self, make};

const NOT_READ: Outcome = Shown(&["table-not-read"]);

/// Each case: name, required outcome, and SQL. The SQL runs after OpenProse's tables and the rows of [`RUN`] were
/// created.
const SCRIPTS: &[(&str, Outcome, &str)] = &[
    ("a view in place of a table", NOT_READ,
        "DROP TABLE bindings; CREATE VIEW bindings AS SELECT name, sql AS value, 'let' AS kind FROM sqlite_schema"),
    ("a view that never ends", NOT_READ,
        "DROP TABLE execution; CREATE VIEW execution AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
         SELECT i AS id, 'session' AS statement_text, 'completed' AS status FROM n"),
    ("views of views of views", NOT_READ,
        "DROP TABLE run; CREATE VIEW v1 AS SELECT a.name AS id FROM sqlite_schema a, sqlite_schema b, sqlite_schema c;
         CREATE VIEW v2 AS SELECT a.id FROM v1 a, v1 b; CREATE VIEW v3 AS SELECT a.id FROM v2 a, v2 b;
         CREATE VIEW run AS SELECT a.id || b.id AS id FROM v3 a, v3 b"),
    ("a view that names itself", NOT_READ,
        "DROP TABLE gates; CREATE VIEW gates AS SELECT * FROM gates"),
    ("a full-text index in place of a table", NOT_READ,
        "DROP TABLE bindings; CREATE VIRTUAL TABLE bindings USING fts5(name, value); INSERT INTO bindings VALUES ('a', 'b')"),
    ("an R-tree in place of a table", NOT_READ,
        "DROP TABLE execution; CREATE VIRTUAL TABLE execution USING rtree(id, a, b); INSERT INTO execution VALUES (1, 2, 3)"),
    ("a virtual table of a module that is not there", Either,
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('table', 'x_evil', 'x_evil', 0, 'CREATE VIRTUAL TABLE x_evil USING shell(\"rm -rf /\")')"),
    ("a full-text index whose shadow tables lie", Shown(&[]),
        "CREATE VIRTUAL TABLE x_text USING fts5(a); INSERT INTO x_text VALUES ('word'); PRAGMA writable_schema = ON;
         UPDATE x_text_data SET block = zeroblob(200); DELETE FROM x_text_config"),
    ("triggers on every table", Shown(&[]),
        "CREATE TRIGGER a AFTER INSERT ON run BEGIN DELETE FROM execution; END;
         CREATE TRIGGER b BEFORE UPDATE ON bindings BEGIN SELECT load_extension('x'); END;
         CREATE TRIGGER c INSTEAD OF INSERT ON gates BEGIN SELECT 1; END"),
    ("indexes of expressions that cost", Shown(&[]),
        "CREATE INDEX i ON bindings(length(hex(zeroblob(1000)) || value)); CREATE INDEX j ON execution(status) WHERE status LIKE '%%%%%%%%%%a'"),
    ("defaults and checks that call out", Either,
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE imports (alias TEXT CHECK (load_extension(''x'')), source_url DEFAULT (readfile(''/etc/passwd'')), fetched_at DEFAULT (randomblob(1000000000)))' WHERE name = 'imports'"),
    ("collations that are not there", Either,
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE imports (alias TEXT COLLATE nowhere, source_url)' WHERE name = 'imports';
         UPDATE sqlite_schema SET sql = 'CREATE INDEX idx_gates_run ON gates(run_id COLLATE nowhere)' WHERE name = 'idx_gates_run'"),
    ("a text of SQL as a table's name", Shown(&["foreign-table"]),
        "CREATE TABLE \"x\"\"; DROP TABLE run; --\" (a); INSERT INTO \"x\"\"; DROP TABLE run; --\" VALUES (1); CREATE TABLE \"\" (\"\"); CREATE TABLE \"x\ny\t\u{1b}[2J\" (\"\u{202e}a\")"),
    ("statistics that lie", Shown(&[]),
        "ANALYZE; INSERT INTO sqlite_stat1 VALUES ('execution', NULL, '9223372036854775807'), ('bindings', 'nothing', '1 1 1 1 1 1 1 1 1 1 1 1 1'), (NULL, NULL, NULL), (x'00', x'ff', x'ff')"),
    ("markup in every field", Shown(&[]),
        "UPDATE run SET id = '<img src=x onerror=alert(1)>', program_path = 'javascript:alert(1)', status = '<script>alert(1)</script>';
         UPDATE execution SET statement_text = '<svg onload=alert(1)>', error_message = '[x](javascript:alert(1))', status = 'failed';
         UPDATE bindings SET name = '\"><script>alert(1)</script>', value = '<iframe srcdoc=\"<script>alert(1)</script>\">' || char(10) || '![x](https://example.com/x.png)'"),
    ("terminal escapes in every field", Shown(&[]),
        "UPDATE run SET id = char(27) || ']0;x' || char(7), program_path = char(155) || '2J', status = char(27) || '[31m';
         UPDATE execution SET statement_text = char(27) || '[2J' || char(13) || 'x', error_message = char(8238) || 'x', status = 'failed' || char(0);
         UPDATE bindings SET name = char(27) || '[A', value = char(27) || 'P' || char(27) || '\\', source_statement = char(127)"),
];

pub(super) fn cases() -> Vec<Make> {
    let mut cases: Vec<Make> = Vec::new();
    for (name, outcome, script) in SCRIPTS {
        cases.push(Box::new(move || {
            database(name, *outcome, documents(&format!("{RUN}{script}")))
        }));
    }
    cases.push(Box::new(|| {
        // An unbounded reader turned this database of 170 KB into 3.4 GB.
        let rows = "CREATE TABLE x_rows (a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO x_rows SELECT printf('%040d', i) FROM n;
            CREATE VIEW run AS SELECT a.a || hex(zeroblob(1000000)) AS id, b.a AS program_path FROM x_rows a, x_rows b;
            CREATE TABLE execution (id INTEGER PRIMARY KEY, statement_text, status); INSERT INTO execution VALUES (1, 'session \"A\"', 'failed')";
        database("170 KB whose run is a view that explodes", NOT_READ, bare(rows))
    }));
    for (name, encoding, bytes) in [
        ("a value of 30 MB", "UTF-8", 30_000_000),
        ("a value of 30 MB in UTF-16", "UTF-16le", 15_000_000),
    ] {
        cases.push(Box::new(move || {
            let settings = format!("PRAGMA page_size = 65536; PRAGMA encoding = '{encoding}'");
            let script = format!(
                "INSERT INTO bindings (name, kind, value) VALUES ('large', 'let', printf('%.*c', {bytes}, 'x'));
                 INSERT INTO agents (name, memory) VALUES ('elephant', printf('%.*c', {bytes} / 3, 'x'))"
            );
            database(name, Shown(&[]), make(&settings, &[seeds::SCHEMA, seeds::PLAIN_KEY, RUN, &script]))
        }));
    }
    cases.push(Box::new(|| {
        let script = "CREATE TABLE run (id PRIMARY KEY, status) WITHOUT ROWID; INSERT INTO run VALUES ('r', 'running');
            CREATE TABLE bindings (name PRIMARY KEY, kind, value) WITHOUT ROWID;
            INSERT INTO bindings VALUES ('a', 'let', printf('%.*c', 40000000, 'x'));
            CREATE TABLE agents (name PRIMARY KEY, memory) WITHOUT ROWID; INSERT INTO agents VALUES ('a', printf('%.*c', 30000000, 'y'))";
        database("a value of 40 MB in a table without rowids", Shown(&[]), make("PRAGMA page_size = 65536", &[script]))
    }));
    cases.push(Box::new(|| {
        let script = "INSERT INTO run (id, program_path, program_source, status) VALUES ('r', printf('%.*c', 3000000, 'p'),
              replace(printf('%.*c', 100000, 'x'), 'x', 'session \"A\"' || char(10)), printf('%.*c', 3000000, 's'));
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25)
            INSERT INTO execution (statement_index, statement_text, status, error_message, metadata)
            SELECT i, printf('%.*c', 200000, 'x') || i, printf('%.*c', 20000, 'y'), printf('%.*c', 200000, 'z'), printf('{\"a\": \"%.*c\"}', 200000, 'm') FROM n;
            INSERT INTO gates (id, run_id, prompt, allow, timeout, metadata) VALUES (printf('%.*c', 90000, 'g'), 'r', printf('%.*c', 900000, 'p'),
              '[' || printf('%.*c', 60000, '\"') || ']', printf('%.*c', 90000, '9') || 'd', printf('%.*c', 65000, '['));
            INSERT INTO imports VALUES (printf('%.*c', 90000, 'i'), printf('%.*c', 90000, 'u'), 'x', printf('%.*c', 65000, '{'), '[' || printf('%.*c', 60000, '['))";
        database("texts of hundreds of kilobytes in every field", Shown(&["long-text"]), documents(script))
    }));
    cases.push(Box::new(|| {
        let script = "INSERT INTO run (id) VALUES ('r');
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO agent_segments (agent_name, segment_number, prompt, summary)
            SELECT 'a' || i % 3, i, printf('%.*c', 3000, 'p') || i, printf('%.*c', 3000, 's') || i FROM n";
        database("three agents with a thousand segments each", Shown(&[]), documents(script))
    }));
    cases.push(Box::new(|| {
        let script = "INSERT INTO run (id) VALUES ('r');
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
            INSERT INTO gates (id, run_id, prompt, timeout_at, status) SELECT 'g' || i % 500, 'r', 'Go?', '2026-01-25 12:00:00', 'pending' FROM n WHERE i <= 500;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
            INSERT INTO gate_audit_log (gate_id, run_id, event_type, principal, metadata)
            SELECT 'g' || i % 501, 'r', CASE i % 3 WHEN 0 THEN 'approved' WHEN 1 THEN 'rejected' ELSE 'created' END, 'u' || i,
              '{\"chain\": {\"prev\": \"x\", \"hash\": \"' || hex(i) || '\", \"n\": ' || i || '}}' FROM n";
        database("ten thousand entries of a log whose chain is broken", Shown(&[]), documents(script))
    }));
    cases
}
