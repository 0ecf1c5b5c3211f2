//! The columns that a change writes: the one list that tables, lines of logs and files of gates go by.

use serde_json::{Map, Value};

use super::{AuditRow, Change, ExecutionRow, GateResolution, GateRow, ImportRow};
use crate::schema;

/// Columns by the documents' names, and what they are to hold; NULL where nothing is known.
pub type Columns = Vec<(&'static str, Value)>;

/// A row as a change leaves it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// The table.
    pub table: &'static str,
    /// Which row it is.
    pub key: Columns,
    /// What it holds besides, whether it was there before or not.
    pub columns: Columns,
    /// What else a new one is given.
    pub first: Columns,
}

impl Change {
    /// What a change makes of a row of `run`; `None` for what is a file.
    pub fn stored(&self, run: &str) -> Option<Stored> {
        let mut first = Vec::new();
        // The table, how many of the columns are the key, and all of them.
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
            // What a decision writes is written here, too: a DEFAULT of the table decides nothing.
            Change::Gate(row) => {
                let open = ["resolved_at", "resolved_by", "resolution_comment"];
                let open = open.map(|column| (column, Value::Null));
                ("gates", 2, [row.columns(), open.to_vec()].concat())
            }
            // Whose run it is may be NULL (errata G11): the time tells it from one of the same name.
            Change::ResolveGate(row) => ("gates", 3, row.columns()),
            Change::Audit(row) => ("gate_audit_log", 1, row.columns()),
        };
        let rest = columns.split_off(key);
        Some(Stored {
            table,
            key: columns,
            columns: rest,
            first,
        })
    }
}

impl ExecutionRow {
    /// A row of `execution`.
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
    /// A row of `imports`.
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
    /// A row of `gates`.
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
    /// What is written into a row of `gates`, but for its metadata, which keeps other keys.
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
    /// A row of `gate_audit_log`.
    pub fn columns(&self) -> Columns {
        vec![
            ("id", self.id.into()),
            ("gate_id", self.gate_id.as_str().into()),
            ("run_id", self.run_id.as_str().into()),
            ("event_type", self.event.as_str().into()),
            ("principal", filled(&self.principal)),
            ("comment", self.comment.clone().into()),
            ("timestamp", filled(&self.at)),
            // A text in every form: what the chain's hash was taken over stays as it is, letter by letter.
            ("metadata", filled(&self.metadata)),
        ]
    }
}

/// A text that is NULL where nothing is known.
fn filled(text: &str) -> Value {
    Some(text).filter(|text| !text.is_empty()).into()
}

/// Metadata, which is NULL where there is none.
fn object(metadata: &Map<String, Value>) -> Value {
    match metadata.is_empty() {
        true => Value::Null,
        false => metadata.clone().into(),
    }
}
