//! Ties the gates of a run to instances (executions). The table `gates` takes precedence over execution rows (errata
//! T7, errata G1).

use std::collections::{BTreeMap, VecDeque};

use super::rows::OrderedRows;
use super::sweep::{Inst, InstanceKind};
use super::{Node, NodeKind, NodeStatus};
use crate::model::visit;
use crate::model::{Gate, GateStatus, Run, Status};

/// Returns the node status for a gate's row.
pub(super) fn status(gate: &Gate) -> NodeStatus {
    status_word(&gate.status)
}

/// Returns the node status for a gate's status.
pub(super) fn status_word(status: &GateStatus) -> NodeStatus {
    match status {
        GateStatus::Pending => NodeStatus::Pending,
        GateStatus::Approved => NodeStatus::Approved,
        GateStatus::Rejected => NodeStatus::Rejected,
        GateStatus::Timeout => NodeStatus::Timeout,
        GateStatus::Other(word) => NodeStatus::Other(word.clone()),
    }
}

/// The ties between gates and instances.
#[derive(Default)]
pub(super) struct GateTies {
    /// The gate of each tied instance, as an index in [`Run::gates`]. The key is the instance's index.
    pub(super) of_inst: BTreeMap<u32, usize>,
    /// Gates that no row refers to, as indices in [`Run::gates`].
    pub(super) alone: Vec<usize>,
}

impl GateTies {
    /// Returns all gates of a run as untied. Gates whose `run_id` is that of another run come last.
    pub(super) fn of_all(run: &Run) -> GateTies {
        let mut alone: Vec<usize> = (0..run.gates.len()).collect();
        alone.sort_by_key(|at| run.gates.get(*at).is_some_and(|gate| is_foreign(run, gate)));
        GateTies {
            alone,
            ..GateTies::default()
        }
    }
}

/// Ties the gates table to instances: by `execution_id`, then by name, then by name without the visit number. A
/// waiting statement becomes a gate if a gate refers to it by `execution_id`.
pub(super) fn tie<'a>(
    run: &'a Run,
    rows: &OrderedRows<'a>,
    insts: &mut [Inst<'a>],
    of_row: &[u32],
) -> GateTies {
    let mut ties = GateTies::default();
    let mut by_name_of: BTreeMap<&str, VecDeque<u32>> = BTreeMap::new();
    for (at, inst) in insts.iter().enumerate() {
        if let InstanceKind::Gate(name) = inst.kind {
            by_name_of.entry(name).or_default().push_back(at as u32);
        }
    }
    let foreign = |gate: &Gate| is_foreign(run, gate);
    let mut left = GateTies::of_all(run).alone;
    left.retain(|at| {
        let Some((gate, inst_at)) = run.gates.get(*at).and_then(|gate| {
            let pos = rows.find(gate.execution_id?)?;
            Some((gate, *of_row.get(pos as usize)?))
        }) else {
            return true;
        };
        let Some(inst) = insts.get_mut(inst_at as usize) else {
            return true;
        };
        let waits = rows
            .get(inst.last)
            .is_some_and(|row| matches!(row.status, Status::Pending | Status::Waiting));
        let fits = match inst.kind {
            InstanceKind::Gate(name) => visit(name).0 == visit(&gate.id).0,
            InstanceKind::Statement => waits && !foreign(gate),
            _ => false,
        };
        if !fits || ties.of_inst.contains_key(&inst_at) {
            return true;
        }
        inst.kind = InstanceKind::Gate(&gate.id);
        ties.of_inst.insert(inst_at, *at);
        false
    });
    ties.alone = left;
    by_name(run, by_name_of, ties)
}

/// Ties the remaining gates to instances of the same name, in order. A second pass ignores the visit number in a
/// gate's id.
pub(super) fn by_name(
    run: &Run,
    mut names: BTreeMap<&str, VecDeque<u32>>,
    mut ties: GateTies,
) -> GateTies {
    let GateTies { of_inst, alone } = &mut ties;
    for by_base in [false, true] {
        alone.retain(|at| {
            let Some(gate) = run.gates.get(*at) else {
                return false;
            };
            let name = if by_base { visit(&gate.id).0 } else { &gate.id };
            let free = names.get_mut(name).and_then(|insts| {
                while let Some(inst) = insts.pop_front() {
                    if !of_inst.contains_key(&inst) {
                        return Some(inst);
                    }
                }
                None
            });
            if let Some(inst) = free {
                of_inst.insert(inst, *at);
            }
            free.is_none()
        });
    }
    alone.sort_unstable();
    alone.retain(|at| {
        run.gates
            .get(*at)
            .is_some_and(|gate| !is_foreign(run, gate))
    });
    ties
}

fn is_foreign(run: &Run, gate: &Gate) -> bool {
    !run.id.is_empty() && gate.run_id.as_ref().is_some_and(|id| *id != run.id)
}

/// Returns the node of a gate that no row or statement records.
pub(super) fn alone(gate: &Gate) -> Node {
    let kind = NodeKind::Gate {
        gate: gate.id.clone(),
    };
    Node::without_row(kind, format!("approve {}:", gate.id).into(), status(gate))
}
