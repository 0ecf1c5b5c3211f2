//! Checks for unread parts of a run. If an answer needs an unread part, the command fails instead of printing an
//! empty answer.

use prosescope_core::pages::session::{FoundValue, OneAgent, Session};
use prosescope_core::pages::view::{RunPart, Unread};
use prosescope_core::record::render::text::escape;

use super::ended;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::say;

/// The parts that an answer about gates needs. The audit log records how a gate got its status.
pub(super) const GATES: &[RunPart] = &[RunPart::Gates, RunPart::Audit];

/// Returns an error unless all of `parts` were read completely.
pub(super) fn require_parts(session: &Session, parts: &[RunPart]) -> Result<(), CliError> {
    refuse(session, |unread| {
        parts.iter().any(|&part| unread.concerns(part))
    })
}

/// Returns an error unless the audit log was read completely.
pub(super) fn require_log(session: &Session) -> Result<(), CliError> {
    require_parts(session, GATES)?;
    some_of(
        &session.run().id,
        session.unread_log().into_iter().collect(),
        |_| true,
    )
}

/// Returns an error unless all stores of the agent were read completely.
pub(super) fn require_agent(agent: &OneAgent) -> Result<(), CliError> {
    some_of(agent.run(), agent.unread(), |unread| {
        unread.concerns(RunPart::Agents)
    })
}

/// Returns an error if the value that the user asked for could not be read.
pub(super) fn require_value(value: &FoundValue) -> Result<(), CliError> {
    some_of(value.run(), value.lost().into_iter().collect(), |_| true)
}

/// Returns an error if unread bindings may include the binding that the user asked for.
pub(super) fn require_bindings(value: &FoundValue) -> Result<(), CliError> {
    some_of(value.run(), value.unread(), |unread| {
        unread.concerns(RunPart::Bindings)
    })
}

/// Returns an error if a part of the run was not read, for commands that show the whole run. Encrypted parts are not an
/// error, because the output marks them.
pub(super) fn require_all_but_sealed(session: &Session) -> Result<(), CliError> {
    refuse(session, |unread| {
        !unread.around && !unread.sealed && !unread.parts.is_empty()
    })
}

/// Returns an error unless every part of the run was read. Agents of the project and the user are not parts of the run.
pub(super) fn require_own_parts(session: &Session) -> Result<(), CliError> {
    refuse(session, |unread| !unread.around && !unread.parts.is_empty())
}

/// Returns an error if an I/O error hid a part of the run, because a copy would lack that part.
pub(super) fn require_no_io_error(session: &Session) -> Result<(), CliError> {
    refuse(session, |unread| unread.failed && !unread.around)
}

/// Prints the readable rows of a part, then returns an error if some rows were not read. If rows were not read and the
/// list is `empty`, prints nothing.
pub(super) fn list(
    session: &Session,
    part: RunPart,
    empty: bool,
    print: impl FnOnce() -> Result<Exit, CliError>,
) -> Result<Exit, CliError> {
    // Encrypted parts are not an error: the output itself marks them.
    let whole = || refuse(session, |unread| !unread.sealed && unread.concerns(part));
    if whole().is_ok() || !empty {
        print()?;
    }
    // The parts are checked again, because printing reads rows, and reading may fail.
    whole().map(|()| ended(session))
}

/// Prints a note that one of many runs is missing from an answer.
pub(super) fn skipped(name: &str, error: &CliError) {
    let next: String = error
        .hints
        .iter()
        .map(|hint| format!(" → {hint}"))
        .collect();
    say(&escape(&format!("skipped: {name}: {error}{next}"), false));
}

/// Returns the error for an answer that stays unknown because not every run could be read.
pub(super) fn some(exit: Exit, what: &str) -> CliError {
    let message = format!("cannot tell {what}: not every run could be read");
    CliError::new(exit, message).hint("`prosescope check --all` lists the unread parts, and why")
}

fn refuse(session: &Session, counts: impl Fn(&Unread) -> bool) -> Result<(), CliError> {
    some_of(&session.run().id, session.unread(), counts)
}

/// Returns an error about the unread parts of a run that matter for an answer. `counts` selects these parts.
fn some_of(
    run: &str,
    unread: Vec<Unread>,
    counts: impl Fn(&Unread) -> bool,
) -> Result<(), CliError> {
    let unread: Vec<Unread> = unread.into_iter().filter(counts).collect();
    let Some(first) = unread.first() else {
        return Ok(());
    };
    // A failed read is an I/O error, because a repeated read may succeed. Damaged data stays unreadable.
    let exit = if unread.iter().any(|unread| unread.failed) {
        Exit::Io
    } else {
        Exit::Unreadable
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
    Err(error.hint(
        "`prosescope show RUN` shows the readable parts, `prosescope check RUN` lists all issues",
    ))
}
