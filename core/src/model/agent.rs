use serde::{Deserialize, Serialize};

use super::words::words;
use super::{Text, ValueAt};
use crate::time::Stamp;

/// How long an agent's memory lives (filesystem.md, "Memory Scoping for Persistent Agents").
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentScope {
    /// Dies with the run.
    #[default]
    Execution,
    /// Survives runs in the project: `.prose/agents/`, `.prose/agents.db`.
    Project,
    /// Survives across projects: `~/.prose`.
    User,
    /// A path that the user named.
    Custom,
    /// Another word, as written.
    Other(Text),
}

words!(parse AgentScope {
    Execution = "execution",
    Project = "project",
    User = "user",
    Custom = "custom",
});

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
