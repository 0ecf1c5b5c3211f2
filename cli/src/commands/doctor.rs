use std::fs;
use std::path::Path;

use prosescope_core::program::scan;
use prosescope_core::session::Session;
use prosescope_core::upkeep::clean::Entry;
use prosescope_core::upkeep::doctor::{Facts, ProgramFacts, State, StoreFacts, judge};
use prosescope_store::{
    database_facts, file_system, git_facts, run_entries, second_names, sqlite_library, tool,
};

use crate::args::upkeep::DoctorArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{input, locate, print};

pub(super) fn run(args: &DoctorArgs, out: &Out) -> Result<Exit, CliError> {
    let here = std::env::current_dir()?;
    let prose = prosescope_store::prose_dir(&here, locate::home().as_deref());
    let prose = prose.map_err(locate::store)?;
    let place = prose.as_deref().unwrap_or(&here);
    let mut facts = Facts {
        sqlite3: tool("sqlite3"),
        psql: tool("psql"),
        second_names: second_names(),
        library: sqlite_library().to_owned(),
        file_system: file_system(place),
        ..Facts::default()
    };
    let mut latest = None;
    if let Some(prose) = &prose {
        facts.git = git_facts(prose);
        latest = stores(prose, &mut facts)?;
    }
    facts.server = locate::server_facts();
    facts.postgres_url = locate::is_named();
    facts.program = match &args.program {
        Some(path) => Some(program(path)?),
        None => latest,
    };
    let checkup = judge(&facts);
    out.show(&checkup, || print::checkup(&checkup, out.width))?;
    let worst = checkup.checks.iter().map(|check| check.state).max();
    Ok(match worst {
        Some(State::Error) => Exit::Issues,
        _ => Exit::Done,
    })
}

/// Adds the stores of a `.prose` folder to the facts. Returns the program of the latest run.
fn stores(prose: &Path, facts: &mut Facts) -> Result<Option<ProgramFacts>, CliError> {
    let agents = prose.join("agents.db");
    if fs::symlink_metadata(&agents).is_ok_and(|meta| meta.is_file()) {
        let mut store = StoreFacts {
            name: "agents.db".to_owned(),
            file_system: facts.file_system.clone(),
            bytes: fs::metadata(&agents)
                .map(|meta| meta.len())
                .unwrap_or_default(),
            database: database_facts(&agents),
            ..StoreFacts::default()
        };
        match locate::open(&agents.to_string_lossy()) {
            Ok(session) => store.issues.extend(session.issues().cloned()),
            Err(error) => store.error = Some(error.message),
        }
        facts.stores.push(store);
    }
    let latest = locate::latest_of(prose)?;
    let mut program = None;
    let entries = run_entries(prose)?;
    let all = locate::open_runs(prose)?;
    for (name, place, opened) in all {
        let Some(folder) = place.strip_prefix("runs/") else {
            continue;
        };
        let dir = prose.join("runs").join(folder);
        let bytes = entries.iter().find(|entry: &&Entry| entry.name == folder);
        let mut store = StoreFacts {
            name,
            file_system: file_system(&dir),
            bytes: bytes.map(|entry| entry.bytes).unwrap_or_default(),
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
                if latest.as_ref() == Some(&place) {
                    program = of_run(&session);
                }
            }
            Err(error) => store.error = Some(error.to_string()),
        }
        facts.stores.push(store);
    }
    Ok(program)
}

fn of_run(session: &Session) -> Option<ProgramFacts> {
    let name = session
        .run()
        .program
        .path
        .as_deref()
        .unwrap_or("the latest run's program");
    session
        .listing()
        .map(|listing| ProgramFacts::of(name, listing))
}

fn program(path: &Path) -> Result<ProgramFacts, CliError> {
    let source = fs::read(path).map_err(|cause| match cause.kind() {
        std::io::ErrorKind::NotFound => {
            CliError::not_found(format!("there is no program {}", path.display()))
        }
        _ => input::unread(&path.display().to_string(), &cause),
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(ProgramFacts::of(
        &name,
        &scan(&String::from_utf8_lossy(&source)),
    ))
}
