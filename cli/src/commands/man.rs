//! `prosescope man` writes manual pages, made from the command line's own help. `cargo xtask dist` calls this hidden
//! command.

use crate::args::{Cli, ManArgs};
use crate::error::CliError;
use crate::exit::Exit;

use clap::CommandFactory;

pub(super) fn run(args: &ManArgs) -> Result<Exit, CliError> {
    clap_mangen::generate_to(Cli::command(), &args.folder).map_err(|error| {
        let folder = args.folder.display();
        CliError::new(
            Exit::Io,
            format!("cannot write manual pages into {folder}: {error}"),
        )
        .hint("name a folder that exists and that you may write to")
    })?;
    Ok(Exit::Done)
}
