//! Builds model rows from any record with the columns of OpenProse's tables: a database row, a line of a JSON log, or
//! the files of a gate.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::model::time::Stamp;
use crate::model::{
    AuditEvent, AuditKind, Execution, Gate, GateRecord, GateStatus, Import, Meta, Status, Text,
};

/// Access to the columns of a row.
pub(crate) trait Fields {
    /// Returns a column as text; `None` if it is not recorded.
    fn text(&mut self, column: &str) -> Option<Text>;

    /// Returns a column as text; empty if it is not recorded.
    fn word(&mut self, column: &str) -> Text {
        self.text(column).unwrap_or_default()
    }

    /// Returns a column as a whole number; `None` if the column is not recorded or not a whole number.
    fn int(&mut self, column: &str) -> Option<i64> {
        self.text(column)?.trim().parse().ok()
    }

    /// Returns a column as a time.
    fn stamp(&mut self, column: &str) -> Option<Stamp> {
        self.text(column).map(|at| Stamp::parse(&at))
    }
}

/// Builds a row of `execution`; the caller supplies its id and metadata.
pub(crate) fn execution(of: &mut impl Fields, id: i64, meta: Option<Arc<Meta>>) -> Execution {
    Execution {
        id,
        index: of.int("statement_index"),
        text: of.word("statement_text"),
        status: status(of.word("status")),
        started: of.stamp("started_at"),
        completed: of.stamp("completed_at"),
        error: of.text("error_message"),
        parent: of.int("parent_id"),
        meta,
    }
}

/// Sets the given columns of a row of `execution`, except `id` and `metadata`.
pub(crate) fn update_execution(row: &mut Execution, columns: &mut Map<String, Value>) {
    let names: Vec<String> = columns.keys().cloned().collect();
    for name in names {
        match &*name {
            "status" => row.status = status(columns.word(&name)),
            "completed_at" => row.completed = columns.stamp(&name),
            "error_message" => row.error = columns.text(&name),
            _ => {}
        }
    }
}

/// Builds a row of `imports`.
pub(crate) fn import(of: &mut impl Fields) -> Import {
    Import {
        alias: of.word("alias"),
        source_url: of.text("source_url"),
        fetched: of.stamp("fetched_at"),
        inputs_schema: of.text("inputs_schema"),
        outputs_schema: of.text("outputs_schema"),
        nested: None,
    }
}

/// Builds a row of `gates`.
pub(crate) fn gate(of: &mut impl Fields) -> Gate {
    Gate {
        id: of.word("id"),
        recorded: GateRecord::Own,
        run_id: of.text("run_id"),
        execution_id: of.int("execution_id"),
        source_execution_id: None,
        prompt: of.text("prompt"),
        allow: of.text("allow"),
        timeout: of.text("timeout"),
        timeout_at: of.stamp("timeout_at"),
        on_reject: of.text("on_reject"),
        status: GateStatus::parse(&of.word("status")),
        created: of.stamp("created_at"),
        resolved: of.stamp("resolved_at"),
        resolved_by: of.text("resolved_by"),
        comment: of.text("resolution_comment"),
        metadata: of.text("metadata"),
    }
}

/// Builds a row of `gate_audit_log`; `id` is used if the record has no id.
pub(crate) fn audit_event(of: &mut impl Fields, id: i64) -> AuditEvent {
    AuditEvent {
        id: of.int("id").unwrap_or(id),
        gate_id: of.word("gate_id"),
        run_id: of.word("run_id"),
        kind: AuditKind::parse(&of.word("event_type")),
        principal: of.text("principal"),
        comment: of.text("comment"),
        timestamp: of.stamp("timestamp"),
        metadata: of.text("metadata"),
        row_json: None,
    }
}

fn status(word: Text) -> Status {
    match Status::parse(&word) {
        // An unknown status keeps its text as written. Reusing `word` saves an allocation of the same text.
        Status::Other(_) if word.trim() == &*word => Status::Other(word),
        known => known,
    }
}
