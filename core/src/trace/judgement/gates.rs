//! Finds the gates that bar what follows them.

use std::collections::{BTreeMap, BTreeSet};

use super::order::{bodies_around, body_of, in_sequence};
use super::{GateBar, Why, begun, has_catch, has_labels};
use crate::model::visit;
use crate::model::{Gate, GateStatus, Run, RunStatus, Text};
use crate::program::{Listing, StatementKind as Kind};
use crate::read::gate::{first_word, is_continue, is_end};
use crate::trace::{Node, NodeId, NodeKind, NodeStatus, Trace};

/// The gates of a run, as far as they bar what follows them.
pub struct Gates<'a> {
    run: &'a Run,
    trace: &'a Trace,
    program: Option<&'a Listing>,
    visits: Vec<Visit>,
    /// The visits that bar what follows, by the node around each body that they bar, as indices in `visits`, each with
    /// the body.
    barring: BTreeMap<Option<NodeId>, Vec<(usize, BarredBody)>>,
    /// Whether the program shows where somebody has to be asked: it has gates, and none of them may lead back to a
    /// label.
    misses: bool,
}

/// The most bodies of all visits together that are looked at, in which a hostile run may nest its gates.
const MOST_BODIES: usize = 200_000;

/// The most visits of one body that are looked at: what follows needs only one that bars.
const MOST_VISITS: usize = 64;

/// One visit to a gate.
struct Visit {
    node: NodeId,
    /// The gate's name in the program, without the number of the visit.
    name: Text,
    /// Why the visit bars what follows; `None` if it was approved, or the program goes on after a rejection.
    why: Option<Why>,
    /// The place of the visit's first record in the order of records.
    asked: i64,
    /// The bodies in which the visit bars what comes after it, from the inside out.
    bodies: Vec<BarredBody>,
    /// When the program reached the same gate again in the same body. From then on, only the later visit counts.
    again: Option<i64>,
}

/// A body in which a visit to a gate bars what comes after it.
#[derive(Clone, Copy)]
struct BarredBody {
    /// The node around the body; `None` for the program.
    outer: Option<NodeId>,
    /// The node directly in the body that is the gate or contains it.
    inner: NodeId,
    /// When a node between the gate and the body was tried again: from then on, the visit bars nothing here.
    until: Option<i64>,
}

impl<'a> Gates<'a> {
    /// Finds the gates of a run.
    pub fn of(run: &'a Run, trace: &'a Trace, program: Option<&'a Listing>) -> Gates<'a> {
        let mut gates = Gates {
            run,
            trace,
            program,
            visits: Vec::new(),
            barring: BTreeMap::new(),
            misses: program.is_some_and(|program| has_gates(program) && !has_labels(program)),
        };
        let mut room = MOST_BODIES;
        let by_id: BTreeMap<&str, &Gate> = run.gates.iter().map(|gate| (&*gate.id, gate)).collect();
        for (at, node) in trace.nodes.iter_enumerated() {
            if let NodeKind::Gate { gate } = &node.kind {
                let gate = (gate, by_id.get(&**gate).copied());
                let visit = gates.visit(at, node, gate, &mut room);
                gates.visits.push(visit);
            }
        }
        gates.visits.sort_by_key(|visit| visit.asked);
        let mut later: BTreeMap<(Text, Option<NodeId>), i64> = BTreeMap::new();
        for visit in gates.visits.iter_mut().rev() {
            let parent = trace.node(visit.node).and_then(|node| node.parent);
            visit.again = later.insert((visit.name.clone(), parent), visit.asked);
        }
        let bars = gates
            .visits
            .iter()
            .enumerate()
            .filter(|(_, visit)| visit.why.is_some());
        for (nth, visit) in bars {
            for body in &visit.bodies {
                let known = gates.barring.entry(body.outer).or_default();
                if known.len() < MOST_VISITS {
                    known.push((nth, *body));
                }
            }
        }
        gates
    }

    fn visit(
        &self,
        at: NodeId,
        node: &Node,
        (id, gate): (&Text, Option<&Gate>),
        room: &mut usize,
    ) -> Visit {
        let own = node.sure_statement(self.program);
        let action = gate.and_then(|gate| gate.on_reject.as_deref());
        let action = action.or_else(|| own?.property("on_reject"));
        let barred = !action.is_some_and(|action| self.goes_elsewhere(action));
        let why = match node.status {
            NodeStatus::Rejected if barred => Some(Why::Rejected),
            NodeStatus::Timeout if barred => Some(Why::TimedOut),
            _ if gate.is_none() && self.was_recorded(node) => Some(Why::Gone),
            // In a run that has ended, a gate that still waits counts as abandoned.
            _ if node.status.is_open() || gate.is_some_and(waits) => Some(Why::Pending),
            _ => None,
        };
        let asked = self.order(at, node.first_row);
        Visit {
            node: at,
            name: visit(id).0.into(),
            why,
            asked,
            bodies: self.bodies(at, (why.unwrap_or(Why::Pending), asked), room),
            again: None,
        }
    }

    /// Returns whether a gate was recorded together with the execution that waits at it, unless gates could not be
    /// read.
    fn was_recorded(&self, node: &Node) -> bool {
        let placed = |row: Option<u32>| {
            let row = row.and_then(|row| self.run.executions.get(row as usize));
            let meta = row.and_then(|row| row.meta.as_deref());
            meta.is_some_and(|meta| meta.audit_seq.is_some())
        };
        let unread = self.run.issues.iter().any(|issue| {
            let file = issue.location.file.as_deref().unwrap_or_default();
            issue.location.table.as_deref() == Some("gates") || file.starts_with("gates")
        });
        !unread && (placed(node.first_row) || placed(node.last_row))
    }

    /// Returns the gates whose records are no longer there, each with the execution that asked.
    pub(super) fn gone(&self) -> impl Iterator<Item = (NodeId, GateBar)> + '_ {
        let gone = self
            .visits
            .iter()
            .filter(|visit| visit.why == Some(Why::Gone));
        gone.filter_map(|visit| Some((visit.node, self.of_visit(visit)?)))
    }

    /// Returns whether the program goes on after a rejection: with `continue`, or with an action that this program may
    /// use to lead back to a label.
    fn goes_elsewhere(&self, action: &str) -> bool {
        let ends = is_end(action) || matches!(first_word(action.trim()), "throw" | "");
        is_continue(action) || !ends && self.program.is_some_and(has_labels)
    }

    /// Returns a number by which records are ordered: the id of a row, else the place in the trace.
    fn order(&self, at: NodeId, row: Option<u32>) -> i64 {
        let row = row.and_then(|row| self.run.executions.get(row as usize));
        row.map_or_else(|| i64::from(at.get()), |row| row.id)
    }

    /// Returns the bodies in which a gate bars what comes after it.
    fn bodies(&self, gate: NodeId, (why, asked): (Why, i64), room: &mut usize) -> Vec<BarredBody> {
        let mut bodies = Vec::new();
        let mut until: Option<i64> = None;
        let mut inner = gate;
        while let Some(left) = room.checked_sub(1) {
            *room = left;
            let outer = self.trace.node(inner).and_then(|node| node.parent);
            // The branches of a parallel go on. What follows the parallel waits for all of them, unless it needs only
            // some, or goes on when one fails.
            let node = outer.and_then(|at| self.trace.node(at));
            let caught = why != Why::Pending && self.is_caught(inner, outer);
            let goes_on = |node: &Node| node.allows_failure(self.run, self.program).is_some();
            if caught || node.is_some_and(goes_on) {
                return bodies;
            }
            if let Some(node) = node.filter(|node| node.attempts > 1) {
                *room = room.saturating_sub(node.aliases.len());
                let later = node.retries(self.run).filter(|id| *id > asked);
                until = later.chain(until).min();
            }
            if !node.is_some_and(holds_branches) {
                bodies.push(BarredBody {
                    outer,
                    inner,
                    until,
                });
            }
            let Some(next) = outer else {
                return bodies;
            };
            inner = next;
        }
        bodies
    }

    /// Returns whether a `catch` takes a failure in `inner` before it reaches what follows in `outer`. A `try` need not
    /// be recorded as an execution.
    fn is_caught(&self, inner: NodeId, outer: Option<NodeId>) -> bool {
        let (Some(program), Some(own)) = (self.program, self.statement(inner)) else {
            return false;
        };
        let around = outer.and_then(|at| self.statement(at));
        std::iter::once(own)
            .chain(program.enclosing(own))
            .take_while(|at| Some(*at) != around)
            .any(|at| program.catch_of(at).is_some())
    }

    /// Returns the index of the statement that a node certainly records.
    fn statement(&self, at: NodeId) -> Option<u32> {
        self.trace.node(at)?.sure_index(self.program)
    }

    /// Returns the first gate that bars a statement which would begin now: in the execution `parent`, as the statement
    /// with this index in the program. `None` if the statement is one that the program does not have. `asks` is the
    /// name of the gate at which the statement asks: a gate may be asked again after a rejection.
    pub fn bar(
        &self,
        parent: Option<NodeId>,
        statement: Option<u32>,
        asks: Option<&str>,
    ) -> Option<GateBar> {
        // The bodies around the statement, each with what in it contains the statement; the innermost contains nothing
        // yet.
        let around = self.trace.upward(parent);
        let around = around.map(|at| (self.trace.node(at).and_then(|node| node.parent), Some(at)));
        let bars = |(outer, own): (Option<NodeId>, Option<NodeId>)| {
            let statement = own.map_or(statement, |own| self.statement(own));
            let visits = self.barring.get(&outer).into_iter().flatten();
            let mut visits = visits.filter_map(|(nth, body)| Some((self.visits.get(*nth)?, body)));
            let (visit, _) = visits.find(|(visit, BarredBody { inner, until, .. })| {
                let same = own.is_none() && *inner == visit.node && asks == Some(&*visit.name);
                visit.again.is_none()
                    && until.is_none()
                    && Some(*inner) != own
                    && !same
                    && !self.is_handler(statement, *inner)
            })?;
            self.of_visit(visit)
        };
        std::iter::once((parent, None))
            .chain(around)
            .find_map(bars)
            .or_else(|| self.unasked(parent, statement, i64::MAX))
    }

    /// Returns the rejected or timed-out gate because of which an execution cannot end successfully; `None` if the
    /// execution is the run.
    pub fn bar_of_end(&self, at: Option<NodeId>) -> Option<GateBar> {
        let caught = at.is_some_and(|at| has_catch(self.trace, self.program, at));
        let bars = |visit: &&Visit| {
            let refused = match visit.why {
                Some(Why::Rejected | Why::TimedOut) => !caught,
                why => why == Some(Why::Gone),
            };
            let mut bodies = visit.bodies.iter();
            refused
                && visit.again.is_none()
                && bodies.any(|body| body.outer == at && body.until.is_none())
        };
        let visit = self.visits.iter().find(bars);
        visit
            .and_then(|visit| self.of_visit(visit))
            .or_else(|| self.unasked_in(at))
    }

    /// Returns the first gate of a body, the program's or that of a called block, that nobody asked.
    fn unasked_in(&self, at: Option<NodeId>) -> Option<GateBar> {
        let program = self.program.filter(|_| self.misses)?;
        let body = match at {
            Some(at) if self.trace.node(at)?.block(self.run).is_some() => {
                Some(body_of(self.run, self.trace, program, at)?)
            }
            Some(_) => return None,
            None => None,
        };
        let last = match body {
            Some(body) => program.children(body).last()?,
            None => program.siblings(0).last()?,
        };
        self.unasked_before(program, at, last, i64::MAX, true)
    }

    fn of_visit(&self, visit: &Visit) -> Option<GateBar> {
        let node = self.trace.node(visit.node)?;
        let NodeKind::Gate { gate } = &node.kind else {
            return None;
        };
        Some(GateBar {
            gate: gate.clone(),
            why: visit.why.unwrap_or(Why::Pending),
            line: node.line.filter(|_| !node.line_guessed),
        })
    }

    /// Returns whether a statement is the `finally` of the `try` that a node records.
    fn is_handler(&self, statement: Option<u32>, tried: NodeId) -> bool {
        let (Some(program), Some(own), Some(of)) = (self.program, statement, self.statement(tried))
        else {
            return false;
        };
        of != own && program.leader(own) == of
    }

    /// Returns the first gate of the program that comes before a statement in its own body or in one around it, and
    /// that nobody asked before `order`.
    fn unasked(
        &self,
        parent: Option<NodeId>,
        statement: Option<u32>,
        order: i64,
    ) -> Option<GateBar> {
        let program = self.program.filter(|_| self.misses)?;
        let (mut parent, mut own) = (parent, statement);
        loop {
            if let Some(bar) = self.unasked_here(program, parent, own, order) {
                return Some(bar);
            }
            let node = parent.and_then(|at| self.trace.node(at))?;
            own = match node.kind {
                NodeKind::Round { .. } => {
                    parent.and_then(|at| body_of(self.run, self.trace, program, at))
                }
                _ => parent.and_then(|at| self.statement(at)),
            };
            // A branch begins beside the others, whatever came before it in its parallel.
            if matches!(node.kind, NodeKind::Branch { .. }) {
                own = None;
            }
            parent = node.parent;
        }
    }

    /// Returns the first gate before a statement in the body of `parent` that nobody asked. Of a construct that need
    /// not be recorded, such as an `if`, the statements before it count, too.
    fn unasked_here(
        &self,
        program: &Listing,
        parent: Option<NodeId>,
        own: Option<u32>,
        order: i64,
    ) -> Option<GateBar> {
        let around = bodies_around(self.run, self.trace, program, parent);
        let outward = own
            .into_iter()
            .flat_map(|own| std::iter::once(own).chain(program.enclosing(own)));
        let mut outward = outward.take_while(|at| !around.contains(at));
        outward.find_map(|at| self.unasked_before(program, parent, at, order, false))
    }

    fn unasked_before(
        &self,
        program: &Listing,
        parent: Option<NodeId>,
        own: u32,
        order: i64,
        with_own: bool,
    ) -> Option<GateBar> {
        if !in_sequence(program, own) {
            return None;
        }
        let inside = |visit: &&Visit| {
            self.trace
                .node(visit.node)
                .is_some_and(|n| n.parent == parent)
        };
        let asked = self.visits.iter().filter(|visit| visit.asked < order);
        let asked: BTreeSet<&str> = asked.filter(inside).map(|visit| &*visit.name).collect();
        let before = program
            .siblings(own)
            .take_while(|at| *at < own || with_own && *at == own);
        let gates = before
            .filter_map(|at| program.get(at))
            .filter(|s| s.kind == Kind::Gate);
        let mut named = gates.filter_map(|gate| Some((gate, gate.name.as_deref()?)));
        let (gate, name) = named.find(|(_, name)| !asked.contains(name))?;
        Some(GateBar {
            gate: name.into(),
            why: Why::NeverAsked,
            line: Some(gate.line),
        })
    }

    /// Returns the gates that the run went past, each with the first execution that did.
    pub(super) fn passed(&self) -> Vec<(GateBar, Option<NodeId>)> {
        let mut found = Vec::new();
        let mut known: BTreeSet<(Text, Why)> = BTreeSet::new();
        for (at, node) in self
            .trace
            .nodes
            .iter_enumerated()
            .filter(|(_, node)| begun(node))
        {
            let own = node.sure_statement(self.program);
            // To ask at another gate, or for an input, does nothing that a person would have to allow.
            let asks = own.is_some_and(|own| matches!(own.kind, Kind::Input | Kind::Use));
            if asks || node.kind.is_gate() {
                continue;
            }
            let begun = self.order(at, node.first_row);
            let statement = node.sure_index(self.program);
            let follows = |visit: &Visit, body: &BarredBody| {
                let over = [visit.again, body.until];
                visit.asked < begun
                    && over.iter().flatten().all(|over| begun < *over)
                    && body.inner != at
                    && !self.is_handler(statement, body.inner)
            };
            let barring = self.barring.get(&node.parent).into_iter().flatten();
            let mut barring =
                barring.filter_map(|(nth, body)| Some((self.visits.get(*nth)?, body)));
            let bar = barring.find(|(visit, body)| follows(visit, body));
            let bar = bar.map(|(visit, _)| visit).or_else(|| {
                // The gate may have been approved since.
                let mut visits = self
                    .visits
                    .iter()
                    .take(MOST_VISITS)
                    .filter(|_| self.is_forced(node));
                visits.find(|visit| {
                    let mut bodies = visit.bodies.iter();
                    bodies.any(|body| body.outer == node.parent && follows(visit, body))
                })
            });
            let bar = bar.and_then(|visit| self.of_visit(visit));
            // A state file or a log may be an excerpt, so only rows show that nobody asked. What is around the node
            // began, too, so only its own body is looked at.
            let unasked = || {
                let program = self
                    .program
                    .filter(|_| self.misses && self.run.recorded_in_rows())?;
                self.unasked_here(program, node.parent, statement, begun)
            };
            if let Some(bar) = bar.or_else(unasked)
                && known.insert((bar.gate.clone(), bar.why))
            {
                found.push((bar, Some(at)));
            }
        }
        if self.trace.verdict.status == RunStatus::Completed.word() {
            found.extend(self.ended_past(&known));
        }
        found
    }

    /// Returns whether an execution began past a pending gate because the caller insisted (`--force`).
    fn is_forced(&self, node: &Node) -> bool {
        let row = node
            .first_row
            .and_then(|row| self.run.executions.get(row as usize));
        let meta = row.and_then(|row| row.meta.as_deref());
        meta.is_some_and(|meta| meta.forced.iter().any(|rule| &**rule == WAITS))
    }

    /// Returns the gates that bar the end of the program, but that a completed run nevertheless has.
    fn ended_past(&self, known: &BTreeSet<(Text, Why)>) -> Vec<(GateBar, Option<NodeId>)> {
        let last = self
            .visits
            .iter()
            .filter(|visit| visit.again.is_none() && visit.why.is_some());
        let to_the_end = |visit: &&Visit| {
            let last = visit.bodies.last();
            last.is_some_and(|body| body.outer.is_none() && body.until.is_none())
        };
        let bars = last
            .filter(to_the_end)
            .filter_map(|visit| self.of_visit(visit));
        let unknown = bars.filter(|bar| !known.contains(&(bar.gate.clone(), bar.why)));
        unknown.map(|bar| (bar, None)).collect()
    }
}

/// The rule that refuses what follows a pending gate.
pub(crate) const WAITS: &str = "gate-waits";

/// Returns whether the program asks at gates that have a name.
fn has_gates(program: &Listing) -> bool {
    let mut all = program.statements.iter();
    all.any(|s| s.kind == Kind::Gate && s.name.is_some())
}

fn waits(gate: &Gate) -> bool {
    gate.status == GateStatus::Pending
}

fn holds_branches(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Parallel)
}
