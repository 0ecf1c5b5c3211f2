//! Unpacks the shared files among the files that a user opened: zips of runs, and HTML pages that contain such a zip.
//! The runs in the shared files are then read like opened folders.
//!
//! Neither the zip nor a large file in it is ever complete in the worker's memory. The pieces become blobs, which the
//! browser stores.

use std::cell::RefCell;
use std::io;

use js_sys::{Array, Uint8Array};
use prosescope_core::model::text::counted;
use prosescope_desk::protocol::{SharedRemarks, Trouble};
use prosescope_share::archive::{Archive, HEAD, is_zip};
use prosescope_share::manifest::{self, ManifestCheck, Sink};
use prosescope_share::{ReaderAt, page};
use web_sys::{Blob, File, FileReaderSync};

/// The most bytes to which all shared files together may unpack.
const MOST: u64 = 512 << 20;
/// The most bytes of unpacked files that are kept in typed arrays, which are read without a fetch. Files beyond this
/// limit become blobs, which the browser may keep on disk.
const HELD: u64 = 64 << 20;
/// The size in bytes of the pieces that are passed to the browser ([`PIECE`]) or read from it ([`WINDOW`]).
const PIECE: usize = 4 << 20;
const WINDOW: u64 = 1 << 20;
/// The maximum number of single files that are examined. If there are more, they are probably the content of a folder,
/// so none is examined.
const LOOKED_AT: usize = 400;

/// The bytes of an unpacked file.
pub(super) enum Bytes {
    /// The bytes are in a typed array, outside of the wasm memory.
    Held(Uint8Array),
    /// The bytes are in a blob of the browser.
    Browser(Blob),
}

/// The files that the user opened, after the shared files among them were unpacked.
#[derive(Default)]
pub(super) struct UnpackedOpening {
    /// The files that are not shared files.
    pub(super) files: Vec<(String, File)>,
    /// The files unpacked from shared files, by path.
    pub(super) unpacked: Vec<(String, u64, Bytes)>,
    /// The path of each shared file, and the result of the check whether it is unchanged.
    pub(super) verified: Vec<(String, ManifestCheck)>,
    /// If the user opened a single shared file: the name and content of the file that “Save” returns.
    pub(super) saved: Option<(String, Blob)>,
    /// The shared files that are damaged or refused, with the reason. All other files are opened anyway.
    unopened: Vec<Trouble>,
}

impl UnpackedOpening {
    /// Recognises shared files by their content, and unpacks them. Examines only files that were opened singly, not as
    /// part of a folder.
    pub(super) fn of(files: Vec<(String, File)>) -> UnpackedOpening {
        let Ok(reader) = FileReaderSync::new() else {
            return UnpackedOpening {
                files,
                ..UnpackedOpening::default()
            };
        };
        let alone = files.len() == 1;
        let packed = packed_among(&files, &reader);
        let mut all = UnpackedOpening::default();
        let mut left = MOST;
        for (at, (path, file)) in files.into_iter().enumerate() {
            let zip = match packed.get(at) {
                Some(Some(PackedForm::Zip)) => Blob::from(file),
                Some(Some(PackedForm::Page)) => match run_of(&path, &file, &reader) {
                    Ok(Some(zip)) => zip,
                    Ok(None) => {
                        all.files.push((path, file));
                        continue;
                    }
                    Err(trouble) => {
                        all.unopened.push(trouble);
                        continue;
                    }
                },
                _ => {
                    all.files.push((path, file));
                    continue;
                }
            };
            let folder = match (alone, path.split_once('/')) {
                (true, None) => String::new(),
                (_, None) => format!("{path}/"),
                (_, Some((folder, _))) => format!("{folder}/"),
            };
            let before = all.unpacked.len();
            let verified = match all.unpack(&path, &folder, &zip, &reader, left) {
                Ok(verified) => verified,
                Err(trouble) => {
                    all.unopened.push(trouble);
                    continue;
                }
            };
            let unpacked = all.unpacked.get(before..).unwrap_or_default();
            left = left.saturating_sub(unpacked.iter().map(|(_, len, _)| *len).sum());
            if alone {
                all.saved = Some(saved(&path, unpacked, zip));
            }
            all.verified.push((path, verified));
        }
        all.put_together();
        all
    }

    fn unpack(
        &mut self,
        path: &str,
        folder: &str,
        zip: &Blob,
        reader: &FileReaderSync,
        most: u64,
    ) -> Result<ManifestCheck, Trouble> {
        let len = zip.size() as u64;
        let found = format!("A zip of {}.", counted(len, "byte", "bytes"));
        let refused = |error: prosescope_share::archive::ArchiveError| {
            trouble(path, &found, &error.to_string(), error.next_step())
        };
        let archive = Archive::open(BlobReader::new(zip, reader), len, most).map_err(refused)?;
        let held = self.unpacked.iter().map(|(_, len, bytes)| match bytes {
            Bytes::Held(_) => *len,
            Bytes::Browser(_) => 0,
        });
        let mut files = UnpackReceiver {
            folder,
            held: held.sum(),
            all: Vec::new(),
            now: None,
        };
        let verified = manifest::unpack(&archive, &mut files).map_err(refused)?;
        self.unpacked.append(&mut files.all);
        Ok(verified)
    }

    /// Moves the single files that are not shared files into one folder, because they may form a run together. The
    /// folders of shared files stay beside this folder.
    fn put_together(&mut self) {
        if self.verified.is_empty() {
            return;
        }
        let mut loose = self.files.iter().map(|(path, _)| path);
        let database = loose.clone().find(|path| path.ends_with(".db"));
        let Some(folder) = database.or_else(|| loose.find(|path| !path.contains('/'))) else {
            return;
        };
        let folder = folder.clone();
        for (path, _) in &mut self.files {
            if !path.contains('/') {
                *path = format!("{folder}/{path}");
            }
        }
    }

    /// Returns the remarks about the shared files.
    pub(super) fn shared(&self) -> Option<SharedRemarks> {
        let words = self.verified.iter().filter_map(|(path, verified)| {
            let words = verified.words();
            match (words.is_empty(), self.verified.len()) {
                (true, _) => None,
                (false, 1) => Some(words),
                (false, _) => Some(format!("{path}: {words}")),
            }
        });
        let words: Vec<String> = words.collect();
        let changed = |(_, verified): &(String, ManifestCheck)| verified.is_doubtful();
        let shared = SharedRemarks {
            words: words.join(" "),
            changed: self.verified.iter().any(changed),
            opens: match self.verified.as_slice() {
                [(_, one)] => one.opens().map(str::to_owned),
                _ => None,
            },
            save: self.saved.as_ref().map(|(name, _)| name.clone()),
            unopened: self.unopened.clone(),
        };
        (shared != SharedRemarks::default()).then_some(shared)
    }
}

/// The form of a shared file: a zip, or an HTML page that contains a zip.
enum PackedForm {
    Zip,
    Page,
}

/// Returns for each file the form of shared file that its first bytes suggest. `None` for other files and for files of
/// a folder.
fn packed_among(files: &[(String, File)], reader: &FileReaderSync) -> Vec<Option<PackedForm>> {
    let given: Vec<bool> = files.iter().map(|(path, _)| is_given_alone(path)).collect();
    if given.iter().filter(|given| **given).count() > LOOKED_AT {
        return Vec::new();
    }
    let head = |(file, given): (&(String, File), &bool)| {
        let head = file
            .1
            .slice_with_f64_and_f64(0.0, HEAD as f64)
            .ok()
            .filter(|_| *given)?;
        let buffer = reader.read_as_array_buffer(&head).ok()?;
        let head = Uint8Array::new(&buffer).to_vec();
        match (is_zip(&head), page::is_page(&head)) {
            (true, _) => Some(PackedForm::Zip),
            (_, true) => Some(PackedForm::Page),
            _ => None,
        }
    };
    files.iter().zip(&given).map(head).collect()
}

/// Returns whether a file was opened singly and not as part of a folder. Single files of the same name were moved into
/// folders of that name (`a.zip (2)/a.zip`), so these count as single.
fn is_given_alone(path: &str) -> bool {
    match path.split_once('/') {
        None => true,
        Some((folder, name)) => {
            folder == name
                || folder
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with(" ("))
        }
    }
}

/// Returns the zip that an HTML page contains; `None` if the page contains no zip.
fn run_of(path: &str, page: &File, reader: &FileReaderSync) -> Result<Option<Blob>, Trouble> {
    let found = format!(
        "A page of {}.",
        counted(page.size() as u64, "byte", "bytes")
    );
    let mut zip = Pieces::default();
    let unpacked = page::unpack(&BlobReader::new(page, reader), &mut |bytes| zip.add(bytes));
    match unpacked {
        None => Ok(None),
        Some(Err(error)) => Err(trouble(path, &found, &error.to_string(), error.next_step())),
        Some(Ok(_)) => zip.blob().map(Some).map_err(|error| {
            let next = "Close other tabs, or open the file with `prosescope view`.";
            trouble(path, &found, &error.to_string(), next)
        }),
    }
}

fn trouble(path: &str, found: &str, cause: &str, next: &str) -> Trouble {
    let mut letters = cause.chars();
    let first = letters.next().map(|c| c.to_uppercase().collect::<String>());
    Trouble {
        file: Some(path.to_owned()),
        found: found.to_owned(),
        cause: format!("{}{}.", first.unwrap_or_default(), letters.as_str()),
        next: next.to_owned(),
        ..Trouble::default()
    }
}

/// Returns the file to save for a shared file: the only file that it contains, or else the zip.
fn saved(path: &str, unpacked: &[(String, u64, Bytes)], zip: Blob) -> (String, Blob) {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let stem = if stem.is_empty() { "run" } else { stem };
    if let [(file, _, bytes)] = unpacked {
        let blob = match bytes {
            Bytes::Browser(blob) => Ok(blob.clone()),
            Bytes::Held(bytes) => Blob::new_with_u8_array_sequence(&Array::of1(bytes)),
        };
        let end = file.rsplit_once('.').map_or("db", |(_, end)| end);
        if let Ok(blob) = blob {
            return (format!("{stem}.{end}"), blob);
        }
    }
    (format!("{stem}.zip"), zip)
}

/// A reader of any part of a blob, which keeps a window of [`WINDOW`] bytes.
struct BlobReader<'a> {
    blob: &'a Blob,
    len: u64,
    reader: &'a FileReaderSync,
    /// The part of the blob that was fetched last: its offset and its bytes.
    window: RefCell<(u64, Vec<u8>)>,
}

impl<'a> BlobReader<'a> {
    fn new(blob: &'a Blob, reader: &'a FileReaderSync) -> BlobReader<'a> {
        BlobReader {
            blob,
            len: blob.size() as u64,
            reader,
            window: RefCell::default(),
        }
    }
}

impl ReaderAt for BlobReader<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset >= self.len {
            return Ok(0);
        }
        let mut window = self.window.borrow_mut();
        let (start, bytes) = &mut *window;
        if !(*start..*start + bytes.len() as u64).contains(&offset) {
            let from = offset - offset % (64 << 10);
            let to = (from + WINDOW).min(self.len);
            let part = self.blob.slice_with_f64_and_f64(from as f64, to as f64);
            let read = part.and_then(|part| self.reader.read_as_array_buffer(&part));
            let buffer = read.map_err(|_| {
                io::Error::other("the browser cannot read the file, which may have changed on disk")
            })?;
            *start = from;
            *bytes = Uint8Array::new(&buffer).to_vec();
        }
        let part = bytes.get((offset - *start) as usize..).unwrap_or_default();
        let len = part.len().min(buf.len());
        buf[..len].copy_from_slice(&part[..len]);
        Ok(len)
    }
}

/// A collector of bytes for a blob. Every [`PIECE`] bytes are passed to the browser, so that the wasm memory stays
/// small.
#[derive(Default)]
struct Pieces {
    given: Array,
    held: Vec<u8>,
}

impl Pieces {
    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.held.extend_from_slice(bytes);
        match self.held.len() < PIECE {
            true => Ok(()),
            false => self.give(),
        }
    }

    fn give(&mut self) -> io::Result<()> {
        let bytes = Array::of1(&Uint8Array::from(self.held.as_slice()));
        let blob = Blob::new_with_u8_array_sequence(&bytes).map_err(|_| no_room())?;
        self.given.push(&blob);
        self.held.clear();
        Ok(())
    }

    fn blob(mut self) -> io::Result<Blob> {
        self.give()?;
        Blob::new_with_blob_sequence(&self.given).map_err(|_| no_room())
    }
}

fn no_room() -> io::Error {
    io::Error::other("the browser has too little memory for the unpacked files")
}

/// A receiver of the files that are unpacked from one shared file.
struct UnpackReceiver<'a> {
    /// The folder that is put before the paths of the files.
    folder: &'a str,
    held: u64,
    all: Vec<(String, u64, Bytes)>,
    now: Option<(String, u64, Now)>,
}

/// The file being unpacked.
enum Now {
    Held(Uint8Array, u32),
    Browser(Pieces),
}

impl Sink for UnpackReceiver<'_> {
    fn begin(&mut self, path: &str, len: u64) -> io::Result<()> {
        let now = match self.held + len <= HELD {
            true => {
                self.held += len;
                Now::Held(Uint8Array::new_with_length(len as u32), 0)
            }
            false => Now::Browser(Pieces::default()),
        };
        self.now = Some((format!("{}{path}", self.folder), len, now));
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.now {
            Some((_, _, Now::Held(array, at))) => {
                let end = *at + bytes.len() as u32;
                array.subarray(*at, end).copy_from(bytes);
                *at = end;
                Ok(())
            }
            Some((_, _, Now::Browser(pieces))) => pieces.add(bytes),
            None => Ok(()),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        let Some((path, len, now)) = self.now.take() else {
            return Ok(());
        };
        let bytes = match now {
            Now::Held(array, _) => Bytes::Held(array),
            Now::Browser(pieces) => Bytes::Browser(pieces.blob()?),
        };
        self.all.push((path, len, bytes));
        Ok(())
    }
}
