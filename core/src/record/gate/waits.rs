use super::log::{Log, NewAuditRow};
use crate::model::visit;
use crate::model::{Execution, Gate, Status};
use crate::record::end::ending;
use crate::record::instance::{Instance, meta};
use crate::record::meta::MetaKeys;
use crate::record::{At, Change, Facts, GateResolution, WriteError};
use crate::trace::{RowShape, shape};

/// Returns the changes that end the waiting at a gate: a row of the audit log, the gate's new status, and the closing
/// row of the waiting execution. The log row and the gate also get the metadata keys in `own`.
pub(super) fn resolved(
    facts: &Facts<'_>,
    at: &At,
    gate: &Gate,
    log: &mut Log<'_>,
    mut event: NewAuditRow<'_>,
    own: MetaKeys,
) -> Result<Vec<Change>, WriteError> {
    let status = event.kind.word().to_owned();
    let own = own.done();
    let was = MetaKeys::default().text("previous_status", Some(gate.status.word()));
    event.metadata.extend(was.done());
    event.metadata.extend(own.clone());
    let over = over(facts, at, gate, &status)?;
    let resolution = GateResolution {
        id: gate.id.to_string(),
        run_id: facts.run().id,
        status,
        at: at.text(facts.style()),
        by: event.principal.to_owned(),
        comment: event.comment.map(str::to_owned),
        metadata: own,
    };
    let changes = [log.add(event)?, Change::ResolveGate(resolution)];
    Ok(changes.into_iter().chain(over).collect())
}

/// Returns the changes that complete the execution that waits at a decided gate (errata G13: OpenProse never completes
/// this execution). A rejection completes the execution, too: the gate records the decision, and the program's
/// `on_reject` decides what follows.
///
/// Returns no change if no execution waits: another tool may have recorded none, completed it, or recorded another row
/// (errata G2).
fn over(
    facts: &Facts<'_>,
    at: &At,
    gate: &Gate,
    decision: &str,
) -> Result<Vec<Change>, WriteError> {
    let Some(id) = gate.execution_id else {
        return Ok(Vec::new());
    };
    if !facts.execution(id).is_some_and(|row| waits_at(row, gate)) {
        return Ok(Vec::new());
    }
    let instance = Instance::of(facts, id)?;
    if !instance.is_open() {
        return Ok(Vec::new());
    }
    let keys = MetaKeys::default().text("decision", Some(decision));
    ending(facts, at, &instance, "completed", None, keys)
}

/// Returns whether a row waits at this gate, by the same test as [`crate::trace`].
fn waits_at(row: &Execution, gate: &Gate) -> bool {
    match &meta(row).gate_id {
        Some(named) => visit(named).0 == visit(&gate.id).0,
        None => {
            shape(row) == RowShape::Gate || matches!(row.status, Status::Pending | Status::Waiting)
        }
    }
}
