//! What a person reads when a command cannot do its work: what was found, why, and what to do next.

use std::fmt;

use prosescope_core::session::OpenError;
use prosescope_core::source::SourceError;
use prosescope_core::view::{CommandError, CommandFailed};
use prosescope_core::write::{Fault, FaultKind, WriteError};

use crate::exit::Exit;

/// A command's error: its kind is its exit code.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hints: Vec<String>,
    /// The rule that says no, where it has a name.
    pub(crate) rule: Option<&'static str>,
}

/// What `--json` prints of it.
impl From<&CliError> for CommandFailed {
    fn from(error: &CliError) -> CommandFailed {
        CommandFailed {
            error: CommandError {
                message: error.message.clone(),
                hints: error.hints.clone(),
                exit: error.exit as u8,
                kind: error.exit.kind().to_owned(),
                rule: error.rule.map(str::to_owned),
            },
        }
    }
}

impl CliError {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> CliError {
        CliError {
            exit,
            message: message.into(),
            hints: Vec::new(),
            rule: None,
        }
    }

    /// A rule refuses the command; scripts tell refusals apart by the rule's name, in kebab-case.
    pub(crate) fn refused(rule: &'static str, message: impl Into<String>) -> CliError {
        CliError {
            rule: Some(rule),
            ..CliError::new(Exit::Refused, message)
        }
    }

    pub(crate) fn usage(message: impl Into<String>) -> CliError {
        CliError::new(Exit::Usage, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> CliError {
        CliError::new(Exit::NotFound, message)
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> CliError {
        let hint = hint.into();
        if !hint.is_empty() {
            self.hints.push(hint);
        }
        self
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> CliError {
        let exit = if error.is_not_found() {
            Exit::NotFound
        } else if error.is_failed() {
            Exit::Io
        } else {
            Exit::Unreadable
        };
        CliError::new(exit, error.to_string()).hint(error.next())
    }
}

impl From<SourceError> for CliError {
    fn from(error: SourceError) -> CliError {
        OpenError::from(error).into()
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> CliError {
        CliError::new(Exit::Io, error.to_string())
    }
}

impl From<WriteError> for CliError {
    fn from(error: WriteError) -> CliError {
        let exit = match &error {
            WriteError::Refused { .. } => Exit::Refused,
            WriteError::NotFound { .. } => Exit::NotFound,
            WriteError::Wrong { .. } => Exit::Usage,
            WriteError::Fault(fault) if fault.kind == FaultKind::Damaged => Exit::Unreadable,
            WriteError::Fault(_) => Exit::Io,
        };
        let rule = match &error {
            WriteError::Refused { rule, .. } => Some(*rule),
            _ => None,
        };
        CliError {
            rule,
            ..CliError::new(exit, error.to_string()).hint(error.hint())
        }
    }
}

impl From<Fault> for CliError {
    fn from(fault: Fault) -> CliError {
        WriteError::from(fault).into()
    }
}
