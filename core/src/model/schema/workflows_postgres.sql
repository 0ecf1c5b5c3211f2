-- Tables of workflows in PostgreSQL: conversations, their runs, and their events, in the first schema of the search
-- path. Running this again changes nothing. Existing tables of another program stay, and get the columns x_…. "Errata"
-- numbers refer to docs/contribute/errata.md of Prosescope.

BEGIN;
SELECT pg_advisory_xact_lock(7957133);
-- Records whether this script creates the tables: some additions below are for its own tables only.
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

-- Errata M2: the pointer to the newest run gets a foreign key in our own tables only; in tables of another program, it
-- may point to a missing row.
DO $$
BEGIN
  IF current_setting('prose.makes_workflows', true) = 'true' THEN
    ALTER TABLE workflows ADD CONSTRAINT x_workflows_most_recent_run
      FOREIGN KEY (most_recent_run_id) REFERENCES workflow_runs(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
  END IF;
END $$;

-- Errata M3: a version that every change raises, with the time and the transaction of the last change.
ALTER TABLE workflows ADD COLUMN IF NOT EXISTS x_version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE workflows ADD COLUMN IF NOT EXISTS x_changed TIMESTAMPTZ;
ALTER TABLE workflows ADD COLUMN IF NOT EXISTS x_writer XID8;
ALTER TABLE workflow_runs ADD COLUMN IF NOT EXISTS x_version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE workflow_runs ADD COLUMN IF NOT EXISTS x_changed TIMESTAMPTZ;
ALTER TABLE workflow_runs ADD COLUMN IF NOT EXISTS x_writer XID8;
-- Errata M4: who works on a run, the time of the last heartbeat, and until when no other engine may work on the run.
ALTER TABLE workflow_runs ADD COLUMN IF NOT EXISTS x_owner TEXT;
ALTER TABLE workflow_runs ADD COLUMN IF NOT EXISTS x_heartbeat TIMESTAMPTZ;
ALTER TABLE workflow_runs ADD COLUMN IF NOT EXISTS x_lease TIMESTAMPTZ;

-- An update without a new version was computed from the data that its transaction read. If the row changed after that
-- transaction began, the update would undo that change, so it is refused as a serialization failure, which programs
-- repeat. A change becomes visible at commit, later than it was made; only a server with track_commit_timestamp = on
-- records that time.
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

-- Notifies followers at once; they also poll. A notification takes a server-wide lock at commit, so only one of several
-- concurrent writers notifies, and the others do not wait.
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
-- Tables of another program may lack these columns.
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
