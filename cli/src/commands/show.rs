use prosescope_core::model::RunStatus;
use prosescope_core::pages::session::{Session, ValueOf, pages};
use prosescope_core::pages::view::{FilesView, ImportsView, IssuesView, Overview, ProgramView};
use prosescope_share::wishes::Wishes;
use serde::Serialize;

use super::windows::Windows;
use super::{ended, for_model, markdown, unread};
use crate::args::ShowArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

/// Maximum bytes of an output from which `show` takes the first line.
const BEGINNING: usize = 1_000;

/// The JSON of a [`prosescope_core::pages::view::RunShown`]. To save memory, the lines of the program are made in parts
/// while the JSON is written.
#[derive(Serialize)]
struct RunShownJson<'a, L: Serialize> {
    overview: &'a Overview,
    program: ProgramJson<'a, L>,
    imports: &'a ImportsView,
    files: FilesView,
    issues: &'a IssuesView,
}

/// The JSON of a [`ProgramView`], with its lines made in parts while the JSON is written.
#[derive(Serialize)]
struct ProgramJson<'a, L: Serialize> {
    path: &'a Option<String>,
    source_from: &'a Option<String>,
    note: &'a Option<String>,
    total: u32,
    from: u32,
    lines: L,
}

pub(super) fn run(args: &ShowArgs, out: &Out) -> Result<Exit, CliError> {
    if args.for_model {
        return for_model::run(args, out);
    }
    if args.wishes.wishes() != Wishes::default() {
        let message = "--without, --with, --keep, --redact, --max-value and --raw need --for-model";
        return Err(CliError::usage(message).hint("also give --for-model"));
    }
    if args.markdown {
        return markdown::shown(args, out);
    }
    let session = locate::open(&args.run.name()?)?;
    let overview = pages::overview(&session, Some(locate::now()));
    let imports = pages::imports(&session);
    let issues = pages::issues_page(&session);
    if out.json {
        let lines = |from, len| pages::program_page(&session, from, len).lines;
        let ProgramView {
            path,
            source_from,
            note,
            total,
            from,
            ..
        } = &pages::program_page(&session, 0, 0);
        out.json(&RunShownJson {
            overview: &overview,
            program: ProgramJson {
                path,
                source_from,
                note,
                total: *total,
                from: *from,
                lines: Windows::of(*total, lines),
            },
            imports: &imports,
            files: pages::files(&session),
            issues: &issues,
        })?;
    } else {
        let output = output(&session, &overview);
        out.text(&print::overview(
            &overview,
            output.as_ref(),
            &imports,
            &issues,
            out.width,
            out.terminal,
        ))?;
    }
    unread::require_all_but_sealed(&session)?;
    Ok(state(args, &overview).max(ended(&session)))
}

/// Returns the name of the run's first output, or else of its last value, and the first line of the value, which often
/// is a verdict.
fn output(session: &Session, overview: &Overview) -> Option<(&'static str, String)> {
    let last = overview.last_value.as_ref();
    let (what, output) = match overview.outputs.first() {
        Some(output) => ("output", output),
        None => ("last value", last?),
    };
    let value = session.value(&ValueOf::Binding(output.binding), BEGINNING);
    let text = value.ok()?.text;
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    Some((what, format!("{}: {}", output.name, first.trim())))
}

/// Returns the exit code for the state of the run, if the caller asked for it.
pub(super) fn state(args: &ShowArgs, overview: &Overview) -> Exit {
    let is_well = overview.status == RunStatus::Completed.word() && overview.against.is_none();
    if args.exit_status && !is_well {
        Exit::Issues
    } else {
        Exit::Done
    }
}
