//! Which files are served, and reading a range of one as long as it is the file that was listed.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use prosescope_core::issue::Issue;
use prosescope_core::source::{FileEntry, Source};
use prosescope_store::{Disk, Root as Held};
use serde::Serialize;

use super::range;

/// The most that one request for a range reads, and that is held of any file: the page asks for what it needs, in
/// smaller parts.
const MOST: u64 = 8 << 20;

/// The most that is held of a file that is sent whole.
const CHUNK: u64 = 256 << 10;

/// Which files of a root are served, by their path in it; folders, asked with a `/` at the end, are entered when they
/// may hold some.
pub(crate) type Wanted = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// What is served: files below one or more roots, which are looked through anew at every listing.
pub(crate) struct Served {
    label: String,
    roots: Vec<Root>,
    /// As they were listed last: in which folder each lies, and its path there.
    files: RwLock<BTreeMap<String, (Held, String)>>,
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
    files: BTreeMap<String, (FileEntry, Held)>,
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
    pub(super) bytes: Bytes,
    pub(super) len: u64,
    pub(super) whole: bool,
    pub(super) content_range: String,
}

/// The bytes of a part.
pub(super) enum Bytes {
    /// All of them; the file was the listed one before and after they were read.
    Read(Vec<u8>),
    /// Too many to hold.
    Chunks(Chunks),
}

/// Reads a file piece by piece, as long as nobody writes to it.
pub(super) struct Chunks {
    file: File,
    left: u64,
    state: (u64, SystemTime),
}

impl Iterator for Chunks {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        if self.left == 0 {
            return None;
        }
        let mut bytes = Vec::new();
        let read = (&self.file)
            .take(CHUNK.min(self.left))
            .read_to_end(&mut bytes);
        let same = read.and_then(|_| state(&self.file));
        self.left -= bytes.len() as u64;
        match same {
            Ok(now) if now == self.state && !bytes.is_empty() => Some(Ok(bytes)),
            // What was sent is less than what was promised: the other side sees that it is cut off.
            other => {
                self.left = 0;
                let changed = io::Error::other(Refused::Changed.to_string());
                Some(Err(other.err().unwrap_or(changed)))
            }
        }
    }
}

/// The length of an open file, and when it was changed.
fn state(file: &File) -> io::Result<(u64, SystemTime)> {
    let meta = file.metadata()?;
    Ok((meta.len(), meta.modified()?))
}

/// Why a part is not given.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("the server does not serve this file")]
    NotServed,
    #[error("the request does not name the version that was listed: ?v=VERSION")]
    Unversioned,
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
            Refused::Unversioned => StatusCode::BAD_REQUEST,
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
        let listed = files.iter().filter_map(|(path, (entry, held))| {
            let state = held.state(&entry.path).ok()?;
            Some(Listed {
                path: path.clone(),
                len: state.0,
                modified: entry.modified.as_ref().map(ToString::to_string),
                version: version(state, now),
            })
        });
        let listing = Listing {
            label: &self.label,
            files: listed.collect(),
            issues,
        };
        let paths = files.into_iter();
        let paths = paths.map(|(path, (entry, held))| (path, (held, entry.path)));
        *self.files.write().unwrap_or_else(PoisonError::into_inner) = paths.collect();
        listing
    }

    /// Names the state of all files together: their paths, lengths and times.
    pub(super) fn version(&self) -> String {
        let now = SystemTime::now();
        let mut state = DefaultHasher::new();
        for (path, (entry, held)) in self.look().files {
            let version = held.state(&entry.path).map(|state| version(state, now));
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
                    .or_insert_with(|| (file.clone(), disk.root()));
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
        let (held, path) = {
            let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
            files.get(path).cloned().ok_or(Refused::NotServed)?
        };
        if wanted.is_empty() {
            return Err(Refused::Unversioned);
        }
        let mut file = held.open(&path)?;
        let before = state(&file)?;
        if version(before, SystemTime::now()) != wanted {
            return Err(Refused::Changed);
        }
        let (len, _) = before;
        let (first, count) = match range::parse(range, len) {
            None => (0, len),
            Some(None) => return Err(Refused::Range),
            Some(Some((first, count))) => (first, count.min(MOST)),
        };
        file.seek(SeekFrom::Start(first))?;
        let last = (first + count).saturating_sub(1);
        let part = |bytes| Part {
            bytes,
            len: count,
            whole: range.is_none(),
            content_range: format!("bytes {first}-{last}/{len}"),
        };
        if count > MOST {
            return Ok(part(Bytes::Chunks(Chunks {
                file,
                left: count,
                state: before,
            })));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
        (&file).take(count).read_to_end(&mut bytes)?;
        // What was read belongs to the listed file only if it still is that file now.
        if state(&file)? != before || bytes.len() as u64 != count {
            return Err(Refused::Changed);
        }
        Ok(part(Bytes::Read(bytes)))
    }
}

/// How long a file's time does not yet tell its states apart: a file system counts time in steps (10 ms at most where
/// runs lie, 2 s on a memory card, where a listing is a moment late at worst).
const STEP: Duration = Duration::from_millis(50);

/// Names a state of a file: length and time of change. What was written a moment ago has a name for that moment only:
/// it may be written once more within the same step of the clock.
fn version((len, changed): (u64, SystemTime), now: SystemTime) -> String {
    let is_new = now.duration_since(changed).is_ok_and(|since| since < STEP);
    let changed = changed
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_nanos());
    let end = if is_new { "-new" } else { "" };
    format!("{len}-{changed}{end}")
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
        settle(&dir.path().join("a.md"), 60);
        let version = listed(&served, "r/a.md");
        assert_eq!(read(&served, "r/a.md", &version, None).unwrap(), b"new");
        assert!(matches!(
            served.read("r/a.md", "", None),
            Err(Refused::Unversioned)
        ));
        // A folder that is gone, and one that comes back.
        std::fs::remove_dir_all(dir.path()).unwrap();
        assert_eq!(paths(&served), Vec::<String>::new());
        std::fs::create_dir(dir.path()).unwrap();
        std::fs::write(dir.path().join("state.md"), "y").unwrap();
        assert_eq!(paths(&served), ["r/state.md"]);
    }

    fn read(
        served: &Served,
        path: &str,
        version: &str,
        range: Option<&str>,
    ) -> Result<Vec<u8>, Refused> {
        match served.read(path, version, range)?.bytes {
            Bytes::Read(bytes) => Ok(bytes),
            Bytes::Chunks(chunks) => Ok(chunks.collect::<io::Result<Vec<_>>>()?.concat()),
        }
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
        let read = |version: &str| read(&served, "r/state.md", version, Some("bytes=0-1"));
        assert_eq!(read(&version).unwrap(), b"on");
        assert_eq!(served.version(), state, "nothing changed");
        // Longer; then as long, and written later.
        for (text, seconds) in [("longer", 60), ("longEr", 30)] {
            std::fs::write(&path, text).unwrap();
            settle(&path, seconds);
            assert_ne!(served.version(), state, "{text}");
            let refused = read(&before).err().map(|refused| refused.status());
            assert_eq!(refused, Some(StatusCode::CONFLICT), "{text}");
            let version = listed(&served, "r/state.md");
            assert_eq!(read(&version).unwrap(), b"lo");
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
        let state = state(&File::open(&path).unwrap()).unwrap();
        let written = state.1;
        let soon = version(state, written + STEP / 2);
        let later = version(state, written + STEP * 2);
        assert!(
            soon.ends_with("-new") && !later.ends_with("-new"),
            "{soon}, {later}"
        );
        assert_eq!(later, version(state, written + STEP * 3));
    }

    /// Of a file that is longer than memory a piece is held at a time, and what is written to is cut off.
    #[test]
    fn a_long_file_is_read_in_pieces() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("big.txt");
        let long: u64 = 3 << 30;
        File::create(&path).unwrap().set_len(long).unwrap();
        settle(&path, 60);
        let served = served(dir.path());
        let version = listed(&served, "r/big.txt");
        let part = served.read("r/big.txt", &version, None).unwrap();
        assert_eq!((part.len, part.whole), (long, true));
        let Bytes::Chunks(mut chunks) = part.bytes else {
            panic!("it is held");
        };
        for _ in 0..8 {
            let piece = chunks.next().unwrap().unwrap();
            assert!(piece.len() as u64 <= CHUNK && piece.capacity() as u64 <= 2 * CHUNK);
        }
        std::fs::write(&path, "another").unwrap();
        assert!(chunks.next().unwrap().is_err());
        assert!(chunks.next().is_none());
    }

    /// What comes into a listed file's place is neither followed nor waited for.
    #[cfg(unix)]
    #[test]
    fn what_is_no_plain_file_any_more_is_not_served() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("a.md"), "secret").unwrap();
        for place in ["r/notes/a.md", "r/notes"] {
            for kind in ["link", "pipe", "folder"] {
                let dir = tempfile::tempdir().unwrap();
                let path = dir.path().join("notes/a.md");
                std::fs::create_dir(dir.path().join("notes")).unwrap();
                std::fs::write(&path, "mine").unwrap();
                settle(&path, 60);
                let served = served(dir.path());
                let version = listed(&served, "r/notes/a.md");
                let swapped = dir.path().join(place.strip_prefix("r/").unwrap());
                std::fs::rename(&swapped, dir.path().join("before")).unwrap();
                let target = match place.ends_with(".md") {
                    true => outside.path().join("a.md"),
                    false => outside.path().to_owned(),
                };
                match kind {
                    "link" => std::os::unix::fs::symlink(target, &swapped).unwrap(),
                    "folder" => std::fs::create_dir(&swapped).unwrap(),
                    _ => {
                        let made = std::process::Command::new("mkfifo").arg(&swapped).status();
                        assert!(made.unwrap().success());
                    }
                }
                let refused = read(&served, "r/notes/a.md", &version, None);
                assert!(matches!(refused, Err(Refused::Io(_))), "{place}, {kind}");
            }
        }
    }

    /// A thousand requests and more, while a folder is swapped with a link as often as it goes: until a hundred of them were
    /// hit by a swap.
    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_behind_a_swapped_folder_is_served() {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir_in(dir.path()).unwrap();
        let run = dir.path().join("run");
        std::fs::create_dir_all(run.join("notes")).unwrap();
        // Alike in all but what they say.
        for (folder, text) in [
            (run.join("notes").as_path(), "mine!!"),
            (outside.path(), "secret"),
        ] {
            std::fs::write(folder.join("a.md"), text).unwrap();
            let file = File::options()
                .write(true)
                .open(folder.join("a.md"))
                .unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(1))
                .unwrap();
        }
        let served = served(&run);
        let version = listed(&served, "r/notes/a.md");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(outside.path(), &link).unwrap();
        let (stop, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
        let (mut rounds, mut hit, mut refused) = (0, 0, 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let notes = run.join("notes");
                    renameat_with(CWD, &notes, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
            });
            while rounds < 1000 || (hit < 100 && rounds < 1_000_000) {
                rounds += 1;
                let before = swaps.load(Ordering::Relaxed);
                match read(&served, "r/notes/a.md", &version, None) {
                    Ok(bytes) => assert_eq!(bytes, b"mine!!"),
                    Err(_) => refused += 1,
                }
                hit += u32::from(swaps.load(Ordering::Relaxed) > before);
                if rounds % 16 == 0 {
                    served.listing();
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
        let told = format!("{rounds} rounds, {hit} hit, {refused} refused");
        assert!(hit >= 100 && refused > 0 && refused < rounds, "{told}");
    }
}
