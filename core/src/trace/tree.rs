//! From instances to the tree: instances, rounds, announced branches and gates become slots, slots become nodes
//! in preorder (trace.md 4–7 and 11).

use std::collections::BTreeSet;

use super::emit::Emit;
use super::rows::{self, Ledger, NONE, Rows};
use super::sweep::{Inst, Instances, Kind};
use super::{NodeStatus, Nodes, gates, parents, preorder, rounds};
use crate::issue::Severity;
use crate::model::{Run, Text};
use crate::program::Listing;

/// A node before it is one. The first slots are the instances, in their order.
pub(super) struct Slot<'a> {
    pub(super) parent: u32,
    pub(super) what: What<'a>,
}

pub(super) enum What<'a> {
    Inst(u32),
    Round {
        n: u32,
        status: NodeStatus,
        /// Known by its number only.
        derived: bool,
    },
    /// An announced branch that no row speaks of.
    Announced {
        name: &'a Text,
        over: bool,
    },
    /// A gate that no row speaks of.
    Gate(usize),
}

/// What the fold still may derive: a few bytes of metadata can announce millions of rounds and branches.
pub(super) struct Budget(u32);

impl Budget {
    /// As many of `wanted` as are left.
    pub(super) fn take(&mut self, wanted: u32) -> u32 {
        let granted = wanted.min(self.0);
        self.0 -= granted;
        granted
    }
}

/// Builds the nodes in preorder.
pub(super) fn build<'a>(
    run: &'a Run,
    program: Option<&Listing>,
    rows: &Rows<'a>,
    mut instances: Instances<'a>,
    ledger: &mut Ledger,
) -> Nodes {
    let ties = gates::tie(run, rows, &mut instances.list, &instances.of_row);
    parents::settle(rows, &mut instances, ledger);
    let Instances { list, of_row, .. } = instances;
    let mut budget = Budget(rows.len().saturating_add(10_000));
    let mut slots: Vec<Slot<'a>> = Vec::with_capacity(list.len() + list.len() / 8);
    slots.extend(list.iter().enumerate().map(|(at, inst)| Slot {
        parent: inst.parent,
        what: What::Inst(at as u32),
    }));
    let placed = rounds::place(rows, &list, &of_row, &mut slots, &mut budget, ledger);
    announced(rows, &list, &of_row, &mut slots, &mut budget, ledger);
    for gate in &ties.alone {
        slots.push(Slot {
            parent: NONE,
            what: What::Gate(*gate),
        });
    }
    let order = {
        let parents: Vec<u32> = slots.iter().map(|slot| slot.parent).collect();
        preorder::order(&parents)
    };
    let mut emit = Emit::new(run, program, rows, &list, &of_row, &ties, &placed, ledger);
    emit.all(&slots, &order)
}

/// Branches that a parallel announced and no row speaks of (trace.md 4).
fn announced<'a>(
    rows: &Rows<'a>,
    list: &[Inst<'a>],
    of_row: &[u32],
    slots: &mut Vec<Slot<'a>>,
    budget: &mut Budget,
    ledger: &mut Ledger,
) {
    let mut seen: BTreeSet<(u32, &str)> = BTreeSet::new();
    for inst in list {
        if let Kind::Branch(name) = inst.kind {
            seen.insert((inst.parent, name));
        }
    }
    for (pos, at) in (0..rows.len()).zip(of_row.iter().copied()) {
        let (Some(inst), Some(meta)) = (list.get(at as usize), rows.meta(pos)) else {
            continue;
        };
        if inst.kind != Kind::Parallel {
            continue;
        }
        for name in &meta.branches {
            if !seen.insert((at, name)) {
                continue;
            }
            if budget.take(1) == 0 {
                let id = rows.id(inst.first);
                ledger.note(Severity::Info, "branches-not-listed", || {
                    rows::at(
                        id,
                        format!("execution {id} announces more branches than are listed"),
                        "No row speaks of them.",
                    )
                });
                return;
            }
            slots.push(Slot {
                parent: at,
                what: What::Announced {
                    name,
                    over: !inst.open,
                },
            });
        }
    }
}
