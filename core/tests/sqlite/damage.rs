//! Tests that of damaged databases the readable parts are read, without a panic and without unbounded work.

use std::time::Duration;

use prosescope_core::model::database::DecodeError;
use prosescope_core::model::schema::STATE_SQL;
use prosescope_core::read::decode::rows;
use prosescope_core::read::sqlite::{self, Guard, Sqlite};
use prosescope_test_support::work::spent;
use rusqlite::Connection;

use crate::support::{APPEND_ONLY, Db, GATES, VALUES, assert_said};

#[test]
fn damage_in_one_table_leaves_the_others() {
    let db = Db::of(&format!(
        "PRAGMA page_size=512; {STATE_SQL} INSERT INTO run(id) VALUES ('r1')"
    ));
    let mut rows = String::from("BEGIN;");
    for n in 1..=500 {
        rows.push_str(&format!(
            "INSERT INTO execution(id, statement_index, status, statement_text) VALUES ({n}, {n}, 'completed', 'session {n}');"
        ));
    }
    db.run(&format!("{rows} COMMIT;"));
    let whole = std::fs::read(db.path()).unwrap();
    // Overwrites a leaf page of execution, in the middle, with noise.
    let at = whole.windows(11).position(|w| w == b"session 250").unwrap() / 512 * 512;
    let mut broken = whole.clone();
    broken[at..at + 512].fill(0xa5);
    std::fs::write(db.path(), broken).unwrap();
    let run = db.read();
    assert_eq!(&*run.id, "r1");
    assert!(
        (100..250).contains(&run.executions.len()),
        "{}",
        run.executions.len()
    );
    assert_said(
        &run,
        "table-damaged",
        "part of the file is damaged (database disk image is malformed)",
    );

    // Overwrites the page that contains the database's schema.
    let mut broken = whole;
    broken[100..512].fill(0xa5);
    std::fs::write(db.path(), broken).unwrap();
    let conn = Connection::open(db.path()).unwrap();
    let answer = Sqlite::new(conn, Guard::default())
        .and_then(|db| rows::decode(&db, "state.db", None).map(|_| ()));
    let error = answer.unwrap_err();
    assert!(matches!(error, DecodeError::Damaged(_)), "{error:?}");
    assert!(error.next_step().contains(".recover"));
}

/// If all children of inner pages are the same page, its rows repeat; after twenty levels, their number is
/// astronomical.
#[test]
fn rows_that_come_again_end_the_table() {
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
        INSERT INTO execution(id, status, statement_text) SELECT i, 'completed', 'session ' || i FROM n";
    let db = Db::of(&format!("PRAGMA page_size=512; {STATE_SQL} {rows}"));
    let root: u32 = Connection::open(db.path())
        .unwrap()
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'execution'",
            [],
            |r| r.get(0),
        )
        .unwrap();
    let mut bytes = std::fs::read(db.path()).unwrap();
    let start = (root as usize - 1) * 512;
    assert_eq!(bytes[start], 5, "an inner page of a table");
    let cells = usize::from(bytes[start + 4]);
    let cell = |bytes: &[u8], n: usize| {
        let at = start + 12 + 2 * n;
        start + usize::from(bytes[at]) * 256 + usize::from(bytes[at + 1])
    };
    let first: [u8; 4] = bytes[cell(&bytes, 0)..][..4].try_into().unwrap();
    for n in 0..cells {
        let at = cell(&bytes, n);
        bytes[at..at + 4].copy_from_slice(&first);
    }
    std::fs::write(db.path(), bytes).unwrap();
    let run = db.read();
    assert!(run.executions.len() < 100, "{}", run.executions.len());
    assert_said(&run, "table-damaged", "follows a later row");
}

/// Tables that share their first page have the same rows, so a file of some hundred kilobytes can represent any amount
/// of text.
#[test]
fn texts_that_take_more_than_the_file_end_the_table() {
    let text = "x".repeat(2_000);
    let db = Db::of(&format!(
        "CREATE TABLE execution(id INTEGER PRIMARY KEY, statement_text, error_message, metadata);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
         INSERT INTO execution SELECT i, i || '{text}', i || '{text}', '{{\"a\": \"' || i || '{text}\"}}' FROM n;
         PRAGMA writable_schema=ON;
         INSERT INTO sqlite_schema SELECT 'table', name, name, 2, 'CREATE TABLE ' || name || columns FROM (
           SELECT 'agent_segments' AS name, '(id INTEGER PRIMARY KEY, agent_name, prompt, summary)' AS columns
           UNION ALL SELECT 'gates', '(id INTEGER PRIMARY KEY, prompt, on_reject, metadata)'
           UNION ALL SELECT 'imports', '(id INTEGER PRIMARY KEY, alias, inputs_schema, outputs_schema)')"
    ));
    let run = db.read();
    assert_eq!(run.executions.len(), 50);
    assert!(run.gates.len() < 50, "{}", run.gates.len());
    assert_said(&run, "table-damaged", "claim more bytes than the file has");
}

/// A damaged length of a value must be refused, because SQLite would follow a cycle of pages for two gigabytes.
#[test]
fn a_value_longer_than_the_file_is_refused() {
    let db = Db::of(
        "PRAGMA page_size=512; CREATE TABLE bindings(name, kind, value);
         INSERT INTO bindings VALUES ('a', 'let', hex(zeroblob(5000)))",
    );
    let mut bytes = std::fs::read(db.path()).unwrap();
    // Column types are in the record's header; the length and the rowid precede that header.
    let at = bytes.windows(8).position(|w| w == b"alet0000").unwrap();
    assert_eq!(bytes[at - 6..at - 3], [6, 15, 19]);
    bytes[at - 9..at - 7].copy_from_slice(&[0xff, 0x7f]);
    bytes[at - 3..at].copy_from_slice(&[0x81, 0xff, 0x77]);
    std::fs::write(db.path(), bytes).unwrap();
    let run = db.read();
    let value = &run.bindings[0].value;
    let conn = db.open();
    let error = rows::value_bytes(&conn, "bindings", "value", value, 0, 100).unwrap_err();
    assert!(
        error.to_string().contains("more than the whole file"),
        "{error}"
    );
    let error = rows::value_pieces(&conn, "bindings", "value", value, &mut |_| true).unwrap_err();
    assert!(matches!(error, DecodeError::Damaged(_)), "{error}");
}

/// A generator of random numbers that repeats the same numbers in every test run.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}

/// Uses a database as the command line and the viewer do; any result is accepted, but a panic is not.
fn use_it(bytes: &[u8], wal: Option<&[u8]>) -> Result<(), DecodeError> {
    let conn = match wal {
        Some(wal) => sqlite::from_bytes_with_wal(bytes, wal)?,
        None => sqlite::from_bytes(bytes)?,
    };
    let conn = Sqlite::new(conn, Guard::default())?;
    let run = rows::decode(&conn, "state.db", None)?.run;
    for table in &run.tables {
        let _ = rows::table_rows(&conn, &table.name, 0, 20, 100);
        let _ = rows::row(&conn, &table.name, 1, 100);
    }
    for binding in &run.bindings {
        let _ = rows::value_bytes(&conn, "bindings", "value", &binding.value, 0, 1 << 20);
        let _ = rows::binding_tail(&conn, binding);
    }
    for execution in &run.executions {
        let _ = rows::execution_row(&conn, execution.id, 1 << 16);
    }
    Ok(())
}

#[test]
fn any_damage_is_borne() {
    let db = Db::of(&format!(
        "PRAGMA page_size=1024; {STATE_SQL} {APPEND_ONLY} {GATES} {VALUES}
         INSERT INTO bindings(name, kind, value) VALUES ('large', 'let', hex(zeroblob(5000)))"
    ));
    let whole = std::fs::read(db.path()).unwrap();
    use_it(&whole, None).unwrap();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..300 {
        let mut bytes = whole.clone();
        for _ in 0..=dice.throw(12) {
            let at = dice.throw(bytes.len());
            match dice.throw(4) {
                0 => bytes[at] = dice.throw(256) as u8,
                1 => bytes[at] ^= 1 << dice.throw(8),
                2 => {
                    let end = (at + dice.throw(200)).min(bytes.len());
                    bytes[at..end].fill([0, 0xff, 0x2e][dice.throw(3)]);
                }
                // The file header, the schema and the page headers are changed more often than other bytes, because
                // reading depends on them most.
                _ => bytes[at / 1024 * 1024 + dice.throw(120)] = dice.throw(256) as u8,
            }
        }
        if dice.throw(8) == 0 {
            bytes.truncate(dice.throw(whole.len()));
        }
        let (used, took) = spent(|| use_it(&bytes, None));
        match used {
            Ok(()) => read += 1,
            Err(error) => {
                assert!(!error.to_string().is_empty() && !error.next_step().is_empty());
                refused += 1;
            }
        }
        assert!(
            took < Duration::from_secs(10),
            "one file took {took:?} of processor time"
        );
    }
    assert!(
        read > 50 && refused > 50,
        "{read} read, {refused} refused: the damage shows nothing"
    );
}

#[test]
fn any_wal_is_borne() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(&format!(
        "PRAGMA journal_mode=WAL; {STATE_SQL} {APPEND_ONLY}"
    ))
    .unwrap();
    let db = std::fs::read(&path).unwrap();
    let wal = std::fs::read(dir.path().join("state.db-wal")).unwrap();
    use_it(&db, Some(&wal)).unwrap();
    let mut dice = Dice(7);
    for _ in 0..200 {
        let mut bytes = wal.clone();
        for _ in 0..=dice.throw(3) {
            let most = [64, bytes.len()][dice.throw(2)];
            let at = dice.throw(most);
            bytes[at] = dice.throw(256) as u8;
        }
        if dice.throw(4) == 0 {
            bytes.truncate(dice.throw(wal.len()));
        }
        let _ = use_it(&db, Some(&bytes));
    }
}
