//! Writes events, imports, gates and audit rows of a run folder in the form that [`crate::read::decode::gates_json`]
//! reads.

use serde_json::{Map, Value};

use crate::model::change::{AuditRow, Columns, ExecutionRow, GateResolution, GateRow, ImportRow};
use crate::read::decode::gates_json::ALIKE;

/// Returns a line of `x_events.jsonl`, including the line break. The line begins with the id.
pub fn event(row: &ExecutionRow) -> String {
    line(row.columns())
}

/// Returns a line of `gates/audit.jsonl`, including the line break.
pub fn audit(row: &AuditRow) -> String {
    line(row.columns())
}

/// Returns a line of `x_imports.jsonl`, including the line break.
pub fn import(row: &ImportRow) -> String {
    line(row.columns())
}

/// Returns the content of a pending gate's file.
pub fn pending(row: &GateRow) -> String {
    let mut file = row.columns();
    let allow = serde_json::from_str(&row.allow).unwrap_or_else(|_| row.allow.as_str().into());
    file.retain(|(column, _)| *column != "allow");
    file.extend([("allow", allow), ("gate_id", row.id.as_str().into())]);
    whole(file)
}

/// Returns the content of a decided gate's file. `pending` is the text of the gate's pending file, whose metadata is
/// kept.
pub fn resolved(row: &GateResolution, pending: Option<&str>) -> String {
    let mut file = row.columns();
    for [column, alike] in ALIKE {
        let same = file.iter().find(|(own, _)| *own == column);
        let same = same.map(|(_, value)| (alike, value.clone()));
        file.extend(same);
    }
    file.push(("run_id", row.run_id.as_str().into()));
    let before = pending.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let mut metadata = match before.as_ref().and_then(|file| file.get("metadata")) {
        Some(Value::Object(metadata)) => metadata.clone(),
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        _ => Map::new(),
    };
    metadata.extend(row.metadata.clone());
    if !metadata.is_empty() {
        file.push(("metadata", metadata.into()));
    }
    whole(file)
}

/// Writes an object on one line with its keys in order. NULL values are left out.
fn line(columns: Columns) -> String {
    let recorded = columns.into_iter().filter(|(_, value)| !value.is_null());
    let pairs: Vec<String> = recorded
        .map(|(key, value)| format!("\"{key}\":{value}"))
        .collect();
    format!("{{{}}}\n", pairs.join(","))
}

/// Writes an object as a file with sorted keys. NULL values are left out.
fn whole(columns: Columns) -> String {
    let recorded = columns.into_iter().filter(|(_, value)| !value.is_null());
    let mut value = Value::Object(
        recorded
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    );
    value.sort_all_objects();
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{GateStatus, Status};
    use crate::read::decode::gates_json as decode;

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
        };
        let (events, issues) = decode::audit(&audit(&row));
        assert_eq!((issues.len(), events[0].id), (0, 3));
        assert_eq!(events[0].metadata.as_deref(), Some(metadata));
        assert_eq!(events[0].comment.as_deref(), Some("ok"));
    }
}
