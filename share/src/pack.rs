//! A zip of what leaves.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use prosescope_core::source::{Source, SourceError};
use prosescope_core::sqlite::{Rebuild, RebuildError};
use prosescope_core::text::{bytes, hex};
use prosescope_core::view::{RunShared, SharedPart};
use prosescope_redact::Remains;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use sha2::{Digest, Sha256};

use crate::ReaderAt;
use crate::archive::{Archive, ArchiveError};
use crate::copy::{File, FileKind, Redactor, Rows, Shared, Taken, files_of, values_of};
use crate::manifest::{FORMAT, MANIFEST, Manifest, Part, is_row};
use crate::page::PageError;
use crate::signed::{SIGNATURE, Sign};

/// Bytes that are copied at a time.
const PIECE: usize = 64 << 10;
/// Bytes that are searched at a time, and how many of them again with the next.
const SEARCHED: usize = 4 << 20;
const OVERLAP: usize = 64 << 10;

/// Why a run is not shared.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// Two of the runs would get the same place in the copy.
    #[error("two of the runs are called {0}")]
    Alike(String),
    /// A part of the run cannot be read.
    #[error("{path} cannot be read: {cause}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        cause: String,
    },
    /// The copy cannot be written.
    #[error("the copy cannot be written: {0}")]
    Write(String),
    /// The manifest cannot be signed.
    #[error("it cannot be signed: {0}")]
    Sign(String),
    /// What was written cannot be read again.
    #[error("what was written cannot be read again: {0}")]
    Written(#[from] ArchiveError),
    /// The runs are too much for a page.
    #[error("{}", too_large(.0))]
    TooLarge(Box<RunShared>),
    /// A database was asked for, and there is none, or several.
    #[error("what is shared is not one database")]
    NotOneDatabase,
    /// The page cannot be made.
    #[error(transparent)]
    Page(#[from] PageError),
    /// Something that was replaced is in what was written.
    #[error("{name} is still in {path}, {form}")]
    Remains {
        /// The secret's name.
        name: String,
        /// The file.
        path: String,
        /// How it stands there.
        form: String,
    },
}

impl ShareError {
    /// A part that cannot be read.
    pub fn unread(path: &str, cause: &dyn std::fmt::Display) -> ShareError {
        ShareError::Read {
            path: path.to_owned(),
            cause: cause.to_string(),
        }
    }

    /// A database that is not opened; its path is said once.
    pub fn not_opened(path: &str, error: &SourceError) -> ShareError {
        match error {
            SourceError::Database { cause, .. } => ShareError::unread(path, cause),
            other => ShareError::unread(path, other),
        }
    }

    /// A database that is not built anew.
    pub fn not_rebuilt(path: &str, error: RebuildError) -> ShareError {
        match error {
            RebuildError::Read { .. } => ShareError::unread(path, &error),
            RebuildError::Write(error) => ShareError::Write(error.to_string()),
        }
    }

    /// What to do next.
    pub fn next_step(&self) -> String {
        let step = match self {
            ShareError::Alike(_) => {
                "name each run once; share two different runs of one name in a file each"
            }
            ShareError::Read { .. } => {
                "`prosescope check RUN` shows what is wrong with it, `check --fix` makes a repaired copy"
            }
            ShareError::Write(_) | ShareError::Written(_) => {
                "look at the free disk space and at the rights of the folder"
            }
            ShareError::TooLarge(_) => {
                "share a zip instead of a page, or leave out what is long: attachments, long values"
            }
            ShareError::Sign(_) => "make a new key: `ssh-keygen -t ed25519`",
            ShareError::NotOneDatabase => "share a zip instead",
            ShareError::Page(error) => error.next_step(),
            ShareError::Remains { name, .. } => {
                return format!(
                    "leave out what holds it (--without, --max-value), or keep it knowingly: --keep '{name}'"
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

/// Databases, as a shell opens and makes them.
pub trait Databases {
    /// Shows each row of a database of the source, as it would be built anew, and makes nothing.
    ///
    /// # Errors
    /// When it cannot be read.
    fn look(&mut self, path: &str, rows: &mut dyn Rebuild) -> Result<(), ShareError>;

    /// Builds a database of the source anew ([`prosescope_core::sqlite::rebuild`]) and gives its bytes.
    ///
    /// # Errors
    /// When it cannot be read, or the new one not be made.
    fn rebuilt(&mut self, path: &str, rows: &mut dyn Rebuild) -> Result<Box<dyn Read>, ShareError>;

    /// Gives the bytes of a database as it is at one moment, with what its `-wal` holds.
    ///
    /// # Errors
    /// As [`Databases::rebuilt`].
    fn whole(&mut self, path: &str) -> Result<Box<dyn Read>, ShareError>;
}

/// Who makes a copy, and when.
#[derive(Debug, Clone)]
pub struct Made {
    /// The program and its version.
    pub by: String,
    /// RFC 3339, UTC.
    pub at: String,
    /// Whether the parts are made smaller: not where the zip is only a way to something else.
    pub deflated: bool,
    /// The row of the trace that the copy opens on, as the viewer's address names it; what is none is left out.
    pub opens: Option<String>,
}

/// Looks through the runs without writing anything: what would be replaced and left out is then known, and [`Redactor::again`] may
/// follow. Returns the parts; a database counts as it is.
///
/// # Errors
/// When a part cannot be read.
pub fn look<'a>(
    runs: &[Shared<'_>],
    redactor: &mut Redactor,
    databases: &mut [Box<dyn Databases + 'a>],
) -> Result<Vec<SharedPart>, ShareError> {
    let mut parts = Vec::new();
    let mut taken = Taken::new();
    for (shared, databases) in runs.iter().zip(databases) {
        let values = values_of(shared.session);
        for file in files_of(shared, &mut taken, redactor) {
            let bytes = match file.kind {
                FileKind::Database => {
                    databases.look(&file.path, &mut Rows::new(redactor))?;
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

/// Writes a zip of the runs of these ids, as they leave, with its manifest and, where somebody signs that, its signature; returns the
/// manifest.
///
/// # Errors
/// When a part cannot be read, or the zip not be signed or written: it is then not to be used.
pub fn pack<'a, W: Write>(
    runs: &[Shared<'_>],
    ids: Vec<String>,
    redactor: &mut Redactor,
    databases: &mut [Box<dyn Databases + 'a>],
    made: &Made,
    sign: Option<&mut Sign<'_>>,
    out: W,
) -> Result<(Manifest, W), ShareError> {
    let wrong = |error: &dyn std::fmt::Display| ShareError::Write(error.to_string());
    let mut zip = ZipArchiveWriter::new(out);
    let mut parts = Vec::new();
    let mut taken = Taken::new();
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
                    let mut rows = Rows::new(redactor);
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
        // What a raw copy holds was not replaced.
        redactions: if is_raw {
            Vec::new()
        } else {
            redactor.redactions()
        },
        left_out: redactor.left_out(),
        sealed_anew: redactor.sealed_anew(),
        opens: made.opens.clone().filter(|row| is_row(row)),
        signed: sign.is_some(),
    };
    let text = serde_json::to_vec_pretty(&manifest).map_err(|e| wrong(&e))?;
    add(&mut zip, made.deflated, MANIFEST, &mut text.as_slice()).map_err(|e| wrong(&e))?;
    if let Some(sign) = sign {
        let signature = sign(&text).map_err(ShareError::Sign)?;
        add(
            &mut zip,
            made.deflated,
            SIGNATURE,
            &mut signature.as_slice(),
        )
        .map_err(|e| wrong(&e))?;
    }
    let out = zip.finish().map_err(|e| wrong(&e))?;
    Ok((manifest, out))
}

/// A file that is no database, as it leaves; `None` where it is left out.
fn redacted(
    shared: &Shared<'_>,
    file: &File,
    values: &BTreeMap<String, u64>,
    redactor: &mut Redactor,
) -> Result<Option<Vec<u8>>, ShareError> {
    let bytes = redactor.file(shared, file, values);
    bytes.map_err(|error| ShareError::unread(&file.path, &error))
}

/// Adds a file to a zip.
fn add<W: Write>(
    zip: &mut ZipArchiveWriter<W>,
    deflated: bool,
    path: &str,
    bytes: &mut dyn Read,
) -> io::Result<Part> {
    let wrong = |error: rawzip::Error| io::Error::other(error.to_string());
    let file = zip
        .new_file(path)
        .compression_method(CompressionMethod::DEFLATE)
        .unix_permissions(0o644);
    let level = match deflated {
        true => Compression::default(),
        false => Compression::none(),
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
    Ok(Part {
        path: path.to_owned(),
        bytes: len,
        sha256: hex(&hasher.finalize()),
    })
}

/// Searches what was written for everything that was replaced, in each form. `copy` is what it was unpacked to: what that does not have,
/// such as the manifest, is unpacked here.
///
/// # Errors
/// [`ShareError::Remains`] names the first that is found; the file is then to be removed.
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
    use prosescope_core::sqlite::MemorySource;
    use prosescope_redact::{Rules, shape};

    use super::*;
    use crate::copy::Place;
    use crate::what::What;

    #[test]
    fn what_was_replaced_is_found_in_the_copy_and_in_what_the_copy_lacks() {
        let secret = shape::fill("ghp_{A:36}", 1);
        let mut redactor = Redactor::new(Rules::new(), What::default());
        let place = Place { of: "", at: "" };
        assert!(redactor.text(place, &secret).is_some());
        // It stands where two pieces meet.
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
}
