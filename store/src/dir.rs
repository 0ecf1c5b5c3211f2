//! Opens a directory once, and reads and writes the files below it without following links.
//!
//! One path can lead to different files in two calls: whoever may write to a run can replace one of its folders by a
//! link. So a writer opens the run's directory once and reaches everything else from its descriptor, one plain name at
//! a time, without following links. The checked file is then the file that is used.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{DirBuilder, FileType, Metadata, OpenOptions};

use crate::record::Turn;

/// An entry of a directory, with only the facts of the listing itself.
pub(crate) struct DirectoryEntry {
    pub(crate) name: OsString,
    pub(crate) kind: FileType,
}

/// A directory that is held open. Names below it are parts joined by `/`: `gates/audit.jsonl`. An empty part, `.` or
/// `..` is an error, and so is a link in any part but the last.
#[derive(Debug, Clone)]
pub(crate) struct Dir {
    held: Arc<cap_std::fs::Dir>,
    /// The directory's path at opening; used in messages, and by SQLite on systems without `/proc`.
    path: PathBuf,
    /// The turn of the writer that changes the directory; folders below it have none.
    turn: Option<Arc<Turn>>,
}

impl Dir {
    /// Opens the directory that a user named. Follows links up to the last `.prose` in the path, but none below it;
    /// without a `.prose`, follows all links.
    pub(crate) fn open(path: &Path) -> io::Result<Dir> {
        let prose = path.ancestors().find(|at| at.ends_with(".prose"));
        let (start, below) = match prose.and_then(|at| Some((at, path.strip_prefix(at).ok()?))) {
            Some((start, below)) if plain_parts(below).is_some() => (start, below),
            _ => (path, Path::new("")),
        };
        let start = if start.as_os_str().is_empty() {
            Path::new(".")
        } else {
            start
        };
        let held = cap_std::fs::Dir::open_ambient_dir(start, ambient_authority())?;
        let mut dir = Dir {
            held: Arc::new(held),
            path: start.to_owned(),
            turn: None,
        };
        for part in plain_parts(below).into_iter().flatten() {
            dir = dir.step(part)?;
        }
        Ok(dir)
    }

    /// Opens a directory, but refuses a link at the path itself.
    pub(crate) fn open_own(path: &Path) -> io::Result<Dir> {
        match (path.parent(), path.file_name()) {
            (Some(above), Some(name)) => Dir::open(above)?.step(name),
            _ => Dir::open(path),
        }
    }

    /// Opens a directory like [`Dir::open`], and creates it if it is missing.
    pub(crate) fn make(path: &Path) -> io::Result<Dir> {
        match (Dir::open(path), path.parent(), path.file_name()) {
            (Err(error), Some(above), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
                Dir::make(above)?.make_step(name)
            }
            (opened, ..) => opened,
        }
    }

    /// Returns the same directory for the changes of a writer's turn.
    pub(crate) fn in_turn(&self, turn: &Arc<Turn>) -> Dir {
        Dir {
            turn: Some(Arc::clone(turn)),
            ..self.clone()
        }
    }

    /// Calls `act`, which changes the directory, unless another writer has begun its turn.
    pub(crate) fn change<T>(&self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match &self.turn {
            Some(turn) => turn.during(self, act),
            None => act(),
        }
    }

    /// Returns whether no other writer has begun its turn.
    pub(crate) fn is_in_turn(&self) -> bool {
        self.turn.as_ref().is_none_or(|turn| turn.was_alone(self))
    }

    /// Returns the path that the directory had at opening.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a name below the directory, for display.
    pub(crate) fn shown(&self, below: &str) -> PathBuf {
        self.path.join(below)
    }

    /// Returns a folder below the directory; `None` if the folder does not exist.
    pub(crate) fn dir(&self, below: &str) -> io::Result<Option<Dir>> {
        let mut dir = self.clone();
        for part in parts(below)? {
            dir = match dir.step(part.as_ref()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                other => other?,
            };
        }
        Ok(Some(dir))
    }

    /// Returns a folder below the directory; creates it durably if it is missing.
    pub(crate) fn make_dir(&self, below: &str) -> io::Result<Dir> {
        parts(below)?
            .into_iter()
            .try_fold(self.clone(), |dir, part| dir.make_step(part.as_ref()))
    }

    /// Creates an empty folder directly in the directory; fails if the name exists.
    pub(crate) fn new_dir(&self, name: &str) -> io::Result<Dir> {
        #[allow(unused_mut)]
        let mut how = DirBuilder::new();
        #[cfg(unix)]
        {
            use cap_std::fs::DirBuilderExt;
            how.mode(0o777);
        }
        self.held.create_dir_with(single(name)?, &how)?;
        self.step(name.as_ref())
    }

    /// Returns the metadata of a name, without following a link; `None` if the name does not exist.
    pub(crate) fn look(&self, below: &str) -> io::Result<Option<Metadata>> {
        let Some((dir, name)) = self.above(below)? else {
            return Ok(None);
        };
        match dir.held.symlink_metadata(name) {
            Err(error) if is_absent(&error) => Ok(None),
            other => other.map(Some),
        }
    }

    /// Opens a plain file; `None` if the name does not exist, or is a folder, a link, a pipe or a device. Does not wait
    /// for the writer of a pipe.
    pub(crate) fn file(&self, below: &str) -> io::Result<Option<File>> {
        self.plain(below, OpenOptions::new().read(true))
    }

    /// Opens a plain file for writing; `None` as for [`Dir::file`].
    pub(crate) fn writable(&self, below: &str) -> io::Result<Option<File>> {
        self.plain(below, OpenOptions::new().write(true))
    }

    /// Creates a file in an existing folder; fails if the name exists.
    pub(crate) fn create(&self, below: &str) -> io::Result<File> {
        let (dir, name) = self.there(below)?;
        let mut how = OpenOptions::new();
        how.write(true).create_new(true);
        how.follow(FollowSymlinks::No);
        Ok(dir.held.open_with(name, &how)?.into_std())
    }

    /// Returns the bytes of a plain file; `None` as for [`Dir::file`].
    pub(crate) fn read(&self, below: &str) -> io::Result<Option<Vec<u8>>> {
        self.read_small(below, u64::MAX)
    }

    /// Returns the bytes of a plain file of at most `most` bytes; `None` if the file is larger, or as for
    /// [`Dir::file`].
    pub(crate) fn read_small(&self, below: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = self.file(below)? else {
            return Ok(None);
        };
        if file.metadata()?.len() > most {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Returns up to `most` bytes of a plain file from `offset`.
    pub(crate) fn read_part(&self, below: &str, offset: u64, most: u64) -> io::Result<Vec<u8>> {
        let file = self.file(below)?.ok_or(io::ErrorKind::NotFound)?;
        part_of(file, offset, most)
    }

    /// Returns the names in a folder with their types; a missing folder has none. Names that are not valid text are
    /// left out.
    pub(crate) fn names(&self, below: &str) -> io::Result<Vec<(String, FileType)>> {
        let text = |entry: DirectoryEntry| Some((entry.name.into_string().ok()?, entry.kind));
        match self.dir(below)? {
            Some(dir) => Ok(dir.entries()?.into_iter().filter_map(text).collect()),
            None => Ok(Vec::new()),
        }
    }

    /// Returns all entries directly in the directory.
    pub(crate) fn entries(&self) -> io::Result<Vec<DirectoryEntry>> {
        self.held
            .entries()?
            .map(|entry| {
                let entry = entry?;
                Ok(DirectoryEntry {
                    name: entry.file_name(),
                    kind: entry.file_type()?,
                })
            })
            .collect()
    }

    /// Calls `each` for all entries in the directory and below, including folders; the depth of a direct entry is 1.
    /// Entries that are removed during the walk are left out.
    pub(crate) fn walk(&self, each: &mut dyn FnMut(usize, &OsStr, &Metadata)) -> io::Result<()> {
        let mut next = Some((1, self.clone()));
        // Opens each folder only when its turn comes, so that the number of open folders is the depth of the tree.
        let mut below: Vec<(usize, Dir, OsString)> = Vec::new();
        loop {
            let (depth, dir) = match (next.take(), below.pop()) {
                (Some(first), _) => first,
                (None, Some((depth, above, name))) => match above.step(&name) {
                    Err(error) if is_absent(&error) => continue,
                    other => (depth, other?),
                },
                (None, None) => return Ok(()),
            };
            for entry in dir.held.entries()? {
                let name = entry?.file_name();
                match dir.held.symlink_metadata(&name) {
                    Ok(meta) => {
                        each(depth, &name, &meta);
                        if meta.is_dir() {
                            below.push((depth + 1, dir.clone(), name));
                        }
                    }
                    Err(error) if is_absent(&error) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }

    /// Renames an entry, and replaces an existing entry of the new name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let ((old, from), (new, to)) = (self.there(from)?, self.there(to)?);
        self.change(|| old.held.rename(from, &new.held, to))
    }

    /// Moves a direct entry to another directory, and replaces an existing entry of the new name.
    pub(crate) fn rename_to(&self, from: &str, dir: &Dir, to: &str) -> io::Result<()> {
        let (from, to) = (single(from)?, single(to)?);
        self.change(|| self.held.rename(from, &dir.held, to))
    }

    /// Gives a file a second name (a hard link); fails if that name exists.
    pub(crate) fn link(&self, from: &str, to: &str) -> io::Result<()> {
        let ((old, from), (new, to)) = (self.there(from)?, self.there(to)?);
        self.change(|| old.held.hard_link(from, &new.held, to))
    }

    /// Removes a file, or a link itself. A missing file is not an error.
    pub(crate) fn remove(&self, below: &str) -> io::Result<()> {
        let Some((dir, name)) = self.above(below)? else {
            return Ok(());
        };
        match dir.held.remove_file(name) {
            Err(error) if !is_absent(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes a folder directly in the directory, with all its contents. Of a link, only the link itself is removed.
    pub(crate) fn remove_tree(&self, name: &str) -> io::Result<()> {
        self.held.remove_dir_all(single(name)?)
    }

    /// Returns the metadata of the directory itself.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        self.held.dir_metadata()
    }

    /// Returns an id (device, inode) that distinguishes the directory from every other existing directory.
    pub(crate) fn id(&self) -> io::Result<(u64, u64)> {
        let meta = self.metadata()?;
        Ok((meta.dev(), meta.ino()))
    }

    /// Syncs the directory, so that changes of its names survive a crash of the machine.
    pub(crate) fn sync(&self) -> io::Result<()> {
        if cfg!(unix) {
            self.itself()?.sync_all()
        } else {
            Ok(())
        }
    }

    /// Opens the directory as a file, to sync or to lock it.
    pub(crate) fn itself(&self) -> io::Result<File> {
        Ok(self.held.open(".")?.into_std())
    }

    /// Syncs the folder that contains `below`, so that a change of this name survives a crash of the machine.
    pub(crate) fn sync_above(&self, below: &str) -> io::Result<()> {
        self.there(below)?.0.sync()
    }

    /// Returns a path that still leads to the directory after a rename: the system's name of the descriptor.
    #[cfg(target_os = "linux")]
    pub(crate) fn held_path(&self) -> PathBuf {
        use std::os::fd::AsRawFd;
        PathBuf::from(format!("/proc/self/fd/{}", self.held.as_raw_fd()))
    }

    fn step(&self, name: &OsStr) -> io::Result<Dir> {
        let path = self.path.join(name);
        match self.held.open_dir_nofollow(name) {
            Ok(held) => Ok(Dir {
                held: Arc::new(held),
                path,
                turn: None,
            }),
            Err(error) => match self.held.symlink_metadata(name) {
                Ok(meta) if !meta.is_dir() => Err(no_folder(&path)),
                _ => Err(error),
            },
        }
    }

    fn make_step(&self, name: &OsStr) -> io::Result<Dir> {
        match self.step(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        match self.held.create_dir(name) {
            // Another process created the folder between the check and the creation.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.and_then(|()| self.sync())?,
        }
        self.step(name)
    }

    /// Splits a name into the folder that contains its last part, and that part; `None` if the folder does not exist.
    fn above<'a>(&self, below: &'a str) -> io::Result<Option<(Dir, &'a str)>> {
        match below.rsplit_once('/') {
            Some((above, name)) => Ok(self.dir(above)?.map(|dir| (dir, name))),
            None => Ok(Some((self.clone(), below))),
        }
        .and_then(|found| match found {
            Some((dir, name)) => Ok(Some((dir, single(name)?))),
            None => Ok(None),
        })
    }

    fn there<'a>(&self, below: &'a str) -> io::Result<(Dir, &'a str)> {
        let above = self.above(below)?;
        above.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn plain(&self, below: &str, how: &mut OpenOptions) -> io::Result<Option<File>> {
        let Some((dir, name)) = self.above(below)? else {
            return Ok(None);
        };
        // `nonblock` keeps the opening from waiting for a pipe; a pipe is then rejected because it is not a plain
        // file.
        how.follow(FollowSymlinks::No).nonblock(true);
        match dir.held.open_with(name, how) {
            Ok(file) => {
                let file = file.into_std();
                Ok(file.metadata()?.is_file().then_some(file))
            }
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => match dir.held.symlink_metadata(name) {
                Ok(meta) if !meta.is_file() => Ok(None),
                _ => Err(error),
            },
        }
    }
}

/// Writes a new file completely and durably; returns the file's length. If writing fails, the file is removed.
pub(crate) fn write_new(dir: &Dir, below: &str, from: &mut impl Read) -> io::Result<u64> {
    let mut file = dir.create(below)?;
    let written = io::copy(from, &mut file).and_then(|len| file.sync_all().map(|()| len));
    if written.is_err() {
        let _ = dir.remove(below);
    }
    written
}

/// Returns up to `most` bytes of a file from `offset`.
pub(crate) fn part_of(mut file: impl Read + Seek, offset: u64, most: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the time of a file's last change; `None` if the time is unknown or before 1970.
pub(crate) fn changed(meta: &Metadata) -> Option<std::time::Duration> {
    let at: SystemTime = meta.modified().ok()?.into_std();
    at.duration_since(UNIX_EPOCH).ok()
}

/// Returns whether an error means that the entry does not exist.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

fn no_folder(path: &Path) -> io::Error {
    io::Error::new(
        io::ErrorKind::NotADirectory,
        format!("{} is not a folder, but a link or a file", path.display()),
    )
}

/// Splits a name below a directory into its parts.
fn parts(below: &str) -> io::Result<Vec<&str>> {
    match below {
        "" => Ok(Vec::new()),
        below => below.split('/').map(single).collect(),
    }
}

/// Checks that a name is a single plain part of a path on every system.
fn single(name: &str) -> io::Result<&str> {
    let mut components = Path::new(name).components();
    let plain = matches!(
        (components.next(), components.next()),
        (Some(Component::Normal(part)), None) if part == name
    );
    if plain {
        Ok(name)
    } else {
        let message = format!("{name:?} is not a file name");
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }
}

fn plain_parts(below: &Path) -> Option<Vec<&OsStr>> {
    below
        .components()
        .map(|part| match part {
            Component::Normal(part) => Some(part),
            _ => None,
        })
        .collect()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Returns a directory with a folder `own`, links, a pipe and a file; other files are outside it.
    fn held() -> (tempfile::TempDir, Dir) {
        let aside = tempfile::tempdir().unwrap();
        let (root, outside) = (aside.path().join("root"), aside.path().join("outside"));
        fs::create_dir_all(root.join("own")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        for file in [root.join("own/a.md"), outside.join("a.md")] {
            fs::write(file, "text").unwrap();
        }
        symlink(&outside, root.join("link")).unwrap();
        symlink("own", root.join("inner")).unwrap();
        symlink("own/a.md", root.join("a.md")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(root.join("pipe"))
            .status();
        assert!(made.unwrap().success());
        let dir = Dir::open(&root).unwrap();
        (aside, dir)
    }

    #[test]
    fn a_name_leads_nowhere_but_down() {
        let (aside, dir) = held();
        let before = fs::read_dir(aside.path().join("outside")).unwrap().count();
        let outside = aside.path().join("outside/a.md");
        for name in [
            "../outside/a.md",
            "own/../../outside/a.md",
            "./own/a.md",
            "own//a.md",
            "link/a.md",
            "inner/a.md",
            outside.to_str().unwrap(),
            "",
            "..",
        ] {
            assert!(dir.file(name).is_err(), "{name:?} is opened");
            assert!(dir.look(name).is_err(), "{name:?} is looked at");
            assert!(dir.create(name).is_err(), "{name:?} is made");
            assert!(dir.remove(name).is_err(), "{name:?} is removed");
            assert!(
                dir.rename("own/a.md", name).is_err(),
                "{name:?} is replaced"
            );
            assert!(dir.link("own/a.md", name).is_err(), "{name:?} is linked");
            assert!(
                dir.make_dir(&format!("{name}/x")).is_err(),
                "{name:?} gets a folder"
            );
        }
        assert_eq!(dir.read("own/a.md").unwrap().unwrap(), b"text");
        assert_eq!(fs::read_to_string(outside).unwrap(), "text");
        let after = fs::read_dir(aside.path().join("outside")).unwrap().count();
        assert_eq!(after, before);
    }

    #[test]
    fn what_is_no_plain_file_is_none_and_not_waited_for() {
        let (_aside, dir) = held();
        for name in ["link", "a.md", "pipe", "own", "nothing", "nothing/a.md"] {
            assert!(dir.file(name).unwrap().is_none(), "{name}");
            assert!(dir.writable(name).unwrap().is_none(), "{name}");
            assert!(dir.read(name).unwrap().is_none(), "{name}");
        }
    }

    #[test]
    fn a_directory_is_what_it_was_when_it_was_opened() {
        let (aside, dir) = held();
        let root = aside.path().join("root");
        fs::rename(&root, aside.path().join("moved")).unwrap();
        symlink(aside.path().join("outside"), &root).unwrap();
        write_new(&dir, "own/b.md", &mut &b"new"[..]).unwrap();
        assert!(aside.path().join("moved/own/b.md").exists());
        dir.remove_tree("own").unwrap();
        dir.remove_tree("link").unwrap();
        assert!(aside.path().join("outside/a.md").exists());
        // `open_own` refuses the link at the path itself.
        assert!(Dir::open_own(&root).is_err());
    }

    /// Links above `.prose` belong to the user and are followed; links below `.prose` belong to a run and are
    /// refused.
    #[test]
    fn links_are_followed_as_far_as_prose() {
        let aside = tempfile::tempdir().unwrap();
        let at = aside.path();
        fs::create_dir_all(at.join("real/.prose/runs/r")).unwrap();
        symlink(at.join("real"), at.join("project")).unwrap();
        symlink(
            at.join("real/.prose/runs/r"),
            at.join("real/.prose/runs/linked"),
        )
        .unwrap();
        for (path, opens) in [("runs/r", true), ("runs", true), ("runs/linked", false)] {
            let opened = Dir::open(&at.join("project/.prose").join(path));
            assert_eq!(opened.is_ok(), opens, "{path}: {opened:?}");
        }
        let made = Dir::make(&at.join("project/.prose/runs/new/imports")).unwrap();
        assert!(made.path().is_dir());
        assert!(Dir::make(&at.join("project/.prose/runs/linked/imports")).is_err());
    }
}
