use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::{GateTimedOut, GateView, QuestionView};
use prosescope_core::record::ExpireGates;

use super::{duration, ended, millis, unread};
use crate::args::gates::{GatesArgs, GatesCommand};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print, record};

pub(super) fn run(args: &GatesArgs, out: &Out) -> Result<Exit, CliError> {
    if let Some(GatesCommand::Expire { run, overrides, by }) = &args.command {
        let command = ExpireGates {
            overrides: overrides.then(|| by.clone()),
        };
        return expire(run.given()?.as_deref(), &command, out);
    }
    let run = args.run.given()?;
    let now = locate::now();
    let until = match &args.expiring {
        Some(text) => Some(within(text, now)?),
        None => None,
    };
    let mut questions = Vec::new();
    let (mut gates, exit): (Vec<GateView>, Result<Exit, CliError>) = match &run {
        Some(run) => {
            let session = locate::open(run)?;
            let exit = unread::require_parts(&session, unread::GATES).map(|()| ended(&session));
            questions = pages::questions(&session);
            (pages::gates(&session, Some(now)).gates, exit)
        }
        None => gates_of_all(now, &mut questions)?,
    };
    if args.pending || until.is_some() || (run.is_none() && !args.all) {
        gates.retain(|gate| gate.status == "pending");
    }
    if let Some(until) = until {
        let deadline = |gate: &GateView| gate.deadline.as_ref().and_then(|at| at.millis());
        gates.retain(|gate| deadline(gate).is_some_and(|at| (now..=until).contains(&at)));
    }
    if exit.is_err() && gates.is_empty() && questions.is_empty() {
        return exit;
    }
    out.show(&gates, || print::gates(&gates, &questions, out.width))?;
    exit
}

/// Returns the gates of all runs below the nearest `.prose`: pending gates first, and of these the nearest deadline
/// first. Also returns an error if the gates of a run could not be read.
///
/// Adds the questions of all runs to `questions`.
fn gates_of_all(
    now: i64,
    questions: &mut Vec<QuestionView>,
) -> Result<(Vec<GateView>, Result<Exit, CliError>), CliError> {
    let (mut gates, mut worst, mut skipped) = (Vec::new(), Exit::Done, 0);
    for (name, place, session) in locate::open_project()? {
        let read = session.map_err(CliError::from).and_then(|session| {
            let of_run = pages::gates(&session, Some(now)).gates.into_iter();
            gates.extend(of_run.map(|gate| GateView {
                place: Some(place.clone()),
                ..gate
            }));
            questions.extend(pages::questions(&session));
            unread::require_parts(&session, unread::GATES)
        });
        // The gates of other runs are listed even if one run is unreadable.
        if let Err(error) = read {
            unread::skipped(&name, &error);
            worst = worst.max(error.exit);
            skipped += 1;
        }
    }
    let deadline = |gate: &GateView| {
        let at = gate.deadline.as_ref().and_then(|at| at.millis());
        at.unwrap_or(i64::MAX)
    };
    gates.sort_by_key(|gate| (gate.status != "pending", deadline(gate)));
    let exit = match skipped {
        0 => Ok(Exit::Done),
        _ => Err(unread::some(worst, "whether another gate waits")),
    };
    Ok((gates, exit))
}

/// Parses a duration such as `2h30m`. Returns the time this long after `now`, in milliseconds since 1970 UTC.
fn within(text: &str, now: i64) -> Result<i64, CliError> {
    Ok(now.saturating_add(millis(&duration("--expiring", text)?)))
}

fn expire(run: Option<&str>, command: &ExpireGates, out: &Out) -> Result<Exit, CliError> {
    let mut exit = Exit::Done;
    let mut done: Vec<GateTimedOut> = Vec::new();
    match run {
        Some(run) => done.extend(record::one(run, command)?),
        None if command.overrides.is_some() => {
            return Err(CliError::usage("--override needs a run")
                .hint("name the run whose gates you looked at"));
        }
        None => {
            for (run, read) in due()? {
                match read.and_then(|()| record::one(&run, command)) {
                    Ok(gates) => done.extend(gates),
                    // Time-outs of other runs are recorded even if one run cannot be written.
                    Err(error) => {
                        unread::skipped(&run, &error);
                        exit = exit.max(error.exit);
                    }
                }
            }
        }
    }
    out.show(&done, || print::expired(&done))?;
    Ok(exit)
}

/// A run with a gate that is past its deadline, or the error of an unreadable run.
type Due = (String, Result<(), CliError>);

/// Returns the runs with a gate that is past its deadline, and the unreadable runs. `gates expire` opens only these
/// runs for writing.
fn due() -> Result<Vec<Due>, CliError> {
    let now = Some(locate::recorded_now()?);
    let mut due = Vec::new();
    for (name, folder, session) in locate::open_waiting()? {
        let read = session.map_err(CliError::from).and_then(|session| {
            unread::require_parts(&session, unread::GATES)?;
            Ok(pages::gates(&session, now).gates)
        });
        match read {
            Ok(gates) if gates.iter().any(|gate| gate.overdue) => due.push((folder, Ok(()))),
            Ok(_) => {}
            Err(error) => due.push((name, Err(error))),
        }
    }
    Ok(due)
}
