//! What a value is made of on its way in.

use std::borrow::Cow;
use std::sync::Arc;

/// The bytes of a value, or of a file beside the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Held in memory.
    Held(Arc<Vec<u8>>),
    /// Too long to be held: whoever gives the command handed the bytes to the store, which copies them in order.
    Staged(Staged),
}

/// What is known of bytes that are not held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staged {
    /// How many bytes they are: more than [`crate::write::LARGE`], or they would be held.
    pub len: u64,
    /// Whether all of them are UTF-8 text.
    pub is_text: bool,
    /// How they begin, for a summary.
    pub beginning: Vec<u8>,
}

impl Default for Content {
    fn default() -> Content {
        Content::Held(Arc::default())
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Content {
        Content::Held(bytes.into())
    }
}

impl Content {
    /// How many bytes it is.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Content::Held(bytes) => bytes.len() as u64,
            Content::Staged(staged) => staged.len,
        }
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text that it is, where it is text and held.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Content::Held(bytes) => std::str::from_utf8(bytes).ok(),
            Content::Staged(_) => None,
        }
    }

    /// How its text begins; `None` when it is no text.
    pub(crate) fn beginning(&self) -> Option<Cow<'_, str>> {
        match self {
            Content::Held(_) => self.text().map(Cow::Borrowed),
            Content::Staged(staged) => {
                let text = || String::from_utf8_lossy(&staged.beginning);
                staged.is_text.then(text)
            }
        }
    }
}
