use super::super::{locate, print};
use crate::args::RunsArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;

pub(super) fn run(args: &RunsArgs, out: &Out) -> Result<Exit, CliError> {
    let list = locate::list(args.path.as_deref())?;
    if out.json {
        out.json(&list)?;
    } else {
        out.text(&print::runs(&list, out.width))?;
    }
    let unreadable = list.runs.iter().any(|run| run.error.is_some());
    Ok(if unreadable { Exit::Issues } else { Exit::Done })
}
