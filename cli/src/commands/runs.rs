use prosescope_core::pages::session::{Filter, ListOrder, RUN_STATUSES};

use super::{moment, since};
use crate::args::{RunsArgs, Sort};
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate::NotedRuns;
use crate::out::{Out, say};
use crate::print::note;
use crate::{locate, near, print};

pub(super) fn run(args: &RunsArgs, out: &Out) -> Result<Exit, CliError> {
    let filter = Filter {
        status: args.status.clone(),
        since: args.since.as_deref().map(since).transpose()?,
        before: args
            .before
            .as_deref()
            .map(|text| moment("--before", text))
            .transpose()?,
        program: args.program.clone(),
        pending: args.pending,
        ..Filter::default()
    };
    let order = match args.sort {
        Sort::Newest => ListOrder::Newest,
        Sort::Oldest => ListOrder::Oldest,
        Sort::Duration => ListOrder::Duration,
        Sort::Status => ListOrder::Status,
        Sort::Program => ListOrder::Program,
        Sort::Problems => ListOrder::Problems,
    };
    let most = args.limit.unwrap_or(usize::MAX);
    let NotedRuns { list, notes, whole } =
        locate::list(args.path.as_deref(), &filter, order, most)?;
    for text in notes {
        say(&note(&text));
    }
    if filter.known_status(list.runs.iter()).is_err() {
        // The status is checked against all runs: the other filters may have removed the only run that has this status.
        let all = locate::list(args.path.as_deref(), &Filter::default(), order, usize::MAX)?.list;
        filter.known_status(all.runs.iter()).map_err(|unknown| {
            let near = near::names(&unknown.0, RUN_STATUSES);
            let error = CliError::usage(unknown.to_string());
            if near.is_empty() {
                error
            } else {
                error.hint(near::hint(&unknown.0, near, "statuses"))
            }
        })?;
    }
    out.show(&list, || print::runs(&list, out.width))?;
    Ok(if whole && list.is_read() {
        Exit::Done
    } else {
        Exit::Issues
    })
}
