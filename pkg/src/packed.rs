//! A shared file: a zip of runs, or a page that holds one. What it holds stays where JavaScript keeps it, outside of our memory.

use std::io;

use js_sys::Uint8Array;
use prosescope_core::issue::Issue;
use prosescope_core::source::FileEntry;
use prosescope_share::archive::{Archive, ArchiveError, HEAD, is_zip};
use prosescope_share::manifest::{self, Sink};
use prosescope_share::{ReaderAt, page};

use crate::error::Problem;

/// Bytes that it may unpack to.
const MOST: u64 = 1 << 30;

/// The files of a shared file, and what is to be said of it.
pub(crate) struct Unpacked {
    pub(crate) files: Vec<(FileEntry, Uint8Array)>,
    pub(crate) issue: Option<Issue>,
}

/// Unpacks what is a shared file by what it holds; `None` for any other.
pub(crate) fn unpacked(path: &str, bytes: &Uint8Array) -> Result<Option<Unpacked>, Problem> {
    let head = bytes.subarray(0, bytes.length().min(HEAD as u32)).to_vec();
    if is_zip(&head) {
        return unpack(path, bytes).map(Some);
    }
    if !page::is_page(&head) {
        return Ok(None);
    }
    // A page is longer than what is packed in it.
    let zip = Uint8Array::new_with_length(bytes.length());
    let mut at = 0;
    let found = page::unpack(&InPlace(bytes), &mut |piece| {
        let end = at + piece.len() as u32;
        zip.subarray(at, end).copy_from(piece);
        at = end;
        Ok(())
    });
    match found {
        None => Ok(None),
        Some(Err(error)) => Err(Problem::packed(path, &error, error.next_step())),
        Some(Ok(_)) => unpack(path, &zip.subarray(0, at)).map(Some),
    }
}

/// The files of a zip that was packed here.
pub(crate) fn of_packed(zip: &[u8]) -> Result<Vec<(FileEntry, Uint8Array)>, ArchiveError> {
    let archive = Archive::open(zip, zip.len() as u64, u64::MAX)?;
    let mut files = Files::default();
    manifest::unpack(&archive, &mut files)?;
    Ok(files.0)
}

fn unpack(path: &str, zip: &Uint8Array) -> Result<Unpacked, Problem> {
    let refused = |error: ArchiveError| Problem::packed(path, &error, error.next_step());
    let len = u64::from(zip.length());
    let archive = Archive::open(InPlace(zip), len, MOST).map_err(refused)?;
    let mut files = Files::default();
    let verified = manifest::unpack(&archive, &mut files).map_err(refused)?;
    Ok(Unpacked {
        files: files.0,
        issue: verified.issue(),
    })
}

/// Bytes of JavaScript, read at any place.
struct InPlace<'a>(&'a Uint8Array);

impl ReaderAt for InPlace<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let len = u64::from(self.0.length());
        let start = offset.min(len);
        let end = offset.saturating_add(buf.len() as u64).min(len);
        let read = (end - start) as usize;
        if let Some(buf) = buf.get_mut(..read) {
            self.0.subarray(start as u32, end as u32).copy_to(buf);
        }
        Ok(read)
    }
}

/// Files as they are unpacked; of the last one so many bytes are there.
#[derive(Default)]
struct Files(Vec<(FileEntry, Uint8Array)>, u32);

impl Sink for Files {
    fn begin(&mut self, path: &str, len: u64) -> io::Result<()> {
        let entry = FileEntry {
            path: path.to_owned(),
            len,
            modified: None,
        };
        self.0
            .push((entry, Uint8Array::new_with_length(len as u32)));
        self.1 = 0;
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let end = self.1 + bytes.len() as u32;
        if let Some((_, array)) = self.0.last() {
            array.subarray(self.1, end).copy_from(bytes);
        }
        self.1 = end;
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}
