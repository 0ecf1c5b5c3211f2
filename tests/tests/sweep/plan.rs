//! Defines the failure that an interpreter causes on purpose while it records a run.

/// A failure: which statement fails, and how the run continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fail {
    /// The number of the value, counted from 1, whose statement fails instead of writing the value.
    pub(crate) nth: usize,
    pub(crate) after: After,
}

/// How the interpreter continues after the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// The interpreter retries the failed statement.
    Retry,
    /// The interpreter also fails the enclosing statements, and then reopens the failed run.
    Outwards,
}

/// What an interpreter does on purpose while it records a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mishaps {
    pub(crate) fail: Option<Fail>,
    /// Whether every third gate is rejected.
    pub(crate) reject: bool,
}
