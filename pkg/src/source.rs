//! Implements the core's [`Source`] over bytes in JavaScript's memory. The bytes are read in place, and a file is
//! never copied whole.

use std::rc::Rc;

use js_sys::{Function, Uint8Array};
use prosescope_core::model::database::{Database, Limits};
use prosescope_core::model::issue::Issue;
use prosescope_core::model::source::{FileEntry, Source, SourceError};
use prosescope_core::read::sqlite::Sqlite;
use prosescope_share::file::Shareable;
use prosescope_share::pack::{Databases, ShareError};
use prosescope_vfs::{Files, Mount};
use wasm_bindgen::{JsCast as _, JsValue};

use crate::error::Problem;
use crate::packed::of_packed;

/// A source whose files are bytes in JavaScript's memory.
pub(crate) struct JsSource {
    label: String,
    files: Rc<JsFiles>,
    mount: Mount,
    /// An issue about the files as a whole, such as folders that were left out.
    listed: Option<Issue>,
}

impl JsSource {
    /// Creates a source from these files, whose paths must differ. `listed` is an issue about the files as a whole.
    pub(crate) fn new(
        label: String,
        mut pairs: Vec<(FileEntry, HeldBytes)>,
        listed: Option<Issue>,
    ) -> JsSource {
        pairs.sort_by(|a, b| a.0.path.cmp(&b.0.path));
        let (entries, bytes) = pairs.into_iter().unzip();
        let files = Rc::new(JsFiles { entries, bytes });
        JsSource {
            label,
            listed,
            mount: Mount::new(Rc::<JsFiles>::clone(&files)),
            files,
        }
    }
}

impl Source for JsSource {
    fn label(&self) -> String {
        self.label.clone()
    }

    fn files(&self) -> &[FileEntry] {
        &self.files.entries
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        let index = self
            .files
            .index(path)
            .ok_or_else(|| SourceError::NotFound(path.to_owned()))?;
        let rest = self.files.size(index).saturating_sub(offset);
        let mut bytes = vec![0; rest.min(len as u64) as usize];
        let read = self.files.read(index, offset, &mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        Sqlite::of_source(self.mount.open(path)?, path, limits)
    }

    fn is_copy(&self, _place: &str) -> bool {
        self.listed.iter().any(Issue::is_of_copy)
    }

    fn listed(&self) -> Vec<Issue> {
        self.listed.iter().cloned().collect()
    }

    fn notes(&self, path: &str) -> Vec<Issue> {
        self.mount.notes(path)
    }
}

impl Shareable for JsSource {
    fn databases(&self) -> Result<Box<dyn Databases + '_>, ShareError> {
        Ok(Box::new(&self.mount))
    }

    fn unpacked(&self, zip: &[u8]) -> Result<Rc<dyn Shareable>, ShareError> {
        let files = of_packed(zip)?;
        Ok(Rc::new(JsSource::new(self.label.clone(), files, None)))
    }
}

struct JsFiles {
    /// The files, sorted by path.
    entries: Vec<FileEntry>,
    bytes: Vec<HeldBytes>,
}

/// The bytes of a file, in JavaScript's memory.
pub(crate) enum HeldBytes {
    /// An array with all bytes of the file.
    Whole(Uint8Array),
    /// A JavaScript function that returns a part of the bytes, given an offset and a length.
    Parts(Function),
}

impl HeldBytes {
    /// Converts a value from JavaScript: an array or a function.
    pub(crate) fn of(value: JsValue) -> HeldBytes {
        match value.dyn_into::<Function>() {
            Ok(parts) => HeldBytes::Parts(parts),
            Err(whole) => HeldBytes::Whole(whole.unchecked_into()),
        }
    }

    /// Fills `buf` from `offset` of a file of `len` bytes, and returns how many bytes were read.
    ///
    /// # Errors
    /// The reason if it is known; `None` if the length has changed.
    pub(crate) fn read(
        &self,
        len: u64,
        offset: u64,
        buf: &mut [u8],
    ) -> Result<usize, Option<String>> {
        let end = offset.saturating_add(buf.len() as u64).min(len);
        let start = offset.min(end);
        let read = (end - start) as usize;
        let part = match self {
            // Copying from a transferred or resized buffer would throw.
            HeldBytes::Whole(bytes) if u64::from(bytes.length()) != len => return Err(None),
            HeldBytes::Whole(bytes) => bytes.subarray(start as u32, end as u32),
            HeldBytes::Parts(part) => {
                let part = part.call2(
                    &JsValue::NULL,
                    &(start as f64).into(),
                    &(read as f64).into(),
                );
                let part = part.map_err(|thrown| Some(Problem::thrown(&thrown)))?;
                part.dyn_into::<Uint8Array>().map_err(|_| None)?
            }
        };
        if part.length() as usize != read {
            return Err(None);
        }
        if let Some(buf) = buf.get_mut(..read) {
            part.copy_to(buf);
        }
        Ok(read)
    }
}

impl Files for JsFiles {
    fn entries(&self) -> &[FileEntry] {
        &self.entries
    }

    fn read(&self, index: usize, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        let Some(bytes) = self.bytes.get(index) else {
            return Ok(0);
        };
        let path = || self.path(index).to_owned();
        bytes
            .read(self.size(index), offset, buf)
            .map_err(|why| match why {
                Some(cause) => SourceError::Unreadable {
                    path: path(),
                    cause,
                },
                None => SourceError::Changed(path()),
            })
    }
}
