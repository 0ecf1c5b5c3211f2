//! Opens a shared file: a zip of runs, or an HTML page that contains such a zip. The unpacked bytes stay in
//! JavaScript's memory, outside of the wasm memory.

use std::io;

use js_sys::Uint8Array;
use prosescope_core::model::issue::Issue;
use prosescope_core::model::source::FileEntry;
use prosescope_share::archive::{Archive, ArchiveError, HEAD, is_zip};
use prosescope_share::manifest::{self, Sink};
use prosescope_share::{ReaderAt, page};

use crate::error::Problem;
use crate::source::HeldBytes;

/// Maximum unpacked size of a shared file in bytes.
const MOST: u64 = 1 << 30;

/// The contents of a shared file, and an issue: a note that this is a shared copy, an error if the copy was changed, or a
/// warning if that cannot be checked.
pub(crate) struct UnpackedShare {
    pub(crate) files: Vec<(FileEntry, HeldBytes)>,
    pub(crate) issue: Issue,
}

/// Recognises a shared file by its content and unpacks it; returns `None` for any other file.
pub(crate) fn unpacked(
    path: &str,
    len: u64,
    bytes: &HeldBytes,
) -> Result<Option<UnpackedShare>, Problem> {
    let mut head = vec![0; HEAD];
    // A read error is ignored here, because opening the file reports it.
    let read = bytes.read(len, 0, &mut head).unwrap_or(0);
    head.truncate(read);
    if is_zip(&head) {
        return unpack(path, &InPlace { bytes, len }).map(Some);
    }
    if !page::is_page(&head) {
        return Ok(None);
    }
    // The packed run is shorter than the page that contains it, so a buffer of the page's length is enough.
    let zip = Uint8Array::new_with_length(u32::try_from(len).unwrap_or(u32::MAX));
    let mut at = 0;
    let found = page::unpack(&InPlace { bytes, len }, &mut |piece| {
        let end = at + piece.len() as u32;
        zip.subarray(at, end).copy_from(piece);
        at = end;
        Ok(())
    });
    match found {
        None => Ok(None),
        Some(Err(error)) => Err(Problem::page(path, &error)),
        Some(Ok(_)) => {
            let bytes = HeldBytes::Whole(zip.subarray(0, at));
            let len = u64::from(at);
            unpack(path, &InPlace { bytes: &bytes, len }).map(Some)
        }
    }
}

/// Returns the files of a zip that was packed by this package.
pub(crate) fn of_packed(zip: &[u8]) -> Result<Vec<(FileEntry, HeldBytes)>, ArchiveError> {
    let archive = Archive::open(zip, zip.len() as u64, u64::MAX)?;
    let mut files = UnpackedFiles::default();
    manifest::unpack(&archive, &mut files)?;
    Ok(files.0)
}

fn unpack(path: &str, zip: &InPlace<'_>) -> Result<UnpackedShare, Problem> {
    let refused = |error: ArchiveError| Problem::packed(path, &error);
    let archive = Archive::open(zip, zip.len, MOST).map_err(refused)?;
    let mut files = UnpackedFiles::default();
    let verified = manifest::unpack(&archive, &mut files).map_err(refused)?;
    Ok(UnpackedShare {
        files: files.0,
        issue: verified.issue(),
    })
}

/// Bytes in JavaScript's memory, read at any position.
struct InPlace<'a> {
    bytes: &'a HeldBytes,
    len: u64,
}

impl ReaderAt for InPlace<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = self.bytes.read(self.len, offset, buf);
        read.map_err(|why| io::Error::other(why.unwrap_or_else(|| "its bytes changed".to_owned())))
    }
}

/// Collects the unpacked files. The second field is the number of bytes of the last file received so far.
#[derive(Default)]
struct UnpackedFiles(Vec<(FileEntry, HeldBytes)>, u32);

impl Sink for UnpackedFiles {
    fn begin(&mut self, path: &str, len: u64) -> io::Result<()> {
        let entry = FileEntry {
            path: path.to_owned(),
            len,
            modified: None,
        };
        self.0.push((
            entry,
            HeldBytes::Whole(Uint8Array::new_with_length(len as u32)),
        ));
        self.1 = 0;
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let end = self.1 + bytes.len() as u32;
        if let Some((_, HeldBytes::Whole(array))) = self.0.last() {
            array.subarray(self.1, end).copy_from(bytes);
        }
        self.1 = end;
        Ok(())
    }
}
