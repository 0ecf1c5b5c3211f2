//! Which frame lies in which: from the trace of rows, or from what a folder records.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use crate::model::Run;
use crate::trace::{Node, NodeKind, Trace};

/// The parent of every frame of a run.
///
/// A frame is named by the id in its own store (errata B4). Of rows the trace knows: aliases mean their
/// instance, a branch lies in its parallel. A folder has no rows: the call stack orders the frames that are
/// open, and `parent_execution_id` in a binding's header names the parent of one that is finished.
#[derive(Debug)]
pub struct Parents<'a> {
    run: &'a Run,
    trace: &'a Trace,
    recorded: BTreeMap<i64, Option<i64>>,
}

/// The way from a frame to the root.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Walk {
    /// The executions on it, from the one asked from outward.
    pub chain: Vec<i64>,
    /// What bent it.
    pub bends: Vec<Bend>,
    /// Nothing lies above the execution that was asked from.
    pub(super) alone: bool,
    /// Which of the chain are frames.
    frames: Vec<bool>,
}

impl Walk {
    /// Leaves out what is no scope: statements, loops and parallels that no binding belongs to. Where the walk
    /// began stays.
    pub(super) fn keep_scopes(&mut self, scopes: &BTreeSet<i64>) {
        let mut frames = self.frames.iter();
        let mut first = true;
        self.chain.retain(|id| {
            let frame = frames.next().is_none_or(|frame| *frame);
            std::mem::take(&mut first) || frame || scopes.contains(id)
        });
        self.frames.clear();
    }
}

/// Why a way ended where it did, when it should have gone on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bend {
    /// The execution's parents lead back to it (errata B2).
    Circle(i64),
    /// The execution names a parent that does not exist.
    Orphan(i64, i64),
    /// The execution names itself.
    Itself(i64),
    /// The execution names no parent, though its metadata says that it lies deeper (errata B3).
    NoParent(i64, i64),
}

/// The parents of a run's frames.
pub fn parents<'a>(run: &'a Run, trace: &'a Trace) -> Parents<'a> {
    let mut recorded = BTreeMap::new();
    if !run.told_by_rows() {
        if let Some(file) = &run.state_file {
            // Written innermost first; a frame's parent is the nearest one above it of a lower depth.
            let mut above: Vec<(i64, i64)> = Vec::new();
            for (count, frame) in (1i64..).zip(file.call_stack.iter().rev()) {
                let depth = frame.depth.unwrap_or(count);
                while above.last().is_some_and(|(_, outer)| *outer >= depth) {
                    above.pop();
                }
                let parent = above.last().map(|(id, _)| *id);
                recorded.entry(frame.execution_id).or_insert(parent);
                above.push((frame.execution_id, depth));
            }
        }
        for binding in &run.bindings {
            if let (Some(id), Some(parent)) = (binding.execution_id, binding.parent_execution_id) {
                recorded.entry(id).or_insert(Some(parent));
            }
        }
    }
    Parents {
        run,
        trace,
        recorded,
    }
}

impl Parents<'_> {
    /// Whether a row, the call stack, or a binding's header speaks of that execution.
    pub fn knows(&self, id: i64) -> bool {
        self.node(id).is_some() || self.recorded.contains_key(&id)
    }

    /// The instance that an id means: the first row's id where it names a later one (trace.md 3).
    pub fn instance(&self, id: i64) -> i64 {
        self.node(id)
            .and_then(|at| self.trace.nodes.get(at)?.id)
            .unwrap_or(id)
    }

    /// The execution that one lies in; `None`: the root, or unknown.
    pub fn parent(&self, id: i64) -> Option<i64> {
        match self.recorded.get(&id) {
            Some(parent) => *parent,
            None => {
                let above = self.above(self.node(id)?)?;
                self.trace.nodes.get(above)?.id
            }
        }
    }

    /// The way from an execution to the root. Never longer than there are executions, whatever they say.
    pub fn walk(&self, from: i64) -> Walk {
        let mut walk = Walk::default();
        walk.bends = self.visit(from, |id, frame| {
            walk.chain.push(id);
            walk.frames.push(frame);
            ControlFlow::Continue(())
        });
        walk.alone = walk.chain.len() == 1;
        walk
    }

    /// The first execution on that way that is wanted.
    pub(super) fn nearest(&self, from: i64, wanted: impl Fn(i64) -> bool) -> Option<i64> {
        let mut found = None;
        self.visit(from, |id, _| {
            if wanted(id) {
                found = Some(id);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        found
    }

    /// Goes that way, saying of each execution whether it is a frame; returns what bent it.
    fn visit(&self, from: i64, each: impl FnMut(i64, bool) -> ControlFlow<()>) -> Vec<Bend> {
        match self.node(from) {
            Some(node) if self.recorded.is_empty() => self.along_rows(node, each),
            _ => self.along_recorded(from, each),
        }
    }

    fn node(&self, id: i64) -> Option<usize> {
        let rows = &self.trace.by_row;
        // Ids are mostly counted without a gap.
        let guess = rows.first().and_then(|(first, _)| id.checked_sub(*first));
        let guess = guess.and_then(|at| rows.get(usize::try_from(at).ok()?));
        if let Some((row, node)) = guess
            && *row == id
        {
            return Some(*node as usize);
        }
        let at = rows.partition_point(|(row, _)| *row < id);
        let (row, node) = rows.get(at)?;
        (*row == id).then_some(*node as usize)
    }

    /// The next instance above a node; rounds have no id and are passed.
    fn above(&self, node: usize) -> Option<usize> {
        let mut at = self.trace.nodes.get(node)?.parent? as usize;
        loop {
            let node = self.trace.nodes.get(at)?;
            if node.id.is_some() {
                return Some(at);
            }
            at = node.parent? as usize;
        }
    }

    fn along_rows(
        &self,
        from: usize,
        mut each: impl FnMut(i64, bool) -> ControlFlow<()>,
    ) -> Vec<Bend> {
        let mut bends = Vec::new();
        let mut passed: Vec<usize> = Vec::new();
        // Only after the place where the trace cut a circle can a node come again.
        let mut seen: Option<BTreeSet<usize>> = None;
        let mut at = from;
        loop {
            let Some(node) = self.trace.nodes.get(at) else {
                return bends;
            };
            if let Some(seen) = &mut seen
                && !seen.insert(at)
            {
                return bends;
            }
            passed.push(at);
            if let Some(id) = node.id
                && each(id, matches!(node.kind, NodeKind::Frame { .. })).is_break()
            {
                return bends;
            }
            if let Some(above) = self.above(at) {
                at = above;
                continue;
            }
            if seen.is_some() {
                return bends;
            }
            let Some((bend, next)) = self.end(node) else {
                return bends;
            };
            bends.push(bend);
            let Some(next) = next else { return bends };
            seen = Some(passed.iter().copied().collect());
            at = next;
        }
    }

    /// What is odd about a way that ends at this node, and where it would go on.
    fn end(&self, node: &Node) -> Option<(Bend, Option<usize>)> {
        let id = node.id?;
        let row = self.run.executions.get(node.first_row? as usize)?;
        let Some(parent) = row.parent else {
            let depth = row.meta.as_deref().and_then(|meta| meta.depth)?;
            return (depth > 1).then_some((Bend::NoParent(id, depth), None));
        };
        match self.node(parent) {
            None => Some((Bend::Orphan(id, parent), None)),
            Some(_) if self.instance(parent) == id => Some((Bend::Itself(id), None)),
            Some(next) => Some((Bend::Circle(id), Some(next))),
        }
    }

    /// What a folder records says of no execution that it is not a frame.
    fn along_recorded(
        &self,
        from: i64,
        mut each: impl FnMut(i64, bool) -> ControlFlow<()>,
    ) -> Vec<Bend> {
        let mut seen = BTreeSet::new();
        let mut at = from;
        while seen.insert(at) {
            if each(at, true).is_break() {
                return Vec::new();
            }
            match self.parent(at) {
                Some(parent) => at = parent,
                None => return Vec::new(),
            }
        }
        vec![match seen.len() {
            1 => Bend::Itself(at),
            _ => Bend::Circle(at),
        }]
    }
}
