//! Tests each deviation of a `state.db` that docs/reference/formats.md lists. The database is read, and a deviation
//! that contradicts OpenProse is reported. (`oddities` tests the last deviation, rows only in `state.db-wal`.)

use prosescope_core::model::schema::STATE_SQL;
use prosescope_core::trace::{NodeKind, fold};

use crate::support::Db;

/// Returns the facts of a database as text (nodes of the trace with their status, bindings, gates), and the rules of
/// its issues.
fn shown(db: &Db) -> (String, Vec<String>) {
    let run = db.read();
    let trace = fold(&run, None, None);
    let nodes = trace.nodes.iter().map(|n| {
        let what = match &n.kind {
            NodeKind::Statement => n.text.to_string(),
            kind => kind.word().to_owned(),
        };
        format!("{what} {}", n.status.word())
    });
    let bindings = run.bindings.iter().map(|b| format!("={}", b.name));
    let gates = run.gates.iter().map(|g| format!("?{}", g.id));
    let all: Vec<String> = nodes.chain(bindings).chain(gates).collect();
    let mut rules: Vec<String> = run
        .issues
        .iter()
        .chain(&trace.issues)
        .map(|i| i.rule.clone())
        // The rows of these cases have no times (errata X14), so this issue is expected.
        .filter(|rule| rule != "times-not-recorded")
        .collect();
    rules.sort_unstable();
    rules.dedup();
    (all.join(", "), rules)
}

#[test]
fn a_database_of_any_expected_oddity_is_read_and_told() {
    let full = |sql: &str| {
        format!(
            "{STATE_SQL}\nINSERT INTO run(id, program_path, status) VALUES ('r1', 'p.prose', 'running');\n{sql}"
        )
    };
    let cases: &[(&str, String, &str, &[&str])] = &[
        ("nothing odd", full("INSERT INTO execution(statement_index, statement_text, status) VALUES (1, 'session \"A\"', 'executing');"), "session \"A\" executing", &[]),
        (
            "tables missing after a failed CREATE",
            "CREATE TABLE run(id TEXT PRIMARY KEY, status TEXT); INSERT INTO run VALUES ('r1', 'running'); CREATE TABLE bindings(name TEXT, execution_id INTEGER, kind TEXT, value TEXT); INSERT INTO bindings(name, kind, value) VALUES ('a', 'let', 'v');".into(),
            "=a",
            &["missing-column", "missing-table"],
        ),
        (
            "both execution dialects mixed",
            full("INSERT INTO execution(id, statement_index, statement_text, status, metadata) VALUES
              (1, 1, 'session \"A\"', 'executing', NULL), (2, 1, 'session \"A\"', 'completed', NULL),
              (3, 2, 'loop until **x** (max: 3):', 'executing', '{\"loop_id\": \"l\", \"current_iteration\": 2, \"max_iterations\": 3}'),
              (4, 3, 'session \"B\"', 'completed', '{\"attempt\": 1}');"),
            "session \"A\" completed, loop executing, round completed, round started, session \"B\" completed",
            &[],
        ),
        (
            "extra x_ tables and columns",
            full("ALTER TABLE bindings ADD COLUMN x_mood TEXT; CREATE TABLE x_notes(t TEXT); INSERT INTO x_notes VALUES ('n'); INSERT INTO bindings(name, kind, value, x_mood) VALUES ('a', 'let', 'v', 'calm');"),
            "=a",
            &["unknown-column"],
        ),
        (
            "malformed JSON",
            full("INSERT INTO execution(statement_index, statement_text, status, metadata) VALUES (1, 'session \"A\"', 'executing', '{\"attempt\": '), (2, 'session \"B\"', 'pending', '{}');"),
            "session \"A\" executing, session \"B\" pending",
            &["malformed-json"],
        ),
        (
            "T…Z and … … times in one column",
            full("INSERT INTO execution(statement_index, statement_text, status, started_at) VALUES (1, 'session \"A\"', 'completed', '2026-01-15T14:30:52Z'), (2, 'session \"B\"', 'completed', '2026-01-15 14:35:22');"),
            "session \"A\" completed, session \"B\" completed",
            &["mixed-times"],
        ),
        (
            "gates without a run row",
            "CREATE TABLE gates(id TEXT PRIMARY KEY, run_id TEXT, prompt TEXT, status TEXT); INSERT INTO gates VALUES ('deploy', 'r9', 'Go?', 'pending');".into(),
            "gate pending, ?deploy",
            &["gate-of-unknown-run", "gate-without-execution", "missing-column", "missing-table"],
        ),
        (
            "no foreign keys: a parent and a frame that are not there",
            full("INSERT INTO execution(statement_index, statement_text, status, parent_id) VALUES (1, 'session \"A\"', 'executing', 99); INSERT INTO bindings(name, kind, value, execution_id) VALUES ('a', 'let', 'v', 98);"),
            "session \"A\" executing, =a",
            &["orphan-parent", "unknown-execution"],
        ),
    ];
    let mut wrong = Vec::new();
    for (oddity, sql, expected, told) in cases {
        let (found, rules) = shown(&Db::of(sql));
        if found != *expected || rules != *told {
            wrong.push(format!("{oddity}:\n  {found}\n  {rules:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
