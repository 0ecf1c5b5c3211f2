//! Defines the arguments of `prosescope query`.

use clap::Args;
use prosescope_core::model::database::query::{MOST_ROWS, ROWS};
use prosescope_core::pages::query::EXAMPLE;

use super::run::{RUN_HELP, SAME, one, run_name};
use crate::error::CliError;
use crate::locate::{RUN_ENV, unnamed};

pub(super) const QUERY_HELP: &str = "\
Tables:
  trace, value_list, gate_list, agent_list, segment_list, gap_list, table_list and file_list contain the run as prosescope \
reads it. These tables are the same for folders, SQLite, logs, shared files and PostgreSQL.
  A run in SQLite also has its own tables. If such a table has the name of a table above, the table above is called \
model_NAME.
  `prosescope query RUN` lists all tables with their columns.

The SQL is one statement that only reads. The statement ends after about two seconds of computing. Cells are cut after 64 \
KB. A call of `replace`, `instr` or `trim` with two texts of megabytes does not stop after two seconds; Ctrl-C ends the \
command.";

#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    #[arg(value_parser = run_name, help = format!("{RUN_HELP} [default: {RUN_ENV}, else latest]"))]
    run: Option<String>,
    /// One SELECT statement; `-` reads it from standard input. Without SQL, list the tables and the stored questions
    #[arg(allow_hyphen_values = true)]
    sql: Option<String>,
    #[arg(long = "run", value_name = "RUN", value_parser = run_name, help = SAME)]
    named: Option<String>,
    /// Run a stored question: longest, failures, values, retries, agents, gates, rounds, silent, gaps, tables
    #[arg(long, value_name = "NAME", conflicts_with = "sql")]
    pub(crate) ask: Option<String>,
    /// The maximum number of rows to print
    #[arg(long, value_name = "N", default_value_t = ROWS,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_ROWS)))]
    pub(crate) limit: u32,
    /// Print CSV (RFC 4180) with a header
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

impl QueryArgs {
    /// Returns the run and the SQL that the command line names.
    pub(crate) fn question(&self) -> Result<(String, Option<&str>), CliError> {
        let (run, named, sql) = (
            self.run.as_deref(),
            self.named.as_deref(),
            self.sql.as_deref(),
        );
        match (run, named, sql) {
            // If `--run` is given, the first argument is the SQL.
            (Some(sql), Some(named), None) if sql != named && self.ask.is_none() => {
                Ok((named.to_owned(), Some(sql)))
            }
            (Some(first), None, None) if is_sql(first) => Err(CliError::usage(
                "the run before the SQL is missing",
            )
            .hint(format!(
                "name a run before the SQL: `prosescope query latest \"{EXAMPLE}\"`"
            ))),
            _ => match one(run, named)? {
                Some(run) => Ok((run, sql)),
                None => Ok((unnamed()?, sql)),
            },
        }
    }
}

/// Returns whether a text begins like an SQL statement that reads. Such a text is not the name of a run.
fn is_sql(text: &str) -> bool {
    let (first, rest) = text
        .trim()
        .split_once(char::is_whitespace)
        .unwrap_or_default();
    let reads = ["select", "with", "values", "explain", "pragma"];
    !rest.is_empty() && reads.iter().any(|word| first.eq_ignore_ascii_case(word))
}
