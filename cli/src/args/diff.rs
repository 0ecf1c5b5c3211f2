//! Arguments of the command that compares two runs.

use clap::Args;

use super::run::run_name;

pub(super) const DIFF_HELP: &str = "\
A row is compared with that of the same statement, in the same call of a block, the same round and the same branch. Of two \
versions of a program, a statement is the same where its line is, or where it alone binds its name. A row is marked ~ where \
it differs, - where only A records it, + where only B does. Durations differ where they do by ten seconds and by a fifth at \
least.

Exit code 0: the runs were compared, whether they differ or not (`equal` in the JSON).
Exit code 1: they were compared, and one of them has an issue of severity error.
Exit code 4: they are runs of different programs.";

/// Compares two runs.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The first run: its id, a unique prefix of the id, `latest`, a path to a run folder, a database or a shared file, or
    /// postgres:ID
    #[arg(value_name = "A", value_parser = run_name)]
    pub(crate) a: String,
    /// The second run, named likewise
    #[arg(value_name = "B", value_parser = run_name)]
    pub(crate) b: String,
    /// List all rows, not only those that differ with the rows around them
    #[arg(long)]
    pub(crate) all: bool,
    /// Compare runs of different programs, too
    #[arg(long)]
    pub(crate) anyway: bool,
}
