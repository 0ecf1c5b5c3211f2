//! Writes markers in the older style: a line for each position, and a line for its outcome.

use super::compact::follows;
use super::places::Place;
use super::{MOST, Narrator};
use crate::text::short;
use crate::trace::{Node, NodeKind, NodeStatus};

impl Narrator<'_> {
    /// Writes the marker of a position: `[Position] Statement 3: let research = …`.
    pub(super) fn position(&mut self, place: &Place, node: &Node) {
        if node.kind.is_round() {
            return;
        }
        let number = place
            .number
            .map_or(String::new(), |n| format!("Statement {n}: "));
        // OpenProse does not define a marker for statements that neither succeeded nor failed.
        let not = match &node.status {
            status @ (NodeStatus::Skipped | NodeStatus::Abandoned | NodeStatus::CutOff) => {
                format!(" ({})", status.word())
            }
            _ => String::new(),
        };
        self.out.push(format!(
            "[Position] {number}{}{not}",
            short(&node.text, MOST)
        ));
    }

    /// Writes the marker of an outcome: `[Success] Session complete`, `[Error] no network`.
    pub(super) fn outcome(&mut self, node: &Node) {
        if node.kind.is_round() {
            return;
        }
        let what = match &node.kind {
            NodeKind::Gate { .. } => "Gate",
            NodeKind::Loop => "Loop",
            NodeKind::Parallel => "Parallel",
            NodeKind::Frame { .. } => "Block",
            NodeKind::Branch { .. } if node.block(self.run).is_some() => "Block",
            NodeKind::Branch { .. } | NodeKind::Statement | NodeKind::Round { .. } => {
                self.kind_of(node)
            }
        };
        let marker = match &node.status {
            NodeStatus::Completed => format!("[Success] {what} complete{}", follows(node)),
            NodeStatus::Approved => format!("[Success] {what} approved"),
            NodeStatus::Rejected => format!("[Error] {what} rejected{}", self.comment(node)),
            NodeStatus::Timeout => format!("[Error] {what} timed out{}", self.comment(node)),
            NodeStatus::Failed => match node.error(self.run).filter(|why| !why.trim().is_empty()) {
                Some(why) => format!("[Error] {}", short(why, MOST)),
                None => format!("[Error] {what} failed; no error text is recorded"),
            },
            _ => return,
        };
        self.out.push(marker);
    }

    /// Returns the word for a node without structure: a session, or another statement.
    fn kind_of(&self, node: &Node) -> &'static str {
        use crate::program::StatementKind as Kind;
        match node.statement(self.listing).map(|statement| statement.kind) {
            None | Some(Kind::Session | Kind::Resume) => "Session",
            Some(_) => "Statement",
        }
    }

    /// Returns the comment of a gate's decision, as the end of a marker.
    fn comment(&self, node: &Node) -> String {
        let NodeKind::Gate { gate } = &node.kind else {
            return String::new();
        };
        let gates = self.run.gates.iter();
        let mut of = gates.filter(|one| one.id == *gate);
        let comment = of.find_map(|gate| gate.comment.as_deref());
        let said = comment.filter(|text| !text.trim().is_empty());
        said.map_or(String::new(), |text| format!(": {}", short(text, MOST)))
    }
}
