//! Opens a run for writing, in files, SQLite or PostgreSQL, and records commands in the run.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::postgres::{Address, Keeper, PostgresStore};
use prosescope_core::model::AgentScope;
use prosescope_core::model::schema::postgres_location;
use prosescope_core::record::{At, Fault, Record, RunStore, record};
use prosescope_store::{FolderStore, SqliteStore};

use crate::error::CliError;
use crate::exit::Exit;
use crate::locate::{self, Target};
use crate::out::{self, say};
use crate::print::note;

/// The hint for the case that the user did not mean the newest run.
const ANOTHER: &str = "to use another run, name that run on the command line or in PROSE_RUN";

/// A run that is opened for writing.
pub(crate) struct Recorder {
    store: RecordStore,
    at: At,
    /// Whether the command used the newest run by default, and has not yet printed the name of that run.
    latest: bool,
    /// The run's folder, relative if it is below the working directory.
    pub(crate) folder: String,
}

/// The store of the run.
enum RecordStore {
    Sqlite(SqliteStore),
    Folder(FolderStore),
    Postgres(Box<PostgresStore>),
}

impl Recorder {
    /// Opens the store of the run that `run` names.
    pub(crate) fn open(run: &str) -> Result<Recorder, CliError> {
        if let Some(found) = locate::OnServer::for_writing(run)? {
            return Ok(Recorder {
                store: RecordStore::Postgres(Box::new(PostgresStore::open(
                    &found.address,
                    &found.id,
                )?)),
                at: at()?,
                latest: locate::id_on_server(run).is_some_and(locate::is_latest),
                folder: found.name(),
            });
        }
        Ok(Recorder {
            latest: locate::is_latest(run),
            ..Recorder::of(&locate::for_writing(run)?)?
        })
    }

    /// Opens the store of the run at `target`: its database, or else its folder.
    pub(crate) fn of(target: &Target) -> Result<Recorder, CliError> {
        Ok(Recorder {
            store: match &target.database {
                Some(database) => RecordStore::Sqlite(SqliteStore::open(database, None)?),
                None => RecordStore::Folder(FolderStore::open(&target.dir)?),
            },
            at: at()?,
            latest: false,
            folder: target.folder.clone(),
        })
    }

    /// Sets the client's name that each record contains. The default is `cli`.
    pub(crate) fn client(mut self, client: &str) -> Recorder {
        client.clone_into(&mut self.at.client);
        self
    }

    /// Opens a store of agents outside of a run: a database, or a folder that contains `agents/`. Creates a missing
    /// store.
    pub(crate) fn open_agents(path: &Path, scope: AgentScope) -> Result<Recorder, CliError> {
        let named_so = path.extension().is_some_and(|end| end == "db");
        let store = if path.is_file() || (named_so && !path.is_dir()) {
            // A bare file name has no parent folder, so the path is made absolute.
            RecordStore::Sqlite(SqliteStore::open_agents(&std::path::absolute(path)?)?)
        } else {
            std::fs::create_dir_all(path).map_err(|cause| {
                let message = format!("cannot create {}: {cause}", path.display());
                CliError::new(Exit::Io, message)
                    .hint("give a path where you may create a folder or a database")
            })?;
            RecordStore::Folder(FolderStore::open_agents(path, scope)?)
        };
        Ok(Recorder {
            store,
            at: at()?,
            latest: false,
            folder: from_here(path),
        })
    }

    /// Opens the store of the agents of the project or the user in PostgreSQL.
    pub(crate) fn open_agents_on_server(
        address: &Address,
        keeper: Keeper,
    ) -> Result<Recorder, CliError> {
        Ok(Recorder {
            store: RecordStore::Postgres(Box::new(PostgresStore::open_agents(address, keeper)?)),
            at: at()?,
            latest: false,
            folder: address.to_string(),
        })
    }

    pub(crate) fn is_database(&self) -> bool {
        !matches!(self.store, RecordStore::Folder(_))
    }

    /// Records one command. If the command line contains no run, prints the name of the used run, because another
    /// writer may have begun a newer run.
    pub(crate) fn record<R: Record>(&mut self, command: &R) -> Result<R::Done, CliError> {
        let at = self.at.clone();
        let done = record(self.store(), command, &at).map_err(CliError::from);
        if done.is_ok() {
            out::recorded();
        }
        print_late_fault(self.store().late_fault());
        if !std::mem::take(&mut self.latest) {
            return done;
        }
        let run = self.run_id();
        match done {
            Ok(done) => {
                say(&note(&format!(
                    "recorded in run {run}, the latest; {ANOTHER}"
                )));
                Ok(done)
            }
            Err(error) => {
                Err(error.hint(format!("the command used run {run}, the latest; {ANOTHER}")))
            }
        }
    }

    fn store(&mut self) -> &mut dyn RunStore {
        match &mut self.store {
            RecordStore::Sqlite(store) => store,
            RecordStore::Folder(store) => store,
            RecordStore::Postgres(store) => store.as_mut(),
        }
    }

    /// Passes the temporary file of a long value to the store (see [`crate::input::value`]).
    pub(crate) fn stage(&mut self, file: Option<File>) {
        match (&mut self.store, file) {
            (RecordStore::Sqlite(store), Some(file)) => store.stage(file),
            (RecordStore::Folder(store), Some(file)) => store.stage(file),
            (RecordStore::Postgres(store), Some(file)) => store.stage(file),
            (_, None) => {}
        }
    }

    /// Returns the run's name, as commands take it.
    pub(crate) fn run_id(&self) -> &str {
        match &self.store {
            RecordStore::Sqlite(store) => store.run_id(),
            RecordStore::Folder(store) => store.run_id(),
            // An id alone would mean a run in files, so the name has the prefix `postgres:`.
            RecordStore::Postgres(_) => &self.folder,
        }
    }

    /// Returns the location of a binding in OpenProse's wording, such as `FOLDER/bindings/NAME.md`.
    pub(crate) fn location(&self, name: &str, frame: Option<i64>) -> String {
        location(self.is_database(), &self.folder, name, frame)
    }

    /// Cleans up after the end of a run: merges the journal into the database file, and compacts the file if `vacuum`
    /// is set.
    pub(crate) fn close(&mut self, vacuum: bool) {
        let closed = match (&mut self.store, vacuum) {
            (RecordStore::Sqlite(store), true) => store.vacuum(),
            (RecordStore::Sqlite(store), false) => store.checkpoint(),
            (RecordStore::Folder(_) | RecordStore::Postgres(_), _) => Ok(()),
        };
        if let Err(fault) = closed {
            out::recorded_but(&fault.into());
        }
    }
}

/// Prints a fault that happened after recording, if there is one. The record itself is complete.
pub(crate) fn print_late_fault(fault: Option<Fault>) {
    if let Some(fault) = fault {
        out::recorded_but(&fault.into());
    }
}

/// Records one command in the run that `run` names.
pub(crate) fn one<R: Record>(run: &str, command: &R) -> Result<R::Done, CliError> {
    Recorder::open(run)?.record(command)
}

/// Returns the time and the user to record. The user comes from the operating system, because anyone can set `$USER`.
fn at() -> Result<At, CliError> {
    Ok(At {
        now: locate::recorded_now()?,
        os_user: whoami::username().ok().filter(|name| !name.is_empty()),
        client: "cli".to_owned(),
    })
}

/// Returns the nearest `.prose` folder in or above the working directory, else the path of a new one in the working
/// directory.
pub(crate) fn prose_dir() -> Result<PathBuf, CliError> {
    let here = std::env::current_dir()?;
    let found = prosescope_store::prose_dir(&here, locate::home().as_deref());
    Ok(found
        .map_err(locate::store)?
        .unwrap_or_else(|| here.join(".prose")))
}

/// Returns a path for messages: relative if it is below the working directory.
pub(crate) fn from_here(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here)
        .unwrap_or(path)
        .display()
        .to_string()
}

/// Returns the location of a binding in a database or a folder, in OpenProse's wording, such as
/// `FOLDER/bindings/NAME__7.md`.
pub(crate) fn location(database: bool, folder: &str, name: &str, frame: Option<i64>) -> String {
    let quoted = name.replace('\'', "''");
    if let Some(run) = locate::id_on_server(folder) {
        return postgres_location(run, name, frame);
    }
    if database {
        let frame = frame.map_or("NULL".to_owned(), |id| id.to_string());
        let name = quoted;
        return format!("{folder}/state.db (bindings table, name='{name}', execution_id={frame})");
    }
    let frame = frame.map_or(String::new(), |id| format!("__{id}"));
    format!("{folder}/bindings/{name}{frame}.md")
}
