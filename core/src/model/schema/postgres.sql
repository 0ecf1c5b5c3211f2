/* The state of many runs in one database: the schema of OpenProse's postgres.md, with corrections. PostgreSQL 15 or later.
   Letters with numbers, such as P1, name entries of docs/contribute/errata.md of Prosescope. Running this again changes
   nothing. Tables made by OpenProse's own SQL are completed; that SQL fails for bindings, agents and agent_segments (P1). */

BEGIN;

-- Uses only PostgreSQL's own functions and operators, whatever schemas the role's search path begins with.
SET LOCAL search_path = pg_catalog;

-- Programs that create the schema at the same time take turns, because IF NOT EXISTS alone fails in a race.
SELECT pg_advisory_xact_lock(7957131);

-- P6: a role without the right to create schemas may own this one.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'openprose') THEN
        CREATE SCHEMA openprose;
    END IF;
END
$$;

CREATE TABLE IF NOT EXISTS openprose.x_schema (
    version INTEGER PRIMARY KEY,
    applied_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);

CREATE TABLE IF NOT EXISTS openprose.run (
    id TEXT PRIMARY KEY,
    program_path TEXT,
    program_source TEXT,
    started_at TIMESTAMPTZ DEFAULT NOW(),
    updated_at TIMESTAMPTZ DEFAULT NOW(),
    status TEXT NOT NULL DEFAULT 'running'
        CHECK (status IN ('running', 'completed', 'failed', 'interrupted')),
    state_mode TEXT NOT NULL DEFAULT 'postgres',
    metadata JSONB DEFAULT '{}'::jsonb
);
-- P11: the original status of a run, if it is not one of the four words; empty if none was recorded. The column status
-- is then interrupted.
ALTER TABLE openprose.run ADD COLUMN IF NOT EXISTS x_status TEXT;

-- A list shows the newest runs first: by the time in the id, or by the start if the id has no time.
CREATE INDEX IF NOT EXISTS idx_run_id_time ON openprose.run (left(id, 15) COLLATE "C")
    WHERE id ~ '^[0-9]{8}-[0-9]{6}-' COLLATE "C";
CREATE INDEX IF NOT EXISTS idx_run_started ON openprose.run (started_at) WHERE id !~ '^[0-9]{8}-[0-9]{6}-' COLLATE "C";

-- P8: the database assigns the ids, by one sequence for all runs.
CREATE TABLE IF NOT EXISTS openprose.execution (
    id SERIAL PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES openprose.run(id) ON DELETE CASCADE,
    statement_index INTEGER,
    statement_text TEXT,
    status TEXT NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'executing', 'completed', 'failed', 'skipped')),
    started_at TIMESTAMPTZ,
    completed_at TIMESTAMPTZ,
    error_message TEXT,
    parent_id INTEGER REFERENCES openprose.execution(id) ON DELETE CASCADE,
    metadata JSONB DEFAULT '{}'::jsonb
);
-- P11: a statement that is not in the program has no line; OpenProse's own table refuses such a row.
ALTER TABLE openprose.execution ALTER COLUMN statement_index DROP NOT NULL;
-- P3, P11: the last status in the append-only form; the column status has its in-place equivalent.
ALTER TABLE openprose.execution ADD COLUMN IF NOT EXISTS x_status TEXT;
-- P8: the id in the store from which the row was copied.
ALTER TABLE openprose.execution ADD COLUMN IF NOT EXISTS x_source_id BIGINT;

CREATE TABLE IF NOT EXISTS openprose.bindings (
    name TEXT NOT NULL,
    run_id TEXT NOT NULL REFERENCES openprose.run(id) ON DELETE CASCADE,
    execution_id INTEGER,             -- NULL: the root
    kind TEXT NOT NULL CHECK (kind IN ('input', 'output', 'let', 'const')),
    value TEXT,
    source_statement TEXT,
    created_at TIMESTAMPTZ DEFAULT NOW(),
    updated_at TIMESTAMPTZ DEFAULT NOW(),
    attachment_path TEXT,
    metadata JSONB DEFAULT '{}'::jsonb
);
-- P11: the original kind of a binding, if it is not one of the four words. The column kind is then let.
ALTER TABLE openprose.bindings ADD COLUMN IF NOT EXISTS x_kind TEXT;
-- The frame around the row's frame, if no row of execution records it; only in runs copied from a folder.
ALTER TABLE openprose.bindings ADD COLUMN IF NOT EXISTS x_parent_execution_id INTEGER;
-- P1: OpenProse's ON CONFLICT (name, run_id, COALESCE(execution_id, -1)) uses this index.
CREATE UNIQUE INDEX IF NOT EXISTS idx_bindings_scope ON openprose.bindings (name, run_id, COALESCE(execution_id, -1));

CREATE TABLE IF NOT EXISTS openprose.agents (
    name TEXT NOT NULL,
    run_id TEXT,                      -- NULL: an agent of a project or a user
    scope TEXT NOT NULL CHECK (scope IN ('execution', 'project', 'user', 'custom')),
    memory TEXT,
    created_at TIMESTAMPTZ DEFAULT NOW(),
    updated_at TIMESTAMPTZ DEFAULT NOW(),
    metadata JSONB DEFAULT '{}'::jsonb
);
-- P13: the project of an agent without a run; NULL means that all projects share the agent.
ALTER TABLE openprose.agents ADD COLUMN IF NOT EXISTS x_project TEXT;
CREATE UNIQUE INDEX IF NOT EXISTS idx_agents_scope ON openprose.agents (name, run_id, x_project) NULLS NOT DISTINCT;

CREATE TABLE IF NOT EXISTS openprose.agent_segments (
    id SERIAL PRIMARY KEY,
    agent_name TEXT NOT NULL,
    run_id TEXT,                      -- NULL: an agent of a project or a user
    segment_number INTEGER NOT NULL,
    timestamp TIMESTAMPTZ DEFAULT NOW(),
    prompt TEXT,
    summary TEXT,
    metadata JSONB DEFAULT '{}'::jsonb
);
ALTER TABLE openprose.agent_segments ADD COLUMN IF NOT EXISTS x_project TEXT;
CREATE UNIQUE INDEX IF NOT EXISTS idx_agent_segments_number
    ON openprose.agent_segments (agent_name, run_id, x_project, segment_number) NULLS NOT DISTINCT;

CREATE TABLE IF NOT EXISTS openprose.imports (
    alias TEXT NOT NULL,
    run_id TEXT NOT NULL REFERENCES openprose.run(id) ON DELETE CASCADE,
    source_url TEXT,
    fetched_at TIMESTAMPTZ,
    inputs_schema JSONB,
    outputs_schema JSONB,
    content_hash TEXT,
    metadata JSONB DEFAULT '{}'::jsonb,
    PRIMARY KEY (alias, run_id)
);

-- Gates and their log are those of sqlite.md, because postgres.md has none. P11: metadata is text, because the log's
-- hashes cover its exact bytes.
CREATE TABLE IF NOT EXISTS openprose.gates (
    id TEXT NOT NULL,
    run_id TEXT NOT NULL REFERENCES openprose.run(id) ON DELETE CASCADE,
    execution_id INTEGER REFERENCES openprose.execution(id) ON DELETE CASCADE,
    prompt TEXT,
    allow TEXT DEFAULT '["user"]',    -- JSON array of principals
    timeout TEXT,                     -- as the program wrote it
    timeout_at TEXT,                  -- UTC, YYYY-MM-DD HH:MM:SS
    on_reject TEXT,
    status TEXT DEFAULT 'pending',    -- pending, approved, rejected, timeout
    created_at TEXT,
    resolved_at TEXT,
    resolved_by TEXT,
    resolution_comment TEXT,
    metadata TEXT,                    -- JSON
    PRIMARY KEY (run_id, id)
);

-- Ids are unique within a run, so that a log copied from another store keeps the ids that its hash chain covers.
CREATE TABLE IF NOT EXISTS openprose.gate_audit_log (
    id BIGINT NOT NULL,
    gate_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    event_type TEXT NOT NULL,         -- created, viewed, approved, rejected, timeout, resumed
    principal TEXT,
    comment TEXT,
    timestamp TEXT,
    metadata TEXT,                    -- JSON
    PRIMARY KEY (run_id, id)
);

-- B6: earlier values of overwritten bindings.
CREATE TABLE IF NOT EXISTS openprose.x_binding_history (
    id BIGSERIAL PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES openprose.run(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    execution_id INTEGER,
    kind TEXT,
    source_statement TEXT,
    created_at TIMESTAMPTZ,
    updated_at TIMESTAMPTZ,
    replaced_at TIMESTAMPTZ DEFAULT NOW(),
    attachment_path TEXT,
    value TEXT
);
CREATE INDEX IF NOT EXISTS idx_x_binding_history ON openprose.x_binding_history (run_id, name, execution_id);

-- A1: earlier values of overwritten memories.
CREATE TABLE IF NOT EXISTS openprose.x_agent_memory_history (
    id BIGSERIAL PRIMARY KEY,
    run_id TEXT REFERENCES openprose.run(id) ON DELETE CASCADE,
    x_project TEXT,
    agent_name TEXT NOT NULL,
    updated_at TIMESTAMPTZ,
    replaced_at TIMESTAMPTZ DEFAULT NOW(),
    memory TEXT
);
CREATE INDEX IF NOT EXISTS idx_x_agent_memory_history ON openprose.x_agent_memory_history (run_id, agent_name);

-- P3: execution rows are updated in place; this table keeps the events, in order of id.
CREATE TABLE IF NOT EXISTS openprose.x_events (
    id BIGSERIAL PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES openprose.run(id) ON DELETE CASCADE,
    execution_id INTEGER,
    word TEXT NOT NULL,
    at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    metadata TEXT,                    -- JSON
    error TEXT
);
CREATE INDEX IF NOT EXISTS idx_x_events_run ON openprose.x_events (run_id, id);

-- P12: attachments, in pieces of at most 1 MB.
CREATE TABLE IF NOT EXISTS openprose.x_attachments (
    run_id TEXT NOT NULL REFERENCES openprose.run(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    piece INTEGER NOT NULL,
    bytes BYTEA NOT NULL,
    PRIMARY KEY (run_id, path, piece)
);

-- P14: tokens by which a writer that lost its connection at COMMIT finds out whether it was recorded. Tokens older than
-- a day are removed by later commands.
CREATE TABLE IF NOT EXISTS openprose.x_commands (
    token UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    run_id TEXT REFERENCES openprose.run(id) ON DELETE CASCADE, -- NULL: of an agent of a project or a user
    at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
CREATE INDEX IF NOT EXISTS idx_x_commands_run ON openprose.x_commands (run_id, at);

-- P11: original values, byte for byte, that a column refuses or changes. The key is the row's address; an entry is
-- valid while the column still contains the replacement.
CREATE TABLE IF NOT EXISTS openprose.x_original (
    run_id TEXT NOT NULL REFERENCES openprose.run(id) ON DELETE CASCADE,
    table_name TEXT NOT NULL,
    key TEXT NOT NULL,
    column_name TEXT NOT NULL,
    bytes BYTEA NOT NULL,
    stored TEXT,                      -- MD5 of what the column holds instead; NULL: nothing
    PRIMARY KEY (run_id, table_name, key, column_name)
);

-- A run copied from a folder or from SQLite may lack a time, or the source of an import. OpenProse's columns refuse
-- that, and their defaults would invent a time.
ALTER TABLE openprose.run ALTER COLUMN started_at DROP NOT NULL, ALTER COLUMN updated_at DROP NOT NULL;
ALTER TABLE openprose.bindings ALTER COLUMN created_at DROP NOT NULL, ALTER COLUMN updated_at DROP NOT NULL;
ALTER TABLE openprose.agents ALTER COLUMN created_at DROP NOT NULL, ALTER COLUMN updated_at DROP NOT NULL;
ALTER TABLE openprose.agent_segments ALTER COLUMN timestamp DROP NOT NULL;
ALTER TABLE openprose.imports ALTER COLUMN source_url DROP NOT NULL;
ALTER TABLE openprose.x_binding_history ALTER COLUMN replaced_at DROP NOT NULL;
ALTER TABLE openprose.x_agent_memory_history ALTER COLUMN replaced_at DROP NOT NULL;

-- The order of insertion, which PostgreSQL itself does not record.
ALTER TABLE openprose.bindings ADD COLUMN IF NOT EXISTS x_seq BIGSERIAL;
ALTER TABLE openprose.agents ADD COLUMN IF NOT EXISTS x_seq BIGSERIAL;
ALTER TABLE openprose.imports ADD COLUMN IF NOT EXISTS x_seq BIGSERIAL;
ALTER TABLE openprose.gates ADD COLUMN IF NOT EXISTS x_seq BIGSERIAL;

-- OpenProse's indexes for common queries.
CREATE INDEX IF NOT EXISTS idx_execution_run_id ON openprose.execution (run_id);
CREATE INDEX IF NOT EXISTS idx_execution_status ON openprose.execution (status);
CREATE INDEX IF NOT EXISTS idx_execution_parent_id ON openprose.execution (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS idx_execution_metadata_gin ON openprose.execution USING GIN (metadata jsonb_path_ops);
CREATE INDEX IF NOT EXISTS idx_bindings_run_id ON openprose.bindings (run_id);
CREATE INDEX IF NOT EXISTS idx_bindings_execution_id ON openprose.bindings (execution_id) WHERE execution_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS idx_agents_run_id ON openprose.agents (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS idx_agents_project_scoped ON openprose.agents (name) WHERE run_id IS NULL;
CREATE INDEX IF NOT EXISTS idx_agent_segments_lookup ON openprose.agent_segments (agent_name, run_id);

-- Indexes for a writer and a reader of one run: its rows in order, those of one place, and the open ones.
CREATE INDEX IF NOT EXISTS idx_execution_order ON openprose.execution (run_id, id);
CREATE INDEX IF NOT EXISTS idx_execution_place ON openprose.execution (run_id, parent_id, statement_index);
CREATE INDEX IF NOT EXISTS idx_execution_open ON openprose.execution (run_id, id) WHERE completed_at IS NULL;
CREATE INDEX IF NOT EXISTS idx_bindings_order ON openprose.bindings (run_id, x_seq);
CREATE INDEX IF NOT EXISTS idx_gates_pending ON openprose.gates (run_id) WHERE status = 'pending';
CREATE INDEX IF NOT EXISTS idx_gates_execution ON openprose.gates (execution_id) WHERE execution_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS idx_audit_gate ON openprose.gate_audit_log (run_id, gate_id, id);

-- G7: rows are added to the log and never changed. They may be deleted only after their run.
CREATE OR REPLACE FUNCTION openprose.x_audit_append_only() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF NOT EXISTS (SELECT FROM openprose.run WHERE id = OLD.run_id) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'gate_audit_log is append-only: its rows are not changed';
END
$$;
CREATE OR REPLACE TRIGGER gate_audit_log_append_only BEFORE UPDATE OR DELETE ON openprose.gate_audit_log
    FOR EACH ROW EXECUTE FUNCTION openprose.x_audit_append_only();
CREATE OR REPLACE TRIGGER gate_audit_log_no_truncate BEFORE TRUNCATE ON openprose.gate_audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION openprose.x_audit_append_only();

INSERT INTO openprose.x_schema (version) VALUES (2) ON CONFLICT DO NOTHING;

COMMIT;
