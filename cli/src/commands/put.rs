use std::io::Read;

use prosescope_core::render::text::escape;
use prosescope_core::write::Put;
use serde_json::json;

use crate::args::record::PutArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::record::Recorder;

pub(super) fn run(args: &PutArgs, out: &Out) -> Result<Exit, CliError> {
    let value = match &args.file {
        Some(path) => std::fs::read(path).map_err(|cause| {
            let exit = match cause.kind() {
                std::io::ErrorKind::NotFound => Exit::NotFound,
                _ => Exit::Io,
            };
            CliError::new(exit, format!("{} cannot be read: {cause}", path.display()))
        })?,
        None => {
            let mut value = Vec::new();
            std::io::stdin().lock().read_to_end(&mut value)?;
            value
        }
    };
    let put = Put {
        name: args.name.clone(),
        execution: args.execution,
        kind: args.kind.clone(),
        source: args.source.clone(),
        summary: args.summary.clone(),
        value,
    };
    let mut recorder = Recorder::open(&args.run.run)?;
    let written = recorder.record(&put)?;
    let location = recorder.location(&written.name, written.frame);
    if out.json {
        out.json(&json!({
            "run": recorder.run_id(),
            "name": written.name,
            "execution_id": written.frame,
            "kind": written.kind,
            "location": location,
            "summary": written.summary,
            "attachment": written.attachment,
            "replaced": written.replaced,
        }))?;
        return Ok(Exit::Done);
    }
    // What a subagent returns to the VM, word for word as the documents have it.
    let mut said = format!("Binding written: {}\nLocation: {location}\n", written.name);
    if let Some(frame) = written.frame {
        said.push_str(&format!("Execution ID: {frame}\n"));
    }
    if let Some(attachment) = &written.attachment {
        said.push_str(&format!("Attachment: {}/{attachment}\n", recorder.folder));
    }
    said.push_str(&format!("Summary: {}\n", written.summary));
    out.text(&escape(&said, true))?;
    Ok(Exit::Done)
}
