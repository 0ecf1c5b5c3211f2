use std::rc::Rc;

use rusqlite::Connection;

use super::*;
use crate::model::schema::STATE_SQL;
use crate::pages::session::Options;
use crate::read::sqlite::MemorySource;

/// Opens a run with four statements: the third failed, and the last is open and has no times.
fn session() -> Session {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(STATE_SQL).unwrap();
    conn.execute_batch(
        "INSERT INTO run (id, status) VALUES ('r', 'running');
         INSERT INTO execution (id, statement_text, status, started_at, completed_at, error_message) VALUES
           (1, 'session \"short\"', 'completed', '2026-01-15 10:00:00', '2026-01-15 10:00:02', NULL),
           (2, 'session \"long\"', 'completed', '2026-01-15 10:00:02', '2026-01-15 10:05:02', NULL),
           (3, 'session \"middle\"', 'failed', '2026-01-15 10:05:02', '2026-01-15 10:06:02', 'Rate limited'),
           (4, 'session \"open\"', 'executing', NULL, NULL, NULL);",
    )
    .unwrap();
    let bytes = conn.serialize("main").unwrap().to_vec();
    let source = Rc::new(MemorySource::new("run", [("state.db".to_owned(), bytes)]));
    Session::open(source, "", &Options::default()).unwrap()
}

/// Returns the statements of the selected rows.
fn texts(choice: TraceChoice) -> Vec<String> {
    let session = session();
    let rows = chosen(&session, &choice);
    let page = chosen_page(&session, &rows, 0, 10);
    assert_eq!(page.total as usize, rows.len());
    let texts = page
        .rows
        .iter()
        .map(|row| row.text.replace("session ", "").replace('"', ""));
    texts.collect()
}

#[test]
fn rows_are_ordered_by_length_and_by_problems() {
    let order = |order| TraceChoice {
        order,
        ..TraceChoice::default()
    };
    assert_eq!(
        texts(order(TraceOrder::Longest)),
        ["long", "middle", "short", "open"]
    );
    assert_eq!(
        texts(order(TraceOrder::Problems)),
        ["middle", "open", "short", "long"]
    );
    assert_eq!(
        texts(order(TraceOrder::Ran)),
        ["short", "long", "middle", "open"]
    );
}

#[test]
fn rows_are_chosen_by_text_error_status_and_length() {
    let all = TraceChoice::default();
    let text = |text: &str| TraceChoice {
        text: text.to_owned(),
        ..all.clone()
    };
    assert_eq!(
        texts(text("LONG")),
        Vec::<String>::new(),
        "a capital is meant"
    );
    assert_eq!(texts(text("long ")), ["long"]);
    assert_eq!(
        texts(text("rate limited")),
        ["middle"],
        "an error is looked at too"
    );
    let status = TraceChoice {
        status: "completed".to_owned(),
        ..all.clone()
    };
    assert_eq!(texts(status), ["short", "long"]);
    for (word, known) in [
        ("", true),
        ("Failed", true),
        ("recovered", true),
        ("cut off", true),
        ("failedd", false),
        ("done", false),
    ] {
        let choice = TraceChoice {
            status: word.to_owned(),
            ..all.clone()
        };
        assert_eq!(choice.known_status(&session()).is_ok(), known, "{word}");
    }
    let length = TraceChoice {
        at_least_ms: Some(60_000),
        ..all.clone()
    };
    assert_eq!(
        texts(length),
        ["long", "middle"],
        "what has no times is left out"
    );
    let kind = TraceChoice {
        kind: "loop".to_owned(),
        ..all
    };
    assert_eq!(texts(kind), Vec::<String>::new());
}

#[test]
fn a_window_begins_where_it_is_asked_for() {
    let session = session();
    let rows = chosen(&session, &TraceChoice::default());
    let page = chosen_page(&session, &rows, 3, 10);
    let [row] = page.rows.as_slice() else {
        panic!("{:?}", page.rows);
    };
    assert_eq!((page.total, page.from, row.place), (4, 3, (4, 4)));
    assert!(chosen_page(&session, &rows, 4, 10).rows.is_empty());
}
