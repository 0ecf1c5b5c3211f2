//! Tests of Prosescope's schema `openprose`, which corrects the schema of postgres.md.

use std::thread;

use prosescope_core::model::schema::{POSTGRES_SQL, POSTGRES_VERSION};
use prosescope_core::record::WriteError;
use prosescope_postgres::init_postgres;

use super::{RUN, address, database, run};

#[test]
fn the_schema_loads_again_over_itself_and_changes_nothing() {
    let Some((cluster, url)) = database() else {
        return;
    };
    let all = "SELECT relname, relkind FROM pg_class WHERE relnamespace = 'openprose'::regnamespace ORDER BY 1";
    cluster.psql(&url, POSTGRES_SQL).unwrap();
    let once = cluster.psql(&url, all).unwrap();
    assert!(
        once.contains("bindings|r") && once.contains("idx_bindings_scope|i"),
        "{once}"
    );
    cluster.psql(&url, POSTGRES_SQL).unwrap();
    assert_eq!(cluster.psql(&url, all).unwrap(), once);
    assert_eq!(
        cluster
            .psql(&url, "SELECT version FROM openprose.x_schema")
            .unwrap(),
        POSTGRES_VERSION.to_string()
    );
}

/// The schema that postgres.md's own SQL creates is completed; PostgreSQL refuses the keys of some of its tables
/// (errata P1).
#[test]
fn what_the_document_made_is_completed() {
    let Some((cluster, url)) = database() else {
        return;
    };
    cluster
        .psql(
            &url,
            "CREATE SCHEMA openprose;
             CREATE TABLE openprose.run (id TEXT PRIMARY KEY, program_path TEXT, program_source TEXT,
                 started_at TIMESTAMPTZ NOT NULL DEFAULT NOW(), updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
                 status TEXT NOT NULL DEFAULT 'running', state_mode TEXT NOT NULL DEFAULT 'postgres',
                 metadata JSONB DEFAULT '{}'::jsonb);
             CREATE TABLE openprose.execution (id SERIAL PRIMARY KEY,
                 run_id TEXT NOT NULL REFERENCES openprose.run(id) ON DELETE CASCADE, statement_index INTEGER NOT NULL,
                 statement_text TEXT, status TEXT NOT NULL DEFAULT 'pending', started_at TIMESTAMPTZ,
                 completed_at TIMESTAMPTZ, error_message TEXT,
                 parent_id INTEGER REFERENCES openprose.execution(id) ON DELETE CASCADE,
                 metadata JSONB DEFAULT '{}'::jsonb);
             INSERT INTO openprose.run (id) VALUES ('theirs')",
        )
        .unwrap();
    init_postgres(&address(&url), RUN, "p.prose", "", "2026-01-16 14:30:52").unwrap();
    let runs = cluster
        .psql(
            &url,
            "SELECT string_agg(id, ' ' ORDER BY id) FROM openprose.run",
        )
        .unwrap();
    assert_eq!(runs, format!("{RUN} theirs"));
    cluster
        .psql(&url, "SELECT x_seq FROM openprose.bindings")
        .unwrap();
    // A run may come from a store that records no time.
    cluster
        .psql(
            &url,
            "UPDATE openprose.run SET started_at = NULL, updated_at = NULL",
        )
        .unwrap();
}

#[test]
fn programs_that_make_the_schema_at_once_take_turns() {
    let Some((cluster, url)) = database() else {
        return;
    };
    let makers: Vec<_> = (0..8)
        .map(|n| {
            let address = address(&url);
            thread::spawn(move || {
                init_postgres(&address, &format!("run{n}"), "p", "", "2026-01-16 14:30:52")
            })
        })
        .collect();
    for maker in makers {
        maker.join().unwrap().unwrap();
    }
    assert_eq!(
        cluster
            .psql(&url, "SELECT count(*) FROM openprose.run")
            .unwrap(),
        "8"
    );
}

#[test]
fn a_run_is_made_once() {
    let Some((_, url)) = run("session \"x\"") else {
        return;
    };
    let again = init_postgres(&address(&url), RUN, "p", "", "2026-01-16 14:30:52");
    assert!(
        matches!(
            again,
            Err(WriteError::Refused {
                rule: "run-exists",
                ..
            })
        ),
        "{again:?}"
    );
}

/// Rows of the audit log are deleted only together with their run (errata G7).
#[test]
fn the_log_is_appended_to_alone() {
    let Some((cluster, url)) = run("") else {
        return;
    };
    let log = format!(
        "INSERT INTO openprose.gate_audit_log (id, gate_id, run_id, event_type) VALUES (1, 'g', '{RUN}', 'created')"
    );
    cluster.psql(&url, &log).unwrap();
    for change in [
        "UPDATE openprose.gate_audit_log SET event_type = 'approved'",
        "DELETE FROM openprose.gate_audit_log",
        "TRUNCATE openprose.gate_audit_log",
        &log,
    ] {
        let refused = cluster.psql(&url, change).unwrap_err();
        assert!(
            refused.contains("append-only") || refused.contains("duplicate key"),
            "{refused}"
        );
    }
    cluster
        .psql(
            &url,
            "BEGIN; DELETE FROM openprose.run; DELETE FROM openprose.gate_audit_log; COMMIT",
        )
        .unwrap();
}
