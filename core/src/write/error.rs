/// Why nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// A rule says no. Exit code 4.
    #[error("{message}")]
    Refused {
        /// The rule, as a kebab-case name.
        rule: &'static str,
        /// What was found, and why that is refused.
        message: String,
        /// What to do next.
        hint: String,
    },
    /// What is named is not there. Exit code 3.
    #[error("{message}")]
    NotFound {
        /// What was looked for, and where.
        message: String,
        /// What to do next.
        hint: String,
    },
    /// What was asked for makes no sense: a name that is none, a timeout that cannot be read. Exit code 2.
    #[error("{message}")]
    Wrong {
        /// What is wrong with it.
        message: String,
        /// What would be right.
        hint: String,
    },
    /// The store failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl WriteError {
    /// A rule says no.
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

    /// What is named is not there.
    pub fn not_found(message: impl Into<String>, hint: impl Into<String>) -> WriteError {
        WriteError::NotFound {
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// What was asked for makes no sense.
    pub fn wrong(message: impl Into<String>, hint: impl Into<String>) -> WriteError {
        WriteError::Wrong {
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// What to do next; may be empty.
    pub fn hint(&self) -> &str {
        match self {
            WriteError::Refused { hint, .. }
            | WriteError::NotFound { hint, .. }
            | WriteError::Wrong { hint, .. } => hint,
            WriteError::Fault(fault) => &fault.hint,
        }
    }
}

/// What went wrong in a store: nothing of the command was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What kind of trouble.
    pub kind: FaultKind,
    /// Which file, what was found, and why.
    pub message: String,
    /// What to do next; may be empty.
    pub hint: String,
}

/// Kinds of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Somebody else kept writing for too long.
    Busy,
    /// The disk, or the quota, is full.
    Full,
    /// The file or folder may not be written to.
    ReadOnly,
    /// What is there cannot be understood: a damaged database, a table without the columns that are needed.
    Damaged,
    /// Any other trouble of the system.
    Io,
}

impl Fault {
    /// A fault without a hint.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Fault {
        Fault {
            kind,
            message: message.into(),
            hint: String::new(),
        }
    }

    /// What a writer says of a log that lost rows: one that went on with it would give their ids, or their places, to other rows,
    /// and hide the loss. `log` names it, `why` says what shows the loss, `next` what to do where there is no copy.
    pub fn lost_rows(log: impl std::fmt::Display, why: &str, next: &str) -> Fault {
        Fault::new(
            FaultKind::Damaged,
            format!("{log}: {why}: nothing was changed"),
        )
        .hint(format!("put back the log as it was, from a copy; {next}"))
    }

    /// With what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Fault {
        self.hint = hint.into();
        self
    }
}
