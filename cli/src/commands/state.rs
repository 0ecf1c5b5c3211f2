use prosescope_core::pages::session::pages;
use prosescope_core::record::render::text::escape;

use super::{ended, unread};
use crate::args::StateArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

pub(super) fn run(args: &StateArgs, out: &Out) -> Result<Exit, CliError> {
    let session = locate::open(&args.run.name()?)?;
    unread::require_own_parts(&session)?;
    if out.json || args.diff {
        let view = pages::state_page(&session, args.all);
        out.show(&view, || print::state_diff(&view))?;
    } else {
        let text = pages::state_md(&session, args.all);
        if out.terminal {
            out.text(&escape(&text, true))?;
        } else {
            out.bytes(text.as_bytes())?;
        }
    }
    Ok(ended(&session))
}
