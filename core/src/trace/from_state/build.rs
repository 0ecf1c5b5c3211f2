//! Nodes of what ran, each in the construct, round or frame that it lies in.

use std::collections::{BTreeMap, BTreeSet};

use super::disk::bound;
use super::facts::Facts;
use super::frames::{self, Open};
use super::next;
use crate::gate::visit;
use crate::model::{Run, Text};
use crate::program::{Statement, StatementKind};
use crate::trace::emit::{derived, word};
use crate::trace::gates::status as gate_status;
use crate::trace::verdict::recorded;
use crate::trace::{Node, NodeKind, NodeStatus};

/// The place of what is tied to no line: behind everything that is.
pub(super) const LAST: u32 = u32::MAX;
/// Rounds that are listed though nothing but their number is known.
const MOST_ROUNDS: u32 = 1_000;

/// Builds the nodes; parents are indices, siblings stand in the order of the program.
pub(super) fn nodes(run: &Run, facts: &mut Facts<'_>) -> Vec<Node> {
    let mut builder = Builder {
        facts,
        nodes: Vec::new(),
        keys: Vec::new(),
        node_of: Vec::new(),
        round_of: BTreeMap::new(),
        holder: Vec::new(),
        names: BTreeMap::new(),
        gone: BTreeMap::new(),
        innermost: BTreeMap::new(),
        rounds_left: MOST_ROUNDS,
    };
    let open = frames::open(run, &mut builder);
    for frame in &open {
        if let Some(block) = frame.block {
            builder.innermost.insert(block, frame.node);
        }
    }
    let calls = builder.consumed(&open);
    builder.statements(run, &calls);
    builder.places(&open, &calls);
    builder.branches(run);
    builder.strays();
    builder.unplaced_constructs(run);
    builder.gates(run);
    frames::finished(run, &mut builder, &open);
    builder.next(run);
    builder.sorted()
}

/// Nodes under construction.
pub(super) struct Builder<'f, 'a> {
    pub(super) facts: &'f mut Facts<'a>,
    nodes: Vec<Node>,
    /// Line and order of making, by node.
    keys: Vec<(u32, u32)>,
    /// The node of each statement.
    node_of: Vec<Option<u32>>,
    /// The round that a loop is in, by its statement.
    round_of: BTreeMap<u32, u32>,
    /// What a statement's children lie in.
    holder: Vec<Option<u32>>,
    /// Statements by block and the name they bind.
    names: BTreeMap<(u32, &'a str), u32>,
    /// Nodes that became part of others.
    gone: BTreeMap<u32, u32>,
    /// The innermost open frame of each block: what the markers in its body speak of.
    innermost: BTreeMap<u32, u32>,
    rounds_left: u32,
}

impl<'a> Builder<'_, 'a> {
    pub(super) fn push(&mut self, node: Node, key: u32) -> u32 {
        let at = self.nodes.len() as u32;
        self.nodes.push(node);
        self.keys.push((key, at));
        at
    }

    pub(super) fn node(&self, at: u32) -> Option<&Node> {
        self.nodes.get(at as usize)
    }

    pub(super) fn set_parent(&mut self, at: u32, parent: Option<u32>) {
        if let Some(node) = self.nodes.get_mut(at as usize) {
            node.parent = parent.filter(|p| *p != at);
        }
    }

    /// Statements whose node is an open frame: the frame, by statement.
    fn consumed(&self, open: &[Open]) -> BTreeMap<u32, u32> {
        let mut calls = BTreeMap::new();
        for frame in open {
            let Some(call) = frame.call else { continue };
            let in_parallel = self
                .facts
                .statement(call)
                .and_then(|s| s.parent)
                .is_some_and(|p| self.is_parallel(p));
            let current = match frame.above {
                None => true,
                Some(above) => open
                    .get(above)
                    .is_some_and(|a| a.block.and_then(|b| self.innermost.get(&b)) == Some(&a.node)),
            };
            if current && !in_parallel {
                calls.insert(call, frame.node);
            }
        }
        calls
    }

    fn is_parallel(&self, at: u32) -> bool {
        self.facts
            .statement(at)
            .is_some_and(|s| s.kind == StatementKind::Parallel && !s.text.contains("parallel for"))
    }

    /// Makes the node of every statement that ran, and of the parallels and loops around it.
    fn statements(&mut self, run: &Run, calls: &BTreeMap<u32, u32>) {
        let count = self.facts.listing.statements.len();
        let mut inner = vec![false; count];
        let mut inner_open = vec![false; count];
        let mut last_ran: BTreeMap<Option<u32>, u32> = BTreeMap::new();
        let mut kept = vec![false; count];
        for at in (0..count as u32).rev() {
            let (Some(statement), Some(fact)) = (self.facts.statement(at), self.facts.get(at))
            else {
                continue;
            };
            let i = at as usize;
            let in_frame = calls.contains_key(&at);
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
    fn make(&self, run: &Run, at: u32, over: bool) -> Option<Node> {
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
                .all(|c| self.facts.get(c).is_some_and(super::facts::Fact::is_over))
    }

    fn rounds(&mut self, at: u32, node: u32, holds: bool) {
        let Some(fact) = self.facts.get(at) else {
            return;
        };
        if !self.facts.statement(at).is_some_and(|s| s.kind.is_loop()) {
            return;
        }
        // Entered, and nothing says how often: what ran in it ran in the first round.
        let entered = fact.construct.is_some() && holds;
        let Some(total) = fact.round.or(entered.then_some(1)) else {
            return;
        };
        let status = self
            .node(node)
            .map_or(NodeStatus::Started, |n| n.status.clone());
        let last = match &status {
            NodeStatus::Failed | NodeStatus::Skipped => NodeStatus::CutOff,
            status if status.is_open() => NodeStatus::Started,
            _ => NodeStatus::Completed,
        };
        let round = self.add_rounds(node, total, last);
        self.round_of.insert(at, round);
    }

    /// Rounds of which nothing but the number is known; the last one is given back.
    fn add_rounds(&mut self, node: u32, total: u32, last: NodeStatus) -> u32 {
        let key = self.keys.get(node as usize).map_or(LAST, |k| k.0);
        let listed = (total.saturating_sub(1)).min(self.rounds_left);
        self.rounds_left -= listed;
        let mut at = node;
        for n in (1..=listed).chain([total]) {
            let status = if n == total {
                last.clone()
            } else {
                NodeStatus::Completed
            };
            let round = derived(NodeKind::Round { n }, format!("round {n}").into(), status);
            at = self.push(round, key);
            self.set_parent(at, Some(node));
        }
        at
    }

    /// Puts every node into what it lies in.
    fn places(&mut self, open: &[Open], calls: &BTreeMap<u32, u32>) {
        let count = self.facts.listing.statements.len();
        self.holder = vec![None; count];
        // The last finished call of a block: what its body's markers speak of when no frame is open.
        let mut last_call: BTreeMap<String, u32> = BTreeMap::new();
        for node in self.node_of.iter().flatten() {
            if let Some(NodeKind::Frame { block, .. }) = self.node(*node).map(|n| &n.kind) {
                last_call.insert(block.to_string(), *node);
            }
        }
        for at in 0..count as u32 {
            let Some(statement) = self.facts.statement(at) else {
                break;
            };
            let outer = statement
                .parent
                .and_then(|p| self.holder.get(p as usize).copied().flatten());
            let own = self.node_of.get(at as usize).copied().flatten();
            if let Some(node) = own {
                self.set_parent(node, outer);
            }
            let holder = match statement.kind {
                StatementKind::Block => {
                    let name = statement.name.as_deref().unwrap_or_default();
                    self.innermost
                        .get(&at)
                        .copied()
                        .or_else(|| last_call.get(name).copied())
                }
                _ => self.round_of.get(&at).copied().or(own).or(outer),
            };
            if let Some(slot) = self.holder.get_mut(at as usize) {
                *slot = holder;
            }
        }
        for frame in open {
            let taken = frame
                .call
                .is_some_and(|call| calls.get(&call) == Some(&frame.node));
            if taken {
                continue;
            }
            let branch = frame.call.filter(|call| {
                self.facts
                    .statement(*call)
                    .and_then(|s| s.parent)
                    .is_some_and(|p| self.is_parallel(p))
            });
            let branch = branch.and_then(|call| self.node_of.get(call as usize).copied().flatten());
            let above = frame
                .above
                .and_then(|above| open.get(above))
                .map(|f| f.node);
            self.set_parent(frame.node, branch.or(above));
        }
    }

    /// Branches that a parallel's section names and the program does not.
    fn branches(&mut self, run: &Run) {
        let Some(file) = &run.state_file else { return };
        for at in 0..self.node_of.len() as u32 {
            let Some(node) = self.node_of_statement(at) else {
                continue;
            };
            let construct = self.facts.get(at).and_then(|f| f.construct);
            let Some(state) = construct
                .and_then(|c| file.parallels.get(c as usize))
                .filter(|_| self.is_parallel(at))
            else {
                continue;
            };
            for (name, status) in &state.branches {
                let known = self.facts.listing.branch_of(at, name);
                if known.and_then(|k| self.node_of_statement(k)).is_some() {
                    continue;
                }
                let statement = known.and_then(|k| self.facts.statement(k));
                self.branch(
                    node,
                    name,
                    word(status),
                    statement.map(|s| (s.line, s.text.as_str())),
                );
            }
        }
    }

    fn branch(&mut self, parallel: u32, name: &Text, status: NodeStatus, at: Option<(u32, &str)>) {
        let text = at.map_or_else(|| name.clone(), |(_, text)| text.into());
        let mut branch = derived(
            NodeKind::Branch {
                branch: name.clone(),
            },
            text,
            status,
        );
        branch.line = at.map(|(line, _)| line);
        // It is announced; anything more is said of it.
        branch.derived = branch.status == NodeStatus::Pending;
        let key = branch
            .line
            .or(self.keys.get(parallel as usize).map(|k| k.0))
            .unwrap_or(LAST);
        let at = self.push(branch, key);
        self.set_parent(at, Some(parallel));
    }

    /// Annotated lines that no statement is like, behind the one before them.
    fn strays(&mut self) {
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
    fn unplaced_constructs(&mut self, run: &Run) {
        let Some(file) = &run.state_file else { return };
        let placed = |kind: fn(StatementKind) -> bool| -> BTreeSet<u32> {
            let all = self.facts.of.iter().zip(&self.facts.listing.statements);
            all.filter(|(_, s)| kind(s.kind))
                .filter_map(|(f, _)| f.construct)
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
    fn gates(&mut self, run: &Run) {
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
            let outer = statement
                .and_then(|s| s.parent)
                .and_then(|p| self.holder.get(p as usize).copied().flatten());
            let key = node.line.unwrap_or(LAST);
            let at = self.push(node, key);
            self.set_parent(at, outer);
        }
    }

    /// Where a run stands that nothing is marked in: before the statement behind the last that ran.
    fn next(&mut self, run: &Run) {
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
        let Some(at) = next::statement(self.facts, &status) else {
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

    pub(super) fn node_of_statement(&self, at: u32) -> Option<u32> {
        self.node_of.get(at as usize).copied().flatten()
    }

    pub(super) fn statement_in(&self, block: u32, name: &str) -> Option<u32> {
        self.names.get(&(block, name)).copied()
    }

    /// The block that a frame runs, in the program.
    pub(super) fn block_of_frame(&self, frame: u32) -> Option<u32> {
        match &self.node(frame)?.kind {
            NodeKind::Frame { block, .. } => self.facts.blocks.get(&**block).copied(),
            _ => None,
        }
    }

    /// Whether a node lies in a frame, nearer than any other frame. Constructs of a program are not nested deep; the
    /// bound keeps hostile ones cheap.
    pub(super) fn lies_in(&self, node: u32, frame: u32) -> bool {
        let mut at = Some(node);
        for _ in 0..64 {
            let Some(parent) = at.and_then(|at| self.node(at)?.parent) else {
                return false;
            };
            if parent == frame {
                return true;
            }
            if self
                .node(parent)
                .is_some_and(|n| matches!(n.kind, NodeKind::Frame { .. }))
            {
                return false;
            }
            at = Some(parent);
        }
        false
    }

    /// Finished calls of a block whose frame is not known, in order.
    pub(super) fn calls_without_id(&self, block: &str) -> Vec<u32> {
        let is_call = |n: &Node| {
            n.id.is_none()
                && !n.status.is_open()
                && matches!(&n.kind, NodeKind::Frame { block: b, .. } if **b == *block)
        };
        self.node_of
            .iter()
            .flatten()
            .copied()
            .filter(|at| self.node(*at).is_some_and(is_call))
            .collect()
    }

    /// Makes a frame known by its bindings the one that a call made.
    pub(super) fn absorb(&mut self, call: u32, frame: u32) {
        let id = self.node(frame).and_then(|n| n.id);
        if let Some(node) = self.nodes.get_mut(call as usize) {
            node.id = id;
        }
        self.gone.insert(frame, call);
    }

    pub(super) fn mark_inferred(&mut self, at: u32) {
        if let Some(node) = self.nodes.get_mut(at as usize) {
            node.inferred = true;
        }
    }

    /// The node that stands for another.
    pub(super) fn resolved(&self, at: u32) -> u32 {
        self.gone.get(&at).copied().unwrap_or(at)
    }

    /// All nodes, siblings in the order of the program.
    fn sorted(self) -> Vec<Node> {
        let mut order: Vec<u32> = (0..self.nodes.len() as u32)
            .filter(|at| !self.gone.contains_key(at))
            .collect();
        order.sort_by_key(|at| self.keys.get(*at as usize).copied());
        let mut place = vec![None; self.nodes.len()];
        for (new, old) in (0_u32..).zip(&order) {
            if let Some(slot) = place.get_mut(*old as usize) {
                *slot = Some(new);
            }
        }
        let gone = self.gone;
        let mut pool: Vec<Option<Node>> = self.nodes.into_iter().map(Some).collect();
        order
            .iter()
            .filter_map(|old| {
                let mut node = pool.get_mut(*old as usize)?.take()?;
                node.parent = node
                    .parent
                    .map(|p| gone.get(&p).copied().unwrap_or(p))
                    .and_then(|p| place.get(p as usize).copied().flatten());
                Some(node)
            })
            .collect()
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
