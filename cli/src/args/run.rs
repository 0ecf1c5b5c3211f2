//! How a command names its run: as its first argument, with `--run`, or in the environment.

use clap::Args;

use crate::error::CliError;
use crate::locate::{RUN_ENV, unnamed};

pub(super) const RUN_HELP: &str = "The run: its id, a unique prefix of the id, `latest`, a path to a run folder or a database, or postgres:ID";

/// The help of `--run` in a command that also takes the run as an argument.
pub(super) const SAME: &str = "Name the run by this option instead";

/// Refuses an empty name: it comes from a variable that is not set, and would be the beginning of any run's id.
pub(crate) fn run_name(text: &str) -> Result<String, String> {
    match text.is_empty() {
        true => Err(format!(
            "the run's name is empty: expected an id, `latest` or a path. Next: check that the variable it comes from is set, or unset {RUN_ENV}"
        )),
        false => Ok(text.to_owned()),
    }
}

/// Names the run of a command that has an argument for it.
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
        match one(self.run.as_deref(), self.named.as_deref())? {
            Some(run) => Ok(run),
            None => unnamed(),
        }
    }
}

/// Names the run of a command whose other arguments need the first place.
#[derive(Debug, Args)]
pub(crate) struct RunOption {
    #[arg(long, value_parser = run_name, help = format!("{RUN_HELP} [default: {RUN_ENV}, else latest]"))]
    run: Option<String>,
}

impl RunOption {
    /// Returns the run that the command works on. clap does not read the environment: its usage lines would show `--run` as
    /// required wherever the environment names the run.
    pub(crate) fn name(&self) -> Result<String, CliError> {
        self.run.clone().map_or_else(unnamed, Ok)
    }
}

/// Returns the run that an argument and `--run` name, if either does. Both may, as long as they say the same.
pub(super) fn one(run: Option<&str>, named: Option<&str>) -> Result<Option<String>, CliError> {
    match (run, named) {
        (Some(run), Some(named)) if run != named => Err(CliError::usage(format!(
            "two runs are named: {run} as an argument, and {named} with --run"
        ))
        .hint("name one of them")),
        (run, named) => Ok(run.or(named).map(str::to_owned)),
    }
}

/// Returns the runs that arguments and `--run` name; `--run` adds none where there are arguments.
pub(super) fn several(runs: &[String], named: Option<&str>) -> Result<Vec<String>, CliError> {
    match (runs, named) {
        (runs, None) => Ok(runs.to_vec()),
        ([], Some(named)) => Ok(vec![named.to_owned()]),
        ([run], named) => Ok(one(Some(run), named)?.into_iter().collect()),
        (_, Some(named)) => Err(CliError::usage(format!(
            "several runs are named as arguments, and {named} with --run"
        ))
        .hint("name all of them as arguments")),
    }
}
