//! Which statement comes next, where nothing is marked as under way.

use super::build::{is_work, runs};
use super::facts::Facts;
use crate::trace::NodeStatus;

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
