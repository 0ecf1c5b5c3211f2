use prosescope_core::pages::view::Serving;
use prosescope_core::record::render::text::escape;
use prosescope_store::Aside;

use super::server_copy;
use crate::args::ViewArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate::OnServer;
use crate::out::{Out, say};
use crate::print::note;
use crate::serve::Served;
use crate::{cleanup, locate, serve};

pub(super) fn run(args: &ViewArgs, out: &Out) -> Result<Exit, CliError> {
    let mut runs = args.runs()?;
    if runs.is_empty() {
        runs.push(locate::unnamed()?);
    }
    let decider = args
        .by
        .as_deref()
        .map(|by| decider(&runs, by))
        .transpose()?;
    let (_copies, served) = served(&runs, out)?;
    let server = serve::ViewServer::listen(served, args.port, decider)?;
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
            "anyone with this address can decide the run's gates as {by} (claimed, not checked)"
        ));
    }
    server.run()?;
    Ok(Exit::Done)
}

/// Returns the run whose gates the page may decide, with the name that decides. Fails before serving if the gates
/// cannot be decided.
fn decider(runs: &[String], by: &str) -> Result<serve::Decider, CliError> {
    locate::recorded_now()?;
    let [run] = runs else {
        let message = format!(
            "--allow-decisions takes one run, and {} are given",
            runs.len()
        );
        return Err(CliError::usage(message).hint("give only the run whose gates you decide"));
    };
    if locate::id_on_server(run).is_some() {
        let message = format!(
            "--allow-decisions cannot decide gates of {run}: the run is in PostgreSQL, and the page shows a copy of the run"
        );
        return Err(CliError::usage(message).hint(format!(
            "`prosescope gates {run}` lists the gates; decide a gate with `prosescope approve {run} GATE` or `prosescope reject {run} GATE`"
        )));
    }
    serve::Decider::new(locate::for_writing(run)?, by)
}

/// Returns the files to serve. Runs in PostgreSQL are copied first, and the copies are removed when the command ends.
fn served(runs: &[String], out: &Out) -> Result<(Vec<Aside>, Served), CliError> {
    if runs.iter().all(|run| locate::id_on_server(run).is_none()) {
        return Ok((Vec::new(), locate::served(runs)?));
    }
    let mut copies = vec![cleanup::on_signal()?];
    let mut paths = Vec::new();
    for run in runs {
        let Some(found) = OnServer::named(run)? else {
            paths.push(run.clone());
            continue;
        };
        let (copy, path) = server_copy::aside(&found, out)?;
        copies.push(copy);
        paths.push(path.to_string_lossy().into_owned());
        let name = found.name();
        say(&note(&format!(
            "the page shows a copy of {name} as it is now. To see later records, repeat `prosescope view {name}`. Commands on the page call the run {}; use {name} instead",
            found.id
        )));
    }
    Ok((copies, locate::served(&paths)?.called(&runs.join(", "))))
}
