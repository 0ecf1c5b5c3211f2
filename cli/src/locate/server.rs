//! Finds and opens runs in PostgreSQL, named `postgres:ID` or `postgres:latest`.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use crate::postgres::{
    Address, Keeper, PostgresSource, Which, all_runs, find_run, run_sizes, server_facts,
    waiting_runs,
};
use prosescope_core::model::AgentScope;
use prosescope_core::model::run_id::RunId;
use prosescope_core::model::schema::POSTGRES_PREFIX;
pub(crate) use prosescope_core::model::schema::postgres_name as name;
use prosescope_core::model::source::{Source, SourceError};
use prosescope_core::model::text::is_plain_path;
use prosescope_core::pages::session::{
    self, AgentFolder, Filter, ListOrder, OneAgent, OpenError, Options, Session, is_of_newest,
    list_page,
};
use prosescope_core::pages::upkeep::doctor::server::{RunSize, ServerFacts};
use prosescope_core::pages::view::{RunList, RunSummary};
use prosescope_core::record::Fault;

use prosescope_store::Disk;

use super::many::OneOfAll;
use super::settings::{PROJECT, URL, USER_URL, environment, named};
use super::{LATEST, bounded, project};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::say;
use crate::print::note;

/// The places that can set the address of the database, for hints (postgres.md, "Environment Variable Precedence").
const SOURCES: &str = "OPENPROSE_POSTGRES_URL or DATABASE_URL in the environment; or write OPENPROSE_POSTGRES_URL into .prose/.env, and trust that file with `prosescope postgres trust`";

/// A run in PostgreSQL.
#[derive(Debug, Clone)]
pub(crate) struct OnServer {
    pub(crate) address: Address,
    pub(crate) id: String,
}

impl OnServer {
    /// Finds the run that a name means; `None` if the name does not mean a run in PostgreSQL.
    pub(crate) fn named(run: &str) -> Result<Option<OnServer>, CliError> {
        let Some(name) = id_on_server(run) else {
            return Ok(None);
        };
        let address = address()?;
        let wanted = (name != LATEST).then_some(name);
        let hint = "`prosescope runs` lists the newest runs; give the id of a run, or a unique prefix of the id";
        match find_run(&address, wanted)? {
            Which::One(id) => Ok(Some(OnServer { address, id })),
            Which::None => {
                let what = wanted.map_or("no run".to_owned(), |name| format!("no run {name}"));
                Err(CliError::not_found(format!("there is {what} in {address}")).hint(hint))
            }
            Which::Several(ids) => {
                let message = format!("{name} is the prefix of several runs: {}", ids.join(", "));
                Err(CliError::not_found(message).hint("give a longer prefix of the id"))
            }
        }
    }

    /// Finds the run that a name means, for writing. A complete id is not looked up, because opening reports a
    /// missing run anyway.
    pub(crate) fn for_writing(run: &str) -> Result<Option<OnServer>, CliError> {
        match id_on_server(run).filter(|id| RunId::parse(id).is_well_formed()) {
            None => OnServer::named(run),
            Some(id) => Ok(Some(OnServer {
                address: address()?,
                id: id.to_owned(),
            })),
        }
    }

    /// Returns the name of the run as commands take it: `postgres:ID`.
    pub(crate) fn name(&self) -> String {
        name(&self.id)
    }

    /// Returns the result of [`OnServer::rows_and_files`] as a shared source.
    pub(crate) fn source(&self) -> Result<Rc<PostgresSource>, CliError> {
        Ok(Rc::new(self.rows_and_files()?))
    }

    /// Returns the source of the run's rows, with the attachments in the run's folder on this machine.
    pub(crate) fn rows_and_files(&self) -> Result<PostgresSource, Fault> {
        let source = PostgresSource::open(&self.address, &self.id)?;
        // An id in a database may be any text, so it may not be a valid name of a folder.
        let is_name = is_plain_path(&self.id) && !self.id.contains('/');
        let folder = project().ok().filter(|_| is_name);
        let folder = folder.map(|prose| prose.join("runs").join(&self.id));
        let files = folder.filter(|folder| folder.is_dir()).and_then(|folder| {
            Disk::open_where(&folder, |path| path.starts_with("attachments/")).ok()
        });
        Ok(match files {
            Some(files) => source.with_files_of(Rc::new(files)),
            None => source,
        })
    }

    /// Opens the run without agents of the project and the user.
    fn opened(&self) -> Result<Session, OpenError> {
        let source = self
            .rows_and_files()
            .map_err(|fault| SourceError::Database {
                path: self.name(),
                cause: fault.to_string(),
                next: fault.hint,
                failed: true,
            })?;
        let options = Options {
            called: Some(self.name()),
            ..bounded()
        };
        let place = PostgresSource::place(&self.id);
        Session::open(Rc::new(source), &place, &options)
    }

    /// Opens the run with the agents of the project and the user.
    pub(crate) fn open(&self) -> Result<Session, CliError> {
        let place = PostgresSource::place(&self.id);
        Ok(Session::open(self.around()?, &place, &self.options()?)?)
    }

    /// Returns everything known of one agent of the run.
    pub(crate) fn agent(&self, name: &str) -> Result<OneAgent, CliError> {
        let place = PostgresSource::place(&self.id);
        Ok(OneAgent::open(
            self.around()?,
            &place,
            &self.options()?,
            name,
        )?)
    }

    fn around(&self) -> Result<Rc<dyn Source>, CliError> {
        let keeper = keeper().unwrap_or_else(|error| {
            let what = "agents of this project are not read, only agents that all projects share";
            say(&note(&unasked(what, &error)));
            Keeper::Project(None)
        });
        Ok(Rc::new(self.rows_and_files()?.with_agents(keeper)?))
    }

    fn options(&self) -> Result<Options, CliError> {
        let (address, keeper) = users(&self.address)?;
        Ok(Options {
            called: Some(self.name()),
            around: vec![AgentFolder {
                scope: AgentScope::User,
                source: Rc::new(PostgresSource::agents(&address, keeper)?),
                prefix: String::new(),
            }],
            ..bounded()
        })
    }
}

/// Returns the project whose agents are used: the project of the working directory (errata P13).
///
/// # Errors
/// An error if only an untrusted file sets the name of the project, because the file may contain the name of another
/// project.
pub(crate) fn keeper() -> Result<Keeper, CliError> {
    if let Some(name) = named(PROJECT)? {
        return Ok(Keeper::Project(Some(name)));
    }
    Ok(Keeper::Project(folder_name()))
}

/// Returns the name of the project's folder, which is the default name of the project.
fn folder_name() -> Option<String> {
    let folder = project().ok()?.canonicalize().ok()?;
    let name = folder.parent()?.file_name()?.to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}

/// Returns the result of [`keeper`]. If the project has only the name of its folder, prints a note, because another
/// project may have the same name.
pub(crate) fn told_keeper() -> Result<Keeper, CliError> {
    let keeper = keeper()?;
    if let (Keeper::Project(Some(name)), None) = (&keeper, named(PROJECT)?) {
        say(&note(&format!(
            "the agents of this project are stored under the name of the project's folder, {name}. Another project in a folder of this name shares these agents. Next: set {PROJECT} to a unique name in the environment or in .prose/.env"
        )));
    }
    Ok(keeper)
}

/// Returns the setting that `postgres setup` proposes for a project without a name of its own, such as
/// `OPENPROSE_PROJECT=manual`.
pub(crate) fn proposed_project() -> Option<String> {
    match named(PROJECT) {
        Ok(None) => Some(format!("{PROJECT}={}", folder_name()?)),
        _ => None,
    }
}

/// Returns the database of the user's agents: the database in `OPENPROSE_POSTGRES_USER_URL` if set, else the database
/// of the project's agents (errata P4).
pub(crate) fn users(address: &Address) -> Result<(Address, Keeper), CliError> {
    match named(USER_URL)? {
        Some(url) => Ok((Address::parse(&url, &environment)?, Keeper::Project(None))),
        None => Ok((address.clone(), Keeper::User)),
    }
}

/// Returns whether psql, the client that OpenProse uses, is in PATH.
pub(crate) fn has_psql() -> bool {
    let name = format!("psql{}", std::env::consts::EXE_SUFFIX);
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|dir| dir.join(&name).is_file())
}

/// Returns the id in a name `postgres:ID`.
pub(crate) fn id_on_server(run: &str) -> Option<&str> {
    run.strip_prefix(POSTGRES_PREFIX)
}

/// Rejects a run in PostgreSQL, for commands that work on files only.
pub(crate) fn only_on_disk(run: &str) -> Result<(), CliError> {
    match id_on_server(run) {
        None => Ok(()),
        Some(_) => Err(CliError::new(
            Exit::Usage,
            format!("this command works only on files, and {run} is in PostgreSQL"),
        )
        .hint(format!("`prosescope convert {run} --to sqlite` copies the run into a file; `prosescope show` and `prosescope trace` read a run in PostgreSQL directly"))),
    }
}

/// Default number of runs of a database that a list shows.
const LISTED: usize = 50;

/// Time limit for a server, when its runs are only an addition to the runs in files (errata P16).
const SOON: Duration = Duration::from_secs(1);

/// Adds the runs of the database in `OPENPROSE_POSTGRES_URL` to a list. `DATABASE_URL` is not used, because it
/// usually belongs to another application (errata P16). An unreachable or untrusted server only adds a note.
pub(super) fn add_to(
    list: &mut RunList,
    filter: &Filter,
    order: ListOrder,
    most: usize,
    notes: &mut Vec<String>,
) {
    let shown = if most == usize::MAX { LISTED } else { most };
    let source = own_address().and_then(|address| {
        let address = address.map(|address| address.within(SOON));
        let source = address.map(|address| {
            if is_of_newest(filter, order) {
                PostgresSource::newest(&address, shown)
            } else {
                PostgresSource::all(&address)
            }
        });
        Ok(source.transpose()?)
    });
    let source: Rc<dyn Source> = match source {
        Ok(None) => return,
        Ok(Some(source)) => Rc::new(source),
        Err(error) => {
            return notes.push(unasked("runs in PostgreSQL are not listed", &error));
        }
    };
    let found = list_page(&source, &bounded(), filter, order, shown, None);
    if found.runs.len() == shown && most == usize::MAX {
        notes.push(format!(
            "only {shown} of the runs in {} are listed; --limit N lists more",
            source.label()
        ));
    }
    list.total += found.total;
    list.issues.extend(found.issues);
    list.runs
        .extend(found.runs.into_iter().map(|run| RunSummary {
            name: name(&run.id),
            place: name(&run.id),
            ..run
        }));
}

/// Opens the runs of the database that wait at a gate, as [`super::open_project`] does for runs in files.
pub(crate) fn waiting() -> impl Iterator<Item = OneOfAll> {
    opened(waiting_runs)
}

/// Opens every run of the database.
pub(super) fn each() -> impl Iterator<Item = OneOfAll> {
    opened(all_runs)
}

/// Opens the runs that `which` selects in the database in `OPENPROSE_POSTGRES_URL`.
fn opened(which: fn(&Address) -> Result<Vec<String>, Fault>) -> impl Iterator<Item = OneOfAll> {
    let found = own_address().and_then(|address| {
        let address = address.map(|address| {
            let ids = which(&address.clone().within(SOON))?;
            Ok::<_, Fault>((address, ids))
        });
        Ok(address.transpose()?)
    });
    let (mut address, mut ids, mut failed) = (None, None, None);
    match found {
        Ok(found) => (address, ids) = found.unzip(),
        // The user has not trusted the address, so the server is not contacted.
        Err(error) if error.rule.is_some() => {
            say(&note(&unasked("runs in PostgreSQL were not read", &error)));
        }
        // An unreadable database is an error: it may contain runs.
        Err(error) => {
            let error = SourceError::Database {
                path: "PostgreSQL".to_owned(),
                failed: error.exit == Exit::Io,
                next: error
                    .hints
                    .into_iter()
                    .next()
                    .filter(|next| !next.is_empty())
                    .unwrap_or_else(|| {
                        "check that the server runs, then repeat the command".to_owned()
                    }),
                cause: error.message,
            };
            failed = Some(("PostgreSQL".to_owned(), String::new(), Err(error.into())));
        }
    }
    let ids = ids.into_iter().flatten();
    let runs = ids.filter_map(move |id| {
        let found = OnServer {
            address: address.clone()?,
            id,
        };
        Some((found.name(), found.name(), found.opened()))
    });
    runs.chain(failed)
}

/// Returns the note about a server that was unreachable or untrusted, and what to do.
fn unasked(what: &str, error: &CliError) -> String {
    match (error.rule, error.hints.first()) {
        (Some(_), Some(next)) => format!("{what}: {error}. Next: {next}"),
        _ => format!("{what}: {error}"),
    }
}

/// Returns facts about the server in `OPENPROSE_POSTGRES_URL`, within the time limit [`SOON`]; `None` if the variable
/// is not set.
pub(crate) fn facts() -> Option<ServerFacts> {
    match own_address() {
        Ok(address) => Some(server_facts(&address?.within(SOON))),
        Err(error) => Some(ServerFacts {
            error: Some(error.to_string()),
            next: error
                .hints
                .into_iter()
                .next()
                .filter(|_| error.rule.is_some()),
            ..ServerFacts::default()
        }),
    }
}

/// Returns the runs of the database of the project, with their sizes.
pub(crate) fn all() -> Result<(Address, Vec<(RunSummary, RunSize)>), CliError> {
    let address = address()?;
    let (_, _, sizes) = run_sizes(&address, u32::MAX)?;
    let mut sizes: BTreeMap<String, RunSize> = sizes
        .into_iter()
        .map(|size| (size.run.clone(), size))
        .collect();
    let source: Rc<dyn Source> = Rc::new(PostgresSource::all(&address)?);
    let listed = session::list(&source, &bounded());
    let runs = listed.runs.into_iter().map(|run| {
        let size = sizes.remove(&run.id).unwrap_or_default();
        (run, size)
    });
    Ok((address, runs.collect()))
}

/// Returns whether `OPENPROSE_POSTGRES_URL` is set. Does not contact the server.
pub(crate) fn is_named() -> bool {
    !matches!(named(URL), Ok(None))
}

/// Returns the database in `OPENPROSE_POSTGRES_URL`.
fn own_address() -> Result<Option<Address>, CliError> {
    let address = named(URL)?.map(|url| Address::parse(&url, &environment));
    Ok(address.transpose()?)
}

/// Returns the database of the project or of the environment.
pub(crate) fn address() -> Result<Address, CliError> {
    if !cfg!(feature = "postgres") {
        // A build without PostgreSQL fails here, so that the user is not told to set an address first.
        Address::parse("", &environment)?;
    }
    // An untrusted file is an error, so that `DATABASE_URL` of another application is not used instead.
    let named = named(URL)?.or_else(|| environment("DATABASE_URL"));
    let named = named.ok_or_else(|| {
        CliError::not_found("no PostgreSQL database is set").hint(format!("set {SOURCES}"))
    })?;
    Ok(Address::parse(&named, &environment)?)
}
