//! Tests databases of contract 2 (contract-2.md, "Databases"). They are made from the specification: no public database
//! of this form is known.

use prosescope_core::model::{Form, Run};
use prosescope_core::read::decode::folder;
use prosescope_core::read::sqlite::MemorySource;
use prosescope_core::trace::fold;

use crate::support::Db;

const SCHEMA: &str = include_str!("../fixtures/sql/contract_2.sql");

const ROWS: &str = "
    INSERT INTO run VALUES ('r1', 'root.prose.md', '# Brief', '2026-07-01 10:15:00', '2026-07-01 10:20:00', 'completed', 'sqlite');
    INSERT INTO bindings (name, binding, value) VALUES ('topic', 'input', 'water');
    INSERT INTO imports VALUES ('x', 'std/x', '2026-07-01 10:15:01', NULL, NULL);
";

/// Returns the run's status, its rows, and the rules of its issues.
fn shown(receipts: &str) -> (String, Vec<String>, Vec<String>, Form) {
    of(Db::of(&format!("{SCHEMA}{ROWS}{receipts}")).read())
}

fn of(run: Run) -> (String, Vec<String>, Vec<String>, Form) {
    let trace = fold(&run, None, None);
    let rows = trace.nodes.iter();
    let rows = rows.map(|node| format!("{} {}", node.text, node.status.word()));
    let rules = run.issues.iter().map(|issue| issue.rule.clone()).collect();
    (
        trace.verdict.word().to_owned(),
        rows.collect(),
        rules,
        run.form,
    )
}

#[test]
fn the_last_receipt_of_a_node_beats_the_row_of_the_run() {
    let cost = r#"{"provider":"x","model":"opus","tokens":{"fresh":1200,"reused":300}}"#;
    let failed = format!(
        r#"INSERT INTO receipt (node, wake, semantic_diff, status, cost) VALUES
            ('researcher', '{{"source":"input","refs":[]}}', '{{}}', 'rendered', '{cost}'),
            ('editor', '{{"source":"input","refs":[]}}', '{{"failure_reason":"no draft"}}', 'failed', NULL);"#
    );
    let (status, rows, rules, form) = shown(&failed);
    assert_eq!(status, "failed");
    assert_eq!(rows, ["researcher completed", "editor failed"]);
    assert_eq!(rules, [] as [&str; 0]);
    assert!(form.has_nodes() && form.is_only_read());

    let run = Db::of(&format!("{SCHEMA}{ROWS}{failed}")).read();
    assert_eq!(run.program.path.as_deref(), Some("root.prose.md"));
    assert_eq!(run.program.source.as_deref(), Some("# Brief"));
    assert_eq!(run.bindings[0].kind.word(), "input");
    assert_eq!(run.imports[0].source_url.as_deref(), Some("std/x"));
    assert_eq!((run.costs[0].fresh, run.costs[0].reused), (1200, 300));
    assert_eq!(run.executions[1].error.as_deref(), Some("no draft"));

    let again =
        "INSERT INTO receipt (node, wake, status) VALUES ('editor', 'not JSON', 'rendered');";
    let (status, rows, rules, _) = shown(&format!("{failed}{again}"));
    assert_eq!(status, "completed");
    assert_eq!(rules, ["malformed-json"]);
    let run = Db::of(&format!("{SCHEMA}{ROWS}{failed}{again}")).read();
    assert!(
        run.issues[0]
            .message
            .starts_with("`wake` of a receipt is not JSON: ")
    );
    assert_eq!(run.issues[0].location.row, Some(3));
    assert_eq!(rows, ["researcher completed", "editor completed"]);
}

#[test]
fn the_graph_beside_the_database_shows_which_node_has_no_receipt() {
    let rendered = "INSERT INTO receipt (node, status) VALUES ('researcher', 'rendered');";
    for (nodes, status, source, ahead) in [
        (None, "completed", "receipts of an unknown graph", &[][..]),
        (Some(r#"["researcher"]"#), "completed", "receipts", &[]),
        (
            Some(r#"["researcher", "editor"]"#),
            "unknown",
            "nothing",
            &["editor"],
        ),
    ] {
        let mut run = Db::of(&format!("{SCHEMA}{ROWS}{rendered}")).read();
        let file = |nodes: &str| {
            let text = format!(r#"{{"topology": {{"nodes": {nodes}, "edges": []}}}}"#);
            ("compiled-intent.json".to_owned(), text.into_bytes())
        };
        let source_of_files = MemorySource::new("a run", nodes.map(file));
        folder::beside_database(&source_of_files, "", &mut run);
        let verdict = fold(&run, None, None).verdict;
        assert_eq!((verdict.word(), &*verdict.source), (status, source));
        let names: Vec<&str> = run.nodes_ahead.iter().map(|node| &**node).collect();
        assert_eq!(names, ahead);
    }
}

#[test]
fn a_receipt_that_names_no_node_is_said_and_proves_nothing() {
    let (status, rows, rules, _) =
        shown("INSERT INTO receipt (node, status) VALUES (NULL, 'rendered');");
    assert_eq!(status, "unknown");
    assert_eq!(rows, [] as [&str; 0]);
    assert_eq!(rules, ["malformed-json"]);
}

#[test]
fn without_receipts_the_rows_of_executions_say_what_ran() {
    let (status, rows, rules, form) =
        shown("INSERT INTO execution (statement_text, status) VALUES ('call find', 'completed');");
    assert_eq!(status, "completed");
    assert_eq!(rows, ["call find completed"]);
    assert_eq!(rules, ["times-not-recorded"]);
    assert!(!form.has_nodes() && form.is_only_read());
}
