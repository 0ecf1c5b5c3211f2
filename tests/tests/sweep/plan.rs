//! The failure that an interpreter causes.

/// A statement to fail, and how the run continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fail {
    /// The ordinal, from 1, of the value that is not written.
    pub(crate) nth: usize,
    pub(crate) after: After,
}

/// The reaction to the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// The statement is retried.
    Retry,
    /// The enclosing statements fail too; then the failed run is opened again.
    Outwards,
}
