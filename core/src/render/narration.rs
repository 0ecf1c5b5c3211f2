//! What a VM tells in its conversation: markers of what happened, a line each.
//!
//! | style | written | source |
//! |---|---|---|
//! | [`Style::Compact`] | `1→ research ✓`, `3→ ∥start a,b`, `5→ loop:2/5 exit(**done**)` | sqlite.md, "Compact Narration"; the state files of later versions (dialects.md, B) |
//! | [`Style::Positions`] | `[Position] Statement 3: …`, `[Success] …`, `[Binding] …` | sqlite-earlier.md, postgres.md |
//!
//! Marks and words are those that [`crate::decode::compact_log`] reads.

use crate::decode::compact_log::words;
use crate::model::{Run, Text};
use crate::program::Listing;
use crate::trace::{Node, NodeKind, NodeStatus, Trace};

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
    only: Option<u32>,
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
    let (from, to) = match only {
        Some(at) => (at as usize, end(trace, at as usize)),
        None => (0, trace.nodes.len()),
    };
    // What is to be told when a construct is left, the innermost last.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut roots = 0;
    let mut number = 0;
    for at in from..to {
        while let Some((over, construct)) = open.last().copied()
            && over <= at
        {
            open.pop();
            teller.leave(construct, number);
        }
        let Some(node) = trace.nodes.get(at) else {
            break;
        };
        if node.parent.is_none() || Some(at) == only.map(|n| n as usize) {
            roots += 1;
            number = teller.number(at).unwrap_or(roots);
        }
        teller.enter(at, node, number);
        if node.kind != NodeKind::Statement {
            open.push((end(trace, at), at));
        }
    }
    while let Some((_, construct)) = open.pop() {
        teller.leave(construct, number);
    }
    teller.out
}

/// Behind the last node of a subtree.
fn end(trace: &Trace, at: usize) -> usize {
    let below = trace
        .nodes
        .get(at)
        .map_or(0, |node| node.descendants as usize);
    at.saturating_add(below).saturating_add(1)
}

/// Each node's place among its siblings, from 0.
fn places(trace: &Trace) -> Vec<u32> {
    let mut seen = vec![0_u32; trace.nodes.len()];
    trace
        .nodes
        .iter()
        .map(|node| {
            let count = node.parent.and_then(|parent| seen.get_mut(parent as usize));
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
    places: Vec<u32>,
    style: Style,
    out: Vec<String>,
}

impl Teller<'_> {
    /// The number of the outermost statement that a node lies in.
    fn number(&self, at: usize) -> Option<usize> {
        let mut at = at;
        while let Some(parent) = self.trace.nodes.get(at)?.parent {
            at = parent as usize;
        }
        let line = self.trace.nodes.get(at)?.line?;
        self.counted
            .binary_search(&line)
            .ok()
            .map(|place| place.saturating_add(1))
    }

    fn enter(&mut self, at: usize, node: &Node, number: usize) {
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

    fn leave(&mut self, at: usize, number: usize) {
        let Some(node) = self.trace.nodes.get(at) else {
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
                let rounds = self
                    .children(at)
                    .filter(|n| matches!(n.kind, NodeKind::Round { .. }));
                let done = rounds.filter(|n| is_over(&n.status)).count();
                let of = node.max.map_or(String::new(), |max| format!("/{max}"));
                let row = node
                    .last_row
                    .and_then(|row| self.run.executions.get(row as usize));
                let reason = row.and_then(|row| row.meta.as_deref()?.reason.as_ref());
                let exit = match (closed, reason.or(node.remark(self.run))) {
                    (true, Some(reason)) => format!(" exit({})", one_line(reason)),
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
    fn head(&self, at: usize, number: usize) -> String {
        let mut at = Some(at);
        while let Some(here) = at {
            let Some(node) = self.trace.nodes.get(here) else {
                break;
            };
            if matches!(node.kind, NodeKind::Branch { .. }) {
                let place = self.places.get(here).copied().unwrap_or(0);
                return match u8::try_from(place) {
                    Ok(place) if place < 26 => {
                        format!("{number}{}", char::from(b'a'.saturating_add(place)))
                    }
                    _ => format!("{number}.{}", place.saturating_add(1)),
                };
            }
            at = node.parent.map(|parent| parent as usize);
        }
        number.to_string()
    }

    /// The name that a statement binds, else its text.
    fn label(&self, node: &Node) -> String {
        let inside = self
            .frame(node)
            .map_or(String::new(), |id| format!("#{id} "));
        let named = match &node.kind {
            NodeKind::Branch { branch } => Some(branch.to_string()),
            _ => node.line.and_then(|line| {
                let listing = self.listing?;
                let statement = listing.statements.iter().find(|s| s.line == line)?;
                statement.name.clone()
            }),
        };
        format!("{inside}{}", named.unwrap_or_else(|| one_line(&node.text)))
    }

    /// The frame around a node.
    fn frame(&self, node: &Node) -> Option<i64> {
        let mut at = node.parent;
        while let Some(parent) = at {
            let here = self.trace.nodes.get(parent as usize)?;
            if matches!(here.kind, NodeKind::Frame { .. }) {
                return here.id;
            }
            at = here.parent;
        }
        None
    }

    fn ended(&self, node: &Node, label: &str) -> String {
        match node.status {
            NodeStatus::Completed => format!("{label} ✓"),
            NodeStatus::Failed => {
                let why = node.error(self.run).map_or(String::new(), one_line);
                format!("{label} ✗ {why}").trim_end().to_owned()
            }
            NodeStatus::Skipped | NodeStatus::Abandoned => format!("{label} ⊘"),
            NodeStatus::Waiting => format!("{label} ⏳"),
            _ => format!("{label} ⟳"),
        }
    }

    fn position(&mut self, node: &Node, number: usize) {
        if matches!(node.kind, NodeKind::Round { .. }) {
            return;
        }
        self.out.push(format!(
            "[Position] Statement {number}: {}",
            one_line(&node.text)
        ));
        match node.status {
            NodeStatus::Completed | NodeStatus::Approved => {
                self.out.push("[Success] Session complete".to_owned());
            }
            NodeStatus::Failed | NodeStatus::Rejected | NodeStatus::Timeout => {
                let why = node.error(self.run).map_or(String::new(), one_line);
                self.out
                    .push(format!("[Error] {why}").trim_end().to_owned());
            }
            _ => {}
        }
    }

    fn children(&self, at: usize) -> impl Iterator<Item = &Node> {
        let level = self.trace.nodes.get(at).map_or(u32::MAX, |node| node.level);
        let below = at.saturating_add(1)..end(self.trace, at);
        let below = self.trace.nodes.get(below).unwrap_or_default();
        below
            .iter()
            .filter(move |child| child.level == level.saturating_add(1))
    }
}

fn is_over(status: &NodeStatus) -> bool {
    !matches!(
        status,
        NodeStatus::Pending
            | NodeStatus::Executing
            | NodeStatus::Started
            | NodeStatus::Waiting
            | NodeStatus::Iteration
            | NodeStatus::Retry
    )
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

fn one_line(text: &Text) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(120) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or(line)),
        None => line.to_owned(),
    }
}
