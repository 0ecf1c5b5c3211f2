use std::path::PathBuf;

use crate::postgres::Address;
use prosescope_core::pages::session::Filter;
use prosescope_core::pages::upkeep::clean::{Request, RunsEntry, plan};
use prosescope_core::pages::view::RunsCleaned;
use prosescope_core::record::Fault;
use prosescope_store::{remove_leftover, remove_run, run_entries};

use super::{duration, millis};
use crate::args::upkeep::CleanArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{self, Out, say};
use crate::{locate, print};

pub(super) fn run(args: &CleanArgs, out: &Out) -> Result<Exit, CliError> {
    // A removal uses the system clock: `PROSE_NOW` must not make runs look old.
    let now = if args.yes {
        locate::recorded_now()?
    } else {
        locate::now()
    };
    let on_server = |run: &str| locate::id_on_server(run).is_some();
    let mut runs = args.runs.clone();
    let place = if args.postgres || runs.iter().any(|run| on_server(run)) {
        for run in runs.iter_mut().filter(|run| !on_server(run)) {
            *run = locate::server_name(run);
        }
        CleanedStore::of_server()?
    } else {
        CleanedStore::of_files()?
    };
    let entries = &place.entries;
    let request = Request {
        runs,
        filter: Filter {
            status: args.status.clone(),
            quiet_since: args
                .older_than
                .as_deref()
                .map(|text| before(text, now))
                .transpose()?,
            program: args.program.clone(),
            ..Filter::default()
        },
        force: args.force,
        now,
    };
    let mut plan = plan(&request, entries)?;
    let mut failed = Vec::new();
    if args.yes {
        for run in plan.remove.clone() {
            let entry = entries.iter().find(|entry| entry.name == run.run);
            match entry.map(|entry| place.remove(entry)) {
                // The run is removed, but some of its files may remain in the trash.
                Some(Ok(left)) => failed.extend(left.map(|fault| fault.to_string())),
                Some(Err(fault)) => {
                    failed.push(fault.to_string());
                    plan.stays(&run.run, &fault.to_string());
                }
                None => {}
            }
        }
        for leftover in plan.leftovers.clone() {
            if let Err(fault) = place.remove_leftover(&leftover.name) {
                failed.push(fault.to_string());
                plan.leftover_stays(&leftover.name);
            }
        }
    }
    if args.yes {
        out::recorded();
    }
    let cleaned = RunsCleaned {
        plan,
        done: args.yes && failed.is_empty(),
        failed,
    };
    if out.json {
        out.json(&cleaned)?;
    } else {
        out.text(&print::cleaned(&cleaned.plan, args.yes, out.width))?;
        for line in &cleaned.failed {
            say(&prosescope_core::record::render::text::escape(line, false));
        }
        if !cleaned.failed.is_empty() {
            say("  → remove the cause, then repeat the command to remove the remaining files");
        }
    }
    let refused = args.yes && cleaned.plan.keep.iter().any(|run| run.named);
    Ok(match (cleaned.failed.is_empty(), refused) {
        (false, _) => Exit::Io,
        (true, true) => Exit::Refused,
        (true, false) => Exit::Done,
    })
}

/// The store whose runs are removed.
struct CleanedStore {
    store: CleanStore,
    entries: Vec<RunsEntry>,
}

enum CleanStore {
    Files(PathBuf),
    Server(Box<Address>),
}

impl CleanedStore {
    fn of_files() -> Result<CleanedStore, CliError> {
        let prose = locate::project()?;
        let mut entries = run_entries(&prose)?;
        let mut runs = locate::runs_of(&prose)?.runs;
        for entry in &mut entries {
            let place = format!("runs/{}", entry.name);
            let at = runs.iter().position(|run| run.place == place);
            entry.run = at.map(|at| runs.swap_remove(at));
        }
        Ok(CleanedStore {
            store: CleanStore::Files(prose),
            entries,
        })
    }

    fn of_server() -> Result<CleanedStore, CliError> {
        let (address, runs) = locate::all_on_server()?;
        let entries = runs.into_iter().map(|(run, size)| RunsEntry {
            name: locate::server_name(&run.id),
            bytes: size.bytes,
            run: Some(run),
            ..RunsEntry::default()
        });
        Ok(CleanedStore {
            store: CleanStore::Server(Box::new(address)),
            entries: entries.collect(),
        })
    }

    /// Removes a run. Returns a fault if files of the run remain in the trash; the run is removed all the same.
    fn remove(&self, entry: &RunsEntry) -> Result<Option<Fault>, CliError> {
        match &self.store {
            CleanStore::Files(prose) => Ok(remove_run(prose, entry)?),
            CleanStore::Server(address) => {
                let id = locate::id_on_server(&entry.name).unwrap_or(&entry.name);
                crate::postgres::remove_run(address, id)?;
                Ok(None)
            }
        }
    }

    fn remove_leftover(&self, name: &str) -> Result<(), CliError> {
        match &self.store {
            CleanStore::Files(prose) => Ok(remove_leftover(prose, name)?),
            CleanStore::Server(_) => Ok(()),
        }
    }
}

/// Parses a duration such as `30d`. Returns the time this long before `now`, in milliseconds since 1970 UTC.
fn before(text: &str, now: i64) -> Result<i64, CliError> {
    Ok(now.saturating_sub(millis(&duration("--older-than", text)?)))
}
