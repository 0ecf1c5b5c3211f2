//! Converts the instances (executions) found in execution rows into a [`Story`], with one happening for each instance.

use super::rows::{self, Ledger, NONE, OrderedRows};
use super::story::{Happening, RowFacts, Story, StoryAt};
use super::sweep::{Inst, InstanceKind, Instances};
use super::words::{self, Lead};
use super::{NodeKind, NodeStatus, Nodes, gates, parents, rounds};
use crate::model::issue::Severity;
use crate::model::{Run, Status, Text};
use crate::program::{Listing, Tie, needs_some};

/// A builder of happenings from rows.
struct Emit<'a, 'e> {
    run: &'a Run,
    rows: &'e OrderedRows<'a>,
    gates: &'e gates::GateTies,
    next_row: Vec<u32>,
    /// The name of a block, branch or gate that was used last. A recursive call with an equal name shares this text.
    name: Text,
    ledger: &'e mut Ledger,
}

/// Returns the nodes recorded by rows, in preorder.
pub(super) fn nodes<'a>(
    run: &'a Run,
    program: Option<&Listing>,
    rows: &OrderedRows<'a>,
    mut instances: Instances<'a>,
    ledger: &mut Ledger,
) -> Nodes {
    let gates = gates::tie(run, rows, &mut instances.list, &instances.of_row);
    parents::settle(rows, &mut instances, ledger);
    let Instances { list, of_row, .. } = instances;
    let mut emit = Emit {
        run,
        rows,
        gates: &gates,
        next_row: next_rows(&of_row),
        name: Text::default(),
        ledger,
    };
    // The capacity has an additional eighth, because rounds follow the instances.
    let mut story = Story::of_about(list.len() + list.len() / 8);
    for (at, inst) in (0..).zip(&list) {
        let happening = emit.inst(at, inst);
        let parent = (inst.parent != NONE).then(|| StoryAt::new(inst.parent));
        story.push(parent, happening);
    }
    drop(emit);
    rounds::place(run, rows, &list, &of_row, &mut story, ledger);
    drop((list, of_row));
    for gate in gates.alone.iter().filter_map(|at| run.gates.get(*at)) {
        ledger.note(Severity::Warning, "gate-without-execution", || {
            let message = format!("no execution row refers to gate {}", gate.id);
            rows::at(0, message, "The gate is shown at the end of the trace.").at_table("gates")
        });
    }
    story.nodes(run, program, &gates, ledger).0
}

impl<'a> Emit<'a, '_> {
    fn inst(&mut self, at: u32, inst: &Inst<'a>) -> Happening {
        let rows = self.rows;
        let (first, last) = (rows.get(inst.first), rows.get(inst.last));
        let mut status = last.map_or(NodeStatus::Pending, |row| match &row.status {
            // Prosescope writes `started` with a time for an execution that the end of an enclosing execution cut off.
            // Such a row counts as `executing`, the word in a folder's log. OpenProse's own `started` rows have no
            // times (errata X14).
            Status::Started if row.started.is_some() => NodeStatus::Executing,
            status => word(status),
        });
        let next = |pos: &u32| {
            let next = self.next_row.get(*pos as usize).copied();
            next.filter(|pos| *pos != NONE)
        };
        let all = || std::iter::successors(Some(inst.first), next);
        let mut texts = all().filter_map(|pos| rows.get(pos)).map(|row| &row.text);
        let text = texts.find(|text| !text.trim().is_empty());
        let text = text.or(first.map(|row| &row.text)).cloned();
        let text = text.unwrap_or_default();
        let mut aliases: Vec<i64> = all().skip(1).map(|pos| rows.id(pos)).collect();
        aliases.shrink_to_fit();
        let mut announced = Vec::new();
        if inst.kind == InstanceKind::Parallel {
            let metas = all().filter_map(|pos| rows.meta(pos));
            announced = metas
                .flat_map(|meta| meta.branches.iter().cloned())
                .collect();
        }
        let meta = rows.meta(inst.first);
        let kind = match inst.kind {
            InstanceKind::Statement => NodeKind::Statement,
            InstanceKind::Parallel => NodeKind::Parallel,
            InstanceKind::Loop => NodeKind::Loop,
            InstanceKind::Branch(name) => NodeKind::Branch {
                branch: self.named(name, meta.and_then(|m| m.branch.as_ref())),
            },
            InstanceKind::Frame(name) => NodeKind::Frame {
                block: self.named(name, meta.and_then(|m| m.block.as_ref())),
                depth: 0,
            },
            InstanceKind::Gate(name) => {
                self.gate_status(at, inst, &mut status);
                NodeKind::Gate {
                    gate: self.named(name, meta.and_then(|m| m.gate_id.as_ref())),
                }
            }
        };
        let calls = || {
            meta.is_some_and(|meta| meta.block.is_some())
                || matches!(words::read(&text).lead, Lead::Do(_))
        };
        let ended = rows.meta(inst.last).filter(|_| !inst.open);
        let strategy = meta.and_then(|meta| meta.strategy.as_deref());
        let recorded = RowFacts {
            aliases,
            ends: Some((rows.place(inst.first), rows.place(inst.last))),
            depth: meta.and_then(|meta| meta.depth),
            calls: matches!(inst.kind, InstanceKind::Branch(_)) && calls(),
            drops: strategy.map(needs_some),
            cuts: ended.is_some_and(|meta| !meta.forced.is_empty()),
        };
        let tie = inst.by.map(|by| Tie {
            statement: inst.stmt,
            guessed: inst.guessed,
            by,
        });
        Happening {
            tie,
            id: first.map(|row| row.id),
            attempts: inst.attempts,
            max: (inst.max != NONE).then_some(inst.max),
            inferred: inst.inferred,
            announced,
            failed: inst.failed,
            rows: recorded,
            ..Happening::told(kind, status, text)
        }
    }

    /// Returns the name of a row's block, branch or gate as a shared text. An equal text in `held` or [`Emit::name`] is
    /// reused.
    fn named(&mut self, name: &str, held: Option<&Text>) -> Text {
        if let Some(held) = held.filter(|held| ***held == *name) {
            return held.clone();
        }
        if *self.name != *name {
            self.name = Text::from(name);
        }
        self.name.clone()
    }

    /// Sets a gate's status: the gates table takes precedence over the row (errata T7).
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
                        format!("execution {id} waits at a gate that is not in the table `gates`"),
                        "The gate's status is taken from the execution row.",
                    )
                });
            }
            return;
        };
        let recorded = std::mem::replace(status, gates::status(gate));
        if !inst.open && status.is_open() {
            self.ledger.note(Severity::Warning, "gate-disagrees", || {
                rows::at(
                    id,
                    format!(
                        "execution {id} is {}, but its gate {} is still {}",
                        recorded.word(),
                        gate.id,
                        status.word()
                    ),
                    "The status in the table `gates` is used.",
                )
            });
        }
    }
}

/// Returns for each row the next row of the same instance.
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

/// Returns the node status for a row's word (errata T0).
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
        Status::Unchanged => NodeStatus::Unchanged,
        Status::Other(word) => NodeStatus::Other(word.clone()),
    }
}
