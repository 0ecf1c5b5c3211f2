use std::rc::Rc;

use rusqlite::Connection;

use super::*;
use crate::model::schema::STATE_SQL;
use crate::pages::session::{Options, Session};
use crate::read::sqlite::MemorySource;

/// Opens a run with these rows of `execution`: id, parent, statement, status, begin and end in minutes after 10:00,
/// metadata.
fn session(rows: &str) -> Session {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(STATE_SQL).unwrap();
    conn.execute_batch(&format!(
        "INSERT INTO run (id, started_at, updated_at) VALUES ('r', '2026-01-15 10:00:00', '2026-01-15 22:00:00');
         WITH t (id, parent, text, status, begun, ended, metadata) AS (VALUES {rows})
         INSERT INTO execution (id, parent_id, statement_text, status, started_at, completed_at, metadata)
         SELECT id, parent, text, status, datetime('2026-01-15 10:00:00', begun || ' minutes'),
           datetime('2026-01-15 10:00:00', ended || ' minutes'), metadata FROM t;"
    ))
    .unwrap();
    let bytes = conn.serialize("main").unwrap().to_vec();
    let source = Rc::new(MemorySource::new("run", [("state.db".to_owned(), bytes)]));
    Session::open(source, "", &Options::default()).unwrap()
}

/// Describes each bar: its statement, its begin and end in minutes of the axis, its kind of end, and `*` if critical.
fn bars(session: &Session, timeline: &Timeline) -> Vec<String> {
    let bar = |bar: &Bar| {
        let text = session
            .node(NodeId::new(bar.node))
            .map(|node| node.text.to_string());
        let minutes = |at: u64| at / 60_000;
        let critical = if bar.critical { " *" } else { "" };
        format!(
            "{} {}-{} {:?}{critical}",
            text.unwrap_or_default(),
            minutes(bar.from),
            minutes(bar.until),
            bar.end
        )
    };
    timeline.bars.iter().map(bar).collect()
}

#[test]
fn idle_time_is_drawn_short_and_the_longest_are_named() {
    let session = session(
        "(1, NULL, 'session \"a\"', 'completed', 0, 20, NULL),
         (2, NULL, 'session \"b\"', 'completed', 20, 50, NULL),
         (3, NULL, 'session \"c\"', 'completed', 650, 700, NULL)",
    );
    let drawn = timeline(&session);
    assert_eq!(
        bars(&session, &drawn),
        [
            "session \"a\" 0-20 Recorded *",
            "session \"b\" 20-50 Recorded *",
            "session \"c\" 52-102 Recorded *",
        ]
    );
    let [gap] = drawn.gaps.as_slice() else {
        panic!("{:?}", drawn.gaps);
    };
    assert_eq!(
        (gap.at, gap.drawn, gap.len.as_str()),
        (50 * 60_000, 2 * 60_000, "10h")
    );
    assert_eq!(drawn.len, 102 * 60_000);
    assert_eq!(drawn.took.as_deref(), Some("11h 40m"));
    assert_eq!(drawn.sequential, Some(true));
    let longest: Vec<&str> = drawn.longest.iter().map(|one| one.took.as_str()).collect();
    assert_eq!(longest, ["50m", "30m", "20m"]);
}

#[test]
fn a_block_whose_statements_have_no_times_is_not_idle() {
    let session = session(
        "(1, NULL, 'session \"a\"', 'completed', 0, 10, NULL),
         (2, NULL, 'parallel:', 'completed', 10, 90, NULL),
         (3, 2, 'x = session \"x\"', 'completed', NULL, NULL, '{\"branch\": \"x\"}'),
         (4, 2, 'y = session \"y\"', 'completed', NULL, NULL, '{\"branch\": \"y\"}'),
         (5, NULL, 'session \"z\"', 'completed', 90, 100, NULL)",
    );
    let drawn = timeline(&session);
    assert_eq!(drawn.gaps, []);
    assert_eq!(drawn.len, 100 * 60_000);
    let longest: Vec<&str> = drawn.longest.iter().map(|one| &*one.node.text).collect();
    assert_eq!(longest.first(), Some(&"parallel:"));
    // The two branches may have run at the same time.
    assert_eq!(drawn.sequential, None);
}

#[test]
fn blocks_end_with_what_lies_in_them_and_the_last_branch_is_waited_for() {
    let session = session(
        "(1, NULL, 'parallel:', 'completed', 0, NULL, NULL),
         (2, 1, 'x = session \"x\"', 'completed', 0, 10, '{\"branch\": \"x\"}'),
         (3, 1, 'y = session \"y\"', 'completed', 0, 40, '{\"branch\": \"y\"}'),
         (4, NULL, 'session \"z\"', 'completed', 40, 60, NULL)",
    );
    let drawn = timeline(&session);
    let critical: Vec<bool> = drawn.bars.iter().map(|bar| bar.critical).collect();
    let (first, last) = (drawn.bars.first().unwrap(), drawn.bars.last().unwrap());
    assert_eq!(
        (first.from, first.until, first.end),
        (0, 40 * 60_000, BarEnd::Inner)
    );
    assert!(first.critical && last.critical, "{critical:?}");
    assert_eq!(drawn.sequential, Some(false));
    let of = |text: &str| {
        let all = bars(&session, &drawn);
        all.into_iter()
            .filter(|bar| bar.starts_with(text))
            .collect::<Vec<_>>()
    };
    assert!(
        of("x = ")
            .iter()
            .all(|bar| bar == "x = session \"x\" 0-10 Recorded"),
        "{:?}",
        of("x = ")
    );
    assert!(
        of("y = ")
            .iter()
            .all(|bar| bar == "y = session \"y\" 0-40 Recorded *"),
        "{:?}",
        of("y = ")
    );
}

#[test]
fn what_did_not_end_and_what_has_no_time_is_said() {
    let open = session(
        "(1, NULL, 'session \"a\"', 'completed', 0, NULL, NULL),
         (2, NULL, 'session \"b\"', 'completed', NULL, NULL, NULL),
         (3, NULL, 'session \"c\"', 'executing', 5, NULL, NULL)",
    );
    let drawn = timeline(&open);
    assert_eq!(
        bars(&open, &drawn),
        ["session \"a\" 0-0 Unknown *", "session \"c\" 5-720 Open *",]
    );
    assert_eq!(drawn.untimed, 1);
    assert!(drawn.longest.is_empty());
    let none = timeline(&session(
        "(1, NULL, 'session \"a\"', 'completed', NULL, NULL, NULL)",
    ));
    assert_eq!((none.from, none.untimed, none.bars.len()), (None, 1, 0));
}

#[test]
fn a_run_of_many_rows_has_a_picture_of_where_it_was_busy_and_failed() {
    // 1,600 statements in sequence in the first half, and 800 in parallel in the second, of which one failed.
    let row = |n: u32| match n {
        1..=1600 => format!("({n}, NULL, 'session \"a\"', 'completed', {n}, {n} + 1, NULL)"),
        1601 => format!("({n}, NULL, 'session \"b\"', 'failed', 1601, 3200, NULL)"),
        _ => format!("({n}, NULL, 'session \"c\"', 'completed', 1601, 3200, NULL)"),
    };
    let rows: Vec<String> = (1..=2400).map(row).collect();
    let drawn = timeline(&session(&rows.join(",")));
    let dense = drawn.dense;
    assert_eq!(dense.len(), 160);
    let busy: Vec<u8> = dense.iter().map(|part| part.busy).collect();
    assert!(
        busy[..79].iter().all(|busy| (1..=3).contains(busy)),
        "{busy:?}"
    );
    assert!(busy[81..].iter().all(|busy| *busy >= 98), "{busy:?}");
    let failed: Vec<usize> = (0..160).filter(|at| dense[*at].failed).collect();
    assert_eq!(failed, [159]);
}
