//! What every node lies in, and the branches that only a parallel's section tells of.

use std::collections::BTreeMap;

use super::build::{Builder, LAST};
use super::frames::Open;
use super::stack::{DEEP, Stack};
use crate::model::{Run, Text};
use crate::program::StatementKind;
use crate::trace::emit::{derived, word};
use crate::trace::{NodeKind, NodeStatus};

impl Builder<'_, '_> {
    /// Puts every node into what it lies in.
    pub(super) fn places(&mut self, stack: &Stack<'_>, open: &[Open], calls: &BTreeMap<u32, u32>) {
        let count = self.facts.listing.statements.len();
        self.holder = vec![None; count];
        // The last finished call of a block: what its body's markers speak of when no frame is open.
        let last_call = self.last_calls(stack);
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
                        .or_else(|| self.node_of_statement(*last_call.get(name)?))
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
            // What outer frames called hangs in the constructs that they wait in.
            let outer = frame.above.is_some_and(|above| !stack.is_innermost(above));
            if taken || outer && frame.call.is_some() {
                continue;
            }
            let above = frame
                .above
                .and_then(|above| open.get(above))
                .map(|f| f.node);
            let around = frame.call.and_then(|call| {
                let is_branch = |at: &u32| {
                    self.node(*at)
                        .is_some_and(|n| matches!(n.kind, NodeKind::Branch { .. }))
                };
                let branch = self.node_of_statement(call).filter(is_branch);
                let outer = self.facts.statement(call)?.parent;
                branch.or_else(|| self.holder.get(outer? as usize).copied().flatten())
            });
            self.set_parent(frame.node, around.or(above));
        }
    }

    /// The last finished call of each block, by the block's name: a statement. Where a call in a block stands depends on
    /// the last call of that block, so a few passes are made.
    fn last_calls(&self, stack: &Stack<'_>) -> BTreeMap<String, u32> {
        let calls: Vec<(u32, &str)> = (0_u32..)
            .zip(&self.node_of)
            .filter_map(|(at, node)| match &self.node((*node)?)?.kind {
                NodeKind::Frame { block, .. } => Some((at, &**block)),
                _ => None,
            })
            .collect();
        let mut last: BTreeMap<String, u32> = BTreeMap::new();
        for _ in 0..4 {
            let mut latest: BTreeMap<&str, (Vec<u32>, u32)> = BTreeMap::new();
            for (at, block) in &calls {
                let when = self.when(stack, &last, *at);
                let known = latest.entry(block).or_default();
                if when >= known.0 {
                    *known = (when, *at);
                }
            }
            last = latest
                .into_iter()
                .map(|(block, (_, at))| (block.to_owned(), at))
                .collect();
        }
        last
    }

    /// When a statement ran, as far as it can be told: its line, behind those of the calls that led to it.
    fn when(&self, stack: &Stack<'_>, last: &BTreeMap<String, u32>, statement: u32) -> Vec<u32> {
        let mut lines = Vec::new();
        let mut at = Some(statement);
        while let Some(here) = at.filter(|_| lines.len() < DEEP) {
            lines.push(self.line_of(Some(here)));
            let block = self.facts.get(here).and_then(|f| f.block);
            let frame = block.and_then(|b| stack.frames.get(*stack.innermost.get(&b)?));
            let name = || self.facts.statement(block?)?.name.as_deref();
            at = match frame {
                Some(frame) => frame.call,
                None => name().and_then(|name| last.get(name)).copied(),
            };
        }
        lines.reverse();
        lines
    }

    /// Branches that a parallel's section names and the program does not.
    pub(super) fn branches(&mut self, run: &Run) {
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

    pub(super) fn branch(
        &mut self,
        parallel: u32,
        name: &Text,
        status: NodeStatus,
        at: Option<(u32, &str)>,
    ) {
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
}
