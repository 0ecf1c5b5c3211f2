use prosescope_core::pages::session::Session;
use prosescope_core::pages::session::search::{Needle, Search};
use prosescope_core::pages::view::{RunPart, SearchView, SearchedRun};

use super::{ended, unread};
use crate::args::SearchArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

/// The parts that a search reads. If one of them was not read completely, "no match" might be wrong.
const PARTS: [RunPart; 4] = [
    RunPart::Statements,
    RunPart::Bindings,
    RunPart::Agents,
    RunPart::Gates,
];

pub(super) fn run(args: &SearchArgs, out: &Out) -> Result<Exit, CliError> {
    let mut view = SearchView {
        text: args.text.text().to_owned(),
        case_sensitive: args.text.is_exact(),
        runs: Vec::new(),
    };
    if args.all {
        return all(view, &args.text, out);
    }
    let session = locate::open(&args.run.name()?)?;
    view.runs
        .push(search(&session, &args.text, &session.name()));
    let whole = read(&view.runs).and_then(|()| unread::require_parts(&session, &PARTS));
    out.show(&view, || print::search(&view, out.width))?;
    whole.map(|()| ended(&session))
}

/// Searches every run of the project, one after the other.
fn all(mut view: SearchView, needle: &Needle, out: &Out) -> Result<Exit, CliError> {
    let mut whole = true;
    for (run, _, opened) in locate::open_all(None)? {
        view.runs.push(match opened {
            Ok(session) => {
                whole &= unread::require_parts(&session, &PARTS).is_ok();
                search(&session, needle, &session.name())
            }
            Err(error) => SearchedRun {
                run,
                error: Some(error.to_string()),
                ..SearchedRun::default()
            },
        });
    }
    out.show(&view, || print::search(&view, out.width))?;
    read(&view.runs)?;
    whole &= view.runs.iter().all(|run| run.error.is_none());
    Ok(if whole { Exit::Done } else { Exit::Issues })
}

/// Searches a run completely.
fn search(session: &Session, needle: &Needle, name: &str) -> SearchedRun {
    let mut search = Search::new(session, needle);
    while search.step(session) {}
    search.found(name)
}

/// Returns an error if a value of one of these runs could not be read.
fn read(runs: &[SearchedRun]) -> Result<(), CliError> {
    let failed = |run: &SearchedRun| run.skipped.iter().find(|s| s.failed).cloned();
    let Some((run, lost)) = runs.iter().find_map(|run| Some((&run.run, failed(run)?))) else {
        return Ok(());
    };
    let message = format!("cannot read {} of run {run}: {}", lost.place, lost.why);
    Err(CliError::new(Exit::Unreadable, message)
        .hint("the rest was searched; `prosescope check RUN` lists all issues"))
}
