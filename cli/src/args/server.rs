//! Defines the arguments of `prosescope postgres`.

use clap::{Args, Subcommand};

/// Commands for a PostgreSQL server.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum PostgresCommand {
    /// Print the SQL for the schema of runs and for a role with access to this schema only; with --apply, run the SQL
    Setup(SetupArgs),
    /// Check the server of the project: version, schema, rights, damage, sizes of runs
    Status,
    /// Trust the database in `.prose/.env` until that file changes; commands connect only to a trusted database
    Trust(TrustArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// The role for programs: it reads and writes the tables of the schema, and cannot create tables
    #[arg(long, value_name = "NAME", default_value = "openprose_agent")]
    pub(crate) role: String,
    /// Also revoke the rights of all other roles in the database. Use this only if the database contains nothing but runs
    #[arg(long)]
    pub(crate) dedicated: bool,
    /// Run the SQL on the database of the project
    #[arg(long)]
    pub(crate) apply: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Withdraw the trust
    #[arg(long)]
    pub(crate) revoke: bool,
}
