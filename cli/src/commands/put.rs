use std::io::Read;
use std::path::Path;

use prosescope_core::record::Put;
use prosescope_core::record::render::text::escape;

use crate::args::record::PutArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::out::{Out, say_notes};
use crate::record::Recorder;

pub(super) fn run(args: &PutArgs, out: &Out) -> Result<Exit, CliError> {
    let (value, staged) = input::value(args.file.as_deref())?;
    let put = Put {
        name: args.name.clone(),
        execution: args.into,
        kind: args.kind.clone(),
        source: args.source.clone(),
        summary: args.summary.clone(),
        value,
        not_done: args.not_done,
        agent: args.agent.clone(),
        memory: text_of(args.memory.as_deref())?,
        segment: text_of(args.segment.as_deref())?,
    };
    let mut recorder = Recorder::open(&args.run.name()?)?;
    recorder.stage(staged);
    let mut written = recorder.record(&put)?;
    written.location = recorder.location(&written.name, written.execution_id);
    say_notes(&written.notes);
    if out.json {
        out.json(&written)?;
        return Ok(Exit::Done);
    }
    // OpenProse defines the lines `Binding written: …` and `Location: …`, which a subagent returns to the VM.
    let (name, location) = (&written.name, &written.location);
    let mut said = format!("Binding written: {name}\nLocation: {location}\n");
    if let Some(frame) = written.execution_id {
        said.push_str(&format!("Execution ID: {frame}\n"));
    }
    if let Some(attachment) = &written.attachment {
        said.push_str(&format!("Attachment: {}/{attachment}\n", recorder.folder));
    }
    if let Some(id) = written.completed {
        said.push_str(&format!("Completed: execution {id}\n"));
    }
    said.push_str(&format!("Summary: {}\n", written.summary));
    out.text(&escape(&said, true))?;
    Ok(Exit::Done)
}

fn text_of(path: Option<&Path>) -> Result<Option<String>, CliError> {
    let Some(path) = path else { return Ok(None) };
    let mut bytes = Vec::new();
    let read = input::file(path)?.read_to_end(&mut bytes);
    read.map_err(|cause| input::unread(&path.display().to_string(), &cause))?;
    let text = String::from_utf8(bytes);
    text.map(Some)
        .map_err(|error| input::not_text(path, error.as_bytes()))
}
