use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prosescope_core::schema::STATE_SQL;
use prosescope_core::write::{Facts, Place, Style};
use rusqlite::Connection;

use super::facts::SqliteFacts;

/// SQLite's steps for one question, in a run of so many statements without a line.
fn steps(statements: usize, ask: impl Fn(&SqliteFacts<'_>)) -> u64 {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(STATE_SQL).unwrap();
    let mut insert = conn
        .prepare("INSERT INTO execution (statement_text, status) VALUES (?1, 'completed')")
        .unwrap();
    for n in 0..statements {
        insert.execute([format!("session \"Chunk {n}\"")]).unwrap();
    }
    drop(insert);
    let counted = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&counted);
    let count = move || {
        counter.fetch_add(1, Ordering::Relaxed);
        false
    };
    conn.progress_handler(1, Some(count)).unwrap();
    ask(&SqliteFacts {
        conn: &conn,
        path: "state.db".as_ref(),
        dir: ".".as_ref(),
        run: "r",
        style: Style::AppendOnly,
    });
    counted.load(Ordering::Relaxed)
}

#[test]
fn what_is_asked_by_key_costs_the_same_in_a_long_run() {
    type Ask = fn(&SqliteFacts<'_>);
    let asks: [(&str, Ask); 3] = [
        ("a statement without a line", |facts| {
            let place = Place {
                parent: None,
                index: None,
                text: "session \"Another\"",
            };
            let none = &mut |_| panic!("it is another");
            facts.executions_back(&place, i64::MIN, none).unwrap();
        }),
        ("a statement with a line", |facts| {
            let place = Place {
                parent: None,
                index: Some(7),
                text: "",
            };
            let none = &mut |_| panic!("it is another");
            facts.executions_back(&place, i64::MIN, none).unwrap();
        }),
        ("the newest row", |facts| {
            facts.newest(&mut |_| ControlFlow::Break(())).unwrap();
        }),
    ];
    for (what, ask) in asks {
        let (few, many) = (steps(20, ask), steps(2000, ask));
        assert!(
            few > 0 && many <= few + 20,
            "{what}: {few} and {many} steps"
        );
    }
}
