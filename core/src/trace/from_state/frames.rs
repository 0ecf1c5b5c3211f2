//! Frames: those of the call stack, and those that only bindings speak of.

use std::collections::{BTreeMap, BTreeSet};

use super::build::{Builder, LAST};
use super::disk::{bound, is_there};
use super::facts::Facts;
use crate::model::{Binding, Run, Text};
use crate::program::StatementKind;
use crate::trace::emit::{derived, word};
use crate::trace::{NodeKind, NodeStatus};

/// A frame of the call stack.
pub(super) struct Open {
    /// Its node.
    pub(super) node: u32,
    /// The frame that called it: a place in the list of open frames.
    pub(super) above: Option<usize>,
    /// The block that it runs, in the program.
    pub(super) block: Option<u32>,
    /// The statement that called it.
    pub(super) call: Option<u32>,
}

/// Makes nodes of the call stack, outermost first.
pub(super) fn open(run: &Run, builder: &mut Builder<'_, '_>) -> Vec<Open> {
    let mut frames: Vec<Open> = Vec::new();
    let mut above: Vec<(usize, i64)> = Vec::new();
    let mut calls = Calls::new(builder.facts);
    let stack = run
        .state_file
        .iter()
        .flat_map(|file| file.call_stack.iter().rev());
    for (count, frame) in (1_i64..).zip(stack) {
        let depth = frame.depth.unwrap_or(count);
        while above.last().is_some_and(|(_, outer)| *outer >= depth) {
            above.pop();
        }
        let caller = above.last().map(|(at, _)| *at);
        let facts = &builder.facts;
        let block = facts.blocks.get(&*frame.block).copied();
        let inside = caller.and_then(|at| frames.get(at)).map(|f| f.block);
        let (call, guessed) = match inside {
            // The caller's own block is not in the program.
            Some(None) => (None, false),
            Some(inside) => calls.of(&frame.block, inside),
            None => calls.of(&frame.block, None),
        };
        let statement = call.and_then(|at| facts.statement(at));
        let text: Text = match statement {
            Some(statement) => statement.text.as_str().into(),
            None => format!("do {}", frame.block).into(),
        };
        let kind = NodeKind::Frame {
            block: frame.block.clone(),
            depth: 1,
        };
        let mut node = derived(kind, text, word(&frame.status));
        node.derived = false;
        node.id = Some(frame.execution_id);
        node.line = statement.map(|s| s.line);
        node.line_guessed = guessed;
        node.state_line = call.and_then(|at| facts.get(at)?.state_line);
        let key = node.line.unwrap_or(LAST);
        above.push((frames.len(), depth));
        frames.push(Open {
            node: builder.push(node, key),
            above: caller,
            block,
            call,
        });
    }
    frames
}

/// Rank and statement, by the block that is called and the block that the call lies in.
type ByPlace = BTreeMap<(Text, Option<u32>), Vec<(u8, u32)>>;

/// Statements that call a block, by its name and the block that they lie in; those that may be under way first.
struct Calls {
    by_place: ByPlace,
    /// How many of a place at the root made frames already.
    made: BTreeMap<Text, usize>,
}

impl Calls {
    fn new(facts: &Facts<'_>) -> Calls {
        let mut by_place: ByPlace = BTreeMap::new();
        for (at, statement) in (0_u32..).zip(&facts.listing.statements) {
            let (StatementKind::Do, Some(target), Some(fact)) =
                (statement.kind, &statement.target, facts.get(at))
            else {
                continue;
            };
            let rank = match fact {
                fact if fact.ran() && !fact.is_over() => 0,
                fact if !fact.ran() && !fact.ahead => 1,
                fact if fact.ahead => 2,
                _ => 3,
            };
            by_place
                .entry((target.as_str().into(), fact.block))
                .or_default()
                .push((rank, at));
        }
        for calls in by_place.values_mut() {
            calls.sort_unstable();
        }
        Calls {
            by_place,
            made: BTreeMap::new(),
        }
    }

    /// The call that most likely made a frame, and whether that is a guess.
    fn of(&mut self, block: &Text, inside: Option<u32>) -> (Option<u32>, bool) {
        let Some(calls) = self.by_place.get(&(block.clone(), inside)) else {
            return (None, false);
        };
        let nth = match inside {
            None => {
                let made = self.made.entry(block.clone()).or_default();
                *made += 1;
                *made - 1
            }
            Some(_) => 0,
        };
        match calls.get(nth) {
            Some((rank, at)) => (Some(*at), calls.len() > 1 && *rank != 0),
            None => (None, false),
        }
    }
}

/// Adds the frames that bindings name and the call stack does not: they are over. And what open frames have written.
pub(super) fn finished(run: &Run, builder: &mut Builder<'_, '_>, open: &[Open]) {
    let mut by_frame: BTreeMap<i64, Vec<&Binding>> = BTreeMap::new();
    let mut parents: BTreeMap<i64, Option<i64>> = BTreeMap::new();
    for binding in run.bindings.iter().filter(|b| is_there(b)) {
        let Some(id) = binding.execution_id else {
            continue;
        };
        by_frame.entry(id).or_default().push(binding);
        let parent = parents.entry(id).or_default();
        *parent = parent.or(binding.parent_execution_id);
    }
    let named: Vec<i64> = parents.values().flatten().copied().collect();
    for id in named {
        parents.entry(id).or_default();
    }
    let mut nodes: BTreeMap<i64, u32> = BTreeMap::new();
    for frame in open {
        if let Some(id) = builder.node(frame.node).and_then(|n| n.id) {
            nodes.insert(id, frame.node);
        }
    }
    let names = names_in_blocks(builder.facts);
    let mut ties = builder.facts.listing.ties();
    let mut homeless: BTreeMap<Text, Vec<(i64, u32)>> = BTreeMap::new();
    let unknown: Vec<i64> = parents
        .keys()
        .copied()
        .filter(|id| !nodes.contains_key(id))
        .collect();
    for id in unknown {
        let written = by_frame.get(&id).map(Vec::as_slice).unwrap_or_default();
        let block = written.iter().find_map(|b| {
            let first = b
                .source
                .as_deref()
                .and_then(|s| s.lines().next())
                .unwrap_or_default();
            let tied = (!first.trim().is_empty())
                .then(|| ties.tie(first, None))
                .flatten();
            let by_text = tied.and_then(|tie| builder.facts.get(tie.statement)?.block);
            by_text.or_else(|| names.get(&*b.name).copied().flatten())
        });
        let name: Text = block
            .and_then(|at| builder.facts.statement(at)?.name.as_deref())
            .unwrap_or_default()
            .into();
        let text = if name.is_empty() {
            format!("frame {id}")
        } else {
            format!("do {name}")
        };
        let mut node = derived(
            NodeKind::Frame {
                block: name.clone(),
                depth: 1,
            },
            text.into(),
            NodeStatus::Completed,
        );
        node.id = Some(id);
        let at = builder.push(node, LAST);
        nodes.insert(id, at);
        if parents.get(&id).copied().flatten().is_none() {
            homeless.entry(name).or_default().push((id, at));
        }
    }
    let opened: BTreeSet<u32> = open.iter().map(|f| f.node).collect();
    for (id, at) in &nodes {
        let parent = parents
            .get(id)
            .copied()
            .flatten()
            .and_then(|p| nodes.get(&p))
            .copied();
        if let (Some(parent), false) = (parent, opened.contains(at)) {
            builder.set_parent(*at, Some(parent));
        }
    }
    // As many finished calls of a block as frames without a home: the same, in order.
    for (block, frames) in homeless {
        let calls = builder.calls_without_id(&block);
        let same = !block.is_empty() && calls.len() == frames.len();
        for (i, (_, at)) in frames.iter().enumerate() {
            match calls.get(i).filter(|_| same) {
                Some(call) => builder.absorb(*call, *at),
                None => builder.mark_inferred(*at),
            }
        }
    }
    writes(builder, &by_frame, &nodes, &mut ties);
}

/// What each frame has written, as statements of it.
fn writes(
    builder: &mut Builder<'_, '_>,
    by_frame: &BTreeMap<i64, Vec<&Binding>>,
    nodes: &BTreeMap<i64, u32>,
    ties: &mut crate::program::Ties<'_>,
) {
    for (id, bindings) in by_frame {
        let Some(frame) = nodes.get(id).map(|at| builder.resolved(*at)) else {
            continue;
        };
        for binding in bindings {
            let block = builder.block_of_frame(frame);
            let own = block.and_then(|b| builder.statement_in(b, &binding.name));
            if own
                .and_then(|s| builder.node_of_statement(s))
                .is_some_and(|node| builder.lies_in(node, frame))
            {
                continue;
            }
            let first = binding
                .source
                .as_deref()
                .and_then(|s| s.lines().next())
                .unwrap_or_default()
                .trim();
            let tie = (!first.is_empty()).then(|| ties.tie(first, None)).flatten();
            let statement = own
                .or(tie.map(|t| t.statement))
                .and_then(|s| builder.facts.statement(s));
            let text: Text = match statement {
                Some(statement) => statement.text.as_str().into(),
                None if !first.is_empty() => first.into(),
                None => binding.name.clone(),
            };
            let mut node = derived(NodeKind::Statement, text, NodeStatus::Completed);
            node.line = statement.map(|s| s.line);
            node.line_guessed = own.is_none() && tie.is_some_and(|t| t.guessed);
            let key = node.line.unwrap_or(LAST);
            let at = builder.push(node, key);
            builder.set_parent(at, Some(frame));
        }
    }
}

/// Names that statements of blocks bind, and the block where there is only one.
fn names_in_blocks<'a>(facts: &Facts<'a>) -> BTreeMap<&'a str, Option<u32>> {
    let mut names: BTreeMap<&str, Option<u32>> = BTreeMap::new();
    for (at, statement) in (0_u32..).zip(&facts.listing.statements) {
        let (Some(name), Some(block)) = (bound(statement), facts.get(at).and_then(|f| f.block))
        else {
            continue;
        };
        names
            .entry(name)
            .and_modify(|known| *known = known.filter(|b| *b == block))
            .or_insert(Some(block));
    }
    names
}
