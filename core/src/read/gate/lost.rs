//! Detects that the audit log of a run, or its end, was deleted. An execution that waits at a gate records the place of
//! the gate's creation in the log's chain (`audit_seq`). If the log has no such place, it was deleted.

use std::collections::{BTreeMap, BTreeSet};

use super::audit::{Chain, Finding};
use crate::model::text::cut;
use crate::model::{Execution, Gate, Run};

/// How many characters of a gate's id a message shows.
const SHOWN: usize = 60;

/// Returns the place in the log's chain that an execution records (`audit_seq`), if the execution waits at this gate.
pub(crate) fn place(gate: &Gate, execution: &Execution) -> Option<i64> {
    let meta = execution.meta.as_deref()?;
    let own = meta.gate_id.as_deref() == Some(&*gate.id);
    meta.audit_seq.filter(|_| own)
}

/// Describes the evidence that the run had an audit log.
pub(crate) fn evidence(gate: &str, execution: i64, place: i64) -> String {
    let gate = cut(gate, SHOWN);
    format!(
        "execution {execution} refers to place {place} of the log's chain, the creation of gate {gate}"
    )
}

/// Returns one finding for each run whose log was deleted or lacks its end, with its newest gate as evidence. The
/// gate's own record may be gone, too. A run without such a gate may never have had a log.
pub(crate) fn logs(run: &Run) -> Vec<Finding> {
    // The last place of each log's chain; 0 without a sealed row.
    let mut ends: BTreeMap<&str, u64> = BTreeMap::new();
    for event in &run.audit {
        let chain = event.metadata.as_deref().and_then(Chain::of_metadata);
        let end = ends.entry(&event.run_id).or_default();
        *end = chain.map_or(0, |chain| chain.seq).max(*end);
    }
    let of_run: BTreeMap<&str, &str> = run
        .gates
        .iter()
        .filter_map(|gate| Some((&*gate.id, gate.run_id.as_deref()?)))
        .collect();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    let mut gone = Vec::new();
    for row in run.executions.iter().rev() {
        let meta = row.meta.as_deref();
        let gate = meta.and_then(|meta| Some((meta.gate_id.as_deref()?, meta.audit_seq?)));
        let Some((gate, place)) = gate else { continue };
        let of = of_run.get(gate).copied().unwrap_or(&run.id);
        if !done.insert(of) {
            continue;
        }
        let why = evidence(gate, row.id, place);
        let (rule, what) = match ends.get(of) {
            None => (
                "audit-log-gone",
                "the audit log is gone: it is empty".to_owned(),
            ),
            Some(end) if *end > 0 && i64::try_from(*end).is_ok_and(|end| end < place) => (
                "audit-tail-cut",
                format!("the end of the audit log is gone: it ends with place {end}"),
            ),
            Some(_) => continue,
        };
        gone.push(Finding::of_rule(None, rule, format!("{what}, but {why}")));
    }
    gone
}
