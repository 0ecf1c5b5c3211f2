//! Defines the content of values and attachments that a change writes.

use std::borrow::Cow;
use std::sync::Arc;

/// The bytes of a value or of an attachment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueBytes {
    /// The content is in memory.
    Held(Arc<Vec<u8>>),
    /// The content is too long for memory. The caller passes its bytes to the store separately, and the store copies
    /// the bytes in the order of the changes.
    Staged(StagedBytes),
}

/// A description of bytes that are not in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedBytes {
    /// Number of bytes; more than [`crate::record::LARGE`], since shorter content is held in memory.
    pub len: u64,
    /// Whether all bytes are UTF-8 text.
    pub is_text: bool,
    /// The first bytes, for a summary.
    pub beginning: Vec<u8>,
}

impl Default for ValueBytes {
    fn default() -> ValueBytes {
        ValueBytes::Held(Arc::default())
    }
}

impl From<Vec<u8>> for ValueBytes {
    fn from(bytes: Vec<u8>) -> ValueBytes {
        ValueBytes::Held(bytes.into())
    }
}

impl ValueBytes {
    /// Returns the number of bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            ValueBytes::Held(bytes) => bytes.len() as u64,
            ValueBytes::Staged(staged) => staged.len,
        }
    }

    /// Returns whether the content is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the whole text, if the content is text and in memory.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            ValueBytes::Held(bytes) => std::str::from_utf8(bytes).ok(),
            ValueBytes::Staged(_) => None,
        }
    }

    /// Returns the beginning of the text; `None` if the content is not text.
    pub(crate) fn beginning(&self) -> Option<Cow<'_, str>> {
        match self {
            ValueBytes::Held(_) => self.text().map(Cow::Borrowed),
            ValueBytes::Staged(staged) => {
                let text = || String::from_utf8_lossy(&staged.beginning);
                staged.is_text.then(text)
            }
        }
    }
}
