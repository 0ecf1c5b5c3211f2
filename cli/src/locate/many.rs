//! Runs of which nobody said which: those of a project, or of a folder.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use prosescope_core::session::{Filter, FoundKind, OpenError, Order, Session, choose, survey};
use prosescope_core::source::Source;
use prosescope_core::view::RunList;
use prosescope_store::Disk;

use super::find::project;
use super::{LATEST, disk, from_here, options, store};
use crate::error::CliError;

/// A run of many: its name, where its files lie, and the run or why it cannot be opened.
pub(crate) type OneOfAll = (String, String, Result<Session, OpenError>);

/// Opens every run below `path`, or below the nearest `.prose`, one at a time: an open run holds a database.
pub(crate) fn open_all(path: Option<&str>) -> Result<impl Iterator<Item = OneOfAll>, CliError> {
    let base = match path {
        Some(path) => PathBuf::from(path),
        None => project()?,
    };
    let disk: Rc<dyn Source> = Rc::new(disk(&base)?);
    let options = options(None)?;
    let runs = survey(disk.as_ref()).found.into_iter();
    Ok(runs
        .filter(|found| found.kind != FoundKind::Agents)
        .map(move |found| {
            let session = Session::open(Rc::clone(&disk), &found.place, &options);
            let folder = from_here(&base, &found.place);
            (found.name, folder, session)
        }))
}

/// Opens every run below the nearest `.prose`, with its place there.
pub(crate) fn open_project() -> Result<impl Iterator<Item = OneOfAll>, CliError> {
    let disk: Rc<dyn Source> = Rc::new(disk(&project()?)?);
    let options = options(None)?;
    let runs = survey(disk.as_ref()).found.into_iter();
    Ok(runs.map(move |found| {
        let session = Session::open(Rc::clone(&disk), &found.place, &options);
        (found.name, found.place, session)
    }))
}

/// Opens every run below a `.prose` folder's own `runs`, one at a time: its name, its place below `.prose`, and the
/// run or why it cannot be opened.
pub(crate) fn open_runs(prose: &Path) -> Result<impl Iterator<Item = OneOfAll>, CliError> {
    let disk = Disk::open_where(prose, |path| path.starts_with("runs/")).map_err(store)?;
    let disk: Rc<dyn Source> = Rc::new(disk);
    let options = options(None)?;
    let runs = survey(disk.as_ref()).found.into_iter();
    Ok(runs
        .filter(|found| found.kind != FoundKind::Agents)
        .map(move |found| {
            let session = Session::open(Rc::clone(&disk), &found.place, &options);
            (found.name, found.place, session)
        }))
}

/// The runs below `path`, or below the nearest `.prose`, those that are wanted.
pub(crate) fn list(path: Option<&str>, filter: &Filter, order: Order) -> Result<RunList, CliError> {
    let dir = match path {
        Some(path) => PathBuf::from(path),
        None => project()?,
    };
    let disk: Rc<dyn Source> = Rc::new(disk(&dir)?);
    Ok(Session::list_where(&disk, &options(None)?, filter, order))
}

/// The runs below a `.prose` folder's own `runs`.
pub(crate) fn runs_of(prose: &Path) -> Result<RunList, CliError> {
    let runs = Disk::open_where(prose, |path| path.starts_with("runs/")).map_err(store)?;
    let runs: Rc<dyn Source> = Rc::new(runs);
    let all = Filter::default();
    Ok(Session::list_where(
        &runs,
        &options(None)?,
        &all,
        Order::default(),
    ))
}

/// The place of the newest run below a `.prose` folder's own `runs`.
pub(crate) fn latest_of(prose: &Path) -> Result<Option<String>, CliError> {
    let runs = Disk::open_where(prose, |path| path.starts_with("runs/")).map_err(store)?;
    let runs: Rc<dyn Source> = Rc::new(runs);
    Ok(choose(&runs, LATEST, &options(None)?).ok())
}
