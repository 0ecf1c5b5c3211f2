//! Runs the commands of the command line. Each command has a file.

mod agent;
mod agent_delete;
mod agents;
mod audit;
mod begin;
mod bindings;
mod brief;
mod check;
mod check_fix;
mod clean;
mod completions;
mod convert;
mod cost;
mod decide;
mod diff;
mod doctor;
mod end;
mod events;
mod existing_copy;
mod finish;
mod for_model;
mod gate;
mod gates;
mod get;
mod init;
mod man;
mod markdown;
mod next;
#[cfg(feature = "postgres")]
mod postgres;
mod program;
mod put;
mod query;
mod resume;
mod runs;
mod search;
#[cfg(feature = "serve")]
mod serve;
mod server_copy;
mod share;
mod show;
mod skill;
mod state;
mod topics;
mod trace;
mod unread;
mod view;
mod windows;
mod workflow;

pub(crate) use completions::answer as answer_shell;
pub(crate) use topics::print as print_topic;

use std::path::Path;

use prosescope_core::model::time::Stamp;
use prosescope_core::model::timeout::Timeout;
use prosescope_core::pages::session::Session;
use prosescope_core::pages::view::RunPart;
use prosescope_core::record::Fault;
use prosescope_core::trace::NodeId;

use crate::args::Command;
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate;
use crate::near;
use crate::out::Out;

pub(crate) fn run(command: Command, out: &Out) -> Result<Exit, CliError> {
    locate::set_now()?;
    match command {
        Command::Runs(args) => runs::run(&args, out),
        Command::Show(args) => show::run(&args, out),
        Command::Trace(args) => trace::run(&args, out),
        Command::Program(args) => program::run(&args, out),
        Command::State(args) => state::run(&args, out),
        Command::Bindings(args) => bindings::run(&args, out),
        Command::Get(args) => get::run(&args, out),
        Command::Search(args) => search::run(&args, out),
        Command::Diff(args) => diff::run(&args, out),
        Command::Cost(args) => cost::run(&args, out),
        Command::Query(args) => query::run(&args, out),
        Command::Agents(args) => agents::run(&args, out),
        Command::Gates(args) => gates::run(&args, out),
        Command::Gate(command) => gate::run(command, out),
        Command::Approve(args) => decide::approve(&args, out),
        Command::Reject(args) => decide::reject(&args, out),
        Command::Audit(args) => audit::run(&args, out),
        Command::Resume(args) => resume::run(&args, out),
        Command::Check(args) => check::run(&args, out),
        Command::Init(args) => init::run(&args, out),
        Command::Begin(args) => begin::run(args, out),
        Command::End(args) => end::end(args, out),
        Command::Round(args) => end::round(&args, out),
        Command::Fail(args) => end::fail(args, out),
        Command::Retry(args) => end::retry(&args, out),
        Command::Skip(args) => end::skip(args, out),
        Command::Agent(command) => agent::run(command, out),
        Command::Brief(args) => brief::run(&args, out),
        Command::Put(args) => put::run(&args, out),
        Command::Finish(args) => finish::run(&args, out),
        Command::Clean(args) => clean::run(&args, out),
        Command::Convert(args) => convert::run(&args, out),
        Command::Share(args) => share::run(&args, out),
        #[cfg(feature = "postgres")]
        Command::Postgres(command) => postgres::run(&command, out),
        #[cfg(not(feature = "postgres"))]
        Command::Postgres(_) => Err(crate::postgres::missing().into()),
        Command::Doctor => doctor::run(out),
        Command::Workflow(command) => workflow::run(command, out),
        Command::View(args) => view::run(&args, out),
        Command::Next(args) => next::run(&args, out),
        Command::Skill(args) => skill::run(&args, out),
        Command::Completions(args) => completions::run(&args, out),
        Command::Man(args) => man::run(&args),
    }
}

/// Adds the run's folder to a fault of copying, because the fault itself contains at most the name of a table.
fn of_run(dir: &Path, fault: Fault) -> CliError {
    let message = format!("{} was not copied: {}", dir.display(), fault.message);
    Fault { message, ..fault }.into()
}

/// Returns the exit code of a command that read a run: code 1 if the run has issues of severity error, else 0.
fn ended(session: &Session) -> Exit {
    if session.issue_counts().error > 0 {
        Exit::Issues
    } else {
        Exit::Done
    }
}

/// Returns the row of the trace that the command line names: by the number of an execution (`43`), or by a place
/// (`~7`), as `trace` prints them. If the row is missing and one of `parts` was not read completely, returns the error
/// about that part, because the unread part may contain the row.
fn node_named(
    session: &Session,
    option: &str,
    name: &str,
    parts: &[RunPart],
) -> Result<NodeId, CliError> {
    let place = name.strip_prefix('~');
    let number = place.unwrap_or_else(|| name.trim_start_matches('#'));
    let number: i64 = number.parse().map_err(|_| {
        let message = format!("{option} {name} is neither the number of an execution (43) nor a place in the trace (~7)");
        CliError::usage(message).hint("`prosescope trace RUN` lists the numbers and places")
    })?;
    let found = match place {
        Some(_) => u32::try_from(number).ok().map(NodeId::new),
        None => session.node_numbered(number),
    };
    if let Some(node) = found.filter(|node| session.trace().node(*node).is_some()) {
        return Ok(node);
    }
    unread::require_parts(session, parts)?;
    Err(match place {
        Some(_) => CliError::not_found(format!(
            "place {name} does not exist in the trace of run {}",
            session.run().id
        ))
        .hint("`prosescope trace RUN` lists the rows with their places"),
        None => {
            let at = u32::try_from(number).ok().map(NodeId::new);
            let row = at.and_then(|at| session.trace().node(at));
            let error = no_execution(session, number);
            match row.filter(|_| !session.trace().by_row.is_empty()) {
                Some(_) => error.hint(format!(
                    "for the row at place {number} of the trace, write ~{number}"
                )),
                None => error,
            }
        }
    })
}

/// Returns the error for an unknown execution.
fn no_execution(session: &Session, id: i64) -> CliError {
    let error = CliError::not_found(format!(
        "there is no execution {id} in run {}",
        session.run().id
    ));
    match session.trace().nodes.len().checked_sub(1) {
        Some(last) if session.trace().by_row.is_empty() => error.hint(format!(
            "this run records no numbers of executions. Give a place from ~0 to ~{last}; `prosescope trace RUN` lists the places"
        )),
        _ => error.hint("`prosescope trace RUN` lists the executions with their numbers"),
    }
}

/// Returns the error for an unknown gate.
fn no_gate(session: &Session, gate: &str) -> CliError {
    let run = session.run();
    let gates = run.gates.iter().map(|gate| &*gate.id);
    CliError::not_found(format!("run {} has no gate {gate}", run.id))
        .hint(near::hint(gate, gates, "gates"))
        .hint("`prosescope gates RUN --all` lists the gates of the run")
}

/// Parses `--since`: a time, or a duration before now. Returns milliseconds since 1970 UTC.
fn since(text: &str) -> Result<i64, CliError> {
    moment("--since", text)
}

/// Parses a time, or a duration before now. Returns milliseconds since 1970 UTC.
fn moment(flag: &str, text: &str) -> Result<i64, CliError> {
    if let Some(at) = Stamp::parse(text).millis() {
        return Ok(at);
    }
    let ago = Timeout::parse(text).map_err(|error| {
        CliError::usage(format!(
            "{flag} {text} is neither a time (2026-01-25, 2026-01-25T14:00:00Z) nor a duration: {error}"
        ))
    })?;
    Ok(locate::now().saturating_sub(millis(&ago)))
}

/// Parses the value of an option that is a duration, such as `2h30m`.
fn duration(flag: &str, text: &str) -> Result<Timeout, CliError> {
    Timeout::parse(text).map_err(|error| CliError::usage(format!("{flag} {text}: {error}")))
}

fn millis(duration: &Timeout) -> i64 {
    let seconds = i64::try_from(duration.seconds()).unwrap_or(i64::MAX);
    seconds.saturating_mul(1000)
}
