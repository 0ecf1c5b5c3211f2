-- Tables of workflows in SQLite: conversations, their runs, and their events. Running this again changes nothing. Ids
-- are UUIDs as text, JSON is text, times are UTC. "Errata" numbers refer to docs/contribute/errata.md of Prosescope.

CREATE TABLE IF NOT EXISTS workflows (
  id TEXT PRIMARY KEY,
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'cancelled', 'error')),
  context TEXT NOT NULL DEFAULT '{}',
  preferences TEXT NOT NULL DEFAULT '{}',
  important_steps TEXT NOT NULL DEFAULT '{}',
  most_recent_run_id TEXT REFERENCES workflow_runs(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
  error TEXT,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now') || '000'),
  updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now') || '000'),
  x_version INTEGER NOT NULL DEFAULT 1
);

CREATE TABLE IF NOT EXISTS workflow_runs (
  id TEXT PRIMARY KEY,
  workflow_id TEXT NOT NULL REFERENCES workflows(id) ON DELETE CASCADE,
  status TEXT NOT NULL DEFAULT 'running'
    CHECK (status IN ('running', 'waiting_for_input', 'completed', 'failed', 'cancelled')),
  user_input TEXT NOT NULL DEFAULT '',
  ask_clarifications BOOLEAN NOT NULL DEFAULT 1,
  state TEXT NOT NULL DEFAULT '{}',
  final_output TEXT,
  error TEXT,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now') || '000'),
  updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now') || '000'),
  x_version INTEGER NOT NULL DEFAULT 1,
  x_owner TEXT,
  x_heartbeat TEXT,
  x_lease TEXT
);

-- AUTOINCREMENT, because the id of a removed event must never be used again.
CREATE TABLE IF NOT EXISTS workflow_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workflow_id TEXT NOT NULL REFERENCES workflows(id) ON DELETE CASCADE,
  run_id TEXT REFERENCES workflow_runs(id) ON DELETE CASCADE,
  kind TEXT NOT NULL DEFAULT 'progress' CHECK (kind IN ('progress', 'status', 'warning', 'error', 'final')),
  text TEXT NOT NULL,
  payload TEXT,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now') || '000')
);

CREATE INDEX IF NOT EXISTS idx_workflows_updated ON workflows(updated_at);
CREATE INDEX IF NOT EXISTS idx_workflow_runs_workflow ON workflow_runs(workflow_id, created_at);
CREATE INDEX IF NOT EXISTS idx_workflow_runs_open ON workflow_runs(status) WHERE status IN ('running', 'waiting_for_input');
CREATE INDEX IF NOT EXISTS idx_workflow_events_cursor ON workflow_events(workflow_id, id);
CREATE INDEX IF NOT EXISTS idx_workflow_events_run ON workflow_events(run_id);

-- Errata M3: these triggers raise the version when another program changes a row. `prosescope` sets the version itself.
CREATE TRIGGER IF NOT EXISTS x_workflows_version AFTER UPDATE ON workflows WHEN NEW.x_version IS OLD.x_version
BEGIN UPDATE workflows SET x_version = coalesce(OLD.x_version, 0) + 1 WHERE id = NEW.id; END;
CREATE TRIGGER IF NOT EXISTS x_workflow_runs_version AFTER UPDATE ON workflow_runs WHEN NEW.x_version IS OLD.x_version
BEGIN UPDATE workflow_runs SET x_version = coalesce(OLD.x_version, 0) + 1 WHERE id = NEW.id; END;
