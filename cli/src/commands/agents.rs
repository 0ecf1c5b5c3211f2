use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::RunPart;

use super::unread;
use crate::args::run::RunArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

pub(super) fn run(args: &RunArgs, out: &Out) -> Result<Exit, CliError> {
    let session = locate::open(&args.name()?)?;
    let view = pages::agents(&session);
    unread::list(&session, RunPart::Agents, view.agents.is_empty(), || {
        out.show(&view, || print::agents(&view, out.width))
    })
}
