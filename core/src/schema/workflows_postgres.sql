-- Workflows in PostgreSQL (memoria.md; errata M1 to M4), in the first schema of the search path. Idempotent: tables that
-- another program made stay as they are, and get the columns x_….

BEGIN;
SELECT pg_advisory_xact_lock(7957133);
-- Whether the tables are made here, for what is added to our own alone.
DO $$ BEGIN PERFORM set_config('prose.makes_workflows', (to_regclass('workflows') IS NULL)::text, true); END $$;

CREATE TABLE IF NOT EXISTS workflows (
  id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'cancelled', 'error')),
  context JSONB NOT NULL DEFAULT '{}',
  preferences JSONB NOT NULL DEFAULT '{}',
  important_steps JSONB NOT NULL DEFAULT '{}',
  most_recent_run_id UUID,
  error JSONB,
  created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  updated_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS workflow_runs (
  id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  workflow_id UUID NOT NULL REFERENCES workflows(id) ON DELETE CASCADE,
  status TEXT NOT NULL DEFAULT 'running'
    CHECK (status IN ('running', 'waiting_for_input', 'completed', 'failed', 'cancelled')),
  user_input TEXT NOT NULL DEFAULT '',
  ask_clarifications BOOLEAN NOT NULL DEFAULT TRUE,
  state JSONB NOT NULL DEFAULT '{}',
  final_output JSONB,
  error JSONB,
  created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  updated_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS workflow_events (
  id BIGSERIAL PRIMARY KEY,
  workflow_id UUID NOT NULL REFERENCES workflows(id) ON DELETE CASCADE,
  run_id UUID REFERENCES workflow_runs(id) ON DELETE CASCADE,
  kind TEXT NOT NULL DEFAULT 'progress' CHECK (kind IN ('progress', 'status', 'warning', 'error', 'final')),
  text TEXT NOT NULL,
  payload JSONB,
  created_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- The pointer to the newest run (errata M2), where the table is ours: rows of another program may point nowhere.
DO $$
BEGIN
  IF current_setting('prose.makes_workflows', true) = 'true' THEN
    ALTER TABLE workflows ADD CONSTRAINT x_workflows_most_recent_run
      FOREIGN KEY (most_recent_run_id) REFERENCES workflow_runs(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
  END IF;
END $$;

-- Errata M3: a version that every change raises, and who changed the row last.
ALTER TABLE workflows ADD COLUMN IF NOT EXISTS x_version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE workflows ADD COLUMN IF NOT EXISTS x_changed TIMESTAMPTZ;
ALTER TABLE workflows ADD COLUMN IF NOT EXISTS x_writer XID8;
ALTER TABLE workflow_runs ADD COLUMN IF NOT EXISTS x_version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE workflow_runs ADD COLUMN IF NOT EXISTS x_changed TIMESTAMPTZ;
ALTER TABLE workflow_runs ADD COLUMN IF NOT EXISTS x_writer XID8;
-- Errata M4: who works on a run, and when that was said last.
ALTER TABLE workflow_runs ADD COLUMN IF NOT EXISTS x_owner TEXT;
ALTER TABLE workflow_runs ADD COLUMN IF NOT EXISTS x_heartbeat TIMESTAMPTZ;

-- How far named followers have read: pruning keeps the rest.
DO $$
BEGIN
  EXECUTE format(
    'CREATE TABLE IF NOT EXISTS x_workflow_followers (
       workflow_id %s NOT NULL REFERENCES workflows(id) ON DELETE CASCADE,
       name TEXT NOT NULL, cursor BIGINT NOT NULL, updated_at TIMESTAMPTZ NOT NULL,
       PRIMARY KEY (workflow_id, name))',
    (SELECT format_type(atttypid, atttypmod) FROM pg_attribute
     WHERE attrelid = 'workflows'::regclass AND attname = 'id'));
END $$;

-- An update that does not name a version was computed from what its transaction read. Where the row changed after that
-- transaction began, it would undo the change: it is refused as a serialization failure, which programs repeat. A change may be
-- seen later than it was made, once it is committed: only a server that tracks the time of commits tells when that was.
CREATE OR REPLACE FUNCTION x_workflow_changed() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
  changed TIMESTAMPTZ := OLD.x_changed;
BEGIN
  IF NEW.x_version IS NOT DISTINCT FROM OLD.x_version THEN
    IF current_setting('track_commit_timestamp') = 'on' THEN
      changed := greatest(changed, pg_xact_commit_timestamp(OLD.x_writer::xid));
    END IF;
    IF changed > transaction_timestamp() AND OLD.x_writer IS DISTINCT FROM pg_current_xact_id() THEN
      RAISE EXCEPTION 'the row of % changed after this transaction began', TG_TABLE_NAME
        USING ERRCODE = '40001', HINT = 'read it again and repeat the change';
    END IF;
    NEW.x_version := coalesce(OLD.x_version, 0) + 1;
  END IF;
  NEW.x_changed := clock_timestamp();
  NEW.x_writer := pg_current_xact_id();
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER x_workflow_changed BEFORE UPDATE ON workflows
  FOR EACH ROW EXECUTE FUNCTION x_workflow_changed();
CREATE OR REPLACE TRIGGER x_workflow_changed BEFORE UPDATE ON workflow_runs
  FOR EACH ROW EXECUTE FUNCTION x_workflow_changed();

-- Wakes followers; polling carries. A notification takes a lock of the whole server at commit: of several writers at once one
-- notifies, and no other waits for it.
CREATE OR REPLACE FUNCTION x_workflow_notify() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF pg_try_advisory_xact_lock(7957134) THEN
    PERFORM pg_notify('prose_workflow_events', '');
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER x_workflow_notify AFTER INSERT ON workflow_events
  FOR EACH STATEMENT EXECUTE FUNCTION x_workflow_notify();

CREATE INDEX IF NOT EXISTS idx_workflow_events_cursor ON workflow_events(workflow_id, id);
-- What another program made may lack these columns.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'workflows'::regclass AND attname = 'updated_at') THEN
    CREATE INDEX IF NOT EXISTS idx_workflows_updated ON workflows(updated_at);
  END IF;
  IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'workflow_runs'::regclass AND attname = 'created_at') THEN
    CREATE INDEX IF NOT EXISTS idx_workflow_runs_workflow ON workflow_runs(workflow_id, created_at);
  END IF;
  IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'workflow_events'::regclass AND attname = 'run_id') THEN
    CREATE INDEX IF NOT EXISTS idx_workflow_events_run ON workflow_events(run_id);
  END IF;
END $$;
COMMIT;
