//! What an interpreter is asked to let fail.

/// A statement that fails, and how the run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fail {
    /// The ordinal, from 1, of the value that is not written.
    pub(crate) nth: usize,
    pub(crate) after: After,
}

/// What follows a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// Another attempt.
    Retry,
    /// What it lies in fails, and so on; the failed run is opened again.
    Outwards,
}
