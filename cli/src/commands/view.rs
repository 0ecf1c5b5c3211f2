use prosescope_core::render::text::escape;
use prosescope_core::view::Serving;

use crate::args::ViewArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{Out, say};
use crate::{locate, serve};

pub(super) fn run(args: &ViewArgs, out: &Out) -> Result<Exit, CliError> {
    let runs = args.runs()?;
    let served = locate::served(&runs)?;
    let decider = args
        .by
        .as_deref()
        .map(|by| decider(&runs, by))
        .transpose()?;
    let server = serve::Server::listen(served, args.port, decider)?;
    if out.json {
        out.json(&Serving {
            address: server.address.clone(),
        })?;
    } else {
        out.text(&format!("{}\n", escape(&server.address, false)))?;
        say("serving the viewer on this machine only; press Ctrl-C to stop");
    }
    if let Some(by) = &args.by {
        let by = escape(by.trim(), false);
        say(&format!(
            "whoever has this address decides the run's gates as {by} (claimed, not checked)"
        ));
    }
    server.run()?;
    Ok(Exit::Done)
}

/// Who decides on the page, and in which run. What would refuse every decision is said before the page is served.
fn decider(runs: &[String], by: &str) -> Result<serve::Decider, CliError> {
    locate::recorded_now()?;
    let run = match runs {
        [] => locate::unnamed()?,
        [run] => run.clone(),
        many => {
            let message = format!(
                "--allow-decisions is for one run, and {} are named",
                many.len()
            );
            return Err(CliError::usage(message).hint("name the run whose gates are decided"));
        }
    };
    serve::Decider::new(locate::for_writing(&run)?, by)
}
