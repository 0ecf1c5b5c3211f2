//! The user's choice of contents to share.

use std::collections::BTreeSet;

/// A kind of content that is shared or left out as a whole.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Values of bindings, and answers of agents.
    Values,
    /// Prompts of agents and of gates.
    Prompts,
    /// Memories of agents.
    Memories,
    /// The program's text; the statements that ran are always shared.
    Program,
    /// Files that bindings refer to.
    Attachments,
    /// Values and memories that were replaced later.
    History,
}

impl Content {
    /// Returns the kind's name on the command line.
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

/// The contents to share.
#[derive(Debug, Clone)]
pub struct What {
    /// The kinds of content left out as a whole.
    pub without: BTreeSet<Content>,
    /// The longest value to share, in bytes.
    pub max_value: Option<u64>,
    /// Whether to keep the names of people who decided a gate or may decide a gate.
    pub people: bool,
}

impl Default for What {
    /// Shares everything except earlier values and names of people.
    fn default() -> What {
        What {
            without: BTreeSet::from([Content::History]),
            max_value: None,
            people: false,
        }
    }
}

impl What {
    /// Returns whether a kind of content is shared.
    pub fn has(&self, content: Content) -> bool {
        !self.without.contains(&content)
    }
}
