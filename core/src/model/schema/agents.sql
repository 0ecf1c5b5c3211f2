/* Agents that outlive a run: `.prose/agents.db` (project) and `~/.prose/agents.db` (user); sqlite.md,
   "Project-Scoped and User-Scoped Agents". Each scope has its own database (errata A1).
   Running this again changes nothing (tested with sqlite3 3.40.1). */

CREATE TABLE IF NOT EXISTS agents (
    name TEXT PRIMARY KEY,
    scope TEXT,                       -- project, user
    created_at TEXT DEFAULT (datetime('now')),
    updated_at TEXT DEFAULT (datetime('now')),
    memory TEXT                       -- last: a list of agents touches no page of a memory
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
