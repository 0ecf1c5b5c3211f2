//! Reading a zip that somebody sent: everything about it is doubted before a byte of it is unpacked.
//!
//! [`Archive::open`] reads the list at the zip's end and looks at every entry; [`Archive::unpack`] hands out one entry in pieces, no
//! more than its declared length, and checks length and CRC-32. Nothing is written here, and no more than a piece is held.

use std::io::{self, Read};

use flate2::read::DeflateDecoder;
use prosescope_core::text::{counted, is_plain_path};
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ReaderAt, ZipLocator};

/// Entries that a zip may list: as many files as a folder may hold.
pub const ENTRIES: u64 = 200_000;
/// Levels of folders.
const DEPTH: usize = 128;
/// Bytes of a path, and of a name in it: what systems take.
const PATH: usize = 4096;
const NAME: usize = 255;
/// Up to so many bytes in all, no ratio is too high.
const SMALL: u64 = 64 << 20;
/// How many times its packed length the whole may take beyond that. A run packs 3 to 20 times.
const RATIO: u64 = 200;
/// The bits of a mode that say what an entry is, and those of a file.
const KIND: u32 = 0o170_000;
const FILE: u32 = 0o100_000;
/// Bytes that are handed out at a time.
const PIECE: usize = 64 << 10;

/// Why a zip is not opened, or an entry of it not unpacked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// It is no zip, or its list cannot be read.
    #[error("it is no zip that can be read: {0}")]
    Malformed(String),
    /// It has no files.
    #[error("the zip has no files in it")]
    Empty,
    /// What an entry is, or where it would lie, is refused.
    #[error("{path}: {why}")]
    Entry {
        /// The entry's path.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The bytes of an entry are not what the zip says of them.
    #[error("{path} is damaged: {why}")]
    Damaged {
        /// The entry's path.
        path: String,
        /// What is wrong with them.
        why: String,
    },
    /// It would unpack to more than is allowed.
    #[error("{0}")]
    TooLarge(String),
    /// The zip itself, or the place that the pieces go to, failed.
    #[error("{0}")]
    Failed(String),
}

impl ArchiveError {
    /// What to do next.
    pub fn next_step(&self) -> &'static str {
        match self {
            ArchiveError::Empty => "Ask for the file again: nothing was packed into this one.",
            ArchiveError::Malformed(_) | ArchiveError::Damaged { .. } => {
                "Ask for the file again: it was changed or cut off on its way."
            }
            ArchiveError::Entry { .. } => {
                "Do not unpack it with another tool unless you know who made it; ask for the run's folder."
            }
            ArchiveError::TooLarge(_) => {
                "Ask for the run's database or folder instead, or for a copy without its long values."
            }
            ArchiveError::Failed(_) => "Try again; look at the file and at the free disk space.",
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
pub struct Entry {
    /// Its path, `/` between plain names.
    pub path: String,
    /// Bytes when it is unpacked, as declared; [`Archive::unpack`] holds it to that.
    pub len: u64,
    deflated: bool,
    way: rawzip::ZipArchiveEntryWayfinder,
}

/// An opened zip.
pub struct Archive<R> {
    zip: rawzip::ZipArchive<R>,
    entries: Vec<Entry>,
}

/// Bytes of a file that tell what it is.
pub const HEAD: usize = 64;

/// Whether a file that begins so is a zip.
pub fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

impl<R: ReaderAt> Archive<R> {
    /// Reads the list of a zip of `len` bytes, which may unpack to `most` bytes.
    ///
    /// # Errors
    /// [`ArchiveError`]: what it is not, or the first entry that is refused.
    pub fn open(reader: R, len: u64, most: u64) -> Result<Archive<R>, ArchiveError> {
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let zip = ZipLocator::new()
            .locate_in_reader(reader, &mut buffer, len)
            .map_err(|(_, error)| ArchiveError::malformed(error))?;
        let listed = zip.entries_hint();
        if listed > ENTRIES {
            return Err(ArchiveError::TooLarge(format!(
                "the zip lists {listed} entries; {ENTRIES} are read at most"
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

    /// Its files, in order of path.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The database, where it holds one and no other.
    pub fn only_database(&self) -> Option<&Entry> {
        let mut databases = self.entries.iter().filter(|e| e.path.ends_with(".db"));
        databases.next().filter(|_| databases.next().is_none())
    }

    /// The entry of this path.
    pub fn entry(&self, path: &str) -> Option<&Entry> {
        let found = self.entries.binary_search_by(|e| e.path.as_str().cmp(path));
        self.entries.get(found.ok()?)
    }

    /// Hands out the bytes of an entry, in pieces.
    ///
    /// # Errors
    /// When they are not what is declared, or `each` fails.
    pub fn unpack(
        &self,
        entry: &Entry,
        each: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), ArchiveError> {
        let wrong = |error: &dyn std::fmt::Display| ArchiveError::Damaged {
            path: entry.path.clone(),
            why: error.to_string(),
        };
        let packed = self.zip.get_entry(entry.way).map_err(|e| wrong(&e))?;
        let mut checked = packed.verifying_reader(match entry.deflated {
            true => Unpacked::Deflated(DeflateDecoder::new(packed.reader())),
            false => Unpacked::Stored(packed.reader()),
        });
        let mut piece = vec![0; PIECE];
        let mut left = entry.len;
        loop {
            let read = checked.read(&mut piece).map_err(|e| wrong(&e))?;
            if read == 0 {
                return match left {
                    0 => Ok(()),
                    _ => Err(wrong(&"it ends too soon")),
                };
            }
            left = left
                .checked_sub(read as u64)
                .ok_or_else(|| wrong(&"it is longer than the zip declares"))?;
            let bytes = piece.get(..read).unwrap_or_default();
            each(bytes).map_err(|error| ArchiveError::Failed(error.to_string()))?;
        }
    }

    /// The bytes of an entry; `None` where there is none of this path.
    ///
    /// # Errors
    /// As [`Archive::unpack`].
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

    /// What only all entries together show: sizes, places that two claim, bytes that two share, headers that say otherwise.
    fn look(&self, len: u64, most: u64) -> Result<(), ArchiveError> {
        let total = self.entries.iter().map(|e| e.len);
        let total = total.fold(0u64, u64::saturating_add);
        if total > most {
            return Err(ArchiveError::TooLarge(format!(
                "the zip unpacks to {total} bytes; {most} are unpacked at most"
            )));
        }
        if total > SMALL && total / RATIO > len {
            return Err(ArchiveError::TooLarge(format!(
                "{len} bytes would unpack to {total}: no run packs so well"
            )));
        }
        for two in self.entries.windows(2) {
            let [one, next] = two else { continue };
            if one.path == next.path {
                return Err(ArchiveError::entry(&one.path, "is there twice"));
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
                    "has another name beside its bytes than in the list",
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
                return Err(ArchiveError::entry(path, "shares its bytes with another"));
            }
        }
        Ok(())
    }
}

/// The files that a zip lists, each fit to be unpacked, in order of path.
fn list<R: ReaderAt>(
    zip: &rawzip::ZipArchive<R>,
    buffer: &mut [u8],
    listed: u64,
    most: u64,
) -> Result<Vec<Entry>, ArchiveError> {
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
            return refused("its name is no text");
        }
        let is_long = path.len() > PATH || path.split('/').any(|name| name.len() > NAME);
        if !is_plain_path(path) || path.contains('\\') || is_long {
            return refused("leads out of the run, or is no plain path");
        }
        if path.split('/').count() > DEPTH {
            return refused("lies too deep");
        }
        if found.is_dir() {
            continue;
        }
        // A file, or a zip that does not say.
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
                    "is packed by a method that is not read ({other:?})"
                ));
            }
        };
        let len = found.uncompressed_size_hint();
        if len > most {
            return Err(ArchiveError::TooLarge(format!(
                "{name} unpacks to {}; {most} are unpacked at most",
                counted(len, "byte", "bytes")
            )));
        }
        all.push(Entry {
            len,
            deflated,
            way: found.wayfinder(),
            path: name,
        });
    }
    if seen != listed {
        return Err(ArchiveError::Malformed(format!(
            "it says that it lists {listed} entries, and lists {seen}"
        )));
    }
    all.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(all)
}

/// The bytes of an entry, by how they are packed.
enum Unpacked<R: Read> {
    Stored(R),
    Deflated(DeflateDecoder<R>),
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Unpacked::Stored(bytes) => bytes.read(buf),
            Unpacked::Deflated(bytes) => bytes.read(buf),
        }
    }
}
