use super::{
    AgentFact, AgentWritten, At, Change, CommandPlan, Facts, MemoryRow, Record, SegmentRow,
    WriteError, names,
};
use crate::model::AgentScope;

/// The command `agent memory set`, which writes an agent's memory to the store of the agent's scope (errata A1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remember {
    /// The name of the agent that gets the memory.
    pub agent: String,
    /// The scope of the agent's memory.
    pub scope: AgentScope,
    /// The memory, as Markdown.
    pub memory: String,
}

impl Record for Remember {
    type Done = AgentWritten;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<AgentWritten>, WriteError> {
        let (scope, known) = agent(facts, &self.agent, &self.scope)?;
        Ok(CommandPlan {
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

/// The command `agent segment add`, which records one session of an agent under the next segment number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddSegment {
    /// The name of the agent that ran the session.
    pub agent: String,
    /// The scope of the agent's memory.
    pub scope: AgentScope,
    /// The prompt of the session.
    pub prompt: String,
    /// A summary of what the session did.
    pub summary: String,
}

impl Record for AddSegment {
    type Done = AgentWritten;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<AgentWritten>, WriteError> {
        let (scope, known) = agent(facts, &self.agent, &self.scope)?;
        let last = known.map_or(0, |agent| agent.last_segment);
        let number = last.max(0).saturating_add(1);
        Ok(CommandPlan {
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

/// Returns the word for a scope, such as `project`, and what is recorded about the agent. Refuses an invalid name or
/// scope.
fn agent(
    facts: &Facts<'_>,
    name: &str,
    scope: &AgentScope,
) -> Result<(String, Option<AgentFact>), WriteError> {
    names::plain("agent", name)?;
    names::file_in(facts.style(), "agent", name)?;
    match scope {
        AgentScope::Other(word) => Err(WriteError::wrong(
            format!("{word:?} is not a scope of an agent"),
            "give execution, project, user or custom",
        )),
        scope => Ok((scope.word().to_owned(), facts.agent(name)?)),
    }
}
