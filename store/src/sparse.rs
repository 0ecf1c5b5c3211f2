//! Copies sparse files: holes are kept and cost neither time nor space.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Size of the pieces in which a file is checked; a piece of zeros becomes a hole.
const PIECE: usize = 64 << 10;

/// Copies the data of a file; the copy has the same length. Returns the number of copied bytes, without holes.
///
/// # Errors
/// `FileTooLarge` if the file has more than `most` bytes of data; otherwise the system's error.
pub(crate) fn copy(from: &mut File, to: &Path, most: u64) -> io::Result<u64> {
    let mut copy = File::create_new(to)?;
    copy.set_len(from.metadata()?.len())?;
    let mut piece = vec![0; PIECE];
    let (mut at, mut copied) = (0, 0);
    while let Some(data) = next_data(from, at)? {
        from.seek(SeekFrom::Start(data))?;
        let read = from.read(&mut piece)?;
        let bytes = piece.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            break;
        }
        at = data + read as u64;
        // Zeros are skipped: the file system did not report this hole, or a program wrote the zeros.
        if bytes.iter().all(|byte| *byte == 0) {
            continue;
        }
        copied += read as u64;
        if copied > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        copy.seek(SeekFrom::Start(data))?;
        copy.write_all(bytes)?;
    }
    Ok(copied)
}

/// Returns the space that a file takes on disk, in bytes; its length if the system does not report the space.
pub(crate) fn data(meta: &Metadata) -> u64 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        meta.len().min(meta.blocks().saturating_mul(512))
    }
    #[cfg(not(unix))]
    meta.len()
}

/// Returns the free space of a folder's file system in bytes, if the system reports it.
pub(crate) fn free(dir: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let stat = rustix::fs::statvfs(dir).ok()?;
        Some(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = dir;
        None
    }
}

/// Returns the position of the next data, from `at` on; `None` if only a hole follows.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn next_data(file: &File, at: u64) -> io::Result<Option<u64>> {
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;
    match seek(file, SeekFrom::Data(at)) {
        Ok(data) => Ok(Some(data)),
        Err(Errno::NXIO) => Ok(None),
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(Some(at)),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn next_data(_: &File, at: u64) -> io::Result<Option<u64>> {
    Ok(Some(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_cost_nothing_and_stay() {
        let dir = tempfile::tempdir().unwrap();
        let (path, to) = (dir.path().join("from"), dir.path().join("to"));
        let mut file = File::create_new(&path).unwrap();
        let long: u64 = 3 << 30;
        let written = [(0, "begin"), (1 << 30, "middle"), (long - 3, "end")];
        for (at, text) in written {
            file.seek(SeekFrom::Start(at)).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }
        // Written zeros become a hole in the copy.
        file.seek(SeekFrom::Start(2 << 30)).unwrap();
        file.write_all(&vec![0; 2 << 20]).unwrap();
        let mut from = File::open(&path).unwrap();
        let copied = copy(&mut from, &to, 1 << 20).unwrap();
        assert!(copied < 1 << 20, "{copied}");
        let mut made = File::open(&to).unwrap();
        let meta = made.metadata().unwrap();
        assert_eq!(meta.len(), long);
        assert!(data(&meta) < 2 << 20, "{}", data(&meta));
        for (at, text) in written {
            let mut bytes = vec![0; text.len()];
            made.seek(SeekFrom::Start(at)).unwrap();
            made.read_exact(&mut bytes).unwrap();
            assert_eq!(bytes, text.as_bytes());
        }
    }

    #[test]
    fn no_more_is_copied_than_was_said() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("from");
        std::fs::write(&path, vec![b'x'; 1 << 20]).unwrap();
        for (most, whole) in [(1 << 20, true), ((1 << 20) - 1, false)] {
            let mut from = File::open(&path).unwrap();
            let copied = copy(&mut from, &dir.path().join(format!("{most}")), most);
            assert_eq!(copied.is_ok(), whole, "{most}: {copied:?}");
        }
    }
}
