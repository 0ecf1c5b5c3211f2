//! Finds what a run left out inside of what it recorded: bodies and rounds without a record, and handlers that ran
//! although nothing failed.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::begun;
use super::order::{body_of, has_to_run};
use crate::model::Run;
use crate::program::{Listing, StatementKind as Kind};
use crate::trace::{Node, NodeId, NodeKind, NodeStatus, Trace};

/// What an execution lacks, although its program says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// A record of anything in its body: of a call, a taken alternative, a parallel, a `repeat`, a `try`.
    Body,
    /// Rounds: a `repeat` ended after fewer than it counts.
    Rounds {
        /// The recorded rounds.
        done: u32,
        /// The rounds of the program.
        of: i64,
    },
    /// A failure in the `try` of this `catch`.
    Failure {
        /// The line of the `try`.
        tried: u32,
    },
}

impl Lack {
    /// Returns in words what is lacking: `nothing is recorded of its body`.
    pub fn told(&self) -> String {
        match self {
            Lack::Body => "nothing is recorded of its body".to_owned(),
            Lack::Rounds { done, of } => {
                format!("the program counts {of} rounds, and the record has {done}")
            }
            Lack::Failure { tried } => {
                format!("no failure is recorded in the `try` at line {tried}")
            }
        }
    }
}

/// What a run recorded of the bodies of its program. Each command that ends something asks for one execution, so what
/// needs the whole trace is collected only when it is asked for.
pub struct Bodies<'a> {
    run: &'a Run,
    trace: &'a Trace,
    program: &'a Listing,
    /// The statements that are recorded anywhere.
    recorded: OnceCell<BTreeSet<u32>>,
    /// The statements by the execution that they ran in.
    inside: OnceCell<BTreeSet<(Option<NodeId>, u32)>>,
    /// The executions that ended badly, or of which the end is not known, in order.
    bad: OnceCell<Vec<NodeId>>,
}

impl<'a> Bodies<'a> {
    /// Returns what a run recorded; `None` if its records have no order or are not rows, and may be an excerpt.
    pub fn of(run: &'a Run, trace: &'a Trace, program: &'a Listing) -> Option<Bodies<'a>> {
        if !run.recorded_in_rows() || trace.unordered {
            return None;
        }
        Some(Bodies {
            run,
            trace,
            program,
            recorded: OnceCell::new(),
            inside: OnceCell::new(),
            bad: OnceCell::new(),
        })
    }

    /// Returns the statement of a node. A guessed line is no proof, but enough to say nothing.
    fn tied(&self, node: &Node) -> Option<u32> {
        self.program.begun_at(node.line?)
    }

    fn recorded(&self) -> &BTreeSet<u32> {
        self.recorded.get_or_init(|| {
            let nodes = self.trace.nodes.iter();
            nodes.filter_map(|node| self.tied(node)).collect()
        })
    }

    fn inside(&self) -> &BTreeSet<(Option<NodeId>, u32)> {
        self.inside.get_or_init(|| {
            let nodes = self.trace.nodes.iter();
            nodes
                .filter_map(|node| Some((node.parent, self.tied(node)?)))
                .collect()
        })
    }

    fn bad(&self) -> &[NodeId] {
        self.bad.get_or_init(|| {
            let nodes = self.trace.nodes.iter_enumerated();
            let bad = nodes.filter(|(_, node)| ended_badly(node));
            bad.map(|(at, _)| at).collect()
        })
    }

    /// Returns what each execution lacks, in order of the trace.
    pub fn lacks(&self) -> impl Iterator<Item = (NodeId, Lack)> + '_ {
        let nodes = self.trace.nodes.iter_enumerated();
        nodes.filter_map(|(at, node)| Some((at, self.lack(at, node)?)))
    }

    fn lack(&self, at: NodeId, node: &Node) -> Option<Lack> {
        if !begun(node) {
            return None;
        }
        match (self.own(node), &node.status) {
            (Some((catch, Kind::Catch)), _) => {
                let tried = self.nothing_failed(node.parent, catch, at)?;
                Some(Lack::Failure { tried })
            }
            (_, NodeStatus::Completed) => self.of_end(at),
            _ => None,
        }
    }

    /// Returns the statement that a node certainly records, and its kind.
    fn own(&self, node: &Node) -> Option<(u32, Kind)> {
        let own = node.sure_index(Some(self.program))?;
        Some((own, self.program.get(own)?.kind))
    }

    /// Returns what an execution lacks that ends successfully.
    pub fn of_end(&self, at: NodeId) -> Option<Lack> {
        let node = self.trace.node(at)?;
        let own = self.own(node);
        if self.has_no_body(at, node, own.map(|(_, kind)| kind)) {
            return Some(Lack::Body);
        }
        let (own, Kind::Repeat) = own? else {
            return None;
        };
        let of = self.program.get(own)?.most_rounds()?;
        let done = self.trace.last_round(at)?;
        (i64::from(done) < of && !self.leaves(own)).then_some(Lack::Rounds { done, of })
    }

    /// Returns the line of the `try` of a `catch` that begins, or begins as the node `before`, in the execution
    /// `parent`, if what is recorded of the `try` neither failed nor ended in an unknown way.
    pub fn nothing_failed(
        &self,
        parent: Option<NodeId>,
        catch: u32,
        before: NodeId,
    ) -> Option<u32> {
        let tried = self.program.leader(catch);
        let first = parent.map_or(NodeId::new(0), NodeId::next);
        let mut ran = self.inside().range((parent, tried)..(parent, catch));
        let is_known = tried != catch && ran.next().is_some();
        let bad = self.bad();
        let next = bad.get(bad.partition_point(|at| *at < first));
        let failed = next.is_some_and(|at| *at < before);
        let line = self.program.get(tried)?.line;
        (is_known && !failed).then_some(line)
    }

    /// Returns whether nothing is recorded of a body that has something to run.
    fn has_no_body(&self, at: NodeId, node: &Node, kind: Option<Kind>) -> bool {
        let is_call = node.block(self.run).is_some();
        // The condition of an `if` that is a branch may have been false.
        let kind =
            kind.filter(|kind| *kind != Kind::If || !matches!(node.kind, NodeKind::Branch { .. }));
        let has_body = is_call
            || matches!(
                kind,
                Some(
                    Kind::If | Kind::Elif | Kind::Else | Kind::Repeat | Kind::Parallel | Kind::Try
                )
            );
        let Some(body) = body_of(self.run, self.trace, self.program, at).filter(|_| has_body)
        else {
            return false;
        };
        if self.program.has_items(body) || self.trace.children(Some(at)).next().is_some() {
            return false;
        }
        let is_branch =
            matches!(node.kind, NodeKind::Branch { .. }) && self.trace.borrows_line(node);
        let mut inner = self.program.children(body);
        !is_branch
            && inner.any(|at| has_to_run(self.program, at))
            && self
                .recorded()
                .range(body + 1..)
                .next()
                .is_none_or(|at| !self.program.contains(body, *at))
    }

    /// Returns whether a loop may end early: its body returns, throws, or asks at a gate.
    fn leaves(&self, own: u32) -> bool {
        let inner = (own + 1..).take_while(|at| self.program.contains(own, *at));
        let mut kinds = inner.filter_map(|at| Some(self.program.get(at)?.kind));
        kinds.any(|kind| matches!(kind, Kind::Return | Kind::Output | Kind::Throw | Kind::Gate))
    }
}

/// Returns whether an execution failed, once or for good, or may have.
fn ended_badly(node: &Node) -> bool {
    let well = matches!(
        node.status,
        NodeStatus::Completed
            | NodeStatus::Skipped
            | NodeStatus::Pending
            | NodeStatus::Executing
            | NodeStatus::Started
            | NodeStatus::Iteration
            | NodeStatus::Approved
    );
    !well || node.recovered || node.attempts > 1
}
