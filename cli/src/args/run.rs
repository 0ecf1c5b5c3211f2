//! Reads the run of a command from its first argument, from `--run`, or from `PROSE_RUN` in the environment.

use clap::Args;

use crate::error::CliError;
use crate::locate::{RUN_ENV, unnamed};

pub(super) const RUN_HELP: &str = "The run: its id, a unique prefix of the id, `latest`, a path to a run folder or a database, or postgres:ID";

/// The help of `--run` in commands that also take the run as an argument.
pub(super) const SAME: &str = "The run, as an option in place of the argument";

/// Rejects an empty name of a run. Such a name comes from an unset variable, and would match any run as a prefix of its
/// id.
pub(crate) fn run_name(text: &str) -> Result<String, String> {
    if text.is_empty() {
        Err(format!(
            "the run's name is empty: expected an id, `latest` or a path. Next: set the variable that contains the name, or unset {RUN_ENV}"
        ))
    } else {
        Ok(text.to_owned())
    }
}

// The run of a command, given as an argument or by `--run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[arg(value_parser = run_name, help = format!("{RUN_HELP} [default: {RUN_ENV}, else latest]"))]
    run: Option<String>,
    #[arg(long = "run", value_name = "RUN", value_parser = run_name, help = SAME)]
    named: Option<String>,
}

impl RunArgs {
    /// Returns the run that the command works on.
    pub(crate) fn name(&self) -> Result<String, CliError> {
        self.given()?.map_or_else(unnamed, Ok)
    }

    /// Returns the run that the command line names, if it names one.
    pub(crate) fn given(&self) -> Result<Option<String>, CliError> {
        one(self.run.as_deref(), self.named.as_deref())
    }
}

// The run of a command that takes the run only with `--run`, because its first argument is something else.
#[derive(Debug, Args)]
pub(crate) struct RunOption {
    #[arg(long, value_parser = run_name, help = format!("{RUN_HELP} [default: {RUN_ENV}, else latest]"))]
    run: Option<String>,
}

impl RunOption {
    /// Returns the run that the command works on. This function reads `PROSE_RUN` itself: if clap read the variable,
    /// clap's usage lines would show `--run` as required.
    pub(crate) fn name(&self) -> Result<String, CliError> {
        self.run.clone().map_or_else(unnamed, Ok)
    }
}

/// Returns the run that an argument or `--run` names, if either is given. Both may be given if they are equal.
pub(super) fn one(run: Option<&str>, named: Option<&str>) -> Result<Option<String>, CliError> {
    match (run, named) {
        (Some(run), Some(named)) if run != named => Err(CliError::usage(format!(
            "two runs are named: {run} as an argument, and {named} with --run"
        ))
        .hint("name only one run")),
        (run, named) => Ok(run.or(named).map(str::to_owned)),
    }
}

/// Returns the runs that the arguments name, else the run that `--run` names. Returns an error if `--run` is given
/// beside several arguments, or differs from a single argument.
pub(super) fn several(runs: &[String], named: Option<&str>) -> Result<Vec<String>, CliError> {
    match (runs, named) {
        (runs, None) => Ok(runs.to_vec()),
        ([], Some(named)) => Ok(vec![named.to_owned()]),
        ([run], named) => Ok(one(Some(run), named)?.into_iter().collect()),
        (_, Some(named)) => Err(CliError::usage(format!(
            "several runs are named as arguments, and another run with --run: {named}"
        ))
        .hint("name all runs as arguments, without --run")),
    }
}
