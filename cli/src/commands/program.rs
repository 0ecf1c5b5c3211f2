use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::RunPart;

use super::{ended, unread};
use crate::args::run::RunArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

/// Prints the program's lines with their numbers, which recording commands take, and with their results.
pub(super) fn run(args: &RunArgs, out: &Out) -> Result<Exit, CliError> {
    let session = locate::open(&args.name()?)?;
    unread::require_parts(&session, &[RunPart::Program, RunPart::Statements])?;
    let view = pages::program_page(&session, 0, u32::MAX);
    out.show(&view, || print::program(&view))?;
    Ok(ended(&session))
}
