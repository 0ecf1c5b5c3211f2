use std::thread;
use std::time::{Duration, Instant};

use prosescope_workflow::{
    Append, Events, Horizon, Kind, NewEvent, Prune, Waiting, WorkflowRows, events, find_workflow,
    prune,
};

use super::workflow::{Writer, object, text};
use crate::args::workflow::{EventsCommand, TailArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate::WorkflowPlace;
use crate::out::{Out, say};
use crate::print::note;
use crate::{input, print};

/// Maximum number of events that one read of the store returns.
const PAGE: u32 = 1000;

/// Interval between two reads of the store by `workflow events tail --follow`.
const PAUSE: Duration = Duration::from_millis(100);

/// Maximum time between two reads by `workflow events tail --follow` on a store that notifies the command of new
/// events.
const WAKE: Duration = Duration::from_millis(500);

/// Time for which `workflow events tail --follow` retries a database that does not answer any more.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn run(command: EventsCommand, out: &Out) -> Result<Exit, CliError> {
    match command {
        EventsCommand::Append {
            workflow,
            kind,
            text: of,
            run,
            payload,
            lines,
        } => {
            let mut writer = Writer::open(&workflow.options)?;
            let id = writer.workflow(&workflow.workflow)?;
            let mut notes = match (of, lines) {
                (_, true) => noted()?,
                (of, false) => vec![NewEvent {
                    run,
                    kind: Some(known(&kind)?),
                    text: text(of.unwrap_or_default())?,
                    payload: payload
                        .as_deref()
                        .map(|text| object("--payload", text))
                        .transpose()?,
                }],
            };
            for note in &mut notes {
                note.run = note.run.take().map(|run| writer.run(&run)).transpose()?;
            }
            let append = Append {
                workflow: id,
                notes,
            };
            let done = writer.record(&append)?;
            if done.late {
                say(&note(
                    "the workflow was already cancelled, so the events are marked as late",
                ));
            }
            out.show(&done, || {
                done.ids.iter().map(|id| format!("{id}\n")).collect()
            })
        }
        EventsCommand::Tail(args) => tail(&args, out),
        EventsCommand::Prune {
            workflow,
            up_to,
            all,
        } => {
            let mut writer = Writer::open(&workflow.options)?;
            let command = Prune {
                workflow: writer.workflow(&workflow.workflow)?,
                up_to,
                all,
            };
            let done = prune(writer.tables(), &command)?;
            out.show(&done, || match done.removed {
                1 => "1 event removed\n".to_owned(),
                n => format!("{n} events removed\n"),
            })
        }
    }
}

fn known(kind: &str) -> Result<Kind, CliError> {
    Kind::parse(kind).ok_or_else(|| {
        let words: Vec<&str> = Kind::ALL.iter().map(|kind| kind.word()).collect();
        CliError::usage(format!("{kind} is not a kind of event"))
            .hint(format!("use one of {}", words.join(", ")))
    })
}

/// Parses events from standard input, one JSON object per line.
fn noted() -> Result<Vec<NewEvent>, CliError> {
    let bytes = input::standard()?;
    let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
    let lines = lines.filter(|(line, _)| !line.trim_ascii().is_empty());
    let notes = lines.map(|(line, n)| {
        serde_json::from_slice(line).map_err(|cause| {
            CliError::usage(format!("line {n} of standard input is not an event: {cause}"))
                .hint("write one JSON object per line: {\"text\": \"…\", \"kind\": \"progress\", \"run\": \"…\", \"payload\": {…}}")
        })
    });
    notes.collect()
}

/// The state of `workflow events tail` while it prints the events of a workflow.
struct Follower<'a> {
    args: &'a TailArgs,
    kept: WorkflowPlace,
    workflow: String,
    horizon: Horizon,
    cursor: i64,
    left: u64,
    waits: Vec<Waiting>,
}

fn tail(args: &TailArgs, out: &Out) -> Result<Exit, CliError> {
    let kept = WorkflowPlace::named(&args.store.store)?;
    let rows = kept.read()?;
    let workflow = find_workflow(&*rows, &args.workflow)?;
    let mut follower = Follower {
        args,
        kept,
        workflow,
        horizon: Horizon::default(),
        cursor: args.after.unwrap_or(0),
        left: args.limit.unwrap_or(u64::MAX),
        waits: Vec::new(),
    };
    let mut listener = args.follow.then(|| follower.kept.listener()).flatten();
    let mut lost: Option<Instant> = None;
    let mut rows = Some(rows);
    loop {
        let looked = match rows.take() {
            Some(rows) => Ok(rows),
            None => follower.kept.read(),
        };
        let looked = looked.and_then(|opened| {
            let done = follower.look(&*opened, out)?;
            // The connection to a server stays open. A file is opened again for each read, so that no lock or sidecar
            // file stays.
            rows = Some(opened).filter(|_| follower.kept.stays_open());
            Ok(done)
        });
        match looked {
            Ok(true) => return Ok(Exit::Done),
            Ok(false) => lost = None,
            Err(error) if !args.follow || error.exit != Exit::Io => return Err(error),
            Err(error) => {
                let since = *lost.get_or_insert_with(|| {
                    say(&note(&format!(
                        "{error}; trying again for {} s",
                        PATIENCE.as_secs()
                    )));
                    Instant::now()
                });
                if since.elapsed() > PATIENCE {
                    let cursor = follower.cursor;
                    return Err(error.hint(format!("continue with --after {cursor}")));
                }
            }
        }
        // An open transaction may hold events back, and the end of a transaction sends no notification. So the wait has
        // a limit.
        let woken = match &mut listener {
            Some(listener) if follower.waits.is_empty() => listener.wait(WAKE),
            _ => false,
        };
        if !woken {
            thread::sleep(PAUSE);
        }
    }
}

impl Follower<'_> {
    /// Prints new events. Returns whether the command has printed all requested events.
    fn look(&mut self, rows: &dyn WorkflowRows, out: &Out) -> Result<bool, CliError> {
        // A cursor that is followed needs events in their final order. So an event is not printed while an open
        // transaction may still add an earlier event.
        if self.args.follow {
            self.horizon.advance(rows)?;
        } else if let Some(unknown) = self.horizon.advance_once(rows)? {
            say(&note(&format!(
                "{}: an event of an open transaction may still be added before the last event listed here",
                unknown.why
            )));
        }
        loop {
            let most = u32::try_from(self.left).unwrap_or(u32::MAX).min(PAGE);
            let page = events(rows, &self.horizon, &self.workflow, self.cursor, most)?;
            self.print(&page, out)?;
            if self.left == 0 {
                return Ok(true);
            }
            if page.more {
                continue;
            }
            self.told(&page.waits);
            // Without --follow, the command ends when no open transaction can add an earlier event.
            return Ok(!self.args.follow && page.waits.is_empty());
        }
    }

    fn print(&mut self, page: &Events, out: &Out) -> Result<(), CliError> {
        if page.events.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        for event in &page.events {
            if out.json {
                let line = serde_json::to_string(event);
                let line = line.map_err(|cause| CliError::new(Exit::Io, cause.to_string()))?;
                text.push_str(&prosescope_core::record::render::text::escape_json(&line));
                text.push('\n');
            } else {
                text.push_str(&print::event(event));
            }
        }
        if out.json {
            out.bytes(text.as_bytes())?;
        } else {
            out.text(&text)?;
        }
        self.cursor = page.cursor;
        self.left = self.left.saturating_sub(page.events.len() as u64);
        Ok(())
    }

    /// Prints one note about each open transaction that delays later events.
    fn told(&mut self, waits: &[Waiting]) {
        let new = waits.iter().filter(|waiting| !self.waits.contains(waiting));
        for waiting in new {
            let pid = waiting
                .pid
                .map_or(String::new(), |pid| format!(" of process {pid}"));
            let program = waiting
                .application
                .as_deref()
                .filter(|name| !name.is_empty());
            let program = program.map_or(String::new(), |name| format!(" ({name})"));
            say(&note(&format!(
                "later events are held back: an open transaction{pid}{program} may still add an earlier event"
            )));
        }
        self.waits = waits.to_vec();
    }
}
