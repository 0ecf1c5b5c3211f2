/* The state of one run: the schema of OpenProse's sqlite.md, with corrections. Letters with numbers, such as S1, name
   entries of docs/contribute/errata.md of Prosescope. Running this again changes nothing (tested with sqlite3 3.40.1).
   Columns with large values are last in their row: SQLite reads a row's columns in order, so a list of the others does
   not read a page of a value. */

CREATE TABLE IF NOT EXISTS run (
    id TEXT PRIMARY KEY,
    program_path TEXT,
    started_at TEXT DEFAULT (datetime('now')),
    updated_at TEXT DEFAULT (datetime('now')),
    status TEXT DEFAULT 'running',    -- running, completed, failed, interrupted
    state_mode TEXT DEFAULT 'sqlite',
    program_source TEXT
);

CREATE TABLE IF NOT EXISTS execution (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    statement_index INTEGER,
    status TEXT,
    started_at TEXT,
    completed_at TEXT,
    parent_id INTEGER REFERENCES execution(id),
    statement_text TEXT,
    metadata TEXT,                    -- JSON
    error_message TEXT
);
-- Writers read the rows of one statement in one parent, and the rows in a parent.
CREATE INDEX IF NOT EXISTS idx_execution_place ON execution(parent_id, statement_index);

-- Writers read the open rows. A closed row has a completion time.
CREATE INDEX IF NOT EXISTS idx_execution_open ON execution(status) WHERE completed_at IS NULL;

-- The same for statements without a line, which are distinguished by their text.
CREATE INDEX IF NOT EXISTS idx_execution_text ON execution(parent_id, statement_text) WHERE statement_index IS NULL;

-- S1: an expression is not allowed in a PRIMARY KEY, but it is in a unique index, and INSERT OR REPLACE and
-- ON CONFLICT (name, IFNULL(execution_id, -1)) both find it.
CREATE TABLE IF NOT EXISTS bindings (
    name TEXT,
    execution_id INTEGER,             -- NULL: the root
    kind TEXT,                        -- input, output, let, const
    source_statement TEXT,
    created_at TEXT DEFAULT (datetime('now')),
    updated_at TEXT DEFAULT (datetime('now')),
    attachment_path TEXT,
    value TEXT
);
CREATE UNIQUE INDEX IF NOT EXISTS idx_bindings_scope ON bindings(name, IFNULL(execution_id, -1));

-- B6: earlier values of overwritten bindings.
CREATE TABLE IF NOT EXISTS x_binding_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    execution_id INTEGER,
    kind TEXT,
    source_statement TEXT,
    created_at TEXT,
    updated_at TEXT,
    replaced_at TEXT DEFAULT (datetime('now')),
    attachment_path TEXT,
    value TEXT
);
CREATE INDEX IF NOT EXISTS idx_x_binding_history ON x_binding_history(name, execution_id);

CREATE TABLE IF NOT EXISTS agents (
    name TEXT PRIMARY KEY,
    scope TEXT,                       -- execution, project, user, custom
    created_at TEXT DEFAULT (datetime('now')),
    updated_at TEXT DEFAULT (datetime('now')),
    memory TEXT
);

CREATE TABLE IF NOT EXISTS agent_segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_name TEXT REFERENCES agents(name),
    segment_number INTEGER,
    timestamp TEXT DEFAULT (datetime('now')),
    prompt TEXT,
    summary TEXT,
    UNIQUE (agent_name, segment_number)
);

-- A1: memory is overwritten by design; earlier values are kept here.
CREATE TABLE IF NOT EXISTS x_agent_memory_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_name TEXT NOT NULL,
    updated_at TEXT,
    replaced_at TEXT DEFAULT (datetime('now')),
    memory TEXT
);
CREATE INDEX IF NOT EXISTS idx_x_agent_memory_history ON x_agent_memory_history(agent_name);

CREATE TABLE IF NOT EXISTS imports (
    alias TEXT PRIMARY KEY,
    source_url TEXT,
    fetched_at TEXT,
    inputs_schema TEXT,               -- JSON
    outputs_schema TEXT               -- JSON
);

-- G1: the id alone is not a key; a second visit to a gate has the id id#2, with metadata.gate and metadata.visit.
CREATE TABLE IF NOT EXISTS gates (
    id TEXT NOT NULL,
    run_id TEXT NOT NULL REFERENCES run(id),
    execution_id INTEGER REFERENCES execution(id),
    prompt TEXT,
    allow TEXT DEFAULT '["user"]',    -- JSON array of principals
    timeout TEXT,                     -- as the program wrote it
    timeout_at TEXT,                  -- UTC, as datetime('now') writes it
    on_reject TEXT,
    status TEXT DEFAULT 'pending',    -- pending, approved, rejected, timeout
    created_at TEXT DEFAULT (datetime('now')),
    resolved_at TEXT,
    resolved_by TEXT,
    resolution_comment TEXT,
    metadata TEXT,                    -- JSON
    PRIMARY KEY (run_id, id)
);
CREATE INDEX IF NOT EXISTS idx_gates_status ON gates(status);
CREATE INDEX IF NOT EXISTS idx_gates_run ON gates(run_id);
CREATE INDEX IF NOT EXISTS idx_gates_timeout ON gates(timeout_at) WHERE timeout_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS gate_audit_log (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    gate_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    event_type TEXT NOT NULL,         -- created, viewed, approved, rejected, timeout, resumed
    principal TEXT,
    comment TEXT,
    timestamp TEXT DEFAULT (datetime('now')),
    metadata TEXT                     -- JSON
);
CREATE INDEX IF NOT EXISTS idx_gate_audit_gate ON gate_audit_log(gate_id);
CREATE INDEX IF NOT EXISTS idx_gate_audit_run ON gate_audit_log(run_id);

-- G7: the log is appended to and never changed. REPLACE deletes without firing a delete trigger, so an insert
-- over an existing id is refused as well.
CREATE TRIGGER IF NOT EXISTS gate_audit_log_no_update BEFORE UPDATE ON gate_audit_log
BEGIN
    SELECT RAISE(ABORT, 'gate_audit_log is append-only: its rows are not changed');
END;
CREATE TRIGGER IF NOT EXISTS gate_audit_log_no_delete BEFORE DELETE ON gate_audit_log
BEGIN
    SELECT RAISE(ABORT, 'gate_audit_log is append-only: its rows are not deleted');
END;
CREATE TRIGGER IF NOT EXISTS gate_audit_log_no_replace BEFORE INSERT ON gate_audit_log
WHEN NEW.id IS NOT NULL AND EXISTS (SELECT 1 FROM gate_audit_log WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'gate_audit_log is append-only: its rows are not replaced');
END;
