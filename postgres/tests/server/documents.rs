//! Runs the psql blocks of postgres.md on Prosescope's schema: each works, or fails as the erratum beside it describes.

use super::run;

/// A block of postgres.md, and the erratum that the block shows, if there is one.
const BLOCKS: &[(&str, Option<&str>)] = &[
    // From "Security Warning". The schema exists already.
    ("CREATE USER openprose_agent WITH PASSWORD 'changeme'", None),
    ("CREATE SCHEMA openprose AUTHORIZATION openprose_agent", Some("P6")),
    ("GRANT ALL ON SCHEMA openprose TO openprose_agent", None),
    // From the part on the core schema.
    ("CREATE SCHEMA IF NOT EXISTS openprose", None),
    ("CREATE TABLE IF NOT EXISTS openprose.run (
        id TEXT PRIMARY KEY, program_path TEXT, program_source TEXT,
        started_at TIMESTAMPTZ NOT NULL DEFAULT NOW(), updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
        status TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'completed', 'failed', 'interrupted')),
        state_mode TEXT NOT NULL DEFAULT 'postgres', metadata JSONB DEFAULT '{}'::jsonb)", None),
    ("CREATE TABLE IF NOT EXISTS openprose.execution (
        id SERIAL PRIMARY KEY,
        run_id TEXT NOT NULL REFERENCES openprose.run(id) ON DELETE CASCADE,
        statement_index INTEGER NOT NULL, statement_text TEXT,
        status TEXT NOT NULL DEFAULT 'pending'
          CHECK (status IN ('pending', 'executing', 'completed', 'failed', 'skipped')),
        started_at TIMESTAMPTZ, completed_at TIMESTAMPTZ, error_message TEXT,
        parent_id INTEGER REFERENCES openprose.execution(id) ON DELETE CASCADE,
        metadata JSONB DEFAULT '{}'::jsonb)", None),
    ("CREATE TABLE IF NOT EXISTS openprose.bindings (
        name TEXT NOT NULL, run_id TEXT NOT NULL REFERENCES openprose.run(id) ON DELETE CASCADE, execution_id INTEGER,
        kind TEXT NOT NULL CHECK (kind IN ('input', 'output', 'let', 'const')), value TEXT, source_statement TEXT,
        created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(), updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
        attachment_path TEXT, metadata JSONB DEFAULT '{}'::jsonb,
        PRIMARY KEY (name, run_id, COALESCE(execution_id, -1)))", Some("P1")),
    ("CREATE TABLE IF NOT EXISTS openprose.agents (
        name TEXT NOT NULL, run_id TEXT,
        scope TEXT NOT NULL CHECK (scope IN ('execution', 'project', 'user', 'custom')), memory TEXT,
        created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(), updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
        metadata JSONB DEFAULT '{}'::jsonb, PRIMARY KEY (name, COALESCE(run_id, '__project__')))", Some("P1")),
    ("CREATE TABLE IF NOT EXISTS openprose.agent_segments (
        id SERIAL PRIMARY KEY, agent_name TEXT NOT NULL, run_id TEXT, segment_number INTEGER NOT NULL,
        timestamp TIMESTAMPTZ NOT NULL DEFAULT NOW(), prompt TEXT, summary TEXT, metadata JSONB DEFAULT '{}'::jsonb,
        UNIQUE (agent_name, COALESCE(run_id, '__project__'), segment_number))", Some("P1")),
    ("CREATE TABLE IF NOT EXISTS openprose.imports (
        alias TEXT NOT NULL, run_id TEXT NOT NULL REFERENCES openprose.run(id) ON DELETE CASCADE,
        source_url TEXT NOT NULL, fetched_at TIMESTAMPTZ, inputs_schema JSONB, outputs_schema JSONB,
        content_hash TEXT, metadata JSONB DEFAULT '{}'::jsonb, PRIMARY KEY (alias, run_id))", None),
    ("CREATE INDEX IF NOT EXISTS idx_execution_run_id ON openprose.execution(run_id);
      CREATE INDEX IF NOT EXISTS idx_execution_status ON openprose.execution(status);
      CREATE INDEX IF NOT EXISTS idx_execution_parent_id ON openprose.execution(parent_id) WHERE parent_id IS NOT NULL;
      CREATE INDEX IF NOT EXISTS idx_execution_metadata_gin ON openprose.execution USING GIN (metadata jsonb_path_ops);
      CREATE INDEX IF NOT EXISTS idx_bindings_run_id ON openprose.bindings(run_id);
      CREATE INDEX IF NOT EXISTS idx_bindings_execution_id ON openprose.bindings(execution_id) WHERE execution_id IS NOT NULL;
      CREATE INDEX IF NOT EXISTS idx_agents_run_id ON openprose.agents(run_id) WHERE run_id IS NOT NULL;
      CREATE INDEX IF NOT EXISTS idx_agents_project_scoped ON openprose.agents(name) WHERE run_id IS NULL;
      CREATE INDEX IF NOT EXISTS idx_agent_segments_lookup ON openprose.agent_segments(agent_name, run_id)", None),
    // From the part on database interaction, statements of the VM.
    ("INSERT INTO openprose.run (id, program_path, program_source, status)
      VALUES ('20260116-143052-a7b3c8', '/path/to/program.prose', 'program source...', 'running')", None),
    ("INSERT INTO openprose.execution (run_id, statement_index, statement_text, status, started_at)
      VALUES ('20260116-143052-a7b3c9', 3, 'session \"Research AI safety\"', 'executing', NOW())", None),
    ("SELECT value FROM openprose.bindings WHERE name = 'research' AND run_id = '20260116-143052-a7b3c9'", None),
    ("SELECT metadata->>'branch' AS branch, status FROM openprose.execution
      WHERE run_id = '20260116-143052-a7b3c9' AND metadata->>'parallel_id' = 'p1'", None),
    // From the part on database interaction, statements of subagents.
    ("INSERT INTO openprose.bindings (name, run_id, execution_id, kind, value, source_statement)
      VALUES ('research', '20260116-143052-a7b3c9', NULL, 'let', E'AI safety research covers alignment, robustness...',
              'let research = session: researcher')
      ON CONFLICT (name, run_id, COALESCE(execution_id, -1)) DO UPDATE
      SET value = EXCLUDED.value, updated_at = NOW()", None),
    ("INSERT INTO openprose.bindings (name, run_id, execution_id, kind, value, source_statement)
      VALUES ('result', '20260116-143052-a7b3c9', 43, 'let', E'Processed chunk into 3 sub-parts...',
              'let result = session \"Process chunk\"')
      ON CONFLICT (name, run_id, COALESCE(execution_id, -1)) DO UPDATE
      SET value = EXCLUDED.value, updated_at = NOW()", None),
    ("SELECT memory FROM openprose.agents WHERE name = 'captain' AND run_id = '20260116-143052-a7b3c9'", None),
    ("UPDATE openprose.agents SET memory = '...', updated_at = NOW()
      WHERE name = 'captain' AND run_id = '20260116-143052-a7b3c9'", None),
    ("INSERT INTO openprose.agent_segments (agent_name, run_id, segment_number, prompt, summary)
      VALUES ('captain', '20260116-143052-a7b3c9', 3, '...', '...')", None),
    ("SELECT memory FROM openprose.agents WHERE name = 'advisor' AND run_id IS NULL", None),
    ("UPDATE openprose.agents SET memory = '...' WHERE name = 'advisor' AND run_id IS NULL", None),
    // From the part on parallel execution.
    ("INSERT INTO openprose.execution (run_id, statement_index, statement_text, status, started_at, metadata)
      VALUES ('20260116-143052-a7b3c9', 5, 'parallel:', 'executing', NOW(),
        '{\"parallel_id\": \"p1\", \"strategy\": \"all\", \"branches\": [\"a\", \"b\", \"c\"]}'::jsonb)
      RETURNING id", None),
    // The `parent_id` 42 in this block is the number of a statement, not the id of a row (errata X2).
    ("INSERT INTO openprose.execution (run_id, statement_index, statement_text, status, started_at, parent_id, metadata)
      VALUES
        ('20260116-143052-a7b3c9', 6, 'a = session \"Task A\"', 'executing', NOW(), 42, '{\"parallel_id\": \"p1\", \"branch\": \"a\"}'::jsonb)", Some("X2")),
    ("UPDATE openprose.execution SET status = 'completed', completed_at = NOW()
      WHERE run_id = '20260116-143052-a7b3c9' AND metadata->>'parallel_id' = 'p1' AND metadata->>'branch' = 'a'", None),
    ("SELECT COUNT(*) AS pending FROM openprose.execution
      WHERE run_id = '20260116-143052-a7b3c9' AND metadata->>'parallel_id' = 'p1' AND parent_id IS NOT NULL
        AND status NOT IN ('completed', 'failed', 'skipped')", None),
    // From the parts on loops and errors.
    ("INSERT INTO openprose.execution (run_id, statement_index, statement_text, status, started_at, metadata)
      VALUES ('20260116-143052-a7b3c9', 10, 'loop until **analysis complete** (max: 5):', 'executing', NOW(),
        '{\"loop_id\": \"l1\", \"max_iterations\": 5, \"current_iteration\": 0, \"condition\": \"**analysis complete**\"}'::jsonb)", None),
    ("UPDATE openprose.execution SET metadata = jsonb_set(metadata, '{current_iteration}', '2')
      WHERE run_id = '20260116-143052-a7b3c9' AND metadata->>'loop_id' = 'l1' AND parent_id IS NULL", None),
    ("UPDATE openprose.execution SET status = 'failed', error_message = 'Connection timeout after 30s', completed_at = NOW()
      WHERE id = 15", None),
    ("UPDATE openprose.execution SET metadata = jsonb_set(jsonb_set(metadata, '{retry_attempt}', '2'), '{max_retries}', '3')
      WHERE id = 15", None),
    ("UPDATE openprose.run SET status = 'failed' WHERE id = '20260116-143052-a7b3c9'", None),
    // This block uses the words of the append-only form (errata P3).
    ("INSERT INTO openprose.execution (run_id, statement_index, status) VALUES ('20260116-143052-a7b3c9', 5, 'started')", Some("P3")),
    // From the part on scopes.
    ("WITH RECURSIVE scope_chain AS (
        SELECT id, parent_id FROM openprose.execution WHERE id = 43
        UNION ALL
        SELECT e.id, e.parent_id FROM openprose.execution e JOIN scope_chain s ON e.id = s.parent_id
      )
      SELECT b.* FROM openprose.bindings b
      WHERE b.name = 'result' AND b.run_id = '20260116-143052-a7b3c9'
        AND (b.execution_id IN (SELECT id FROM scope_chain) OR b.execution_id IS NULL)
      ORDER BY CASE WHEN b.execution_id IS NULL THEN 1 ELSE 0 END, b.execution_id DESC NULLS LAST LIMIT 1", None),
    ("SELECT * FROM openprose.bindings WHERE name = 'result' AND run_id = '20260116-143052-a7b3c9'
        AND (execution_id = 43 OR execution_id = 42 OR execution_id IS NULL)
      ORDER BY execution_id DESC NULLS LAST LIMIT 1", None),
    // From the part on large outputs.
    ("INSERT INTO openprose.bindings (name, run_id, kind, value, attachment_path, source_statement)
      VALUES ('full_report', '20260116-143052-a7b3c9', 'let', 'Full analysis report (847KB) - see attachment',
              'attachments/full_report.md', 'let full_report = session \"Generate comprehensive report\"')
      ON CONFLICT (name, run_id) DO UPDATE
      SET value = EXCLUDED.value, attachment_path = EXCLUDED.attachment_path, updated_at = NOW()", Some("P2")),
    // From the part on resuming.
    ("SELECT statement_index, statement_text, status FROM openprose.execution
      WHERE run_id = '20260116-143052-a7b3c9' AND status = 'executing' ORDER BY id DESC LIMIT 1", None),
    ("SELECT name, kind, value, attachment_path FROM openprose.bindings WHERE run_id = '20260116-143052-a7b3c9'", None),
    ("SELECT name, scope, memory FROM openprose.agents WHERE run_id = '20260116-143052-a7b3c9' OR run_id IS NULL", None),
    ("SELECT metadata->>'branch' AS branch, status FROM openprose.execution
      WHERE run_id = '20260116-143052-a7b3c9' AND metadata->>'parallel_id' IS NOT NULL AND parent_id IS NOT NULL", None),
    // From the part on extensions.
    ("CREATE TABLE IF NOT EXISTS openprose.x_metrics (
        id SERIAL PRIMARY KEY,
        run_id TEXT REFERENCES openprose.run(id) ON DELETE CASCADE,
        execution_id INTEGER REFERENCES openprose.execution(id) ON DELETE CASCADE,
        metric_name TEXT NOT NULL, metric_value NUMERIC,
        recorded_at TIMESTAMPTZ NOT NULL DEFAULT NOW(), metadata JSONB DEFAULT '{}'::jsonb)", None),
    ("ALTER TABLE openprose.bindings ADD COLUMN IF NOT EXISTS token_count INTEGER", None),
    ("CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_bindings_created ON openprose.bindings(created_at)", None),
    // From the part on cleaning up.
    ("DELETE FROM openprose.agents WHERE run_id = '20260116-143052-a7b3c9'", None),
    ("DELETE FROM openprose.agents WHERE name = 'old_advisor' AND run_id IS NULL", None),
    // The table has the key that postgres.md gives it.
    ("CREATE TABLE openprose.x_bindings (name TEXT, run_id TEXT, execution_id INTEGER,
        PRIMARY KEY (name, run_id, COALESCE(execution_id, -1)))", Some("P1")),
];

#[test]
fn the_documents_statements_work_or_show_their_erratum() {
    let Some((cluster, url)) = run("") else {
        return;
    };
    for (sql, erratum) in BLOCKS {
        let done = cluster.psql(&url, sql);
        assert_eq!(
            done.is_err(),
            erratum.is_some(),
            "{erratum:?} {done:?}: {sql}"
        );
    }
    let both = "SELECT name, coalesce(execution_id, 0), value FROM openprose.bindings ORDER BY 1";
    let said = cluster.psql(&url, both).unwrap();
    assert!(
        said.contains("research|0|AI safety") && said.contains("result|43|Processed"),
        "{said}"
    );
}
