//! Builds the page of agents, with the changes from one segment to the next.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::issue::{Issue, Location};
use crate::model::schema;
use crate::model::shell;
use crate::model::{Agent, AgentScope};
use crate::pages::check::issues::Findings;
use crate::pages::session::unread::unread;
use crate::pages::session::values::ValueTable;
use crate::pages::session::{Opened, Session};
use crate::pages::view::{AgentElsewhere, AgentView, AgentsView, RunPart, SegmentView};
use crate::program::{Statement, StatementKind};

/// Returns the indices of the agents that a run uses, by name and scope. Of several agents with the same name and
/// scope, the run uses the first.
pub(super) fn used_agents(opened: &Opened) -> BTreeMap<(&str, &str), usize> {
    let mut used = BTreeMap::new();
    for (at, agent) in opened.run.agents.iter().enumerate() {
        used.entry((&*agent.name, agent.scope.word())).or_insert(at);
    }
    used
}

/// Reports agents of the project and the user that are in two stores.
pub(in crate::pages::session) fn check_agents(opened: &Opened, findings: &mut Findings) {
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
            Issue::noted("agent-in-two-stores", message)
                .hint("Each store has a memory of the agent. Move what is needed into one store."),
        );
    }
}

/// Builds the page: the agents with their segments, and the changes from one segment to the next.
pub fn agents(session: &Session) -> AgentsView {
    let _snapshot = session.snapshot();
    let used = used_agents(session);
    let lost: Vec<Location> = session
        .issues()
        .filter(|issue| unread(issue).is_some_and(|lost| lost.concerns(RunPart::Agents)))
        .map(|issue| issue.location.clone())
        .collect();
    let agents = session.run.agents.iter().enumerate().map(|(i, short)| {
        let agent = &session.values.agent_tail(short);
        let (memory_unread, segments_unread) = lacks(agent, &lost);
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
            memory_unread,
            segments_unread,
            memory_len: agent.memory.len(),
            memory_preview: session
                .values
                .preview(ValueTable::Agents(agent.store.clone()), &agent.memory),
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

/// Returns whether an agent's memory, and whether some of its segments, are in a part that could not be read.
fn lacks(agent: &Agent, lost: &[Location]) -> (bool, bool) {
    // The name of a store outside of the run begins with its scope: `project: .prose/agents.db`.
    let path = agent.store.split_once(": ").map(|(_, path)| path);
    let store = path.unwrap_or(&agent.store);
    let in_folder = store.ends_with('/');
    let here = lost.iter().filter(|at| {
        let file = at.file.as_deref().unwrap_or_default();
        let above = |folder: &str, path: &str| {
            let rest = path.strip_prefix(folder.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        file.is_empty()
            || above(file, store)
            || (in_folder && (above(store, file) || file == "../agents"))
    });
    // The agent's row was read if its memory or at least one of its times is known.
    let is_known =
        agent.memory.len().is_some() || agent.created.is_some() || agent.updated.is_some();
    here.fold((false, false), |(memory, segments), at| {
        let is = |name: &str| {
            let table = at.table.as_deref();
            table.is_some_and(|table| table.eq_ignore_ascii_case(name))
        };
        let file = at.file.as_deref().unwrap_or_default();
        let inside = in_folder && file.starts_with(store);
        let of_memory = inside && file.ends_with("/memory.md");
        let of_all = at.table.is_none() && !inside;
        (
            memory || !is_known && (of_all || of_memory || is(schema::AGENTS)),
            segments || of_all || inside && !of_memory || is(schema::AGENT_SEGMENTS),
        )
    })
}

/// Returns the agents whose memory is at a path that the program declares. A program could declare any path, so the
/// page only shows the path. A command that the user runs can open the path.
fn elsewhere(opened: &Opened) -> Vec<AgentElsewhere> {
    let Some(listing) = opened.listing.as_ref() else {
        return Vec::new();
    };
    let of = |statement: &Statement| {
        let name = statement.name.as_deref()?;
        let path = listing.agent_path(name)?;
        let option = shell::option("--path", path);
        Some(AgentElsewhere {
            name: name.to_owned(),
            path: path.to_owned(),
            command: shell::command("agent memory get", &[name], &option),
        })
    };
    let declared = listing.statements.iter();
    let declared = declared.filter(|s| s.kind == StatementKind::Agent);
    declared.filter_map(of).collect()
}

fn outlives_runs(agent: &Agent) -> bool {
    matches!(agent.scope, AgentScope::Project | AgentScope::User)
}

/// Returns lines that disappeared (`-`) and then new lines (`+`), at most 200 in all.
fn changes(old: &str, new: &str) -> Vec<(char, String)> {
    let lines =
        |text: &str| -> BTreeSet<String> { text.lines().map(|l| l.trim().to_owned()).collect() };
    let (was, is) = (lines(old), lines(new));
    let lacking = |text: &'_ str, other: &BTreeSet<String>, mark: char| {
        let own = text.lines().map(str::trim);
        let own = own.filter(|line| !line.is_empty() && !other.contains(*line));
        own.map(|line| (mark, line.to_owned())).collect::<Vec<_>>()
    };
    let all = [lacking(old, &is, '-'), lacking(new, &was, '+')].concat();
    all.into_iter().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::{changes, lacks};
    use crate::model::issue::Issue;
    use crate::model::time::Stamp;
    use crate::model::{Agent, ValueAt};

    #[test]
    fn what_could_not_be_read_of_an_agent_is_not_called_missing() {
        let table =
            |file: &str, name: &str| Issue::error("r", "m").at_file(file).at_table(name).location;
        let file = |file: &str| Issue::error("r", "m").at_file(file).location;
        for (store, lost, expected) in [
            ("state.db", table("state.db", "agents"), (true, false)),
            (
                "state.db",
                table("state.db", "Agent_Segments"),
                (false, true),
            ),
            ("state.db", table("agents.db", "agents"), (false, false)),
            (
                "project: .prose/agents.db",
                table(".prose/agents.db", "agents"),
                (true, false),
            ),
            (
                "project: .prose/agents.db",
                file(".prose/agents.db"),
                (true, true),
            ),
            ("agents/a/", file("agents/a/memory.md"), (true, false)),
            ("agents/a/", file("agents/a/a-002.md"), (false, true)),
            ("agents/a/", file("agents"), (true, true)),
            ("agents/a/", file("agents/ab/memory.md"), (false, false)),
            ("user: agents/a/", file("../agents"), (true, true)),
        ] {
            let mut agent = Agent {
                store: store.into(),
                ..Agent::default()
            };
            let lost = [lost];
            assert_eq!(lacks(&agent, &lost), expected, "{store}: {lost:?}");
            // If the agent's row was read, a missing memory does not count as unread.
            agent.memory = ValueAt::Missing;
            agent.created = Some(Stamp::parse("2026-01-15 10:00:00"));
            assert_eq!(
                lacks(&agent, &lost),
                (false, expected.1),
                "{store}: {lost:?}"
            );
        }
    }

    #[test]
    fn says_what_came_and_what_went() {
        assert_eq!(
            changes("a\nb\n", "b\nc"),
            [('-', "a".to_owned()), ('+', "c".to_owned())]
        );
        assert_eq!(changes("same", "same"), []);
    }
}
