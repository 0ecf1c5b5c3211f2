use prosescope_core::render::text::escape;
use prosescope_core::view::Serving;

use crate::args::ViewArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{Out, say};
use crate::{locate, serve};

pub(super) fn run(args: &ViewArgs, out: &Out) -> Result<Exit, CliError> {
    let served = locate::served(&args.runs()?)?;
    let server = serve::Server::listen(served, args.port)?;
    if out.json {
        out.json(&Serving {
            address: server.address.clone(),
        })?;
    } else {
        out.text(&format!("{}\n", escape(&server.address, false)))?;
        say("serving the viewer on this machine only; press Ctrl-C to stop");
    }
    server.run()?;
    Ok(Exit::Done)
}
