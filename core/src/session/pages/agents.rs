use std::collections::{BTreeMap, BTreeSet};

use crate::check::look::Findings;
use crate::issue::Issue;
use crate::model::{Agent, AgentScope};
use crate::program::StatementKind;
use crate::render::brief::shell;
use crate::session::values::Table;
use crate::session::{Opened, Session};
use crate::view::{AgentElsewhere, AgentView, AgentsView, SegmentView};

/// Indices of the agents that a run uses: of those of one name and scope the first.
fn used_agents(opened: &Opened) -> BTreeMap<(&str, &str), usize> {
    let mut used = BTreeMap::new();
    for (at, agent) in opened.run.agents.iter().enumerate() {
        used.entry((&*agent.name, agent.scope.word())).or_insert(at);
    }
    used
}

/// Reports the agents of the project and the user that two stores hold.
pub(super) fn check_agents(opened: &Opened, findings: &mut Findings) {
    let used = used_agents(opened);
    for (at, agent) in opened.run.agents.iter().enumerate() {
        let first = used.get(&(&*agent.name, agent.scope.word()));
        let Some(first) = first.filter(|first| **first != at) else {
            continue;
        };
        let Some(first) = opened.run.agents.get(*first).filter(|a| outlives_runs(a)) else {
            continue;
        };
        let (name, store, other) = (&agent.name, &first.store, &agent.store);
        let message =
            format!("agent {name} is kept in {store} and in {other}; this run uses {store}");
        findings.add(
            Issue::info("agent-in-two-stores", message)
                .hint("Each has a memory of its own. Move what is needed into one of them."),
        );
    }
}

/// The agents with their segments, and what changed from one segment to the next.
pub fn agents(session: &Session) -> AgentsView {
    let used = used_agents(session);
    let agents = session.run.agents.iter().enumerate().map(|(i, short)| {
        let agent = &session.values.agent_tail(short);
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
            shadowed: outlives_runs(agent)
                && used.get(&(&*agent.name, agent.scope.word())) != Some(&i),
            memory_len: agent.memory.len(),
            memory_preview: session
                .values
                .preview(Table::Agents(agent.store.clone()), &agent.memory),
            created: agent.created.clone(),
            updated: agent.updated.clone(),
            segments: segments.collect(),
        }
    });
    AgentsView {
        agents: agents.collect(),
        elsewhere: elsewhere(session),
    }
}

/// What the program keeps at a path: a path that a run's data names is shown, and opened by whoever gives it.
fn elsewhere(opened: &Opened) -> Vec<AgentElsewhere> {
    let listing = opened.listing.as_ref();
    let Some(listing) = listing else {
        return Vec::new();
    };
    let declared = listing.statements.iter();
    let declared = declared.filter(|s| s.kind == StatementKind::Agent);
    declared
        .filter_map(|s| s.name.as_deref())
        .filter_map(|name| {
            let path = listing.agent_path(name)?;
            Some(AgentElsewhere {
                name: name.to_owned(),
                path: path.to_owned(),
                command: format!(
                    "prosescope agent memory get {} --path {}",
                    shell(name),
                    shell(path)
                ),
            })
        })
        .collect()
}

fn outlives_runs(agent: &Agent) -> bool {
    matches!(agent.scope, AgentScope::Project | AgentScope::User)
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
