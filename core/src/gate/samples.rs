//! The gate that this module's tests are about.

use crate::model::{AuditEvent, AuditKind, Gate, GateStatus};
use crate::time::Stamp;

/// A gate of that status, its deadline and decision left open.
pub(super) fn gate(status: &str) -> Gate {
    Gate {
        id: "deploy".into(),
        run_id: Some("r1".into()),
        execution_id: None,
        source_execution_id: None,
        prompt: None,
        allow: Some(r#"["ops-team"]"#.into()),
        timeout: None,
        timeout_at: None,
        on_reject: None,
        status: GateStatus::parse(status),
        created: Some(Stamp::parse("2026-01-25 12:00:00")),
        resolved: None,
        resolved_by: None,
        comment: None,
        metadata: None,
    }
}

/// An event of that gate.
pub(super) fn event(id: i64, kind: &str) -> AuditEvent {
    AuditEvent {
        id,
        gate_id: "deploy".into(),
        run_id: "r1".into(),
        kind: AuditKind::parse(kind),
        principal: None,
        comment: None,
        timestamp: Some(Stamp::parse("2026-01-25 12:00:00")),
        metadata: None,
        row_json: None,
    }
}
