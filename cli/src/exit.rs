//! Exit codes, by name. Scripts rely on them; docs/reference/exit-codes.md lists them.

/// The result of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// Done, but the records have issues of severity error. A failed run is not such an issue.
    Issues = 1,
    /// Wrong usage.
    Usage = 2,
    /// Not found: a run, a name, a gate, a file.
    NotFound = 3,
    /// Refused by a rule.
    Refused = 4,
    /// Unreadable input.
    Unreadable = 5,
    /// An input or output error.
    Io = 6,
    /// Recorded, but a later step failed: printing, confirming or vacuuming.
    Recorded = 7,
}

impl Exit {
    /// Returns the `kind` in the JSON of an error with this exit code.
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
