//! Defines the arguments of the commands that convert, copy, remove and diagnose runs.

use clap::{Args, ValueEnum};

use super::run::RunArgs;

pub(crate) const CLEAN_HELP: &str = "\
Without --yes the command removes nothing. It lists the runs that it would remove, with sizes and reasons.

Only folders directly in .prose/runs are removed. Links are not followed. Agents of execution scope are removed with their \
run; agents of the project and the user only by `prosescope agent delete`.

Exit code 4: with --yes, a run that the command line names was not removed, because a rule keeps this run.";

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// The state mode of the copy
    #[arg(long, value_enum)]
    pub(crate) to: super::record::StateMode,
    /// The folder of the copy. If this folder already contains the same run, nothing is copied [default: RUN-sqlite or
    /// RUN-filesystem, beside the run; for a run in PostgreSQL, ID in .prose/runs]
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<std::path::PathBuf>,
    /// Also convert a shared file that was changed after it was shared
    #[arg(long)]
    pub(crate) anyway: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    /// Runs: ids or unique prefixes of ids. Options narrow the selection
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Select runs in the PostgreSQL database of the project, not in files. A name postgres:ID implies this option
    #[arg(long)]
    pub(crate) postgres: bool,
    /// Only runs without activity for at least this time: `30d`, `12h`
    #[arg(long, value_name = "DURATION")]
    pub(crate) older_than: Option<String>,
    /// Only runs with these statuses, separated by commas: completed, failed, interrupted, unreadable …
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    pub(crate) status: Vec<String>,
    /// Only runs whose program path contains this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) program: Option<String>,
    /// Include runs that wait at a gate, and runs that were active within the last day
    #[arg(long)]
    pub(crate) force: bool,
    /// Remove the runs; without --yes, only list them
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteAgentArgs {
    /// The agent's name
    pub(crate) name: String,
    /// The agent's scope
    #[arg(long, value_enum)]
    pub(crate) scope: LastingScope,
    /// Select the agent in the PostgreSQL database of the project, not in files
    #[arg(long)]
    pub(crate) postgres: bool,
    /// Delete the agent; without --yes, only list what would be deleted
    #[arg(long)]
    pub(crate) yes: bool,
}

/// The scopes whose agents are kept after a run has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LastingScope {
    /// In the project: `.prose/agents.db`, `.prose/agents/`
    Project,
    /// In the home directory: `~/.prose`
    User,
}
