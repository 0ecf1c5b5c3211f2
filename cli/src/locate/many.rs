//! Lists or opens all runs of a project or a folder.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::thread;

use prosescope_core::model::source::{Source, SourceError};
use prosescope_core::pages::session::{
    self, Filter, FoundKind, ListOrder, OpenError, Session, SurveyPlace, list_more, list_page,
    survey,
};
use prosescope_core::pages::view::{RunList, RunSummary};
use prosescope_store::Disk;

use super::find::project;
use super::server;
use super::{disk, from_here, options, store};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::say;
use crate::print::note;

/// From how many runs on starting threads takes less time than it saves.
const MANY: usize = 32;

/// One run out of many: its name, the place of its files, and the opened run or the error of opening it.
pub(crate) type OneOfAll = (String, String, Result<Session, OpenError>);

/// Opens every run below `path`; without `path`, below the nearest `.prose` and in the project's database. Opens one
/// run at a time, because each opened run keeps its database open.
pub(crate) fn open_all(path: Option<&str>) -> Result<impl Iterator<Item = OneOfAll>, CliError> {
    let on_server = path.is_none().then(server::each);
    Ok(on_disk(path)?.chain(on_server.into_iter().flatten()))
}

/// Opens every run below the nearest `.prose`, and the runs of the project's database that wait at a gate.
pub(crate) fn open_waiting() -> Result<impl Iterator<Item = OneOfAll>, CliError> {
    Ok(on_disk(None)?.chain(server::waiting()))
}

/// Opens every run below `path`, or below the nearest `.prose`. Opens nothing if the project has no `.prose` folder,
/// but a PostgreSQL database.
fn on_disk(path: Option<&str>) -> Result<impl Iterator<Item = OneOfAll>, CliError> {
    let base = match path {
        Some(path) => Ok(PathBuf::from(path)),
        None => project(),
    };
    let base = match base {
        Ok(base) => Some(base),
        // A project without a `.prose` folder may have its runs in a database.
        Err(error) if error.exit == Exit::NotFound && server::is_named() => None,
        Err(error) => return Err(error),
    };
    let on_disk = base.map(|base| {
        let runs = each(disk(&base)?, |found| found.kind != FoundKind::Agents)?;
        Ok::<_, CliError>(
            runs.map(move |(name, place, session)| (name, from_here(&base, &place), session)),
        )
    });
    Ok(on_disk.transpose()?.into_iter().flatten())
}

/// Opens every run and store of agents below the nearest `.prose`, and the runs of the project's database that wait
/// at a gate.
pub(crate) fn open_project() -> Result<impl Iterator<Item = OneOfAll>, CliError> {
    Ok(each(disk(&project()?)?, |_| true)?.chain(server::waiting()))
}

/// Opens every run in the `runs` of a `.prose` folder, one at a time.
pub(crate) fn open_runs(prose: &Path) -> Result<impl Iterator<Item = OneOfAll>, CliError> {
    each(runs_in(prose)?, |found| found.kind != FoundKind::Agents)
}

/// Returns a disk with the `runs` folder of a `.prose` folder.
fn runs_in(prose: &Path) -> Result<Disk, CliError> {
    Disk::open_where(prose, |path| path.starts_with("runs/")).map_err(store)
}

/// Opens the runs of a disk one after the other. The last item is an error if an unread part may be a run.
fn each(
    disk: Disk,
    wanted: impl Fn(&SurveyPlace) -> bool,
) -> Result<impl Iterator<Item = OneOfAll>, CliError> {
    let disk = Rc::new(disk);
    let source: Rc<dyn Source> = Rc::<Disk>::clone(&disk);
    let options = options(None)?;
    let mut found = survey(source.as_ref()).found;
    let hidden = outside(&disk, &found).map(|cause| {
        let path = source.label();
        let error = SourceError::Unreadable { path, cause };
        (source.label(), String::new(), Err(error.into()))
    });
    found.retain(wanted);
    let runs = found.into_iter().map(move |found| {
        let session = Session::open(Rc::clone(&source), &found.place, &options);
        (found.name, found.place, session)
    });
    Ok(runs.chain(hidden))
}

/// Returns the error of an unread part of the disk that is outside of all found runs.
fn outside(disk: &Disk, found: &[SurveyPlace]) -> Option<String> {
    let inside = |place: &str, found: &SurveyPlace| match place.strip_prefix(found.place.as_str()) {
        Some(rest) => found.place.is_empty() || rest.is_empty() || rest.starts_with('/'),
        None => false,
    };
    let runs = found.iter().filter(|found| found.kind != FoundKind::Agents);
    disk.unread(|place| !is_beside(place) && !runs.clone().any(|found| inside(place, found)))
}

/// A list of runs, with notes about runs that are missing in the list.
pub(crate) struct NotedRuns {
    pub(crate) list: RunList,
    pub(crate) notes: Vec<String>,
    /// Whether every folder that may be a run was read.
    pub(crate) whole: bool,
}

/// Lists the runs below `path`, or below the nearest `.prose`: the first `most` that match the filter.
///
/// # Errors
/// An error if the list is empty, and an unread folder may be a run.
pub(crate) fn list(
    path: Option<&str>,
    filter: &Filter,
    order: ListOrder,
    most: usize,
) -> Result<NotedRuns, CliError> {
    let mut notes = Vec::new();
    let dir = match path {
        Some(path) => Ok(PathBuf::from(path)),
        None => project(),
    };
    let mut hidden = None;
    let mut list = match dir {
        Ok(dir) => {
            let disk = Rc::new(disk(&dir)?);
            let source: Rc<dyn Source> = Rc::<Disk>::clone(&disk);
            let lines = lines(&disk, filter);
            let known = |found: &SurveyPlace| lines.get(&found.place).cloned();
            let list = list_page(&source, &options(None)?, filter, order, most, Some(&known));
            hidden = disk.unread(|place| !is_beside(place));
            list
        }
        // A project without a `.prose` folder may have its runs in a database.
        Err(error) if error.exit == Exit::NotFound && server::is_named() => RunList::default(),
        Err(error) => return Err(error),
    };
    if path.is_none() {
        let own = list.runs.len();
        server::add_to(&mut list, filter, order, most, &mut notes);
        if list.runs.len() > own {
            order.sort_listed(&mut list.runs);
            list.runs.truncate(most);
        }
    }
    let whole = hidden.is_none();
    if let Some(message) = hidden {
        if list.runs.is_empty() {
            return Err(CliError::new(Exit::Io, message)
                .hint("check that you may read the file or folder, then repeat the command"));
        }
        notes.push(format!("some parts were not read: {message}"));
    }
    Ok(NotedRuns { list, notes, whole })
}

/// Reads the lines of many runs, a part of the runs on each processor. Runs that are missing in the result, such as those
/// of a short list, are still to be read.
fn lines(disk: &Disk, filter: &Filter) -> BTreeMap<String, RunSummary> {
    let mut places = survey(disk).found;
    places.retain(|found| found.kind != FoundKind::Agents && filter.may_want(&found.name));
    if places.len() < MANY {
        return BTreeMap::new();
    }
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let read = |disk: Disk, part: Vec<SurveyPlace>| {
        let options = options(None).ok()?;
        let disk = Rc::new(disk);
        let source: Rc<dyn Source> = Rc::<Disk>::clone(&disk);
        let lines = list_more(&source, &options, part, &|| true).list.runs;
        drop(source);
        Some((lines, Rc::into_inner(disk)?))
    };
    let parts = places.chunks(places.len().div_ceil(threads));
    thread::scope(|scope| {
        let started: Vec<_> = parts
            .map(|part| {
                let (disk, part) = (disk.beside(), part.to_vec());
                scope.spawn(move || read(disk, part))
            })
            .collect();
        let done = started.into_iter().filter_map(|part| part.join().ok()?);
        done.flat_map(|(lines, beside)| {
            disk.note_failures(&beside);
            lines.into_iter().map(|line| (line.place.clone(), line))
        })
        .collect()
    })
}

/// Returns whether a place in the `runs` folder is not a run, but a store of agents or a lock.
fn is_beside(place: &str) -> bool {
    place.starts_with("agents") || place == ".lock"
}

/// Lists the runs in the `runs` of a `.prose` folder.
pub(crate) fn runs_of(prose: &Path) -> Result<RunList, CliError> {
    let disk = Rc::new(runs_in(prose)?);
    let runs: Rc<dyn Source> = Rc::<Disk>::clone(&disk);
    let list = session::list(&runs, &options(None)?);
    // An unread place outside of all known runs may be another run.
    let of_run = |place: &str| {
        list.runs
            .iter()
            .any(|run| place.starts_with(&format!("{}/", run.place)))
    };
    match disk.unread(|place| !of_run(place)) {
        Some(message) => Err(CliError::new(Exit::Io, message)
            .hint("check that you may read the file or folder, then repeat the command")),
        None => {
            // The status of an unreadable run is not known, so a note gives the error.
            let failed = list.runs.iter().filter_map(|run| run.error.as_deref());
            let partly = disk.unread(of_run);
            for message in failed.chain(partly.as_deref()) {
                say(&note(&format!("some parts were not read: {message}")));
            }
            Ok(list)
        }
    }
}
