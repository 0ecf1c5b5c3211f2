use crate::pages::session::pages;
use std::rc::Rc;

use rusqlite::Connection;

use super::names::bound_name;
use super::*;
use crate::model::schema::STATE_SQL;
use crate::pages::session::Options;
use crate::read::sqlite::MemorySource;

/// Opens a run with rows of `execution` (id, text, status, begin, end, metadata) and `bindings` (name, created,
/// updated, value).
fn session(schema: &str, rows: &str, bindings: &str) -> Session {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(schema).unwrap();
    conn.execute_batch("INSERT INTO run (id) VALUES ('r')")
        .unwrap();
    conn.execute_batch(&format!(
        "INSERT INTO execution (id, statement_text, status, started_at, completed_at, metadata) VALUES {rows};
         INSERT INTO bindings (name, created_at, updated_at, value) VALUES {bindings};"
    ))
    .unwrap();
    let bytes = conn.serialize("main").unwrap().to_vec();
    let files = [("state.db".to_owned(), bytes)];
    let source = Rc::new(MemorySource::new("run", files));
    Session::open(source, "", &Options::default()).unwrap()
}

/// Returns the bindings that each row of the trace wrote, and the writer of each binding.
fn told(session: &Session) -> (Vec<String>, Vec<String>) {
    let mut wrote = Vec::new();
    for row in pages::trace_page(session, &BTreeSet::new(), 0, 100).rows {
        for binding in &row.bindings {
            let over = if binding.overwritten { " over" } else { "" };
            let inferred = if binding.inferred { " inferred" } else { "" };
            let id = row.id.unwrap_or_default();
            wrote.push(format!("{id} {}{over}{inferred}", binding.name));
        }
    }
    let rows = pages::bindings_page(session, 0, 100).rows.into_iter();
    let by = rows.map(|row| {
        let inferred = if row.writer_inferred { " inferred" } else { "" };
        let id = row.written_by.and_then(|node| node.id);
        id.map_or_else(|| "none".to_owned(), |id| format!("{id}{inferred}"))
    });
    (wrote, by.collect())
}

#[track_caller]
fn check(why: &str, rows: &str, bindings: &str, wrote: &[&str], by: &[&str]) {
    let (told, written) = told(&session(STATE_SQL, rows, bindings));
    assert_eq!((told, written), (owned(wrote), owned(by)), "{why}");
}

fn owned(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_value_is_attributed_to_the_statement_that_was_under_way_when_it_was_written() {
    let at = |time: &str| format!("('x', NULL, '2026-01-15 10:{time}', 'v')");
    let twice =
        "(24, 'let x = session', 'completed', '2026-01-15 10:00:00', '2026-01-15 10:00:30', NULL),
        (26, 'x = session', 'failed', '2026-01-15 10:01:00', '2026-01-15 10:02:00', NULL)";
    check(
        "the later one failed, and began after the write",
        twice,
        &at("00:29"),
        &["24 x"],
        &["24"],
    );
    check(
        "the later one wrote before it failed",
        twice,
        &at("01:30"),
        &["24 x over", "26 x"],
        &["26"],
    );
    check(
        "written between the two, by a hand",
        twice,
        &at("00:45"),
        &["24 x over"],
        &["none"],
    );
    check(
        "written before both",
        twice,
        "('x', NULL, '2026-01-15 09:00:00', 'v')",
        &[],
        &["none"],
    );
    check(
        "without a time of its last write, that of the first counts",
        twice,
        "('x', '2026-01-15 10:00:10', NULL, 'v')",
        &["24 x"],
        &["24"],
    );
    check(
        "milliseconds beside seconds: within a second there is no order",
        "(1, 'let x = session', 'completed', '2026-01-15T10:00:00.700Z', '2026-01-15T10:00:30.200Z', NULL)",
        &at("00:00"),
        &["1 x"],
        &["1"],
    );
}

#[test]
fn a_statement_that_is_under_way_may_have_written() {
    let rows = |status: &str| {
        format!(
            "(1, 'let x = session', 'completed', '2026-01-15 10:00:00', '2026-01-15 10:00:30', NULL),
             (2, 'x = session', '{status}', '2026-01-15 10:01:00', NULL, NULL)"
        )
    };
    for (status, time, wrote, by) in [
        ("executing", "01:30", &["1 x over", "2 x"][..], "2"),
        ("executing", "00:20", &["1 x"], "1"),
        ("skipped", "01:30", &["1 x over"], "none"),
        ("retry", "02:30", &["1 x over", "2 x"], "2"),
    ] {
        let bindings = format!("('x', NULL, '2026-01-15 10:{time}', 'v')");
        check(status, &rows(status), &bindings, wrote, &[by]);
    }
}

#[test]
fn the_rounds_of_a_loop_and_the_attempts_of_a_statement_keep_their_own() {
    let rounds =
        "(1, 'loop until **x**:', 'started', '2026-01-15 10:00:00', NULL, '{\"loop_id\": \"l\"}'),
        (2, 'x = session', 'completed', '2026-01-15 10:01:00', '2026-01-15 10:01:30', NULL),
        (3, 'loop until **x**:', 'iteration', NULL, NULL, '{\"loop_id\": \"l\", \"iteration\": 1}'),
        (4, 'x = session', 'completed', '2026-01-15 10:02:00', '2026-01-15 10:02:30', NULL),
        (5, 'loop until **x**:', 'iteration', NULL, NULL, '{\"loop_id\": \"l\", \"iteration\": 2}'),
        (6, 'x = session', 'executing', '2026-01-15 10:03:00', NULL, NULL)";
    for (time, wrote, by) in [
        ("10:02:29", &["2 x over", "4 x"][..], "4"),
        ("10:03:29", &["2 x over", "4 x over", "6 x"], "6"),
    ] {
        let bindings = format!("('x', NULL, '2026-01-15 {time}', 'v')");
        check(time, rounds, &bindings, wrote, &[by]);
    }
    let attempts = "(1, 'let x = session', 'executing', '2026-01-15 10:00:00', NULL, NULL),
        (2, 'let x = session', 'failed', NULL, '2026-01-15 10:00:10', NULL),
        (3, 'let x = session', 'retry', NULL, NULL, '{\"attempt\": 2, \"max\": 3}'),
        (4, 'let x = session', 'completed', NULL, '2026-01-15 10:00:40', NULL)";
    check(
        "the second attempt",
        attempts,
        "('x', NULL, '2026-01-15 10:00:39', 'v')",
        &["1 x"],
        &["1"],
    );
}

#[test]
fn without_times_only_what_nothing_contradicts_is_attributed_and_marked() {
    let rows = |second: &str, third: &str| {
        format!(
            "(1, 'let x = session', 'completed', NULL, NULL, NULL), (2, 'x = session', '{second}', NULL, NULL, NULL),
             (3, 'x = session', '{third}', NULL, NULL, NULL)"
        )
    };
    let x = "('x', NULL, '2026-01-15 10:00:00', 'v')";
    check(
        "one statement",
        "(1, 'let x = session', 'failed', NULL, NULL, NULL)",
        x,
        &["1 x inferred"],
        &["1 inferred"],
    );
    check(
        "the last one completed",
        &rows("failed", "completed"),
        x,
        &["1 x over inferred", "3 x inferred"],
        &["3 inferred"],
    );
    check(
        "the last one may have written, or not",
        &rows("completed", "failed"),
        x,
        &[],
        &["none"],
    );
    check(
        "the only other one ended before",
        "(1, 'let x = session', 'completed', NULL, '2026-01-15 09:00:00', NULL),
         (2, 'x = session', 'executing', NULL, NULL, NULL)",
        x,
        &["1 x over", "2 x inferred"],
        &["2 inferred"],
    );
}

#[test]
fn a_recorded_writer_is_not_inferred_until_the_value_is_written_again() {
    let at = "2026-01-15 10:00:00";
    let row = |id: u32, text: &str, binding: &str| {
        format!("({id}, '{text}', 'completed', '{at}', '{at}', '{{\"binding\": \"{binding}\"}}')")
    };
    let anonymous = |id, binding| row(id, "session \"A\"", binding);
    let rows = format!("{}, {}", anonymous(1, "anon_002"), anonymous(2, "anon_001"));
    let bindings = format!("('anon_001', '{at}', '{at}', 'v'), ('anon_002', '{at}', '{at}', 'v')");
    check(
        "in one second, against the order of the rows",
        &rows,
        &bindings,
        &["1 anon_002", "2 anon_001"],
        &["2", "1"],
    );
    check(
        "the value was replaced since",
        &row(1, "let x = session", "x"),
        "('x', NULL, '2026-01-15 10:05:00', 'v')",
        &["1 x over"],
        &["none"],
    );
    check(
        "a binding that is not there",
        &row(1, "let x = session", "gone"),
        &format!("('x', NULL, '{at}', 'v')"),
        &["1 x"],
        &["1"],
    );
}

/// OpenProse's own table has the times after the value, where a list does not read them.
#[test]
fn the_time_of_a_large_value_counts_too() {
    let schema = "CREATE TABLE run (id TEXT);
        CREATE TABLE execution (id INTEGER PRIMARY KEY, statement_text TEXT, status TEXT, started_at TEXT,
          completed_at TEXT, metadata TEXT);
        CREATE TABLE bindings (name TEXT, execution_id INTEGER, kind TEXT, value TEXT, source_statement TEXT,
          created_at TEXT, updated_at TEXT, attachment_path TEXT);";
    let rows =
        "(24, 'let x = session', 'completed', '2026-01-15 10:00:00', '2026-01-15 10:00:30', NULL),
        (26, 'x = session', 'failed', '2026-01-15 10:01:00', '2026-01-15 10:02:00', NULL)";
    let bindings = "('x', NULL, '2026-01-15 10:00:20', hex(zeroblob(40000)))";
    let session = session(schema, rows, bindings);
    assert!(!session.run().bindings[0].tail_known);
    assert_eq!(told(&session), (owned(&["24 x"]), owned(&["24"])));
}

#[test]
fn finds_the_name_that_a_statement_binds() {
    for (text, name) in [
        ("let research = session: researcher", Some("research")),
        ("const a-b = \"x\"", Some("a-b")),
        ("a = session \"A\"", Some("a")),
        ("output report = research", Some("report")),
        ("session \"a = b\"", None),
        ("loop until **x == y**:", None),
        ("", None),
    ] {
        assert_eq!(bound_name(text), name, "{text}");
    }
}

#[test]
fn a_value_without_a_name_is_attributed_to_the_session_that_it_names() {
    let session = |rows: &str, bindings: &str| {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(STATE_SQL).unwrap();
        conn.execute_batch(&format!(
            "INSERT INTO run (id) VALUES ('r');
             INSERT INTO execution (id, statement_text, status, started_at, completed_at) VALUES {rows};
             INSERT INTO bindings (name, source_statement, updated_at, value) VALUES {bindings};"
        ))
        .unwrap();
        let files = [(
            "state.db".to_owned(),
            conn.serialize("main").unwrap().to_vec(),
        )];
        let source = Rc::new(MemorySource::new("run", files));
        told(&Session::open(source, "", &Options::default()).unwrap())
    };
    let text = "session \"Greet\"";
    for (why, rows, bindings, wrote, by) in [
        (
            "one session, one value",
            format!(
                "(1, '{text}', 'completed', NULL, NULL), (2, 'session \"Other\"', 'completed', NULL, NULL)"
            ),
            format!("('anon_001', '{text}', NULL, 'v')"),
            &["1 anon_001 inferred"][..],
            &["1 inferred"][..],
        ),
        (
            "the same session twice, without times: in their order",
            format!(
                "(1, '{text}', 'completed', NULL, NULL), (2, '{text}', 'completed', NULL, NULL)"
            ),
            format!("('anon_001', '{text}', NULL, 'v'), ('anon_002', '{text}', NULL, 'v')"),
            &["1 anon_001 inferred", "2 anon_002 inferred"],
            &["1 inferred", "2 inferred"],
        ),
        (
            "the same session twice, with times",
            format!(
                "(1, '{text}', 'completed', '2026-01-15 10:00:00', '2026-01-15 10:00:30'),
                 (2, '{text}', 'completed', '2026-01-15 10:01:00', '2026-01-15 10:02:00')"
            ),
            format!("('anon_007', '{text}', '2026-01-15 10:01:30', 'v')"),
            &["2 anon_007"],
            &["2"],
        ),
        (
            "a name that some statement could bind is no anonymous one",
            format!("(1, '{text}', 'completed', NULL, NULL)"),
            format!("('greeting', '{text}', NULL, 'v')"),
            &[],
            &["none"],
        ),
    ] {
        assert_eq!(
            session(&rows, &bindings),
            (owned(wrote), owned(by)),
            "{why}"
        );
    }
}
