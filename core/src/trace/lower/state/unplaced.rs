//! Adds the parts of a state file that match no statement of the program: annotated lines and open constructs.

use super::Lowering;
use super::sections::{UnplacedSections, is_ahead, status_of};
use crate::model::Text;
use crate::model::words::leading_status;
use crate::read::decode::preamble;
use crate::read::decode::state_md::read::ACTIVE;
use crate::trace::emit::word;
use crate::trace::story::Happening;
use crate::trace::verdict::recorded;
use crate::trace::{NodeKind, NodeStatus};

impl Lowering<'_, '_, '_> {
    /// Adds the annotated lines without a statement, after the statement that precedes them in the file.
    pub(super) fn strays_after(&mut self, after: Option<u32>) {
        for at in self.strays.remove(&after).unwrap_or_default() {
            let Some(stray) = self.facts.strays.get(at) else {
                continue;
            };
            let Some(status) = stray.fact.status.clone() else {
                continue;
            };
            let (attempt, max) = stray.fact.attempt.unzip();
            let kind = match &stray.fact.gate {
                Some(gate) => NodeKind::Gate { gate: gate.clone() },
                None => NodeKind::Statement,
            };
            let inside = stray.inside;
            let parent = inside.and_then(|at| self.holder.get(at as usize).copied().flatten());
            let new = Happening {
                text: stray.text.clone(),
                attempts: attempt.unwrap_or(0),
                max: max.flatten(),
                line: stray.fact.state_line,
                ..Happening::new(kind, status)
            };
            self.add(parent, new);
        }
    }

    /// Adds open constructs that fit no statement of the program.
    pub(super) fn constructs(&mut self, unplaced: &UnplacedSections) {
        let Some(file) = &self.run.state_file else {
            return;
        };
        for index in &unplaced.parallels {
            let Some(state) = file.parallels.get(*index) else {
                continue;
            };
            let mut branches = state.branches.iter();
            let open = state.branches.is_empty() || branches.any(|(_, s)| !s.is_terminal());
            let status = if open {
                NodeStatus::Started
            } else {
                NodeStatus::Completed
            };
            let new = Happening {
                text: "parallel".into(),
                ..Happening::new(NodeKind::Parallel, status)
            };
            let made = self.add(None, new);
            for (name, status) in &state.branches {
                self.branch(made, name, status, None);
            }
        }
        for index in &unplaced.loops {
            let Some(state) = file.loops.get(*index).filter(|state| !is_ahead(state)) else {
                continue;
            };
            let text: Text = match &state.condition {
                Some(condition) => format!("loop **{condition}**").into(),
                None => "loop".into(),
            };
            let new = Happening {
                text,
                max: state.max,
                ..Happening::new(NodeKind::Loop, status_of(state))
            };
            let made = self.add(None, new);
            if let Some(total) = state.iteration.filter(|n| *n > 0) {
                self.count_rounds(made, total, None);
            }
        }
    }

    /// Adds a `### Session (line 69)` of "Active Constructs" that is marked as running, unless newer evidence shows
    /// the run's position: a mark, or a binding that the file does not mark. The heading's line number is ignored,
    /// because it often refers to another text than the program.
    pub(super) fn sessions(&mut self) {
        let newer = self.has_position || self.facts.of.iter().any(|fact| fact.derived);
        let finished = recorded(self.run)
            .iter()
            .any(|claim| claim.status.is_finished());
        let Some(file) = self.run.state_file.as_ref().filter(|_| !newer && !finished) else {
            return;
        };
        for (heading, text) in &file.sections {
            let Some(name) = heading.strip_prefix(ACTIVE) else {
                continue;
            };
            let pairs: Vec<_> = text.lines().filter_map(preamble::pair).collect();
            let status = pairs.iter().find_map(|pair| leading_status(pair.value));
            let Some(status) = status
                .map(|status| word(&status))
                .filter(NodeStatus::is_open)
            else {
                continue;
            };
            let pairs = pairs
                .iter()
                .map(|pair| format!("{}: {}", pair.key, pair.value));
            let facts = pairs.collect::<Vec<_>>().join("; ");
            let text = format!("{name}: {facts}").as_str().into();
            let new = Happening {
                text,
                ..Happening::new(NodeKind::Statement, status)
            };
            self.add(None, new);
        }
    }
}
