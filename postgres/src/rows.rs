//! Converts rows of OpenProse's tables into the core's plain data, for writers.

use prosescope_core::decode::rows::meta_of;
use prosescope_core::model::{AuditEvent, AuditKind, Execution, Gate, GateStatus, Status};
use prosescope_core::time::Stamp;
use tokio_postgres::types::FromSql;
use tokio_postgres::{Error, Row};

/// The columns of the table `execution` that the function [`execution`] reads, in this order.
pub(crate) const EXECUTION: &str = "id::bigint, statement_index::bigint, statement_text, status, parent_id::bigint, \
     started_at::text, completed_at::text, error_message, metadata::text";

/// Converts a row with the columns [`EXECUTION`].
pub(crate) fn execution(row: &Row) -> Result<Execution, Error> {
    let text = |at| row.try_get::<_, Option<&str>>(at);
    Ok(Execution {
        id: row.try_get(0)?,
        index: row.try_get(1)?,
        text: text(2)?.unwrap_or_default().into(),
        status: Status::parse(text(3)?.unwrap_or_default()),
        parent: row.try_get(4)?,
        started: stamp(row, 5)?,
        completed: stamp(row, 6)?,
        error: text(7)?.map(Into::into),
        meta: text(8)?.and_then(meta_of),
    })
}

/// The columns of the table `gates` that the function [`gate`] reads, in this order.
pub(crate) const GATE: &str = "id, run_id, execution_id::bigint, prompt, allow, timeout, timeout_at::text, on_reject, \
     status, created_at::text, resolved_at::text, resolved_by, resolution_comment, metadata::text";

/// Converts a row with the columns [`GATE`].
pub(crate) fn gate(row: &Row) -> Result<Gate, Error> {
    let text = |at| row.try_get::<_, Option<&str>>(at);
    Ok(Gate {
        id: text(0)?.unwrap_or_default().into(),
        run_id: text(1)?.map(Into::into),
        execution_id: row.try_get(2)?,
        source_execution_id: None,
        prompt: text(3)?.map(Into::into),
        allow: text(4)?.map(Into::into),
        timeout: text(5)?.map(Into::into),
        timeout_at: stamp(row, 6)?,
        on_reject: text(7)?.map(Into::into),
        status: GateStatus::parse(text(8)?.unwrap_or_default()),
        created: stamp(row, 9)?,
        resolved: stamp(row, 10)?,
        resolved_by: text(11)?.map(Into::into),
        comment: text(12)?.map(Into::into),
        metadata: text(13)?.map(Into::into),
    })
}

/// The columns of the table `gate_audit_log` that the function [`event`] reads, in this order.
pub(crate) const EVENT: &str =
    "id, gate_id, run_id, event_type, principal, comment, timestamp::text, metadata";
const EVENT_NAMES: [&str; 8] = [
    "id",
    "gate_id",
    "run_id",
    "event_type",
    "principal",
    "comment",
    "timestamp",
    "metadata",
];

/// Converts a row with the columns [`EVENT`]. The result contains the whole row, because a decision compares the row
/// with its seal.
pub(crate) fn event(row: &Row) -> Result<AuditEvent, Error> {
    let text = |at| row.try_get::<_, Option<&str>>(at);
    let mut columns = serde_json::Map::new();
    columns.insert("id".to_owned(), row.try_get::<_, i64>(0)?.into());
    for (at, name) in EVENT_NAMES.iter().enumerate().skip(1) {
        columns.insert((*name).to_owned(), text(at)?.into());
    }
    Ok(AuditEvent {
        id: row.try_get(0)?,
        gate_id: text(1)?.unwrap_or_default().into(),
        run_id: text(2)?.unwrap_or_default().into(),
        kind: AuditKind::parse(text(3)?.unwrap_or_default()),
        principal: text(4)?.map(Into::into),
        comment: text(5)?.map(Into::into),
        timestamp: stamp(row, 6)?,
        metadata: text(7)?.map(Into::into),
        row_json: Some(serde_json::Value::Object(columns).to_string().into()),
    })
}

/// Returns a time from a row. The session's zone must be UTC.
pub(crate) fn stamp(row: &Row, at: usize) -> Result<Option<Stamp>, Error> {
    Ok(get::<Option<&str>>(row, at)?.map(|text| Stamp::parse(without_zone(text))))
}

/// Removes the zone of a time such as `2026-01-15 14:30:52+00`. OpenProse's format has no zone.
pub(crate) fn without_zone(text: &str) -> &str {
    text.strip_suffix("+00").unwrap_or(text)
}

/// Returns the cell of a row at a position.
pub(crate) fn get<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, Error> {
    row.try_get(at)
}
