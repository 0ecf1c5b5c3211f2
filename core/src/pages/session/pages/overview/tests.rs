use std::rc::Rc;

use rusqlite::Connection;

use crate::model::schema::STATE_SQL;
use crate::model::time::Stamp;
use crate::pages::session::{Options, Session, pages};
use crate::read::sqlite::MemorySource;

fn session(status: &str, rows: &str) -> Session {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(STATE_SQL).unwrap();
    conn.execute_batch(&format!(
            "INSERT INTO run (id, status) VALUES ('r', '{status}');
             INSERT INTO execution (id, parent_id, statement_index, statement_text, status, metadata) VALUES {rows};"
        ))
        .unwrap();
    let bytes = conn.serialize("main").unwrap().to_vec();
    let source = MemorySource::new("run", [("state.db".to_owned(), bytes)]);
    Session::open(Rc::new(source), "", &Options::default()).unwrap()
}

/// A loop calls a block with two sessions: one finished, and one failed.
const FAILED: &str = r#"
        (1, NULL, 1, 'loop (max: 3):', 'started', '{"loop_id": "l1", "max": 3}'),
        (2, 1, 2, 'do process(a)', 'executing', '{"block": "process", "depth": 1}'),
        (3, 2, 5, 'session "A"', 'completed', NULL),
        (4, 2, 6, 'session "B"', 'failed', NULL),
        (5, 1, 2, 'do process(a)', 'failed', '{"block": "process", "depth": 1}'),
        (6, NULL, 1, 'loop (max: 3):', 'failed', '{"loop_id": "l1"}'),
        (7, NULL, 9, 'session "C"', 'pending', NULL)"#;

#[test]
fn blocks_around_statements_are_not_counted_as_statements() {
    let view = pages::overview(&session("failed", FAILED), None);
    let by_status: Vec<_> = view
        .by_status
        .iter()
        .map(|s| (&*s.status, s.count))
        .collect();
    assert_eq!((view.statements_done, view.statements), (1, 2));
    assert!(by_status.contains(&("failed", 1)), "{by_status:?}");
    assert!(by_status.contains(&("completed", 1)), "{by_status:?}");
    assert!(
        view.story[0].starts_with("1 of 2 statements finished."),
        "{:?}",
        view.story
    );
}

#[test]
fn a_block_that_failed_by_itself_counts() {
    let rows = r#"(1, NULL, 1, 'do process(a)', 'executing', '{"block": "process", "depth": 1}'),
            (2, 1, 5, 'session "A"', 'completed', NULL),
            (3, NULL, 1, 'do process(a)', 'failed', '{"block": "process", "depth": 1}')"#;
    let view = pages::overview(&session("failed", rows), None);
    assert_eq!((view.statements_done, view.statements), (1, 2));
}

#[test]
fn the_next_failure_is_a_cause_and_no_block_around_it() {
    let session = session("failed", FAILED);
    let cause = pages::next_failure(&session, None, true);
    let row = pages::tree_row(&session, cause.unwrap(), false).unwrap();
    assert_eq!((row.id, row.first_cause), (Some(4), true));
    assert_eq!(pages::next_failure(&session, cause, true), None);
    assert_eq!(pages::next_failure(&session, None, false), cause);
}

#[test]
fn a_round_in_which_a_statement_failed_was_not_cut_off() {
    let session = session("failed", FAILED);
    let rows = pages::trace_page(&session, &Default::default(), 0, 100).rows;
    let round = rows.iter().find(|row| row.kind == "round").unwrap();
    assert_eq!(round.status, "failed");
}

/// In a store that is updated in place, one row records all rounds of a loop. The rows inside record their loop, but
/// not their round.
#[test]
fn what_was_inferred_of_a_place_is_said_beside_what_its_row_records() {
    let rows = r#"(1, NULL, 1, 'loop:', 'executing', '{"loop_id": "l1", "current_iteration": 2, "max_iterations": 5}'),
            (2, 1, 2, 'session "A"', 'completed', NULL),
            (3, 1, 2, 'session "A"', 'executing', NULL)"#;
    let session = session("running", rows);
    let node = session.node_of_row(3).unwrap();
    let why = pages::node_detail(&session, node)
        .unwrap()
        .inferred_why
        .unwrap();
    assert!(
        why.starts_with("The round is inferred: the row names execution 1 as its parent"),
        "{why}"
    );
}

#[test]
fn a_completed_run_tells_of_a_failure_that_nothing_recovered() {
    let rows = r#"(1, NULL, 1, 'session "A"', 'completed', NULL),
            (2, NULL, 2, 'parallel:', 'started', '{"parallel_id": "p", "strategy": "any"}'),
            (3, 2, 3, 'a = session "B"', 'completed', '{"parallel_id": "p", "branch": "a"}'),
            (4, 2, 4, 'b = session "C"', 'failed', '{"parallel_id": "p", "branch": "b"}'),
            (5, NULL, 2, 'parallel:', 'completed', '{"parallel_id": "p"}'),
            (6, NULL, 5, 'session "D"', 'completed', NULL)"#;
    let session = session("completed", rows);
    let view = pages::overview(&session, None);
    assert!(view.headline.starts_with("Completed"), "{}", view.headline);
    assert_eq!(
        view.story[..2],
        [
            "3 of 4 statements finished; 1 failed and was not recovered.",
            "`b = session \"C\"` failed; the error message is not recorded; the parallel around the failure goes on without that branch (strategy: any).",
        ]
    );
    let cause = view.failure.unwrap().cause;
    assert_eq!(cause.id, Some(4));
    let rows = pages::trace_page(&session, &Default::default(), 0, 100).rows;
    let marked = rows.iter().filter(|row| row.first_cause);
    assert_eq!(marked.map(|row| row.node).collect::<Vec<_>>(), [cause.node]);
    // A run that is over cannot be resumed.
    assert!(!pages::resume(&session, None).resumable);
}

#[test]
fn a_failure_that_was_recovered_is_none_of_a_completed_run() {
    let rows = r#"(1, NULL, 1, 'session "A"', 'executing', NULL),
            (2, NULL, 1, 'session "A"', 'retry', '{"attempt": 2}'),
            (3, NULL, 1, 'session "A"', 'completed', '{"attempt": 2}')"#;
    let view = pages::overview(&session("completed", rows), None);
    assert_eq!(view.failure, None);
    assert_eq!(view.story[0], "1 statement finished.");
}

#[test]
fn what_was_under_way_in_a_run_at_rest_is_not_said_to_be() {
    const NOW: i64 = 1_772_366_400_000;
    let rows = r#"(1, NULL, 1, 'loop (max: 3):', 'started', '{"loop_id": "l1", "max": 3}'),
            (2, 1, 2, 'do process(a)', 'waiting', '{"block": "process", "depth": 1}'),
            (3, 2, 5, 'session "A"', 'executing', NULL),
            (4, 2, 6, 'session "B"', 'completed', NULL),
            (5, 2, 7, 'session "C"', 'pending', NULL)"#;
    let words = |status: &str, now: Option<i64>| {
        let mut session = session(status, rows);
        session.opened.trace.verdict.stale = now.is_some();
        let rows = pages::trace_page(&session, &Default::default(), 0, 100).rows;
        let rows = rows
            .iter()
            .filter_map(|row| Some((row.id?, row.status.clone())));
        let words = rows
            .map(|(id, word)| format!("{id} {word}"))
            .collect::<Vec<_>>();
        let view = pages::overview(&session, now);
        let at = &view.positions[0];
        assert_eq!(at.id, Some(3));
        let counted = view.by_status.iter().any(|of| of.status == at.status);
        assert!(counted, "{:?}", view.by_status);
        // The rows are also found by their recorded status.
        for status in [&*at.status, "executing"] {
            let choice = pages::TraceChoice {
                status: status.to_owned(),
                ..Default::default()
            };
            assert_eq!(choice.known_status(&session), Ok(()));
            assert!(!pages::chosen(&session, &choice).is_empty(), "{status}");
        }
        words
    };
    let at_rest = [
        "1 was executing",
        "2 was waiting",
        "3 was executing",
        "4 completed",
        "5 pending",
    ];
    assert_eq!(words("interrupted", None), at_rest);
    assert_eq!(words("running", Some(NOW)), at_rest);
    let live = [
        "1 started",
        "2 waiting",
        "3 executing",
        "4 completed",
        "5 pending",
    ];
    assert_eq!(words("running", None), live);
    for word in ["was executing", "was waiting"] {
        let tone = (
            crate::pages::view::tone(word),
            crate::pages::view::icon(word),
        );
        assert_eq!(tone, (crate::pages::view::Tone::Quiet, "■"));
    }
}

#[test]
fn more_rounds_than_the_row_allows_are_an_issue() {
    for (counted, expected) in [(5, 0), (16_667, 1)] {
        let rows = format!(
            r#"(1, NULL, 1, 'loop:', 'executing', '{{"loop_id": "l1", "current_iteration": {counted}, "max_iterations": 500}}')"#
        );
        let session = session("running", &rows);
        let found = session
            .issues()
            .filter(|issue| issue.rule == "round-number");
        assert_eq!(found.count(), expected, "{counted}");
    }
}

/// Half an hour after its last sign of life, a run with a gate until 13:00.
#[test]
fn an_overview_says_for_how_long_it_stays_true() {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(STATE_SQL).unwrap();
    conn.execute_batch(
        "INSERT INTO run (id, status, started_at, updated_at) VALUES ('r', 'waiting', '2026-01-25 12:00:00', '2026-01-25 12:00:00');
         INSERT INTO gates (id, run_id, prompt, allow, status, created_at, timeout_at) VALUES
             ('deploy', 'r', 'Ship?', '[\"ops-team\"]', 'pending', '2026-01-25 12:00:00', '2026-01-25 13:00:00');",
    )
    .unwrap();
    let bytes = conn.serialize("main").unwrap().to_vec();
    let source = MemorySource::new("run", [("state.db".to_owned(), bytes)]);
    let session = Session::open(Rc::new(source), "", &Options::default()).unwrap();
    let at = |time: &str| {
        let now = Stamp::parse(&format!("2026-01-25T{time}Z")).millis();
        let view = pages::overview(&session, now);
        (view.last_sign_ago.unwrap(), view.true_for_ms.unwrap())
    };
    assert_eq!(at("12:59:00"), ("59m ago".to_owned(), 60_001));
    assert_eq!(at("12:59:59.500").1, 501);
    assert_eq!(at("13:00:00").1, 1);
    let now = |time: &str| {
        Stamp::parse(&format!("2026-01-25T{time}Z"))
            .millis()
            .unwrap()
    };
    let waits = pages::summary(&session).waits.unwrap();
    assert_eq!(
        waits.words(now("13:00:00")),
        "Gate deploy waits for ops-team until 25 Jan 2026, 13:00 UTC"
    );
    assert_eq!(
        waits.words(now("13:00:01")),
        "The deadline of gate deploy passed on 25 Jan 2026, 13:00 UTC"
    );
}
