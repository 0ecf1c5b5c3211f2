//! Where a run is written: a folder or a database, found without looking at other runs.

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use prosescope_core::session::{FoundKind, OneAgent, has_stray_database, survey};
use prosescope_store::Disk;

use super::find::{locate, project, unread};
use super::{disk, from_here, is_latest, options, store};
use crate::error::CliError;
use crate::exit::Exit;

/// Where a run is written.
pub(crate) struct Target {
    /// Its database; without one its state lies in files.
    pub(crate) database: Option<PathBuf>,
    /// Its folder.
    pub(crate) dir: PathBuf,
    /// Its folder, from here.
    pub(crate) folder: String,
}

/// Where the run that `run` names is written.
pub(crate) fn for_writing(run: &str) -> Result<Target, CliError> {
    // A whole id names its folder: nothing else is looked at, however many runs there are.
    let mut parts = run.split('/');
    let plain = parts.all(|part| !part.is_empty() && !part.starts_with('.')) && !run.contains('\\');
    if plain
        && !is_latest(run)
        && let Ok(project) = project()
    {
        let dir = project.join("runs").join(run.replace('/', "/imports/"));
        if lies(dir.metadata(), &dir)?.is_some_and(|meta| meta.is_dir()) {
            return target(dir);
        }
    }
    let located = locate(run)?;
    if located.disk.verified().is_some() {
        let message = format!("{run} is a shared copy: nothing is recorded in it");
        return Err(CliError::refused("shared-copy", message).hint(
            "make a run of it first: `prosescope convert RUN --to sqlite`, or `--to filesystem`",
        ));
    }
    let full = located.base.join(&located.place);
    if full.is_dir() {
        return target(unlinked(run, full)?);
    }
    let dir = full.parent().unwrap_or(&located.base).to_owned();
    let name = full.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    // A file names its run, and which of two stores is meant.
    let database = match name.ends_with(".md") {
        true if name == "state.md" && is_run(&dir)? => None,
        _ if name.ends_with(".md") || name == "agents.db" => return Err(no_run(&full)),
        _ => Some(unlinked(run, full)?),
    };
    Ok(Target {
        folder: from_here(&dir, ""),
        database,
        dir,
    })
}

/// A folder that holds a database is one run, kept there.
fn target(dir: PathBuf) -> Result<Target, CliError> {
    let own = dir.join("state.db");
    let there = lies(own.symlink_metadata(), &own)?.is_some() && !is_stray(&dir)?;
    let events = dir.join("x_events.jsonl");
    if there && lies(events.symlink_metadata(), &events)?.is_some() {
        let message = format!(
            "the run has two stores, and only one can be written: {} and {}",
            own.display(),
            events.display()
        );
        return Err(CliError::refused("two-stores", message).hint(
            "move one of them away, or name the one to write: the path of state.db or of state.md",
        ));
    }
    if !there && !is_run(&dir)? {
        return Err(no_run(&dir));
    }
    Ok(Target {
        folder: from_here(&dir, ""),
        database: there.then_some(own),
        dir,
    })
}

/// Returns whether the folder's database is not its run. Every write asks this, so only the folder's own files and
/// `bindings/` are listed.
fn is_stray(dir: &Path) -> Result<bool, CliError> {
    let asked = |path: &str| !path.contains('/') || path.starts_with("bindings/");
    let disk = Disk::open_where(dir, asked).map_err(store)?;
    let stray = has_stray_database(&disk, "");
    whole(&disk).map(|()| stray)
}

/// Whether a folder is a run's, as lists of runs see it.
fn is_run(dir: &Path) -> Result<bool, CliError> {
    // What our own writer keeps says so without a list of all that lies there.
    let ours = |name: &str| {
        let path = dir.join(name);
        let found = lies(path.metadata(), &path)?;
        Ok::<_, CliError>(found.is_some_and(|meta| meta.is_file()))
    };
    if ours("state.md")? && ours("program.prose")? || ours("x_events.jsonl")? {
        return Ok(true);
    }
    let disk = disk(dir)?;
    let found = survey(&disk).found;
    let mut found = found.iter();
    match found.any(|found| found.place.is_empty() && found.kind != FoundKind::Agents) {
        true => Ok(true),
        false => whole(&disk).map(|()| false),
    }
}

/// What was found at a path; `None` when nothing lies there.
fn lies(found: io::Result<Metadata>, path: &Path) -> Result<Option<Metadata>, CliError> {
    match found {
        Ok(meta) => Ok(Some(meta)),
        Err(cause) if matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(cause) => {
            let message = format!("{} cannot be looked at: {cause}", path.display());
            Err(CliError::new(Exit::Io, message))
        }
    }
}

/// Nothing is said of what was not read whole.
fn whole(disk: &Disk) -> Result<(), CliError> {
    match disk.unread(|_| true) {
        Some(message) => Err(CliError::new(Exit::Io, message)
            .hint("check that you may read it, and repeat the command")),
        None => Ok(()),
    }
}

fn no_run(path: &Path) -> CliError {
    CliError::not_found(format!("there is no run in {}", path.display()))
        .hint("`prosescope runs` lists the runs; `prosescope init PROGRAM` creates one")
}

/// The folder or the database itself: a link is followed where the user named it, and nowhere else.
fn unlinked(run: &str, found: PathBuf) -> Result<PathBuf, CliError> {
    match (Path::new(run).canonicalize(), found.canonicalize()) {
        (Ok(named), Ok(real)) if named == real => Ok(real),
        _ => Ok(found),
    }
}

/// What is known of one agent in the run that is written to: neither other runs are looked for nor is this one read.
pub(crate) fn open_agent(target: &Target, name: &str) -> Result<OneAgent, CliError> {
    let beside = |path: &&Path| **path != target.dir.join("state.db");
    let alone = target.database.as_deref().filter(beside);
    let own = |path: &str| !path.contains('/') || path.starts_with("agents/");
    let disk = match alone {
        Some(database) => disk(database)?,
        None => Disk::open_where(&target.dir, own).map_err(store)?,
    };
    let place = match &target.database {
        Some(path) => path.file_name().unwrap_or_default().to_string_lossy(),
        None => "".into(),
    };
    let full = target
        .dir
        .canonicalize()
        .unwrap_or_else(|_| target.dir.clone());
    let prose = full.ancestors().skip(1).find(|dir| dir.ends_with(".prose"));
    // A run that lies in no project uses the agents of the one that the command is given in.
    let here = prose.is_none().then(project).and_then(Result::ok);
    let options = options(prose.or(here.as_deref()))?;
    let disk = Rc::new(disk);
    let source: Rc<Disk> = Rc::clone(&disk);
    OneAgent::open(source, &place, &options, name).map_err(|error| unread(&disk, error.into()))
}
