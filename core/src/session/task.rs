use super::Session;
use crate::trace::NodeKind;
use crate::write::Task;

impl Session {
    /// What the session that an execution records is to do: what its brief says. `None` where no row has that id; an
    /// execution that is no session has a task without an output.
    pub fn task(&self, row: i64) -> Option<Task> {
        let node = self.node_of_row(row)?;
        let line = self.trace().nodes.get(node as usize)?.line;
        let listing = self.listing();
        let statement = listing.zip(line).and_then(|(listing, line)| {
            let at = listing.statements.iter().position(|s| s.line == line)?;
            Task::of(listing, u32::try_from(at).ok()?, listing)
        });
        Some(Task {
            frame: self.frame_of_node(node),
            ..statement.unwrap_or_default()
        })
    }

    /// The frame that a node is, or lies in: execution id, block and depth.
    fn frame_of_node(&self, node: u32) -> Option<(i64, String, i64)> {
        let mut at = Some(node);
        while let Some(node) = at.and_then(|at| self.trace().nodes.get(at as usize)) {
            if let (NodeKind::Frame { block, depth }, Some(id)) = (&node.kind, node.id) {
                return Some((id, block.to_string(), i64::from(*depth)));
            }
            at = node.parent;
        }
        None
    }
}
