//! Tests that a list never reads a large value (errata R8): the list stays the same after the pages with the values are
//! overwritten.

use prosescope_core::model::schema::STATE_SQL;
use prosescope_core::model::{Agent, Binding, Run, StoredType, ValueAt};
use prosescope_core::read::decode::rows;
use rusqlite::Connection;

use crate::support::{BINDINGS_PLAIN_KEY, Db, SCHEMA, bytes_read, open, said};

/// Returns a database with values of 100 bytes to 400 KB in bindings and memories, in tables of this shape.
fn with_values(page_size: u32, schema: &str) -> Db {
    let db = Db::new();
    let conn = Connection::open(db.path()).unwrap();
    conn.pragma_update(None, "page_size", page_size).unwrap();
    conn.pragma_update(None, "synchronous", "off").unwrap();
    for statement in schema.split_inclusive(';') {
        // The statement CREATE TABLE bindings of sqlite.md fails, which is a known error (errata S1).
        let _ = conn.execute_batch(statement);
    }
    conn.execute_batch("BEGIN; INSERT INTO run(id) VALUES ('r1')")
        .unwrap();
    for n in 0..24_i64 {
        conn.execute(
            "INSERT INTO execution(statement_index, statement_text, status) VALUES (?1, 'session', 'completed')",
            [n],
        )
        .unwrap();
        let len = [100, 3_000, 20_000, 400_000][n as usize % 4];
        conn.execute(
            "INSERT INTO bindings(name, execution_id, kind, value, source_statement, created_at, updated_at)
             VALUES ('b' || ?1, ?1 + 1, 'let', hex(zeroblob(?2 / 2)), 'let b = session', '2026-01-15 10:00:00',
               '2026-01-15 10:00:01')",
            [n, len],
        )
        .unwrap();
        conn.execute(
            "INSERT INTO agents(name, scope, memory) VALUES ('a' || ?1, 'execution', hex(zeroblob(?2)))",
            [n, len],
        )
        .unwrap();
    }
    conn.execute_batch("COMMIT").unwrap();
    db
}

/// Overwrites every overflow page of bindings and agents: a page with a part of a value that is too long for its row's
/// own page. These pages must have more than `least` bytes in all. Returns their number.
fn overwrite_values(db: &Db, least: i64) -> usize {
    let conn = Connection::open(db.path()).unwrap();
    let size: i64 = conn
        .query_row("PRAGMA page_size", [], |r| r.get(0))
        .unwrap();
    let mut statement = conn
        .prepare(
            "SELECT pageno FROM dbstat WHERE pagetype = 'overflow' AND name IN ('bindings', 'agents')
             AND path GLOB '*+*'",
        )
        .unwrap();
    let pages: Vec<i64> = statement
        .query_map([], |r| r.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    drop(statement);
    drop(conn);
    assert!(pages.len() as i64 * size > least, "no values to take away");
    let mut bytes = std::fs::read(db.path()).unwrap();
    for page in &pages {
        let start = ((page - 1) * size) as usize;
        bytes[start..start + size as usize].fill(0xa5);
    }
    std::fs::write(db.path(), bytes).unwrap();
    pages.len()
}

const WITHOUT_ROWID: &str = "without rowid";

fn shapes() -> Vec<(&'static str, String)> {
    vec![
        (
            "ours",
            STATE_SQL
                .replace("CREATE TRIGGER", "-- ")
                .split("-- G7")
                .next()
                .unwrap()
                .to_owned(),
        ),
        ("the document's", format!("{SCHEMA}{BINDINGS_PLAIN_KEY}")),
        (
            WITHOUT_ROWID,
            SCHEMA.replace(
                "PRIMARY KEY (name, IFNULL(execution_id, -1))\n);",
                "PRIMARY KEY (execution_id, name)\n) WITHOUT ROWID;",
            ),
        ),
    ]
}

#[test]
fn a_list_touches_no_page_of_a_value() {
    for page_size in [1024, 4096, 65_536] {
        for (shape, schema) in shapes() {
            let db = with_values(page_size, &schema);
            let before = db.read();
            let list = rows::table_rows(&db.open(), "bindings", 0, 100, 40).unwrap();
            assert_eq!(
                (before.bindings.len(), before.agents.len()),
                (24, 24),
                "{shape}"
            );
            overwrite_values(&db, 2_000_000);
            let after = db.read();
            assert_eq!(after, before, "{shape}, pages of {page_size}");
            // The beginning of a value is in the row's own page only if this page has 489 bytes for the row. A table
            // without rowids has no handles with which the rest could be read.
            if page_size >= 4096 && shape != WITHOUT_ROWID {
                let again = rows::table_rows(&db.open(), "bindings", 0, 100, 40).unwrap();
                assert_eq!(again, list, "{shape}, pages of {page_size}");
            }
            // The values are really lost, so a correct list cannot have read them from a cache.
            let conn = db.open();
            let large = &after.bindings[3];
            let read = rows::value_bytes(&conn, "bindings", "value", &large.value, 0, 400_000);
            assert!(
                read.is_err() || read.is_ok_and(|b| b.contains(&0xa5)),
                "{shape}"
            );
        }
    }
}

#[test]
fn the_beginning_of_a_value_costs_its_rows_page_only() {
    let db = with_values(4096, &shapes()[1].1);
    overwrite_values(&db, 2_000_000);
    let (conn, run) = (db.open(), db.read());
    for binding in &run.bindings {
        let preview =
            rows::value_bytes(&conn, "bindings", "value", &binding.value, 0, 160).unwrap();
        assert!(
            preview.iter().all(|b| *b == b'0') && preview.len() >= 100,
            "{}",
            binding.name
        );
    }
}

/// Checks that a list leaves out the columns after a large value, which are read only when the row is opened.
#[test]
fn what_lies_behind_a_large_value_is_read_when_the_row_is_opened() {
    let db = with_values(4096, &shapes()[1].1);
    let (conn, run) = (db.open(), db.read());
    let known =
        |run: &Run| -> Vec<bool> { run.bindings.iter().take(4).map(|b| b.tail_known).collect() };
    assert_eq!(known(&run), [true, false, false, false]);
    for binding in &run.bindings {
        assert_eq!(binding.source.is_some(), binding.tail_known);
        let full: Binding = rows::binding_tail(&conn, binding).unwrap();
        assert!(full.tail_known);
        assert_eq!(full.source.as_deref(), Some("let b = session"));
        assert_eq!(full.updated.unwrap().to_string(), "2026-01-15T10:00:01Z");
        assert_eq!(full.value, binding.value);
    }
    let times = |agents: &[Agent]| -> Vec<bool> {
        agents.iter().take(4).map(|a| a.updated.is_some()).collect()
    };
    assert_eq!(times(&run.agents), [true, false, false, false]);
    let full = rows::agent_tail(&conn, &run.agents[3]).unwrap();
    assert!(full.updated.is_some() && full.created.is_some());

    // Prosescope's schema places the values last, so a list does not leave out any column.
    let ours = with_values(4096, &shapes()[0].1).read();
    assert_eq!(known(&ours), [true; 4]);
    assert_eq!(times(&ours.agents), [true; 4]);
    assert_eq!(
        said(&ours.issues),
        ["times-not-recorded: no row of `execution` has a time"]
    );
}

#[test]
fn a_tail_of_a_row_that_is_gone_is_an_error() {
    let db = with_values(4096, &shapes()[1].1);
    let mut binding = db.read().bindings.swap_remove(0);
    binding.value = ValueAt::Row {
        rowid: 4711,
        len: None,
        stored: StoredType::Text,
    };
    let error = rows::binding_tail(&db.open(), &binding).unwrap_err();
    assert_eq!(error.to_string(), "there is no row 4711 in bindings");
    binding.value = ValueAt::Missing;
    let error = rows::binding_tail(&db.open(), &binding).unwrap_err();
    assert_eq!(error.to_string(), "there is no row of this binding");
}

#[test]
fn opening_reads_a_small_part_of_a_large_file() {
    let db = with_values(4096, &shapes()[1].1);
    let size = std::fs::metadata(db.path()).unwrap().len();
    assert!(size > 7_000_000);
    let path = db.path();
    let Some(read) = bytes_read(|| {
        let conn = open(&path);
        rows::decode(&conn, "state.db", None).unwrap();
        rows::table_rows(&conn, "bindings", 0, 50, 160).unwrap();
    }) else {
        return;
    };
    assert!(read < 200_000, "{read} bytes of {size} were read");
}
