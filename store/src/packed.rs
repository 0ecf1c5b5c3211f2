//! A shared file: a zip of runs, or a page that holds one. It is unpacked where only this user can look, for as long as it is open.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use prosescope_share::archive::{Archive, ArchiveError, is_zip};
use prosescope_share::manifest::{MANIFEST, Verified, verify};
use prosescope_share::{FileReader, ReaderAt, page};
use tempfile::TempDir;

use crate::error::StoreError;

/// Bytes that a zip may unpack to.
const MOST: u64 = 16 << 30;
/// Bytes of the longest page that is read: it is held whole.
const LONGEST_PAGE: u64 = 512 << 20;

/// What was unpacked.
pub(crate) struct Packed {
    /// Where.
    pub(crate) folder: TempDir,
    /// Whether it is what was shared.
    pub(crate) verified: Verified,
}

/// Unpacks a file that is a zip or holds a run; `None` for any other.
pub(crate) fn unpacked(path: &Path) -> Result<Option<Packed>, StoreError> {
    let failed = |cause| StoreError::io(path, cause);
    let mut file = File::open(path).map_err(failed)?;
    let len = file.metadata().map_err(failed)?.len();
    let mut head = Vec::new();
    let mut beginning = (&mut file).take(64);
    beginning.read_to_end(&mut head).map_err(failed)?;
    if is_zip(&head) {
        return unpack(path, FileReader::from(file), len).map(Some);
    }
    if !page::is_page(&head) {
        return Ok(None);
    }
    if len > LONGEST_PAGE {
        let cause = format!("the page has {len} bytes, and is held whole");
        return Err(wrong(path, cause, "Ask for the run as a zip."));
    }
    let mut whole = Vec::new();
    file.rewind().map_err(failed)?;
    file.read_to_end(&mut whole).map_err(failed)?;
    match page::packed(&whole) {
        None => Ok(None),
        Some(Err(error)) => Err(wrong(
            path,
            error.to_string(),
            "Ask for the file again: it was changed or cut off on its way.",
        )),
        Some(Ok(packed)) => {
            drop(whole);
            let len = packed.len() as u64;
            unpack(path, packed, len).map(Some)
        }
    }
}

fn unpack<R: ReaderAt>(path: &Path, reader: R, len: u64) -> Result<Packed, StoreError> {
    let refused = |error: ArchiveError| wrong(path, error.to_string(), error.next_step());
    let archive = Archive::open(reader, len, MOST).map_err(refused)?;
    let failed = |cause: io::Error| {
        let cause = format!(
            "it cannot be unpacked into {}: {cause}",
            std::env::temp_dir().display()
        );
        wrong(
            path,
            cause,
            "Make room there, or name another place with TMPDIR.",
        )
    };
    let folder = tempfile::Builder::new()
        .prefix("prosescope-")
        .tempdir()
        .map_err(failed)?;
    for entry in archive.entries() {
        if entry.path == MANIFEST {
            continue;
        }
        let to = folder.path().join(&entry.path);
        if let Some(above) = to.parent() {
            fs::create_dir_all(above).map_err(failed)?;
        }
        let mut file = File::create_new(&to).map_err(failed)?;
        let unpacked = archive.unpack(entry, &mut |bytes| file.write_all(bytes));
        unpacked.map_err(refused)?;
    }
    Ok(Packed {
        verified: verify(&archive),
        folder,
    })
}

fn wrong(path: &Path, cause: String, next: &'static str) -> StoreError {
    StoreError::Packed {
        path: path.to_owned(),
        cause,
        next,
    }
}
