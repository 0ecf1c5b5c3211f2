use std::time::Duration;

use prosescope_core::model::AgentScope;
use prosescope_core::model::schema::AGENTS_SQL;
use prosescope_core::record::{
    At, Begin, Change, ExecutionRow, ExecutionUpdate, FaultKind, GateResolution, Put, Remember,
    RunStore, StatementRef, WriteError, record,
};
use rusqlite::Connection;
use tempfile::TempDir;

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

/// Closing any descriptor of a file drops the locks that the process has on it, so that another program could write
/// into an open transaction.
#[cfg(target_os = "linux")]
#[test]
fn reading_the_run_in_a_transaction_keeps_its_lock() {
    use std::os::unix::fs::MetadataExt;

    let (dir, store) = run("session \"A\"\n");
    let inode = dir.path().join("r/state.db").metadata().unwrap().ino();
    let locks = || {
        let all = std::fs::read_to_string("/proc/locks").unwrap();
        let file = format!(":{inode} ");
        all.lines().filter(|line| line.contains(&file)).count()
    };
    store.conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    let before = locks();
    assert!(before > 0);
    assert!(store.read().unwrap().is_some());
    assert_eq!(locks(), before);
}

#[test]
fn a_transaction_ends_in_time_or_not_at_all() {
    let (_dir, mut store) = run("session \"A\"\n");
    store.time = Duration::ZERO;
    // Enough rows for more steps than SQLite executes between two checks of the clock.
    let row = |id| ExecutionRow {
        id,
        status: "completed".to_owned(),
        ..ExecutionRow::default()
    };
    let all: Vec<Change> = (1..=5000).map(row).map(Change::Execution).collect();
    match store.transact(&mut |_| Ok(all.clone())) {
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
    store.transact(&mut |_| Ok(all.clone())).unwrap();
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
            not_done: true,
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
