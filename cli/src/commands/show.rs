use prosescope_core::session::pages;
use prosescope_core::view::RunShown;

use super::{ended, unread};
use crate::args::run::RunArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

pub(super) fn run(args: &RunArgs, out: &Out) -> Result<Exit, CliError> {
    let session = locate::open(&args.name()?)?;
    let shown = RunShown {
        overview: pages::overview(&session, Some(locate::now())),
        program: pages::program_page(&session, 0, u32::MAX),
        imports: pages::imports(&session),
        files: pages::files(&session),
        issues: pages::issues_page(&session),
    };
    out.show(&shown, || {
        print::overview(&shown.overview, &shown.imports, &shown.issues, out.width)
    })?;
    unread::shown(&session)?;
    Ok(ended(&session))
}
