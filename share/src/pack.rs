//! Packs redacted runs into a zip, and searches the zip for texts that should have been replaced.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use prosescope_core::model::source::{Source, SourceError};
use prosescope_core::model::text::{bytes, counted, hex};
use prosescope_core::pages::view::{RunShared, SharedPart};
use prosescope_core::read::sqlite::{Rebuild, RebuildError};
use prosescope_redact::Remains;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use sha2::{Digest, Sha256};

use crate::ReaderAt;
use crate::archive::{Archive, ArchiveError};
use crate::copy::{
    FileKind, FileToShare, Redactor, RowRedaction, SharedRun, TakenPaths, files_of, values_of,
};
use crate::manifest::{FORMAT, MANIFEST, Manifest, PackedFile, is_row};
use crate::page::PageError;

/// The number of bytes that are copied at a time.
const PIECE: usize = 64 << 10;
/// The number of bytes that are searched at a time, and the number of bytes at the end of a piece that are searched
/// again with the next piece. The overlap finds a secret that lies across two pieces.
const SEARCHED: usize = 4 << 20;
const OVERLAP: usize = 64 << 10;

/// The reason why a run is not shared.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// Two runs would get the same path in the copy.
    #[error("two of the runs are called {0}")]
    Alike(String),
    /// A part of the run cannot be read.
    #[error("{path} cannot be read: {cause}")]
    Read {
        /// The path of the part.
        path: String,
        /// The reason why the part cannot be read.
        cause: String,
    },
    /// The copy cannot be written.
    #[error("the copy cannot be written: {0}")]
    Write(String),
    /// The written file cannot be read back.
    #[error("the written file cannot be read back: {0}")]
    Written(#[from] ArchiveError),
    /// The run is in a shared file that was changed, or of which that cannot be checked.
    #[error("nothing was written: {0}")]
    Changed(String),
    /// The runs are too large for a page.
    #[error("{}", too_large(.0))]
    TooLarge(Box<RunShared>),
    /// A database was requested, but the copy has none or several.
    #[error("the copy is not a single database: the copy contains no database, or several")]
    NotOneDatabase,
    /// The page cannot be written.
    #[error(transparent)]
    Page(#[from] PageError),
    /// More secrets were replaced than can be searched for.
    #[error(
        "{} would be replaced where the rules find them, but not searched for in other forms, such as base64: together, the secrets have more than 4 MB",
        counted(*.0, "secret", "secrets")
    )]
    TooManySecrets(u64),
    /// A replaced text still occurs in the written file.
    #[error(
        "nothing was shared: the copy should not contain {name}, but {path} still does ({form})"
    )]
    Remains {
        /// The secret's name.
        name: String,
        /// The path of the file that contains the secret.
        path: String,
        /// The form in which the file contains the secret: `plain`, `base64`, …
        form: String,
    },
}

impl ShareError {
    /// Creates an error for a part that cannot be read.
    pub fn unread(path: &str, cause: &dyn std::fmt::Display) -> ShareError {
        ShareError::Read {
            path: path.to_owned(),
            cause: cause.to_string(),
        }
    }

    /// Creates an error for a database that cannot be opened. The message contains the path only once.
    pub fn not_opened(path: &str, error: &SourceError) -> ShareError {
        match error {
            SourceError::Database { cause, .. } => ShareError::unread(path, cause),
            other => ShareError::unread(path, other),
        }
    }

    /// Creates an error for a database that cannot be rebuilt.
    pub fn not_rebuilt(path: &str, error: RebuildError) -> ShareError {
        match error {
            RebuildError::Read { .. } => ShareError::unread(path, &error),
            RebuildError::Write(error) => ShareError::Write(error.to_string()),
        }
    }

    /// Returns what the user can do so that sharing succeeds.
    pub fn next_step(&self) -> String {
        let step = match self {
            ShareError::Alike(_) => {
                "name each run once; share different runs with the same name in separate files"
            }
            ShareError::Read { .. } => {
                "if a command records into the run now, repeat this one; else see what is wrong with the run: `prosescope check RUN`; make a repaired copy: `prosescope check RUN --fix`"
            }
            ShareError::Write(_) | ShareError::Written(_) => {
                "check the free disk space and the folder's permissions"
            }
            ShareError::TooLarge(_) => {
                "share a zip instead of a page, or leave out what is long: attachments, long values"
            }
            ShareError::Changed(_) => {
                "ask the sender for the file again; with --anyway, `convert` and `share` write from it as it is"
            }
            ShareError::NotOneDatabase => "share a zip instead",
            ShareError::TooManySecrets(_) => {
                "leave out the content with most of them (`--without values`), or share it nevertheless: `--anyway`"
            }
            ShareError::Page(error) => error.next_step(),
            ShareError::Remains { name, .. } => {
                return format!(
                    "leave out the content that contains {name} (`--without`, `--max-value`), or keep the text deliberately: `--keep '{name}'`"
                );
            }
        };
        step.to_owned()
    }
}

fn too_large(report: &RunShared) -> String {
    let largest = report.parts.iter().take(3);
    let largest: Vec<String> = largest
        .map(|part| format!("{} {}", part.path, bytes(part.bytes)))
        .collect();
    format!(
        "the run has {}, which is too much for one page; the largest parts: {}",
        bytes(report.parts.iter().map(|part| part.bytes).sum()),
        largest.join(", ")
    )
}

/// Opens and rebuilds the databases of a run. Each shell implements this trait with its own access to the files.
pub trait Databases {
    /// Passes each row that a rebuilt database would contain to `rows`. Writes nothing.
    ///
    /// # Errors
    /// If the database cannot be opened, or one of its rows cannot be read.
    fn look(&mut self, path: &str, rows: &mut dyn Rebuild) -> Result<(), ShareError>;

    /// Rebuilds a database of the source ([`prosescope_core::read::sqlite::rebuild`]) and returns its bytes.
    ///
    /// # Errors
    /// If the database cannot be read, or the new one not be written.
    fn rebuilt(&mut self, path: &str, rows: &mut dyn Rebuild) -> Result<Box<dyn Read>, ShareError>;

    /// Returns the bytes of a database at one moment, including its `-wal` file.
    ///
    /// # Errors
    /// As for [`Databases::rebuilt`].
    fn whole(&mut self, path: &str) -> Result<Box<dyn Read>, ShareError>;
}

/// The program that makes a copy, and the settings of the copy.
#[derive(Debug, Clone)]
pub struct Made {
    /// The name and the version of the program that makes the copy.
    pub by: String,
    /// The time of sharing: RFC 3339, UTC.
    pub at: String,
    /// Whether to compress the parts; false if the zip is only an intermediate step.
    pub deflated: bool,
    /// The row of the trace to show first, as in the viewer's address; a text that does not name a row is ignored.
    pub opens: Option<String>,
}

/// Scans the runs without writing anything, so that the hits and omissions are known before [`Redactor::again`] starts
/// the next pass. Returns the parts; the size of a database is its size before redaction.
///
/// # Errors
/// If a part cannot be read.
pub fn look<'a>(
    runs: &[SharedRun<'_>],
    redactor: &mut Redactor,
    databases: &mut [Box<dyn Databases + 'a>],
) -> Result<Vec<SharedPart>, ShareError> {
    let mut parts = Vec::new();
    let mut taken = TakenPaths::new();
    for (shared, databases) in runs.iter().zip(databases) {
        let values = values_of(shared.session);
        for file in files_of(shared, &mut taken, redactor) {
            let bytes = match file.kind {
                FileKind::Database => {
                    databases.look(&file.path, &mut RowRedaction::new(redactor))?;
                    Some(file.len)
                }
                _ => redacted(shared, &file, &values, redactor)?.map(|bytes| bytes.len() as u64),
            };
            let path = file.to;
            parts.extend(bytes.map(|bytes| SharedPart { path, bytes }));
        }
    }
    Ok(parts)
}

/// Writes a zip of the redacted runs with these ids and its manifest; returns the manifest.
///
/// # Errors
/// If a part cannot be read, or the zip not be written; the caller must then discard the zip.
pub fn pack<'a, W: Write>(
    runs: &[SharedRun<'_>],
    ids: Vec<String>,
    redactor: &mut Redactor,
    databases: &mut [Box<dyn Databases + 'a>],
    made: &Made,
    out: W,
) -> Result<(Manifest, W), ShareError> {
    let wrong = |error: &dyn std::fmt::Display| ShareError::Write(error.to_string());
    let mut zip = ZipArchiveWriter::new(out);
    let mut parts = Vec::new();
    let mut taken = TakenPaths::new();
    for (shared, databases) in runs.iter().zip(databases) {
        let values = values_of(shared.session);
        for file in files_of(shared, &mut taken, redactor) {
            let part = match (file.kind, redactor.is_raw()) {
                (FileKind::Database, true) => add(
                    &mut zip,
                    made.deflated,
                    &file.to,
                    &mut databases.whole(&file.path)?,
                ),
                (FileKind::Database, false) => {
                    let mut rows = RowRedaction::new(redactor);
                    add(
                        &mut zip,
                        made.deflated,
                        &file.to,
                        &mut databases.rebuilt(&file.path, &mut rows)?,
                    )
                }
                _ => match redacted(shared, &file, &values, redactor)? {
                    Some(bytes) => add(&mut zip, made.deflated, &file.to, &mut bytes.as_slice()),
                    None => continue,
                },
            };
            parts.push(part.map_err(|error| wrong(&error))?);
        }
    }
    parts.sort_by(|a, b| a.path.cmp(&b.path));
    let is_raw = redactor.is_raw();
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        made_by: made.by.clone(),
        made_at: made.at.clone(),
        raw: is_raw,
        runs: ids,
        parts,
        // A raw copy contains every hit unchanged, so it lists no replacements.
        redactions: if is_raw {
            Vec::new()
        } else {
            redactor.redactions()
        },
        left_out: redactor.left_out(),
        sealed_anew: redactor.sealed_anew(),
        opens: made.opens.clone().filter(|row| is_row(row)),
    };
    let text = serde_json::to_vec_pretty(&manifest).map_err(|e| wrong(&e))?;
    add(&mut zip, made.deflated, MANIFEST, &mut text.as_slice()).map_err(|e| wrong(&e))?;
    let out = zip.finish().map_err(|e| wrong(&e))?;
    Ok((manifest, out))
}

/// Returns the redacted bytes of a file that is not a database; `None` if the file is left out.
fn redacted(
    shared: &SharedRun<'_>,
    file: &FileToShare,
    values: &BTreeMap<String, u64>,
    redactor: &mut Redactor,
) -> Result<Option<Vec<u8>>, ShareError> {
    let bytes = redactor.file(shared, file, values);
    bytes.map_err(|error| ShareError::unread(&file.path, &error))
}

/// Adds a file to a zip, and returns the file's size and checksum.
fn add<W: Write>(
    zip: &mut ZipArchiveWriter<W>,
    deflated: bool,
    path: &str,
    bytes: &mut dyn Read,
) -> io::Result<PackedFile> {
    let wrong = |error: rawzip::Error| io::Error::other(error.to_string());
    let file = zip
        .new_file(path)
        .compression_method(CompressionMethod::DEFLATE)
        .unix_permissions(0o644);
    let level = if deflated {
        Compression::default()
    } else {
        Compression::none()
    };
    let (mut entry, config) = file.start().map_err(wrong)?;
    let mut writer = config.wrap(DeflateEncoder::new(&mut entry, level));
    let mut hasher = Sha256::new();
    let mut piece = vec![0; PIECE];
    let mut len = 0;
    loop {
        let read = bytes.read(&mut piece)?;
        let Some(read) = piece.get(..read).filter(|read| !read.is_empty()) else {
            break;
        };
        hasher.update(read);
        writer.write_all(read)?;
        len += read.len() as u64;
    }
    let (encoder, output) = writer.finish().map_err(wrong)?;
    encoder.finish()?;
    entry.finish(output).map_err(wrong)?;
    Ok(PackedFile {
        path: path.to_owned(),
        bytes: len,
        sha256: hex(&hasher.finalize()),
    })
}

/// Searches the written zip for every replaced text, in each form. `copy` is the unpacked zip; files that `copy` lacks,
/// such as the manifest, are unpacked here.
///
/// # Errors
/// [`ShareError::Remains`] for the first text found; the caller must then remove the file.
pub fn remains<R: ReaderAt>(
    archive: &Archive<R>,
    copy: &dyn Source,
    redactor: &Redactor,
) -> Result<(), ShareError> {
    let remains = Remains::of(redactor.names());
    let found = |bytes: &[u8], path: &str| match remains.search(bytes) {
        None => Ok(()),
        Some(place) => Err(ShareError::Remains {
            name: place.name,
            path: path.to_owned(),
            form: place.form.to_owned(),
        }),
    };
    for entry in archive.entries() {
        found(entry.path.as_bytes(), "a file's name")?;
        let mut held = Vec::new();
        let mut wrong = None;
        let mut each = |bytes: &[u8]| -> io::Result<()> {
            held.extend_from_slice(bytes);
            if held.len() >= SEARCHED {
                if let Err(error) = found(&held, &entry.path) {
                    wrong.get_or_insert(error);
                }
                held.drain(..held.len() - OVERLAP);
            }
            Ok(())
        };
        match copy.file(&entry.path) {
            Some(file) if file.len == entry.len => {
                let unread = |error: SourceError| ShareError::unread(&entry.path, &error);
                let mut at = 0;
                while at < file.len {
                    let bytes = copy.read(&file.path, at, SEARCHED).map_err(unread)?;
                    if bytes.is_empty() {
                        return Err(ShareError::unread(&entry.path, &"it ends too soon"));
                    }
                    at += bytes.len() as u64;
                    each(&bytes).map_err(|error| ShareError::unread(&entry.path, &error))?;
                }
            }
            _ => archive.unpack(entry, &mut each)?,
        }
        match wrong {
            Some(error) => return Err(error),
            None => found(&held, &entry.path)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use prosescope_core::read::sqlite::MemorySource;
    use prosescope_redact::{Rules, shape};

    use super::*;
    use crate::copy::TextPlace;
    use crate::what::ShareWhat;

    #[test]
    fn what_was_replaced_is_found_in_the_copy_and_in_what_the_copy_lacks() {
        let secret = shape::fill("ghp_{A:36}", 1);
        let mut redactor = Redactor::new(Rules::new(), ShareWhat::default());
        let place = TextPlace { of: "", at: "" };
        assert!(redactor.text(place, &secret).is_some());
        // The secret begins in one searched piece and ends in the next.
        let long = format!("{}{secret}", " ".repeat(SEARCHED - 20));
        for held in ["r/a.md", MANIFEST, ""] {
            let files = ["r/a.md", MANIFEST].map(|path| {
                let text = if path == held { long.as_str() } else { "plain" };
                (path.to_owned(), text.as_bytes().to_vec())
            });
            let mut zip = ZipArchiveWriter::new(Vec::new());
            for (path, bytes) in &files {
                add(&mut zip, true, path, &mut bytes.as_slice()).unwrap();
            }
            let zip = zip.finish().unwrap();
            let archive = Archive::open(zip.as_slice(), zip.len() as u64, u64::MAX).unwrap();
            let [file, _] = files;
            let copy = MemorySource::new("", [file]);
            match remains(&archive, &copy, &redactor) {
                Err(ShareError::Remains { path, .. }) => assert_eq!(path, held),
                other => assert!(held.is_empty() && other.is_ok(), "{held}: {other:?}"),
            }
        }
    }

    #[test]
    fn more_secrets_than_can_be_searched_for_are_shared_only_if_that_is_wished() {
        for unsearched in [false, true] {
            let what = ShareWhat {
                unsearched,
                ..ShareWhat::default()
            };
            let mut redactor = Redactor::new(Rules::new(), what);
            for seed in 0..3 {
                let token = shape::fill("ghp_{A:36}", seed) + &"a".repeat(1_500_000);
                let place = TextPlace { of: "", at: "" };
                assert!(redactor.text(place, &token).is_some());
                match redactor.unsearched() {
                    Ok(count) => assert_eq!(count, u64::from(seed == 2)),
                    Err(error) => {
                        assert!(!unsearched && seed == 2);
                        assert!(matches!(error, ShareError::TooManySecrets(1)), "{error}");
                    }
                }
            }
        }
    }
}
