//! Defines the JSON of agents, their memory and their segments.

use serde::{Deserialize, Serialize};

use crate::model::text::counted;
use crate::model::time::Stamp;

/// The agents of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AgentsView {
    /// The agents: first the run's own, then the project's, then the user's.
    pub agents: Vec<AgentView>,
    /// Agents whose memory is at a path that the program declares. A run's data does not include that memory.
    #[serde(default)]
    pub elsewhere: Vec<AgentElsewhere>,
}

/// An agent whose memory is at a path that the program declares.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AgentElsewhere {
    /// The name that the program gives the agent.
    pub name: String,
    /// The path, as the program writes it (`persist: "path"`).
    pub path: String,
    /// The command that reads the memory at that path.
    pub command: String,
}

/// An agent, with its memory and segments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AgentView {
    /// Index into the run's agents. Callers open the memory by this index.
    pub agent: u32,
    /// The name of the agent with this memory.
    pub name: String,
    /// How long the memory lives: `execution`, `project`, `user` or `custom`.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::AgentScope"))]
    pub scope: String,
    /// The store that the agent was read from: `state.db`, `agents/captain/`, or outside of the run
    /// `project: .prose/agents.db`.
    pub store: String,
    /// Whether the run uses an agent of the same name and scope from another store instead of this agent.
    #[serde(default)]
    pub shadowed: bool,
    /// Whether the record of the memory and its times was not readable. The agent may then have a memory although
    /// `memory_len` is `None`.
    #[serde(default)]
    pub memory_unread: bool,
    /// Whether some of the agent's invocations could not be read.
    #[serde(default)]
    pub segments_unread: bool,
    /// Bytes of the memory; `None` if the agent has none.
    pub memory_len: Option<u64>,
    /// The beginning of the memory, on one line.
    pub memory_preview: String,
    /// When the memory was first written; `None` if not recorded.
    pub created: Option<Stamp>,
    /// When the memory was last written; `None` if not recorded.
    pub updated: Option<Stamp>,
    /// The agent's invocations, in order.
    pub segments: Vec<SegmentView>,
}

/// An invocation of an agent, as its segment records it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SegmentView {
    /// The segment's number, from 1.
    pub number: i64,
    /// When the segment was recorded; `None` if that is not recorded.
    pub timestamp: Option<Stamp>,
    /// What the agent was asked; `None` if not recorded.
    pub prompt: Option<String>,
    /// What the agent did; `None` if not recorded.
    pub summary: Option<String>,
    /// Lines of the summary that are new since the previous segment (`+`), and lines that disappeared (`-`); empty for
    /// the first segment.
    pub changes: Vec<(char, String)>,
}

impl AgentView {
    /// Describes the memory for a list: `memory 1.2 KB`. `bytes` formats the size.
    pub fn memory_words(&self, bytes: impl Fn(u64) -> String) -> String {
        match (self.memory_len, self.memory_unread) {
            (Some(len), _) => format!("memory {}", bytes(len)),
            (None, true) => "memory not readable".to_owned(),
            (None, false) => "no memory".to_owned(),
        }
    }

    /// Returns the number of invocations in words: `3 invocations`, or `3 invocations, others not readable`.
    pub fn segment_words(&self) -> String {
        let count = self.segments.len() as u64;
        match (count, self.segments_unread) {
            (0, true) => "invocations not readable".to_owned(),
            (_, true) => format!(
                "{}, others not readable",
                counted(count, "invocation", "invocations")
            ),
            (_, false) => counted(count, "invocation", "invocations"),
        }
    }
}
