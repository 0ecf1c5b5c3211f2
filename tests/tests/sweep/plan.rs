//! The failure that an interpreter causes on purpose.

/// A failure: which statement fails, and how the run continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fail {
    /// Which value is not written, so that its statement fails: its number, counted from 1.
    pub(crate) nth: usize,
    pub(crate) after: After,
}

/// How the interpreter continues after the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// It retries the failed statement.
    Retry,
    /// It also fails the enclosing statements, and then reopens the failed run.
    Outwards,
}
