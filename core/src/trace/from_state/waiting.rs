//! Constructs of a block that its outer frames wait in: the innermost frame has the markers, and the outer ones are in
//! the parallel or the loop that they called from.

use std::collections::BTreeMap;

use super::build::{Builder, LAST};
use super::frames::Open;
use super::stack::{DEEP, Stack};
use crate::model::Run;
use crate::program::StatementKind;
use crate::trace::emit::{derived, word};
use crate::trace::{NodeKind, NodeStatus};

/// The nodes of such constructs: by frame and statement, what its children lie in.
pub(super) type Waiting = BTreeMap<(usize, u32), u32>;

impl Builder<'_, '_> {
    /// Makes them, and hangs the frames that were called from them there.
    pub(super) fn waiting(&mut self, run: &Run, stack: &Stack<'_>, open: &[Open]) -> Waiting {
        let mut made = Waiting::new();
        for frame in open {
            let Some((above, call)) = frame.above.zip(frame.call) else {
                continue;
            };
            let Some(caller) = open.get(above).filter(|_| !stack.is_innermost(above)) else {
                continue;
            };
            let mut path: Vec<u32> = self
                .facts
                .listing
                .enclosing(call)
                .take(DEEP)
                .take_while(|at| Some(*at) != caller.block)
                .collect();
            path.reverse();
            path.push(call);
            let mut holder = caller.node;
            for (i, at) in path.iter().enumerate() {
                let known = made.get(&(above, *at)).copied();
                let next = path.get(i + 1).copied();
                let node = known.or_else(|| self.construct(run, stack, (above, *at), holder, next));
                if let Some(node) = node {
                    made.insert((above, *at), node);
                    holder = node;
                }
            }
            self.set_parent(frame.node, Some(holder));
        }
        made
    }

    /// The node of one of them, and the round in it where it is a loop: what lies in it hangs there.
    fn construct(
        &mut self,
        run: &Run,
        stack: &Stack<'_>,
        (frame, at): (usize, u32),
        holder: u32,
        next: Option<u32>,
    ) -> Option<u32> {
        let statement = self.facts.statement(at)?;
        let file = run.state_file.as_ref();
        let told = stack.told.get(&(frame, at)).copied().map(|i| i as usize);
        let branch = statement.parent.is_some_and(|p| self.is_parallel(p));
        let kind = match statement.kind {
            _ if branch => NodeKind::Branch {
                branch: statement.name.as_deref().unwrap_or(&statement.text).into(),
            },
            StatementKind::Parallel => NodeKind::Parallel,
            kind if kind.is_loop() => NodeKind::Loop,
            _ => return None,
        };
        let status = match kind {
            NodeKind::Branch { .. } => NodeStatus::Executing,
            _ => NodeStatus::Started,
        };
        let state = told
            .and_then(|i| file?.loops.get(i))
            .filter(|_| kind == NodeKind::Loop);
        let is_parallel = kind == NodeKind::Parallel;
        let mut node = derived(kind, statement.text.as_str().into(), status);
        node.derived = told.is_none();
        node.line = Some(statement.line);
        node.max = state.and_then(|state| state.max);
        let mut made = self.push(node, statement.line);
        self.set_parent(made, Some(holder));
        if let Some(total) = state.and_then(|state| state.iteration).filter(|n| *n > 0) {
            made = self.add_rounds(made, total, NodeStatus::Started);
        }
        let branches = told
            .and_then(|i| file?.parallels.get(i))
            .filter(|_| is_parallel);
        for (name, status) in branches.iter().flat_map(|state| &state.branches) {
            let known = self.facts.listing.branch_of(at, name);
            if known.is_some() && known == next {
                continue;
            }
            let statement = known.and_then(|k| self.facts.statement(k));
            let place = statement.map(|s| (s.line, s.text.as_str()));
            self.branch(made, name, word(status), place);
        }
        Some(made)
    }

    /// The line of what has none is behind all.
    pub(super) fn line_of(&self, statement: Option<u32>) -> u32 {
        statement
            .and_then(|at| self.facts.statement(at))
            .map_or(LAST, |s| s.line)
    }
}
