//! Provides a sample gate and its audit events for the tests of this module.

use crate::model::time::Stamp;
use crate::model::{AuditEvent, AuditKind, Gate, GateRecord, GateStatus};

/// Returns a gate with this status, without deadline and decision.
pub(super) fn gate(status: &str) -> Gate {
    Gate {
        id: "deploy".into(),
        recorded: GateRecord::Own,
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

/// Returns an audit event of the sample gate.
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
