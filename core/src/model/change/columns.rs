//! Converts each change into the columns that it writes, with their values. Database rows, log lines and gate files are
//! written from these columns.

use serde_json::{Map, Value};

use super::{AuditRow, Change, ExecutionRow, GateResolution, GateRow, ImportRow};
use crate::model::schema;

/// Columns under OpenProse's names, with their new values. An unknown value is NULL.
pub type Columns = Vec<(&'static str, Value)>;

/// A row that a change writes, split into its key and its other columns.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeRow {
    /// The table that the row is written to.
    pub table: &'static str,
    /// The columns that identify the row, with their values.
    pub key: Columns,
    /// The columns, besides the key, that are set both in a new row and in an existing row.
    pub columns: Columns,
    /// The columns that are set only when the row is new.
    pub first: Columns,
}

impl Change {
    /// Returns the row that a change writes in a run; `None` if the change writes a file.
    pub fn stored(&self, run: &str) -> Option<ChangeRow> {
        let mut first = Vec::new();
        // Each tuple: the table, the number of leading columns that form the key, and all columns.
        let (table, key, mut columns) = match self {
            Change::Attachment(_) => return None,
            Change::Run(row) => {
                let mut columns = vec![("id", run.into()), ("updated_at", filled(&row.updated))];
                match row.status.as_deref() {
                    Some(status) => columns.push(("status", status.into())),
                    None => first.push(("status", "running".into())),
                }
                first.push(("started_at", Value::Null));
                ("run", 1, columns)
            }
            Change::Execution(row) => ("execution", 1, row.columns()),
            Change::UpdateExecution(row) => {
                let status = row.status.as_deref().map(|word| ("status", word.into()));
                let completed = row.completed.clone();
                let completed = completed.map(|at| ("completed_at", at.into()));
                let error = row.error.clone().map(|text| ("error_message", text.into()));
                let columns = [Some(("id", row.id.into())), status, completed, error];
                ("execution", 1, columns.into_iter().flatten().collect())
            }
            Change::Binding(row) => {
                let created = row.created.as_ref().unwrap_or(&row.at);
                first.push(("created_at", filled(created)));
                let mut columns = vec![
                    ("name", row.name.as_str().into()),
                    ("execution_id", row.execution_id.into()),
                    ("kind", filled(&row.kind)),
                    ("value", row.value.as_str().into()),
                    ("source_statement", row.source.clone().into()),
                    ("updated_at", filled(&row.at)),
                    ("attachment_path", row.attachment.clone().into()),
                ];
                let around = row.parent_execution_id;
                columns.extend(around.map(|id| (schema::FRAME_AROUND, id.into())));
                ("bindings", 2, columns)
            }
            Change::Agent(row) => {
                let columns = vec![
                    ("name", row.agent.as_str().into()),
                    ("scope", row.scope.as_str().into()),
                    ("created_at", filled(&row.created)),
                    ("updated_at", filled(&row.updated)),
                ];
                ("agents", 1, columns)
            }
            Change::Memory(row) => {
                first.push(("scope", row.scope.as_str().into()));
                first.push(("created_at", filled(&row.at)));
                let columns = vec![
                    ("name", row.agent.as_str().into()),
                    ("memory", row.memory.as_str().into()),
                    ("updated_at", filled(&row.at)),
                ];
                ("agents", 1, columns)
            }
            Change::Segment(row) => {
                let columns = vec![
                    ("agent_name", row.agent.as_str().into()),
                    ("segment_number", row.number.into()),
                    ("timestamp", filled(&row.at)),
                    ("prompt", row.prompt.as_str().into()),
                    ("summary", row.summary.as_str().into()),
                ];
                ("agent_segments", 2, columns)
            }
            Change::Import(row) => ("imports", 1, row.columns()),
            // Sets the columns of a decision to NULL, so that a DEFAULT in the table cannot decide a gate.
            Change::Gate(row) => {
                let open = ["resolved_at", "resolved_by", "resolution_comment"];
                let open = open.map(|column| (column, Value::Null));
                ("gates", 2, [row.columns(), open.to_vec()].concat())
            }
            // The run's id is not in the key, because `run_id` may be NULL (errata G11). The status and the time of the
            // decision distinguish gates of the same name.
            Change::ResolveGate(row) => ("gates", 3, row.columns()),
            Change::Audit(row) => ("gate_audit_log", 1, row.columns()),
        };
        let rest = columns.split_off(key);
        Some(ChangeRow {
            table,
            key: columns,
            columns: rest,
            first,
        })
    }
}

impl ExecutionRow {
    /// Returns the columns of a row of `execution`.
    pub fn columns(&self) -> Columns {
        vec![
            ("id", self.id.into()),
            ("statement_index", self.index.into()),
            ("statement_text", self.text.as_str().into()),
            ("status", self.status.as_str().into()),
            ("started_at", self.started.clone().into()),
            ("completed_at", self.completed.clone().into()),
            ("error_message", self.error.clone().into()),
            ("parent_id", self.parent.into()),
            ("metadata", object(&self.metadata)),
        ]
    }
}

impl ImportRow {
    /// Returns the columns of a row of `imports`.
    pub fn columns(&self) -> Columns {
        vec![
            ("alias", self.alias.as_str().into()),
            ("source_url", filled(&self.source_url)),
            ("fetched_at", filled(&self.fetched)),
            ("inputs_schema", self.inputs_schema.clone().into()),
            ("outputs_schema", self.outputs_schema.clone().into()),
        ]
    }
}

impl GateRow {
    /// Returns the columns of a row of `gates`.
    pub fn columns(&self) -> Columns {
        vec![
            ("id", self.id.as_str().into()),
            ("run_id", self.run_id.as_str().into()),
            ("execution_id", self.execution_id.into()),
            ("prompt", self.prompt.clone().into()),
            ("allow", self.allow.as_str().into()),
            ("timeout", self.timeout.clone().into()),
            ("timeout_at", self.timeout_at.clone().into()),
            ("on_reject", self.on_reject.clone().into()),
            ("status", "pending".into()),
            ("created_at", filled(&self.created)),
            ("metadata", object(&self.metadata)),
        ]
    }
}

impl GateResolution {
    /// Returns the columns of a decision in `gates`. Leaves out `metadata`: a decision sets some of its keys, and the
    /// other keys must stay.
    pub fn columns(&self) -> Columns {
        vec![
            ("id", self.id.as_str().into()),
            ("status", self.status.as_str().into()),
            ("resolved_at", filled(&self.at)),
            ("resolved_by", filled(&self.by)),
            ("resolution_comment", self.comment.clone().into()),
        ]
    }
}

impl AuditRow {
    /// Returns the columns of a row of `gate_audit_log`.
    pub fn columns(&self) -> Columns {
        vec![
            ("id", self.id.into()),
            ("gate_id", self.gate_id.as_str().into()),
            ("run_id", self.run_id.as_str().into()),
            ("event_type", self.event.as_str().into()),
            ("principal", filled(&self.principal)),
            ("comment", self.comment.clone().into()),
            ("timestamp", filled(&self.at)),
            // Stored as text in every store, so that no store changes the JSON that the chain's hash covers.
            ("metadata", filled(&self.metadata)),
        ]
    }
}

/// Returns the text, or NULL if it is empty.
fn filled(text: &str) -> Value {
    Some(text).filter(|text| !text.is_empty()).into()
}

/// Returns the metadata, or NULL if it is empty.
fn object(metadata: &Map<String, Value>) -> Value {
    if metadata.is_empty() {
        Value::Null
    } else {
        metadata.clone().into()
    }
}
