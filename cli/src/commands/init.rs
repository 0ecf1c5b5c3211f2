use std::fs;
use std::path::Path;

use crate::postgres::init_postgres;
use prosescope_core::model::run_id::RunId;
use prosescope_core::pages::check;
use prosescope_core::pages::view::RunOpened;
use prosescope_core::program::{self, MOST_BYTES, MOST_LINES};
use prosescope_core::record::render::text::escape;
use prosescope_core::record::{Style, at_text, names};
use prosescope_store::{init_folder, init_sqlite};

use crate::args::record::{InitArgs, NewState};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{self, Out, say};
use crate::print::note;
use crate::{input, locate, record};

pub(super) fn run(args: &InitArgs, out: &Out) -> Result<Exit, CliError> {
    let source = read_program(&args.program)?;
    let now = locate::recorded_now()?;
    let id = match &args.id {
        Some(id) => {
            names::plain("run", id)?;
            names::file("run", id)?;
            if id == locate::LATEST {
                let error = CliError::usage(
                    "a run cannot have the id `latest`, because `latest` always means the newest run",
                );
                return Err(error.hint("choose another --id, or leave out --id"));
            }
            id.clone()
        }
        None => RunId::new(now, &random6()?)
            .map_err(|error| CliError::usage(error.to_string()))?
            .as_str()
            .to_owned(),
    };
    let dir = || Ok::<_, CliError>(record::prose_dir()?.join("runs").join(&id));
    let name = args.program.file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let (late_fault, folder, state) = match args.state {
        NewState::Sqlite => {
            let (dir, at) = (dir()?, at_text(now, Style::AppendOnly));
            let late_fault = init_sqlite(&dir, &id, &name, &source, &at)?;
            (late_fault, record::from_here(&dir), "sqlite")
        }
        NewState::Filesystem => {
            let (dir, at) = (dir()?, at_text(now, Style::Files));
            let late_fault = init_folder(&dir, &id, &name, &source, &at)?;
            (late_fault, record::from_here(&dir), "filesystem")
        }
        NewState::Postgres => {
            let at = at_text(now, Style::InPlace);
            let named = || {
                format!(
                    "`prosescope init {} --state sqlite`",
                    args.program.display()
                )
            };
            let address = locate::address().map_err(|error| in_a_file(error, &named()))?;
            init_postgres(&address, &id, &name, &source, &at)
                .map_err(|error| in_a_file(error.into(), &named()))?;
            if !locate::has_psql() {
                let text = format!(
                    "the program psql is not in PATH. Without psql, OpenProse would record in a file; prosescope needs no psql and recorded the run in {address}. Next: give subagents the output of `prosescope brief`, or create the run in a file with {}",
                    named()
                );
                say(&note(&escape(&text, false)));
            }
            (None, locate::server_name(&id), "postgres")
        }
    };
    out::recorded();
    record::print_late_fault(late_fault);
    if !locate::is_program(&args.program) {
        let text = format!(
            "the name {name} does not end with .prose; the run was created with this file as the program"
        );
        say(&note(&escape(&text, false)));
    }
    for issue in check::source(&program::scan(&source)) {
        let line = issue
            .location
            .line
            .map_or(String::new(), |line| format!("line {line}: "));
        say(&note(&escape(&format!("{line}{}", issue.message), false)));
    }
    // Later commands take a run in PostgreSQL as `postgres:ID`, and a run in files as its id.
    let run = match state {
        "postgres" => folder.clone(),
        _ => id,
    };
    out.show(
        &RunOpened {
            run: run.clone(),
            folder,
            state: state.to_owned(),
        },
        || format!("{run}\n"),
    )
}

/// Adds a hint to an error about the server: the command that creates the run in a file instead. `init` never falls
/// back to a file by itself.
fn in_a_file(error: CliError, command: &str) -> CliError {
    match error.exit {
        Exit::Refused | Exit::Usage => error,
        _ => error.hint(format!(
            "no run was created; {command} records in a file instead"
        )),
    }
}

/// Reads the text of a program.
pub(super) fn read_program(path: &Path) -> Result<String, CliError> {
    let name = path.display();
    let wrong = |cause: std::io::Error| match cause.kind() {
        std::io::ErrorKind::NotFound => CliError::not_found(format!("there is no program {name}"))
            .hint("check the path, which is relative to the working directory"),
        _ => input::unread(&name.to_string(), &cause),
    };
    let len = fs::metadata(path).map_err(wrong)?.len();
    if len > MOST_BYTES as u64 {
        let message = format!(
            "{name} is too large for a program: {len} bytes, at most {MOST_BYTES} are allowed"
        );
        return Err(CliError::usage(message).hint("give the .prose file"));
    }
    let bytes = fs::read(path).map_err(wrong)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        input::not_text(path, error.as_bytes())
            .hint("if the file is not text, give the .prose file")
    })?;
    if program::first_lines(&text).len() < text.len() {
        let message =
            format!("{name} is too long for a program: at most {MOST_LINES} lines are allowed");
        return Err(CliError::usage(message).hint("give the .prose file"));
    }
    Ok(text)
}

/// Returns six random characters of a–z and 0–9.
fn random6() -> Result<String, CliError> {
    const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut chance = [0_u8; 32];
    getrandom::fill(&mut chance).map_err(|error| {
        CliError::new(
            Exit::Io,
            format!("cannot make an id: the system returned no random numbers: {error}"),
        )
    })?;
    // Bytes above the largest multiple of 36 are skipped, so that all characters are equally likely.
    let id: String = chance
        .iter()
        .filter(|byte| **byte < 252)
        .filter_map(|byte| LETTERS.get(usize::from(byte % 36)))
        .map(|letter| char::from(*letter))
        .take(6)
        .collect();
    Ok(id)
}
