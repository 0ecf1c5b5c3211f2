//! Events, imports, gates and audit rows of a run folder, as [`crate::decode::gates_json`] reads them.

use serde_json::{Map, Value};

use crate::change::{AuditRow, ExecutionRow, GateResolution, GateRow, ImportRow};

/// A line of `x_events.jsonl`, its line break included. It begins with the id.
pub fn event(row: &ExecutionRow) -> String {
    let mut line = Object::default();
    line.number("id", Some(row.id));
    line.number("statement_index", row.index);
    line.text("statement_text", Some(&row.text));
    line.text("status", Some(&row.status));
    line.text("started_at", row.started.as_deref());
    line.text("completed_at", row.completed.as_deref());
    line.text("error_message", row.error.as_deref());
    line.number("parent_id", row.parent);
    line.object("metadata", row.metadata.clone());
    line.line()
}

/// A line of `gates/audit.jsonl`, its line break included.
pub fn audit(row: &AuditRow) -> String {
    let mut line = Object::default();
    line.number("id", Some(row.id));
    line.text("gate_id", Some(&row.gate_id));
    line.text("run_id", Some(&row.run_id));
    line.text("event_type", Some(&row.event));
    line.text("principal", written(&row.principal));
    line.text("comment", row.comment.as_deref());
    line.text("timestamp", written(&row.at));
    // As the table's TEXT: what the chain's hash was taken over stays as it is, letter by letter.
    line.text("metadata", written(&row.metadata));
    line.line()
}

/// A line of `x_imports.jsonl`, its line break included.
pub fn import(row: &ImportRow) -> String {
    let mut line = Object::default();
    line.text("alias", Some(&row.alias));
    line.text("source_url", written(&row.source_url));
    line.text("fetched_at", written(&row.fetched));
    line.text("inputs_schema", row.inputs_schema.as_deref());
    line.text("outputs_schema", row.outputs_schema.as_deref());
    line.line()
}

/// The file of a pending gate.
pub fn pending(row: &GateRow) -> String {
    let mut file = Object::default();
    file.text("id", Some(&row.id));
    file.text("gate_id", Some(&row.id));
    file.text("run_id", Some(&row.run_id));
    file.number("execution_id", row.execution_id);
    file.text("prompt", row.prompt.as_deref());
    let allow = serde_json::from_str(&row.allow).unwrap_or_else(|_| row.allow.as_str().into());
    file.0.push(("allow", allow));
    file.text("timeout", row.timeout.as_deref());
    file.text("timeout_at", row.timeout_at.as_deref());
    file.text("on_reject", row.on_reject.as_deref());
    file.text("status", Some("pending"));
    file.text("created_at", written(&row.created));
    file.object("metadata", row.metadata.clone());
    file.file()
}

/// The file of a gate that was decided. `pending` is the text of its other file: keys of its metadata stay.
pub fn resolved(row: &GateResolution, pending: Option<&str>) -> String {
    let mut file = Object::default();
    file.text("id", Some(&row.id));
    file.text("gate_id", Some(&row.id));
    file.text("run_id", Some(&row.run_id));
    file.text("decision", Some(&row.status));
    file.text("principal", written(&row.by));
    file.text("timestamp", written(&row.at));
    file.text("comment", row.comment.as_deref());
    file.text("status", Some(&row.status));
    file.text("resolved_at", written(&row.at));
    file.text("resolved_by", written(&row.by));
    file.text("resolution_comment", row.comment.as_deref());
    let before = pending.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let mut metadata = match before.as_ref().and_then(|file| file.get("metadata")) {
        Some(Value::Object(metadata)) => metadata.clone(),
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        _ => Map::new(),
    };
    metadata.extend(row.metadata.clone());
    file.object("metadata", metadata);
    file.file()
}

/// What is empty was not recorded.
fn written(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// A JSON object; what is not recorded is left out of it.
#[derive(Default)]
struct Object(Vec<(&'static str, Value)>);

impl Object {
    fn text(&mut self, key: &'static str, value: Option<&str>) {
        self.0.extend(value.map(|value| (key, value.into())));
    }

    fn number(&mut self, key: &'static str, value: Option<i64>) {
        self.0.extend(value.map(|value| (key, value.into())));
    }

    fn object(&mut self, key: &'static str, value: Map<String, Value>) {
        if !value.is_empty() {
            self.0.push((key, Value::Object(value)));
        }
    }

    /// On one line, the keys in their order.
    fn line(&self) -> String {
        let pairs = self.0.iter();
        let pairs: Vec<String> = pairs
            .map(|(key, value)| format!("\"{key}\":{value}"))
            .collect();
        format!("{{{}}}\n", pairs.join(","))
    }

    fn file(self) -> String {
        let pairs = self.0.into_iter();
        let value = Value::Object(pairs.map(|(key, value)| (key.to_owned(), value)).collect());
        let text = serde_json::to_string_pretty(&value).unwrap_or_else(|_| value.to_string());
        text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::decode::gates_json as decode;
    use crate::gate::audit::{Chain, FIRST};
    use crate::model::{GateStatus, Status};

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn an_event_is_read_as_the_row_that_was_written() {
        let row = ExecutionRow {
            id: 7,
            index: Some(3),
            text: "let a = session \"A\n\u{2028}\"".into(),
            status: "failed".into(),
            completed: Some("2026-01-15T15:00:00Z".into()),
            error: Some("it's \"broken\"".into()),
            parent: Some(2),
            metadata: map(json!({"parallel_id": "p2", "branch": "a"})),
            ..ExecutionRow::default()
        };
        let line = event(&row);
        assert!(
            line.starts_with("{\"id\":7,") && line.lines().count() == 1,
            "{line}"
        );
        let (rows, issues) = decode::events(&line);
        assert_eq!(issues, []);
        let read = &rows[0];
        assert_eq!((read.id, read.index, read.parent), (7, Some(3), Some(2)));
        assert_eq!(
            (&*read.text, &read.status),
            (row.text.as_str(), &Status::Failed)
        );
        assert_eq!(read.error.as_deref(), row.error.as_deref());
        assert_eq!(
            (read.started.is_none(), read.completed.is_some()),
            (true, true)
        );
        let meta = read.meta.as_ref().unwrap();
        assert_eq!(
            (meta.parallel_id.as_deref(), meta.branch.as_deref()),
            (Some("p2"), Some("a"))
        );
    }

    #[test]
    fn a_gate_is_read_as_the_rows_that_were_written() {
        let row = GateRow {
            id: "deploy#2".into(),
            run_id: "r".into(),
            execution_id: Some(7),
            prompt: Some("Go?".into()),
            allow: r#"["user","ops"]"#.into(),
            timeout: Some("4h".into()),
            timeout_at: Some("2026-01-15T18:00:00Z".into()),
            on_reject: Some("throw".into()),
            created: "2026-01-15T14:00:00Z".into(),
            metadata: map(json!({"gate": "deploy", "visit": 2})),
        };
        let first = pending(&row);
        let (gate, issues) = decode::gate("deploy#2", Some(&first), None);
        let gate = gate.unwrap();
        assert_eq!((issues.len(), &gate.status), (0, &GateStatus::Pending));
        assert_eq!(
            (&*gate.id, gate.allow.as_deref()),
            ("deploy#2", Some(row.allow.as_str()))
        );
        assert_eq!(
            gate.metadata.as_deref(),
            Some(r#"{"gate":"deploy","visit":2}"#)
        );

        let decided = GateResolution {
            id: row.id.clone(),
            run_id: row.run_id,
            status: "timeout".into(),
            at: "2026-01-15T18:00:00Z".into(),
            by: "system".into(),
            comment: None,
            metadata: map(json!({"on_behalf_of": "ops"})),
        };
        let (gate, issues) = decode::gate(
            "deploy#2",
            Some(&first),
            Some(&resolved(&decided, Some(&first))),
        );
        let gate = gate.unwrap();
        assert_eq!((issues.len(), gate.status), (0, GateStatus::Timeout));
        assert_eq!(gate.resolved_by.as_deref(), Some("system"));
        assert_eq!(
            (gate.execution_id, gate.prompt.as_deref()),
            (Some(7), Some("Go?"))
        );
        assert_eq!(
            gate.metadata.as_deref(),
            Some(r#"{"gate":"deploy","on_behalf_of":"ops","visit":2}"#)
        );
    }

    #[test]
    fn an_audit_row_keeps_its_metadata_letter_by_letter() {
        let metadata = r#"{"a":1.0,"chain":{"hash":"x"}}"#;
        let row = AuditRow {
            id: 3,
            gate_id: "g".into(),
            run_id: "r".into(),
            event: "approved".into(),
            principal: "me".into(),
            comment: Some("ok".into()),
            at: "2026-01-15T14:00:00Z".into(),
            metadata: metadata.into(),
            chain: Chain {
                seq: 1,
                prev: FIRST.into(),
                hash: "x".into(),
                id: None,
            },
        };
        let (events, issues) = decode::audit(&audit(&row));
        assert_eq!((issues.len(), events[0].id), (0, 3));
        assert_eq!(events[0].metadata.as_deref(), Some(metadata));
        assert_eq!(events[0].comment.as_deref(), Some("ok"));
    }
}
