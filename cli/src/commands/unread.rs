//! Parts of a run that could not be read: an answer that needs one is an error, never an empty answer.

use prosescope_core::render::text::escape;
use prosescope_core::session::{FoundValue, OneAgent, Session};
use prosescope_core::view::{Part, Unread};

use super::ended;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::say;

/// What an answer about gates needs: how a gate came to its status is in the log.
pub(super) const GATES: &[Part] = &[Part::Gates, Part::Audit];

/// Refuses an answer that is true only where all of these parts were read to their end.
pub(super) fn whole(session: &Session, parts: &[Part]) -> Result<(), CliError> {
    refuse(session, |unread| {
        parts.iter().any(|&part| unread.concerns(part))
    })
}

/// Refuses to say of the audit log as a whole what is known of some of its lines.
pub(super) fn log(session: &Session) -> Result<(), CliError> {
    whole(session, GATES)?;
    some_of(
        &session.run().id,
        session.unread_log().into_iter().collect(),
        |_| true,
    )
}

/// Refuses an answer about an agent of which a store was not read to its end.
pub(super) fn of_agent(agent: &OneAgent) -> Result<(), CliError> {
    some_of(agent.run(), agent.unread(), |unread| {
        unread.concerns(Part::Agents)
    })
}

/// Refuses a value that could not be read itself.
pub(super) fn of_value(value: &FoundValue) -> Result<(), CliError> {
    some_of(value.run(), value.lost().into_iter().collect(), |_| true)
}

/// Refuses to take a binding for missing where not all of them were read.
pub(super) fn beside_value(value: &FoundValue) -> Result<(), CliError> {
    some_of(value.run(), value.unread(), |unread| {
        unread.concerns(Part::Bindings)
    })
}

/// Refuses to end well where a part of the run was not read, though what was read is shown; what is encrypted is shown
/// as that.
pub(super) fn shown(session: &Session) -> Result<(), CliError> {
    refuse(session, |unread| {
        !unread.around && !unread.sealed && !unread.parts.is_empty()
    })
}

/// Refuses an answer that is true only where every part of the run was read; agents around the run are none.
pub(super) fn own(session: &Session) -> Result<(), CliError> {
    refuse(session, |unread| !unread.around && !unread.parts.is_empty())
}

/// Refuses to copy a run of which the system did not give a part: a copy would be without it.
pub(super) fn given(session: &Session) -> Result<(), CliError> {
    refuse(session, |unread| unread.failed && !unread.around)
}

/// Prints what was read of a part, and then says what was not; what is `empty` is not printed then.
pub(super) fn list(
    session: &Session,
    part: Part,
    empty: bool,
    print: impl FnOnce() -> Result<Exit, CliError>,
) -> Result<Exit, CliError> {
    // The view says itself what is encrypted.
    let whole = || refuse(session, |unread| !unread.sealed && unread.concerns(part));
    if whole().is_ok() || !empty {
        print()?;
    }
    // Asked again: of rows that are made while they are printed, a value may be lost then.
    whole().map(|()| ended(session))
}

/// Says that one of many runs is left out of an answer.
pub(super) fn skipped(name: &str, error: &CliError) {
    let next: String = error
        .hints
        .iter()
        .map(|hint| format!(" → {hint}"))
        .collect();
    say(&escape(&format!("skipped: {name}: {error}{next}"), false));
}

/// Some of many runs could not be read: what cannot be told for that reason.
pub(super) fn some(exit: Exit, what: &str) -> CliError {
    let message = format!("cannot tell {what}: not every run could be read");
    CliError::new(exit, message)
        .hint("`prosescope check --all` lists what could not be read, and why")
}

fn refuse(session: &Session, counts: impl Fn(&Unread) -> bool) -> Result<(), CliError> {
    some_of(&session.run().id, session.unread(), counts)
}

/// Refuses an answer about a run where something of this that counts was not read.
fn some_of(
    run: &str,
    unread: Vec<Unread>,
    counts: impl Fn(&Unread) -> bool,
) -> Result<(), CliError> {
    let unread: Vec<Unread> = unread.into_iter().filter(counts).collect();
    let Some(first) = unread.first() else {
        return Ok(());
    };
    // A read that failed may succeed next time; damage stays.
    let exit = match unread.iter().any(|unread| unread.failed) {
        true => Exit::Io,
        false => Exit::Unreadable,
    };
    let more = match unread.len() - 1 {
        0 => String::new(),
        1 => " (and another part)".to_owned(),
        n => format!(" (and {n} other parts)"),
    };
    let Unread {
        what, why, next, ..
    } = first;
    let message = format!("cannot read {what} of run {run}: {why}{more}");
    let error = CliError::new(exit, message).hint(&**next);
    Err(error
        .hint("`prosescope show RUN` shows what was read, `prosescope check RUN` lists all that was found"))
}
