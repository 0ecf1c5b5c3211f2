//! Parses the command line, and adds advice to the errors of a wrong command line.

use std::error::Error;
use std::ffi::OsString;
use std::num::ParseIntError;
use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use prosescope_core::model::shell;
use prosescope_core::record::render::text::escape;

use crate::args::wrapped::text_of;
use crate::args::{self, Cli};
use crate::error::CliError;
use crate::locate::{is_latest, is_program};

/// Parses a command line. A path in place of a command means `show PATH`.
///
/// # Errors
/// clap's error, and the words of the command line, without control characters.
pub(crate) fn parse(mut words: Vec<OsString>) -> Result<Cli, (clap::Error, Vec<String>)> {
    let mut parsed = args::parse(&words);
    if let Some(at) = parsed.as_ref().err().and_then(|e| path_at(e, &words)) {
        words.insert(at, "show".into());
        parsed = args::parse(&words);
    }
    let parsed = parsed.or_else(|error| match error.kind() {
        ErrorKind::DisplayVersion => Err(error),
        _ => args::parse_completely(&words),
    });
    parsed.map_err(|error| {
        // The error quotes arguments, so control characters in them are escaped: a shell may have filled in names of
        // files.
        let escaped = words
            .iter()
            .map(|word| escape(&word.to_string_lossy(), false));
        let escaped: Vec<String> = escaped.collect();
        let quoted: Vec<OsString> = escaped.iter().map(Into::into).collect();
        if quoted == words {
            return (error, escaped);
        }
        let error = args::parse_completely(&quoted).err().unwrap_or(error);
        (error, escaped)
    })
}

/// Returns the place of a path that a command line has in place of a command.
fn path_at(error: &clap::Error, words: &[OsString]) -> Option<usize> {
    // Skips the program's name. Before the command there can only be global options, such as `--json`.
    let wrong = unknown_command(error);
    let at = words
        .iter()
        .skip(1)
        .position(|word| wrong == Some(&*word.to_string_lossy()));
    let is_run = |at: &usize| {
        let old = wrong
            .and_then(|word| replaced(&[word.to_owned()]))
            .is_some();
        let postgres = wrong.is_some_and(|word| word.starts_with("postgres:"));
        let program = wrong.is_some_and(|word| is_program(Path::new(word)));
        postgres
            || (!program && !old && wrong.is_some_and(is_like_file))
            || (!program && !old && words.get(*at).is_some_and(|path| Path::new(path).exists()))
    };
    at.map(|before| before + 1).filter(is_run)
}

/// Returns whether a word can only be the path of a run, as it is no name of a command. `show` then reports that the
/// path is wrong.
fn is_like_file(word: &str) -> bool {
    let ends = [".html", ".htm", ".zip", ".db", ".sqlite"];
    word.contains('/') || ends.iter().any(|end| word.ends_with(end))
}

/// Returns the unknown command that an error is about.
fn unknown_command(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => Some(word),
        _ => None,
    }
}

/// Former names of commands, and former options behind a new command, each with what to type instead.
const REPLACED: &[(&str, &str)] = &[
    (
        "narrate",
        "`prosescope trace` prints the statements of a run",
    ),
    ("vm", "it is now `prosescope help vm`"),
    ("licenses", "it is now `prosescope help licenses`"),
    ("events", "it is now `prosescope workflow events`"),
    ("serve", "it is now `prosescope workflow serve`"),
    (
        "gate import",
        "decide in the run itself, with `prosescope approve` or `prosescope reject`; `prosescope view --allow-decisions` shows buttons for it",
    ),
    ("push", "it is now `prosescope convert RUN --to postgres`"),
    (
        "pull",
        "it is now `prosescope convert postgres:ID --to sqlite`",
    ),
    ("exec complete", "it is now `prosescope end EXECUTION`"),
    ("exec fail", "it is now `prosescope fail EXECUTION TEXT`"),
    ("exec retry", "it is now `prosescope retry EXECUTION`"),
    ("exec skip", "it is now `prosescope skip LINE`"),
    (
        "exec",
        "it is now `prosescope begin LINE`, or `prosescope begin --text STATEMENT`",
    ),
    ("parallel join", "it is now `prosescope end EXECUTION`"),
    (
        "parallel branch",
        "`prosescope begin LINE` begins a parallel with all of its branches",
    ),
    ("parallel", "it is now `prosescope begin LINE`"),
    ("loop iterate", "it is now `prosescope round EXECUTION`"),
    ("loop round", "it is now `prosescope round EXECUTION`"),
    ("loop exit", "it is now `prosescope end EXECUTION`"),
    ("loop", "it is now `prosescope begin LINE`"),
    (
        "import",
        "`prosescope begin LINE` registers the `use` at a line",
    ),
    (
        "begin --line",
        "give the line alone: `prosescope begin LINE`",
    ),
    ("skip --line", "give the line alone: `prosescope skip LINE`"),
    ("skip --reason", "it is now `--because TEXT`"),
    ("end --reason", "it is now `--because TEXT`"),
    (
        "end --round",
        "leave it out: a loop ends with its present round",
    ),
    (
        "begin --round",
        "`prosescope round EXECUTION` ends the round before",
    ),
    (
        "begin --in",
        "begin the loop or the call with a command of its own",
    ),
    (
        "begin --close",
        "`prosescope end` ends what is open before the statement",
    ),
    (
        "begin --branches",
        "leave it out: the program names the branches, and `--item NAME` begins an item",
    ),
    ("begin --override", "leave it out: the program says it"),
    ("end --binding", "leave it out: the program says it"),
    (
        "fail --error",
        "give the text alone: `prosescope fail EXECUTION TEXT`",
    ),
    (
        "fail --id",
        "give the number alone: `prosescope fail EXECUTION TEXT`",
    ),
    ("put --execution", "it is now `--into EXECUTION`"),
    (
        "put --done",
        "leave it out: a value completes its statement, unless you give --not-done",
    ),
    (
        "brief --execution",
        "give the number alone: `prosescope brief EXECUTION`",
    ),
    ("brief --done", "leave it out: the brief's command says it"),
    (
        "finish --status",
        "give the status alone: `prosescope finish`, `prosescope finish failed`",
    ),
];

/// Returns what to type instead of a former command or option: the entry that the words begin with.
fn replaced(words: &[String]) -> Option<&'static str> {
    let words = words.join(" ");
    let mut names = REPLACED.iter();
    let is_it = |old: &str| {
        let rest = words.strip_prefix(old);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    names.find(|(old, _)| is_it(old)).map(|(_, now)| *now)
}

/// Returns the words of a command line without the program's name and options.
fn plain(words: &[String]) -> Vec<String> {
    let words = words.iter().skip(1);
    words
        .filter(|word| !word.starts_with('-'))
        .cloned()
        .collect()
}

/// Returns the topic that the command line `prosescope help TOPIC` names, which may also be a command.
pub(crate) fn topic(words: &[String]) -> Option<&str> {
    match words {
        [_, help, topic] if help == "help" => Some(topic),
        _ => None,
    }
}

/// Returns advice for words that people try as commands, and that are not commands.
fn instead(word: &str) -> Option<&'static str> {
    Some(match word {
        "run" | "compile" => {
            "prosescope does not run programs: a model runs a program in its own session. `prosescope help vm` prints how a model \
             records a run; `prosescope show` summarizes a recorded run"
        }
        "export" => {
            "`prosescope share` writes a run into one file; `prosescope convert` copies a run into another form"
        }
        _ if is_program(Path::new(word)) => {
            "this is a program: `prosescope init PROGRAM` creates a run of this program, and `prosescope help vm` prints how a model records the run"
        }
        _ => return None,
    })
}

/// Replaces clap's advice where it is wrong. For example, clap proposes `-- -3`, which would make the value a
/// separate argument. For two conflicting options, clap prints a usage line that contains both. `words` are the words
/// of the command line.
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
        ErrorKind::InvalidSubcommand => {
            let tip = unknown_command(&error)
                .and_then(|word| replaced(&plain(words)).or_else(|| instead(word)));
            if let Some(tip) = tip {
                tips = vec![tip.to_owned().into()];
                error.remove(ContextKind::SuggestedSubcommand);
                error.remove(ContextKind::Usage);
            }
        }
        ErrorKind::ArgumentConflict => {
            error.remove(ContextKind::Usage);
        }
        ErrorKind::InvalidValue
            if wrong == "[STATUS]" && words.iter().any(|word| is_like_run(word)) =>
        {
            tips = vec!["name the run with `--run`".into()];
        }
        ErrorKind::UnknownArgument if let Some(tip) = former_option(&wrong, words) => {
            tips = vec![tip.to_owned().into()];
            error.remove(ContextKind::SuggestedArg);
            error.remove(ContextKind::Usage);
        }
        ErrorKind::UnknownArgument
            if wrong.starts_with('-') && plain(words).first().is_some_and(|of| of == "fail") =>
        {
            let tip = "write a text that begins with `-` behind `--`: `prosescope fail EXECUTION -- \"- TEXT\"`";
            tips = vec![tip.into()];
            error.remove(ContextKind::Usage);
        }
        ErrorKind::UnknownArgument
            if !wrong.starts_with('-')
                && plain(words)
                    .first()
                    .is_some_and(|of| of == "fail" || of == "finish") =>
        {
            tips = vec!["put the text in quotes".into()];
        }
        ErrorKind::UnknownArgument if is_run_of(&wrong, words) => {
            // In a wrong command line such as `get RUN NAME`, the word before the unexpected word is the run.
            let before = words.iter().take_while(|word| **word != wrong).last();
            let tip = match before.filter(|word| is_like_run(word) && !is_like_run(&wrong)) {
                Some(run) => format!(
                    "name the run with `--run`: {} {}",
                    shell::word(&wrong),
                    shell::option("--run", run)
                ),
                None => format!("name the run with `--run {wrong}`"),
            };
            tips = vec![tip.into()];
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

/// Returns what to type instead of a former option of a command.
fn former_option(option: &str, words: &[String]) -> Option<&'static str> {
    let command = plain(words).into_iter().next()?;
    replaced(&[command, option.to_owned()])
}

/// Returns the command that the words call.
fn called<'c>(all: &'c clap::Command, words: &[String]) -> &'c clap::Command {
    let next = |of: &'c clap::Command, word: &String| of.find_subcommand(word).unwrap_or(of);
    words.iter().fold(all, next)
}

/// Returns whether a word looks like a run: `latest`, the beginning of an id, or an existing path.
fn is_like_run(word: &str) -> bool {
    let date = word.get(..8).unwrap_or_default();
    is_latest(word)
        || date.len() == 8 && date.chars().all(|c| c.is_ascii_digit())
        || word.starts_with("postgres:")
        || (word.contains('/') || word.ends_with(".db")) && Path::new(word).exists()
}

/// Returns whether an unexpected word is probably a run, given to a command that takes it as `--run`.
fn is_run_of(wrong: &str, words: &[String]) -> bool {
    let all = args::whole();
    let mut args = called(&all, words).get_arguments();
    !wrong.starts_with('-') && args.any(|arg| arg.get_long() == Some("run"))
}

/// Returns the option before an unexpected argument, if that option takes a value and the argument cannot be an
/// option. Such an argument is a text that begins with `-`, such as a line of a list.
fn option_before<'w>(wrong: &str, words: &'w [String]) -> Option<&'w str> {
    let all = args::whole();
    let command = called(&all, words);
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

/// Returns a usage error for a terminal, in colours: the message and the tips are wrapped to `width` columns. The usage
/// line is not, because people copy it.
pub(crate) fn wrapped(error: &clap::Error, width: usize) -> String {
    let text = text(error);
    let plain = |line: &str| anstream::adapter::strip_str(line).to_string();
    let lines = text.lines().map(|line| match plain(line) {
        plain if plain.starts_with("  tip: ") || plain.starts_with("error: ") => {
            text_of(line, width)
        }
        _ => line.to_owned(),
    });
    let lines: Vec<String> = lines.collect();
    format!("{}\n", lines.join("\n"))
}

/// Returns clap's message in colours. If a number was expected, the message contains the meaning of the number, such as
/// a line of the program.
fn text(error: &clap::Error) -> String {
    let text = error.render().ansi().to_string();
    let Some(source) = error.source() else {
        return text;
    };
    let cause = source.to_string();
    if !source.is::<ParseIntError>() && !cause.contains(" is not in ") {
        return text;
    }
    let expected = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(arg)) if arg.contains("EXECUTION") => {
            "expected the number of an execution; `prosescope trace` lists the executions"
        }
        Some(ContextValue::String(arg)) if arg.starts_with("--line") || arg.contains("LINE") => {
            "expected the number of a line in the program"
        }
        Some(ContextValue::String(arg)) if arg.starts_with("--port") => {
            "expected the number of a port, from 0 to 65535"
        }
        _ => &whole_number(&cause),
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

/// Describes which numbers are allowed. If the given number was out of range, `cause` contains the range.
fn whole_number(cause: &str) -> String {
    let range = cause.split_once(" is not in ");
    match range.and_then(|(_, range)| range.split_once("..=")) {
        Some((from, to)) if to != u32::MAX.to_string() => {
            format!("expected a whole number from {from} to {to}")
        }
        Some((from, _)) => format!("expected a whole number, {from} or more"),
        None => "expected a whole number".to_owned(),
    }
}

/// Converts a usage error for `--json`: its first paragraph becomes the message, and tips and usage become hints.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tips_are_wrapped_and_the_usage_line_is_not() {
        let words = ["prosescope", "run", "p.prose"].map(str::to_owned);
        let error =
            args::parse_completely(&words.clone().map(Into::into)).expect_err("not a command");
        let text = wrapped(&advised(error, &words), 60);
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert!(plain.contains("  tip: prosescope does not run"), "{plain}");
        assert!(
            plain.lines().all(|line| line.chars().count() <= 60),
            "{plain}"
        );
    }
}
