//! What is said of a command line that cannot be understood.

use std::error::Error;
use std::num::ParseIntError;

use clap::error::{ContextKind, ContextValue};

use crate::error::CliError;

/// What clap says of it, in colours. Where a number was expected, the message names what it is the number of.
pub(crate) fn text(error: &clap::Error) -> String {
    let text = error.render().ansi().to_string();
    let source = error.source();
    let Some(cause) = source.and_then(|source| source.downcast_ref::<ParseIntError>()) else {
        return text;
    };
    let cause = cause.to_string();
    let expected = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(arg)) if arg.contains("_ID") => {
            "expected the number of an execution, as `prosescope trace` lists them"
        }
        Some(ContextValue::String(arg)) if arg.starts_with("--line") => {
            "expected the number of a line in the program"
        }
        _ => "expected a whole number",
    };
    match text.rfind(&cause) {
        Some(at) => {
            let (before, after) = text.split_at(at);
            let after = after.get(cause.len()..).unwrap_or_default();
            format!("{before}{expected}{after}")
        }
        None => text,
    }
}

/// The same as an error: its first paragraph is the message, tips and the usage are hints.
pub(crate) fn error(error: &clap::Error) -> CliError {
    let text = anstream::adapter::strip_str(&text(error)).to_string();
    let one_line = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut parts = text.split("\n\n").map(one_line);
    let first = parts.next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(&first);
    let hints = parts.filter(|part| !part.starts_with("For more information"));
    hints.fold(CliError::usage(message), |error, hint| {
        error.hint(hint.strip_prefix("tip: ").unwrap_or(&hint))
    })
}
