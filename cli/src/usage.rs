//! What is said of a command line that cannot be understood.

use std::error::Error;
use std::num::ParseIntError;

use clap::CommandFactory;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args::Cli;
use crate::error::CliError;

/// Replaces the advice of clap that would not work here: `-- -3` makes a value an argument of its own, and the usage
/// line of two options that exclude each other has both of them. `words` are those of the command line.
pub(crate) fn advised(mut error: clap::Error, words: &[String]) -> clap::Error {
    let wrong = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(arg)) => arg.clone(),
        _ => String::new(),
    };
    let mut tips = match error.remove(ContextKind::Suggested) {
        Some(ContextValue::StyledStrs(tips)) => tips,
        _ => Vec::new(),
    };
    tips.retain(|tip| !tip.to_string().starts_with("to pass '"));
    match error.kind() {
        ErrorKind::ArgumentConflict => {
            error.remove(ContextKind::Usage);
        }
        ErrorKind::UnknownArgument if wrong == "--round" => {
            let own = "`prosescope loop iterate` ends the current round; `prosescope exec run` and `prosescope loop exit` take --round";
            tips = vec![own.to_owned().into()];
            error.remove(ContextKind::SuggestedArg);
            error.remove(ContextKind::Usage);
        }
        ErrorKind::UnknownArgument => {
            let option = option_before(&wrong, words);
            tips.extend(option.map(|option| {
                StyledStr::from(format!(
                    "write a value that begins with `-` as `{option}=VALUE`"
                ))
            }));
        }
        _ => {}
    }
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// Returns the option that stands before an unexpected argument and takes a value, where the argument cannot be an option
/// itself: a line of a list, of a log, of a diff.
fn option_before<'w>(wrong: &str, words: &'w [String]) -> Option<&'w str> {
    let mut command = &Cli::command();
    for word in words {
        command = command.find_subcommand(word).unwrap_or(command);
    }
    let takes_value = |long: &str| {
        let mut args = command.get_arguments();
        args.any(|arg| arg.get_long() == Some(long) && arg.get_action().takes_values())
    };
    let (option, _) = words.iter().zip(words.get(1..)?).find(|(option, value)| {
        let is_text = value.contains(' ') || !value.starts_with("--");
        let is_wrong = wrong.len() > 1 && value.starts_with(wrong);
        is_text && is_wrong && option.strip_prefix("--").is_some_and(takes_value)
    })?;
    Some(option)
}

/// What clap says of it, in colours. Where a number was expected, the message names what it is the number of.
pub(crate) fn text(error: &clap::Error) -> String {
    let text = error.render().ansi().to_string();
    let Some(source) = error.source() else {
        return text;
    };
    let cause = source.to_string();
    if !source.is::<ParseIntError>() && !cause.contains(" is not in ") {
        return text;
    }
    let expected = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(arg)) if arg.contains("_ID") => {
            "expected the number of an execution, as `prosescope trace` lists them"
        }
        Some(ContextValue::String(arg)) if arg.starts_with("--line") => {
            "expected the number of a line in the program"
        }
        Some(ContextValue::String(arg)) if arg.starts_with("--port") => {
            "expected the number of a port, from 0 to 65535"
        }
        Some(ContextValue::String(arg)) if arg.starts_with("--limit") => {
            "expected a whole number, 0 or more"
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
