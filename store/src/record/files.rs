//! Files that are there whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use prosescope_core::write::{AttachmentFile, Fault};

use super::fault;
use super::lock::RunLock;

/// Attachments of a transaction: written first, taken back unless it is kept (errata B8).
pub(crate) struct Attachments<'a> {
    dir: &'a Path,
    made: Vec<PathBuf>,
}

impl<'a> Attachments<'a> {
    pub(crate) fn new(dir: &'a Path, _held: &RunLock) -> Attachments<'a> {
        Attachments {
            dir,
            made: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, file: &AttachmentFile) -> Result<(), Fault> {
        let path = self.dir.join(&file.path);
        let folder = path.parent().unwrap_or(self.dir);
        let write = || -> io::Result<()> {
            make_dir(self.dir, folder)?;
            let mut aside = shared(0o666).prefix(".new-").tempfile_in(folder)?;
            aside.write_all(&file.bytes)?;
            aside.as_file().sync_all()?;
            aside
                .persist_noclobber(&path)
                .map_err(|error| error.error)?;
            sync_dir(folder)
        };
        write().map_err(|cause| fault::io(&path, "cannot be written", &cause))?;
        self.made.push(path);
        Ok(())
    }

    pub(crate) fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for Attachments<'_> {
    fn drop(&mut self) {
        for path in &self.made {
            let _ = fs::remove_file(path);
        }
    }
}

/// Makes what will be kept under another name. Of itself a temporary file is its maker's alone; a run is shared as any
/// other file is: `mode`, less what the user's umask takes away.
pub(crate) fn shared(mode: u32) -> tempfile::Builder<'static, 'static> {
    #[allow(unused_mut)]
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = mode;
    builder
}

/// Makes sure that what happened to the names in a folder survives the machine.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(dir)?.sync_all()
    } else {
        Ok(())
    }
}

/// Makes `folder`, which lies below `root`, durably. A link on the way is refused: it may lead out of the run.
pub(crate) fn make_dir(root: &Path, folder: &Path) -> io::Result<()> {
    let below = folder.strip_prefix(root).map_err(io::Error::other)?;
    let mut at = root.to_owned();
    for part in below.components() {
        let above = at.clone();
        at.push(part);
        match fs::symlink_metadata(&at) {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Err(no_folder(&at)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(&at)?;
                sync_dir(&above)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Checks that every folder above `path`, which lies below `root`, is absent or a folder of its own. A link may lead
/// out of the run.
pub(crate) fn is_inside(root: &Path, path: &Path) -> io::Result<()> {
    let below = path.strip_prefix(root).map_err(io::Error::other)?;
    let mut at = root.to_owned();
    for part in below.parent().into_iter().flat_map(Path::components) {
        at.push(part);
        match fs::symlink_metadata(&at) {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Err(no_folder(&at)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn no_folder(path: &Path) -> io::Error {
    io::Error::new(
        io::ErrorKind::NotADirectory,
        format!("{} is no folder of its own", path.display()),
    )
}

/// The bytes of a file; `None` when there is none. Links, pipes and devices are none.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => fs::read(path).map(Some),
        Ok(_) => Ok(None),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The bytes of a file of at most `most` bytes; `None` when there is none, or it is larger, or no plain file.
pub(crate) fn read_small(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() && meta.len() <= most => read_part(path, 0, most).map(Some),
        Ok(_) => Ok(None),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Up to `most` bytes of a file from `offset`.
pub(crate) fn read_part(path: &Path, offset: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether an error says that nothing is there.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Writes a file beside its place, under a name that no reader lists; it is on disk when this returns.
pub(crate) fn aside(root: &Path, slot: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let path = root.join(format!(".tmp-{slot}"));
    // What an earlier writer left is no use to anybody; it may be a link.
    match fs::remove_file(&path) {
        Err(error) if !is_absent(&error) => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(&path);
    }
    written.map(|()| path)
}

/// Puts a file whole into its place below `root`, whatever was there.
pub(crate) fn replace(root: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(root);
    make_dir(root, folder)?;
    let aside = aside(root, "file", bytes)?;
    let placed = fs::rename(&aside, path);
    if placed.is_err() {
        let _ = fs::remove_file(&aside);
    }
    placed.and_then(|()| sync_dir(folder))
}

/// Writes at the end of a log, which is `at` bytes long; what half-written thing lies behind is cut off.
pub(crate) fn append(root: &Path, path: &Path, at: u64, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(root);
    make_dir(root, folder)?;
    let new = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => false,
        Ok(_) => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is no plain file",
            ));
        }
        Err(error) if is_absent(&error) => true,
        Err(error) => return Err(error),
    };
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    let end = file.metadata()?.len();
    if end < at {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            format!("it has {end} bytes, and had {at}"),
        ));
    }
    if end > at {
        file.set_len(at)?;
    }
    file.seek(SeekFrom::Start(at))?;
    let written = file.write_all(bytes).and_then(|()| file.sync_data());
    if let Err(error) = written {
        let _ = file.set_len(at);
        return Err(error);
    }
    if new { sync_dir(folder) } else { Ok(()) }
}
