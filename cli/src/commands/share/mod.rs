//! `prosescope share RUN… -o FILE` writes redacted runs into one file.

mod rules;
mod runs;
mod written;

use std::path::Path;
use std::rc::Rc;

use prosescope_core::model::source::Source;
use prosescope_core::pages::view::{RunShared, SecretsReplaced};
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
    let opened = RunsToShare::open(&args.runs()?, format == SharedFileKind::Database, out)?;
    let redactor = rules::redactor(&args.wishes, &opened)?;
    let mut sharing = Sharing::new(opened.shared()?, redactor).map_err(failed)?;
    let progress = Rc::new(Progress::of("looking through", 0, out));
    let told = Rc::clone(&progress);
    sharing.watch(Box::new(move |seen, all| told.at(seen, all)));
    let mut looked = || {
        let mut report = sharing.look().map_err(failed)?;
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
        // Commands that record must not wait for an answer.
        opened.locks.take();
        if !written::agreed(file)? {
            return Err(CliError::refused("not-agreed", "nothing was written"));
        }
    }
    let made = made(format != SharedFileKind::Database);
    let temporary = written::beside(file)?;
    let packed = sharing.pack(&made, &mut || written::emptied(temporary.as_file()));
    let (mut report, _) = packed.map_err(failed)?;
    opened.locks.take();
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
        SharedFileKind::Zip => written::put(temporary, file, args.overwrite)?,
        SharedFileKind::Database => written::database(&zip, file, args.overwrite)?,
        SharedFileKind::Page | SharedFileKind::Text => {
            let packed = temporary.path().metadata()?.len();
            if packed > page::MOST {
                return Err(failed(ShareError::TooLarge(Box::new(report))));
            }
            let summary = Summary::of(&(copy as Rc<dyn Source>));
            let text = match format {
                SharedFileKind::Text => summary.text,
                _ => written::page(temporary.path(), &summary)?,
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

/// The kind of the shared file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SharedFileKind {
    Page,
    Zip,
    Database,
    Text,
}

fn word(kind: SharedFileKind) -> &'static str {
    match kind {
        SharedFileKind::Page => "html",
        SharedFileKind::Zip => "zip",
        SharedFileKind::Database => "db",
        SharedFileKind::Text => "text",
    }
}

fn format(args: &ShareArgs) -> Result<SharedFileKind, CliError> {
    let end = args.out.as_deref().and_then(Path::extension);
    let end = end.map(|end| end.to_string_lossy().to_ascii_lowercase());
    Ok(match (args.format, end.as_deref()) {
        _ if args.plain => SharedFileKind::Text,
        (Some(Format::Html), _) | (None, Some("html" | "htm")) => SharedFileKind::Page,
        (Some(Format::Zip), _) | (None, Some("zip")) => SharedFileKind::Zip,
        (Some(Format::Db), _) | (None, Some("db" | "sqlite")) => SharedFileKind::Database,
        (None, Some("txt" | "md")) => SharedFileKind::Text,
        (None, _) if args.report => SharedFileKind::Page,
        (None, _) => {
            return Err(CliError::usage(
                "the name of the file does not end with a known extension",
            )
            .hint("end the name with .html, .zip or .db, or give --format"));
        }
    })
}

/// Converts an error of `prosescope_share` to the error of a command.
pub(super) fn failed(error: ShareError) -> CliError {
    let (message, hint) = (error.to_string(), error.next_step());
    let error = match error {
        ShareError::Alike(_) => CliError::usage(message),
        ShareError::Read { .. } | ShareError::Page(_) => CliError::new(Exit::Unreadable, message),
        ShareError::Write(_) | ShareError::Written(_) => CliError::new(Exit::Io, message),
        ShareError::TooLarge(_) => CliError::refused("page-too-large", message),
        ShareError::NotOneDatabase => CliError::refused("no-one-database", message),
        ShareError::Remains { .. } => {
            CliError::refused("secret-remains", format!("{message}; nothing was written"))
        }
    };
    error.hint(hint)
}
