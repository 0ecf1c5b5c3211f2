//! Defines the JSON of what a run cost: tokens, by node and by model.

use serde::{Deserialize, Serialize};

/// The tokens of a run. Money is never computed, because no record has prices.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CostView {
    /// Where the numbers are from: `reported`, as receipts claim them.
    pub source: String,
    /// The sum over all executions with numbers.
    pub total: TokenCount,
    /// How many executions have no numbers, because no model ran or none were recorded.
    pub unknown: u32,
    /// The tokens of each node, the most expensive first.
    pub by_node: Vec<TokenCount>,
    /// The tokens of each model, the most expensive first.
    pub by_model: Vec<TokenCount>,
}

/// Tokens of a node, of a model, or of a whole run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TokenCount {
    /// The node or the model; empty for the whole run.
    pub name: String,
    /// How many executions have numbers.
    pub executions: u32,
    /// Tokens that were read anew or written.
    pub fresh: u64,
    /// Tokens that a cache provided.
    pub reused: u64,
}

impl TokenCount {
    /// Returns the counts in words: `38 352 tokens, and 313 856 reused (89 %)`.
    pub fn words(&self) -> String {
        let fresh = crate::model::text::counted(self.fresh, "token", "tokens");
        let all = self.fresh.saturating_add(self.reused);
        match self.reused {
            0 => fresh,
            reused => format!(
                "{fresh}, and {} reused ({} %)",
                crate::model::text::count(reused),
                reused.saturating_mul(100) / all.max(1)
            ),
        }
    }
}
