use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prosescope_core::model::database::{Database, Limits};
use prosescope_core::model::issue::Issue;
use prosescope_core::model::source::{self, FileEntry, Odd, Source, SourceError};
use prosescope_core::model::time::Stamp;
use prosescope_core::read::sqlite::Sqlite;
use prosescope_share::manifest::ManifestCheck;
use prosescope_workflow::SqliteTables;
use rusqlite::Connection;

use crate::Aside;
use crate::database::{DatabaseError, DatabaseWatch};
use crate::dir::{self, Dir, DirectoryEntry, part_of};
use crate::error::StoreError;
use crate::lent::Lent;
use crate::packed;

/// Limit for the entries of a listing: a run folder is small, so more entries mean a wrong folder, such as `/`.
const ENTRIES: usize = 200_000;

/// Limit for the levels of a listing below the root; each nested import takes two levels.
const DEPTH: usize = 128;

/// A [`Source`] over a folder, or over a single database and SQLite's files beside it.
pub struct Disk {
    label: String,
    root: SourceRoot,
    files: Vec<FileEntry>,
    issues: Vec<Issue>,
    notes: RefCell<BTreeMap<String, (Vec<Issue>, DatabaseWatch)>>,
    /// The paths of files and folders that could not be read, each with the reason.
    failed: RefCell<Vec<(String, String)>>,
    /// Temporary folders with copies of databases or with an unpacked file; they live as long as the source.
    aside: RefCell<Vec<Aside>>,
    /// For an unpacked file, whether its contents equal those that were shared.
    pub(crate) verified: Option<ManifestCheck>,
}

/// The folder of a source, held open. Files are opened in their present state, and no link is followed.
#[derive(Debug, Clone)]
pub struct SourceRoot {
    dir: Dir,
    /// The listed name and the real path of the source's file, if the user opened the file through a link.
    link: Option<(String, PathBuf)>,
}

impl SourceRoot {
    /// Opens a plain file by its listed path. Follows no link, even one placed there since the listing, and does not
    /// wait for a pipe.
    ///
    /// # Errors
    /// If the file does not exist or is not readable.
    pub fn open(&self, path: &str) -> io::Result<File> {
        match &self.link {
            Some((name, real)) if name == path => File::open(real),
            _ => self
                .dir
                .file(path)?
                .ok_or_else(|| io::ErrorKind::NotFound.into()),
        }
    }

    /// Returns the length of a plain file, and the time of its last change.
    ///
    /// # Errors
    /// As [`SourceRoot::open`].
    pub fn state(&self, path: &str) -> io::Result<(u64, SystemTime)> {
        if self.link.as_ref().is_some_and(|(name, _)| name == path) {
            let meta = self.open(path)?.metadata()?;
            return Ok((meta.len(), meta.modified()?));
        }
        match self.dir.look(path)? {
            Some(meta) if meta.is_file() => Ok((meta.len(), meta.modified()?.into_std())),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl Disk {
    /// Lists a folder, or takes a single file with its `-wal`, `-shm` and `-journal`.
    ///
    /// Links are not followed, pipes and devices are left out (errata R5).
    ///
    /// # Errors
    /// If the path does not exist, or cannot be listed.
    pub fn open(path: &Path) -> Result<Disk, StoreError> {
        Disk::open_where(path, |_| true)
    }

    /// Lists only the files that `wanted` accepts by their path below the root. `wanted` gets the path of a folder with
    /// a `/` at the end; a folder that `wanted` refuses is not entered.
    ///
    /// # Errors
    /// As [`Disk::open`].
    pub fn open_where(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Disk, StoreError> {
        let wrong = |cause| StoreError::io(path, cause);
        let meta = fs::metadata(path).map_err(wrong)?;
        // Follows a link that the user named, but none below it.
        let open = |path: &Path| Dir::open(&path.canonicalize()?);
        if meta.is_dir() {
            return Ok(Disk::folder(path, open(path).map_err(wrong)?, &wanted));
        }
        if !meta.is_file() {
            return Err(StoreError::Special(path.to_owned()));
        }
        if let Some(packed) = packed::unpacked(path)? {
            let dir = open(packed.folder.path()).map_err(wrong)?;
            let mut disk = Disk::folder(path, dir, &wanted);
            disk.issues.push(packed.verified.issue());
            disk.verified = Some(packed.verified);
            disk.aside.get_mut().push(packed.folder);
            return Ok(disk);
        }
        let name = path
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        let above = match path.parent() {
            Some(above) if !above.as_os_str().is_empty() => above,
            _ => Path::new("."),
        };
        let mut disk = Disk::empty(path, open(above).map_err(wrong)?);
        for end in ["", "-journal", "-shm", "-wal"] {
            let beside = format!("{name}{end}");
            match disk.root.dir.look(&beside) {
                Ok(Some(meta)) if meta.is_file() => {
                    disk.files
                        .push(entry(beside, meta.len(), dir::changed(&meta)));
                }
                Ok(Some(_)) if end.is_empty() => {
                    let since = meta.modified().ok();
                    let since = since.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
                    disk.files.push(entry(beside.clone(), meta.len(), since));
                    disk.root.link = Some((beside, path.canonicalize().map_err(wrong)?));
                }
                Ok(_) => {}
                Err(cause) => return Err(StoreError::io(disk.root.dir.shown(&beside), cause)),
            }
        }
        disk.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(disk)
    }

    /// Returns a source for a folder that is held open.
    pub(crate) fn held(dir: &Dir) -> Disk {
        Disk::folder(dir.path(), dir.clone(), &|_| true)
    }

    /// Returns a source with the same listing, for another thread. What it fails to read is noted by
    /// [`Disk::note_failures`]. Lives no longer than this source, which owns unpacked files.
    pub fn beside(&self) -> Disk {
        Disk {
            label: self.label.clone(),
            root: self.root.clone(),
            files: self.files.clone(),
            issues: self.issues.clone(),
            notes: RefCell::default(),
            failed: RefCell::default(),
            aside: RefCell::default(),
            verified: self.verified.clone(),
        }
    }

    /// Notes what a source of [`Disk::beside`] could not read.
    pub fn note_failures(&self, beside: &Disk) {
        self.failed
            .borrow_mut()
            .append(&mut beside.failed.borrow_mut());
    }

    /// Returns whether a zip or a shared page equals the shared contents; `None` for a plain file or folder.
    pub fn verified(&self) -> Option<&ManifestCheck> {
        self.verified.as_ref()
    }

    /// Returns the path on disk of a listed file.
    pub fn path_of(&self, path: &str) -> PathBuf {
        self.root.dir.shown(path)
    }

    /// Returns the first error in listing or reading a place that `asked` accepts. A caller that did not find a file
    /// must report this error, because the file may be in that place.
    pub fn unread(&self, asked: impl Fn(&str) -> bool) -> Option<String> {
        let listed = self.issues.iter().filter(|issue| {
            let file = issue.location.file.as_deref().unwrap_or_default();
            let of_runs = file.rsplit('/').next() == Some("runs");
            matches!(issue.rule.as_str(), "unreadable-folder" | "file-unreadable")
                || (of_runs && issue.rule == "link-not-followed")
        });
        let listed = listed.map(|issue| (issue.location.file.as_deref(), &issue.message));
        let failed = self.failed.borrow();
        let read = failed.iter().map(|(place, why)| (Some(&**place), why));
        let mut all = listed.chain(read);
        all.find(|(place, _)| asked(place.unwrap_or_default()))
            .map(|(_, why)| why.clone())
    }

    /// Opens a listed file; see [`SourceRoot::open`].
    ///
    /// # Errors
    /// If the file is not listed, is no longer a plain file, or is not readable.
    pub fn open_file(&self, path: &str) -> io::Result<File> {
        match self.file(path) {
            Some(_) => self.root.open(path),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Opens the workflow tables of a listed database, under the same guarantees as [`Source::database`].
    ///
    /// # Errors
    /// If it cannot be opened without writing.
    pub fn workflows(&self, path: &str, limits: &Limits) -> Result<SqliteTables, SourceError> {
        SqliteTables::of_source(self.connection(path)?, path, limits)
    }

    /// Returns the folder of the source, for use without the listing.
    pub fn root(&self) -> SourceRoot {
        self.root.clone()
    }

    fn empty(path: &Path, dir: Dir) -> Disk {
        Disk {
            label: path.display().to_string(),
            root: SourceRoot { dir, link: None },
            files: Vec::new(),
            issues: Vec::new(),
            notes: RefCell::default(),
            failed: RefCell::default(),
            aside: RefCell::default(),
            verified: None,
        }
    }

    fn folder(path: &Path, dir: Dir, wanted: &dyn Fn(&str) -> bool) -> Disk {
        let mut disk = Disk::empty(path, dir.clone());
        let mut left_out = Vec::new();
        if !disk.list(&dir, "", wanted, &mut left_out) {
            disk.issues.push(
                Issue::warning(
                    "listing-cut",
                    format!("there are more than {ENTRIES} files; the others were not read"),
                )
                .hint("open the run's own folder"),
            );
        }
        disk.files.sort_by(|a, b| a.path.cmp(&b.path));
        disk.issues.extend(source::left_out(&left_out));
        disk
    }

    /// Lists the entries below a folder. `above` is the folder's path, empty or with a `/` at the end. Returns `false`
    /// if there are more than [`ENTRIES`] files.
    fn list(
        &mut self,
        dir: &Dir,
        above: &str,
        wanted: &dyn Fn(&str) -> bool,
        left_out: &mut Vec<String>,
    ) -> bool {
        let mut entries = match dir.entries() {
            Ok(entries) => entries,
            Err(cause) => {
                self.not_listed(above, &cause);
                return true;
            }
        };
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        for DirectoryEntry { name, kind, .. } in entries {
            let place = format!("{above}{}", name.to_string_lossy());
            let name = name.to_string_lossy();
            let odd = match () {
                () if kind.is_dir() => Some(Odd::Folder),
                () if kind.is_file() => Some(Odd::File),
                () if kind.is_symlink() => None,
                () => Some(Odd::Special),
            };
            let odd = odd.and_then(|odd| source::misplaced(&place, odd));
            self.issues.extend(odd.filter(|_| wanted(&place)));
            if kind.is_dir() {
                if place.matches('/').count() + 1 >= DEPTH || !wanted(&format!("{place}/")) {
                    continue;
                }
                if !source::is_listed(&place) {
                    left_out.push(place);
                    continue;
                }
                let whole = match dir.dir(&name) {
                    Ok(Some(dir)) => self.list(&dir, &format!("{place}/"), wanted, left_out),
                    Ok(None) => true,
                    Err(cause) => {
                        self.not_listed(&place, &cause);
                        true
                    }
                };
                if !whole {
                    return false;
                }
            } else if kind.is_symlink() {
                let link = wanted(&place).then(|| source::link(&place)).flatten();
                self.issues.extend(link);
            } else if kind.is_file() && wanted(&place) {
                if self.files.len() == ENTRIES {
                    return false;
                }
                match dir.look(&name) {
                    Ok(Some(meta)) => {
                        self.files
                            .push(entry(place, meta.len(), dir::changed(&meta)));
                    }
                    // The file was removed after it was listed.
                    Ok(None) => {}
                    Err(cause) => {
                        let message = format!(
                            "{} cannot be looked at: {cause}",
                            dir.shown(&name).display()
                        );
                        let issue = Issue::error("file-unreadable", message).at_file(place);
                        self.issues.push(
                            issue.hint("Check that you have permission to read the file. Its content is missing here."),
                        );
                    }
                }
            }
        }
        true
    }

    fn not_listed(&mut self, place: &str, cause: &io::Error) {
        let place = place.trim_end_matches('/');
        let folder = self.root.dir.shown(place);
        self.issues.push(
            Issue::error(
                "unreadable-folder",
                format!("a folder cannot be listed: {}: {cause}", folder.display()),
            )
            .at_file(place)
            .hint("Check that you have permission to list the folder. Its files are missing here."),
        );
    }

    fn entry(&self, path: &str) -> Result<&FileEntry, SourceError> {
        self.file(path)
            .ok_or_else(|| SourceError::NotFound(path.to_owned()))
    }

    /// Opens a database with the guarantees of [`Source::database`]. The limits for reading do not yet apply to the
    /// opened connection.
    pub(crate) fn connection(&self, path: &str) -> Result<Connection, SourceError> {
        self.entry(path)?;
        let opened = crate::database::open(&self.path_of(path));
        let opened = opened.map_err(|error| self.not_opened(path, &error))?;
        self.notes
            .borrow_mut()
            .insert(path.to_owned(), (opened.notes, opened.watch));
        self.aside.borrow_mut().extend(opened.aside);
        Ok(opened.conn)
    }

    /// Opens a listed database for a viewer that keeps the source for long; the database file is open only while it is
    /// read.
    ///
    /// # Errors
    /// As [`Source::database`].
    pub fn lent(&self, path: &str, limits: &Limits) -> Result<Lent, SourceError> {
        self.entry(path)?;
        let opened = Lent::open(self.path_of(path), path, limits);
        let (lent, notes, watch) = opened.map_err(|error| self.not_opened(path, &error))?;
        self.notes
            .borrow_mut()
            .insert(path.to_owned(), (notes, watch));
        Ok(lent)
    }

    fn not_opened(&self, path: &str, error: &DatabaseError) -> SourceError {
        if error.is_failed() {
            self.note_failed(path, error);
        }
        SourceError::Database {
            path: path.to_owned(),
            cause: error.to_string(),
            next: error.next().to_owned(),
            failed: error.is_failed(),
        }
    }

    fn note_failed(&self, path: &str, cause: &dyn std::fmt::Display) {
        let message = format!("{} cannot be read: {cause}", self.path_of(path).display());
        self.failed.borrow_mut().push((path.to_owned(), message));
    }
}

impl Source for Disk {
    fn label(&self) -> String {
        self.label.clone()
    }

    fn folder(&self) -> String {
        let name = self.root.dir.path().file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    fn files(&self) -> &[FileEntry] {
        &self.files
    }

    fn is_copy(&self, _place: &str) -> bool {
        self.verified.is_some()
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        self.entry(path)?;
        let unreadable = |e: std::io::Error| {
            self.note_failed(path, &e);
            SourceError::Unreadable {
                path: path.to_owned(),
                cause: e.to_string(),
            }
        };
        self.open_file(path)
            .and_then(|file| part_of(file, offset, len as u64))
            .map_err(unreadable)
    }

    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        Sqlite::of_source(self.connection(path)?, path, limits)
    }

    fn notes(&self, path: &str) -> Vec<Issue> {
        let mut notes = Vec::new();
        if let Some((found, watch)) = self.notes.borrow().get(path) {
            notes.extend(found.iter().cloned());
            // Compares the files again after reading, because a reader without locks may have read during a write
            // (errata R7).
            notes.extend(watch.changed());
        }
        notes
    }

    fn made(&self, place: &str) -> Option<i128> {
        let path = self.path_of(place);
        // Not every file system records the creation time of a folder. Without it, the time of the program file is
        // used, because that file never changes.
        let looked = fs::symlink_metadata(&path);
        if let Err(cause) = looked.as_ref().map_err(io::Error::kind)
            && cause != io::ErrorKind::NotFound
        {
            let message = format!("{} cannot be looked at: {cause}", path.display());
            self.failed.borrow_mut().push((place.to_owned(), message));
        }
        let born = looked.and_then(|meta| meta.created());
        let at = born.or_else(|_| {
            let program = if path.is_dir() {
                path.join("program.prose")
            } else {
                path
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

fn entry(path: String, len: u64, changed: Option<Duration>) -> FileEntry {
    // Times of files are shown to the second, so fractions of a second are dropped.
    let seconds = changed.and_then(|since| i64::try_from(since.as_secs()).ok());
    FileEntry {
        path,
        len,
        modified: seconds.map(|s| Stamp::At(s * 1000)),
    }
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
        // Repeats until the file system's clock, which ticks every few milliseconds, gives a different time.
        while run("a") == first {
            fs::remove_dir_all(dir.path().join("a")).unwrap();
        }
        let disk = Disk::open(dir.path()).unwrap();
        assert!(disk.made("a").unwrap() > first);
        // Files written later do not change the creation time.
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
        // A missing part of the run must be reported.
        let said: Vec<String> = disk
            .listed()
            .into_iter()
            .map(|issue| issue.message)
            .collect();
        let link = "is a link, which is not followed";
        let parts = ["bindings", "gates", "program.prose"];
        assert_eq!(said, parts.map(|part| format!("{part} {link}")));
        // A file outside the run must not be readable by its name either.
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
        assert_eq!(said, ["the folders a/target and node_modules were skipped"]);
        // A folder that the user names is listed.
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
