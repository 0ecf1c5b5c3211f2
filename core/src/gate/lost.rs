//! Whether the audit log of a run is gone: an execution of ours that waits at a gate names the place that the gate's creation has
//! in the log's chain (`audit_seq`), and the log has no row.

use std::collections::BTreeSet;

use super::audit::Finding;
use crate::model::{AuditEvent, Execution, Gate};
use crate::text::cut;

/// How many characters of a gate's id a message shows.
const SHOWN: usize = 60;

/// The place of the log's chain that an execution names for the creation of a gate, when it waits at that gate.
pub(crate) fn place(gate: &Gate, execution: &Execution) -> Option<i64> {
    let meta = execution.meta.as_deref()?;
    let own = meta.gate_id.as_deref() == Some(&*gate.id);
    meta.audit_seq.filter(|_| own)
}

/// What shows that there was a log, in words.
pub(crate) fn evidence(gate: &Gate, execution: i64, place: i64) -> String {
    let gate = cut(&gate.id, SHOWN);
    format!(
        "execution {execution} names place {place} of its chain for the creation of gate {gate}"
    )
}

/// The logs that are gone: one finding a run, by its newest gate. A run without such a gate may never have had a log.
pub(crate) fn logs(gates: &[Gate], executions: &[Execution], log: &[AuditEvent]) -> Vec<Finding> {
    let mut told: BTreeSet<&str> = log.iter().map(|event| &*event.run_id).collect();
    let mut gone = Vec::new();
    for gate in gates.iter().rev() {
        let Some((run, id)) = gate.run_id.as_deref().zip(gate.execution_id) else {
            continue;
        };
        if told.contains(run) {
            continue;
        }
        let at = executions.binary_search_by_key(&id, |row| row.id).ok();
        let place = at
            .and_then(|at| executions.get(at))
            .and_then(|row| place(gate, row));
        if let Some(place) = place {
            told.insert(run);
            let why = evidence(gate, id, place);
            let message = format!("the audit log is gone: it has no row, and {why}");
            gone.push(Finding::of_rule(None, "audit-log-gone", message));
        }
    }
    gone
}
