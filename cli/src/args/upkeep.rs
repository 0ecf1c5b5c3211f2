//! Arguments of the commands that keep house.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::run::{RunArgs, SAME, one, run_name};
use crate::error::CliError;
use crate::locate::unnamed;

pub(crate) const CLEAN_HELP: &str = "\
Without --yes nothing is removed: the command lists what it would remove, with sizes and reasons.
Only folders directly in .prose/runs are removed; links are not followed. Agents of execution scope
are removed with their run; agents of the project and the user only by `prosescope agent delete`.

Exit code 4: --yes was given and a rule keeps a run that was named.";

/// Writes a run in the other form.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// The state mode of the copy
    #[arg(long, value_enum)]
    pub(crate) to: super::record::StateMode,
    /// The copy's folder, which is left as it is where the same run is there already [default: RUN-sqlite or RUN-filesystem,
    /// beside the run; of a run in PostgreSQL, ID in .prose/runs]
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<std::path::PathBuf>,
}

/// Copies a run out of PostgreSQL.
#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    /// The run: postgres:ID, or postgres:latest [default: PROSE_RUN]
    #[arg(value_parser = run_name)]
    run: Option<String>,
    #[arg(long = "run", value_name = "RUN", value_parser = run_name, help = SAME)]
    named: Option<String>,
    /// The database file to make, which is left as it is where the same run is in it already; attachments are put beside it
    /// [default: ID/state.db in .prose/runs]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

impl PullArgs {
    /// Returns the run that is copied.
    pub(crate) fn run(&self) -> Result<String, CliError> {
        one(self.run.as_deref(), self.named.as_deref())?.map_or_else(unnamed, Ok)
    }
}

/// Copies a run into PostgreSQL.
#[derive(Debug, Args)]
pub(crate) struct PushArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Removes runs.
#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    /// Runs: ids or unique prefixes of ids; the options narrow the selection
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Runs in the PostgreSQL database that the project names, not those in files; implied by a name postgres:ID
    #[arg(long)]
    pub(crate) postgres: bool,
    /// Only runs whose last activity is at least this long ago: `30d`, `12h`
    #[arg(long, value_name = "DURATION")]
    pub(crate) older_than: Option<String>,
    /// Only runs of these statuses, separated by commas: completed, failed, interrupted, unreadable …
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    pub(crate) status: Vec<String>,
    /// Only runs whose program path contains this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) program: Option<String>,
    /// Include runs that wait at a gate, and runs that were active within a day
    #[arg(long)]
    pub(crate) force: bool,
    /// Remove the runs; without this, only list them
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Deletes an agent that outlives runs.
#[derive(Debug, Args)]
pub(crate) struct DeleteAgentArgs {
    /// The agent's name
    pub(crate) name: String,
    /// The agent's scope
    #[arg(long, value_enum)]
    pub(crate) scope: LastingScope,
    /// An agent in the PostgreSQL database that the project names, not one in files
    #[arg(long)]
    pub(crate) postgres: bool,
    /// Delete the agent; without this, only list what would be deleted
    #[arg(long)]
    pub(crate) yes: bool,
}

/// A scope that outlives runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LastingScope {
    /// Kept in the project: `.prose/agents.db`, `.prose/agents/`
    Project,
    /// Kept in the home directory: `~/.prose`
    User,
}

/// Looks at a place.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The program to recommend a state mode for [default: the program of the latest run]
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
}
