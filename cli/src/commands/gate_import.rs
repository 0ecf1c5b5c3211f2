//! `gate import` checks a decision that was made on a copy against the run as it is now, and records the decision once.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use prosescope_core::gate::decision::{DecisionFile, MOST_BYTES, NoDecision};
use prosescope_core::model::{Gate, GateStatus};
use prosescope_core::write::names::plain;
use prosescope_core::write::{DecideAsSeen, Resolved};

use super::{no_gate, unread};
use crate::args::gates::ImportArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{input, locate, print, record};

pub(super) fn run(args: &ImportArgs, out: &Out) -> Result<Exit, CliError> {
    let gate = args.gate.as_deref();
    let decision = match text(&args.copy)? {
        Some(text) => of_file(&args.copy, &text, gate)?,
        None => of_run(&args.copy, gate)?,
    };
    let run = match args.given()? {
        Some(run) => run,
        None => named(&args.copy, &decision)?,
    };
    let command = DecideAsSeen::imported(&decision, args.by.clone());
    match record::one(&run, &command)? {
        Resolved::Decided(done) => out.show(&done, || print::decided(&done)),
        Resolved::TooLate(timed_out) => out.show(&timed_out, || {
            print::expired(std::slice::from_ref(&timed_out))
        }),
    }
}

/// Returns the text of a decision file, or `None` for another file. A decision file ends in `.json` or begins with `{`,
/// unlike a database, a zip or a page.
fn text(copy: &Path) -> Result<Option<String>, CliError> {
    let name = copy.display().to_string();
    let wrong = |cause: std::io::Error| input::unread(&name, &cause);
    if copy.is_dir() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let most = MOST_BYTES as u64 + 1;
    let file = File::open(copy).map_err(wrong)?;
    file.take(most).read_to_end(&mut bytes).map_err(wrong)?;
    let is_named_so = name.ends_with(".json");
    if !is_named_so && bytes.trim_ascii_start().first() != Some(&b'{') {
        return Ok(None);
    }
    if bytes.len() > MOST_BYTES {
        // The file is longer than the limit, so its last read character may be incomplete. The parser rejects a text of
        // this length anyway.
        return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
    }
    let text = String::from_utf8(bytes);
    text.map(Some)
        .map_err(|error| input::not_text(copy, error.as_bytes()))
}

fn of_file(copy: &Path, text: &str, gate: Option<&str>) -> Result<DecisionFile, CliError> {
    let file = DecisionFile::parse(text).map_err(|error| {
        let message = format!("{} is not a decision file: {error}", copy.display());
        CliError::new(Exit::Unreadable, message)
            .hint("ask for the unchanged file that the viewer saved, or decide the gate with `prosescope approve` or `prosescope reject`")
    })?;
    match gate {
        Some(gate) if gate != file.gate => Err(CliError::usage(format!(
            "{} decides gate {}, not gate {gate}",
            copy.display(),
            file.gate
        ))
        .hint(format!(
            "leave out --gate, or give the decision file of gate {gate}"
        ))),
        _ => Ok(file),
    }
}

/// Returns the decision of a gate in a copy of the run.
fn of_run(copy: &Path, gate: Option<&str>) -> Result<DecisionFile, CliError> {
    // A relative path gets `./` in front, so that the argument is never taken for the id of a run.
    let path = match copy.is_relative() {
        true => Path::new(".").join(copy),
        false => copy.to_owned(),
    };
    let session = locate::open(&path.to_string_lossy())?;
    unread::require_parts(&session, unread::GATES)?;
    let run = session.run();
    let is_decided =
        |gate: &&Gate| matches!(gate.status, GateStatus::Approved | GateStatus::Rejected);
    let decided: Vec<&Gate> = run.gates.iter().filter(is_decided).collect();
    let chosen = match (gate, decided.as_slice()) {
        (Some(id), _) => match run.gates.iter().find(|gate| *gate.id == *id) {
            Some(gate) => gate,
            None => return Err(no_gate(&session, id)),
        },
        (None, [only]) => only,
        (None, []) => {
            let message = format!("no gate was approved or rejected in {}", copy.display());
            return Err(CliError::refused("copy-without-decision", message)
                .hint("decide the gate in the copy first, or give a decision file"));
        }
        (None, many) => {
            let ids: Vec<&str> = many.iter().map(|gate| &*gate.id).collect();
            let message = format!(
                "an import takes one gate, but {} gates were decided in {}: {}",
                ids.len(),
                copy.display(),
                ids.join(", ")
            );
            return Err(CliError::usage(message).hint("name the gate to import: --gate ID"));
        }
    };
    let of = chosen.run_id.as_deref().unwrap_or(&run.id);
    DecisionFile::decided_in(of, chosen, &run.gates, &run.audit).map_err(|error| {
        let message = format!("{}: {error}", copy.display());
        match error {
            NoDecision::Contradicted(_) => CliError::refused("copy-contradicted", message),
            _ => CliError::refused("copy-without-decision", message),
        }
        .hint("ask the decider to send a decision file or an unchanged copy of the run")
    })
}

/// Returns the run whose id the copy contains, if that run is in this project. The copy is untrusted, so an id such as
/// `../x` is an error.
fn named(copy: &Path, decision: &DecisionFile) -> Result<String, CliError> {
    let run = &decision.run;
    let lost = |error: CliError| {
        error.hint(format!(
            "name the run: `prosescope gate import {} RUN`",
            prosescope_core::shell::word(&copy.to_string_lossy())
        ))
    };
    let project = locate::project().map_err(lost)?;
    match plain("run", run).is_ok() && project.join("runs").join(run).is_dir() {
        true => Ok(run.clone()),
        false => Err(lost(CliError::not_found(format!(
            "the copy is of run {run:?}, which is not in {}",
            project.display()
        )))),
    }
}
