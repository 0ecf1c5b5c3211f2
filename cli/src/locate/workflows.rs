//! Opens the store of workflows: `.prose/workflows.db`, another database file, or PostgreSQL.

use std::path::PathBuf;

use crate::postgres::{Address, Listener, PostgresTables};
use prosescope_core::model::schema::{WORKFLOWS_POSTGRES_SQL, WORKFLOWS_SQL};
use prosescope_core::record::Fault;
use prosescope_store::{WorkflowReader, WorkflowStore};
use prosescope_workflow::{Tables, WorkflowRows};

use super::address;
use crate::error::CliError;
use crate::record::{from_here, prose_dir};

/// The name of the database of workflows in a `.prose` folder.
pub(super) const FILE: &str = "workflows.db";

/// The store of workflows.
#[derive(Debug, Clone)]
pub(crate) enum WorkflowPlace {
    /// In a SQLite file.
    Sqlite(PathBuf),
    /// In a database of a server.
    Postgres(Box<Address>),
}

impl WorkflowPlace {
    /// Parses the value of `--state`: `sqlite`, `postgres`, or the path to a database.
    pub(crate) fn named(store: &str) -> Result<WorkflowPlace, CliError> {
        match store {
            "sqlite" => Ok(WorkflowPlace::Sqlite(prose_dir()?.join(FILE))),
            "postgres" => Ok(WorkflowPlace::Postgres(Box::new(address()?))),
            "" => Err(CliError::usage("--state is empty")
                .hint("write `sqlite`, `postgres` or the path to a database")),
            url if url.contains("://") => Err(CliError::usage(
                "--state takes `postgres`, not an address, because an address may contain a password",
            )
            .hint("set OPENPROSE_POSTGRES_URL in .prose/.env or the environment")),
            path => Ok(WorkflowPlace::Sqlite(std::path::absolute(path)?)),
        }
    }

    /// Returns whether the store may exist. A store on a server always counts as existing.
    pub(crate) fn is_there(&self) -> bool {
        match self {
            WorkflowPlace::Sqlite(path) => path.exists(),
            WorkflowPlace::Postgres(_) => true,
        }
    }

    /// Opens the store for reading.
    pub(crate) fn read(&self) -> Result<Box<dyn WorkflowRows>, CliError> {
        match self {
            WorkflowPlace::Sqlite(path) if !path.exists() => Err(self.nothing()),
            WorkflowPlace::Sqlite(path) => {
                // Says whether a shared file was changed.
                super::disk(path)?;
                Ok(Box::new(WorkflowReader::open(path)?))
            }
            WorkflowPlace::Postgres(address) => Ok(Box::new(PostgresTables::open(address)?)),
        }
    }

    /// Opens the store for writing. A missing file is an error with a hint.
    pub(crate) fn write(&self) -> Result<Box<dyn Tables + Send>, CliError> {
        if !self.is_there() {
            Err(self.nothing())
        } else {
            Ok(self.open()?)
        }
    }

    /// Opens an existing store for writing.
    pub(crate) fn open(&self) -> Result<Box<dyn Tables + Send>, Fault> {
        match self {
            WorkflowPlace::Sqlite(path) => Ok(Box::new(WorkflowStore::open(path)?)),
            WorkflowPlace::Postgres(address) => Ok(Box::new(PostgresTables::open(address)?)),
        }
    }

    /// Opens the store for writing, and creates a missing file.
    pub(crate) fn make(&self) -> Result<Box<dyn Tables + Send>, CliError> {
        match self {
            WorkflowPlace::Sqlite(path) if !path.exists() => self.set_up(),
            WorkflowPlace::Sqlite(_) | WorkflowPlace::Postgres(_) => self.write(),
        }
    }

    /// Creates missing tables, and opens the store.
    pub(crate) fn set_up(&self) -> Result<Box<dyn Tables + Send>, CliError> {
        match self {
            WorkflowPlace::Sqlite(path) => Ok(Box::new(WorkflowStore::set_up(path)?)),
            WorkflowPlace::Postgres(address) => Ok(Box::new(PostgresTables::set_up(address)?)),
        }
    }

    /// Returns whether `workflow events tail --follow` keeps its connection open. A database file is opened for each
    /// read, so that no lock stays.
    pub(crate) fn stays_open(&self) -> bool {
        matches!(self, WorkflowPlace::Postgres(_))
    }

    /// Returns a listener that notifies `workflow events tail --follow` of new events; `None` if the store sends no
    /// notifications.
    pub(crate) fn listener(&self) -> Option<Listener> {
        match self {
            WorkflowPlace::Sqlite(_) => None,
            // A pooler in transaction mode refuses to listen. Without a listener, `workflow events tail --follow` reads
            // at intervals.
            WorkflowPlace::Postgres(address) => Listener::open(address).ok(),
        }
    }

    /// Returns the SQL that creates the tables.
    pub(crate) fn sql(&self) -> &'static str {
        match self {
            WorkflowPlace::Sqlite(_) => WORKFLOWS_SQL,
            WorkflowPlace::Postgres(_) => WORKFLOWS_POSTGRES_SQL,
        }
    }

    /// Returns the name of the store for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            WorkflowPlace::Sqlite(path) => from_here(path),
            WorkflowPlace::Postgres(address) => address.to_string(),
        }
    }

    fn nothing(&self) -> CliError {
        CliError::not_found(format!(
            "there are no workflows: {} does not exist",
            self.name()
        ))
        .hint("`prosescope workflow start --input TEXT` begins a workflow; --state names another database")
    }
}
