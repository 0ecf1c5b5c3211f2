use prosescope_core::model::RunStatus;
use prosescope_core::record::Finish;
use prosescope_core::record::render::text::escape;
use prosescope_core::trace::NodeStatus;

use crate::args::record::{FinishArgs, FinishWord};
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate;
use crate::out::{Out, say};
use crate::print::note;
use crate::record::Recorder;

pub(super) fn run(args: &FinishArgs, out: &Out) -> Result<Exit, CliError> {
    let status = args.status.map(|status| match status {
        FinishWord::Completed => RunStatus::Completed,
        FinishWord::Failed => RunStatus::Failed,
        FinishWord::Interrupted => RunStatus::Interrupted,
    });
    let status = status.or((!args.vacuum).then_some(RunStatus::Completed));
    let run = args.run.name()?;
    let mut recorder = Recorder::open(&run)?;
    let ended = recorder.record(&Finish {
        status,
        error: args.error.clone(),
        again: args.vacuum,
        insist: args.force.into(),
    })?;
    recorder.close(args.vacuum);
    if !ended.before && ended.status != RunStatus::Interrupted.word() {
        // The end of the run is already recorded, so an error of this summary is printed only as a note.
        if let Err(error) = say_unfinished(&run) {
            say(&note(&format!(
                "cannot list executions that never ended: {error}"
            )));
        }
    }
    out.show(&ended, || format!("{} {}\n", ended.run, ended.status))
}

/// Prints the executions that never ended. They count as abandoned, and the user may still know what happened to them.
fn say_unfinished(run: &str) -> Result<(), CliError> {
    let session = locate::open(run)?;
    let nodes = session.trace().nodes.iter();
    let open: Vec<String> = nodes
        .filter(|node| node.status == NodeStatus::Abandoned)
        .filter_map(|node| Some(format!("{} ({})", node.id?, node.text)))
        .collect();
    if !open.is_empty() {
        let some: Vec<&str> = open.iter().take(5).map(String::as_str).collect();
        let more = match open.len() - some.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let some = escape(&some.join(", "), false);
        say(&note(&format!(
            "these executions never ended and count as abandoned: {some}{more}"
        )));
    }
    Ok(())
}
