//! Implements the core's [`Source`] over files in a browser, and over the example in the page.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use futures_util::{StreamExt as _, stream};
use prosescope_core::model::database::{Database, Limits};
use prosescope_core::read::sqlite::Sqlite;
use prosescope_desk::DeskSource;
use prosescope_desk::protocol::{Counters, Missing, SharedRemarks};
use prosescope_share::archive::Archive;
use prosescope_share::file::Shareable;
use prosescope_share::manifest::{self, InMemory};
use prosescope_share::pack::{Databases, ShareError};
use prosescope_vfs::{Files as _, Mount};
use prosescope_workflow::{SqliteTables, WorkflowRows};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;

use prosescope_core::model::issue::Issue;
use prosescope_core::model::source::{
    FileEntry, Source, SourceError, left_out, names_hidden, not_given,
};
use prosescope_core::model::time::Stamp;

use super::ahead::WHOLE;
use super::cache::{Cache, Fetched, SMALL, TOGETHER};
use super::packed::{Bytes, UnpackedOpening};

/// The maximum number of files of one run that are fetched together with files of other runs.
const OF_A_PLACE: usize = 200;

/// The bytes of a large database in one request, and the number of such requests under way.
const PIECE: u64 = 16 << 20;
const AT_ONCE: usize = 2;

/// The location of a file's bytes.
enum ByteLocation {
    /// In a file that the user dropped or picked, or in a blob with a large file from a shared zip or page.
    Browser(web_sys::Blob),
    /// In a typed array outside of the wasm memory, unpacked from a shared file.
    Held(js_sys::Uint8Array),
    /// In the wasm memory: the example, and the files of a zip that the worker made while sharing.
    Memory(Rc<[u8]>),
}

/// A part of a file.
enum FilePart {
    /// Bytes of the browser, which use no wasm memory until they are copied.
    Browser(js_sys::Uint8Array),
    /// A range of bytes in memory.
    Memory(Rc<[u8]>, Range<usize>),
}

/// The files of one source, and the cache that they share.
struct SourceFiles {
    entries: Vec<FileEntry>,
    places: Vec<ByteLocation>,
    /// The database whose rows were read last by [`WebSource::read_rows`].
    rows_read: Cell<Option<usize>>,
    cache: RefCell<Cache>,
    reader: Option<web_sys::FileReaderSync>,
    /// The last error of reading a file. It is kept because SQLite itself only reports "disk I/O error".
    fault: RefCell<Option<SourceError>>,
}

/// An opened source: files in a browser, or the example.
pub(crate) struct WebSource {
    label: String,
    files: Rc<SourceFiles>,
    mount: Mount,
    /// Issues about the listing, such as skipped folders.
    listed: Vec<Issue>,
    /// Whether the user gave single files instead of a folder.
    loose: bool,
    /// Remarks about the shared files.
    shared: Option<SharedRemarks>,
    /// The paths of the files that are not from a shared file, if there are shared files.
    originals: Option<Vec<String>>,
}

/// A source, and the blob that “Save” returns.
pub(crate) type SourceAndBlob = (WebSource, Option<web_sys::Blob>);

impl WebSource {
    /// Creates a source from the files that the user opened, each with its path. Unpacks shared files. `missing` lists
    /// files and folders that the browser did not pass on; they become issues.
    pub(crate) fn of_files(
        label: String,
        files: Vec<(String, web_sys::File)>,
        missing: &Missing,
    ) -> SourceAndBlob {
        let given = UnpackedOpening::of(files);
        let shared = given.shared();
        let UnpackedOpening {
            files,
            unpacked,
            verified,
            saved,
            ..
        } = given;
        let is_folder = !verified.is_empty();
        let originals = files.iter().map(|(path, _)| path.clone()).collect();
        let unpacked = unpacked.into_iter().map(|(path, len, bytes)| {
            let entry = FileEntry {
                path,
                len,
                modified: None,
            };
            let place = match bytes {
                Bytes::Held(bytes) => ByteLocation::Held(bytes),
                Bytes::Browser(blob) => ByteLocation::Browser(blob),
            };
            (entry, place)
        });
        let pairs = files.into_iter().map(|(path, file)| {
            let modified = Some(Stamp::At(file.last_modified() as i64));
            (
                FileEntry {
                    path,
                    len: file.size() as u64,
                    modified,
                },
                ByteLocation::Browser(file.into()),
            )
        });
        let pairs = pairs.chain(unpacked).collect();
        let verified = verified.iter().map(|(_, verified)| verified.issue());
        let hidden = missing.hidden.iter().map(|folder| names_hidden(folder));
        let listed = left_out(&missing.skipped)
            .into_iter()
            .chain(not_given(&missing.not_given))
            .chain(hidden)
            .chain(verified)
            .collect();
        let source = WebSource {
            loose: missing.loose && !is_folder,
            shared,
            originals: is_folder.then_some(originals),
            ..WebSource::new(label, pairs, listed)
        };
        (source, saved.map(|(_, blob)| blob))
    }

    /// Returns a future that reads the rows of the database of the run at `place` before SQLite needs them: SQLite waits
    /// for each piece that it reads itself. `None` for a small database, or if this was done before. What could not be
    /// read is read again by SQLite, which reports the error.
    pub(crate) fn read_rows(&self, place: &str) -> Option<impl Future<Output = ()> + use<>> {
        let files = Rc::clone(&self.files);
        let state = [place, "state.db"].join(if place.is_empty() { "" } else { "/" });
        let is_of = |file: &FileEntry| file.path == place || file.path == state;
        let index = files.entries.iter().position(is_of)?;
        let is_new =
            files.size(index) > WHOLE && files.rows_read.replace(Some(index)) != Some(index);
        is_new.then_some(async move { files.read_rows(index).await })
    }

    /// Creates a source from bytes in memory.
    pub(crate) fn of_bytes(label: String, files: Vec<(String, Vec<u8>)>) -> WebSource {
        let pairs = files.into_iter().map(|(path, bytes)| {
            let entry = FileEntry {
                path,
                len: bytes.len() as u64,
                modified: None,
            };
            (entry, ByteLocation::Memory(bytes.into()))
        });
        WebSource::new(label, pairs.collect(), Vec::new())
    }

    fn new(
        label: String,
        mut pairs: Vec<(FileEntry, ByteLocation)>,
        listed: Vec<Issue>,
    ) -> WebSource {
        pairs.sort_by(|a, b| a.0.path.cmp(&b.0.path));
        pairs.dedup_by(|a, b| a.0.path == b.0.path);
        let (entries, places) = pairs.into_iter().unzip();
        let files = Rc::new(SourceFiles {
            entries,
            places,
            rows_read: Cell::default(),
            cache: RefCell::default(),
            reader: web_sys::FileReaderSync::new().ok(),
            fault: RefCell::default(),
        });
        WebSource {
            label,
            mount: Mount::new(files.clone()),
            files,
            listed,
            loose: false,
            shared: None,
            originals: None,
        }
    }
}

impl Shareable for WebSource {
    fn databases(&self) -> Result<Box<dyn Databases + '_>, ShareError> {
        Ok(Box::new(&self.mount))
    }

    fn unpacked(&self, zip: &[u8]) -> Result<Rc<dyn Shareable>, ShareError> {
        let archive = Archive::open(zip, zip.len() as u64, u64::MAX)?;
        let mut files = InMemory::default();
        manifest::unpack(&archive, &mut files)?;
        Ok(Rc::new(WebSource::of_bytes(self.label.clone(), files.0)))
    }
}

impl DeskSource for WebSource {
    /// Returns an empty text, because the files of a browser are never listed again. A browser refuses to read a file
    /// that has changed.
    fn version(&self, _path: &str) -> &str {
        ""
    }

    fn workflows(&self, path: &str, limits: &Limits) -> Result<Box<dyn WorkflowRows>, SourceError> {
        let opened = self.mount.open(path);
        match opened.and_then(|conn| SqliteTables::of_source(conn, path, limits)) {
            Ok(tables) => Ok(Box::new(tables)),
            Err(error) => Err(self.take_fault().unwrap_or(error)),
        }
    }

    fn take_fault(&self) -> Option<SourceError> {
        self.files.fault.take()
    }

    fn shared(&self) -> Option<SharedRemarks> {
        self.shared.clone()
    }

    fn counters(&self) -> Counters {
        self.files.cache.borrow().counters()
    }
}

impl Source for WebSource {
    fn label(&self) -> String {
        self.label.clone()
    }

    fn is_loose(&self) -> bool {
        self.loose
    }

    fn files(&self) -> &[FileEntry] {
        &self.files.entries
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        let index = self
            .files
            .index(path)
            .ok_or_else(|| SourceError::NotFound(path.to_owned()))?;
        let rest = self
            .files
            .size(index)
            .saturating_sub(offset)
            .min(len as u64);
        let mut bytes = vec![0; rest as usize];
        let got = self.files.read(index, offset, &mut bytes)?;
        bytes.truncate(got);
        Ok(bytes)
    }

    fn expect(&self, places: &mut dyn Iterator<Item = &str>) {
        self.files.fetch_places(places);
    }

    fn is_copy(&self, place: &str) -> bool {
        let folder = format!("{place}/");
        let is_own = |path: &String| path == place || path.starts_with(&folder);
        let originals = self.originals.as_ref();
        originals.is_some_and(|all| !all.iter().any(is_own))
    }

    fn listed(&self) -> Vec<Issue> {
        self.listed.clone()
    }

    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        let opened = self.mount.open(path);
        let opened = opened.and_then(|conn| Sqlite::of_source(conn, path, limits));
        opened.map_err(|error| self.take_fault().unwrap_or(error))
    }

    fn notes(&self, path: &str) -> Vec<Issue> {
        self.mount.notes(path)
    }
}

impl prosescope_vfs::Files for SourceFiles {
    fn entries(&self) -> &[FileEntry] {
        &self.entries
    }

    fn read(&self, index: usize, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        let mut cache = self.cache.borrow_mut();
        self.fetch_row(index, &mut cache);
        let result = cache.read(index, self.size(index), offset, buf, |range| {
            self.fetch(index, range)
        });
        if let Err(fault) = &result {
            self.fault.replace(Some(fault.clone()));
        }
        result
    }
}

impl SourceFiles {
    /// Reads a database and keeps its pages with rows and keys. While a piece is examined, the browser reads the next.
    async fn read_rows(&self, index: usize) {
        let Some(ByteLocation::Browser(file)) = self.places.get(index) else {
            return;
        };
        let size = self.size(index);
        let read = |start: u64| async move {
            let end = (start + PIECE).min(size);
            let part = file.slice_with_f64_and_f64(start as f64, end as f64);
            let buffer = JsFuture::from(part.ok()?.array_buffer()).await.ok()?;
            Some((start, FilePart::Browser(js_sys::Uint8Array::new(&buffer))))
        };
        let starts = (0..size).step_by(PIECE as usize);
        let mut pieces = stream::iter(starts).map(read).buffered(AT_ONCE);
        while let Some(Some((start, bytes))) = pieces.next().await {
            self.cache.borrow_mut().take_rows(index, start, &bytes);
        }
    }

    fn fetch(&self, index: usize, range: Range<u64>) -> Result<FilePart, SourceError> {
        match self.places.get(index) {
            Some(ByteLocation::Browser(file)) => self.slice(file, self.path(index), range),
            Some(ByteLocation::Held(bytes)) => {
                let part = bytes.subarray(range.start as u32, range.end as u32);
                Ok(FilePart::Browser(part))
            }
            Some(ByteLocation::Memory(bytes)) => {
                let range = range.start as usize..range.end as usize;
                Ok(FilePart::Memory(Rc::clone(bytes), range))
            }
            None => Err(SourceError::NotFound(self.path(index).to_owned())),
        }
    }

    /// Fetches a small file together with the small files after it, if the files of a folder are being read in order.
    fn fetch_row(&self, index: usize, cache: &mut Cache) {
        if self.small(index).is_none() {
            return;
        }
        let files = cache.files_to_fetch(index);
        if files < 2 {
            return;
        }
        let files = (index..index + files).filter(|at| self.small(*at).is_some());
        self.fetch_together(&files.collect::<Vec<_>>(), cache);
    }

    /// Fetches the files of the next runs together, until [`TOGETHER`] bytes are exceeded or a run needs no fetch. Does
    /// nothing if the files of the first run are in the cache.
    fn fetch_places(&self, places: &mut dyn Iterator<Item = &str>) {
        let mut cache = self.cache.borrow_mut();
        let (mut files, mut bytes) = (Vec::new(), 0);
        for place in places {
            let from = self.entries.partition_point(|file| *file.path < *place);
            let of_place = self.entries.get(from..).unwrap_or_default().iter();
            let of_place = of_place.take_while(|file| {
                let below = file.path.strip_prefix(place);
                below.is_some_and(|below| {
                    below.is_empty() || below.starts_with('/') || place.is_empty()
                })
            });
            let known = files.len();
            for (at, file) in (from..).zip(of_place).take(OF_A_PLACE) {
                let is_whole = file.len <= WHOLE
                    && matches!(self.places.get(at), Some(ByteLocation::Browser(_)));
                if file.len > 0 && is_whole && !cache.has(at) {
                    bytes += file.len;
                    files.push(at);
                }
            }
            if files.len() == known || bytes > TOGETHER {
                break;
            }
        }
        self.fetch_together(&files, &mut cache);
    }

    /// Fetches files of the browser together and adds them to the cache. An error is ignored, because each file is
    /// then read alone later. An error of that read contains the file's path.
    fn fetch_together(&self, files: &[usize], cache: &mut Cache) {
        let (mut row, parts, mut bytes) = (Vec::new(), js_sys::Array::new(), 0);
        for at in files {
            let Some(ByteLocation::Browser(file)) = self.places.get(*at) else {
                continue;
            };
            parts.push(file);
            row.push((*at, bytes..bytes + self.size(*at) as usize));
            bytes += self.size(*at) as usize;
        }
        let together = || {
            let blob = web_sys::Blob::new_with_blob_sequence(&parts).ok()?;
            let buffer = self.reader.as_ref()?.read_as_array_buffer(&blob).ok()?;
            Some(js_sys::Uint8Array::new(&buffer).to_vec())
        };
        if row.is_empty() {
            return;
        }
        if let Some(all) = together().filter(|all| all.len() == bytes) {
            let files = row
                .into_iter()
                .map(|(at, range)| (at, all.get(range).unwrap_or_default()));
            cache.take_in(files, bytes as u64);
        }
    }

    /// Returns the file with this index if it is a nonempty file of the browser of at most [`SMALL`] bytes.
    fn small(&self, index: usize) -> Option<&web_sys::Blob> {
        match self.places.get(index) {
            Some(ByteLocation::Browser(file)) if (1..=SMALL).contains(&self.size(index)) => {
                Some(file)
            }
            _ => None,
        }
    }

    fn slice(
        &self,
        file: &web_sys::Blob,
        path: &str,
        range: Range<u64>,
    ) -> Result<FilePart, SourceError> {
        let unreadable = |cause: &str| SourceError::Unreadable {
            path: path.to_owned(),
            cause: cause.to_owned(),
        };
        let reader = self.reader.as_ref().ok_or_else(|| {
            unreadable("this browser cannot read files in the background (no `FileReaderSync`)")
        })?;
        let read = || -> Result<js_sys::ArrayBuffer, JsValue> {
            let part = file.slice_with_f64_and_f64(range.start as f64, range.end as f64)?;
            reader.read_as_array_buffer(&part)
        };
        let buffer = read().map_err(|error| match name_of(&error).as_str() {
            // Chromium returns this error for a file whose date or size changed since it was picked.
            "NotReadableError" | "NotFoundError" => SourceError::Changed(path.to_owned()),
            "SecurityError" => unreadable("the browser does not allow this page to read the file"),
            other => unreadable(other),
        })?;
        let bytes = js_sys::Uint8Array::new(&buffer);
        if u64::from(bytes.length()) < range.end - range.start {
            return Err(SourceError::Changed(path.to_owned()));
        }
        Ok(FilePart::Browser(bytes))
    }
}

impl Fetched for FilePart {
    fn len(&self) -> usize {
        match self {
            FilePart::Browser(bytes) => bytes.length() as usize,
            FilePart::Memory(_, range) => range.len(),
        }
    }

    fn byte(&self, at: usize) -> u8 {
        match self {
            FilePart::Browser(bytes) => bytes.get_index(at as u32),
            FilePart::Memory(bytes, range) => {
                bytes.get(range.start + at).copied().unwrap_or_default()
            }
        }
    }

    fn copy(&self, part: Range<usize>) -> Box<[u8]> {
        match self {
            FilePart::Browser(bytes) => {
                let part = bytes.subarray(part.start as u32, part.end as u32);
                part.to_vec().into()
            }
            FilePart::Memory(bytes, range) => {
                let part = range.start + part.start..range.start + part.end;
                bytes.get(part).unwrap_or_default().into()
            }
        }
    }
}

fn name_of(error: &JsValue) -> String {
    js_sys::Reflect::get(error, &"name".into())
        .ok()
        .and_then(|v| v.as_string())
        .unwrap_or_else(|| {
            error
                .dyn_ref::<js_sys::Error>()
                .map_or_else(String::new, |e| String::from(e.message()))
        })
}
