use std::collections::BTreeSet;

use super::Session;
use super::values::Table;
use crate::view::{AgentView, AgentsView, SegmentView};

impl Session {
    /// The agents with their segments, and what changed from one segment to the next.
    pub fn agents(&self) -> AgentsView {
        let agents = self.run.agents.iter().enumerate().map(|(i, short)| {
            let agent = &self.agent_tail(short);
            let mut before: Option<&str> = None;
            let segments = agent.segments.iter().map(|segment| {
                let summary = segment.summary.as_deref();
                let changes = match (before, summary) {
                    (Some(old), Some(new)) => changes(old, new),
                    _ => Vec::new(),
                };
                before = summary.or(before);
                SegmentView {
                    number: segment.number,
                    timestamp: segment.timestamp.clone(),
                    prompt: segment.prompt.as_deref().map(str::to_owned),
                    summary: summary.map(str::to_owned),
                    changes,
                }
            });
            AgentView {
                agent: i as u32,
                name: agent.name.to_string(),
                scope: agent.scope.word().to_owned(),
                store: agent.store.to_string(),
                memory_len: agent.memory.len(),
                memory_preview: self.preview(Table::Agents(agent.store.clone()), &agent.memory),
                created: agent.created.clone(),
                updated: agent.updated.clone(),
                segments: segments.collect(),
            }
        });
        AgentsView {
            agents: agents.collect(),
        }
    }
}

/// Lines that are new (`+`) and lines that are gone (`-`), each in its own order, at most 200.
fn changes(old: &str, new: &str) -> Vec<(char, String)> {
    let lines =
        |text: &str| -> BTreeSet<String> { text.lines().map(|l| l.trim().to_owned()).collect() };
    let (was, is) = (lines(old), lines(new));
    let gone = old
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !is.contains(*l))
        .map(|l| ('-', l.to_owned()));
    let added = new
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !was.contains(*l))
        .map(|l| ('+', l.to_owned()));
    gone.chain(added).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::changes;

    #[test]
    fn says_what_came_and_what_went() {
        assert_eq!(
            changes("a\nb\n", "b\nc"),
            [('-', "a".to_owned()), ('+', "c".to_owned())]
        );
        assert_eq!(changes("same", "same"), []);
    }
}
