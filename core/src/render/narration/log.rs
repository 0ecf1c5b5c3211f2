//! Narrates a run that a compact log records: repeats the lines of the log, with their own numbers, rounds and stops.

use super::Narrator;
use super::places::Place;
use crate::model::{CompactLog, Run};
use crate::trace::{NodeId, NodeKind, NodeStatus};

/// The note after a statement without a line in the log. The statement's end was inferred from the binding that it
/// wrote.
const DERIVED: &str =
    "(inferred from the statement's binding; the log has no line for the statement)";

/// Returns the log if it is the run's only record of statements.
pub(super) fn of(run: &Run) -> Option<&CompactLog> {
    let log = run.log.as_ref();
    log.filter(|_| !run.recorded_in_rows() && run.state_file.is_none())
}

impl Narrator<'_> {
    /// Writes the log's lines for the nodes from `from` to `to`; with `whole` also lines that belong to no node.
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
        // A line of the log may record several statements.
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
            // The log has no line for this statement, so its number in the log is unknown.
            let line = self.marker(&Place::unknown(at), &self.statement(node, None));
            self.out.push(format!("{line} {DERIVED}"));
        }
    }
}
