//! Defines the error of a command (what happened, why, and what to do next), and converts other errors to it.

use std::fmt;

use prosescope_core::model::source::SourceError;
use prosescope_core::pages::session::OpenError;
use prosescope_core::pages::view::{CommandError, CommandFailed};
use prosescope_core::record::{Fault, FaultKind, WriteError};

use crate::exit::Exit;

/// The error of a command. The exit code also determines the `kind` in its JSON.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hints: Vec<String>,
    /// The name of the rule that refused the command, if any.
    pub(crate) rule: Option<&'static str>,
}

/// Converts the error to the JSON that `--json` prints.
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

    /// Creates the error for a refusal by a rule. Scripts compare the rule's name, such as `two-stores`.
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
