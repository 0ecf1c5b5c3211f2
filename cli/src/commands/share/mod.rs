//! `prosescope share RUN… -o FILE` writes redacted runs into one file.

mod rules;
mod runs;
pub(super) mod written;

use std::path::Path;
use std::rc::Rc;

use prosescope_core::model::source::Source;
use prosescope_core::pages::view::{RunShared, SecretsReplaced};
use prosescope_share::file::SharedForm;
use prosescope_share::pack::{Made, ShareError};
use prosescope_share::page;
use prosescope_share::redact::ASKED;
use prosescope_share::sharing::Sharing;
use prosescope_share::summary::Summary;
use prosescope_store::Disk;

use crate::args::share::{Format, ShareArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{Out, say};
use crate::progress::Progress;
use crate::{cleanup, locate, print};
pub(super) use rules::redactor;
pub(super) use runs::RunsToShare;

pub(super) fn run(args: &ShareArgs, out: &Out) -> Result<Exit, CliError> {
    let format = format(args)?;
    if let Some(file) = &args.out
        && !args.overwrite
        && file.symlink_metadata().is_ok()
    {
        let message = format!("{} already exists", file.display());
        return Err(CliError::refused("file-exists", message)
            .hint("choose another name, or give --overwrite"));
    }
    let _cleanup = cleanup::on_signal().map_err(|cause| runs::no_place(&cause))?;
    let as_database = format == Some(SharedForm::Db);
    let opened = RunsToShare::open(&args.runs()?, (as_database, args.anyway), out)?;
    let redactor = rules::redactor(&args.wishes, &opened)?;
    let mut sharing = Sharing::new(opened.shared()?, redactor).map_err(failed)?;
    let progress = Rc::new(Progress::of("looking through", 0, out));
    let told = Rc::clone(&progress);
    sharing.watch(Box::new(move |seen, all| told.at(seen, all)));
    let mut looked = || {
        let mut report = sharing.look().map_err(failed)?;
        opened.unlock();
        progress.clear();
        word(format).clone_into(&mut report.format);
        note_unused(args, &report);
        Ok::<_, CliError>(report)
    };
    if args.report {
        let report = looked()?;
        return out.show(&report, || print::shared(&report, out.width));
    }
    let Some(file) = args.out.as_deref() else {
        return Err(CliError::usage(
            "the name of the file to write is missing: give -o FILE",
        ));
    };
    // The summary comes before the question, so that the user knows what would be written.
    let asks = out.terminal && !args.yes && written::can_ask();
    if asks {
        say(&print::shared(&looked()?, out.width));
        if !written::agreed(file)? {
            return Err(CliError::refused("not-agreed", "nothing was written"));
        }
    }
    let made = made(format != Some(SharedForm::Db));
    let temporary = written::beside(file)?;
    let packed = sharing.pack(&made, &mut || written::emptied(temporary.as_file()));
    let (mut report, _) = packed.map_err(failed)?;
    opened.unlock();
    word(format).clone_into(&mut report.format);
    if !asks {
        note_unused(args, &report);
    }
    let zip = written::opened(temporary.path())?;
    let copy = Rc::new(Disk::open(temporary.path()).map_err(locate::store)?);
    sharing.check(&zip, copy.as_ref()).map_err(failed)?;
    let databases = Box::new(runs::databases(&copy)?);
    sharing
        .look_through(copy.as_ref(), databases)
        .map_err(failed)?;
    report.bytes = match format {
        Some(SharedForm::Zip) => written::put(temporary, file, args.overwrite)?,
        Some(SharedForm::Db) => written::database(&zip, file, args.overwrite)?,
        Some(SharedForm::Html) | None => {
            let packed = temporary.path().metadata()?.len();
            if packed > page::MOST {
                return Err(failed(ShareError::TooLarge(Box::new(report))));
            }
            let summary = Summary::of(&(copy as Rc<dyn Source>));
            let text = match format {
                None => summary.text,
                Some(_) => written::page(temporary.path(), &summary)?,
            };
            written::text(&text, file, args.overwrite)?
        }
    };
    progress.clear();
    report.file = Some(file.display().to_string());
    out.show(&report, || {
        if asks {
            print::shared_file(&report)
        } else {
            print::shared(&report, out.width)
        }
    })
}

/// Prints a note if no text of `--redact` was found. If the option's text is misspelled, the file still contains the
/// text that the user wants to replace.
fn note_unused(args: &ShareArgs, report: &RunShared) {
    let asked = |of: &SecretsReplaced| of.rule == ASKED;
    if !args.wishes().redact.is_empty() && !report.replaced.iter().any(asked) {
        say(&print::note(
            "--redact matched nothing in the run. Next: check the spelling, and upper and lower case",
        ));
    }
}

/// Returns the facts that the manifest of a copy records about its creation: the version of this program, and the time.
pub(super) fn made(deflated: bool) -> Made {
    Made {
        by: format!("prosescope {}", env!("CARGO_PKG_VERSION")),
        at: written::now(),
        deflated,
        opens: None,
    }
}

fn word(form: Option<SharedForm>) -> &'static str {
    form.map_or("text", SharedForm::word)
}

/// Returns the form of the shared file; `None` for the summary as plain text.
fn format(args: &ShareArgs) -> Result<Option<SharedForm>, CliError> {
    let end = args.out.as_deref().and_then(Path::extension);
    let end = end.map(|end| end.to_string_lossy().to_ascii_lowercase());
    Ok(match (args.format, end.as_deref()) {
        _ if args.plain => None,
        (Some(Format::Html), _) | (None, Some("html" | "htm")) => Some(SharedForm::Html),
        (Some(Format::Zip), _) | (None, Some("zip")) => Some(SharedForm::Zip),
        (Some(Format::Db), _) | (None, Some("db" | "sqlite")) => Some(SharedForm::Db),
        (None, Some("txt" | "md")) => None,
        (None, _) if args.report => Some(SharedForm::Html),
        (None, _) => {
            return Err(CliError::usage(
                "the name of the file does not end with a known extension",
            )
            .hint("end the name with .html, .zip or .db, or give --format"));
        }
    })
}

/// Refuses to write from a shared file that was changed, unless the user insists.
pub(super) fn require_unchanged(disk: &Disk, anyway: bool) -> Result<(), CliError> {
    let unchanged = prosescope_share::file::require_unchanged(disk);
    unchanged.or_else(|error| if anyway { Ok(()) } else { Err(failed(error)) })
}

/// Converts an error of `prosescope_share` to the error of a command.
pub(super) fn failed(error: ShareError) -> CliError {
    let (message, hint) = (error.to_string(), error.next_step());
    let error = match error {
        ShareError::Alike(_) => CliError::usage(message),
        ShareError::Read { .. } | ShareError::Page(_) => CliError::new(Exit::Unreadable, message),
        ShareError::Write(_) | ShareError::Written(_) => CliError::new(Exit::Io, message),
        ShareError::TooLarge(_) => CliError::refused("page-too-large", message),
        ShareError::Changed(_) => CliError::refused("share-changed", message),
        ShareError::NotOneDatabase => CliError::refused("no-one-database", message),
        ShareError::TooManySecrets(_) => CliError::refused("too-many-secrets", message),
        ShareError::Remains { .. } => {
            CliError::refused("secret-remains", format!("{message}; nothing was written"))
        }
    };
    error.hint(hint)
}
