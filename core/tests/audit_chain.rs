//! Tests of the audit chain (errata G7) in the rows of a database: sealing it, reading it back, and changes by other
//! tools.

use prosescope_core::model::AuditEvent;
use prosescope_core::read::decode::rows;
use prosescope_core::read::gate::audit::{
    Chain, ChainReport, ChainState, seal, verify, with_chain,
};
use prosescope_core::read::sqlite::{Guard, Sqlite};
use rusqlite::{Connection, params};

const RUN: &str = "20260125-125506-002755";

/// Returns a log written by sqlite.md's own statements.
fn database() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(
        r#"CREATE TABLE run (id TEXT PRIMARY KEY, status TEXT);
           INSERT INTO run VALUES ('20260125-125506-002755', 'running');
           CREATE TABLE gate_audit_log (
             id INTEGER PRIMARY KEY AUTOINCREMENT, gate_id TEXT NOT NULL, run_id TEXT NOT NULL,
             event_type TEXT NOT NULL, principal TEXT, comment TEXT,
             timestamp TEXT DEFAULT (datetime('now')), metadata TEXT);
           INSERT INTO gate_audit_log (gate_id, run_id, event_type, principal, metadata) VALUES
             ('production_deploy', '20260125-125506-002755', 'created', 'system',
              '{"prompt_hash": "sha256:abc123...", "allow": ["user", "ops-team"]}');
           INSERT INTO gate_audit_log (gate_id, run_id, event_type, principal) VALUES
             ('production_deploy', '20260125-125506-002755', 'viewed', 'AI''s “lee”');
           INSERT INTO gate_audit_log (gate_id, run_id, event_type, principal, comment, metadata) VALUES
             ('production_deploy', '20260125-125506-002755', 'approved', 'raymond',
              'Reviewed changes, LGTM', '{"client": "cli", "approval_time_seconds": 847.0}');"#,
    )
    .unwrap();
    db
}

fn copy(db: &Connection) -> Connection {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    db.execute("VACUUM INTO ?", [path.to_str()]).unwrap();
    let bytes = std::fs::read(path).unwrap();
    let mut copy = Connection::open_in_memory().unwrap();
    copy.deserialize_read_exact("main", bytes.as_slice(), bytes.len(), false)
        .unwrap();
    copy
}

fn log(db: &Connection) -> Vec<AuditEvent> {
    let db = Sqlite::new(copy(db), Guard::default()).unwrap();
    rows::decode(&db, "state.db", Some(RUN)).unwrap().run.audit
}

fn seal_all(db: &Connection) -> Chain {
    let mut last = None;
    for event in log(db) {
        let chain = seal(last.as_ref(), event.row_json.as_deref().unwrap()).unwrap();
        let metadata = with_chain(event.metadata.as_deref(), &chain).unwrap();
        db.execute(
            "UPDATE gate_audit_log SET metadata = ? WHERE id = ?",
            params![metadata, event.id],
        )
        .unwrap();
        last = Some(chain);
    }
    last.unwrap()
}

fn check(db: &Connection) -> ChainReport {
    verify(&log(db), None)
}

#[test]
fn a_sealed_log_is_consistent_until_somebody_touches_it_g7() {
    let db = database();
    assert_eq!(check(&db).state, ChainState::Unsealed);
    let head = seal_all(&db);
    let report = check(&db);
    assert_eq!(
        report.state,
        ChainState::Consistent,
        "{:?}",
        report.findings
    );
    assert_eq!(report.head().unwrap().hash, head.hash);

    // A tool other than Prosescope adds a column and a row to the log.
    db.execute_batch("ALTER TABLE gate_audit_log ADD COLUMN x_host TEXT")
        .unwrap();
    assert_eq!(check(&db).state, ChainState::Consistent);
    db.execute(
        "INSERT INTO gate_audit_log (gate_id, run_id, event_type) VALUES ('production_deploy', ?, 'resumed')",
        [RUN],
    )
    .unwrap();
    assert_eq!(check(&db).state, ChainState::Partly);

    for (change, found) in [
        (
            "UPDATE gate_audit_log SET principal = 'user' WHERE id = 3",
            "row 3 was changed after it was sealed",
        ),
        (
            "UPDATE gate_audit_log SET timestamp = '2026-01-01 00:00:00' WHERE id = 1",
            "row 1 was changed after it was sealed",
        ),
        (
            "UPDATE gate_audit_log SET x_host = 'here' WHERE id = 2",
            "row 2 was changed after it was sealed",
        ),
        (
            "UPDATE gate_audit_log SET metadata = json_set(metadata, '$.client', 'web') WHERE id = 3",
            "row 3 was changed after it was sealed",
        ),
        (
            "DELETE FROM gate_audit_log WHERE id = 2",
            "row 3 has place 3 of the chain, and place 2 is missing before it",
        ),
        (
            "UPDATE gate_audit_log SET id = 9 WHERE id = 1",
            "row 2 has place 2 of the chain, and place 1 is missing before it",
        ),
        (
            "UPDATE gate_audit_log SET gate_id = CAST('x' AS BLOB) WHERE id = 1",
            "row 1 was changed after it was sealed",
        ),
    ] {
        let changed = copy(&db);
        assert_eq!(changed.execute(change, []).unwrap(), 1, "{change}");
        let report = check(&changed);
        assert_eq!(report.state, ChainState::Broken, "{change}");
        assert_eq!(report.findings[0].message, found, "{change}");
    }
    db.execute("DELETE FROM gate_audit_log WHERE id >= 3", [])
        .unwrap();
    assert_eq!(
        check(&db).state,
        ChainState::Consistent,
        "a cut tail does not show"
    );
    let report = verify(&log(&db), Some((head.seq, &head.hash)));
    assert_eq!(
        report.state,
        ChainState::Broken,
        "unless the head was noted"
    );
}
