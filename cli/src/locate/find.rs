//! Resolves the name of a run (an id, `latest`, or a path) to a place on a disk.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use prosescope_core::model::shell;
use prosescope_core::model::source::Source;
use prosescope_core::pages::session::{ChooseError, FoundKind, SurveyPlace, choose, survey};
use prosescope_store::{Disk, home_prose, project_dir};

use super::{LATEST, disk, disk_where, options, store};
use crate::error::CliError;
use crate::exit::Exit;
use crate::near;

/// The place of a run on a disk, and the `.prose` folder around the run.
pub(super) struct Located {
    pub(super) disk: Rc<Disk>,
    /// The folder that the disk's paths are relative to.
    pub(super) base: PathBuf,
    pub(super) place: String,
    /// The `.prose` folder around a run that the user gave by its path; `None` for a run given by its id.
    pub(super) prose: Option<PathBuf>,
}

pub(super) fn locate(run: &str) -> Result<Located, CliError> {
    if looks_like_path(run) && exists(run)? {
        return by_path(Path::new(run));
    }
    if let Some((file, inside)) = in_file(run)? {
        return in_packed(file, inside);
    }
    if only_a_path(run) {
        return Err(no_such_path(run));
    }
    let project = match project() {
        Ok(project) => project,
        Err(error) if looks_like_path(run) && error.exit == Exit::NotFound => {
            return Err(no_such_path(run));
        }
        // Without a `.prose` folder, a bare name may still be a file in the working directory.
        Err(error) if error.exit != Exit::NotFound => return Err(error),
        Err(_) if run != LATEST && exists(run)? => return by_path(Path::new(run)),
        Err(error) => return Err(error),
    };
    let (name, nested) = run
        .split_once('/')
        .map_or((run, None), |(name, nested)| (name, Some(nested)));
    let options = options(None)?;
    let choose = |disk: Disk| {
        let disk = Rc::new(disk);
        let source: Rc<dyn Source> = Rc::<Disk>::clone(&disk);
        let chosen = choose(&source, name, &options);
        (disk, chosen)
    };
    // Other runs decide what a name means that is only the beginning of an id, such as a folder with runs of a year.
    let alone = alone(&project, name)?.map(choose);
    let is_meant = |place: &str| place.strip_prefix("runs/") == Some(name);
    let (disk, chosen) = match alone {
        Some((disk, Ok(place))) if is_meant(&place) => (disk, Ok(place)),
        _ => choose(disk(&project)?),
    };
    let path = chosen.is_err() && run != LATEST && exists(run)?;
    if !path && run_unread(&disk, name, chosen.is_ok()) {
        return Err(unread(&disk, not_known(run)));
    }
    let place = match chosen {
        Ok(place) => place,
        Err(ChooseError::Unknown { .. }) if path => {
            return by_path(Path::new(run));
        }
        Err(ChooseError::Unknown { name, .. }) if looks_like_path(run) => {
            let message = format!(
                "there is no file or folder {run}, and no run {name} in {}",
                project.display()
            );
            return Err(CliError::not_found(message)
                .hint("check the path; `prosescope runs` lists the runs"));
        }
        Err(error) => return Err(not_chosen(error, &project)),
    };
    let place = match nested {
        Some(nested) => {
            inside(&disk, name, &place, nested).map_err(|error| unread(&disk, error))?
        }
        None => place,
    };
    Ok(Located {
        disk,
        base: project,
        place,
        prose: None,
    })
}

/// Opens a project without its other runs, if `name` is the complete name of a run's folder: a project may have
/// thousands.
fn alone(project: &Path, name: &str) -> Result<Option<Disk>, CliError> {
    let own = format!("{name}/");
    let is_folder = name != LATEST && !name.starts_with('.') && !name.contains('\\');
    if !is_folder || !project.join("runs").join(&own).is_dir() {
        return Ok(None);
    }
    // Files beside the runs, and agents there, may belong to all of them.
    let is_wanted = |path: &str| {
        let other = path.strip_prefix("runs/").filter(|path| path.contains('/'));
        other.is_none_or(|path| path.starts_with(&own) || path.starts_with("agents"))
    };
    disk_where(project, is_wanted).map(Some)
}

/// Returns whether an unread folder may be the run that `name` means, or may be newer than the run that was found.
fn run_unread(disk: &Disk, name: &str, found: bool) -> bool {
    match found {
        false => disk.unread(|_| true).is_some(),
        // A folder that cannot be listed may be the newest run.
        true => {
            let deep = |place: &str| place.matches('/').count() > 1;
            name == LATEST && disk.unread(|place| !deep(place)).is_some()
        }
    }
}

fn not_known(run: &str) -> CliError {
    CliError::not_found(format!("there is no run {run}"))
}

/// Replaces a "not found" error if a part of the disk was not read, because that part may contain the run.
pub(super) fn unread(disk: &Disk, error: CliError) -> CliError {
    match disk.unread(|_| true) {
        Some(message) if error.exit == Exit::NotFound => CliError::new(Exit::Io, message)
            .hint("check that you may read the file or folder, then repeat the command"),
        _ => error,
    }
}

fn not_chosen(error: ChooseError, project: &Path) -> CliError {
    match error {
        ChooseError::Nothing { .. } => {
            CliError::not_found(error.to_string()).hint("give a path to a run folder or a database")
        }
        ChooseError::Several { .. } => {
            CliError::usage(error.to_string()).hint("give a longer prefix of the id")
        }
        ChooseError::Unknown {
            name, runs, some, ..
        } => {
            let error =
                CliError::not_found(format!("there is no run {name} in {}", project.display()));
            if runs == 0 {
                return error.hint(
                    "the folder contains no runs; give a path to a run folder or a database",
                );
            }
            let some = some.join(", ");
            error.hint(match runs {
                1 => format!("the only run is {some}"),
                _ => format!(
                    "there are {runs} runs, such as {some}; `prosescope runs` lists all runs"
                ),
            })
        }
    }
}

fn exists(path: &str) -> Result<bool, CliError> {
    match Path::new(path).try_exists() {
        Err(cause) if cause.kind() == std::io::ErrorKind::NotADirectory => Ok(false),
        Err(cause) => {
            let message = format!("cannot read {path}: {cause}");
            Err(CliError::new(Exit::Io, message))
        }
        Ok(there) => Ok(there),
    }
}

/// Returns whether a name can only be a path, not a run or an import.
fn only_a_path(run: &str) -> bool {
    run.starts_with(['.', '/']) || run.contains('\\') || Path::new(run).is_absolute()
}

fn no_such_path(path: &str) -> CliError {
    CliError::not_found(format!("there is no file or folder {path}"))
        .hint("check the path; `prosescope runs` lists the runs")
}

/// Returns the place of a nested run below a run. `nested` is `handle--slug`, or the handle alone.
fn inside(disk: &Disk, run: &str, place: &str, nested: &str) -> Result<String, CliError> {
    let mut place = place.to_owned();
    let mut above = run.to_owned();
    for part in nested
        .split('/')
        .filter(|part| !part.is_empty() && *part != "imports")
    {
        let prefix = if place.is_empty() {
            "imports/".to_owned()
        } else {
            format!("{place}/imports/")
        };
        let mut all: Vec<&str> = disk
            .below(&prefix)
            .iter()
            .filter_map(|f| {
                f.path
                    .strip_prefix(&prefix)?
                    .split_once('/')
                    .map(|(name, _)| name)
            })
            .collect();
        all.dedup();
        let is_meant = |name: &&&str| {
            let rest = name.strip_prefix(part);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("--"))
        };
        let names: Vec<&str> = all.iter().filter(is_meant).copied().collect();
        place = match names.as_slice() {
            [one] => format!("{prefix}{one}"),
            [] => {
                let error = CliError::not_found(format!("run {above} has no import {part}"));
                return Err(match all.as_slice() {
                    [] => error.hint("the run has no nested runs"),
                    all => {
                        let handles = all
                            .iter()
                            .map(|name| name.split_once("--").map_or(*name, |of| of.0));
                        error.hint(near::hint(part, handles, "imports"))
                    }
                });
            }
            many => {
                return Err(CliError::usage(format!(
                    "{part} is ambiguous: {}",
                    many.join(" or ")
                )));
            }
        };
        above = format!("{above}/{part}");
    }
    Ok(place)
}

/// Returns whether a path is that of a program: it ends in `.prose`.
pub(crate) fn is_program(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "prose")
}

pub(super) fn by_path(path: &Path) -> Result<Located, CliError> {
    let full = path
        .canonicalize()
        .map_err(|e| CliError::new(Exit::Io, format!("{}: {e}", path.display())))?;
    if full.is_file() && is_program(&full) {
        let name = full.file_stem().unwrap_or_default().to_string_lossy();
        let message = format!("{} is a program, not a run", path.display());
        return Err(CliError::usage(message).hint(format!(
            "`{}` lists the runs of this program",
            shell::command("runs", &[], &shell::option("--program", &name))
        )));
    }
    let prose = full
        .ancestors()
        .skip(1)
        .find(|dir| dir.ends_with(".prose") || dir.ends_with(".agents/prose"))
        .map(Path::to_owned);
    // A path to state.db means the run folder around it, which also contains the program and the attachments.
    let is_state_db = full.is_file() && full.file_name().is_some_and(|n| n == "state.db");
    if is_state_db && let Some(dir) = path.parent().filter(|_| full.parent().is_some()) {
        let dir = Some(dir).filter(|dir| !dir.as_os_str().is_empty());
        let dir = dir.unwrap_or(Path::new("."));
        let disk = disk(dir)?;
        return Ok(Located {
            disk: Rc::new(disk),
            base: dir.to_owned(),
            place: "state.db".to_owned(),
            prose,
        });
    }
    let disk = Rc::new(disk(path)?);
    if full.is_file() && disk.verified().is_none() {
        let place = full
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        let base = full.parent().map(Path::to_owned).unwrap_or_default();
        return Ok(Located {
            disk,
            base,
            place,
            prose,
        });
    }
    let base = path.to_owned();
    let found = survey(disk.as_ref()).found;
    let runs: Vec<&SurveyPlace> = found
        .iter()
        .filter(|f| f.kind != FoundKind::Agents)
        .collect();
    let place = match runs.as_slice() {
        [one] => one.place.clone(),
        [] => found.first().map(|f| f.place.clone()).unwrap_or_default(),
        many if many.iter().any(|f| f.place.is_empty()) => String::new(),
        many => {
            return Err(CliError::usage(format!(
                "the command takes one run, but {} contains {} runs",
                path.display(),
                many.len()
            ))
            .hint(format!(
                "name one run, such as {}",
                path.join(&many[0].place).display()
            ))
            .hint(format!(
                "`prosescope runs {}` lists the runs",
                path.display()
            )));
        }
    };
    Ok(Located {
        disk,
        base,
        place,
        prose,
    })
}

/// Splits the name of a run in a shared file (`run.html/ID`) into the file and the rest.
fn in_file(run: &str) -> Result<Option<(&Path, &str)>, CliError> {
    for (at, _) in run.match_indices('/') {
        let (Some(file), Some(inside)) = (run.get(..at), run.get(at + 1..)) else {
            continue;
        };
        if !file.is_empty() && exists(file)? && Path::new(file).is_file() {
            return Ok(Some((Path::new(file), inside)));
        }
    }
    Ok(None)
}

/// Finds a run in a shared file by its id or a prefix of the id.
fn in_packed(file: &Path, inside: &str) -> Result<Located, CliError> {
    let disk = Rc::new(disk(file)?);
    let source: Rc<dyn Source> = Rc::<Disk>::clone(&disk);
    let (name, nested) = inside
        .split_once('/')
        .map_or((inside, None), |(name, nested)| (name, Some(nested)));
    let place = choose(&source, name, &options(None)?).map_err(|error| not_chosen(error, file))?;
    let place = match nested {
        Some(nested) => self::inside(&disk, name, &place, nested)?,
        None => place,
    };
    Ok(Located {
        disk,
        base: file.to_owned(),
        place,
        prose: None,
    })
}

/// Returns the `.prose` folder of the project.
pub(crate) fn project() -> Result<PathBuf, CliError> {
    let here = std::env::current_dir()?;
    let home = home();
    let found = project_dir(&here, home.as_deref()).map_err(store)?;
    found.ok_or_else(|| {
        let error = CliError::not_found(format!(
            "there is no .prose folder in {} or above it",
            here.display()
        ));
        let users = home.as_deref().and_then(|home| home_prose(home).ok()?);
        let error = match users.filter(|_| home.is_some_and(|home| here.starts_with(home))) {
            Some(users) => error.hint(format!(
                "{} contains the agents of the user, and is a project only for commands that run in the home directory itself",
                users.display()
            )),
            None => error,
        };
        error.hint("change to the project's directory, or give a path to a run folder or a database")
    })
}

/// Returns the user's home directory.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

/// Returns whether a name looks like a path, such as `./run` or `state.db`, and not like an id.
pub(super) fn looks_like_path(run: &str) -> bool {
    run.contains('/')
        || run.contains('\\')
        || run.starts_with('.')
        || run.ends_with(".db")
        || run.ends_with(".md")
        || run.ends_with(".html")
        || run.ends_with(".zip")
}

#[cfg(test)]
mod tests {
    use super::looks_like_path;

    #[test]
    fn ids_are_not_paths() {
        for (text, path) in [
            ("20260115-143052-a7b3c9", false),
            ("latest", false),
            ("202601", false),
            ("./run", true),
            (".prose/runs/x", true),
            ("state.db", true),
            ("state.md", true),
        ] {
            assert_eq!(looks_like_path(text), path, "{text}");
        }
    }
}
