use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;

pub(super) fn run(args: &CompletionsArgs, out: &Out) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "prosescope", &mut script);
    out.bytes(&script)?;
    Ok(Exit::Done)
}
