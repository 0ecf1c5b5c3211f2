use super::{
    AgentFact, AgentWritten, At, Change, Facts, MemoryRow, Plan, Record, SegmentRow, WriteError,
    names,
};
use crate::model::AgentScope;

/// `agent memory set`: writes an agent's memory to the store of the agent's scope (errata A1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remember {
    /// The agent.
    pub agent: String,
    /// The scope of the store.
    pub scope: AgentScope,
    /// The memory, as Markdown.
    pub memory: String,
}

impl Record for Remember {
    type Done = AgentWritten;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<AgentWritten>, WriteError> {
        let (scope, known) = agent(facts, &self.agent, &self.scope)?;
        Ok(Plan {
            changes: vec![Change::Memory(MemoryRow {
                agent: self.agent.clone(),
                scope: scope.clone(),
                memory: self.memory.clone(),
                at: at.text(facts.style()),
            })],
            done: AgentWritten {
                agent: self.agent.clone(),
                scope,
                replaced: known.is_some_and(|agent| agent.has_memory),
                ..AgentWritten::default()
            },
        })
    }
}

/// `agent segment add`: records an invocation of an agent, under the next number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddSegment {
    /// The agent.
    pub agent: String,
    /// The scope of the store.
    pub scope: AgentScope,
    /// The prompt.
    pub prompt: String,
    /// A summary of the work.
    pub summary: String,
}

impl Record for AddSegment {
    type Done = AgentWritten;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<AgentWritten>, WriteError> {
        let (scope, known) = agent(facts, &self.agent, &self.scope)?;
        let last = known.map_or(0, |agent| agent.last_segment);
        let number = last.max(0).saturating_add(1);
        Ok(Plan {
            changes: vec![Change::Segment(SegmentRow {
                agent: self.agent.clone(),
                scope: scope.clone(),
                number,
                at: at.text(facts.style()),
                prompt: self.prompt.clone(),
                summary: self.summary.clone(),
            })],
            done: AgentWritten {
                agent: self.agent.clone(),
                scope,
                segment: Some(number),
                ..AgentWritten::default()
            },
        })
    }
}

/// Returns the word of an agent's scope, and the recorded agent.
fn agent(
    facts: &dyn Facts,
    name: &str,
    scope: &AgentScope,
) -> Result<(String, Option<AgentFact>), WriteError> {
    names::plain("agent", name)?;
    names::file_in(facts.style(), "agent", name)?;
    match scope {
        AgentScope::Other(word) => Err(WriteError::wrong(
            format!("{word:?} is not a scope of an agent"),
            "execution, project, user or custom",
        )),
        scope => Ok((scope.word().to_owned(), facts.agent(name)?)),
    }
}
