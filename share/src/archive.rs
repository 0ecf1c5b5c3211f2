//! Reads a zip from an untrusted sender: checks every entry before unpacking a byte.
//!
//! [`Archive::open`] reads the directory at the end of the zip and checks every entry. [`Archive::unpack`] passes one
//! entry to its caller in pieces, at most the declared length, and checks length and CRC-32. This module writes nothing
//! and keeps at most one piece in memory.

use std::io::{self, Read};

use flate2::read::DeflateDecoder;
use prosescope_core::model::text::{counted, is_plain_path};
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ReaderAt, ZipLocator};

/// The highest number of entries that a zip may have, equal to the limit for a folder.
pub const ENTRIES: u64 = 200_000;
/// The highest number of names in an entry's path; a more deeply nested entry is refused.
const DEPTH: usize = 128;
/// The longest path of an entry, and the longest name within a path, in bytes. Common file systems have the same
/// limits.
const PATH: usize = 4096;
const NAME: usize = 255;
/// The total of unpacked bytes below which the compression ratio is not checked.
const SMALL: u64 = 64 << 20;
/// The highest compression ratio of a zip that unpacks to more than [`SMALL`]. A run compresses by a factor of 3 to 20.
const RATIO: u64 = 200;
/// The bits of a Unix mode that contain the file type, and the value of these bits for a regular file.
const KIND: u32 = 0o170_000;
const FILE: u32 = 0o100_000;
/// The number of bytes of an entry that are unpacked at a time.
const PIECE: usize = 64 << 10;

/// The reason why a zip is not opened or an entry is not unpacked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// The file is not a zip, or its directory cannot be read.
    #[error("not a readable zip: {0}")]
    Malformed(String),
    /// The zip contains no files.
    #[error("the zip contains no files")]
    Empty,
    /// The type or the path of an entry is refused.
    #[error("{path}: {why}")]
    Entry {
        /// The entry's path.
        path: String,
        /// The reason why the entry is refused.
        why: String,
    },
    /// The bytes of an entry differ from the zip's directory.
    #[error("{path} is damaged: {why}")]
    Damaged {
        /// The entry's path.
        path: String,
        /// The way in which the bytes differ from the zip's directory.
        why: String,
    },
    /// The zip has too many entries, unpacks to too many bytes, or has an implausible compression ratio.
    #[error("{0}")]
    TooLarge(String),
    /// The zip could not be read, or the receiver of the pieces failed.
    #[error("{0}")]
    Failed(String),
}

impl ArchiveError {
    /// Returns what the user can do about a zip that was not opened.
    pub fn next_step(&self) -> &'static str {
        match self {
            ArchiveError::Empty => {
                "Ask the sender for the file again: nothing was packed into this zip."
            }
            ArchiveError::Malformed(_) | ArchiveError::Damaged { .. } => {
                "Ask the sender for the file again: this file was changed or truncated in transit."
            }
            ArchiveError::Entry { .. } => {
                "Ask the sender for the run's folder. Do not unpack this zip with another tool unless you know who made it."
            }
            ArchiveError::TooLarge(_) => {
                "Ask the sender for the run's database or folder instead, or for a copy without long values."
            }
            ArchiveError::Failed(_) => "Check the file and the free disk space, then try again.",
        }
    }

    fn entry(path: &str, why: impl Into<String>) -> ArchiveError {
        ArchiveError::Entry {
            path: path.to_owned(),
            why: why.into(),
        }
    }

    fn malformed(error: rawzip::Error) -> ArchiveError {
        ArchiveError::Malformed(error.to_string())
    }
}

/// A file in a zip.
#[derive(Debug, Clone)]
pub struct ZipEntry {
    /// The path of the entry: plain names separated by `/`.
    pub path: String,
    /// The declared length of the entry after unpacking, in bytes; [`Archive::unpack`] enforces it.
    pub len: u64,
    deflated: bool,
    way: rawzip::ZipArchiveEntryWayfinder,
}

/// An opened zip, whose entries were checked.
pub struct Archive<R> {
    zip: rawzip::ZipArchive<R>,
    entries: Vec<ZipEntry>,
}

/// The number of bytes to read from the beginning of a file, to recognise the file's type.
pub const HEAD: usize = 64;

/// Returns whether a file with this beginning is a zip.
pub fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

impl<R: ReaderAt> Archive<R> {
    /// Reads the directory of a zip of `len` bytes, and checks every entry. The entries may unpack to at most `most`
    /// bytes in total.
    ///
    /// # Errors
    /// [`ArchiveError`] if the file is not a zip, contains no files, or contains an entry that is refused.
    pub fn open(reader: R, len: u64, most: u64) -> Result<Archive<R>, ArchiveError> {
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let zip = ZipLocator::new()
            .locate_in_reader(reader, &mut buffer, len)
            .map_err(|(_, error)| ArchiveError::malformed(error))?;
        let listed = zip.entries_hint();
        if listed > ENTRIES {
            return Err(ArchiveError::TooLarge(format!(
                "the zip lists {listed} entries; at most {ENTRIES} are read"
            )));
        }
        let entries = list(&zip, &mut buffer, listed, most)?;
        if entries.is_empty() {
            return Err(ArchiveError::Empty);
        }
        let archive = Archive { zip, entries };
        archive.look(len, most)?;
        Ok(archive)
    }

    /// Returns the zip's files, sorted by path.
    pub fn entries(&self) -> &[ZipEntry] {
        &self.entries
    }

    /// Returns the database, if the zip contains exactly one.
    pub fn only_database(&self) -> Option<&ZipEntry> {
        let mut databases = self.entries.iter().filter(|e| e.path.ends_with(".db"));
        databases.next().filter(|_| databases.next().is_none())
    }

    /// Returns the entry with this path.
    pub fn entry(&self, path: &str) -> Option<&ZipEntry> {
        let found = self.entries.binary_search_by(|e| e.path.as_str().cmp(path));
        self.entries.get(found.ok()?)
    }

    /// Passes the bytes of an entry to `each`, in pieces.
    ///
    /// # Errors
    /// If the bytes differ from the declared length or checksum, or if `each` fails.
    pub fn unpack(
        &self,
        entry: &ZipEntry,
        each: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), ArchiveError> {
        let wrong = |error: &dyn std::fmt::Display| ArchiveError::Damaged {
            path: entry.path.clone(),
            why: error.to_string(),
        };
        let packed = self.zip.get_entry(entry.way).map_err(|e| wrong(&e))?;
        let bytes: Box<dyn Read + '_> = match entry.deflated {
            true => Box::new(DeflateDecoder::new(packed.reader())),
            false => Box::new(packed.reader()),
        };
        let mut checked = packed.verifying_reader(bytes);
        let mut piece = vec![0; PIECE];
        let mut left = entry.len;
        loop {
            let read = checked.read(&mut piece).map_err(|e| wrong(&e))?;
            if read == 0 {
                return match left {
                    0 => Ok(()),
                    _ => Err(wrong(&"the content ends too soon")),
                };
            }
            left = left
                .checked_sub(read as u64)
                .ok_or_else(|| wrong(&"the content is longer than the zip declares"))?;
            let bytes = piece.get(..read).unwrap_or_default();
            each(bytes).map_err(|error| ArchiveError::Failed(error.to_string()))?;
        }
    }

    /// Returns the bytes of an entry; `None` if no entry has this path.
    ///
    /// # Errors
    /// As for [`Archive::unpack`].
    pub fn whole(&self, path: &str) -> Result<Option<Vec<u8>>, ArchiveError> {
        let Some(entry) = self.entry(path) else {
            return Ok(None);
        };
        let mut whole = Vec::new();
        self.unpack(entry, &mut |bytes| {
            whole.extend_from_slice(bytes);
            Ok(())
        })?;
        Ok(Some(whole))
    }

    /// Checks all entries together: total size, equal paths, files that are also folders, overlapping bytes, and local
    /// headers that differ from the zip's directory.
    fn look(&self, len: u64, most: u64) -> Result<(), ArchiveError> {
        let total = self.entries.iter().map(|e| e.len);
        let total = total.fold(0u64, u64::saturating_add);
        if total > most {
            return Err(ArchiveError::TooLarge(format!(
                "the zip unpacks to {total} bytes; at most {most} are unpacked"
            )));
        }
        if total > SMALL && total / RATIO > len {
            return Err(ArchiveError::TooLarge(format!(
                "the zip of {len} bytes would unpack to {total} bytes: that ratio is not plausible for a run"
            )));
        }
        for two in self.entries.windows(2) {
            let [one, next] = two else { continue };
            if one.path == next.path {
                return Err(ArchiveError::entry(&one.path, "occurs twice"));
            }
        }
        for entry in &self.entries {
            let above = entry.path.match_indices('/');
            let above = above.filter_map(|(at, _)| entry.path.get(..at));
            if let Some(file) = above.into_iter().find(|above| self.entry(above).is_some()) {
                return Err(ArchiveError::entry(file, "is a file and a folder"));
            }
        }
        let mut ranges = Vec::with_capacity(self.entries.len());
        let mut header = vec![0; RECOMMENDED_BUFFER_SIZE];
        for entry in &self.entries {
            let wrong = |error: rawzip::Error| ArchiveError::entry(&entry.path, error.to_string());
            let packed = self.zip.get_entry(entry.way).map_err(wrong)?;
            let local = packed.local_header(&mut header).map_err(wrong)?;
            if local.file_path().as_bytes() != entry.path.as_bytes() {
                return Err(ArchiveError::entry(
                    &entry.path,
                    "the entry has different names in its header and in the zip's directory",
                ));
            }
            let (start, end) = packed.compressed_data_range();
            ranges.push((start, end, &entry.path));
        }
        ranges.sort_unstable();
        for two in ranges.windows(2) {
            let [(_, end, _), (start, _, path)] = two else {
                continue;
            };
            if end > start {
                return Err(ArchiveError::entry(path, "overlaps another entry"));
            }
        }
        Ok(())
    }
}

/// Returns the files in the zip's directory, sorted by path, or an error for the first entry that must not be unpacked.
fn list<R: ReaderAt>(
    zip: &rawzip::ZipArchive<R>,
    buffer: &mut [u8],
    listed: u64,
    most: u64,
) -> Result<Vec<ZipEntry>, ArchiveError> {
    let mut all = Vec::new();
    let mut entries = zip.entries(buffer);
    let mut seen = 0;
    while let Some(found) = entries.next_entry().map_err(ArchiveError::malformed)? {
        seen += 1;
        if seen > listed {
            break;
        }
        let raw = found.file_path();
        let name = String::from_utf8_lossy(raw.as_bytes()).into_owned();
        let refused = |why: &str| Err(ArchiveError::entry(&name, why));
        let path = name.trim_end_matches('/');
        if std::str::from_utf8(raw.as_bytes()).is_err() {
            return refused("the name is not valid UTF-8");
        }
        let is_long = path.len() > PATH || path.split('/').any(|name| name.len() > NAME);
        if !is_plain_path(path) || path.contains('\\') || is_long {
            return refused("the path leads out of the run, is too long, or is not a plain path");
        }
        if path.split('/').count() > DEPTH {
            return refused("is nested too deeply");
        }
        if found.is_dir() {
            continue;
        }
        // Accepts a regular file, and every entry of a zip without Unix modes.
        if !matches!(found.mode().value() & KIND, 0 | FILE) {
            return refused("is a link or a device");
        }
        if found.flags().is_encrypted() {
            return refused("is encrypted");
        }
        let deflated = match found.compression_method() {
            CompressionMethod::STORE => false,
            CompressionMethod::DEFLATE => true,
            other => {
                return refused(&format!(
                    "uses an unsupported compression method ({other:?})"
                ));
            }
        };
        let len = found.uncompressed_size_hint();
        if len > most {
            return Err(ArchiveError::TooLarge(format!(
                "{name} unpacks to {}; at most {most} are unpacked",
                counted(len, "byte", "bytes")
            )));
        }
        all.push(ZipEntry {
            len,
            deflated,
            way: found.wayfinder(),
            path: name,
        });
    }
    if seen != listed {
        return Err(ArchiveError::Malformed(format!(
            "the zip declares {listed} entries, but lists {seen}"
        )));
    }
    all.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(all)
}
