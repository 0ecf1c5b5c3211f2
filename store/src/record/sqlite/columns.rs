//! What each change makes of a row: the one list of columns that writing and reading back go by.

use prosescope_core::write::Change;
use rusqlite::types::Value;
use serde_json::Map;

/// Columns and what they are to hold.
pub(super) type Columns = Vec<(&'static str, Value)>;

/// A row as a change leaves it.
pub(super) struct Stored {
    pub(super) table: &'static str,
    /// Which row it is.
    pub(super) key: Columns,
    /// What it holds besides, whether it was there before or not.
    pub(super) columns: Columns,
    /// What else a new one is given.
    pub(super) first: Columns,
}

/// What a change makes of a row; none for what is a file.
pub(super) fn of(run: &str, change: &Change) -> Option<Stored> {
    let mut first = Vec::new();
    let (table, key, columns) = match change {
        Change::Attachment(_) => return None,
        Change::Run(row) => {
            let mut columns = vec![("updated_at", text(&row.updated))];
            match row.status.as_deref() {
                Some(status) => columns.push(("status", text(status))),
                None => first.push(("status", text("running"))),
            }
            first.extend([("started_at", Value::Null), ("state_mode", text("sqlite"))]);
            ("run", vec![("id", text(run))], columns)
        }
        Change::Execution(row) => (
            "execution",
            vec![("id", Value::Integer(row.id))],
            vec![
                ("statement_index", number(row.index)),
                ("statement_text", text(&row.text)),
                ("status", text(&row.status)),
                ("started_at", maybe(&row.started)),
                ("completed_at", maybe(&row.completed)),
                ("error_message", maybe(&row.error)),
                ("parent_id", number(row.parent)),
                ("metadata", maybe(&json(&row.metadata))),
            ],
        ),
        Change::UpdateExecution(row) => {
            let status = row.status.as_deref().map(|status| ("status", text(status)));
            let completed = row.completed.as_ref().map(|at| ("completed_at", maybe(at)));
            let error = row
                .error
                .as_ref()
                .map(|error| ("error_message", maybe(error)));
            (
                "execution",
                vec![("id", Value::Integer(row.id))],
                [status, completed, error].into_iter().flatten().collect(),
            )
        }
        Change::Binding(row) => {
            first.push((
                "created_at",
                match &row.created {
                    Some(at) => text(at),
                    None => filled(&row.at),
                },
            ));
            (
                "bindings",
                vec![
                    ("name", text(&row.name)),
                    ("execution_id", number(row.execution_id)),
                ],
                vec![
                    ("kind", text(&row.kind)),
                    ("value", text(&row.value)),
                    ("source_statement", maybe(&row.source)),
                    ("updated_at", filled(&row.at)),
                    ("attachment_path", maybe(&row.attachment)),
                ],
            )
        }
        Change::Memory(row) => {
            first.extend([("scope", text(&row.scope)), ("created_at", filled(&row.at))]);
            (
                "agents",
                vec![("name", text(&row.agent))],
                vec![
                    ("memory", text(&row.memory)),
                    ("updated_at", filled(&row.at)),
                ],
            )
        }
        Change::Segment(row) => (
            "agent_segments",
            vec![
                ("agent_name", text(&row.agent)),
                ("segment_number", Value::Integer(row.number)),
            ],
            vec![
                ("timestamp", filled(&row.at)),
                ("prompt", text(&row.prompt)),
                ("summary", text(&row.summary)),
            ],
        ),
        Change::Import(row) => (
            "imports",
            vec![("alias", text(&row.alias))],
            vec![
                ("source_url", filled(&row.source_url)),
                ("fetched_at", filled(&row.fetched)),
                ("inputs_schema", maybe(&row.inputs_schema)),
                ("outputs_schema", maybe(&row.outputs_schema)),
            ],
        ),
        Change::Gate(row) => (
            "gates",
            vec![("id", text(&row.id)), ("run_id", text(&row.run_id))],
            vec![
                ("execution_id", number(row.execution_id)),
                ("prompt", maybe(&row.prompt)),
                ("allow", text(&row.allow)),
                ("timeout", maybe(&row.timeout)),
                ("timeout_at", maybe(&row.timeout_at)),
                ("on_reject", maybe(&row.on_reject)),
                ("status", text("pending")),
                ("created_at", filled(&row.created)),
                ("metadata", maybe(&json(&row.metadata))),
            ],
        ),
        Change::ResolveGate(row) => (
            "gates",
            // Whose run it is may be NULL (errata G11): the time tells it from one of the same name.
            vec![
                ("id", text(&row.id)),
                ("status", text(&row.status)),
                ("resolved_at", filled(&row.at)),
            ],
            vec![
                ("resolved_by", filled(&row.by)),
                ("resolution_comment", maybe(&row.comment)),
            ],
        ),
        Change::Audit(row) => (
            "gate_audit_log",
            vec![("id", Value::Integer(row.id))],
            vec![
                ("gate_id", text(&row.gate_id)),
                ("run_id", text(&row.run_id)),
                ("event_type", text(&row.event)),
                ("principal", filled(&row.principal)),
                ("comment", maybe(&row.comment)),
                ("timestamp", filled(&row.at)),
                ("metadata", filled(&row.metadata)),
            ],
        ),
    };
    Some(Stored {
        table,
        key,
        columns,
        first,
    })
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn maybe(text: &Option<String>) -> Value {
    text.clone().map_or(Value::Null, Value::Text)
}

/// A text that is NULL where nothing is known.
fn filled(text: &str) -> Value {
    maybe(&(!text.is_empty()).then(|| text.to_owned()))
}

fn number(n: Option<i64>) -> Value {
    n.map_or(Value::Null, Value::Integer)
}

pub(super) fn json(object: &Map<String, serde_json::Value>) -> Option<String> {
    (!object.is_empty()).then(|| serde_json::Value::Object(object.clone()).to_string())
}
