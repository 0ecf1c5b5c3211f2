//! `prosescope share RUN… -o FILE`: runs in one file, redacted, for somebody else.

mod rules;
mod runs;
mod written;

use std::path::Path;
use std::rc::Rc;

use prosescope_core::source::Source;
use prosescope_core::view::RunShared;
use prosescope_share::pack::{Made, ShareError};
use prosescope_share::sharing::Sharing;
use prosescope_share::summary::Summary;
use prosescope_store::Disk;

use crate::args::share::{Format, ShareArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{Out, say};
use crate::{locate, print};
use runs::Runs;

/// Bytes that a page may hold.
const MOST_OF_A_PAGE: u64 = 150 << 20;

pub(super) fn run(args: &ShareArgs, out: &Out) -> Result<Exit, CliError> {
    let format = format(args)?;
    if let Some(file) = &args.out
        && !args.overwrite
        && file.symlink_metadata().is_ok()
    {
        let message = format!("{} is there already", file.display());
        return Err(CliError::refused("file-exists", message)
            .hint("choose another name, or give --overwrite"));
    }
    let opened = Runs::open(&args.runs()?, out)?;
    let redactor = rules::redactor(args, &opened)?;
    let mut sharing = Sharing::new(opened.shared()?, redactor);
    let mut report = sharing.look().map_err(failed)?;
    word(format).clone_into(&mut report.format);
    if args.report {
        return out.show(&report, || print::shared(&report, out.width));
    }
    let Some(file) = args.out.as_deref() else {
        return Err(CliError::usage("name the file to write: -o FILE"));
    };
    // Whoever is asked has seen what they are asked about.
    let asks = out.terminal && !args.yes && written::can_ask();
    if asks {
        say(&print::shared(&report, out.width));
        if !written::agreed(file)? {
            return Err(CliError::refused("not-agreed", "nothing was written"));
        }
    }
    let made = Made {
        by: format!("prosescope {}", env!("CARGO_PKG_VERSION")),
        at: written::now(),
    };
    let mut temporary = written::beside(file)?;
    let packed = sharing.pack(&made, temporary.as_file_mut());
    let (mut report, _) = packed.map_err(failed)?;
    word(format).clone_into(&mut report.format);
    let zip = written::opened(temporary.path())?;
    sharing.check(&zip).map_err(failed)?;
    let copy = Rc::new(Disk::open(temporary.path()).map_err(locate::store)?);
    let databases = Box::new(runs::databases(&copy)?);
    sharing
        .look_through(copy.as_ref(), databases)
        .map_err(failed)?;
    report.bytes = match format {
        Kind::Zip => written::put(temporary, file, args.overwrite)?,
        Kind::Database => written::database(&zip, file, args.overwrite)?,
        Kind::Page | Kind::Text => {
            let packed = temporary.path().metadata()?.len();
            if packed > MOST_OF_A_PAGE {
                return Err(too_large(&report));
            }
            let summary = Summary::of(&(copy as Rc<dyn Source>));
            let text = match format {
                Kind::Text => summary.text,
                _ => written::page(temporary.path(), &summary)?,
            };
            written::text(&text, file, args.overwrite)?
        }
    };
    report.file = Some(file.display().to_string());
    out.show(&report, || match asks {
        true => print::shared_file(&report),
        false => print::shared(&report, out.width),
    })
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Page,
    Zip,
    Database,
    Text,
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Page => "html",
        Kind::Zip => "zip",
        Kind::Database => "db",
        Kind::Text => "text",
    }
}

fn format(args: &ShareArgs) -> Result<Kind, CliError> {
    let end = args.out.as_deref().and_then(Path::extension);
    let end = end.map(|end| end.to_string_lossy().to_ascii_lowercase());
    Ok(match (args.format, end.as_deref()) {
        _ if args.plain => Kind::Text,
        (Some(Format::Html), _) | (None, Some("html" | "htm")) => Kind::Page,
        (Some(Format::Zip), _) | (None, Some("zip")) => Kind::Zip,
        (Some(Format::Db), _) | (None, Some("db" | "sqlite")) => Kind::Database,
        (None, Some("txt" | "md")) => Kind::Text,
        (None, _) if args.report => Kind::Page,
        (None, _) => {
            return Err(
                CliError::usage("the file's name does not say which form it is to have")
                    .hint("name it .html, .zip or .db, or give --format"),
            );
        }
    })
}

fn failed(error: ShareError) -> CliError {
    let message = error.to_string();
    match error {
        ShareError::Read { .. } => CliError::new(Exit::Unreadable, message)
            .hint("`prosescope check RUN` shows what is wrong with it, `check --fix` makes a repaired copy"),
        ShareError::Write(_) | ShareError::Written(_) => CliError::new(Exit::Io, message)
            .hint("look at the free disk space and at the rights of the folder"),
        ShareError::Remains { name, .. } => CliError::refused("secret-remains", format!("{message}; nothing was written"))
            .hint(format!("leave out what holds it (--without, --max-value), or keep it knowingly: --keep '{name}'")),
    }
}

fn too_large(report: &RunShared) -> CliError {
    let largest = report.parts.iter().take(3);
    let largest: Vec<String> = largest
        .map(|part| format!("{} {}", part.path, print::bytes(part.bytes)))
        .collect();
    CliError::refused(
        "page-too-large",
        format!(
            "the run has {}, which is too much for one page; the largest parts: {}",
            print::bytes(report.bytes),
            largest.join(", ")
        ),
    )
    .hint("write a zip (-o FILE.zip), or leave out what is long: --max-value 1M, --without attachments")
}
