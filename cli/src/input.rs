//! What the process is given: standard input, and limits.

use std::fs::File;
use std::io::{self, Read, StdinLock, Write};
use std::path::Path;

use prosescope_core::write::{Content, LARGE, Staged};

use crate::error::CliError;
use crate::exit::Exit;

/// Bytes of the beginning of a long value that are kept, for its summary.
const BEGINNING: usize = 4 << 10;

/// Reads standard input to its end.
pub(crate) fn standard() -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let read = opened()?.read_to_end(&mut bytes);
    read.map_err(|cause| unread("standard input", &cause))?;
    Ok(bytes)
}

fn opened() -> Result<StdinLock<'static>, CliError> {
    if is_closed() {
        return Err(CliError::new(Exit::Io, "standard input is closed")
            .hint("give the value on standard input, as in `printf %s VALUE | prosescope …`, or name a file that holds it"));
    }
    Ok(io::stdin().lock())
}

pub(crate) fn unread(what: &str, cause: &io::Error) -> CliError {
    CliError::new(Exit::Io, format!("cannot read {what}: {cause}"))
}

/// A file that somebody named on the command line.
pub(crate) fn file(path: &Path) -> Result<File, CliError> {
    File::open(path).map_err(|cause| {
        let exit = match cause.kind() {
            io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::Io,
        };
        CliError::new(exit, format!("cannot read {}: {cause}", path.display()))
            .hint("check the path: it is relative to the working directory")
    })
}

/// A value, of a file or of standard input. One that is too long for a row is not held in memory but in the file that is
/// returned, which has no name and goes with the process.
pub(crate) fn value(path: Option<&Path>) -> Result<(Content, Option<File>), CliError> {
    match path {
        Some(path) => content(file(path)?, &path.display().to_string()),
        None => content(opened()?, "standard input"),
    }
}

fn content(mut from: impl Read, what: &str) -> Result<(Content, Option<File>), CliError> {
    let wrong = |cause: io::Error| unread(what, &cause);
    let mut first = Vec::new();
    let most = LARGE as u64 + 1;
    from.by_ref()
        .take(most)
        .read_to_end(&mut first)
        .map_err(wrong)?;
    if first.len() <= LARGE {
        return Ok((first.into(), None));
    }
    let aside = |cause: io::Error| {
        let folder = std::env::temp_dir();
        let message = format!("cannot keep {what} in {}: {cause}", folder.display());
        CliError::new(Exit::Io, message).hint("TMPDIR names a folder with more room")
    };
    let mut file = tempfile::tempfile().map_err(aside)?;
    let (mut len, mut is_text) = (0, true);
    // What is read, behind the first bytes of a character that the part before ended in.
    let mut part = first.clone();
    loop {
        let begun = match std::str::from_utf8(&part) {
            Ok(_) => part.len(),
            Err(error) => {
                is_text &= error.error_len().is_none();
                error.valid_up_to()
            }
        };
        let rest = match is_text {
            true => part.split_off(begun),
            false => Vec::new(),
        };
        file.write_all(&part).map_err(aside)?;
        len += part.len() as u64;
        part = rest;
        let before = part.len();
        from.by_ref()
            .take(most)
            .read_to_end(&mut part)
            .map_err(wrong)?;
        if part.len() == before {
            break;
        }
    }
    // A character that never ended.
    is_text &= part.is_empty();
    file.write_all(&part).map_err(aside)?;
    len += part.len() as u64;
    first.truncate(BEGINNING);
    let staged = Staged {
        len,
        is_text,
        beginning: first,
    };
    Ok((Content::Staged(staged), Some(file)))
}

/// Whether the process was started without a standard input. Rust opens `/dev/null` in its place, for reading and writing;
/// a shell's `</dev/null`, which is an empty value, is for reading only.
#[cfg(unix)]
fn is_closed() -> bool {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    let null = std::fs::metadata("/dev/null").ok();
    let null = null.filter(|meta| meta.file_type().is_char_device());
    let stdin = std::io::stdin();
    let (Some(null), Ok(own), Ok(flags)) = (
        null,
        rustix::fs::fstat(&stdin),
        rustix::fs::fcntl_getfl(&stdin),
    ) else {
        return false;
    };
    own.st_rdev == null.rdev() && flags.contains(rustix::fs::OFlags::RDWR)
}

#[cfg(not(unix))]
fn is_closed() -> bool {
    false
}

/// Lets a write beyond `ulimit -f` fail as a full disk does, instead of ending the process in the middle of a change.
#[cfg(unix)]
pub(crate) fn survive_limits() {
    // A handler is enough: the write then returns an error. Without one the process ends as before.
    let _ = signal_hook::flag::register(
        rustix::process::Signal::XFSZ.as_raw(),
        std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)),
    );
}

#[cfg(not(unix))]
pub(crate) fn survive_limits() {}
