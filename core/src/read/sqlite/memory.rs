//! Provides the files of a run from memory, as a [`Source`]: for tests, pasted text and small archives.

use super::{Header, Sqlite, wal_missing};
use crate::model::database::{Database, Limits};
use crate::model::issue::Issue;
use crate::model::source::{FileEntry, Source, SourceError};

/// A source of files that are held in memory: for tests, pasted text and small archives.
#[derive(Debug, Default, Clone)]
pub struct MemorySource {
    label: String,
    files: Vec<FileEntry>,
    bytes: Vec<Vec<u8>>,
}

impl MemorySource {
    /// Returns a source of these paths and bytes.
    pub fn new(label: &str, files: impl IntoIterator<Item = (String, Vec<u8>)>) -> MemorySource {
        let mut pairs: Vec<(String, Vec<u8>)> = files.into_iter().collect();
        pairs.sort();
        let mut source = MemorySource {
            label: label.to_owned(),
            ..MemorySource::default()
        };
        for (path, bytes) in pairs {
            source.files.push(FileEntry {
                path,
                len: bytes.len() as u64,
                modified: None,
            });
            source.bytes.push(bytes);
        }
        source
    }

    fn whole(&self, path: &str) -> Result<&[u8], SourceError> {
        self.files
            .binary_search_by(|f| f.path.as_str().cmp(path))
            .ok()
            .and_then(|at| self.bytes.get(at))
            .map(Vec::as_slice)
            .ok_or_else(|| SourceError::NotFound(path.to_owned()))
    }
}

impl Source for MemorySource {
    fn label(&self) -> String {
        self.label.clone()
    }

    fn files(&self) -> &[FileEntry] {
        &self.files
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        let bytes = self.whole(path)?;
        let start = usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        Ok(bytes[start..start.saturating_add(len).min(bytes.len())].to_vec())
    }

    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        let bytes = self.whole(path)?;
        let wal = self.whole(&format!("{path}-wal")).unwrap_or_default();
        let conn = super::from_bytes_with_wal(bytes, wal)
            .map_err(|error| SourceError::of_database(path, &error))?;
        Sqlite::of_source(conn, path, limits)
    }

    fn notes(&self, path: &str) -> Vec<Issue> {
        let has_wal = self
            .whole(&format!("{path}-wal"))
            .is_ok_and(|wal| !wal.is_empty());
        let in_wal_mode = self
            .whole(path)
            .and_then(|bytes| {
                Header::read(bytes, bytes.len() as u64)
                    .map_err(|_| SourceError::NotFound(path.to_owned()))
            })
            .is_ok_and(|header| header.wal);
        if in_wal_mode && !has_wal {
            vec![wal_missing(
                path,
                self.whole(&format!("{path}-shm")).is_ok(),
            )]
        } else {
            Vec::new()
        }
    }
}
