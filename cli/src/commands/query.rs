use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use prosescope_core::model::database::Limits;
use prosescope_core::model::database::query::{DEADLINE, LAST_STEP, QueryError};
use prosescope_core::pages::query::{self, UnansweredQuery};
use prosescope_core::pages::session::Session;
use prosescope_core::pages::view::QueryView;
use prosescope_core::record::render::csv::csv;

use super::{ended, unread};
use crate::args::query::QueryArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{Out, say};
use crate::print::note;
use crate::{input, locate, near, print};

pub(super) fn run(args: &QueryArgs, out: &Out) -> Result<Exit, CliError> {
    let (name, sql) = args.question()?;
    let session = locate::open(&name)?;
    let sql = match (&args.ask, sql) {
        (Some(ask), _) => stored(&session, ask)?,
        (None, Some("-")) => given()?,
        (None, Some(sql)) => sql.to_owned(),
        (None, None) if args.csv => {
            return Err(CliError::usage("--csv needs SQL or a stored question")
                .hint("give SQL or --ask NAME; without --csv, the command lists the tables"));
        }
        (None, None) => {
            let tables = query::tables(&session);
            out.show(&tables, || print::query_tables(&tables, out.width))?;
            unread::require_all_but_sealed(&session)?;
            return Ok(ended(&session));
        }
    };
    let asking = end_after(DEADLINE + LAST_STEP, out.json);
    let begun = Instant::now();
    let limits = Limits {
        stop: Some(Arc::new(move || begun.elapsed() > DEADLINE)),
        ..Limits::default()
    };
    let now = Some(locate::now());
    let view = query::ask(&session, &sql, args.limit, &limits, now).map_err(failed)?;
    // A pager may take as long as it likes.
    drop(asking);
    match args.csv {
        true => {
            let csv = csv(&view);
            // Values may contain control characters, which would act on a terminal.
            if out.terminal {
                out.text(&csv)?;
            } else {
                out.bytes(csv.as_bytes())?;
            }
        }
        false => drop(out.show(&view, || print::query(&view, out.width))?),
    }
    say_what_lacks(&view, args, out);
    unread::require_parts(&session, &query::parts(&session, &sql))?;
    Ok(ended(&session))
}

/// Ends the process unless the returned sender is dropped within the limit.
#[must_use]
fn end_after(limit: Duration, json: bool) -> Sender<()> {
    let (asking, asked) = channel();
    std::thread::spawn(move || {
        if asked.recv_timeout(limit) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
        let stopped = failed(UnansweredQuery::Query(QueryError::Stopped));
        let exit = stopped.exit;
        crate::ended(Err(stopped), &Out::new(json));
        std::process::exit(exit as i32);
    });
    asking
}

fn stored(session: &Session, name: &str) -> Result<String, CliError> {
    query::stored(session, name)
        .map(|question| question.sql)
        .map_err(|error| {
            let known = query::tables(session).questions;
            let known = known.iter().map(|question| question.name.as_str());
            CliError::not_found(error.to_string())
                .hint(near::hint(name, known, "questions"))
                .hint("`prosescope query RUN` lists the stored questions")
        })
}

/// Reads the SQL from standard input.
fn given() -> Result<String, CliError> {
    String::from_utf8(input::standard()?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("the SQL on standard input is not UTF-8 text after byte {at}");
        CliError::new(Exit::Unreadable, message).hint("give the SQL as UTF-8 text")
    })
}

/// Prints to standard error what an answer in JSON or CSV lacks. The text for people already ends with the same notes.
fn say_what_lacks(view: &QueryView, args: &QueryArgs, out: &Out) {
    if out.json || args.csv {
        for line in print::query_notes(view) {
            say(&note(&line));
        }
    }
}

fn failed(error: UnansweredQuery) -> CliError {
    let error = match error {
        UnansweredQuery::Query(error) => error,
        UnansweredQuery::Source(cause) => return cause.into(),
    };
    let next = error.next();
    match error {
        QueryError::Store(ref cause) => {
            let exit = if cause.is_failed() {
                Exit::Io
            } else {
                Exit::Unreadable
            };
            CliError::new(exit, error.to_string()).hint(next)
        }
        QueryError::Refused(_) => {
            CliError::refused("query-reads-only", error.to_string()).hint(next)
        }
        QueryError::Stopped | QueryError::TooBig(_) => {
            CliError::refused("query-too-large", error.to_string()).hint(next)
        }
        QueryError::Empty
        | QueryError::NoQuestion(_)
        | QueryError::Several
        | QueryError::Sql { .. } => CliError::usage(error.to_string())
            .hint(next)
            .hint("`prosescope query RUN` lists the tables with their columns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_was_answered_ends_nothing() {
        let limit = Duration::from_millis(20);
        drop(end_after(limit, false));
        // Without the sender's end, this would end the test program.
        std::thread::sleep(limit * 5);
    }
}
