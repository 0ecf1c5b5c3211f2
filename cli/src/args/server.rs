//! Arguments of `prosescope postgres`.

use clap::{Args, Subcommand};

/// Sets up a server, and looks at it.
#[derive(Debug, Subcommand)]
pub(crate) enum PostgresCommand {
    /// Print the SQL for the schema of runs and for a role that is limited to it; run it with --apply
    Setup(SetupArgs),
    /// Check the server that the project names: version, schema, rights, damage, sizes of runs
    Status,
    /// Trust the database that `.prose/.env` names, until that file changes: before, no command connects to it
    Trust(TrustArgs),
}

/// Makes the schema.
#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// The role for programs, which reads and writes the tables of the schema and makes none
    #[arg(long, value_name = "NAME", default_value = "openprose_agent")]
    pub(crate) role: String,
    /// Also take from all other roles what they may do in the database: only where it is used for runs alone
    #[arg(long)]
    pub(crate) dedicated: bool,
    /// Run the SQL on the database that the project names
    #[arg(long)]
    pub(crate) apply: bool,
}

/// Trusts the project's file.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Trust it no longer
    #[arg(long)]
    pub(crate) revoke: bool,
}
