//! Which statement comes next, where nothing is marked as under way.

use super::build::{Builder, LAST};
use super::facts::Facts;
use super::statements::{is_work, runs};
use crate::model::Run;
use crate::trace::verdict::recorded;
use crate::trace::{Node, NodeKind, NodeStatus};

/// The statement behind the last at the top of the program that ran. `status` says how a statement's node stands;
/// `None`: it has none.
pub(in crate::trace) fn statement(
    facts: &Facts<'_>,
    status: &dyn Fn(u32) -> Option<NodeStatus>,
) -> Option<u32> {
    let count = facts.of.len() as u32;
    let top = |at: u32| facts.get(at).is_some_and(|f| f.block.is_none());
    let last = (0..count)
        .rev()
        .find(|at| top(*at) && status(*at).is_some());
    let from = last.map_or(0, |at| at + 1);
    let comes = |at: &u32| {
        let (Some(statement), Some(fact)) = (facts.statement(*at), facts.get(*at)) else {
            return false;
        };
        let inside = match statement.parent {
            None => true,
            Some(outer) => status(outer).is_some_and(|status| status.is_open()),
        };
        let spoken_of = fact.ahead || !fact.may_not_run;
        top(*at) && !fact.is_over() && inside && spoken_of && runs(statement) && is_work(statement)
    };
    (from..count).find(comes)
}

impl Builder<'_, '_> {
    /// Where a run stands that nothing is marked in: before the statement behind the last that ran.
    pub(super) fn next(&mut self, run: &Run) {
        let Some(file) = &run.state_file else { return };
        let finished = recorded(run).iter().any(|claim| claim.status.is_finished());
        let stands = |n: &Node| {
            n.status.is_open() && (!n.derived || matches!(n.kind, NodeKind::Gate { .. }))
        };
        if finished
            || file.trace.is_empty()
            || self
                .nodes
                .iter()
                .any(|n| stands(n) || n.status == NodeStatus::Failed)
        {
            return;
        }
        let status = |at: u32| Some(self.node(self.node_of_statement(at)?)?.status.clone());
        let Some(at) = statement(self.facts, &status) else {
            return;
        };
        let Some(mut node) = self.make(run, at, false) else {
            return;
        };
        node.status = NodeStatus::Pending;
        node.derived = false;
        node.inferred = true;
        // A gate that was not reached was not created: nobody waits at it.
        if let NodeKind::Gate { .. } = node.kind {
            node.kind = NodeKind::Statement;
        }
        let line = node.line.unwrap_or(LAST);
        let parent = self
            .facts
            .statement(at)
            .and_then(|s| s.parent)
            .and_then(|p| self.holder.get(p as usize).copied().flatten());
        let node = self.push(node, line);
        self.set_parent(node, parent);
    }
}
