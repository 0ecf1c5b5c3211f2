//! One file a command.

mod agent;
mod agent_delete;
mod agents;
mod audit;
mod bindings;
mod brief;
mod check;
mod check_fix;
mod clean;
mod completions;
mod convert;
mod decide;
mod doctor;
mod exec;
mod finish;
mod gate;
mod gates;
mod get;
mod import;
mod init;
mod loops;
mod narrate;
mod parallel;
mod put;
mod resume;
mod runs;
mod show;
mod state;
mod trace;
mod view;

use prosescope_core::session::Session;
use prosescope_core::time::Stamp;
use prosescope_core::timeout::Timeout;
use prosescope_core::view::{Part, Unread};

use crate::args::Command;
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate;
use crate::near;
use crate::out::{Out, say};
use crate::print;

pub(crate) fn run(command: Command, out: &Out) -> Result<Exit, CliError> {
    match command {
        Command::Runs(args) => runs::run(&args, out),
        Command::Show(args) => show::run(&args, out),
        Command::Trace(args) => trace::run(&args, out),
        Command::State(args) => state::run(&args, out),
        Command::Bindings(args) => bindings::run(&args, out),
        Command::Get(args) => get::run(&args, out),
        Command::Agents(args) => agents::run(&args, out),
        Command::Gates(args) => gates::run(&args, out),
        Command::Gate(command) => gate::run(command, out),
        Command::Approve(args) => decide::approve(&args, out),
        Command::Reject(args) => decide::reject(&args, out),
        Command::Audit(args) => audit::run(&args, out),
        Command::Resume(args) => resume::run(&args, out),
        Command::Check(args) => check::run(&args, out),
        Command::Init(args) => init::run(&args, out),
        Command::Exec(command) => exec::run(command, out),
        Command::Parallel(command) => parallel::run(command, out),
        Command::Loop(command) => loops::run(command, out),
        Command::Agent(command) => agent::run(command, out),
        Command::Import(command) => import::run(command, out),
        Command::Narrate(args) => narrate::run(&args, out),
        Command::Brief(args) => brief::run(&args, out),
        Command::Put(args) => put::run(&args, out),
        Command::Finish(args) => finish::run(&args, out),
        Command::Clean(args) => clean::run(&args, out),
        Command::Convert(args) => convert::run(&args, out),
        Command::Doctor(args) => doctor::run(&args, out),
        Command::View(args) => view::run(&args, out),
        Command::Completions(args) => completions::run(&args, out),
    }
}

/// How a command that read a run ends. What could not be read is said, and worth a code of its own; so are issues of
/// severity error.
fn ended(session: &Session) -> Exit {
    let unread = session.unread();
    let mut own = unread.iter().filter(|unread| !unread.around).peekable();
    if own.peek().is_some() {
        for unread in own {
            say(&print::unread(unread));
        }
        return Exit::Unreadable;
    }
    if session.issue_counts().error > 0 {
        Exit::Issues
    } else {
        Exit::Done
    }
}

/// Refuses to say that a list is empty where the part of the run that it shows could not be read to its end.
fn empty_only_if_read(session: &Session, part: Part, is_empty: bool) -> Result<(), CliError> {
    match session.unread_part(part).filter(|_| is_empty) {
        Some(unread) => Err(not_read(session, &unread)),
        None => Ok(()),
    }
}

fn not_read(session: &Session, unread: &Unread) -> CliError {
    let message = format!(
        "cannot read {} of run {}: {}",
        unread.what,
        session.run().id,
        unread.why
    );
    CliError::new(Exit::Unreadable, message).hint(unread.next.clone())
}

/// Nothing was found in many runs, some of which could not be read.
fn some_not_read(what: &str) -> CliError {
    let message = format!("cannot tell {what}: not every run could be read");
    let error = CliError::new(Exit::Unreadable, message);
    error.hint("`prose check --all` lists what could not be read, and why")
}

/// An execution was named by an id that nothing has.
fn no_execution(session: &Session, id: i64) -> CliError {
    if let Some(unread) = session.unread_part(Part::Statements) {
        return not_read(session, &unread);
    }
    CliError::not_found(format!(
        "there is no execution {id} in run {}",
        session.run().id
    ))
    .hint("`prose trace RUN` lists the executions with their ids")
}

/// A gate was named that the run does not have.
fn no_gate(session: &Session, gate: &str) -> CliError {
    if let Some(unread) = session.unread_part(Part::Gates) {
        return not_read(session, &unread);
    }
    let run = session.run();
    let gates = run.gates.iter().map(|gate| &*gate.id);
    CliError::not_found(format!("run {} has no gate {gate}", run.id))
        .hint(near::hint(gate, gates, "gates"))
        .hint("`prose gates RUN --all` lists its gates")
}

/// A time, or how long ago: milliseconds since 1970 UTC.
fn since(text: &str) -> Result<i64, CliError> {
    if let Some(at) = Stamp::parse(text).millis() {
        return Ok(at);
    }
    let ago = Timeout::parse(text).map_err(|error| {
        CliError::usage(format!(
            "--since {text} is neither a time (2026-01-25, 2026-01-25T14:00:00Z) nor a duration: {error}"
        ))
    })?;
    Ok(locate::now().saturating_sub(millis(&ago)))
}

fn millis(duration: &Timeout) -> i64 {
    let seconds = i64::try_from(duration.seconds()).unwrap_or(i64::MAX);
    seconds.saturating_mul(1000)
}
