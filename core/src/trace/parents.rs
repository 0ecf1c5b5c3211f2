//! Resolves parents that are recorded later than their children, contradict each other, or form a cycle (errata T11,
//! errata X2).

use super::preorder;
use super::rows::{self, Ledger, OrderedRows};
use super::sweep::{Inst, Instances};
use crate::model::issue::Severity;

/// The hint for a row whose metadata determines its parent.
const PLACED: &str = "The `metadata` of the row determines its parent. Some writers put a statement index into `parent_id`.";

/// Resolves parents recorded later than their children, reports parents that the metadata overruled, and cuts cycles
/// (errata T11).
pub(super) fn settle(rows: &OrderedRows<'_>, instances: &mut Instances<'_>, ledger: &mut Ledger) {
    let Instances {
        list,
        of_row,
        overruled,
    } = instances;
    let instance = |id: i64| of_row.get(rows.find(id)? as usize).copied();
    let mut judged = vec![false; list.len()];
    for (at, pos) in overruled.iter().copied() {
        if let Some(judged) = judged.get_mut(at as usize) {
            *judged = true;
        }
        let claim = rows.get(pos).and_then(|row| Some((row.id, row.parent?)));
        if let (Some(inst), Some((id, claimed))) = (list.get(at as usize), claim) {
            judge(
                rows,
                list,
                inst.parent,
                (id, claimed),
                instance(claimed),
                ledger,
            );
        }
    }
    for at in 0..list.len() {
        let Some(inst) = list.get_mut(at) else { break };
        let first = inst.first;
        let id = rows.id(first);
        if judged.get(at) != Some(&true) && rows.get(first).is_some_and(|r| r.parent == Some(id)) {
            note(
                ledger,
                "self-parent",
                id,
                "The execution is shown at the root.",
                || format!("execution {id} names itself as its parent"),
            );
        }
        let Some(wanted) = inst.wanted.take() else {
            continue;
        };
        match instance(wanted) {
            Some(parent) if parent as usize != at => inst.parent = parent,
            Some(_) => note(
                ledger,
                "self-parent",
                id,
                "The execution is shown at the root.",
                || format!("execution {id} names its own later row {wanted} as its parent"),
            ),
            None => {
                let hint = "The execution is shown at the root. Some writers put a statement index into `parent_id`.";
                note(ledger, "orphan-parent", id, hint, || {
                    format!("execution {id} names parent {wanted}, which is not recorded")
                });
            }
        }
    }
    let mut parents: Vec<u32> = list.iter().map(|inst| inst.parent).collect();
    for cycle in preorder::cut_cycles(&mut parents) {
        let of = cycle.iter().filter_map(|at| list.get(*at as usize));
        let ids: Vec<i64> = of.map(|inst| rows.id(inst.first)).collect();
        let root = ids.first().copied().unwrap_or_default();
        let hint =
            "The execution with the smallest id is shown at the root. Correct one of the parents.";
        note(ledger, "parent-cycle", root, hint, || {
            let ids = listed(&ids);
            format!("the parents of these executions form a cycle: {ids}")
        });
    }
    for (inst, parent) in list.iter_mut().zip(parents) {
        inst.parent = parent;
    }
}

/// Reports a row whose parent_id contradicts its metadata. According to the metadata, the row belongs to `parent`.
/// `named` is the instance with the parent_id, if there is one.
fn judge(
    rows: &OrderedRows<'_>,
    list: &[Inst<'_>],
    parent: u32,
    (id, claimed): (i64, i64),
    named: Option<u32>,
    ledger: &mut Ledger,
) {
    let around = list.get(parent as usize);
    let belongs = || match around {
        Some(around) => format!("execution {}", rows.id(around.first)),
        None => "the root".to_owned(),
    };
    match named {
        _ if claimed == id => note(ledger, "self-parent", id, PLACED, || {
            let belongs = belongs();
            format!("execution {id} names itself as its parent, but belongs to {belongs}")
        }),
        None => note(ledger, "orphan-parent", id, PLACED, || {
            let belongs = belongs();
            format!(
                "execution {id} names parent {claimed}, which is not recorded, but belongs to {belongs}"
            )
        }),
        // Some writers record branches as siblings of their parallel block. A parent_id that is the block's own parent
        // is therefore not a contradiction.
        Some(named) if named == parent || around.is_some_and(|around| around.parent == named) => {}
        Some(_) => note(ledger, "contradicting-parent", id, PLACED, || {
            let belongs = belongs();
            format!("execution {id} names parent {claimed}, but belongs to {belongs}")
        }),
    }
}

fn note(
    ledger: &mut Ledger,
    rule: &'static str,
    id: i64,
    hint: &str,
    message: impl FnOnce() -> String,
) {
    ledger.note(Severity::Warning, rule, || rows::at(id, message(), hint));
}

/// Returns the first few ids as a list for a sentence.
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
