//! Converts the gates of a run and its audit log.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Carry, CopyLoss, names_a_file, odd_keys, stamp, stamped, text};
use crate::model::schema;
use crate::model::time::Stamp;
use crate::model::{AuditEvent, Gate, GateStatus};
use crate::record::{AuditRow, Change, ExecutionRow, GateResolution, GateRow};

impl Carry<'_, '_> {
    /// Converts gates that have a row or a file. Other gates are only in the state file.
    pub(super) fn gates(&mut self) -> Vec<Change> {
        let run = &self.session.run;
        let mut changes = Vec::new();
        let mut names = BTreeSet::new();
        for gate in run.recorded_gates() {
            let run_id = text(&gate.run_id).unwrap_or_else(|| run.id.to_string());
            let (new, why) = if self.to_folder {
                (
                    names_a_file(&gate.id) && names.insert((String::new(), gate.id.to_lowercase())),
                    "not copied: a file cannot have the gate's name, or another gate has the same name",
                )
            } else {
                (
                    names.insert((run_id.clone(), gate.id.to_string())),
                    "not copied: another gate has the same name",
                )
            };
            if !new {
                self.left(format!("gate {} of run {run_id}", gate.id), why);
                continue;
            }
            changes.extend(self.gate(gate, run_id));
        }
        changes
    }

    /// Returns the execution that waited at a gate. The rows of a hand-written state file have numbers of their own.
    fn waits_at(&self, gate: &Gate) -> Option<i64> {
        if self.by_hand.rows.is_empty() {
            return gate.execution_id;
        }
        let of_gate = |row: &&ExecutionRow| {
            let own = row.metadata.get("gate_id").and_then(Value::as_str);
            own == Some(&*gate.id)
        };
        self.by_hand.rows.iter().find(of_gate).map(|row| row.id)
    }

    fn gate(&mut self, gate: &Gate, run_id: String) -> Vec<Change> {
        let to_folder = self.to_folder;
        let place = || format!("gate {} of run {run_id}", gate.id);
        let metadata = self.metadata(place, gate.metadata.as_deref());
        // Deadlines are written in UTC, because SQL compares them as text with the current time in UTC.
        let in_utc = |at: &Stamp| at.millis().map_or_else(|| at.clone(), Stamp::At);
        let deadline = gate.timeout_at.as_ref().map(in_utc);
        let mut changes = vec![Change::Gate(GateRow {
            id: gate.id.to_string(),
            run_id: run_id.clone(),
            execution_id: self.waits_at(gate),
            prompt: text(&gate.prompt),
            // A missing list of principals means `["user"]` (errata G4).
            allow: text(&gate.allow).unwrap_or_else(|| "[\"user\"]".to_owned()),
            timeout: text(&gate.timeout),
            timeout_at: stamped(deadline.as_ref(), to_folder),
            on_reject: text(&gate.on_reject),
            created: stamp(gate.created.as_ref(), to_folder),
            metadata,
        })];
        if gate.status != GateStatus::Pending {
            changes.push(Change::ResolveGate(GateResolution {
                id: gate.id.to_string(),
                run_id,
                status: gate.status.word().to_owned(),
                at: stamp(gate.resolved.as_ref(), to_folder),
                by: text(&gate.resolved_by).unwrap_or_default(),
                comment: text(&gate.comment),
                metadata: Map::new(),
            }));
        }
        changes
    }

    pub(super) fn audit(&mut self) -> Vec<Change> {
        let (mut changes, mut ids) = (Vec::new(), BTreeSet::new());
        for event in &self.session.run.audit {
            if !ids.insert(event.id) {
                let place = format!("row {} of the audit log", event.id);
                self.left.push(CopyLoss::new(
                    place,
                    "not copied: another row has the same id",
                ));
                continue;
            }
            let row: Option<Map<String, Value>> = event
                .row_json
                .as_deref()
                .and_then(|row| serde_json::from_str(row).ok());
            // `Carry::tables` reports unknown columns of a database, once per table.
            if self.session.values.db.is_none()
                && let Some(row) = &row
            {
                let place = format!("gates/audit.jsonl, row {}", event.id);
                let odd = odd_keys(place, row.keys(), schema::GATE_AUDIT_LOG, &[]);
                self.left.extend(odd);
            }
            changes.push(Change::Audit(audit(event, row.as_ref())));
        }
        changes
    }
}

/// Converts a row of the audit log without changing any character, because its hash covers the text.
fn audit(event: &AuditEvent, row: Option<&Map<String, Value>>) -> AuditRow {
    let get = |key: &str| {
        let value = row?.get(key)?;
        value.as_str().map(str::to_owned)
    };
    AuditRow {
        id: event.id,
        gate_id: event.gate_id.to_string(),
        run_id: event.run_id.to_string(),
        event: get("event_type").unwrap_or_else(|| event.kind.word().to_owned()),
        principal: get("principal")
            .or(text(&event.principal))
            .unwrap_or_default(),
        comment: get("comment").or(text(&event.comment)),
        at: get("timestamp")
            .or(event.timestamp.as_ref().map(Stamp::to_string))
            .unwrap_or_default(),
        metadata: get("metadata")
            .or(text(&event.metadata))
            .unwrap_or_default(),
    }
}
