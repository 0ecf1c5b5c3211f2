use std::rc::Rc;

use rusqlite::Connection;

use super::*;
use crate::model::schema::STATE_SQL;
use crate::pages::session::Options;
use crate::read::sqlite::MemorySource;

#[test]
fn what_failed_or_was_made_good_and_all_around_it_stays_open() {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(STATE_SQL).unwrap();
    conn.execute_batch(
        "INSERT INTO run (id, status) VALUES ('r', 'failed');
         INSERT INTO execution (id, statement_text, status, parent_id) VALUES
           (1, 'do well', 'completed', NULL),
           (2, 'session \"in it\"', 'completed', 1),
           (3, 'do around', 'failed', NULL),
           (4, 'do inner', 'completed', 3),
           (5, 'session \"deep\"', 'completed', 4),
           (6, 'session \"no\"', 'failed', 3),
           (7, 'session \"alone\"', 'completed', NULL);",
    )
    .unwrap();
    let bytes = conn.serialize("main").unwrap().to_vec();
    let source = Rc::new(MemorySource::new("run", [("state.db".to_owned(), bytes)]));
    let session = Session::open(source, "", &Options::default()).unwrap();
    let well = went_well(&session);
    let rows: Vec<Option<i64>> = well
        .iter()
        .filter_map(|at| Some(session.node(*at)?.id))
        .collect();
    assert_eq!(rows, [Some(1), Some(4)]);
}
