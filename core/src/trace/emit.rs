//! From slots to nodes: what each says, in the order in which a tree is read.

use std::collections::{BTreeMap, BTreeSet};

use typed_index_collections::TiVec;

use super::rows::{self, Ledger, NONE, Rows};
use super::sweep::{Inst, Kind};
use super::tree::{Slot, What};
use super::words::{self, Lead};
use super::{Node, NodeId, NodeKind, NodeStatus, Nodes, gates, preorder};
use crate::issue::Severity;
use crate::model::{Run, Status, Text};
use crate::program::Listing;

/// Makes nodes.
pub(super) struct Emit<'a, 'e> {
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
    /// Ended by force, whatever was open in it.
    cuts: bool,
}

impl<'a, 'e> Emit<'a, 'e> {
    #[expect(clippy::too_many_arguments, reason = "all that the fold knows")]
    pub(super) fn new(
        run: &'a Run,
        program: Option<&'e Listing>,
        rows: &'e Rows<'a>,
        list: &'e [Inst<'a>],
        of_row: &[u32],
        gates: &'e gates::Ties,
        placed: &'e BTreeSet<u32>,
        ledger: &'e mut Ledger,
    ) -> Emit<'a, 'e> {
        Emit {
            run,
            program,
            rows,
            list,
            gates,
            placed,
            names: BTreeMap::new(),
            round_names: BTreeMap::new(),
            next_row: next_rows(of_row),
            ledger,
        }
    }

    /// The nodes of these slots, in this order.
    pub(super) fn all(&mut self, slots: &[Slot<'a>], order: &[u32]) -> Nodes {
        let mut place = vec![None; slots.len()];
        let mut above: TiVec<NodeId, Above> = TiVec::with_capacity(order.len());
        let mut nodes = Nodes::with_capacity(order.len());
        for old in order {
            let Some(slot) = slots.get(*old as usize) else {
                continue;
            };
            let parent = place.get(slot.parent as usize).copied().flatten();
            let mut down = parent
                .and_then(|parent| above.get(parent))
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
            let id = nodes.push_and_get_key(node);
            if let Some(place) = place.get_mut(*old as usize) {
                *place = Some(id);
            }
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
        let mut status = last.map_or(NodeStatus::Pending, |row| match &row.status {
            // Our writer leaves this word, with a time, where the end of what an execution lies in cut it off; a folder's
            // log says `executing`. The documents' own `started` rows have no times (errata X14).
            Status::Started if row.started.is_some() => NodeStatus::Executing,
            status => word(status),
        });
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
        let branch = matches!(kind, NodeKind::Branch { .. });
        let lost = inst.open && (down.dropped || down.cuts || (down.drops && branch));
        if lost {
            status = NodeStatus::Abandoned;
        }
        down.dropped = lost;
        let ended = rows.meta(inst.last).filter(|_| !inst.open);
        down.cuts = ended.is_some_and(|meta| !meta.forced.is_empty());
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
            derived: lost,
            status,
            parent: None,
            level: 0,
            descendants: 0,
            line_guessed: line.is_some() && inst.guessed,
            line_by: inst.by.filter(|_| line.is_some()),
            line,
            attempts: inst.attempts,
            max: (inst.max != NONE).then_some(inst.max),
            inferred: inst.inferred || self.placed.contains(&at),
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
        gates::alone(gate)
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
        line_by: None,
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
