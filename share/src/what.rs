//! The user's choice of contents to share.

use std::collections::BTreeSet;

/// A kind of content that is shared or left out as a whole.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum SharedContent {
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

impl SharedContent {
    /// Returns the kind's name on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            SharedContent::Values => "values",
            SharedContent::Prompts => "prompts",
            SharedContent::Memories => "memories",
            SharedContent::Program => "program",
            SharedContent::Attachments => "attachments",
            SharedContent::History => "history",
        }
    }
}

/// The contents to share.
#[derive(Debug, Clone)]
pub struct ShareWhat {
    /// The kinds of content left out as a whole.
    pub without: BTreeSet<SharedContent>,
    /// The longest value to share, in bytes.
    pub max_value: Option<u64>,
    /// Whether to keep the names of people who decided a gate or may decide a gate.
    pub people: bool,
    /// Whether to share more secrets than can be searched for after they were replaced.
    pub unsearched: bool,
}

impl Default for ShareWhat {
    /// Shares everything except earlier values and names of people.
    fn default() -> ShareWhat {
        ShareWhat {
            without: BTreeSet::from([SharedContent::History]),
            max_value: None,
            people: false,
            unsearched: false,
        }
    }
}

impl ShareWhat {
    /// Returns whether a kind of content is shared.
    pub fn has(&self, content: SharedContent) -> bool {
        !self.without.contains(&content)
    }
}
