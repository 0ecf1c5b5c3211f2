//! Parents that come later, contradict, or lead in a circle (trace.md 11, errata X2).

use super::preorder;
use super::rows::{self, Ledger, Rows};
use super::sweep::{Inst, Instances};
use crate::issue::Severity;

/// Resolves parents that came later, judges those that metadata overruled, and cuts cycles (trace.md 11).
pub(super) fn settle(rows: &Rows<'_>, instances: &mut Instances<'_>, ledger: &mut Ledger) {
    let Instances {
        list,
        of_row,
        overruled,
    } = instances;
    let mut judged = vec![false; list.len()];
    for (at, pos) in overruled.iter().copied() {
        if let Some(judged) = judged.get_mut(at as usize) {
            *judged = true;
        }
        judge(rows, list, of_row, at, pos, ledger);
    }
    for at in 0..list.len() {
        let Some(inst) = list.get_mut(at) else { break };
        let first = inst.first;
        let id = rows.id(first);
        if judged.get(at) != Some(&true) && rows.get(first).is_some_and(|r| r.parent == Some(id)) {
            ledger.note(Severity::Warning, "self-parent", || {
                rows::at(
                    id,
                    format!("execution {id} names itself as its parent"),
                    "It is shown at the root.",
                )
            });
        }
        let Some(wanted) = inst.wanted.take() else {
            continue;
        };
        match rows
            .find(wanted)
            .and_then(|pos| of_row.get(pos as usize).copied())
        {
            Some(parent) if parent as usize != at => inst.parent = parent,
            Some(_) => ledger.note(Severity::Warning, "self-parent", || {
                rows::at(
                    id,
                    format!("execution {id} names its own later row {wanted} as its parent"),
                    "It is shown at the root.",
                )
            }),
            None => ledger.note(Severity::Warning, "orphan-parent", || {
                rows::at(
                    id,
                    format!("execution {id} names parent {wanted}, and there is no such row"),
                    "It is shown at the root; some writers put a statement index there.",
                )
            }),
        }
    }
    let mut parents: Vec<u32> = list.iter().map(|inst| inst.parent).collect();
    for cycle in preorder::cut_cycles(&mut parents) {
        let ids: Vec<i64> = cycle
            .iter()
            .filter_map(|at| list.get(*at as usize))
            .map(|inst| rows.id(inst.first))
            .collect();
        let Some(root) = ids.first().copied() else {
            continue;
        };
        ledger.note(Severity::Warning, "parent-cycle", || {
            rows::at(
                root,
                format!(
                    "the parents of these executions lead in a circle: {}",
                    listed(&ids)
                ),
                "The circle was cut at its smallest id, which is shown at the root.",
            )
        });
    }
    for (inst, parent) in list.iter_mut().zip(parents) {
        inst.parent = parent;
    }
}

fn judge(
    rows: &Rows<'_>,
    list: &[Inst<'_>],
    of_row: &[u32],
    at: u32,
    pos: u32,
    ledger: &mut Ledger,
) {
    let Some((inst, row)) = list.get(at as usize).zip(rows.get(pos)) else {
        return;
    };
    let (id, Some(claimed)) = (row.id, row.parent) else {
        return;
    };
    let belongs = list.get(inst.parent as usize).map_or_else(
        || "the root".to_owned(),
        |p| format!("execution {}", rows.id(p.first)),
    );
    let hint =
        "Its metadata says where it belongs; some writers put a statement index into parent_id.";
    if claimed == id {
        ledger.note(Severity::Warning, "self-parent", || {
            let message =
                format!("execution {id} names itself as its parent; it belongs to {belongs}");
            rows::at(id, message, hint)
        });
        return;
    }
    let Some(named) = rows
        .find(claimed)
        .and_then(|pos| of_row.get(pos as usize).copied())
    else {
        ledger.note(Severity::Warning, "orphan-parent", || {
            let message = format!(
                "execution {id} names parent {claimed}, and there is no such row; it belongs to {belongs}"
            );
            rows::at(id, message, hint)
        });
        return;
    };
    // Its parallel, or what that lies in: branches may be written beside their parallel.
    let beside = list.get(inst.parent as usize).map(|p| p.parent);
    if named != inst.parent && Some(named) != beside {
        ledger.note(Severity::Warning, "contradicting-parent", || {
            let message =
                format!("execution {id} names parent {claimed}, but belongs to {belongs}");
            rows::at(id, message, hint)
        });
    }
}

/// Ids in a sentence, the first few of them.
fn listed(ids: &[i64]) -> String {
    let mut text = ids
        .iter()
        .take(8)
        .map(i64::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    if ids.len() > 8 {
        text.push_str(&format!(" and {} more", ids.len() - 8));
    }
    text
}
