//! Finds the folder or database of a run for writing, without reading other runs.

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use prosescope_core::pages::session::{FoundKind, OneAgent, has_stray_database, survey};
use prosescope_store::Disk;

use super::find::{locate, project, unread};
use super::{disk, from_here, is_latest, options, store};
use crate::error::CliError;
use crate::exit::Exit;

/// The place where a run is written.
pub(crate) struct Target {
    /// The database of the run; `None` for a run in files.
    pub(crate) database: Option<PathBuf>,
    /// The folder of the run.
    pub(crate) dir: PathBuf,
    /// The folder as messages name it, relative if it is below the working directory.
    pub(crate) folder: String,
}

/// Finds the place of a run for writing.
pub(crate) fn for_writing(run: &str) -> Result<Target, CliError> {
    // A complete id is also the name of the run's folder, so other runs need not be read.
    let mut parts = run.split('/');
    let plain = parts.all(|part| !part.is_empty() && !part.starts_with('.')) && !run.contains('\\');
    if plain
        && !is_latest(run)
        && let Ok(project) = project()
    {
        let dir = project.join("runs").join(run.replace('/', "/imports/"));
        if existing(dir.metadata(), &dir)?.is_some_and(|meta| meta.is_dir()) {
            return target(dir);
        }
    }
    let located = locate(run)?;
    if located.disk.verified().is_some() {
        let message = format!("{run} is a shared copy, and commands do not record in a copy");
        return Err(CliError::refused("shared-copy", message).hint(
            "convert the copy to a run first: `prosescope convert RUN --to sqlite`, or `--to filesystem`",
        ));
    }
    let full = located.base.join(&located.place);
    if full.is_dir() {
        return target(unlinked(run, full)?);
    }
    let dir = full.parent().unwrap_or(&located.base).to_owned();
    let name = full.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    // The path of a file selects one of the two stores of a run: `state.md` selects the folder, another file a
    // database.
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

/// Returns the target for a run folder. If the folder contains a database of this run, that database is the target.
fn target(dir: PathBuf) -> Result<Target, CliError> {
    let own = dir.join("state.db");
    let there = existing(own.symlink_metadata(), &own)?.is_some() && !is_stray(&dir)?;
    let events = dir.join("x_events.jsonl");
    if there && existing(events.symlink_metadata(), &events)?.is_some() {
        let message = format!(
            "the run has two stores, and only one can be written: {} and {}",
            own.display(),
            events.display()
        );
        return Err(CliError::refused("two-stores", message).hint(
            "move one of these two files away, or name the store to write: the path of state.db or of state.md",
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

/// Returns whether `state.db` in a folder is not a database of the run in that folder. Every write calls this
/// function, so it lists only the folder itself and `bindings/`.
fn is_stray(dir: &Path) -> Result<bool, CliError> {
    let asked = |path: &str| !path.contains('/') || path.starts_with("bindings/");
    let disk = Disk::open_where(dir, asked).map_err(store)?;
    let stray = has_stray_database(&disk, "");
    whole(&disk).map(|()| stray)
}

/// Returns whether a folder is a run, by the same rules as lists of runs.
fn is_run(dir: &Path) -> Result<bool, CliError> {
    // A file that prosescope writes proves that the folder is a run, without listing the folder.
    let ours = |name: &str| {
        let path = dir.join(name);
        let found = existing(path.metadata(), &path)?;
        Ok::<_, CliError>(found.is_some_and(|meta| meta.is_file()))
    };
    if ours("state.md")? && ours("program.prose")? || ours("x_events.jsonl")? {
        return Ok(true);
    }
    let disk = disk(dir)?;
    let found = survey(&disk).found;
    let mut found = found.iter();
    if found.any(|found| found.place.is_empty() && found.kind != FoundKind::Agents) {
        Ok(true)
    } else {
        whole(&disk).map(|()| false)
    }
}

/// Returns the metadata of a path; `None` if it does not exist.
fn existing(found: io::Result<Metadata>, path: &Path) -> Result<Option<Metadata>, CliError> {
    match found {
        Ok(meta) => Ok(Some(meta)),
        Err(cause) if matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(cause) => {
            let message = format!("cannot read {}: {cause}", path.display());
            Err(CliError::new(Exit::Io, message))
        }
    }
}

/// Returns an error unless the folder was read completely.
fn whole(disk: &Disk) -> Result<(), CliError> {
    match disk.unread(|_| true) {
        Some(message) => Err(CliError::new(Exit::Io, message)
            .hint("check that you may read the file or folder, then repeat the command")),
        None => Ok(()),
    }
}

fn no_run(path: &Path) -> CliError {
    CliError::not_found(format!("there is no run in {}", path.display()))
        .hint("`prosescope runs` lists the runs; `prosescope init PROGRAM` creates a run")
}

/// Resolves links in `found` if `run` is the path to the same file. Otherwise returns `found` as it is.
fn unlinked(run: &str, found: PathBuf) -> Result<PathBuf, CliError> {
    match (Path::new(run).canonicalize(), found.canonicalize()) {
        (Ok(named), Ok(real)) if named == real => Ok(real),
        _ => Ok(found),
    }
}

/// Returns everything known of one agent of a run that is being written. Reads neither other runs nor the rest of this
/// run.
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
    // A run outside of a project uses the agents of the project of the working directory.
    let here = prose.is_none().then(project).and_then(Result::ok);
    let options = options(prose.or(here.as_deref()))?;
    let disk = Rc::new(disk);
    let source: Rc<Disk> = Rc::clone(&disk);
    OneAgent::open(source, &place, &options, name).map_err(|error| unread(&disk, error.into()))
}
