use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prosescope_core::model::AgentScope;
use prosescope_core::program;
use prosescope_core::schema::{AGENTS_SQL, STATE_SQL};
use prosescope_core::write::{
    At, Begin, Change, ExecutionRow, ExecutionUpdate, Facts, FaultKind, GateResolution, Place, Put,
    Remember, RunChange, RunStore, StatementRef, Style, WriteError, record,
};
use rusqlite::Connection;
use tempfile::TempDir;

use super::facts::SqliteFacts;
use super::guard;
use super::{SqliteStore, init_sqlite};

const NOW: &str = "2026-01-15 14:30:52";

fn at() -> At {
    At {
        now: 1_768_487_452_000,
        ..At::default()
    }
}

fn run(program: &str) -> (TempDir, SqliteStore) {
    let dir = tempfile::tempdir().unwrap();
    init_sqlite(&dir.path().join("r"), "r", "p.prose", program, NOW).unwrap();
    let store = SqliteStore::open(&dir.path().join("r/state.db"), None).unwrap();
    (dir, store)
}

fn begin(text: &str) -> Begin {
    Begin {
        statement: StatementRef {
            text: Some(text.to_owned()),
            line: None,
        },
        ..Begin::default()
    }
}

fn rows(store: &SqliteStore, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    store.conn.query_row(&sql, [], |row| row.get(0)).unwrap()
}

/// Counts SQLite's steps for one query in a run with `statements` statements without a line.
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
        dir: &crate::dir::Dir::open(".".as_ref()).unwrap(),
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

/// A transaction that exceeds the time limit is rolled back completely; the next one has its own time.
#[test]
fn a_transaction_ends_in_time_or_not_at_all() {
    let (_dir, mut store) = run("session \"A\"\n");
    // Enough rows for more steps than SQLite executes between two checks of the clock.
    let rows_before =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO execution (statement_text, status) SELECT 'session \"B\"', 'completed' FROM n";
    let other = Connection::open(store.path.clone()).unwrap();
    other.execute_batch(rows_before).unwrap();
    store.time = Duration::ZERO;
    let all = |facts: &dyn Facts| {
        facts.newest(&mut |_| ControlFlow::Continue(()))?;
        Ok(vec![Change::Run(RunChange::default())])
    };
    match store.transact(&mut |facts| all(facts)) {
        Err(WriteError::Fault(fault)) => {
            assert_eq!(fault.kind, FaultKind::Io);
            assert!(fault.message.contains("more time than"), "{fault}");
        }
        other => panic!("{other:?}"),
    }
    assert!(store.conn.is_autocommit());
    // After a transaction, the connection has no time limit.
    store.vacuum().unwrap();
    store.time = guard::TIME;
    store.transact(&mut |facts| all(facts)).unwrap();
    record(&mut store, &begin("session \"A\""), &at()).unwrap();
    assert_eq!(rows(&store, "execution"), 5001);
}

/// A command must not report success if its statement changed no row.
#[test]
fn a_change_that_meets_no_row_undoes_the_command() {
    let execution = |id| {
        Change::Execution(ExecutionRow {
            id,
            status: "executing".to_owned(),
            ..ExecutionRow::default()
        })
    };
    let update = |id| {
        Change::UpdateExecution(ExecutionUpdate {
            id,
            status: Some("completed".to_owned()),
            ..ExecutionUpdate::default()
        })
    };
    let resolve = |id: &str| {
        Change::ResolveGate(GateResolution {
            id: id.to_owned(),
            run_id: "r".to_owned(),
            status: "approved".to_owned(),
            ..GateResolution::default()
        })
    };
    let twice = "DROP TABLE execution;
        CREATE TABLE execution (id INTEGER, statement_index INTEGER, statement_text TEXT, status TEXT, started_at TEXT,
            completed_at TEXT, error_message TEXT, parent_id INTEGER, metadata TEXT);
        INSERT INTO execution (id, status) VALUES (7, 'executing'), (7, 'executing');";
    let decided = "INSERT INTO gates (id, run_id, status) VALUES ('ship', 'r', 'rejected');";
    for (sql, change, rows_met) in [
        ("", update(99), 0),
        (twice, update(7), 2),
        ("", resolve("ship"), 0),
        (decided, resolve("ship"), 0),
    ] {
        let (_dir, mut store) = run("");
        store
            .conn
            .set_db_config(
                rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY,
                false,
            )
            .unwrap();
        store.conn.execute_batch(sql).unwrap();
        let before = rows(&store, "execution");
        let changes = [execution(42), change];
        match store.transact(&mut |_| Ok(changes.to_vec())) {
            Err(WriteError::Fault(fault)) => {
                let said = format!("a change of one row affected {rows_met} rows");
                assert!(fault.message.contains(&said), "{fault}");
            }
            other => panic!("{sql}: {other:?}"),
        }
        assert_eq!(rows(&store, "execution"), before, "{sql}");
    }
}

/// A trigger that is added after a store was opened must not write into the agents' tables either.
#[test]
fn agents_are_written_where_nothing_else_writes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agents.db");
    let remember = Remember {
        agent: "captain".to_owned(),
        scope: AgentScope::Project,
        memory: "mine".to_owned(),
    };
    let mut store = SqliteStore::open_agents(&path).unwrap();
    record(&mut store, &remember, &at()).unwrap();
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch("CREATE TRIGGER t AFTER UPDATE ON agents BEGIN DELETE FROM agents; END;")
        .unwrap();
    for said in [
        record(&mut store, &remember, &at())
            .unwrap_err()
            .to_string(),
        SqliteStore::open_agents(&path).unwrap_err().to_string(),
    ] {
        assert!(said.contains("table agents has the trigger t"), "{said}");
    }
    assert_eq!(rows(&store, "agents"), 1);
    other.execute_batch("DROP TRIGGER t").unwrap();
    record(&mut store, &remember, &at()).unwrap();
    // A concurrent creation by two processes yields one database.
    let fresh = dir.path().join("fresh.db");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| SqliteStore::open_agents(&fresh).unwrap());
        }
    });
    let tables = Connection::open(&fresh).unwrap();
    tables.execute_batch(AGENTS_SQL).unwrap();
}

/// A program file longer than the readers' limit is ignored by a writer too.
#[test]
fn a_program_beside_the_database_has_a_limit() {
    let (dir, mut store) = run("");
    store
        .conn
        .execute_batch("UPDATE run SET program_source = NULL")
        .unwrap();
    let beside = dir.path().join("r/program.prose");
    let most = program::MOST_BYTES as u64;
    for (len, there) in [(most, true), (most + 1, false)] {
        // The program file is sparse: only its length is on disk.
        std::fs::File::create(&beside)
            .unwrap()
            .set_len(len)
            .unwrap();
        let mut found = None;
        store
            .transact(&mut |facts| {
                found = facts.program()?;
                Ok(Vec::new())
            })
            .unwrap();
        assert_eq!(found.is_some(), there, "{len}");
    }
}

/// The numbering of `anon_…` continues past 999; names with more than nine digits come from other tools and are
/// skipped.
#[test]
fn anonymous_names_are_counted() {
    for (there, next) in [
        (&["anon_999"][..], Some("anon_1000")),
        (&["anon_007", "anon_12x", "anonymous_50"], Some("anon_008")),
        (&["anon_1234567890"], Some("anon_001")),
        (&["anon_999999998"], Some("anon_999999999")),
        (&["anon_999999999"], None),
    ] {
        let (_dir, mut store) = run("");
        let put = |name: Option<&str>| Put {
            name: name.map(str::to_owned),
            ..Put::default()
        };
        for name in there {
            record(&mut store, &put(Some(name)), &at()).unwrap();
        }
        let written = record(&mut store, &put(None), &at());
        match (written, next) {
            (Ok(written), Some(next)) => {
                assert_eq!((written.name.as_str(), written.replaced), (next, false));
            }
            (Err(WriteError::Refused { rule, .. }), None) => assert_eq!(rule, "anonymous-used-up"),
            (other, _) => panic!("{there:?}: {other:?}"),
        }
    }
}
