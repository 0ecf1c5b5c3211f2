use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::{RunPart, TranscriptsRead};
use prosescope_core::read::transcript::{Conversation, TranscriptFile, TranscriptReader};

use super::unread;
use crate::args::cost::CostArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{input, locate, print};

/// Maximum bytes of a line. The longest lines of transcripts contain images.
const LINE: u64 = 64 << 20;
/// Maximum bytes of a `.meta.json` file.
const META: u64 = 1 << 20;

const PLACES: &str =
    "Claude Code writes transcripts to ~/.claude/projects, Codex to ~/.codex/sessions";

pub(super) fn run(args: &CostArgs, out: &Out) -> Result<Exit, CliError> {
    let session = locate::open(&args.run.name()?)?;
    let run = &session.run().id;
    let mut all = Vec::new();
    let dir = args.transcripts.as_deref();
    let read = dir.map(|dir| folder(dir, run, &mut all)).transpose()?;
    let view = pages::run_cost(&session, read, all);
    let is_empty = view.statements.is_empty();
    let exit = unread::list(&session, RunPart::Statements, is_empty, || {
        out.show(&view, || print::cost(&view, out.width))
    })?;
    let mut unread = view.transcripts.iter().flat_map(|read| &read.unread);
    match unread.next() {
        None => Ok(exit),
        Some(first) => Err(CliError::new(Exit::Io, format!("cannot read {first}"))
            .hint("the other transcripts were counted; --json lists all that cannot be read")),
    }
}

/// Reads all transcripts in a folder and in the folders in it. Links to folders are not followed.
fn folder(dir: &Path, run: &str, all: &mut Vec<Conversation>) -> Result<TranscriptsRead, CliError> {
    let mut read = TranscriptsRead {
        folder: dir.display().to_string(),
        ..TranscriptsRead::default()
    };
    fs::read_dir(dir).map_err(|cause| input::unread(&read.folder, &cause).hint(PLACES))?;
    let (mut folders, mut paths) = (vec![dir.to_owned()], Vec::new());
    let failed = |path: &Path, cause: io::Error| format!("{}: {cause}", path.display());
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = entries.map_err(|cause| read.unread.push(failed(&folder, cause)));
        for entry in entries.unwrap_or_default() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "jsonl") {
                paths.push(path);
            }
        }
    }
    if paths.is_empty() && read.unread.is_empty() {
        let message = format!("{} contains no transcripts (*.jsonl)", read.folder);
        return Err(CliError::not_found(message).hint(PLACES));
    }
    paths.sort();
    for path in &paths {
        match file(path, run) {
            Ok(file) => {
                read.files += 1;
                read.foreign += u32::from(file.conversations.is_empty());
                read.unreadable_lines += file.unreadable;
                all.extend(file.conversations);
            }
            Err(cause) => read.unread.push(failed(path, cause)),
        }
    }
    Ok(read)
}

/// Reads a file line by line.
fn file(path: &Path, run: &str) -> io::Result<TranscriptFile> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut meta = Vec::new();
    if let Ok(file) = File::open(path.with_extension("meta.json")) {
        file.take(META).read_to_end(&mut meta)?;
    }
    let mut reader = TranscriptReader::new(&path.display().to_string(), run, &meta);
    let mut lines = BufReader::new(File::open(path)?);
    let (mut line, mut is_rest) = (Vec::new(), false);
    while lines.by_ref().take(LINE).read_until(b'\n', &mut line)? > 0 {
        // The last line of a file may have no line break.
        let is_whole = line.ends_with(b"\n") || (line.len() as u64) < LINE;
        // The beginning of a longer line is not JSON, and is therefore counted as unreadable.
        if !is_rest {
            reader.line(&line);
        }
        is_rest = !is_whole;
        line.clear();
    }
    Ok(reader.finish())
}
