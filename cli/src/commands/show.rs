use prosescope_core::view::{FilesView, ImportsView, IssuesView, Overview, ProgramView};
use serde::Serialize;

use super::ended;
use crate::args::RunArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

/// What `prose show --json` prints: the facts of the pages that have no command of their own, too.
#[derive(Serialize)]
struct Shown {
    overview: Overview,
    program: ProgramView,
    imports: ImportsView,
    files: FilesView,
    issues: IssuesView,
}

pub(super) fn run(args: &RunArgs, out: &Out) -> Result<Exit, CliError> {
    let session = locate::open(&args.run)?;
    let shown = Shown {
        overview: session.overview(Some(locate::now())),
        program: session.program_page(0, u32::MAX),
        imports: session.imports(),
        files: session.files(),
        issues: session.issues_page(),
    };
    if out.json {
        out.json(&shown)?;
    } else {
        out.text(&print::overview(
            &shown.overview,
            &shown.imports,
            &shown.issues,
            out.width,
        ))?;
    }
    Ok(ended(&session))
}
