use serde::{Deserialize, Serialize};

/// Tokens that were counted from transcripts. Each token is in one field only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TokenUse {
    /// The number of answers of a model.
    pub messages: u32,
    /// Input tokens that came from no cache and were not written to one.
    pub input: u64,
    /// Input tokens that a cache provided.
    pub cached: u64,
    /// Input tokens that were written to a cache for 5 minutes.
    pub written_5m: u64,
    /// Input tokens that were written to a cache for 1 hour.
    pub written_1h: u64,
    /// Input tokens that were written to a cache for a time that is not recorded.
    pub written: u64,
    /// Output tokens, with those of reasoning.
    pub output: u64,
}

impl TokenUse {
    /// Adds other tokens to these.
    pub fn add(&mut self, other: &TokenUse) {
        self.messages = self.messages.saturating_add(other.messages);
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.written_5m = self.written_5m.saturating_add(other.written_5m);
        self.written_1h = self.written_1h.saturating_add(other.written_1h);
        self.written = self.written.saturating_add(other.written);
        self.output = self.output.saturating_add(other.output);
    }
}
