//! Finds each statement's current node (the node of its last pass), and writes the annotation of the statement's line.

use std::collections::BTreeMap;

use typed_index_collections::TiVec;

use super::print::{NEXT, NOT_ENTERED};
use crate::model::{Annotation, Binding, Run, Status, Text, TraceLine, ValueAt};
use crate::program::{Listing, StatementKind, classify};
use crate::record::render::binding_md::file_name;
use crate::trace::{Node, NodeId, NodeKind, NodeStatus, Trace};

/// The current node of each statement, and the places of written values.
pub(super) struct StatementMarks<'a> {
    pub(super) run: &'a Run,
    pub(super) trace: &'a Trace,
    pub(super) listing: &'a Listing,
    /// The node of each statement, by the statement's index.
    pub(super) of: Vec<Option<NodeId>>,
    /// The frame around each node.
    above: TiVec<NodeId, Option<NodeId>>,
    /// The block around each statement.
    block: Vec<Option<u32>>,
    /// The open frame of each block, or the block's last frame if none is open.
    frame: BTreeMap<&'a str, NodeId>,
    bindings: BTreeMap<(&'a str, Option<i64>), &'a Binding>,
    anonymous: BTreeMap<u32, &'a Binding>,
    paths: Paths<'a>,
}

impl<'a> StatementMarks<'a> {
    pub(super) fn new(
        run: &'a Run,
        trace: &'a Trace,
        listing: &'a Listing,
        lines: Option<&BTreeMap<NodeId, u32>>,
    ) -> StatementMarks<'a> {
        let live = live(trace);
        let mut marks = StatementMarks {
            run,
            trace,
            listing,
            of: vec![None; listing.statements.len()],
            above: trace.frames(),
            block: blocks(listing),
            frame: BTreeMap::new(),
            bindings: BTreeMap::new(),
            anonymous: BTreeMap::new(),
            paths: Paths::new(run),
        };
        for (at, node) in trace.nodes.iter_enumerated() {
            if let (NodeKind::Frame { block, .. }, Some(true)) = (&node.kind, live.get(at)) {
                let known = marks.frame.get(&**block).and_then(|f| trace.node(*f));
                if node.status.is_open() || known.is_none_or(|k| !k.status.is_open()) {
                    marks.frame.insert(block, at);
                }
            }
        }
        for (at, node) in trace.nodes.iter_enumerated() {
            let frame = marks.above.get(at).copied().flatten();
            // `WrittenLines` marks the statements that come next, so this loop skips their nodes.
            let comes = node.inferred && node.status == NodeStatus::Pending;
            // A gate without a record may belong to any frame or round, so it annotates no line.
            let met = matches!(node.kind, NodeKind::Gate { .. })
                && (node.inferred && node.id.is_none() && !node.status.is_open());
            let line = match lines {
                _ if comes || met || trace.borrows_line(node) => None,
                Some(lines) => lines.get(&at).copied(),
                None => node.line,
            };
            let statement = line.and_then(|line| listing.statement_at(line));
            let Some(statement) = statement.filter(|_| live.get(at) == Some(&true)) else {
                continue;
            };
            if marks.speaks_of(statement, frame) {
                // A branch and the frame that it called share a line: use the branch, unless the frame failed.
                let of_branch = |known: NodeId| {
                    let branch = trace.node(known).map(|n| &n.kind);
                    node.parent == Some(known)
                        && node.status != NodeStatus::Failed
                        && matches!(branch, Some(NodeKind::Branch { .. }))
                };
                if let Some(slot) = marks.of.get_mut(statement as usize)
                    && !slot.is_some_and(of_branch)
                {
                    *slot = Some(at);
                }
            }
        }
        for binding in run.bindings.iter().filter(|b| !b.superseded) {
            marks
                .bindings
                .insert((&binding.name, binding.execution_id), binding);
        }
        marks.tie_anonymous();
        marks
    }

    pub(super) fn node(&self, statement: u32) -> Option<&'a Node> {
        let at = self.of.get(statement as usize).copied().flatten()?;
        self.trace.node(at)
    }

    /// Returns the frame that runs the block around a statement now, if there is one. The outer `None` means that the
    /// statement is outside of all blocks.
    fn current(&self, statement: u32) -> Option<Option<NodeId>> {
        let block = self.block.get(statement as usize).copied().flatten()?;
        let name = self.listing.get(block)?.name.as_deref();
        Some(self.frame.get(name.unwrap_or_default()).copied())
    }

    /// Returns the open frame that runs the block around a statement; `Ok(None)` outside of blocks. `Err` if the block
    /// is not running.
    pub(super) fn open_frame(&self, statement: u32) -> Result<Option<&'a Node>, ()> {
        let Some(frame) = self.current(statement) else {
            return Ok(None);
        };
        let frame = frame.and_then(|f| self.trace.node(f));
        frame.filter(|f| f.status.is_open()).map(Some).ok_or(())
    }

    fn is_open(&self, frame: Option<NodeId>) -> bool {
        let frame = frame.and_then(|f| self.trace.node(f));
        frame.is_some_and(|f| f.status.is_open())
    }

    /// Returns whether the frame around a node is open.
    pub(super) fn in_open_frame(&self, node: NodeId) -> bool {
        self.is_open(self.above.get(node).copied().flatten())
    }

    /// Returns whether the nodes of a frame annotate a statement. In a block, only the frame that runs the block now
    /// does so; of a recursion that is over, also the frames around the last one, in which other statements ran.
    fn speaks_of(&self, statement: u32, frame: Option<NodeId>) -> bool {
        let Some(current) = self.current(statement).flatten() else {
            return true;
        };
        let is_around = |frame: NodeId| frame < current && current < self.trace.end(frame);
        frame == Some(current) || !self.is_open(Some(current)) && frame.is_some_and(is_around)
    }

    /// Assigns anonymous bindings to the statements that they record.
    fn tie_anonymous(&mut self) {
        let mut ties = self.listing.ties();
        for binding in &self.run.bindings {
            let unnamed = binding.name.starts_with("anon_") && binding.execution_id.is_none();
            let first = binding
                .first_line()
                .filter(|_| unnamed && !binding.superseded);
            if let Some(tie) = first.and_then(|first| ties.tie(first, None)) {
                self.anonymous.insert(tie.statement, binding);
            }
        }
    }

    /// Returns the path of a statement's value if the value is written.
    fn path(&self, statement: u32, node: Option<&Node>) -> Option<Text> {
        let frame = match self.current(statement) {
            None => None,
            Some(frame) => Some(self.trace.node(frame?)?.id?),
        };
        let own = self.listing.get(statement)?;
        let name = match node.map(|n| &n.kind) {
            Some(NodeKind::Branch { branch }) => Some(&**branch),
            _ if own.kind == StatementKind::Input => own.name.as_deref(),
            _ => own.bound(),
        };
        let named = name.and_then(|name| self.bindings.get(&(name, frame)));
        if let Some(binding) = named.or_else(|| self.anonymous.get(&statement)) {
            return Some(self.paths.of(binding));
        }
        self.own_path(node?)
    }

    /// Returns a path that only the state file records.
    fn own_path(&self, node: &Node) -> Option<Text> {
        let file = self.run.state_file.as_ref()?;
        let line = file.trace.get(node.state_line? as usize)?;
        line.annotation.as_ref()?.path.clone()
    }

    /// Returns the annotation for the line of a statement.
    pub(super) fn annotation(&self, statement: u32) -> Option<Annotation> {
        let kind = self.listing.get(statement)?.kind;
        let Some(node) = self.node(statement) else {
            let input = || (kind == StatementKind::Input).then(|| self.path(statement, None));
            let path = input()??;
            return Some(Annotation {
                path: Some(path),
                ..Annotation::default()
            });
        };
        self.annotation_of(node, kind, || self.path(statement, Some(node)))
    }

    /// Returns statements of a state file or a log that the program lacks, as lines to write after the program.
    pub(super) fn beyond_program(&self) -> Vec<TraceLine> {
        let live = live(self.trace);
        let holds = self.trace.above(|_, node| node.line.is_some());
        let nodes = self.trace.nodes.iter_enumerated();
        let told = nodes.filter(|(at, node)| {
            let told = node.state_line.is_some() && !node.derived;
            let is_line = node.line.is_none() && told && !node.kind.is_round();
            let given = node.is_given(self.run, None);
            is_line && !given && holds.get(*at) == Some(&false) && live.get(*at) == Some(&true)
        });
        told.filter_map(|(_, node)| {
            let text = node.text.lines().next().map(str::trim)?;
            let kind = classify(text);
            let annotation = self.annotation_of(node, kind, || self.own_path(node));
            (!text.is_empty()).then(|| TraceLine {
                line: None,
                text: text.into(),
                annotation,
            })
        })
        .collect()
    }

    fn annotation_of(
        &self,
        node: &Node,
        kind: StatementKind,
        path: impl FnOnce() -> Option<Text>,
    ) -> Option<Annotation> {
        let holds = matches!(node.kind, NodeKind::Parallel | NodeKind::Loop);
        let branch = matches!(node.kind, NodeKind::Branch { .. });
        let attempt = (node.attempts > 1)
            .then_some((node.attempts, node.max))
            .filter(|_| !holds);
        let mut said = Annotation {
            attempt,
            ..Annotation::default()
        };
        match &node.status {
            NodeStatus::Completed => {
                said.path = path();
                let plain = said.path.is_some() && !branch && attempt.is_none();
                said.status = (!plain).then_some(Status::Completed);
            }
            NodeStatus::Failed => {
                said.status = Some(Status::Failed);
                said.error = node
                    .error(self.run)
                    .cloned()
                    .filter(|e| !e.trim().is_empty());
            }
            status if matches!(node.kind, NodeKind::Gate { .. }) && status.is_open() => {
                said.status = Some(Status::Waiting);
                if let NodeKind::Gate { gate } = &node.kind {
                    said.gate = Some(gate.clone());
                }
            }
            NodeStatus::Pending if branch => return None,
            NodeStatus::Pending if node.derived || node.inferred => return Some(ahead(kind)),
            status if holds && status.is_open() => return None,
            NodeStatus::Started if node.derived => return None,
            NodeStatus::Retry => {
                said.status = Some(Status::Retry);
                said.attempt = Some((node.attempts, node.max));
            }
            NodeStatus::Started | NodeStatus::Waiting if node.kind != NodeKind::Statement => {
                said.status = Some(Status::Executing);
            }
            other => said.status = Some(status(other)),
        }
        Some(said)
    }
}

/// Returns the annotation for a statement that comes next.
pub(super) fn ahead(kind: StatementKind) -> Annotation {
    let raw = if kind.has_body() && kind != StatementKind::Do {
        NOT_ENTERED
    } else {
        NEXT
    };
    Annotation {
        ahead: true,
        raw: raw.into(),
        ..Annotation::default()
    }
}

/// Returns the row status that corresponds to a node's status.
pub(super) fn status(status: &NodeStatus) -> Status {
    match status {
        NodeStatus::Pending => Status::Pending,
        NodeStatus::Executing => Status::Executing,
        NodeStatus::Abandoned => Status::Other("abandoned".into()),
        NodeStatus::Started => Status::Started,
        NodeStatus::Waiting => Status::Waiting,
        NodeStatus::Iteration => Status::Iteration,
        NodeStatus::Retry => Status::Retry,
        NodeStatus::Completed => Status::Completed,
        NodeStatus::Failed => Status::Failed,
        NodeStatus::Skipped => Status::Skipped,
        NodeStatus::Unchanged => Status::Unchanged,
        NodeStatus::Approved => Status::Other("approved".into()),
        NodeStatus::Rejected => Status::Other("rejected".into()),
        NodeStatus::Timeout => Status::Other("timed out".into()),
        NodeStatus::CutOff => Status::Skipped,
        NodeStatus::Unknown => Status::Other("unknown".into()),
        NodeStatus::Other(word) => Status::Other(word.clone()),
    }
}

/// The paths of a run's bindings, as the index of a state file has them.
pub(super) struct Paths<'a> {
    pub(super) run: &'a Run,
    /// The paths in the index of the state file, by name and frame. If two rows have the same key, the first one
    /// counts.
    indexed: BTreeMap<(&'a str, Option<i64>), &'a Text>,
}

impl<'a> Paths<'a> {
    pub(super) fn new(run: &'a Run) -> Paths<'a> {
        let mut indexed = BTreeMap::new();
        for row in run.state_file.iter().flat_map(|file| &file.bindings) {
            indexed
                .entry((&*row.name, row.execution_id))
                .or_insert(&row.path);
        }
        Paths { run, indexed }
    }

    /// Returns the path of a binding's file, or the path that the folder form would use.
    pub(super) fn of(&self, binding: &Binding) -> Text {
        if let ValueAt::File { path, .. } = &binding.value {
            return path.strip_prefix(&*self.run.root).unwrap_or(path).into();
        }
        let known = (binding.value == ValueAt::Missing)
            .then(|| self.indexed.get(&(&*binding.name, binding.execution_id)));
        match (known.flatten(), binding.execution_id) {
            (Some(path), _) => Text::clone(path),
            (None, frame) => format!("bindings/{}", file_name(&binding.name, frame)).into(),
        }
    }
}

/// Returns for each node whether the node is current, which means not in an earlier round of a loop.
pub(super) fn live(trace: &Trace) -> TiVec<NodeId, bool> {
    let mut last: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    for (at, node) in trace.nodes.iter_enumerated() {
        if let (NodeKind::Round { .. }, Some(parent)) = (&node.kind, node.parent) {
            last.insert(parent, at);
        }
    }
    let mut live: TiVec<NodeId, bool> = TiVec::with_capacity(trace.nodes.len());
    for (at, node) in trace.nodes.iter_enumerated() {
        let above = node.parent.is_none_or(|p| live.get(p) == Some(&true));
        let current = match (&node.kind, node.parent) {
            (NodeKind::Round { .. }, Some(parent)) => last.get(&parent) == Some(&at),
            _ => true,
        };
        live.push(above && current);
    }
    live
}

/// Returns the block around each statement. Runs in linear time, because parents come before their children.
fn blocks(listing: &Listing) -> Vec<Option<u32>> {
    let mut blocks: Vec<Option<u32>> = Vec::with_capacity(listing.statements.len());
    for (at, statement) in (0_u32..).zip(&listing.statements) {
        let parent = statement.parent.filter(|p| *p < at);
        let block = parent.and_then(|p| match listing.get(p) {
            Some(outer) if outer.kind == StatementKind::Block => Some(p),
            _ => blocks.get(p as usize).copied().flatten(),
        });
        blocks.push(block);
    }
    blocks
}
