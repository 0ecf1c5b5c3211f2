use std::collections::BTreeSet;

use super::log::Log;
use crate::model::{AuditKind, GateStatus, Text};
use crate::record::instance::meta;
use crate::record::meta::MetaKeys;
use crate::record::{At, Change, Facts, WriteError};

/// Returns the ids of the gates at which a run continues, and the log rows that record this. These are the pending
/// gates, and the gates whose decision was the last event of the run (sqlite.md, "Gate Resolution from Suspended Run").
/// A pending gate gets a row whenever a run that was not running (`rested`) continues.
pub(in crate::record) fn resumed(
    facts: &Facts<'_>,
    at: &At,
    rested: bool,
) -> Result<(Vec<String>, Vec<Change>), WriteError> {
    let decided = decided_last(facts);
    let mut log = Log::open(facts, at)?;
    let (mut names, mut changes) = (Vec::new(), Vec::new());
    for gate in facts.gates() {
        let last = gate
            .execution_id
            .is_some_and(|id| decided.rows.contains(&id))
            || decided.gates.contains(&gate.id);
        let pending = gate.status == GateStatus::Pending;
        if !pending && !last {
            continue;
        }
        // A decided gate gets one row. A pending gate gets a further row only if the run was not running.
        if !(pending && rested) {
            let events = facts.gate_events(&gate.id)?;
            let last = events.last();
            if last.is_some_and(|event| event.kind == AuditKind::Resumed) {
                continue;
            }
        }
        let metadata = MetaKeys::default()
            .text("resume_source", Some(&at.client))
            .text("previous_status", Some(gate.status.word()));
        changes.push(log.system(&gate.id, AuditKind::Resumed, metadata.done())?);
        names.push(gate.id.to_string());
    }
    Ok((names, changes))
}

/// Returns the log rows for the pending gates of a run that is completed by force.
pub(in crate::record) fn forced_gates(
    facts: &Facts<'_>,
    at: &At,
) -> Result<Vec<Change>, WriteError> {
    let pending = facts
        .gates()
        .filter(|gate| gate.status == GateStatus::Pending);
    let mut log = Log::open(facts, at)?;
    pending
        .map(|gate| {
            let was = MetaKeys::default().text("previous_status", Some(gate.status.word()));
            log.system(&gate.id, AuditKind::Forced, was.done())
        })
        .collect()
}

/// The gates that the newest execution rows of a run are about: the ids of these rows, and the ids of the gates.
#[derive(Default)]
struct NewestGates {
    rows: BTreeSet<i64>,
    gates: BTreeSet<Text>,
}

/// Returns the gates of the newest execution rows, back to the first row that is not about a gate.
fn decided_last(facts: &Facts<'_>) -> NewestGates {
    let mut last = NewestGates::default();
    let newest = facts.rows().iter().rev();
    for row in newest.filter(|row| meta(row).reopened.is_none()) {
        let Some(gate) = meta(row).gate_id else { break };
        last.rows.insert(row.id);
        last.gates.insert(gate);
    }
    last
}
