use super::words::words;
use super::{Text, ValueAt};
use crate::model::time::Stamp;

words! { parse
    /// The lifetime of an agent's memory (filesystem.md, "Memory Scoping for Persistent Agents").
    #[derive(Default)]
    pub enum AgentScope {
        /// The memory lasts as long as the run.
        #[default]
        Execution = "execution",
        /// The memory lasts across the runs of a project: `.prose/agents/`, `.prose/agents.db`.
        Project = "project",
        /// The memory lasts across all projects of a user: `~/.prose`.
        User = "user",
        /// The memory is stored at a path that the user chose.
        Custom = "custom",
    }
}

/// A persistent agent: the location of its memory, and its invocations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agent {
    /// The agent's name, as recorded: `captain`.
    pub name: Text,
    /// How long the agent's memory lasts. Agents of different scopes are in different stores (errata A1).
    pub scope: AgentScope,
    /// The location of the agent's memory; [`ValueAt::Missing`] if it has none.
    pub memory: ValueAt,
    /// When the agent's memory was first written; `None` if not recorded.
    pub created: Option<Stamp>,
    /// When the agent's memory was last written; `None` if not recorded.
    pub updated: Option<Stamp>,
    /// The agent's invocations, in order of segment number.
    pub segments: Vec<Segment>,
    /// The store from which the agent was read: a path inside the source, such as `state.db` or `agents/captain/`.
    pub store: Text,
}

/// One invocation of an agent (filesystem.md, "Segments").
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// The segment's number, from 1. File names pad it to at least three digits: `captain-007.md`, `captain-1000.md`.
    pub number: i64,
    /// When the invocation was recorded; `None` if unknown.
    pub timestamp: Option<Stamp>,
    /// The task that the agent received.
    pub prompt: Option<Text>,
    /// The summary of what the agent did. In a folder, this is the whole text after the segment file's header.
    pub summary: Option<Text>,
}
