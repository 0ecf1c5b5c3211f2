//! `show --markdown` and `diff --markdown` print runs as Markdown, without the secrets of these runs.

use prosescope_core::pages::session::pages::{self, COMPARED, CompareOptions};
use prosescope_share::model::masked;
use prosescope_share::sharing::Sharing;

use super::share::{self, RunsToShare};
use super::{diff, ended, show, unread};
use crate::args::ShowArgs;
use crate::args::diff::DiffArgs;
use crate::args::share::WishArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

/// The largest number of values that are listed.
const VALUES: u32 = 50;

pub(super) fn shown(args: &ShowArgs, out: &Out) -> Result<Exit, CliError> {
    let opened = RunsToShare::open(&[args.run.name()?], (false, true), out)?;
    let (session, _) = opened.run("--markdown")?;
    let overview = pages::overview(session, Some(locate::now()));
    let values = pages::bindings_page(session, 0, VALUES);
    let text = print::shown_as_markdown(&overview, &values);
    out.text(&without_secrets(&opened, &text)?)?;
    Ok(show::state(args, &overview).max(ended(session)))
}

pub(super) fn compared(
    args: &DiffArgs,
    options: CompareOptions,
    out: &Out,
) -> Result<Exit, CliError> {
    let open = |name| RunsToShare::open(std::slice::from_ref(name), (false, true), out);
    let (first, second) = (open(&args.a)?, open(&args.b)?);
    let ((a, _), (b, _)) = (first.run("--markdown")?, second.run("--markdown")?);
    let view = pages::compare(a, b, Some(locate::now()), options).map_err(diff::refused)?;
    let text = without_secrets(&first, &print::compared_as_markdown(&view))?;
    out.text(&without_secrets(&second, &text)?)?;
    unread::require_parts(a, &COMPARED)?;
    unread::require_parts(b, &COMPARED)?;
    Ok(ended(a).max(ended(b)))
}

fn without_secrets(opened: &RunsToShare, text: &str) -> Result<String, CliError> {
    let (_, disk) = opened.run("--markdown")?;
    let redactor = share::redactor(&WishArgs::default(), opened)?;
    let mut sharing = Sharing::new(opened.shared()?, redactor).map_err(share::failed)?;
    let text = masked(&mut sharing, disk, &share::made(false), text);
    opened.unlock();
    text.map_err(share::failed)
}
