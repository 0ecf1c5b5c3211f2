//! Determines the statement that runs next if the state file marks no statement as running.

use super::Lowering;
use crate::program::{StatementKind, TiedBy};
use crate::trace::NodeStatus;
use crate::trace::lower::facts::LineEvidence;
use crate::trace::lower::tied;
use crate::trace::story::Happening;
use crate::trace::verdict::recorded;

/// Returns the next statement outside of blocks, after the last statement that ran. `status` contains the status of
/// each statement's record; `None` without a record.
fn statement(facts: &LineEvidence<'_>, status: &[Option<NodeStatus>]) -> Option<u32> {
    let count = facts.of.len() as u32;
    let status = |at: u32| status.get(at as usize).and_then(Option::as_ref);
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
            Some(outer) => status(outer).is_some_and(NodeStatus::is_open),
        };
        let spoken_of = fact.ahead || !fact.may_not_run;
        let works = statement.kind.runs() && statement.kind.is_work();
        top(*at) && !fact.is_over() && inside && spoken_of && works
    };
    (from..count).find(comes)
}

impl Lowering<'_, '_, '_> {
    /// Adds the position of a run without running marks: the statement after the last statement that ran.
    pub(super) fn next(&mut self) {
        let Some(file) = &self.run.state_file else {
            return;
        };
        let finished = recorded(self.run)
            .iter()
            .any(|claim| claim.status.is_finished());
        if finished || file.trace.is_empty() || self.has_position {
            return;
        }
        let Some(at) = statement(self.facts, &self.status) else {
            return;
        };
        let Some(own) = self.facts.statement(at) else {
            return;
        };
        let outer = own.parent;
        let parent = outer.and_then(|at| self.holder.get(at as usize).copied().flatten());
        let fact = self.facts.get(at);
        // A gate that was not reached does not exist yet, so the run cannot wait at this gate.
        let branch = outer.is_some_and(|p| self.is_parallel(p)) && own.kind != StatementKind::Gate;
        let new = Happening {
            text: own.text.as_str().into(),
            tie: tied(at, TiedBy::default()),
            line: fact.and_then(|fact| fact.state_line),
            inferred: true,
            by_place: true,
            ..Happening::new(self.kind(own, branch), NodeStatus::Pending)
        };
        self.add(parent, new);
    }
}
