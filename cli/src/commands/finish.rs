use prosescope_core::model::RunStatus;
use prosescope_core::write::Finish;
use serde_json::json;

use crate::args::record::{Ending, FinishArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::record::Recorder;

pub(super) fn run(args: &FinishArgs, out: &Out) -> Result<Exit, CliError> {
    let status = match args.status {
        Ending::Completed => RunStatus::Completed,
        Ending::Failed => RunStatus::Failed,
        Ending::Interrupted => RunStatus::Interrupted,
    };
    let word = status.word().to_owned();
    let mut recorder = Recorder::open(&args.run)?;
    recorder.record(&Finish { status })?;
    recorder.close(args.vacuum)?;
    if out.json {
        out.json(&json!({ "run": recorder.run_id(), "status": word }))?;
    } else {
        out.text(&format!("{} {word}\n", recorder.run_id()))?;
    }
    Ok(Exit::Done)
}
