use prosescope_core::pages::resume::prompt;
use prosescope_core::pages::session::pages;
use prosescope_core::record::Reopen;

use super::{ended, unread};
use crate::args::ResumeArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{Out, say};
use crate::print::note;
use crate::record::Recorder;
use crate::{locate, print};

pub(super) fn run(args: &ResumeArgs, out: &Out) -> Result<Exit, CliError> {
    let run = args.run.name()?;
    if args.begin {
        let gates = Recorder::open(&run)?.record(&Reopen)?;
        let at = match gates.as_slice() {
            [] => String::new(),
            gates => format!(" at gate {}", gates.join(", ")),
        };
        say(&note(&format!("recorded that the run continues{at}")));
    }
    let session = locate::open(&run)?;
    // If parts of the run were not read, a model could repeat work that is already done.
    unread::require_all_but_sealed(&session)?;
    let now = Some(locate::now());
    let view = match args.begin {
        true => pages::resume_begun(&session, now),
        false => pages::resume(&session, now),
    };
    out.show(&view, || match args.prompt {
        // The prompt is the same in a terminal and in a pipe. It contains no control characters.
        true => prompt(&view),
        false => print::resume(&view, out.width),
    })?;
    Ok(ended(&session))
}
