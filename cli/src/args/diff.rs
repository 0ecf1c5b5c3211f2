//! Defines the arguments of `prosescope diff`.

use clap::Args;

use super::run::run_name;

pub(super) const DIFF_HELP: &str = "\
A row of A is compared with the row of B for the same statement, in the same call of a block, the same round and the same \
branch. In two versions of a program, two statements are the same if their lines are the same, or if each is the only one \
that binds its name. Durations differ if they differ by at least ten seconds and at least a fifth.

Also compared: memories, kinds and sources of values, attachments, metadata, gates, the audit log, segments, imports, files, \
and tables and columns that OpenProse does not define. Not compared: ids, times, hashes of the log and earlier values. What \
else could not be compared is listed with the reason, such as files of contract 2; the result is then never \"no difference\", \
and `equal` in the JSON is false.

Marks:
  ~  the row differs
  -  only A records the row
  +  only B records the row

Exit codes:
  0  the runs were compared, and differ or not (`equal` in the JSON)
  1  the runs were compared, and one of them has an issue of severity error
  4  the runs are of different programs";

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The first run: its id, a unique prefix of the id, `latest`, postgres:ID, or a path to a run folder, a database or a
    /// shared file
    #[arg(value_name = "A", value_parser = run_name)]
    pub(crate) a: String,
    /// The second run, in the same forms as A
    #[arg(value_name = "B", value_parser = run_name)]
    pub(crate) b: String,
    /// List all rows, not only the rows that differ and their neighbours
    #[arg(long)]
    pub(crate) all: bool,
    /// Print Markdown for a comment at a pull request; secrets are replaced as in `share`
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Also compare runs of different programs
    #[arg(long)]
    pub(crate) anyway: bool,
}
