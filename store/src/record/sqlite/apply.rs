//! Writes changes as rows, always with bound parameters (errata P10, B9).

use prosescope_core::record::Change;
use rusqlite::types::Value;
use rusqlite::{Connection, Params, params, params_from_iter};

use super::columns::{self, SqlRow, json};
use super::rows;

/// An SQL expression for the column `metadata` as a JSON object to which keys can be added, even if the column is NULL
/// (errata X12). A value that is not a JSON object is kept under the key `x_malformed`.
const KEPT: &str = "CASE WHEN metadata IS NULL OR trim(metadata) = '' THEN '{}'
                         WHEN json_valid(metadata) AND json_type(metadata) = 'object' THEN metadata
                         ELSE json_object('x_malformed', metadata) END";

/// Writes one change in the open transaction.
pub(super) fn row(conn: &Connection, run: &str, change: &Change) -> rusqlite::Result<()> {
    let Some(stored) = columns::of(run, change) else {
        return Ok(());
    };
    let changed = match change {
        Change::Attachment(_) => return Ok(()),
        Change::Run(_) | Change::Import(_) | Change::Agent(_) => put(conn, &stored)?,
        Change::Execution(_) | Change::Gate(_) | Change::Audit(_) => insert(conn, &stored)?,
        Change::UpdateExecution(row) => update(conn, &stored, json(&row.metadata))?,
        // The earlier value stays as history (errata B6). Copying the value needs neither a key nor an index, so tables
        // of any shape are accepted.
        Change::Binding(row) => {
            execute(
            conn,
                "INSERT OR ABORT INTO x_binding_history (name, execution_id, kind, source_statement, created_at, updated_at,
                                                         replaced_at, attachment_path, value)
                 SELECT name, execution_id, kind, source_statement, created_at, updated_at, nullif(?3, ''), attachment_path, value
                 FROM bindings WHERE name = ?1 AND execution_id IS ?2",
                params![row.name, row.execution_id, row.at],
            )?;
            put(conn, &stored)?
        }
        Change::Memory(row) => {
            execute(
            conn,
                "INSERT OR ABORT INTO x_agent_memory_history (agent_name, updated_at, replaced_at, memory)
                 SELECT name, updated_at, nullif(?2, ''), memory FROM agents WHERE name = ?1 AND memory IS NOT NULL",
                params![row.agent, row.at],
            )?;
            put(conn, &stored)?
        }
        Change::Segment(row) => {
            // The agent's row must exist before its first segment (errata A1).
            execute(
            conn,
                "INSERT OR ABORT INTO agents (name, scope, created_at, updated_at)
                 SELECT ?1, ?2, nullif(?3, ''), nullif(?3, '') WHERE NOT EXISTS (SELECT 1 FROM agents WHERE name = ?1)",
                params![row.agent, row.scope, row.at],
            )?;
            insert(conn, &stored)?
        }
        // The statement decides only a pending gate, although the plan has checked that too (errata G3). A gate whose
        // `run_id` is not in the table `run` becomes this run's gate, like its log rows; a NULL stays NULL (errata
        // G11).
        Change::ResolveGate(row) => execute(
            conn,
            &format!(
                "UPDATE OR ABORT gates SET status = ?3, resolved_at = nullif(?4, ''), resolved_by = nullif(?5, ''), resolution_comment = ?6,
                        metadata = iif(?7 IS NULL, metadata, json_patch({KEPT}, ?7)),
                        run_id = iif(run_id IS NULL, NULL, ?1)
                 WHERE id = ?2 AND lower(trim(status)) = 'pending'
                   AND run_id IS (SELECT run_id FROM gates WHERE id = ?2 AND {} LIMIT 1)",
                rows::GATE_OF_RUN_FIRST
            ),
            params![
                row.run_id,
                row.id,
                row.status,
                row.at,
                row.by,
                row.comment,
                json(&row.metadata),
            ],
        )?,
    };
    // A command reports success only if its row was really written, whatever a foreign schema does. If a table has
    // several rows with one key, these changes may write all of them.
    match (changed, change) {
        (1, _)
        | (
            2..,
            Change::Run(_)
            | Change::Import(_)
            | Change::Binding(_)
            | Change::Agent(_)
            | Change::Memory(_),
        ) => Ok(()),
        (other, _) => Err(rusqlite::Error::StatementChangedRows(other)),
    }
}

fn execute(conn: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<usize> {
    conn.prepare_cached(sql)?.execute(params)
}

/// Updates a row, or inserts it if it does not exist.
fn put(conn: &Connection, row: &SqlRow) -> rusqlite::Result<usize> {
    match update(conn, row, None)? {
        0 => insert(conn, row),
        updated => Ok(updated),
    }
}

/// Updates a row. The keys in `metadata`, a JSON object, are set in the column `metadata`, and its other keys stay.
fn update(conn: &Connection, row: &SqlRow, metadata: Option<String>) -> rusqlite::Result<usize> {
    let of: Vec<String> = named(row.key.iter(), 1, "IS");
    let mut set: Vec<String> = named(row.columns.iter(), row.key.len() + 1, "=");
    if metadata.is_some() {
        let n = row.key.len() + row.columns.len() + 1;
        set.push(format!("metadata = json_patch({KEPT}, ?{n})"));
    }
    // The row must be there, even if nothing of it changes.
    if set.is_empty() {
        set.push("id = id".to_owned());
    }
    let values = row.key.iter().chain(&row.columns).map(|(_, value)| value);
    let metadata = metadata.map(Value::Text);
    execute(
        conn,
        &format!(
            "UPDATE OR ABORT {} SET {} WHERE {}",
            row.table,
            set.join(", "),
            of.join(" AND ")
        ),
        params_from_iter(values.chain(&metadata)),
    )
}

fn insert(conn: &Connection, row: &SqlRow) -> rusqlite::Result<usize> {
    let all = || row.key.iter().chain(&row.columns).chain(&row.first);
    let names: Vec<&str> = all().map(|(name, _)| *name).collect();
    let places: Vec<String> = (1..=names.len()).map(|n| format!("?{n}")).collect();
    execute(
        conn,
        &format!(
            "INSERT OR ABORT INTO {} ({}) VALUES ({})",
            row.table,
            names.join(", "),
            places.join(", ")
        ),
        params_from_iter(all().map(|(_, value)| value)),
    )
}

/// Returns SQL for comparing or setting each column, such as `name = ?3`. The first parameter has the number `first`.
fn named<'a>(
    columns: impl Iterator<Item = &'a (&'static str, Value)>,
    first: usize,
    by: &str,
) -> Vec<String> {
    let numbered = (first..).zip(columns);
    numbered
        .map(|(n, (name, _))| format!("{name} {by} ?{n}"))
        .collect()
}
