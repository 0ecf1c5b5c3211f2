//! What of a run leaves, where the user says so.

use std::collections::BTreeSet;

/// A kind of content that is left out as a whole, or put in.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Values of bindings, and what agents answered.
    Values,
    /// Prompts of agents and of gates.
    Prompts,
    /// Memories of agents.
    Memories,
    /// The program's text; the statements that ran stay.
    Program,
    /// Files that bindings name.
    Attachments,
    /// Values and memories that were replaced.
    History,
}

impl Content {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Content::Values => "values",
            Content::Prompts => "prompts",
            Content::Memories => "memories",
            Content::Program => "program",
            Content::Attachments => "attachments",
            Content::History => "history",
        }
    }
}

/// What leaves.
#[derive(Debug, Clone)]
pub struct What {
    /// What is left out as a whole.
    pub without: BTreeSet<Content>,
    /// Bytes of the longest value that leaves.
    pub max_value: Option<u64>,
    /// Whether names of people stay: who decided, who may.
    pub people: bool,
}

impl Default for What {
    /// All but what was replaced; without the names of people.
    fn default() -> What {
        What {
            without: BTreeSet::from([Content::History]),
            max_value: None,
            people: false,
        }
    }
}

impl What {
    /// Whether a content leaves.
    pub fn has(&self, content: Content) -> bool {
        !self.without.contains(&content)
    }
}
