use crate::postgres::{run_sizes, server_facts, set_up, setup_sql};
use prosescope_core::pages::upkeep::doctor::CheckResult;
use prosescope_core::pages::upkeep::doctor::server::{ServerSetUp, ServerStatus, checks};
use prosescope_core::record::render::text::escape;

use crate::args::server::{PostgresCommand, SetupArgs, TrustArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{self, Out};
use crate::{locate, print};

/// Maximum number of runs whose sizes `postgres status` lists.
const NEWEST: u32 = 20;

pub(super) fn run(command: &PostgresCommand, out: &Out) -> Result<Exit, CliError> {
    match command {
        PostgresCommand::Setup(args) => setup(args, out),
        PostgresCommand::Status => status(out),
        PostgresCommand::Trust(args) => trust(args, out),
    }
}

fn setup(args: &SetupArgs, out: &Out) -> Result<Exit, CliError> {
    let address = if args.apply {
        Some(locate::address()?)
    } else {
        locate::address().ok()
    };
    let database = address.as_ref().and_then(|address| address.database());
    let sql = setup_sql(&args.role, database, args.dedicated);
    if let Some(address) = address.as_ref().filter(|_| args.apply) {
        set_up(address, &args.role, args.dedicated)?;
        out::recorded();
    }
    let done = ServerSetUp {
        address: address.as_ref().map(ToString::to_string),
        sql,
        applied: args.apply,
        project: locate::proposed_project(),
    };
    out.show(&done, || match (&done.address, done.applied) {
        (Some(address), true) => {
            let mut said = format!(
                "{address} has the schema `openprose` and the role `{}`\nnext: set the password of this role with `\\password {}` in psql, then use this role in OPENPROSE_POSTGRES_URL\n",
                args.role, args.role
            );
            if let Some(setting) = &done.project {
                let setting = escape(setting, false);
                said.push_str(&format!(
                    "next: give this project a name that no other project of the database has, in .prose/.env or the environment: {setting}\n"
                ));
            }
            said
        }
        _ => done.sql.clone(),
    })
}

fn status(out: &Out) -> Result<Exit, CliError> {
    let address = locate::address()?;
    let facts = server_facts(&address);
    if facts.error.is_some() {
        // If the server cannot be reached, this call returns the same error as any other command.
        run_sizes(&address, 0)?;
    }
    let (runs, bytes, newest) = match facts.schema {
        Some(_) => run_sizes(&address, NEWEST)?,
        None => (0, 0, Vec::new()),
    };
    let status = ServerStatus {
        address: address.to_string(),
        checks: checks(&facts),
        runs,
        bytes,
        newest,
    };
    out.show(&status, || print::server(&status, out.width))?;
    let worst = status.checks.iter().map(|check| check.state).max();
    Ok(match worst {
        Some(CheckResult::Error) => Exit::Issues,
        _ => Exit::Done,
    })
}

fn trust(args: &TrustArgs, out: &Out) -> Result<Exit, CliError> {
    let done = if args.revoke {
        locate::distrust()?
    } else {
        locate::trust()?
    };
    out.show(&done, || {
        let mut said = if done.trusted {
            format!(
                "{} is trusted until the file changes. The file contains:\n",
                done.file
            )
        } else {
            format!("{} is not trusted\n", done.file)
        };
        for name in done.names.iter().filter(|_| done.trusted) {
            said.push_str(&format!("  {name}\n"));
        }
        escape(&said, true)
    })
}
