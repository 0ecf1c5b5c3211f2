//! The agents whose memory the statements ahead read.

use std::collections::BTreeMap;

use super::ahead::Ahead;
use super::needs::LINES;
use super::{Facts, Plan};
use crate::model::{AgentScope, ValueAt};
use crate::program::{Listing, StatementKind as Kind};

/// An agent whose memory statements ahead read.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// The agent.
    pub agent: String,
    /// How long its memory lives, as the program declares it.
    pub scope: AgentScope,
    /// Whether it is there.
    pub state: MemoryState,
    /// The lines that resume it.
    pub lines: Vec<u32>,
}

/// Whether a memory is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryState {
    /// Index into [`crate::model::Run::agents`].
    There(usize),
    /// A session ahead of its first use begins it: its line.
    Made(u32),
    /// There is none.
    Nowhere,
}

pub(super) fn look(facts: Facts<'_>, plan: &mut Plan) {
    let Some(listing) = facts.listing else { return };
    let mut memories: BTreeMap<String, Memory> = BTreeMap::new();
    let mut begun: BTreeMap<String, u32> = BTreeMap::new();
    let mut stand = usize::MAX;
    for item in &plan.ahead {
        if item.stand != stand {
            stand = item.stand;
            begun.clear();
        }
        memory(facts, listing, item, &mut memories, &mut begun);
    }
    plan.memories = memories.into_values().collect();
}

/// Notes the memory that a statement ahead reads. A session of a persistent agent begins one.
fn memory(
    facts: Facts<'_>,
    listing: &Listing,
    item: &Ahead,
    memories: &mut BTreeMap<String, Memory>,
    begun: &mut BTreeMap<String, u32>,
) {
    let Some(this) = listing.get(item.statement) else {
        return;
    };
    let Some(agent) = this.target.as_deref() else {
        return;
    };
    match this.kind {
        Kind::Session => {
            begun.entry(agent.to_owned()).or_insert(this.line);
        }
        Kind::Resume => {
            let scope = listing.agent_scope(agent).unwrap_or(AgentScope::Execution);
            let memory = memories.entry(agent.to_owned()).or_insert_with(|| Memory {
                agent: agent.to_owned(),
                state: found(facts, agent, &scope, begun),
                scope,
                lines: Vec::new(),
            });
            if memory.lines.len() < LINES && !memory.lines.contains(&this.line) {
                memory.lines.push(this.line);
            }
        }
        _ => {}
    }
}

fn found(
    facts: Facts<'_>,
    agent: &str,
    scope: &AgentScope,
    begun: &BTreeMap<String, u32>,
) -> MemoryState {
    let named = || {
        let agents = facts.run.agents.iter().enumerate();
        agents.filter(|(_, a)| *a.name == *agent)
    };
    // Of two stores of one scope the first is used, also where only the other one has a memory.
    let own = named().find(|(_, a)| a.scope == *scope).into_iter();
    let wider = named().filter(|(_, a)| a.scope != *scope);
    let has = |(_, a): &(usize, &crate::model::Agent)| !matches!(a.memory, ValueAt::Missing);
    if let Some((at, _)) = own.chain(wider).find(has) {
        return MemoryState::There(at);
    }
    match begun.get(agent) {
        Some(line) => MemoryState::Made(*line),
        None => MemoryState::Nowhere,
    }
}
