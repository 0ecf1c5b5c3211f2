//! Exit codes, by name. Scripts rely on them; docs/reference/exit-codes.md lists them.

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Recorded, but what was to follow failed: printing, confirming or vacuuming.
    Recorded = 7,
}

impl Exit {
    /// The word for an error that ends so, as `--json` has it.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Exit::Done => "done",
            Exit::Issues => "issues",
            Exit::Usage => "usage",
            Exit::NotFound => "not-found",
            Exit::Refused => "refused",
            Exit::Unreadable => "unreadable",
            Exit::Io => "io",
            Exit::Recorded => "recorded",
        }
    }
}
