//! Changes as rows, with bound parameters throughout (errata P10, B9).

use prosescope_core::write::Change;
use rusqlite::params;
use serde_json::{Map, Value};

use super::rows;
use super::statements::{Statements, Unwritten};

/// Metadata that keys are added to (errata X12: NULL too). What is no JSON object stays, under a key of its own.
const KEPT: &str = "CASE WHEN metadata IS NULL OR trim(metadata) = '' THEN '{}'
                         WHEN json_valid(metadata) AND json_type(metadata) = 'object' THEN metadata
                         ELSE json_object('x_malformed', metadata) END";

/// Writes one change into the open transaction.
pub(super) fn row(
    statements: &Statements<'_>,
    run: &str,
    change: &Change,
) -> Result<(), Unwritten> {
    match change {
        Change::Attachment(_) => {}
        Change::Run(change) => {
            let updated = statements.run(
                    "UPDATE OR ABORT run SET updated_at = ?2, status = ifnull(?3, status) WHERE id = ?1", params![run, change.updated, change.status])?;
            if updated == 0 {
                one(statements.run(
                    "INSERT OR ABORT INTO run (id, started_at, updated_at, status, state_mode)
                     VALUES (?1, NULL, ?2, ifnull(?3, 'running'), 'sqlite')",
                    params![run, change.updated, change.status],
                )?)?;
            }
        }
        Change::Execution(row) => {
            let inserted = statements.run(
                "INSERT OR ABORT INTO execution (id, statement_index, statement_text, status, started_at, completed_at,
                                        error_message, parent_id, metadata)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", params![
                row.id,
                row.index,
                row.text,
                row.status,
                row.started,
                row.completed,
                row.error,
                row.parent,
                json(&row.metadata),
            ])?;
            one(inserted)?;
        }
        Change::UpdateExecution(row) => {
            let updated = statements.run(
                &format!(
                    "UPDATE OR ABORT execution SET status = ifnull(?2, status),
                            completed_at = iif(?3, ?4, completed_at), error_message = iif(?5, ?6, error_message),
                            metadata = iif(?7 IS NULL, metadata, json_patch({KEPT}, ?7))
                     WHERE id = ?1"
                ), params![
                row.id,
                row.status,
                row.completed.is_some(),
                row.completed.clone().flatten(),
                row.error.is_some(),
                row.error.clone().flatten(),
                json(&row.metadata),
            ])?;
            one(updated)?;
        }
        Change::Binding(row) => binding(statements, row)?,
        Change::Memory(row) => {
            statements.run(
                "INSERT OR ABORT INTO x_agent_memory_history (agent_name, updated_at, replaced_at, memory)
                 SELECT name, updated_at, ?2, memory FROM agents WHERE name = ?1 AND memory IS NOT NULL",
                params![row.agent, row.at],
            )?;
            let updated = statements.run(
                "UPDATE OR ABORT agents SET memory = ?2, updated_at = nullif(?3, '') WHERE name = ?1",
                params![row.agent, row.memory, row.at],
            )?;
            if updated == 0 {
                one(statements.run(
                    "INSERT OR ABORT INTO agents (name, scope, memory, created_at, updated_at)
                     VALUES (?1, ?2, ?3, nullif(?4, ''), nullif(?4, ''))",
                    params![row.agent, row.scope, row.memory, row.at],
                )?)?;
            }
        }
        Change::Segment(row) => {
            // A1: the agent is there before its first segment names it.
            statements.run(
                "INSERT OR ABORT INTO agents (name, scope, created_at, updated_at)
                 SELECT ?1, ?2, nullif(?3, ''), nullif(?3, '') WHERE NOT EXISTS (SELECT 1 FROM agents WHERE name = ?1)",
                params![row.agent, row.scope, row.at],
            )?;
            one(statements.run(
                "INSERT OR ABORT INTO agent_segments (agent_name, segment_number, timestamp, prompt, summary)
                 VALUES (?1, ?2, nullif(?3, ''), ?4, ?5)",
                params![row.agent, row.number, row.at, row.prompt, row.summary],
            )?)?;
        }
        Change::Import(row) => {
            let values = params![
                row.alias,
                row.source_url,
                row.fetched,
                row.inputs_schema,
                row.outputs_schema
            ];
            let updated = statements.run(
                "UPDATE OR ABORT imports SET source_url = nullif(?2, ''), fetched_at = nullif(?3, ''), inputs_schema = ?4, outputs_schema = ?5
                 WHERE alias = ?1",
                values,
            )?;
            if updated == 0 {
                one(statements.run(
                    "INSERT OR ABORT INTO imports (alias, source_url, fetched_at, inputs_schema, outputs_schema)
                     VALUES (?1, nullif(?2, ''), nullif(?3, ''), ?4, ?5)",
                    values,
                )?)?;
            }
        }
        Change::Gate(row) => {
            one(statements.run(
                "INSERT OR ABORT INTO gates (id, run_id, execution_id, prompt, allow, timeout, timeout_at, on_reject, status,
                                    created_at, metadata)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'pending', nullif(?9, ''), ?10)",
                params![
                    row.id,
                    row.run_id,
                    row.execution_id,
                    row.prompt,
                    row.allow,
                    row.timeout,
                    row.timeout_at,
                    row.on_reject,
                    row.created,
                    json(&row.metadata),
                ],
            )?)?;
        }
        Change::ResolveGate(row) => {
            // G3: also here, although the plan has looked: only what is pending is decided. G11: a gate of a run that
            // is not recorded is this run's from now on, as its rows in the log are.
            one(statements.run(
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
            )?)?;
        }
        Change::Audit(row) => {
            let inserted = statements.run(
                "INSERT OR ABORT INTO gate_audit_log (id, gate_id, run_id, event_type, principal, comment, timestamp, metadata)
                 VALUES (?1, ?2, ?3, ?4, nullif(?5, ''), ?6, nullif(?7, ''), nullif(?8, ''))", params![
                row.id,
                row.gate_id,
                row.run_id,
                row.event,
                row.principal,
                row.comment,
                row.at,
                row.metadata,
            ])?;
            one(inserted)?;
        }
    }
    Ok(())
}

/// B6: the earlier value stays as history. Neither a key nor an index is needed, so any shape of the table will do.
fn binding(
    statements: &Statements<'_>,
    row: &prosescope_core::write::BindingRow,
) -> Result<(), Unwritten> {
    statements.run(
        "INSERT OR ABORT INTO x_binding_history (name, execution_id, kind, source_statement, created_at, updated_at, replaced_at,
                                        attachment_path, value)
         SELECT name, execution_id, kind, source_statement, created_at, updated_at, ?3, attachment_path, value
         FROM bindings WHERE name = ?1 AND execution_id IS ?2", params![row.name, row.execution_id, row.at])?;
    let written = params![
        row.name,
        row.execution_id,
        row.kind,
        row.value,
        row.source,
        row.at,
        row.attachment
    ];
    let updated = statements.run(
            "UPDATE OR ABORT bindings SET kind = ?3, value = ?4, source_statement = ?5, updated_at = nullif(?6, ''), attachment_path = ?7
             WHERE name = ?1 AND execution_id IS ?2", written)?;
    if updated > 0 {
        return Ok(());
    }
    let inserted = statements.run(
            "INSERT OR ABORT INTO bindings (name, execution_id, kind, value, source_statement, created_at, updated_at,
                                            attachment_path)
             VALUES (?1, ?2, ?3, ?4, ?5, ifnull(?8, nullif(?6, '')), nullif(?6, ''), ?7)", params![
            row.name,
            row.execution_id,
            row.kind,
            row.value,
            row.source,
            row.at,
            row.attachment,
            row.created
        ])?;
    one(inserted)
}

/// Whatever a foreign schema does with a row: it is said to be written only when it was.
fn one(changed: usize) -> Result<(), Unwritten> {
    match changed {
        1 => Ok(()),
        other => Err(rusqlite::Error::StatementChangedRows(other).into()),
    }
}

pub(super) fn json(object: &Map<String, Value>) -> Option<String> {
    (!object.is_empty()).then(|| Value::Object(object.clone()).to_string())
}
