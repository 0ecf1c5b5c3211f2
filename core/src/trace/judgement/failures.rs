//! Finds failures that nothing handled. After one, only its handler, another attempt, or the failure of what is around
//! it may come.

use std::collections::BTreeMap;

use super::{Bar, PassedBar, begun, has_catch, in_clause};
use crate::model::{Run, RunStatus};
use crate::program::{Listing, StatementKind as Kind};
use crate::trace::{Node, NodeId, NodeKind, NodeStatus, Trace};

/// The failures of a run.
pub struct Failures<'a> {
    run: &'a Run,
    trace: &'a Trace,
    program: Option<&'a Listing>,
    /// The executions that began in each body that contains a failure, in order.
    begun: BTreeMap<Option<NodeId>, Vec<NodeId>>,
    /// The last execution of each statement in these bodies.
    last: BTreeMap<(Option<NodeId>, u32), NodeId>,
}

/// The most executions after a failure among which one that does not answer the failure is looked for.
const MOST_LATER: usize = 64;

impl<'a> Failures<'a> {
    /// Returns the failures of a run.
    pub fn of(run: &'a Run, trace: &'a Trace, program: Option<&'a Listing>) -> Failures<'a> {
        let mut failures = Failures {
            run,
            trace,
            program,
            begun: BTreeMap::new(),
            last: BTreeMap::new(),
        };
        for node in trace.nodes.iter().filter(|node| is_failure(node)) {
            failures.begun.insert(node.parent, Vec::new());
        }
        if failures.begun.is_empty() {
            return failures;
        }
        for (at, node) in trace.nodes.iter_enumerated() {
            let Some(body) = failures.begun.get_mut(&node.parent) else {
                continue;
            };
            if begun(node) {
                body.push(at);
            }
            if let Some(own) = failures.statement(at) {
                failures.last.insert((node.parent, own), at);
            }
        }
        failures
    }

    /// Returns why a statement must not begin in the execution `parent` after a failure there. `statement` is its index
    /// in the program; `None` if the statement is one that the program does not have.
    pub fn bar(&self, parent: Option<NodeId>, statement: Option<u32>) -> Option<Bar> {
        let mut failed = self.unhandled(parent);
        let failed = failed.find(|(at, _)| !self.answers(*at, statement))?;
        Some(self.of_node(failed.1))
    }

    /// Returns why an execution must not end successfully after a failure in it; `None` if the execution is the run. Of
    /// a loop, the last round counts.
    pub fn bar_of_end(&self, at: Option<NodeId>) -> Option<Bar> {
        if at.is_some_and(|at| has_catch(self.trace, self.program, at)) {
            return None;
        }
        let round = at.and_then(|at| self.trace.round_open(at));
        let failed = self.unhandled(round.or(at)).next()?;
        Some(self.of_node(failed.1))
    }

    fn of_node(&self, failed: &Node) -> Bar {
        Bar::Failed {
            id: failed.id,
            line: failed.line.filter(|_| !failed.line_guessed),
        }
    }

    /// Returns the executions in a body that failed, and that neither a `catch` nor a later execution of the same
    /// statement makes up for. Whether a parallel block goes on after a failed branch is up to the block.
    fn unhandled(&self, body: Option<NodeId>) -> impl Iterator<Item = (NodeId, &'a Node)> + '_ {
        let own = body.and_then(|at| self.trace.node(at));
        let goes_on = own.is_some_and(|own| own.kind == NodeKind::Parallel);
        let inside = self.trace.children(body).filter(move |_| !goes_on);
        let inside = inside.filter_map(|at| Some((at, self.trace.node(at)?)));
        inside.filter(|(at, node)| {
            is_failure(node) && self.is_present(node) && !self.ran_again(*at, node)
        })
    }

    /// Returns whether a failure certainly belongs to the present attempt of what is around it.
    fn is_present(&self, failed: &Node) -> bool {
        self.trace.is_present(self.run, failed) == Some(true)
    }

    fn ran_again(&self, failed: NodeId, node: &Node) -> bool {
        let Some(own) = self.statement(failed) else {
            return false;
        };
        let last = self.last.get(&(node.parent, own));
        // Another attempt of a `try` makes up for its handler's failure, too.
        let tried = self.program.map_or(own, |program| program.leader(own));
        let tried = self
            .last
            .get(&(node.parent, tried))
            .filter(|_| tried != own);
        let tried = tried.and_then(|at| self.trace.node(*at));
        let since = tried.is_some_and(|tried| tried.last_row > node.last_row);
        since || last.is_some_and(|last| *last > failed)
    }

    fn statement(&self, at: NodeId) -> Option<u32> {
        self.trace.node(at)?.sure_index(self.program)
    }

    /// Returns whether a statement answers a failure: it is the failed one, or a handler of a `try` around it.
    fn answers(&self, failed: NodeId, statement: Option<u32>) -> bool {
        let (Some(program), Some(statement)) = (self.program, statement) else {
            return false;
        };
        let handles = |kind: Kind| matches!(kind, Kind::Catch | Kind::Finally);
        self.statement(failed)
            .is_some_and(|own| statement == own || in_clause(program, statement, own, handles))
    }

    /// Returns what went on after a failure that nothing handled: the first execution after each failure, and the
    /// constructs and the run that ended successfully although something in them failed.
    pub(super) fn passed(&self) -> Vec<PassedBar> {
        let mut found = Vec::new();
        let failures = self.trace.nodes.iter_enumerated();
        for (at, node) in failures.filter(|(_, node)| is_failure(node)) {
            if self.ran_again(at, node) || !self.is_present(node) {
                continue;
            }
            let bar = self.of_node(node);
            let around = node.parent.and_then(|at| Some((at, self.trace.node(at)?)));
            let branch = around.is_some_and(|(_, around)| around.kind == NodeKind::Parallel);
            let body = self.begun.get(&node.parent).map_or(&[][..], Vec::as_slice);
            let later = body.get(body.partition_point(|later| *later <= at)..);
            let mut later = later.unwrap_or_default().iter().take(MOST_LATER);
            let next = later.find(|later| !branch && !self.answers(at, self.statement(**later)));
            let next = next.copied();
            let ended = match around {
                Some((_, around)) if around.allows_failure(self.run, self.program).is_some() => {
                    None
                }
                Some((outer, around)) => (around.status == NodeStatus::Completed).then_some(outer),
                None => None,
            };
            let run_ended =
                around.is_none() && self.trace.verdict.status == RunStatus::Completed.word();
            if let Some(at) = next.or(ended) {
                found.push(PassedBar { bar, at: Some(at) });
            } else if run_ended {
                found.push(PassedBar { bar, at: None });
            }
        }
        found
    }
}

fn is_failure(node: &Node) -> bool {
    node.has_failed() && !node.derived && !node.kind.is_round()
}
