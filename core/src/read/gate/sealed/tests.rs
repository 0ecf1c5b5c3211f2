//! Tests that each changed column of a gate is found and named.

use super::*;
use crate::model::time::Stamp;
use crate::model::{GateStatus, Text};
use crate::read::gate::{columns, samples};

fn sealed(id: i64, kind: &str, mut metadata: Value) -> AuditEvent {
    metadata["chain"] = serde_json::json!({"seq": id, "prev": "", "hash": ""});
    let mut event = samples::event(id, kind);
    event.metadata = Some(metadata.to_string().into());
    event
}

/// Returns a gate that was created and rejected, with its log.
fn rejected() -> (Gate, Vec<AuditEvent>) {
    let mut gate = samples::gate("rejected");
    gate.prompt = Some("Go?".into());
    gate.timeout = Some("4h".into());
    gate.timeout_at = Some(Stamp::parse("2026-01-25 16:00:00"));
    gate.execution_id = Some(3);
    gate.on_reject = Some("throw \"no\"".into());
    gate.resolved = gate.created.clone();
    gate.resolved_by = Some("raymond".into());
    gate.comment = Some("not yet".into());
    gate.metadata = Some(r#"{"on_behalf_of":"ops-team","visit":2}"#.into());
    let columns = columns::GateColumns {
        execution_id: gate.execution_id,
        timeout: Some("4h".into()),
        timeout_at: gate.timeout_at.clone(),
        on_reject: gate.on_reject.as_deref().map(str::to_owned),
        metadata: Map::from_iter([("visit".to_owned(), 2.into())]),
    };
    let created = columns.created("Go?", &serde_json::json!(["ops-team"]));
    let decided = serde_json::json!({"on_behalf_of": "ops-team", "on_reject": "throw \"no\""});
    let mut decided = sealed(2, "rejected", decided);
    decided.principal = gate.resolved_by.clone();
    decided.comment = gate.comment.clone();
    (gate, vec![sealed(1, "created", created.into()), decided])
}

/// Returns the rule and column of each difference.
fn found(gates: &[Gate], log: &[AuditEvent]) -> Vec<(String, String)> {
    let issues = contradictions(gates, log);
    issues
        .into_iter()
        .map(|issue| (issue.rule, issue.location.column.unwrap_or_default()))
        .collect()
}

/// The column that must be reported, and the change of the gate that causes the report.
type Edit = (&'static str, fn(&mut Gate));

const EDITS: &[Edit] = &[
    ("run_id", |g| g.run_id = Some("r2".into())),
    ("execution_id", |g| g.execution_id = None),
    ("prompt", |g| g.prompt = Some("Stay?".into())),
    ("prompt", |g| g.prompt = None),
    ("allow", |g| {
        g.allow = Some(r#"["ops-team","mallory"]"#.into());
    }),
    ("allow", |g| g.allow = None),
    ("timeout", |g| g.timeout = Some("5h".into())),
    ("timeout_at", |g| g.timeout_at = None),
    ("on_reject", |g| g.on_reject = Some("continue".into())),
    ("status", |g| g.status = GateStatus::Approved),
    ("status", |g| g.status = GateStatus::Pending),
    ("status", |g| g.status = GateStatus::parse("paused")),
    ("created_at", |g| {
        g.created = Some(Stamp::parse("2026-01-25 12:00:01"));
    }),
    ("resolved_at", |g| g.resolved = Some(Stamp::parse("soon"))),
    ("resolved_by", |g| g.resolved_by = None),
    ("resolution_comment", |g| g.comment = Some("now".into())),
    ("metadata", |g| {
        g.metadata = Some(r#"{"on_behalf_of":"lee","visit":2}"#.into());
    }),
    ("metadata", |g| g.metadata = Some("nonsense".into())),
    ("metadata", |g| g.metadata = None),
];

#[test]
fn a_change_of_any_column_is_named() {
    let (gate, log) = rejected();
    assert_eq!(found(std::slice::from_ref(&gate), &log), []);
    for (column, edit) in EDITS {
        let mut changed = gate.clone();
        edit(&mut changed);
        let found = found(&[changed], &log);
        let named = found
            .iter()
            .any(|(rule, at)| rule == "gate-changed" && at == column);
        assert!(named, "{column}: {found:?}");
    }
}

/// Rows that earlier versions sealed record fewer columns; only the recorded columns are compared.
#[test]
fn rows_that_were_sealed_before_cover_fewer_columns() {
    let (gate, mut log) = rejected();
    let mut created: Value = serde_json::from_str(log[0].metadata.as_deref().unwrap()).unwrap();
    created.as_object_mut().unwrap().remove("columns");
    log[0].metadata = Some(created.to_string().into());
    assert_eq!(found(std::slice::from_ref(&gate), &log), []);
    for (column, edit) in EDITS {
        let mut changed = gate.clone();
        edit(&mut changed);
        let covered = !matches!(*column, "execution_id" | "timeout" | "timeout_at");
        assert_eq!(!found(&[changed], &log).is_empty(), covered, "{column}");
    }
}

/// Unsealed rows of other tools may record other principals than the gate does. Such a difference is not a
/// contradiction.
#[test]
fn rows_without_a_seal_are_no_measure() {
    let (mut gate, mut log) = rejected();
    gate.prompt = Some("Stay?".into());
    for row in &mut log {
        let text = row
            .metadata
            .as_deref()
            .map(|m| m.replace("\"chain\"", "\"note\""));
        row.metadata = text.map(Text::from);
    }
    assert_eq!(found(&[gate], &log), []);
    assert_eq!(found(&[], &log), []);
    // An `allow` list that is too long for the shortened metadata is found in the complete row.
    let (gate, mut log) = rejected();
    let metadata = log[0].metadata.take().unwrap();
    log[0].row_json = Some(
        serde_json::json!({ "metadata": &*metadata })
            .to_string()
            .into(),
    );
    log[0].metadata = metadata.get(..40).map(Text::from);
    assert_eq!(found(&[gate], &log), []);
    assert_eq!(found(&[], &log), [("gate-removed".into(), String::new())]);
}

#[test]
fn a_decision_needs_a_seal_where_the_creation_has_one() {
    let (gate, log) = rejected();
    let unsealed = ("gate-decision-unsealed".to_owned(), String::new());
    let at = |rule: &str, column: &str| (rule.to_owned(), column.to_owned());
    let told = |rows: &[AuditEvent]| found(std::slice::from_ref(&gate), rows);
    assert_eq!(told(&log[..1]), [at("gate-decision-unsealed", "status")]);
    let mut other = log[1].clone();
    other.metadata = None;
    let told_of = told(&[log[0].clone(), other.clone()]);
    assert_eq!(told_of, std::slice::from_ref(&unsealed));
    other.id = 3;
    assert_eq!(
        told(&[log[0].clone(), log[1].clone(), other.clone()]),
        [unsealed]
    );
    // If another tool created the gate, its decisions need no seal.
    assert_eq!(told(&log[1..]), []);
    assert_eq!(told(&[other]), []);
    // The log shows that the gate was created and decided twice.
    let mut again = log[1].clone();
    again.id = 4;
    let mut created = log[0].clone();
    created.id = 3;
    let found = told(&[log[0].clone(), log[1].clone(), created, again]);
    assert_eq!(
        found,
        [at("gate-changed", "id"), at("gate-changed", "status")]
    );
    let twice = self::found(&[gate.clone(), gate.clone()], &log);
    assert_eq!(twice, [at("gate-changed", "id")]);
    // A pending gate must not record a principal, a comment or a time of a decision.
    let mut pending = gate;
    pending.status = GateStatus::Pending;
    pending.metadata = Some(r#"{"visit":2}"#.into());
    let found = self::found(&[pending], &log[..1]);
    let columns: Vec<&str> = found.iter().map(|(_, column)| &**column).collect();
    assert_eq!(
        columns,
        ["resolved_by", "resolution_comment", "resolved_at"]
    );
}
