//! Writes compact markers: one at the beginning of each construct, and one at the end of each statement and construct.

use super::places::Place;
use super::{MOST, Narrator};
use crate::decode::compact_log::words;
use crate::text::short;
use crate::trace::{Node, NodeKind, NodeStatus};

impl Narrator<'_> {
    /// Writes the marker of a construct that begins: `3→ ∥start a,b`.
    pub(super) fn begun(&mut self, place: &Place, node: &Node) {
        let text = match &node.kind {
            NodeKind::Parallel => {
                let branches = self.children(place.at).filter_map(branch_of);
                let branches: Vec<&str> = branches.collect();
                format!("{}start {}", mark(words::PARALLEL), branches.join(","))
            }
            NodeKind::Round { n } => {
                let around = node.parent.and_then(|at| self.trace.node(at));
                format!(
                    "{}:{n}{}",
                    mark(words::LOOP),
                    around.map_or(String::new(), most)
                )
            }
            _ => {
                let Some(block) = node.block(self.run) else {
                    return;
                };
                format!("{}:{block}{}", mark(words::BLOCK), frame(node.id))
            }
        };
        self.push_marker(place, &text);
    }

    /// Writes the marker of a node that ended, or of a statement that has not ended: `3→ research ✓`.
    pub(super) fn ended(&mut self, place: &Place, node: &Node) {
        let open = node.status.is_open() && !matches!(node.status, NodeStatus::Other(_));
        let cut = matches!(
            node.status,
            NodeStatus::Abandoned | NodeStatus::CutOff | NodeStatus::Unknown
        );
        let failed = node.status == NodeStatus::Failed;
        let end = if failed { "failed" } else { "done" };
        let text = match &node.kind {
            NodeKind::Statement => self.statement(node, place.frame),
            NodeKind::Branch { .. } => {
                if node.block(self.run).is_some() && !open && !cut {
                    self.push_marker(place, &format!("{} {end}", frame(node.id)));
                }
                self.statement(node, place.frame)
            }
            NodeKind::Round { .. } => return,
            NodeKind::Gate { gate } => gated(gate, &node.status),
            _ if open => return,
            _ if cut => self.statement(node, place.frame),
            NodeKind::Parallel => format!("{}{end}", mark(words::PARALLEL)),
            NodeKind::Loop => self.left(place, node),
            NodeKind::Frame { .. } => format!("{} {end}", frame(node.id)),
        };
        if node.attempts > 1 && matches!(node.kind, NodeKind::Statement | NodeKind::Branch { .. }) {
            self.push_marker(place, &format!("retry:{}{}", node.attempts, most(node)));
        }
        let text = text.trim();
        self.push_marker(place, &format!("{text}{}", follows(node)));
    }

    /// Returns the words for the end of a loop: `loop:2/5 exit(**done**)`.
    fn left(&self, place: &Place, node: &Node) -> String {
        let last = self.trace.last_round(place.at);
        let last = last.map_or(String::new(), |n| format!(":{n}{}", most(node)));
        let row = node
            .last_row
            .and_then(|row| self.run.executions.get(row as usize));
        let reason = row.and_then(|row| row.meta.as_deref()?.reason.as_ref());
        let why = reason.or(node.remark(self.run)).or(node.error(self.run));
        let why = why.map_or(String::new(), |why| format!("({})", short(why, MOST)));
        format!("{}{last} exit{why}", mark(words::LOOP))
    }

    /// Returns the name that a statement binds, or else the statement's text, followed by the status: `research ✓`.
    pub(super) fn statement(&self, node: &Node, inside: Option<i64>) -> String {
        let inside = inside.map_or(String::new(), |id| format!("#{id} "));
        let named = match &node.kind {
            NodeKind::Branch { branch } => Some(branch.to_string()),
            _ => node.statement(self.listing).and_then(|s| s.name.clone()),
        };
        let label = named.unwrap_or_else(|| short(&node.text, MOST));
        let status = match &node.status {
            NodeStatus::Completed => " ✓".to_owned(),
            NodeStatus::Failed => {
                let why = node.error(self.run).map(|why| short(why, MOST));
                format!(" ✗ {}", why.unwrap_or_default())
            }
            NodeStatus::Skipped => " ⊘".to_owned(),
            NodeStatus::Abandoned | NodeStatus::CutOff => format!(" ⊘ {}", node.status.word()),
            NodeStatus::Waiting => " ⏳".to_owned(),
            // No record shows whether the statement ended.
            NodeStatus::Unknown => String::new(),
            NodeStatus::Other(word) => format!(" ({})", short(word, MOST)),
            _ => " ⟳".to_owned(),
        };
        format!("{inside}{label}{status}")
    }

    fn push_marker(&mut self, place: &Place, text: &str) {
        let line = self.marker(place, text);
        self.out.push(line);
    }

    pub(super) fn marker(&self, place: &Place, text: &str) -> String {
        format!("{}{} {text}", place.head, mark(words::ARROWS))
            .trim_end()
            .to_owned()
    }
}

/// Returns the words for a gate: `gate:ship ✓ approved`. Without an id, `gate` is the statement's text, which is left
/// out because the statement's number identifies the gate.
fn gated(gate: &str, status: &NodeStatus) -> String {
    let name = match gate.contains(char::is_whitespace) {
        true => String::new(),
        false => format!(":{gate}"),
    };
    let state = match status {
        NodeStatus::Approved => "✓ approved",
        NodeStatus::Rejected => "✗ rejected",
        NodeStatus::Timeout => "✗ timeout",
        NodeStatus::Pending | NodeStatus::Waiting => "pending",
        other => other.word(),
    };
    format!("{}{name} {state}", mark(words::GATE))
}

/// Returns a note for an end that was inferred from a written binding, or from statements that ran later.
pub(super) fn follows(node: &Node) -> &'static str {
    match node.derived && node.status == NodeStatus::Completed {
        true => " (inferred: not recorded separately)",
        false => "",
    }
}

/// Returns the limit of a loop or a retry, if there is one: `/5`.
fn most(node: &Node) -> String {
    node.max.map_or(String::new(), |max| format!("/{max}"))
}

fn frame(id: Option<i64>) -> String {
    id.map_or(String::new(), |id| format!("#{id}"))
}

fn branch_of(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Branch { branch } => Some(branch),
        _ => None,
    }
}

/// Returns the mark or word to write, which is the first of those that the decoder accepts.
fn mark(list: &'static [&'static str]) -> &'static str {
    list.first().copied().unwrap_or_default()
}
