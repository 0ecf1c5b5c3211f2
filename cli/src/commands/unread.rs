//! Parts of a run that could not be read: an answer that needs one is an error, never an empty answer.

use prosescope_core::session::{Part, Session, Unread};

use super::ended;
use crate::error::CliError;
use crate::exit::Exit;

/// Every part of a run.
pub(super) const ALL: &[Part] = &[
    Part::Trace,
    Part::Bindings,
    Part::Agents,
    Part::Gates,
    Part::Imports,
];

/// Refuses an answer that is true only where all of these parts were read to their end.
pub(super) fn whole(session: &Session, parts: &[Part]) -> Result<(), CliError> {
    unread(session, |one| {
        one.part == Part::Run || parts.contains(&one.part)
    })
    .map_or(Ok(()), Err)
}

/// Refuses to copy a run of which the system did not give a part: a copy would be without it.
pub(super) fn given(session: &Session) -> Result<(), CliError> {
    unread(session, |one| one.failed).map_or(Ok(()), Err)
}

/// Prints what was read of these parts, and then says what was not; what is `empty` is not printed then.
pub(super) fn list(
    session: &Session,
    parts: &[Part],
    empty: bool,
    print: impl FnOnce() -> Result<(), CliError>,
) -> Result<Exit, CliError> {
    let whole = whole(session, parts);
    if whole.is_ok() || !empty {
        print()?;
    }
    whole.map(|()| ended(session))
}

fn unread(session: &Session, counts: impl Fn(&Unread) -> bool) -> Option<CliError> {
    let unread: Vec<Unread> = session.unread().into_iter().filter(counts).collect();
    error(session, &unread)
}

/// Refuses an answer that is made of these; `None` where nothing was unread.
pub(super) fn error(session: &Session, unread: &[Unread]) -> Option<CliError> {
    let first = unread.first()?;
    // A read that failed may succeed next time; damage stays.
    let exit = match unread.iter().any(|one| one.failed) {
        true => Exit::Io,
        false => Exit::Unreadable,
    };
    let more = match unread.len() {
        1 => String::new(),
        n => format!(" (and {} other parts were not read)", n - 1),
    };
    let run = &session.run().id;
    let message = format!("run {run} was not read whole: {}{more}", first.message);
    let error = CliError::new(exit, message).hint(&*first.next);
    Some(
        error.hint(
            "`prose show RUN` shows what was read, `prose check RUN` lists all that was found",
        ),
    )
}
