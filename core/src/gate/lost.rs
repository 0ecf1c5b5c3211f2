//! Detects that the audit log of a run was deleted. An execution that waits at a gate records the place of the gate's
//! creation in the log's chain (`audit_seq`). If the log is empty although an execution records such a place, the log
//! was deleted.

use std::collections::BTreeSet;

use super::audit::Finding;
use crate::model::{AuditEvent, Execution, Gate};
use crate::text::cut;

/// How many characters of a gate's id a message shows.
const SHOWN: usize = 60;

/// Returns the place in the log's chain that an execution records (`audit_seq`), if the execution waits at this gate.
pub(crate) fn place(gate: &Gate, execution: &Execution) -> Option<i64> {
    let meta = execution.meta.as_deref()?;
    let own = meta.gate_id.as_deref() == Some(&*gate.id);
    meta.audit_seq.filter(|_| own)
}

/// Describes the evidence that the run had an audit log.
pub(crate) fn evidence(gate: &Gate, execution: i64, place: i64) -> String {
    let gate = cut(&gate.id, SHOWN);
    format!(
        "execution {execution} refers to place {place} of the log's chain, the creation of gate {gate}"
    )
}

/// Returns one finding for each run whose log was deleted, with its newest gate as evidence. A run without such a gate
/// may never have had a log.
pub(crate) fn logs(gates: &[Gate], executions: &[Execution], log: &[AuditEvent]) -> Vec<Finding> {
    let mut done: BTreeSet<&str> = log.iter().map(|event| &*event.run_id).collect();
    let mut gone = Vec::new();
    for gate in gates.iter().rev() {
        let Some((run, id)) = gate.run_id.as_deref().zip(gate.execution_id) else {
            continue;
        };
        if done.contains(run) {
            continue;
        }
        let at = executions.binary_search_by_key(&id, |row| row.id).ok();
        let place = at
            .and_then(|at| executions.get(at))
            .and_then(|row| place(gate, row));
        if let Some(place) = place {
            done.insert(run);
            let why = evidence(gate, id, place);
            let message = format!("the audit log is gone: it is empty, but {why}");
            gone.push(Finding::of_rule(None, "audit-log-gone", message));
        }
    }
    gone
}
