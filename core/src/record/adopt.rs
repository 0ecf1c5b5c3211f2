//! Converts the `state.md` of a run that was recorded by hand into rows, so that commands can append events to the run.

use std::borrow::Cow;

use typed_index_collections::TiVec;

use std::collections::{BTreeMap, BTreeSet};

use super::meta::MetaKeys;
use super::{Change, ExecutionRow, Style};
use crate::model::{Run, Status};
use crate::program::Listing;
use crate::trace::{Node, NodeId, NodeKind, NodeStatus, Trace};

/// Returns rows for everything that the state file of a run records as executed. Commands then append further rows. The
/// rows have no times, because the state file has none.
///
/// A frame keeps its recorded id, because bindings refer to the frame by this id. Events before the first frame get
/// lower ids, so that the ids are in the order of the trace. If the next id already belongs to a frame, an event gets
/// an id above the ids of all frames. A pending statement that was only inferred gets no row. A pending gate without a
/// file gets no row either: `gate create` records that gate.
pub fn first_events(run: &Run, trace: &Trace, program: Option<&Listing>) -> Vec<ExecutionRow> {
    let adopting = Adopting::of(run, trace, program);
    let ids = adopting.ids();
    adopting.rows(&ids, Style::Files)
}

/// The rows of a hand-written state file, as a database has them.
#[derive(Debug, Default)]
pub struct StateFileRows {
    /// The rows, in the order of the events. A row that opened an execution says so only as long as the execution is
    /// open.
    pub rows: Vec<ExecutionRow>,
    /// The ids of the frames: as the state file has them, and as the rows have them. The ids of rows are in the order
    /// of the events, and between two frames of the file there may be too few ids for what happened.
    pub frames: BTreeMap<i64, i64>,
}

/// Returns the rows of a hand-written state file for a database. Empty if other records tell what ran.
pub(crate) fn rows_of_state_file(
    run: &Run,
    trace: &Trace,
    program: Option<&Listing>,
) -> StateFileRows {
    if !is_adopted(run) {
        return StateFileRows::default();
    }
    let adopting = Adopting::of(run, trace, program);
    let numbered = (1_i64..).zip(&adopting.events);
    let frames = numbered.filter_map(|(id, event)| Some((event.id?, id)));
    let frames = frames.collect();
    let ids: Vec<i64> = (1_i64..).take(adopting.events.len()).collect();
    StateFileRows {
        rows: adopting.rows(&ids, Style::AppendOnly),
        frames,
    }
}

/// Returns the node that gets a number once commands record the run, if only a hand-written state file records what
/// ran. `next` names executions by these numbers.
pub(crate) fn node_numbered(
    run: &Run,
    trace: &Trace,
    program: Option<&Listing>,
    number: i64,
) -> Option<NodeId> {
    if !is_adopted(run) {
        return None;
    }
    let adopting = Adopting::of(run, trace, program);
    let ids = adopting.ids();
    let mut numbered = ids.iter().zip(&adopting.events);
    let (_, event) = numbered.find(|(id, _)| **id == number)?;
    Some(event.at)
}

/// Returns whether commands take over the run from a hand-written state file.
fn is_adopted(run: &Run) -> bool {
    !run.recorded_in_rows() && run.state_file.is_some()
}

/// Returns a run with the rows of a hand-written state file, if only that file records what ran.
pub(super) fn with_events<'r>(
    run: &'r Run,
    trace: &Trace,
    program: Option<&Listing>,
) -> Cow<'r, Run> {
    if !is_adopted(run) {
        return Cow::Borrowed(run);
    }
    let mut with = run.clone();
    for row in first_events(run, trace, program) {
        with.apply(&Change::Execution(row));
    }
    Cow::Owned(with)
}

/// An event that becomes a row. Its parent and the keys that identify its instance (such as `loop_id`) are added once
/// all ids are known.
struct AdoptedEvent<'a> {
    at: NodeId,
    node: &'a Node,
    /// The recorded id, if the event opens a frame. Other events get an id later.
    id: Option<i64>,
    status: Status,
    /// The metadata keys of this row, besides the keys that identify its instance.
    keys: MetaKeys,
    error: Option<String>,
}

struct Adopting<'a> {
    run: &'a Run,
    trace: &'a Trace,
    program: Option<&'a Listing>,
    events: Vec<AdoptedEvent<'a>>,
    /// For each node, the index in `events` of the event that opens the node; `None` if the node has no row.
    of_node: TiVec<NodeId, Option<usize>>,
    /// The nodes that the walk has opened and not yet closed, outermost first.
    closing: Vec<NodeId>,
}

impl<'a> Adopting<'a> {
    fn of(run: &'a Run, trace: &'a Trace, program: Option<&'a Listing>) -> Adopting<'a> {
        let mut adopting = Adopting {
            run,
            trace,
            program,
            events: Vec::new(),
            of_node: vec![None; trace.nodes.len()].into(),
            closing: Vec::new(),
        };
        for (at, node) in trace.nodes.iter_enumerated() {
            adopting.close_before(at);
            adopting.open(at, node);
        }
        adopting.close_before(trace.nodes.next_key());
        adopting
    }

    fn open(&mut self, at: NodeId, node: &'a Node) {
        if node.kind.is_round() {
            self.closing.push(at);
            return;
        }
        if !self.is_recorded(node) {
            return;
        }
        let status = match node.kind {
            NodeKind::Gate { .. } => Status::Pending,
            _ => Status::Executing,
        };
        if let Some(first) = self.of_node.get_mut(at) {
            *first = Some(self.events.len());
        }
        self.push(at, node, status, MetaKeys::default());
        if let Some(first) = self.events.last_mut().filter(|_| node.is_frame) {
            first.id = node.id;
        }
        if node.attempts > 1 {
            self.push(at, node, Status::Failed, MetaKeys::default());
            // The recorded error belongs to the last attempt. If the last attempt failed too, only its own row gets the
            // error.
            if let Some(failed) = self.events.last_mut() {
                failed.error.take_if(|_| node.status == NodeStatus::Failed);
            }
            self.push(at, node, Status::Retry, attempts(node));
        }
        self.closing.push(at);
    }

    /// Returns whether a node gets a row. A statement that was only inferred as next gets no row. A pending gate
    /// without a record gets no row either.
    fn is_recorded(&self, node: &Node) -> bool {
        let within = |at: NodeId| self.first(at).is_some();
        if node.inferred && node.status == NodeStatus::Pending
            || !self.outer(node).is_none_or(within)
        {
            return false;
        }
        match &node.kind {
            NodeKind::Gate { gate } => {
                let kept = self.run.gates.iter().any(|known| known.id == *gate);
                kept || !node.status.is_open()
            }
            NodeKind::Branch { .. } => !(node.derived && node.status == NodeStatus::Pending),
            _ => true,
        }
    }

    /// Returns the nearest enclosing node that is not a round. A round has no row, so its contents belong to the loop.
    fn outer(&self, node: &Node) -> Option<NodeId> {
        let is_row = |at: &NodeId| self.trace.node(*at).is_some_and(|n| !n.kind.is_round());
        self.trace.upward(node.parent).find(is_row)
    }

    /// Returns the index of the event that opens a node.
    fn first(&self, at: NodeId) -> Option<usize> {
        self.of_node.get(at).copied().flatten()
    }

    /// Closes the open nodes that end before the given node.
    fn close_before(&mut self, at: NodeId) {
        while let Some(last) = self.closing.pop() {
            if self.trace.end(last) > at {
                self.closing.push(last);
                return;
            }
            if let Some(node) = self.trace.node(last) {
                self.close(last, node);
            }
        }
    }

    fn close(&mut self, at: NodeId, node: &'a Node) {
        if let NodeKind::Round { n } = node.kind {
            let ended = !node.status.is_open() && node.status != NodeStatus::CutOff;
            let a_loop = node.parent.filter(|at| ended && self.first(*at).is_some());
            if let Some((at, node)) = a_loop.and_then(|at| Some((at, self.trace.node(at)?))) {
                let keys = MetaKeys::default().number("iteration", Some(n.into()));
                self.push(at, node, Status::Iteration, keys);
            }
            return;
        }
        let status = match (&node.status, &node.kind) {
            (status, _) if status.is_open() => return,
            (NodeStatus::Abandoned | NodeStatus::CutOff, _) => return,
            (NodeStatus::Failed, _) => Status::Failed,
            (NodeStatus::Skipped, _) => Status::Skipped,
            (_, NodeKind::Parallel) => Status::Joined,
            (_, NodeKind::Loop) => Status::Exited,
            _ => Status::Completed,
        };
        let keys = match node.attempts {
            2.. => attempts(node),
            _ => MetaKeys::default(),
        };
        self.push(at, node, status, keys);
    }

    fn push(&mut self, at: NodeId, node: &'a Node, status: Status, keys: MetaKeys) {
        let error = node.error(self.run).filter(|_| status == Status::Failed);
        self.events.push(AdoptedEvent {
            at,
            node,
            id: None,
            error: error.map(|error| error.to_string()),
            status,
            keys,
        });
    }

    /// Returns the rows, with an id for each event.
    fn rows(self, ids: &[i64], style: Style) -> Vec<ExecutionRow> {
        let ends = |event: &AdoptedEvent<'_>| {
            !matches!(
                event.status,
                Status::Executing | Status::Pending | Status::Retry | Status::Iteration
            )
        };
        let ended = self.events.iter().filter(|event| ends(event));
        let ended: BTreeSet<NodeId> = ended.map(|event| event.at).collect();
        let is_over = |event: &AdoptedEvent<'_>| {
            event.status.opens() && style == Style::AppendOnly && ended.contains(&event.at)
        };
        let id_of = |at: NodeId| ids.get(self.first(at)?).copied();
        let early = self.early_ends(ids);
        let in_first: BTreeSet<usize> = early.values().copied().collect();
        let rows = self.events.iter().zip(ids).enumerate();
        let mut rows: Vec<ExecutionRow> = rows
            .filter(|(n, _)| !in_first.contains(n))
            .filter_map(|(n, (event, id))| {
                let parent = self.outer(event.node).and_then(id_of);
                let naming = self.naming(event, id_of(event.at)?, parent);
                let end = early.get(&n).and_then(|end| self.events.get(*end));
                let said = end.unwrap_or(event);
                let status = if is_over(said) {
                    Status::Started
                } else {
                    said.status.clone()
                };
                Some(ExecutionRow {
                    id: *id,
                    index: event.node.line.map(i64::from),
                    text: self.text(event.node),
                    status: status.word().to_owned(),
                    error: said.error.clone(),
                    parent,
                    metadata: naming.and(said.keys.clone()).done(),
                    ..ExecutionRow::default()
                })
            })
            .collect();
        rows.sort_by_key(|row| row.id);
        rows
    }

    /// Returns the calls whose opening row must also record their end. Maps the index of the opening event to the index
    /// of the end event. A separate row for such an end would get an id after the opening row of another call of the
    /// same statement. Readers would take that row for the end of the other call.
    fn early_ends(&self, ids: &[i64]) -> BTreeMap<usize, usize> {
        let opened = |event: &AdoptedEvent<'_>| (self.outer(event.node), event.node.line);
        let mut calls: BTreeMap<_, BTreeSet<i64>> = BTreeMap::new();
        for (event, id) in self.events.iter().zip(ids) {
            if event.id.is_some() {
                calls.entry(opened(event)).or_default().insert(*id);
            }
        }
        let events = self.events.iter().zip(ids).enumerate();
        let ends = events.filter_map(|(n, (event, end))| {
            let first = self.first(event.at).filter(|first| *first != n)?;
            self.events.get(first)?.id?;
            let own = *ids.get(first)?;
            if own >= *end {
                return None;
            }
            let mut between = calls
                .get(&opened(event))?
                .range(own.saturating_add(1)..*end);
            between.next().map(|_| (first, n))
        });
        ends.collect()
    }

    /// Returns an id for each event. A frame keeps its own id, events before the first frame get lower ids, and all
    /// other events get the next free id.
    fn ids(&self) -> Vec<i64> {
        let kept: BTreeSet<i64> = self.events.iter().filter_map(|event| event.id).collect();
        let events = (0_i64..).zip(&self.events);
        let mut first = events.filter_map(|(n, event)| Some(event.id?.saturating_sub(n)));
        let first = first.next();
        let mut last = first.map_or(0, |id| id.min(1).saturating_sub(1));
        let highest = kept.last().copied().unwrap_or(0);
        let ids = self.events.iter().map(|event| {
            let next = last.saturating_add(1);
            let id = match event.id {
                Some(id) => id,
                // If the next id belongs to a frame, this event and all later events without an own id get ids above
                // those of all frames. So the end of an execution has a higher id than its beginning.
                None if kept.contains(&next) => highest.max(last).saturating_add(1),
                None => next,
            };
            last = last.max(id);
            id
        });
        ids.collect()
    }

    /// Returns the metadata keys that identify an instance, such as `loop_id`, as the recording commands write them.
    fn naming(&self, of: &AdoptedEvent<'_>, own: i64, parent: Option<i64>) -> MetaKeys {
        match &of.node.kind {
            NodeKind::Parallel => {
                let branches = self.trace.children(Some(of.at));
                let branches = branches.filter_map(|at| match &self.trace.node(at)?.kind {
                    NodeKind::Branch { branch } => Some(branch.to_string()),
                    _ => None,
                });
                let branches: Vec<String> = branches.collect();
                MetaKeys::default()
                    .text("parallel_id", Some(&format!("p{own}")))
                    .list("branches", &branches)
            }
            NodeKind::Branch { branch } => MetaKeys::default()
                .text("parallel_id", parent.map(|id| format!("p{id}")).as_deref())
                .text("branch", Some(branch)),
            NodeKind::Loop => MetaKeys::default()
                .text("loop_id", Some(&format!("l{own}")))
                .number("max", of.node.max.map(i64::from)),
            NodeKind::Frame { block, depth } => MetaKeys::default()
                .text("block", Some(block))
                .number("depth", Some((*depth).into())),
            NodeKind::Gate { gate } => MetaKeys::default().text("gate_id", Some(gate)),
            NodeKind::Statement | NodeKind::Round { .. } => MetaKeys::default(),
        }
    }

    /// Returns the text of a node's statement: from the program at the node's line, else from the state file.
    fn text(&self, node: &Node) -> String {
        let line = node.line.filter(|_| !node.line_guessed);
        let statement = (self.program.zip(line))
            .and_then(|(listing, line)| listing.statements.iter().find(|s| s.line == line));
        match (statement, &node.kind) {
            (Some(statement), _) => statement.text.clone(),
            (None, NodeKind::Branch { branch }) if node.text.is_empty() => {
                format!("parallel:{branch}")
            }
            (None, _) => node.text.to_string(),
        }
    }
}

/// Returns the metadata keys for the number of a node's last attempt and for the limit.
fn attempts(node: &Node) -> MetaKeys {
    MetaKeys::default()
        .number("attempt", Some(node.attempts.into()))
        .number("max", node.max.map(i64::from))
}
