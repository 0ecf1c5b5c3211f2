use prosescope_core::model::Binding;
use prosescope_core::pages::resume;
use prosescope_core::record::render::text::escape;

use super::unread;

use crate::args::run::RunArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate;
use crate::out::Out;

/// Prints the next command, and why. If several commands are possible, prints each with its condition.
pub(super) fn run(args: &RunArgs, out: &Out) -> Result<Exit, CliError> {
    let session = locate::open(&args.name()?)?;
    // If parts of the run were not read, a model could repeat work that is already done.
    unread::require_all_but_sealed(&session)?;
    let facts = resume::ResumeFacts {
        run: session.run(),
        trace: session.trace(),
        listing: session.listing(),
    };
    let named = (session.name(), args.given()?.is_some());
    let values = |binding: &Binding, most| session.short_text(binding, most).ok().flatten();
    let named = (&*named.0, named.1);
    let next = resume::next(facts, locate::now(), named, &values)?;
    out.show(&next, || {
        if next.choices.is_empty() {
            return "nothing: the run is completed\n".to_owned();
        }
        let lines = next.choices.iter();
        let lines = lines.map(|choice| format!("{}\n  {}\n", choice.command, choice.why));
        escape(&lines.collect::<Vec<_>>().join("or\n"), true)
    })
}
