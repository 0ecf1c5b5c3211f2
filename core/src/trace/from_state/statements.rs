//! The node of every statement that ran, and of the parallels and loops around it.

use std::collections::{BTreeMap, BTreeSet};

use super::build::{Builder, LAST};
use super::disk::bound;
use super::facts::Fact;
use super::frames::Open;
use super::stack::Stack;
use crate::gate::visit;
use crate::model::{Run, Text};
use crate::program::{Statement, StatementKind};
use crate::trace::emit::derived;
use crate::trace::gates::status as gate_status;
use crate::trace::verdict::recorded;
use crate::trace::{Node, NodeKind, NodeStatus};

impl Builder<'_, '_> {
    /// Statements whose node is an open frame: the frame, by statement.
    pub(super) fn consumed(&self, stack: &Stack<'_>, open: &[Open]) -> BTreeMap<u32, u32> {
        let mut calls = BTreeMap::new();
        for frame in open {
            let Some(call) = frame.call else { continue };
            let in_parallel = self
                .facts
                .statement(call)
                .and_then(|s| s.parent)
                .is_some_and(|p| self.is_parallel(p));
            let current = frame.above.is_none_or(|above| stack.is_innermost(above));
            if current && !in_parallel {
                calls.insert(call, frame.node);
            }
        }
        calls
    }

    pub(super) fn is_parallel(&self, at: u32) -> bool {
        self.facts
            .statement(at)
            .is_some_and(|s| s.kind == StatementKind::Parallel && s.find("each").is_none())
    }

    /// Makes the node of every statement that ran, and of the parallels and loops around it.
    pub(super) fn statements(&mut self, run: &Run, stack: &Stack<'_>, calls: &BTreeMap<u32, u32>) {
        let count = self.facts.listing.statements.len();
        let mut inner = vec![false; count];
        let mut inner_open = vec![false; count];
        let mut last_ran: BTreeMap<Option<u32>, u32> = BTreeMap::new();
        let mut kept = vec![false; count];
        // Branches that an open frame was called in.
        let hung: BTreeSet<u32> = stack
            .frames
            .iter()
            .filter(|f| f.above.is_none_or(|above| stack.is_innermost(above)))
            .filter_map(|f| f.call)
            .filter(|call| !calls.contains_key(call))
            .collect();
        for at in (0..count as u32).rev() {
            let (Some(statement), Some(fact)) = (self.facts.statement(at), self.facts.get(at))
            else {
                continue;
            };
            let i = at as usize;
            let in_frame = calls.contains_key(&at) || hung.contains(&at);
            // A marker on a call speaks of the frame that it made.
            let is_frames = statement.kind == StatementKind::Do
                && fact.block.is_some()
                && !fact.is_over()
                && !in_frame;
            let ran = fact.ran() && runs(statement) && !is_frames;
            let holds = statement.kind == StatementKind::Parallel || statement.kind.is_loop();
            let keep = ran || in_frame || (holds && inner.get(i) == Some(&true));
            if keep {
                last_ran.entry(fact.block).or_insert(at);
            }
            let is_open = ran && !fact.is_over() || in_frame || inner_open.get(i) == Some(&true);
            if let Some(slot) = kept.get_mut(i) {
                *slot = keep;
            }
            if let Some(parent) = statement.parent.map(|p| p as usize) {
                let of_block = self
                    .facts
                    .statement(parent as u32)
                    .is_some_and(|s| s.kind == StatementKind::Block);
                if !of_block && (keep || inner.get(i) == Some(&true)) {
                    if let Some(slot) = inner.get_mut(parent) {
                        *slot = true;
                    }
                    if let (true, Some(slot)) = (is_open, inner_open.get_mut(parent)) {
                        *slot = true;
                    }
                }
            }
        }
        let finished = recorded(run).iter().any(|claim| claim.status.is_finished());
        self.node_of = vec![None; count];
        for at in 0..count as u32 {
            let i = at as usize;
            if kept.get(i) != Some(&true) {
                continue;
            }
            let node = match calls.get(&at) {
                Some(frame) => *frame,
                None => {
                    let holds_open = inner_open.get(i) == Some(&true);
                    let block = self.facts.get(at).and_then(|f| f.block);
                    let end = self.facts.statement(at).map_or(0, |s| s.end);
                    let later = last_ran
                        .get(&block)
                        .and_then(|last| self.facts.statement(*last))
                        .is_some_and(|s| s.line > end);
                    let over = !holds_open && (later || finished);
                    let Some(node) = self.make(run, at, over) else {
                        continue;
                    };
                    let line = node.line.unwrap_or(LAST);
                    self.push(node, line)
                }
            };
            if let Some(slot) = self.node_of.get_mut(i) {
                *slot = Some(node);
            }
            self.rounds(at, node, inner.get(i) == Some(&true));
        }
        for (at, statement) in (0_u32..).zip(&self.facts.listing.statements) {
            if let (Some(name), Some(block)) =
                (bound(statement), self.facts.get(at).and_then(|f| f.block))
            {
                self.names.entry((block, name)).or_insert(at);
            }
        }
    }

    /// The node of one statement. `over`: something behind it ran, or the run is finished.
    pub(super) fn make(&self, run: &Run, at: u32, over: bool) -> Option<Node> {
        let statement = self.facts.statement(at)?;
        let fact = self.facts.get(at)?;
        let text: Text = statement.text.as_str().into();
        let parallel = statement.parent.is_some_and(|p| self.is_parallel(p));
        let kind = match &fact.gate {
            Some(gate) => NodeKind::Gate { gate: gate.clone() },
            None if parallel && statement.kind != StatementKind::Gate => NodeKind::Branch {
                branch: statement.name.as_deref().unwrap_or(&text).into(),
            },
            None => kind_of(statement),
        };
        let implied = match (over || self.children_are_over(at), &kind) {
            (true, _) => NodeStatus::Completed,
            (false, NodeKind::Branch { .. }) => NodeStatus::Executing,
            (false, _) => NodeStatus::Started,
        };
        let mut node = derived(kind, text, fact.status.clone().unwrap_or(implied));
        node.derived = fact.derived || fact.status.is_none();
        if let NodeKind::Gate { gate } = &node.kind {
            // The gates' own record wins over a marker (errata: "Where the gates table and the execution row disagree").
            let mut visits = run
                .gates
                .iter()
                .filter(|g| *g.id == **gate || visit(&g.id).0 == &**gate);
            if let Some(gate) = visits.next_back() {
                node.status = gate_status(gate);
            }
        }
        node.line = Some(statement.line);
        node.line_guessed = fact.guessed;
        node.line_by = fact.by;
        node.state_line = fact.state_line;
        if let Some((attempt, most)) = fact.attempt {
            node.attempts = attempt.max(1);
            node.max = most;
        }
        if let (NodeKind::Loop, Some(state)) = (
            &node.kind,
            fact.construct
                .and_then(|c| run.state_file.as_ref()?.loops.get(c as usize)),
        ) {
            node.max = state.max;
        }
        Some(node)
    }

    /// A parallel all of whose branches are over; of a loop that says nothing.
    fn children_are_over(&self, at: u32) -> bool {
        self.is_parallel(at)
            && self
                .facts
                .listing
                .children(at)
                .all(|c| self.facts.get(c).is_some_and(Fact::is_over))
    }
}

/// What a statement is when it runs, where nothing else says so.
pub(crate) fn kind_of(statement: &Statement) -> NodeKind {
    match (statement.kind, &statement.target) {
        (StatementKind::Gate, _) => NodeKind::Gate {
            gate: statement.name.as_deref().unwrap_or(&statement.text).into(),
        },
        (StatementKind::Parallel, _) => NodeKind::Parallel,
        (kind, _) if kind.is_loop() => NodeKind::Loop,
        (StatementKind::Do, Some(block)) => NodeKind::Frame {
            block: block.as_str().into(),
            depth: 1,
        },
        _ => NodeKind::Statement,
    }
}

/// Whether a statement is one that runs, rather than one that declares or receives.
pub(crate) fn runs(statement: &Statement) -> bool {
    !statement.kind.is_declaration() && statement.kind != StatementKind::Input
}

/// Whether running it does something that a state file would mark.
pub(crate) fn is_work(statement: &Statement) -> bool {
    use StatementKind as K;
    !matches!(
        statement.kind,
        K::If
            | K::Elif
            | K::Else
            | K::Choice
            | K::Option
            | K::Try
            | K::Catch
            | K::Finally
            | K::Throw
            | K::Return
            | K::Assign
            | K::Other
    )
}
