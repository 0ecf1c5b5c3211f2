use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::RunPart;
use serde::Serialize;

use super::unread;
use super::windows::{SHOWN, Windows};
use crate::args::run::RunArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

/// The JSON of a [`prosescope_core::pages::view::BindingsPage`]. To save memory, its rows are made in parts while the
/// JSON is written.
#[derive(Serialize)]
struct BindingsJson<L: Serialize> {
    total: u32,
    from: u32,
    rows: L,
}

pub(super) fn run(args: &RunArgs, out: &Out) -> Result<Exit, CliError> {
    let session = locate::open(&args.name()?)?;
    let total = pages::bindings_page(&session, 0, 0).total;
    unread::list(&session, RunPart::Bindings, total == 0, || {
        if out.json {
            out.json(&BindingsJson {
                total,
                from: 0,
                rows: Windows::of(total, |from, len| {
                    pages::bindings_page(&session, from, len).rows
                }),
            })?;
        } else {
            let view = pages::bindings_page(&session, 0, SHOWN);
            out.text(&print::bindings(&view, out.width))?;
        }
        Ok(Exit::Done)
    })
}
