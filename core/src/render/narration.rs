//! What a VM tells in its conversation: markers of what happened, a line each.
//!
//! | style | written | source |
//! |---|---|---|
//! | [`Style::Compact`] | `1→ research ✓`, `3→ ∥start a,b`, `5→ loop:2/5 exit(**done**)` | sqlite.md, "Compact Narration"; the state files of later versions (dialects.md, B) |
//! | [`Style::Positions`] | `[Position] Statement 3: …`, `[Success] …`, `[Binding] …` | sqlite-earlier.md, postgres.md |
//!
//! Marks and words are those that [`crate::decode::compact_log`] reads.

use typed_index_collections::TiVec;

use crate::decode::compact_log::words;
use crate::model::Run;
use crate::program::Listing;
use crate::text::short;
use crate::trace::{Node, NodeId, NodeKind, NodeStatus, Trace};

/// Characters of a text that is told.
const MOST: usize = 120;

/// How it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// One short marker.
    Compact,
    /// A line for the position and one for what came of it.
    Positions,
}

/// Tells a run, or one node of it with all that it holds.
pub fn narrate(
    run: &Run,
    trace: &Trace,
    listing: Option<&Listing>,
    only: Option<NodeId>,
    style: Style,
) -> Vec<String> {
    let mut teller = Teller {
        run,
        trace,
        listing,
        counted: listing.map(Listing::log_numbers).unwrap_or_default(),
        places: places(trace),
        style,
        out: Vec::new(),
    };
    let (from, to) = only.map_or_else(
        || (NodeId::new(0), trace.nodes.next_key()),
        |at| (at, trace.end(at)),
    );
    // What is to be told when a construct is left, the innermost last.
    let mut open: Vec<(NodeId, NodeId)> = Vec::new();
    let mut roots = 0;
    let mut number = 0;
    for at in from.to(to) {
        while let Some((over, construct)) = open.last().copied()
            && over <= at
        {
            open.pop();
            teller.leave(construct, number);
        }
        let Some(node) = trace.node(at) else {
            break;
        };
        if node.parent.is_none() || Some(at) == only {
            roots += 1;
            number = teller.number(at).unwrap_or(roots);
        }
        teller.enter(at, node, number);
        if node.kind != NodeKind::Statement {
            open.push((trace.end(at), at));
        }
    }
    while let Some((_, construct)) = open.pop() {
        teller.leave(construct, number);
    }
    teller.out
}

/// Each node's place among its siblings, from 0.
fn places(trace: &Trace) -> TiVec<NodeId, u32> {
    let mut seen: TiVec<NodeId, u32> = vec![0; trace.nodes.len()].into();
    trace
        .nodes
        .iter()
        .map(|node| {
            let count = node.parent.and_then(|parent| seen.get_mut(parent));
            count.map_or(0, |count| {
                *count = count.saturating_add(1);
                count.saturating_sub(1)
            })
        })
        .collect()
}

struct Teller<'a> {
    run: &'a Run,
    trace: &'a Trace,
    listing: Option<&'a Listing>,
    /// First lines of the statements that a log numbers, in order.
    counted: Vec<u32>,
    /// Each node's place among its siblings, from 0.
    places: TiVec<NodeId, u32>,
    style: Style,
    out: Vec<String>,
}

impl Teller<'_> {
    /// The number of the outermost statement that a node lies in.
    fn number(&self, at: NodeId) -> Option<usize> {
        let outermost = self.trace.upward(Some(at)).last()?;
        let line = self.trace.node(outermost)?.line?;
        let place = self.counted.binary_search(&line).ok()?;
        place.checked_add(1)
    }

    fn enter(&mut self, at: NodeId, node: &Node, number: usize) {
        if self.style == Style::Positions {
            return self.position(node, number);
        }
        let head = self.head(at, number);
        let arrow = words::ARROWS.first().copied().unwrap_or("→");
        let told = match &node.kind {
            NodeKind::Statement | NodeKind::Branch { .. } => self.ended(node, &self.label(node)),
            NodeKind::Parallel => {
                let branches: Vec<&str> = self.children(at).filter_map(branch_of).collect();
                format!("{}start {}", mark(words::PARALLEL), branches.join(","))
            }
            NodeKind::Loop | NodeKind::Round { .. } => return,
            NodeKind::Frame { block, .. } => {
                let id = node.id.map_or(String::new(), |id| format!("#{id}"));
                format!("{}:{block}{id}", mark(words::BLOCK))
            }
            NodeKind::Gate { gate } => {
                let state = match node.status {
                    NodeStatus::Approved => "✓ approved",
                    NodeStatus::Rejected => "✗ rejected",
                    NodeStatus::Timeout => "✗ timeout",
                    _ => "pending",
                };
                format!("{}:{gate} {state}", mark(words::GATE))
            }
        };
        if node.attempts > 1 && matches!(node.kind, NodeKind::Statement | NodeKind::Branch { .. }) {
            let of = node.max.map_or(String::new(), |max| format!("/{max}"));
            self.out
                .push(format!("{head}{arrow} retry:{}{of}", node.attempts));
        }
        self.out
            .push(format!("{head}{arrow} {told}").trim_end().to_owned());
    }

    fn leave(&mut self, at: NodeId, number: usize) {
        let Some(node) = self.trace.node(at) else {
            return;
        };
        let closed = is_over(&node.status);
        if self.style == Style::Positions || (!closed && !matches!(node.kind, NodeKind::Loop)) {
            return;
        }
        let head = self.head(at, number);
        let arrow = words::ARROWS.first().copied().unwrap_or("→");
        let failed = node.status == NodeStatus::Failed;
        let told = match &node.kind {
            NodeKind::Parallel if failed => format!("{}failed", mark(words::PARALLEL)),
            NodeKind::Parallel => format!("{}done", mark(words::PARALLEL)),
            NodeKind::Loop => {
                let rounds = self.children(at).filter(|n| n.kind.is_round());
                let done = rounds.filter(|n| is_over(&n.status)).count();
                let of = node.max.map_or(String::new(), |max| format!("/{max}"));
                let row = node
                    .last_row
                    .and_then(|row| self.run.executions.get(row as usize));
                let reason = row.and_then(|row| row.meta.as_deref()?.reason.as_ref());
                let exit = match (closed, reason.or(node.remark(self.run))) {
                    (true, Some(reason)) => format!(" exit({})", short(reason, MOST)),
                    (true, None) => " exit".to_owned(),
                    (false, _) => String::new(),
                };
                format!("{}:{done}{of}{exit}", mark(words::LOOP))
            }
            NodeKind::Frame { .. } => {
                let id = node.id.map_or(String::new(), |id| format!("#{id} "));
                let word = if failed { "failed" } else { "done" };
                format!("{id}{word}")
            }
            NodeKind::Statement
            | NodeKind::Branch { .. }
            | NodeKind::Round { .. }
            | NodeKind::Gate { .. } => return,
        };
        self.out.push(format!("{head}{arrow} {told}"));
    }

    /// `3`, `3a` of the third statement's first branch, and `#43` in a frame stands behind the arrow.
    fn head(&self, at: NodeId, number: usize) -> String {
        let mut upward = self.trace.upward(Some(at));
        let Some(branch) = upward.find(|at| self.trace.node(*at).is_some_and(is_branch)) else {
            return number.to_string();
        };
        let place = self.places.get(branch).copied().unwrap_or(0);
        match u8::try_from(place) {
            Ok(place) if place < 26 => {
                format!("{number}{}", char::from(b'a'.saturating_add(place)))
            }
            _ => format!("{number}.{}", place.saturating_add(1)),
        }
    }

    /// The name that a statement binds, else its text.
    fn label(&self, node: &Node) -> String {
        let frame = self.trace.frame(node.parent);
        let frame = frame.and_then(|at| self.trace.node(at)?.id);
        let inside = frame.map_or(String::new(), |id| format!("#{id} "));
        let named = match &node.kind {
            NodeKind::Branch { branch } => Some(branch.to_string()),
            _ => node.line.and_then(|line| {
                let listing = self.listing?;
                listing.get(listing.statement_at(line)?)?.name.clone()
            }),
        };
        format!(
            "{inside}{}",
            named.unwrap_or_else(|| short(&node.text, MOST))
        )
    }

    fn ended(&self, node: &Node, label: &str) -> String {
        match node.status {
            NodeStatus::Completed => format!("{label} ✓"),
            NodeStatus::Failed => {
                let why = node
                    .error(self.run)
                    .map_or(String::new(), |why| short(why, MOST));
                format!("{label} ✗ {why}").trim_end().to_owned()
            }
            NodeStatus::Skipped | NodeStatus::Abandoned => format!("{label} ⊘"),
            NodeStatus::Waiting => format!("{label} ⏳"),
            _ => format!("{label} ⟳"),
        }
    }

    fn position(&mut self, node: &Node, number: usize) {
        if node.kind.is_round() {
            return;
        }
        self.out.push(format!(
            "[Position] Statement {number}: {}",
            short(&node.text, MOST)
        ));
        match node.status {
            NodeStatus::Completed | NodeStatus::Approved => {
                self.out.push("[Success] Session complete".to_owned());
            }
            NodeStatus::Failed | NodeStatus::Rejected | NodeStatus::Timeout => {
                let why = node
                    .error(self.run)
                    .map_or(String::new(), |why| short(why, MOST));
                self.out
                    .push(format!("[Error] {why}").trim_end().to_owned());
            }
            _ => {}
        }
    }

    fn children(&self, at: NodeId) -> impl Iterator<Item = &Node> {
        let children = self.trace.children(Some(at));
        children.filter_map(|at| self.trace.node(at))
    }
}

/// A word that no document lists may well mean an end.
fn is_over(status: &NodeStatus) -> bool {
    !status.is_open() || matches!(status, NodeStatus::Other(_))
}

fn is_branch(node: &Node) -> bool {
    branch_of(node).is_some()
}

fn branch_of(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Branch { branch } => Some(branch),
        _ => None,
    }
}

/// The mark or word that is written: the first of those that are read.
fn mark(list: &'static [&'static str]) -> &'static str {
    list.first().copied().unwrap_or_default()
}
