//! Tests of schemas that other programs changed: tables or columns are missing or replaced, and columns contain
//! unexpected texts.

use std::rc::Rc;

use prosescope_core::model::source::Source;
use prosescope_core::pages::session::{Options, Session};
use prosescope_core::record::{WriteError, record};
use prosescope_postgres::{PostgresSource, PostgresStore, init_postgres};
use prosescope_test_support::cluster::Cluster;

use super::pages;
use super::writing::{PROGRAM, at, put};
use super::{RUN, address, run};

const OTHER: &str = "20260117-000000-other1";
const STRANGE: &str = "what another run says";
const OWN: &str = "what this run says";
const HOSTILE: &str = "'); DROP TABLE openprose.run; -- <script>alert(1)</script> \u{202e}\u{1b}[2J {\"a\": [1e999]} \\x00";

/// Creates a database with two runs that have rows in every table.
fn database() -> Option<(&'static Cluster, String)> {
    let (cluster, url) = run(PROGRAM)?;
    let start = "2026-01-17 00:00:00";
    init_postgres(&address(&url), OTHER, "p.prose", PROGRAM, start).unwrap();
    for (run, says) in [(RUN, OWN), (OTHER, STRANGE)] {
        let sql = format!(
            "WITH frame AS (
                 INSERT INTO openprose.execution (run_id, statement_index, statement_text, status, error_message, metadata)
                 VALUES ('{run}', 1, '{says}', 'executing', '{says}', '{{\"block\": \"b\"}}') RETURNING id)
             INSERT INTO openprose.bindings (name, run_id, execution_id, kind, value, source_statement)
             SELECT 'result', '{run}', id, 'let', '{says}', '{says}' FROM frame;
             INSERT INTO openprose.bindings (name, run_id, kind, value) VALUES ('research', '{run}', 'let', '{says}');
             INSERT INTO openprose.agents (name, run_id, scope, memory) VALUES ('captain', '{run}', 'execution', '{says}');
             INSERT INTO openprose.agent_segments (agent_name, run_id, segment_number, prompt, summary)
             VALUES ('captain', '{run}', 1, '{says}', '{says}');
             INSERT INTO openprose.imports (alias, run_id, source_url) VALUES ('i', '{run}', '{says}');
             INSERT INTO openprose.gates (id, run_id, prompt, status) VALUES ('g', '{run}', '{says}', 'pending');
             INSERT INTO openprose.gate_audit_log (id, gate_id, run_id, event_type, principal, comment)
             VALUES (1, 'g', '{run}', 'created', 'system', '{says}');
             INSERT INTO openprose.x_attachments (run_id, path, piece, bytes) VALUES ('{run}', 'attachments/a.md', 0, '{says}')"
        );
        cluster.psql(&url, &sql).unwrap();
    }
    Some((cluster, url))
}

/// Reads all pages of the run; returns them as one text, or the error.
fn read(url: &str) -> Result<String, String> {
    let source = PostgresSource::open(&address(url), RUN).map_err(|fault| fault.to_string())?;
    let source: Rc<dyn Source> = Rc::new(source);
    let place = PostgresSource::place(RUN);
    let session = Session::open(Rc::clone(&source), &place, &Options::default());
    let session = session.map_err(|error| error.to_string())?;
    let pages = pages::all(&session, &source).into_iter();
    Ok(pages.map(|(_, text)| text).collect())
}

fn write(url: &str, name: &str) -> Result<(), WriteError> {
    let mut store = PostgresStore::open(&address(url), RUN)?;
    record(&mut store, &put(name, "recorded"), &at()).map(|_| ())
}

/// Checks a read and a recording: each must succeed with the run's own data or fail with a clear error, and nothing may
/// be recorded in part.
fn holds(cluster: &Cluster, url: &str, what: &str, name: &str) {
    match read(url) {
        Ok(told) => assert!(!told.contains(STRANGE), "{what}"),
        Err(why) => assert!(!why.is_empty() && !why.contains("SELECT"), "{what}: {why}"),
    }
    let recorded = write(url, name);
    let sql = format!("SELECT count(*) FROM openprose.bindings WHERE name = '{name}'");
    let found = cluster.psql(url, &sql);
    match recorded {
        Ok(()) => assert_eq!(found.as_deref(), Ok("1"), "{what}"),
        Err(error) => {
            assert!(!error.hint().is_empty(), "{what}: {error}");
            assert_ne!(found.as_deref(), Ok("1"), "{what}: {error}");
        }
    }
}

#[test]
fn a_missing_table_or_column_is_no_other_run_and_no_half_record() {
    let Some((cluster, url)) = database() else {
        return;
    };
    assert!(read(&url).unwrap().contains(OWN));
    let tables = "SELECT format('ALTER TABLE openprose.%I RENAME TO gone', table_name) || '|' ||
                         format('ALTER TABLE openprose.gone RENAME TO %I', table_name)
                  FROM information_schema.tables WHERE table_schema = 'openprose' AND table_type = 'BASE TABLE'
                    -- The schema is completed where its version is missing.
                    AND table_name <> 'x_schema'";
    let columns = "SELECT format('ALTER TABLE openprose.%I RENAME COLUMN %I TO gone', table_name, column_name) || '|' ||
                          format('ALTER TABLE openprose.%I RENAME COLUMN gone TO %I', table_name, column_name)
                   FROM information_schema.columns WHERE table_schema = 'openprose' AND table_name NOT LIKE 'x\\_%'";
    let changes = [tables, columns].map(|sql| cluster.psql(&url, sql).unwrap());
    let changes: Vec<&str> = changes.iter().flat_map(|list| list.lines()).collect();
    assert!(changes.len() > 60, "{}", changes.len());
    for (n, change) in changes.into_iter().enumerate() {
        let (away, back) = change.split_once('|').unwrap();
        cluster.psql(&url, away).unwrap();
        holds(cluster, &url, away, &format!("later{n}"));
        // Every later reading would need one more query for each added binding, so the added bindings are removed.
        let back = format!("{back}; DELETE FROM openprose.bindings WHERE name LIKE 'later%'");
        cluster.psql(&url, &back).unwrap();
    }
    assert!(read(&url).unwrap().contains(OWN));
    write(&url, "last").unwrap();
}

#[test]
fn texts_of_others_in_every_column_are_texts() {
    let Some((cluster, url)) = database() else {
        return;
    };
    // Columns that a constraint or other rows use are left out.
    let columns = cluster
        .psql(
            &url,
            "SELECT table_name || ' ' || column_name || ' ' || data_type FROM information_schema.columns
             WHERE table_schema = 'openprose' AND data_type IN ('text', 'jsonb')
               AND column_name NOT IN ('run_id', 'gate_id', 'path', 'status', 'kind', 'scope')
               AND (table_name, column_name) NOT IN (('run', 'id'), ('bindings', 'name'))
               AND table_name NOT IN ('x_commands', 'x_original', 'gate_audit_log')",
        )
        .unwrap();
    let columns: Vec<Vec<&str>> = columns
        .lines()
        .map(|line| line.split(' ').collect())
        .collect();
    assert!(columns.len() > 30, "{columns:?}");
    for column in columns {
        let [table, column, kind] = column[..] else {
            panic!("{column:?}")
        };
        let of = if table == "run" { "id" } else { "run_id" };
        let text = format!("$h${HOSTILE}$h$");
        let value = if kind == "jsonb" {
            format!("to_jsonb({text}::text)")
        } else {
            text
        };
        let sql = format!("UPDATE openprose.{table} SET {column} = {value} WHERE {of} = '{RUN}'");
        cluster.psql(&url, &sql).unwrap();
    }
    let told = read(&url).unwrap();
    assert!(told.contains("DROP TABLE openprose.run") && !told.contains(STRANGE));
    // The inserted text is shown as a binding's value and was not executed.
    let value = "SELECT value FROM openprose.bindings WHERE name = 'research' ORDER BY run_id";
    assert_eq!(
        cluster.psql(&url, value).unwrap(),
        format!("{HOSTILE}\n{STRANGE}")
    );
    let ended = write(&url, "later");
    assert!(
        ended.is_ok() || !ended.as_ref().unwrap_err().hint().is_empty(),
        "{ended:?}"
    );
}

#[test]
fn something_else_in_the_place_of_a_table_is_read_or_refused() {
    for (n, change) in [
        "ALTER TABLE openprose.run RENAME TO own; CREATE VIEW openprose.run AS SELECT * FROM openprose.own",
        "ALTER TABLE openprose.run RENAME TO own; CREATE MATERIALIZED VIEW openprose.run AS SELECT * FROM openprose.own",
        "ALTER TABLE openprose.bindings RENAME TO own; CREATE VIEW openprose.bindings AS SELECT * FROM openprose.own",
        "ALTER TABLE openprose.bindings RENAME TO own;
         CREATE TABLE openprose.bindings (LIKE openprose.own) PARTITION BY HASH (run_id);
         CREATE TABLE openprose.part PARTITION OF openprose.bindings FOR VALUES WITH (MODULUS 1, REMAINDER 0);
         INSERT INTO openprose.bindings SELECT * FROM openprose.own",
        "ALTER TABLE openprose.bindings ALTER created_at TYPE TEXT, ALTER updated_at DROP DEFAULT, ALTER updated_at TYPE TEXT,
               ALTER metadata DROP DEFAULT, ALTER metadata TYPE TEXT",
        "DROP INDEX IF EXISTS openprose.idx_execution_metadata_gin;
         ALTER TABLE openprose.execution ALTER statement_index TYPE TEXT, ALTER metadata DROP DEFAULT, ALTER metadata TYPE JSON",
        "CREATE SEQUENCE openprose.other; ALTER TABLE openprose.imports RENAME TO own; CREATE INDEX imports ON openprose.own (alias)",
    ]
    .into_iter()
    .enumerate()
    {
        let Some((cluster, url)) = database() else {
            return;
        };
        // PostgreSQL must accept each change; a refused one would test nothing.
        if let Err(why) = cluster.psql(&url, change) {
            panic!("{change}: {why}");
        }
        holds(cluster, &url, change, &format!("later{n}"));
    }
    // The test uses a role without read rights, and a role that does not own the tables.
    let Some((cluster, url)) = database() else {
        return;
    };
    let role = "CREATE ROLE stranger LOGIN; GRANT USAGE ON SCHEMA openprose TO stranger;
                GRANT SELECT ON openprose.run TO stranger";
    cluster.psql(&url, role).unwrap();
    holds(
        cluster,
        &url.replace("postgres@", "stranger@"),
        "no rights",
        "later",
    );
}
