//! The way from a position to the program's end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::ahead::{Ahead, FRAMES, How, MOST};
use super::{Facts, Scopes};
use crate::model::Gate;
use crate::program::{Listing, Statement, StatementKind as Kind};
use crate::text::short;
use crate::trace::{NodeId, NodeKind, NodeStatus};

/// Walks on from one position after the other.
pub(super) struct Walk<'a> {
    pub(super) facts: Facts<'a>,
    pub(super) listing: &'a Listing,
    scopes: &'a Scopes<'a>,
    /// Where each statement stands in `ahead`, by the frame and the called block that it runs in.
    seen: BTreeMap<(u32, Option<i64>, Option<u32>), usize>,
    /// Parallels whose branches were looked through, with what they come to first.
    branched: BTreeMap<Parted, Option<usize>>,
    /// What the present position comes to first.
    pub(super) first: Option<usize>,
    pub(super) ahead: Vec<Ahead>,
    pub(super) notes: Vec<String>,
    /// Whether more lies ahead, or may, than is known.
    pub(super) cut: bool,
    /// Whether what the present position goes on behind failed.
    failed: bool,
    pub(super) stand: usize,
    /// The gate that was decided last where the present position goes on, and whether the program does not simply go
    /// on behind it.
    pub(super) decided: Option<(NodeId, bool)>,
    /// Gates by their ids, of which the first row counts.
    gates: BTreeMap<&'a str, &'a Gate>,
    /// Blocks that statements ahead call, and what those lie in: looked at once all else is.
    calls: VecDeque<(u32, Inside)>,
    /// The bindings that inputs ask for, by name and scope.
    given: BTreeSet<(&'a str, Option<i64>)>,
}

/// A parallel, its node, and what that runs in: scope and called block.
type Parted = (u32, Option<NodeId>, Option<i64>, Option<u32>);

/// What a statement ahead runs in.
#[derive(Clone, Copy)]
struct Inside {
    /// The innermost node around it; `None` is the program itself.
    node: Option<NodeId>,
    scope: Option<i64>,
    called: Option<u32>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(facts: Facts<'a>, listing: &'a Listing, scopes: &'a Scopes<'a>) -> Walk<'a> {
        let gates = facts.run.gates.iter().rev();
        Walk {
            facts,
            listing,
            scopes,
            gates: gates.map(|gate| (&*gate.id, gate)).collect(),
            seen: BTreeMap::new(),
            branched: BTreeMap::new(),
            first: None,
            ahead: Vec::new(),
            notes: Vec::new(),
            cut: false,
            failed: false,
            stand: 0,
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

    /// What is ahead of a node, itself included; of nothing, what is behind all that ended.
    pub(super) fn from(&mut self, node: Option<NodeId>) {
        let status = node
            .and_then(|at| self.facts.trace.node(at))
            .map(|n| &n.status);
        self.failed = status == Some(&NodeStatus::Failed);
        let Some((at, own)) = node.and_then(|n| Some((n, self.facts.trace.node(n)?))) else {
            return self.resume(None, None);
        };
        let around = self.inside(own.parent);
        let statement = self.facts.statement(at);
        let leaf = matches!(own.kind, NodeKind::Gate { .. })
            || (self.facts.trace.children(Some(at)).next().is_none()
                && !matches!(own.kind, NodeKind::Frame { .. }));
        match (statement, leaf) {
            (Some(statement), true) => {
                self.subtree(statement, How::Here, around);
                self.behind(statement, around);
            }
            (statement, false) => {
                if let Some(statement) = statement {
                    self.add(statement, How::Here, around);
                }
                self.resume(Some(at), statement);
            }
            (None, true) => {
                self.unknown(format!(
                    "`{}` is tied to no line of the program: what follows it there is not known",
                    short(&own.text, 60)
                ));
                self.out_of(own.parent);
            }
        }
    }

    /// Notes from where on it is not known what lies ahead.
    fn unknown(&mut self, note: String) {
        self.notes.push(note);
        self.cut = true;
    }

    /// The bodies of the blocks that are called ahead, and of those that these call.
    pub(super) fn called(&mut self) {
        while let Some((block, around)) = self.calls.pop_front() {
            let inside = Inside {
                called: Some(block),
                ..around
            };
            self.body(block, How::Called, inside);
        }
    }

    /// Goes on inside of a node (or of the program), behind what was recorded last in it.
    fn resume(&mut self, node: Option<NodeId>, statement: Option<u32>) {
        let mut at = (node, statement);
        while let Some((node, statement)) = self.resume_in(at.0, at.1) {
            at = (Some(node), Some(statement));
        }
    }

    /// The same, one level of it: returns what came last where no record says whether that is over. The run then goes
    /// on inside of it.
    fn resume_in(&mut self, node: Option<NodeId>, statement: Option<u32>) -> Option<(NodeId, u32)> {
        let around = self.inside(node);
        let own = node.and_then(|n| self.facts.trace.node(n));
        if own.is_some_and(|n| n.kind == NodeKind::Parallel) {
            if let Some(statement) = statement {
                self.branches(statement, node, around);
                self.behind(statement, self.inside(own.and_then(|n| n.parent)));
            }
            return None;
        }
        // Of a loop the last round counts; a round that is over is followed by the next.
        let last = self.facts.trace.children(node).last();
        let round = last.and_then(|n| Some((n, self.facts.trace.node(n)?)));
        let (last, over) = match round {
            Some((at, n)) if matches!(n.kind, NodeKind::Round { .. }) => (
                self.facts.trace.children(Some(at)).last(),
                n.status == NodeStatus::Completed,
            ),
            _ => (last, false),
        };
        let ended = last
            .filter(|_| !over)
            .and_then(|n| self.latest_sibling(n))
            .and_then(|n| Some((n, self.facts.statement(n)?)));
        match ended {
            Some((node, ended)) if self.may_be_open(node) => return Some((node, ended)),
            Some((node, ended)) => {
                let own = self.facts.trace.node(node);
                if own.is_some_and(|n| n.status == NodeStatus::Unknown) {
                    // Its last mark is no end: an attempt that began, an option that was announced.
                    self.subtree(ended, How::Next, around);
                }
                self.failed = own.is_some_and(|n| n.status == NodeStatus::Failed);
                if self.goes_on(node) {
                    self.behind(ended, around);
                } else if let Some(handler) = self
                    .listing
                    .try_of(ended)
                    .and_then(|t| self.listing.catch_of(t))
                {
                    self.subtree(handler, How::Next, around);
                    self.behind(handler, around);
                }
            }
            None => {
                let body = match own.map(|n| &n.kind) {
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
                    None if node.is_none() => self.program(),
                    None => self.out_of(own.and_then(|n| n.parent)),
                }
            }
        }
        None
    }

    /// Whether no record says that a block is over: a log without an end leaves what it opened unknown, and of a loop whose
    /// rounds only bindings record nothing records whether its condition was met.
    fn may_be_open(&self, node: NodeId) -> bool {
        let block = |kind: &NodeKind| {
            matches!(
                kind,
                NodeKind::Loop | NodeKind::Parallel | NodeKind::Frame { .. }
            )
        };
        let own = self.facts.trace.node(node);
        own.is_some_and(|n| {
            let open = n.status == NodeStatus::Unknown || (n.derived && n.status.is_open());
            open && block(&n.kind)
        })
    }

    /// Whether the program simply goes on behind what ended: not behind a gate that was turned down, unless it says so.
    fn goes_on(&mut self, node: NodeId) -> bool {
        let Some(own) = self.facts.trace.node(node) else {
            return true;
        };
        let NodeKind::Gate { gate } = &own.kind else {
            return true;
        };
        let refused = matches!(own.status, NodeStatus::Rejected | NodeStatus::Timeout);
        let row = self.gates.get(&**gate).copied();
        let action = row.and_then(|g| g.on_reject.as_deref()).or_else(|| {
            let statement = self.facts.statement(node)?;
            self.listing.get(statement)?.property("on_reject")
        });
        let goes_on = !refused || action.is_some_and(crate::gate::is_continue);
        self.decided = Some((node, !goes_on));
        goes_on
    }

    /// Of a node and those beside it, the one whose statement stands last in the program: rows may be written out of
    /// order.
    fn latest_sibling(&self, node: NodeId) -> Option<NodeId> {
        let parent = self.facts.trace.node(node)?.parent;
        self.facts
            .trace
            .children(parent)
            .filter(|n| self.facts.statement(*n).is_some())
            .max_by_key(|n| self.facts.statement(*n))
    }

    /// Everything, from the first statement on.
    fn program(&mut self) {
        let around = self.inside(None);
        let mut at = self.listing.get(0).map(|_| 0);
        while let Some(statement) = at {
            self.subtree(statement, How::Next, around);
            at = self.listing.next_sibling(statement);
        }
    }

    /// What follows a node that is tied to no line.
    fn out_of(&mut self, parent: Option<NodeId>) {
        let tied = self
            .facts
            .trace
            .upward(parent)
            .find_map(|n| Some((n, self.facts.statement(n)?)));
        if let Some((node, statement)) = tied {
            let around = self.inside(self.facts.trace.node(node).and_then(|n| n.parent));
            self.behind(statement, around);
        }
    }

    /// What follows a statement: beside it, then behind what it lies in, frame by frame out to the program's end.
    fn behind(&mut self, statement: u32, around: Inside) {
        let mut at = (statement, around);
        let mut frames = 0;
        while self.ahead.len() < MOST && !self.beside(at.0, at.1) {
            let Some(parent) = self.listing.get(at.0).and_then(|s| s.parent) else {
                return;
            };
            let block = self
                .listing
                .get(parent)
                .is_some_and(|s| s.kind == Kind::Block);
            frames += usize::from(block);
            match self.out(parent, at.1, frames) {
                Some(out) => at = out,
                None => return,
            }
        }
    }

    /// What is still to run of a statement whose body ended, and the statement that the run goes on after: of a block's the one
    /// that called it.
    fn out(&mut self, body: u32, around: Inside, frames: usize) -> Option<(u32, Inside)> {
        match self.listing.get(body)?.kind {
            Kind::Block => return self.caller(around, frames),
            Kind::Parallel => {
                let node = self.node_of(body, around.node);
                self.branches(body, node, around);
            }
            kind if (kind.is_loop() || kind == Kind::Pipe)
                && self.goes_round(body, around.node) =>
            {
                self.add(body, How::Again, around);
                self.body(body, How::Again, around);
            }
            _ => {}
        }
        Some((body, around))
    }

    /// The statement that called the frame around, and what that lies in. Of very deep calls the middle is left out.
    fn caller(&mut self, around: Inside, frames: usize) -> Option<(u32, Inside)> {
        if around.called.is_some() {
            return None;
        }
        let Some(mut frame) = self.facts.trace.frame(around.node) else {
            self.unknown(
                "no record says what called the block: what follows the call is not known"
                    .to_owned(),
            );
            return None;
        };
        if frames == FRAMES {
            let outer: Vec<NodeId> = self
                .facts
                .trace
                .upward(Some(frame))
                .filter(|n| {
                    self.facts
                        .trace
                        .node(*n)
                        .is_some_and(|n| matches!(n.kind, NodeKind::Frame { .. }))
                })
                .collect();
            if let Some(skipped) = outer.len().checked_sub(FRAMES).filter(|n| *n > 0) {
                self.notes.push(format!(
                    "{skipped} frames between the innermost and the outermost {FRAMES} were not looked at"
                ));
                frame = outer.get(skipped).copied().unwrap_or(frame);
            }
        }
        // A call that is tied to no line lies in something that is.
        let tied = self
            .facts
            .trace
            .upward(Some(frame))
            .find_map(|n| Some((n, self.facts.statement(n)?)));
        let Some((node, call)) = tied else {
            self.unknown(
                "a frame's call is tied to no line: what follows it is not known".to_owned(),
            );
            return None;
        };
        let outer = self.inside(self.facts.trace.node(node).and_then(|n| n.parent));
        Some((call, outer))
    }

    /// The statements after one in the same body. True when another position has come this way before: what follows
    /// from there on is known.
    fn beside(&mut self, statement: u32, around: Inside) -> bool {
        let kind = |at: u32| self.listing.get(at).map(|s| s.kind);
        let inside = self
            .listing
            .get(statement)
            .and_then(|s| s.parent)
            .and_then(kind);
        // Branches run beside each other, and of options and handlers only one does.
        if matches!(inside, Some(Kind::Parallel | Kind::Choice | Kind::Gate)) {
            return false;
        }
        let mut decided = matches!(kind(statement), Some(Kind::If | Kind::Elif | Kind::Else));
        let mut at = self.listing.next_sibling(statement);
        while let Some(next) = at {
            let known = self.seen.get(&(next, around.scope, around.called)).copied();
            let known = known.filter(|at| {
                self.ahead.get(*at).is_some_and(|a| {
                    matches!(a.how, How::Here | How::Next) && a.stand != self.stand
                })
            });
            if let Some(known) = known {
                self.first.get_or_insert(known);
                return true;
            }
            if self.ahead.len() >= MOST {
                return true;
            }
            match kind(next) {
                Some(Kind::Elif | Kind::Else) if decided => {}
                Some(Kind::Catch) => {
                    // The run does not go on at a handler unless what it handles failed.
                    let first = self.first;
                    self.subtree(next, How::Maybe, around);
                    if !self.failed {
                        self.first = first;
                    }
                }
                _ => {
                    decided = false;
                    self.subtree(next, How::Next, around);
                }
            }
            at = self.listing.next_sibling(next);
        }
        false
    }

    /// The branches of a parallel that no node has ended, or that none has begun. Every position in a branch comes out of
    /// its parallel: they are looked through for the first one.
    fn branches(&mut self, parallel: u32, node: Option<NodeId>, around: Inside) {
        let around = node.map_or(around, |n| self.inside(Some(n)));
        let key = (parallel, node, around.scope, around.called);
        let before = self.first.take();
        let own = match self.branched.get(&key) {
            Some(known) => *known,
            None => {
                self.all_branches(parallel, node, around);
                self.branched.insert(key, self.first);
                self.first
            }
        };
        self.first = before.or(own);
    }

    fn all_branches(&mut self, parallel: u32, node: Option<NodeId>, around: Inside) {
        let branches: Vec<u32> = self.listing.children(parallel).collect();
        // By name and by statement, of those that were not only announced.
        let (mut names, mut statements) = (BTreeSet::new(), BTreeSet::new());
        let facts = self.facts;
        let inner = node.map(|node| facts.trace.children(Some(node)));
        for at in inner.into_iter().flatten() {
            let own = facts.trace.node(at);
            let Some(own) = own.filter(|n| !(n.derived && n.status == NodeStatus::Pending)) else {
                continue;
            };
            if let NodeKind::Branch { branch } = &own.kind {
                names.insert(&**branch);
            }
            statements.extend(facts.statement(at));
        }
        for branch in branches {
            let name = self.listing.get(branch).and_then(|s| s.name.as_deref());
            let named = name.is_some_and(|name| names.contains(name));
            if !named && !statements.contains(&branch) {
                self.subtree(branch, How::Next, around);
            }
        }
    }

    /// Whether a loop around a place may have another round: not when its last one is under way.
    fn goes_round(&self, statement: u32, node: Option<NodeId>) -> bool {
        let Some(at) = self.node_of(statement, node) else {
            return true;
        };
        let round = self.facts.trace.children(Some(at)).last();
        match (
            round
                .and_then(|n| self.facts.trace.node(n))
                .map(|n| &n.kind),
            self.facts.trace.node(at).and_then(|n| n.max),
        ) {
            (Some(NodeKind::Round { n }), Some(max)) => *n < max,
            _ => true,
        }
    }

    /// The node around a place that is tied to a statement.
    fn node_of(&self, statement: u32, node: Option<NodeId>) -> Option<NodeId> {
        self.facts
            .trace
            .upward(node)
            .find(|n| self.facts.statement(*n) == Some(statement))
    }

    /// What lies directly in a statement, each with what lies in it.
    fn body(&mut self, statement: u32, how: How, around: Inside) {
        let children: Vec<u32> = self.listing.children(statement).collect();
        for child in children {
            let maybe = self.listing.get(child).is_some_and(|s| depends(s.kind));
            self.subtree(child, if maybe { how.max(How::Maybe) } else { how }, around);
        }
    }

    /// A statement and all that lies in it, and the blocks that are called there.
    fn subtree(&mut self, statement: u32, how: How, around: Inside) {
        let mut at = statement;
        let Some(end) = self.listing.get(statement).map(|s| s.end) else {
            return;
        };
        let own = self.listing.get(statement).map(|s| s.kind);
        if own.is_some_and(|kind| kind == Kind::Block) {
            return;
        }
        while let Some(this) = self.listing.get(at).filter(|s| s.line <= end) {
            if self.ahead.len() >= MOST {
                return;
            }
            // Inside of a condition, a catch, a choice or a gate's handler it depends.
            let depends = at != statement
                && std::iter::once(at)
                    .chain(self.listing.enclosing(at))
                    .take_while(|a| *a != statement)
                    .any(|a| {
                        self.listing
                            .get(a)
                            .and_then(|s| s.parent)
                            .and_then(|p| self.listing.get(p))
                            .is_some_and(|p| depends_inside(p.kind))
                    });
            let how = match depends {
                true => how.max(How::Maybe),
                false if at != statement && how == How::Here => How::Next,
                false => how,
            };
            if !this.kind.is_declaration() && !self.is_given(this, around) {
                self.add(at, how, around);
            }
            at += 1;
        }
    }

    /// Whether a statement asks for a value that is there.
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
        if self.ahead.len() >= MOST {
            return;
        }
        let next = self.ahead.len();
        self.first.get_or_insert(next);
        self.seen.insert(key, next);
        self.ahead.push(Ahead {
            statement,
            how,
            scope: around.scope,
            called: around.called,
            stand: self.stand,
        });
        let Some(this) = self.listing.get(statement) else {
            return;
        };
        let block = match this.kind {
            Kind::Do => this
                .target
                .as_deref()
                .and_then(|b| self.listing.block_named(b)),
            _ => None,
        };
        // A call that is under way has a frame of its own, which is looked at from inside.
        let under_way = how == How::Here && around.called.is_none();
        if let Some(block) = block.filter(|b| !under_way && around.called != Some(*b)) {
            self.calls.push_back((block, around));
        }
    }
}

/// The bindings that have the name of an input.
fn given<'a>(facts: Facts<'a>, listing: &'a Listing) -> BTreeSet<(&'a str, Option<i64>)> {
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

/// Whether an input is given when the program begins; one with a prompt (`input x: **Go on?**`) is asked for on the way.
pub(super) fn is_given(statement: &Statement) -> bool {
    statement.kind == Kind::Input && statement.property("prompt").is_none()
}

/// Whether a statement runs only when something else decides so.
fn depends(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::If | Kind::Elif | Kind::Else | Kind::Catch | Kind::Choice | Kind::Option
    )
}

/// Whether what lies directly in a statement runs only when something else decides so.
fn depends_inside(kind: Kind) -> bool {
    depends(kind) || kind == Kind::Gate
}
