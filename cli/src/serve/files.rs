//! Combines the folders and databases that `prosescope view` serves into one source. Each new [`ServedListing`] reads
//! them again.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prosescope_core::model::database::{Database, Limits};
use prosescope_core::model::issue::Issue;
use prosescope_core::model::source::{FileEntry, Source, SourceError};
use prosescope_core::read::sqlite::Rebuild;
use prosescope_desk::DeskSource;
use prosescope_desk::protocol::SharedRemarks;
use prosescope_share::file::Shareable;
use prosescope_share::manifest::ManifestCheck;
use prosescope_share::pack::{Databases, ShareError};
use prosescope_share::wishes::LocalSecret;
use prosescope_store::{Disk, Releaser, unpacked_copy};
use prosescope_workflow::WorkflowRows;

use crate::secrets::known as known_secrets;

/// Returns whether the file at a path below a root is served. For a folder, whose path ends in `/`, returns whether the
/// folder may contain served files.
pub(crate) type ServedFilter = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// The served files below one or more roots. Every listing reads the roots again.
pub(crate) struct Served {
    label: String,
    roots: Vec<ServedRoot>,
}

/// A folder, or a database with its SQLite sidecar files.
struct ServedRoot {
    path: PathBuf,
    /// The prefix of this root's paths in the source: empty, or ending in `/`.
    prefix: String,
    wanted: ServedFilter,
}

/// A source with the served files as they were when they were listed.
pub(super) struct ServedListing {
    label: String,
    /// The paths of all roots.
    roots: Vec<PathBuf>,
    /// The existing roots, each with the prefix of its paths.
    disks: Vec<(String, Disk)>,
    files: Vec<FileEntry>,
    /// The place and the state of each file in `files`, in the same order.
    found: Vec<ListedFile>,
    issues: Vec<Issue>,
    fault: RefCell<Option<SourceError>>,
    /// The claims on opened databases, with their paths. Dropping a claim closes the database.
    lent: RefCell<Vec<(String, Releaser)>>,
}

/// The place of a file, and its state in the listing.
struct ListedFile {
    disk: usize,
    path: String,
    state: FileState,
    version: String,
}

/// The length of a file, and the time of its last change.
type FileState = (u64, SystemTime);

impl Served {
    /// Creates an empty set of served files with a label.
    pub(crate) fn new(label: &str) -> Served {
        Served {
            label: label.to_owned(),
            roots: Vec::new(),
        }
    }

    /// Replaces the label of the served files.
    pub(crate) fn called(self, label: &str) -> Served {
        Served {
            label: label.to_owned(),
            ..self
        }
    }

    /// Adds a file, or the wanted files of a folder, below `prefix` (empty, or ending in `/`).
    pub(crate) fn add(&mut self, path: PathBuf, prefix: &str, wanted: ServedFilter) {
        self.roots.push(ServedRoot {
            path,
            prefix: prefix.to_owned(),
            wanted,
        });
    }

    /// Lists the files again. A missing root has no files, and may appear later.
    pub(super) fn look(&self) -> ServedListing {
        let now = SystemTime::now();
        let mut issues = Vec::new();
        let mut disks = Vec::new();
        let mut all: Vec<(FileEntry, ListedFile)> = Vec::new();
        for root in &self.roots {
            let Ok(disk) = Disk::open_where(&root.path, &root.wanted) else {
                continue;
            };
            let held = disk.root();
            for file in disk.files().iter().filter(|f| (root.wanted)(&f.path)) {
                // The file was removed after the listing.
                let Ok(state) = held.state(&file.path) else {
                    continue;
                };
                let found = ListedFile {
                    disk: disks.len(),
                    path: file.path.clone(),
                    state,
                    version: version(state, now),
                };
                let path = format!("{}{}", root.prefix, file.path);
                all.push((
                    FileEntry {
                        path,
                        len: state.0,
                        ..file.clone()
                    },
                    found,
                ));
            }
            let of_wanted = |issue: &Issue| issue.location.file.as_deref().is_none_or(&root.wanted);
            let listed = disk.listed().into_iter().filter(of_wanted);
            issues.extend(listed.map(|mut issue| {
                let file = issue.location.file.take();
                issue.location.file = file.map(|file| format!("{}{file}", root.prefix));
                issue
            }));
            disks.push((root.prefix.clone(), disk));
        }
        // Two roots may contain the same path. The sort is stable, so the file of the first root is kept.
        all.sort_by(|a, b| a.0.path.cmp(&b.0.path));
        all.dedup_by(|a, b| a.0.path == b.0.path);
        let (files, found) = all.into_iter().unzip();
        ServedListing {
            label: self.label.clone(),
            roots: self.roots.iter().map(|root| root.path.clone()).collect(),
            disks,
            files,
            found,
            issues,
            fault: RefCell::default(),
            lent: RefCell::default(),
        }
    }
}

impl ServedListing {
    /// Returns a name for the state of all files: a hash of their paths, lengths and times of change.
    pub(super) fn state(&self) -> String {
        let mut state = DefaultHasher::new();
        for (file, found) in self.files.iter().zip(&self.found) {
            (&file.path, &found.version).hash(&mut state);
        }
        format!("{:016x}", state.finish())
    }

    fn found(&self, path: &str) -> Option<(&ListedFile, &Disk)> {
        let at = self.files.binary_search_by(|f| f.path.as_str().cmp(path));
        let found = self.found.get(at.ok()?)?;
        let (_, disk) = self.disks.get(found.disk)?;
        Some((found, disk))
    }

    /// Calls `ask` with a file and the disk that contains the file. In an error, replaces the path on that disk by
    /// the path in this source.
    fn ask<T>(
        &self,
        path: &str,
        ask: impl FnOnce(&ListedFile, &Disk) -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        let not_found = || SourceError::NotFound(path.to_owned());
        let (found, disk) = self.found(path).ok_or_else(not_found)?;
        let here = path.to_owned();
        ask(found, disk).map_err(|error| match error {
            SourceError::NotFound(_) => SourceError::NotFound(here),
            SourceError::Changed(_) => SourceError::Changed(here),
            SourceError::Unreadable { cause, .. } => SourceError::Unreadable { path: here, cause },
            SourceError::Database {
                cause,
                next,
                failed,
                ..
            } => SourceError::Database {
                path: here,
                cause,
                next,
                failed,
            },
        })
    }

    fn changed(&self, path: &str) -> SourceError {
        let changed = SourceError::Changed(path.to_owned());
        self.fault.replace(Some(changed.clone()));
        changed
    }
}

impl Source for ServedListing {
    fn label(&self) -> String {
        self.label.clone()
    }

    fn files(&self) -> &[FileEntry] {
        &self.files
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        self.ask(path, |found, disk| {
            let read = disk.read(&found.path, offset, len);
            // The bytes are used only if the file still has its listed state, so that parts of two versions are never
            // mixed.
            match disk.root().state(&found.path) {
                Ok(state) if state == found.state => read,
                _ => Err(self.changed(path)),
            }
        })
    }

    /// Opens a database, which may have changed since the listing. SQLite's locks keep each read consistent, and the
    /// next listing has another state.
    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        let lent = self.ask(path, |found, disk| disk.lent(&found.path, limits))?;
        self.lent.borrow_mut().push((path.to_owned(), lent.claim()));
        Ok(Box::new(lent))
    }

    fn notes(&self, path: &str) -> Vec<Issue> {
        let notes = self.found(path);
        let notes = notes.map(|(found, disk)| disk.notes(&found.path));
        let mut notes = notes.unwrap_or_default();
        // The notes `changed-while-reading` are dropped, because a changed file is listed and read again.
        notes.retain(|note| {
            let torn = note.rule == "changed-while-reading";
            if torn {
                self.changed(path);
            }
            !torn
        });
        notes
    }

    fn made(&self, place: &str) -> Option<i128> {
        let folder = format!("{place}/");
        let inside = self.below(folder.trim_start_matches('/')).first();
        let (found, disk) = self.found(&inside?.path)?;
        let (prefix, _) = self.disks.get(found.disk)?;
        disk.made(place.strip_prefix(prefix.as_str()).unwrap_or_default())
    }

    fn is_copy(&self, place: &str) -> bool {
        let place = format!("{place}/");
        let mut copies = self.disks.iter().filter(|of| of.1.verified().is_some());
        copies.any(|(prefix, _)| place.starts_with(prefix))
    }

    fn listed(&self) -> Vec<Issue> {
        self.issues.clone()
    }
}

impl Shareable for ServedListing {
    fn databases(&self) -> Result<Box<dyn Databases + '_>, ShareError> {
        let disks = self.disks.iter().map(|(_, disk)| disk.databases());
        Ok(Box::new(OfDisks {
            listing: self,
            disks: disks.collect::<Result<_, _>>()?,
        }))
    }

    fn known(&self) -> Vec<LocalSecret> {
        known_secrets(self.roots.iter())
    }

    fn unpacked(&self, zip: &[u8]) -> Result<Rc<dyn Shareable>, ShareError> {
        unpacked_copy(zip)
    }
}

/// The databases of the served files. Each database belongs to a disk.
struct OfDisks<'a> {
    listing: &'a ServedListing,
    disks: Vec<Box<dyn Databases + 'a>>,
}

impl<'a> OfDisks<'a> {
    fn of(&mut self, path: &str) -> Result<(&mut Box<dyn Databases + 'a>, String), ShareError> {
        let gone = || ShareError::unread(path, &"it does not exist");
        let (found, _) = self.listing.found(path).ok_or_else(gone)?;
        let disk = self.disks.get_mut(found.disk).ok_or_else(gone)?;
        Ok((disk, found.path.clone()))
    }
}

impl Databases for OfDisks<'_> {
    fn look(&mut self, path: &str, rows: &mut dyn Rebuild) -> Result<(), ShareError> {
        let (disk, path) = self.of(path)?;
        disk.look(&path, rows)
    }

    fn rebuilt(&mut self, path: &str, rows: &mut dyn Rebuild) -> Result<Box<dyn Read>, ShareError> {
        let (disk, path) = self.of(path)?;
        disk.rebuilt(&path, rows)
    }

    fn whole(&mut self, path: &str) -> Result<Box<dyn Read>, ShareError> {
        let (disk, path) = self.of(path)?;
        disk.whole(&path)
    }
}

impl DeskSource for ServedListing {
    fn version(&self, path: &str) -> &str {
        self.found(path).map_or("", |(found, _)| &found.version)
    }

    fn workflows(&self, path: &str, limits: &Limits) -> Result<Box<dyn WorkflowRows>, SourceError> {
        self.ask(path, |found, disk| {
            let tables = disk.workflows(&found.path, limits)?;
            Ok(Box::new(tables) as Box<dyn WorkflowRows>)
        })
    }

    fn let_go(&self) -> bool {
        self.lent.borrow_mut().retain(|(path, lent)| {
            let whole = lent.let_go();
            if whole == Some(false) {
                self.changed(path);
            }
            whole.is_some()
        });
        true
    }

    fn take_fault(&self) -> Option<SourceError> {
        self.fault.take()
    }

    fn shared(&self) -> Option<SharedRemarks> {
        let all = self.disks.iter().filter_map(|(_, disk)| disk.verified());
        let words: Vec<String> = all.clone().map(ManifestCheck::words).collect();
        let words = words.join(" ");
        (!words.trim().is_empty()).then(|| SharedRemarks {
            changed: all.clone().any(ManifestCheck::is_doubtful),
            words,
            ..SharedRemarks::default()
        })
    }
}

/// Time within which two writes may get the same time of change. File systems count time in steps: at most 10 ms on
/// usual disks. On a memory card, a step is 2 s, and a second write in the same step may be missed.
const STEP: Duration = Duration::from_millis(50);

/// Returns a name for the state of a file: length and time of change. A file that was just written gets a temporary
/// name, because another write within the same clock step would not change the state.
fn version((len, changed): FileState, now: SystemTime) -> String {
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
    use std::fs::File;

    fn served(path: &std::path::Path) -> Served {
        let mut served = Served::new("a run");
        served.add(path.to_owned(), "r/", Box::new(|path| path != "secret.txt"));
        served
    }

    fn paths(served: &Served) -> Vec<String> {
        let listing = served.look();
        listing.files.into_iter().map(|f| f.path).collect()
    }

    #[test]
    fn what_is_written_later_is_served_and_named_in_the_state() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("state.md"), "x").unwrap();
        std::fs::write(dir.path().join("secret.txt"), "x").unwrap();
        let served = served(dir.path());
        let before = served.look();
        let not_found = Err(SourceError::NotFound("r/a.md".to_owned()));
        assert_eq!(before.read("r/a.md", 0, 9), not_found);
        std::fs::write(dir.path().join("a.md"), "new").unwrap();
        assert_ne!(served.look().state(), before.state());
        assert_eq!(paths(&served), ["r/a.md", "r/state.md"]);
        assert_eq!(served.look().read("r/a.md", 1, 9).unwrap(), b"ew");
        // An old listing does not get the new file.
        assert_eq!(before.read("r/a.md", 0, 9), not_found);
        // All served files disappear with their folder, and appear again with it.
        std::fs::remove_dir_all(dir.path()).unwrap();
        assert_eq!(paths(&served), Vec::<String>::new());
        std::fs::create_dir(dir.path()).unwrap();
        std::fs::write(dir.path().join("state.md"), "y").unwrap();
        assert_eq!(paths(&served), ["r/state.md"]);
    }

    /// Sets the time of change of a file back, so that the file does not count as new.
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
        let before = served.look();
        let read = |listing: &ServedListing| listing.read("r/state.md", 0, 2);
        let changed = Err(SourceError::Changed("r/state.md".to_owned()));
        assert_eq!(read(&before).unwrap(), b"on");
        assert_eq!(served.look().state(), before.state(), "nothing changed");
        assert_eq!(before.take_fault(), None);
        // First writes a longer text, then another text of the same length with a later time.
        for (text, seconds) in [("longer", 60), ("longEr", 30)] {
            std::fs::write(&path, text).unwrap();
            settle(&path, seconds);
            assert_ne!(served.look().state(), before.state(), "{text}");
            assert_eq!(read(&before), changed, "{text}");
            assert_eq!(before.take_fault(), changed.clone().err());
            assert_eq!(read(&served.look()).unwrap(), b"lo");
        }
        std::fs::remove_file(&path).unwrap();
        assert_ne!(served.look().state(), before.state());
        assert_eq!(read(&before), changed);
    }

    #[test]
    fn a_file_that_was_written_a_moment_ago_is_named_for_that_moment_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        std::fs::write(&path, "x").unwrap();
        let meta = std::fs::metadata(&path).unwrap();
        let state = (meta.len(), meta.modified().unwrap());
        let written = state.1;
        let soon = version(state, written + STEP / 2);
        let later = version(state, written + STEP * 2);
        assert!(
            soon.ends_with("-new") && !later.ends_with("-new"),
            "{soon}, {later}"
        );
        assert_eq!(later, version(state, written + STEP * 3));
    }

    /// A link or a pipe that replaces a listed file is neither followed nor opened.
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
                let listing = served.look();
                let swapped = dir.path().join(place.strip_prefix("r/").unwrap());
                std::fs::rename(&swapped, dir.path().join("before")).unwrap();
                let target = if place.ends_with(".md") {
                    outside.path().join("a.md")
                } else {
                    outside.path().to_owned()
                };
                match kind {
                    "link" => std::os::unix::fs::symlink(target, &swapped).unwrap(),
                    "folder" => std::fs::create_dir(&swapped).unwrap(),
                    _ => {
                        let made = std::process::Command::new("mkfifo").arg(&swapped).status();
                        assert!(made.unwrap().success());
                    }
                }
                let refused = listing.read("r/notes/a.md", 0, 99);
                assert!(refused.is_err(), "{place}, {kind}");
            }
        }
    }

    /// Reads a file at least a thousand times while a thread swaps its folder with a link. Stops when a swap occurred
    /// during a hundred of the reads.
    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_behind_a_swapped_folder_is_served() {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir_in(dir.path()).unwrap();
        let run = dir.path().join("run");
        std::fs::create_dir_all(run.join("notes")).unwrap();
        // Files with the same name, length and time, and different texts.
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
        let mut listing = served.look();
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
                match listing.read("r/notes/a.md", 0, 99) {
                    Ok(bytes) => assert_eq!(bytes, b"mine!!"),
                    Err(_) => refused += 1,
                }
                hit += u32::from(swaps.load(Ordering::Relaxed) > before);
                if rounds % 16 == 0 {
                    listing = served.look();
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
        let told = format!("{rounds} rounds, {hit} hit, {refused} refused");
        assert!(hit >= 100 && refused > 0 && refused < rounds, "{told}");
    }
}
