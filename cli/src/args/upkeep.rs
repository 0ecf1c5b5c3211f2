//! Arguments of the commands that keep house.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub(crate) const CLEAN_HELP: &str = "\
Without --yes nothing is removed: the command says what would go, how large it is and why.
Only folders straight in .prose/runs are removed, never what a link leads to. A run's own agents
go with it; agents of the project and the user go by `prose agent delete` only.

Exit code 4: a run that was named, and --yes given, stays because a rule says so.";

/// Writes a run in the other form.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The run
    pub(crate) run: String,
    /// The form
    #[arg(long, value_enum)]
    pub(crate) to: super::record::StateMode,
    /// Where it goes: a folder that is not there yet; RUN-sqlite or RUN-filesystem beside the run without it
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<std::path::PathBuf>,
}

/// Removes runs.
#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    /// Runs by id, or a unique beginning of it; the options narrow further
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Only runs without a sign of life for so long: `30d`, `12h`
    #[arg(long, value_name = "DURATION")]
    pub(crate) older_than: Option<String>,
    /// Only runs of this status: completed, failed, interrupted, unreadable … (several with commas)
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    pub(crate) status: Vec<String>,
    /// Only runs whose program has this in its path
    #[arg(long, value_name = "TEXT")]
    pub(crate) program: Option<String>,
    /// Also runs that wait at a gate, or run and gave a sign of life within a day
    #[arg(long)]
    pub(crate) force: bool,
    /// Remove them
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Deletes an agent that outlives runs.
#[derive(Debug, Args)]
pub(crate) struct DeleteAgentArgs {
    /// The agent
    pub(crate) name: String,
    /// Where it lives
    #[arg(long, value_enum)]
    pub(crate) scope: LastingScope,
    /// Delete it; without this the command says what would go
    #[arg(long)]
    pub(crate) yes: bool,
}

/// A scope that outlives runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LastingScope {
    /// The project: `.prose/agents.db`, `.prose/agents/`
    Project,
    /// The user: the same in the home directory
    User,
}

/// Looks at a place.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The program that the recommendation is for; the latest run's own without it
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
}
