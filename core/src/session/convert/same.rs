use std::collections::{BTreeMap, BTreeSet};

use super::{Left, Session};
use crate::model::{Text, ValueAt};
use crate::session::pages::audit;
use crate::trace::NodeId;

impl Session {
    /// What a conversion of this run, read anew, says otherwise, but for the places of which something was said: nothing
    /// is lost in silence.
    pub fn other_than(&self, made: &Session, said: &[Left]) -> Vec<Left> {
        let said: BTreeSet<&str> = said.iter().map(|left| &*left.place).collect();
        let mut left = Vec::new();
        let mut differs = |place: String, what: String| {
            if !said.contains(&*place) {
                left.push(Left::new(place, what));
            }
        };
        if self.status() != made.status() {
            let what = format!(
                "it is read as {} there, and was {}",
                made.status(),
                self.status()
            );
            differs("the status".to_owned(), what);
        }
        // Without rows a state file tells it, which is copied, or nothing ran.
        if !self.run.executions.is_empty() && !self.ran().eq(made.ran()) {
            let (was, is) = (self.trace.nodes.len(), made.trace.nodes.len());
            let what = match was == is {
                true => "it is not read there as it was".to_owned(),
                false => format!("{is} things that ran are read there, and {was} were"),
            };
            differs("the trace".to_owned(), what);
        }
        let (was, is) = (audit(self, None), audit(made, None));
        if (&was.chain, &was.head) != (&is.chain, &is.head) {
            let what = format!(
                "its rows are carried, but their chain is {} there, and was {}: {}",
                is.chain, was.chain, is.chain_reason
            );
            differs("the audit log".to_owned(), what);
        }
        let theirs = made.named();
        for (place, value) in self.named() {
            match theirs.get(&place) {
                Some(is) if *is == value => {}
                Some(_) => differs(place, "it is not read there as it was".to_owned()),
                None => differs(place, "it is not read there".to_owned()),
            }
        }
        left
    }

    /// What ran, in order: its text, how it stands, and what it lies in.
    fn ran(&self) -> impl Iterator<Item = (&Text, &str, Option<NodeId>)> {
        let nodes = self.trace.nodes.iter();
        nodes.map(|node| (&node.text, node.status.word(), node.parent))
    }

    /// What has a name, and what must be the same of it.
    fn named(&self) -> BTreeMap<String, String> {
        let mut named = BTreeMap::new();
        for binding in self
            .run
            .bindings
            .iter()
            .filter(|b| !b.superseded && b.value != ValueAt::Missing)
        {
            let len = binding.value.len().unwrap_or(0);
            let around = self.frame_around(binding);
            let what = format!("{} {len} {around:?}", binding.kind.word());
            named.insert(super::bindings::place(binding), what);
        }
        for agent in super::agents::own_agents(self) {
            let (len, segments) = (agent.memory.len().unwrap_or(0), agent.segments.len());
            named.insert(format!("agent {}", agent.name), format!("{len} {segments}"));
        }
        for gate in self.run.gates.iter().take(self.recorded_gates) {
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
    use crate::session::Options;
    use crate::sqlite::MemorySource;

    /// A folder in which frame 9 runs in a loop of frame 3.
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
            // Where the header is silent the rows say it.
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
