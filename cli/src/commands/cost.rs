use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use prosescope_core::model::Form;
use prosescope_core::pages::session::pages::{self, Transcripts};
use prosescope_core::pages::view::RunPart;
use prosescope_core::read::transcript::{TranscriptFile, TranscriptReader};

use super::unread;
use crate::args::cost::CostArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::out::Out;
use crate::{locate, print};

/// Maximum bytes of a line. The longest lines of transcripts contain images.
const LINE: u64 = 64 << 20;
/// Maximum bytes of a `.meta.json` file.
const META: u64 = 1 << 20;
/// Maximum number of folders inside of each other.
const DEPTH: usize = 16;

pub(super) fn run(args: &CostArgs, out: &Out) -> Result<Exit, CliError> {
    let session = locate::open(&args.run.name()?)?;
    let run = &session.run().id;
    if session.run().form == Form::Agents {
        let message = format!("{} is not a run: it contains agents", session.name());
        return Err(CliError::not_found(message).hint("`prosescope runs` lists the runs"));
    }
    let read = args.transcripts.as_deref().map(|dir| folder(dir, run));
    let view = pages::run_cost(&session, read.transpose()?);
    let unread = view.transcripts.iter().flat_map(|read| &read.unread);
    let failed = unread.clone().next().map(|first| {
        let message = match unread.count() {
            1 => format!("cannot read {first}"),
            n => format!("cannot read {n} transcripts; the first: {first}"),
        };
        CliError::new(Exit::Io, message)
            .hint("the other transcripts were counted; check that you may read all of them")
    });
    let is_empty = view.statements.is_empty();
    let exit = unread::list(&session, RunPart::Statements, is_empty, || {
        out.show(&view, || print::cost(&view, out.width))
    })?;
    failed.map_or(Ok(exit), Err)
}

/// Reads all transcripts in a folder.
fn folder(dir: &Path, run: &str) -> Result<Transcripts, CliError> {
    let shown = dir.display();
    let meta = fs::metadata(dir).map_err(|cause| input::unread(&shown.to_string(), &cause))?;
    if !meta.is_dir() {
        let error = CliError::usage(format!("--transcripts {shown} is not a folder"));
        return Err(error.hint("name the folder that contains the transcript"));
    }
    let mut all = Transcripts::default();
    all.read.folder = shown.to_string();
    walk(dir, run, DEPTH, &mut all);
    if all.read.files == 0 && all.read.unread.is_empty() {
        let error = CliError::not_found(format!("{shown} contains no transcripts (*.jsonl)"));
        return Err(error.hint(
            "Claude Code writes transcripts to ~/.claude/projects, Codex to ~/.codex/sessions",
        ));
    }
    Ok(all)
}

/// Reads the transcripts in a folder and in the folders in it. Links to folders are not followed.
fn walk(dir: &Path, run: &str, depth: usize, all: &mut Transcripts) {
    let entries = fs::read_dir(dir).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(cause) => return all.read.unread.push(format!("{}: {cause}", dir.display())),
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            match depth.checked_sub(1) {
                Some(depth) => walk(&path, run, depth, all),
                None => {
                    let why = "the folder is too deep";
                    all.read.unread.push(format!("{}: {why}", path.display()));
                }
            }
        } else if path.extension().is_some_and(|end| end == "jsonl") {
            match file(&path, run) {
                Ok(file) => all.add(&path.display().to_string(), file),
                Err(cause) => all.read.unread.push(format!("{}: {cause}", path.display())),
            }
        }
    }
}

/// Reads a file line by line.
fn file(path: &Path, run: &str) -> io::Result<TranscriptFile> {
    let mut reader = TranscriptReader::new(&path.display().to_string(), run);
    let opened = File::open(path)?;
    if !opened.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if let Ok(meta) = File::open(path.with_extension("meta.json")) {
        let mut bytes = Vec::new();
        meta.take(META).read_to_end(&mut bytes)?;
        reader.meta(&bytes);
    }
    let mut lines = BufReader::with_capacity(1 << 16, opened);
    let mut line = Vec::new();
    let mut is_rest = false;
    while lines.by_ref().take(LINE).read_until(b'\n', &mut line)? > 0 {
        // The last line of a file may have no line break.
        let is_whole = line.ends_with(b"\n") || (line.len() as u64) < LINE;
        match (is_rest, is_whole) {
            (false, true) => reader.line(&line),
            (false, false) => reader.skip_line(),
            (true, _) => {}
        }
        is_rest = !is_whole;
        line.clear();
    }
    Ok(reader.finish())
}
