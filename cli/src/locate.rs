//! From what a person types to an opened run.
//!
//! A run is named by its id, a unique beginning of it, `latest`, or a path to a run folder or a database; a nested
//! run by `RUN/handle--slug`. `.prose/` is found upward from the working directory.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use prosescope_core::decode::sqlite::DEADLINE;
use prosescope_core::model::AgentScope;
use prosescope_core::render::text::escape;
use prosescope_core::session::{
    Around, ChooseError, Filter, Found, FoundKind, Lookup, OpenError, Options, Order, Session,
    choose, survey,
};
use prosescope_core::source::Source;
use prosescope_core::time::Stamp;
use prosescope_core::view::{GateView, RunList};
use prosescope_store::{Disk, StoreError, home_prose, prose_dir};

use crate::error::CliError;
use crate::exit::Exit;
use crate::out::say;
use crate::serve::Served;

/// What names the newest run, and never a folder.
pub(crate) const LATEST: &str = "latest";

/// A place to open, and the `.prose` folder around it.
struct Located {
    disk: Rc<Disk>,
    /// The folder that the disk's paths are named from.
    base: PathBuf,
    place: String,
    /// The `.prose` folder around a run that was given by its path.
    prose: Option<PathBuf>,
}

/// Milliseconds since 1970 UTC; `PROSE_NOW` (RFC 3339) sets another time, for tests and documentation.
pub(crate) fn now() -> i64 {
    let set = std::env::var("PROSE_NOW")
        .ok()
        .and_then(|text| Stamp::parse(&text).millis());
    if let Some(now) = set {
        return now;
    }
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Opens the run that `run` names.
pub(crate) fn open(run: &str) -> Result<Session, CliError> {
    let located = locate(run)?;
    let options = options(located.prose.as_deref())?;
    Ok(Session::open(located.disk, &located.place, &options)?)
}

/// What is known of one agent in the run that is written to: neither other runs are looked for nor is this one read.
pub(crate) fn open_agent(target: &Target, name: &str) -> Result<Session, CliError> {
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
    let options = options(prose)?;
    Ok(Session::open_agent(Rc::new(disk), &place, &options, name)?)
}

/// Resolves a name in the run that `run` names: what lies around the run says nothing of its values.
pub(crate) fn look_up(run: &str, name: &str, from: Option<i64>) -> Result<Lookup, CliError> {
    let located = locate(run)?;
    let source: Rc<dyn Source> = located.disk;
    Ok(Lookup::open(
        &source,
        &located.place,
        &bounded(),
        name,
        from,
    )?)
}

/// Opens the run that `run` names, and says where its files lie: a path from here, or an absolute one.
pub(crate) fn open_with_folder(run: &str) -> Result<(Session, String), CliError> {
    let located = locate(run)?;
    let options = options(located.prose.as_deref())?;
    let session = Session::open(located.disk, &located.place, &options)?;
    let folder = from_here(&located.base, &session.run().root);
    Ok((session, folder))
}

/// Bytes that SQLite may hold where values are copied.
const COPYING: u64 = 4 << 30;

/// An opened run, and where its files lie on disk.
pub(crate) struct Opened {
    pub(crate) session: Session,
    pub(crate) disk: Rc<Disk>,
    /// The run's folder, or the one that its database lies in.
    pub(crate) dir: PathBuf,
    /// The run's database in the disk, where it has one.
    pub(crate) database: Option<String>,
    /// The run's name: its folder's, or that of a database that lies alone.
    pub(crate) name: String,
    /// Whether the database lies alone: what is beside it is not the run's.
    pub(crate) alone: bool,
}

/// Opens the run that `run` names, with its files.
pub(crate) fn open_on_disk(run: &str) -> Result<Opened, CliError> {
    let located = locate(run)?;
    let options = Options {
        // A value is copied whole; the limit of the process cannot be raised later.
        heap: Some(COPYING),
        ..options(located.prose.as_deref())?
    };
    let disk = Rc::clone(&located.disk);
    let session = Session::open(located.disk, &located.place, &options)?;
    let root = session.run().root.to_string();
    let dir = located.base.join(&root);
    let dir = dir.canonicalize().unwrap_or(dir);
    let is_file = disk.file(&located.place).is_some();
    let named = match is_file {
        true => located.place,
        false => format!("{root}state.db"),
    };
    let database = disk.file(&named).map(|file| file.path.clone());
    let alone = is_file && !named.ends_with("state.db");
    let name = match alone {
        true => Path::new(&named).file_stem().unwrap_or_default(),
        false => dir.file_name().unwrap_or_default(),
    };
    let name = name.to_string_lossy().into_owned();
    Ok(Opened {
        session,
        disk,
        dir,
        database,
        name,
        alone,
    })
}

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

/// A folder inside of `base`, as a path from here where it lies below.
fn from_here(base: &Path, inside: &str) -> String {
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

/// The gates of all runs below the nearest `.prose`, those first that wait for a decision, the nearest deadline first.
pub(crate) fn gates_of_all(now: Option<i64>) -> Result<(Vec<GateView>, Exit), CliError> {
    let disk: Rc<dyn Source> = Rc::new(disk(&project()?)?);
    let options = options(None)?;
    let (mut gates, mut exit) = (Vec::new(), Exit::Done);
    for found in survey(disk.as_ref()).found {
        match Session::open(Rc::clone(&disk), &found.place, &options) {
            Ok(session) => {
                gates.extend(session.gates(now).gates.into_iter().map(|gate| GateView {
                    place: Some(found.place.clone()),
                    ..gate
                }));
            }
            // One unreadable run hides no gate of another.
            Err(error) => {
                exit = Exit::Issues;
                say(&escape(&format!("skipped: {error}"), false));
            }
        }
    }
    let deadline = |gate: &GateView| {
        gate.deadline
            .as_ref()
            .and_then(|at| at.millis())
            .unwrap_or(i64::MAX)
    };
    gates.sort_by_key(|gate| (gate.status != "pending", deadline(gate)));
    Ok((gates, exit))
}

/// What `prose view` serves for these runs or paths.
pub(crate) fn served(runs: &[String]) -> Result<Served, CliError> {
    let latest = ["latest".to_owned()];
    let runs = if runs.is_empty() { &latest[..] } else { runs };
    let mut served = Served::new(&runs.join(", "));
    for (n, run) in runs.iter().enumerate() {
        let path = Path::new(run);
        if looks_like_path(run) && path.is_dir() {
            let name = path
                .canonicalize()
                .ok()
                .and_then(|p| p.file_name().map(|n| n.to_string_lossy().into_owned()));
            let prefix = if runs.len() == 1 {
                String::new()
            } else {
                format!("{}/", name.unwrap_or_else(|| n.to_string()))
            };
            disk(path)?;
            served.add(path.to_owned(), &prefix, Box::new(|_| true));
            continue;
        }
        let located = locate(run)?;
        let is_file = located.disk.file(&located.place).is_some();
        let root = match located.place.rsplit_once('/') {
            Some((dir, _)) if is_file => dir.to_owned(),
            // It lies in the disk's own folder, of which that lists what belongs to it.
            None if is_file => String::new(),
            _ => located.place.clone(),
        };
        // A database of another name than a run's is all that is listed of its folder.
        let alone = is_file && root.is_empty() && located.place != "state.db";
        let path = match alone {
            true => located.base.join(&located.place),
            false => located.base,
        };
        let inside = format!("{root}/");
        let wanted = move |path: &str| {
            let above = path.ends_with('/') && inside.starts_with(path);
            root.is_empty()
                || path.starts_with(&inside)
                || above
                || path == "agents.db"
                || path == ".env"
                || path.starts_with("agents/")
        };
        served.add(path, "", Box::new(wanted));
    }
    Ok(served)
}

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
    let newest = run.split('/').next() == Some(LATEST);
    if plain
        && !newest
        && let Ok(project) = project()
    {
        let dir = project.join("runs").join(run.replace('/', "/imports/"));
        if dir.is_dir() {
            return target(dir);
        }
    }
    let located = locate(run)?;
    let full = located.base.join(&located.place);
    if full.is_dir() {
        return target(full);
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
    let there = own.symlink_metadata().is_ok();
    let events = dir.join("x_events.jsonl");
    if there && events.symlink_metadata().is_ok() {
        let message = format!(
            "there are two stores of this run: {} and {}",
            own.display(),
            events.display()
        );
        return Err(CliError::new(Exit::Refused, message)
            .hint("move away the one that is not this run's, or name the one that is meant: its state.db or its state.md"));
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

/// Whether a folder is a run's, as lists of runs see it.
fn is_run(dir: &Path) -> Result<bool, CliError> {
    // What our own writer keeps says so without a list of all that lies there.
    let ours = |name: &str| dir.join(name).is_file();
    if ours("state.md") && ours("program.prose") || ours("x_events.jsonl") {
        return Ok(true);
    }
    let found = survey(&disk(dir)?).found;
    Ok(found
        .iter()
        .any(|found| found.place.is_empty() && found.kind != FoundKind::Agents))
}

fn no_run(path: &Path) -> CliError {
    CliError::not_found(format!("there is no run in {}", path.display()))
        .hint("`prose runs` lists the runs; `prose init PROGRAM` makes one")
}

/// The database itself: a link is followed where the user named it, and nowhere else.
fn unlinked(run: &str, database: PathBuf) -> Result<PathBuf, CliError> {
    match (Path::new(run).canonicalize(), database.canonicalize()) {
        (Ok(named), Ok(real)) if named == real => Ok(real),
        _ => Ok(database),
    }
}

fn locate(run: &str) -> Result<Located, CliError> {
    if looks_like_path(run) && Path::new(run).exists() {
        return by_path(Path::new(run));
    }
    let project = match project() {
        Ok(project) => project,
        // Without a `.prose` folder, a bare name may still be a file beside us.
        Err(_) if run != LATEST && Path::new(run).exists() => return by_path(Path::new(run)),
        Err(error) => return Err(error),
    };
    let disk = Rc::new(disk(&project)?);
    let source: Rc<dyn Source> = Rc::<Disk>::clone(&disk);
    let (name, nested) = run
        .split_once('/')
        .map_or((run, None), |(name, nested)| (name, Some(nested)));
    let place = match choose(&source, name, &options(None)?) {
        Ok(place) => place,
        Err(ChooseError::Unknown { .. }) if run != LATEST && Path::new(run).exists() => {
            return by_path(Path::new(run));
        }
        Err(error) => return Err(not_chosen(error, &project)),
    };
    let place = match nested {
        Some(nested) => inside(&disk, &place, nested)?,
        None => place,
    };
    Ok(Located {
        disk,
        base: project,
        place,
        prose: None,
    })
}

fn not_chosen(error: ChooseError, project: &Path) -> CliError {
    match error {
        ChooseError::Nothing { .. } => {
            CliError::not_found(error.to_string()).hint("give a path to a run folder or a database")
        }
        ChooseError::Several { .. } => {
            CliError::usage(error.to_string()).hint("give more of the id")
        }
        ChooseError::Unknown {
            name, runs, some, ..
        } => {
            let error =
                CliError::not_found(format!("there is no run {name} in {}", project.display()));
            if runs == 0 {
                return error
                    .hint("it holds no runs yet; give a path to a run folder or a database");
            }
            error.hint(format!(
                "there are {runs} runs, such as {}; `prose runs` lists them",
                some.join(", ")
            ))
        }
    }
}

/// The place of `handle--slug` (or a unique beginning of it) below a run.
fn inside(disk: &Disk, place: &str, nested: &str) -> Result<String, CliError> {
    let mut place = place.to_owned();
    for part in nested
        .split('/')
        .filter(|part| !part.is_empty() && *part != "imports")
    {
        let prefix = if place.is_empty() {
            "imports/".to_owned()
        } else {
            format!("{place}/imports/")
        };
        let mut names: Vec<&str> = disk
            .below(&prefix)
            .iter()
            .filter_map(|f| {
                f.path
                    .strip_prefix(&prefix)?
                    .split_once('/')
                    .map(|(name, _)| name)
            })
            .filter(|name| {
                *name == part
                    || name
                        .strip_prefix(part)
                        .is_some_and(|rest| rest.starts_with("--"))
            })
            .collect();
        names.dedup();
        place = match names.as_slice() {
            [one] => format!("{prefix}{one}"),
            [] => return Err(CliError::not_found(format!("{place} has no import {part}"))),
            many => {
                return Err(CliError::usage(format!(
                    "{part} may be {}",
                    many.join(" or ")
                )));
            }
        };
    }
    Ok(place)
}

fn by_path(path: &Path) -> Result<Located, CliError> {
    let full = path
        .canonicalize()
        .map_err(|e| CliError::new(Exit::Io, format!("{}: {e}", path.display())))?;
    let prose = full
        .ancestors()
        .skip(1)
        .find(|dir| dir.file_name().is_some_and(|n| n == ".prose"))
        .map(Path::to_owned);
    // A state.db stands for its folder: the program and the attachments lie beside it.
    let is_state_db = full.is_file() && full.file_name().is_some_and(|n| n == "state.db");
    if is_state_db && let Some(dir) = path.parent().filter(|_| full.parent().is_some()) {
        let dir = if dir.as_os_str().is_empty() {
            Path::new(".")
        } else {
            dir
        };
        let disk = disk(dir)?;
        return Ok(Located {
            disk: Rc::new(disk),
            base: dir.to_owned(),
            place: "state.db".to_owned(),
            prose,
        });
    }
    let disk = Rc::new(disk(path)?);
    if full.is_file() {
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
    let runs: Vec<&Found> = found
        .iter()
        .filter(|f| f.kind != FoundKind::Agents)
        .collect();
    match runs.as_slice() {
        [one] => Ok(Located {
            place: one.place.clone(),
            disk,
            base,
            prose,
        }),
        [] => Ok(Located {
            place: found.first().map(|f| f.place.clone()).unwrap_or_default(),
            disk,
            base,
            prose,
        }),
        many => match many.iter().find(|f| f.place.is_empty()) {
            Some(_) => Ok(Located {
                place: String::new(),
                disk,
                base,
                prose,
            }),
            None => Err(
                CliError::usage(format!("{} holds {} runs", path.display(), many.len()))
                    .hint(format!(
                        "name one, such as {}",
                        path.join(&many[0].place).display()
                    ))
                    .hint(format!("`prose runs {}` lists them", path.display())),
            ),
        },
    }
}

/// The nearest `.prose` folder.
pub(crate) fn project() -> Result<PathBuf, CliError> {
    let here = std::env::current_dir()?;
    let home = home();
    prose_dir(&here, home.as_deref()).ok_or_else(|| {
        let error = CliError::not_found(format!(
            "there is no .prose folder in {} or above it",
            here.display()
        ));
        let users = home.as_deref().and_then(home_prose);
        let error = match users.filter(|_| home.is_some_and(|home| here.starts_with(home))) {
            Some(users) => error.hint(format!(
                "{} keeps the user's agents: it is a project's in the home folder itself only",
                users.display()
            )),
            None => error,
        };
        error.hint("go to the project, or give a path to a run folder or a database")
    })
}

/// The user's home directory.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

fn disk(path: &Path) -> Result<Disk, CliError> {
    Disk::open(path).map_err(store)
}

fn store(error: StoreError) -> CliError {
    let exit = if error.is_not_found() {
        Exit::NotFound
    } else {
        Exit::Io
    };
    CliError::new(exit, error.to_string()).hint(error.next())
}

/// The agents around a run: the project's when it was given by its path, and the user's.
fn options(prose: Option<&Path>) -> Result<Options, CliError> {
    let agents_only = |path: &str| {
        path == "agents.db"
            || path.starts_with("agents.db-")
            || path == ".env"
            || path.starts_with("agents/")
    };
    let mut around = Vec::new();
    let mut add = |scope: AgentScope, dir: &Path| -> Result<(), CliError> {
        let source = Disk::open_where(dir, agents_only).map_err(store)?;
        around.push(Around {
            scope,
            source: Rc::new(source),
            prefix: String::new(),
        });
        Ok(())
    };
    if let Some(dir) = prose {
        add(AgentScope::Project, dir)?;
    }
    let user = home().as_deref().and_then(home_prose);
    // In the home directory itself, the project's folder is the user's; so is the one around a run that lies there.
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

fn is_same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The time, and how long reading may take.
fn bounded() -> Options {
    let begun = Instant::now();
    Options {
        now: Some(now()),
        stop: Some(std::sync::Arc::new(move || begun.elapsed() > DEADLINE)),
        ..Options::default()
    }
}

/// Whether a person means a path rather than an id.
fn looks_like_path(run: &str) -> bool {
    run.contains('/')
        || run.contains('\\')
        || run.starts_with('.')
        || run.ends_with(".db")
        || run.ends_with(".md")
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
