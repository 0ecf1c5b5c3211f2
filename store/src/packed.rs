//! Opens a shared file: a zip of runs, or an HTML page that contains such a zip. The contents are unpacked into a
//! private folder while the file is open.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use prosescope_share::FileReader;
use prosescope_share::archive::{Archive, ArchiveError, HEAD, ZipEntry, is_zip};
use prosescope_share::manifest::{self, ManifestCheck, Sink};
use prosescope_share::page::{self, PageError};

use crate::Aside;
use crate::error::StoreError;

/// Limit for the unpacked size of a zip, in bytes.
const MOST: u64 = 16 << 30;

/// The contents of an unpacked file.
pub(crate) struct UnpackedContent {
    /// The private folder with the unpacked files; dropping it removes them.
    pub(crate) folder: Aside,
    /// Whether the unpacked contents equal the contents that were shared.
    pub(crate) verified: ManifestCheck,
}

/// Unpacks a shared file: a zip, or a page that contains a run. Returns `None` for any other file.
pub(crate) fn unpacked(path: &Path) -> Result<Option<UnpackedContent>, StoreError> {
    let archive = archive(path)?;
    archive.map(|archive| unpack(path, &archive)).transpose()
}

/// Unpacks only the database at the top level of a shared file. Returns `Some(None)` if the file has no such database,
/// and `None` if the file is not a shared one.
pub(crate) fn database(path: &Path) -> Result<Option<Option<(Aside, PathBuf)>>, StoreError> {
    let Some(archive) = archive(path)? else {
        return Ok(None);
    };
    let mut entries = archive.entries().iter();
    let is_database = |entry: &&ZipEntry| !entry.path.contains('/') && entry.path.ends_with(".db");
    let Some(entry) = entries.find(is_database) else {
        return Ok(Some(None));
    };
    let folder = folder(path)?;
    let to = folder.path().join(&entry.path);
    let mut file = File::create_new(&to).map_err(|cause| no_room(path, &cause))?;
    archive
        .unpack(entry, &mut |bytes| file.write_all(bytes))
        .map_err(|error| refused(path, &error))?;
    Ok(Some(Some((folder, to))))
}

/// Opens the archive in a file without unpacking it; `None` for a file that is not a shared one.
fn archive(path: &Path) -> Result<Option<Archive<FileReader>>, StoreError> {
    let failed = |cause| StoreError::io(path, cause);
    let mut file = File::open(path).map_err(failed)?;
    let len = file.metadata().map_err(failed)?.len();
    let mut head = Vec::new();
    let mut beginning = (&mut file).take(HEAD as u64);
    beginning.read_to_end(&mut head).map_err(failed)?;
    if is_zip(&head) {
        return open(path, FileReader::from(file), len).map(Some);
    }
    if !page::is_page(&head) {
        return Ok(None);
    }
    let mut zip = tempfile::tempfile().map_err(|cause| no_room(path, &cause))?;
    let found = page::unpack(&FileReader::from(file), &mut |bytes| zip.write_all(bytes));
    match found {
        None => Ok(None),
        Some(Err(error)) => {
            let damaged = !matches!(error, PageError::Failed(_));
            Err(wrong(path, error.to_string(), error.next_step(), damaged))
        }
        Some(Ok(len)) => open(path, FileReader::from(zip), len).map(Some),
    }
}

fn open(path: &Path, reader: FileReader, len: u64) -> Result<Archive<FileReader>, StoreError> {
    Archive::open(reader, len, MOST).map_err(|error| refused(path, &error))
}

fn folder(path: &Path) -> Result<Aside, StoreError> {
    Aside::new().map_err(|cause| no_room(path, &cause))
}

fn unpack(path: &Path, archive: &Archive<FileReader>) -> Result<UnpackedContent, StoreError> {
    let folder = folder(path)?;
    let mut files = FolderSink {
        folder: folder.path(),
        file: None,
        failed: None,
    };
    let unpacked = manifest::unpack(archive, &mut files);
    let verified = unpacked.map_err(|error| match files.failed.take() {
        Some(cause) => no_room(path, &cause),
        None => refused(path, &error),
    })?;
    Ok(UnpackedContent { folder, verified })
}

/// A sink that writes the files of an archive below a folder.
struct FolderSink<'a> {
    folder: &'a Path,
    /// The file that is being written.
    file: Option<File>,
    /// The system's error that stopped the writing; `None` while all writes succeed.
    failed: Option<io::Error>,
}

impl FolderSink<'_> {
    fn noted(&mut self, done: io::Result<()>) -> io::Result<()> {
        done.map_err(|cause| {
            let said = io::Error::new(cause.kind(), cause.to_string());
            self.failed = Some(cause);
            said
        })
    }
}

impl Sink for FolderSink<'_> {
    fn begin(&mut self, path: &str, _len: u64) -> io::Result<()> {
        let to = self.folder.join(path);
        let made = to.parent().map_or(Ok(()), fs::create_dir_all);
        let made = made.and_then(|()| File::create_new(&to));
        let made = made.map(|file| self.file = Some(file));
        self.noted(made)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = match &mut self.file {
            Some(file) => file.write_all(bytes),
            None => Ok(()),
        };
        self.noted(written)
    }

    fn end(&mut self) -> io::Result<()> {
        self.file = None;
        Ok(())
    }
}

fn no_room(path: &Path, cause: &io::Error) -> StoreError {
    let place = std::env::temp_dir();
    let cause = format!(
        "the packed files cannot be unpacked into {}: {cause}",
        place.display()
    );
    let next = "Make room in that folder, or set TMPDIR to another folder.";
    wrong(path, cause, next, false)
}

fn refused(path: &Path, error: &ArchiveError) -> StoreError {
    let damaged = !matches!(error, ArchiveError::Failed(_));
    wrong(path, error.to_string(), error.next_step(), damaged)
}

fn wrong(path: &Path, cause: String, next: &'static str, damaged: bool) -> StoreError {
    StoreError::Packed {
        path: path.to_owned(),
        cause,
        next,
        damaged,
    }
}
