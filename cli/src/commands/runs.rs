use prosescope_core::session::{Filter, Order};
use prosescope_core::time::Stamp;
use prosescope_core::timeout::Timeout;

use super::super::{locate, print};
use crate::args::{RunsArgs, Sort};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;

pub(super) fn run(args: &RunsArgs, out: &Out) -> Result<Exit, CliError> {
    let filter = Filter {
        status: args.status.clone(),
        since: args.since.as_deref().map(since).transpose()?,
        program: args.program.clone(),
        pending: args.pending,
        ..Filter::default()
    };
    let order = match args.sort {
        Sort::Newest => Order::Newest,
        Sort::Oldest => Order::Oldest,
        Sort::Duration => Order::Duration,
        Sort::Status => Order::Status,
        Sort::Program => Order::Program,
    };
    let mut list = locate::list(args.path.as_deref(), &filter, order)?;
    list.runs.truncate(args.limit.unwrap_or(usize::MAX));
    if out.json {
        out.json(&list)?;
    } else {
        out.text(&print::runs(&list, out.width))?;
    }
    let unreadable = list.runs.iter().any(|run| run.error.is_some());
    Ok(if unreadable { Exit::Issues } else { Exit::Done })
}

/// A time, or how long ago: milliseconds since 1970 UTC.
fn since(text: &str) -> Result<i64, CliError> {
    if let Some(at) = Stamp::parse(text).millis() {
        return Ok(at);
    }
    let ago = Timeout::parse(text).map_err(|error| {
        CliError::usage(format!(
            "--since {text}: neither a time (2026-01-25, 2026-01-25T14:00:00Z) nor a duration: {error}"
        ))
    })?;
    let ago = i64::try_from(ago.seconds()).unwrap_or(i64::MAX);
    Ok(locate::now().saturating_sub(ago.saturating_mul(1000)))
}
