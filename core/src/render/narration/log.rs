//! A run that a compact log records, told in that log's own lines: numbers, rounds and stops are its writer's.

use super::Teller;
use super::places::Place;
use crate::model::{CompactLog, Run};
use crate::trace::{NodeId, NodeKind, NodeStatus};

/// Behind a statement that no line of the log marks: that it completed follows from its binding alone.
const DERIVED: &str = "(its binding is written; the log has no line for it)";

/// The log, where it is what tells the run.
pub(super) fn of(run: &Run) -> Option<&CompactLog> {
    let log = run.log.as_ref();
    log.filter(|_| !run.told_by_rows() && run.state_file.is_none())
}

impl Teller<'_> {
    /// Tells the nodes from `from` to `to`; `whole` also tells the lines of the log that are no node's.
    pub(super) fn log(&mut self, log: &CompactLog, from: NodeId, to: NodeId, whole: bool) {
        let told = &self.trace.told;
        let of = |at: NodeId| told.partition_point(|(of, _)| *of < at);
        let mut own: Vec<u32> = told
            .get(of(from)..of(to))
            .unwrap_or_default()
            .iter()
            .map(|(_, line)| *line)
            .collect();
        own.sort_unstable();
        own.dedup();
        let is_told = |line: u32| whole || own.binary_search(&line).is_ok();
        let lines = (0..).zip(&log.lines).filter(|(line, _)| is_told(*line));
        // A line may tell of several statements.
        let mut lines: Vec<_> = lines.map(|(_, line)| (line.line, &line.raw)).collect();
        lines.dedup();
        self.out
            .extend(lines.iter().map(|(_, raw)| raw.to_string()));
        for at in from.to(to) {
            let marked = |node: NodeId| told.get(of(node)).is_some_and(|(of, _)| *of == node);
            let Some(node) = self.trace.node(at).filter(|node| {
                let ran = matches!(node.kind, NodeKind::Statement | NodeKind::Branch { .. });
                ran && node.derived && node.status == NodeStatus::Completed && !marked(at)
            }) else {
                continue;
            };
            // Which number the writer would have given it is not known.
            let line = self.marker(&Place::unknown(at), &self.statement(node, None));
            self.out.push(format!("{line} {DERIVED}"));
        }
    }
}
