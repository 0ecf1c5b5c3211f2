//! Which files are served, and reading a range of one as long as it is the file that was listed.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use prosescope_core::issue::Issue;
use prosescope_core::source::{FileEntry, Source};
use prosescope_store::Disk;
use serde::Serialize;

use super::range;

/// The most that one request reads: the page asks for what it needs, in smaller parts.
const MOST: u64 = 8 << 20;

/// Which files of a root are served, by their path in it; folders, asked with a `/` at the end, are entered when they
/// may hold some.
pub(crate) type Wanted = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// What is served: files below one or more roots, which are looked through anew at every listing.
pub(crate) struct Served {
    label: String,
    roots: Vec<Root>,
    /// As they were listed last.
    files: RwLock<BTreeMap<String, PathBuf>>,
}

/// A folder, or a database with what SQLite keeps beside it.
struct Root {
    path: PathBuf,
    /// What its paths begin with: empty, or ending in `/`.
    prefix: String,
    wanted: Wanted,
}

/// What is there now.
#[derive(Default)]
struct Found {
    files: BTreeMap<String, (FileEntry, PathBuf)>,
    issues: Vec<Issue>,
}

/// `files.json`.
#[derive(Serialize)]
pub(super) struct Listing<'a> {
    label: &'a str,
    files: Vec<Listed>,
    issues: Vec<Issue>,
}

#[derive(Serialize)]
struct Listed {
    path: String,
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
    #[error("the server does not serve this file")]
    NotServed,
    #[error("the file has changed since it was listed")]
    Changed,
    #[error("the range is outside of the file")]
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
            roots: Vec::new(),
            files: RwLock::default(),
        }
    }

    /// Adds the wanted files of a folder or a file, each below `prefix` (empty, or ending in `/`).
    pub(crate) fn add(&mut self, path: PathBuf, prefix: &str, wanted: Wanted) {
        self.roots.push(Root {
            path,
            prefix: prefix.to_owned(),
            wanted,
        });
    }

    /// Lists anew: a page that follows, or is reloaded, shows the files as they are now.
    pub(super) fn listing(&self) -> Listing<'_> {
        let Found { files, issues } = self.look();
        let now = SystemTime::now();
        let listed = files.iter().filter_map(|(path, (entry, at))| {
            let meta = at.metadata().ok()?;
            Some(Listed {
                path: path.clone(),
                len: meta.len(),
                modified: entry.modified.as_ref().map(ToString::to_string),
                version: version(&meta, now),
            })
        });
        let listing = Listing {
            label: &self.label,
            files: listed.collect(),
            issues,
        };
        let paths = files.into_iter().map(|(path, (_, at))| (path, at));
        *self.files.write().unwrap_or_else(PoisonError::into_inner) = paths.collect();
        listing
    }

    /// Names the state of all files together: their paths, lengths and times.
    pub(super) fn version(&self) -> String {
        let now = SystemTime::now();
        let mut state = DefaultHasher::new();
        for (path, (_, at)) in self.look().files {
            let version = at.metadata().map(|meta| version(&meta, now));
            (path, version.unwrap_or_default()).hash(&mut state);
        }
        format!("{:016x}", state.finish())
    }

    fn look(&self) -> Found {
        let mut found = Found::default();
        for root in &self.roots {
            // What is gone has no files; it may come back.
            let Ok(disk) = Disk::open_where(&root.path, &root.wanted) else {
                continue;
            };
            for file in disk.files().iter().filter(|f| (root.wanted)(&f.path)) {
                let path = format!("{}{}", root.prefix, file.path);
                found
                    .files
                    .entry(path)
                    .or_insert_with(|| (file.clone(), disk.path_of(&file.path)));
            }
            let of_wanted = |issue: &Issue| issue.location.file.as_deref().is_none_or(&root.wanted);
            let issues = disk.listed().into_iter().filter(of_wanted);
            found.issues.extend(issues.map(|mut issue| {
                let file = issue.location.file.take();
                issue.location.file = file.map(|file| format!("{}{file}", root.prefix));
                issue
            }));
        }
        found
    }

    pub(super) fn read(
        &self,
        path: &str,
        wanted: &str,
        range: Option<&str>,
    ) -> Result<Part, Refused> {
        let path = {
            let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
            files.get(path).cloned().ok_or(Refused::NotServed)?
        };
        let changed =
            |meta: &Metadata| !wanted.is_empty() && version(meta, SystemTime::now()) != wanted;
        let mut file = File::open(&path)?;
        let before = file.metadata()?;
        if changed(&before) {
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
        if changed(&path.metadata()?) {
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

/// How long a file's time does not yet tell its states apart: a file system counts time in steps (10 ms at most where
/// runs lie, 2 s on a memory card, where a listing is a moment late at worst).
const STEP: Duration = Duration::from_millis(50);

/// Names a state of a file: length and time of change. What was written a moment ago has a name for that moment only:
/// it may be written once more within the same step of the clock.
fn version(meta: &Metadata, now: SystemTime) -> String {
    let changed = meta.modified().unwrap_or(UNIX_EPOCH);
    let is_new = now.duration_since(changed).is_ok_and(|since| since < STEP);
    let changed = changed
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_nanos());
    let end = if is_new { "-new" } else { "" };
    format!("{}-{changed}{end}", meta.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(path: &std::path::Path) -> Served {
        let mut served = Served::new("a run");
        served.add(path.to_owned(), "r/", Box::new(|path| path != "secret.txt"));
        served
    }

    fn paths(served: &Served) -> Vec<String> {
        served.listing().files.into_iter().map(|f| f.path).collect()
    }

    #[test]
    fn what_is_written_later_is_served_and_named_in_the_version() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("state.md"), "x").unwrap();
        std::fs::write(dir.path().join("secret.txt"), "x").unwrap();
        let served = served(dir.path());
        assert_eq!(paths(&served), ["r/state.md"]);
        assert!(matches!(
            served.read("r/a.md", "", None),
            Err(Refused::NotServed)
        ));
        let before = served.version();
        std::fs::write(dir.path().join("a.md"), "new").unwrap();
        assert_ne!(served.version(), before);
        assert_eq!(paths(&served), ["r/a.md", "r/state.md"]);
        assert_eq!(served.read("r/a.md", "", None).unwrap().bytes, b"new");
        // A folder that is gone, and one that comes back.
        std::fs::remove_dir_all(dir.path()).unwrap();
        assert_eq!(paths(&served), Vec::<String>::new());
        std::fs::create_dir(dir.path()).unwrap();
        std::fs::write(dir.path().join("state.md"), "y").unwrap();
        assert_eq!(paths(&served), ["r/state.md"]);
    }

    /// The name of the state in which a file was listed.
    fn listed(served: &Served, path: &str) -> String {
        let listing = served.listing();
        let file = listing.files.into_iter().find(|file| file.path == path);
        file.unwrap().version
    }

    /// Sets back when a file was written, so that it is no longer new.
    fn settle(path: &std::path::Path, seconds: u64) {
        let file = File::options().write(true).open(path).unwrap();
        let then = SystemTime::now() - Duration::from_secs(seconds);
        file.set_modified(then).unwrap();
    }

    #[test]
    fn what_changed_since_it_was_listed_is_refused_until_it_is_listed_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.md");
        std::fs::write(&path, "one").unwrap();
        settle(&path, 60);
        let served = served(dir.path());
        let version = listed(&served, "r/state.md");
        let (state, before) = (served.version(), version.clone());
        let read = |version: &str| served.read("r/state.md", version, Some("bytes=0-1"));
        assert_eq!(read(&version).unwrap().bytes, b"on");
        assert_eq!(served.version(), state, "nothing changed");
        // Longer; then as long, and written later.
        for (text, seconds) in [("longer", 60), ("longEr", 30)] {
            std::fs::write(&path, text).unwrap();
            settle(&path, seconds);
            assert_ne!(served.version(), state, "{text}");
            let refused = read(&before).err().map(|refused| refused.status());
            assert_eq!(refused, Some(StatusCode::CONFLICT), "{text}");
            let version = listed(&served, "r/state.md");
            assert_eq!(read(&version).unwrap().bytes, b"lo");
        }
        // Gone, while the list still has it: the page asks for a new list.
        std::fs::remove_file(&path).unwrap();
        assert_ne!(served.version(), state);
        assert!(matches!(read(&before), Err(Refused::Io(_))));
        served.listing();
        assert!(matches!(read(&before), Err(Refused::NotServed)));
    }

    #[test]
    fn a_file_that_was_written_a_moment_ago_is_named_for_that_moment_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        std::fs::write(&path, "x").unwrap();
        let meta = path.metadata().unwrap();
        let written = meta.modified().unwrap();
        let soon = version(&meta, written + STEP / 2);
        let later = version(&meta, written + STEP * 2);
        assert!(
            soon.ends_with("-new") && !later.ends_with("-new"),
            "{soon}, {later}"
        );
        assert_eq!(later, version(&meta, written + STEP * 3));
    }
}
