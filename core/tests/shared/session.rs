//! Makes runs for tests, opened at a fixed time.

use std::rc::Rc;

use prosescope_core::model::schema::STATE_SQL;
use prosescope_core::model::source::Source;
use prosescope_core::pages::session::{Options, Session};
use prosescope_core::read::sqlite::MemorySource;

/// The time at which runs are opened: 2026-01-25 16:00 UTC, in milliseconds since 1970.
pub(crate) const NOW: i64 = 1_769_356_800_000;

/// Opens a run in a database of OpenProse's schema, filled by `fill`.
pub(crate) fn database(fill: impl FnOnce(&rusqlite::Connection)) -> Session {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    conn.pragma_update(None, "synchronous", "off").unwrap();
    conn.execute_batch(STATE_SQL).unwrap();
    fill(&conn);
    drop(conn);
    files(vec![("state.db".to_owned(), std::fs::read(&path).unwrap())])
}

/// Opens a run from files.
pub(crate) fn files(files: Vec<(String, Vec<u8>)>) -> Session {
    let source: Rc<dyn Source> = Rc::new(MemorySource::new("a run", files));
    let options = Options {
        now: Some(NOW),
        ..Options::default()
    };
    Session::open(source, "", &options).unwrap()
}
