//! Where workflows are kept: `.prose/workflows.db`, another database file, or PostgreSQL.

use std::path::PathBuf;

use crate::postgres::{Address, Listener, PostgresTables};
use prosescope_core::schema::{WORKFLOWS_POSTGRES_SQL, WORKFLOWS_SQL};
use prosescope_core::write::Fault;
use prosescope_store::{WorkflowReader, WorkflowStore};
use prosescope_workflow::{Rows, Tables};

use super::address;
use crate::error::CliError;
use crate::record::{from_here, prose_dir};

/// The file in a `.prose` folder.
const FILE: &str = "workflows.db";

/// Where workflows are kept.
#[derive(Debug, Clone)]
pub(crate) enum Kept {
    /// In a SQLite file.
    Sqlite(PathBuf),
    /// In a database of a server.
    Postgres(Box<Address>),
}

impl Kept {
    /// What `--state` names.
    pub(crate) fn named(store: &str) -> Result<Kept, CliError> {
        match store {
            "sqlite" => Ok(Kept::Sqlite(prose_dir()?.join(FILE))),
            "postgres" => Ok(Kept::Postgres(Box::new(address()?))),
            "" => Err(CliError::usage("--state is empty")
                .hint("write `sqlite`, `postgres` or the path to a database")),
            url if url.contains("://") => Err(CliError::usage(
                "--state takes `postgres`, not an address: an address may hold a password",
            )
            .hint("set OPENPROSE_POSTGRES_URL in .prose/.env or the environment")),
            path => Ok(Kept::Sqlite(std::path::absolute(path)?)),
        }
    }

    /// Whether there may be something: a file that is not there has no workflows.
    pub(crate) fn is_there(&self) -> bool {
        match self {
            Kept::Sqlite(path) => path.exists(),
            Kept::Postgres(_) => true,
        }
    }

    /// Opens it to read it.
    pub(crate) fn read(&self) -> Result<Box<dyn Rows>, CliError> {
        match self {
            Kept::Sqlite(path) if !path.exists() => Err(self.nothing()),
            Kept::Sqlite(path) => Ok(Box::new(WorkflowReader::open(path)?)),
            Kept::Postgres(address) => Ok(Box::new(PostgresTables::open(address)?)),
        }
    }

    /// Opens it to write to it.
    pub(crate) fn write(&self) -> Result<Box<dyn Tables + Send>, CliError> {
        match self.is_there() {
            false => Err(self.nothing()),
            true => Ok(self.open()?),
        }
    }

    /// Opens it to write to it, where it is there.
    pub(crate) fn open(&self) -> Result<Box<dyn Tables + Send>, Fault> {
        match self {
            Kept::Sqlite(path) => Ok(Box::new(WorkflowStore::open(path)?)),
            Kept::Postgres(address) => Ok(Box::new(PostgresTables::open(address)?)),
        }
    }

    /// Opens it to write to it; a file is made on first use.
    pub(crate) fn make(&self) -> Result<Box<dyn Tables + Send>, CliError> {
        match self {
            Kept::Sqlite(path) if !path.exists() => self.set_up(),
            Kept::Sqlite(_) | Kept::Postgres(_) => self.write(),
        }
    }

    /// Makes what is missing, and opens it.
    pub(crate) fn set_up(&self) -> Result<Box<dyn Tables + Send>, CliError> {
        match self {
            Kept::Sqlite(path) => Ok(Box::new(WorkflowStore::set_up(path)?)),
            Kept::Postgres(address) => Ok(Box::new(PostgresTables::set_up(address)?)),
        }
    }

    /// Whether a reader that follows keeps its connection: a file is opened anew for each look, which leaves no trace.
    pub(crate) fn stays_open(&self) -> bool {
        matches!(self, Kept::Postgres(_))
    }

    /// What wakes a follower, where something does.
    pub(crate) fn listener(&self) -> Option<Listener> {
        match self {
            Kept::Sqlite(_) => None,
            // A pooler in transaction mode refuses: looking again and again is enough.
            Kept::Postgres(address) => Listener::open(address).ok(),
        }
    }

    /// The statements that make the tables.
    pub(crate) fn sql(&self) -> &'static str {
        match self {
            Kept::Sqlite(_) => WORKFLOWS_SQL,
            Kept::Postgres(_) => WORKFLOWS_POSTGRES_SQL,
        }
    }

    /// As a person is told.
    pub(crate) fn name(&self) -> String {
        match self {
            Kept::Sqlite(path) => from_here(path),
            Kept::Postgres(address) => address.to_string(),
        }
    }

    fn nothing(&self) -> CliError {
        CliError::not_found(format!(
            "there are no workflows: {} does not exist",
            self.name()
        ))
        .hint("`prosescope workflow start --input TEXT` begins one; --state names another database")
    }
}
