use super::Text;

/// The tokens of one execution, as a receipt reports them. They are a claim of the program that wrote the receipt.
///
/// Source: OpenProse's contract 2, receipts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportedCost {
    /// The id of the execution's row.
    pub execution: i64,
    /// The provider of the model.
    pub provider: Text,
    /// The model.
    pub model: Text,
    /// The tokens that were read anew or written.
    pub fresh: u64,
    /// The tokens that a cache provided.
    pub reused: u64,
}
