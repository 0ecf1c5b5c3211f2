//! Lists the agents whose memory the statements ahead read.

use std::collections::{BTreeMap, BTreeSet};

use super::needs::add_line;
use super::{ResumeFacts, ResumePlan};
use crate::model::{Agent, AgentScope, ValueAt};
use crate::pages::view::NeedState;
use crate::program::StatementKind as Kind;

/// An agent whose memory the statements ahead read.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// The name of the agent, as the statements ahead use it.
    pub agent: String,
    /// The lifetime of the agent's memory, as the program declares it.
    pub scope: AgentScope,
    /// Whether the memory exists, and where it comes from.
    pub state: NeedState,
    /// The recorded agent, as an index into [`crate::model::Run::agents`]; `None` if no agent with a memory is
    /// recorded.
    pub found: Option<usize>,
    /// The lines of the program that resume the agent.
    pub lines: Vec<u32>,
}

pub(super) fn add_memories(facts: ResumeFacts<'_>, plan: &mut ResumePlan) {
    let Some(listing) = facts.listing else { return };
    let mut memories: BTreeMap<&str, Memory> = BTreeMap::new();
    let mut begun: BTreeSet<&str> = BTreeSet::new();
    let mut position = usize::MAX;
    for item in &plan.ahead {
        if item.position != position {
            position = item.position;
            begun.clear();
        }
        let Some(this) = listing.get(item.statement) else {
            continue;
        };
        let Some(agent) = this.target.as_deref() else {
            continue;
        };
        if this.kind == Kind::Session {
            // A session of a persistent agent creates the agent's memory.
            begun.insert(agent);
        } else if this.kind == Kind::Resume {
            let memory = memories.entry(agent).or_insert_with(|| {
                let scope = listing.agent_scope(agent).unwrap_or(AgentScope::Execution);
                let found = found(facts, agent, &scope);
                let state = match found {
                    Some(_) => NeedState::There,
                    None if begun.contains(agent) => NeedState::Made,
                    None => NeedState::Nowhere,
                };
                Memory {
                    agent: agent.to_owned(),
                    scope,
                    state,
                    found,
                    lines: Vec::new(),
                }
            });
            add_line(&mut memory.lines, this.line);
        }
    }
    plan.memories = memories.into_values().collect();
}

/// Returns the index of a recorded agent with a memory, in the scope `scope` or else in any other. If two stores have
/// the scope `scope`, only the first counts.
fn found(facts: ResumeFacts<'_>, agent: &str, scope: &AgentScope) -> Option<usize> {
    let agents = facts.run.agents.iter().enumerate();
    let named = agents.filter(|(_, a)| *a.name == *agent);
    let own = named.clone().find(|(_, a)| a.scope == *scope).into_iter();
    let wider = named.filter(|(_, a)| a.scope != *scope);
    let has = |(_, a): &(usize, &Agent)| !matches!(a.memory, ValueAt::Missing);
    Some(own.chain(wider).find(has)?.0)
}
