//! What the state file or a gate's record tells of, and no statement of the program is: annotated lines, open
//! constructs, gates.

use std::collections::{BTreeMap, BTreeSet};

use super::build::{Builder, LAST};
use super::stack::Stack;
use crate::gate::visit;
use crate::model::{Run, Text};
use crate::program::StatementKind;
use crate::trace::emit::{derived, word};
use crate::trace::gates::status as gate_status;
use crate::trace::{NodeKind, NodeStatus};

impl Builder<'_, '_> {
    /// Annotated lines that no statement is like, behind the one before them.
    pub(super) fn strays(&mut self) {
        for stray in std::mem::take(&mut self.facts.strays) {
            let Some(status) = stray.fact.status.clone() else {
                continue;
            };
            let kind = match &stray.fact.gate {
                Some(gate) => NodeKind::Gate { gate: gate.clone() },
                None => NodeKind::Statement,
            };
            let mut node = derived(kind, stray.text, status);
            node.derived = false;
            node.state_line = stray.fact.state_line;
            if let Some((attempt, most)) = stray.fact.attempt {
                node.attempts = attempt.max(1);
                node.max = most;
            }
            let key = stray
                .after
                .and_then(|at| self.facts.statement(at))
                .map_or(0, |s| s.line);
            let parent = stray
                .inside
                .and_then(|at| self.holder.get(at as usize).copied().flatten());
            let at = self.push(node, key);
            self.set_parent(at, parent);
        }
    }

    /// Open constructs that fit no statement of the program.
    pub(super) fn unplaced_constructs(&mut self, run: &Run, stack: &Stack<'_>) {
        let Some(file) = &run.state_file else { return };
        let placed = |kind: fn(StatementKind) -> bool| -> BTreeSet<u32> {
            let all = self.facts.of.iter().zip(&self.facts.listing.statements);
            let of_outer = stack.told.iter().filter(|((_, at), _)| {
                let statement = self.facts.statement(*at);
                statement.is_some_and(|s| kind(s.kind))
            });
            all.filter(|(_, s)| kind(s.kind))
                .filter_map(|(f, _)| f.construct)
                .chain(of_outer.map(|(_, section)| *section))
                .collect()
        };
        let parallels = placed(|kind| kind == StatementKind::Parallel);
        let loops = placed(StatementKind::is_loop);
        for (i, state) in (0_u32..).zip(&file.parallels) {
            if parallels.contains(&i) {
                continue;
            }
            let open =
                state.branches.is_empty() || state.branches.iter().any(|(_, s)| !s.is_terminal());
            let status = if open {
                NodeStatus::Started
            } else {
                NodeStatus::Completed
            };
            let mut node = derived(NodeKind::Parallel, "parallel".into(), status);
            node.derived = false;
            let at = self.push(node, state.lines.map_or(LAST, |l| l.0));
            for (name, status) in &state.branches {
                self.branch(at, name, word(status), None);
            }
        }
        for (i, state) in (0_u32..).zip(&file.loops) {
            let ahead = state.status.to_lowercase().starts_with("not yet");
            if loops.contains(&i) || ahead {
                continue;
            }
            let status = word(&crate::decode::state_md::rows::read_status(&state.status));
            let status = if status.is_open() {
                NodeStatus::Started
            } else {
                status
            };
            let text = match &state.condition {
                Some(condition) => format!("loop **{condition}**"),
                None => "loop".to_owned(),
            };
            let last = if status.is_open() {
                NodeStatus::Started
            } else {
                NodeStatus::Completed
            };
            let mut node = derived(NodeKind::Loop, text.into(), status);
            node.derived = false;
            node.max = state.max;
            let at = self.push(node, state.lines.map_or(LAST, |l| l.0));
            if let Some(total) = state.iteration.filter(|n| *n > 0) {
                self.add_rounds(at, total, last);
            }
        }
    }

    /// Gates that were created and that no marker speaks of.
    pub(super) fn gates(&mut self, run: &Run) {
        if run.gates.is_empty() {
            return;
        }
        let mut seen: BTreeSet<Text> = BTreeSet::new();
        for node in &self.nodes {
            if let NodeKind::Gate { gate } = &node.kind {
                seen.insert(visit(gate).0.into());
            }
        }
        let statements = || (0_u32..).zip(&self.facts.listing.statements);
        let by_name: BTreeMap<&str, u32> = statements()
            .filter(|(_, s)| s.kind == StatementKind::Gate)
            .filter_map(|(at, s)| Some((s.name.as_deref()?, at)))
            .collect();
        for gate in run.gates.iter().filter(|g| !seen.contains(visit(&g.id).0)) {
            let call = by_name.get(visit(&gate.id).0).copied();
            let statement = call.and_then(|at| self.facts.statement(at));
            let text: Text = statement.map_or_else(|| gate.id.clone(), |s| s.text.as_str().into());
            let mut node = derived(
                NodeKind::Gate {
                    gate: gate.id.clone(),
                },
                text,
                gate_status(gate),
            );
            node.derived = false;
            node.line = statement.map(|s| s.line);
            // Which of a block's frames met a gate that is decided, or in which round, nobody says.
            let fact = call.and_then(|at| self.facts.get(at));
            let looped = fact.and_then(|f| self.facts.get(f.in_loop?));
            let again = fact.is_some_and(|f| f.block.is_some())
                || looped.is_some_and(|l| l.round != Some(1));
            node.inferred = again && !node.status.is_open();
            let outer = statement
                .and_then(|s| s.parent)
                .and_then(|p| self.holder.get(p as usize).copied().flatten());
            let key = node.line.unwrap_or(LAST);
            let at = self.push(node, key);
            self.set_parent(at, outer);
        }
    }
}
