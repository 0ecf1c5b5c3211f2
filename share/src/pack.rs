//! A zip of what leaves.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use prosescope_core::sqlite::Rebuild;
use prosescope_redact::Remains;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use sha2::{Digest, Sha256};

use crate::ReaderAt;
use crate::archive::{Archive, ArchiveError};
use crate::copy::{FileKind, Redactor, Rows, Shared, files_of, values_of};
use crate::manifest::{FORMAT, MANIFEST, Manifest, Part, hex};
use crate::signed::{SIGNATURE, Sign};

/// Bytes that are copied at a time.
const PIECE: usize = 64 << 10;
/// Bytes that are searched at a time, and how many of them again with the next.
const SEARCHED: usize = 4 << 20;
const OVERLAP: usize = 64 << 10;

/// Why a run is not shared.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
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

/// Databases, as a shell opens and makes them.
pub trait Databases {
    /// Builds a database of the source anew ([`prosescope_core::sqlite::rebuild`]) and gives its bytes.
    ///
    /// # Errors
    /// When it cannot be read, or the new one not be made.
    fn rebuilt(
        &mut self,
        path: &str,
        rows: &mut dyn Rebuild,
    ) -> Result<Box<dyn Read + '_>, ShareError>;

    /// Gives the bytes of a database as it is at one moment, with what its `-wal` holds.
    ///
    /// # Errors
    /// As [`Databases::rebuilt`].
    fn whole(&mut self, path: &str) -> Result<Box<dyn Read + '_>, ShareError>;
}

/// Who makes a copy, and when.
#[derive(Debug, Clone)]
pub struct Made {
    /// The program and its version.
    pub by: String,
    /// RFC 3339, UTC.
    pub at: String,
}

/// Looks through the runs without writing anything: what would be replaced and left out is then known, and [`Redactor::again`] may follow.
///
/// # Errors
/// When a part cannot be read.
pub fn look(
    runs: &[Shared<'_>],
    redactor: &mut Redactor,
    databases: &mut [&mut dyn Databases],
) -> Result<(), ShareError> {
    each(runs, redactor, databases, &mut |_, bytes| {
        io::copy(bytes, &mut io::sink()).map(|_| ())
    })
}

/// Writes a zip of the runs, as they leave, with its manifest and, where somebody signs that, its signature; returns the manifest.
///
/// # Errors
/// When a part cannot be read, or the zip not be signed or written: it is then not to be used.
pub fn pack<W: Write>(
    runs: &[Shared<'_>],
    redactor: &mut Redactor,
    databases: &mut [&mut dyn Databases],
    made: &Made,
    sign: Option<&mut Sign<'_>>,
    out: W,
) -> Result<(Manifest, W), ShareError> {
    let mut zip = ZipArchiveWriter::new(out);
    let mut parts = Vec::new();
    each(runs, redactor, databases, &mut |path, bytes| {
        parts.push(add(&mut zip, path, bytes)?);
        Ok(())
    })?;
    parts.sort_by(|a, b| a.path.cmp(&b.path));
    let ids = runs.iter().map(|run| match run.session {
        Some(session) => session.run().id.to_string(),
        None => run.database.clone().unwrap_or_default(),
    });
    let ids: Vec<String> = ids.collect();
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        made_by: made.by.clone(),
        made_at: made.at.clone(),
        raw: redactor.is_raw(),
        runs: ids,
        parts,
        redactions: redactor.redactions(),
        left_out: redactor.left_out(),
        sealed_anew: redactor.sealed_anew(),
        signed: sign.is_some(),
    };
    let wrong = |error: &dyn std::fmt::Display| ShareError::Write(error.to_string());
    let text = serde_json::to_vec_pretty(&manifest).map_err(|e| wrong(&e))?;
    add(&mut zip, MANIFEST, &mut text.as_slice()).map_err(|e| wrong(&e))?;
    if let Some(sign) = sign {
        let signature = sign(&text).map_err(ShareError::Sign)?;
        add(&mut zip, SIGNATURE, &mut signature.as_slice()).map_err(|e| wrong(&e))?;
    }
    let out = zip.finish().map_err(|e| wrong(&e))?;
    Ok((manifest, out))
}

/// Gives each part of the runs to `take`, as it leaves.
fn each(
    runs: &[Shared<'_>],
    redactor: &mut Redactor,
    databases: &mut [&mut dyn Databases],
    take: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> Result<(), ShareError> {
    for (shared, databases) in runs.iter().zip(databases) {
        let values = values_of(shared.session);
        for file in files_of(shared, redactor) {
            let taken = match file.kind {
                FileKind::Database if redactor.is_raw() => {
                    // What it would hold is said all the same.
                    drop(databases.rebuilt(&file.path, &mut Rows::new(redactor))?);
                    let mut bytes = databases.whole(&file.path)?;
                    take(&file.to, &mut bytes)
                }
                FileKind::Database => {
                    let mut bytes = databases.rebuilt(&file.path, &mut Rows::new(redactor))?;
                    take(&file.to, &mut bytes)
                }
                _ => {
                    let bytes = redactor.file(shared, &file, &values);
                    let bytes = bytes.map_err(|error| ShareError::Read {
                        path: file.path.clone(),
                        cause: error.to_string(),
                    })?;
                    match bytes {
                        Some(bytes) => take(&file.to, &mut bytes.as_slice()),
                        None => Ok(()),
                    }
                }
            };
            taken.map_err(|error| ShareError::Write(error.to_string()))?;
        }
    }
    Ok(())
}

/// Adds a file to a zip.
fn add<W: Write>(
    zip: &mut ZipArchiveWriter<W>,
    path: &str,
    bytes: &mut dyn Read,
) -> io::Result<Part> {
    let wrong = |error: rawzip::Error| io::Error::other(error.to_string());
    let file = zip
        .new_file(path)
        .compression_method(CompressionMethod::DEFLATE)
        .unix_permissions(0o644);
    let (mut entry, config) = file.start().map_err(wrong)?;
    let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::default()));
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

/// Searches what was written for everything that was replaced, in each form.
///
/// # Errors
/// [`ShareError::Remains`] names the first that is found; the file is then to be removed.
pub fn check<R: ReaderAt>(archive: &Archive<R>, redactor: &Redactor) -> Result<(), ShareError> {
    if redactor.is_raw() {
        return Ok(());
    }
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
        archive.unpack(entry, &mut |bytes| {
            held.extend_from_slice(bytes);
            if held.len() >= SEARCHED {
                if let Err(error) = found(&held, &entry.path) {
                    wrong.get_or_insert(error);
                }
                held.drain(..held.len() - OVERLAP);
            }
            Ok(())
        })?;
        match wrong {
            Some(error) => return Err(error),
            None => found(&held, &entry.path)?,
        }
    }
    Ok(())
}
