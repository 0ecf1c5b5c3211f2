//! `prosescope share RUN… -o FILE`: runs in one file, redacted, for somebody else.

mod rules;
mod runs;
mod written;

use std::path::Path;

use prosescope_core::view::{
    LeftOutOfShare, LogSealedAnew, RunShared, SecretFound, SecretsReplaced, SharedPart,
};
use prosescope_share::copy::Redactor;
use prosescope_share::manifest::Manifest;
use prosescope_share::pack::{self, Databases, Made, ShareError};
use prosescope_share::signed::Sign;

use crate::args::share::{Format, ShareArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{Out, say};
use crate::print;
use crate::signature::Key;
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
    let key = key(args, format)?;
    let opened = Runs::open(&args.runs()?, out)?;
    let mut redactor = rules::redactor(args, &opened)?;
    let shared = opened.shared();
    let mut databases = opened.databases()?;
    let mut each: Vec<&mut dyn Databases> = databases
        .iter_mut()
        .map(|one| one as &mut dyn Databases)
        .collect();
    pack::look(&shared, &mut redactor, &mut each).map_err(failed)?;
    let named = |manifest: Option<&Manifest>, redactor: &Redactor| {
        report(&opened.ids(), word(format), redactor, manifest)
    };
    if args.report {
        let report = named(None, &redactor);
        return out.show(&report, || print::shared(&report, out.width));
    }
    let Some(file) = args.out.as_deref() else {
        return Err(CliError::usage("name the file to write: -o FILE"));
    };
    redactor.again();
    let made = Made {
        by: format!("prosescope {}", env!("CARGO_PKG_VERSION")),
        at: written::now(),
    };
    let mut temporary = written::beside(file)?;
    let mut sign = key
        .as_ref()
        .map(|key| move |manifest: &[u8]| key.sign(manifest));
    let (manifest, _) = pack::pack(
        &shared,
        &mut redactor,
        &mut each,
        &made,
        sign.as_mut().map(|sign| sign as &mut Sign<'_>),
        temporary.as_file_mut(),
    )
    .map_err(failed)?;
    let mut report = named(Some(&manifest), &redactor);
    report.signed = key.as_ref().map(Key::fingerprint);
    if out.terminal && !args.yes {
        say(&print::shared(&report, out.width));
        if !written::agreed(file)? {
            return Err(CliError::refused("not-agreed", "nothing was written"));
        }
    }
    let zip = written::opened(temporary.path())?;
    pack::check(&zip, &redactor).map_err(failed)?;
    written::looked_through(temporary.path(), &mut redactor)?;
    report.bytes = match format {
        Kind::Zip => written::put(temporary, file, args.overwrite)?,
        Kind::Database => written::database(&zip, file, args.overwrite)?,
        Kind::Page | Kind::Text => {
            let size: u64 = manifest.parts.iter().map(|part| part.bytes).sum();
            let packed = temporary.path().metadata()?.len();
            if packed > MOST_OF_A_PAGE {
                return Err(too_large(size, &manifest));
            }
            written::page(
                temporary.path(),
                file,
                args.overwrite,
                matches!(format, Kind::Text),
            )?
        }
    };
    report.file = Some(file.display().to_string());
    out.show(&report, || print::shared(&report, out.width))
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

/// The key that signs, where one is named and something is written.
fn key(args: &ShareArgs, format: Kind) -> Result<Option<Key>, CliError> {
    let Some(path) = args.sign.as_deref().filter(|_| !args.report) else {
        return Ok(None);
    };
    match format {
        Kind::Page | Kind::Zip => Key::read(path).map(Some),
        Kind::Database | Kind::Text => {
            let message = format!(
                "--sign: a {} file has no place for a signature",
                word(format)
            );
            Err(CliError::usage(message).hint("write a page or a zip: -o FILE.html, -o FILE.zip"))
        }
    }
}

/// What was replaced and left out, as every shell shows it.
fn report(
    runs: &[String],
    format: &str,
    redactor: &Redactor,
    manifest: Option<&Manifest>,
) -> RunShared {
    let mut parts: Vec<SharedPart> = manifest
        .map(|manifest| &manifest.parts)
        .into_iter()
        .flatten()
        .map(|part| SharedPart {
            path: part.path.clone(),
            bytes: part.bytes,
        })
        .collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
    RunShared {
        runs: runs.to_vec(),
        file: None,
        signed: None,
        format: format.to_owned(),
        bytes: parts.iter().map(|part| part.bytes).sum(),
        raw: redactor.is_raw(),
        found: redactor
            .found()
            .iter()
            .map(|found| SecretFound {
                name: found.name.clone(),
                rule: found.rule.clone(),
                kind: found.kind.to_owned(),
                place: found.place.clone(),
                at: found.at.clone(),
                before: found.before.clone(),
                after: found.after.clone(),
            })
            .collect(),
        replaced: redactor
            .redactions()
            .into_iter()
            .map(|of| SecretsReplaced {
                rule: of.rule,
                kind: of.kind,
                place: of.place,
                count: of.count,
            })
            .collect(),
        left_out: redactor
            .left_out()
            .into_iter()
            .map(|of| LeftOutOfShare {
                what: of.what,
                count: of.count,
                bytes: of.bytes,
            })
            .collect(),
        parts,
        sealed_anew: redactor
            .sealed_anew()
            .into_iter()
            .map(|of| LogSealedAnew {
                run: of.run,
                count: of.count,
                head: of.head,
            })
            .collect(),
    }
}

fn failed(error: ShareError) -> CliError {
    let message = error.to_string();
    match error {
        ShareError::Read { .. } => CliError::new(Exit::Unreadable, message)
            .hint("`prosescope check RUN` shows what is wrong with it, `check --fix` makes a repaired copy"),
        ShareError::Write(_) | ShareError::Written(_) => CliError::new(Exit::Io, message)
            .hint("look at the free disk space and at the rights of the folder"),
        ShareError::Sign(_) => CliError::new(Exit::Unreadable, message)
            .hint("make a new key: `ssh-keygen -t ed25519`"),
        ShareError::Remains { name, .. } => CliError::refused("secret-remains", format!("{message}; nothing was written"))
            .hint(format!("leave out what holds it (--without, --max-value), or keep it knowingly: --keep '{name}'")),
    }
}

fn too_large(bytes: u64, manifest: &Manifest) -> CliError {
    let mut parts: Vec<_> = manifest.parts.iter().collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
    let largest = parts.iter().take(3);
    let largest: Vec<String> = largest
        .map(|part| format!("{} {}", part.path, print::bytes(part.bytes)))
        .collect();
    CliError::refused(
        "page-too-large",
        format!(
            "the run has {}, which is too much for one page; the largest parts: {}",
            print::bytes(bytes),
            largest.join(", ")
        ),
    )
    .hint("write a zip (-o FILE.zip), or leave out what is long: --max-value 1M, --without attachments")
}
