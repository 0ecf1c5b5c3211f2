//! Walks from a position to the program's end and collects the statements on the way.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::ahead::{FRAMES, MOST, StatementAhead};
use super::{ResumeFacts, Scopes};
use crate::model::Gate;
use crate::model::text::short;
use crate::pages::view::How;
use crate::program::{Listing, Statement, StatementKind as Kind};
use crate::read::gate::is_continue;
use crate::record::NextPlace;
use crate::trace::{Node, NodeId, NodeKind, NodeStatus};

/// A walk that collects the statements ahead of each position, one position after the other.
pub(super) struct AheadWalk<'a> {
    facts: ResumeFacts<'a>,
    listing: &'a Listing,
    scopes: &'a Scopes<'a>,
    /// The index of each statement in `ahead`, by the frame and the called block that it runs in.
    seen: BTreeMap<(u32, Option<i64>, Option<u32>), usize>,
    /// The parallel blocks whose branches were already walked, each with the index in `ahead` of the first statement of
    /// its branches. `None`: no statement of its branches is ahead.
    branched: BTreeMap<ParallelKey, Option<usize>>,
    /// The index of the first statement ahead of the position that is being walked.
    pub(super) first: Option<usize>,
    pub(super) ahead: Vec<StatementAhead>,
    pub(super) notes: Vec<String>,
    /// Whether statements ahead may be missing from the list.
    pub(super) cut: bool,
    /// The last statement of the program that ran in a body, and its node, by the node around the body.
    farthest: BTreeMap<Option<NodeId>, Option<(u32, NodeId)>>,
    /// The present position: an index into [`super::ResumePlan::positions`].
    pub(super) position: usize,
    /// The gate that was decided last before the present position, and whether the decision keeps the program from
    /// continuing normally.
    pub(super) decided: Option<(NodeId, bool)>,
    /// The gates by id; of several rows with one id, the first.
    gates: BTreeMap<&'a str, &'a Gate>,
    /// Blocks called by statements ahead, each with the place of the call. Their bodies are walked last.
    calls: VecDeque<(u32, Inside)>,
    /// The bindings that have the name of an input, by name and scope.
    given: BTreeSet<(&'a str, Option<i64>)>,
}

/// The key of a parallel block: the statement, its node, its scope and the called block around it.
type ParallelKey = (u32, Option<NodeId>, Option<i64>, Option<u32>);

/// The surroundings of a statement ahead.
#[derive(Clone, Copy)]
struct Inside {
    /// The innermost node around the statement; `None` is the program itself.
    node: Option<NodeId>,
    scope: Option<i64>,
    called: Option<u32>,
}

impl<'a> AheadWalk<'a> {
    pub(super) fn new(
        facts: ResumeFacts<'a>,
        listing: &'a Listing,
        scopes: &'a Scopes<'a>,
    ) -> AheadWalk<'a> {
        let gates = facts.run.gates.iter().rev();
        AheadWalk {
            facts,
            listing,
            scopes,
            gates: gates.map(|gate| (&*gate.id, gate)).collect(),
            seen: BTreeMap::new(),
            branched: BTreeMap::new(),
            first: None,
            farthest: BTreeMap::new(),
            ahead: Vec::new(),
            notes: Vec::new(),
            cut: false,
            position: 0,
            decided: None,
            calls: VecDeque::new(),
            given: given(facts, listing),
        }
    }

    fn inside(&self, node: Option<NodeId>) -> Inside {
        Inside {
            node,
            scope: self.scopes.at(node),
            called: None,
        }
    }

    fn around(&self, node: &Node) -> Inside {
        self.inside(node.parent)
    }

    fn kind(&self, statement: u32) -> Option<Kind> {
        Some(self.listing.get(statement)?.kind)
    }

    pub(super) fn is_full(&self) -> bool {
        self.ahead.len() >= MOST
    }

    /// Collects the statements from a node on, the node's own statement included. For `None`, the walk starts after the
    /// statement that ended last.
    pub(super) fn from(&mut self, node: Option<NodeId>) {
        let found = node.and_then(|at| Some((at, self.facts.node(at)?)));
        let Some((at, own)) = found else {
            return self.resume(None, None);
        };
        let around = self.around(own);
        let is_empty = || self.facts.inner(Some(at)).next().is_none() && !own.is_frame;
        match (self.facts.statement(at), own.kind.is_gate() || is_empty()) {
            (Some(statement), true) => {
                self.subtree(statement, How::Here, around);
                self.goes_inside(statement, around);
                let last = self.passed_over(at, own, statement);
                self.behind(last.unwrap_or(statement), around);
            }
            (statement, false) => {
                if let Some(statement) = statement {
                    self.add(statement, How::Here, around);
                }
                // What runs next is inside of an open statement, unless nothing is left there.
                let own_first = self.first.take_if(|_| own.status.is_open());
                self.resume(Some(at), statement);
                let inside = |first: &usize| self.lies_in(own, statement, *first);
                self.first = match own_first {
                    Some(own_first) => self.first.filter(inside).or(Some(own_first)),
                    None => self.first,
                };
            }
            (None, true) => {
                self.unknown(format!(
                    "the line of `{}` in the program is unknown: the statements after that line are unknown",
                    short(&own.text, 60)
                ));
                self.out_of(own.parent);
            }
        }
    }

    /// Returns whether a statement ahead lies in the body of a node, which is tied to `statement` or calls a block.
    fn lies_in(&self, node: &Node, statement: Option<u32>, ahead: usize) -> bool {
        let body = match &node.kind {
            NodeKind::Frame { block, .. } => self.listing.block_named(block),
            _ => statement,
        };
        let ahead = self.ahead.get(ahead);
        body.zip(ahead)
            .is_some_and(|(body, ahead)| self.listing.contains(body, ahead.statement))
    }

    /// Lets the run go on at the first statement inside of an open statement in which nothing began.
    fn goes_inside(&mut self, statement: u32, around: Inside) {
        let inner = self.listing.first_in(Some(statement));
        let inner = inner.and_then(|at| self.seen.get(&(at, around.scope, around.called)));
        self.first = inner.copied().or(self.first);
    }

    /// Returns the index in `ahead` of the statement with which a position goes on.
    pub(super) fn ahead_at(&mut self, stand: NextPlace) -> Option<usize> {
        let inside = stand.inside.and_then(|id| self.facts.trace.of_row(id));
        let around = self.inside(inside);
        self.first = None;
        self.add(stand.statement, How::Next, around);
        self.first
    }

    /// Returns the last statement that ran in the body of an open one, for example of a gate that still waits, although
    /// it comes later. The run went on with it, so that it does not come next.
    fn passed_over(&mut self, at: NodeId, own: &Node, statement: u32) -> Option<u32> {
        let facts = self.facts;
        let outer = own.parent.and_then(|parent| facts.node(parent));
        let is_beside = outer.is_some_and(|outer| outer.kind == NodeKind::Parallel);
        if is_beside || !own.status.is_open() {
            return None;
        }
        let ran = |(_, node): &(NodeId, &Node)| {
            !node.derived && !matches!(node.status, NodeStatus::Pending | NodeStatus::Skipped)
        };
        let farthest = self.farthest.entry(own.parent).or_insert_with(|| {
            let inner = facts.inner(own.parent).filter(ran);
            inner
                .filter_map(|(at, _)| Some((facts.statement(at)?, at)))
                .max()
        });
        let (last, later) = (*farthest)?;
        (last > statement && later > at && !self.listing.contains(statement, last)).then_some(last)
    }

    /// Marks the plan as incomplete and notes why.
    pub(super) fn unknown(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
        self.cut = true;
    }

    /// Collects the statements in the blocks that statements ahead call, and in the blocks that these blocks call.
    pub(super) fn called(&mut self) {
        while let Some((block, around)) = self.calls.pop_front() {
            let called = Some(block);
            self.body(block, How::Called, Inside { called, ..around });
        }
    }

    /// Continues inside a node, or inside the program, after the last statement that is recorded inside.
    fn resume(&mut self, node: Option<NodeId>, statement: Option<u32>) {
        let mut at = (node, statement);
        while let Some((node, statement)) = self.resume_in(at.0, at.1) {
            at = (Some(node), Some(statement));
        }
    }

    /// Does one level of [`AheadWalk::resume`]. Returns the last statement if no record shows that it ended; the walk
    /// then continues inside that statement.
    fn resume_in(&mut self, node: Option<NodeId>, statement: Option<u32>) -> Option<(NodeId, u32)> {
        let facts = self.facts;
        let around = self.inside(node);
        let own = node.and_then(|at| facts.node(at));
        if let Some(own) = own.filter(|own| own.kind == NodeKind::Parallel) {
            let statement = statement?;
            self.branches(statement, node, around);
            self.behind(statement, self.around(own));
            return None;
        }
        // In a loop, the last round counts, or the next round if the last one is complete. Rows may be written out of
        // order, so the recorded statement that is last in the program counts as the last one.
        let within = match facts.inner(node).last() {
            Some((_, last)) if last.kind.is_round() && last.status == NodeStatus::Completed => None,
            Some((at, last)) if last.kind.is_round() => Some(Some(at)),
            _ => Some(node),
        };
        let inner = within.into_iter().flat_map(|within| facts.inner(within));
        let tied = inner.filter_map(|(at, node)| Some((facts.statement(at)?, at, node)));
        let Some((ended, at, last)) = tied.max_by_key(|(statement, ..)| *statement) else {
            self.begin(node, own, statement, around);
            return None;
        };
        if may_be_open(last) {
            return Some((at, ended));
        }
        if last.status == NodeStatus::Unknown {
            // The last record of this statement is not an end: an attempt began, or an option was announced.
            self.subtree(ended, How::Next, around);
        }
        if self.goes_on(at, last, ended) {
            self.behind(ended, around);
        } else if let Some(handler) = self.listing.handler(ended) {
            self.subtree(handler, How::Next, around);
            self.behind(handler, around);
        }
        None
    }

    /// Walks the body of a node (or the program) in which nothing ended yet, and then the statements after it.
    fn begin(
        &mut self,
        node: Option<NodeId>,
        own: Option<&Node>,
        statement: Option<u32>,
        around: Inside,
    ) {
        let body = match own.map(|own| &own.kind) {
            Some(NodeKind::Frame { block, .. }) => self.listing.block_named(block),
            _ => statement,
        };
        match body {
            Some(body) => {
                self.body(body, How::Next, around);
                if let Some((after, around)) = self.out(body, around, 1) {
                    self.behind(after, around);
                }
            }
            None if node.is_none() => {
                let first = self.listing.get(0).map(|_| 0);
                for statement in first.into_iter().flat_map(|at| self.listing.siblings(at)) {
                    self.subtree(statement, How::Next, around);
                }
            }
            None => self.out_of(own.and_then(|own| own.parent)),
        }
    }

    /// Returns whether the program simply continues after a statement. After a rejected or timed-out gate, it continues
    /// only if the gate's `on_reject` is an action such as `continue`.
    fn goes_on(&mut self, at: NodeId, node: &Node, statement: u32) -> bool {
        let NodeKind::Gate { gate } = &node.kind else {
            return true;
        };
        let refused = matches!(node.status, NodeStatus::Rejected | NodeStatus::Timeout);
        let row = self.gates.get(&**gate);
        let recorded = row.and_then(|gate| gate.on_reject.as_deref());
        let action = recorded.or_else(|| self.listing.get(statement)?.property("on_reject"));
        let goes_on = !refused || action.is_some_and(is_continue);
        self.decided = Some((at, !goes_on));
        goes_on
    }

    /// Continues after `parent`, or after the nearest node around `parent` that has a program line.
    fn out_of(&mut self, parent: Option<NodeId>) {
        if let Some((node, statement)) = self.facts.tied(parent) {
            self.behind(statement, self.around(node));
        }
    }

    /// Walks the statements that follow a statement: those in the same body, then those after the enclosing statements,
    /// frame by frame out to the program's end.
    fn behind(&mut self, statement: u32, around: Inside) {
        let mut at = Some((statement, around));
        let mut frames = 0;
        while let Some((statement, around)) = at {
            if self.is_full() || self.beside(statement, around) {
                return;
            }
            let parent = self.listing.get(statement).and_then(|s| s.parent);
            frames += usize::from(parent.and_then(|at| self.kind(at)) == Some(Kind::Block));
            at = parent.and_then(|parent| self.out(parent, around, frames));
        }
    }

    /// Walks the rest of a statement whose body ended, and returns the statement after which the run continues. After a
    /// block, the run continues after the call of the block.
    fn out(&mut self, body: u32, around: Inside, frames: usize) -> Option<(u32, Inside)> {
        let kind = self.kind(body)?;
        match kind {
            Kind::Block => return self.caller(around, frames),
            Kind::Parallel => self.branches(body, self.node_of(body, around), around),
            _ if (kind.is_loop() || kind == Kind::Pipe) && self.goes_round(body, around) => {
                self.add(body, How::Again, around);
                self.body(body, How::Again, around);
            }
            _ => {}
        }
        Some((body, around))
    }

    /// Returns the statement that called the enclosing frame, with its surroundings. In a very deep chain of calls, the
    /// calls in the middle are skipped.
    fn caller(&mut self, around: Inside, frames: usize) -> Option<(u32, Inside)> {
        if around.called.is_some() {
            return None;
        }
        let trace = self.facts.trace;
        let Some(mut frame) = trace.frame(around.node) else {
            self.unknown("the call of the current block is not recorded: the statements after the call are unknown");
            return None;
        };
        if frames == FRAMES {
            let is_frame = |at: &NodeId| trace.node(*at).is_some_and(|node| node.is_frame);
            let outer: Vec<NodeId> = trace.upward(Some(frame)).filter(is_frame).collect();
            if let Some(skipped @ 1..) = outer.len().checked_sub(FRAMES) {
                self.notes.push(format!(
                    "of a deep chain of calls, {skipped} frames between the innermost and the outermost {FRAMES} were not examined"
                ));
                frame = outer.get(skipped).copied().unwrap_or(frame);
            }
        }
        // If the call has no program line, the nearest node around the call that has one is used.
        let Some((node, call)) = self.facts.tied(Some(frame)) else {
            self.unknown(
                "the line of a frame's call is unknown: the statements after that line are unknown",
            );
            return None;
        };
        Some((call, self.around(node)))
    }

    /// Walks the statements that follow a statement in the same body. Returns true if the walk from an earlier position
    /// already listed the rest, or if the list is full.
    fn beside(&mut self, statement: u32, around: Inside) -> bool {
        let parent = self.listing.get(statement).and_then(|s| s.parent);
        // Branches run in parallel, and of several options or handlers only one runs, so siblings do not follow each
        // other.
        if let Some(Kind::Parallel | Kind::Choice | Kind::Gate) =
            parent.and_then(|at| self.kind(at))
        {
            return false;
        }
        let mut decided = self.kind(statement).is_some_and(Kind::is_way);
        let listing = self.listing;
        let next = |at: &u32| listing.next_sibling(*at);
        for at in std::iter::successors(next(&statement), next) {
            let known = self.seen.get(&(at, around.scope, around.called));
            let is_sure = |at: &&usize| {
                let known = self.ahead.get(**at);
                known.is_some_and(|a| {
                    matches!(a.how, How::Here | How::Next) && a.position != self.position
                })
            };
            if let Some(known) = known.filter(is_sure) {
                self.first.get_or_insert(*known);
                return true;
            }
            if self.is_full() {
                return true;
            }
            match self.kind(at) {
                Some(Kind::Elif | Kind::Else) if decided => {}
                Some(Kind::Catch) => {
                    let first = self.first;
                    self.subtree(at, How::Maybe, around);
                    self.first = first;
                }
                _ => {
                    decided = false;
                    self.subtree(at, How::Next, around);
                }
            }
        }
        false
    }

    /// Walks the branches of a parallel block that have not begun. The walks from all positions in branches reach the
    /// parallel block, but only the first walk lists these branches.
    fn branches(&mut self, parallel: u32, node: Option<NodeId>, around: Inside) {
        let around = node.map_or(around, |at| self.inside(Some(at)));
        let key = (parallel, node, around.scope, around.called);
        let before = self.first.take();
        let own = self.branched.get(&key).copied().unwrap_or_else(|| {
            self.all_branches(parallel, node, around);
            self.branched.insert(key, self.first);
            self.first
        });
        self.first = before.or(own);
    }

    fn all_branches(&mut self, parallel: u32, node: Option<NodeId>, around: Inside) {
        // Collects begun branches by name and by statement; a branch that was only announced has not begun.
        let (mut names, mut statements) = (BTreeSet::new(), BTreeSet::new());
        let facts = self.facts;
        for (at, own) in node.into_iter().flat_map(|node| facts.inner(Some(node))) {
            if own.derived && own.status == NodeStatus::Pending {
                continue;
            }
            if let NodeKind::Branch { branch } = &own.kind {
                names.insert(&**branch);
            }
            statements.extend(facts.statement(at));
        }
        let listing = self.listing;
        for branch in listing.children(parallel) {
            let name = listing.get(branch).and_then(|s| s.name.as_deref());
            let named = name.is_some_and(|name| names.contains(name));
            if !named && !statements.contains(&branch) {
                self.subtree(branch, How::Next, around);
            }
        }
    }

    /// Returns whether a loop may run another round; false while the last allowed round runs.
    fn goes_round(&self, statement: u32, around: Inside) -> bool {
        let most = || {
            let at = self.node_of(statement, around)?;
            let (_, round) = self.facts.inner(Some(at)).last()?;
            Some((round, self.facts.node(at)?.max?))
        };
        !most().is_some_and(|(round, max)| matches!(round.kind, NodeKind::Round { n } if n >= max))
    }

    /// Returns the node of a statement among the nodes around a place.
    fn node_of(&self, statement: u32, around: Inside) -> Option<NodeId> {
        let mut upward = self.facts.trace.upward(around.node);
        upward.find(|at| self.facts.statement(*at) == Some(statement))
    }

    /// Collects the statements directly inside a statement, each with its contents.
    fn body(&mut self, statement: u32, how: How, around: Inside) {
        let listing = self.listing;
        for child in listing.children(statement) {
            let maybe = self.kind(child).is_some_and(depends);
            self.subtree(child, if maybe { how.max(How::Maybe) } else { how }, around);
        }
    }

    /// Collects a statement with its contents, and queues the blocks called there.
    fn subtree(&mut self, statement: u32, how: How, around: Inside) {
        let listing = self.listing;
        let own = listing.get(statement);
        let Some(own) = own.filter(|own| own.kind != Kind::Block) else {
            return;
        };
        // The last line that runs only under a condition: inside a conditional, a catch, a choice or a gate's handler.
        let mut depends_until = 0;
        for at in statement.. {
            let this = listing.get(at).filter(|s| s.line <= own.end);
            let Some(this) = this.filter(|_| !self.is_full()) else {
                return;
            };
            let how = match how {
                _ if at == statement => how,
                _ if this.line <= depends_until => how.max(How::Maybe),
                How::Here => How::Next,
                _ => how,
            };
            if depends(this.kind) || this.kind == Kind::Gate {
                depends_until = depends_until.max(this.end);
            }
            if !this.kind.is_declaration() && !self.is_given(this, around) {
                self.add(at, how, around);
            }
        }
    }

    /// Returns whether a statement is an input whose value exists, so that it does not run again.
    fn is_given(&self, statement: &'a Statement, around: Inside) -> bool {
        let name = statement.name.as_deref();
        let name = name.filter(|_| statement.kind == Kind::Input);
        let there = |scope| name.is_some_and(|name| self.given.contains(&(name, scope)));
        there(None) || there(around.scope)
    }

    fn add(&mut self, statement: u32, how: How, around: Inside) {
        let key = (statement, around.scope, around.called);
        if let Some(known) = self.seen.get(&key) {
            self.first.get_or_insert(*known);
            if let Some(at) = self.ahead.get_mut(*known).filter(|_| how == How::Here) {
                at.how = how;
            }
            return;
        }
        let Some(this) = self.listing.get(statement).filter(|_| !self.is_full()) else {
            return;
        };
        let next = self.ahead.len();
        self.first.get_or_insert(next);
        self.seen.insert(key, next);
        self.ahead.push(StatementAhead {
            statement,
            how,
            scope: around.scope,
            called: around.called,
            position: self.position,
        });
        // A call that is running has its own frame; the position in that frame is walked separately.
        let under_way = how == How::Here && around.called.is_none();
        let calls = this.kind == Kind::Do && !under_way;
        let target = this.target.as_deref().filter(|_| calls);
        let block = target.and_then(|block| self.listing.block_named(block));
        if let Some(block) = block.filter(|block| around.called != Some(*block)) {
            self.calls.push_back((block, around));
        }
    }
}

/// Returns whether a block may still be open. A log without an end leaves open blocks unknown, and if only bindings
/// record a loop's rounds, it is unknown whether the loop's condition was met.
fn may_be_open(node: &Node) -> bool {
    let open = node.status == NodeStatus::Unknown || (node.derived && node.status.is_open());
    let block = matches!(
        node.kind,
        NodeKind::Loop | NodeKind::Parallel | NodeKind::Frame { .. }
    );
    open && block
}

/// Returns the bindings that have the name of an input, by name and scope.
fn given<'a>(facts: ResumeFacts<'a>, listing: &'a Listing) -> BTreeSet<(&'a str, Option<i64>)> {
    let inputs = listing.statements.iter().filter(|s| s.kind == Kind::Input);
    let names: BTreeSet<&str> = inputs.filter_map(|s| s.name.as_deref()).collect();
    if names.is_empty() {
        return BTreeSet::new();
    }
    let bindings = facts.run.bindings.iter();
    bindings
        .filter_map(|b| Some((*names.get(&*b.name)?, b.execution_id)))
        .collect()
}

/// Returns whether a statement runs only under a condition.
fn depends(kind: Kind) -> bool {
    kind.is_way() || matches!(kind, Kind::Catch | Kind::Choice)
}
