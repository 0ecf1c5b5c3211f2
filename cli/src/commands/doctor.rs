use std::fs;
use std::path::Path;

use prosescope_core::pages::upkeep::doctor::{CheckResult, DoctorFacts, StoreFacts, judge};
use prosescope_store::{database_facts, git_facts, sqlite_library, tool};

use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

pub(super) fn run(out: &Out) -> Result<Exit, CliError> {
    let here = std::env::current_dir()?;
    let prose = prosescope_store::prose_dir(&here, locate::home().as_deref());
    let prose = prose.map_err(locate::store)?;
    let mut facts = DoctorFacts {
        sqlite3: tool("sqlite3"),
        psql: tool("psql"),
        library: sqlite_library().to_owned(),
        ..DoctorFacts::default()
    };
    if let Some(prose) = &prose {
        facts.git = git_facts(prose);
        facts.stores = stores(prose)?;
    }
    facts.server = locate::server_facts();
    facts.postgres_url = locate::is_named();
    let checkup = judge(&facts);
    out.show(&checkup, || print::checks(&checkup.checks, out.width))?;
    let worst = checkup.checks.iter().map(|check| check.state).max();
    Ok(match worst {
        Some(CheckResult::Error) => Exit::Issues,
        _ => Exit::Done,
    })
}

/// Returns the facts about the stores of a `.prose` folder.
fn stores(prose: &Path) -> Result<Vec<StoreFacts>, CliError> {
    let mut stores = Vec::new();
    let agents = prose.join("agents.db");
    if fs::symlink_metadata(&agents).is_ok_and(|meta| meta.is_file()) {
        let mut store = StoreFacts {
            name: "agents.db".to_owned(),
            database: database_facts(&agents),
            ..StoreFacts::default()
        };
        match locate::open(&agents.to_string_lossy()) {
            Ok(session) => store.issues.extend(session.issues().cloned()),
            Err(error) => store.error = Some(error.message),
        }
        stores.push(store);
    }
    for (name, place, opened) in locate::open_runs(prose)? {
        let Some(folder) = place.strip_prefix("runs/") else {
            continue;
        };
        let dir = prose.join("runs").join(folder);
        let mut store = StoreFacts {
            name,
            database: database_facts(&dir.join("state.db")),
            ..StoreFacts::default()
        };
        match opened {
            Ok(session) => {
                store.ended = matches!(
                    session.trace().verdict.status.as_str(),
                    "completed" | "failed" | "interrupted"
                );
                store.issues.extend(session.issues().cloned());
            }
            Err(error) => store.error = Some(error.to_string()),
        }
        stores.push(store);
    }
    Ok(stores)
}
