use crate::gate::visit;
use crate::model::{Execution, Gate, Status};
use crate::trace::{Shape, shape};
use crate::write::close::ending;
use crate::write::instance::{Instance, meta};
use crate::write::meta::Keys;
use crate::write::{At, Change, Facts, WriteError};

/// The row with which the execution that waits at a gate is over, once the gate is (errata, "Gates": the document never
/// completes it). Completed also when the gate was rejected: what follows from that is the program's `on_reject`, and
/// the gate says how it was decided. `taken` rows of the same plan have ids already.
///
/// Nothing when nothing waits: another tool may have left it out, completed it, or named another row (errata G2).
pub(super) fn over(
    facts: &dyn Facts,
    at: &At,
    gate: &Gate,
    decision: &str,
    taken: i64,
) -> Result<Vec<Change>, WriteError> {
    let Some(id) = gate.execution_id else {
        return Ok(Vec::new());
    };
    if !facts.execution(id)?.is_some_and(|row| waits_at(&row, gate)) {
        return Ok(Vec::new());
    }
    let instance = Instance::of(facts, id)?;
    if !instance.is_open() {
        return Ok(Vec::new());
    }
    let keys = Keys::default().text("decision", Some(decision));
    let mut changes = ending(facts, at, &instance, "completed", None, keys)?;
    for change in &mut changes {
        if let Change::Execution(row) = change {
            row.id = row.id.saturating_add(taken);
        }
    }
    Ok(changes)
}

/// Whether a row is one that waits at this gate, as [`crate::trace`] ties the two.
fn waits_at(row: &Execution, gate: &Gate) -> bool {
    match &meta(row).gate_id {
        Some(named) => visit(named).0 == visit(&gate.id).0,
        None => {
            shape(row) == Shape::Gate || matches!(row.status, Status::Pending | Status::Waiting)
        }
    }
}
