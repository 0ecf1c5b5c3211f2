//! The store of a run that is written to.

use std::path::{Path, PathBuf};

use prosescope_core::write::{At, Record, record};
use prosescope_store::SqliteStore;

use crate::error::CliError;
use crate::locate;

/// A run that is written to.
pub(crate) struct Recorder {
    store: SqliteStore,
    at: At,
    /// The run's folder, from here.
    pub(crate) folder: String,
}

impl Recorder {
    /// Opens the store of the run that `run` names.
    pub(crate) fn open(run: &str) -> Result<Recorder, CliError> {
        let (path, folder) = locate::for_writing(run)?;
        Ok(Recorder {
            store: SqliteStore::open(&path, None)?,
            at: at(),
            folder,
        })
    }

    /// Opens a store of agents beside any run: a database, or a folder in which `agents/` lies.
    pub(crate) fn open_agents(path: &Path) -> Result<Recorder, CliError> {
        Ok(Recorder {
            store: SqliteStore::open_agents(path)?,
            at: at(),
            folder: from_here(path),
        })
    }

    /// Opens the nested run of an import, in the form that has one; what every command names it by.
    pub(crate) fn nested(
        &self,
        _place: &str,
        _program: Option<&str>,
    ) -> Result<Option<String>, CliError> {
        Ok(None)
    }

    /// Records one command.
    pub(crate) fn record<R: Record>(&mut self, command: &R) -> Result<R::Done, CliError> {
        Ok(record(&mut self.store, command, &self.at)?)
    }

    /// The run's id.
    pub(crate) fn run_id(&self) -> &str {
        self.store.run_id()
    }

    /// Where a binding was written, as the form's document words it.
    pub(crate) fn location(&self, name: &str, frame: Option<i64>) -> String {
        location(true, &self.folder, name, frame)
    }

    /// What is done once a run is over.
    pub(crate) fn close(&mut self, vacuum: bool) -> Result<(), CliError> {
        match vacuum {
            true => self.store.vacuum()?,
            false => self.store.checkpoint()?,
        }
        Ok(())
    }
}

/// Now, and who is at the keyboard as far as the system says.
pub(crate) fn at() -> At {
    At {
        now: locate::now(),
        os_user: std::env::var("USER")
            .or_else(|_| std::env::var("USERNAME"))
            .ok()
            .filter(|name| !name.is_empty()),
        client: "cli".to_owned(),
    }
}

/// The `.prose` folder from here upward; made here where there is none.
pub(crate) fn prose_dir() -> Result<PathBuf, CliError> {
    let here = std::env::current_dir()?;
    Ok(prosescope_store::prose_dir(&here).unwrap_or_else(|| here.join(".prose")))
}

/// A path as a message shows it: from here, where it lies below.
pub(crate) fn from_here(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here)
        .unwrap_or(path)
        .display()
        .to_string()
}

/// Where a binding is kept, as the form's document words it.
pub(crate) fn location(database: bool, folder: &str, name: &str, frame: Option<i64>) -> String {
    if database {
        let frame = frame.map_or("NULL".to_owned(), |id| id.to_string());
        let name = name.replace('\'', "''");
        return format!("{folder}/state.db (bindings table, name='{name}', execution_id={frame})");
    }
    let frame = frame.map_or(String::new(), |id| format!("__{id}"));
    format!("{folder}/bindings/{name}{frame}.md")
}
