//! Tests of a large run: 100,000 executions and 20,000 bindings of 4 KB to 1 MB.
//!
//! `PROSESCOPE_LARGE_MB=1000 cargo test -p prosescope-core --release --test sqlite large -- --nocapture` creates a run
//! with 1,000 MB of values, and prints the time and memory of reading it. Without the variable, the run has a tenth of
//! the rows, with small values.

use std::rc::Rc;
use std::time::Duration;

use prosescope_core::model::schema::STATE_SQL;
use prosescope_core::model::source::Source;
use prosescope_core::pages::session::{Options, RunListing, Session, list, list_again, pages};
use prosescope_core::read::decode::rows;
use prosescope_core::read::sqlite::MemorySource;
use prosescope_test_support::work::spent;
use rusqlite::Connection;

use crate::support::{BINDINGS_PLAIN_KEY, Db, SCHEMA, SCHEMA_GATES, bytes_read, open};

const EXECUTIONS: i64 = 100_000;
const BINDINGS: i64 = 20_000;

fn make(executions: i64, bindings: i64, values: u64) -> Db {
    let db = Db::new();
    let conn = Connection::open(db.path()).unwrap();
    conn.execute_batch("PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF; PRAGMA foreign_keys=OFF")
        .unwrap();
    for statement in format!("{SCHEMA}{SCHEMA_GATES}{BINDINGS_PLAIN_KEY}").split_inclusive(';') {
        // The statement CREATE TABLE bindings of sqlite.md fails, which is a known error (errata S1).
        let _ = conn.execute_batch(statement);
    }
    conn.execute_batch("BEGIN; INSERT INTO run(id) VALUES ('large')")
        .unwrap();
    {
        let mut insert = conn
            .prepare(
                "INSERT INTO execution(statement_index, statement_text, status, started_at, completed_at, parent_id,
                   metadata) VALUES (?1, ?2, 'completed', '2026-01-15 10:00:00', '2026-01-15 10:00:09', ?3, ?4)",
            )
            .unwrap();
        for n in 0..executions {
            let text = format!("let r{} = session: researcher  # item {n}", n % 500);
            let meta = match n % 4 {
                0 => format!(
                    "{{\"loop_id\": \"l{}\", \"iteration\": {}}}",
                    n % 100,
                    n % 50
                ),
                1 => format!(
                    "{{\"parallel_id\": \"p{}\", \"branch\": \"b{}\"}}",
                    n % 1000,
                    n % 8
                ),
                _ => "{}".to_owned(),
            };
            insert
                .execute((n % 500, text, (n > 0).then_some(n / 2 + 1), meta))
                .unwrap();
        }
        let mut insert = conn
            .prepare(
                "INSERT INTO bindings(name, execution_id, kind, value, source_statement)
                 VALUES ('b' || (?1 % 200), ?1 + 1, 'let', ?2, 'let b = session')",
            )
            .unwrap();
        // Values of 4 KB to 1 MB, many small and few large ones, up to the requested total size.
        let filler: String = "The sea was angry that day. ".repeat(40_000);
        let mean = values / bindings as u64;
        for n in 0..bindings {
            let spread = [1, 1, 1, 2, 2, 3, 5, 9][n as usize % 8];
            let len = (mean * spread / 3).clamp(16, 1 << 20) as usize;
            insert
                .execute((n, &filler[..len.min(filler.len())]))
                .unwrap();
        }
    }
    conn.execute_batch("COMMIT").unwrap();
    db
}

#[test]
fn a_hundred_thousand_rows_open_in_little_memory() {
    let asked = std::env::var("PROSESCOPE_LARGE_MB")
        .ok()
        .and_then(|mb| mb.parse::<u64>().ok());
    let (executions, bindings, values) = match asked {
        Some(mb) => (EXECUTIONS, BINDINGS, mb << 20),
        None => (EXECUTIONS / 10, BINDINGS / 10, 4 << 20),
    };
    let db = make(executions, bindings, values);
    let path = db.path();
    let size = std::fs::metadata(&path).unwrap().len();
    let work = || {
        let conn = open(&path);
        let run = rows::decode(&conn, "state.db", None).unwrap().run;
        let page = rows::table_rows(&conn, "bindings", 0, 50, 160).unwrap();
        assert_eq!(
            (run.executions.len() as i64, run.bindings.len() as i64),
            (executions, bindings)
        );
        assert_eq!(page.rows.len(), 50);
    };
    // Counts only this thread, because other tests run in parallel. Memory of SQLite is not included; its cache has its
    // own limit.
    let (mut read, mut time) = (None, Duration::ZERO);
    let grown = allocation_counter::measure(|| (read, time) = spent(|| bytes_read(work))).bytes_max;
    let mb = |n: u64| n as f64 / 1e6;
    println!(
        "{:.0} MB: decoded in {time:.2?} of processor time, {:.1} MB read, {:.1} MB of memory",
        mb(size),
        read.map_or(f64::NAN, mb),
        mb(grown)
    );
    let Some(read) = read else { return };
    if asked.is_some() {
        // The list reads the rows and the pages with the beginnings of bindings. There are about two bindings on a
        // page, because SQLite fills the rest of a page with the beginning of the value.
        assert!(read < 80_000_000, "{read} bytes were read");
    }
    let rows = (executions + bindings).cast_unsigned();
    assert!(
        grown < 400 * rows,
        "{grown} bytes of memory for {rows} rows"
    );
}

/// Checks that a list reads only the beginning of a large database, and agrees with a full reading where possible.
#[test]
fn a_list_reads_the_head_of_a_large_database() {
    let rows = |n: u32| {
        let db = Db::large(&format!(
            "{STATE_SQL}
             INSERT INTO run (id, program_path, started_at, updated_at, status)
               VALUES ('20260110-000000-headed', 'a.prose', '2026-01-10 00:00:00', '2026-01-10 01:00:00', 'running');
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {n})
             INSERT INTO execution (statement_index, statement_text, status, error_message)
               SELECT i, 'session ' || i, CASE WHEN i < {n} THEN 'completed' ELSE 'failed' END, 'boom' FROM n;
             CREATE TABLE x_ballast (bytes BLOB);
             INSERT INTO x_ballast VALUES (zeroblob(34000000));"
        ))?;
        let bytes = std::fs::read(db.path()).unwrap();
        let source = MemorySource::new("dropped", [("state.db".to_owned(), bytes)]);
        Some(Rc::new(source) as Rc<dyn Source>)
    };
    let options = Options::default();

    let Some(source) = rows(40) else { return };
    let RunListing {
        list: lines,
        session,
        ..
    } = list_again(&source, &options, &|_| None);
    assert!(session.is_none(), "a large database stays open for a list");
    let line = &lines.runs[0];
    assert_eq!(
        line.head_only.as_deref(),
        Some("values were not read for this line of the list")
    );
    let whole = pages::summary(&Session::open(Rc::clone(&source), &line.place, &options).unwrap());
    assert_eq!(
        (&line.status, &line.reason, &line.duration, &line.last_sign),
        (
            &whole.status,
            &whole.reason,
            &whole.duration,
            &whole.last_sign
        )
    );

    let line = &list(&rows(30_000).unwrap(), &options).runs[0];
    assert_eq!(
        (&*line.id, &*line.status),
        ("20260110-000000-headed", "running")
    );
    assert_eq!(
        line.head_only.as_deref(),
        Some("about 30000 rows were not read for this line of the list")
    );
}
