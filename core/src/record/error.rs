/// The reason why a command changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// A rule refuses the command. Exit code 4.
    #[error("{message}")]
    Refused {
        /// The rule's name, such as `gate-pending`.
        rule: &'static str,
        /// What the rule found, and why the command is refused.
        message: String,
        /// What the caller can do instead, or must do first.
        hint: String,
    },
    /// A named thing does not exist. Exit code 3.
    #[error("{message}")]
    NotFound {
        /// The name that was not found, and where.
        message: String,
        /// Advice on how to find or create what was named; may be empty.
        hint: String,
    },
    /// The request is invalid, such as a malformed name or timeout. Exit code 2.
    #[error("{message}")]
    Wrong {
        /// What is invalid.
        message: String,
        /// A description or an example of a valid value.
        hint: String,
    },
    /// The store could not be read or written.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl WriteError {
    /// Returns an error for a rule that refuses the command.
    pub fn refused(
        rule: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> WriteError {
        WriteError::Refused {
            rule,
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// Returns an error for a name that was not found.
    pub fn not_found(message: impl Into<String>, hint: impl Into<String>) -> WriteError {
        WriteError::NotFound {
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// Returns an error for an invalid request.
    pub fn wrong(message: impl Into<String>, hint: impl Into<String>) -> WriteError {
        WriteError::Wrong {
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// Returns what to do next; may be empty.
    pub fn hint(&self) -> &str {
        match self {
            WriteError::Refused { hint, .. }
            | WriteError::NotFound { hint, .. }
            | WriteError::Wrong { hint, .. } => hint,
            WriteError::Fault(fault) => &fault.hint,
        }
    }
}

/// A failure of a store; nothing of the command was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The kind of failure.
    pub kind: FaultKind,
    /// Which file failed, how, and why.
    pub message: String,
    /// What to do next; may be empty.
    pub hint: String,
}

impl Fault {
    /// Returns the fault with the place that failed before its message.
    #[must_use]
    pub fn in_place(self, place: impl std::fmt::Display) -> Fault {
        Fault {
            message: format!("{place}: {}", self.message),
            ..self
        }
    }
}

/// The kind of a store's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Another process kept writing for longer than the command may wait.
    Busy,
    /// The disk, or the quota, is full.
    Full,
    /// The file or folder is not writable.
    ReadOnly,
    /// The content cannot be understood: a damaged database, or a table without required columns.
    Damaged,
    /// Any other failure of the system.
    Io,
}

impl Fault {
    /// Returns a fault without a hint.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Fault {
        Fault {
            kind,
            message: message.into(),
            hint: String::new(),
        }
    }

    /// Returns the fault for a log that lost rows. A further write would reuse the ids or places of the lost rows, and
    /// so hide the loss. `log` is the log's name, `why` the evidence of the loss, and `next` the advice if no copy of
    /// the log exists.
    pub fn lost_rows(log: impl std::fmt::Display, why: &str, next: &str) -> Fault {
        Fault::new(
            FaultKind::Damaged,
            format!("{log}: {why}: nothing was changed"),
        )
        .hint(format!("restore the log from a copy; {next}"))
    }

    /// Sets the text that states what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Fault {
        self.hint = hint.into();
        self
    }
}
