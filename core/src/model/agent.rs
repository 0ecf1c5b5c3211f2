use super::words::words;
use super::{Text, ValueAt};
use crate::time::Stamp;

words! { parse
    /// How long an agent's memory lives (filesystem.md, "Memory Scoping for Persistent Agents").
    #[derive(Default)]
    pub enum AgentScope {
        /// Dies with the run.
        #[default]
        Execution = "execution",
        /// Survives runs in the project: `.prose/agents/`, `.prose/agents.db`.
        Project = "project",
        /// Survives across projects: `~/.prose`.
        User = "user",
        /// A path that the user named.
        Custom = "custom",
    }
}

/// A persistent agent: its memory's place and its invocations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agent {
    /// The agent's name.
    pub name: Text,
    /// How long its memory lives. Scopes live in stores of their own (errata A1).
    pub scope: AgentScope,
    /// Where its memory lies; [`ValueAt::Missing`] when it has none.
    pub memory: ValueAt,
    /// When it was first written.
    pub created: Option<Stamp>,
    /// When its memory was last written.
    pub updated: Option<Stamp>,
    /// Its invocations, by segment number.
    pub segments: Vec<Segment>,
    /// Which store it was read from: a path inside the source, such as `state.db` or `agents/captain/`.
    pub store: Text,
}

/// One invocation of an agent (filesystem.md, "Segments").
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// Its number, from 1; more than three digits past 999.
    pub number: i64,
    /// When it was recorded.
    pub timestamp: Option<Stamp>,
    /// What the agent was asked.
    pub prompt: Option<Text>,
    /// What it did; in a folder everything below the header.
    pub summary: Option<Text>,
}
