//! The first events of a run that was written by hand: what its state.md records, as rows.

use typed_index_collections::TiVec;

use std::collections::BTreeSet;

use super::ExecutionRow;
use super::meta::Keys;
use crate::model::{Run, Status, Text};
use crate::program::Listing;
use crate::trace::{Node, NodeId, NodeKind, NodeStatus, Trace};

/// What a run's state file says of what ran, as events: so that more can follow them. They carry no times, because the
/// file records none.
///
/// Frames keep the ids that bindings name them by. What comes before the first of them gets lower ids, so that order by id
/// is the order of the trace; what the file says of a frame beside its inner ones comes after these where no id lies
/// between. What only comes next is not recorded, nor is a gate that waits and has no file: `gate create` records it.
pub fn first_events(run: &Run, trace: &Trace, program: Option<&Listing>) -> Vec<ExecutionRow> {
    let mut told = Told {
        run,
        trace,
        program,
        events: Vec::new(),
        of_node: vec![None; trace.nodes.len()].into(),
        closing: Vec::new(),
    };
    for at in trace.nodes.keys() {
        told.close_before(at);
        told.open(at);
    }
    told.close_before(trace.nodes.next_key());
    told.rows()
}

/// A row on its way: parent and naming are filled in once there are ids.
struct Event {
    node: NodeId,
    status: Status,
    /// Keys that only this row has.
    keys: Keys,
    error: Option<Text>,
}

struct Told<'a> {
    run: &'a Run,
    trace: &'a Trace,
    program: Option<&'a Listing>,
    events: Vec<Event>,
    /// The event that opens each node.
    of_node: TiVec<NodeId, Option<usize>>,
    /// Nodes that are under way in this walk, each with what comes behind its subtree.
    closing: Vec<(NodeId, NodeId)>,
}

impl Told<'_> {
    fn open(&mut self, at: NodeId) {
        let Some(node) = self.trace.node(at) else {
            return;
        };
        let behind = self.trace.end(at);
        if matches!(node.kind, NodeKind::Round { .. }) {
            self.closing.push((at, behind));
            return;
        }
        if !self.is_recorded(node) {
            return;
        }
        let status = match node.kind {
            NodeKind::Gate { .. } => Status::Pending,
            _ => Status::Executing,
        };
        let retried = node.attempts > 1;
        let (attempts, max) = (i64::from(node.attempts), node.max.map(i64::from));
        let failed = node.status == NodeStatus::Failed;
        let error = node.error(self.run).cloned().filter(|_| !failed);
        self.of_node[at] = Some(self.events.len());
        self.push(at, status, Keys::default(), None);
        if retried {
            self.push(at, Status::Failed, Keys::default(), error);
            let keys = Keys::default()
                .number("attempt", Some(attempts))
                .number("max", max);
            self.push(at, Status::Retry, keys, None);
        }
        self.closing.push((at, behind));
    }

    /// What only comes next, and a gate that nobody can decide, is not recorded.
    fn is_recorded(&self, node: &Node) -> bool {
        if node.inferred && node.status == NodeStatus::Pending {
            return false;
        }
        if let Some(parent) = node.parent
            && !self.trace.node(parent).is_some_and(|n| n.kind.is_round())
            && self.of_node.get(parent) == Some(&None)
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

    /// Closes what ends before this node.
    fn close_before(&mut self, at: NodeId) {
        while let Some((node, behind)) = self.closing.last().copied() {
            if behind > at {
                return;
            }
            self.closing.pop();
            self.close(node);
        }
    }

    fn close(&mut self, at: NodeId) {
        let Some(node) = self.trace.node(at) else {
            return;
        };
        if let NodeKind::Round { n } = node.kind {
            let ended = !node.status.is_open() && node.status != NodeStatus::CutOff;
            if let (true, Some(a_loop)) = (ended, node.parent)
                && self.of_node.get(a_loop).copied().flatten().is_some()
            {
                let keys = Keys::default().number("iteration", Some(n.into()));
                self.push(a_loop, Status::Iteration, keys, None);
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
        let mut keys = Keys::default();
        if node.attempts > 1 {
            let max = node.max.map(i64::from);
            keys = keys
                .number("attempt", Some(node.attempts.into()))
                .number("max", max);
        }
        let error = node
            .error(self.run)
            .cloned()
            .filter(|_| status == Status::Failed);
        self.push(at, status, keys, error);
    }

    fn push(&mut self, node: NodeId, status: Status, keys: Keys, error: Option<Text>) {
        self.events.push(Event {
            node,
            status,
            keys,
            error,
        });
    }

    fn rows(&self) -> Vec<ExecutionRow> {
        let ids = self.ids();
        let id_of = |node: NodeId| ids.get((*self.of_node.get(node)?)?).copied();
        let rows = self.events.iter().zip(&ids);
        let mut rows: Vec<ExecutionRow> = rows
            .filter_map(|(event, id)| {
                let node = self.trace.node(event.node)?;
                let own = id_of(event.node)?;
                // A round is no row: what is in it runs in its loop.
                let parent = node.parent.and_then(|parent| {
                    let above = self.trace.node(parent)?;
                    match above.kind {
                        NodeKind::Round { .. } => id_of(above.parent?),
                        _ => id_of(parent),
                    }
                });
                let mut metadata = self.naming(event.node, own, parent).done();
                metadata.extend(event.keys.clone().done());
                Some(ExecutionRow {
                    id: *id,
                    index: node.line.map(i64::from),
                    text: self.text(node),
                    status: event.status.word().to_owned(),
                    error: event.error.as_deref().map(str::to_owned),
                    parent,
                    metadata,
                    ..ExecutionRow::default()
                })
            })
            .collect();
        rows.sort_by_key(|row| row.id);
        rows
    }

    /// An id for each event: a frame's own, lower ones before the first frame, and else the next that is free.
    fn ids(&self) -> Vec<i64> {
        let fixed = |at: usize| {
            let event = self.events.get(at)?;
            let opens = self.of_node.get(event.node).copied().flatten() == Some(at);
            let node = self.trace.node(event.node);
            let frame = node.filter(|n| opens && n.kind.is_frame());
            frame.and_then(|node| node.id)
        };
        let kept: BTreeSet<i64> = (0..self.events.len()).filter_map(fixed).collect();
        let before =
            (0..self.events.len()).find_map(|at| Some((i64::try_from(at).ok()?, fixed(at)?)));
        let mut last = match before {
            Some((count, first)) => first.saturating_sub(count).min(1).saturating_sub(1),
            None => 0,
        };
        let highest = kept.last().copied().unwrap_or(0);
        let mut behind = highest;
        (0..self.events.len())
            .map(|at| {
                if let Some(id) = fixed(at) {
                    last = last.max(id);
                    return id;
                }
                let next = last.saturating_add(1);
                if kept.contains(&next) {
                    behind = behind.max(last).saturating_add(1);
                    return behind;
                }
                last = next;
                behind = behind.max(next);
                next
            })
            .collect()
    }

    /// What names an instance, as our own rows do.
    fn naming(&self, at: NodeId, own: i64, parent: Option<i64>) -> Keys {
        let Some(node) = self.trace.node(at) else {
            return Keys::default();
        };
        match &node.kind {
            NodeKind::Parallel => {
                let inside = self.trace.children(Some(at));
                let branch = |child| match &self.trace.node(child)?.kind {
                    NodeKind::Branch { branch } => Some(branch.to_string()),
                    _ => None,
                };
                let branches: Vec<String> = inside.filter_map(branch).collect();
                Keys::default()
                    .text("parallel_id", Some(&format!("p{own}")))
                    .list("branches", &branches)
            }
            NodeKind::Branch { branch } => Keys::default()
                .text("parallel_id", parent.map(|id| format!("p{id}")).as_deref())
                .text("branch", Some(branch)),
            NodeKind::Loop => Keys::default()
                .text("loop_id", Some(&format!("l{own}")))
                .number("max", node.max.map(i64::from)),
            NodeKind::Frame { block, depth } => Keys::default()
                .text("block", Some(block))
                .number("depth", Some((*depth).into())),
            NodeKind::Gate { gate } => Keys::default().text("gate_id", Some(gate)),
            NodeKind::Statement | NodeKind::Round { .. } => Keys::default(),
        }
    }

    /// The statement's text: the program's at its line, else the file's.
    fn text(&self, node: &Node) -> String {
        let line = node.line.filter(|_| !node.line_guessed);
        let statement = self.program.zip(line).and_then(|(listing, line)| {
            listing
                .statements
                .iter()
                .find(|statement| statement.line == line)
        });
        match (statement, &node.kind) {
            (Some(statement), _) => statement.text.clone(),
            (None, NodeKind::Branch { branch }) => format!("parallel:{branch}"),
            (None, _) => node.text.to_string(),
        }
    }
}
