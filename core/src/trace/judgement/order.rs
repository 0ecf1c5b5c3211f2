//! Finds statements that were passed over: the program runs them before a statement that is recorded, but no record
//! shows them.

use std::collections::{BTreeMap, BTreeSet};

use super::has_labels;
use crate::model::Run;
use crate::program::{Listing, StatementKind as Kind};
use crate::trace::{Node, NodeId, NodeKind, Trace};

/// The statements that a run recorded, by the body that they ran in.
pub struct Order<'a> {
    program: &'a Listing,
    /// The recorded statements of each body, and those around them, by the execution around the body. `None` if one of
    /// its executions is tied to no statement, because that one may be any.
    recorded: BTreeMap<Option<NodeId>, Option<BTreeSet<u32>>>,
}

impl<'a> Order<'a> {
    /// Returns the recorded statements of a run; `None` if the program may go back to an earlier statement.
    pub fn of(trace: &'a Trace, program: &'a Listing) -> Option<Order<'a>> {
        if has_labels(program) || trace.unordered {
            return None;
        }
        let mut order = Order {
            program,
            recorded: BTreeMap::new(),
        };
        for node in trace.nodes.iter().filter(|node| !node.kind.is_round()) {
            let own = node
                .sure_index(Some(program))
                .filter(|_| !guessed_round(trace, node));
            let body = order.recorded.entry(node.parent);
            let body = body.or_insert_with(|| Some(BTreeSet::new()));
            match (own, body.as_mut()) {
                (Some(own), Some(body)) => {
                    let around = program.enclosing(own).take_while(|at| !body.contains(at));
                    let around: Vec<u32> = around.chain([own]).collect();
                    // One alternative stands for all of them.
                    body.extend(around.iter().filter_map(|at| program.choice(*at)));
                    body.extend(around);
                }
                // An announced branch has no row, and a gate may be the VM's own.
                (None, _) if node.derived || node.kind.is_gate() => {}
                (None, _) => *body = None,
                (_, None) => {}
            }
        }
        Some(order)
    }

    /// Returns the lines of the statements that are not recorded although the program runs them, before a statement
    /// that would begin in the execution `parent` now.
    pub fn before(
        &self,
        run: &Run,
        trace: &Trace,
        parent: Option<NodeId>,
        statement: u32,
    ) -> Vec<u32> {
        let bodies = bodies_around(run, trace, self.program, parent);
        let outward = self.outward(statement, &bodies);
        let mut lines: Vec<u32> = outward
            .flat_map(|at| self.passed_over(parent, at))
            .collect();
        lines.sort_unstable();
        lines
    }

    /// Returns a statement and those around it, in the same body. A construct that need not be recorded, such as an
    /// `if`, contains a sequence of its own.
    fn outward<'b>(
        &'b self,
        statement: u32,
        bodies: &'b BTreeSet<u32>,
    ) -> impl Iterator<Item = u32> + 'b {
        let outward = std::iter::once(statement).chain(self.program.enclosing(statement));
        outward.take_while(|at| !bodies.contains(at))
    }

    /// Returns the lines of the statements that are not recorded although the program runs them, in the body of the
    /// execution `parent`, before the statement with this index and in the same sequence.
    fn passed_over(&self, parent: Option<NodeId>, statement: u32) -> Vec<u32> {
        let none = Some(BTreeSet::new());
        let Some(recorded) = self.recorded.get(&parent).unwrap_or(&none) else {
            return Vec::new();
        };
        if !in_sequence(self.program, statement) {
            return Vec::new();
        }
        let siblings = self.program.siblings(statement);
        let before = siblings.take_while(|at| *at < statement);
        let missing = before.filter(|at| !recorded.contains(at) && has_to_run(self.program, *at));
        missing
            .filter_map(|at| Some(self.program.get(at)?.line))
            .collect()
    }

    /// Returns the statements that were passed over: the first execution after each, and the lines before it. Each line
    /// is returned once.
    pub fn all_passed_over(&self, run: &Run, trace: &Trace) -> Vec<(NodeId, Vec<u32>)> {
        let mut found = Vec::new();
        let mut known: BTreeSet<u32> = BTreeSet::new();
        // The last statement of each sequence of a body, with its execution.
        let mut last: BTreeMap<(Option<NodeId>, Option<u32>), (u32, NodeId)> = BTreeMap::new();
        for (at, node) in trace.nodes.iter_enumerated() {
            let statement = node.sure_index(Some(self.program));
            let Some(statement) = statement.filter(|_| super::begun(node)) else {
                continue;
            };
            let bodies = bodies_around(run, trace, self.program, node.parent);
            for inner in self.outward(statement, &bodies) {
                let around = self.program.get(inner).and_then(|own| own.parent);
                let known = last.entry((node.parent, around)).or_insert((inner, at));
                if inner > known.0 {
                    *known = (inner, at);
                }
            }
        }
        let mut last: Vec<_> = last.into_iter().collect();
        last.sort_by_key(|(_, (_, at))| *at);
        for ((parent, _), (statement, at)) in last {
            let mut lines = self.passed_over(parent, statement);
            lines.retain(|line| known.insert(*line));
            if !lines.is_empty() {
                found.push((at, lines));
            }
        }
        found
    }
}

/// Returns whether the round of a node is a guess: the in-place form counts rounds and does not keep where each began.
fn guessed_round(trace: &Trace, node: &Node) -> bool {
    let around = node.parent.and_then(|at| Some((at, trace.node(at)?)));
    let Some((at, round)) = around.filter(|(_, round)| round.kind.is_round() && round.derived)
    else {
        return false;
    };
    // The only round of a loop is none.
    let is_first = matches!(round.kind, NodeKind::Round { n: 1 });
    let next = trace.node(trace.end(at));
    let another = next.is_some_and(|next| next.kind.is_round() && next.parent == round.parent);
    !is_first || another
}

/// Returns whether the program runs a statement whenever it reaches it. What runs for each item may run for none, and a
/// value needs no execution. Of alternatives, one runs if there is one for every case; a `try` needs no execution of
/// its own. Gates are judged by [`super::Gates`].
pub(super) fn has_to_run(program: &Listing, statement: u32) -> bool {
    let Some(kind) = program.get(statement).map(|own| own.kind) else {
        return false;
    };
    let works = |at: u32| {
        let mut inner = program.children(at);
        inner.any(|at| has_to_run(program, at))
    };
    let options = || program.children(statement);
    match kind {
        Kind::Session
        | Kind::Resume
        | Kind::Parallel
        | Kind::Repeat
        | Kind::Loop
        | Kind::Do
        | Kind::Arrow
        | Kind::Exec
        | Kind::Call => !program.has_items(statement),
        Kind::Try => works(statement),
        Kind::Choice => options().next().is_some() && options().all(works),
        Kind::If => {
            let later = std::iter::successors(Some(statement), |at| program.next_sibling(*at));
            let ways = later.take_while(|at| program.choice(*at) == Some(statement));
            let ways: Vec<u32> = ways.collect();
            let last = ways.last().and_then(|at| program.get(*at));
            last.is_some_and(|last| last.kind == Kind::Else) && ways.into_iter().all(works)
        }
        _ => false,
    }
}

/// Returns whether a statement and those beside it run one after the other: they are not branches, nor options of a
/// choice.
pub(super) fn in_sequence(program: &Listing, statement: u32) -> bool {
    let around = program.get(statement).and_then(|own| own.parent);
    let kind = around.and_then(|at| program.get(at)).map(|s| s.kind);
    match kind {
        Some(Kind::Parallel) => around.is_some_and(|at| program.has_items(at)),
        Some(Kind::Choice | Kind::Gate) => false,
        _ => true,
    }
}

/// The most levels of executions, inside of one call, whose bodies are looked for: programs are nested less.
const MOST_LEVELS: usize = 64;

/// Returns the statements whose bodies run in `parent` and around it, up to the call of a block. The execution of a
/// branch may name the line of its `try`, so that a `finally` in it is not inside of that statement.
pub(super) fn bodies_around(
    run: &Run,
    trace: &Trace,
    program: &Listing,
    parent: Option<NodeId>,
) -> BTreeSet<u32> {
    let mut bodies = BTreeSet::new();
    for at in trace.upward(parent).take(MOST_LEVELS) {
        bodies.extend(body_of(run, trace, program, at));
        if trace.node(at).is_some_and(|node| node.block(run).is_some()) {
            break;
        }
    }
    bodies
}

/// Returns the statement whose body runs in a node: the block of a call, the loop of a round, or its own.
pub(super) fn body_of(run: &Run, trace: &Trace, program: &Listing, at: NodeId) -> Option<u32> {
    let node = trace.node(at)?;
    let statement = |at: NodeId| trace.node(at)?.sure_index(Some(program));
    if let Some(block) = node.block(run) {
        return program.block_named(block);
    }
    match &node.kind {
        NodeKind::Round { .. } => statement(node.parent?),
        NodeKind::Branch { .. } if trace.borrows_line(node) => statement(node.parent?),
        _ => statement(at),
    }
}
