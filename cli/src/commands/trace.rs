use prosescope_core::session::pages;
use std::collections::BTreeSet;

use prosescope_core::view::Part;

use super::unread;
use crate::args::TraceArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

pub(super) fn run(args: &TraceArgs, out: &Out) -> Result<Exit, CliError> {
    let session = locate::open(&args.run)?;
    let view = pages::trace_page(
        &session,
        &BTreeSet::new(),
        0,
        args.limit.unwrap_or(u32::MAX),
    );
    unread::list(&session, Part::Statements, view.rows.is_empty(), || {
        out.show(&view, || print::trace(&view, out.width))
    })
}
