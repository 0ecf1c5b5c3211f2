# Shared by the recording scripts: the documents' commands, with a clock that stands still.
#
# SQL says datetime('now') as sqlite.md does; `at` sets what that means, so that recording again gives the same rows.

set -eu
export LC_ALL=C TZ=UTC
examples=$(cd "$(dirname "$0")/.." && pwd)
prose=${1:?usage: $0 FOLDER, such as examples/.prose}

# at DAY TIME: the clock, until it is set again.
at() { now="$1 $2"; }

# Runs the SQL on standard input in the run's database.
sql() { sed "s/datetime('now'/datetime('$now'/g" | sqlite3 -init /dev/null -batch -bail "$db"; }

# A text as an SQL literal; `-` is standard input.
text() {
  if [ "$1" = - ]; then body=$(cat); else body=$1; fi
  printf "'%s'" "$(printf %s "$body" | sed "s/'/''/g")"
}

# The line of the program that holds this text: our statement_index.
line() {
  grep -nF -- "$1" "$examples/$program" | head -n 1 | cut -d: -f1 | grep . ||
    { echo "$program has no line with: $1" >&2; exit 1; }
}

# open_run ID PROGRAM SCHEMA: a run folder with its program, and the tables.
open_run() {
  id=$1 program=$2
  run=$prose/runs/$id
  db=$run/state.db
  rm -rf "$run"
  mkdir -p "$run"
  cp "$examples/$program" "$run/program.prose"
  sqlite3 -init /dev/null -batch -bail "$db" <"$3"
  sql <<SQL
INSERT INTO run (id, program_path, program_source, started_at, updated_at, status)
VALUES ('$id', '$program', $(text - <"$examples/$program"), datetime('now'), datetime('now'), 'running');
SQL
}

# run_status STATUS: errata X15, updated_at goes with it.
run_status() { echo "UPDATE run SET status = '$1', updated_at = datetime('now') WHERE id = '$id';" | sql; }

# binding NAME EXECUTION KIND STATEMENT <value: what a subagent writes when it is done.
binding() {
  value=$(text -)
  sql <<SQL
INSERT OR REPLACE INTO bindings (name, execution_id, kind, value, source_statement, created_at, updated_at)
VALUES ($(text "$1"), $2, '$3', $value, $(text "$4"), datetime('now'), datetime('now'));
SQL
}

# memory AGENT SCOPE <memory: what a persistent agent knows now.
memory() {
  value=$(text -)
  sql <<SQL
INSERT INTO agents (name, scope, memory, created_at, updated_at)
VALUES ('$1', '$2', $value, datetime('now'), datetime('now'))
ON CONFLICT (name) DO UPDATE SET memory = excluded.memory, updated_at = excluded.updated_at;
SQL
}

# segment AGENT NUMBER PROMPT <summary: one invocation of a persistent agent.
segment() {
  value=$(text -)
  sql <<SQL
INSERT INTO agent_segments (agent_name, segment_number, timestamp, prompt, summary)
VALUES ('$1', $2, datetime('now'), $(text "$3"), $value);
SQL
}
