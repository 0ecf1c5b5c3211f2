//! Finds and opens the run that a name means.
//!
//! The name of a run is its id, a unique prefix of the id, `latest`, or a path to a run folder or a database. A
//! nested run is `RUN/handle--slug`, and a run in PostgreSQL is `postgres:ID`. Ids are looked up in the nearest
//! `.prose/` in or above the working directory.
//!
//! `find.rs` resolves a name for reading, `target.rs` for writing. `many.rs` opens all runs, `server.rs` runs in PostgreSQL.
//! `settings.rs` reads the address of the database, and `serving.rs` selects files for the viewer.

mod find;
mod many;
mod server;
mod serving;
mod settings;
mod target;
mod workflows;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Mutex;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::postgres::PostgresSource;
use prosescope_core::model::AgentScope;
use prosescope_core::model::database::{DEADLINE, Limits};
use prosescope_core::model::source::Source;
use prosescope_core::model::time::Stamp;
use prosescope_core::pages::session::{AgentFolder, DatabaseAt, Lookup, Options, Session};
use prosescope_store::{Disk, ManifestCheck, StoreError, home_prose};

use crate::args::run::run_name;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::say;
use crate::print;
use find::{Located, locate};
pub(crate) use find::{home, is_program, project};
pub(crate) use many::{NotedRuns, list, open_all, open_project, open_runs, open_waiting, runs_of};
pub(crate) use server::{
    OnServer, address, all as all_on_server, facts as server_facts, has_psql, id_on_server,
    is_named, name as server_name, only_on_disk, proposed_project, told_keeper, users,
};
pub(crate) use serving::served;
pub(crate) use settings::{distrust, trust};
pub(crate) use target::{Target, for_writing, open_agent};
pub(crate) use workflows::WorkflowPlace;

/// The name of the newest run. A folder called `latest` needs a path, such as `./latest`.
pub(crate) const LATEST: &str = "latest";

/// Returns whether a name means the newest run, or a nested run in it.
pub(crate) fn is_latest(run: &str) -> bool {
    run.split('/').next() == Some(LATEST)
}

/// The environment variable with the run of a command whose command line contains no run.
pub(crate) const RUN_ENV: &str = "PROSE_RUN";

/// Returns the run in `PROSE_RUN`, if the variable is set.
pub(crate) fn in_environment() -> Result<Option<String>, CliError> {
    match std::env::var(RUN_ENV) {
        Ok(run) => run_name(&run).map(Some).map_err(|why| {
            let (why, next) = why.split_once(". Next: ").unwrap_or((&why, ""));
            CliError::usage(format!("{RUN_ENV}: {why}")).hint(next)
        }),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(error) => Err(CliError::usage(format!("{RUN_ENV}: {error}"))),
    }
}

/// Returns the run of a command whose command line contains no run: `PROSE_RUN`, else the newest run.
pub(crate) fn unnamed() -> Result<String, CliError> {
    Ok(in_environment()?.unwrap_or_else(|| LATEST.to_owned()))
}

/// The environment variable that sets the current time for commands that only read.
const NOW_ENV: &str = "PROSE_NOW";

/// Returns the current time for commands that only read, in milliseconds since 1970 UTC. `PROSE_NOW` (RFC 3339)
/// overrides it.
pub(crate) fn now() -> i64 {
    set_now().ok().flatten().unwrap_or_else(system_time)
}

/// Returns the time in `PROSE_NOW`, if it is set.
///
/// # Errors
/// If the variable does not contain a time.
pub(crate) fn set_now() -> Result<Option<i64>, CliError> {
    let Some(set) = std::env::var_os(NOW_ENV).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let text = set.to_string_lossy();
    let wrong = || CliError::usage(format!("{NOW_ENV} is not a time: {text}"));
    let time = Stamp::parse(&text).millis().ok_or_else(wrong);
    time.map(Some).map_err(|error| {
        error.hint(format!(
            "unset {NOW_ENV}, or, for a command that reads, set {NOW_ENV} to a time such as 2026-01-25T12:00:00Z"
        ))
    })
}

/// Returns the time of the system's clock for recording, in milliseconds since 1970 UTC.
///
/// # Errors
/// An error if `PROSE_NOW` is set, because records and reading commands would then use different clocks.
pub(crate) fn recorded_now() -> Result<i64, CliError> {
    if std::env::var_os(NOW_ENV).is_none_or(|text| text.is_empty()) {
        Ok(system_time())
    } else {
        Err(CliError::refused(
        "clock-moved",
        format!(
            "nothing was recorded: {NOW_ENV} is set, and only commands that read accept this variable"
        ),
    )
    .hint(format!("unset {NOW_ENV}, then repeat the command")))
    }
}

fn system_time() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Opens the run that `run` names.
pub(crate) fn open(run: &str) -> Result<Session, CliError> {
    if let Some(found) = OnServer::named(run)? {
        return found.open();
    }
    let located = locate(run)?;
    let options = Options {
        called: called(run, &located),
        ..options(located.prose.as_deref())?
    };
    Ok(Session::open(located.disk, &located.place, &options)?)
}

/// Returns the name of a run outside of the project's `runs`, because commands would not find such a run by its id
/// alone. Returns `None` for other runs.
fn called(run: &str, located: &Located) -> Option<String> {
    // A run inside of a shared file has no path on disk, so commands do not find it by its id.
    let full = located.base.join(&located.place).canonicalize();
    let parent = full.ok().and_then(|full| Some(full.parent()?.to_owned()));
    let is_run = |runs: PathBuf| parent.as_deref().is_some_and(|dir| is_same(dir, &runs));
    let found_by_id = project().is_ok_and(|project| is_run(project.join("runs")));
    (!found_by_id && !is_latest(run)).then(|| run.to_owned())
}

/// Resolves the name of a binding in a run. Agents of the project and the user are not read, because they do not
/// affect bindings.
pub(crate) fn look_up(run: &str, name: &str, from: Option<i64>) -> Result<Lookup, CliError> {
    let (source, place): (Rc<dyn Source>, String) = match OnServer::named(run)? {
        Some(found) => (found.source()?, PostgresSource::place(&found.id)),
        None => {
            let located = locate(run)?;
            (located.disk, located.place)
        }
    };
    Ok(Lookup::open(&source, &place, &bounded(), name, from)?)
}

/// Opens a run. Also returns the path of its files, relative if it is below the working directory.
pub(crate) fn open_with_folder(run: &str) -> Result<(Session, String), CliError> {
    if let Some(found) = OnServer::named(run)? {
        return Ok((found.open()?, found.name()));
    }
    let located = locate(run)?;
    let options = options(located.prose.as_deref())?;
    let session = Session::open(located.disk, &located.place, &options)?;
    let folder = from_here(&located.base, &session.run().root);
    Ok((session, folder))
}

/// Memory limit of SQLite for copying values, in bytes.
const COPYING: u64 = 4 << 30;

/// An opened run, with the place of its files on disk.
pub(crate) struct LocatedRun {
    pub(crate) session: Session,
    pub(crate) disk: Rc<Disk>,
    /// The run's folder, or the folder of its database.
    pub(crate) dir: PathBuf,
    /// The path of the run's database in the disk, if the run has a database.
    pub(crate) database: Option<String>,
    /// The run's name: the name of its folder, or of a database outside of a run folder.
    pub(crate) name: String,
    /// Whether the run is a database outside of a run folder. Other files beside the database do not belong to the run.
    pub(crate) alone: bool,
}

/// Opens the run that `run` names, with its files.
pub(crate) fn open_on_disk(run: &str) -> Result<LocatedRun, CliError> {
    only_on_disk(run)?;
    let located = locate(run)?;
    let options = options(located.prose.as_deref())?;
    opened(located, options)
}

/// Opens a run without agents of the project and the user, and without a time limit, to read it completely.
pub(crate) fn open_alone(run: &str) -> Result<LocatedRun, CliError> {
    only_on_disk(run)?;
    let options = Options {
        now: None,
        limits: Limits::default(),
        ..bounded()
    };
    opened(locate(run)?, options)
}

fn opened(located: Located, options: Options) -> Result<LocatedRun, CliError> {
    let options = Options {
        // SQLite keeps a whole value in memory while the value is copied. SQLite's memory limit cannot be raised later
        // in the process.
        limits: Limits {
            heap: Some(COPYING),
            ..options.limits
        },
        ..options
    };
    let disk = Rc::clone(&located.disk);
    let session = Session::open(located.disk, &located.place, &options)?;
    let root = session.run().root.to_string();
    let dir = located.base.join(&root);
    let dir = dir.canonicalize().unwrap_or(dir);
    let DatabaseAt { path, alone } = DatabaseAt::of(disk.as_ref(), &session, &located.place);
    let name = if alone {
        Path::new(&located.place).file_stem().unwrap_or_default()
    } else {
        dir.file_name().unwrap_or_default()
    };
    let name = name.to_string_lossy().into_owned();
    Ok(LocatedRun {
        session,
        disk,
        dir,
        database: path,
        name,
        alone,
    })
}

/// Returns a folder in `base` as a path, relative if it is below the working directory.
pub(super) fn from_here(base: &Path, inside: &str) -> String {
    let full = base.canonicalize().unwrap_or_else(|_| base.to_owned());
    let here = std::env::current_dir().unwrap_or_default();
    let below = full.strip_prefix(&here).unwrap_or(&full);
    below
        .join(inside)
        .display()
        .to_string()
        .trim_end_matches('/')
        .to_owned()
}

pub(crate) fn disk(path: &Path) -> Result<Disk, CliError> {
    disk_where(path, |_| true)
}

/// Opens a file, or of a folder the files and folders that `wanted` accepts by their paths; that of a folder ends in `/`.
fn disk_where(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Disk, CliError> {
    if !path.is_dir() {
        let disk = Disk::open(path).map_err(store)?;
        say_doubt(path, disk.verified());
        return Ok(disk);
    }
    // The database of workflows beside the runs holds no run; `workflow` and the viewer open it.
    let is_workflows = |file: &str| {
        let name = file.rsplit('/').next().unwrap_or_default();
        let end = name.strip_prefix(workflows::FILE);
        let named = end.is_some_and(|end| end.is_empty() || end.starts_with('-'));
        let folder = || {
            path.join(file)
                .parent()
                .and_then(Path::file_name)
                .map(ToOwned::to_owned)
        };
        named && folder().is_some_and(|folder| folder == ".prose")
    };
    Disk::open_where(path, |file| !is_workflows(file) && wanted(file)).map_err(store)
}

/// Says that a shared file was changed, or that this cannot be checked. Each process says so once for each file, because
/// `gate wait` opens its run every second.
fn say_doubt(path: &Path, verified: Option<&ManifestCheck>) {
    static SAID: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let doubtful = verified.filter(|check| !matches!(check, ManifestCheck::Unchanged(_)));
    let is_new = |path: &Path| SAID.lock().is_ok_and(|mut said| said.insert(path.into()));
    if let Some(check) = doubtful.filter(|_| is_new(path)) {
        say(&print::note(&check.words()));
    }
}

pub(crate) fn store(error: StoreError) -> CliError {
    let exit = if error.is_not_found() {
        Exit::NotFound
    } else if error.is_damaged() {
        Exit::Unreadable
    } else {
        Exit::Io
    };
    CliError::new(exit, error.to_string()).hint(error.next())
}

/// Returns the options to read agents: the agents of the project if the run was given by its path, and the agents of
/// the user. The list of chats of openclaw-prose, which is beside its runs, is read in the same way.
pub(super) fn options(prose: Option<&Path>) -> Result<Options, CliError> {
    let agents_only = |path: &str| {
        matches!(path, "agents.db" | "runs/" | "runs/sessions.json")
            || path.starts_with("agents.db-")
            || path == ".env"
            || path.starts_with("agents/")
    };
    let mut around = Vec::new();
    let mut add = |scope: AgentScope, dir: &Path| -> Result<(), CliError> {
        let source = Disk::open_where(dir, agents_only).map_err(store)?;
        around.push(AgentFolder {
            scope,
            source: Rc::new(source),
            prefix: String::new(),
        });
        Ok(())
    };
    if let Some(dir) = prose {
        add(AgentScope::Project, dir)?;
    }
    let user = home().as_deref().map(home_prose).transpose();
    let user = user.map_err(store)?.flatten();
    // In the home directory, one `.prose` folder is the folder of the project and of the user, so its agents are added
    // once.
    let own = |dir: &Path| prose.is_some_and(|prose| is_same(prose, dir));
    if let Some(dir) =
        user.filter(|dir| !own(dir) && project().map_or(true, |project| project != *dir))
    {
        add(AgentScope::User, &dir)?;
    }
    Ok(Options {
        around,
        ..bounded()
    })
}

/// Returns whether two paths mean the same file or folder.
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Returns options with the current time, and a time limit for reading.
pub(crate) fn bounded() -> Options {
    let begun = Instant::now();
    Options {
        now: Some(now()),
        limits: Limits {
            stop: Some(std::sync::Arc::new(move || begun.elapsed() > DEADLINE)),
            ..Limits::default()
        },
        ..Options::default()
    }
}
