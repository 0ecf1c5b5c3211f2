use std::rc::Rc;

use rusqlite::Connection;

use super::*;
use crate::model::schema::STATE_SQL;
use crate::pages::session::Options;
use crate::pages::session::pages::went_well;
use crate::read::sqlite::MemorySource;

/// A loop with three rounds: a call that went well, a call beside a session, and a call that failed.
const ROWS: &str = r#"
    (1, NULL, 'for p in parts:', 'started', '{"loop_id": "l1"}'),
    (2, 1, 'do piece(p)', 'executing', '{"loop_id": "l1", "iteration": 1, "block": "piece", "depth": 1}'),
    (3, 2, 'session "A"', 'completed', NULL),
    (4, 2, 'session "B"', 'completed', NULL),
    (5, 1, 'do piece(p)', 'completed', '{"loop_id": "l1", "iteration": 1, "block": "piece", "depth": 1}'),
    (6, 1, 'for p in parts:', 'iteration', '{"loop_id": "l1", "iteration": 1}'),
    (7, 1, 'session "beside"', 'completed', NULL),
    (8, 1, 'do piece(p)', 'executing', '{"block": "piece", "depth": 1}'),
    (9, 8, 'session "C"', 'completed', NULL),
    (10, 1, 'do piece(p)', 'completed', '{"block": "piece", "depth": 1}'),
    (11, 1, 'for p in parts:', 'iteration', '{"loop_id": "l1", "iteration": 2}'),
    (12, 1, 'do piece(p)', 'executing', '{"block": "piece", "depth": 1}'),
    (13, 12, 'session "D"', 'failed', NULL),
    (14, 1, 'do piece(p)', 'failed', '{"block": "piece", "depth": 1}'),
    (15, NULL, 'for p in parts:', 'failed', '{"loop_id": "l1"}')"#;

fn session() -> Session {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(STATE_SQL).unwrap();
    conn.execute_batch(&format!(
        "INSERT INTO run (id, status) VALUES ('r', 'failed');
         INSERT INTO execution (id, parent_id, statement_text, status, metadata) VALUES {ROWS};"
    ))
    .unwrap();
    let bytes = conn.serialize("main").unwrap().to_vec();
    let source = Rc::new(MemorySource::new("run", [("state.db".to_owned(), bytes)]));
    Session::open(source, "", &Options::default()).unwrap()
}

fn lines(session: &Session, folded: &BTreeSet<NodeId>) -> Vec<String> {
    let page = trace_screen(session, folded, 0, 100);
    assert_eq!(page.total as usize, page.rows.len());
    for (at, row) in page.rows.iter().enumerate() {
        let place = trace_place(session, folded, NodeId::new(row.node));
        assert_eq!(place as usize, at, "{}", row.text);
    }
    let line = |row: &TreeRow| {
        let round = row.round.map_or(String::new(), |n| format!("round {n} "));
        let kind = if row.kind == "round" { "- " } else { "" };
        let indent = "  ".repeat(row.level as usize);
        format!("{indent}{round}{kind}{}", row.text)
    };
    page.rows.iter().map(line).collect()
}

#[test]
fn a_round_that_holds_one_call_is_one_row_with_it() {
    let session = session();
    assert_eq!(
        lines(&session, &BTreeSet::new()),
        [
            "for p in parts:",
            "  round 1 do piece(p)",
            "    session \"A\"",
            "    session \"B\"",
            "  round 2 - round 2",
            "    session \"beside\"",
            "    do piece(p)",
            "      session \"C\"",
            "  round 3 do piece(p)",
            "    session \"D\"",
        ]
    );
    // The lines marked as leading to the first cause of the failure end at that cause.
    let around = trace_screen(&session, &BTreeSet::new(), 0, 100).rows;
    let around: Vec<u32> = around.iter().map(|row| row.around_cause).collect();
    assert_eq!(around, [0, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
    // Folding hides the content of the drawn row.
    assert_eq!(
        lines(&session, went_well(&session)),
        [
            "for p in parts:",
            "  round 1 do piece(p)",
            "  round 2 - round 2",
            "  round 3 do piece(p)",
            "    session \"D\"",
        ]
    );
}

#[test]
fn the_way_up_leaves_out_rounds_that_have_no_row() {
    let session = session();
    let failed = session.node_of_row(13).unwrap();
    let call = drawn_parent(&session, failed).unwrap();
    assert_eq!(session.node(call).unwrap().id, Some(12));
    let around = drawn_parent(&session, call).unwrap();
    assert_eq!(session.node(around).unwrap().id, Some(1));
    // A link to the round leads to the row of the call, because the round has no row of its own.
    let round = session.node(call).unwrap().parent.unwrap();
    assert_eq!(drawn(&session, round), call);
    assert_eq!(
        trace_place(&session, &BTreeSet::new(), round),
        trace_place(&session, &BTreeSet::new(), call)
    );
}
