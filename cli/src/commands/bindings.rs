use prosescope_core::session::pages;
use prosescope_core::view::Part;

use super::unread;
use crate::args::run::RunArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

pub(super) fn run(args: &RunArgs, out: &Out) -> Result<Exit, CliError> {
    let session = locate::open(&args.name()?)?;
    let view = pages::bindings_page(&session, 0, u32::MAX);
    unread::list(&session, Part::Bindings, view.rows.is_empty(), || {
        out.show(&view, || print::bindings(&view, out.width))
    })
}
