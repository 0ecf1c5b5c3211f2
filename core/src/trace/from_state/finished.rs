//! Frames that only bindings speak of: they are over. And what every frame has written.

use std::collections::BTreeMap;

use super::build::Builder;
use super::disk::{bound, is_there};
use super::facts::Facts;
use super::frames::Open;
use super::stack::{self, ByPlace, Stack};
use super::waiting::Waiting;
use crate::model::{Binding, BindingKind, Run, Text};
use crate::program::{StatementKind, Ties};
use crate::trace::emit::derived;
use crate::trace::{NodeKind, NodeStatus};

/// A frame that is over.
struct Over {
    node: u32,
    parent: Option<i64>,
    block: Option<u32>,
    /// The statement that called it, where one alone can have.
    call: Option<u32>,
}

/// What the frames of a run wrote, by frame.
type ByFrame<'r> = BTreeMap<i64, Vec<&'r Binding>>;

/// Adds the frames that bindings name and the call stack does not, and what all frames have written.
pub(super) fn finished(
    run: &Run,
    builder: &mut Builder<'_, '_>,
    stack: &Stack<'_>,
    open: &[Open],
    waiting: &Waiting,
) {
    let mut by_frame: ByFrame<'_> = BTreeMap::new();
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
    let told = builder.facts.elsewhere.keys().map(|(id, _)| *id);
    for id in named.into_iter().chain(told) {
        parents.entry(id).or_default();
    }
    let mut nodes: BTreeMap<i64, u32> = BTreeMap::new();
    for frame in open {
        if let Some(id) = builder.node(frame.node).and_then(|n| n.id) {
            nodes.insert(id, frame.node);
        }
    }
    let calls = stack::calls(builder.facts);
    let names = names_in_blocks(builder.facts);
    let mut ties = builder.facts.listing.ties();
    let mut over: BTreeMap<i64, Over> = BTreeMap::new();
    for (id, parent) in parents {
        if nodes.contains_key(&id) {
            continue;
        }
        let written = by_frame.get(&id).map(Vec::as_slice).unwrap_or_default();
        let (block, call) = origin(builder.facts, &mut ties, written, &names);
        let name: Text = block
            .and_then(|at| builder.facts.statement(at)?.name.as_deref())
            .unwrap_or_default()
            .into();
        let kind = NodeKind::Frame {
            block: name.clone(),
            depth: 1,
        };
        let text = match &*name {
            "" => format!("frame {id}"),
            name => format!("do {name}"),
        };
        let mut node = derived(kind, text.into(), NodeStatus::Completed);
        node.id = Some(id);
        let key = builder.line_of(call);
        let node = builder.push(node, key);
        nodes.insert(id, node);
        over.insert(
            id,
            Over {
                node,
                parent,
                block,
                call,
            },
        );
    }
    for at in over.values() {
        if let Some(parent) = at.parent.and_then(|p| nodes.get(&p)) {
            builder.set_parent(at.node, Some(*parent));
        }
    }
    called(builder, &mut over, stack, &calls);
    in_rounds(builder, &over, stack, open, waiting);
    unknown_calls(builder, &over);
    writes(builder, &by_frame, &nodes, &mut ties);
}

/// The block that a frame ran, and the statement that called it: what its parameters' source is.
fn origin(
    facts: &Facts<'_>,
    ties: &mut Ties<'_>,
    written: &[&Binding],
    names: &BTreeMap<&str, Option<u32>>,
) -> (Option<u32>, Option<u32>) {
    let mut block = None;
    for binding in written {
        let tie = first_line(binding).and_then(|first| ties.tie(first, None));
        let statement = tie.and_then(|tie| facts.statement(tie.statement));
        if binding.kind == BindingKind::Input {
            let target = statement
                .filter(|s| s.kind == StatementKind::Do)
                .and_then(|s| facts.blocks.get(s.target.as_deref()?));
            if let (Some(target), Some(tie)) = (target, tie) {
                return (Some(*target), (!tie.guessed).then_some(tie.statement));
            }
            continue;
        }
        let by_text = || facts.get(tie?.statement)?.block;
        block = block
            .or_else(by_text)
            .or_else(|| names.get(&*binding.name).copied().flatten());
    }
    (block, None)
}

fn first_line(binding: &Binding) -> Option<&str> {
    let first = binding.source.as_deref()?.lines().next()?.trim();
    (!first.is_empty()).then_some(first)
}

/// The calls of frames whose bindings do not tell them: the only one in the block of their parent. A frame that says no
/// parent was called at the root, as far as anybody knows.
fn called(
    builder: &mut Builder<'_, '_>,
    over: &mut BTreeMap<i64, Over>,
    stack: &Stack<'_>,
    calls: &ByPlace<'_>,
) {
    let mut blocks: BTreeMap<i64, Option<u32>> = BTreeMap::new();
    for frame in &stack.frames {
        blocks.insert(frame.row.execution_id, frame.block);
    }
    for (id, frame) in over.iter() {
        blocks.insert(*id, frame.block);
    }
    for frame in over.values_mut() {
        let inside = match frame.parent {
            None => None,
            Some(parent) => match blocks.get(&parent).copied().flatten() {
                None => continue,
                block => block,
            },
        };
        let name = frame
            .block
            .and_then(|at| builder.facts.statement(at)?.name.as_deref());
        let place = name.and_then(|name| calls.get(&(name, inside)));
        if let (None, Some([only])) = (frame.call, place.map(Vec::as_slice)) {
            frame.call = Some(*only);
        }
        // A call that does not lie in the parent's block made another frame.
        let lies = frame
            .call
            .and_then(|at| builder.facts.get(at))
            .map(|f| f.block);
        if lies.is_some_and(|block| block != inside) {
            frame.call = None;
        }
        builder.called_by(frame.node, frame.call);
    }
}

/// Puts frames into the loop that they were called in: where each round called one, into their rounds.
fn in_rounds(
    builder: &mut Builder<'_, '_>,
    over: &BTreeMap<i64, Over>,
    stack: &Stack<'_>,
    open: &[Open],
    waiting: &Waiting,
) {
    // All frames of a caller that one statement called, open or over, by id.
    let mut of_call: BTreeMap<(Option<i64>, u32), Vec<i64>> = BTreeMap::new();
    let id_of = |place: Option<usize>| Some(stack.frames.get(place?)?.row.execution_id);
    for frame in &stack.frames {
        if let Some(call) = frame.call {
            let key = (id_of(frame.above), call);
            of_call.entry(key).or_default().push(frame.row.execution_id);
        }
    }
    for (id, frame) in over {
        if let Some(call) = frame.call {
            of_call.entry((frame.parent, call)).or_default().push(*id);
        }
    }
    let place: BTreeMap<i64, usize> = (0..)
        .zip(&stack.frames)
        .map(|(place, frame)| (frame.row.execution_id, place))
        .collect();
    for ((parent, call), mut ids) in of_call {
        ids.sort_unstable();
        let Some(looped) = stack::construct_around(builder.facts, call).filter(|at| {
            builder
                .facts
                .statement(*at)
                .is_some_and(|s| s.kind.is_loop())
        }) else {
            continue;
        };
        let caller = match parent {
            None => None,
            Some(id) => match place.get(&id) {
                Some(place) => Some(*place),
                // What a frame that is over ran in is not known.
                None => continue,
            },
        };
        let node = match caller {
            Some(place) if !stack.is_innermost(place) => waiting
                .get(&(place, looped))
                .map(|holder| builder.loop_of(*holder)),
            Some(place) => builder.node_of_statement(looped).filter(|node| {
                open.get(place)
                    .is_some_and(|f| builder.lies_in(*node, f.node))
            }),
            None => builder.node_of_statement(looped),
        };
        let Some(node) = node else { continue };
        let last = ids.len().saturating_sub(1);
        for (nth, id) in ids.iter().enumerate() {
            let Some(frame) = over.get(id) else { continue };
            // The mark on the call speaks of the last one.
            if let Some(own) = builder.finished_call(call).filter(|_| nth == last) {
                builder.absorb(own, frame.node);
                continue;
            }
            if let Some(home) = builder.home(node, nth, ids.len()) {
                builder.set_parent(frame.node, Some(home));
                builder.mark_inferred(frame.node);
            }
        }
    }
}

/// As many finished calls of a block as frames without a home: the same, in order.
fn unknown_calls(builder: &mut Builder<'_, '_>, over: &BTreeMap<i64, Over>) {
    let mut homeless: BTreeMap<Option<u32>, Vec<u32>> = BTreeMap::new();
    for frame in over.values() {
        let placed = builder.node(frame.node).is_some_and(|n| n.parent.is_some());
        if frame.parent.is_none() && !placed {
            homeless.entry(frame.block).or_default().push(frame.node);
        }
    }
    for (block, frames) in homeless {
        let name = block.and_then(|at| builder.facts.statement(at)?.name.as_deref());
        let calls = name
            .map(|name| builder.calls_without_id(name))
            .unwrap_or_default();
        let same = calls.len() == frames.len();
        for (i, frame) in frames.iter().enumerate() {
            match calls.get(i).filter(|_| same) {
                Some(call) => builder.absorb(*call, *frame),
                None => builder.mark_inferred(*frame),
            }
        }
    }
}

/// What each frame has written, as statements of it.
fn writes(
    builder: &mut Builder<'_, '_>,
    by_frame: &ByFrame<'_>,
    nodes: &BTreeMap<i64, u32>,
    ties: &mut Ties<'_>,
) {
    let mut told = std::mem::take(&mut builder.facts.elsewhere);
    for (id, bindings) in by_frame {
        let Some(frame) = nodes.get(id).map(|at| builder.resolved(*at)) else {
            continue;
        };
        // What a frame was called with is no statement of it.
        for binding in bindings.iter().filter(|b| b.kind != BindingKind::Input) {
            let block = builder.block_of_frame(frame);
            let own = block.and_then(|b| builder.statement_in(b, &binding.name));
            if own
                .and_then(|s| builder.node_of_statement(s))
                .is_some_and(|node| builder.lies_in(node, frame))
            {
                continue;
            }
            let first = first_line(binding);
            let tie = first.and_then(|first| ties.tie(first, None));
            let at = own.or(tie.map(|t| t.statement));
            let line = at.and_then(|at| told.remove(&(*id, at)));
            let guessed = own.is_none() && tie.is_some_and(|t| t.guessed);
            let text = first.unwrap_or(&binding.name).into();
            write(builder, frame, at, text, line, guessed);
        }
    }
    // Lines that tell of a binding which is not at hand.
    for ((id, at), line) in told {
        if let Some(frame) = nodes.get(&id).map(|node| builder.resolved(*node)) {
            write(builder, frame, Some(at), "".into(), Some(line), false);
        }
    }
}

/// A statement of a frame that is over. `line` of the state file tells of it, if any does.
fn write(
    builder: &mut Builder<'_, '_>,
    frame: u32,
    at: Option<u32>,
    text: Text,
    line: Option<u32>,
    guessed: bool,
) {
    let statement = at.and_then(|at| builder.facts.statement(at));
    let text = statement.map_or(text, |s| s.text.as_str().into());
    let mut node = derived(NodeKind::Statement, text, NodeStatus::Completed);
    node.derived = line.is_none();
    node.state_line = line;
    node.line = statement.map(|s| s.line);
    node.line_guessed = guessed;
    let key = builder.line_of(at);
    let node = builder.push(node, key);
    builder.set_parent(node, Some(frame));
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
