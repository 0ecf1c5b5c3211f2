use prosescope_core::render::text::escape;

use crate::args::run::RunArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::record::Recorder;

/// Prints the next command, and why. If several commands are possible, prints each with its condition.
pub(super) fn run(args: &RunArgs, out: &Out) -> Result<Exit, CliError> {
    let mut recorder = Recorder::open(&args.name()?)?;
    let next = recorder.next(args.given()?.is_some())?;
    out.show(&next, || {
        if next.choices.is_empty() {
            return "nothing: the run is completed\n".to_owned();
        }
        let lines = next.choices.iter();
        let lines = lines.map(|choice| format!("{}\n  {}\n", choice.command, choice.why));
        escape(&lines.collect::<Vec<_>>().join("or\n"), true)
    })
}
