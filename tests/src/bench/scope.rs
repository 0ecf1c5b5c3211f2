//! Compares the speed of name resolution with that of the recursive query of sqlite.md, on the same database.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use prosescope_core::pages::session::{Options, Session};
use prosescope_core::trace::scope::{resolve, winner};
use prosescope_store::Disk;
use prosescope_tests::{build, needs};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::Effort;
use crate::figures::{Rival, in_turn, worked};
use crate::table::beside;

/// The query in sqlite.md, "Scope Resolution Query".
const QUERY: &str = "WITH RECURSIVE scope_chain AS (
  SELECT id, parent_id FROM execution WHERE id = ?1
  UNION ALL
  SELECT e.id, e.parent_id
  FROM execution e
  JOIN scope_chain s ON e.id = s.parent_id
)
SELECT b.* FROM bindings b
LEFT JOIN scope_chain s ON b.execution_id = s.id
WHERE b.name = ?2
  AND (b.execution_id IN (SELECT id FROM scope_chain) OR b.execution_id IS NULL)
ORDER BY
  CASE WHEN b.execution_id IS NULL THEN 1 ELSE 0 END,
  s.id DESC NULLS LAST
LIMIT 1";

/// The longest time of a query. A stopped query counts with this time, so it looks faster in the ratio than it is.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn measure(effort: Effort) {
    if needs::sqlite3().is_none() {
        return;
    }
    println!(
        "Frames one in another, each with `result`; `config` is the root's alone. Asked from the innermost frame. \
         The query is stopped after {} s.\n",
        PATIENCE.as_secs()
    );
    let folder = tempfile::tempdir().expect("a folder");
    for depth in effort.pick(&[10, 1_000, 100_000][..], &[10, 100]) {
        let database = nested(folder.path(), *depth);
        let source = Disk::open(&database).expect("a database");
        let session =
            Session::open(Rc::new(source), "state.db", &Options::default()).expect("a run");
        let sql = Theirs::open(&database);
        // A short resolution is repeated within one measurement, because the clock is not fine enough for a single one.
        let batch = effort.pick((20_000 / depth).clamp(1, 200), 1);
        let rounds = effort.pick(if *depth > 10_000 { 3 } else { 15 }, 2);
        for name in ["result", "config"] {
            let ours = winner(session.run(), session.trace(), name, Some(*depth as i64));
            let ours = &session.run().bindings[ours.expect("a binding")];
            if let Some(theirs) = sql.find(name, *depth) {
                assert_eq!(ours.execution_id, theirs, "the same binding");
            }
            println!("{depth} frames deep, {name}, processor time:");
            let slow = if *depth > 10_000 { 1 } else { batch };
            let mut rivals = [
                Rival::new("recursive query", || {
                    mean(slow, || {
                        black_box(sql.find(name, *depth));
                    })
                }),
                Rival::new("with every candidate's reason", || {
                    mean(slow, || {
                        black_box(resolve(
                            session.run(),
                            session.trace(),
                            name,
                            Some(*depth as i64),
                        ));
                    })
                }),
                Rival::new("the binding alone", || {
                    mean(batch, || {
                        black_box(winner(
                            session.run(),
                            session.trace(),
                            name,
                            Some(*depth as i64),
                        ));
                    })
                }),
            ];
            let figures = in_turn(rounds, &mut rivals);
            beside(&rivals, &figures).print();
        }
    }
}

/// Returns the average time of repeated work, in seconds.
fn mean(times: usize, mut work: impl FnMut()) -> f64 {
    let all = worked(|| (0..times).for_each(|_| work()));
    all / times as f64
}

/// OpenProse's query, on a connection that stops it after [`PATIENCE`].
struct Theirs {
    conn: Connection,
    begun: Arc<Mutex<Instant>>,
}

impl Theirs {
    fn open(database: &Path) -> Theirs {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let mut conn = Connection::open_with_flags(database, flags).expect("a database");
        let begun = Arc::new(Mutex::new(Instant::now()));
        let asked = Arc::clone(&begun);
        let late = move || asked.lock().is_ok_and(|begun| begun.elapsed() > PATIENCE);
        conn.progress_handler(10_000, Some(late))
            .expect("a handler");
        Theirs { conn, begun }
    }

    /// Returns the frame of the binding to which a name resolves, with the inner `None` for the root. Returns `None`
    /// if the query was stopped.
    fn find(&self, name: &str, from: usize) -> Option<Option<i64>> {
        *self.begun.lock().expect("a time") = Instant::now();
        let mut statement = self.conn.prepare_cached(QUERY).expect("SQL");
        let found = statement.query_row((from as i64, name), |row| {
            // The query selects `b.*`, so the whole row is read.
            for column in 0..8 {
                black_box(row.get_ref(column)?);
            }
            row.get("execution_id")
        });
        match found {
            Ok(frame) => Some(frame),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
                None
            }
            Err(error) => panic!("{error}"),
        }
    }
}

fn nested(folder: &Path, depth: usize) -> PathBuf {
    let database = folder.join(depth.to_string()).join("state.db");
    let script = format!(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
{schema}
BEGIN;
INSERT INTO run (id, program_path, program_source, status)
VALUES ('20260110-000000-deep01', 'deep.prose', 'block deeper():\n  do deeper()\ndo deeper()\n', 'running');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {depth})
INSERT INTO execution (id, statement_index, statement_text, status, parent_id)
SELECT i, 1, 'do deeper()', 'executing', nullif(i - 1, 0) FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {depth})
INSERT INTO bindings (name, execution_id, kind, value) SELECT 'result', i, 'let', 'the result of frame ' || i FROM n;
INSERT INTO bindings (name, execution_id, kind, value) VALUES ('config', NULL, 'const', 'of the root');
COMMIT;
",
        schema = build::state_schema()
    );
    build::sql(&database, &script);
    database
}
