//! Exit codes, by name. Scripts rely on them; docs/cli.md lists them.

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// Done, but issues of severity error were found. A run that failed is no such issue.
    Issues = 1,
    /// Wrong usage.
    Usage = 2,
    /// Not found: a run, a name, a gate, a file.
    NotFound = 3,
    /// Refused: a rule says no.
    Refused = 4,
    /// Unreadable input.
    Unreadable = 5,
    /// I/O failed.
    Io = 6,
}
