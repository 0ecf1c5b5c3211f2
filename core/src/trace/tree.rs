//! From instances to the tree: parents that contradict, rounds, announced branches, and the nodes in preorder
//! (trace.md 4–7 and 11).

use std::collections::{BTreeMap, BTreeSet};

use super::gates;
use super::preorder;
use super::rounds;
use super::rows::{self, Ledger, NONE, Rows};
use super::sweep::{Inst, Instances, Kind};
use super::words::{self, Lead};
use super::{Node, NodeKind, NodeStatus};
use crate::issue::Severity;
use crate::model::{Run, Status, Text};
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
) -> Vec<Node> {
    let ties = gates::tie(run, rows, &mut instances.list, &instances.of_row);
    settle_parents(rows, &mut instances, ledger);
    let Instances { list, of_row, .. } = instances;
    let mut budget = Budget(rows.len().saturating_add(10_000));
    let mut slots: Vec<Slot<'a>> = list
        .iter()
        .enumerate()
        .map(|(at, inst)| Slot {
            parent: inst.parent,
            what: What::Inst(at as u32),
        })
        .collect();
    let placed = rounds::place(rows, &list, &of_row, &mut slots, &mut budget, ledger);
    announced(rows, &list, &of_row, &mut slots, &mut budget, ledger);
    for gate in &ties.alone {
        slots.push(Slot {
            parent: NONE,
            what: What::Gate(*gate),
        });
    }
    let parents: Vec<u32> = slots.iter().map(|slot| slot.parent).collect();
    let order = preorder::order(&parents);
    drop(parents);
    let mut emit = Emit {
        run,
        program,
        rows,
        list: &list,
        gates: &ties,
        placed: &placed,
        names: BTreeMap::new(),
        round_names: BTreeMap::new(),
        next_row: next_rows(&of_row),
        ledger,
    };
    emit.all(&slots, &order)
}

/// Resolves parents that came later, judges those that metadata overruled, and cuts cycles (trace.md 11).
fn settle_parents(rows: &Rows<'_>, instances: &mut Instances<'_>, ledger: &mut Ledger) {
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

/// For each row the next one of the same instance.
fn next_rows(of_row: &[u32]) -> Vec<u32> {
    let mut next = vec![NONE; of_row.len()];
    let mut latest: Vec<u32> = Vec::new();
    for (pos, at) in of_row.iter().enumerate().rev() {
        let at = *at as usize;
        if latest.len() <= at {
            latest.resize(at + 1, NONE);
        }
        if let (Some(latest), Some(next)) = (latest.get_mut(at), next.get_mut(pos)) {
            *next = std::mem::replace(latest, pos as u32);
        }
    }
    next
}

struct Emit<'a, 'e> {
    run: &'a Run,
    program: Option<&'e Listing>,
    rows: &'e Rows<'a>,
    list: &'e [Inst<'a>],
    gates: &'e gates::Ties,
    placed: &'e BTreeSet<u32>,
    names: BTreeMap<&'a str, Text>,
    round_names: BTreeMap<u32, Text>,
    next_row: Vec<u32>,
    ledger: &'e mut Ledger,
}

/// What a node hands down to those below it.
#[derive(Clone, Copy, Default)]
struct Above {
    /// Frames on the way, itself included.
    frames: u32,
    /// In a branch that its parallel went on without.
    dropped: bool,
    /// A parallel that is over and may go on without all of its branches.
    drops: bool,
}

impl<'a> Emit<'a, '_> {
    fn all(&mut self, slots: &[Slot<'a>], order: &[u32]) -> Vec<Node> {
        let mut place = vec![NONE; slots.len()];
        let mut above: Vec<Above> = Vec::with_capacity(order.len());
        let mut nodes: Vec<Node> = Vec::with_capacity(order.len());
        for (new, old) in order.iter().enumerate() {
            let Some(slot) = slots.get(*old as usize) else {
                continue;
            };
            if let Some(place) = place.get_mut(*old as usize) {
                *place = new as u32;
            }
            let parent = place.get(slot.parent as usize).copied();
            let mut down = parent
                .and_then(|parent| above.get(parent as usize))
                .copied()
                .unwrap_or_default();
            let mut node = match &slot.what {
                What::Inst(at) => self.inst(*at, &mut down),
                What::Round { n, status, derived } => {
                    let mut node = self.round(*n);
                    node.status = status.clone();
                    node.derived = *derived;
                    node
                }
                What::Announced { name, over } => {
                    let status = match over {
                        true => NodeStatus::Skipped,
                        false => NodeStatus::Pending,
                    };
                    let kind = NodeKind::Branch {
                        branch: (*name).clone(),
                    };
                    derived(kind, (*name).clone(), status)
                }
                What::Gate(at) => self.gate(*at),
            };
            node.parent = parent;
            above.push(down);
            nodes.push(node);
        }
        preorder::measure(&mut nodes);
        nodes
    }

    fn inst(&mut self, at: u32, down: &mut Above) -> Node {
        let Some(inst) = self.list.get(at as usize) else {
            return derived(NodeKind::Statement, Text::from(""), NodeStatus::Pending);
        };
        let rows = self.rows;
        let (first, last) = (rows.get(inst.first), rows.get(inst.last));
        let text = first.map_or_else(|| Text::from(""), |row| row.text.clone());
        let mut status = last.map_or(NodeStatus::Pending, |row| word(&row.status));
        let mut aliases = Vec::new();
        let mut pos = self.next_row.get(inst.first as usize).copied();
        while let Some(row) = pos.and_then(|pos| rows.get(pos)) {
            aliases.push(row.id);
            pos = pos.and_then(|pos| self.next_row.get(pos as usize).copied());
        }
        aliases.shrink_to_fit();
        let text = match text.trim().is_empty() {
            true => self.any_text(inst.first).unwrap_or(text),
            false => text,
        };
        let meta = rows.meta(inst.first);
        let frame = matches!(inst.kind, Kind::Frame(_))
            || (matches!(inst.kind, Kind::Branch(_))
                && (meta.is_some_and(|m| m.block.is_some())
                    || matches!(words::read(&text).lead, Lead::Do(_))));
        down.frames = down.frames.saturating_add(u32::from(frame));
        let kind = match inst.kind {
            Kind::Statement => NodeKind::Statement,
            Kind::Parallel => NodeKind::Parallel,
            Kind::Loop => NodeKind::Loop,
            Kind::Branch(name) => NodeKind::Branch {
                branch: self.name(name, meta.and_then(|m| m.branch.as_ref())),
            },
            Kind::Frame(name) => {
                self.compare_depth(inst, down.frames);
                NodeKind::Frame {
                    block: self.name(name, meta.and_then(|m| m.block.as_ref())),
                    depth: down.frames,
                }
            }
            Kind::Gate(name) => {
                self.gate_status(at, inst, &mut status);
                NodeKind::Gate {
                    gate: self.name(name, meta.and_then(|m| m.gate_id.as_ref())),
                }
            }
        };
        let lost =
            inst.open && (down.dropped || (down.drops && matches!(kind, NodeKind::Branch { .. })));
        if lost {
            status = NodeStatus::Abandoned;
        }
        down.dropped = lost;
        down.drops = inst.kind == Kind::Parallel
            && !inst.open
            && match meta.and_then(|m| m.strategy.as_deref()) {
                Some(strategy) => matches!(strategy, "first" | "any"),
                None => words::leaves_branches(&text),
            };
        let line = self
            .program
            .and_then(|program| program.get(inst.stmt))
            .map(|statement| statement.line);
        Node {
            id: first.map(|row| row.id),
            aliases,
            kind,
            text,
            recovered: status == NodeStatus::Completed && (inst.failed || inst.attempts > 1),
            status,
            parent: None,
            level: 0,
            descendants: 0,
            line_guessed: line.is_some() && inst.guessed,
            line,
            attempts: inst.attempts,
            max: (inst.max != NONE).then_some(inst.max),
            inferred: inst.inferred || self.placed.contains(&at),
            derived: lost,
            first_row: Some(rows.place(inst.first)),
            last_row: Some(rows.place(inst.last)),
            state_line: None,
        }
    }

    /// The first text that any row of an instance has.
    fn any_text(&self, first: u32) -> Option<Text> {
        let later = |pos: &u32| {
            let next = self.next_row.get(*pos as usize).copied();
            next.filter(|pos| *pos != NONE)
        };
        std::iter::successors(Some(first), later)
            .filter_map(|pos| self.rows.get(pos))
            .find(|row| !row.text.trim().is_empty())
            .map(|row| row.text.clone())
    }

    /// The gates table wins over the row (trace.md 7).
    fn gate_status(&mut self, at: u32, inst: &Inst<'a>, status: &mut NodeStatus) {
        let id = self.rows.id(inst.first);
        let Some(gate) = self
            .gates
            .of_inst
            .get(&at)
            .and_then(|gate| self.run.gates.get(*gate))
        else {
            if inst.open {
                self.ledger.note(Severity::Warning, "gate-without-row", || {
                    rows::at(
                        id,
                        format!(
                            "execution {id} stands at a gate that the gates table does not have"
                        ),
                        "Its status is taken from the execution row.",
                    )
                });
            }
            return;
        };
        let said = std::mem::replace(status, gates::status(gate));
        if !inst.open && status.is_open() {
            self.ledger.note(Severity::Warning, "gate-disagrees", || {
                rows::at(
                    id,
                    format!(
                        "execution {id} says {}, but its gate {} is still {}",
                        said.word(),
                        gate.id,
                        status.word()
                    ),
                    "The gates table is believed.",
                )
            });
        }
    }

    /// The writer's depth is only compared (trace.md 6).
    fn compare_depth(&mut self, inst: &Inst<'a>, counted: u32) {
        let Some(depth) = self.rows.meta(inst.first).and_then(|meta| meta.depth) else {
            return;
        };
        if depth == i64::from(counted) {
            return;
        }
        let row = self.rows.get(inst.first);
        let id = self.rows.id(inst.first);
        let hint = if row.is_some_and(|row| row.parent.is_none()) {
            "Its row names no parent, so it lies at the root."
        } else {
            "Depth is counted along the parents; the recorded number is only compared."
        };
        self.ledger.note(Severity::Warning, "depth-mismatch", || {
            let message = format!("execution {id} says depth {depth}, but {counted} is counted");
            rows::at(id, message, hint)
        });
    }

    fn round(&mut self, n: u32) -> Node {
        let name = self
            .round_names
            .entry(n)
            .or_insert_with(|| Text::from(format!("round {n}")))
            .clone();
        let mut node = derived(NodeKind::Round { n }, name, NodeStatus::Started);
        node.derived = false;
        node
    }

    fn gate(&mut self, at: usize) -> Node {
        let Some(gate) = self.run.gates.get(at) else {
            return derived(NodeKind::Statement, Text::from(""), NodeStatus::Pending);
        };
        self.ledger
            .note(Severity::Warning, "gate-without-execution", || {
                rows::at(
                    0,
                    format!("no execution row speaks of gate {}", gate.id),
                    "It is shown at the end.",
                )
                .at_table("gates")
            });
        let kind = NodeKind::Gate {
            gate: gate.id.clone(),
        };
        let text = Text::from(format!("approve {}:", gate.id));
        derived(kind, text, gates::status(gate))
    }

    fn name(&mut self, name: &'a str, shared: Option<&Text>) -> Text {
        match shared {
            Some(text) if **text == *name => text.clone(),
            _ => self
                .names
                .entry(name)
                .or_insert_with(|| Text::from(name))
                .clone(),
        }
    }
}

/// A node that no row speaks of.
pub(crate) fn derived(kind: NodeKind, text: Text, status: NodeStatus) -> Node {
    Node {
        id: None,
        aliases: Vec::new(),
        kind,
        text,
        status,
        parent: None,
        level: 0,
        descendants: 0,
        line: None,
        line_guessed: false,
        attempts: 1,
        max: None,
        recovered: false,
        inferred: false,
        derived: true,
        first_row: None,
        last_row: None,
        state_line: None,
    }
}

/// The word of a row for a node (trace.md, "Words").
pub(crate) fn word(status: &Status) -> NodeStatus {
    match status {
        Status::Pending => NodeStatus::Pending,
        Status::Executing => NodeStatus::Executing,
        Status::Started => NodeStatus::Started,
        Status::Waiting => NodeStatus::Waiting,
        Status::Iteration => NodeStatus::Iteration,
        Status::Retry => NodeStatus::Retry,
        Status::Completed | Status::Joined | Status::Exited => NodeStatus::Completed,
        Status::Failed => NodeStatus::Failed,
        Status::Skipped => NodeStatus::Skipped,
        Status::Other(word) => NodeStatus::Other(word.clone()),
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
