use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prosescope_core::issue::Issue;
use prosescope_core::source::{self, FileEntry, Source, SourceError};
use prosescope_core::time::Stamp;
use rusqlite::Connection;

use crate::database::Watch;
use crate::error::StoreError;

/// Entries that a listing holds at most: a run folder is small, and `/` is no run folder.
const ENTRIES: usize = 200_000;

/// Levels below the root that a listing goes at most: nested imports take two each.
const DEPTH: usize = 128;

/// A folder, or a single database with what SQLite keeps beside it, as a source.
pub struct Disk {
    label: String,
    root: PathBuf,
    files: Vec<FileEntry>,
    issues: Vec<Issue>,
    notes: RefCell<BTreeMap<String, (Vec<Issue>, Watch)>>,
    /// Copies that a database was opened from live as long as the source.
    aside: RefCell<Vec<tempfile::TempDir>>,
}

impl Disk {
    /// Lists a folder, or takes a single file with its `-wal`, `-shm` and `-journal`.
    ///
    /// Links are not followed, pipes and devices are left out (reliability.md, "Paths").
    ///
    /// # Errors
    /// When there is nothing, or it cannot be listed.
    pub fn open(path: &Path) -> Result<Disk, StoreError> {
        Disk::open_where(path, |_| true)
    }

    /// The same, of the files that `wanted` asks for by their path below the root; folders that it refuses (asked
    /// with a `/` at the end) are not entered.
    ///
    /// # Errors
    /// As [`Disk::open`].
    pub fn open_where(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Disk, StoreError> {
        let meta = fs::metadata(path).map_err(|e| StoreError::io(path, e))?;
        if meta.is_dir() {
            return Ok(Disk::folder(path, &wanted));
        }
        if !meta.is_file() {
            return Err(StoreError::Special(path.to_owned()));
        }
        File::open(path).map_err(|e| StoreError::io(path, e))?;
        let name = path
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        let root = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        let mut disk = Disk::empty(path, root);
        for end in ["", "-journal", "-shm", "-wal"] {
            let beside = format!("{name}{end}");
            if let Ok(meta) = fs::symlink_metadata(disk.root.join(&beside))
                && (meta.is_file() || end.is_empty())
            {
                let meta = if end.is_empty() {
                    fs::metadata(path).unwrap_or(meta)
                } else {
                    meta
                };
                disk.files.push(entry(beside, &meta));
            }
        }
        disk.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(disk)
    }

    /// Where a listed file lies.
    pub fn path_of(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    fn empty(path: &Path, root: PathBuf) -> Disk {
        Disk {
            label: path.display().to_string(),
            root,
            files: Vec::new(),
            issues: Vec::new(),
            notes: RefCell::default(),
            aside: RefCell::default(),
        }
    }

    fn folder(path: &Path, wanted: &dyn Fn(&str) -> bool) -> Disk {
        let mut disk = Disk::empty(path, path.to_owned());
        let relative = |full: &Path| {
            full.strip_prefix(path).ok().map(|p| {
                p.components()
                    .map(|c| c.as_os_str().to_string_lossy())
                    .collect::<Vec<_>>()
                    .join("/")
            })
        };
        let left_out: RefCell<Vec<String>> = RefCell::default();
        let walk = walkdir::WalkDir::new(path)
            .max_depth(DEPTH)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|at| {
                if at.depth() == 0 || !at.file_type().is_dir() {
                    return true;
                }
                let Some(folder) = relative(at.path()).filter(|p| wanted(&format!("{p}/"))) else {
                    return false;
                };
                let listed = source::is_listed(&folder);
                if !listed {
                    left_out.borrow_mut().push(folder);
                }
                listed
            });
        for at in walk {
            let at = match at {
                Ok(at) => at,
                Err(e) => {
                    let place = e.path().and_then(relative).unwrap_or_default();
                    disk.issues.push(
                        Issue::error(
                            "unreadable-folder",
                            format!("a folder cannot be listed: {e}"),
                        )
                        .at_file(place),
                    );
                    continue;
                }
            };
            if !at.file_type().is_file() {
                let link = at.file_type().is_symlink();
                let place = relative(at.path()).filter(|place| link && wanted(place));
                disk.issues.extend(place.as_deref().and_then(source::link));
                continue;
            }
            let Some(name) = relative(at.path()).filter(|name| wanted(name)) else {
                continue;
            };
            let meta = match at.metadata() {
                Ok(meta) => meta,
                // It was removed since it was listed.
                Err(e)
                    if e.io_error()
                        .is_some_and(|e| e.kind() == ErrorKind::NotFound) =>
                {
                    continue;
                }
                Err(e) => {
                    let message = format!("a file cannot be looked at: {e}");
                    let issue = Issue::error("file-unreadable", message).at_file(name);
                    disk.issues
                        .push(issue.hint("What it says is missing here."));
                    continue;
                }
            };
            if disk.files.len() == ENTRIES {
                disk.issues.push(
                    Issue::warning(
                        "listing-cut",
                        format!("there are more than {ENTRIES} files; the rest is not looked at"),
                    )
                    .hint("open the run's own folder"),
                );
                break;
            }
            disk.files.push(entry(name, &meta));
        }
        disk.files.sort_by(|a, b| a.path.cmp(&b.path));
        disk.issues.extend(source::left_out(&left_out.into_inner()));
        disk
    }

    fn entry(&self, path: &str) -> Result<&FileEntry, SourceError> {
        self.file(path)
            .ok_or_else(|| SourceError::NotFound(path.to_owned()))
    }
}

impl Source for Disk {
    fn label(&self) -> String {
        self.label.clone()
    }

    fn files(&self) -> &[FileEntry] {
        &self.files
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        self.entry(path)?;
        let unreadable = |e: std::io::Error| SourceError::Unreadable {
            path: path.to_owned(),
            cause: e.to_string(),
        };
        let mut file = File::open(self.path_of(path)).map_err(unreadable)?;
        file.seek(SeekFrom::Start(offset)).map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.take(len as u64)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        Ok(bytes)
    }

    fn database(&self, path: &str) -> Result<Connection, SourceError> {
        self.entry(path)?;
        let opened = crate::database::open(&self.path_of(path)).map_err(|e| {
            let path = path.to_owned();
            match e.is_failed() {
                true => SourceError::Unreadable {
                    path,
                    cause: e.to_string(),
                },
                false => SourceError::Database {
                    path,
                    cause: e.to_string(),
                    next: e.next().to_owned(),
                },
            }
        })?;
        self.notes
            .borrow_mut()
            .insert(path.to_owned(), (opened.notes, opened.watch));
        self.aside.borrow_mut().extend(opened.aside);
        Ok(opened.conn)
    }

    fn notes(&self, path: &str) -> Vec<Issue> {
        let mut notes = Vec::new();
        if let Some((found, watch)) = self.notes.borrow().get(path) {
            notes.extend(found.iter().cloned());
            // Looked at again after reading: no lock told a writer that we read (build.md).
            notes.extend(watch.changed());
        }
        notes
    }

    fn made(&self, place: &str) -> Option<i128> {
        let path = self.path_of(place);
        // Not every file system records when a folder was made; nothing changes the program of a run.
        let born = fs::symlink_metadata(&path).and_then(|meta| meta.created());
        let at = born.or_else(|_| {
            let program = match path.is_dir() {
                true => path.join("program.prose"),
                false => path,
            };
            fs::symlink_metadata(program)?.modified()
        });
        let nanos = |since: Duration| i128::try_from(since.as_nanos()).ok();
        match at.ok()?.duration_since(UNIX_EPOCH) {
            Ok(since) => nanos(since),
            Err(before) => nanos(before.duration()).map(|n| -n),
        }
    }

    fn listed(&self) -> Vec<Issue> {
        self.issues.clone()
    }
}

fn entry(path: String, meta: &fs::Metadata) -> FileEntry {
    let modified = meta.modified().ok().and_then(stamp);
    FileEntry {
        path,
        len: meta.len(),
        modified,
    }
}

fn stamp(at: SystemTime) -> Option<Stamp> {
    let since = at.duration_since(UNIX_EPOCH).ok()?;
    // A file's time is shown to the second.
    i64::try_from(since.as_secs())
        .ok()
        .map(|s| Stamp::At(s * 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(disk: &Disk) -> Vec<&str> {
        disk.files().iter().map(|f| f.path.as_str()).collect()
    }

    #[test]
    fn lists_a_folder_in_order_and_reads_parts() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("bindings")).unwrap();
        fs::write(dir.path().join("state.md"), "# Execution State\n").unwrap();
        fs::write(dir.path().join("bindings/a.md"), "0123456789").unwrap();
        let disk = Disk::open(dir.path()).unwrap();
        assert_eq!(listing(&disk), ["bindings/a.md", "state.md"]);
        assert_eq!(disk.read("bindings/a.md", 3, 4).unwrap(), b"3456");
        assert_eq!(disk.read("bindings/a.md", 8, 400).unwrap(), b"89");
        assert_eq!(disk.read("bindings/a.md", 80, 4).unwrap(), b"");
        assert!(matches!(
            disk.read("../x", 0, 1),
            Err(SourceError::NotFound(_))
        ));
    }

    #[test]
    fn a_single_database_brings_what_sqlite_keeps_beside_it_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["state.db", "state.db-wal", "other.txt"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        let disk = Disk::open(&dir.path().join("state.db")).unwrap();
        assert_eq!(listing(&disk), ["state.db", "state.db-wal"]);
    }

    #[test]
    fn a_run_that_is_made_later_is_the_newer_one() {
        let dir = tempfile::tempdir().unwrap();
        let run = |name: &str| {
            fs::create_dir(dir.path().join(name)).unwrap();
            fs::write(dir.path().join(name).join("program.prose"), "").unwrap();
            Disk::open(dir.path()).unwrap().made(name).unwrap()
        };
        let first = run("z");
        // A file system's clock ticks every few milliseconds.
        while run("a") == first {
            fs::remove_dir_all(dir.path().join("a")).unwrap();
        }
        let disk = Disk::open(dir.path()).unwrap();
        assert!(disk.made("a").unwrap() > first);
        // What is written later changes nothing.
        fs::write(dir.path().join("z/state.md"), "# Execution State\n").unwrap();
        assert_eq!(disk.made("z"), Some(first));
        assert_eq!(disk.made("nothing"), None);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let secret = dir.path().join("secret.txt");
        fs::write(&secret, "secret").unwrap();
        let run = dir.path().join("run");
        fs::create_dir_all(&run).unwrap();
        std::os::unix::fs::symlink(&secret, run.join("program.prose")).unwrap();
        for name in ["bindings", "gates", "notes"] {
            std::os::unix::fs::symlink(dir.path(), run.join(name)).unwrap();
        }
        let disk = Disk::open(&run).unwrap();
        assert_eq!(listing(&disk), Vec::<&str>::new());
        // What would be a part of the run is said to be missing.
        let said: Vec<String> = disk
            .listed()
            .into_iter()
            .map(|issue| issue.message)
            .collect();
        let link = "is a link, which is not followed";
        let parts = ["bindings", "gates", "program.prose"];
        assert_eq!(said, parts.map(|part| format!("{part} {link}")));
        // Nothing outside is read by its name either.
        for name in ["program.prose", "bindings/secret.txt", "gates/secret.txt"] {
            assert!(matches!(
                disk.read(name, 0, 1),
                Err(SourceError::NotFound(_))
            ));
        }
    }

    #[test]
    fn what_is_not_wanted_is_not_entered() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["agents/a/memory.md", "runs/x/state.md"] {
            fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
            fs::write(dir.path().join(name), "x").unwrap();
        }
        let disk = Disk::open_where(dir.path(), |p| p.starts_with("agents/")).unwrap();
        assert_eq!(listing(&disk), ["agents/a/memory.md"]);
    }

    #[test]
    fn folders_of_tools_are_left_out_and_said_to_be() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "node_modules/x/state.md",
            "a/.prose/runs/r/bindings/target/out.md",
            "a/target/state.md",
        ] {
            fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
            fs::write(dir.path().join(name), "x").unwrap();
        }
        let disk = Disk::open(dir.path()).unwrap();
        assert_eq!(listing(&disk), ["a/.prose/runs/r/bindings/target/out.md"]);
        let said: Vec<String> = disk.listed().into_iter().map(|i| i.message).collect();
        assert_eq!(
            said,
            ["the folders a/target and node_modules were not looked into"]
        );
        // What a person names is listed.
        let named = Disk::open(&dir.path().join("a/target")).unwrap();
        assert_eq!(
            (listing(&named), named.listed()),
            (vec!["state.md"], vec![])
        );
    }

    #[test]
    fn errors_say_what_and_what_next() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("nothing");
        let error = Disk::open(&missing).err().unwrap();
        assert_eq!(
            error.to_string(),
            format!("there is no {}", missing.display())
        );
        assert_eq!(error.next(), "check the path");
        assert!(error.is_not_found());
    }
}
