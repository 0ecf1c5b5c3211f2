//! Compares a run with its converted copy, to find differences that were not reported.

use std::collections::{BTreeMap, BTreeSet};

use super::{CopyLoss, Session};
use crate::model::{Text, ValueAt};
use crate::pages::session::pages::audit;
use crate::trace::{Node, NodeId, NodeStatus};

impl Session {
    /// Returns the differences between this run and its converted copy, which was read again. Places in `said` are left
    /// out, because they were reported already.
    pub fn other_than(&self, made: &Session, said: &[CopyLoss]) -> Vec<CopyLoss> {
        let said: BTreeSet<&str> = said.iter().map(|left| &*left.place).collect();
        let mut left = Vec::new();
        let mut differs = |place: String, what: String| {
            if !said.contains(&*place) {
                left.push(CopyLoss::new(place, what));
            }
        };
        if self.status() != made.status() {
            let what = format!(
                "the status of the copy is {}, not {}",
                made.status(),
                self.status()
            );
            differs("the status".to_owned(), what);
        }
        // Without rows in the copy, nothing is compared: either the copied state file is the only record, or no
        // statement ran.
        if !made.run.executions.is_empty() && !self.ran().eq(made.ran()) {
            let (was, is) = (self.trace.nodes.len(), made.trace.nodes.len());
            let what = if was == is {
                "texts, statuses or parents of rows differ in the copy".to_owned()
            } else {
                format!("the trace of the copy has {is} rows, not {was}")
            };
            differs("the trace".to_owned(), what);
        }
        let (was, is) = (audit(self, None), audit(made, None));
        if (&was.chain, &was.head) != (&is.chain, &is.head) {
            let what = format!(
                "the rows of the log are copied, but the chain of their seals is {} in the copy, not {}: {}",
                is.chain, was.chain, is.chain_reason
            );
            differs("the audit log".to_owned(), what);
        }
        let theirs = made.named(&BTreeMap::new());
        for (place, value) in self.named(&self.rows_of_state_file().frames) {
            match theirs.get(&place) {
                Some(is) if *is == value => {}
                Some(_) => differs(
                    place,
                    "this part of the copy differs from the original".to_owned(),
                ),
                None => differs(place, "the copy lacks this part of the run".to_owned()),
            }
        }
        left
    }

    /// Returns the nodes of the trace in order, each with its text, status and parent. A state file tells an open
    /// execution that stands from one that waits for another; rows do not.
    fn ran(&self) -> impl Iterator<Item = (&Text, &str, Option<NodeId>)> {
        // A statement that only the program tells to come next has no row.
        let announced = |node: &Node| node.inferred && node.status == NodeStatus::Pending;
        let nodes = self.trace.nodes.iter().filter(move |node| !announced(node));
        nodes.map(|node| {
            let status = match &node.status {
                NodeStatus::Waiting => NodeStatus::Executing.word(),
                status => status.word(),
            };
            (&node.text, status, node.parent)
        })
    }

    /// Returns the parts of the run by name, such as `agent captain`, each with the facts that must stay the same.
    /// `frames` are the ids that frames have in the copy.
    fn named(&self, frames: &BTreeMap<i64, i64>) -> BTreeMap<String, String> {
        let in_copy = |frame: i64| frames.get(&frame).copied().unwrap_or(frame);
        let mut named = BTreeMap::new();
        for binding in self
            .run
            .bindings
            .iter()
            .filter(|b| !b.superseded && b.value != ValueAt::Missing)
        {
            let len = binding.value.len().unwrap_or(0);
            let around = self.frame_around(binding).map(in_copy);
            let what = format!("{} {len} {around:?}", binding.kind.word());
            let frame = binding.execution_id.map(in_copy);
            let place = super::bindings::named(&binding.name, frame);
            named.insert(format!("binding {place}"), what);
        }
        for agent in super::agents::own_agents(self) {
            let (len, segments) = (agent.memory.len().unwrap_or(0), agent.segments.len());
            named.insert(format!("agent {}", agent.name), format!("{len} {segments}"));
        }
        for gate in self.run.recorded_gates() {
            let run = gate.run_id.as_deref().unwrap_or(&self.run.id);
            named.insert(
                format!("gate {} of run {run}", gate.id),
                gate.status.word().to_owned(),
            );
        }
        for import in &self.run.imports {
            let from = import.source_url.as_deref().unwrap_or_default();
            named.insert(format!("import {}", import.alias), from.to_owned());
        }
        named
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::pages::session::Options;
    use crate::read::sqlite::MemorySource;

    /// Opens a folder in which frame 9 runs in a loop of frame 3.
    fn session(binding: &str, parent: u32) -> Session {
        let row = |id: u32, parent: &str, text: &str, metadata: &str| {
            format!(
                "{{\"id\": {id}, \"parent_id\": {parent}, \"statement_text\": \"{text}\", \"status\": \"executing\", \"metadata\": {metadata}}}\n"
            )
        };
        let events = [
            row(3, "null", "do outer()", "{\"block\": \"outer\"}"),
            row(7, "3", "loop (max: 2):", "{\"loop_id\": \"7\"}"),
            row(
                9,
                &parent.to_string(),
                "do inner()",
                "{\"block\": \"inner\"}",
            ),
        ];
        let files = [
            ("state.md", "# Execution State\n\nrun: r\n".to_owned()),
            ("x_events.jsonl", events.concat()),
            ("bindings/x__9.md", binding.to_owned()),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.into_bytes()));
        let source = Rc::new(MemorySource::new("r", files));
        Session::open(source, "", &Options::default()).unwrap()
    }

    #[test]
    fn a_conversion_that_moves_a_frame_is_not_the_same_run() {
        let binding =
            |around: &str| format!("# x\n\nkind: let\nexecution_id: 9\n{around}\n---\n\nv");
        let run = session(&binding("parent_execution_id: 3\n"), 7);
        for (made, places) in [
            (session(&binding("parent_execution_id: 3\n"), 7), &[][..]),
            // If a binding's file has no `parent_execution_id`, the rows determine the frame around the binding's
            // frame.
            (session(&binding(""), 7), &[]),
            (
                session(&binding("parent_execution_id: 7\n"), 7),
                &["binding x of frame 9"],
            ),
            (
                session(&binding("parent_execution_id: 3\n"), 3),
                &["the trace"],
            ),
        ] {
            let left = run.other_than(&made, &[]);
            let found: Vec<&str> = left.iter().map(|left| &*left.place).collect();
            assert_eq!(found, places);
        }
    }
}
