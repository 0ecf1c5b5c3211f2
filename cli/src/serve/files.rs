//! Which files are served, and reading a range of one as long as it is the file that was listed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use axum::http::StatusCode;
use prosescope_core::issue::Issue;
use prosescope_core::source::{FileEntry, Source};
use prosescope_store::Disk;
use serde::Serialize;

use super::range;

/// The most that one request reads: the page asks for what it needs, in smaller parts.
const MOST: u64 = 8 << 20;

/// What is served: files below one or more roots.
#[derive(Default)]
pub(crate) struct Served {
    label: String,
    files: Vec<(FileEntry, PathBuf)>,
    /// What is to be said of the listing.
    issues: Vec<Issue>,
}

/// `files.json`.
#[derive(Serialize)]
pub(super) struct Listing<'a> {
    label: &'a str,
    files: Vec<Listed<'a>>,
    issues: &'a [Issue],
}

#[derive(Serialize)]
struct Listed<'a> {
    path: &'a str,
    len: u64,
    modified: Option<String>,
    version: String,
}

/// A part of a file.
pub(super) struct Part {
    pub(super) bytes: Vec<u8>,
    pub(super) whole: bool,
    pub(super) content_range: String,
}

/// Why a part is not given.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("no such file is served")]
    NotServed,
    #[error("the file changed since it was listed")]
    Changed,
    #[error("the range lies outside of the file")]
    Range,
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
}

impl Refused {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Refused::NotServed => StatusCode::NOT_FOUND,
            Refused::Changed => StatusCode::CONFLICT,
            Refused::Range => StatusCode::RANGE_NOT_SATISFIABLE,
            Refused::Io(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl Served {
    /// Nothing yet, under this name.
    pub(crate) fn new(label: &str) -> Served {
        Served {
            label: label.to_owned(),
            files: Vec::new(),
            issues: Vec::new(),
        }
    }

    /// Adds the files of a source, each below `prefix` (empty, or ending in `/`).
    pub(crate) fn add(&mut self, disk: &Disk, prefix: &str, wanted: impl Fn(&str) -> bool) {
        for file in disk.files().iter().filter(|f| wanted(&f.path)) {
            let path = disk.path_of(&file.path);
            let entry = FileEntry {
                path: format!("{prefix}{}", file.path),
                ..file.clone()
            };
            if !self.files.iter().any(|(known, _)| known.path == entry.path) {
                self.files.push((entry, path));
            }
        }
        self.files.sort_by(|(a, _), (b, _)| a.path.cmp(&b.path));
        let of_wanted = |issue: &Issue| issue.location.file.as_deref().is_none_or(&wanted);
        self.issues.extend(
            disk.listed()
                .into_iter()
                .filter(of_wanted)
                .map(|mut issue| {
                    issue.location.file = issue.location.file.map(|file| format!("{prefix}{file}"));
                    issue
                }),
        );
    }

    pub(super) fn listing(&self) -> Listing<'_> {
        let files = self.files.iter().filter_map(|(entry, path)| {
            // Listed anew each time: a reload shows the files as they are now.
            let meta = path.metadata().ok()?;
            Some(Listed {
                path: &entry.path,
                len: meta.len(),
                modified: entry.modified.as_ref().map(ToString::to_string),
                version: version(&meta),
            })
        });
        Listing {
            label: &self.label,
            files: files.collect(),
            issues: &self.issues,
        }
    }

    pub(super) fn read(
        &self,
        path: &str,
        wanted: &str,
        range: Option<&str>,
    ) -> Result<Part, Refused> {
        let at = self
            .files
            .binary_search_by(|(entry, _)| entry.path.as_str().cmp(path))
            .map_err(|_| Refused::NotServed)?;
        let (_, path) = self.files.get(at).ok_or(Refused::NotServed)?;
        let mut file = File::open(path)?;
        let before = file.metadata()?;
        if !wanted.is_empty() && version(&before) != wanted {
            return Err(Refused::Changed);
        }
        let len = before.len();
        let (first, count) = match range::parse(range, len) {
            None => (0, len),
            Some(None) => return Err(Refused::Range),
            Some(Some(part)) => part,
        };
        let count = if range.is_some() {
            count.min(MOST)
        } else {
            count
        };
        let mut bytes = Vec::with_capacity(usize::try_from(count.min(MOST)).unwrap_or(0));
        file.seek(SeekFrom::Start(first))?;
        file.by_ref().take(count).read_to_end(&mut bytes)?;
        // What was read belongs to the listed file only if it still is that file now.
        if !wanted.is_empty() && version(&path.metadata()?) != wanted {
            return Err(Refused::Changed);
        }
        let last = (first + bytes.len() as u64).saturating_sub(1);
        Ok(Part {
            whole: range.is_none(),
            content_range: format!("bytes {first}-{last}/{len}"),
            bytes,
        })
    }
}

/// Names a state of a file: length and time of change.
fn version(meta: &std::fs::Metadata) -> String {
    let changed = meta
        .modified()
        .ok()
        .and_then(|t| t.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |d| d.as_nanos());
    format!("{}-{changed}", meta.len())
}
