//! The exit codes of `prosescope`. Scripts rely on the numbers; docs/reference/exit-codes.md lists them.

/// The result of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// The command succeeded.
    Done = 0,
    /// The command succeeded, but the run's records have issues of severity error. A failed run is not such an issue.
    Issues = 1,
    /// The command line is wrong, such as an unknown option.
    Usage = 2,
    /// Not found: a run, a name, a gate, a file.
    NotFound = 3,
    /// A rule refused the command; `CliError::rule` contains the rule's name.
    Refused = 4,
    /// A run or another input is damaged, or not in a known format.
    Unreadable = 5,
    /// An input or output error, such as a full disk.
    Io = 6,
    /// The command recorded its change, but a later step failed: printing, confirming or vacuuming.
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
