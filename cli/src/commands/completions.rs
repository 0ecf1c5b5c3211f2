//! Completes commands and run ids in a shell. The script that `completions` prints runs this program to list the
//! matching words.

use std::ffi::OsStr;

use clap::{Arg, Command};
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};
use clap_complete::env::{CompleteEnv, Shells};

use crate::args::{CompletionsArgs, whole};
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate::{LATEST, project};
use crate::out::Out;

/// The environment variable that a completion script sets to ask this program for words. Its value is the name of the
/// shell.
const ASKED: &str = "PROSESCOPE_COMPLETE";

const NAME: &str = "prosescope";

pub(super) fn run(args: &CompletionsArgs, out: &Out) -> Result<Exit, CliError> {
    let shell = args.shell.to_string();
    let shells = Shells::builtins();
    let shell = shells.completer(&shell).ok_or_else(|| {
        CliError::not_found(format!("{shell} has no completion script"))
            .hint("`prosescope completions --help` lists the shells")
    })?;
    let mut script = Vec::new();
    shell
        .write_registration(ASKED, NAME, NAME, NAME, &mut script)
        .map_err(|error| CliError::new(Exit::Io, format!("cannot write the script: {error}")))?;
    out.bytes(&script)?;
    Ok(Exit::Done)
}

/// Prints completions if a shell requests them. Returns whether a shell requested completions.
///
/// # Errors
/// When the shell is unknown, or standard output cannot be written to.
pub(crate) fn answer() -> Result<bool, clap::Error> {
    let here = std::env::current_dir().ok();
    CompleteEnv::with_factory(command)
        .var(ASKED)
        .try_complete(std::env::args_os(), here.as_deref())
}

/// Returns clap's definition of the command line. For an argument that takes a run, the shell suggests the ids of the
/// project's runs.
fn command() -> Command {
    with_runs(whole(), true)
}

fn with_runs(command: Command, suggests: bool) -> Command {
    // In `workflow`, a run is a turn of a conversation, so the ids of `.prose/runs` do not fit.
    let suggests = suggests && command.get_name() != "workflow";
    command
        .mut_args(|arg| {
            // `--json` is listed after the first option of a command, which has the same place.
            let place = 2 * arg.get_display_order() + usize::from(arg.get_id() == "json");
            let arg = arg.display_order(place);
            if suggests && names_a_run(&arg) {
                arg.add(ArgValueCompleter::new(runs))
            } else {
                arg
            }
        })
        .mut_subcommands(|below| with_runs(below, suggests))
}

fn names_a_run(arg: &Arg) -> bool {
    ["run", "runs"].contains(&arg.get_id().as_str()) || arg.get_long() == Some("run")
}

/// Returns the ids of runs that begin with a text, newest first. If no id matches, returns paths. Reads only the names
/// of folders, because a user waits for the answer.
fn runs(current: &OsStr) -> Vec<CompletionCandidate> {
    let start = current.to_string_lossy();
    let folders = project()
        .ok()
        .and_then(|project| std::fs::read_dir(project.join("runs")).ok());
    let mut ids: Vec<String> = folders
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|id| is_plain(id))
        .collect();
    ids.sort_by(|one, other| other.cmp(one));
    if !ids.is_empty() {
        ids.push(LATEST.to_owned());
    }
    ids.retain(|id| id.starts_with(&*start));
    if ids.is_empty() {
        PathCompleter::any().complete(current)
    } else {
        ids.into_iter()
            .enumerate()
            .map(|(n, id)| CompletionCandidate::new(id).display_order(Some(n)))
            .collect()
    }
}

/// Returns whether a shell reads a name as plain text. Other names are not completed, because bash inserts a completed
/// word without quotes.
fn is_plain(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !id.starts_with(['-', '.']) && id.chars().all(plain)
}
