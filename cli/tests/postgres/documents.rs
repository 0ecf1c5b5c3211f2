//! Tests that `psql` and `prosescope` read each other's records: `psql` runs the queries of postgres.md on records of
//! `prosescope`, and `prosescope` reads what `psql` wrote into the same run.

use crate::commands::PROGRAM;
use crate::project::{Project, cluster};

#[test]
fn psql_and_prose_read_what_the_other_wrote() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new(PROGRAM, &url);
    let run = project.init("postgres");
    let give = |args: &[&str], input: &str| {
        let all = [args, &["--run", &run]].concat();
        project.prose(0, &all, input).trim().to_owned()
    };
    let at = |line: &str, of: &[&str]| {
        let said = give(&[&["begin", line], of].concat(), "");
        said.lines().next().unwrap_or_default().to_owned()
    };
    let id = run.trim_start_matches("postgres:");
    let asks = |sql: &str| cluster.psql(&url, &sql.replace("{RUN}", id)).unwrap();

    let findings = at("12", &[]);
    give(
        &["put", "findings", "--into", &findings],
        "AI's `$(never)` \\x",
    );
    let begun = give(&["begin", "14"], "");
    let mut ids = begun.lines().filter_map(|line| line.split(' ').next());
    let (all, a) = (ids.next().unwrap(), ids.next().unwrap());
    give(&["put", "a", "--into", a], "A");

    // These are the queries of postgres.md about interaction with the database, parallel execution and resuming.
    assert_eq!(
        asks("SELECT value FROM openprose.bindings WHERE name = 'findings' AND run_id = '{RUN}'"),
        "AI's `$(never)` \\x"
    );
    assert_eq!(
        asks(
            "SELECT statement_index, statement_text, status FROM openprose.execution
             WHERE run_id = '{RUN}' AND status = 'executing' ORDER BY id DESC LIMIT 1"
        ),
        "16|b = session \"Analyze risk B\"|executing"
    );
    let branches = asks(
        "SELECT metadata->>'branch' AS branch, status FROM openprose.execution
         WHERE run_id = '{RUN}' AND metadata->>'parallel_id' IS NOT NULL AND parent_id IS NOT NULL",
    );
    // The query of postgres.md has no order, so the rows are sorted.
    let mut branches: Vec<&str> = branches.lines().collect();
    branches.sort_unstable();
    assert_eq!(branches, ["a|completed", "b|executing"]);
    let parallel = asks(&format!(
        "SELECT metadata->>'parallel_id' FROM openprose.execution WHERE id = {all}"
    ));
    let pending = format!(
        "SELECT COUNT(*) AS pending FROM openprose.execution
         WHERE run_id = '{{RUN}}' AND metadata->>'parallel_id' = '{parallel}' AND parent_id IS NOT NULL
           AND status NOT IN ('completed', 'failed', 'skipped')"
    );
    assert_eq!(asks(&pending), "1");
    // With the SQL of postgres.md, a subagent writes its output, and the VM marks the branch as completed.
    asks(
        "INSERT INTO openprose.bindings (name, run_id, execution_id, kind, value, source_statement)
         VALUES ('b', '{RUN}', NULL, 'let', E'B, by psql', 'b = session \"Analyze risk B\"')
         ON CONFLICT (name, run_id, COALESCE(execution_id, -1)) DO UPDATE
         SET value = EXCLUDED.value, updated_at = NOW()",
    );
    asks(&format!(
        "UPDATE openprose.execution SET status = 'completed', completed_at = NOW()
         WHERE run_id = '{{RUN}}' AND metadata->>'parallel_id' = '{parallel}' AND metadata->>'branch' = 'b'"
    ));
    assert_eq!(asks(&pending), "0");
    assert_eq!(give(&["get", "b"], ""), "B, by psql");
    give(&["end", all], "");
    let trace = project.json(&["trace", &run]).to_string();
    assert!(trace.contains("Analyze risk B"), "{trace}");
    assert!(!trace.contains("\"running\",\"b"), "{trace}");

    // The next query tracks a loop.
    let round = at("18", &[]);
    let step = at("19", &["--parent", &round]);
    give(&["end", &step], "");
    give(&["round", &round], "");
    let tracked = asks(&format!(
        "SELECT metadata->>'current_iteration' || ' of ' || (metadata->>'max_iterations')
         FROM openprose.execution WHERE id = {round} AND metadata->>'loop_id' IS NOT NULL"
    ));
    assert!(tracked.ends_with("of 3"), "{tracked}");
    give(&["end", &round, "--because", "condition_satisfied"], "");

    // The next query resolves a name in the frame of a call.
    let frame = at("24", &[]);
    let inner = at("22", &["--parent", &frame]);
    give(
        &["put", "result", "--into", &inner, "--not-done"],
        "depth 1",
    );
    let resolved = asks(&format!(
        "WITH RECURSIVE scope_chain AS (
           SELECT id, parent_id FROM openprose.execution WHERE id = {inner}
           UNION ALL
           SELECT e.id, e.parent_id FROM openprose.execution e JOIN scope_chain s ON e.id = s.parent_id
         )
         SELECT b.value FROM openprose.bindings b
         WHERE b.name = 'result' AND b.run_id = '{{RUN}}'
           AND (b.execution_id IN (SELECT id FROM scope_chain) OR b.execution_id IS NULL)
         ORDER BY CASE WHEN b.execution_id IS NULL THEN 1 ELSE 0 END, b.execution_id DESC NULLS LAST LIMIT 1"
    ));
    assert_eq!(resolved, "depth 1");

    // An agent of the run has the run's id, and an agent of the project has none. The name of the project is in a
    // column that prosescope adds (errata P13).
    give(&["agent", "memory", "set", "captain"], "# Captain");
    give(
        &["agent", "segment", "add", "captain", "--prompt", "Review"],
        "reviewed",
    );
    give(&["agent", "memory", "set", "scholar"], "# Scholar");
    assert_eq!(
        asks("SELECT memory FROM openprose.agents WHERE name = 'captain' AND run_id = '{RUN}'"),
        "# Captain"
    );
    assert_eq!(
        asks("SELECT memory FROM openprose.agents WHERE name = 'scholar' AND run_id IS NULL"),
        "# Scholar"
    );
    asks(
        "INSERT INTO openprose.agent_segments (agent_name, run_id, segment_number, prompt, summary)
         VALUES ('captain', '{RUN}', 2, 'Again', 'by psql')",
    );
    asks(
        "UPDATE openprose.agents SET memory = '# Captain, by psql', updated_at = NOW()
         WHERE name = 'captain' AND run_id = '{RUN}'",
    );
    assert_eq!(
        give(&["agent", "memory", "get", "captain"], ""),
        "# Captain, by psql"
    );
    assert!(give(&["agent", "segment", "get", "captain"], "").contains("by psql"));
    // The next segment that prosescope adds gets the number after the last segment of `psql`.
    let third = give(
        &["agent", "segment", "add", "captain", "--prompt", "Third"],
        "x",
    );
    assert!(third.contains("003"), "{third}");
}

/// Contract 2 renamed columns. A database with the new names is read as before.
#[test]
fn renamed_columns_are_read() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new(PROGRAM, &url);
    let run = project.init("postgres");
    let begun = project.prose(0, &["begin", "12", "--run", &run], "");
    let id = begun.split_whitespace().next().unwrap();
    project.prose(
        0,
        &["put", "findings", "--into", id, "--run", &run],
        "three",
    );
    let rename = "ALTER TABLE openprose.run RENAME COLUMN program_path TO root_path;
         ALTER TABLE openprose.run RENAME COLUMN program_source TO root_source;
         ALTER TABLE openprose.bindings RENAME COLUMN kind TO binding";
    let before = project.json(&["show", &run])["overview"].clone();
    cluster.psql(&url, rename).unwrap();
    let after = project.json(&["show", &run])["overview"].clone();
    assert_eq!(
        (after["program"].as_str(), &after["program"]),
        (Some("p.prose"), &before["program"])
    );
    assert_eq!(after["statements"], before["statements"]);
    let bindings = project.json(&["bindings", &run]).to_string();
    assert!(
        bindings.contains("\"findings\"") && bindings.contains("\"let\""),
        "{bindings}"
    );
    assert_eq!(
        project
            .prose(0, &["get", "findings", "--run", &run], "")
            .trim(),
        "three"
    );
    project.prose(0, &["program", &run], "");
}

/// The tables of contract 2 in PostgreSQL (contract-2.md, "Databases"). No public database of this form is known.
const CONTRACT_2: &str = r#"
    CREATE SCHEMA openprose;
    CREATE TABLE openprose.run (id TEXT PRIMARY KEY, root_path TEXT, root_source TEXT, started_at TIMESTAMPTZ,
      updated_at TIMESTAMPTZ, status TEXT, state_mode TEXT, metadata JSONB);
    CREATE TABLE openprose.execution (id BIGSERIAL PRIMARY KEY, run_id TEXT, statement_index INTEGER, statement_text TEXT,
      status TEXT, started_at TIMESTAMPTZ, completed_at TIMESTAMPTZ, error_message TEXT, parent_id BIGINT, metadata JSONB);
    CREATE TABLE openprose.bindings (name TEXT, run_id TEXT, execution_id BIGINT, binding TEXT, value TEXT,
      source_statement TEXT, created_at TIMESTAMPTZ, updated_at TIMESTAMPTZ, attachment_path TEXT);
    CREATE TABLE openprose.receipt (id BIGSERIAL PRIMARY KEY, run_id TEXT, node TEXT NOT NULL, contract_fingerprint TEXT,
      wake JSONB, input_fingerprints JSONB, fingerprints JSONB, semantic_diff JSONB, prev TEXT,
      status TEXT CHECK (status IN ('rendered', 'skipped', 'failed')), cost JSONB, sig JSONB, created_at TIMESTAMPTZ);
    INSERT INTO openprose.run (id, root_path, status, started_at, updated_at)
      SELECT id, 'root.prose.md', 'completed', '2026-02-01 10:00Z', '2026-02-01 10:05Z'
      FROM unnest(ARRAY['20260201-100000-aaaaaa', '20260201-100000-bbbbbb', '20260201-100000-cccccc']) AS id;
    INSERT INTO openprose.receipt (run_id, node, wake, fingerprints, semantic_diff, status, cost) VALUES
      ('20260201-100000-aaaaaa', 'researcher', '{"source": "input"}', '{"@atomic": "t1"}', '{}', 'rendered',
       '{"provider": "x", "model": "opus", "tokens": {"fresh": 1200, "reused": 300}, "surprise_cause": "input"}'),
      ('20260201-100000-bbbbbb', 'researcher', '{"source": "input"}', '{"@atomic": "t1"}', '{}', 'rendered', NULL),
      ('20260201-100000-aaaaaa', 'editor', '{"source": "self"}', '{}', '{"failure_reason": "no draft"}', 'failed', NULL),
      (NULL, 'stranger', '{}', '{}', '{}', 'failed', NULL);
"#;

#[test]
fn receipts_decide_in_a_list_and_in_a_run() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    cluster.psql(&url, CONTRACT_2).unwrap();
    let project = Project::new(PROGRAM, &url);
    let failed = "postgres:20260201-100000-aaaaaa";
    let shown = &project.json(&["show", failed])["overview"];
    assert_eq!(shown["status"], "failed", "{shown}");
    assert_eq!(shown["form"], "PostgreSQL, contract 2, receipts");
    assert_eq!(shown["failure"]["error"], "no draft");
    assert_eq!(shown["cost"]["total"]["fresh"], 1200);
    let rows = project.prose(0, &["trace", failed], "");
    assert!(rows.contains("researcher") && !rows.contains("stranger"));
    let said = "woken by input; 1\u{202f}200 tokens, 300 reused (opus); changed its truth";
    assert!(rows.contains(said), "{rows:?}");
    let of = |run: &str| {
        project.json(&["show", &format!("postgres:20260201-100000-{run}")])["overview"].clone()
    };
    assert_eq!(of("bbbbbb")["status"], "completed");
    let plain = of("cccccc");
    assert_eq!(
        (&*plain["form"].to_string(), &plain["statements"]),
        ("\"PostgreSQL\"", &0.into())
    );

    // A list reads only the rows of runs that ended, but receipts count more than those.
    let listed = project.json(&["runs"]);
    let listed = listed["runs"].as_array().unwrap().iter();
    let mut listed: Vec<String> = listed
        .map(|run| format!("{} {}", run["name"], run["status"]).replace('"', ""))
        .collect();
    listed.sort();
    let end = |line: &String| line.rsplit('-').next().unwrap().to_owned();
    let ends: Vec<String> = listed.iter().map(end).collect();
    assert_eq!(
        ends,
        ["aaaaaa failed", "bbbbbb completed", "cccccc completed"]
    );

    let refused = project.prose(4, &["begin", "1", "--run", failed], "");
    assert!(refused.contains("does not record in"), "{refused}");

    // Without the column, a receipt may belong to any of the runs.
    let drop = "ALTER TABLE openprose.receipt DROP COLUMN run_id";
    cluster.psql(&url, drop).unwrap();
    let unknown = project.prose(1, &["show", failed], "");
    assert!(unknown.contains("has no column `run_id`"), "{unknown}");
}
