use std::time::{Duration, Instant};

use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::GateOpened;
use prosescope_core::record::render::text::escape;
use prosescope_core::record::{CreateGate, ViewGate};

use super::{duration, no_gate, unread};
use crate::args::gates::{CreateArgs, GateCommand};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{Out, say, say_notes};
use crate::record::Recorder;
use crate::{locate, print, record};

pub(super) fn run(command: GateCommand, out: &Out) -> Result<Exit, CliError> {
    match command {
        GateCommand::Show { gate, no_log } => {
            let (run, gate) = gate.names()?;
            show(&run, gate, no_log, out)
        }
        GateCommand::Wait { gate, limit } => {
            let (run, gate) = gate.names()?;
            wait(&run, gate, limit.as_deref(), out)
        }
        GateCommand::Create(args) => create(args, out),
    }
}

/// Shows a gate. This is the only reading command that writes: the audit log records the view.
fn show(run: &str, id: &str, no_log: bool, out: &Out) -> Result<Exit, CliError> {
    let now = Some(locate::now());
    let whole = |session| unread::require_parts(&session, unread::GATES).map(|()| session);
    let mut session = locate::open(run).and_then(whole)?;
    if pages::gate(&session, id, now).is_some() && !no_log {
        let look = ViewGate {
            gate: id.to_owned(),
            by: "user".to_owned(),
        };
        match Recorder::open(run).and_then(|mut recorder| recorder.record(&look)) {
            Ok(_) => match locate::open(run).and_then(whole) {
                Ok(now) => session = now,
                Err(error) => say(&print::note(&format!(
                    "the audit log records that you viewed the gate, but the history below lacks this view: {error}"
                ))),
            },
            // A user without write access to the run can still look at the gate.
            Err(error) => say(&print::note(&format!(
                "the audit log does not record that you viewed the gate: {error}"
            ))),
        }
    }
    let Some(view) = pages::gate(&session, id, now) else {
        return Err(no_gate(&session, id));
    };
    out.show(&view, || print::gate(&view, out.width))
}

/// The time between two looks at a gate that waits.
const PAUSE: Duration = Duration::from_secs(1);

/// Waits until a gate is decided, as long as `limit` allows. Reads only.
fn wait(run: &str, id: &str, limit: Option<&str>, out: &Out) -> Result<Exit, CliError> {
    let limit = limit.map(|text| duration("--for", text)).transpose()?;
    let limit = limit.map(|limit| Duration::from_secs(limit.seconds()));
    let begun = Instant::now();
    loop {
        let session = locate::open(run)?;
        unread::require_parts(&session, unread::GATES)?;
        let Some(view) = pages::gate(&session, id, Some(locate::now())) else {
            return Err(no_gate(&session, id));
        };
        let next = "`prosescope next` prints what follows in the program";
        let status = view.status.as_str();
        let said = |before: &str, text: &Option<String>| {
            text.as_deref()
                .map_or(String::new(), |text| format!("{before}{text}"))
        };
        let (by, why) = (said(" by ", &view.resolved_by), said(": ", &view.comment));
        let decided = escape(&format!("gate {id} was {status}{by}{why}"), false);
        match status {
            "approved" => return out.show(&view, || format!("{decided}\n")),
            "rejected" => return Err(CliError::refused("gate-rejected", decided).hint(next)),
            "timeout" => {
                let message = format!("gate {id} timed out, which counts as a rejection");
                return Err(CliError::refused("gate-timed-out", message).hint(next));
            }
            _ => {}
        }
        if view.is_copy {
            let message = format!("gate {id} waits in this copy, and a copy does not change");
            let error = CliError::refused("shared-copy", message);
            return Err(error.hint("wait where the run is recorded"));
        }
        if let Some(expire) = &view.expire_command {
            let message =
                format!("gate {id} is past its deadline, and the time-out is not recorded");
            let hint = format!("record the time-out: `{expire}`");
            return Err(CliError::refused("gate-timed-out", message).hint(hint));
        }
        if limit.is_some_and(|limit| begun.elapsed() >= limit) {
            let message = format!("gate {id} waits for a decision by {}", view.allow_words);
            return Err(CliError::refused("gate-waits", message)
                .hint("tell whoever may decide, and wait again with the same command"));
        }
        let left = limit.map_or(PAUSE, |limit| limit.saturating_sub(begun.elapsed()));
        std::thread::sleep(left.min(PAUSE));
    }
}

fn create(args: CreateArgs, out: &Out) -> Result<Exit, CliError> {
    let command = CreateGate {
        id: args.id,
        prompt: args.prompt,
        allow: args.allow,
        timeout: args.timeout,
        on_reject: args.on_reject,
        parent: args.parent,
        item: args.item.item,
        line: args.line,
        insist: args.insist.into(),
    };
    let made = record::one(&args.run.name()?, &command)?;
    say_open_names(&made);
    say_notes(&made.notes);
    // Only the gate's id is printed, because the commands that decide take that id.
    out.show(&made, || format!("{}\n", made.gate))
}

/// Notes names in braces that the prompt of a new gate still contains.
pub(super) fn say_open_names(made: &GateOpened) {
    if !made.open_names.is_empty() {
        let names: Vec<String> = made.open_names.iter().map(|n| format!("{{{n}}}")).collect();
        let names = escape(&names.join(", "), false);
        say(&print::note(&format!(
            "the prompt still contains the placeholder {names}, because the run has no binding of that name with a short text. To avoid placeholders, write the whole prompt yourself: `--prompt TEXT`"
        )));
    }
}
