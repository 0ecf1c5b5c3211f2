//! Runs in PostgreSQL: `postgres:ID`, `postgres:latest`.

use std::fs;
use std::rc::Rc;
use std::time::Duration;

use prosescope_core::decode::dotenv;
use prosescope_core::session::{Filter, Options, Order, Session, list_page};
use prosescope_core::source::Source;
use prosescope_core::view::{RunList, RunSummary};
use prosescope_postgres::{Address, PostgresSource, Which, find_run};

use super::{LATEST, bounded, project};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::say;
use crate::print::note;

/// What stands before the id of a run in PostgreSQL.
const PREFIX: &str = "postgres:";

/// The variable that names the database.
const URL: &str = "OPENPROSE_POSTGRES_URL";

/// Where it is looked for, the first one counts (postgres.md, "Environment Variable Precedence").
const SOURCES: &str = "OPENPROSE_POSTGRES_URL in .prose/.env or the environment, or DATABASE_URL";

/// A run in PostgreSQL.
#[derive(Debug, Clone)]
pub(crate) struct OnServer {
    pub(crate) address: Address,
    pub(crate) id: String,
}

impl OnServer {
    /// The run that a name means, where the name is one of a run in PostgreSQL.
    pub(crate) fn named(run: &str) -> Result<Option<OnServer>, CliError> {
        let Some(name) = id_on_server(run) else {
            return Ok(None);
        };
        let address = address()?;
        let wanted = (name != LATEST).then_some(name);
        let hint = "`prose runs` lists the runs of this project; a run of the database is named by its whole id";
        match find_run(&address, wanted)? {
            Which::One(id) => Ok(Some(OnServer { address, id })),
            Which::None => {
                let what = wanted.map_or("no run".to_owned(), |name| format!("no run {name}"));
                Err(CliError::not_found(format!("there is {what} in {address}")).hint(hint))
            }
            Which::Several(ids) => {
                let message = format!(
                    "{name} is the beginning of several runs: {}",
                    ids.join(", ")
                );
                Err(CliError::not_found(message).hint("write more of the id"))
            }
        }
    }

    /// What commands call it.
    pub(crate) fn name(&self) -> String {
        name(&self.id)
    }

    /// Where its rows are read from.
    pub(crate) fn source(&self) -> Result<Rc<PostgresSource>, CliError> {
        Ok(Rc::new(PostgresSource::open(&self.address, &self.id)?))
    }

    /// Opens it.
    pub(crate) fn open(&self) -> Result<Session, CliError> {
        let options = Options {
            called: Some(self.name()),
            ..bounded()
        };
        Ok(Session::open(self.source()?, &self.id, &options)?)
    }
}

/// What commands call a run in PostgreSQL.
pub(crate) fn name(id: &str) -> String {
    format!("{PREFIX}{id}")
}

/// The id of a run in PostgreSQL, of what commands call it.
pub(crate) fn id_on_server(run: &str) -> Option<&str> {
    run.strip_prefix(PREFIX)
}

/// Refuses what is not done with runs in PostgreSQL.
pub(crate) fn only_on_disk(run: &str) -> Result<(), CliError> {
    match id_on_server(run) {
        None => Ok(()),
        Some(_) => Err(CliError::new(
            Exit::Usage,
            format!("{run} is in PostgreSQL: this command works on files"),
        )
        .hint("`prose show` and `prose trace` read it")),
    }
}

/// Runs of a database that a list shows.
const LISTED: u32 = 50;

/// How long a list waits for a server (errata P16).
const SOON: Duration = Duration::from_secs(1);

/// Adds the newest runs of the database to a list, where OpenProse's own variable names one: `DATABASE_URL` belongs to another
/// application as a rule (errata P16). A server that does not answer is a line, and no failure.
pub(super) fn add_to(list: &mut RunList, filter: &Filter, most: usize) {
    let Some(named) = own_url() else { return };
    let source = Address::parse(&named, &environment)
        .and_then(|address| PostgresSource::newest(&address.within(SOON), LISTED));
    let source: Rc<dyn Source> = match source {
        Ok(source) => Rc::new(source),
        Err(fault) => {
            return say(&note(&format!(
                "runs in PostgreSQL are not listed: {fault}"
            )));
        }
    };
    let found = list_page(&source, &bounded(), filter, Order::default(), most);
    if found.total == LISTED {
        let label = source.label();
        say(&note(&format!(
            "of the runs in {label} the {LISTED} newest are listed"
        )));
    }
    list.total += found.total;
    list.runs
        .extend(found.runs.into_iter().map(|run| RunSummary {
            name: name(&run.id),
            place: name(&run.id),
            ..run
        }));
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The URL that OpenProse's own variable names.
fn own_url() -> Option<String> {
    let settings = project()
        .ok()
        .and_then(|prose| fs::read_to_string(prose.join(".env")).ok());
    let named = settings.and_then(|text| dotenv::setting(&text, URL));
    named
        .filter(|url| !url.is_empty())
        .or_else(|| environment(URL))
}

/// The database that the project, or the environment, names.
pub(crate) fn address() -> Result<Address, CliError> {
    let named = own_url().or_else(|| environment("DATABASE_URL"));
    let named = named.ok_or_else(|| {
        CliError::not_found("no PostgreSQL database is named").hint(format!("set {SOURCES}"))
    })?;
    Ok(Address::parse(&named, &environment)?)
}
