use prosescope_core::render::narration::{Style, narrate};
use prosescope_core::render::text::escape;
use prosescope_core::view::{Narration, Part};

use super::{ended, node_named, unread};
use crate::args::record::{Markers, NarrateArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate;
use crate::out::Out;

pub(super) fn run(args: &NarrateArgs, out: &Out) -> Result<Exit, CliError> {
    let session = locate::open(&args.run.name()?)?;
    unread::require_parts(&session, &[Part::Statements])?;
    if session.trace().unordered {
        let message = "cannot narrate the run: only its bindings are recorded, not the order of its statements";
        return Err(CliError::new(Exit::Refused, message)
            .hint("`prosescope trace RUN` shows the recorded statements"));
    }
    let name = args.execution.as_deref();
    let only = name
        .map(|name| node_named(&session, "--execution", name, &[]))
        .transpose()?;
    let style = match args.style {
        Markers::Compact => Style::Compact,
        Markers::Positions => Style::Positions,
    };
    let lines = narrate(
        session.run(),
        session.trace(),
        session.listing(),
        only,
        style,
    );
    let run = session.run().id.to_string();
    let view = Narration { run, lines };
    out.show(&view, || {
        let lines = view.lines.iter();
        lines.map(|line| escape(line, false) + "\n").collect()
    })?;
    Ok(ended(&session))
}
