use prosescope_core::view::RunShown;

use super::{ended, unread};
use crate::args::RunArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

pub(super) fn run(args: &RunArgs, out: &Out) -> Result<Exit, CliError> {
    let session = locate::open(&args.run)?;
    let shown = RunShown {
        overview: session.overview(Some(locate::now())),
        program: session.program_page(0, u32::MAX),
        imports: session.imports(),
        files: session.files(),
        issues: session.issues_page(),
    };
    out.show(&shown, || {
        print::overview(&shown.overview, &shown.imports, &shown.issues, out.width)
    })?;
    unread::shown(&session)?;
    Ok(ended(&session))
}
